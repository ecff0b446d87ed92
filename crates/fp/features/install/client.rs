//! The client's own commands for plugins, each with a time limit.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_host::file::reason;
use fp_host::process::{self, CommandEnd, Limits, ProgramAnswer};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::CommandError;

/// Oldest client that the plugin works with: its hooks are in exec form.
pub(crate) const OLDEST_CLIENT: ClientVersion = ClientVersion([2, 1, 200]);
/// Bytes of the client's answer that are read.
const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

/// A version of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClientVersion([u32; 3]);

impl ClientVersion {
    /// Reads what `claude --version` prints, such as `2.1.329 (Claude Code)`.
    fn parse(text: &str) -> Option<Self> {
        let number = text.split_whitespace().next()?;
        let release = number.split(['-', '+']).next()?;
        let parts: Vec<u32> = release.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        parts.try_into().ok().map(Self)
    }

    pub(crate) fn is_too_old(self) -> bool {
        self < OLDEST_CLIENT
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// A marketplace that the client knows.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ClientMarketplace {
    pub(crate) name: String,
    /// Its kind, such as `directory` or `github`.
    #[serde(default)]
    source: String,
    /// The folder of a marketplace of kind `directory`.
    pub(crate) path: Option<PathBuf>,
    /// The repository of one of kind `github`, as `owner/name`.
    repo: Option<String>,
    /// The address of other remote ones.
    url: Option<String>,
}

impl ClientMarketplace {
    /// Where it is from, for reading.
    pub(crate) fn origin(&self) -> String {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        path.or_else(|| self.repo.clone()).or_else(|| self.url.clone()).unwrap_or_else(|| self.source.clone())
    }
}

/// A plugin that the client has installed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstalledPlugin {
    /// `plugin@marketplace`.
    pub(crate) id: String,
    /// The version that the client has recorded.
    #[serde(default)]
    pub(crate) version: String,
    /// `user`, `project` or `local`.
    #[serde(default)]
    pub(crate) scope: String,
    #[serde(default)]
    pub(crate) enabled: bool,
    /// The project that it is installed for, unless it is the user's.
    pub(crate) project_path: Option<PathBuf>,
    /// The folder that the client has copied it to.
    pub(crate) install_path: Option<PathBuf>,
    /// The folder that it is read from instead, where its marketplace is a folder.
    pub(crate) read_from_folder: Option<PathBuf>,
}

/// The client's program.
#[derive(Debug, Clone)]
pub(crate) struct ClaudeClient {
    pub(crate) path: PathBuf,
    limit: Duration,
}

impl ClaudeClient {
    /// The program at `given` or, without one, the first `claude` in the absolute folders of `search_path`. Each of
    /// its commands may take `limit`.
    ///
    /// Fails if there is none; that `given` is one shows when it is run.
    pub(crate) fn find(
        given: Option<&Path>,
        search_path: Option<&OsStr>,
        limit: Duration,
    ) -> Result<Self, CommandError> {
        if let Some(given) = given {
            let path = std::path::absolute(given).map_err(|source| not_runnable(given, &source))?;
            return Ok(Self { path, limit });
        }
        // A relative folder would let the repository that this runs in choose the program.
        std::env::split_paths(search_path.unwrap_or_default())
            .filter(|folder| folder.is_absolute())
            .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
            .find(|path| is_program(path))
            .map(|path| Self { path, limit })
            .ok_or_else(|| {
                CommandError::failed("Claude Code is not installed here: there is no `claude` on PATH")
                    .hint("install Claude Code, or say where it is with `--client PATH`")
            })
    }

    /// Its version, however old. Fails if it is not the client at all.
    pub(crate) fn any_version(&self) -> Result<ClientVersion, CommandError> {
        let text = self.start(&["--version"], None)?.stdout.to_text();
        ClientVersion::parse(&text).ok_or_else(|| {
            let (path, said) = (self.path.display(), shortened(&text));
            CommandError::failed(format!("{path} is not Claude Code: `--version` says {said:?}"))
                .hint("say where Claude Code is with `--client PATH`")
        })
    }

    /// Its version. Fails if that is older than [`OLDEST_CLIENT`].
    pub(crate) fn version(&self) -> Result<ClientVersion, CommandError> {
        let found = self.any_version()?;
        if found.is_too_old() {
            return Err(self.too_old(found));
        }
        Ok(found)
    }

    pub(crate) fn too_old(&self, found: ClientVersion) -> CommandError {
        let path = self.path.display();
        CommandError::failed(format!(
            "Claude Code {found} at {path} is too old: the plugin needs {OLDEST_CLIENT} or newer"
        ))
        .hint("run `claude update`, then this again")
    }

    pub(crate) fn marketplaces(&self) -> Result<Vec<ClientMarketplace>, CommandError> {
        self.list(&["plugin", "marketplace", "list", "--json"])
    }

    /// The plugins that it has installed, in every scope and project.
    pub(crate) fn plugins(&self) -> Result<Vec<InstalledPlugin>, CommandError> {
        self.list(&["plugin", "list", "--json"])
    }

    /// Runs one of its commands for what it does, in `folder` if given.
    ///
    /// Fails if it can't be started or ends with another exit status than 0.
    pub(crate) fn run<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        folder: Option<&Path>,
    ) -> Result<(), CommandError> {
        self.accepted(arguments, folder).map(drop)
    }

    fn list<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<Vec<T>, CommandError> {
        serde_json::from_str(&self.accepted(arguments, None)?).map_err(|error| {
            let command = shown(arguments);
            CommandError::failed(format!("`{command}` gave an unexpected answer: {error}"))
                .hint("update Claude Code and fp to versions of about the same age")
        })
    }

    fn start<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        folder: Option<&Path>,
    ) -> Result<ProgramAnswer, CommandError> {
        let mut command = Command::new(&self.path);
        command.args(arguments);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let limits = Limits { time: self.limit, head: LONGEST_ANSWER, tail: 0 };
        let answer =
            process::ask(command, b"", limits).map_err(|source| not_runnable(&self.path, &source))?;
        if matches!(answer.end, CommandEnd::TimedOut(_)) {
            let (command, seconds) = (shown(arguments), self.limit.as_secs());
            return Err(CommandError::failed(format!("`{command}` did not end within {seconds} s")).hint(format!(
                "run `{command}` by hand to see what it waits for; `fp install --timeout SECONDS` gives it longer"
            )));
        }
        Ok(answer)
    }

    /// The standard output of a command that ends with the status 0.
    fn accepted<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        folder: Option<&Path>,
    ) -> Result<String, CommandError> {
        let ProgramAnswer { end, stdout, stderr, .. } = self.start(arguments, folder)?;
        if end == CommandEnd::Exited(0) {
            return Ok(stdout.to_text());
        }
        let said = [stderr, stdout].map(|output| shortened(&output.to_text()));
        let message = said.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| match end {
            CommandEnd::Exited(status) => format!("exit status: {status}"),
            CommandEnd::Signalled(signal) => format!("signal: {signal}"),
            CommandEnd::TimedOut(_) => "it took too long".into(),
        });
        let command = shown(arguments);
        Err(CommandError::failed(format!("`{command}` failed: {message}"))
            .hint(format!("run `{command}` by hand to see all that it says")))
    }
}

fn not_runnable(path: &Path, source: &io::Error) -> CommandError {
    CommandError::failed(format!("{} can't be run: {}", path.display(), reason(source)))
        .hint("say where Claude Code is with `--client PATH`")
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
            assert_eq!(ClientVersion::parse(text), expect.map(ClientVersion), "{text:?}");
        };
        check("2.1.329 (Claude Code)\n", Some([2, 1, 329]));
        check("2.1.200", Some([2, 1, 200]));
        check("3.0.0-beta.1 (Claude Code)", Some([3, 0, 0]));
        check("", None);
        check("claude 2.1", None);
        check("2.1", None);
        check("2.1.99999999999", None);
        assert!(ClientVersion([2, 1, 99]).is_too_old());
        assert!(!ClientVersion([2, 2, 0]).is_too_old() && !ClientVersion([2, 1, 200]).is_too_old());
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
        let find = |given, search| ClaudeClient::find(given, search, Duration::MAX);
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("1"), folder.path().join("2"));
        for place in [&first, &second] {
            std::fs::create_dir(place).unwrap();
        }
        std::fs::write(first.join("claude"), "no program").unwrap();
        symlink("/bin/sh", second.join("claude")).unwrap();
        let search = std::env::join_paths([Path::new("relative"), &first, &second]).unwrap();
        assert_eq!(find(None, Some(search.as_os_str())).unwrap().path, second.join("claude"));
        assert_eq!(
            find(None, Some(first.as_os_str())).unwrap_err().message,
            "Claude Code is not installed here: there is no `claude` on PATH"
        );
        assert!(find(None, None).is_err());
        assert!(find(Some(Path::new("x/claude")), None).unwrap().path.is_absolute());
    }

    #[test]
    fn origins_are_named_by_what_there_is() {
        let check = |json: &str, expect: &str| {
            let marketplace: ClientMarketplace = serde_json::from_str(json).unwrap();
            assert_eq!(marketplace.origin(), expect);
        };
        check(r#"{"name":"a","source":"directory","path":"/a","installLocation":"/a"}"#, "/a");
        check(r#"{"name":"a","source":"github","repo":"o/r"}"#, "o/r");
        check(r#"{"name":"a","source":"git","url":"https://h/r.git"}"#, "https://h/r.git");
        check(r#"{"name":"a","source":"settings"}"#, "settings");
    }
}
