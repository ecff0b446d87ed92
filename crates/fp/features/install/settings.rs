//! The client's settings files: what `fp install` offers to add to one, how `fp uninstall` takes that out again, and the
//! record of what was added to which file.
//!
//! The format is the client's: plain JSON without comments, one object, a byte order mark allowed. A file belongs to
//! the user: a link is written through, permissions stay, what was there is copied first, and nothing is written over a
//! copy of something else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_host::claude::{PERMISSIONS, TEAMS};
use fp_host::file::{self, FileError};
use fp_host::json_text;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::CommandError;

/// Value of [`TEAMS`] that switches agent teams on.
const ON: &str = "1";
/// Objects and lists that an entry may need, inner ones first. In the last three the client notes plugins, their options
/// and marketplaces; it leaves them behind empty.
const CONTAINERS: [&str; 6] = [
    "/permissions/allow",
    "/permissions",
    "/env",
    "/enabledPlugins",
    "/pluginConfigs",
    "/extraKnownMarketplaces",
];
/// Largest settings file and largest record that is read, in bytes.
const CAP: u64 = 8 * 1024 * 1024;
const BACKUP: &str = ".fp-backup";
/// Version of the format of `installed.json`.
const RECORD_VERSION: u32 = 1;

/// The settings that an installation offers, or those of them that somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SettingsOffer {
    /// The rules of [`PERMISSIONS`].
    pub(super) permissions: bool,
    /// Agent teams switched on.
    pub(super) teams: bool,
}

/// What happens to an entry that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OfferOutcome {
    /// It is added.
    Added,
    /// It was there.
    Kept,
    /// It is not there, and nobody wanted it.
    Declined,
    /// Something else is in its place, which is the user's own choice.
    Otherwise,
}

/// What was added to a settings file: all that is needed to take it out again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AddedEntries {
    /// Permission rules that were not in it before.
    pub(super) permissions: Vec<String>,
    /// Whether agent teams were switched on in it.
    pub(super) teams: bool,
    /// Objects and lists that were not in it before, such as `permissions.allow`.
    made: Vec<String>,
}

impl AddedEntries {
    pub(super) fn is_empty(&self) -> bool {
        self.permissions.is_empty() && !self.teams
    }

    /// What an installation with `offer` would add to `settings`.
    pub(super) fn due(settings: &Value, offer: SettingsOffer) -> Self {
        let missing = CONTAINERS.iter().filter(|container| settings.pointer(container).is_none());
        Self {
            permissions: missing_rules(settings).filter(|_| offer.permissions).map(str::to_owned).collect(),
            teams: teams_outcome(settings, offer.teams) == OfferOutcome::Added,
            made: missing.map(|container| dotted(container)).collect(),
        }
    }

    pub(super) fn add_to(&self, settings: &mut Value) {
        for rule in
            missing_rules(&settings.clone()).filter(|rule| self.permissions.iter().any(|added| added == rule))
        {
            let allow = &mut settings["permissions"]["allow"];
            match allow {
                Value::Array(rules) => rules.push(rule.into()),
                _ => *allow = json!([rule]),
            }
        }
        if self.teams && settings.pointer("/env").is_none_or(|env| env.get(TEAMS).is_none()) {
            settings["env"][TEAMS] = ON.into();
        }
    }

    /// Takes out of `settings` what was added, with the objects and lists that were made for it where they are empty
    /// now. What somebody has changed since stays.
    pub(super) fn take_out_of(&self, settings: &mut Value) {
        if let Some(Value::Array(allow)) = settings.pointer_mut("/permissions/allow") {
            for rule in &self.permissions {
                if let Some(place) = allow.iter().position(|found| found == rule) {
                    allow.remove(place);
                }
            }
        }
        if self.teams
            && let Some(Value::Object(env)) = settings.pointer_mut("/env")
            && env.get(TEAMS).is_some_and(|value| value == ON)
        {
            env.remove(TEAMS);
        }
        for container in CONTAINERS.iter().filter(|container| self.made.contains(&dotted(container))) {
            let is_empty =
                settings.pointer(container).is_some_and(|inner| *inner == json!({}) || *inner == json!([]));
            if let (true, Some((outer, name))) = (is_empty, container.rsplit_once('/'))
                && let Some(Value::Object(outer)) = settings.pointer_mut(outer)
            {
                outer.remove(name);
            }
        }
    }
}

fn dotted(container: &str) -> String {
    container[1..].replace('/', ".")
}

fn missing_rules(settings: &Value) -> impl Iterator<Item = &'static str> {
    let allow = settings.pointer("/permissions/allow").and_then(Value::as_array);
    PERMISSIONS
        .into_iter()
        .filter(move |rule| !allow.is_some_and(|allow| allow.iter().any(|found| found == rule)))
}

pub(super) fn permissions_outcome(settings: &Value, wanted: bool) -> OfferOutcome {
    match missing_rules(settings).next() {
        None => OfferOutcome::Kept,
        Some(_) if wanted => OfferOutcome::Added,
        Some(_) => OfferOutcome::Declined,
    }
}

pub(super) fn teams_outcome(settings: &Value, wanted: bool) -> OfferOutcome {
    match settings.pointer("/env").and_then(|env| env.get(TEAMS)) {
        None if wanted => OfferOutcome::Added,
        None => OfferOutcome::Declined,
        Some(value) if value == ON || value == "true" => OfferOutcome::Kept,
        Some(_) => OfferOutcome::Otherwise,
    }
}

/// Reads the text of a settings file; a blank one is an empty object, as for the client. Fails, with the place such as
/// `:3:1` in front, where the client would ignore the file.
pub(super) fn parse_settings(text: &str) -> Result<Value, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.trim().is_empty() {
        return Ok(json!({}));
    }
    let settings: Value = serde_json::from_str(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let detail = error.to_string().replace(&format!(" at line {line} column {column}"), "");
        // Where the text ends with a line end, the parser says column 0 of the next line.
        format!(":{line}:{}: not valid JSON: {detail}", column.max(1))
    })?;
    if !settings.is_object() {
        return Err(": the file is not an object".into());
    }
    let fields = ["env", "permissions"];
    if let Some(name) = fields.iter().find(|name| settings.get(name).is_some_and(|found| !found.is_object()))
    {
        return Err(format!(": `{name}` is not an object"));
    }
    if settings.pointer("/permissions/allow").is_some_and(|allow| !allow.is_array()) {
        return Err(": `permissions.allow` is not a list".into());
    }
    Ok(settings)
}

/// What a settings file has in it.
#[derive(Debug, Clone)]
pub(super) struct SettingsText {
    /// `None` where there is no file.
    pub(super) text: Option<String>,
    /// What the text says; an empty object where there is no file.
    pub(super) value: Value,
}

/// A settings file on the disk, which need not exist.
#[derive(Debug, Clone)]
pub(super) struct ClientSettingsFile {
    pub(super) path: PathBuf,
}

impl ClientSettingsFile {
    /// Fails where it can't be read, or is not one that the client reads. A link that leads nowhere can't be read.
    pub(super) fn read(&self) -> Result<SettingsText, CommandError> {
        let text = match file::read_text(&self.path, CAP) {
            Ok(text) => Some(text),
            Err(error) if error.is_missing() && self.path.symlink_metadata().is_err() => None,
            Err(error) => return Err(error.into()),
        };
        let value = parse_settings(text.as_deref().unwrap_or_default()).map_err(|fault| {
            CommandError::failed(format!("{}{fault}", self.path.display())).hint(
                "fix the file by hand, since Claude Code ignores all of it as it is; then run this again",
            )
        })?;
        Ok(SettingsText { text, value })
    }

    /// The first of `texts` that can be changed to say `target`.
    pub(super) fn edited<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        target: &Value,
    ) -> Result<String, CommandError> {
        texts.into_iter().find_map(|text| json_text::rewrite(text, target)).ok_or_else(|| {
            CommandError::failed(format!("{} has a key twice", self.path.display()))
                .hint("keep one of the two, then run this again")
        })
    }

    /// Fails where the file says that it must not be written. Replacing it would succeed all the same, since that
    /// takes only the folder's permission.
    pub(super) fn check_writable(&self) -> Result<(), CommandError> {
        match fs::metadata(&self.path) {
            Ok(found) if found.permissions().readonly() => {
                Err(self.refused(io::ErrorKind::PermissionDenied.into()))
            }
            _ => Ok(()),
        }
    }

    /// Makes `text` its content, with its folder where there is none; the target of a link, where it is one.
    pub(super) fn write(&self, text: &str) -> Result<(), CommandError> {
        let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        real.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| self.refused(error))?;
        Ok(file::atomic_write(&real, text.as_bytes())?)
    }

    pub(super) fn remove(&self) -> Result<(), CommandError> {
        fs::remove_file(&self.path).map_err(|error| self.refused(error))
    }

    /// Copies `text`, its content, to a file beside it that was not there, or that has just this in it. The name of
    /// that file, and whether it is new.
    pub(super) fn back_up(&self, text: &str) -> Result<(String, bool), CommandError> {
        let mut number = 1;
        loop {
            let name = self.backup_name(number);
            let path = self.path.with_file_name(&name);
            if file::copy_if_absent(&self.path, &path, text.as_bytes())? {
                return Ok((name, true));
            }
            if file::read_bytes(&path, CAP).is_ok_and(|found| found == text.as_bytes()) {
                return Ok((name, false));
            }
            number += 1;
        }
    }

    /// Where the copy called `name` is. `None` where no copy has such a name.
    pub(super) fn backup(&self, name: &str) -> Option<PathBuf> {
        let first = self.backup_name(1);
        let rest = name.strip_prefix(&first)?;
        rest.chars().all(|c| c == '.' || c.is_ascii_digit()).then(|| self.path.with_file_name(name))
    }

    fn backup_name(&self, number: usize) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if number == 1 { format!("{name}{BACKUP}") } else { format!("{name}{BACKUP}.{number}") }
    }

    fn refused(&self, source: io::Error) -> CommandError {
        FileError::Write { path: self.path.clone(), source }.into()
    }
}

/// What installations have changed in settings files, kept in `installed.json` beside the bundle.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct InstallRecord {
    schema_version: u32,
    pub(super) settings: Vec<ChangedSettings>,
}

/// A settings file that an installation has changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ChangedSettings {
    pub(super) file: PathBuf,
    /// Name of the copy from before the first change, beside it; `None` where there was no file.
    pub(super) backup: Option<String>,
    pub(super) added: AddedEntries,
}

impl Default for InstallRecord {
    fn default() -> Self {
        Self { schema_version: RECORD_VERSION, settings: Vec::new() }
    }
}

impl InstallRecord {
    /// Reads the record at `path`; an empty one where there is none.
    pub(super) fn load(path: &Path) -> Result<Self, CommandError> {
        let text = match file::read_text(path, CAP) {
            Ok(text) => text,
            // Writing the bundle will say that a file is in the way, with the way out.
            Err(FileError::Read { source, .. })
                if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                return Ok(Self::default());
            }
            Err(error) => return Err(error.into()),
        };
        let broken = |detail: String| {
            CommandError::failed(format!("{} is not a record of an installation: {detail}", path.display()))
                .hint("remove the file and run this again; what fp added to settings is then yours to remove")
        };
        let record: Self = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        match record.schema_version {
            RECORD_VERSION => Ok(record),
            other => Err(broken(format!("its format is {other}, and this fp knows {RECORD_VERSION}"))),
        }
    }

    /// Writes it to `path`; an empty one is no file.
    pub(super) fn save(&self, path: &Path) -> Result<(), CommandError> {
        if !self.settings.is_empty() {
            let text = serde_json::to_string_pretty(self).map_err(|error| {
                CommandError::failed(format!("a path can't be written down in {}: {error}", path.display()))
                    .hint("rename the folder that is not valid Unicode")
            })?;
            return Ok(file::atomic_write(path, (text + "\n").as_bytes())?);
        }
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FileError::Write { path: path.to_owned(), source }.into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn of_file(&self, file: &ClientSettingsFile) -> Option<&ChangedSettings> {
        self.settings.iter().find(|changed| changed.file == file.path)
    }

    /// Takes in a change. Of a file that was changed before, the copy from before the first change counts.
    pub(super) fn add(&mut self, new: ChangedSettings) {
        match self.settings.iter_mut().find(|changed| changed.file == new.file) {
            Some(changed) => {
                changed.added.permissions.extend(new.added.permissions);
                changed.added.teams |= new.added.teams;
            }
            None => self.settings.push(new),
        }
    }
}
