//! Tests the checks on whole changes: facts in, verdicts out.

use super::change::FileKind;
use super::*;

/// Parses a change from one word, a sign and a path: `+` added, `~` modified, `-` deleted, `x` mode, `t` type,
/// `old>new` renamed; a path ending in `@` is a link, one ending in `%` a repository.
/// The checks of a submission and of its change, in reporting order.
fn all_checks(scope: &TaskScope, facts: &ChangeFacts, runs: &[CommandRun]) -> Vec<Check> {
    [
        check_submission(scope, facts),
        check_change(scope, facts, runs),
    ]
    .concat()
}

fn change(text: &str) -> Change {
    let (sign, path) = text.split_at(1);
    let status = match sign {
        "+" => ChangeStatus::Added,
        "~" => ChangeStatus::Modified,
        "-" => ChangeStatus::Deleted,
        "x" => ChangeStatus::ModeChanged,
        "t" => ChangeStatus::TypeChanged,
        ">" => {
            let (from, to) = path.split_once('>').unwrap();
            return Change {
                path: to.into(),
                status: ChangeStatus::Renamed { from: from.into() },
                kind: FileKind::File,
            };
        }
        other => panic!("{other}"),
    };
    let (path, kind) = match path.strip_suffix('@') {
        Some(path) => (path, FileKind::Symlink),
        None => path
            .strip_suffix('%')
            .map_or((path, FileKind::File), |path| (path, FileKind::Submodule)),
    };
    Change {
        path: path.into(),
        status,
        kind,
    }
}

fn scope(files: &[&str], text: &str) -> TaskScope {
    let others = vec![OtherTask {
        id: "1.2".into(),
        files: vec!["src/other.rs".into(), "web/".into()],
    }];
    TaskScope {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        text: text.to_owned(),
        others,
        ignores_case: false,
    }
}

fn facts(changes: &[&str]) -> ChangeFacts {
    ChangeFacts {
        changes: changes.iter().map(|text| change(text)).collect(),
        base_kept: true,
        ..ChangeFacts::default()
    }
}

fn only<'c>(checks: &'c [Check], name: &str) -> &'c Check {
    checks
        .iter()
        .find(|check| check.name == name)
        .unwrap_or_else(|| panic!("{name} in {checks:?}"))
}

fn verdict(check: &Check) -> String {
    format!("{:?}: {}", check.verdict, check.detail)
}

#[test]
fn boundaries() {
    let check = |files: &[&str], changes: &[&str], expect: &str| {
        let checks = all_checks(&scope(files, ""), &facts(changes), &[]);
        assert_eq!(
            verdict(only(&checks, "boundary")),
            expect,
            "{files:?} {changes:?}"
        );
    };
    let fine = "Pass: every change is within the task's files";
    check(&["src/a.rs"], &["~src/a.rs"], fine);
    check(&["src/a.rs"], &["~src/a.rs", "+tests/a.rs"], fine);
    check(
        &["src/"],
        &["+src/new/x.rs", "-src/old.rs", "xsrc/run.sh"],
        fine,
    );
    check(&["src/a.rs", "src/b.rs"], &[">src/a.rs>src/b.rs"], fine);
    check(&["Cargo.toml"], &["~Cargo.toml", "~Cargo.lock"], fine);
    check(&["link"], &["-link@"], fine);
    check(&["a"], &["ta"], fine);
    check(&["src/a.rs"], &[], "NotApplicable: nothing changed");
    check(
        &["src/a.rs"],
        &["~src/b.rs"],
        "Fail: src/b.rs was changed, is not in the task's files",
    );
    check(
        &["src/a.rs"],
        &["~tests/a.rs"],
        "Fail: tests/a.rs was changed, is not in the task's files",
    );
    check(
        &["src/a.rs"],
        &["-src/b.rs"],
        "Fail: src/b.rs was taken away, is not in the task's files",
    );
    check(
        &["src/a.rs"],
        &["xrun.sh"],
        "Fail: run.sh was changed, is not in the task's files",
    );
    check(
        &["src/a.rs"],
        &[">src/a.rs>src/b.rs"],
        "Fail: src/b.rs was put there by a rename, is not in the task's files",
    );
    check(
        &["src/b.rs"],
        &[">src/a.rs>src/b.rs"],
        "Fail: src/a.rs was taken away, is not in the task's files",
    );
    check(
        &["src/a.rs"],
        &["~Cargo.lock"],
        "Fail: Cargo.lock was changed, is not in the task's files",
    );
    check(
        &["src/a.rs"],
        &["~src/other.rs"],
        "Fail: src/other.rs was changed, is not in the task's files and belongs to task 1.2, which is running",
    );
    check(
        &["a"],
        &["+a@"],
        "Fail: a is a symbolic link, which the task doesn't ask for",
    );
    check(
        &["a"],
        &["ta@"],
        "Fail: a is a symbolic link, which the task doesn't ask for",
    );
    check(
        &["lib"],
        &["+lib%"],
        "Fail: lib is a repository of its own, which the task doesn't ask for",
    );
    check(
        &[],
        &["~a"],
        "Fail: a was changed, is not in the task's files",
    );
    check(
        &["src/a.rs"],
        &["+tests/a.rs@"],
        "Fail: tests/a.rs is new, is not in the task's files",
    );
}

#[test]
fn a_link_that_the_task_asks_for() {
    let checks = all_checks(
        &scope(&["a"], "Make a a symbolic link to b"),
        &facts(&["+a@"]),
        &[],
    );
    assert_eq!(only(&checks, "boundary").verdict, CheckVerdict::Pass);
}

#[test]
fn what_is_another_tasks_is_told() {
    let mut facts = facts(&["~src/a.rs"]);
    facts.elsewhere = vec![(change("~src/other.rs"), "1.2".into())];
    facts.made_locks = vec!["Cargo.lock".into()];
    let checks = all_checks(&scope(&["src/a.rs"], ""), &facts, &[]);
    assert_eq!(
        verdict(only(&checks, "boundary")),
        "Note: every change is within it; neither counted nor committed: src/other.rs is task 1.2's; \
         Cargo.lock was made by a package manager"
    );
}

#[test]
fn an_ignored_file_and_a_lost_base() {
    let mut facts = facts(&["~src/a.rs"]);
    facts.ignored = vec!["dist/a.js".into()];
    facts.base_kept = false;
    let checks = all_checks(&scope(&["src/a.rs", "dist/a.js"], ""), &facts, &[]);
    assert_eq!(
        verdict(only(&checks, "boundary")),
        "Fail: dist/a.js is ignored by git and can't be committed"
    );
    assert_eq!(only(&checks, "history").verdict, CheckVerdict::Fail);
}

#[test]
fn nothing_changed() {
    let check = |files: &[&str], changes: &[&str], expect: CheckVerdict| {
        let checks = all_checks(&scope(files, ""), &facts(changes), &[]);
        assert_eq!(
            only(&checks, "changes").verdict,
            expect,
            "{files:?} {changes:?}"
        );
    };
    check(&["a"], &[], CheckVerdict::Fail);
    check(&[], &[], CheckVerdict::NotApplicable);
    check(&["a"], &["~a"], CheckVerdict::Pass);
}

#[track_caller]
fn texts(
    scope: &TaskScope,
    files: &[(&str, Option<&str>, Option<&str>)],
    name: &str,
    expect: &str,
) {
    let sign = |before: Option<&str>, after: Option<&str>| match (before, after) {
        (None, _) => "+",
        (_, None) => "-",
        _ => "~",
    };
    let changes: Vec<String> = files
        .iter()
        .map(|(path, b, a)| format!("{}{path}", sign(*b, *a)))
        .collect();
    let mut facts = facts(&changes.iter().map(String::as_str).collect::<Vec<_>>());
    facts.texts = files
        .iter()
        .map(|(path, before, after)| ChangedText {
            path: (*path).into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        })
        .collect();
    let checks = all_checks(scope, &facts, &[]);
    assert_eq!(verdict(only(&checks, name)), expect);
}

#[test]
fn dependencies() {
    let check = |files: &[&str],
                 text: &str,
                 changed: &[(&str, Option<&str>, Option<&str>)],
                 expect: &str| {
        texts(&scope(files, text), changed, "dependencies", expect);
    };
    let why = "; a task gets a dependency if it lists the manifest and asks for it";
    let (none, serde) = ("[dependencies]\n", "[dependencies]\nserde = '1'\n");
    let lock = |name: &str| format!("[[package]]\nname = \"{name}\"\n");
    check(
        &["src"],
        "",
        &[("src/a.rs", None, Some(""))],
        "NotApplicable: no manifest and no lock file changed",
    );
    check(
        &["Cargo.toml"],
        "",
        &[(
            "Cargo.toml",
            Some(none),
            Some("[dependencies]\n[features]\n"),
        )],
        "Pass: none was added",
    );
    check(
        &["Cargo.toml"],
        "",
        &[(
            "Cargo.toml",
            Some(serde),
            Some("[dependencies]\nserde = '2'"),
        )],
        "Pass: none was added",
    );
    check(
        &["Cargo.toml"],
        "Parse",
        &[("Cargo.toml", Some(none), Some(serde))],
        &format!("Fail: Cargo.toml gains `serde`{why}"),
    );
    check(
        &["src"],
        "Add serde",
        &[("Cargo.toml", Some(none), Some(serde))],
        &format!("Fail: Cargo.toml gains `serde`{why}"),
    );
    check(
        &["Cargo.toml"],
        "Add serde",
        &[("Cargo.toml", Some(none), Some(serde))],
        "Note: Cargo.toml gains `serde`",
    );
    check(
        &["a", "b"],
        "",
        &[
            ("a/Cargo.toml", Some(serde), Some(none)),
            ("b/Cargo.toml", Some(none), Some(serde)),
        ],
        "Pass: none was added",
    );
    check(
        &["Cargo.toml"],
        "",
        &[("Cargo.toml", Some(none), Some("[dependencies"))],
        &format!("Fail: Cargo.toml can't be read as what its name says{why}"),
    );
    check(
        &["Cargo.lock"],
        "",
        &[(
            "Cargo.lock",
            Some(&lock("a")),
            Some(&(lock("a") + &lock("b"))),
        )],
        &format!("Fail: Cargo.lock gains `b`, though no manifest changed{why}"),
    );
    check(
        &["Cargo.lock"],
        "",
        &[(
            "Cargo.lock",
            Some(&lock("a")),
            Some(&(lock("a") + "version = 2")),
        )],
        "Note: Cargo.lock changed, though no manifest did",
    );
    check(
        &["Cargo.toml"],
        "Add serde",
        &[
            ("Cargo.toml", Some(none), Some(serde)),
            ("Cargo.lock", Some(""), Some(&lock("serde"))),
        ],
        "Note: Cargo.toml gains `serde`",
    );
}

#[test]
fn packages_that_come_from_elsewhere() {
    let check = |text: &str, before: &str, after: &str, expect: &str| {
        let files: &[(&str, Option<&str>, Option<&str>)] = &[
            (
                "Cargo.toml",
                Some("[package]\n"),
                Some("[package]\nname = 'x'\n"),
            ),
            ("Cargo.lock", Some(before), Some(after)),
        ];
        texts(&scope(&["Cargo.toml"], text), files, "dependencies", expect);
    };
    let locked = |version: &str, source: &str, checksum: &str| {
        format!(
            "[[package]]\nname = \"a\"\nversion = \"{version}\"\nsource = \"registry+https://{source}\"\nchecksum = \"{checksum}\"\n"
        )
    };
    let before = locked("1.0.0", "r/index", "c");
    let why = "; a package stays where it came from unless the task speaks of a registry, a mirror or a checksum";
    check("", &before, &before, "Pass: none was added");
    check(
        "",
        &before,
        &locked("1.0.1", "r/index", "d"),
        "Pass: none was added",
    );
    check(
        "",
        &before,
        &locked("1.0.0", "evil/index", "c"),
        &format!(
            "Fail: Cargo.lock: a 1.0.0 comes from registry+https://evil/index, as nothing did before{why}"
        ),
    );
    check(
        "",
        &before,
        &locked("1.0.0", "r/index", "d"),
        &format!("Fail: Cargo.lock: a 1.0.0 has another address or checksum: d{why}"),
    );
    check(
        "",
        &before,
        &locked("1.0.1", "evil/index", "d"),
        &format!(
            "Fail: Cargo.lock: a 1.0.1 comes from registry+https://evil/index, as nothing did before{why}"
        ),
    );
    check(
        "",
        &before,
        &before.replace("checksum = \"c\"\n", ""),
        &format!(
            "Fail: Cargo.lock: a 1.0.0 has another address or checksum: none in its place{why}"
        ),
    );
    check(
        "Take packages from our mirror",
        &before,
        &locked("1.0.0", "mirror/index", "c"),
        "Note: Cargo.lock: a 1.0.0 comes from registry+https://mirror/index, as nothing did before",
    );
    check(
        "",
        &before,
        "[[package",
        &format!("Fail: Cargo.lock can't be read as what its name says{why}"),
    );
    texts(
        &scope(&["Cargo.toml"], ""),
        &[(
            "Cargo.toml",
            Some("[dependencies]\na = '1'\n"),
            Some("[dependencies]\na = { git = 'https://evil/a' }\n"),
        )],
        "dependencies",
        "Note: Cargo.toml names https://evil/a, and did not before",
    );
}

#[test]
fn tests_switched_off_from_outside() {
    let check = |files: &[&str],
                 text: &str,
                 path: &str,
                 before: Option<&str>,
                 after: &str,
                 expect: &str| {
        texts(
            &scope(files, text),
            &[(path, before, Some(after))],
            "tests",
            expect,
        );
    };
    let off = ", which can keep tests from running";
    let script = |name: &str, run: &str| format!(r#"{{"scripts": {{"{name}": "{run}"}}}}"#);
    let npm = |text: &str, before: &str, after: &str, expect: &str| {
        check(
            &["package.json"],
            text,
            "package.json",
            Some(before),
            after,
            expect,
        );
    };
    npm(
        "",
        &script("test", "jest"),
        &script("test", "true"),
        &format!("Fail: package.json: scripts.test was changed: \"true\"{off}"),
    );
    npm(
        "Replace the test script",
        &script("test", "jest"),
        &script("test", "vitest"),
        "Note: package.json: scripts.test was changed: \"vitest\"",
    );
    npm(
        "",
        "{}",
        &script("test", "jest"),
        "Note: package.json: scripts.test is new: \"jest\"",
    );
    npm(
        "",
        &script("dev", "a"),
        &script("dev", "b"),
        "Note: package.json: scripts.dev was changed: \"b\"",
    );
    npm(
        "",
        "{}",
        r#"{"version": "2"}"#,
        "NotApplicable: no test was touched",
    );
    npm(
        "",
        "{}",
        r#"{"jest": {"testPathIgnorePatterns": ["a"]}}"#,
        &format!("Fail: package.json: jest is new: {{\"testPathIgnorePatterns\":[\"a\"]}}{off}"),
    );
    let cargo = |before: &str, after: &str, expect: &str| {
        check(
            &["Cargo.toml"],
            "",
            "Cargo.toml",
            Some(before),
            after,
            expect,
        );
    };
    let package = "[package]\nname = 'x'\n";
    cargo(
        package,
        &format!("{package}autotests = false\n"),
        &format!("Fail: Cargo.toml: package.autotests is new: false{off}"),
    );
    cargo(
        package,
        &format!("{package}[[test]]\nname = \"t\"\nharness = false\n"),
        &format!("Fail: Cargo.toml: test.t.harness is new: false{off}"),
    );
    cargo(
        "[workspace]\nmembers = [\"a\"]\n",
        "[workspace]\nmembers = []\n",
        &format!("Fail: Cargo.toml: workspace.members a was taken out{off}"),
    );
    cargo(
        "[workspace]\nmembers = []\n",
        "[workspace]\nmembers = [\"a\"]\n",
        "NotApplicable: no test was touched",
    );
    check(
        &["pyproject.toml"],
        "",
        "pyproject.toml",
        Some("[project]\n"),
        "[project]\n[tool.pytest.ini_options]\naddopts = \"--co\"\n",
        &format!("Fail: pyproject.toml: tool.pytest.ini_options.addopts is new: --co{off}"),
    );
    let vitest = |listed: &str, expect: &str| {
        check(
            &[listed],
            "",
            "web/vitest.config.ts",
            Some("a"),
            "b",
            expect,
        );
    };
    vitest(
        "web",
        &format!("Fail: web/vitest.config.ts: the configuration was changed: b{off}"),
    );
    vitest(
        "web/vitest.config.ts",
        "Note: web/vitest.config.ts: the configuration was changed: b",
    );
}

#[test]
fn commands_that_run_no_test() {
    let ran = |line: &str, output: &str| {
        command_check(&CommandRun {
            line: line.into(),
            end: Some(CommandEnd::Exited(0)),
            duration: Duration::ZERO,
            output: output.into(),
            sha256: String::new(),
        })
    };
    let none = [
        ran(
            "cargo test",
            "test result: ok. 0 passed; 0 failed; 0 ignored",
        ),
        ran("make", "done"),
    ];
    let check = |text: &str, before: Option<usize>, expect: Option<&str>| {
        let found = check_counts(&scope(&[], text), &none, |_| before);
        assert_eq!(found.as_ref().map(verdict).as_deref(), expect);
    };
    check("", None, Some("Note: `cargo test` ran none"));
    check(
        "",
        Some(3),
        Some("Fail: `cargo test` ran none, and 3 before"),
    );
    check(
        "Remove the old tests",
        Some(3),
        Some("Note: `cargo test` ran none, and 3 before"),
    );
    assert_eq!(
        tests_ran(&ran("cargo test", "test result: ok. 2 passed; 1 failed")),
        Some(3)
    );
    assert_eq!(check_counts(&scope(&[], ""), &none[1..], |_| Some(3)), None);
}

#[test]
fn weakened_tests() {
    let check = |text: &str, changed: &[(&str, Option<&str>, Option<&str>)], expect: &str| {
        texts(&scope(&["src", "tests"], text), changed, "tests", expect);
    };
    let two =
        "#[test]\nfn one() {\n    assert!(f());\n}\n#[test]\nfn two() {\n    assert!(g());\n}\n";
    let one = "#[test]\nfn one() {\n    assert!(f());\n}\n";
    check(
        "",
        &[("README.md", None, Some(""))],
        "NotApplicable: no test was touched",
    );
    check(
        "",
        &[("tests/a.rs", None, Some(two))],
        "Pass: none taken out or switched off; 2 in the changed files",
    );
    check(
        "",
        &[("tests/a.rs", Some(one), Some(two))],
        "Pass: none taken out or switched off; 2 in the changed files",
    );
    check(
        "",
        &[("src/a.rs", Some(two), Some(one))],
        "Fail: src/a.rs: test `two` was taken out",
    );
    check(
        "Remove the test of g",
        &[("src/a.rs", Some(two), Some(one))],
        "Note: src/a.rs: test `two` was taken out; the task's own words allow it",
    );
    check(
        "",
        &[("tests/a.rs", Some(two), None)],
        "Fail: tests/a.rs was deleted; tests/a.rs: test `one` was taken out; tests/a.rs: test `two` was taken out",
    );
    check(
        "",
        &[("tests/data.rs", Some("fn helper() {}"), None)],
        "Fail: tests/data.rs was deleted",
    );
    check(
        "",
        &[
            ("tests/a.rs", Some(two), None),
            ("tests/b.rs", None, Some(two)),
        ],
        "Pass: none taken out or switched off; 2 in the changed files",
    );
    check(
        "",
        &[("src/a.rs", Some(one), Some(&one.replace("one", "uno")))],
        "Note: src/a.rs: test `one` is now `uno`",
    );
    check(
        "",
        &[(
            "src/a.rs",
            Some(one),
            Some("#[test]\nfn other() {\n    assert!(true);\n}\n"),
        )],
        "Fail: src/a.rs: test `one` was taken out",
    );
    check(
        "",
        &[("src/a.rs", Some(one), Some(&format!("#[ignore]\n{one}")))],
        "Fail: src/a.rs:1: switches tests off: #[ignore]",
    );
    check(
        "",
        &[(
            "src/a.rs",
            Some(one),
            Some(&format!("{one}#[test]\n#[ignore]\nfn slow() {{}}\n")),
        )],
        "Note: src/a.rs:6: switches tests off: #[ignore]",
    );
    check(
        "",
        &[(
            "src/a.rs",
            Some(one),
            Some("#[test]\nfn one() {\n    f();\n}\n"),
        )],
        "Note: src/a.rs:2: test `one` checks 0 things, 1 before",
    );
    check(
        "",
        &[(
            "a.test.ts",
            Some("it('a', f)\nit('b', g)\n"),
            Some("it('a', f)\nit.skip('b', g)\n"),
        )],
        "Fail: a.test.ts:2: switches tests off: it.skip('b', g)",
    );
    check(
        "",
        &[("a.test.ts", None, Some("it.only('a', f)\n"))],
        "Fail: a.test.ts:1: switches tests off: it.only('a', f)",
    );
    check(
        "",
        &[(
            "a_test.go",
            Some("func TestA(t *T) {\n}\n"),
            Some("func TestA(t *T) {\n\tt.Skip()\n}\n"),
        )],
        "Fail: a_test.go:2: switches tests off: t.Skip()",
    );
    // A helper of a new file skips its tests alone; a hook or a fixture may skip others.
    let helper = "def run(self):\n    self.skipTest('no find')\nclass T(TestCase):\n    def test_a(self):\n        run(self)\n";
    let note = "Note: tests/test_b.py:2: switches tests off: self.skipTest('no find')";
    check("", &[("tests/test_b.py", None, Some(helper))], note);
    check(
        "",
        &[("tests/test_b.py", Some(""), Some(helper))],
        &note.replace("Note", "Fail"),
    );
    let fixture = "@fixture(autouse=True)\ndef all():\n    pytest.skip('x')\n";
    check(
        "",
        &[("tests/conftest.py", None, Some(fixture))],
        "Fail: tests/conftest.py:3: switches tests off: pytest.skip('x')",
    );
    check(
        "",
        &[(
            "b.test.js",
            None,
            Some("beforeEach(function () {\n  this.skip()\n})\nit('b', f)\n"),
        )],
        "Fail: b.test.js:2: switches tests off: this.skip()",
    );
}

#[test]
fn a_test_file_that_becomes_something_else() {
    let mut facts = facts(&[">tests/a.rs>tests/a.txt"]);
    let text = "#[test]\nfn one() {}\n".to_owned();
    facts.texts = vec![ChangedText {
        path: "tests/a.txt".into(),
        before: Some(text.clone()),
        after: Some(text),
    }];
    let checks = all_checks(&scope(&["tests"], ""), &facts, &[]);
    assert_eq!(
        verdict(only(&checks, "tests")),
        "Fail: tests/a.rs became tests/a.txt, which no test runner looks at; tests/a.txt: test `one` was taken out"
    );
}

#[test]
fn leftovers() {
    let line = |text: &str| change::ChangedLine {
        number: 7,
        text: text.to_owned(),
    };
    let check = |text: &str, path: &str, added: &[&str], removed: &[&str], expect: &str| {
        let mut facts = facts(&["~src/a.rs"]);
        facts.lines = vec![ChangedLines {
            path: path.into(),
            added: added.iter().map(|t| line(t)).collect(),
            removed: removed.iter().map(|t| line(t)).collect(),
        }];
        let checks = all_checks(&scope(&["src"], text), &facts, &[]);
        assert_eq!(verdict(only(&checks, "leftovers")), expect, "{added:?}");
    };
    check(
        "",
        "src/a.rs",
        &["fine"],
        &["// TODO gone"],
        "Pass: none in the added lines",
    );
    let waits = "self.skipTest('not implemented: find')";
    for (path, word) in [("tests/test_a.py", "Note"), ("src/a.py", "Fail")] {
        let told = format!("{word}: {path}:7: {waits}");
        check("", path, &[waits], &[], &told);
    }
    let stub = "raise Exception('not implemented')";
    let told = format!("Fail: tests/test_a.py:7: {stub}");
    check("", "tests/test_a.py", &[stub], &[], &told);
    check(
        "",
        "src/a.rs",
        &[],
        &["// TODO gone"],
        "NotApplicable: no line was added",
    );
    check(
        "",
        "src/a.rs",
        &["  // TODO x"],
        &[],
        "Fail: src/a.rs:7: // TODO x",
    );
    check(
        "",
        "src/a.rs",
        &["  // TODO x"],
        &["// TODO x"],
        "Pass: none in the added lines",
    );
    check(
        "",
        "src/a.rs",
        &["// TODO x", "// TODO x"],
        &["// TODO x"],
        "Fail: src/a.rs:7: // TODO x",
    );
    check(
        "",
        "README.md",
        &["TODO: x"],
        &[],
        "Note: README.md:7: TODO: x",
    );
    check(
        "",
        "README.md",
        &["<<<<<<< HEAD"],
        &[],
        "Fail: README.md:7: <<<<<<< HEAD",
    );
    check(
        "Report every TODO",
        "src/a.rs",
        &["// TODO x"],
        &[],
        "Note: src/a.rs:7: // TODO x",
    );
    check(
        "Report every TODO",
        "src/a.rs",
        &["todo!()"],
        &[],
        "Fail: src/a.rs:7: todo!()",
    );
    check(
        "Stubs of the reader\ncontract",
        "src/a.rs",
        &["todo!()"],
        &[],
        "Note: src/a.rs:7: todo!()",
    );
    check(
        "contract",
        "src/a.rs",
        &["// TODO x"],
        &[],
        "Fail: src/a.rs:7: // TODO x",
    );
    check(
        "Build to the stubs; the contract is fixed",
        "src/a.rs",
        &["todo!()"],
        &[],
        "Fail: src/a.rs:7: todo!()",
    );
}

#[test]
fn commands() {
    let run = |end, output: &str| CommandRun {
        line: "cargo test".into(),
        end: Some(end),
        duration: std::time::Duration::from_millis(1234),
        output: output.into(),
        sha256: "0123456789abcdef0123".into(),
    };
    let check = |end, output: &str, expect: &str| {
        let check = command_check(&run(end, output));
        assert_eq!(
            (check.name.as_str(), verdict(&check).as_str()),
            ("command: cargo test", expect)
        );
    };
    check(
        CommandEnd::Exited(0),
        "ok\n",
        "Pass: exit status 0 after 1.234 s, output sha256 0123456789abcdef…\nok",
    );
    check(
        CommandEnd::Exited(101),
        "",
        "Fail: exit status 101 after 1.234 s, output sha256 0123456789abcdef…",
    );
    check(
        CommandEnd::Signalled(9),
        "",
        "Fail: ended by signal 9 after 1.234 s, output sha256 0123456789abcdef…",
    );
    check(
        CommandEnd::TimedOut(5),
        "",
        "Fail: ended at its time limit of 5 s after 1.234 s, output sha256 0123456789abcdef…",
    );
}

#[test]
fn texts_that_are_wanted() {
    let check = |text: &str, expect: bool| assert_eq!(wants_text(&change(text)), expect, "{text}");
    check("~src/a.rs", true);
    check("~tests/a.py", true);
    check("~src/a.py", false);
    check("~Cargo.toml", true);
    check("~yarn.lock", true);
    check("xsrc/a.rs", false);
    check("+tests/a.rs@", false);
    check("~README.md", false);
    check(">tests/a.py>b.txt", true);
}

fn around(branch: Option<&str>, files: &[(&str, &str)]) -> GitSurroundings {
    let files = files
        .iter()
        .map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned()))
        .collect();
    GitSurroundings {
        branch: branch.map(str::to_owned),
        files,
        ..GitSurroundings::default()
    }
}

#[test]
fn the_branch() {
    let check = |began: Option<&str>, now: Option<&str>, expect: Option<&str>| {
        let left = around(began, &[]).branch_left(&around(now, &[]));
        assert_eq!(left.as_deref(), expect, "{began:?} {now:?}");
    };
    check(Some("main"), Some("main"), None);
    check(None, Some("side"), None);
    check(
        Some("main"),
        Some("side"),
        Some("branch side is checked out, the task began on main: switch back"),
    );
    check(Some("main"), None, None);
}

#[test]
fn files_of_git() {
    let before = around(None, &[("config", "1"), ("hooks/a", "1"), ("hooks/b", "1")]);
    assert_eq!(before.check_files(&before), None);
    let now = around(None, &[("config", "2"), ("hooks/b", "1"), ("hooks/c", "1")]);
    let found = before.check_files(&now).map(|check| check.detail);
    let expect = "since the claim, in git's own folder: hooks/a was taken away; config was changed; hooks/c is new";
    assert_eq!(found.as_deref(), Some(expect));
}
