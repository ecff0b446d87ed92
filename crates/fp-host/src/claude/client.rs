//! The client's own commands for plugins, each with a time limit. What it keeps in its settings is its business:
//! nothing here reads or edits them.

mod limited;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use fp_core::hint::Hint;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::file::reason;

/// Oldest client that the plugin works with: its hooks are in exec form.
pub const OLDEST: Version = Version([2, 1, 200]);

/// A version of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// Reads what `claude --version` prints, such as `2.1.329 (Claude Code)`.
    fn parse(text: &str) -> Option<Self> {
        let number = text.split_whitespace().next()?;
        let release = number.split(['-', '+']).next()?;
        let parts: Vec<u32> = release.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        parts.try_into().ok().map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Why the client did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No folder of the search path has it.
    #[error("Claude Code is not installed here: there is no `claude` on PATH")]
    NotFound,
    /// It can't be started.
    #[error("{} can't be run: {}", path.display(), reason(source))]
    NotRunnable {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It does not answer `--version` as the client does.
    #[error("{} is not Claude Code: `--version` says {answer}", path.display())]
    NotTheClient {
        /// The program.
        path: PathBuf,
        /// The first line of its answer, quoted.
        answer: String,
    },
    /// It is older than [`OLDEST`].
    #[error("Claude Code {found} at {} is too old: the plugin needs {OLDEST} or newer", path.display())]
    TooOld {
        /// The program.
        path: PathBuf,
        /// Its version.
        found: Version,
    },
    /// It did not end, and was ended.
    #[error("`{command}` did not end within {} s", limit.as_secs())]
    TimedOut {
        /// What was run, for reading.
        command: String,
        /// How long it had.
        limit: Duration,
    },
    /// It ran and said no.
    #[error("`{command}` failed: {message}")]
    Refused {
        /// What was run, for reading.
        command: String,
        /// What it said.
        message: String,
    },
    /// It said something that is not what this command prints.
    #[error("`{command}` gave an unexpected answer: {detail}")]
    Unexpected {
        /// What was run, for reading.
        command: String,
        /// What is wrong with the answer.
        detail: String,
    },
}

impl Hint for ClientError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotFound => "install Claude Code, or say where it is with `--client PATH`".into(),
            Self::NotRunnable { .. } | Self::NotTheClient { .. } => {
                "say where Claude Code is with `--client PATH`".into()
            }
            Self::TooOld { .. } => "run `claude update`, then this again".into(),
            Self::TimedOut { command, .. } => format!(
                "run `{command}` by hand to see what it waits for; `fp install --timeout SECONDS` gives it longer"
            ).into(),
            Self::Refused { command, .. } => format!("run `{command}` by hand to see all that it says").into(),
            Self::Unexpected { .. } => "update Claude Code and fp to versions of about the same age".into(),
        })
    }
}

/// A marketplace that the client knows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Marketplace {
    /// Its name.
    pub name: String,
    /// Its kind, such as `directory` or `github`.
    #[serde(default)]
    pub source: String,
    /// The folder of a marketplace of kind `directory`.
    pub path: Option<PathBuf>,
    /// The repository of one of kind `github`, as `owner/name`.
    pub repo: Option<String>,
    /// The address of other remote ones.
    pub url: Option<String>,
}

/// A plugin that the client has installed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledPlugin {
    /// `plugin@marketplace`.
    pub id: String,
    /// The version that the client has recorded.
    #[serde(default)]
    pub version: String,
    /// `user`, `project` or `local`.
    #[serde(default)]
    pub scope: String,
    /// Whether the client loads it.
    #[serde(default)]
    pub enabled: bool,
    /// The project that it is installed for, unless it is the user's.
    pub project_path: Option<PathBuf>,
    /// The folder that the client has copied it to.
    pub install_path: Option<PathBuf>,
    /// The folder that it is read from instead, where its marketplace is a folder.
    pub read_from_folder: Option<PathBuf>,
}

/// The client's program.
#[derive(Debug, Clone)]
pub struct Client {
    path: PathBuf,
    limit: Duration,
}

impl Client {
    /// The program at `given` or, without one, the first `claude` in the absolute folders of `search_path`.
    ///
    /// Fails if there is none; that `given` is one shows when it is run. Each of its commands may take `limit`.
    pub fn find(
        given: Option<&Path>,
        search_path: Option<&OsStr>,
        limit: Duration,
    ) -> Result<Self, ClientError> {
        if let Some(given) = given {
            let path = std::path::absolute(given)
                .map_err(|source| ClientError::NotRunnable { path: given.to_owned(), source })?;
            return Ok(Self { path, limit });
        }
        // A relative folder would let the repository that this runs in choose the program.
        std::env::split_paths(search_path.unwrap_or_default())
            .filter(|folder| folder.is_absolute())
            .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
            .find(|path| is_program(path))
            .map(|path| Self { path, limit })
            .ok_or(ClientError::NotFound)
    }

    /// Where the program is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version. Fails if it is older than [`OLDEST`], or not the client at all.
    pub fn version(&self) -> Result<Version, ClientError> {
        let output = self.start(&["--version"], None)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found = Version::parse(&text).ok_or_else(|| ClientError::NotTheClient {
            path: self.path.clone(),
            answer: format!("{:?}", shortened(&text)),
        })?;
        if found < OLDEST {
            return Err(ClientError::TooOld { path: self.path.clone(), found });
        }
        Ok(found)
    }

    /// The marketplaces that it knows.
    pub fn marketplaces(&self) -> Result<Vec<Marketplace>, ClientError> {
        self.list(&["plugin", "marketplace", "list", "--json"])
    }

    /// The plugins that it has installed, in every scope and project.
    pub fn plugins(&self) -> Result<Vec<InstalledPlugin>, ClientError> {
        self.list(&["plugin", "list", "--json"])
    }

    /// Runs one of its commands for what it does, in `folder` if given.
    ///
    /// Fails if it can't be started or ends with another exit status than 0.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A], folder: Option<&Path>) -> Result<(), ClientError> {
        self.start(arguments, folder).and_then(|output| self.accepted(arguments, output)).map(drop)
    }

    fn list<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<Vec<T>, ClientError> {
        let output = self.start(arguments, None).and_then(|output| self.accepted(arguments, output))?;
        serde_json::from_slice(&output.stdout)
            .map_err(|error| ClientError::Unexpected { command: shown(arguments), detail: error.to_string() })
    }

    fn start<A: AsRef<OsStr>>(&self, arguments: &[A], folder: Option<&Path>) -> Result<Output, ClientError> {
        let mut command = Command::new(&self.path);
        command.args(arguments);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let output = limited::output(command, self.limit)
            .map_err(|source| ClientError::NotRunnable { path: self.path.clone(), source })?;
        output.ok_or_else(|| ClientError::TimedOut { command: shown(arguments), limit: self.limit })
    }

    fn accepted<A: AsRef<OsStr>>(&self, arguments: &[A], output: Output) -> Result<Output, ClientError> {
        if output.status.success() {
            return Ok(output);
        }
        let said = [&output.stderr, &output.stdout].map(|bytes| shortened(&String::from_utf8_lossy(bytes)));
        let message = said.into_iter().find(|text| !text.is_empty());
        Err(ClientError::Refused {
            command: shown(arguments),
            message: message.unwrap_or_else(|| output.status.to_string()),
        })
    }
}

#[cfg(windows)]
const NAMES: &[&str] = &["claude.exe", "claude.cmd"];
#[cfg(not(windows))]
const NAMES: &[&str] = &["claude"];

/// Whether the file `path` can be run.
#[cfg(unix)]
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether the file `path` can be run.
#[cfg(not(unix))]
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// The command as a person would type it.
fn shown<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let words: Vec<OsString> = arguments.iter().map(|word| word.as_ref().to_owned()).collect();
    format!("claude {}", words.join(OsStr::new(" ")).to_string_lossy())
}

/// The last line that says something, without the client's mark in front, at most 300 characters of it.
fn shortened(text: &str) -> String {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches(['✘', '✖', '×', ' ']);
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        let check = |text: &str, expect: Option<[u32; 3]>| {
            assert_eq!(Version::parse(text), expect.map(Version), "{text:?}");
        };
        check("2.1.329 (Claude Code)\n", Some([2, 1, 329]));
        check("2.1.200", Some([2, 1, 200]));
        check("3.0.0-beta.1 (Claude Code)", Some([3, 0, 0]));
        check("", None);
        check("claude 2.1", None);
        check("2.1", None);
        check("2.1.99999999999", None);
        assert!(
            Version([2, 1, 99]) < OLDEST && Version([2, 2, 0]) > OLDEST && Version([2, 1, 200]) >= OLDEST
        );
    }

    #[test]
    fn what_it_said_is_one_line() {
        let check = |text: &str, expect: &str| assert_eq!(shortened(text), expect, "{text:?}");
        check("", "");
        check("✘ Failed to add: no such folder\n\n", "Failed to add: no such folder");
        check("Adding…\r\n  ✘ bad\u{7}\r\n", "bad");
    }

    #[cfg(unix)]
    #[test]
    fn the_first_program_of_the_search_path_is_taken() {
        use std::os::unix::fs::symlink;
        let find = |given, search| Client::find(given, search, Duration::MAX);
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("1"), folder.path().join("2"));
        for place in [&first, &second] {
            std::fs::create_dir(place).unwrap();
        }
        std::fs::write(first.join("claude"), "no program").unwrap();
        symlink("/bin/sh", second.join("claude")).unwrap();
        let search = std::env::join_paths([Path::new("relative"), &first, &second]).unwrap();
        assert_eq!(find(None, Some(search.as_os_str())).unwrap().path(), second.join("claude"));
        assert_eq!(
            find(None, Some(first.as_os_str())).unwrap_err().to_string(),
            "Claude Code is not installed here: there is no `claude` on PATH"
        );
        assert!(find(None, None).is_err());
        assert!(find(Some(Path::new("x/claude")), None).unwrap().path().is_absolute());
    }
}
