//! The client's own commands for plugins, each with a time limit.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_host::claude::MARKETPLACE;
use fp_host::platform::find_program;
use fp_host::search_path::is_program;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::plugin_id;
use super::program::{last_line, run_program, version_numbers};
use crate::error::CommandError;

/// Oldest client that the plugin works with: its hooks are in exec form.
pub(crate) const OLDEST_CLIENT: &str = "2.1.200";

/// A marketplace that the client knows.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ClientMarketplace {
    pub(crate) name: String,
    /// The folder that it is, unless it is remote.
    pub(crate) path: Option<PathBuf>,
    /// Other fields, such as `repo` or `url` of a remote one, and `source`, its kind.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ClientMarketplace {
    /// Its place, for a person.
    pub(crate) fn origin(&self) -> String {
        let field = |name: &str| self.rest.get(name)?.as_str().map(str::to_owned);
        let path = self.path.as_ref().map(|path| path.display().to_string());
        path.or_else(|| {
            ["repo", "url", "source"]
                .iter()
                .find_map(|name| field(name))
        })
        .unwrap_or_default()
    }
}

/// A plugin that the client has installed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstalledPlugin {
    /// `plugin@marketplace`.
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) version: String,
    /// `user`, `project` or `local`.
    #[serde(default)]
    pub(crate) scope: String,
    #[serde(default)]
    pub(crate) enabled: bool,
    /// The project that it is installed for, unless it is the user's.
    pub(crate) project_path: Option<PathBuf>,
    /// The client's own copy.
    pub(crate) install_path: Option<PathBuf>,
    /// The folder that it is read from instead, where its marketplace is a folder.
    pub(crate) read_from_folder: Option<PathBuf>,
}

impl InstalledPlugin {
    /// Its scope, for a person.
    pub(super) fn place(&self) -> String {
        let project = self
            .project_path
            .as_ref()
            .map(|path| format!(" in {}", path.display()));
        format!("scope {}{}", self.scope, project.unwrap_or_default())
    }

    /// Its scope in a report.
    pub(super) fn report(&self) -> Value {
        json!({ "scope": self.scope, "project": self.project_path, "from": self.version })
    }
}

/// The client's program.
#[derive(Debug, Clone)]
pub(crate) struct ClaudeClient {
    pub(crate) path: PathBuf,
    /// Time that one of its commands may take.
    limit: Duration,
}

impl ClaudeClient {
    /// The program at `given` or, without one, the first `claude` on `search_path`.
    pub(crate) fn find(
        given: Option<&Path>,
        search_path: Option<&OsStr>,
        limit: Duration,
    ) -> Result<Self, CommandError> {
        let found = match given {
            None => find_program("claude", search_path.unwrap_or_default()).ok_or_else(|| {
                CommandError::failed(
                    "Claude Code is not installed here: there is no `claude` on PATH",
                )
                .hint("install Claude Code, or say where it is with `--client PATH`")
            }),
            Some(given) => std::path::absolute(given)
                .ok()
                .filter(|path| is_program(path))
                .ok_or_else(|| {
                    CommandError::failed(format!("{} is not a program", given.display()))
                        .hint("say where Claude Code is with `--client PATH`")
                }),
        };
        found.map(|path| Self { path, limit })
    }

    /// Its version. Fails if it is older than [`OLDEST_CLIENT`], or not the client at all.
    pub(crate) fn version(&self) -> Result<String, CommandError> {
        let text = self.run(&["--version"], None)?;
        let version = text.split_whitespace().next().unwrap_or_default();
        let path = self.path.display();
        let Some(numbers) = version_numbers::<3>(version) else {
            let said = last_line(&text);
            let message = format!("{path} is not Claude Code: `--version` says {said:?}");
            return Err(
                CommandError::failed(message).hint("say where Claude Code is with `--client PATH`")
            );
        };
        if Some(numbers) < version_numbers(OLDEST_CLIENT) {
            return Err(CommandError::failed(format!(
                "Claude Code {version} at {path} is too old: the plugin needs {OLDEST_CLIENT} or newer"
            ))
            .hint("run `claude update`, then this again"));
        }
        Ok(version.to_owned())
    }

    /// The marketplace of this plugin's name, from wherever it is.
    pub(crate) fn marketplace(&self) -> Result<Option<ClientMarketplace>, CommandError> {
        let known: Vec<ClientMarketplace> =
            self.list(&["plugin", "marketplace", "list", "--json"])?;
        Ok(known.into_iter().find(|found| found.name == MARKETPLACE))
    }

    /// This plugin in every scope, and in the projects that count.
    pub(crate) fn installed(
        &self,
        counts: impl Fn(&PathBuf) -> bool,
    ) -> Result<Vec<InstalledPlugin>, CommandError> {
        let mut installed = self.plugins()?;
        installed.retain(|plugin| {
            plugin.id == plugin_id() && plugin.project_path.as_ref().is_none_or(&counts)
        });
        Ok(installed)
    }

    /// The plugins that it has installed, in every scope and project.
    pub(crate) fn plugins(&self) -> Result<Vec<InstalledPlugin>, CommandError> {
        self.list(&["plugin", "list", "--json"])
    }

    fn list<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<Vec<T>, CommandError> {
        serde_json::from_str(&self.run(arguments, None)?).map_err(|error| {
            let command = shown(arguments);
            CommandError::failed(format!("`{command}` gave an unexpected answer: {error}"))
                .hint("update Claude Code and fp to versions of about the same age")
        })
    }

    /// Runs one of its commands, in `folder` if given, and returns its standard output.
    pub(super) fn run<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        folder: Option<&Path>,
    ) -> Result<String, CommandError> {
        let mut command = Command::new(&self.path);
        command.args(arguments);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let answer = run_program(command, b"", self.limit).map_err(|fault| {
            let command = shown(arguments);
            CommandError::failed(format!("`{command}` {fault}"))
                .hint(format!("run `{command}` yourself to see all that it says"))
        })?;
        Ok(answer.stdout.to_text())
    }
}

/// The command as a person would type it.
fn shown<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let words: Vec<OsString> = arguments
        .iter()
        .map(|word| word.as_ref().to_owned())
        .collect();
    format!("claude {}", words.join(OsStr::new(" ")).to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_named_by_what_there_is() {
        let check = |json: &str, expect: &str| {
            let marketplace: ClientMarketplace = serde_json::from_str(json).unwrap();
            assert_eq!(marketplace.origin(), expect);
        };
        check(
            r#"{"name":"a","source":"directory","path":"/a","installLocation":"/a"}"#,
            "/a",
        );
        check(r#"{"name":"a","source":"github","repo":"o/r"}"#, "o/r");
        check(
            r#"{"name":"a","source":"git","url":"https://h/r.git"}"#,
            "https://h/r.git",
        );
        check(r#"{"name":"a","source":"settings"}"#, "settings");
    }
}
