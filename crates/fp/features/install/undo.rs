//! `fp uninstall`: removes in every scope what an installation brought, and takes out of settings files what it added.
//! A plugin or marketplace from elsewhere stays.

use std::fs;
use std::path::PathBuf;

use fp_host::claude::MARKETPLACE;
use serde::Serialize;
use serde_json::{Value, json};

use super::settings::{ChangedSettings, ClientSettingsFile, InstallRecord, unwritable};
use super::{ClientArgs, Installation, bundle, bundle_folder, homeless, record_beside};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Remove what `fp install` installed, in every scope
///
/// Restores the settings files. Keeps what has been changed in them since.
#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// Change nothing, and show what would be removed.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: UninstallArgs, context: &Context) -> CommandResult {
    let folder = bundle_folder().ok_or_else(homeless)?;
    let is_there = folder.exists() || record_beside(&folder).exists();
    let mut removed = RemovedParts::default();
    match args.client.installation(context) {
        // Without a bundle there is nothing that a client could have registered.
        Err(_) if args.client.client.is_none() && !is_there => {}
        installation if args.dry_run => installation?.would_remove(&mut removed)?,
        installation => installation?.uninstall(&mut removed)?,
    }
    if removed.lines.is_empty() {
        removed.lines.push("nothing is installed".into());
    }
    let mut report = json!(removed);
    report["dryRun"] = args.dry_run.into();
    context.report(&report, &(removed.lines.join("\n") + "\n"))
}

/// The report of an uninstallation.
#[derive(Debug, Default, Serialize)]
struct RemovedParts {
    plugins: Vec<Value>,
    marketplace: bool,
    settings: Vec<Value>,
    bundle: Option<PathBuf>,
    #[serde(skip)]
    lines: Vec<String>,
}

impl Installation {
    /// Says what [`Installation::uninstall`] would do, in its order.
    fn would_remove(&self, removed: &mut RemovedParts) -> Result<(), CommandError> {
        let mut line = |part: &str, place: &str| {
            removed
                .lines
                .push(format!("{part:<12} {place}would be removed"));
        };
        let marketplace = self.client.marketplace()?;
        if marketplace.as_ref().is_none_or(|found| self.is_ours(found)) {
            for plugin in self.client.installed(|project| project.is_dir())? {
                line("plugin", &format!("{}: ", plugin.place()));
            }
            if marketplace.is_some() {
                line("marketplace", "");
            }
        }
        for changed in InstallRecord::load(&self.record_file())?.settings {
            let file = changed.file.display();
            line("settings", &format!("{file}: what fp had added "));
        }
        if self.folder.exists() {
            line("bundle", &format!("{}: ", self.folder.display()));
        }
        Ok(())
    }

    /// Undoes an installation in every scope. Running it again after a failure continues.
    fn uninstall(&self, removed: &mut RemovedParts) -> Result<(), CommandError> {
        let record = InstallRecord::load(&self.record_file())?;
        let files = record
            .settings
            .iter()
            .map(|changed| ClientSettingsFile::read(changed.file.clone()));
        let files: Vec<ClientSettingsFile> = files.collect::<Result<_, _>>()?;
        self.unregister(removed)?;
        for (changed, before) in record
            .settings
            .iter()
            .zip(&files)
            .filter(|(_, file)| file.text.is_some())
        {
            undo_settings(changed, before, removed)?;
        }
        let record_file = self.record_file();
        if record_file.exists() {
            fs::remove_file(&record_file).map_err(|error| unwritable(&record_file, error))?;
        }
        if bundle::remove_bundle(&self.folder)? {
            removed
                .lines
                .push(format!("bundle       {}: removed", self.folder.display()));
            removed.bundle = Some(self.folder.clone());
        }
        // Removes only an empty folder, which is this project's own.
        drop(self.folder.parent().map(fs::remove_dir));
        Ok(())
    }

    fn unregister(&self, removed: &mut RemovedParts) -> Result<(), CommandError> {
        let marketplace = self.client.marketplace()?;
        if marketplace
            .as_ref()
            .is_some_and(|found| !self.is_ours(found))
        {
            return Ok(());
        }
        // The plugin of a project that is gone goes with its marketplace.
        for plugin in self.client.installed(|project| project.is_dir())? {
            self.run_for_plugin("uninstall", &plugin.scope, plugin.project_path.as_deref())?;
            removed
                .lines
                .push(format!("plugin       {}: removed", plugin.place()));
            removed
                .plugins
                .push(json!({ "scope": plugin.scope, "project": plugin.project_path }));
        }
        if marketplace.is_some() {
            self.client
                .run(&["plugin", "marketplace", "remove", MARKETPLACE], None)?;
            removed.lines.push("marketplace  removed".into());
            removed.marketplace = true;
        }
        Ok(())
    }
}

/// Takes what was added out of a settings file. `before` is the file before the client undid its part, laid out as the
/// user has it.
fn undo_settings(
    changed: &ChangedSettings,
    before: &ClientSettingsFile,
    removed: &mut RemovedParts,
) -> Result<(), CommandError> {
    let now = ClientSettingsFile::read(changed.file.clone())?;
    if now.text.is_none() {
        return Ok(());
    }
    let original = changed
        .backup()
        .and_then(|path| ClientSettingsFile::read(path).ok());
    let mut wanted = now.value.clone();
    changed.added.take_out_of(
        &mut wanted,
        original
            .as_ref()
            .map_or(&Value::Null, |original| &original.value),
    );
    let mut backup = changed.backup().filter(|path| path.exists());
    let (outcome, done) = match original.filter(|original| original.value == wanted) {
        Some(ClientSettingsFile {
            text: Some(text),
            path,
            ..
        }) => {
            now.write(&text)?;
            drop(fs::remove_file(path));
            backup = None;
            ("restored", "as before the installation")
        }
        _ if changed.backup().is_none() && wanted == json!({}) => {
            fs::remove_file(&now.path).map_err(|error| unwritable(&now.path, error))?;
            ("removed", "removed, as there was none before")
        }
        _ => {
            now.write(&before.edited(&wanted)?)?;
            ("edited", "without what fp had added")
        }
    };
    removed
        .lines
        .push(format!("settings     {}: {done}", now.path.display()));
    removed.lines.extend(
        backup
            .iter()
            .map(|path| format!("backup       {}: kept", path.display())),
    );
    removed
        .settings
        .push(json!({ "file": now.path, "outcome": outcome, "backup": backup }));
    Ok(())
}
