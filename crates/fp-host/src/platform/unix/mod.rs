//! Unix: modes and owners guard files, names are bytes, and processes have groups and signals.

mod group;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(not(target_os = "linux"))]
#[path = "unsupervised.rs"]
mod supervisor;

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::process::{Pid, geteuid, test_kill_process};
use signal_hook::consts::signal;

pub(crate) use self::group::ProcessGroup;
#[cfg(target_os = "linux")]
pub use self::landlock::{can_close_network, can_confine};
pub(crate) use self::supervisor::{OWN_PROGRAM, make_pipe};
#[cfg(not(target_os = "linux"))]
pub use self::supervisor::{can_close_network, can_confine};
pub use self::supervisor::{end_marked, supervise_process, supervise_with};

/// The environment variable that holds the user's home folder.
pub const HOME: &str = "HOME";
/// The environment variables that determine [`super::UserFolder`] and the client's folder.
pub const FOLDER_VARIABLES: &str = "HOME";
/// The extensions of program files.
pub const PROGRAM_ENDINGS: &[&str] = &[""];
/// True if the environment says what the terminal can show, through `TERM` and the locale's character set.
pub const TERMINAL_IN_ENVIRONMENT: bool = true;
/// The shared folder for temporary files, regardless of the environment.
pub(crate) const TEMPORARY: Option<&str> = Some("/tmp");
/// The folders for temporary files that all programs share.
pub(crate) const SHARED_TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];
/// The signals that ask a process to end.
pub(crate) const END_SIGNALS: &[i32] = &[signal::SIGINT, signal::SIGTERM, signal::SIGHUP];

/// The absolute path of the file or folder at `path`, with links resolved.
pub fn real_path(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Turns the bytes that git prints into a file name.
pub fn os_string(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// The bytes that git uses for a file name; `None` if git can't represent it.
pub(crate) fn git_bytes(name: &OsStr) -> Option<Vec<u8>> {
    Some(name.as_bytes().to_owned())
}

/// True if a file on this system can't have that name.
pub(crate) fn is_impossible(_path: &str) -> bool {
    false
}

/// Syncs the entries of a folder, so that a new name in it survives a power cut.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Renames `from` to `to`, and replaces an existing file.
pub(crate) fn replace_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// The permissions that an ordinary program would give a new file.
pub(crate) fn new_file_permissions() -> Option<Permissions> {
    // The system applies the user's umask to this.
    Some(Permissions::from_mode(0o666))
}

/// Options that open only a regular file: they refuse to follow a link and don't wait for the other end of a pipe.
pub(crate) fn open_no_link() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    options.custom_flags(flags.cast_signed());
    options
}

/// Makes a folder that only the user can enter.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Options that create a file that only the user can read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    options
}

/// True if somebody other than the user may write to the file with this `metadata`.
pub(crate) fn is_exposed(metadata: &Metadata) -> bool {
    metadata.uid() != geteuid().as_raw() || metadata.mode() & 0o022 != 0
}

/// True if only the user may read the file or folder with this `metadata`.
pub(crate) fn is_private(metadata: &Metadata) -> bool {
    metadata.uid() == geteuid().as_raw() && metadata.mode() & 0o077 == 0
}

pub fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.mode() & 0o111 != 0
}

/// Gives the user permission to remove everything in and below `folder`.
pub(crate) fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

/// A command that runs `line`, a POSIX shell command line.
pub(crate) fn shell(line: &str) -> Option<Command> {
    let mut command = Command::new("sh");
    command.args(["-c", "--", line]);
    Some(command)
}

/// True if the user presses a key within `time`, or the terminal reports another event.
///
/// # Errors
/// The terminal is gone. In that case crossterm would read end-of-file in an endless loop.
pub(crate) fn input_within(time: Duration) -> io::Result<bool> {
    let wait = |time: Duration| {
        let stdin = io::stdin();
        let mut input = [PollFd::new(&stdin, PollFlags::IN)];
        // A signal, such as one for a change of size, ends the wait early.
        let _ = rustix::event::poll(&mut input, Timespec::try_from(time).ok().as_ref());
        match input[0].revents().contains(PollFlags::HUP) {
            true => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            false => crossterm::event::poll(Duration::ZERO),
        }
    };
    // Several keys may arrive at once.
    Ok(wait(Duration::ZERO)? || wait(time)?)
}

/// True if there is a process with this id; `None` if that can't be determined.
pub fn is_running(process: u32) -> Option<bool> {
    let process = Pid::from_raw(i32::try_from(process).ok()?)?;
    // Any other error means that the process exists but isn't ours.
    Some(test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}

/// This machine's host name.
pub fn machine_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}
