//! Turns signals into requests that a long-running command can check for, so that it still ends cleanly when
//! interrupted, with complete output and the terminal restored.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::flag;

use crate::platform::END_SIGNALS;

/// The interval between checks for a request.
const NOTICE: Duration = Duration::from_millis(20);

/// Becomes true when a signal asks this process to end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on Ctrl-C, SIGTERM and a closed terminal are only recorded, and no longer end the process.
    /// Fails if the system refuses to register the handlers.
    pub fn listen() -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for request in END_SIGNALS {
            flag::register(*request, Arc::clone(&asked))?;
        }
        Ok(Self(asked))
    }

    /// True if the process was asked to end.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// True if the process was asked to end since the last call.
    pub fn take_request(&mut self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    /// Waits for `time`, or until the process is asked to exit; returns true if it was.
    pub fn wait_for(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while !self.is_requested() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            thread::sleep(left.min(NOTICE));
        }
        true
    }
}
