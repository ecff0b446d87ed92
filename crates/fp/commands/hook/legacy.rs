//! The nudge for teammates of plans of fractal-planner 0.1.

use fp_core::hook::Reply;
use fp_core::hook::legacy::{Builder, goes_idle};
use fp_host::claude::client_home;
use fp_host::claude::hook::{HookEvent, block};
use fp_host::claude::team::TeamFiles;

use super::runs::place;
use crate::context::Context;
use crate::error::CommandError;

/// A teammate of a team of 0.1 goes idle.
pub(super) fn teammate_goes_idle(event: &HookEvent, context: &Context) -> Result<(), CommandError> {
    let builder = event.team().zip(event.teammate()).and_then(|(team, name)| Builder::new(team, name));
    let Some((builder, home)) = builder.zip(client_home(&|name| context.env(name))) else { return Ok(()) };
    let max = place(context, event).settings()?.nudge.times();
    if max == 0 || event.stop_hook_active() {
        return Ok(());
    }
    let files = TeamFiles::of(&home, &builder);
    let (count, reply) = goes_idle(&builder, &files.tasks(), files.nudges(), max);
    files.keep(&count, context.now()).map_err(CommandError::failed)?;
    if let Reply::Continue(reason) = reply {
        context.printer.data(&(block(&reason) + "\n"));
    }
    Ok(())
}
