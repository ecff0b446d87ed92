//! Notices tests that a change weakens: deleted, removed, switched off, also from outside, or left with fewer checks. Only
//! a task whose words ask for it may do so.

use std::collections::HashMap;

use super::change::{Change, ChangeStatus};
use super::test_cases::{SwitchPlace, TestCase, is_check, is_idle, switches_off, test_cases};
use super::test_setup::changed_settings;
use super::{
    ChangeFacts, ChangedText, Check, CheckVerdict, TaskScope, intent, list, sets_tests_up,
};
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
    let texts: Vec<TestText> = facts
        .texts
        .iter()
        .filter_map(|file| read(file, &facts.changes))
        .collect();
    let unread = facts
        .unread
        .iter()
        .filter(|path| is_of_interest(path) || sets_tests_up(path));
    let unread: Vec<String> = unread
        .map(|path| format!("{path} is too large to be looked at"))
        .collect();
    let (settings_off, settings) = changed_settings(scope, facts);
    let sets_up = !settings_off.is_empty() || !settings.is_empty();
    if texts.is_empty() && unread.is_empty() && !sets_up {
        return Check::new("tests", CheckVerdict::NotApplicable, "no test was touched");
    }
    let after: usize = texts.iter().map(|text| text.after.len()).sum();
    let (gone, renamed) = taken_out(&texts);
    let mut problems: Vec<String> = deleted_files(&facts.changes, &texts, &gone);
    problems.extend(
        gone.iter()
            .map(|(path, name)| format!("{path}: test `{name}` was taken out")),
    );
    let (off, off_in_new) = switched_off(&texts);
    problems.extend(off);
    let (hollow, rewritten) = hollowed(&texts);
    problems.extend(hollow);
    problems.extend(settings_off);
    if !problems.is_empty() {
        let allowed = intent::wants_fewer_tests(&scope.text);
        let verdict = if allowed {
            CheckVerdict::Note
        } else {
            CheckVerdict::Fail
        };
        let why = if allowed {
            "; the task's own words allow it"
        } else {
            ""
        };
        return Check::new("tests", verdict, format!("{}{why}", list(&problems)));
    }
    let notes = [renamed, off_in_new, rewritten, settings, unread].concat();
    if notes.is_empty() {
        return Check::new(
            "tests",
            CheckVerdict::Pass,
            format!("none taken out or switched off; {after} in the changed files"),
        );
    }
    Check::new("tests", CheckVerdict::Note, list(&notes))
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
    let cases = |path: &str, text: &Option<String>| {
        text.as_ref()
            .map_or(Vec::new(), |text| test_cases(path, text))
    };
    let (before, after) = (cases(&names.0, &file.before), cases(&names.1, &file.after));
    Some(TestText {
        file,
        names,
        before,
        after,
    })
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
        match new
            .iter()
            .position(|new| new.body == case.body && !case.body.is_empty())
        {
            Some(position) => {
                let to = new.swap_remove(position);
                renamed.push(format!(
                    "{}: test `{}` is now `{}`",
                    text.file.path, case.name, to.name
                ));
            }
            None => out.push((text.file.path.clone(), case.name.clone())),
        }
    }
    (out, renamed)
}

/// The deleted test files, unless all their tests are elsewhere.
fn deleted_files(
    changes: &[Change],
    texts: &[TestText],
    gone: &[(RepoPath, String)],
) -> Vec<String> {
    let moved = |path: &RepoPath| {
        let had = texts
            .iter()
            .any(|text| text.file.path == *path && !text.before.is_empty());
        had && gone.iter().all(|(from, _)| from != path)
    };
    let is_gone = |change: &&Change| match &change.status {
        ChangeStatus::Deleted => test_files::is_test_file(&change.path) && !moved(&change.path),
        ChangeStatus::Renamed { from } => {
            test_files::is_test_file(from) && !is_of_interest(&change.path)
        }
        _ => false,
    };
    changes
        .iter()
        .filter(is_gone)
        .map(|change| match &change.status {
            ChangeStatus::Renamed { from } => {
                format!(
                    "{from} became {}, which no test runner looks at",
                    change.path
                )
            }
            _ => format!("{} was deleted", change.path),
        })
        .collect()
}

/// The lines that switch off existing tests, and those that switch off new ones.
fn switched_off(texts: &[TestText]) -> (Vec<String>, Vec<String>) {
    let old: Vec<&str> = texts
        .iter()
        .flat_map(|text| &text.before)
        .map(|case| case.name.as_str())
        .collect();
    let (mut off, mut off_in_new) = (Vec::new(), Vec::new());
    for text in texts {
        let Some(after) = &text.file.after else {
            continue;
        };
        let mut before = switches(
            &text.names.0,
            text.file.before.as_deref().unwrap_or_default(),
        );
        for (number, line, place) in switches(&text.names.1, after) {
            if let Some(known) = before
                .iter()
                .position(|(_, other, _)| other.trim() == line.trim())
            {
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
    lines
        .filter_map(|(index, line)| Some((index + 1, line, switches_off(path, line)?)))
        .collect()
}

/// The tests that check less than before: those that lost checks and gained nothing else, and those that were rewritten.
fn hollowed(texts: &[TestText]) -> (Vec<String>, Vec<String>) {
    let mut moved: HashMap<&str, isize> = HashMap::new();
    for text in texts {
        for (side, count) in [(&text.file.before, -1), (&text.file.after, 1)] {
            side.iter().flat_map(|text| text.lines()).for_each(|line| {
                *moved.entry(line.trim()).or_default() += count;
            });
        }
    }
    let (mut hollow, mut rewritten) = (Vec::new(), Vec::new());
    for text in texts {
        let mut after: Vec<&TestCase> = text.after.iter().collect();
        for before in &text.before {
            let Some(at) = after.iter().position(|case| case.name == before.name) else {
                continue;
            };
            let now = after.remove(at);
            let checks = |path: &str, case: &TestCase| {
                case.lines
                    .iter()
                    .filter(|line| is_check(path, line))
                    .cloned()
                    .collect::<Vec<String>>()
            };
            let (had, has) = (checks(&text.names.0, before), checks(&text.names.1, now));
            let is_lost =
                |line: &&String| !has.contains(line) && moved.get(line.as_str()) < Some(&0);
            if has.len() >= had.len() || !had.iter().any(|line| is_lost(&line)) {
                continue;
            }
            let found = format!(
                "{}:{}: test `{}` checks {} things, {} before",
                text.file.path,
                now.line,
                now.name,
                has.len(),
                had.len()
            );
            // What was written in place of a check may be a better one.
            let is_new = |line: &String| !before.lines.contains(line) && !is_idle(line);
            let replaced = now.lines.iter().skip(1).any(is_new);
            if replaced {
                rewritten.push(found)
            } else {
                hollow.push(found)
            }
        }
    }
    (hollow, rewritten)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::change::FileKind;

    /// The verdict on a test file that had `before` and now has `after`.
    fn verdict(path: &str, task: &str, before: &str, after: &str) -> (CheckVerdict, String) {
        let change = Change {
            path: path.into(),
            status: ChangeStatus::Modified,
            kind: FileKind::File,
        };
        let text = ChangedText {
            path: path.into(),
            before: Some(before.into()),
            after: Some(after.into()),
        };
        let facts = ChangeFacts {
            changes: vec![change],
            texts: vec![text],
            ..ChangeFacts::default()
        };
        let check = check(
            &TaskScope {
                text: task.to_owned(),
                ..TaskScope::default()
            },
            &facts,
        );
        (check.verdict, check.detail)
    }

    #[test]
    fn tests_that_assert_less() {
        let check = |path: &str, before: &str, after: &str, expect: CheckVerdict| {
            let (found, detail) = verdict(path, "", before, after);
            assert_eq!(found, expect, "{path}: {before:?} to {after:?}: {detail}");
        };
        use CheckVerdict::{Fail, Note, Pass};
        let python = |body: &str| {
            format!(
                "class T:\n    def test_a(self):\n{body}\n    def test_b(self):\n        assert b\n"
            )
        };
        let two = python("        self.assertEqual(f(1), 2)\n        self.assertEqual(f(2), 3)");
        let one = python("        self.assertEqual(f(1), 2)");
        check("tests/test_a.py", &one, &python("        pass"), Fail);
        check(
            "tests/test_a.py",
            &one,
            &python("        # self.assertEqual(f(1), 2)\n        pass"),
            Fail,
        );
        check(
            "tests/test_a.py",
            &one,
            &python("        self.assertTrue(True)"),
            Fail,
        );
        check(
            "tests/test_a.py",
            &one,
            &python("        assert True, 'fine'"),
            Fail,
        );
        check(
            "tests/test_a.py",
            &one,
            &python("        assert 1 == 1"),
            Fail,
        );
        check("tests/test_a.py", &two, &one, Fail);
        check("tests/test_a.py", &one, &two, Pass);
        check("tests/test_a.py", &two, &two, Pass);
        check(
            "tests/test_a.py",
            &two,
            &python("        self.assertEqual([f(1), f(2)], [2, 3])"),
            Note,
        );
        check(
            "tests/test_a.py",
            &two,
            &python("        for x in (1, 2):\n            self.assertEqual(f(x), x + 1)"),
            Note,
        );
        check(
            "tests/test_a.py",
            &one,
            &python("        self.check_one(1, 2)"),
            Pass,
        );
        check(
            "tests/test_a.py",
            &one,
            &python("        self.assertEqual(f(1), 7)"),
            Pass,
        );
        let split = one.clone() + "    def test_c(self):\n        self.assertEqual(f(2), 3)\n";
        check("tests/test_a.py", &two, &split, Pass);
        let helper =
            python("        roundtrip(1)") + "def roundtrip(x):\n    assert f(x) == x + 1\n";
        check("tests/test_a.py", &one, &helper, Note);

        let rust = |body: &str| {
            format!("#[test]\nfn a() {{\n{body}}}\n\nfn helper() {{\n    assert!(x);\n}}\n")
        };
        check(
            "src/a.rs",
            &rust("    assert_eq!(f(1), 2);\n"),
            &rust(""),
            Fail,
        );
        check(
            "src/a.rs",
            &rust("    assert_eq!(f(1), 2);\n"),
            &rust("    assert!(true);\n"),
            Fail,
        );
        check(
            "src/a.rs",
            &rust("    assert_eq!(f(1), 2);\n"),
            &rust("    assert!(f(1) > 1);\n"),
            Pass,
        );
        let js = |body: &str| {
            format!("describe('f', () => {{\n  it('a', () => {{\n{body}  }});\n}});\n")
        };
        check(
            "a.test.js",
            &js("    expect(f(1)).toBe(2);\n"),
            &js("    expect(true).toBe(true);\n"),
            Fail,
        );
        check(
            "a.test.js",
            &js("    expect(f(1)).toBe(2);\n"),
            &js("    // expect(f(1)).toBe(2);\n"),
            Fail,
        );
        let go = |body: &str| format!("func TestA(t *testing.T) {{\n{body}}}\n");
        let plain = go("\tassert.Equal(t, f(1), 2)\n\tassert.Equal(t, f(2), 3)\n");
        let table = go(
            "\tfor _, c := range cases {\n\t\tt.Run(\"x\", func(t *testing.T) {\n\t\t\tassert.Equal(t, f(c.a), c.b)\n\t\t})\n\t}\n",
        );
        check("a_test.go", &plain, &table, Note);
        check("a_test.go", &plain, &go(""), Fail);
        check(
            "ATest.java",
            "  @Test\n  void a() {\n    assertEquals(true, f());\n  }\n",
            "  @Test\n  void a() {\n    assertTrue(true);\n  }\n",
            Fail,
        );
    }

    #[test]
    fn a_task_may_ask_for_fewer_checks() {
        let before = "def test_a():\n    assert f(1) == 2\n";
        let after = "def test_a():\n    pass\n";
        assert_eq!(
            verdict("test_a.py", "Drop the old tests", before, after).0,
            CheckVerdict::Note
        );
        let (found, detail) = verdict("test_a.py", "", before, after);
        assert_eq!(
            (found, &*detail),
            (
                CheckVerdict::Fail,
                "test_a.py:1: test `test_a` checks 0 things, 1 before"
            )
        );
    }
}
