//! A folder that holds the plugin as the client loads it, and a marketplace that offers it. A client that reads the
//! folder during an update finds either the old plugin or the new one, never a mixture.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_host::claude::{MARKETPLACE, PLUGIN};
use fp_host::error::HostError;
use fp_host::file::reason_of;
use serde_json::{Value, json};

use super::VERSION;
use crate::assets::{self, PluginFile};
use crate::context::{Context, this_program};
use crate::error::{CommandError, CommandResult};

pub(super) const CATALOG_FOLDER: &str = ".claude-plugin";
const CATALOG: &str = "marketplace.json";
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";
/// The plugin's folder for programs, which the client adds to the PATH of commands.
const PROGRAMS: &str = "bin";
/// The folder that holds the new bundle while it is written, and the old one while it is replaced.
pub(super) const STAGING: &str = ".fp-bundle";
/// macOS creates this file in every folder that is opened in the Finder.
const FINDER: &str = ".DS_Store";

/// Writes a bundle to `out` and prints its contents.
pub(super) fn bundle_plugin(out: &Path, context: &Context) -> CommandResult {
    write_bundle(out)?;
    let plugin = out.join(PLUGIN);
    let text = format!(
        "plugin       {} ({PLUGIN} {VERSION})\nmarketplace  {}\n",
        plugin.display(),
        out.display()
    );
    context.report(
        &json!({ "marketplace": out, "plugin": plugin, "version": VERSION }),
        &text,
    )
}

/// Writes this plugin and a marketplace for it to `out`.
pub(crate) fn write_bundle(out: &Path) -> Result<(), CommandError> {
    Bundle::of_this_program()?.write(out)
}

/// Writes this plugin to `folder`.
pub(crate) fn write_plugin(folder: &Path) -> Result<(), CommandError> {
    Bundle::of_this_program()?.write_plugin(folder)
}

/// The parts of a bundle.
#[derive(Debug)]
pub(super) struct Bundle<'a> {
    /// The plugin without its program.
    pub(super) files: Vec<PluginFile<'a>>,
    pub(super) program: PathBuf,
}

impl Bundle<'static> {
    /// The plugin with this program in it.
    pub(super) fn of_this_program() -> Result<Self, CommandError> {
        Ok(Self {
            files: assets::plugin_files(),
            program: this_program()?,
        })
    }
}

impl Bundle<'_> {
    /// Writes the plugin with its program to `folder`.
    fn write_plugin(&self, folder: &Path) -> Result<(), CommandError> {
        for file in &self.files {
            write_file(&folder.join(&file.path), file.contents)?;
        }
        copy_program(&self.program, &program_in(folder))
    }

    /// Writes the plugin to `out/fp` and the marketplace to `out/.claude-plugin`, replacing those of an earlier bundle.
    /// Fails if `out` contains anything else, or can't be written.
    pub(super) fn write(&self, out: &Path) -> Result<(), CommandError> {
        check_ours(out)?;
        let staging = out.join(STAGING);
        // A killed process may have left the staging folder behind.
        drop(fs::remove_dir_all(&staging));
        let (new, old) = (staging.join("new"), staging.join("old"));
        let written = self
            .write_plugin(&new.join(PLUGIN))
            .and_then(|()| {
                write_file(
                    &new.join(CATALOG_FOLDER).join(CATALOG),
                    catalog().as_bytes(),
                )
            })
            .and_then(|()| swap_parts(out, &new, &old).map_err(|source| unwritable(out, source)));
        drop(fs::remove_dir_all(&staging));
        written
    }
}

/// Moves the parts of a bundle in `out` to `old`, and those in `new` to `out`.
fn swap_parts(out: &Path, new: &Path, old: &Path) -> io::Result<()> {
    fs::create_dir_all(old)?;
    for part in [PLUGIN, CATALOG_FOLDER] {
        // The part may be missing, for instance after an interrupted swap.
        match fs::rename(out.join(part), old.join(part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::rename(new.join(part), out.join(part))?,
        }
    }
    Ok(())
}

/// The path of the program in the plugin at `folder`.
pub(crate) fn program_in(folder: &Path) -> PathBuf {
    folder
        .join(PROGRAMS)
        .join(format!("{PLUGIN}{}", std::env::consts::EXE_SUFFIX))
}

/// The repository's marketplace, changed to point to the plugin in the folder beside it.
fn catalog() -> String {
    let ours = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/.claude-plugin/marketplace.json"
    ));
    let mut catalog: Value = serde_json::from_str(ours).expect("the marketplace is JSON");
    catalog["plugins"][0]["source"] = format!("./{PLUGIN}").into();
    format!("{catalog:#}\n")
}

/// Removes the bundle at `out`; `false` if there is none. Fails, removing nothing, if `out` contains anything else.
pub(super) fn remove_bundle(out: &Path) -> Result<bool, CommandError> {
    if !out.exists() {
        return Ok(false);
    }
    check_ours(out)?;
    fs::remove_dir_all(out).map_err(|source| unwritable(out, source))?;
    Ok(true)
}

fn unwritable(path: &Path, source: io::Error) -> CommandError {
    let error = CommandError::from(HostError::writing(path)(source));
    if error.hints.is_empty() {
        error.with_hint("choose a folder that can be written")
    } else {
        error
    }
}

/// Fails if `out` contains anything but a bundle.
fn check_ours(out: &Path) -> Result<(), CommandError> {
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(unwritable(out, source)),
    };
    for entry in entries {
        let entry = entry.map_err(|source| unwritable(out, source))?;
        let name = entry.file_name();
        let ours = match name.to_str() {
            Some(PLUGIN) => is_named(&entry.path().join(MANIFEST), PLUGIN),
            Some(CATALOG_FOLDER) => is_named(&entry.path().join(CATALOG), MARKETPLACE),
            name => matches!(name, Some(STAGING | FINDER)),
        };
        if !ours {
            let (out, found) = (out.display(), name.to_string_lossy());
            let message = format!(
                "{out} is not a bundle of fp: it has `{}`",
                found.escape_debug()
            );
            return Err(CommandError::failed(message).with_hint(
                "choose an empty folder, or one that `fp install --bundle` has written",
            ));
        }
    }
    Ok(())
}

/// True if the JSON object in the file `path` has this `name`.
fn is_named(path: &Path, name: &str) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice::<Value>(&bytes).is_ok_and(|found| found["name"] == name)
}

fn copy_program(from: &Path, to: &Path) -> Result<(), CommandError> {
    write_file(to, b"")?;
    fs::copy(from, to).map(drop).map_err(|error| {
        let from = from.display();
        CommandError::failed(format!(
            "{from} can't be copied into the bundle: {}",
            reason_of(&error)
        ))
        .with_hint("check the path, and start fp from where it is now")
    })
}

fn write_file(path: &Path, contents: &[u8]) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, contents))
        .map_err(|source| unwritable(path, source))
}
