//! Reads which checks a plan wants at the end of its run, and runs them.

use std::time::Duration;

use fp_plan::plan::Plan;
use fp_run::interview::Interview;
use fp_run::run::end_checks;
use fp_run::verification::{Check, CheckVerdict, CommandEnd, command_check, command_check_name};

use super::frozen::Place;
use super::verify::check_limits;
use crate::error::HostResult;
use crate::file;
use crate::plan::{CONTEXT, OpenPlan, RESEARCH};
use crate::process::{self, Limits};

/// Size limit of `context.md` and of `interview.json`, in bytes.
const CAP: u64 = 16 * 1024 * 1024;
/// Time limit for finding a program.
const LOOK: Duration = Duration::from_secs(5);

/// The commands to run at the end of the run of `plan`, whose tree is `tree`. Ignores an unreadable file.
pub fn end_commands(plan: &OpenPlan, tree: &Plan) -> Vec<String> {
    let text =
        |name: &'static str| file::read_text(&plan.folder.file(name), CAP).unwrap_or_default();
    let interview = Interview::parse(&text("interview.json")).ok();
    let strategy = interview
        .as_ref()
        .and_then(|interview| interview.test_strategy.as_deref())
        .unwrap_or_default();
    end_checks::end_commands(tree, strategy, [&text(CONTEXT), &text(RESEARCH)])
}

/// The program at the start of `command`, if it isn't installed. Anything but a plain word is left to the shell.
pub fn missing_program(command: &str) -> Option<&str> {
    let program = command.split_whitespace().next()?;
    let is_plain = program.starts_with(|c: char| c.is_ascii_alphanumeric())
        && program
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if !is_plain {
        return None;
    }
    let line = format!("command -v {program}");
    let found = process::run_line(
        &line,
        &std::env::temp_dir(),
        Limits {
            time: LOOK,
            ..Limits::default()
        },
        None,
    )
    .ok()?;
    (found.end != CommandEnd::Exited(0)).then_some(program)
}

/// Runs the commands that are due at the end, on the newest commit, and records the results. Nothing happens if none are due.
pub fn check_at_end(plan: &OpenPlan, now: impl Fn() -> jiff::Timestamp) -> HostResult<()> {
    let state = plan.load()?.state;
    let commands = state.end_commands_due();
    if commands.is_empty() {
        return Ok(());
    }
    let agreed = plan.agreed_commands(&state)?;
    let place = Place::of_newest(plan, &state)?;
    let limits = check_limits(&plan.settings);
    let mut checks = Vec::new();
    let unready = place.set_up(&state, agreed, limits)?.err();
    checks.extend(unready.clone());
    for command in commands.iter().filter(|_| unready.is_none()) {
        match missing_program(command) {
            Some(program) => checks.push(Check {
                name: command_check_name(command),
                verdict: CheckVerdict::Note,
                detail: format!("{program} isn't installed"),
            }),
            None => {
                let run = agreed.run([command.as_str()], place.folder(), limits);
                checks.extend(run.iter().map(command_check));
                place.remove_new()?;
            }
        }
    }
    drop(place);
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().check_at_end(checks)?;
    ledger.append(events, now())
}
