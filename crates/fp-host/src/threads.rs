//! Two things done at once, where one after the other would keep the user waiting.

use std::panic::resume_unwind;
use std::thread;

/// What both give, the first one on a thread of its own. Panics where no thread is to be had, and no process would be
/// either.
pub fn at_once<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (first.join().unwrap_or_else(|panic| resume_unwind(panic)), second)
    })
}
