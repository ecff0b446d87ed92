//! Waiting with a time limit: no test may hang because the client does.

use std::time::{Duration, Instant};

/// Time limit for anything that a test waits for, including whole scripted sessions.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// How long to wait before repeating something that may have been missed, and how often to repeat it.
pub(crate) const TRY: Duration = Duration::from_millis(500);
/// See [`TRY`].
pub(crate) const TRIES: usize = 20;

const POLL: Duration = Duration::from_millis(20);

/// Polls `condition` until it returns something; `None` once `limit` has passed.
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
