//! Times as reports say them.

use jiff::Timestamp;

/// `at` to the minute, in UTC.
#[must_use]
pub fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// How long it is from `since` to `now`, in its two largest units; none where the clock has gone back.
#[must_use]
pub fn lasted(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_units_at_most() {
        let check = |seconds: i64, expect: &str| {
            let now = Timestamp::from_second(1_000_000_000).unwrap();
            assert_eq!(lasted(now - jiff::SignedDuration::from_secs(seconds), now), expect);
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
