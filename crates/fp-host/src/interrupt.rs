//! Ends by request: a command that goes on until it is told to stop ends as it would by itself, with what it has
//! printed whole and the terminal as it was.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::signal;
use signal_hook::flag;

/// How soon a request is noticed.
const NOTICE: Duration = Duration::from_millis(20);

/// Whether somebody has asked this process to end, since this was made.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on Ctrl-C, a polite kill and a closed terminal are requests, and end nothing by themselves. Fails
    /// where the system does not let them be watched.
    pub fn listen() -> io::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for request in [signal::SIGINT, signal::SIGTERM] {
            flag::register(request, Arc::clone(&asked))?;
        }
        #[cfg(unix)]
        flag::register(signal::SIGHUP, Arc::clone(&asked))?;
        Ok(Self(asked))
    }

    /// Whether the end was asked for.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits for `time`, or until the end is asked for; whether it was.
    pub fn within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while !self.came() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            thread::sleep(left.min(NOTICE));
        }
        true
    }
}
