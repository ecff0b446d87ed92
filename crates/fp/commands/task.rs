//! `fp task`: adds, changes or removes one task without replanning.

use std::path::PathBuf;

use fp_host::file::{self, TASKS_CAP};
use fp_host::run::evidence::write_notepad;
use fp_plan::diagnostic::Severity;
use fp_plan::edit::{EditedTree, LeafPlace, NotPlaced, with_leaf, without_leaf};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::parse;
use fp_plan::rules::check_plan;
use fp_run::run::approval;
use fp_run::run::event::{Approve, Decider, Event, Note};
use fp_run::run::notepad::NoteKind;
use fp_run::run::state::{State, Status, TaskState};
use serde_json::json;

use super::review::add_from_review;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::input::Input;
use crate::source::PlanSource;

/// Maximum number of findings to show for an edit.
const SHOWN: usize = 5;

/// Add, change or remove a task that has not begun; approve the plan again afterwards
#[derive(Debug, clap::Subcommand)]
pub(crate) enum TaskArgs {
    /// Add a new leaf after the last subtask of a task
    Add {
        /// The plan; defaults to the only active one.
        plan: Option<String>,
        /// Its parent task; the id of the root for the top of the tree.
        #[arg(long, value_name = "TASK", required_unless_present = "from_review")]
        under: Option<String>,
        /// A file with the leaf's text for `tasks.md`; `-` reads standard input.
        #[arg(long, value_name = "FILE", required_unless_present = "from_review")]
        file: Option<PathBuf>,
        /// Add a leaf for each unresolved discussion of the plan's pull request instead.
        #[arg(long, conflicts_with_all = ["under", "file"])]
        from_review: bool,
    },
    /// Replace the leaf with the same id
    #[command(allow_missing_positional = true)]
    Revise {
        /// The plan; defaults to the only active one.
        plan: Option<String>,
        /// The leaf.
        task: TaskId,
        /// A file with the leaf's text for `tasks.md`; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
    },
    /// Remove a leaf, and the dependencies on it
    #[command(allow_missing_positional = true)]
    Remove {
        /// The plan; defaults to the only active one.
        plan: Option<String>,
        /// The leaf.
        task: TaskId,
    },
}

pub(crate) fn run(args: TaskArgs, context: &Context) -> CommandResult {
    let (plan, file, done) = match &args {
        TaskArgs::Add {
            plan,
            from_review: true,
            ..
        } => {
            return add_from_review(plan.as_deref(), context);
        }
        TaskArgs::Add { plan, file, .. } => (plan, file.as_ref(), "added"),
        TaskArgs::Revise { plan, file, .. } => (plan, Some(file), "revised"),
        TaskArgs::Remove { plan, .. } => (plan, None, "removed"),
    };
    let given = file
        .map(|file| Input::read(file, TASKS_CAP, context))
        .transpose()?;
    let leaf = given.as_ref().map_or("", |given| &*given.text);
    let source = PlanSource::open(context, plan.as_deref())?;
    let plan = source.plan()?;
    // The lock keeps others from approving the tree or claiming from it during the edit.
    let mut ledger = plan.lock()?;
    let text = source.read_text()?;
    let edited = match &args {
        TaskArgs::Add { under, .. } => {
            let parent = under.as_deref().unwrap_or_default();
            with_leaf(&text, LeafPlace::Below(parent), leaf)
        }
        TaskArgs::Revise { task, .. } => with_leaf(&text, LeafPlace::Instead(task.as_str()), leaf),
        TaskArgs::Remove { task, .. } => without_leaf(&text, task.as_str()),
    };
    let edited = edited.map_err(|error| not_placed_error(&error, &source))?;
    refuse_needed(&edited, ledger.state())?;
    let (tree, problems) = parse(&edited.text);
    let found = check_plan(&tree, &problems, &source.facts(&tree)?);
    let errors: Vec<_> = found
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    if !errors.is_empty() {
        let edit = match &given {
            Some(given) => format!("with what {} says", given.name),
            None => format!("once the task is {done}"),
        };
        let error = CommandError::refused(format!("{edit}, the tree is not valid"));
        let line = |error, finding: &&fp_plan::diagnostic::Diagnostic| {
            CommandError::with_hint(error, format!("{}: {}", finding.task_id, finding.detail))
        };
        return Err(errors.iter().take(SHOWN).fold(error, line));
    }
    let leaves =
        approval::leaves_to_run(&tree, &plan.settings.exclusive).map_err(CommandError::failed)?;
    if ledger.state().approval.is_some() {
        // An edit that the approval would refuse is refused before it is written.
        let tree_hash = approval::hash(edited.text.as_bytes());
        let approve = Approve {
            tree_hash,
            leaves,
            base: None,
            commits: None,
            end_commands: Vec::new(),
            setup: tree.setup_commands().map(str::to_owned).collect(),
            by: Decider::User,
        };
        ledger.state().approve(approve)?;
    }
    file::atomic_write(&source.path, edited.text.as_bytes())?;
    let id = &edited.task;
    if let Some(note) = removal_note(&edited).filter(|_| ledger.state().approval.is_some()) {
        write_notepad(
            plan,
            &ledger.after(std::slice::from_ref(&note), context.now()),
        )?;
        ledger.append(vec![note], context.now())?;
    }
    let notes: Vec<String> = edited
        .loosened
        .iter()
        .map(|other| format!("Task {other} no longer waits for {id}"))
        .collect();
    let shown: String = notes.iter().map(|note| format!("{note}\n")).collect();
    let text = format!(
        "Task {id} {done} in {}\n{shown}Next: fp approve {} when the user has seen it{}\n",
        source.name,
        plan.id(),
        if file.is_some() {
            "; until then it is not built"
        } else {
            ""
        },
    );
    context.report(
        &json!({ "planId": plan.id(), "task": id, "done": done, "notes": notes }),
        &text,
    )
}

/// Refuses to remove a task if a task that depends on it has begun.
fn refuse_needed(edited: &EditedTree, state: &State) -> Result<(), CommandError> {
    let begun = |task: &&TaskState| !matches!(task.status, Status::Pending | Status::Skipped);
    let waiting = state
        .tasks
        .iter()
        .filter(begun)
        .find(|task| edited.loosened.iter().any(|id| id == task.leaf.id.as_str()));
    let Some(TaskState { leaf, status, .. }) = waiting else {
        return Ok(());
    };
    let (id, other, word) = (&edited.task, &leaf.id, status.into_str());
    Err(CommandError::refused(format!(
        "task {id} stays: task {other}, which is {word}, waits for it"
    ))
    .with_hint("`fp task revise` changes a task that nobody has begun"))
}

/// A note for builders that lists the tasks that no longer depend on a removed one.
fn removal_note(edited: &EditedTree) -> Option<Event> {
    let waited = (!edited.loosened.is_empty()).then(|| edited.loosened.join(", "))?;
    let text = format!(
        "task {} was removed from the plan; what waited for it: {waited}",
        edited.task
    );
    Some(Event::Noted {
        note: Note {
            kind: NoteKind::Warn,
            text,
            task: None,
            place: None,
            ended: false,
        },
    })
}

fn not_placed_error(error: &NotPlaced, source: &PlanSource) -> CommandError {
    let refused = CommandError::refused(error);
    match error {
        NotPlaced::UnknownTask(_) | NotPlaced::HasSubtasks(_) => {
            refused.with_hint(format!("`fp show {}` shows the tree", source.argument()))
        }
        NotPlaced::NotInAList(_) => refused.with_hint(format!(
            "`fp validate {} --fmt` writes the tree as a list",
            source.argument()
        )),
        NotPlaced::NotALeaf | NotPlaced::OtherId { .. } => {
            refused.with_hint("give one leaf with all its fields, as the tree has them")
        }
        NotPlaced::ChangesAnother(_) => refused
            .with_hint("put it under another task, or edit the shape of the tree in tasks.md"),
    }
}
