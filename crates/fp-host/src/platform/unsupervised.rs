//! Systems other than Linux, where no process adopts the descendants of another.

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Nothing here.
pub(crate) const OWN_PROGRAM: &str = "";

/// Does nothing: no command has a supervisor here.
pub fn supervise_with(_program: impl Into<OsString>) {}

/// `None`: this process is no supervisor.
pub fn supervise_process() -> Option<u8> {
    None
}

/// Does nothing: no process has a mark here.
pub fn end_marked(_marks: &[&str]) {}

/// Makes nothing and returns false: no agent needs it here.
pub(crate) fn make_pipe(_path: &Path) -> io::Result<bool> {
    Ok(false)
}

/// False: nothing confines a command here.
pub fn can_confine() -> bool {
    false
}

/// False: nothing closes the network to a command here.
pub fn can_close_network() -> bool {
    false
}
