//! Finds programs on the search path.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::platform::is_executable;

/// The first program called one of `names` in the folders of `search_path`.
pub fn program_on_path(names: &[impl AsRef<Path>], search_path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        // A relative folder would let the repository that this runs in choose the program.
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| is_program(path))
}

pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| is_executable(&found))
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_first_program_of_the_search_path_is_taken() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("1"), folder.path().join("2"));
        for place in [&first, &second] {
            std::fs::create_dir(place).unwrap();
        }
        std::fs::write(first.join("claude"), "no program").unwrap();
        symlink("/bin/sh", second.join("claude")).unwrap();
        let search = std::env::join_paths([Path::new("relative"), &first, &second]).unwrap();
        assert_eq!(
            program_on_path(&["claude"], &search),
            Some(second.join("claude"))
        );
        assert_eq!(program_on_path(&["claude"], first.as_os_str()), None);
    }
}
