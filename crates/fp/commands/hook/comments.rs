//! Asks about comments that an edit added and that only restate the code.

use std::path::{Path, PathBuf};

use fp_comments::{SourceFile, question_about, remarks_of_edit};
use fp_host::config::is_set;
use fp_host::file;
use fp_host::plan::WORKTREES;
use fp_host::platform;
use fp_plan::plan::path::normal;
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::CommentMode;
use fp_plan::text::{clipped, prompt_path, prompt_quoted};
use fp_run::test_files::is_test_file;
use globset::{GlobBuilder, GlobMatcher};

use super::IncomingHook;
use crate::context::Context;
use crate::error::CommandError;

/// Size limit of a file, in bytes.
const CAP: u64 = fp_comments::MAX_BYTES as u64;

/// Maximum length of a quoted comment in a reply to a model, in characters.
const SHOWN: usize = 80;

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
pub(super) fn after_edit(
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
