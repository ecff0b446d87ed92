//! `fp approve`.

use std::collections::BTreeSet;

use fp_core::run::approval;
use fp_core::run::decide::Approve;
use fp_core::run::event::Decider;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::source::Source;

/// Approve a plan, so that its tasks and their commands may run
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
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

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = Source::open(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let text = source.text()?;
    let parsed = source.valid_tree(&text)?;
    let leaves = approval::leaves(&parsed, &plan.settings.exclusive).map_err(CommandError::failed)?;
    let commands: BTreeSet<&str> =
        parsed.leaves().flat_map(|leaf| leaf.test_commands().chain(leaf.verify())).collect();
    // Without git a plan can be approved; `fp run start` is what needs it.
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
    match context.format {
        Format::Json => context.printer.json(&json!({
            "planId": plan.id(), "tasks": total, "commands": commands, "changed": changed,
        }))?,
        Format::Text => {
            let mut text = match changed {
                true => format!("Approved: {} with {}\n", plan.id(), counted(total, "task")),
                false => format!("Approved already: {} with {}\n", plan.id(), counted(total, "task")),
            };
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

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
