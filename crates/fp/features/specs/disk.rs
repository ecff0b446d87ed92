//! The pages of specs, `.fractal-planner/specs/*.md` and the folders one level below. A link is followed as long as it
//! stays in the repository. A page that can't be read never hides the others.

use std::fs;
use std::path::{Path, PathBuf};

use fp_host::file::{self, FileError};
use fp_host::platform;
use fp_host::repo::{HOME, Repo};
use ignore::WalkBuilder;

use super::model::{Spec, SpecFault, SpecName, parse_spec};
use crate::context::Context;
use crate::error::CommandError;

/// Largest page that is read, in bytes.
const CAP: u64 = 1024 * 1024;

/// The specs of a repository, sorted by name, and the faults of its other pages.
#[derive(Debug, Default)]
pub(super) struct ProjectSpecs {
    pub(super) specs: Vec<Spec>,
    pub(super) faults: Vec<SpecFault>,
    folder: PathBuf,
}

impl ProjectSpecs {
    pub(super) fn path(&self, name: &SpecName) -> PathBuf {
        self.folder.join(format!("{name}.md"))
    }

    /// The spec `name`; `None` where it has no page. Fails where the page can't be read.
    pub(super) fn find(&self, name: &SpecName) -> Result<Option<&Spec>, CommandError> {
        let path = self.path(name);
        match self.faults.iter().find(|fault| fault.path == path) {
            Some(fault) => Err(fault.into()),
            None => Ok(self.specs.iter().find(|spec| spec.name == *name)),
        }
    }
}

/// The specs of `repo`. A missing folder means none.
pub(super) fn load_specs(repo: &Repo) -> ProjectSpecs {
    let folder = repo.root.join(HOME).join("specs");
    let mut found = ProjectSpecs {
        folder: folder.clone(),
        ..ProjectSpecs::default()
    };
    if fs::symlink_metadata(&folder).is_err() {
        return found;
    }
    if let Err(fault) = refuse_outside(repo, &folder) {
        found.faults.push(fault);
        return found;
    }
    let mut walk = WalkBuilder::new(&folder);
    walk.standard_filters(false)
        .hidden(true)
        .follow_links(true)
        .max_depth(Some(2));
    walk.sort_by_file_path(Path::cmp);
    for entry in walk.build() {
        let page = match entry {
            Ok(entry) if entry.path().is_dir() => continue,
            Ok(entry)
                if entry
                    .path()
                    .extension()
                    .is_none_or(|extension| extension != "md") =>
            {
                continue;
            }
            Ok(entry) => read_page(repo, &folder, entry.path()),
            Err(error) => Err(SpecFault::new(
                &folder,
                error,
                "make it readable, or remove it",
            )),
        };
        match page {
            Ok(spec) => found.specs.push(spec),
            Err(fault) => found.faults.push(fault),
        }
    }
    found.specs.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// As [`load_specs`], with a warning for each page that can't be read.
pub(super) fn load_with_warnings(context: &Context) -> ProjectSpecs {
    let found = load_specs(context.repo());
    for fault in &found.faults {
        context.printer.note(&format!("warning: {}", fault.line()));
    }
    found
}

/// Writes the page of the spec `name`.
pub(super) fn write_page(repo: &Repo, name: &SpecName, text: &str) -> Result<(), CommandError> {
    let folder = name
        .as_str()
        .rsplit_once('/')
        .map_or(String::new(), |(folder, _)| format!("/{folder}"));
    let path = repo
        .make_folder(&format!("{HOME}/specs{folder}"))?
        .join(format!("{}.md", name.file()));
    // A link within the repository stays one.
    let real = platform::real_path(&path).unwrap_or(path);
    Ok(file::atomic_write(&real, text.as_bytes())?)
}

fn read_page(repo: &Repo, folder: &Path, path: &Path) -> Result<Spec, SpecFault> {
    let below: Option<Vec<&str>> = path
        .strip_prefix(folder)
        .unwrap_or(path)
        .iter()
        .map(|part| part.to_str())
        .collect();
    let name = below
        .unwrap_or_default()
        .join("/")
        .parse()
        .map_err(|rule| {
            let message = format!("{} can't be a spec by its name", path.display());
            SpecFault::new(path, message, rule)
        })?;
    refuse_outside(repo, path)?;
    parse_spec(name, path, file::read_text(path, CAP)?)
}

/// Fails where `path` leads out of the repository.
fn refuse_outside(repo: &Repo, path: &Path) -> Result<(), SpecFault> {
    let real = platform::real_path(path).map_err(|source| FileError::Read {
        path: path.to_owned(),
        source,
    })?;
    if real.starts_with(&repo.root) {
        return Ok(());
    }
    let message = format!(
        "{} leads out of the repository, to {}",
        path.display(),
        real.display()
    );
    Err(SpecFault::new(
        path,
        message,
        "put a copy in its place, or move it elsewhere",
    ))
}
