//! The client's own commands for plugins, each with a time limit.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_host::agents::find_claude;
use fp_host::claude::MARKETPLACE;
use fp_host::process;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{plugin_id, same_folder};
use crate::error::CommandError;

/// Time limit for one client command; a marketplace may have to be read from a slow disk.
const LIMIT: Duration = Duration::from_secs(120);

/// A marketplace that the client knows.
#[derive(Debug, Deserialize)]
pub(crate) struct ClientMarketplace {
    name: String,
    /// The marketplace's folder, unless it is remote.
    pub(crate) path: Option<PathBuf>,
    /// Other fields, such as `repo` or `url` of a remote marketplace, and `source`, its kind.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ClientMarketplace {
    /// The marketplace's location, for display.
    pub(crate) fn origin(&self) -> String {
        if let Some(path) = &self.path {
            return path.display().to_string();
        }
        let field = |name: &&str| self.rest.get(*name)?.as_str();
        let place = ["repo", "url", "source"].iter().find_map(field);
        place.unwrap_or_default().to_owned()
    }

    pub(crate) fn is_at(&self, folder: &Path) -> bool {
        self.path
            .as_deref()
            .is_some_and(|path| same_folder(path, folder))
    }
}

/// A plugin that the client has installed.
#[derive(Debug, Deserialize)]
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
    /// The project that the plugin is installed for; `None` in the user scope.
    pub(crate) project_path: Option<PathBuf>,
    /// The client's own copy of the plugin.
    pub(crate) install_path: Option<PathBuf>,
    /// The folder that the plugin is loaded from instead, if its marketplace is a folder.
    pub(crate) read_from_folder: Option<PathBuf>,
}

impl InstalledPlugin {
    /// The plugin's scope, for display.
    pub(super) fn scope_text(&self) -> String {
        match &self.project_path {
            Some(path) => format!("scope {} in {}", self.scope, path.display()),
            None => format!("scope {}", self.scope),
        }
    }
}

/// The client's executable.
#[derive(Debug)]
pub(crate) struct ClaudeClient {
    pub(crate) path: PathBuf,
    pub(crate) version: String,
}

impl ClaudeClient {
    /// Finds the client at `given` or, if that is `None`, the first `claude` on PATH.
    pub(crate) fn find(given: Option<&Path>) -> Result<Self, CommandError> {
        let search = env::var_os("PATH").unwrap_or_default();
        let (path, version) = find_claude(given, &search).map_err(|error| {
            CommandError::from(error).with_hint("`--client PATH` takes another one")
        })?;
        Ok(Self { path, version })
    }

    /// The marketplace that has the name of this plugin's marketplace, whatever its source.
    pub(crate) fn marketplace(&self) -> Result<Option<ClientMarketplace>, CommandError> {
        let known: Vec<ClientMarketplace> =
            self.list_json(&["plugin", "marketplace", "list", "--json"])?;
        Ok(known.into_iter().find(|found| found.name == MARKETPLACE))
    }

    /// The installations of this plugin in all scopes; of those for a project, only the ones for which `counts` returns
    /// true.
    pub(crate) fn installed(
        &self,
        counts: impl Fn(&Path) -> bool,
    ) -> Result<Vec<InstalledPlugin>, CommandError> {
        let mut installed = self.plugins()?;
        installed.retain(|plugin| {
            plugin.id == plugin_id() && plugin.project_path.as_deref().is_none_or(&counts)
        });
        Ok(installed)
    }

    /// The plugins that the client has installed, in every scope and project.
    pub(super) fn plugins(&self) -> Result<Vec<InstalledPlugin>, CommandError> {
        self.list_json(&["plugin", "list", "--json"])
    }

    fn list_json<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<Vec<T>, CommandError> {
        serde_json::from_str(&self.run_claude(arguments, None)?).map_err(|error| {
            let command = arguments.join(" ");
            CommandError::failed(format!(
                "`claude {command}` gave an unexpected answer: {error}"
            ))
            .with_hint("update Claude Code and fp to versions of about the same age")
        })
    }

    /// Runs one of the client's commands on the plugin in one scope.
    pub(super) fn run_for_plugin(
        &self,
        command: &str,
        scope: &str,
        folder: Option<&Path>,
    ) -> Result<(), CommandError> {
        self.run_claude(&["plugin", command, &plugin_id(), "--scope", scope], folder)
            .map(drop)
    }

    /// Runs one of the client's commands, in `folder` if given, and returns its standard output.
    pub(super) fn run_claude<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        folder: Option<&Path>,
    ) -> Result<String, CommandError> {
        let mut command = Command::new(&self.path);
        command.args(arguments);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        process::answer_of(command, LIMIT).map_err(|fault| {
            let words: Vec<_> = arguments
                .iter()
                .map(|word| word.as_ref().to_string_lossy())
                .collect();
            let command = words.join(" ");
            CommandError::failed(format!("`claude {command}` {fault}")).with_hint(format!(
                "run `claude {command}` yourself to see all that it says"
            ))
        })
    }
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
