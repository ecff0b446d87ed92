//! Cuts the output of a command to what its readers need: the result if it passed, the failures if it didn't. Lines are
//! kept or dropped as a whole.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use fp_plan::text::{clipped, counted};
use regex::Regex;

use crate::regex;

/// Maximum number of bytes kept of an output.
pub(super) const LIMIT: usize = 2560;
/// Bytes of that limit reserved for gap marks.
const MARKS: usize = 200;
/// Bytes kept from the end of an output with failures, and from the beginning of one without.
const END: usize = 640;
const BEGINNING: usize = 512;
/// Maximum length of a line, in characters, including the mark if it was cut.
const LINE: usize = 301;
/// Maximum number of results shown for a command that ran several programs.
const RESULTS: usize = 4;

/// A runner's summary of all of its tests.
static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)^\s*(?: test\ result:\ | OK(?:\ \(.*\))?$ | Ran\ \d+\ tests?\b | =+\ .*\b\d+\ passed\b.*=+$ | \d+\ passed\b
        | ok\s+\S+\s+(?:[\d.]+s|\(cached\)) | Tests:?\s+.*\d | \#\ (?:pass|fail)\ \d | ℹ\ (?:pass|fail)\ \d | \d+\ passing\b
        | \d+\ examples?,\ | Tests\ run:\ \d | PASS\b.*\d )",
    )
});
/// A summary of no tests at all, or of no failures.
static EMPTY_RESULT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"ok\. 0 passed; 0 failed|\bfail 0$"));
/// A line that names a failure.
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)^\s*(?: FAIL\b | FAILED\b | ERROR:\  | not\ ok\b | ---\ FAIL\b | (?:fatal\ )?error(?:\[\w+\])?:\  | panic:\ 
        | Traceback\ \( | Failures:$ | failures:$ | [●✖×✗]\  | \d+\)\ | \[ERROR\] )
        | \.\.\.\ (?:FAILED|FAIL|ERROR)\b | \bFAILED\b | =\ (?:FAILURES|ERRORS)\ = | \bpanicked\ at\ | :\ (?:fatal\ )?error\b
        | \berror\ TS\d | <<<\ (?:FAILURE|ERROR) | \w_test\.go:\d+:\ ",
    )
});
/// A line about a passed test or a build step.
static PASSED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)^\s*(?: [✓✔√]\  | ok\ \d+\b | ===\ (?:RUN|PAUSE|CONT)\b | ---\ PASS\b | PASS\  | \#\ Subtest:
        | (?:Compiling|Checking|Fresh|Downloading|Downloaded|Updating|Locking|Adding|Finished|Running|Blocking)\  )
        | \.\.\.\ ok$ | \ PASSED(?:\s|$)",
    )
});

/// Cuts the `output` of a command to the part worth showing, which depends on whether the command `passed`: at most
/// [`LIMIT`] bytes.
pub(super) fn cut_output(output: &str, passed: bool) -> String {
    let lines: Vec<String> = output
        .trim_end()
        .lines()
        .map(|line| clipped(line, LINE))
        .collect();
    let results = (0..lines.len()).filter(|line| RESULT.is_match(&lines[*line]));
    let (empty, told): (Vec<usize>, Vec<usize>) =
        results.partition(|line| EMPTY_RESULT.is_match(&lines[*line]));
    let result = if told.is_empty() { empty } else { told };
    if passed && !result.is_empty() {
        let last: Vec<&str> = result
            .iter()
            .rev()
            .take(RESULTS)
            .rev()
            .map(|line| &*lines[*line])
            .collect();
        return last.join("\n");
    }
    let failing = |line: &usize| !passed && FAILURE.is_match(&lines[*line]);
    let first = (0..lines.len()).find(failing);
    let ends = first.and_then(|first| Some((first, (first..lines.len()).rfind(failing)?)));
    let telling = lines
        .iter()
        .map(|line| ends.is_none() || !PASSED.is_match(line))
        .collect();
    let mut chosen = ChosenLines {
        lines: &lines,
        telling,
        kept: BTreeSet::new(),
        room: LIMIT - MARKS,
    };
    match ends {
        Some((first, last)) => {
            chosen.take(std::iter::once(last), LIMIT);
            chosen.take((first..lines.len()).rev(), END);
            chosen.take(first..lines.len(), LIMIT);
        }
        None => {
            chosen.take(0..lines.len(), BEGINNING);
            chosen.take((0..lines.len()).rev(), LIMIT);
        }
    }
    chosen.text()
}

/// The lines of an output that are kept.
struct ChosenLines<'l> {
    lines: &'l [String],
    /// False for lines that are neither kept nor counted as left out.
    telling: Vec<bool>,
    kept: BTreeSet<usize>,
    /// Number of bytes still available.
    room: usize,
}

impl ChosenLines<'_> {
    /// Keeps lines in the given `order` until one no longer fits into `limit` or the total room.
    fn take(&mut self, order: impl Iterator<Item = usize>, limit: usize) {
        let mut room = limit.min(self.room);
        for line in order {
            if self.kept.contains(&line) || !self.telling[line] {
                continue;
            }
            let size = self.lines[line].len() + 1;
            if size > room {
                return;
            }
            room -= size;
            self.room -= size;
            self.kept.insert(line);
        }
    }

    /// The kept lines in order, with a mark for each gap except one at the beginning.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut next = self.lines.len();
        for &line in self.kept.iter().chain([&self.lines.len()]) {
            let gap = (next..line).filter(|line| self.telling[*line]).count();
            if gap > 0 {
                text.push_str(&format!("[… {} left out …]\n", counted(gap, "line")));
            }
            if let Some(shown) = self.lines.get(line) {
                text.push_str(shown);
                text.push('\n');
            }
            next = line + 1;
        }
        text.truncate(text.trim_end().len());
        text
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    macro_rules! sample {
        ($name:literal) => {
            include_str!(concat!("../../../../tests/fixtures/output/", $name, ".txt"))
        };
    }

    #[test]
    fn what_passed_is_its_result() {
        let check = |output: &str, expect: &str| assert_eq!(cut_output(output, true), expect);
        check(
            "running 2 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\n   Doc-tests x\n\n\
             test result: ok. 0 passed; 0 failed; 0 ignored\n",
            "test result: ok. 2 passed; 0 failed; 0 ignored",
        );
        check(
            "test result: ok. 0 passed; 0 failed; 9 filtered out\n",
            "test result: ok. 0 passed; 0 failed; 9 filtered out",
        );
        check(
            "test_a ... ok\n\n----\nRan 2 tests in 0.1s\n\nOK\n",
            "Ran 2 tests in 0.1s\nOK",
        );
        check("..  [100%]\n2 passed in 0.1s\n", "2 passed in 0.1s");
        check(
            "a.py::b PASSED [100%]\n===== 2 passed in 0.1s =====\n",
            "===== 2 passed in 0.1s =====",
        );
        check(
            "=== RUN TestA\n--- PASS: TestA\nPASS\nok  \tx/y\t0.01s\n",
            "ok  \tx/y\t0.01s",
        );
        check(
            "PASS src/a.test.js\n\nTests:       3 passed, 3 total\nTime: 1 s\n",
            "Tests:       3 passed, 3 total",
        );
        check(
            " ✓ a.test.ts (2)\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n",
            "      Tests  2 passed (2)",
        );
        check("ok 1 - a\n# pass 1\n# fail 0\n", "# pass 1");
        check("anything\nelse\n", "anything\nelse");
        check("", "");
    }

    #[test]
    fn what_failed_is_its_failures() {
        assert_snapshot!(cut_output(sample!("unittest"), false), @r#"
        test_two (test_shop.Totals.test_two) ... FAIL

        ======================================================================
        FAIL: test_two (test_shop.Totals.test_two)
        ----------------------------------------------------------------------
        Traceback (most recent call last):
          File "/repo/test_shop.py", line 13, in test_two
            self.assertEqual(total([1, 2]), 3)
        AssertionError: 2 != 3

        ----------------------------------------------------------------------
        Ran 63 tests in 0.032s

        FAILED (failures=1)
        "#);
        assert_snapshot!(cut_output(sample!("pytest"), false), @r"
        test_shop.py::Totals::test_two FAILED                                    [  4%]

        =================================== FAILURES ===================================
        _______________________________ Totals.test_two ________________________________

        self = <test_shop.Totals testMethod=test_two>

            def test_two(self):
        >       self.assertEqual(total([1, 2]), 3)
        E       AssertionError: 2 != 3

        test_shop.py:13: AssertionError
        =========================== short test summary info ============================
        FAILED test_shop.py::Totals::test_two - AssertionError: 2 != 3
        ========================= 1 failed, 62 passed in 0.20s =========================
        ");
        assert_snapshot!(cut_output(sample!("node"), false), @r"
        not ok 41 - two
          ---
          duration_ms: 1.325295
          location: '/repo/shop.test.js:43:1'
          failureType: 'testCodeFailure'
          error: '2 == 3'
          code: 'ERR_ASSERTION'
          name: 'AssertionError'
          expected: 3
          actual: 2
          operator: '=='
          stack: |-
            TestContext.<anonymous> (/repo/shop.test.js:43:26)
            Test.runInAsyncScope (node:async_hooks:206:9)
            Test.run (node:internal/test_runner/test:796:25)
            Test.processPendingSubtests (node:internal/test_runner/test:526:18)
            Test.postRun (node:internal/test_runner/test:889:19)
            Test.run (node:internal/test_runner/test:835:12)
            async Test.processPendingSubtests (node:internal/test_runner/test:526:7)
          ...
        1..41
        # tests 41
        # suites 0
        # pass 40
        # fail 1
        # cancelled 0
        # skipped 0
        # todo 0
        # duration_ms 1576.461326
        ");
        assert_snapshot!(cut_output(sample!("cargo-build"), false), @r#"
        error[E0277]: cannot subtract `&str` from `i32`
         --> src/lib.rs:2:32
          |
        2 |     prices.iter().sum::<i32>() - "1"
          |                                ^ no implementation for `i32 - &str`
          |
          = help: the trait `Sub<&str>` is not implemented for `i32`
        help: the following other types implement trait `Sub<Rhs>`
         --> /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ops/arith.rs:212:8
          |
          = note: `i32` implements `Sub`
         ::: /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ops/arith.rs:227:0
          |
          = note: in this macro invocation
         --> /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/internal_macros.rs:22:8
          |
          = note: `&i32` implements `Sub<i32>`
         ::: /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/internal_macros.rs:33:8
          |
          = note: `i32` implements `Sub<&i32>`
         ::: /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/internal_macros.rs:44:8
          |
          = note: `&i32` implements `Sub`
          = note: this error originates in the macro `sub_impl` (in Nightly builds, run with -Z macro-backtrace for more info)

        For more information about this error, try `rustc --explain E0277`.
        error: could not compile `shop` (lib) due to 1 previous error
        "#);
        let cargo = cut_output(sample!("cargo-test"), false);
        assert!(cargo.starts_with("test tests::two ... FAILED\n"), "{cargo}");
        assert!(
            cargo.contains("  left: 2\n right: 3\n") && !cargo.contains(" ... ok"),
            "{cargo}"
        );
        assert!(
            cargo
                .contains("failures:\n    tests::two\n\ntest result: FAILED. 60 passed; 1 failed;"),
            "{cargo}"
        );
        let go = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:7: got 2, want 3\n\
                  --- FAIL: TestB (0.00s)\nFAIL\nexit status 1\nFAIL\tx/y\t0.003s\n";
        assert_eq!(
            cut_output(go, false),
            "    b_test.go:7: got 2, want 3\n--- FAIL: TestB (0.00s)\nFAIL\nexit status 1\nFAIL\tx/y\t0.003s"
        );
        let jest = format!(
            "PASS a.test.js\n{}FAIL b.test.js\n  ● adds\n\n    Expected: 3\n    Received: 2\n\nTests: 1 failed, 1 total\n",
            "  ✓ works\n".repeat(300)
        );
        assert_eq!(
            cut_output(&jest, false),
            "FAIL b.test.js\n  ● adds\n\n    Expected: 3\n    Received: 2\n\nTests: 1 failed, 1 total"
        );
    }

    #[test]
    fn other_output_keeps_both_ends() {
        let text: String = (0..1000).map(|line| format!("line {line}\n")).collect();
        let cut = cut_output(&text, false);
        assert!(
            cut.starts_with("line 0\nline 1\n") && cut.ends_with("line 998\nline 999"),
            "{cut}"
        );
        assert!(
            cut.len() > 2000 && cut.contains(" lines left out …]\n"),
            "{cut}"
        );
    }

    proptest! {
        #[test]
        fn lines_are_whole_and_the_last_failure_stays(
            lines in prop::collection::vec("(test [a-z]{1,9} \\.\\.\\. (ok|FAILED)|error: [a-z]{0,40}|--- FAIL: x|[ -~]{0,60}|é{0,500}|)", 0..200),
            passed: bool,
        ) {
            let output = lines.join("\n");
            let cut = cut_output(&output, passed);
            prop_assert!(cut.len() <= LIMIT, "{} bytes", cut.len());
            for line in cut.lines() {
                let cut_short = |known: &str| line.strip_suffix('…').is_some_and(|start| known.starts_with(start));
                let known = lines.iter().any(|known| known.trim_end() == line.trim_end() || cut_short(known));
                prop_assert!(known || line.starts_with("[… ") || line.is_empty(), "{line:?}");
            }
            if let Some(last) = lines.iter().rfind(|line| !passed && FAILURE.is_match(line)) {
                prop_assert!(cut.lines().any(|line| line.trim_end() == last.trim_end()), "{last:?} of {cut}");
            }
        }
    }
}
