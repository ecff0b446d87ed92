//! Bringing an installation to this program's version, wherever it is installed. Nobody is asked anything, and
//! settings are left alone.

use std::path::PathBuf;

use serde::Serialize;

use super::{Change, InstallError, Installation, plugin_id};
use crate::claude::bundle::Bundle;

/// What an update did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Updated {
    /// The bundle's folder, written anew.
    pub bundle: PathBuf,
    /// The version that is there now.
    pub version: String,
    /// The plugin in each scope and project.
    pub plugins: Vec<UpdatedPlugin>,
}

/// The plugin in one scope.
#[derive(Debug, Serialize)]
pub struct UpdatedPlugin {
    /// Its scope.
    pub scope: String,
    /// Its project, if it is installed for one.
    pub project: Option<PathBuf>,
    /// The version that was there.
    pub from: String,
}

impl Installation {
    /// Writes the bundle and has the client take it over in each scope. `None` where nothing is installed.
    ///
    /// # Errors
    /// The marketplace's name belongs to something else, something can't be written, or the client says no.
    pub fn update(&self, bundle: &Bundle<'_>) -> Result<Option<Updated>, InstallError> {
        self.client.version()?;
        let version = bundle.version()?;
        let marketplace = self.marketplace_due()?;
        // One of a project that is gone can't be told there.
        let there = |project: &Option<PathBuf>| project.as_ref().is_none_or(|project| project.is_dir());
        let mut installed = self.client.plugins()?;
        installed.retain(|plugin| plugin.id == plugin_id() && there(&plugin.project_path));
        if installed.is_empty() {
            return Ok(None);
        }
        bundle.write(&self.folder)?;
        if marketplace == Change::Added {
            self.add_marketplace()?;
        }
        let mut plugins = Vec::new();
        for plugin in installed {
            if plugin.version != version {
                let arguments = ["plugin", "update", &plugin_id(), "--scope", &plugin.scope];
                self.run(&arguments, plugin.project_path.as_deref())?;
            }
            plugins.push(UpdatedPlugin {
                scope: plugin.scope,
                project: plugin.project_path,
                from: plugin.version,
            });
        }
        Ok(Some(Updated { bundle: self.folder.clone(), version, plugins }))
    }
}
