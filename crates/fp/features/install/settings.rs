//! The client's settings files: the entries that `fp install` offers to add to one, and the record of what it added to
//! which file, by which `fp uninstall` takes that out again.
//!
//! The format is the client's: plain JSON without comments, one object, a byte order mark allowed. A file belongs to
//! the user: a link is written through, permissions stay, the text is copied before the first change, and no copy of
//! something else is overwritten.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_host::claude::{PERMISSIONS, PLUGIN, TEAMS};
use fp_host::file::{self, FileError};
use fp_host::json_text;
use fp_host::platform;
use fp_plan::text::{json_fault, shell_quoted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::InstallChange;
use super::bundle::program_in;
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
/// Version of the format of `installed.json`.
const RECORD_VERSION: u32 = 1;

/// A setting that `fp install` offers to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingsOffer {
    /// The rules of [`PERMISSIONS`].
    Permissions,
    /// Agent teams switched on.
    Teams,
    /// The client's status line, by the command that prints it. A status line that is there already is printed below.
    StatusLine(String),
}

/// The settings that an installation with the bundle in `folder` offers.
pub(super) fn offers(folder: &Path) -> [SettingsOffer; 3] {
    let program = program_in(&folder.join(PLUGIN));
    let status_line = format!("{} statusline", shell_quoted(&program.to_string_lossy()));
    [
        SettingsOffer::Permissions,
        SettingsOffer::Teams,
        SettingsOffer::StatusLine(status_line),
    ]
}

/// The entries that an installation added to a settings file: all that is needed to take them out again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddedEntries {
    /// Permission rules.
    pub(super) permissions: Vec<String>,
    /// Agent teams switched on.
    pub(super) teams: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status_line: Option<AddedStatusLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AddedStatusLine {
    pub(super) command: String,
    /// The command that was there before.
    pub(super) before: Option<String>,
}

impl SettingsOffer {
    /// Its name in JSON and, after two dashes, its flag.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Permissions => "permissions",
            Self::Teams => "teams",
            Self::StatusLine(_) => "statusline",
        }
    }

    /// The change of `settings` if it `is_wanted`.
    pub(super) fn change(&self, settings: &Value, is_wanted: bool) -> InstallChange {
        let missing = if is_wanted {
            InstallChange::Added
        } else {
            InstallChange::Declined
        };
        match self {
            Self::Permissions if missing_rules(settings).next().is_none() => InstallChange::Kept,
            Self::Permissions => missing,
            Self::Teams => match teams_setting(settings).as_deref() {
                None => missing,
                Some(ON | "true") => InstallChange::Kept,
                Some(_) => InstallChange::Otherwise,
            },
            Self::StatusLine(own) => match status_command(settings) {
                Some(command) if command.contains(own) => InstallChange::Kept,
                None if settings.get("statusLine").is_some() => InstallChange::Otherwise,
                _ => missing,
            },
        }
    }

    /// Adds to `settings` and to `added` what is missing.
    fn add_to(&self, settings: &mut Value, added: &mut AddedEntries) {
        if self.change(settings, true) != InstallChange::Added {
            return;
        }
        match self {
            Self::Permissions => {
                added.permissions = missing_rules(settings).map(str::to_owned).collect();
                let allow = &mut settings["permissions"]["allow"];
                match allow {
                    Value::Array(rules) => {
                        rules.extend(added.permissions.iter().map(|rule| json!(rule)))
                    }
                    _ => *allow = json!(added.permissions),
                }
            }
            Self::Teams => {
                added.teams = true;
                settings["env"][TEAMS] = ON.into();
            }
            Self::StatusLine(own) => {
                let before = status_command(settings).map(str::to_owned);
                let command = before
                    .as_ref()
                    .map_or_else(|| own.clone(), |before| both_commands(own, before));
                match &before {
                    Some(_) => settings["statusLine"]["command"] = json!(command),
                    None => {
                        settings["statusLine"] = json!({ "type": "command", "command": command })
                    }
                }
                added.status_line = Some(AddedStatusLine { command, before });
            }
        }
    }
}

/// A line for the shell of the client that gives its input to both commands. The one from before is last, on lines of
/// its own, so that it prints, fails and ends as it did.
fn both_commands(own: &str, before: &str) -> String {
    format!("input=$(cat); printf %s \"$input\" | {own}; printf %s \"$input\" | (\n{before}\n)")
}

/// Adds to `settings` the `offers` that are wanted and missing. Returns what that was.
pub(super) fn add_wanted(offers: &[(SettingsOffer, bool)], settings: &mut Value) -> AddedEntries {
    let mut added = AddedEntries::default();
    for (offer, _) in offers.iter().filter(|(_, is_wanted)| *is_wanted) {
        offer.add_to(settings, &mut added);
    }
    added
}

impl AddedEntries {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes these entries out of `settings`, and every empty object and list that `original` doesn't have. Entries
    /// that somebody has changed since stay.
    pub(super) fn take_out_of(&self, settings: &mut Value, original: &Value) {
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
        if let Some(AddedStatusLine { command, before }) = &self.status_line
            && status_command(settings) == Some(command)
        {
            match (before, &mut *settings) {
                (Some(before), _) => settings["statusLine"]["command"] = json!(before),
                (None, Value::Object(fields)) => drop(fields.remove("statusLine")),
                (None, _) => {}
            }
        }
        for container in CONTAINERS
            .iter()
            .filter(|container| original.pointer(container).is_none())
        {
            let is_empty = settings
                .pointer(container)
                .is_some_and(|inner| *inner == json!({}) || *inner == json!([]));
            if let (true, Some((outer, name))) = (is_empty, container.rsplit_once('/'))
                && let Some(Value::Object(outer)) = settings.pointer_mut(outer)
            {
                outer.remove(name);
            }
        }
    }
}

/// True if `settings` has the permission rule `rule` among those that allow.
pub(crate) fn allows(settings: &Value, rule: &str) -> bool {
    let allow = settings
        .pointer("/permissions/allow")
        .and_then(Value::as_array);
    allow.is_some_and(|allow| allow.iter().any(|found| found == rule))
}

/// The offered permission rules that `settings` doesn't have.
fn missing_rules(settings: &Value) -> impl Iterator<Item = &'static str> {
    PERMISSIONS
        .into_iter()
        .filter(|rule| !allows(settings, rule))
}

/// The command of the status line in `settings`.
fn status_command(settings: &Value) -> Option<&str> {
    settings.pointer("/statusLine/command")?.as_str()
}

/// The value of [`TEAMS`] in `settings`.
fn teams_setting(settings: &Value) -> Option<String> {
    let value = settings.get("env")?.get(TEAMS)?;
    Some(
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
    )
}

/// Reads the text of a settings file; a blank one is an empty object, as for the client. Fails, with the place such as
/// `:3:1` in front, where the client would ignore the file.
pub(super) fn parse_settings(text: &str) -> Result<Value, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.trim().is_empty() {
        return Ok(json!({}));
    }
    let settings: Value = serde_json::from_str(body).map_err(|error| {
        let (line, column, detail) = json_fault(&error);
        // Where the text ends with a line end, the parser says column 0 of the next line.
        format!(":{line}:{}: not valid JSON: {detail}", column.max(1))
    })?;
    if !settings.is_object() {
        return Err(": the file is not an object".into());
    }
    for name in ["env", "permissions"] {
        if settings.get(name).is_some_and(|found| !found.is_object()) {
            return Err(format!(": `{name}` is not an object"));
        }
    }
    if settings
        .pointer("/permissions/allow")
        .is_some_and(|allow| !allow.is_array())
    {
        return Err(": `permissions.allow` is not a list".into());
    }
    Ok(settings)
}

/// One of the client's settings files, as it was when it was read. It need not exist.
#[derive(Debug)]
pub(crate) struct ClientSettingsFile {
    pub(crate) path: PathBuf,
    /// `None` where there is no file.
    pub(crate) text: Option<String>,
    /// An empty object where there is no file.
    pub(crate) value: Value,
}

impl ClientSettingsFile {
    /// Fails where it can't be read, or the client would ignore it. A link that leads nowhere can't be read.
    pub(crate) fn read(path: PathBuf) -> Result<Self, CommandError> {
        let text = match file::read_text(&path, CAP) {
            Ok(text) => Some(text),
            Err(error) if error.is_missing() && path.symlink_metadata().is_err() => None,
            Err(error) => return Err(error.into()),
        };
        let value = parse_settings(text.as_deref().unwrap_or_default()).map_err(|fault| {
            CommandError::failed(format!("{}{fault}", path.display())).hint(
                "fix the file by hand, since Claude Code ignores all of it as it is; then run this again",
            )
        })?;
        Ok(Self { path, text, value })
    }

    /// The text, changed so that it says `value`. All that stays keeps its form.
    pub(super) fn edited(&self, value: &Value) -> Result<String, CommandError> {
        json_text::rewrite(self.text.as_deref().unwrap_or_default(), value).ok_or_else(|| {
            CommandError::failed(format!("{} has a key twice", self.path.display()))
                .hint("keep one of the two, then run this again")
        })
    }

    /// Fails where the file says that it must not be written. Replacing it would succeed all the same, since that
    /// takes only the folder's permission.
    pub(super) fn check_writable(&self) -> Result<(), CommandError> {
        match fs::metadata(&self.path) {
            Ok(found) if found.permissions().readonly() => Err(unwritable(
                &self.path,
                io::ErrorKind::PermissionDenied.into(),
            )),
            _ => Ok(()),
        }
    }

    /// Makes `text` its content, with its folder where there is none. Writes through a link.
    pub(super) fn write(&self, text: &str) -> Result<(), CommandError> {
        if self.text.as_deref() == Some(text) {
            return Ok(());
        }
        self.check_writable()?;
        let real = platform::real_path(&self.path).unwrap_or_else(|_| self.path.clone());
        real.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .map_err(|error| unwritable(&self.path, error))?;
        Ok(file::atomic_write(&real, text.as_bytes())?)
    }

    /// Copies its text to a file beside it that is new, or has just this text. Returns that file's name, or `None` where
    /// there is nothing to copy.
    pub(super) fn back_up(&self) -> Result<Option<String>, CommandError> {
        let Some(text) = &self.text else {
            return Ok(None);
        };
        let first = format!(
            "{}.fp-backup",
            self.path.file_name().unwrap_or_default().to_string_lossy()
        );
        let mut name = first.clone();
        for number in 2.. {
            let path = self.path.with_file_name(&name);
            if file::copy_if_absent(&self.path, &path, text.as_bytes())?
                || file::read_bytes(&path, CAP).is_ok_and(|found| found == text.as_bytes())
            {
                break;
            }
            name = format!("{first}.{number}");
        }
        Ok(Some(name))
    }
}

pub(super) fn unwritable(path: &Path, source: io::Error) -> CommandError {
    FileError::Write {
        path: path.to_owned(),
        source,
    }
    .into()
}

/// All that installations have changed in settings files, kept in `installed.json` beside the bundle.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstallRecord {
    schema_version: u32,
    pub(super) settings: Vec<ChangedSettings>,
}

/// A settings file that an installation has changed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChangedSettings {
    pub(super) file: PathBuf,
    /// Name of the copy from before the first change, beside it; `None` where there was no file.
    backup: Option<String>,
    pub(super) added: AddedEntries,
}

impl ChangedSettings {
    pub(super) fn backup(&self) -> Option<PathBuf> {
        Some(self.file.with_file_name(self.backup.as_ref()?))
    }
}

impl InstallRecord {
    /// Reads the record at `path`; an empty one where there is none.
    pub(super) fn load(path: &Path) -> Result<Self, CommandError> {
        let Some(text) = file::read_text_if_there(path, CAP)? else {
            return Ok(Self {
                schema_version: RECORD_VERSION,
                settings: Vec::new(),
            });
        };
        let fault = match serde_json::from_str::<Self>(&text) {
            Ok(record) if record.schema_version == RECORD_VERSION => return Ok(record),
            Ok(Self {
                schema_version: found,
                ..
            }) => {
                format!("its format is {found}, and this fp knows {RECORD_VERSION}")
            }
            Err(error) => error.to_string(),
        };
        Err(CommandError::failed(format!("{} is not a record of an installation: {fault}", path.display()))
            .hint("remove the file and run this again; you then have to remove by hand what fp added to settings"))
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| {
            CommandError::failed(format!(
                "a path can't be written down in {}: {error}",
                path.display()
            ))
            .hint("rename the folder that is not valid Unicode")
        })?;
        Ok(file::atomic_write(path, (text + "\n").as_bytes())?)
    }

    /// The copy of the settings file at `path` from before the first installation.
    pub(super) fn backup_of(&self, path: &Path) -> Option<PathBuf> {
        self.settings
            .iter()
            .find(|changed| changed.file == path)?
            .backup()
    }

    /// Takes in what is `added` to `file`, and copies it before its first change.
    pub(super) fn add(
        &mut self,
        file: &ClientSettingsFile,
        added: AddedEntries,
    ) -> Result<(), CommandError> {
        match self
            .settings
            .iter_mut()
            .find(|changed| changed.file == file.path)
        {
            Some(changed) => {
                changed.added.permissions.extend(added.permissions);
                changed.added.teams |= added.teams;
                changed.added.status_line = added.status_line.or(changed.added.status_line.take());
            }
            None => {
                let backup = file.back_up()?;
                self.settings.push(ChangedSettings {
                    file: file.path.clone(),
                    backup,
                    added,
                });
            }
        }
        Ok(())
    }
}
