//! Systems other than Linux, where no process adopts the descendants of another.

use std::ffi::OsString;

/// Does nothing: no command has a supervisor here.
pub fn supervise_with(_program: impl Into<OsString>) {}

/// `None`: this process is no supervisor.
pub fn supervise_process() -> Option<u8> {
    None
}

/// Does nothing: no process has a mark here.
pub fn end_marked(_marks: &[&str]) {}

/// False: nothing confines a command here.
pub fn can_confine() -> bool {
    false
}

/// False: nothing closes the network to a command here.
pub fn can_close_network() -> bool {
    false
}
