//! Tries the plan's commands on the bench before any work begins, so that they are known to work there, and find
//! their caches warm.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use fp_plan::text::{command_span, prompt_path, shell_quoted};
use fp_run::verification::{CommandEnd, CommandRun};
use jiff::Timestamp;
use serde_json::Value;

use super::frozen::Place;
use super::verify::check_limits;
use crate::error::HostResult;
use crate::plan::OpenPlan;
use crate::process::Limits;

/// Total time for all commands in a session. Each gets half of what is left, so that a slow one leaves some time for the others.
const TIME: Duration = Duration::from_secs(60);
/// Time since the start after which each running command is announced.
const SILENCE: Duration = Duration::from_secs(1);
/// Minimum time that must be left to start another command.
const LEAST: Duration = Duration::from_secs(1);

/// Said in log and report where commands run in the checkout.
const IN_CHECKOUT: &str = "`verify.place` is `checkout`: commands see what builders leave there";
/// Said there where commands can write what the user can.
const UNCONFINED: &str = "nothing keeps these commands from writing elsewhere";

/// Tries the commands of `plan` if that is due, and records the results. Returns notices for the user: which commands
/// take too long, fail, or have changed files. Announces commands once the first second has passed.
pub fn try_commands(
    plan: &OpenPlan,
    say: impl Fn(&str),
    now: impl Fn() -> Timestamp,
) -> HostResult<Vec<String>> {
    let state = plan.load()?.state;
    if !state.is_trial_due() {
        return Ok(Vec::new());
    }
    let agreed = plan.agreed_commands(&state)?;
    let tree = plan.tree()?;
    let commands = state.commands_to_try(&tree.parse());
    let begun = state.has_claimed();
    if commands.is_empty() && state.untried.is_empty() {
        return Ok(Vec::new());
    }
    let place = Place::of_newest(plan, &state)?;
    let limits = check_limits(&plan.settings);
    place.expect_set_up(&state, agreed, limits)?;
    let began = place.tree_now()?;
    let started = Instant::now();
    let (mut runs, mut notes, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
    for command in &commands {
        let (line, shown) = (&*command.line, command_span(&command.line));
        // `fp run` waits for a first build; a session's call would be cut off.
        let time = match state.has_processes() {
            true => limits.time,
            false => (TIME.saturating_sub(started.elapsed()) / 2).min(limits.time),
        };
        if time < LEAST {
            notes.push(format!(
                "no time was left to try {shown} and what comes after it"
            ));
            break;
        }
        let ran = std::thread::scope(|scope| {
            let (ends, ended) = mpsc::channel::<()>();
            let running = scope.spawn(|| {
                let ran = agreed.run([line], place.folder(), Limits { time, ..limits });
                drop(ends);
                ran
            });
            if ended.recv_timeout(SILENCE.saturating_sub(started.elapsed()))
                == Err(RecvTimeoutError::Timeout)
            {
                say(&shown);
            }
            running
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        match ran.last().and_then(|run| run.end) {
            Some(CommandEnd::TimedOut(_)) => {
                notes.push(format!("{shown} takes too long to be tried"));
            }
            Some(CommandEnd::Exited(status @ 1..=125))
                if command.is_test && command.tasks.len() > 1 && !begun =>
            {
                notes.push(format!(
                    "{shown} fails before any work, with status {status}"
                ));
            }
            _ => {}
        }
        notes.extend(ran.iter().filter_map(|run| refusal_note(plan, run)));
        runs.extend(ran);
        // Once work has begun, a change in the checkout may be a builder's.
        let mut changed = place.changed_files(began.as_ref().filter(|_| !begun))?;
        changed.retain(|path| known.insert(path.clone()));
        let changed = changed.iter().map(|path| prompt_path(&path.to_string()));
        notes.extend(changed.map(|path| format!("{shown} changed {path}")));
        place.remove_new()?;
    }
    let in_checkout = matches!(place, Place::Checkout(_)).then_some(IN_CHECKOUT);
    drop(place);
    let mut ledger = plan.lock_in_order()?;
    let unconfined = plan.confinement().is_none().then_some(UNCONFINED);
    let standing = in_checkout.into_iter().chain(unconfined).map(str::to_owned);
    let logged = notes.iter().cloned().chain(standing).collect();
    let events = ledger.state().record_trial(&commands, &runs, logged);
    ledger.append(events, now())?;
    Ok(notes)
}

/// Tells the user of a command that failed because it may not write everywhere, and how to let it.
fn refusal_note(plan: &OpenPlan, run: &CommandRun) -> Option<String> {
    let has_failed = run.end.is_some_and(|end| end != CommandEnd::Exited(0));
    let confinement = plan.confinement().filter(|_| has_failed)?;
    let folder = confinement.refused_in(&run.output)?;
    let shown = command_span(&run.line);
    let known = plan.settings.sandbox.write.iter().cloned();
    let folder = folder.as_deref().and_then(Path::to_str);
    let way_out = match folder {
        Some(folder) => {
            let write: Vec<String> = known.chain([folder.to_owned()]).collect();
            let list = shell_quoted(&Value::from(write).to_string());
            format!(
                "to let it write to {}: fp config set --user sandbox.write {list}",
                prompt_path(folder)
            )
        }
        None if confinement.network => {
            "`sandbox.write` in your settings lets it write elsewhere".to_owned()
        }
        None => "or it needs TCP, which `sandbox.mode` closes".to_owned(),
    };
    Some(format!(
        "{shown} seems to fail because it may write only to its folder, temporary folders and caches; {way_out}"
    ))
}
