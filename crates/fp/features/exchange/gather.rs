//! Reads the texts of an imported plan, within limits.

use std::fs;
use std::path::Path;

use fp_exchange::{ImportNotice, SourceFolder};
use fp_host::error::{HostError, HostErrorKind};
use fp_host::file;
use fp_host::platform;
use fp_plan::text::{first_few, visible_line};
use ignore::WalkBuilder;

use crate::error::CommandError;

const MAX_FILES: usize = 5_000;
/// Maximum depth of folders to search; the named folder is 0.
const MAX_DEPTH: usize = 6;
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;
const KINDS: [&str; 8] = ["md", "txt", "json", "jsonl", "csv", "tsv", "yaml", "yml"];
const NOT_LOOKED_INTO: [&str; 5] = [".git", "node_modules", "target", "worktrees", "vendor"];
/// Hidden folders in which systems keep plans; others may hold private files.
const HIDDEN_PLANS: &str = ".beads .fractal-planner .kiro .specify .task .taskmaster .workflow";
/// Maximum number of files that a notice names.
const MAX_NAMED: usize = 10;

/// Reads the file `path` or, if it is a folder, the texts in it, without following links inside it. Reports files that
/// can't be read.
pub(super) fn gather_texts(path: &Path) -> Result<(SourceFolder, Vec<ImportNotice>), CommandError> {
    let failed = HostError::reading(path);
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        let text = file::read_text(path, MAX_FILE)?;
        let name = path
            .file_name()
            .map_or_else(|| "plan".into(), |name| name.to_string_lossy().into_owned());
        return Ok(([(name, text)].into_iter().collect(), Vec::new()));
    }
    fs::read_dir(path).map_err(failed)?;
    let root = platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    let mut walk = WalkBuilder::new(&root);
    walk.standard_filters(false)
        .max_depth(Some(MAX_DEPTH + 1))
        .sort_by_file_name(Ord::cmp);
    walk.filter_entry(|entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0
            || !is_folder
            || NOT_LOOKED_INTO
                .iter()
                .all(|name| entry.file_name() != *name)
    });
    let (mut texts, mut notices, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                notices.push(ImportNotice::new(format!("{error}; it is left out")));
                continue;
            }
        };
        let Ok(inside) = entry.path().strip_prefix(&root) else {
            continue;
        };
        let Ok(name) = String::from_utf8(platform::slashed(inside)) else {
            continue;
        };
        let (above, own) = name.rsplit_once('/').unwrap_or(("", &name));
        if above.split('/').any(is_hidden) {
            continue;
        }
        let read = match entry.file_type() {
            Some(kind) if kind.is_symlink() => {
                // If a link's target is in the folder, it is read there anyway.
                let target = platform::real_path(entry.path());
                let is_inside = target.is_ok_and(|target| target.starts_with(&root));
                if is_inside || !(is_read(&name) || entry.path().extension().is_none()) {
                    continue;
                }
                Err(ImportNotice::new(
                    "a link that leads out of the folder; it is not followed",
                ))
            }
            Some(kind) if kind.is_dir() && is_hidden(own) => Err(ImportNotice::new(
                "a hidden folder; it is read where you name it itself",
            )),
            Some(kind) if kind.is_file() && is_read(&name) => read_text(entry.path()),
            Some(kind) if kind.is_file() => {
                others.push(visible_line(&name));
                continue;
            }
            _ => continue,
        };
        match read {
            Ok(_) if texts.len() == MAX_FILES => {
                let message = format!(
                    "{} has more than a plan: at most {MAX_FILES} files are read",
                    root.display()
                );
                return Err(CommandError::failed(message)
                    .with_hint("name the folder or the file of the plan itself"));
            }
            Ok(text) => texts.push((name, text)),
            Err(notice) => notices.push(notice.in_file(&name)),
        }
    }
    if !others.is_empty() {
        let others = first_few(&others, MAX_NAMED);
        let text = format!("files of other kinds are not read: {others}");
        notices.push(ImportNotice::new(text));
    }
    Ok((texts.into_iter().collect(), notices))
}

/// True for a hidden folder in which no known system keeps plans.
fn is_hidden(folder: &str) -> bool {
    folder.starts_with('.') && HIDDEN_PLANS.split(' ').all(|known| known != folder)
}

fn read_text(path: &Path) -> Result<String, ImportNotice> {
    file::read_text(path, MAX_FILE).map_err(|error| match error.kind {
        HostErrorKind::NotText { line, column } => {
            ImportNotice::new("not UTF-8 text; it is left out").at_place(line, column)
        }
        HostErrorKind::TooLarge => {
            ImportNotice::new(format!("larger than {} MB; it is left out", MAX_FILE >> 20))
        }
        _ => ImportNotice::new(format!("{error}; it is left out")),
    })
}

fn is_read(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    KINDS
        .iter()
        .any(|kind| extension.eq_ignore_ascii_case(kind))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends at its first surprise")]
    use super::*;

    fn paths((folder, _): &(SourceFolder, Vec<ImportNotice>)) -> Vec<&str> {
        folder.paths().collect()
    }

    #[test]
    fn texts_are_read_and_what_is_not_text_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in [".task", ".aws/a", "node_modules/a", "a/b/c/d/e/f/g"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        for path in [
            "PLAN.md",
            ".task/IMPL-1.json",
            "a.CSV",
            "i.jsonl",
            "x.rs",
            ".aws/a/b.json",
            "node_modules/a/x.md",
            "a/b/c/d/e/f/g/h.md",
        ] {
            fs::write(at(path), "x").unwrap();
        }
        fs::write(at("bad.md"), b"one\n\xff").unwrap();
        let gathered = gather_texts(folder.path()).unwrap();
        assert_eq!(
            paths(&gathered),
            [".task/IMPL-1.json", "PLAN.md", "a.CSV", "i.jsonl"]
        );
        let said: Vec<String> = gathered.1.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                ".aws: a hidden folder; it is read where you name it itself",
                "bad.md:2:1: not UTF-8 text; it is left out",
                "files of other kinds are not read: x.rs",
            ]
        );
        assert_eq!(
            paths(&gather_texts(&at("x.rs")).unwrap()),
            ["x.rs"],
            "a file that is named is read"
        );
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.md"), "x").unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::write(at("a.md"), "x").unwrap();
        symlink(at("a.md"), at("b.md")).unwrap();
        symlink(folder.path(), at("loop")).unwrap();
        symlink(outside.path().join("secret.md"), at("c.md")).unwrap();
        symlink(outside.path(), at("out")).unwrap();
        symlink("nowhere", at("gone.md")).unwrap();
        let gathered = gather_texts(folder.path()).unwrap();
        assert_eq!(paths(&gathered), ["a.md"]);
        let said: Vec<String> = gathered.1.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["c.md", "gone.md", "out"].map(|path| format!(
                "{path}: a link that leads out of the folder; it is not followed"
            ))
        );
    }

    #[test]
    fn more_than_a_plan_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=MAX_FILES {
            fs::write(folder.path().join(format!("{number}.md")), "").unwrap();
        }
        let error = gather_texts(folder.path()).unwrap_err();
        let whole = format!(
            "{} has more than a plan: at most 5000 files are read",
            folder.path().display()
        );
        assert_eq!(error.message, whole);
        assert_eq!(
            error.hints,
            ["name the folder or the file of the plan itself"]
        );
    }
}
