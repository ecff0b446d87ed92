//! `fp plans`.

use fp_core::report::status::{Phase, StatusReport};
use fp_host::store::Store;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;

/// List the plans
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Those that are over as well.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plans = context.plans()?;
    let mut rows = Vec::new();
    let mut hidden = 0;
    let mut exit = Exit::Done;
    for (i, id) in plans.list()?.into_iter().enumerate() {
        let folder = plans.open(&id)?;
        let loaded = match Store::new(folder.path().to_owned(), id.clone()).load() {
            Ok(loaded) => loaded,
            Err(error) => {
                // One plan that can't be read hides none of the others.
                context.printer.error(&error.into());
                exit = Exit::Findings;
                continue;
            }
        };
        context.notices(&loaded.notices);
        let report = StatusReport::new(&loaded.state);
        if !args.all && matches!(report.phase, Phase::Finished | Phase::Cancelled) {
            hidden += 1;
        } else {
            rows.push((i + 1, report));
        }
    }
    match context.format {
        Format::Json => {
            let rows = rows.iter().map(|(number, r)| {
                json!({ "number": number, "planId": r.plan_id, "phase": r.phase, "counts": r.counts })
            });
            context.printer.json(&json!({ "plans": rows.collect::<Vec<_>>() }))?;
        }
        Format::Text => context.printer.data(&text(&rows, hidden)),
    }
    Ok(exit)
}

fn text(rows: &[(usize, StatusReport)], hidden: usize) -> String {
    let mut text = String::new();
    for (number, report) in rows {
        let counts = &report.counts;
        let done = match counts.total {
            0 => String::new(),
            total => format!("  {} of {total} done", counts.completed),
        };
        let row = format!("{number:>3}  {:<44}  {:<9}{done}", report.plan_id, report.phase.word());
        text.push_str(&format!("{}\n", row.trim_end()));
    }
    if rows.is_empty() {
        text.push_str("No active plan; `fp new GOAL` makes one\n");
    }
    if hidden > 0 {
        text.push_str(&format!("({hidden} that are over: fp plans --all)\n"));
    }
    text
}
