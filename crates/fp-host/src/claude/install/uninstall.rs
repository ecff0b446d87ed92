//! Undoing an installation: what it brought is removed in every scope, settings files say what they said before, and
//! what is from elsewhere stays.

use std::fs;
use std::path::{Path, PathBuf};

use fp_core::client_settings::{self, Fields};
use fp_core::json_text::rewrite;
use serde::Serialize;

use super::{InstallError, Installation, plugin_id};
use crate::claude::bundle::{self, MARKETPLACE};
use crate::claude::client::InstalledPlugin;
use crate::claude::record::{ChangedSettings, Record};
use crate::claude::settings_file::{Contents, SettingsFile, SettingsFileError};

/// What an uninstallation removed.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Uninstalled {
    /// Scopes of the plugins that are gone, with the project of those that had one.
    pub plugins: Vec<RemovedPlugin>,
    /// Whether the marketplace was there and is gone.
    pub marketplace: bool,
    /// Settings files that the installation had changed.
    pub settings: Vec<UndoneSettings>,
    /// The bundle's folder, if it was there and is gone.
    pub bundle: Option<PathBuf>,
}

/// A plugin that is gone.
#[derive(Debug, Serialize)]
pub struct RemovedPlugin {
    /// Its scope.
    pub scope: String,
    /// Its project, if it was installed for one.
    pub project: Option<PathBuf>,
}

/// A settings file without what the installation had added.
#[derive(Debug, Serialize)]
pub struct UndoneSettings {
    /// Where it is, or was.
    pub file: PathBuf,
    /// What it is now.
    pub outcome: Outcome,
    /// The copy from before, where the file was changed since, so that the copy may still be of use.
    pub backup: Option<PathBuf>,
}

/// What became of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is byte for byte what it was before.
    Restored,
    /// It is gone, as there was none before.
    Removed,
    /// It was changed since, and is without what the installation had added.
    Edited,
}

/// A settings file that the record names, before the client has undone its part.
struct Recorded<'r> {
    file: SettingsFile,
    changed: &'r ChangedSettings,
    before: Contents,
}

impl Installation {
    /// Undoes [`Self::install`] in every scope; what is from elsewhere stays.
    ///
    /// # Errors
    /// A settings file that was changed is none any more, or something can't be removed. Running it again goes on.
    pub fn uninstall(&self) -> Result<Uninstalled, InstallError> {
        let record = Record::load(&self.record_file())?;
        let recorded = record.settings.iter().map(Recorded::read).collect::<Result<Vec<_>, _>>()?;
        let mut gone = Uninstalled::default();
        self.unregister(&mut gone)?;
        for file in recorded.iter().filter(|file| file.before.text.is_some()) {
            gone.settings.extend(file.undo()?);
        }
        Record::default().save(&self.record_file())?;
        if bundle::remove(&self.folder)? {
            gone.bundle = Some(self.folder.clone());
        }
        // Removes only an empty folder, which is this project's own; anything else in it stays.
        drop(self.folder.parent().map(fs::remove_dir));
        Ok(gone)
    }

    /// Whether there is anything that only an installation leaves.
    #[must_use]
    pub fn left_something(folder: &Path) -> bool {
        folder.exists() || folder.with_file_name("installed.json").exists()
    }

    fn unregister(&self, gone: &mut Uninstalled) -> Result<(), InstallError> {
        let marketplace = self.marketplace()?;
        if marketplace.as_ref().is_some_and(|found| !self.is_ours(found)) {
            return Ok(());
        }
        for plugin in self.client.plugins()?.into_iter().filter(|plugin| plugin.id == plugin_id()) {
            gone.plugins.extend(self.uninstall_plugin(plugin)?);
        }
        if marketplace.is_some() {
            self.run(&["plugin", "marketplace", "remove", MARKETPLACE], None)?;
            gone.marketplace = true;
        }
        Ok(())
    }

    fn uninstall_plugin(&self, plugin: InstalledPlugin) -> Result<Option<RemovedPlugin>, InstallError> {
        let project = plugin.project_path;
        // One of a project that is gone goes with its marketplace.
        if project.as_ref().is_some_and(|project| !project.is_dir()) {
            return Ok(None);
        }
        let arguments = ["plugin", "uninstall", &plugin_id(), "--scope", &plugin.scope];
        self.run(&arguments, project.as_deref())?;
        Ok(Some(RemovedPlugin { scope: plugin.scope, project }))
    }
}

impl<'r> Recorded<'r> {
    fn read(changed: &'r ChangedSettings) -> Result<Self, SettingsFileError> {
        let file = SettingsFile::new(changed.file.clone());
        let before = file.read()?;
        Ok(Self { file, changed, before })
    }

    fn undo(&self) -> Result<Option<UndoneSettings>, SettingsFileError> {
        let now = self.file.read()?;
        let Some(text) = &now.text else { return Ok(None) };
        let mut target = now.fields.clone();
        client_settings::take_out(&mut target, &self.changed.added);
        let backup = self.changed.backup.as_ref().and_then(|name| self.file.backup(name));
        let original = backup.as_ref().and_then(|path| SettingsFile::new(path.clone()).read().ok());
        let original =
            original.filter(|original| original.fields == target).and_then(|original| original.text);
        let outcome = if let Some(original) = original {
            self.write(&original, text)?;
            drop(backup.as_ref().map(fs::remove_file));
            Outcome::Restored
        } else if self.changed.backup.is_none() && target.is_empty() {
            self.file.remove()?;
            Outcome::Removed
        } else {
            self.write(&self.without(&target, text)?, text)?;
            Outcome::Edited
        };
        let backup = backup.filter(|path| path.exists());
        Ok(Some(UndoneSettings { file: self.changed.file.clone(), outcome, backup }))
    }

    /// The text as the user had it last, with what is left to say.
    fn without(&self, target: &Fields, now: &str) -> Result<String, SettingsFileError> {
        let texts = [self.before.text.as_deref(), Some(now)];
        let changed = texts.into_iter().flatten().find_map(|text| rewrite(text, target));
        changed.ok_or_else(|| SettingsFileError::Twice { path: self.changed.file.clone() })
    }

    fn write(&self, text: &str, now: &str) -> Result<(), SettingsFileError> {
        if text == now {
            return Ok(());
        }
        self.file.check_writable()?;
        self.file.write(text)
    }
}
