//! From what a person typed to a path as git knows it.

use std::path::{Path, PathBuf};

use fp_core::repo_path::RepoPath;

use super::Git;
use super::command::os_string;

impl Git {
    /// The path of the file `path`, absolute, from the top of the working tree; the file need not be there, and a link
    /// is not followed. `None` where it is outside of the working tree, or its top.
    #[must_use]
    pub fn locate(&self, path: &Path) -> Option<RepoPath> {
        let path = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => real(folder).join(name),
            _ => real(path),
        };
        let inside = path.strip_prefix(self.worktree()).ok()?;
        let parts: Vec<Vec<u8>> = inside.iter().map(bytes).collect::<Option<_>>()?;
        (!parts.is_empty()).then(|| RepoPath::from_bytes(parts.join(&b'/')))
    }

    /// Where the file `path` is on the disk.
    #[must_use]
    pub fn absolute(&self, path: &RepoPath) -> PathBuf {
        self.worktree().join(os_string(path.as_bytes()))
    }
}

/// The folder without links and `..`, as far as it exists: what was deleted may have lain in a folder that is gone.
fn real(folder: &Path) -> PathBuf {
    if let Ok(real) = std::fs::canonicalize(folder) {
        return real;
    }
    match (folder.parent(), folder.file_name()) {
        (Some(above), Some(name)) => real(above).join(name),
        (Some(above), None) => {
            let mut path = real(above);
            path.pop();
            path
        }
        _ => folder.to_owned(),
    }
}

#[cfg(unix)]
fn bytes(name: &std::ffi::OsStr) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(name.as_bytes().to_owned())
}

#[cfg(not(unix))]
fn bytes(name: &std::ffi::OsStr) -> Option<Vec<u8>> {
    name.to_str().map(|name| name.as_bytes().to_owned())
}
