//! Programs that this one starts and doesn't know, run with a time limit.

use std::process::Command;
use std::time::Duration;

use fp_host::file::reason;
use fp_host::process::{self, CommandEnd, Limits, ProgramAnswer};

/// Most bytes of an answer that are read.
const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

/// Runs `command`, which has to end with status 0 within `limit`. The error follows the program's name in a sentence.
pub(crate) fn run_program(
    command: Command,
    input: &[u8],
    limit: Duration,
) -> Result<ProgramAnswer, String> {
    let limits = Limits {
        time: limit,
        head: LONGEST_ANSWER,
        tail: 0,
    };
    let answer = process::ask(command, input, limits)
        .map_err(|error| format!("can't be started: {}", reason(&error)))?;
    let fault = match answer.end {
        CommandEnd::Exited(0) => return Ok(answer),
        CommandEnd::Exited(status) => format!("failed with status {status}"),
        CommandEnd::Signalled(signal) => format!("was killed by signal {signal}"),
        CommandEnd::TimedOut(_) => format!("did not end within {} s", limit.as_secs()),
    };
    let said = [&answer.stderr, &answer.stdout].map(|output| last_line(&output.to_text()));
    Err(said
        .into_iter()
        .find(|line| !line.is_empty())
        .map_or(fault.clone(), |line| format!("{fault}: {line}")))
}

/// The last line that isn't blank, at most 300 characters of it, without the mark that the client puts in front.
pub(super) fn last_line(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or_default();
    let line = line.trim_start_matches(['✘', '✖', '×', ' ']);
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

/// The first `N` numbers of a version such as `2.1.329-beta`. `None` if one of them is missing.
pub(crate) fn version_numbers<const N: usize>(version: &str) -> Option<[u32; N]> {
    let parts = version.split(['.', '-', '+']).take(N);
    parts
        .map(str::parse)
        .collect::<Result<Vec<u32>, _>>()
        .ok()?
        .try_into()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let check = |text: &str, expect: Option<[u32; 3]>| {
            assert_eq!(version_numbers(text), expect, "{text:?}")
        };
        check("2.1.329", Some([2, 1, 329]));
        check("3.0.0-beta.1", Some([3, 0, 0]));
        check("2.37.1.windows.1", Some([2, 37, 1]));
        check("", None);
        check("2.1", None);
        check("2.1.99999999999", None);
        assert_eq!(version_numbers("2.1"), Some([2, 1]));
    }

    #[test]
    fn a_fault_is_one_line() {
        let check = |text: &str, expect: &str| assert_eq!(last_line(text), expect, "{text:?}");
        check("", "");
        check(
            "✘ Failed to add: no such folder\n\n",
            "Failed to add: no such folder",
        );
        check("Adding…\r\n  ✘ bad\u{7}\r\n", "bad");
    }
}
