//! The guard at its work: before an edit, which it may refuse, and after it, when it is known to be made.

use fp_core::hook::guard::{Edit, Place, seen};
use fp_core::hook::identity::Agent;
use fp_core::run::state::TaskState;
use fp_core::settings::GuardMode;
use fp_host::claude::hook::HookEvent;
use fp_host::run::place::Site;

use super::identity::{self, Member};
use super::runs::place;
use crate::context::Context;
use crate::error::CommandError;

/// A builder that edits, and holds a task.
struct Editing<'e> {
    member: Member,
    context: Context,
    path: &'e str,
}

impl<'e> Editing<'e> {
    /// Who edits, if it is a builder with a task. Nothing is read for the main session.
    fn of(context: &Context, event: &'e HookEvent) -> Result<Option<Self>, CommandError> {
        let Some((path, kind)) = event.edited_path().zip(event.agent_type()) else { return Ok(None) };
        let Some(agent) = Agent::new(kind, event.agent_id(), None) else { return Ok(None) };
        let context = place(context, event);
        let Some(member) = identity::find(&context, &agent, event.session())? else { return Ok(None) };
        let holds = member.state.held_by(&member.name).is_some();
        Ok(holds.then_some(Self { member, context, path }))
    }

    fn task(&self) -> Option<&TaskState> {
        self.member.state.held_by(&self.member.name)
    }

    /// The task, its site, and where in it the edit is; nothing where it names no file.
    fn located(&self) -> Option<(&TaskState, Site<'_>, Place)> {
        let Member { plan, state, .. } = &self.member;
        let task = self.task()?;
        let site = Site::new(plan, state, task);
        let place = site.place(&self.context.cwd, self.path)?;
        Some((task, site, place))
    }

    fn mode(&self) -> GuardMode {
        self.member.plan.settings.guard.mode
    }

    fn objection(&self) -> Option<String> {
        let Member { plan, state, .. } = &self.member;
        let (task, site, place) = self.located()?;
        let extension = (plan.settings.guard.extend, plan.settings.plans_dir.as_str());
        Edit { state, task, place: &place, extension }.objection(|path| site.is_new(path))
    }
}

/// Why the edit that `event` asks for is refused, if it is.
pub(super) fn refuses(context: &Context, event: &HookEvent) -> Result<Option<String>, CommandError> {
    let editing = Editing::of(context, event)?.filter(|editing| editing.mode() == GuardMode::Deny);
    Ok(editing.and_then(|editing| editing.objection()))
}

/// Remembers whose the edit is that was made, and says what the builder is to be told of it, if anything.
pub(super) fn after_edit(context: &Context, event: &HookEvent) -> Result<Option<String>, CommandError> {
    let Some(editing) = Editing::of(context, event)? else { return Ok(None) };
    if let Some((task, _, Place::Work(path))) = editing.located() {
        let Member { plan, state, .. } = &editing.member;
        let id = &task.leaf.id;
        identity::log(&editing.context, plan, state, |state| seen(state, state.task(id)?, &path))?;
    }
    Ok(match editing.mode() {
        GuardMode::Warn => editing.objection(),
        GuardMode::Deny | GuardMode::Off => None,
    })
}
