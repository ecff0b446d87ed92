//! Layered configuration: what the user says, what the project says over it, what the environment says
//! over both, and where each value came from.

mod change;
mod error;
mod place;
mod plugin_options;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fp_core::settings::{Layer, PartialSettings, Settings};
use serde::Serialize;
use serde_json::Value;

pub use change::{ChangeError, change, create, is_known, parse_value};
pub use error::ConfigError;
pub use plugin_options::{PLUGIN_OPTIONS, read_plugin_options};

use crate::claude::team::client_home;
use crate::file;

/// Largest configuration file that is read, in bytes.
const CAP: u64 = 1024 * 1024;

/// Who says what a setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Nobody: it is the default.
    Default,
    /// The plugin's options, as the user set them in the client.
    Plugin,
    /// The user's own configuration file.
    User,
    /// The project's.
    Project,
    /// The plan itself.
    Plan,
    /// The environment or a flag.
    Runtime,
}

impl Origin {
    /// Its wire name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plugin => "plugin",
            Self::User => "user",
            Self::Project => "project",
            Self::Plan => "plan",
            Self::Runtime => "runtime",
        }
    }
}

/// Reads one environment variable; `None` where it is absent or empty.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The layers over the defaults, in the order in which they apply.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Each layer with who it comes from.
    pub layers: Vec<(Origin, PartialSettings)>,
}

impl Config {
    /// Reads the layers: the plugin's options in the client's own settings, the user's file, the project's file, the
    /// environment. A missing file is no layer; any other fault of a file is an error, but for the client's.
    pub fn load(project: &Path, env: Environment<'_>) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some(client) = client_file(env) {
            config.add(Origin::Plugin, read_plugin_options(&client)?);
        }
        let user = user_file(env);
        if let Some(layer) = user.as_deref().map(read_layer).transpose()?.flatten() {
            config.add(Origin::User, layer);
        }
        if let Some(layer) = read_layer(project)? {
            config.add(Origin::Project, layer);
        }
        config.add(Origin::Runtime, environment_layer(env));
        Ok(config)
    }

    /// Puts `layer` in its place by `origin`: over those of the same or a lower origin.
    pub fn add(&mut self, origin: Origin, layer: PartialSettings) {
        let at = self.layers.partition_point(|(other, _)| *other <= origin);
        self.layers.insert(at, (origin, layer));
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings::from_layers(self.layers.iter().map(|(_, layer)| layer.clone()))
    }

    /// Every setting as dotted key, value in force and origin, sorted by key.
    #[must_use]
    pub fn explained(&self) -> BTreeMap<String, (Value, Origin)> {
        let mut settings = Settings::default();
        let mut explained = BTreeMap::new();
        note(&settings, Origin::Default, &mut explained);
        for (origin, layer) in &self.layers {
            layer.clone().apply(&mut settings);
            note(layer, *origin, &mut explained);
        }
        // A layer holds what was given; the settings hold what it came to.
        for (key, value) in flat(&settings) {
            explained.entry(key).and_modify(|(shown, _)| *shown = value);
        }
        explained
    }
}

fn note(layer: &impl Serialize, origin: Origin, explained: &mut BTreeMap<String, (Value, Origin)>) {
    explained.extend(flat(layer).into_iter().map(|(key, value)| (key, (value, origin))));
}

/// The values of `settings` by dotted key.
fn flat(settings: &impl Serialize) -> Vec<(String, Value)> {
    fn walk(prefix: &str, value: Value, out: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                    walk(&key, value, out);
                }
            }
            value => out.push((prefix.to_owned(), value)),
        }
    }
    let mut out = Vec::new();
    let value = serde_json::to_value(settings).expect("settings have text keys and plain values");
    walk("", value, &mut out);
    out
}

/// Where the client keeps the options of plugins; `None` where there is no home.
#[must_use]
pub fn client_file(env: Environment<'_>) -> Option<PathBuf> {
    Some(client_home(env)?.join("settings.json"))
}

/// Where the user's own configuration file is or would be; `None` where there is no home.
#[must_use]
pub fn user_file(env: Environment<'_>) -> Option<PathBuf> {
    user_file_on(std::env::consts::OS, env, |path| path.exists())
}

/// The same on any `system`, by its name in [`std::env::consts::OS`].
fn user_file_on(system: &str, env: Environment<'_>, exists: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let within = |base: PathBuf| base.join("fractal-planner").join("config.json");
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
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

/// Whether the environment variable `name` says yes: anything but nothing, `0` and `false`.
#[must_use]
pub fn is_set(env: Environment<'_>, name: &str) -> bool {
    env(name).is_some_and(|said| !matches!(&*said, "" | "0" | "false"))
}

/// What environment variables say: `NUDGE_DISABLED` and `COMMENT_CHECKER_DISABLED` (anything but `0` and `false`), and
/// `COMMENT_CHECKER_PROMPT`.
fn environment_layer(env: Environment<'_>) -> PartialSettings {
    let disabled = |name: &str| is_set(env, name).then_some(false);
    let mut layer = PartialSettings::default();
    if let Some(enabled) = disabled("NUDGE_DISABLED") {
        layer.nudge.get_or_insert_default().enabled = Some(enabled);
    }
    if let Some(enabled) = disabled("COMMENT_CHECKER_DISABLED") {
        layer.comment_checker.get_or_insert_default().enabled = Some(enabled);
    }
    if let Some(prompt) = env("COMMENT_CHECKER_PROMPT") {
        layer.comment_checker.get_or_insert_default().custom_prompt = Some(prompt);
    }
    layer
}

/// The layer in the file `path`; `None` where there is no such file.
///
/// # Errors
/// A file that can't be read, or says something that is no setting.
pub fn read_layer(path: &Path) -> Result<Option<PartialSettings>, ConfigError> {
    if fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let text = file::read_text(path, CAP)?;
    parse(path, text.strip_prefix('\u{feff}').unwrap_or(&text)).map(Some)
}

/// The layer that `text`, the content of `path`, is.
fn parse(path: &Path, text: &str) -> Result<PartialSettings, ConfigError> {
    if text.trim().is_empty() {
        return Err(ConfigError::Empty { path: path.to_owned() });
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let layer = serde_path_to_error::deserialize(&mut json)
        .map_err(|fault| ConfigError::new(path, text, &fault.path().to_string(), fault.inner()))?;
    json.end().map_err(|fault| ConfigError::new(path, text, "", &fault))?;
    Ok(layer)
}

#[cfg(test)]
mod tests;
