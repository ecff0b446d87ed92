//! Installs the plugin: writes a bundle to the user's data folder, and registers it through the client's own commands.
//! A plugin or marketplace from elsewhere is never taken over.

mod bundle;
mod client;
#[cfg(test)]
mod tests;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap_complete::Shell;
use fp_host::claude::{MARKETPLACE, PLUGIN};
use fp_host::platform::{self, FOLDER_VARIABLES, UserFolder};
use serde_json::json;

use bundle::{bundle_plugin, write_bundle};
pub(crate) use bundle::{program_in, write_plugin};
pub(crate) use client::{ClaudeClient, ClientMarketplace, InstalledPlugin};

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The scope of `fp install`: the bundle is on this machine only, so no project can share it.
const USER: &str = "user";

/// Install the plugin into Claude Code, or remove it
///
/// Writes the plugin to your data folder and registers it through Claude Code's own commands. Running it again updates
/// the plugin in every scope; `fp install --remove` undoes it.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
    /// Remove what was installed, in every scope.
    #[arg(long)]
    remove: bool,
    /// Only write the plugin, as `fp/`, and a marketplace for it, to a folder: a new or empty one, or an earlier
    /// bundle, which is replaced. `claude plugin marketplace add DIR` or `claude --plugin-dir DIR/fp` loads it.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["client", "remove"])]
    bundle: Option<PathBuf>,
    /// Only print completions for a shell, such as for bash:
    /// `fp install --completions bash > ~/.local/share/bash-completion/completions/fp`.
    #[arg(long, value_name = "SHELL", conflicts_with_all = ["client", "remove", "bundle"])]
    completions: Option<Shell>,
}

pub(crate) fn run(args: InstallArgs, context: &Context) -> CommandResult {
    match (args.bundle, args.completions) {
        (Some(out), _) => bundle_plugin(&out, context),
        (None, Some(shell)) => print_completions(shell, context),
        (None, None) if args.remove => uninstall_plugin(args.client.as_deref(), context),
        (None, None) => install_plugin(args.client.as_deref(), context),
    }
}

fn install_plugin(client: Option<&Path>, context: &Context) -> CommandResult {
    let client = ClaudeClient::find(client)?;
    let folder = bundle_folder().ok_or_else(homeless)?;
    let marketplace = client.marketplace()?;
    if let Some(other) = marketplace.as_ref().filter(|found| !found.is_at(&folder)) {
        let message = format!(
            "the client has another marketplace named `{MARKETPLACE}`, from {}",
            other.origin()
        );
        return Err(CommandError::failed(message).with_hint(format!(
            "`claude plugin marketplace remove {MARKETPLACE}` removes it with its plugins; then run this again"
        )));
    }
    check_name(&client)?;
    write_bundle(&folder)
        .map_err(|error| error.with_hint("XDG_DATA_HOME chooses the folder on Linux"))?;
    if marketplace.is_none() {
        let words = ["plugin", "marketplace", "add"].map(OsStr::new);
        client.run_claude(&[&words[..], &[folder.as_os_str()]].concat(), None)?;
    }
    let mut lines = vec![
        format!(
            "Claude Code  {} ({})",
            client.path.display(),
            client.version
        ),
        format!("bundle       {}", folder.display()),
    ];
    let (here, elsewhere): (Vec<_>, Vec<_>) = client
        .installed(|project| project.is_dir())?
        .into_iter()
        .partition(|plugin| plugin.scope == USER);
    match here.first() {
        Some(plugin) if plugin.enabled && plugin.version == VERSION => {}
        Some(plugin) if plugin.enabled => client.run_for_plugin("update", USER, None)?,
        _ => client.run_for_plugin("install", USER, None)?,
    }
    lines.push(format!(
        "plugin       {} {VERSION}, scope {USER}",
        plugin_id()
    ));
    for plugin in elsewhere.iter().filter(|plugin| plugin.version != VERSION) {
        client.run_for_plugin("update", &plugin.scope, plugin.project_path.as_deref())?;
        lines.push(format!("plugin       updated, {}", plugin.scope_text()));
    }
    let report = json!({
        "bundle": folder, "version": VERSION, "client": client.path, "clientVersion": client.version,
        "plugin": plugin_id(), "scope": USER,
    });
    context.report(&report, &(lines.join("\n") + "\n"))?;
    context
        .printer
        .print_note("Start Claude Code in a repository and type: /fp:plan GOAL");
    Ok(Exit::Done)
}

fn print_completions(shell: Shell, context: &Context) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fp", &mut script);
    let script = String::from_utf8(script).map_err(CommandError::failed)?;
    context.report(
        &json!({ "shell": shell.to_string(), "script": script }),
        &script,
    )
}

/// Fails if another plugin of this name is enabled.
fn check_name(client: &ClaudeClient) -> Result<(), CommandError> {
    let prefix = format!("{PLUGIN}@");
    let is_foreign = |plugin: &InstalledPlugin| {
        plugin.enabled && plugin.id.starts_with(&prefix) && plugin.id != plugin_id()
    };
    let Some(InstalledPlugin { id, scope, .. }) = client.plugins()?.into_iter().find(is_foreign)
    else {
        return Ok(());
    };
    let message = format!("the client has another plugin named `{PLUGIN}`: {id}, scope {scope}");
    Err(CommandError::failed(message).with_hint(format!(
        "run `claude plugin uninstall {id} --scope {scope}`, then this again"
    )))
}

fn uninstall_plugin(client: Option<&Path>, context: &Context) -> CommandResult {
    let folder = bundle_folder().ok_or_else(homeless)?;
    let mut lines = match ClaudeClient::find(client) {
        // Without a bundle the client can't have registered anything.
        Err(_) if client.is_none() && !folder.exists() => Vec::new(),
        found => unregister_plugin(&found?, &folder)?,
    };
    if bundle::remove_bundle(&folder)? {
        lines.push(format!("bundle       {}: removed", folder.display()));
    }
    // Removes Fractal Planner's own data folder, but only if it is empty.
    drop(folder.parent().map(fs::remove_dir));
    let report = json!({ "removed": lines });
    if lines.is_empty() {
        lines.push("nothing is installed".into());
    }
    context.report(&report, &(lines.join("\n") + "\n"))
}

/// Makes the client remove the plugin and its marketplace, unless they are from elsewhere.
fn unregister_plugin(client: &ClaudeClient, folder: &Path) -> Result<Vec<String>, CommandError> {
    let mut lines = Vec::new();
    let marketplace = client.marketplace()?;
    if marketplace
        .as_ref()
        .is_some_and(|found| !found.is_at(folder))
    {
        return Ok(lines);
    }
    // Installations for deleted projects are removed along with the marketplace.
    for plugin in client.installed(|project| project.is_dir())? {
        client.run_for_plugin("uninstall", &plugin.scope, plugin.project_path.as_deref())?;
        lines.push(format!("plugin       {}: removed", plugin.scope_text()));
    }
    if marketplace.is_some() {
        client.run_claude(&["plugin", "marketplace", "remove", MARKETPLACE], None)?;
        lines.push("marketplace  removed".into());
    }
    Ok(lines)
}

/// The plugin's id in the client.
pub(crate) fn plugin_id() -> String {
    format!("{PLUGIN}@{MARKETPLACE}")
}

/// True if both paths lead to the same folder.
pub(crate) fn same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

fn homeless() -> CommandError {
    CommandError::failed("nothing says where your home folder is")
        .with_hint(format!("set {FOLDER_VARIABLES}"))
}

/// The bundle's folder: `fractal-planner/bundle` in the user's data folder. `None` if no environment variable tells
/// where the data folder is.
pub(crate) fn bundle_folder() -> Option<PathBuf> {
    let data = UserFolder::Data.path_on(env::consts::OS, |name| env::var_os(name))?;
    Some(data.join(MARKETPLACE).join("bundle"))
}
