//! What the user set when the client asked for the plugin's options. The client keeps that in its own settings and tells
//! it to hooks alone, so it is read where it is kept.

use std::path::Path;

use fp_core::settings::PartialSettings;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::ConfigError;
use crate::claude::bundle::{MARKETPLACE, PLUGIN};
use crate::file;

/// Each option by its name in the plugin's manifest, with the setting that it is.
pub const PLUGIN_OPTIONS: [(&str, &str); 4] = [
    ("language", "language"),
    ("maxParallelTasks", "maxParallelTasks"),
    ("commentChecker", "commentChecker.enabled"),
    ("linear", "linear.enabled"),
];

/// Largest file of the client's settings that is read, in bytes.
const CAP: u64 = 4 * 1024 * 1024;

/// The part of the client's settings that says something of plugins.
#[derive(Deserialize)]
struct ClientSettings {
    #[serde(default, rename = "pluginConfigs")]
    plugins: Map<String, Value>,
}

/// The layer that the plugin's options in `path`, the client's settings, are. A file that can't be read or says nothing of this plugin is
/// none: what is wrong with the file is the client's to say, which refuses it whole.
///
/// # Errors
/// An option with a value that its setting can't have.
pub fn read_plugin_options(path: &Path) -> Result<PartialSettings, ConfigError> {
    let none = Ok(PartialSettings::default());
    let Ok(Some(text)) = file::read_text_if_there(path, CAP) else { return none };
    if !text.contains("pluginConfigs") {
        return none;
    }
    let Ok(settings) = serde_json::from_str::<ClientSettings>(&text) else { return none };
    match options(&settings.plugins) {
        Some((plugin, options)) => layer(path, &text, plugin, options),
        None => none,
    }
}

/// The options of this plugin with the name that the client knows it by: of those in several marketplaces the one that
/// installs itself.
fn options(plugins: &Map<String, Value>) -> Option<(&str, &Map<String, Value>)> {
    let from = |id: &str| match id.split_once('@') {
        Some((PLUGIN, marketplace)) => Some(marketplace != MARKETPLACE),
        _ => None,
    };
    let found = plugins.iter().filter_map(|(id, config)| Some((from(id)?, id, config)));
    let (_, id, config) = found.min_by_key(|(elsewhere, ..)| *elsewhere)?;
    Some((id, config.get("options")?.as_object()?))
}

fn layer(
    path: &Path,
    text: &str,
    plugin: &str,
    options: &Map<String, Value>,
) -> Result<PartialSettings, ConfigError> {
    let mut said = Value::Object(Map::new());
    for (option, setting) in PLUGIN_OPTIONS {
        // An answer that was left empty is none.
        if let Some(value) = options.get(option).filter(|value| value.as_str() != Some("")) {
            *setting.split('.').fold(&mut said, |group, key| &mut group[key]) = value.clone();
        }
    }
    serde_path_to_error::deserialize(said).map_err(|fault| {
        let setting = fault.path().to_string();
        let option =
            PLUGIN_OPTIONS.iter().find(|(_, of)| *of == setting).map_or(&*setting, |(option, _)| option);
        ConfigError::new(path, text, &format!("pluginConfigs.{plugin}.options.{option}"), fault.inner())
    })
}
