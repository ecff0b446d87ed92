//! `fp plans`: lists the plans and archives them.

use fp_host::lead::LeadLook;
use fp_host::plan::LOCK_PATIENCE;
use fp_host::store::Store;
use fp_run::report::status::{Phase, StatusReport};
use jiff::Timestamp;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandResult, Exit};

/// List the plans, archive one, or restore an archived one
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PlansArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Those that are over as well.
    #[arg(long)]
    all: bool,
    /// Those that were archived, instead.
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

pub(crate) fn run(args: PlansArgs, context: &Context) -> CommandResult {
    match args.action {
        Some(Action::Archive { plan }) => archive(&plan, context),
        Some(Action::Restore { plan }) => restore(&plan, context),
        None => list(&args, context),
    }
}

fn list(args: &PlansArgs, context: &Context) -> CommandResult {
    let plans = if args.archived {
        context.plans()?.archived()
    } else {
        context.plans()?
    };
    let mut rows = Vec::new();
    let mut hidden = 0;
    let mut exit = Exit::Done;
    for (i, id) in plans.list()?.into_iter().enumerate() {
        let folder = plans.open(&id)?;
        let lead = LeadLook::at(folder.path());
        let loaded = match Store::new(folder.path().to_owned(), id.clone()).load() {
            Ok(loaded) => loaded,
            Err(error) => {
                // One unreadable plan must not hide the others.
                context.printer.error(&error.into());
                exit = Exit::Findings;
                continue;
            }
        };
        context.notices(&loaded.notices);
        let report = StatusReport::new(&loaded.state, lead.presence(&loaded.state));
        if args.archived {
            rows.push(Row {
                number: None,
                archived_at: folder.archived_at(),
                report,
            });
        } else if !args.all && matches!(report.phase, Phase::Finished | Phase::Cancelled) {
            hidden += 1;
        } else {
            rows.push(Row {
                number: Some(i + 1),
                archived_at: None,
                report,
            });
        }
    }
    let json = rows.iter().map(|Row { number, archived_at, report }| {
        let mut row = json!({
            "number": number, "planId": report.plan_id, "phase": report.phase, "standing": report.standing,
            "counts": report.counts,
        });
        if args.archived {
            row["archivedAt"] = json!(archived_at);
        }
        row
    });
    let json = json!({ "plans": json.collect::<Vec<_>>() });
    context.report(&json, &text(&rows, hidden, args.archived))?;
    Ok(exit)
}

struct Row {
    /// The number that selects it; `None` for an archived plan.
    number: Option<usize>,
    archived_at: Option<Timestamp>,
    report: StatusReport,
}

fn text(rows: &[Row], hidden: usize, archived: bool) -> String {
    let mut text = String::new();
    for Row {
        number,
        archived_at,
        report,
    } in rows
    {
        let mut row = number
            .map(|number| format!("{number:>3}  "))
            .unwrap_or_default();
        row.push_str(&report.line());
        if let Some(at) = archived_at {
            row.push_str(&format!("  since {}", at.strftime("%Y-%m-%d")));
        }
        text.push_str(&format!("{}\n", row.trim_end()));
    }
    if rows.is_empty() {
        let none = if archived {
            "No plan is archived"
        } else {
            "No active plan; `fp new GOAL` makes one"
        };
        text.push_str(&format!("{none}\n"));
    }
    if hidden > 0 {
        text.push_str(&format!("({hidden} that are over: fp plans --all)\n"));
    }
    text
}

fn archive(plan: &str, context: &Context) -> CommandResult {
    let plan = context.open(Some(plan))?;
    let folder = context
        .plans()?
        .archive(&plan.folder, context.now(), LOCK_PATIENCE)?;
    let shown = context.shown(&folder);
    let json = json!({ "planId": plan.id(), "archived": true, "folder": folder });
    context.report(
        &json,
        &format!(
            "Archived {0} in {shown}\nTo restore it: fp plans restore {0}\n",
            plan.id()
        ),
    )
}

fn restore(plan: &str, context: &Context) -> CommandResult {
    let plans = context.plans()?;
    let plan = plans.archived().resolve(plan)?;
    let folder = plans.restore(&plan, LOCK_PATIENCE)?;
    let json = json!({ "planId": plan.id(), "archived": false, "folder": folder });
    context.report(
        &json,
        &format!("Restored {} to {}\n", plan.id(), context.shown(&folder)),
    )
}
