//! Detects changes outside the test files that affect which tests run: scripts, targets and runner settings that switch
//! tests off, and commands that no longer run any.

use std::sync::LazyLock;

use fp_plan::test_settings::{TestSettingKind, TestSettings, is_of_runner, test_settings};
use regex::{Captures, Regex};

use super::{ChangeFacts, ChangedText, Check, Findings, TaskScope, intent};
use crate::regex;

/// Maximum length of a quoted value, in characters.
const SHOWN: usize = 60;

/// Finds changed settings: faults if they can switch tests off and the task doesn't ask for that, otherwise notes.
pub(super) fn changed_settings(scope: &TaskScope, facts: &ChangeFacts) -> Findings {
    let mut found = Findings::default();
    for file in &facts.texts {
        let path = file.path.to_lossy();
        // A task that lists such a file is meant to change it.
        let is_own = is_of_runner(&path) && scope.files.iter().any(|listed| *listed == path);
        for (name, how, can_switch_off) in changes_of(&path, file) {
            let is_wanted = is_own || intent::wants_test_setting(&scope.text, &name);
            let told = format!("{path}: {name} {how}");
            match can_switch_off && !is_wanted {
                true => found
                    .faults
                    .push(format!("{told}, which can keep tests from running")),
                false => found.notes.push(told),
            }
        }
    }
    found
}

/// The settings that differ, each with its name, what happened to it, and true if that can keep tests from running.
fn changes_of(path: &str, file: &ChangedText) -> Vec<(String, String, bool)> {
    let read = |text: &Option<String>| {
        let text = text.as_deref();
        text.map_or(Some(TestSettings::new()), |text| test_settings(path, text))
    };
    // The dependency check reports an unreadable manifest.
    let (Some(before), Some(after)) = (read(&file.before), read(&file.after)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, (kind, value)) in &after {
        let how = match before.get(name) {
            None => "is new",
            Some((_, known)) if known != value => "was changed",
            Some(_) => continue,
        };
        let can_switch_off = match kind {
            TestSettingKind::Selects => value != "true",
            TestSettingKind::Runs => how != "is new",
            TestSettingKind::Tells => false,
            TestSettingKind::Names => continue,
        };
        let shown: String = value.chars().take(SHOWN).collect();
        let how = match value.contains('\n') || value.is_empty() {
            true => how.to_owned(),
            false => format!("{how}: {shown}"),
        };
        found.push((name.clone(), how, can_switch_off));
    }
    let gone = before.iter().filter(|(name, _)| !after.contains_key(*name));
    found.extend(gone.map(|(name, (kind, value))| {
        let can_switch_off = match kind {
            TestSettingKind::Selects => value != "false",
            TestSettingKind::Runs | TestSettingKind::Names => true,
            TestSettingKind::Tells => false,
        };
        (name.clone(), "was taken out".to_owned(), can_switch_off)
    }));
    found
}

/// A runner's summary of its tests on one line, with several counts.
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)^(?: test\ result:\ \w+\. | (?:=+\ )?(?:\d+\ (?:x?passed|x?failed|skipped|deselected|errors?|warnings?|rerun)(?:,\ )?)+\ in\ [\d.]+s\b | \s*Tests:?\s+\d )",
    )
});
/// The counts of tests that ran, in such a summary.
static RAN: LazyLock<Regex> = LazyLock::new(|| regex(r"(\d+) (?:x?passed|x?failed|errors?)\b"));
/// The count of tests that ran, for runners that print one count per line.
static COUNT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)^\s*(?: Summary\ .*\]\ +(\d+)\ tests?\ run | Ran\ (\d+)\ tests?\ in\  | [\#ℹ]\ (?:pass|fail)\ (\d+)$
        | (\d+)\ (?:passing|failing)\b | (\d+)\ examples?,\  )",
    )
});
/// A Go package with tests; its line has no count.
static PACKAGE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\))$"));
/// A runner's message that it ran no tests.
static NONE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\bno tests? (?:ran|files? found|found|to run)\b|\[no test files\]|^\d+ tests? collected\b",
    )
});

/// The number of tests that ran, according to a runner's output; `None` if the output doesn't mention tests. A Go
/// package counts as one.
fn tests_in(output: &str) -> Option<usize> {
    let number = |found: Captures<'_>| {
        let number = found.iter().skip(1).flatten().next();
        number.and_then(|number| number.as_str().parse::<usize>().ok())
    };
    let in_line = |line: &str| {
        if NONE.is_match(line) {
            Some(0)
        } else if SUMMARY.is_match(line) {
            Some(RAN.captures_iter(line).filter_map(number).sum())
        } else if PACKAGE.is_match(line) {
            Some(1)
        } else {
            COUNT.captures(line).and_then(number)
        }
    };
    let counts = output.lines().filter_map(in_line);
    counts.reduce(usize::saturating_add)
}

/// The number of tests that the command of `check` ran, if its output says so.
pub fn tests_ran(check: &Check) -> Option<usize> {
    check.command()?;
    tests_in(check.detail.split_once('\n')?.1)
}

/// Reports commands in `checks` that ran no tests. If the same command ran some `before`, the check fails, unless the
/// task's text asks for fewer tests.
pub fn check_counts(
    scope: &TaskScope,
    checks: &[Check],
    before: impl Fn(&str) -> Option<usize>,
) -> Option<Check> {
    let mut found = Findings::default();
    for check in checks.iter().filter(|check| !check.fails()) {
        let Some(line) = check.command().filter(|_| tests_ran(check) == Some(0)) else {
            continue;
        };
        match before(line).filter(|count| *count > 0) {
            Some(count) => {
                let told = format!("`{line}` ran none, and {count} before");
                let may_fail = !intent::wants_fewer_tests(&scope.text);
                found.list(may_fail).push(told);
            }
            None => found.notes.push(format!("`{line}` ran none")),
        }
    }
    (!found.is_empty()).then(|| found.into_check("tests run", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_tests_that_ran() {
        let check =
            |output: &str, expect: Option<usize>| assert_eq!(tests_in(output), expect, "{output}");
        check(
            "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\ntest result: FAILED. 1 passed; 3 failed; 0 ignored",
            Some(6),
        );
        check("test result: ok. 0 passed; 0 failed; 3 ignored", Some(0));
        check("===== 1 failed, 62 passed in 0.20s =====", Some(63));
        check("..  [100%]\n2 passed in 0.1s", Some(2));
        check("3 passed, 1 warning in 0.12s", Some(3));
        check("===== 4 skipped, 2 deselected in 0.20s =====", Some(0));
        check("no tests ran in 0.00s", Some(0));
        check("test_a.py::test_a\n\n1 test collected in 0.00s", Some(0));
        check("Ran 0 tests in 0.000s\n\nOK", Some(0));
        check("Ran 63 tests in 0.032s\n\nFAILED (failures=1)", Some(63));
        check(
            "Tests:       1 failed, 2 skipped, 3 passed, 6 total",
            Some(4),
        );
        check("Tests:       0 total", Some(0));
        check("No tests found, exiting with code 0", Some(0));
        check("No test files found, exiting with code 0", Some(0));
        check(
            " Test Files  1 passed (1)\n      Tests  2 passed (2)",
            Some(2),
        );
        check("# tests 0\n# pass 0\n# fail 0", Some(0));
        check("ℹ pass 7\nℹ fail 1", Some(8));
        check("  3 passing (2ms)\n  1 failing", Some(4));
        check("ok  \tx/y\t0.01s\nok  \tx/z\t(cached)", Some(2));
        check(
            "ok  \tx/y\t0.01s [no tests to run]\n?   \tx/z\t[no test files]",
            Some(0),
        );
        check("FAIL\tx/y\t0.003s", Some(1));
        check("12 examples, 0 failures", Some(12));
        check(
            "     Summary [   0.012s] 5 tests run: 5 passed, 0 skipped",
            Some(5),
        );
        check("done in 3.2s", None);
        check("built a.js", None);
    }
}
