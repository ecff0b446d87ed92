//! The plugin as the client loads it, in a folder of its own with a marketplace that offers it. Whoever
//! reads that folder meanwhile finds the old plugin or the new one, never a mixture.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_core::hint::Hint;
use serde::{Deserialize, Serialize};

use crate::file::{advice, reason};

mod program;
mod target;

pub use program::{Program, Programs};
pub use target::{TARGETS, Target};

/// Name of the plugin, and of its folder in the bundle.
pub const PLUGIN: &str = "fp";

/// Name of the marketplace that offers it.
pub const MARKETPLACE: &str = "fractal-planner";

const CATALOG_FOLDER: &str = ".claude-plugin";
const CATALOG: &str = "marketplace.json";
const MANIFEST: &str = ".claude-plugin/plugin.json";
/// The plugin's folder of programs, which the client has on its commands' PATH.
const PROGRAMS: &str = "bin";
const STAGING: &str = ".fp-bundle-";
/// What macOS leaves in any folder that was looked at.
const FINDER: &str = ".DS_Store";

/// One file of the plugin.
#[derive(Debug, Clone)]
pub struct BundleFile<'a> {
    /// Its path in the plugin, parts separated by `/`, none of them `..`.
    pub path: String,
    /// Its bytes.
    pub contents: &'a [u8],
}

/// What a bundle is made from.
#[derive(Debug)]
pub struct Bundle<'a> {
    /// The plugin without its executable; the manifest `.claude-plugin/plugin.json` is among them.
    pub files: Vec<BundleFile<'a>>,
    /// What becomes `bin/fp`.
    pub programs: Programs,
}

/// Why a bundle was not written or removed. Whatever was there before still is.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The manifest is missing from the files, or is none.
    #[error("the plugin's manifest is unusable: {0}")]
    Manifest(String),
    /// The program can't be copied from where it was started.
    #[error("{} can't be copied into the bundle: {}", path.display(), reason(source))]
    Executable {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program that was named can't be read.
    #[error("the program for {target}, {}, can't be read: {}", path.display(), reason(source))]
    Unreadable {
        /// What it was said to be for.
        target: Target,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Two programs would be for the same machines.
    #[error("{}", if first == second {
        format!("there are two programs for {first}")
    } else {
        format!("{first} and {second} are for the same machines")
    })]
    SamePlatform {
        /// The target that was named first.
        first: Target,
        /// The one after it.
        second: Target,
    },
    /// A file is no program, or one for another platform.
    #[error("{} is no program for {target}: {found}", path.display())]
    NotForTarget {
        /// The file.
        path: PathBuf,
        /// What it was said to be for.
        target: Target,
        /// What it is instead.
        found: String,
    },
    /// A program is not of the version of the plugin.
    #[error("{} is not fp {version}: `--version` says {answer:?}", path.display())]
    OtherVersion {
        /// The program.
        path: PathBuf,
        /// The first line of its answer.
        answer: String,
        /// The plugin's version.
        version: String,
    },
    /// The system refused.
    #[error("{} can't be written: {}", path.display(), reason(source))]
    Write {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is something else where the bundle should go.
    #[error("{} is not a bundle of fp: it has {found}", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// What is in it that is not of a bundle.
        found: String,
    },
}

impl Hint for BundleError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Manifest(_) => "this fp was not built properly: build it again".into(),
            Self::Executable { .. } => "start fp by a path where it still is, and try again".into(),
            Self::Unreadable { .. } => "name a program that is there and can be read".into(),
            Self::SamePlatform { .. } => "name one of them".into(),
            Self::NotForTarget { target, .. } => {
                format!("build it with `cargo build --release --target {target}`").into()
            }
            Self::OtherVersion { .. } => {
                "build it from the same sources as the fp that writes the bundle".into()
            }
            Self::Write { source, .. } => {
                advice(source).unwrap_or("name a folder that can be written").into()
            }
            Self::NotOurs { .. } => "name an empty folder, or one that `fp bundle` has written".into(),
        })
    }
}

/// The parts of the plugin's manifest that the marketplace repeats.
#[derive(Debug, Deserialize)]
struct Manifest {
    name: String,
    version: String,
    description: String,
    author: Author,
    license: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Author {
    name: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Catalog {
    name: String,
    description: String,
    owner: Author,
    plugins: Vec<Offer>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Offer {
    name: String,
    description: String,
    source: String,
    license: String,
    category: String,
}

impl Bundle<'_> {
    /// The version that the plugin's manifest states.
    pub fn version(&self) -> Result<String, BundleError> {
        self.manifest().map(|manifest| manifest.version)
    }

    /// Writes the plugin to `out/fp` and the marketplace to `out/.claude-plugin`, in place of those of an
    /// earlier bundle; `out` is made if need be.
    ///
    /// Fails if `out` has anything that is not of a bundle, or can't be written.
    pub fn write(&self, out: &Path) -> Result<(), BundleError> {
        let failed = |source| BundleError::Write { path: out.to_owned(), source };
        let catalog = self.catalog()?;
        self.programs.check(&self.version()?)?;
        check_ours(out)?;
        fs::create_dir_all(out).map_err(failed)?;
        remove_leftovers(out);
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(out).map_err(failed)?;
        let new = staging.path().join("new");
        let old = staging.path().join("old");
        self.write_plugin(&new.join(PLUGIN))?;
        write_file(&new.join(CATALOG_FOLDER).join(CATALOG), catalog.as_bytes())?;
        set_modes(&new, false).map_err(failed)?;
        fs::create_dir(&old).map_err(failed)?;
        for part in [PLUGIN, CATALOG_FOLDER] {
            swap(&new.join(part), &out.join(part), &old.join(part)).map_err(failed)?;
        }
        Ok(())
    }

    fn write_plugin(&self, folder: &Path) -> Result<(), BundleError> {
        for file in &self.files {
            write_file(&folder.join(&file.path), file.contents)?;
        }
        self.programs.write(&folder.join(PROGRAMS))
    }

    fn manifest(&self) -> Result<Manifest, BundleError> {
        let file = self.files.iter().find(|file| file.path == MANIFEST);
        let file = file.ok_or_else(|| BundleError::Manifest(format!("there is no {MANIFEST}")))?;
        serde_json::from_slice(file.contents).map_err(|error| BundleError::Manifest(error.to_string()))
    }

    fn catalog(&self) -> Result<String, BundleError> {
        let manifest = self.manifest()?;
        let catalog = Catalog {
            name: MARKETPLACE.into(),
            description: format!("Fractal Planner {}, as written by `fp bundle`", manifest.version),
            owner: manifest.author,
            plugins: vec![Offer {
                source: format!("./{PLUGIN}"),
                name: manifest.name,
                description: manifest.description,
                license: manifest.license,
                category: "productivity".into(),
            }],
        };
        let text = serde_json::to_string_pretty(&catalog)
            .map_err(|error| BundleError::Manifest(error.to_string()))?;
        Ok(text + "\n")
    }
}

/// Removes the bundle at `out`; says whether there was one.
///
/// Fails, and removes nothing, if `out` has anything that is not of a bundle.
pub fn remove(out: &Path) -> Result<bool, BundleError> {
    let failed = |source| BundleError::Write { path: out.to_owned(), source };
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

/// Refuses a folder with anything in it that a bundle does not have.
fn check_ours(out: &Path) -> Result<(), BundleError> {
    let foreign = |found: String| BundleError::NotOurs { path: out.to_owned(), found };
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(BundleError::Write { path: out.to_owned(), source }),
    };
    for entry in entries {
        let entry = entry.map_err(|source| BundleError::Write { path: out.to_owned(), source })?;
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
            return Err(foreign(format!("`{}`", name.to_string_lossy().escape_debug())));
        }
    }
    Ok(())
}

/// Whether the JSON object in the file `path` has `name` as its name.
fn named(path: &Path, name: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice::<Named>(&bytes).is_ok_and(|found| found.name == name)
}

fn only_file_is(folder: &Path, name: &str) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().map(|entry| entry.file_name()).all(|found| found == name || found == FINDER)
    })
}

/// What an earlier write or removal that was killed has left. It is in nobody's way, so that a failure is
/// none.
fn remove_leftovers(folder: &Path) {
    let is_leftover = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(STAGING));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_leftover(&entry.file_name()) {
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

fn write_file(path: &Path, contents: &[u8]) -> Result<(), BundleError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, contents))
        .map_err(|source| BundleError::Write { path: path.to_owned(), source })
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

#[cfg(test)]
mod tests;
