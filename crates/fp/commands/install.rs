//! `fp install`.

use std::env;
use std::path::PathBuf;

use fp_host::claude::bundle::{Bundle, Programs};
use fp_host::claude::client::Client;
use fp_host::claude::install::{self, Change, InstallError, Installation, Installed, Scope};
use serde::Serialize;

use crate::assets;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Install the plugin into Claude Code
///
/// Writes the plugin to your data folder and registers it through Claude Code's own commands. Running it again
/// brings an installation up to this version of fp; `fp uninstall` undoes it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For whom: you, everybody in this project, or you in this project.
    #[arg(long, value_enum, default_value = "user")]
    scope: ScopeName,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ScopeName {
    User,
    Project,
    Local,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::User => Self::User,
            ScopeName::Project => Self::Project,
            ScopeName::Local => Self::Local,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    dry_run: bool,
    #[serde(flatten)]
    installed: Installed,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let folder = install::bundle_folder(|name| env::var_os(name)).ok_or_else(|| {
        CommandError::failed("there is no data folder to install into").hint("set HOME to your home folder")
    })?;
    let executable = env::current_exe()
        .map_err(|error| CommandError::failed(format!("the program fp can't find itself: {error}")))?;
    let client = Client::find(args.client.as_deref(), env::var_os("PATH").as_deref());
    let installed = client.map_err(InstallError::from).and_then(|client| {
        let installation = Installation { client, folder, project: context.cwd.clone() };
        let bundle = Bundle { files: assets::plugin_files(), programs: Programs::One(executable) };
        installation.install(&bundle, args.scope.into(), args.dry_run)
    });
    let installed = installed.map_err(|error| CommandError::failed(&error).hint(error.hint()))?;
    let report = Report { dry_run: args.dry_run, installed };
    match context.format {
        Format::Json => context.printer.json(&report)?,
        Format::Text => context.printer.data(&text(&report)),
    }
    if !args.dry_run {
        context.printer.note("Start Claude Code in a repository and type: /fp:plan GOAL");
    }
    Ok(Exit::Done)
}

fn text(report: &Report) -> String {
    let Report { dry_run, installed } = report;
    let would = |change: Change| match (dry_run, change) {
        (_, Change::Kept) => "already there",
        (false, Change::Added) => "added",
        (false, Change::Updated) => "updated",
        (false, Change::Enabled) => "enabled",
        (true, Change::Added) => "would be added",
        (true, Change::Updated) => "would be updated",
        (true, Change::Enabled) => "would be enabled",
    };
    let written = if *dry_run { "would be written" } else { "written" };
    format!(
        "Claude Code  {} ({})\nbundle       {} (fp {}): {written}\nmarketplace  {}: {}\nplugin       {}, scope {}: {}\n",
        installed.client.display(),
        installed.client_version,
        installed.bundle.display(),
        installed.version,
        installed.marketplace,
        would(installed.marketplace_change),
        installed.plugin,
        installed.scope.name(),
        would(installed.plugin_change),
    )
}
