//! Settings come from several places. This layers them (the user's, then the project's over those, then the
//! environment's over both) and remembers where each value comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fp_plan::settings::{Settings, SettingsLayer};
use fp_run::run::approval::hash;
use serde::Serialize;
use serde_json::{Map, Value};
use strum::IntoStaticStr;

use crate::claude::{MARKETPLACE, PLUGIN, client_home};
use crate::config_file::read_layer;
use crate::error::{HostError, HostResult};
use crate::file;
use crate::repo::Repo;
use crate::trust::{Consent, TrustStore};

/// The names of the plugin's options in the manifest, each with the key of its setting.
pub const PLUGIN_OPTIONS: [(&str, &str); 4] = [
    ("language", "language"),
    ("maxParallelTasks", "maxParallelTasks"),
    ("commentChecker", "commentChecker.enabled"),
    ("linear", "linear.enabled"),
];

/// Size limit of the client's settings file, in bytes.
const CLIENT_CAP: u64 = 4 * 1024 * 1024;

/// The source of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum SettingOrigin {
    Default,
    /// The plugin's options, set by the user in the client.
    Plugin,
    /// The user's configuration file.
    User,
    /// The project's configuration file.
    Project,
    /// The plan itself.
    Plan,
    /// The environment or a flag.
    Runtime,
}

/// Reads one environment variable; `None` if it is absent or empty.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The settings layers over the defaults, in the order in which they apply.
#[derive(Debug, Clone, Default)]
pub struct Config {
    pub layers: Vec<(SettingOrigin, SettingsLayer)>,
    /// The settings in the project's file that have no effect because the user hasn't accepted them.
    pub ignored: SettingsLayer,
}

impl Config {
    /// Reads the layers: the plugin's options in the client's settings, the user's file, the project's file,
    /// the environment. A missing file adds no layer; any other fault in a file is an error, except in the
    /// client's.
    pub fn load(repo: &Repo, env: Environment<'_>) -> HostResult<Self> {
        let mut config = Self::default();
        if let Some(client) = client_file(env) {
            config.add_layer(SettingOrigin::Plugin, read_plugin_options(&client)?);
        }
        let user = user_file(env);
        if let Some(layer) = user.as_deref().map(read_layer).transpose()?.flatten() {
            config.add_layer(SettingOrigin::User, layer);
        }
        if let Some(layer) = read_layer(&repo.config_file())? {
            let (taken, withheld) = layer.split();
            let accepted =
                withheld == SettingsLayer::default() || is_accepted(&withheld, repo, env);
            if accepted {
                config.add_layer(SettingOrigin::Project, layer);
            } else {
                config.add_layer(SettingOrigin::Project, taken);
                config.ignored = withheld;
            }
        }
        config.add_layer(SettingOrigin::Runtime, environment_layer(env));
        Ok(config)
    }

    /// Inserts `layer` above those of the same or a lower origin.
    pub fn add_layer(&mut self, origin: SettingOrigin, layer: SettingsLayer) {
        let at = self.layers.partition_point(|(other, _)| *other <= origin);
        self.layers.insert(at, (origin, layer));
    }

    pub fn settings(&self) -> Settings {
        Settings::from_layers(self.layers.iter().map(|(_, layer)| layer))
    }

    /// Every setting with its dotted key, effective value and origin, sorted by key.
    pub fn explained(&self) -> BTreeMap<String, (Value, SettingOrigin)> {
        let defaults = Settings::default()
            .by_key()
            .into_iter()
            .map(|(key, _)| (key, SettingOrigin::Default));
        let mut origins: BTreeMap<String, SettingOrigin> = defaults.collect();
        for (origin, layer) in &self.layers {
            origins.extend(layer.by_key().into_iter().map(|(key, _)| (key, *origin)));
        }
        let in_force = self.settings().by_key();
        in_force
            .into_iter()
            .map(|(key, value)| (key.clone(), (value, origins[&key])))
            .collect()
    }
}

/// The user's consent to exactly these settings in a project's file.
pub fn consent_to(withheld: &SettingsLayer) -> Consent {
    Consent::Settings {
        hash: hash(&serde_json::to_vec(withheld).expect("a layer has text keys and plain values")),
    }
}

/// True if the trust store has the user's consent. An unreadable store counts as empty.
fn is_accepted(withheld: &SettingsLayer, repo: &Repo, env: Environment<'_>) -> bool {
    TrustStore::of_user(env, repo)
        .and_then(|store| store.knows(&consent_to(withheld)))
        .is_ok_and(|knows| knows)
}

/// The file in which the client keeps plugin options; `None` without a home folder.
pub fn client_file(env: Environment<'_>) -> Option<PathBuf> {
    Some(client_home(env)?.join("settings.json"))
}

/// The path of the user's configuration file, which need not exist; `None` without a home folder.
pub fn user_file(env: Environment<'_>) -> Option<PathBuf> {
    user_file_on(std::env::consts::OS, env, |path| path.exists())
}

/// [`user_file`] for any `system`, named as in [`std::env::consts::OS`].
fn user_file_on(
    system: &str,
    env: Environment<'_>,
    exists: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let within = |base: PathBuf| base.join("fractal-planner").join("config.json");
    let absolute = |name: &str| {
        env(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(base) = absolute("XDG_CONFIG_HOME") {
        return Some(within(base));
    }
    if system == "windows" {
        return absolute("APPDATA").map(within);
    }
    let home = absolute("HOME")?;
    let usual = within(home.join(".config"));
    let of_mac = within(home.join("Library/Application Support"));
    let mac_only = system == "macos" && !exists(&usual) && exists(&of_mac);
    Some(if mac_only { of_mac } else { usual })
}

/// True if the environment variable `name` is set to anything but an empty string, `0` or `false`.
pub fn is_set(env: Environment<'_>, name: &str) -> bool {
    env(name).is_some_and(|said| !matches!(&*said, "" | "0" | "false"))
}

/// The layer of the environment: `NUDGE_DISABLED` and `COMMENT_CHECKER_DISABLED` (see [`is_set`]).
fn environment_layer(env: Environment<'_>) -> SettingsLayer {
    let mut layer = SettingsLayer::default();
    let off: [(&str, &str, Value); 2] = [
        ("NUDGE_DISABLED", "nudge.maxRetries", 0.into()),
        (
            "COMMENT_CHECKER_DISABLED",
            "commentChecker.enabled",
            false.into(),
        ),
    ];
    for (name, key, value) in off {
        if is_set(env, name) {
            layer.set(key, value).expect("the table takes it");
        }
    }
    layer
}

/// Returns the layer of the plugin's options. The client asks the user for them, keeps them in its own
/// settings at `path` and passes them to hooks only, so `fp` reads that file. If it can't be read or doesn't
/// name this plugin, the layer is empty: the client itself reports a broken file.
///
/// # Errors
/// An option has a value that its setting can't have.
pub fn read_plugin_options(path: &Path) -> HostResult<SettingsLayer> {
    let mut layer = SettingsLayer::default();
    let Ok(Some(text)) = file::read_text_if_there(path, CLIENT_CAP) else {
        return Ok(layer);
    };
    let client: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some((id, options)) = own_options(&client["pluginConfigs"]) else {
        return Ok(layer);
    };
    for (option, setting) in PLUGIN_OPTIONS {
        // The client stores an unanswered option as an empty string.
        let given = options
            .get(option)
            .filter(|value| !value.is_null() && value.as_str() != Some(""));
        if let Some(value) = given {
            layer.set(setting, value.clone()).map_err(|fault| {
                HostError::worded(format_args!("{}: {id}: {fault}", path.display()), &fault)
            })?;
        }
    }
    Ok(layer)
}

/// This plugin's id in the client, and its options. If several marketplaces offer it, the one that `fp
/// install` adds wins.
fn own_options(plugins: &Value) -> Option<(&str, &Map<String, Value>)> {
    let marketplace = |id: &str| {
        let (plugin, marketplace) = id.split_once('@')?;
        (plugin == PLUGIN).then(|| marketplace.to_owned())
    };
    let found = plugins.as_object()?.iter();
    let (_, id, config) = found
        .filter_map(|(id, config)| Some((marketplace(id)?, id, config)))
        .min_by_key(|(marketplace, ..)| *marketplace != MARKETPLACE)?;
    Some((id, config.get("options")?.as_object()?))
}

#[cfg(test)]
mod tests;
