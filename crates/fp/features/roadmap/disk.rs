//! The pages of roadmaps, `.fractal-planner/roadmaps/ID.md` of the main checkout, which the user commits. A link never
//! leads out of the repository.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use fp_core::diagnostic::{Diagnostic, Severity};
use fp_core::interview::slug::slug;
use fp_core::plan::id::RoadmapId;
use fp_core::text::counted;
use fp_host::file::{self, FileError};
use fp_host::repo::{ROADMAPS, Repo};
use jiff::civil::Date;

use super::check::{UNMADE_INPUT, check_roadmap};
use super::model::{LayerPlan, Roadmap, RoadmapProgress, empty_page, read_roadmap};
use crate::context::Context;
use crate::context::Known;
use crate::error::CommandError;

/// Largest page that is read, in bytes.
const CAP: u64 = 1024 * 1024;
/// Most roadmaps of one goal on one day.
const MAX_SUFFIX: u32 = 999;
const NAME_ONE: &str = "name a roadmap by its id or a part of it";

pub(super) struct RoadmapPage {
    pub(super) id: RoadmapId,
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// The page that `selector` means, an id or a part of exactly one; without it, the only page there is.
pub(super) fn open_page(repo: &Repo, selector: Option<&str>) -> Result<RoadmapPage, CommandError> {
    let part = match selector {
        Some(selector) => {
            RoadmapId::new(selector).map_err(|why| CommandError::failed(why).hint(NAME_ONE))?.into()
        }
        None => String::new(),
    };
    let id = choose_id(list_ids(repo)?, &part)?;
    let path = page_path(repo, &id);
    let real = fs::canonicalize(&path).map_err(|source| FileError::Read { path: path.clone(), source })?;
    if !real.starts_with(&repo.root) {
        return Err(FileError::Link { path }.into());
    }
    Ok(RoadmapPage { text: file::read_text(&path, CAP)?, path, id })
}

/// The one of `ids` that is `part`, or else the only one that has it.
fn choose_id(ids: Vec<RoadmapId>, part: &str) -> Result<RoadmapId, CommandError> {
    if let Some(exact) = ids.iter().find(|id| id.as_str() == part) {
        return Ok(exact.clone());
    }
    let listed = |ids: &[RoadmapId]| ids.iter().map(|id| format!("\n  {id}")).collect::<String>();
    let has_part = |id: &&RoadmapId| id.as_str().to_lowercase().contains(&part.to_lowercase());
    let matching: Vec<RoadmapId> = ids.iter().filter(has_part).cloned().collect();
    match matching.as_slice() {
        [id] => Ok(id.clone()),
        [] if ids.is_empty() => {
            Err(CommandError::failed("there is no roadmap").hint("`fp roadmap new GOAL` makes one"))
        }
        [] => Err(CommandError::failed(format!("no roadmap matches {part:?}; there are:{}", listed(&ids)))
            .hint(NAME_ONE)),
        _ => {
            Err(CommandError::failed(format!("several roadmaps match:{}", listed(&matching))).hint(NAME_ONE))
        }
    }
}

/// The ids of all pages, sorted; none where there is no such folder.
fn list_ids(repo: &Repo) -> Result<Vec<RoadmapId>, CommandError> {
    let folder = repo.root.join(ROADMAPS);
    let failed = |source| FileError::Read { path: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error).into()),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".md"));
        ids.extend(id.and_then(|id| RoadmapId::new(id).ok()));
    }
    ids.sort();
    Ok(ids)
}

fn page_path(repo: &Repo, id: &RoadmapId) -> PathBuf {
    repo.root.join(ROADMAPS).join(format!("{id}.md"))
}

/// Begins the page of a new roadmap. Its id is the goal's slug and the date, with `-2`, `-3` … where that is taken; two
/// processes that ask at once each get their own.
pub(super) fn create_page(
    repo: &Repo,
    goal: &str,
    today: Date,
) -> Result<(RoadmapId, PathBuf), CommandError> {
    repo.make_folder(ROADMAPS)?;
    let base = format!("{}-{}", slug(goal), today.strftime("%Y%m%d"));
    for number in 1..=MAX_SUFFIX {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let id = RoadmapId::new(name).map_err(|why| CommandError::failed(why).hint("use other words"))?;
        let path = page_path(repo, &id);
        if file::write_if_absent(&path, empty_page(goal).as_bytes())? {
            return Ok((id, path));
        }
    }
    Err(CommandError::failed(format!("there are {MAX_SUFFIX} roadmaps {base} already"))
        .hint("use other words for the goal, or remove roadmaps that you don't need"))
}

/// The roadmap on `page` and all findings in it.
pub(super) fn check_page(page: &RoadmapPage, repo: &Repo) -> (Roadmap, Vec<Diagnostic>) {
    let (roadmap, parsed) = read_roadmap(&page.text);
    let exists =
        |path: &str| fs::canonicalize(repo.root.join(path)).is_ok_and(|real| real.starts_with(&repo.root));
    let found = check_roadmap(&roadmap, parsed, exists);
    (roadmap, found)
}

/// The roadmap on `page` and how far it is. Fails where the page has errors, except that a layer which is done may have
/// lost its inputs since.
pub(super) fn progress(page: &RoadmapPage, context: &Context) -> Result<RoadmapProgress, CommandError> {
    let (roadmap, found) = check_page(page, context.repo());
    let progress = RoadmapProgress::new(roadmap, layer_plans(&page.id, context)?);
    let counts = |finding: &&Diagnostic| {
        let lost = finding.rule == UNMADE_INPUT && progress.is_done(&finding.task_id);
        finding.severity == Severity::Error && !lost
    };
    match found.iter().filter(counts).count() {
        0 => Ok(progress),
        errors => {
            let (path, errors) = (context.shown(&page.path), counted(errors, "error"));
            Err(CommandError::refused(format!("{path} is not valid: it has {errors}"))
                .hint(format!("`fp roadmap check {}` shows them", page.id)))
        }
    }
}

/// The plans that make layers of the roadmap `id`, by layer. A plan that can't be read is named and left out.
fn layer_plans(id: &RoadmapId, context: &Context) -> Result<HashMap<String, Vec<LayerPlan>>, CommandError> {
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let mut found: HashMap<String, Vec<LayerPlan>> = HashMap::new();
    for Known { folder, state, archived } in &known {
        let layer = folder.layer().unwrap_or_else(|error| {
            context.printer.note(&format!("warning: plan {} is left out: {error}", folder.id()));
            None
        });
        if let (Some(layer), Ok(state)) = (layer.filter(|layer| layer.id == *id), state) {
            found.entry(layer.layer.to_string()).or_default().push(LayerPlan::new(state, *archived));
        }
    }
    Ok(found)
}
