//! `fp plans archive`.

use std::time::Duration;

use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// Put a plan away that is not running; nothing of it is deleted
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    let patience = Duration::from_secs(plan.settings.lock_timeout_seconds.into());
    let folder = context.plans()?.archive(&plan.folder, context.now(), patience)?;
    let shown = context.shown(&folder);
    let json = json!({ "planId": plan.id(), "archived": true, "folder": folder });
    let back = context.shown(plan.folder.path());
    context
        .report(&json, &format!("{} is archived in {shown}\nTo have it back: mv {shown} {back}\n", plan.id()))
}
