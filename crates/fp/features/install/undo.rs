//! `fp uninstall`: removes in every scope what an installation brought. Settings files say what they said before, and
//! what is from elsewhere stays.

use std::fs;
use std::path::PathBuf;

use fp_host::claude::MARKETPLACE;
use serde::Serialize;

use super::settings::{ChangedSettings, ClientSettingsFile, InstallRecord, SettingsText};
use super::{ClientArgs, Installation, bundle, own_bundle_folder, record_beside};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Remove what `fp install` installed, in every scope
///
/// Restores the settings files, and keeps what somebody else has changed in them since.
#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    client: ClientArgs,
}

pub(crate) fn run(args: UninstallArgs, context: &Context) -> CommandResult {
    let folder = own_bundle_folder()?;
    let is_there = folder.exists() || record_beside(&folder).exists();
    let gone = match args.client.installation(context) {
        // Without a bundle there is nothing that a client could have registered.
        Err(_) if args.client.client.is_none() && !is_there => UninstallReport::default(),
        installation => installation?.uninstall()?,
    };
    let report = serde_json::to_value(&gone).expect("a report has text keys and plain values");
    context.report(&report, &gone.text())
}

/// What an uninstallation removed.
#[derive(Debug, Default, Serialize)]
struct UninstallReport {
    plugins: Vec<RemovedPlugin>,
    /// Whether the marketplace was there and is gone.
    marketplace: bool,
    /// Settings files that the installation had changed.
    settings: Vec<UndoneSettings>,
    /// The bundle's folder, if it was there and is gone.
    bundle: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct RemovedPlugin {
    scope: String,
    /// Its project, if it was installed for one.
    project: Option<PathBuf>,
}

/// A settings file without what the installation had added.
#[derive(Debug, Serialize)]
struct UndoneSettings {
    file: PathBuf,
    outcome: UndoOutcome,
    /// The copy from before, where the file was changed since, so that the copy may still be of use.
    backup: Option<PathBuf>,
}

/// What became of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum UndoOutcome {
    /// It is byte for byte what it was before.
    Restored,
    /// It is gone, as there was none before.
    Removed,
    /// It was changed since, and is without what the installation had added.
    Edited,
}

impl UninstallReport {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        for RemovedPlugin { scope, project } in &self.plugins {
            let place = project.as_ref().map(|path| format!(" in {}", path.display())).unwrap_or_default();
            lines.push(format!("plugin       scope {scope}{place}: removed"));
        }
        if self.marketplace {
            lines.push("marketplace  removed".into());
        }
        for settings in &self.settings {
            let done = match settings.outcome {
                UndoOutcome::Restored => "as before the installation",
                UndoOutcome::Removed => "removed, as there was none before",
                UndoOutcome::Edited => "without what fp had added",
            };
            lines.push(format!("settings     {}: {done}", settings.file.display()));
            let backup = settings.backup.as_ref();
            lines.extend(backup.map(|path| format!("backup       {}: kept", path.display())));
        }
        if let Some(folder) = &self.bundle {
            lines.push(format!("bundle       {}: removed", folder.display()));
        }
        if lines.is_empty() {
            lines.push("nothing is installed".into());
        }
        lines.join("\n") + "\n"
    }
}

impl Installation {
    /// Undoes an installation in every scope. Running it again after a failure goes on.
    fn uninstall(&self) -> Result<UninstallReport, CommandError> {
        let record = InstallRecord::load(&self.record_file())?;
        let mut changed = Vec::new();
        for entry in &record.settings {
            let file = ClientSettingsFile { path: entry.file.clone() };
            changed.push((entry, file.read()?, file));
        }
        let mut gone = UninstallReport::default();
        self.unregister(&mut gone)?;
        for (entry, before, file) in changed.iter().filter(|(_, before, _)| before.text.is_some()) {
            gone.settings.extend(undo_settings(entry, before, file)?);
        }
        InstallRecord::default().save(&self.record_file())?;
        if bundle::remove(&self.folder)? {
            gone.bundle = Some(self.folder.clone());
        }
        // Removes only an empty folder, which is this project's own; anything else in it stays.
        drop(self.folder.parent().map(fs::remove_dir));
        Ok(gone)
    }

    fn unregister(&self, gone: &mut UninstallReport) -> Result<(), CommandError> {
        let marketplace = self.marketplace()?;
        if marketplace.as_ref().is_some_and(|found| !self.is_ours(found)) {
            return Ok(());
        }
        // The plugin of a project that is gone goes with its marketplace.
        for plugin in self.installed()? {
            self.run_for_plugin("uninstall", &plugin.scope, plugin.project_path.as_deref())?;
            gone.plugins.push(RemovedPlugin { scope: plugin.scope, project: plugin.project_path });
        }
        if marketplace.is_some() {
            self.client.run(&["plugin", "marketplace", "remove", MARKETPLACE], None)?;
            gone.marketplace = true;
        }
        Ok(())
    }
}

/// Takes what was added out of a settings file, which said `before` until the client undid its part.
fn undo_settings(
    changed: &ChangedSettings,
    before: &SettingsText,
    file: &ClientSettingsFile,
) -> Result<Option<UndoneSettings>, CommandError> {
    let now = file.read()?;
    let Some(text) = &now.text else { return Ok(None) };
    let mut target = now.value.clone();
    changed.added.take_out_of(&mut target);
    let write = |new: &str| {
        if new == text {
            return Ok(());
        }
        file.check_writable()?;
        file.write(new)
    };
    let backup = changed.backup.as_ref().and_then(|name| file.backup(name));
    let original = backup.clone().and_then(|path| ClientSettingsFile { path }.read().ok());
    let original = original.filter(|original| original.value == target).and_then(|original| original.text);
    let outcome = if let Some(original) = original {
        write(&original)?;
        drop(backup.as_ref().map(fs::remove_file));
        UndoOutcome::Restored
    } else if changed.backup.is_none() && target == serde_json::json!({}) {
        file.remove()?;
        UndoOutcome::Removed
    } else {
        // The text as the user had it last, with what is left to say.
        let texts = [before.text.as_deref(), Some(text.as_str())];
        write(&file.edited(texts.into_iter().flatten(), &target)?)?;
        UndoOutcome::Edited
    };
    let backup = backup.filter(|path| path.exists());
    Ok(Some(UndoneSettings { file: changed.file.clone(), outcome, backup }))
}
