//! `fp comments`, and the same check as a hook after an edit.

use std::path::{Path, PathBuf};

use fp_core::comments::reply::reply;
use fp_core::comments::{Remark, ignores, of_edit, remarks_between, remarks_in, restating_in};
use fp_core::settings::CommentMode;
use fp_core::text::{counted, one_line, visible_line};
use fp_host::claude::hook::HookEvent;
use fp_host::config::is_set;
use fp_host::file;
use fp_host::git::{Git, Side};
use fp_host::plan::WORKTREES;
use serde::Serialize;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Largest file that is read, in bytes; longer texts are not looked at.
const CAP: u64 = fp_core::comments::MAX_BYTES as u64;

/// Look at the comments of source files
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// List comments that restate the code, or all that a change adds
///
/// Of files, those comments are listed whose words are the words of the code beside them. Of a change, those that it
/// adds and that are no documentation, directive, licence or the like.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct CheckArgs {
    /// Files, and folders for all files below that git knows.
    #[arg(required_unless_present_any = ["staged", "diff"], conflicts_with_all = ["staged", "diff"])]
    files: Vec<PathBuf>,
    /// What is staged, against the commit that is checked out.
    #[arg(long, conflicts_with = "diff")]
    staged: bool,
    /// The working tree, against this revision.
    #[arg(long, value_name = "REV")]
    diff: Option<String>,
    /// Of files too, list all comments that would be asked about if the files were new.
    #[arg(long, conflicts_with_all = ["staged", "diff"])]
    all: bool,
    /// Of a change too, list only the comments that restate the code.
    #[arg(long, conflicts_with = "all")]
    restating: bool,
}

/// What `--format json` prints.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// How many files were looked at.
    files: usize,
    /// What was found.
    comments: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Found {
    path: String,
    line: usize,
    text: String,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let Command::Check(args) = args.command;
    let report = match (&args.diff, args.staged) {
        (Some(revision), _) => of_change(&args, Side::WorkingTree(revision), context),
        (None, true) => of_change(&args, Side::Staged, context),
        (None, false) => of_files(&args, context),
    }?;
    match context.format {
        Format::Json => context.printer.json(&report)?,
        Format::Text => {
            let lines = report.comments.iter().map(|found| {
                format!("{}:{}: {}\n", visible_line(&found.path), found.line, one_line(&found.text))
            });
            context.printer.data(&lines.collect::<String>());
            context.printer.note(&count(&report));
        }
    }
    Ok(if report.comments.is_empty() { Exit::Done } else { Exit::Findings })
}

fn count(report: &Report) -> String {
    format!("note: {} in {}", counted(report.comments.len(), "comment"), counted(report.files, "file"))
}

impl Report {
    fn add(&mut self, path: &str, remarks: Vec<Remark>) {
        self.files += 1;
        let found = |remark: Remark| Found { path: path.to_owned(), line: remark.line, text: remark.text };
        self.comments.extend(remarks.into_iter().map(found));
    }
}

fn of_change(args: &CheckArgs, side: Side<'_>, context: &Context) -> Result<Report, CommandError> {
    let git = Git::open(&context.cwd)?;
    let settings = context.settings()?;
    let mut report = Report::default();
    let compared = git.compare(side).map_err(|error| match side {
        Side::WorkingTree(revision) => CommandError::from(error)
            .hint(format!("is {} a commit, a branch or a tag of this repository?", one_line(revision))),
        Side::Staged => error.into(),
    });
    for file in compared? {
        let path = file.path.to_lossy();
        let (Ok(before), Ok(after)) = (String::from_utf8(file.before), String::from_utf8(file.after)) else {
            continue;
        };
        if ignores(&settings.comment_checker.ignore, &path) {
            continue;
        }
        let mut remarks = remarks_between(&path, &before, &after);
        if args.restating {
            remarks = restating_in(&path, &after, remarks);
        }
        report.add(&path, remarks);
    }
    Ok(report)
}

fn of_files(args: &CheckArgs, context: &Context) -> Result<Report, CommandError> {
    let settings = context.settings()?;
    let mut report = Report::default();
    for given in &args.files {
        let folder = context.cwd.join(given);
        let is_folder = folder.is_dir();
        let files = if is_folder { files_below(&folder)? } else { vec![folder] };
        for path in files {
            let name = context.shown(&path);
            // A file that is named is looked at, whatever it is; in a folder there are others beside code.
            let text = match file::read_text(&path, CAP) {
                Ok(text) => text,
                Err(_) if is_folder => continue,
                Err(error) => return Err(error.into()),
            };
            if is_folder && is_ignored(&path, &settings.comment_checker.ignore, context) {
                continue;
            }
            let mut remarks = remarks_in(&name, &text);
            if !args.all {
                remarks = restating_in(&name, &text, remarks);
            }
            report.add(&name, remarks);
        }
    }
    Ok(report)
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

/// What to tell the model of the comments that its edit has added, and how; nothing where it added none. `context` is
/// that of the event's folder; its settings are read only where there is something to tell.
pub(crate) fn after_edit(
    context: &Context,
    event: &HookEvent,
) -> Result<Option<(CommentMode, String)>, CommandError> {
    // The settings say so too, but are read last.
    if is_set(&|name| context.env(name), "COMMENT_CHECKER_DISABLED") {
        return Ok(None);
    }
    let Some((name, edit)) = event.edit() else { return Ok(None) };
    let path = context.cwd.join(name);
    let remarks = of_edit(name, &edit, || file::read_text(&path, CAP).ok());
    if remarks.is_empty() {
        return Ok(None);
    }
    let settings = context.settings()?;
    let checker = &settings.comment_checker;
    let Some(checked) = checked_path(&path, &context.repo().plans_dir(settings)) else { return Ok(None) };
    if !checker.enabled || is_ignored(&checked, &checker.ignore, context) {
        return Ok(None);
    }
    let lines: Vec<_> = remarks.iter().map(|remark| (remark.line, one_line(&remark.text))).collect();
    let shown = context.shown(&path);
    let lines = lines.iter().map(|(line, text)| (*line, text.as_str()));
    Ok(Some((checker.mode, reply(&visible_line(&shown), lines, checker.custom_prompt.as_deref()))))
}

/// The path by which a file is ignored or not; nothing of what is in the folder of plans, but for the worktrees of
/// builders, where a path is what it is in the repository.
fn checked_path(path: &Path, plans: &Path) -> Option<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (real_path, real_plans) = (real(path), real(plans));
    let below = path.strip_prefix(plans).or_else(|_| real_path.strip_prefix(real_plans));
    let Ok(below) = below else { return Some(path.to_owned()) };
    let mut parts = below.components();
    let in_worktree =
        parts.nth(1).is_some_and(|part| part.as_os_str() == WORKTREES) && parts.next().is_some();
    Some(parts.as_path()).filter(|path| in_worktree && path.file_name().is_some()).map(Path::to_owned)
}
