//! Reading a file of a stranger's repository: never through a link, never what is no regular file, never more than
//! a bounded part of it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Bytes in which a file that is no text gives itself away.
const SAMPLE: usize = 8000;

/// Reads at most `cap` bytes of `path` into `buffer`. Fails for everything that is no regular file.
pub(super) fn read(path: &Path, cap: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    file.take(cap).read_to_end(buffer)?;
    Ok(())
}

/// Opens without following a link in the place of the file, and without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// Whether what was read is no text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(SAMPLE)].contains(&0)
}

/// The lines of a text; the last one need not end.
pub(super) fn lines(text: &[u8]) -> u64 {
    let unfinished = text.last().is_some_and(|last| *last != b'\n');
    text.iter().filter(|byte| **byte == b'\n').count() as u64 + u64::from(unfinished)
}
