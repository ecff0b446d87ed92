//! Detects tests that a change weakens: deleted, removed, switched off (even from outside), or left with fewer checks.
//! Only a task whose text asks for it may do so.

use std::collections::{HashMap, HashSet};

use super::change::{Change, ChangeStatus};
use super::test_cases::{SwitchPlace, TestCase, is_check, is_idle, switches_off, test_cases};
use super::test_setup::changed_settings;
use super::{
    ChangeFacts, ChangedText, Check, CheckVerdict, Findings, TaskScope, intent, list, sets_tests_up,
};
use crate::test_files;
use fp_plan::repo_path::RepoPath;

/// Name of the check.
const NAME: &str = "tests";

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
    /// The file's old and new paths, in lower case.
    names: (String, String),
    before: Vec<TestCase>,
    after: Vec<TestCase>,
}

pub(super) fn check(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    let read = |file| TestText::read(file, &facts.changes);
    let texts: Vec<TestText> = facts.texts.iter().filter_map(read).collect();
    let wants = |path: &&RepoPath| is_of_interest(path) || sets_tests_up(path);
    let unread: Vec<&RepoPath> = facts.unread.iter().filter(wants).collect();
    let settings = changed_settings(scope, facts);
    if texts.is_empty() && unread.is_empty() && settings.is_empty() {
        return Check::new(NAME, CheckVerdict::NotApplicable, "no test was touched");
    }
    let (gone, renamed) = taken_out(&texts);
    let mut found = Findings {
        faults: deleted_files(&facts.changes, &texts, &gone),
        notes: renamed,
    };
    for (path, name) in &gone {
        let told = format!("{path}: test `{name}` was taken out");
        found.faults.push(told);
    }
    for more in [switched_off(&texts), hollowed(&texts), settings] {
        found.add_all(more);
    }
    for path in unread {
        let told = format!("{path} is too large to be looked at");
        found.notes.push(told);
    }
    if !found.faults.is_empty() && intent::wants_fewer_tests(&scope.text) {
        let allowed = format!("{}; the task's own words allow it", list(&found.faults));
        return Check::new(NAME, CheckVerdict::Note, allowed);
    }
    let after: usize = texts.iter().map(|text| text.after.len()).sum();
    let fine = format!("none taken out or switched off; {after} in the changed files");
    found.into_check(NAME, &fine)
}

impl<'f> TestText<'f> {
    fn read(file: &'f ChangedText, changes: &[Change]) -> Option<Self> {
        let change = changes.iter().find(|change| change.path == file.path)?;
        if !change.ends().any(is_of_interest) {
            return None;
        }
        let old = change.ends().last().unwrap_or(&file.path);
        let names = (lower(old), lower(&file.path));
        let cases = |path: &str, text: &Option<String>| {
            let text = text.as_deref();
            text.map_or_else(Vec::new, |text| test_cases(path, text))
        };
        let (before, after) = (cases(&names.0, &file.before), cases(&names.1, &file.after));
        Some(Self {
            file,
            names,
            before,
            after,
        })
    }
}

/// The tests that no changed file contains any more, and those that were only renamed.
fn taken_out<'t>(texts: &'t [TestText]) -> (Vec<(&'t RepoPath, &'t str)>, Vec<String>) {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for case in texts.iter().flat_map(|text| &text.after) {
        *left.entry(&case.name).or_default() += 1;
    }
    let mut gone = Vec::new();
    for text in texts {
        for case in &text.before {
            match left.get_mut(case.name.as_str()) {
                Some(count @ 1..) => *count -= 1,
                _ => gone.push((&text.file.path, case)),
            }
        }
    }
    let is_new = |case: &&TestCase| left.get(case.name.as_str()).is_some_and(|count| *count > 0);
    let after = texts.iter().flat_map(|text| &text.after);
    let mut new: Vec<&TestCase> = after.filter(is_new).collect();
    let mut renamed = Vec::new();
    gone.retain(|(path, case)| {
        let is_it = |new: &&TestCase| new.body == case.body && !case.body.is_empty();
        let Some(at) = new.iter().position(is_it) else {
            return true;
        };
        let (old, now) = (&case.name, &new.swap_remove(at).name);
        renamed.push(format!("{path}: test `{old}` is now `{now}`"));
        false
    });
    let gone = gone.into_iter().map(|(path, case)| (path, &*case.name));
    (gone.collect(), renamed)
}

/// The deleted test files, except those whose tests were all moved elsewhere.
fn deleted_files(
    changes: &[Change],
    texts: &[TestText],
    gone: &[(&RepoPath, &str)],
) -> Vec<String> {
    let is_moved = |path: &RepoPath| {
        let mut files = texts.iter().filter(|text| text.file.path == *path);
        files.any(|text| !text.before.is_empty()) && gone.iter().all(|(from, _)| *from != path)
    };
    let told = |Change { path, status, .. }: &Change| match status {
        ChangeStatus::Deleted => {
            let is_lost = test_files::is_test_file(path) && !is_moved(path);
            is_lost.then(|| format!("{path} was deleted"))
        }
        ChangeStatus::Renamed { from } => {
            let is_lost = test_files::is_test_file(from) && !is_of_interest(path);
            is_lost.then(|| format!("{from} became {path}, which no test runner looks at"))
        }
        _ => None,
    };
    changes.iter().filter_map(told).collect()
}

/// Finds added lines that switch tests off: faults, or notes if the test is new.
fn switched_off(texts: &[TestText]) -> Findings {
    let mut found = Findings::default();
    let old = texts.iter().flat_map(|text| &text.before);
    let old: HashSet<&str> = old.map(|case| case.name.as_str()).collect();
    for text in texts {
        let before = text.file.before.as_deref().unwrap_or_default();
        let after = text.file.after.as_deref().unwrap_or_default();
        let known = switching_lines(&text.names.0, before);
        let mut known: Vec<&str> = known.map(|(_, line, _)| line).collect();
        for (number, line, place) in switching_lines(&text.names.1, after) {
            if let Some(at) = known.iter().position(|known| *known == line) {
                known.swap_remove(at);
                continue;
            }
            let of = match place {
                SwitchPlace::Before => text.after.iter().find(|case| case.line >= number),
                SwitchPlace::On => text.after.iter().find(|case| case.line == number),
                SwitchPlace::Inside => text.after.iter().rfind(|case| case.line <= number),
                SwitchPlace::Elsewhere => None,
            };
            // What a helper of a new file skips is in that file, unlike what a hook or a fixture does.
            let is_own = text.file.before.is_none() && line.contains("self.skipTest(");
            let is_of_new = is_own || of.is_some_and(|case| !old.contains(case.name.as_str()));
            let shown: String = line.chars().take(60).collect();
            let told = format!("{}:{number}: switches tests off: {shown}", text.file.path);
            found.list(!is_of_new).push(told);
        }
    }
    found
}

fn switching_lines<'t>(
    path: &'t str,
    text: &'t str,
) -> impl Iterator<Item = (usize, &'t str, SwitchPlace)> {
    let lines = (1..).zip(text.lines());
    lines.filter_map(move |(number, line)| Some((number, line.trim(), switches_off(path, line)?)))
}

/// Finds tests that check less than before: faults, or notes if a check was replaced by other code, since that may be a
/// better check.
fn hollowed(texts: &[TestText]) -> Findings {
    let mut found = Findings::default();
    let mut moved: HashMap<&str, isize> = HashMap::new();
    for text in texts {
        for (side, count) in [(&text.file.before, -1), (&text.file.after, 1)] {
            let lines = side.iter().flat_map(|text| text.lines());
            lines.for_each(|line| *moved.entry(line.trim()).or_default() += count);
        }
    }
    for text in texts {
        let mut after: Vec<&TestCase> = text.after.iter().collect();
        for before in &text.before {
            let Some(at) = after.iter().position(|case| case.name == before.name) else {
                continue;
            };
            let now = after.remove(at);
            let (had, has) = (before.checks(&text.names.0), now.checks(&text.names.1));
            let is_lost =
                |line: &&String| !has.contains(line) && moved.get(line.as_str()) < Some(&0);
            if has.len() >= had.len() || !had.iter().any(is_lost) {
                continue;
            }
            let is_new = |line: &String| !before.lines.contains(line) && !is_idle(line);
            let is_replaced = now.lines.iter().skip(1).any(is_new);
            let (place, name) = (format!("{}:{}", text.file.path, now.line), &now.name);
            let (has, had) = (has.len(), had.len());
            let told = format!("{place}: test `{name}` checks {has} things, {had} before");
            found.list(!is_replaced).push(told);
        }
    }
    found
}

impl TestCase {
    /// The test's lines that check something, in the file `path`.
    fn checks(&self, path: &str) -> Vec<&String> {
        let lines = self.lines.iter();
        lines.filter(|line| is_check(path, line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::change::FileKind;

    /// The verdict on a test file whose text changed from `before` to `after`.
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
