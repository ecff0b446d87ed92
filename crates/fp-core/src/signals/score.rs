//! Five integers out of sums: the bands and the composite. Everything is compared in whole numbers, so that a
//! value on a boundary is on the side that the table says, on every machine.

use serde::{Deserialize, Serialize};

/// What was measured on all files of one task, as sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inputs {
    /// How many files the task lists; a folder or a pattern counts as the files that it covers.
    pub files: u64,
    /// Their lines, together.
    pub lines: u64,
    /// How many files of the repository import each of them, together.
    pub fan_in: u64,
    /// How many files or packages of the repository each of them imports, together.
    pub fan_out: u64,
    /// How many of them have a history in the last six months.
    pub files_with_history: u64,
    /// Commits to each of them in that time, together.
    pub commits: u64,
    /// Authors of each of them in that time, together.
    pub authors: u64,
    /// Those commits to each of them that mend something, together.
    pub fix_commits: u64,
    /// How many of them have a test.
    pub tested: u64,
    /// Whether the task has to write tests.
    pub tests_required: bool,
}

/// The signals of one task, each from 1 (nothing to worry about) to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signals {
    /// How much there is to read and to change.
    pub file_scope: u8,
    /// How much hangs on the files, and they on others.
    pub coupling: u8,
    /// How often the files change, through how many hands, and how often to be mended.
    pub git_risk: u8,
    /// How little of it is tested.
    pub test_coverage: u8,
    /// The weighted mean of the four.
    pub composite: u8,
}

impl Signals {
    /// The signals of a task with these inputs.
    #[must_use]
    pub fn of(inputs: &Inputs) -> Self {
        let (file_scope, coupling) = (file_scope(inputs), coupling(inputs));
        let (git_risk, test_coverage) = (git_risk(inputs), test_coverage(inputs));
        let composite = composite(file_scope, coupling, git_risk, test_coverage);
        Self { file_scope, coupling, git_risk, test_coverage, composite }
    }
}

/// Most files, and fewer lines than this, for each band; what is above the last is 5.
const FILE_SCOPE: [(u64, u64); 4] = [(1, 100), (2, 300), (3, 600), (4, 1000)];
/// Largest mean of each band of coupling.
const COUPLING: [u64; 4] = [2, 5, 10, 20];
/// What the risk of each band is below.
const GIT_RISK: [u64; 4] = [1, 2, 4, 7];
/// Composite from which a task deserves another look.
pub const ANOTHER_LOOK: u8 = 4;

/// The band of a task with so many files and lines; 1 where it has no files.
fn file_scope(inputs: &Inputs) -> u8 {
    if inputs.files == 0 {
        return 1;
    }
    band(FILE_SCOPE, |(files, lines)| inputs.files <= files && inputs.lines < lines)
}

/// The band of the mean of fan-in and fan-out over all files.
fn coupling(inputs: &Inputs) -> u8 {
    let total = inputs.fan_in.saturating_add(inputs.fan_out);
    band(COUPLING, |mean| total <= mean.saturating_mul(inputs.files))
}

/// The band of mean commits / 10 + mean authors / 3 + mean fix commits / 2 over the files with history; 1 where
/// no file has any.
fn git_risk(inputs: &Inputs) -> u8 {
    let Inputs { commits, authors, fix_commits, files_with_history, .. } = *inputs;
    let weighted = commits
        .saturating_mul(3)
        .saturating_add(authors.saturating_mul(10))
        .saturating_add(fix_commits.saturating_mul(15));
    let whole = files_with_history.saturating_mul(30);
    if whole == 0 { 1 } else { band(GIT_RISK, |risk| weighted < risk.saturating_mul(whole)) }
}

/// The band of the share of files that have a test; 1 where there is nothing to test.
fn test_coverage(inputs: &Inputs) -> u8 {
    let Inputs { files, tested, tests_required, .. } = *inputs;
    let share_is = |tenths: u64| tested.saturating_mul(10) >= files.saturating_mul(tenths);
    match () {
        () if share_is(8) => 1,
        () if share_is(5) => 2,
        () if share_is(2) || !tests_required => 3,
        () if tested == 0 => 5,
        () => 4,
    }
}

/// round((fileScope + 1.5 coupling + 1.25 gitRisk + 0.75 testCoverage) / 4.5), clamped to 1–5: with everything
/// times four, the weights are 4, 6, 5 and 3, and their sum is 18.
fn composite(file_scope: u8, coupling: u8, git_risk: u8, test_coverage: u8) -> u8 {
    let [scope, coupling, risk, coverage] = [file_scope, coupling, git_risk, test_coverage].map(u32::from);
    let rounded = (4 * scope + 6 * coupling + 5 * risk + 3 * coverage + 9) / 18;
    u8::try_from(rounded.clamp(1, 5)).unwrap_or(5)
}

/// The number, from 1, of the first band that fits, or 5.
fn band<T: Copy>(bands: [T; 4], fits: impl Fn(T) -> bool) -> u8 {
    (1..=4).zip(bands).find(|(_, limit)| fits(*limit)).map_or(5, |(number, _)| number)
}

/// The iterations of a task: `max(maxIterations, round(base + factor × composite))`.
#[must_use]
pub fn iterations(max_iterations: u32, base: f64, factor: f64, composite: u8) -> u32 {
    let scaled = (base + factor * f64::from(composite)).round().clamp(0.0, f64::from(u32::MAX));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped to the range")]
    let scaled = scaled as u32;
    max_iterations.max(scaled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn file_scope_bands() {
        let check = |files: u64, lines: u64, expect: u8| {
            assert_eq!(file_scope(&Inputs { files, lines, ..Inputs::default() }), expect, "{files} {lines}");
        };
        check(0, 0, 1);
        check(1, 99, 1);
        check(1, 100, 2);
        check(2, 99, 2);
        check(2, 299, 2);
        check(2, 300, 3);
        check(3, 0, 3);
        check(3, 599, 3);
        check(1, 600, 4);
        check(4, 999, 4);
        check(4, 1000, 5);
        check(5, 0, 5);
    }

    #[test]
    fn coupling_bands() {
        let check = |files: u64, fan_in: u64, fan_out: u64, expect: u8| {
            let inputs = Inputs { files, fan_in, fan_out, ..Inputs::default() };
            assert_eq!(coupling(&inputs), expect, "{files} {fan_in} {fan_out}");
        };
        check(0, 0, 0, 1);
        check(1, 1, 1, 1);
        check(3, 4, 2, 1);
        check(3, 4, 3, 2);
        check(1, 5, 0, 2);
        check(1, 5, 1, 3);
        check(2, 10, 10, 3);
        check(2, 10, 11, 4);
        check(1, 0, 20, 4);
        check(1, 0, 21, 5);
    }

    #[test]
    fn git_risk_bands() {
        let check = |files_with_history: u64, commits: u64, authors: u64, fix_commits: u64, expect: u8| {
            let inputs =
                Inputs { files: 9, files_with_history, commits, authors, fix_commits, ..Inputs::default() };
            assert_eq!(git_risk(&inputs), expect, "{files_with_history} {commits} {authors} {fix_commits}");
        };
        check(0, 0, 0, 0, 1);
        check(1, 6, 1, 0, 1);
        check(1, 7, 1, 0, 2);
        check(1, 10, 0, 0, 2);
        check(1, 0, 0, 2, 2);
        check(1, 0, 3, 2, 3);
        check(2, 0, 6, 4, 3);
        check(1, 0, 0, 7, 3);
        check(1, 0, 0, 8, 4);
        check(1, 39, 0, 0, 3);
        check(1, 69, 0, 0, 4);
        check(1, 70, 0, 0, 5);
    }

    #[test]
    fn test_coverage_bands() {
        let check = |files: u64, tested: u64, tests_required: bool, expect: u8| {
            let inputs = Inputs { files, tested, tests_required, ..Inputs::default() };
            assert_eq!(test_coverage(&inputs), expect, "{tested} of {files}, {tests_required}");
        };
        check(0, 0, true, 1);
        check(5, 4, true, 1);
        check(4, 3, true, 2);
        check(2, 1, false, 2);
        check(5, 2, true, 3);
        check(5, 1, true, 3);
        check(6, 1, true, 4);
        check(6, 1, false, 3);
        check(1, 0, true, 5);
        check(1, 0, false, 3);
    }

    #[test]
    fn composite_is_the_rounded_weighted_mean() {
        for scope in 1..=5u8 {
            for coupling in 1..=5u8 {
                for risk in 1..=5u8 {
                    for coverage in 1..=5u8 {
                        let mean = (f64::from(scope)
                            + 1.5 * f64::from(coupling)
                            + 1.25 * f64::from(risk)
                            + 0.75 * f64::from(coverage))
                            / 4.5;
                        let expect = mean.round().clamp(1.0, 5.0);
                        assert_eq!(f64::from(composite(scope, coupling, risk, coverage)), expect);
                    }
                }
            }
        }
    }

    #[test]
    fn iterations_grow_with_the_composite() {
        let check = |base: f64, factor: f64, composite: u8, expect: u32| {
            assert_eq!(iterations(3, base, factor, composite), expect, "{base} {factor} {composite}");
        };
        check(2.0, 0.5, 1, 3);
        check(2.0, 0.5, 3, 4);
        check(2.0, 0.5, 5, 5);
        check(0.0, 0.0, 5, 3);
        check(20.0, 10.0, 5, 70);
        check(f64::NAN, 1.0, 5, 3);
    }

    fn inputs() -> impl Strategy<Value = Inputs> {
        (any::<[u16; 9]>(), any::<bool>()).prop_map(|(n, tests_required)| {
            let [files, lines, fan_in, fan_out, files_with_history, commits, authors, fix_commits, tested] =
                n.map(u64::from);
            Inputs {
                files,
                lines,
                fan_in,
                fan_out,
                files_with_history,
                commits,
                authors,
                fix_commits,
                tested,
                tests_required,
            }
        })
    }

    proptest! {
        #[test]
        fn signals_are_from_one_to_five(inputs in inputs()) {
            let Signals { file_scope, coupling, git_risk, test_coverage, composite } = Signals::of(&inputs);
            for signal in [file_scope, coupling, git_risk, test_coverage, composite] {
                prop_assert!((1..=5).contains(&signal));
            }
        }

        #[test]
        fn more_of_anything_is_never_less_risk(inputs in inputs(), more in 1u64..1000) {
            let composite = |inputs: Inputs| Signals::of(&inputs).composite;
            let before = composite(inputs);
            let worse = [
                Inputs { lines: inputs.lines + more, ..inputs },
                Inputs { fan_in: inputs.fan_in + more, ..inputs },
                Inputs { fan_out: inputs.fan_out + more, ..inputs },
                Inputs { commits: inputs.commits + more, ..inputs },
                Inputs { authors: inputs.authors + more, ..inputs },
                Inputs { fix_commits: inputs.fix_commits + more, ..inputs },
                Inputs { tests_required: true, ..inputs },
            ];
            for inputs in worse {
                let after = composite(inputs);
                prop_assert!(after >= before, "{:?}", inputs);
            }
            let tested = composite(Inputs { tested: inputs.tested + more, ..inputs });
            prop_assert!(tested <= before);
        }
    }
}
