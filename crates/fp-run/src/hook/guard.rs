//! Decides which edits of a builder belong to its task. The guard applies the same boundary as verification: an edit it
//! allows doesn't fail there, and a builder learns of one that would fail before doing the work.

use crate::run::State;
use crate::run::event::Event;
use crate::run::state::{Status, TaskState};
use crate::verification::Boundary;
use fp_plan::plan::path::covers;
use fp_plan::repo_path::RepoPath;
use fp_plan::text::{prompt_path, prompt_quoted, shell_quoted};

/// Maximum number of a task's files listed in an objection.
const NAMED: usize = 5;

/// Maximum length of a path in a suggested command, in bytes.
const MAX_ARGUMENT: usize = 200;

/// The target of an edit, with links resolved. Paths stored as strings are spelled the way the agent knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditPlace {
    /// In the task's working tree.
    Work(RepoPath),
    /// In another checkout of the repository: the path in it, and the same file in the task's working tree.
    OtherCheckout(RepoPath, String),
    /// In the folder of plans.
    Plans(String),
    /// In git's own folder.
    Git(String),
    /// In a folder for temporary files.
    Temporary,
    /// Anywhere else.
    Outside(String),
}

/// An edit that a builder is about to make, or has just made.
#[derive(Debug, Clone)]
pub struct GuardedEdit<'a> {
    pub state: &'a State,
    /// The builder's task.
    pub task: &'a TaskState,
    pub place: EditPlace,
}

impl GuardedEdit<'_> {
    /// Returns the objection to the edit, with advice on how to proceed, or `None` if the edit is fine. `is_new` must
    /// tell whether a path in the working tree was missing when the task was claimed.
    pub fn objection(&self, is_new: impl FnOnce(&RepoPath) -> bool) -> Option<String> {
        let (plan, id) = (&self.state.plan_id, &self.task.leaf.id);
        match &self.place {
            EditPlace::Temporary => None,
            EditPlace::Plans(path) => Some(format!(
                "{} is in the plans folder, which only fp writes. To leave a note for later builders: \
                 fp note {plan} add 'GOTCHA: ...'",
                prompt_path(path)
            )),
            EditPlace::Git(path) => Some(format!(
                "{} belongs to git: a builder changes only its task's files.",
                prompt_path(path)
            )),
            EditPlace::Outside(path) => Some(format!(
                "{} is outside the repository: a builder changes only its task's files. Scratch files belong in the \
                 folder for temporary files.",
                prompt_path(path)
            )),
            EditPlace::Work(_) | EditPlace::OtherCheckout(..)
                if self.task.status == Status::AwaitingVerification =>
            {
                Some(format!(
                    "task {id} of {plan} is handed in and will be verified as it is. End your turn: you are told if \
                     something needs fixing."
                ))
            }
            EditPlace::Work(path) => {
                (!self.boundary().allows(path, || is_new(path))).then(|| self.not_listed(path))
            }
            EditPlace::OtherCheckout(path, instead) => {
                match self.boundary().allows(path, || true) {
                    true => Some(format!(
                        "task {id} of {plan} is not done in this checkout: edit {}",
                        prompt_path(instead)
                    )),
                    false => Some(self.not_listed(path)),
                }
            }
        }
    }

    fn boundary(&self) -> Boundary {
        Boundary::new(self.task.files())
    }

    fn not_listed(&self, path: &RepoPath) -> String {
        let (plan, id) = (&self.state.plan_id, &self.task.leaf.id);
        let files = self.task.files().take(NAMED);
        let files = files.map(|file| prompt_path(&RepoPath::from(file).to_string()));
        let files: Vec<String> = files.collect();
        let listed = match self.task.files().count() {
            0 => "no files".to_owned(),
            1..=NAMED => files.join(", "),
            _ => format!("{} and more", files.join(", ")),
        };
        let (shown, way_out) = (prompt_path(&path.to_string()), self.way_out(path));
        format!("task {id} of {plan} lists {listed}; {shown} is not among its files. {way_out}")
    }

    /// The builder's options for a path outside its task's files.
    fn way_out(&self, path: &RepoPath) -> String {
        let wanted = path.to_lossy();
        if self.task.held().any(|file| covers(file, &wanted)) {
            return "Do without it: only tools write it.".into();
        }
        let (plan, id) = (&self.state.plan_id, &self.task.leaf.id);
        let claim = self.task.claim.as_ref();
        let token = claim.map_or("", |claim| claim.token.as_str());
        let path = path.to_string();
        let is_plain = prompt_quoted(&path, MAX_ARGUMENT) == format!("\"{path}\"");
        let path = if is_plain {
            shell_quoted(&path)
        } else {
            "PATH".to_owned()
        };
        format!(
            "If the task can't be done without it: fp scope extend {plan} {id} {path} --claim {token} --reason '...'"
        )
    }
}

/// Returns an event that records who edited `path` in a checkout shared by several builders, unless the task lists the
/// file or the log already has the edit.
pub fn edit_seen(state: &State, task: &TaskState, path: &RepoPath) -> Option<Event> {
    let shared = task.worktree().is_none() && state.terms().builders > 1;
    let telling =
        shared && !Boundary::new(task.files()).covers(path) && !task.edited.contains(path);
    telling.then(|| Event::Edited {
        task: task.leaf.id.clone(),
        path: path.clone(),
    })
}
