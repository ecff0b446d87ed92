//! Installing the plugin: a bundle in the user's data folder, registered by the client's own commands, and the settings
//! that the user wants with it. Installing twice is the same as installing once, and a plugin or marketplace from
//! elsewhere is never taken over.

pub(crate) mod bundle;
pub(crate) mod client;
pub(crate) mod program;
pub(crate) mod register;
pub(crate) mod settings;
#[cfg(test)]
mod tests;
pub(crate) mod undo;

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_host::claude::{MARKETPLACE, PLUGIN, client_home};
use fp_host::platform::{self, FOLDER_VARIABLES, UserFolder};
use serde::Serialize;

use crate::context::Context;
use crate::error::CommandError;
use client::{ClaudeClient, ClientMarketplace};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The scope that `fp install` installs for: the bundle is on this machine only, so no project can share it.
const USER: &str = "user";
/// Time that one command of the client may take; a marketplace may have to be read from a slow disk.
const CLIENT_LIMIT: Duration = Duration::from_secs(120);

/// The change that an installation makes to one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum InstallChange {
    /// It was there as it should be.
    Kept,
    Added,
    /// It was there in another version.
    Updated,
    /// It was there and switched off.
    Enabled,
    /// It is not there, and nobody wanted it.
    Declined,
    /// The user has chosen something else.
    Otherwise,
}

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct ClientArgs {
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
}

impl ClientArgs {
    fn installation(&self, context: &Context) -> Result<Installation, CommandError> {
        let search = env::var_os("PATH");
        Ok(Installation {
            client: ClaudeClient::find(self.client.as_deref(), search.as_deref(), CLIENT_LIMIT)?,
            folder: bundle_folder().ok_or_else(homeless)?,
            home: client_home(&|name| context.env(name)).ok_or_else(homeless)?,
        })
    }
}

/// The installation in one data folder, with one client.
#[derive(Debug)]
struct Installation {
    client: ClaudeClient,
    /// The bundle's folder.
    folder: PathBuf,
    /// The folder that the client keeps the user's settings in.
    home: PathBuf,
}

impl Installation {
    fn record_file(&self) -> PathBuf {
        record_beside(&self.folder)
    }

    /// The marketplace is the one that `fp install` adds.
    fn is_ours(&self, marketplace: &ClientMarketplace) -> bool {
        marketplace
            .path
            .as_ref()
            .is_some_and(|path| same_folder(path, &self.folder))
    }

    /// The client lacks the marketplace. Fails where its name belongs to another one.
    fn lacks_marketplace(&self) -> Result<bool, CommandError> {
        match self.client.marketplace()? {
            Some(found) if !self.is_ours(&found) => {
                let from = found.origin();
                Err(CommandError::failed(format!(
                    "the client has another marketplace named `{MARKETPLACE}`, from {from}"
                ))
                .hint(format!(
                    "`claude plugin marketplace remove {MARKETPLACE}` removes it with its plugins; then run this again"
                )))
            }
            found => Ok(found.is_none()),
        }
    }

    /// Runs one of the client's commands on the plugin in one scope.
    fn run_for_plugin(
        &self,
        command: &str,
        scope: &str,
        folder: Option<&Path>,
    ) -> Result<(), CommandError> {
        self.client
            .run(&["plugin", command, &plugin_id(), "--scope", scope], folder)
            .map(drop)
    }
}

/// Writes this plugin with this program to `folder`.
pub(crate) fn write_plugin(folder: &Path) -> Result<(), CommandError> {
    bundle::Bundle::of_this_program()?.write_plugin(folder)
}

/// The plugin's id in the client.
pub(crate) fn plugin_id() -> String {
    format!("{PLUGIN}@{MARKETPLACE}")
}

/// Both paths lead to the same folder.
pub(crate) fn same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

fn record_beside(bundle: &Path) -> PathBuf {
    bundle.with_file_name("installed.json")
}

fn homeless() -> CommandError {
    CommandError::failed("nothing says where your home folder is")
        .hint(format!("set {FOLDER_VARIABLES}"))
}

/// The folder of the bundle: `fractal-planner/bundle` in the user's data folder. `None` if no variable names that.
pub(crate) fn bundle_folder() -> Option<PathBuf> {
    let data = UserFolder::Data.path_on(env::consts::OS, |name| env::var_os(name))?;
    Some(data.join(MARKETPLACE).join("bundle"))
}
