//! Every file that matters goes through here, so that nothing is lost: a write happens completely or not at
//! all, a read is bounded and returns valid text.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::{HostError, HostErrorKind, HostResult};
use crate::platform;

/// Size limit of `tasks.md`, in bytes.
pub const TASKS_CAP: u64 = 512 * 1024 * 1024;
/// Size limit of a file that `fp` alone writes, such as a log of some 100,000 entries, in bytes.
const OWN_CAP: u64 = 64 * 1024 * 1024;

/// The system's message without its error number.
pub fn reason_of(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.trim_end_matches('.').to_lowercase(),
        None => text,
    }
}

/// The hint for a system error.
pub(crate) fn advice_on(error: &io::Error) -> Option<&'static str> {
    use io::ErrorKind as Kind;
    Some(match error.kind() {
        Kind::NotFound => "check the path",
        Kind::NotADirectory | Kind::AlreadyExists => {
            "a file stands where a folder of that path should be: move it out of the way"
        }
        Kind::FileTooLarge => {
            "the limit on the size of files is reached: `ulimit -f` says what it is"
        }
        Kind::PermissionDenied => "check who owns the file and its folder, and their permissions",
        Kind::CrossesDevices => "a folder is renamed into it, so both have to be on one disk",
        Kind::ReadOnlyFilesystem => {
            "the disk is mounted read-only: work on one that can be written"
        }
        Kind::StorageFull | Kind::QuotaExceeded => {
            "the disk is full: make room and run the command again; nothing that was written is lost"
        }
        _ => return None,
    })
}

impl HostError {
    /// Converts the system's error `source`; `said` describes the action that failed.
    fn of_system(said: impl Display, source: &io::Error) -> Self {
        let error = Self::failed(format_args!("{said}: {}", reason_of(source)));
        let error = match source.kind() {
            io::ErrorKind::NotFound => error.with_kind(HostErrorKind::MissingFile),
            _ => error,
        };
        match advice_on(source) {
            Some(advice) => error.with_hint(advice),
            None => error,
        }
    }

    /// Converts a system error from reading `path` into this type.
    pub fn reading(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| Self::of_system(format_args!("{} can't be read", path.display()), &source)
    }

    /// Like `reading`, for writing `path`.
    pub fn writing(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| Self::of_system(format_args!("{} can't be written", path.display()), &source)
    }

    /// Like `reading`, for a file that has to be read and written.
    pub(crate) fn using(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| {
            let error = Self::of_system(format_args!("{} can't be used", path.display()), &source);
            let usual = "check that the folder exists and may be written to";
            match advice_on(&source) {
                Some(_) => error,
                None => error.with_hint(usual),
            }
        }
    }

    /// Like `reading`, for an action such as `start git`.
    pub(crate) fn doing(action: &str) -> impl Fn(io::Error) -> Self + Copy + '_ {
        move |source| Self::of_system(action, &source)
    }

    /// The error for a symbolic link in a place where links aren't followed, since they may lead anywhere.
    pub fn link(path: &Path) -> Self {
        let said = format!(
            "{} is a symbolic link, which is not followed",
            path.display()
        );
        Self::failed(said).with_hint("remove the link, or put the real folder in its place")
    }

    fn not_a_file(path: &Path) -> Self {
        Self::failed(format_args!("{} is not a file", path.display()))
            .with_hint("name a file, or move what is in its place out of the way")
    }

    /// The error for a file with more than `cap` bytes.
    fn too_large(path: &Path, cap: u64) -> Self {
        let path = path.display();
        Self::failed(format_args!(
            "{path} is too large: at most {cap} bytes are read"
        ))
        .with_hint("check that it is the file you mean, or split it")
        .with_kind(HostErrorKind::TooLarge)
    }

    /// The error if another process held the lock on `path` for as long as `patience` lasted.
    fn locked(path: &Path, patience: Duration) -> Self {
        let holder = fs::read_to_string(path).unwrap_or_default();
        let holder = Some(holder.trim().to_owned());
        let holder = holder.filter(|id| !id.is_empty() && id.len() < 20);
        let by: String = holder
            .iter()
            .map(|id| format!(" by process {id}"))
            .collect();
        let (path, seconds) = (path.display(), patience.as_secs());
        Self::failed(format_args!(
            "{path} is held{by} and was not given back within {seconds} s"
        ))
        .with_hint("wait for the other command to end, or end it; a lock dies with its process")
        .with_kind(HostErrorKind::Locked(holder))
    }
}

/// Reads the first `cap` bytes of a file that a stranger may have put there. Opens regular files only: never
/// a link, and never a pipe, since that would wait for the other end.
pub fn read_stranger(path: &Path, cap: u64) -> io::Result<Vec<u8>> {
    let file = platform::open_no_link().read(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(cap).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads all bytes of `path`.
///
/// Fails if it can't be read, has more than `cap` bytes or isn't a regular file (a link to one is followed).
pub fn read_bytes(path: &Path, cap: u64) -> HostResult<Vec<u8>> {
    let bytes = beginning(path, cap.saturating_add(1))?;
    match bytes.len() as u64 > cap {
        true => Err(HostError::too_large(path, cap)),
        false => Ok(bytes),
    }
}

/// Reads the first `most` bytes of `path`, or all if it has fewer. Fails if it can't be read or isn't a regular file (a
/// link to one is followed).
pub fn beginning(path: &Path, most: u64) -> HostResult<Vec<u8>> {
    let failed = HostError::reading(path);
    // Checked before opening: opening a pipe would wait for its writer.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(HostError::not_a_file(path));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(failed)?;
    Ok(bytes)
}

/// Reads `path` as text of at most `cap` bytes. Fails as [`read_bytes`] does, or with the place of the first
/// byte that is not UTF-8.
pub fn read_text(path: &Path, cap: u64) -> HostResult<String> {
    String::from_utf8(read_bytes(path, cap)?).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let valid = String::from_utf8_lossy(valid);
        let line = valid.matches('\n').count() + 1;
        let column = valid
            .rsplit('\n')
            .next()
            .map_or(0, |last| last.chars().count())
            + 1;
        let path = path.display();
        HostError::failed(format_args!("{path}:{line}:{column}: not UTF-8 text"))
            .with_hint("save the file as UTF-8")
            .with_kind(HostErrorKind::NotText { line, column })
    })
}

/// Like [`read_text`], but `None` if there is no such file.
pub fn read_text_if_there(path: &Path, cap: u64) -> HostResult<Option<String>> {
    match read_text(path, cap) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces the content of `path` with `bytes`: writes a file beside it, syncs it and renames it, so that
/// after a power cut a reader sees either the old content or the new. Replaces a symbolic link at `path`
/// instead of following it.
///
/// On failure the old content is still there.
pub fn atomic_write(path: &Path, bytes: &[u8]) -> HostResult<()> {
    write_over(path, bytes, wanted_permissions(path))
}

/// Like [`atomic_write`], for a file that only the user can access, whatever the umask.
pub fn write_private(path: &Path, bytes: &[u8]) -> HostResult<()> {
    // Temporary files are already private.
    write_over(path, bytes, None)
}

fn write_over(path: &Path, bytes: &[u8], permissions: Option<fs::Permissions>) -> HostResult<()> {
    let written = write_beside(path, bytes, permissions).and_then(|beside| {
        beside.as_file().sync_all()?;
        let (_, beside) = beside.keep()?;
        rename_over(&beside, path)?;
        platform::sync_folder(folder_of(path))
    });
    written.map_err(HostError::writing(path))
}

/// Like [`atomic_write`], but if anything is already at `path`, even a dangling link, writes nothing and returns
/// `false`.
pub fn write_if_absent(path: &Path, bytes: &[u8]) -> HostResult<bool> {
    let written = write_beside(path, bytes, wanted_permissions(path)).and_then(|beside| {
        beside.as_file().sync_all()?;
        match beside.persist_noclobber(path) {
            Ok(_) => platform::sync_folder(folder_of(path)).map(|()| true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    });
    written.map_err(HostError::writing(path))
}

/// Like [`atomic_write`], but without the sync, for files that can be recreated: a reader sees the old content or the
/// new one, but a power cut may leave the old one, or none. The caller must hold a lock on `path`: the temporary file
/// has a fixed name, so that the next write cleans up after a killed process.
pub fn replace(path: &Path, bytes: &[u8]) -> HostResult<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let beside = path.with_file_name(name);
    let written = write_new(&beside, bytes).and_then(|()| rename_over(&beside, path));
    written.map_err(HostError::writing(path))
}

/// The length and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct FileMark {
    pub(crate) bytes: u64,
    pub(crate) modified: u64,
}

impl FileMark {
    pub(crate) fn of(log: &File) -> io::Result<Self> {
        let metadata = log.metadata()?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let nanos = modified
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        Ok(Self {
            bytes: metadata.len(),
            modified: u64::try_from(nanos).unwrap_or(0),
        })
    }
}

/// Opens a file that `fp` alone writes; `None` if it doesn't exist and `options` don't create it. Refuses links, since
/// writes would go where they lead; pipes, since opening one waits; and files too large to read at once.
pub(crate) fn open_own(path: &Path, options: &OpenOptions) -> HostResult<Option<File>> {
    let unfit = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Some(HostError::link(path)),
        Ok(found) if !found.is_file() => Some(HostError::not_a_file(path)),
        Ok(found) if found.len() > OWN_CAP => Some(HostError::too_large(path, OWN_CAP)),
        _ => None,
    };
    if let Some(unfit) = unfit {
        return Err(unfit.with_hint(
            "move what is in its place out of the way, and put the file back if you have it",
        ));
    }
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HostError::using(path)(error)),
    }
}

/// Like [`open_own`], for reading: returns the file with its length and modification time, or `None` if it doesn't
/// exist.
pub(crate) fn open_marked(path: &Path) -> HostResult<Option<(File, FileMark)>> {
    let Some(file) = open_own(path, OpenOptions::new().read(true))? else {
        return Ok(None);
    };
    let mark = FileMark::of(&file).map_err(HostError::using(path))?;
    Ok(Some((file, mark)))
}

pub(crate) fn read_all(mut file: File, path: &Path) -> HostResult<Vec<u8>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)
        .map_err(HostError::using(path))?;
    Ok(text)
}

/// Truncates a log to its first `whole` bytes, which drops a torn line, and adds the missing newline if `unended`.
pub(crate) fn mend(path: &Path, whole: u64, unended: bool) -> HostResult<FileMark> {
    let mended = || {
        let mut log = OpenOptions::new().write(true).open(path)?;
        log.set_len(whole)?;
        if unended {
            log.seek(SeekFrom::End(0))?;
            log.write_all(b"\n")?;
        }
        log.sync_all()?;
        FileMark::of(&log)
    };
    mended().map_err(HostError::using(path))
}

/// Appends `lines` to a log of `before` bytes. On success they are on the disk; on failure the log is as it
/// was.
pub(crate) fn append_at(path: &Path, before: u64, lines: &[u8]) -> HostResult<FileMark> {
    let mut log = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(path)
        .map_err(HostError::using(path))?;
    if before == 0 {
        // A new file survives a power cut only once its folder is synced.
        let folder = path.parent().unwrap_or(path);
        platform::sync_folder(folder).map_err(HostError::using(folder))?;
    }
    let written = log
        .seek(SeekFrom::Start(before))
        .and_then(|_| log.write_all(lines))
        .and_then(|()| log.sync_data());
    if let Err(e) = written {
        // If this fails too, it leaves a torn line, which the next open drops.
        drop(log.set_len(before));
        return Err(HostError::using(path)(e));
    }
    FileMark::of(&log).map_err(HostError::using(path))
}

/// Takes an advisory lock on `path`, creating the file if needed; waits up to `patience`, then fails with
/// [`HostErrorKind::Locked`](crate::error::HostErrorKind::Locked). The lock is released when the file is dropped or the process ends.
pub fn acquire(path: &Path, patience: Duration) -> HostResult<File> {
    let file = open_own(
        path,
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false),
    )?;
    let failed = HostError::using(path);
    let file = file.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    let mut file = match file.try_lock() {
        Ok(()) => file,
        Err(TryLockError::Error(error)) => return Err(failed(error)),
        // The system's queue is fair, whereas a process that polls can be overtaken forever. The queue has no timeout,
        // so a thread waits in it; if the wait here times out, that thread lives as long as the process.
        Err(TryLockError::WouldBlock) => {
            let (sender, receiver) = mpsc::channel();
            std::thread::spawn(move || {
                let locked = file.lock().map(|()| file);
                // The receiver is gone if the wait timed out.
                drop(sender.send(locked));
            });
            let locked = receiver.recv_timeout(patience);
            locked
                .map_err(|_| HostError::locked(path, patience))?
                .map_err(failed)?
        }
    };
    let id = std::process::id().to_string();
    // Best effort: a disk too full for ten digits must not prevent anybody from taking the lock.
    drop(file.set_len(0).and_then(|()| file.write_all(id.as_bytes())));
    Ok(file)
}

/// The entries of `folder`; none if there is no such folder.
pub(crate) fn entries_in(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(Vec::new()),
            _ => Err(error),
        },
    }
}

/// Creates the folder `path` and its parents unless it exists.
pub(crate) fn make_folders(path: &Path) -> HostResult<()> {
    fs::create_dir_all(path).map_err(HostError::writing(path))
}

/// Maximum number of dangling links to follow in a row; the kernel has the same limit.
const LINKS: usize = 40;

/// Removes `.` and `..` textually, as the client does before it follows links.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Resolves links in the part of the path that exists; a link to something missing is replaced by its target.
pub(crate) fn real(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Some((found, at)) = path
            .ancestors()
            .find_map(|at| Some((platform::real_path(at).ok()?, at)))
        else {
            return path;
        };
        let mut rest = path.strip_prefix(at).unwrap_or(Path::new("")).components();
        let Some(next) = rest.next() else {
            return found;
        };
        let Ok(target) = fs::read_link(found.join(next)) else {
            return found.join(next).join(rest.as_path());
        };
        path = plain(&found.join(target).join(rest.as_path()));
    }
    path
}

/// Renames `beside` to `path`, replacing it; on failure, removes `beside`.
fn rename_over(beside: &Path, path: &Path) -> io::Result<()> {
    platform::replace_file(beside, path).inspect_err(|_| drop(fs::remove_file(beside)))
}

/// Writes a new file, after removing whatever was in its place.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?
        .write_all(bytes)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn write_beside(
    path: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fp-").suffix(".tmp");
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let mut beside = builder.tempfile_in(folder_of(path))?;
    beside.write_all(bytes)?;
    Ok(beside)
}

/// The permissions of the file to be replaced; for a new file the usual ones, since temporary files have stricter ones.
fn wanted_permissions(path: &Path) -> Option<fs::Permissions> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
        _ => platform::new_file_permissions(),
    }
}

#[cfg(test)]
mod tests {
    use fp_plan::hint::Hint as _;

    use super::*;

    #[test]
    fn a_write_replaces_the_whole_and_leaves_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        atomic_write(&path, b"first, and long").unwrap();
        atomic_write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_replacement_takes_away_what_a_killed_one_has_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let left = folder.path().join("a.json.tmp");
        let outside = folder.path().join("outside");
        fs::write(&left, "half").unwrap();
        replace(&path, b"first").unwrap();
        std::os::unix::fs::symlink(&outside, &left).unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "and a link is not followed"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_write_keeps_the_mode_and_does_not_follow_a_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let target = folder.path().join("target");
        fs::write(&target, "outside").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        atomic_write(&target, b"changed").unwrap();
        assert_eq!(mode(&target), 0o640);
        let link = folder.path().join("link");
        symlink(&target, &link).unwrap();
        atomic_write(&link, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"changed");
        assert_eq!(fs::read(&link).unwrap(), b"new");
    }

    #[test]
    fn a_write_that_must_not_replace_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        assert!(write_if_absent(&path, b"first").unwrap());
        assert!(!write_if_absent(&path, b"second").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_says_where_and_keeps_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone/a.json");
        let error = atomic_write(&path, b"x").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{} can't be written: no such file or directory",
                path.display()
            )
        );
        assert_eq!(error.hint(), Some("check the path".into()));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(advice_on(&full).unwrap().starts_with("the disk is full"));
    }

    #[test]
    fn a_read_is_bounded_and_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let check = |content: &[u8], expect: Result<&str, &str>| {
            fs::write(&path, content).unwrap();
            let result = read_text(&path, 12)
                .map_err(|e| e.to_string().replace(path.to_str().unwrap(), "a.md"));
            assert_eq!(result.as_deref().map_err(String::as_str), expect);
        };
        check(b"", Ok(""));
        check(b"twelve bytes", Ok("twelve bytes"));
        check(
            b"thirteen byte",
            Err("a.md is too large: at most 12 bytes are read"),
        );
        check(b"one\n\xec\x95\x88\xff", Err("a.md:2:2: not UTF-8 text"));
        check(b"\xff", Err("a.md:1:1: not UTF-8 text"));
        let error = read_text(folder.path(), 12).unwrap_err();
        assert!(error.to_string().ends_with(" is not a file"), "{error}");
        assert!(
            read_text_if_there(&folder.path().join("none"), 12)
                .unwrap()
                .is_none()
        );
    }
}
