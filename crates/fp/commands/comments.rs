//! `fp comments`: finds comments that only restate the code. The hook after an edit runs the same check.

use std::path::{Path, PathBuf};

use fp_comments::{SourceFile, question_about, remarks_between, remarks_of_edit};
use fp_host::config::is_set;
use fp_host::file;
use fp_host::git::{Git, Side};
use fp_host::plan::WORKTREES;
use fp_host::platform;
use fp_plan::plan::path::normal;
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::CommentMode;
use fp_plan::text::{clipped, counted, prompt_path, prompt_quoted, visible_line};
use fp_run::test_files::is_test_file;
use globset::{GlobBuilder, GlobMatcher};
use serde::Serialize;

use crate::commands::hook::IncomingHook;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// Size limit of a file, in bytes.
const CAP: u64 = fp_comments::MAX_BYTES as u64;

/// Maximum length of a quoted comment in a reply to a model, in characters.
const SHOWN: usize = 80;

/// Find the comments that a model would be asked about
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CommentsArgs {
    Check(CheckArgs),
}

/// List the comments of files, or those that a change adds
///
/// Documentation, directives of tools, licences and markers are left out.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct CheckArgs {
    /// Files, or folders with all their tracked files.
    #[arg(required_unless_present_any = ["staged", "diff"], conflicts_with_all = ["staged", "diff"])]
    files: Vec<PathBuf>,
    /// Check the staged changes against HEAD.
    #[arg(long, conflicts_with = "diff")]
    staged: bool,
    /// Check the working tree against this revision.
    #[arg(long, value_name = "REV")]
    diff: Option<String>,
}

/// The output of `--format json`.
#[derive(Debug, Default, Serialize)]
struct CommentsReport {
    /// Number of files that were checked.
    files: usize,
    comments: Vec<ListedComment>,
}

#[derive(Debug, Serialize)]
struct ListedComment {
    path: String,
    line: usize,
    text: String,
}

pub(crate) fn run(args: CommentsArgs, context: &Context) -> CommandResult {
    let CommentsArgs::Check(args) = args;
    let report = match (&args.diff, args.staged) {
        (Some(revision), _) => check_change(Side::WorkingTree(revision), context),
        (None, true) => check_change(Side::Staged, context),
        (None, false) => check_files(&args, context),
    }?;
    let lines = report.comments.iter().map(|found| {
        format!(
            "{}:{}: {}\n",
            visible_line(&found.path),
            found.line,
            visible_line(&found.text)
        )
    });
    context.report(&report, &lines.collect::<String>())?;
    if !context.is_json() {
        context.printer.print_note(&report.count_note());
    }
    Ok(if report.comments.is_empty() {
        Exit::Done
    } else {
        Exit::Findings
    })
}

impl CommentsReport {
    fn count_note(&self) -> String {
        format!(
            "note: {} in {}",
            counted(self.comments.len(), "comment"),
            counted(self.files, "file")
        )
    }

    /// Adds the comments that are new in `after`.
    fn add_file(&mut self, path: &str, before: &str, after: &str) {
        let remarks = remarks_between(source_file(path), before, after);
        self.files += 1;
        self.comments
            .extend(remarks.into_iter().map(|remark| ListedComment {
                path: path.to_owned(),
                line: remark.line,
                text: remark.text,
            }));
    }
}

fn check_change(side: Side<'_>, context: &Context) -> Result<CommentsReport, CommandError> {
    let git = Git::open(&context.cwd)?;
    let settings = context.settings()?;
    let mut report = CommentsReport::default();
    let compared = git.compare(side).map_err(|error| match side {
        Side::WorkingTree(revision) => CommandError::from(error).with_hint(format!(
            "is {} a commit, a branch or a tag of this repository?",
            visible_line(revision)
        )),
        Side::Staged => error.into(),
    });
    for file in compared? {
        let path = file.path.to_lossy();
        let (Ok(before), Ok(after)) = (
            String::from_utf8(file.before),
            String::from_utf8(file.after),
        ) else {
            continue;
        };
        if ignores(&settings.comment_checker.ignore, &path) {
            continue;
        }
        report.add_file(&path, &before, &after);
    }
    Ok(report)
}

fn check_files(args: &CheckArgs, context: &Context) -> Result<CommentsReport, CommandError> {
    let settings = context.settings()?;
    let mut report = CommentsReport::default();
    for given in &args.files {
        let folder = context.cwd.join(given);
        let is_folder = folder.is_dir();
        let files = if is_folder {
            files_below(&folder)?
        } else {
            vec![folder]
        };
        for path in files {
            let name = context.display_path(&path);
            // A file given by name must be readable text; a folder may also contain files that aren't code.
            let text = match file::read_text(&path, CAP) {
                Ok(text) => text,
                Err(_) if is_folder => continue,
                Err(error) => return Err(error.into()),
            };
            if is_folder && is_ignored(&path, &settings.comment_checker.ignore, context) {
                continue;
            }
            report.add_file(&name, "", &text);
        }
    }
    Ok(report)
}

fn source_file(path: &str) -> SourceFile<'_> {
    SourceFile {
        path,
        is_test: is_test_file(&RepoPath::from_text(path)),
    }
}

/// True if one of the globs `ignore` matches `path`, which is relative to the repository. A glob without a
/// slash matches names in any folder; one with a slash matches a file, or a folder with everything in it.
fn ignores(ignore: &[String], path: &str) -> bool {
    ignore.iter().any(|glob| {
        let glob = glob.trim_end_matches('/');
        let glob = if glob.contains('/') {
            glob.to_owned()
        } else {
            format!("**/{glob}")
        };
        [format!("{glob}/**"), glob]
            .iter()
            .any(|glob| matches_glob(glob, path))
    })
}

/// A glob in which only `*`, `**` and `?` are special: brackets and braces occur in the names of real files.
fn plain_glob(pattern: &str) -> Option<GlobMatcher> {
    let literal = |c: char| {
        if matches!(c, '[' | ']' | '{' | '}') {
            format!("[{c}]")
        } else {
            c.to_string()
        }
    };
    let pattern: String = pattern.chars().map(literal).collect();
    let glob = GlobBuilder::new(&pattern)
        .literal_separator(true)
        .backslash_escape(false)
        .build()
        .ok()?;
    Some(glob.compile_matcher())
}

fn matches_glob(glob: &str, path: &str) -> bool {
    let glob = normal(glob).ok().and_then(|glob| plain_glob(&glob));
    glob.is_some_and(|glob| glob.is_match(path))
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let git = Git::open(folder)?;
    let within = git.locate(folder);
    let known = git.known_files(within.as_ref())?;
    Ok(known.iter().map(|path| git.absolute(path)).collect())
}

fn is_ignored(path: &Path, ignore: &[String], context: &Context) -> bool {
    if ignore.is_empty() {
        return false;
    }
    let inside = context.repo().relative(path);
    let path = inside.unwrap_or_else(|| path.to_string_lossy().trim_start_matches('/').to_owned());
    ignores(ignore, &path)
}

/// The question for the model about the comments that its edit added, if any, with the mode in which to ask it. Reads
/// the settings only if there is a question.
pub(crate) fn after_edit(
    hook: &IncomingHook,
) -> Result<Option<(CommentMode, String)>, CommandError> {
    let context = &hook.context;
    // The settings cover this variable too, but they are read later.
    if is_set(&|name| context.env(name), "COMMENT_CHECKER_DISABLED") {
        return Ok(None);
    }
    let Some((name, edit)) = hook.event.edit() else {
        return Ok(None);
    };
    let path = context.cwd.join(name);
    let inside = context.repo().relative(&path);
    let file = source_file(inside.as_deref().unwrap_or(name));
    let remarks = remarks_of_edit(file, &edit, || file::read_text(&path, CAP).ok());
    if remarks.is_empty() {
        return Ok(None);
    }
    let settings = context.settings()?;
    let checker = &settings.comment_checker;
    let Some(checked) = checked_path(&path, &context.repo().plans_dir(settings)) else {
        return Ok(None);
    };
    if !checker.enabled || is_ignored(&checked, &checker.ignore, context) {
        return Ok(None);
    }
    let quoted = |text: &str| prompt_quoted(&clipped(text, SHOWN), SHOWN * 2);
    let lines: Vec<_> = remarks
        .iter()
        .map(|remark| (remark.line, quoted(&remark.text)))
        .collect();
    let lines = lines.iter().map(|(line, text)| (*line, text.as_str()));
    // The end of a path is more informative than its beginning.
    let shown = context.display_path(&path);
    let end = shown
        .char_indices()
        .rev()
        .nth(2 * SHOWN)
        .map_or(&*shown, |(at, _)| &shown[at..]);
    Ok(Some((
        checker.mode,
        question_about(
            &prompt_path(end),
            lines,
            context.env("COMMENT_CHECKER_PROMPT").as_deref(),
        ),
    )))
}

/// The path for matching the ignore globs. Files in the plans folder aren't checked, except in the builders' worktrees,
/// where paths are relative to the worktree.
fn checked_path(path: &Path, plans: &Path) -> Option<PathBuf> {
    let real = |path: &Path| platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    let (real_path, real_plans) = (real(path), real(plans));
    let below = path
        .strip_prefix(plans)
        .or_else(|_| real_path.strip_prefix(real_plans));
    let Ok(below) = below else {
        return Some(path.to_owned());
    };
    let mut parts = below.components();
    let in_worktree = parts
        .nth(1)
        .is_some_and(|part| part.as_os_str() == WORKTREES)
        && parts.next().is_some();
    Some(parts.as_path())
        .filter(|path| in_worktree && path.file_name().is_some())
        .map(Path::to_owned)
}
