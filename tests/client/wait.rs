//! Waiting with an end: no test may hang because the client does.

use std::time::{Duration, Instant};

/// How long anything may take that a test waits for, whole scripted sessions included.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// How long something that may have been overlooked is waited for before it is said again, and how often it
/// is said.
pub(crate) const TRY: Duration = Duration::from_millis(500);
/// See [`TRY`].
pub(crate) const TRIES: usize = 20;

const POLL: Duration = Duration::from_millis(20);

/// Asks `condition` until it gives something or `limit` is over, in which case it is `None`.
pub(crate) fn poll<T>(limit: Duration, mut condition: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = condition() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(POLL);
    }
}
