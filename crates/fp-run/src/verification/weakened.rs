//! Notices tests that a change weakens: deleted, removed or switched off. Only a task whose words ask for it may do so.

use std::collections::HashMap;

use super::change::{Change, ChangeStatus};
use super::test_cases::{SwitchPlace, TestCase, assertions, switches_off, test_cases};
use super::{ChangeFacts, ChangedText, Check, CheckVerdict, TaskScope, intent, list};
use crate::test_files;
use fp_plan::repo_path::RepoPath;

/// True if a file may hold tests: test files, and every Rust file.
pub(super) fn is_of_interest(path: &RepoPath) -> bool {
    test_files::is_test_file(path) || lower(path).ends_with(".rs")
}

fn lower(path: &RepoPath) -> String {
    path.to_lossy().to_lowercase()
}

/// A file that may hold tests, before and after.
struct TestText<'f> {
    file: &'f ChangedText,
    /// Its old and new path in lower case.
    names: (String, String),
    before: Vec<TestCase>,
    after: Vec<TestCase>,
}

pub(super) fn check(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    let texts: Vec<TestText> = facts.texts.iter().filter_map(|file| read(file, &facts.changes)).collect();
    let unread: Vec<String> =
        facts.unread.iter().filter(|path| is_of_interest(path)).map(too_large).collect();
    if texts.is_empty() && unread.is_empty() {
        return Check::new("tests", CheckVerdict::NotApplicable, "no test was touched");
    }
    let after: usize = texts.iter().map(|text| text.after.len()).sum();
    let (gone, renamed) = taken_out(&texts);
    let mut problems: Vec<String> = deleted_files(&facts.changes, &texts, &gone);
    problems.extend(gone.iter().map(|(path, name)| format!("{path}: test `{name}` was taken out")));
    let (off, off_in_new) = switched_off(&texts);
    problems.extend(off);
    if !problems.is_empty() {
        let allowed = intent::wants_fewer_tests(&scope.text);
        let verdict = if allowed { CheckVerdict::Note } else { CheckVerdict::Fail };
        let why = if allowed { "; the task's own words allow it" } else { "" };
        return Check::new("tests", verdict, format!("{}{why}", list(&problems)));
    }
    let notes = [renamed, off_in_new, fewer_assertions(&texts), unread].concat();
    if notes.is_empty() {
        return Check::new(
            "tests",
            CheckVerdict::Pass,
            format!("none taken out or switched off; {after} in the changed files"),
        );
    }
    Check::new("tests", CheckVerdict::Note, list(&notes))
}

fn too_large(path: &RepoPath) -> String {
    format!("{path} is too large to be looked at")
}

fn read<'f>(file: &'f ChangedText, changes: &[Change]) -> Option<TestText<'f>> {
    let change = changes.iter().find(|change| change.path == file.path)?;
    if !change.ends().any(is_of_interest) {
        return None;
    }
    let old = match &change.status {
        ChangeStatus::Renamed { from } => from,
        _ => &file.path,
    };
    let names = (lower(old), lower(&file.path));
    let cases =
        |path: &str, text: &Option<String>| text.as_ref().map_or(Vec::new(), |text| test_cases(path, text));
    let (before, after) = (cases(&names.0, &file.before), cases(&names.1, &file.after));
    Some(TestText { file, names, before, after })
}

/// The tests that are in no changed file any more, and those that only changed their name.
fn taken_out(texts: &[TestText]) -> (Vec<(RepoPath, String)>, Vec<String>) {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for case in texts.iter().flat_map(|text| &text.after) {
        *left.entry(&case.name).or_default() += 1;
    }
    let mut gone = Vec::new();
    for text in texts {
        for case in &text.before {
            match left.get_mut(case.name.as_str()) {
                Some(count @ 1..) => *count -= 1,
                _ => gone.push((text, case)),
            }
        }
    }
    let mut new: Vec<&TestCase> = texts
        .iter()
        .flat_map(|text| &text.after)
        .filter(|case| left.get(case.name.as_str()).is_some_and(|count| *count > 0))
        .collect();
    let (mut out, mut renamed) = (Vec::new(), Vec::new());
    for (text, case) in gone {
        match new.iter().position(|new| new.body == case.body && !case.body.is_empty()) {
            Some(position) => {
                let to = new.swap_remove(position);
                renamed.push(format!("{}: test `{}` is now `{}`", text.file.path, case.name, to.name));
            }
            None => out.push((text.file.path.clone(), case.name.clone())),
        }
    }
    (out, renamed)
}

/// The deleted test files, unless all their tests are elsewhere.
fn deleted_files(changes: &[Change], texts: &[TestText], gone: &[(RepoPath, String)]) -> Vec<String> {
    let moved = |path: &RepoPath| {
        let had = texts.iter().any(|text| text.file.path == *path && !text.before.is_empty());
        had && gone.iter().all(|(from, _)| from != path)
    };
    let is_gone = |change: &&Change| match &change.status {
        ChangeStatus::Deleted => test_files::is_test_file(&change.path) && !moved(&change.path),
        ChangeStatus::Renamed { from } => test_files::is_test_file(from) && !is_of_interest(&change.path),
        _ => false,
    };
    changes
        .iter()
        .filter(is_gone)
        .map(|change| match &change.status {
            ChangeStatus::Renamed { from } => {
                format!("{from} became {}, which no test runner looks at", change.path)
            }
            _ => format!("{} was deleted", change.path),
        })
        .collect()
}

/// The lines that switch off existing tests, and those that switch off new ones.
fn switched_off(texts: &[TestText]) -> (Vec<String>, Vec<String>) {
    let old: Vec<&str> = texts.iter().flat_map(|text| &text.before).map(|case| case.name.as_str()).collect();
    let (mut off, mut off_in_new) = (Vec::new(), Vec::new());
    for text in texts {
        let Some(after) = &text.file.after else { continue };
        let mut before = switches(&text.names.0, text.file.before.as_deref().unwrap_or_default());
        for (number, line, place) in switches(&text.names.1, after) {
            if let Some(known) = before.iter().position(|(_, other, _)| other.trim() == line.trim()) {
                before.swap_remove(known);
                continue;
            }
            let of = match place {
                SwitchPlace::Before => text.after.iter().find(|case| case.line >= number),
                SwitchPlace::On => text.after.iter().find(|case| case.line == number),
                SwitchPlace::Inside => text.after.iter().rfind(|case| case.line <= number),
                SwitchPlace::Elsewhere => None,
            };
            let shown: String = line.trim().chars().take(60).collect();
            let found = format!("{}:{number}: switches tests off: {shown}", text.file.path);
            match of {
                Some(case) if !old.contains(&case.name.as_str()) => off_in_new.push(found),
                _ => off.push(found),
            }
        }
    }
    (off, off_in_new)
}

fn switches<'t>(path: &str, text: &'t str) -> Vec<(usize, &'t str, SwitchPlace)> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| Some((index + 1, line, switches_off(path, line)?))).collect()
}

/// The files with fewer lines that check a result, although they still have tests.
fn fewer_assertions(texts: &[TestText]) -> Vec<String> {
    let count = |path: &str, text: &Option<String>| text.as_ref().map_or(0, |text| assertions(path, text));
    let fewer = texts.iter().filter(|text| !text.before.is_empty() && text.file.after.is_some());
    fewer
        .filter_map(|text| {
            let (before, after) =
                (count(&text.names.0, &text.file.before), count(&text.names.1, &text.file.after));
            let path = &text.file.path;
            (after < before).then(|| format!("{path}: {after} lines assert something, {before} did before"))
        })
        .collect()
}
