//! Finds plan folders by id, part of an id or number, and creates them. Users and agents name plans, so an id
//! is never used as a path, and a link never leads out of the repository.

mod archive;
mod record;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use fp_plan::plan::id::{InvalidId, PlanId};
use fp_plan::settings::Settings;
use fp_run::interview::slug;
use fp_run::report::status::StatusReport;
use jiff::civil::Date;

use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file;
use crate::lead::LeadLook;
use crate::platform;
use crate::repo::Repo;
use crate::store::{FOREIGN, Store};

pub use archive::ARCHIVED;
pub use record::{OfLayer, PlanRecord, StoredRecord};

/// The files that `fp` and its agents write into the folder of a plan.
const PLAN_FILES: &str = "analysis.md archived.json context.md critique.md events.jsonl execution-state.json \
    fleet.json handoff.md import.json interview.json interview.md lead.lock \
    linear-mapping.json lock material.md notepad.md plan.json plan.md pre-analysis.md \
    report.html research.md review.json signals.json sync.lock tasks.md waiting.jsonl";
/// The files that `fp` writes beside the plans' folders.
const BESIDE_PLANS: [&str; 3] = [IGNORE, "commit.lock", "worktrees.lock"];
const IGNORE: &str = ".gitignore";

/// True if `path`, relative to the folder of all plans, is a file of a plan. Changes in that folder aren't measured, so
/// nothing else may be written there.
pub fn is_plan_file(path: &str) -> bool {
    match path.split_once('/') {
        None => BESIDE_PLANS.contains(&path),
        Some((plan, file)) => PlanId::new(plan).is_ok() && is_file_of_plan(file),
    }
}

fn is_file_of_plan(file: &str) -> bool {
    match file.split_once('/') {
        None => PLAN_FILES.split(' ').any(|known| known == file),
        Some(("evidence", name)) => name.ends_with(".md"),
        Some(("unfinished", name)) => name.ends_with(".patch"),
        Some((kept, file)) => kept.starts_with(FOREIGN) && is_file_of_plan(file),
    }
}

/// Maximum number of plans for the same goal on one day.
const MAX_SUFFIX: u32 = 999;

/// The folder of one plan; it exists, and is a real folder inside the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFolder {
    id: PlanId,
    path: PathBuf,
}

impl PlanFolder {
    /// The plan's id, which is the folder's name.
    pub fn id(&self) -> &PlanId {
        &self.id
    }

    /// The folder's absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `name` in the folder. `name` is static, so it never comes from untrusted input.
    pub fn file(&self, name: &'static str) -> PathBuf {
        self.path.join(name)
    }
}

/// All plans of a repository.
#[derive(Debug, Clone)]
pub struct Plans {
    root: PathBuf,
    dir: PathBuf,
}

impl Plans {
    /// The plans of `repo`, in the folder that `settings` names. Accesses no file.
    pub fn of(repo: &Repo, settings: &Settings) -> Self {
        Self {
            root: repo.root.clone(),
            dir: repo.plans_dir(settings),
        }
    }

    /// The folder of all plans; it need not exist.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The ids of all plans, oldest first: by the date in the id, then by name. Their positions, from 1, are
    /// the numbers that select them. Skips files, links and names that are not ids.
    pub fn list(&self) -> HostResult<Vec<PlanId>> {
        if !self.dir_is_inside()? {
            return Ok(Vec::new());
        }
        let failed = HostError::reading(&self.dir);
        let mut ids = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name();
                ids.extend(name.to_str().and_then(|name| PlanId::new(name).ok()));
            }
        }
        ids.sort_by(|a, b| age(a).cmp(&age(b)));
        Ok(ids)
    }

    /// Opens the plan with exactly this id. Fails if there is none, or if its folder is a link.
    pub fn open(&self, id: &PlanId) -> HostResult<PlanFolder> {
        let missing = || not_found(id.as_str(), &self.list().unwrap_or_default());
        if !self.dir_is_inside()? {
            return Err(missing());
        }
        let path = self.dir.join(id.as_str());
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => Ok(PlanFolder {
                id: id.clone(),
                path,
            }),
            Ok(metadata) if metadata.is_symlink() => Err(HostError::link(&path)),
            Ok(_) => Err(not_a_folder(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing()),
            Err(error) => Err(HostError::reading(&path)(error)),
        }
    }

    /// Opens the plan that `selector` names: an id, a part of exactly one, or a number from [`Plans::list`].
    pub fn resolve(&self, selector: &str) -> HostResult<PlanFolder> {
        let id = PlanId::new(selector).map_err(no_id)?;
        let found = self.open(&id);
        match found.as_ref().is_err_and(HostError::is_no_plan) {
            true => self.open(&select_id(selector, self.list()?)?),
            false => found,
        }
    }

    /// Opens the plan that `selector` names or, without one, the only one whose run is not over.
    pub fn find(&self, selector: Option<&str>) -> HostResult<PlanFolder> {
        let Some(selector) = selector else {
            return self.only_active(activity_of);
        };
        self.resolve(selector).map_err(|error| match error.kind {
            HostErrorKind::NoPlan => {
                let archived = self.find_archived(selector);
                archived.map_or(error, |folder| self.archived_as(&folder))
            }
            _ => error,
        })
    }

    fn archived_as(&self, folder: &PlanFolder) -> HostError {
        let (id, path) = (folder.id(), folder.path());
        let path = path.strip_prefix(&self.root).unwrap_or(path).display();
        HostError::failed(format_args!("{id} is archived, in {path}"))
            .with_hint(format_args!("`fp plans restore {id}` brings it back"))
    }

    /// The archived plan that `selector` names. A number never names one.
    pub fn find_archived(&self, selector: &str) -> Option<PlanFolder> {
        let is_number = selector.parse::<usize>().is_ok();
        self.archived()
            .resolve(selector)
            .ok()
            .filter(|_| !is_number)
    }

    /// Opens the only active plan. `active` returns the line that describes a plan in a list, or `None` if the plan
    /// isn't active.
    fn only_active(
        &self,
        active: impl Fn(&PlanFolder) -> Option<String>,
    ) -> HostResult<PlanFolder> {
        let existing = self.list()?;
        let mut candidates = Vec::new();
        for (id, number) in existing.iter().zip(1..) {
            let folder = self.open(id)?;
            candidates.extend(active(&folder).map(|line| (number, line, folder)));
        }
        match candidates.len() {
            0 => Err(none_active(&existing)),
            1 => Ok(candidates.remove(0).2),
            count => {
                let lines = candidates
                    .into_iter()
                    .map(|(number, line, _)| (number, line));
                let listed = listed(&lines.collect::<Vec<_>>());
                let said = format!("no plan was named and {count} are active:{listed}");
                Err(HostError::failed(said).with_hint(NAME_ONE))
            }
        }
    }

    /// Creates the folder of a new plan for `goal` on the day `today`. Its id is the goal's slug and the date, with
    /// `-2`, `-3` … appended if that is taken. Two concurrent processes each get a different one.
    pub fn create(&self, goal: &str, today: Date) -> HostResult<PlanFolder> {
        self.make_dir()?;
        let base = format!("{}-{}", slug(goal), today.strftime("%Y%m%d"));
        for number in 1..=MAX_SUFFIX {
            let name = if number == 1 {
                base.clone()
            } else {
                format!("{base}-{number}")
            };
            let id = PlanId::new(name).map_err(no_id)?;
            if self.is_archived(&id) {
                continue;
            }
            let path = self.dir.join(id.as_str());
            match fs::create_dir(&path) {
                Ok(()) => return Ok(PlanFolder { id, path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(HostError::writing(&path)(error)),
            }
        }
        Err(
            HostError::failed(format_args!("there are too many plans called {base}"))
                .with_hint("say in the goal what is special about this plan"),
        )
    }

    /// True if the folder of all plans exists; fails if a link takes it out of the repository.
    fn dir_is_inside(&self) -> HostResult<bool> {
        match platform::real_path(&self.dir) {
            Ok(real) if !real.is_dir() => Err(not_a_folder(&self.dir)),
            Ok(real) if real.starts_with(&self.root) => Ok(true),
            Ok(target) => Err(leads_out(&self.dir, &target)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(HostError::reading(&self.dir)(error)),
        }
    }

    /// Creates the folder of all plans, ignored by git, if it doesn't exist.
    pub fn make_dir(&self) -> HostResult<()> {
        self.make_bare_dir()?;
        // A user who wants plans in git deletes this file, so it comes back only while there is no plan.
        match self.is_unignored()? {
            true => file::atomic_write(&self.dir.join(IGNORE), b"*\n"),
            false => Ok(()),
        }
    }

    /// True if there is no plan, and also no file that keeps plans out of git.
    fn is_unignored(&self) -> HostResult<bool> {
        Ok(fs::symlink_metadata(self.dir.join(IGNORE)).is_err() && self.list()?.is_empty())
    }

    fn make_bare_dir(&self) -> HostResult<()> {
        if self.dir_is_inside()? {
            return Ok(());
        }
        let mut above = self.dir.ancestors().skip(1);
        match above.find_map(|above| platform::real_path(above).ok()) {
            Some(real) if !real.starts_with(&self.root) => Err(leads_out(&self.dir, &real)),
            _ => file::make_folders(&self.dir),
        }
    }
}

/// The line that describes a plan in a list of active ones; `None` if its run is over. A plan with an unreadable log
/// counts as active: the command that opens it reports the error.
fn activity_of(folder: &PlanFolder) -> Option<String> {
    let lead = LeadLook::in_folder(folder.path());
    let Ok(loaded) = Store::new(folder.path().to_owned(), folder.id().clone()).load() else {
        return Some(folder.id().to_string());
    };
    let state = loaded.state;
    let is_over = state.run.is_some() && !state.is_running();
    (!is_over).then(|| StatusReport::new(&state, lead.presence(&state)).list_line())
}

/// Maximum number of plans that an error lists.
const MAX_LISTED: usize = 20;

const NAME_ONE: &str =
    "name a plan by its number, its id or a part of its id; `fp plans` lists them";
const PLAN_FIRST: &str =
    "plan a goal with `/fp:plan GOAL` in Claude Code, or by hand with `fp new GOAL`";

/// The error for text that can't be the id of a plan.
fn no_id(invalid: InvalidId) -> HostError {
    HostError::failed(format_args!("no plan has such a name: {invalid}")).with_hint(NAME_ONE)
}

/// The error if no plan matches `selector`. Lists the `existing` ones in the order of [`Plans::list`].
fn not_found(selector: &str, existing: &[PlanId]) -> HostError {
    let hint = match existing {
        [] => PLAN_FIRST,
        _ => NAME_ONE,
    };
    HostError::failed(format_args!(
        "no plan matches {selector:?}{}",
        others(existing)
    ))
    .with_hint(hint)
    .with_kind(HostErrorKind::NoPlan)
}

/// The error if no plan was named and none of the existing ones is active.
fn none_active(existing: &[PlanId]) -> HostError {
    let error = match existing {
        [] => HostError::failed("nothing is planned here yet").with_hint(PLAN_FIRST),
        _ => {
            let said = format!("no plan was named and none is active{}", others(existing));
            let hint = "name a plan by its number, its id or a part of its id; `fp plans --all` lists them";
            HostError::failed(said).with_hint(hint)
        }
    };
    error.with_kind(HostErrorKind::NoneActive)
}

/// The error if the folder of all plans leads out of the repository, to `target`.
fn leads_out(dir: &Path, target: &Path) -> HostError {
    let (dir, target) = (dir.display(), target.display());
    HostError::failed(format_args!(
        "{dir} leads out of the repository, to {target}"
    ))
    .with_hint(
        "put a real folder in the link's place, or set `plansDir` to one inside the repository",
    )
}

fn not_a_folder(path: &Path) -> HostError {
    HostError::failed(format_args!("{} is not a folder", path.display()))
        .with_hint("move the file out of the way")
}

fn others(existing: &[PlanId]) -> String {
    match existing {
        [] => ": there is no plan yet".to_owned(),
        _ => format!(
            "; there are:{}",
            listed(&(1..).zip(existing).collect::<Vec<_>>())
        ),
    }
}

/// Lists plans with their numbers, one per line: at most [`MAX_LISTED`], with a count of the rest.
fn listed(plans: &[(usize, impl Display)]) -> String {
    // Keeps the newest: the user most likely means one of those.
    let left_out = plans.len().saturating_sub(MAX_LISTED);
    let mut text = match left_out {
        0 => String::new(),
        _ => format!("\n  … {left_out} older ones"),
    };
    for (number, plan) in &plans[left_out..] {
        text += &format!("\n{number:>3}  {plan}");
    }
    text
}

/// Maximum number of digits in a plan's number. Anything longer is part of a date.
const MAX_NUMBER: usize = 3;

/// The id in `existing` that `selector` names: by a number from 1, or by a part of exactly one id. A number is never
/// taken for a part, since every id contains digits.
fn select_id(selector: &str, existing: Vec<PlanId>) -> HostResult<PlanId> {
    let part = selector.to_ascii_lowercase();
    let number = selector.parse::<usize>().ok();
    let number = number.filter(|_| selector.len() <= MAX_NUMBER);
    let is_meant = |(known, id): &(usize, &PlanId)| match number {
        Some(number) => *known == number,
        None => id.as_str().to_ascii_lowercase().contains(&part),
    };
    let matching: Vec<(usize, &PlanId)> = (1..).zip(&existing).filter(is_meant).collect();
    match matching[..] {
        [] => Err(not_found(selector, &existing)),
        [(_, id)] => Ok(id.clone()),
        _ => {
            let count = matching.len();
            let said = format!("{selector:?} matches {count} plans:{}", listed(&matching));
            Err(HostError::failed(said).with_hint(NAME_ONE))
        }
    }
}

/// The sort key of plans: the date in the id, its words, and the number after the date. Ids without a date come first.
fn age(id: &PlanId) -> (&str, &str, u32) {
    let text = id.as_str();
    let is_date = |part: &str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit());
    let dated = |text| str::rsplit_once(text, '-').filter(|(_, date)| is_date(date));
    if let Some((words, date)) = dated(text) {
        return (date, words, 1);
    }
    let numbered = text
        .rsplit_once('-')
        .and_then(|(rest, number)| Some((dated(rest)?, number.parse().ok()?)));
    match numbered {
        Some(((words, date), number)) => (date, words, number),
        None => ("", text, 1),
    }
}

#[cfg(test)]
mod tests;
