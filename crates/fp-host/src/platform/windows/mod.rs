//! Windows: access control lists make a profile's folders the user's own, names are text, and processes have jobs.

mod group;
#[path = "../unsupervised.rs"]
mod unsupervised;

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use signal_hook::consts::signal;

pub(crate) use self::group::JobObject as ProcessGroup;
pub(crate) use self::unsupervised::{OWN_PROGRAM, make_pipe};
pub use self::unsupervised::{
    can_close_network, can_confine, end_marked, supervise_process, supervise_with,
};
use super::find_program;

pub const HOME: &str = "USERPROFILE";
pub const FOLDER_VARIABLES: &str = "USERPROFILE and LOCALAPPDATA";
/// The bare name comes last: npm puts a script for other shells next to its `.cmd` file.
pub const PROGRAM_ENDINGS: &[&str] = &[".exe", ".cmd", ".bat", ""];
pub const TERMINAL_IN_ENVIRONMENT: bool = false;
pub(crate) const TEMPORARY: Option<&str> = None;
pub(crate) const SHARED_TEMPORARY: &[&str] = &[];
pub(crate) const END_SIGNALS: &[i32] = &[signal::SIGINT, signal::SIGTERM];
/// Time to wait for a file in use.
const PATIENCE: Duration = Duration::from_secs(2);

/// The real path without the prefix `\\?\`, which neither git nor a shell understands.
pub fn real_path(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    let Some(plain) = real.to_str().and_then(|path| path.strip_prefix(r"\\?\")) else {
        return Ok(real);
    };
    Ok(match plain.strip_prefix(r"UNC\") {
        Some(share) => format!(r"\\{share}").into(),
        None => plain.into(),
    })
}

/// True if the user presses a key within `time`, or the console reports another event.
///
/// # Errors
/// The console is gone.
pub(crate) fn input_within(time: Duration) -> io::Result<bool> {
    crossterm::event::poll(time)
}

/// Git on Windows prints UTF-8.
pub fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

pub(crate) fn git_bytes(name: &OsStr) -> Option<Vec<u8>> {
    name.to_str().map(|name| name.as_bytes().to_owned())
}

/// True for a device name with any extension, a reserved character, or an ending that Windows strips. Git rejects these
/// too.
pub(crate) fn is_impossible(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part
            .split('.')
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_lowercase();
        let port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
        ["con", "prn", "aux", "nul"].contains(&stem.as_str())
            || port.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
            || part.contains([':', '<', '>', '"', '|'])
            || part.ends_with(['.', ' '])
    })
}

/// Does nothing: the file system's journal already protects new names.
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Retries for two seconds: a virus scanner holds a new file open for a moment, and so do some readers.
pub(crate) fn replace_file(from: &Path, to: &Path) -> io::Result<()> {
    /// Access denied, sharing violation, lock violation.
    const IN_USE: [Option<i32>; 3] = [Some(5), Some(32), Some(33)];
    let deadline = Instant::now() + PATIENCE;
    loop {
        match fs::rename(from, to) {
            Err(error) if IN_USE.contains(&error.raw_os_error()) && Instant::now() < deadline => {
                std::thread::sleep(PATIENCE / 100);
            }
            renamed => return renamed,
        }
    }
}

pub(crate) fn new_file_permissions() -> Option<Permissions> {
    None
}

pub(crate) fn open_no_link() -> OpenOptions {
    /// Opens a link itself, not its target.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    options
}

/// The folder inherits the profile's access control list, which keeps others out.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    options
}

/// Only the user, the system and administrators may write into a profile.
pub(crate) fn is_exposed(_metadata: &Metadata) -> bool {
    false
}

/// Only the user, the system and administrators may read a profile.
pub(crate) fn is_private(_metadata: &Metadata) -> bool {
    true
}

pub fn is_executable(metadata: &Metadata) -> bool {
    metadata.is_file()
}

/// Waits, since a file that is open in another program, often a virus scanner, can't be removed yet.
pub(crate) fn open_up(_folder: &Path) -> io::Result<()> {
    std::thread::sleep(PATIENCE);
    Ok(())
}

/// A command that runs `line`, a POSIX shell command line, with the `sh` of Git for Windows or another on the search
/// path. `cmd` would interpret the approved line differently.
pub(crate) fn shell(line: &str) -> Option<Command> {
    let search = std::env::var_os("PATH")?;
    let beside_git = || {
        find_program("git", &search)?
            .ancestors()
            .map(|at| at.join(r"bin\sh.exe"))
            .find(|sh| sh.is_file())
    };
    let mut command = Command::new(find_program("sh", &search).or_else(beside_git)?);
    // Not passed as an argument: that `sh` splits its command line by its own rules.
    command
        .args(["-c", r#"eval "$FP_COMMAND_LINE""#])
        .env("FP_COMMAND_LINE", line);
    Some(command)
}

/// Only `tasklist` could tell, and it is too slow for a status line.
pub fn is_running(_process: u32) -> Option<bool> {
    None
}

pub fn machine_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}
