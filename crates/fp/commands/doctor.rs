//! `fp doctor`.

use fp_core::doctor::Level;
use fp_host::doctor::{examine, mend};
use fp_host::plan::OpenPlan;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::doctor;

/// Look for what is wrong with a plan, and say what mends it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
    /// Mend what takes no judgement: what follows from the log is made anew, what killed processes left is removed.
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    context.resume_archiving()?;
    let folder = context.plans()?.resolve(&args.plan)?;
    // Settings of the plan that can't be read are one of the findings.
    let settings = context.settings_for(&folder).or_else(|_| context.settings().cloned())?;
    let plan = OpenPlan::new(context.repo().clone(), settings, folder);
    let mut findings = examine(&plan, context.now());
    let mut mended = Vec::new();
    if args.fix {
        mended = mend(&plan, &findings)?;
        findings = examine(&plan, context.now());
    }
    let count = |level: Level| findings.iter().filter(|found| found.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    match context.format {
        Format::Json => context.printer.json(&json!({
            "planId": plan.id(), "errors": errors, "warnings": warnings, "mended": mended, "findings": findings,
        }))?,
        Format::Text => context.printer.data(&doctor::text(plan.id(), &findings, &mended)),
    }
    Ok(if errors > 0 { Exit::Findings } else { Exit::Done })
}
