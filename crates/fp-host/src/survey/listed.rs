//! What a listed path is that the walk has not met: to be made, ignored, behind a link, or something that is no
//! file.

use std::fs;
use std::path::{Path, PathBuf};

use fp_core::signals::Presence;

/// What stands at `path`, in normal form, below `root`. Each folder on the way is looked at by itself, so that no
/// link is followed.
pub(super) fn presence(root: &Path, path: &str) -> Presence {
    let mut at: PathBuf = root.to_owned();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let Ok(metadata) = fs::symlink_metadata(&at) else { return Presence::Missing };
        let kind = metadata.file_type();
        let is_last = parts.peek().is_none();
        match () {
            () if kind.is_symlink() => return Presence::Link,
            () if kind.is_dir() && is_last => return Presence::Folder,
            () if kind.is_dir() => {}
            () if !is_last => return Presence::Missing,
            () if kind.is_file() => return Presence::File,
            () => return Presence::Special,
        }
    }
    Presence::Missing
}
