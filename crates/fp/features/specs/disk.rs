//! The pages of specs, `.fractal-planner/specs/*.md` and the folders one level below. A link is followed as long as it
//! stays in the repository; one page that can't be read never hides the others.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_host::file::{self, FileError};
use fp_host::repo::{HOME, Repo};
use fp_host::store::acquire;
use fp_plan::hint::Hint as _;
use fp_plan::text::visible_line;
use ignore::WalkBuilder;
use serde::Serialize;

use super::model::{Spec, SpecName, parse_spec};
use crate::context::Context;
use crate::error::CommandError;

/// Largest page that is read, in bytes.
const CAP: u64 = 1024 * 1024;

/// Why a page was not read.
#[derive(Debug, Serialize)]
pub(super) struct SpecFault {
    pub(super) path: PathBuf,
    message: String,
    hint: String,
}

impl SpecFault {
    fn new(path: &Path, message: impl ToString, hint: &str) -> Self {
        Self { path: path.to_owned(), message: message.to_string(), hint: hint.to_owned() }
    }

    pub(super) fn line(&self) -> String {
        visible_line(&format!("{} ({})", self.message, self.hint))
    }
}

impl From<FileError> for SpecFault {
    fn from(error: FileError) -> Self {
        Self::new(error.path(), &error, error.hint().as_deref().unwrap_or("look at the file"))
    }
}

impl From<SpecFault> for CommandError {
    fn from(SpecFault { message, hint, .. }: SpecFault) -> Self {
        Self::failed(message).hint(hint)
    }
}

/// The specs of a repository, by name, and what is wrong with the other pages.
#[derive(Debug, Default)]
pub(super) struct ProjectSpecs {
    pub(super) specs: Vec<Spec>,
    pub(super) faults: Vec<SpecFault>,
    folder: PathBuf,
}

impl ProjectSpecs {
    /// Where the page of the spec `name` is.
    pub(super) fn path(&self, name: &SpecName) -> PathBuf {
        self.folder.join(format!("{name}.md"))
    }

    /// The spec called `name`, with or without `.md`.
    pub(super) fn get(&self, name: &str) -> Option<&Spec> {
        let name = name.strip_suffix(".md").unwrap_or(name);
        self.specs.iter().find(|spec| spec.name.as_str() == name)
    }

    /// The pages in the folder and in those one level below, without hidden ones, sorted.
    fn find_pages(&mut self, repo: &Repo) -> Vec<(SpecName, PathBuf)> {
        let folder = self.folder.clone();
        if fs::symlink_metadata(&folder).is_err() {
            return Vec::new();
        }
        if let Err(fault) = refuse_outside(repo, &folder) {
            self.faults.push(fault);
            return Vec::new();
        }
        let mut pages = Vec::new();
        let mut walk = WalkBuilder::new(&folder);
        walk.standard_filters(false).hidden(true).follow_links(true).max_depth(Some(2));
        for entry in walk.build() {
            let path = match entry {
                Ok(entry) if entry.path().is_dir() => continue,
                Ok(entry) => entry.into_path(),
                Err(error) => {
                    self.faults.push(SpecFault::new(&folder, error, "make it readable, or remove it"));
                    continue;
                }
            };
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let below = path.strip_prefix(&folder).unwrap_or(&path).with_extension("");
            let name: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
            match name.unwrap_or_default().join("/").parse() {
                Ok(name) => pages.push((name, path)),
                Err(rule) => {
                    let message = format!("{} can't be a spec by its name", path.display());
                    self.faults.push(SpecFault::new(&path, message, rule));
                }
            }
        }
        pages.sort();
        pages
    }
}

fn specs_folder(repo: &Repo) -> PathBuf {
    repo.root.join(HOME).join("specs")
}

/// The specs of `repo`; none where it has no such folder.
pub(super) fn load_specs(repo: &Repo) -> ProjectSpecs {
    let mut found = ProjectSpecs { folder: specs_folder(repo), ..ProjectSpecs::default() };
    for (name, path) in found.find_pages(repo) {
        match read_page(repo, &path).and_then(|text| parse_page(name, &path, &text)) {
            Ok(spec) => found.specs.push(spec),
            Err(fault) => found.faults.push(fault),
        }
    }
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

/// The text of the spec `name`; `None` where there is no such file.
pub(super) fn page_text(repo: &Repo, name: &SpecName) -> Result<Option<String>, SpecFault> {
    let path = specs_folder(repo).join(format!("{name}.md"));
    if path.exists() { read_page(repo, &path).map(Some) } else { Ok(None) }
}

/// Appends what `addition` makes of the text of the spec `name`, `None` where there is no file yet; nothing where it
/// returns nothing. The text before it stays byte for byte. Says whether something was written.
pub(super) fn append_to_page(
    repo: &Repo,
    name: &SpecName,
    (lock, patience): (&Path, Duration),
    addition: impl FnOnce(Option<&str>) -> Option<String>,
) -> Result<bool, CommandError> {
    let path = specs_folder(repo).join(format!("{name}.md"));
    let _lock = acquire(lock, patience)?;
    let before = page_text(repo, name)?;
    if let Some(text) = &before {
        parse_page(name.clone(), &path, text)?;
    }
    let Some(addition) = addition(before.as_deref()) else { return Ok(false) };
    let folder = name.as_str().rsplit_once('/').map_or(String::new(), |(folder, _)| format!("/{folder}"));
    repo.make_folder(&format!("{HOME}/specs{folder}"))?;
    // A link within the repository stays one.
    let real = fs::canonicalize(&path).unwrap_or(path);
    file::atomic_write(&real, (before.unwrap_or_default() + &addition).as_bytes())?;
    Ok(true)
}

fn parse_page(name: SpecName, path: &Path, text: &str) -> Result<Spec, SpecFault> {
    parse_spec(name, text).map_err(|fault| {
        let message = format!("{}:{}:{}: {}", path.display(), fault.line, fault.column, fault.detail);
        SpecFault::new(path, message, fault.hint)
    })
}

fn read_page(repo: &Repo, path: &Path) -> Result<String, SpecFault> {
    refuse_outside(repo, path)?;
    Ok(file::read_text(path, CAP)?)
}

/// Fails where `path` leads out of the repository.
fn refuse_outside(repo: &Repo, path: &Path) -> Result<(), SpecFault> {
    let real = fs::canonicalize(path).map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if real.starts_with(&repo.root) {
        return Ok(());
    }
    let message = format!("{} leads out of the repository, to {}", path.display(), real.display());
    Err(SpecFault::new(path, message, "put a copy in its place, or move it elsewhere"))
}
