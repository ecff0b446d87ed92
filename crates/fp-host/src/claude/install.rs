//! Installing the plugin: a bundle in the user's data folder, registered by the client's own commands. Twice
//! is the same as once, and what is there from elsewhere is never taken over.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::bundle::{self, Bundle, BundleError, MARKETPLACE, PLUGIN};
use super::client::{Client, ClientError, InstalledPlugin, Marketplace};

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

impl InstallError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Client(error) => error.hint(),
            Self::Bundle(error @ BundleError::Write { .. }) => {
                format!("{}; XDG_DATA_HOME chooses the folder on Linux", error.hint())
            }
            Self::Bundle(error) => error.hint(),
            Self::MarketplaceTaken { .. } => format!(
                "`claude plugin marketplace remove {MARKETPLACE}` removes it with its plugins; then run this again"
            ),
            Self::PluginElsewhere { id, scope } => {
                format!("run `claude plugin uninstall {id} --scope {scope}`, then this again")
            }
        }
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
}

/// What an uninstallation removed.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Uninstalled {
    /// Scopes of the plugins that are gone, with the project of those that had one.
    pub plugins: Vec<RemovedPlugin>,
    /// Whether the marketplace was there and is gone.
    pub marketplace: bool,
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
    /// The project that scopes other than the user's are about.
    pub project: PathBuf,
}

impl Installation {
    /// Writes the bundle and registers it for `scope`; in a `dry_run` only says what that would change.
    ///
    /// Fails before anything is written if the client is missing or too old, or if the marketplace's or the
    /// plugin's name belongs to something else.
    pub fn install(
        &self,
        bundle: &Bundle<'_>,
        scope: Scope,
        dry_run: bool,
    ) -> Result<Installed, InstallError> {
        let client_version = self.client.version()?;
        let version = bundle.version()?;
        let marketplace_change = match self.marketplace()? {
            Some(found) if !self.is_ours(&found) => {
                return Err(InstallError::MarketplaceTaken { from: origin(&found) });
            }
            Some(_) => Change::Kept,
            None => Change::Added,
        };
        let plugin_change = self.due(&self.client.plugins()?, scope, &version)?;
        if !dry_run {
            bundle.write(&self.folder)?;
            self.register(marketplace_change, plugin_change, scope)?;
        }
        Ok(Installed {
            bundle: self.folder.clone(),
            version,
            client: self.client.path().to_owned(),
            client_version: client_version.to_string(),
            marketplace: MARKETPLACE,
            marketplace_change,
            plugin: plugin_id(),
            scope,
            plugin_change,
        })
    }

    /// Undoes [`Self::install`] in every scope; what is from elsewhere stays.
    pub fn uninstall(&self) -> Result<Uninstalled, InstallError> {
        let mut gone = Uninstalled::default();
        let marketplace = self.marketplace()?;
        if marketplace.as_ref().is_none_or(|found| self.is_ours(found)) {
            for plugin in self.client.plugins()?.into_iter().filter(|plugin| plugin.id == plugin_id()) {
                gone.plugins.extend(self.uninstall_plugin(plugin)?);
            }
            if marketplace.is_some() {
                self.run(&["plugin", "marketplace", "remove", MARKETPLACE], None)?;
                gone.marketplace = true;
            }
        }
        if bundle::remove(&self.folder)? {
            // Removes only an empty folder, which is this project's own; anything else in it stays.
            drop(self.folder.parent().map(fs::remove_dir));
            gone.bundle = Some(self.folder.clone());
        }
        Ok(gone)
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
                && plugin.project_path.as_ref().is_none_or(|path| same_folder(path, &self.project))
        });
        Ok(match here {
            None => Change::Added,
            Some(plugin) if !plugin.enabled => Change::Enabled,
            Some(plugin) if plugin.version != version => Change::Updated,
            Some(_) => Change::Kept,
        })
    }

    fn register(&self, marketplace: Change, plugin: Change, scope: Scope) -> Result<(), InstallError> {
        if marketplace == Change::Added {
            // Known to the user whatever the scope is: the folder is on this machine only.
            let words = ["plugin", "marketplace", "add"].map(OsString::from);
            let arguments = words.into_iter().chain([self.folder.clone().into_os_string()]);
            self.client.run(&arguments.collect::<Vec<_>>(), None)?;
        }
        let command = match plugin {
            Change::Kept => return Ok(()),
            Change::Updated => "update",
            Change::Added | Change::Enabled => "install",
        };
        let arguments = ["plugin", command, &plugin_id(), "--scope", scope.name()];
        self.run(&arguments, Some(&self.project))
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
