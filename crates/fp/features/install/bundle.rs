//! `fp bundle`, and the folder that it writes: the plugin as the client loads it, and a marketplace that offers it.
//! Whoever reads that folder meanwhile finds the old plugin or the new one, never a mixture.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_host::claude::{MARKETPLACE, PLUGIN};
use fp_host::file::FileError;
use serde_json::{Value, json};

use super::target::{BundlePrograms, BundleTarget, TARGETS, TargetProgram};
use crate::assets::{self, PluginFile};
use crate::context::{Context, this_program};
use crate::error::{CommandError, CommandResult};

pub(super) const CATALOG_FOLDER: &str = ".claude-plugin";
const CATALOG: &str = "marketplace.json";
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";
/// The plugin's folder of programs, which the client has on its commands' PATH.
const PROGRAMS: &str = "bin";
pub(super) const STAGING: &str = ".fp-bundle-";
/// What macOS leaves in any folder that was looked at.
const FINDER: &str = ".DS_Store";

/// Write the plugin and a marketplace for it
///
/// DIR gets `fp/`, a complete plugin with this very program in it, and a marketplace that offers it, for
/// `claude plugin marketplace add DIR` or `claude --plugin-dir DIR/fp`. `fp install` does both at once.
///
/// With --binary it is a plugin for several platforms, and `bin/fp` starts the program for the machine it is on.
#[derive(Debug, clap::Args)]
pub(crate) struct BundleArgs {
    /// The folder to write: a new or empty one, or an earlier bundle, which is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The program for a platform, instead of this one: once for each. TARGET is the Rust compiler's name for the
    /// platform. A program that runs on this machine has to report this version.
    #[arg(long, value_name = "TARGET=PATH", value_parser = target_program)]
    binary: Vec<TargetProgram>,
}

fn target_program(text: &str) -> Result<TargetProgram, String> {
    let (target, path) = text.split_once('=').ok_or("it has no `=`")?;
    let target = BundleTarget::named(target).ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        format!("there is no target {target:?}; there are {}", known.join(", "))
    })?;
    Ok(TargetProgram { target, path: path.into() })
}

pub(crate) fn run(args: BundleArgs, context: &Context) -> CommandResult {
    let BundleArgs { out, binary } = args;
    let platforms: Vec<_> = binary.iter().map(|program| program.target.name).collect();
    let mut bundle = Bundle::of_this_program()?;
    if !binary.is_empty() {
        bundle.programs = BundlePrograms::Each(binary);
    }
    bundle.write(&out)?;
    let (plugin, version) = (out.join(PLUGIN), bundle.version());
    let mut text =
        format!("plugin       {} ({PLUGIN} {version})\nmarketplace  {}\n", plugin.display(), out.display());
    for (index, platform) in platforms.iter().enumerate() {
        let label = if index == 0 { "platforms" } else { "" };
        text += &format!("{label:<13}{platform}\n");
    }
    let report = json!({ "marketplace": out, "plugin": plugin, "version": version, "platforms": platforms });
    context.report(&report, &text)
}

/// What a bundle is made from.
#[derive(Debug)]
pub(super) struct Bundle<'a> {
    /// The plugin without its executable; the manifest `.claude-plugin/plugin.json` is among them.
    pub(super) files: Vec<PluginFile<'a>>,
    /// What becomes `bin/fp`.
    pub(super) programs: BundlePrograms,
}

impl Bundle<'static> {
    /// The plugin with this very program in it.
    pub(super) fn of_this_program() -> Result<Self, CommandError> {
        Ok(Self { files: assets::plugin_files(), programs: BundlePrograms::One(this_program()?) })
    }
}

impl Bundle<'_> {
    /// The version that the plugin's manifest states.
    pub(super) fn version(&self) -> String {
        self.manifest()["version"].as_str().expect("the manifest has a version").to_owned()
    }

    /// Writes the plugin to `out/fp` and the marketplace to `out/.claude-plugin`, in place of those of an
    /// earlier bundle; `out` is made if need be.
    ///
    /// Fails if `out` has anything that is not of a bundle, or can't be written.
    pub(super) fn write(&self, out: &Path) -> Result<(), CommandError> {
        let failed = |source| unwritable(out, source);
        self.programs.check(&self.version())?;
        check_ours(out)?;
        fs::create_dir_all(out).map_err(failed)?;
        remove_leftovers(out);
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(out).map_err(failed)?;
        let new = staging.path().join("new");
        let old = staging.path().join("old");
        self.write_plugin(&new.join(PLUGIN))?;
        write_file(&new.join(CATALOG_FOLDER).join(CATALOG), self.catalog().as_bytes())?;
        set_modes(&new, false).map_err(failed)?;
        fs::create_dir(&old).map_err(failed)?;
        for part in [PLUGIN, CATALOG_FOLDER] {
            swap(&new.join(part), &out.join(part), &old.join(part)).map_err(failed)?;
        }
        Ok(())
    }

    fn write_plugin(&self, folder: &Path) -> Result<(), CommandError> {
        for file in &self.files {
            write_file(&folder.join(&file.path), file.contents)?;
        }
        self.programs.write(&folder.join(PROGRAMS))
    }

    fn manifest(&self) -> Value {
        let file = self.files.iter().find(|file| file.path == MANIFEST).expect("the plugin has a manifest");
        serde_json::from_slice(file.contents).expect("the manifest is JSON")
    }

    fn catalog(&self) -> String {
        let manifest = self.manifest();
        let catalog = json!({
            "name": MARKETPLACE,
            "description": format!("Fractal Planner {}, as written by `fp bundle`", self.version()),
            "owner": manifest["author"],
            "plugins": [{
                "name": manifest["name"],
                "description": manifest["description"],
                "source": format!("./{PLUGIN}"),
                "license": manifest["license"],
                "category": "productivity",
            }],
        });
        format!("{catalog:#}\n")
    }
}

/// Removes the bundle at `out`; says whether there was one.
///
/// Fails, and removes nothing, if `out` has anything that is not of a bundle.
pub(super) fn remove(out: &Path) -> Result<bool, CommandError> {
    let failed = |source| unwritable(out, source);
    if !out.exists() {
        return Ok(false);
    }
    check_ours(out)?;
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    remove_leftovers(parent);
    // Moved away first, so that a removal that is cut short leaves nothing that looks like a bundle.
    let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(parent).map_err(failed)?;
    fs::rename(out, staging.path().join("old")).map_err(failed)?;
    staging.close().map_err(failed)?;
    Ok(true)
}

fn unwritable(path: &Path, source: io::Error) -> CommandError {
    let error = CommandError::from(FileError::Write { path: path.to_owned(), source });
    if error.hints.is_empty() { error.hint("name a folder that can be written") } else { error }
}

/// Refuses a folder with anything in it that a bundle does not have.
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
            Some(PLUGIN) => named(&entry.path().join(MANIFEST), PLUGIN),
            Some(CATALOG_FOLDER) => {
                only_file_is(&entry.path(), CATALOG) && named(&entry.path().join(CATALOG), MARKETPLACE)
            }
            Some(other) => other.starts_with(STAGING) || other == FINDER,
            None => false,
        };
        if !ours {
            let (out, found) = (out.display(), name.to_string_lossy());
            return Err(CommandError::failed(format!(
                "{out} is not a bundle of fp: it has `{}`",
                found.escape_debug()
            ))
            .hint("name an empty folder, or one that `fp bundle` has written"));
        }
    }
    Ok(())
}

/// Whether the JSON object in the file `path` has `name` as its name.
fn named(path: &Path, name: &str) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice::<Value>(&bytes).is_ok_and(|found| found["name"] == name)
}

fn only_file_is(folder: &Path, name: &str) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().map(|entry| entry.file_name()).all(|found| found == name || found == FINDER)
    })
}

/// Removes what an earlier write or removal that was killed has left. It is in nobody's way, so a failure doesn't
/// matter.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(STAGING)) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// Puts `new` in `place`, and what was there into `old`; puts that back if it fails.
fn swap(new: &Path, place: &Path, old: &Path) -> io::Result<()> {
    let had_one = place.symlink_metadata().is_ok();
    if had_one {
        fs::rename(place, old)?;
    }
    fs::rename(new, place).inspect_err(|_| {
        if had_one {
            // The failure that is reported is the first one.
            drop(fs::rename(old, place));
        }
    })
}

pub(super) fn write_file(path: &Path, contents: &[u8]) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, contents))
        .map_err(|source| unwritable(path, source))
}

/// Gives everything below `folder` the same modes whatever the umask: programs can be run by everybody, the rest
/// read.
#[cfg(unix)]
fn set_modes(folder: &Path, has_programs: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            set_modes(&entry.path(), has_programs || entry.file_name() == PROGRAMS)?;
        } else {
            set(&entry.path(), if has_programs { 0o755 } else { 0o644 })?;
        }
    }
    set(folder, 0o755)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "unix can fail")]
fn set_modes(_folder: &Path, _has_programs: bool) -> io::Result<()> {
    Ok(())
}
