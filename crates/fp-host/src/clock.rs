//! The time, in one place, so that tests can set it.

use jiff::Timestamp;

/// The time now: `FP_NOW` (RFC 3339) if a test sets it, else the clock's.
pub fn now() -> Timestamp {
    let set = std::env::var("FP_NOW")
        .ok()
        .and_then(|text| text.parse().ok());
    set.unwrap_or_else(Timestamp::now)
}
