//! Holds all differences between operating systems, and nothing else: `unix` and `windows` offer the same names, and no
//! other module checks for the system. A test enforces that.

#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use system::*;

/// A standard folder of the user, by kind of file.
#[derive(Debug, Clone, Copy)]
pub enum UserFolder {
    Data,
    State,
    Cache,
}

impl UserFolder {
    /// The folder's path on `system`, named as in [`std::env::consts::OS`]; `None` if no environment variable
    /// determines it.
    pub fn path_on<P: Into<PathBuf>>(
        self,
        system: &str,
        env: impl Fn(&str) -> Option<P>,
    ) -> Option<PathBuf> {
        // A relative path would mean a different folder in each project; the standard says to ignore it.
        let absolute = |name: &str| env(name).map(Into::into).filter(|path| path.is_absolute());
        let (variable, usual, of_mac) = match self {
            Self::Data => (
                "XDG_DATA_HOME",
                ".local/share",
                "Library/Application Support",
            ),
            Self::State => (
                "XDG_STATE_HOME",
                ".local/state",
                "Library/Application Support",
            ),
            Self::Cache => ("XDG_CACHE_HOME", ".cache", "Library/Caches"),
        };
        let in_home = |folder: &str| Some(absolute("HOME")?.join(folder));
        match system {
            "windows" => absolute("LOCALAPPDATA"),
            "macos" => in_home(of_mac),
            _ => absolute(variable).or_else(|| in_home(usual)),
        }
    }
}

/// Finds the program `name` in the folders of `search_path`, with one of this system's extensions for programs.
pub fn find_program(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        // A relative folder would let the repository in which this runs choose the program.
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| {
            PROGRAM_ENDINGS
                .iter()
                .map(move |ending| folder.join(format!("{name}{ending}")))
        })
        .find(|path| path.metadata().is_ok_and(|found| is_executable(&found)))
}

/// A command that runs the program `name`, which is a path or a name to look up in `search_path`. Windows itself
/// doesn't find scripts there, such as the wrappers that npm creates.
pub fn program_command(name: &str, search_path: &OsStr) -> Command {
    let found = find_program(name, search_path).filter(|_| !name.contains(['/', '\\']));
    Command::new(found.unwrap_or_else(|| name.into()))
}

/// `path` with `/` as the separator on every system.
pub fn slashed(path: &Path) -> Vec<u8> {
    path.iter()
        .map(|part| part.as_encoded_bytes())
        .collect::<Vec<_>>()
        .join(&b'/')
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_of_the_user_is_where_the_system_has_it() {
        let check =
            |kind: UserFolder, system: &str, variables: &[(&str, &str)], expect: Option<&str>| {
                let variable = |name: &str| {
                    variables
                        .iter()
                        .find(|(found, _)| *found == name)
                        .map(|(_, value)| value)
                };
                let found = kind.path_on(system, variable);
                assert_eq!(
                    found,
                    expect.map(PathBuf::from),
                    "{kind:?} {system} {variables:?}"
                );
            };
        let home = ("HOME", "/h");
        for (kind, variable, usual, of_mac) in [
            (
                UserFolder::Data,
                "XDG_DATA_HOME",
                "/h/.local/share",
                "/h/Library/Application Support",
            ),
            (
                UserFolder::State,
                "XDG_STATE_HOME",
                "/h/.local/state",
                "/h/Library/Application Support",
            ),
            (
                UserFolder::Cache,
                "XDG_CACHE_HOME",
                "/h/.cache",
                "/h/Library/Caches",
            ),
        ] {
            check(kind, "linux", &[home], Some(usual));
            check(kind, "linux", &[home, (variable, "/x")], Some("/x"));
            check(kind, "linux", &[home, (variable, "x")], Some(usual));
            check(kind, "linux", &[], None);
            check(kind, "macos", &[home, (variable, "/x")], Some(of_mac));
            check(kind, "windows", &[("LOCALAPPDATA", "/l"), home], Some("/l"));
            check(kind, "windows", &[home], None);
        }
    }

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
        assert_eq!(find_program("claude", &search), Some(second.join("claude")));
        assert_eq!(find_program("claude", first.as_os_str()), None);
    }
}
