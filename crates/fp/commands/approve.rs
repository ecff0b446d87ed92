//! `fp approve`: nothing runs before somebody has approved the tree with its commands.

use std::collections::BTreeSet;

use fp_plan::plan::id::TaskId;
use fp_plan::text::counted;
use fp_run::run::decide::Approve;
use fp_run::run::event::Decider;
use fp_run::run::{State, approval};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::source::PlanSource;

/// Approve a plan, so that its tasks and their commands may run
#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Who approves.
    #[arg(long, value_enum, default_value_t)]
    by: By,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum By {
    /// The user has seen the plan and agreed.
    #[default]
    User,
    /// The user asked for no review.
    Auto,
}

pub(crate) fn run(args: ApproveArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let text = source.text()?;
    let parsed = source.valid_tree(&text)?;
    let leaves = approval::leaves(&parsed, &plan.settings.exclusive).map_err(CommandError::failed)?;
    let commands: BTreeSet<&str> =
        parsed.leaves().flat_map(|leaf| leaf.test_commands().chain(leaf.verify())).collect();
    // Approval works without git; only `fp run start` needs it.
    let base = plan.git().ok().and_then(|git| git.head().ok()).map(|head| head.commit.to_string());
    let by = match args.by {
        By::User => Decider::User,
        By::Auto => Decider::Auto,
    };
    let total = leaves.len();
    let mut ledger = plan.lock()?;
    let events =
        ledger.state().approve(Approve { tree_hash: approval::hash(text.as_bytes()), leaves, base, by })?;
    let changed = !events.is_empty();
    ledger.append(events, context.now())?;
    let before = Before::of(ledger.state());
    for id in before.others.iter().filter(|_| changed) {
        context.printer.note(&format!(
            "note: what was done before the import as task {id} has another title or is gone: nothing counts as done for it"
        ));
    }
    match context.format {
        Format::Json => {
            let mut json = json!({
                "planId": plan.id(), "tasks": total, "commands": commands, "changed": changed,
            });
            if before.done > 0 {
                json["doneBefore"] = json!(before.done);
                json["unverified"] = json!(before.unverified);
            }
            context.printer.json(&json)?;
        }
        Format::Text => {
            let mut text = match changed {
                true => format!("Approved: {} with {}\n", plan.id(), counted(total, "task")),
                false => format!("Approved already: {} with {}\n", plan.id(), counted(total, "task")),
            };
            text.push_str(&before.text());
            if !commands.is_empty() {
                text.push_str("These commands may run:\n");
                commands.iter().for_each(|command| text.push_str(&format!("  {command}\n")));
            }
            text.push_str(&format!("Next: /fp:implement {}\n", plan.id()));
            context.printer.data(&text);
        }
    }
    Ok(Exit::Done)
}

/// Work that was done before the plan was imported.
struct Before {
    done: usize,
    unverified: usize,
    /// The imported tasks that the approved tree no longer has.
    others: Vec<TaskId>,
}

impl Before {
    fn of(state: &State) -> Self {
        let is_there = |id: &&TaskId| state.task(id).is_some_and(|task| task.imported);
        Self {
            done: state.tasks.iter().filter(|task| task.imported).count(),
            unverified: state.tasks.iter().filter(|task| task.is_unverified()).count(),
            others: state.imported.keys().filter(|id| !is_there(id)).cloned().collect(),
        }
    }

    fn text(&self) -> String {
        let proof = match self.unverified {
            0 => String::new(),
            count => format!(", {count} of them by nothing but what its source says"),
        };
        match self.done {
            0 => String::new(),
            done => format!("Done before the import: {}{proof}\n", counted(done, "task")),
        }
    }
}
