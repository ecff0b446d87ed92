//! Builds the reports that several views share, as data.

pub mod change_text;
pub mod cost;
mod course;
pub mod evidence;
pub mod handoff;
pub mod log;
pub mod pace;
pub mod pull_request;
pub mod requirements;
pub mod run_page;
pub mod standing;
pub mod status;
pub mod tree;
pub mod why;

use jiff::Timestamp;

/// The time from `since` to `now` in its two largest units; 0 s if the clock went back.
pub fn lasted(since: Timestamp, now: Timestamp) -> String {
    in_two_units(now.duration_since(since).as_secs())
}

/// Formats seconds, minutes, hours with minutes, or days with hours.
fn in_two_units(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{} s", seconds.max(0)),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        86_400.. => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// The lines of a failure's `reason` that a person needs: the first, and the last two, where the output of a command
/// ends.
pub fn reason_lines(reason: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = reason
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.len() > 3 {
        lines.drain(1..lines.len() - 2);
    }
    lines
}

/// Formats a duration in at most two units: `0.3 s`, `42 s`, `2 min 8 s`, `1 h 5 min`, `2 d 3 h`.
pub fn took(millis: u64) -> String {
    let seconds = i64::try_from((millis + 500) / 1000).unwrap_or(i64::MAX);
    let tenths = (millis + 50) / 100;
    match millis {
        0 => "0 s".to_owned(),
        1..9_950 => format!("{}.{} s", tenths / 10, tenths % 10),
        _ if (60..3600).contains(&seconds) => {
            format!("{} min {} s", seconds / 60, seconds % 60)
        }
        _ => in_two_units(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_have_a_tenth() {
        for (millis, expect) in [
            (0, "0 s"),
            (40, "0.0 s"),
            (60, "0.1 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (59_499, "59 s"),
            (59_500, "1 min 0 s"),
            (128_000, "2 min 8 s"),
            (3_900_000, "1 h 5 min"),
            (183_600_000, "2 d 3 h"),
        ] {
            assert_eq!(took(millis), expect, "{millis}");
        }
    }

    #[test]
    fn two_units_at_most() {
        let check = |seconds: i64, expect: &str| {
            let now = Timestamp::from_second(1_000_000_000).unwrap();
            assert_eq!(
                lasted(now - jiff::SignedDuration::from_secs(seconds), now),
                expect
            );
        };
        check(-5, "0 s");
        check(59, "59 s");
        check(60, "1 min");
        check(3599, "59 min");
        check(3600, "1 h 0 min");
        check(86_399, "23 h 59 min");
        check(90_000, "1 d 1 h");
    }
}
