//! Allows agents to call this program: each role has its own commands.

use std::path::Path;

use fp_host::bench::repository_around;
use fp_host::claude::hook::HookReply;
use fp_host::process::AGENT_NAME;
use fp_run::hook::own_command::{Caller, behind_cd};
use fp_run::hook::{BUILDER, agent_known, refuse_name, refuse_verdict};

use super::{IncomingHook, OngoingRun};
use crate::cli::{Cli, RoleCall};
use crate::error::CommandError;

/// `line` without a leading `cd` to a folder of this project, such as a builder's worktree: `fp` finds the same plans
/// there.
pub(super) fn line_in_project<'l>(hook: &IncomingHook, line: &'l str) -> &'l str {
    match behind_cd(line) {
        Some((folder, rest))
            if repository_around(Path::new(folder)).root == hook.context.repo().root =>
        {
            rest
        }
        _ => line,
    }
}

/// True if this process runs for an agent of `fp run` that isn't called `owner`.
fn is_of_another(owner: &str) -> bool {
    std::env::var(AGENT_NAME).is_ok_and(|name| name != owner)
}

/// Allows calls of this program, unless a builder claims under another builder's name, or an agent submits a verdict
/// without having been asked to. Records which agent the builder is.
pub(super) fn own_calls_are_about_to_run(
    hook: &IncomingHook,
    caller: Caller,
    calls: &[Vec<String>],
) -> Result<(), CommandError> {
    let kind = hook.event.agent_type.as_deref();
    let id = hook.event.agent_id.as_deref();
    let is_of_role = |call: &&Vec<String>| {
        let word = call.get(1);
        word.is_some_and(|word| word == "claim" || word == "verdict")
    };
    let mut learned = Vec::new();
    let of_role = calls.iter().filter(is_of_role);
    for call in of_role.filter_map(|call| Cli::role_call(call)) {
        let (RoleCall::Claim { plan, .. } | RoleCall::Verdict { plan, .. }) = &call;
        // The command itself reports a plan that doesn't exist.
        let Some(run) = plan_named(hook, plan)? else {
            continue;
        };
        let is_elsewhere = hook.is_of_session(&run.state) == Some(false);
        let reason = match (&call, kind) {
            (RoleCall::Claim { owner, .. }, _) if is_of_another(owner.as_str()) => {
                Some(format!("you are not {owner}: claim under your own name"))
            }
            (RoleCall::Claim { .. }, _) if is_elsewhere => continue,
            // No agent in this session was asked; the user's own rules decide.
            (RoleCall::Verdict { .. }, _) if is_elsewhere => return Ok(()),
            (RoleCall::Claim { .. }, _) if caller != Caller::Builder => None,
            (RoleCall::Claim { owner, .. }, Some(BUILDER)) => refuse_name(&run.state, owner, id),
            (RoleCall::Claim { owner, .. }, name) => name
                .filter(|name| *name != owner.as_str())
                .map(|name| format!("you are {name}: claim under that name")),
            (RoleCall::Verdict { task, .. }, _) => {
                let agent = hook.agent(None).filter(|_| caller != Caller::Lead);
                refuse_verdict(&run.state, agent.as_ref(), task.as_ref())
            }
        };
        if let Some(reason) = reason {
            hook.reply(HookReply::Deny(&reason));
            return Ok(());
        }
        if let (RoleCall::Claim { owner, .. }, Some(BUILDER), Some(id)) = (call, kind, id) {
            learned.push((run, owner, id));
        }
    }
    // The user's own rules decide whether texts from a cloned repository may reach agents.
    let is_of_specs = |call: &Vec<String>| call.get(1).is_some_and(|word| word == "specs");
    if calls.iter().any(is_of_specs) && !hook.context.trusts_place()? {
        return Ok(());
    }
    hook.reply(HookReply::Allow("a command of this plugin"));
    for (run, owner, id) in learned {
        run.record_silently(hook, |state| Vec::from_iter(agent_known(state, &owner, id)))?;
    }
    Ok(())
}

/// The run of the user's plan that `selector` names.
fn plan_named(hook: &IncomingHook, selector: &str) -> Result<Option<OngoingRun>, CommandError> {
    let context = &hook.context;
    let folder = context.plans()?.resolve(selector).ok();
    let folder = folder.filter(|folder| context.own_ids().contains(folder.id()));
    Ok(folder.and_then(|folder| hook.run_in(folder)?.ok()))
}
