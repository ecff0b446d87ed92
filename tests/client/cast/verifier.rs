//! A verifier: runs the checks, then fills in the verdict line as the test says.

use super::{calls, command_line, quoted, quoted_command};
use crate::request::{Block, Entry, Request, Speaker, bash, text};

/// The behaviour that all verifiers share.
#[derive(Default)]
pub(crate) struct Verifier {
    failing: Vec<Failing>,
    silent: Vec<(String, u32)>,
}

struct Failing {
    task: String,
    iteration: u32,
    reason: String,
}

impl Verifier {
    /// Makes the first criterion of `task` fail in `iteration`, for `reason`; all other criteria pass.
    pub(crate) fn failing(mut self, task: &str, iteration: u32, reason: &str) -> Self {
        self.failing.push(Failing {
            task: task.to_owned(),
            iteration,
            reason: reason.to_owned(),
        });
        self
    }

    /// Makes the first `times` verifiers of `task` end without a verdict.
    pub(crate) fn silent_at(mut self, task: &str, times: u32) -> Self {
        self.silent.push((task.to_owned(), times));
        self
    }

    /// The verifier's next message or tool call.
    pub(crate) fn reply(&self, request: &Request) -> Vec<Block> {
        if self.is_silent(request) {
            return text("I have looked at it.");
        }
        let done = calls(request);
        let Some(last) = done.last() else {
            return bash(told(request, "fp verify ").expect("a verifier is told what to verify"));
        };
        if last.command().starts_with("fp verify") {
            return bash(self.verdict(last.result));
        }
        text(if last.failed {
            "The verdict was not taken."
        } else {
            "The verdict is given."
        })
    }

    /// True if this verifier is to end without a verdict. A verifier's name ends in the iteration, followed by the
    /// verifier's number unless that is 1.
    fn is_silent(&self, request: &Request) -> bool {
        let Speaker::Agent { name, .. } = &request.speaker else {
            return false;
        };
        let number = |rest: &str| match rest.split_once('-') {
            Some((_, number)) => number.parse().expect("a name ends in a number"),
            None => 1,
        };
        self.silent.iter().any(|(task, times)| {
            let rest = name.strip_prefix(&format!("verifier-{}-i", task.replace('.', "-")));
            rest.is_some_and(|rest| number(rest) <= *times)
        })
    }

    /// Fills in the verdict line that `fp verify` printed.
    pub(super) fn verdict(&self, printed: &str) -> String {
        let line = command_line(printed, "fp verdict")
            .unwrap_or_else(|| panic!("`fp verify` prints the verdict line: {printed}"));
        let head = line.split(" --from").next().unwrap_or(line);
        let words: Vec<_> = head.split_whitespace().collect();
        let iteration = words
            .iter()
            .skip_while(|word| **word != "--iteration")
            .nth(1);
        let failing = self.failing.iter().find(|failing| {
            words.get(3) == Some(&failing.task.as_str())
                && iteration == Some(&failing.iteration.to_string().as_str())
        });
        let flags: String = criteria(printed)
            .iter()
            .map(|number| match failing {
                Some(failing) if *number == 1 => {
                    format!(" --fail {}", quoted(&format!("1: {}", failing.reason)))
                }
                _ => {
                    format!(
                        " --pass {}",
                        quoted(&format!("{number}: seen in the files and in the test run"))
                    )
                }
            })
            .collect();
        let summary = if failing.is_some() {
            "one criterion does not hold"
        } else {
            "every criterion holds"
        };
        format!("{head}{flags} --summary {}", quoted(summary))
    }
}

/// The numbers of the criteria in the form for the verdict.
fn criteria(printed: &str) -> Vec<u32> {
    let lines = printed
        .lines()
        .filter_map(|line| line.strip_prefix("pass ")?.strip_suffix(": EVIDENCE"));
    let numbers: Vec<u32> = lines.filter_map(|number| number.parse().ok()).collect();
    assert!(
        !numbers.is_empty(),
        "the form names no criterion: {printed}"
    );
    numbers
}

fn told<'a>(request: &'a Request, start: &str) -> Option<&'a str> {
    request
        .opening()
        .iter()
        .rev()
        .find_map(|entry| match entry {
            Entry::Heard(text) => quoted_command(text, start),
            _ => None,
        })
}
