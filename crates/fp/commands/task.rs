//! `fp task`: adds or revises one task without planning anew.

use std::path::PathBuf;

use fp_host::file::{self, TASKS_CAP};
use fp_plan::diagnostic::Severity;
use fp_plan::plan::edit::{LeafPlace, NotPlaced, with_leaf};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::parse;
use fp_plan::rules::check;
use fp_run::run::approval;
use fp_run::run::decide::Approve;
use fp_run::run::event::Decider;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input::Input;
use crate::printer::Format;
use crate::source::PlanSource;

/// Most findings shown of those that an edit would cause.
const SHOWN: usize = 5;

/// Add a task to a plan, or change one that nobody has begun; the plan is approved again afterwards
#[derive(Debug, clap::Args)]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Put a new leaf behind the last subtask of a task
    Add {
        /// The plan.
        plan: String,
        /// The task that it is a part of; the id of the root for the top of the tree.
        #[arg(long, value_name = "TASK")]
        under: String,
        /// The leaf as it is to stand in `tasks.md`; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
    },
    /// Put a leaf in the place of the one with the same id
    Revise {
        /// The plan.
        plan: String,
        /// The leaf.
        task: TaskId,
        /// The leaf as it is to stand in `tasks.md`; `-` reads standard input.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
    },
}

pub(crate) fn run(args: TaskArgs, context: &Context) -> CommandResult {
    let (plan, place, file) = match &args.command {
        Command::Add { plan, under, file } => (plan, LeafPlace::Below(under), file),
        Command::Revise { plan, task, file } => (plan, LeafPlace::Instead(task.as_str()), file),
    };
    let given = Input::read(file, TASKS_CAP, context)?;
    let source = PlanSource::open(context, Some(plan))?;
    let plan = source.plan()?;
    // The lock keeps others from approving a tree that is being edited, or claiming from it.
    let ledger = plan.lock()?;
    let text = source.text()?;
    let edited = with_leaf(&text, place, &given.text).map_err(|error| refused(&error, &source))?;
    let (tree, problems) = parse(&edited.text);
    let found = check(&tree, &problems, &source.facts(&tree)?);
    let errors: Vec<_> = found.iter().filter(|finding| finding.severity == Severity::Error).collect();
    if !errors.is_empty() {
        let error = CommandError::refused(format!("with what {} says, the tree is not valid", given.name));
        let line = |error, finding: &&fp_plan::diagnostic::Diagnostic| {
            CommandError::hint(error, format!("{}: {}", finding.task_id, finding.detail))
        };
        return Err(errors.iter().take(SHOWN).fold(error, line));
    }
    let leaves = approval::leaves(&tree, &plan.settings.exclusive).map_err(CommandError::failed)?;
    if ledger.state().approval.is_some() {
        // Refuses an edit that the approval would refuse, before writing it.
        let tree_hash = approval::hash(edited.text.as_bytes());
        let approve = Approve {
            tree_hash,
            leaves,
            base: None,
            commits: None,
            end_commands: Vec::new(),
            by: Decider::User,
        };
        ledger.state().approve(approve)?;
    }
    file::atomic_write(&source.path, edited.text.as_bytes())?;
    let done = if matches!(place, LeafPlace::Below(_)) { "added" } else { "revised" };
    let id = &edited.task;
    match context.format {
        Format::Json => context.printer.json(&json!({ "planId": plan.id(), "task": id, "done": done }))?,
        Format::Text => context.printer.data(&format!(
            "Task {id} {done} in {}\nNext: fp approve {} when the user has seen it; until then it is not built\n",
            source.name,
            plan.id(),
        )),
    }
    Ok(Exit::Done)
}

fn refused(error: &NotPlaced, source: &PlanSource) -> CommandError {
    let refused = CommandError::refused(error);
    match error {
        NotPlaced::UnknownTask(_) | NotPlaced::HasSubtasks(_) => {
            refused.hint(format!("`fp show {}` shows the tree", source.argument()))
        }
        NotPlaced::NotInAList(_) => {
            refused.hint(format!("`fp fmt {}` writes the tree as a list", source.argument()))
        }
        NotPlaced::NotALeaf | NotPlaced::OtherId { .. } => {
            refused.hint("give one leaf with all its fields, as the tree has them")
        }
        NotPlaced::ChangesAnother(_) => refused.hint("choose another task to put it under"),
    }
}
