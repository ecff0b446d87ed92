//! `fp plans`: lists the plans and archives them.

use fp_host::plan::LOCK_PATIENCE;
use serde_json::json;

use crate::context::{Context, Known};
use crate::error::{CommandResult, Exit};

/// List the plans, archive one, or restore an archived one
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PlansArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Include finished plans.
    #[arg(long)]
    all: bool,
    /// List archived plans instead.
    #[arg(long, conflicts_with = "all")]
    archived: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Archive a plan that is not running; nothing is deleted
    Archive {
        /// The plan.
        plan: String,
    },
    /// Move an archived plan back to the others
    Restore {
        /// The archived plan.
        plan: String,
    },
}

pub(crate) fn run_plans(args: PlansArgs, context: &Context) -> CommandResult {
    match args.action {
        Some(Action::Archive { plan }) => archive_plan(&plan, context),
        Some(Action::Restore { plan }) => restore_plan(&plan, context),
        None => list_plans(&args, context),
    }
}

fn list_plans(args: &PlansArgs, context: &Context) -> CommandResult {
    let plans = match args.archived {
        true => context.plans()?.archived(),
        false => context.plans()?,
    };
    let known = Known::all_in(&plans, args.archived, |_| true)?;
    let (mut text, mut rows, mut over, mut exit) = (String::new(), Vec::new(), 0, Exit::Done);
    for (known, number) in known.into_iter().zip(1..) {
        let Some(report) = known.report() else {
            // One unreadable plan must not hide the others.
            known
                .state
                .inspect_err(|error| context.printer.error(error))
                .ok();
            exit = Exit::Findings;
            continue;
        };
        if !args.all && !args.archived && report.phase.is_over() {
            over += 1;
            continue;
        }
        let mut row = json!({
            "number": number, "planId": report.plan_id, "phase": report.phase, "standing": report.standing,
            "counts": report.counts,
        });
        let line = report.list_line();
        if args.archived {
            let at = known.folder.archived_at();
            let since = at.map_or_else(String::new, |at| {
                format!("  since {}", at.strftime("%Y-%m-%d"))
            });
            (row["number"], row["archivedAt"]) = (json!(null), json!(at));
            text += &format!("{}\n", format!("{line}{since}").trim_end());
        } else {
            text += &format!("{number:>3}  {}\n", line.trim_end());
        }
        rows.push(row);
    }
    if rows.is_empty() {
        text += match args.archived {
            true => "No plan is archived\n",
            false => "No active plan; `fp new GOAL` makes one\n",
        };
    }
    if over > 0 {
        text += &format!("({over} that are over: fp plans --all)\n");
    }
    context.report(&json!({ "plans": rows }), &text)?;
    Ok(exit)
}

fn archive_plan(plan: &str, context: &Context) -> CommandResult {
    let plan = context.open(Some(plan))?;
    let plans = context.plans()?;
    let folder = plans.archive(&plan.folder, context.now(), LOCK_PATIENCE)?;
    let (id, shown) = (plan.id(), context.display_path(&folder));
    let text = format!("Archived {id} in {shown}\nTo restore it: fp plans restore {id}\n");
    context.report(
        &json!({ "planId": id, "archived": true, "folder": folder }),
        &text,
    )
}

fn restore_plan(plan: &str, context: &Context) -> CommandResult {
    let plans = context.plans()?;
    let plan = plans.archived().resolve(plan)?;
    let folder = plans.restore(&plan, LOCK_PATIENCE)?;
    let (id, shown) = (plan.id(), context.display_path(&folder));
    let json = json!({ "planId": id, "archived": false, "folder": folder });
    context.report(&json, &format!("Restored {id} to {shown}\n"))
}
