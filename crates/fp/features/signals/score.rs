//! Turns sums into five integers: the bands and the composite. All comparisons are of
//! whole numbers, so that a value on a boundary falls on the side that the table says, on every machine.

use serde::Serialize;

/// Sums over the files of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignalInputs {
    /// Files that the task lists; a folder or a pattern counts as the files that it covers.
    pub(super) files: usize,
    pub(super) lines: usize,
    /// Number of files that import each of them, summed.
    pub(super) fan_in: usize,
    /// Number of files and folders of the repository that each of them imports, summed.
    pub(super) fan_out: usize,
    /// Files that changed in the last six months; the next three are about these.
    pub(super) files_with_history: usize,
    pub(super) commits: usize,
    pub(super) authors: usize,
    pub(super) fix_commits: usize,
    /// Files that have a test.
    pub(super) tested: usize,
    /// True if the task has to write tests.
    pub(super) tests_required: bool,
}

/// The signals of one task, each from 1 (nothing to worry about) to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignalValues {
    pub(super) file_scope: u8,
    pub(super) coupling: u8,
    pub(super) git_risk: u8,
    pub(super) test_coverage: u8,
    /// The weighted mean of the four.
    pub(super) composite: u8,
}

/// Of each band but the last, most files, and the number of lines that it stays below.
const FILE_SCOPE: [(usize, usize); 4] = [(1, 100), (2, 300), (3, 600), (4, 1000)];
/// Largest mean of each band but the last.
const COUPLING: [usize; 4] = [2, 5, 10, 20];
/// Upper bound of the risk in each band but the last, exclusive.
const GIT_RISK: [usize; 4] = [1, 2, 4, 7];
/// Composite from which a task deserves another look.
pub(super) const ANOTHER_LOOK: u8 = 4;

/// The number, from 1, of the first band that fits, or else 5.
fn band<T: Copy>(bands: [T; 4], fits: impl Fn(T) -> bool) -> u8 {
    let found = (1..=4).zip(bands).find(|(_, limit)| fits(*limit));
    found.map_or(5, |(number, _)| number)
}

impl SignalValues {
    pub(super) fn of(inputs: &SignalInputs) -> Self {
        let (file_scope, coupling) = (inputs.file_scope(), inputs.coupling());
        let (git_risk, test_coverage) = (inputs.git_risk(), inputs.test_coverage());
        let composite = composite(file_scope, coupling, git_risk, test_coverage);
        Self {
            file_scope,
            coupling,
            git_risk,
            test_coverage,
            composite,
        }
    }
}

impl SignalInputs {
    fn file_scope(&self) -> u8 {
        if self.files == 0 {
            1
        } else {
            band(FILE_SCOPE, |(files, lines)| {
                self.files <= files && self.lines < lines
            })
        }
    }

    /// The band of the mean of fan-in and fan-out over all files.
    fn coupling(&self) -> u8 {
        let total = self.fan_in.saturating_add(self.fan_out);
        band(COUPLING, |mean| total <= mean.saturating_mul(self.files))
    }

    /// The band of mean commits / 10 + mean authors / 3 + mean fix commits / 2 over the files with history.
    fn git_risk(&self) -> u8 {
        let whole = self.files_with_history.saturating_mul(30);
        let weighted = [
            (self.commits, 3),
            (self.authors, 10),
            (self.fix_commits, 15),
        ];
        let weighted: usize = weighted
            .map(|(sum, weight)| sum.saturating_mul(weight))
            .iter()
            .sum();
        if whole == 0 {
            1
        } else {
            band(GIT_RISK, |risk| weighted < risk.saturating_mul(whole))
        }
    }

    fn test_coverage(&self) -> u8 {
        let share_is =
            |tenths: usize| self.tested.saturating_mul(10) >= self.files.saturating_mul(tenths);
        if share_is(8) {
            1
        } else if share_is(5) {
            2
        } else if share_is(2) || !self.tests_required {
            3
        } else if self.tested > 0 {
            4
        } else {
            5
        }
    }
}

/// round((fileScope + 1.5 coupling + 1.25 gitRisk + 0.75 testCoverage) / 4.5), clamped to 1–5. Multiplied by
/// four, the weights are 4, 6, 5 and 3, and their sum is 18.
fn composite(file_scope: u8, coupling: u8, git_risk: u8, test_coverage: u8) -> u8 {
    let [scope, coupling, risk, coverage] =
        [file_scope, coupling, git_risk, test_coverage].map(u32::from);
    let rounded = (4 * scope + 6 * coupling + 5 * risk + 3 * coverage + 9) / 18;
    u8::try_from(rounded.clamp(1, 5)).unwrap_or(5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn file_scope_bands() {
        let check = |files: usize, lines: usize, expect: u8| {
            assert_eq!(
                SignalInputs {
                    files,
                    lines,
                    ..SignalInputs::default()
                }
                .file_scope(),
                expect,
                "{files} {lines}"
            );
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
        let check = |files: usize, fan_in: usize, fan_out: usize, expect: u8| {
            let inputs = SignalInputs {
                files,
                fan_in,
                fan_out,
                ..SignalInputs::default()
            };
            assert_eq!(inputs.coupling(), expect, "{files} {fan_in} {fan_out}");
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
        let check = |files_with_history: usize,
                     commits: usize,
                     authors: usize,
                     fix_commits: usize,
                     expect: u8| {
            let inputs = SignalInputs {
                files: 9,
                files_with_history,
                commits,
                authors,
                fix_commits,
                ..SignalInputs::default()
            };
            assert_eq!(
                inputs.git_risk(),
                expect,
                "{files_with_history} {commits} {authors} {fix_commits}"
            );
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
        let check = |files: usize, tested: usize, tests_required: bool, expect: u8| {
            let inputs = SignalInputs {
                files,
                tested,
                tests_required,
                ..SignalInputs::default()
            };
            assert_eq!(
                inputs.test_coverage(),
                expect,
                "{tested} of {files}, {tests_required}"
            );
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
                        assert_eq!(
                            f64::from(composite(scope, coupling, risk, coverage)),
                            expect
                        );
                    }
                }
            }
        }
    }

    fn inputs() -> impl Strategy<Value = SignalInputs> {
        (any::<[u16; 9]>(), any::<bool>()).prop_map(|(n, tests_required)| {
            let [
                files,
                lines,
                fan_in,
                fan_out,
                files_with_history,
                commits,
                authors,
                fix_commits,
                tested,
            ] = n.map(usize::from);
            SignalInputs {
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
            let SignalValues { file_scope, coupling, git_risk, test_coverage, composite } = SignalValues::of(&inputs);
            for signal in [file_scope, coupling, git_risk, test_coverage, composite] {
                prop_assert!((1..=5).contains(&signal));
            }
        }

        #[test]
        fn more_of_anything_is_never_less_risk(inputs in inputs(), more in 1usize..1000) {
            let composite = |inputs: SignalInputs| SignalValues::of(&inputs).composite;
            let before = composite(inputs);
            let worse = [
                SignalInputs { lines: inputs.lines + more, ..inputs },
                SignalInputs { fan_in: inputs.fan_in + more, ..inputs },
                SignalInputs { fan_out: inputs.fan_out + more, ..inputs },
                SignalInputs { commits: inputs.commits + more, ..inputs },
                SignalInputs { authors: inputs.authors + more, ..inputs },
                SignalInputs { fix_commits: inputs.fix_commits + more, ..inputs },
                SignalInputs { tests_required: true, ..inputs },
            ];
            for inputs in worse {
                let after = composite(inputs);
                prop_assert!(after >= before, "{:?}", inputs);
            }
            let tested = composite(SignalInputs { tested: inputs.tested + more, ..inputs });
            prop_assert!(tested <= before);
        }
    }
}
