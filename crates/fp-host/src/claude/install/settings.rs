//! The settings of an installation. The client notes marketplaces and plugins in its settings files and lays them
//! out anew while it does; so what it notes is put into the text as the user has it, with what the user wants added.

use std::path::PathBuf;

use fp_core::client_settings::{self, Choice, Standing, Trace};
use fp_core::json_text::rewrite;
use serde::Serialize;

use super::{Change, InstallError, Installation, Prospect, Scope};
use crate::claude::record::{ChangedSettings, Record};
use crate::claude::settings_file::{Contents, SettingsFile, SettingsFileError};

/// What happened to one of the entries that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryChange {
    /// It is new.
    Added,
    /// It was there.
    Kept,
    /// It is not there, and nobody wanted it.
    Declined,
    /// Something else is in its place, and stays.
    Otherwise,
}

impl EntryChange {
    pub(super) fn of(standing: Standing, wanted: bool) -> Self {
        match (standing, wanted) {
            (Standing::There, _) => Self::Kept,
            (Standing::Otherwise, _) => Self::Otherwise,
            (Standing::Missing, true) => Self::Added,
            (Standing::Missing, false) => Self::Declined,
        }
    }
}

/// What happened to the settings file of the scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingsReport {
    /// Where it is.
    pub file: PathBuf,
    /// The permission rules.
    pub permissions: EntryChange,
    /// Agent teams.
    pub teams: EntryChange,
    /// The copy from before the first change; `None` where there was no file, or nothing was changed.
    pub backup: Option<PathBuf>,
}

/// The text of a settings file, and what it would become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// As it is; empty where there is no file.
    pub before: String,
    /// With the entries that were chosen.
    pub after: String,
}

/// A settings file as it was before the installation.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) file: SettingsFile,
    pub(super) contents: Contents,
}

/// A settings file that the installation may change.
#[derive(Debug)]
pub(super) struct Step<'p> {
    before: &'p Before,
    trace: Trace,
    /// Name of the copy, and whether it was made just now.
    backup: Option<(String, bool)>,
}

impl Before {
    pub(super) fn read(file: SettingsFile) -> Result<Self, SettingsFileError> {
        let contents = file.read()?;
        Ok(Self { file, contents })
    }

    pub(super) fn preview(&self, choice: Choice) -> Result<Preview, SettingsFileError> {
        let trace = client_settings::due(&self.contents.fields, choice);
        let before = self.contents.text.clone().unwrap_or_default();
        let after = if trace.is_empty() { before.clone() } else { self.with(&trace, &self.contents)? };
        Ok(Preview { before, after })
    }

    /// The text with what `now` says, and what `trace` adds to that.
    fn with(&self, trace: &Trace, now: &Contents) -> Result<String, SettingsFileError> {
        let mut target = now.fields.clone();
        client_settings::add(&mut target, trace);
        let texts = [&self.contents.text, &now.text];
        let changed = texts.into_iter().flatten().find_map(|text| rewrite(text, &target));
        let new = || rewrite("", &target).filter(|_| now.text.is_none());
        changed.or_else(new).ok_or_else(|| SettingsFileError::Twice { path: self.file.path().to_owned() })
    }
}

impl Step<'_> {
    /// Removes the copy, if it was made for this.
    pub(super) fn forget(&self) {
        if let Some((name, true)) = &self.backup {
            drop(self.before.file.backup(name).map(std::fs::remove_file));
        }
    }
}

impl Installation {
    /// Makes sure of the settings files that are going to change, and copies them.
    pub(super) fn prepare<'p>(
        &self,
        prospect: &'p Prospect,
        choice: Choice,
    ) -> Result<Vec<Step<'p>>, InstallError> {
        let mut steps = Vec::new();
        for (place, before) in prospect.files.iter().enumerate() {
            let choice = if place == 0 { choice } else { Choice::default() };
            before.preview(choice)?;
            let trace = client_settings::due(&before.contents.fields, choice);
            let enables = place == 0 && matches!(prospect.plugin, Change::Added | Change::Enabled);
            let users = place > 0 || prospect.scope == Scope::User;
            if enables || users && prospect.marketplace == Change::Added || !trace.is_empty() {
                before.file.check_writable()?;
                steps.push(Step { before, trace, backup: None });
            }
        }
        for step in &mut steps {
            let known = prospect.record.of(&step.before.file);
            if let (None, Some(text)) = (known, &step.before.contents.text) {
                step.backup = Some(step.before.file.back_up(text)?);
            }
        }
        Ok(steps)
    }

    /// Brings a settings file to what it should be after the client's part, and notes that in `record` first.
    pub(super) fn finish(&self, step: &Step<'_>, record: &mut Record) -> Result<(), InstallError> {
        let Step { before, trace, backup } = step;
        let now = before.file.read()?;
        if now.text.is_none() && trace.is_empty() {
            return Ok(());
        }
        let text = before.with(trace, &now)?;
        if before.contents.text.as_ref() != Some(&text) {
            let backup = backup.as_ref().map(|(name, _)| name.clone());
            record.add(ChangedSettings { file: before.file.path().to_owned(), backup, added: trace.clone() });
            record.save(&self.record_file())?;
        } else {
            step.forget();
        }
        if now.text.as_ref() != Some(&text) {
            before.file.write(&text)?;
        }
        Ok(())
    }
}
