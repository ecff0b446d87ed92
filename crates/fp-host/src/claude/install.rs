//! Installing the plugin: a bundle in the user's data folder, registered by the client's own commands, and what the
//! user wants of the settings that go with it. Twice is the same as once, and what is there from elsewhere is never
//! taken over.

mod settings;
mod uninstall;
mod update;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fp_core::client_settings::{Choice, Standing};
use fp_core::hint::Hint;
use serde::Serialize;

use super::bundle::{Bundle, BundleError, MARKETPLACE, PLUGIN};
use super::client::{Client, ClientError, InstalledPlugin, Marketplace};
use super::record::{Record, RecordError};
use super::settings_file::{SettingsFile, SettingsFileError};
use settings::Before;
pub use settings::{EntryChange, Preview, SettingsReport};
pub use uninstall::{Outcome, RemovedPlugin, UndoneSettings, Uninstalled};
pub use update::{Updated, UpdatedPlugin};

/// For whom the plugin is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The user, in every project.
    User,
    /// Everybody who works in this project.
    Project,
    /// The user, in this project.
    Local,
}

impl Scope {
    /// Its name on the client's command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// Why the plugin was not installed or uninstalled.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The client is missing, too old, or said no.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The bundle can't be written or removed.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A settings file can't be read or written.
    #[error(transparent)]
    Settings(#[from] SettingsFileError),
    /// What an earlier installation has noted can't be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A scope of a project outside of one.
    #[error("there is no git repository here, and so no project to install into")]
    NoProject,
    /// The marketplace's name belongs to something else.
    #[error("the client has another marketplace named `{MARKETPLACE}`, from {from}")]
    MarketplaceTaken {
        /// Where that one is from.
        from: String,
    },
    /// The plugin's name belongs to something else.
    #[error("the client has another plugin named `{PLUGIN}`: {id}, scope {scope}")]
    PluginElsewhere {
        /// Its id, `plugin@marketplace`.
        id: String,
        /// Its scope.
        scope: String,
    },
}

impl Hint for InstallError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Client(error) => return error.hint(),
            Self::Bundle(error @ BundleError::Write { .. }) => {
                let hint = error.hint().unwrap_or_default();
                format!("{hint}; XDG_DATA_HOME chooses the folder on Linux").into()
            }
            Self::Bundle(error) => return error.hint(),
            Self::Settings(error) => return error.hint(),
            Self::Record(error) => return error.hint(),
            Self::NoProject => "change to the repository, or install for yourself: `fp install`".into(),
            Self::MarketplaceTaken { .. } => format!(
                "`claude plugin marketplace remove {MARKETPLACE}` removes it with its plugins; then run this again"
            ).into(),
            Self::PluginElsewhere { id, scope } => {
                format!("run `claude plugin uninstall {id} --scope {scope}`, then this again").into()
            }
        })
    }
}

/// What happened to one part of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It was there as it should be.
    Kept,
    /// It is new.
    Added,
    /// It was there in another version.
    Updated,
    /// It was there and switched off.
    Enabled,
}

/// What an installation did or, in a dry run, would do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    /// The bundle's folder, written anew each time.
    pub bundle: PathBuf,
    /// The plugin's version.
    pub version: String,
    /// The client's program.
    pub client: PathBuf,
    /// The client's version.
    pub client_version: String,
    /// The marketplace's name.
    pub marketplace: &'static str,
    /// What happened to the marketplace.
    pub marketplace_change: Change,
    /// The plugin's id.
    pub plugin: String,
    /// For whom.
    pub scope: Scope,
    /// What happened to the plugin.
    pub plugin_change: Change,
    /// What happened to the settings.
    pub settings: SettingsReport,
}

/// What an installation comes to, before anything is done.
#[derive(Debug)]
pub struct Prospect {
    scope: Scope,
    version: String,
    client_version: String,
    marketplace: Change,
    plugin: Change,
    /// The scope's file first, then the user's where it is another: there the client notes the marketplace.
    files: Vec<Before>,
    record: Record,
}

/// The folder of the bundle, from environment variables: `fractal-planner/bundle` in the user's data folder.
/// `None` if nothing says where that is.
#[must_use]
pub fn bundle_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    data_folder(std::env::consts::OS, variable).map(|folder| folder.join(MARKETPLACE).join("bundle"))
}

fn data_folder(system: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative one would be another folder in every project; the standard says to ignore it.
    let folder = |name| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    match system {
        "windows" => folder("LOCALAPPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        _ => folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share"))),
    }
}

/// The installation in one data folder, with one client.
#[derive(Debug)]
pub struct Installation {
    /// The client.
    pub client: Client,
    /// The bundle's folder.
    pub folder: PathBuf,
    /// The folder that the client keeps the user's settings in.
    pub home: PathBuf,
    /// The project that scopes other than the user's are about; `None` outside of one.
    pub project: Option<PathBuf>,
}

impl Prospect {
    /// How the settings stand to the permission rules.
    #[must_use]
    pub fn permissions(&self) -> Standing {
        fp_core::client_settings::permissions(&self.files[0].contents.fields)
    }

    /// How the settings stand to agent teams.
    #[must_use]
    pub fn teams(&self) -> Standing {
        fp_core::client_settings::teams(&self.files[0].contents.fields)
    }

    /// The settings file that entries would be added to.
    #[must_use]
    pub fn settings_file(&self) -> &Path {
        self.files[0].file.path()
    }
}

impl Installation {
    /// Looks at what there is, and writes nothing.
    ///
    /// # Errors
    /// The client is missing or too old, the marketplace's or the plugin's name belongs to something else, a scope
    /// of a project was asked for outside of one, or a settings file is one that the client can't read.
    pub fn look_ahead(&self, bundle: &Bundle<'_>, scope: Scope) -> Result<Prospect, InstallError> {
        let client_version = self.client.version()?.to_string();
        let version = bundle.version()?;
        let marketplace = self.marketplace_due()?;
        let plugin = self.due(&self.client.plugins()?, scope, &version)?;
        let mut paths = vec![self.settings_path(scope)?, self.settings_path(Scope::User)?];
        paths.dedup();
        let files = paths.into_iter().map(|path| Before::read(SettingsFile::new(path)));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let record = Record::load(&self.record_file())?;
        Ok(Prospect { scope, version, client_version, marketplace, plugin, files, record })
    }

    /// What [`Self::install`] would do.
    ///
    /// # Errors
    /// A settings file can't be changed as it is.
    pub fn preview(&self, prospect: &Prospect, choice: Choice) -> Result<(Installed, Preview), InstallError> {
        let preview = prospect.files[0].preview(choice)?;
        Ok((self.report(prospect, choice, None), preview))
    }

    /// Writes the bundle, registers it, and adds to the settings what was chosen.
    ///
    /// # Errors
    /// Something can't be written, or the client says no.
    pub fn install(
        &self,
        bundle: &Bundle<'_>,
        prospect: &Prospect,
        choice: Choice,
    ) -> Result<Installed, InstallError> {
        let steps = self.prepare(prospect, choice)?;
        let registered = bundle.write(&self.folder).map_err(InstallError::from);
        if let Err(error) = registered.and_then(|()| self.register(prospect)) {
            steps.iter().for_each(settings::Step::forget);
            return Err(error);
        }
        let mut record = prospect.record.clone();
        for step in &steps {
            self.finish(step, &mut record)?;
        }
        let backup = record.of(&prospect.files[0].file).and_then(|changed| changed.backup.as_deref());
        let backup = backup.and_then(|name| prospect.files[0].file.backup(name));
        Ok(self.report(prospect, choice, backup))
    }

    fn report(&self, prospect: &Prospect, choice: Choice, backup: Option<PathBuf>) -> Installed {
        Installed {
            bundle: self.folder.clone(),
            version: prospect.version.clone(),
            client: self.client.path().to_owned(),
            client_version: prospect.client_version.clone(),
            marketplace: MARKETPLACE,
            marketplace_change: prospect.marketplace,
            plugin: plugin_id(),
            scope: prospect.scope,
            plugin_change: prospect.plugin,
            settings: SettingsReport {
                file: prospect.settings_file().to_owned(),
                permissions: EntryChange::of(prospect.permissions(), choice.permissions),
                teams: EntryChange::of(prospect.teams(), choice.teams),
                backup,
            },
        }
    }

    fn settings_path(&self, scope: Scope) -> Result<PathBuf, InstallError> {
        let below = |name: &str| {
            let project = self.project.as_ref().ok_or(InstallError::NoProject)?;
            Ok(project.join(".claude").join(name))
        };
        match scope {
            Scope::User => Ok(self.home.join("settings.json")),
            Scope::Project => below("settings.json"),
            Scope::Local => below("settings.local.json"),
        }
    }

    fn record_file(&self) -> PathBuf {
        self.folder.with_file_name("installed.json")
    }

    fn marketplace_due(&self) -> Result<Change, InstallError> {
        match self.marketplace()? {
            Some(found) if !self.is_ours(&found) => {
                Err(InstallError::MarketplaceTaken { from: origin(&found) })
            }
            Some(_) => Ok(Change::Kept),
            None => Ok(Change::Added),
        }
    }

    fn marketplace(&self) -> Result<Option<Marketplace>, InstallError> {
        Ok(self.client.marketplaces()?.into_iter().find(|found| found.name == MARKETPLACE))
    }

    fn is_ours(&self, marketplace: &Marketplace) -> bool {
        marketplace.path.as_ref().is_some_and(|path| same_folder(path, &self.folder))
    }

    /// What has to happen for the plugin to be there in `scope`, enabled, in this version.
    fn due(&self, plugins: &[InstalledPlugin], scope: Scope, version: &str) -> Result<Change, InstallError> {
        let prefix = format!("{PLUGIN}@");
        let foreign = |plugin: &&InstalledPlugin| plugin.id.starts_with(&prefix) && plugin.id != plugin_id();
        if let Some(other) = plugins.iter().filter(|plugin| plugin.enabled).find(foreign) {
            return Err(InstallError::PluginElsewhere { id: other.id.clone(), scope: other.scope.clone() });
        }
        let here = plugins.iter().find(|plugin| {
            plugin.id == plugin_id()
                && plugin.scope == scope.name()
                && plugin.project_path.as_ref().is_none_or(|path| {
                    self.project.as_ref().is_some_and(|project| same_folder(path, project))
                })
        });
        Ok(match here {
            None => Change::Added,
            Some(plugin) if !plugin.enabled => Change::Enabled,
            Some(plugin) if plugin.version != version => Change::Updated,
            Some(_) => Change::Kept,
        })
    }

    fn register(&self, prospect: &Prospect) -> Result<(), InstallError> {
        if prospect.marketplace == Change::Added {
            self.add_marketplace()?;
        }
        let command = match prospect.plugin {
            Change::Kept => return Ok(()),
            Change::Updated => "update",
            Change::Added | Change::Enabled => "install",
        };
        let arguments = ["plugin", command, &plugin_id(), "--scope", prospect.scope.name()];
        self.run(&arguments, self.project.as_deref())
    }

    /// Known to the user whatever the scope is: the folder is on this machine only.
    fn add_marketplace(&self) -> Result<(), InstallError> {
        let words = ["plugin", "marketplace", "add"].map(OsString::from);
        let arguments = words.into_iter().chain([self.folder.clone().into_os_string()]);
        Ok(self.client.run(&arguments.collect::<Vec<_>>(), None)?)
    }

    fn run(&self, arguments: &[&str], folder: Option<&Path>) -> Result<(), InstallError> {
        Ok(self.client.run(arguments, folder)?)
    }
}

/// The plugin's id in the client.
pub(crate) fn plugin_id() -> String {
    format!("{PLUGIN}@{MARKETPLACE}")
}

/// Where a marketplace is from, for reading.
pub(crate) fn origin(marketplace: &Marketplace) -> String {
    let path = marketplace.path.as_ref().map(|path| path.display().to_string());
    path.or_else(|| marketplace.repo.clone())
        .or_else(|| marketplace.url.clone())
        .unwrap_or_else(|| marketplace.source.clone())
}

/// Whether both are the same folder, by whatever way.
pub(crate) fn same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_data_folder_is_where_the_system_has_it() {
        let check = |system: &str, variables: &[(&str, &str)], expect: Option<&str>| {
            let variable = |name: &str| {
                variables.iter().find(|(found, _)| *found == name).map(|(_, value)| OsString::from(value))
            };
            assert_eq!(data_folder(system, variable), expect.map(PathBuf::from), "{system} {variables:?}");
        };
        check("linux", &[("HOME", "/h")], Some("/h/.local/share"));
        check("linux", &[("HOME", "/h"), ("XDG_DATA_HOME", "/x")], Some("/x"));
        check("linux", &[("HOME", "/h"), ("XDG_DATA_HOME", "x")], Some("/h/.local/share"));
        check("macos", &[("HOME", "/h"), ("XDG_DATA_HOME", "/x")], Some("/h/Library/Application Support"));
        check("windows", &[("LOCALAPPDATA", "/l")], Some("/l"));
        check("windows", &[("HOME", "/h")], None);
        check("linux", &[], None);
    }

    #[test]
    fn origins_are_named_by_what_there_is() {
        let check = |json: &str, expect: &str| {
            let marketplace: Marketplace = serde_json::from_str(json).unwrap();
            assert_eq!(origin(&marketplace), expect);
        };
        check(r#"{"name":"a","source":"directory","path":"/a","installLocation":"/a"}"#, "/a");
        check(r#"{"name":"a","source":"github","repo":"o/r"}"#, "o/r");
        check(r#"{"name":"a","source":"git","url":"https://h/r.git"}"#, "https://h/r.git");
        check(r#"{"name":"a","source":"settings"}"#, "settings");
    }
}
