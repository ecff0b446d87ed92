//! `fp uninstall`: removes in every scope what an installation brought. Settings files say what they said before, and
//! what is from elsewhere stays.

use std::fs;

use fp_host::claude::MARKETPLACE;
use serde_json::{Value, json};

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
    let mut gone = RemovedParts {
        report: json!({ "plugins": [], "marketplace": false, "settings": [], "bundle": null }),
        lines: Vec::new(),
    };
    match args.client.installation(context) {
        // Without a bundle there is nothing that a client could have registered.
        Err(_) if args.client.client.is_none() && !is_there => {}
        installation => installation?.uninstall(&mut gone)?,
    }
    if gone.lines.is_empty() {
        gone.lines.push("nothing is installed".into());
    }
    context.report(&gone.report, &(gone.lines.join("\n") + "\n"))
}

/// What an uninstallation has removed so far.
struct RemovedParts {
    report: Value,
    lines: Vec<String>,
}

impl RemovedParts {
    fn note(&mut self, part: &str, value: Value, line: String) {
        match &mut self.report[part] {
            Value::Array(all) => all.push(value),
            other => *other = value,
        }
        let label = if part == "plugins" { "plugin" } else { part };
        self.lines.push(format!("{label:<13}{line}"));
    }
}

impl Installation {
    /// Undoes an installation in every scope. Running it again after a failure goes on.
    fn uninstall(&self, gone: &mut RemovedParts) -> Result<(), CommandError> {
        let record = InstallRecord::load(&self.record_file())?;
        let mut changed = Vec::new();
        for entry in &record.settings {
            let file = ClientSettingsFile { path: entry.file.clone() };
            changed.push((entry, file.read()?, file));
        }
        self.unregister(gone)?;
        for (entry, before, file) in changed.iter().filter(|(_, before, _)| before.text.is_some()) {
            undo_settings(entry, before, file, gone)?;
        }
        InstallRecord::default().save(&self.record_file())?;
        if bundle::remove(&self.folder)? {
            gone.note("bundle", json!(self.folder), format!("{}: removed", self.folder.display()));
        }
        // Removes only an empty folder, which is this project's own; anything else in it stays.
        drop(self.folder.parent().map(fs::remove_dir));
        Ok(())
    }

    fn unregister(&self, gone: &mut RemovedParts) -> Result<(), CommandError> {
        let marketplace = self.marketplace()?;
        if marketplace.as_ref().is_some_and(|found| !self.is_ours(found)) {
            return Ok(());
        }
        // The plugin of a project that is gone goes with its marketplace.
        for plugin in self.installed()? {
            let (scope, project) = (plugin.scope, plugin.project_path);
            self.run_for_plugin("uninstall", &scope, project.as_deref())?;
            let place = project.as_ref().map(|path| format!(" in {}", path.display())).unwrap_or_default();
            gone.note(
                "plugins",
                json!({ "scope": scope, "project": project }),
                format!("scope {scope}{place}: removed"),
            );
        }
        if marketplace.is_some() {
            self.client.run(&["plugin", "marketplace", "remove", MARKETPLACE], None)?;
            gone.note("marketplace", true.into(), "removed".into());
        }
        Ok(())
    }
}

/// Takes what was added out of a settings file, which said `before` until the client undid its part.
fn undo_settings(
    changed: &ChangedSettings,
    before: &SettingsText,
    file: &ClientSettingsFile,
    gone: &mut RemovedParts,
) -> Result<(), CommandError> {
    let now = file.read()?;
    let Some(text) = &now.text else { return Ok(()) };
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
    let (outcome, done) = if let Some(original) = original {
        write(&original)?;
        drop(backup.as_ref().map(fs::remove_file));
        ("restored", "as before the installation")
    } else if changed.backup.is_none() && target == json!({}) {
        file.remove()?;
        ("removed", "removed, as there was none before")
    } else {
        // The text as the user had it last, with what is left to say.
        let texts = [before.text.as_deref(), Some(text.as_str())];
        write(&file.edited(texts.into_iter().flatten(), &target)?)?;
        ("edited", "without what fp had added")
    };
    // The file was changed since, so the copy may still be of use.
    let kept = backup.filter(|path| path.exists());
    let shown = file.path.display();
    gone.note(
        "settings",
        json!({ "file": file.path, "outcome": outcome, "backup": kept }),
        format!("{shown}: {done}"),
    );
    gone.lines.extend(kept.map(|path| format!("backup       {}: kept", path.display())));
    Ok(())
}
