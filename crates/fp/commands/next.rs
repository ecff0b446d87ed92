//! `fp next`: tells the lead what to do now, so that state and order are the program's business and not the
//! model's.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fp_host::fleet::Membership;
use fp_host::plan::{OpenPlan, Tree};
use fp_host::plan_folder::OfLayer;
use fp_host::run::commit::{COMMIT_PATIENCE, head_moved, settle};
use fp_host::run::end_checks::check_at_end;
use fp_host::run::fresh_token;
use fp_host::store::Ledger;
use fp_plan::hint::Hint as _;
use fp_plan::plan::id::{AgentName, PlanId, TaskId};
use fp_plan::settings::{AgentPlayer, Settings};
use fp_run::report::requirements::RequirementLine;
use fp_run::report::standing::LeadPresence;
use fp_run::report::status::StatusReport;
use fp_run::run::consent::PrintedQuestion;
use fp_run::run::event::Event;
use fp_run::run::next::{LeadAction, RunSurroundings};
use fp_run::run::state::{Activity, RunAgent};
use fp_run::run::{State, approval};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::report::interview_of;
use super::start::try_commands;
use super::status::status_text;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// A machine at work says so this often within the time after which others give it up.
const RENEWALS: i32 = 3;

/// Print the actions that are due now
#[derive(Debug, clap::Args)]
pub(crate) struct NextArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// An agent that has just ended or gone idle.
    #[arg(long, value_name = "NAME")]
    ended: Vec<AgentName>,
}

/// Name of the agent that brings Linear up to date with a run. It is no part of the run.
const TRACKER: &str = "tracker";

/// The action that starts the tracker.
fn tracker_start(plan: &PlanId) -> LeadAction {
    LeadAction::Spawn {
        name: AgentName::new(TRACKER).expect("it is a name"),
        agent: "fp:linear-sync",
        prompt: format!("You are {TRACKER}. Bring Linear up to date with plan {plan}."),
        player: AgentPlayer::default(),
        again: false,
    }
}

pub(crate) fn run(mut args: NextArgs, context: &Context) -> CommandResult {
    let agents = args.ended.len();
    args.ended.retain(|name| name.as_str() != TRACKER);
    let is_tracked = args.ended.len() < agents;
    let plan = context.open_trusted(args.plan.as_deref())?;
    let state = plan.load()?.state;
    if state.is_running() && state.terms().processes {
        let id = plan.id();
        return Err(CommandError::refused(format!("the run of {id} is one that `fp run` leads")).hint(
            format!("`fp run {id}` goes on with it; `fp start {id} --here` takes it over for a session"),
        ));
    }
    let mut due = take_turn(&plan, &args.ended, context.attended(), context)?;
    let is_over = matches!(due.actions.last(), Some(LeadAction::Finish { .. }));
    if is_over && !is_tracked && plan.settings.linear.enabled {
        // Before the last action, which ends the lead's turn.
        due.actions
            .insert(due.actions.len() - 1, tracker_start(plan.id()));
    }
    let json = json!({ "actions": numbered(plan.id(), due.first, &due.actions)? });
    context.report(&json, &actions_text(plan.id(), &due.actions))?;
    if let Some(mut ledger) = due.ledger {
        ledger.append(due.told, context.now())?;
    }
    Ok(Exit::Done)
}

/// The actions that are due by the log.
pub(super) struct DueNow<'p> {
    pub(super) actions: Vec<LeadAction>,
    pub(super) state: Arc<State>,
    /// Held until the actions were shown; `None` once the run is over.
    pub(super) ledger: Option<Ledger<'p>>,
    /// To be logged once the actions were shown.
    told: Vec<Event>,
    /// Position in the log before them.
    first: u64,
    /// Why other machines can't be reached, in a shared plan.
    pub(super) cut_off: Option<String>,
}

/// Logs what is due now that the agents in `ended` have ended, after making the commits that are due.
pub(super) fn take_turn<'p>(
    plan: &'p OpenPlan,
    ended: &[AgentName],
    attended: bool,
    context: &Context,
) -> Result<DueNow<'p>, CommandError> {
    let works = |(name, agent): (&AgentName, &RunAgent)| {
        agent.activity != Activity::Idle && !ended.contains(name)
    };
    // An agent still at work wakes the lead again; another process that commits does not.
    let patience = if plan.load()?.state.agents.iter().any(works) {
        Duration::ZERO
    } else {
        COMMIT_PATIENCE
    };
    let cut_off = sync(plan, context)?;
    if cut_off.is_none() {
        settle(plan, || context.now(), patience)?;
        check_at_end(plan, || context.now())?;
    }
    let tree = context.tree(plan)?;
    let (seen, moved) = {
        let state = plan.load()?.state;
        if !state.untried.is_empty() && cut_off.is_none() {
            try_commands(plan, context);
        }
        let tip = plan
            .store
            .membership()?
            .filter(|_| state.is_shared())
            .map(|member| member.tip);
        (state.head.clone(), head_moved(plan, &state, tip.as_ref())?)
    };
    let mut ledger = context.told(plan.lock()?);
    // Another process may have brought another approval since, or a pull another log.
    if ledger.state().may_be_others() {
        plan.agreed_commands(ledger.state())?;
    }
    let around = RunSurroundings {
        edited: tree.edited(ledger.state()),
        // If another call looked at HEAD meanwhile, it has reported the commits.
        moved: moved.filter(|_| ledger.state().head == seen),
        token: fresh_token(),
        cut_off: cut_off.is_some(),
        ..RunSurroundings::new(ledger.state(), &plan.settings, context.now(), attended)
    };
    let around = match plan.store.membership()?.filter(|_| cut_off.is_none()) {
        Some(member) => with_fleet(around, &member, &plan.settings, context),
        None => around,
    };
    say_edits(context, &tree, ledger.state(), &around.edited);
    let turn = ledger.state().next(ended, &around)?;
    let first = ledger.state().seq;
    let told = turn.told();
    ledger.append(turn.events, around.now)?;
    let (state, ledger) = match ledger.state().is_running() {
        true => (Arc::new(ledger.state().clone()), Some(ledger)),
        false => (ledger.into_state(), None),
    };
    let report = match &ledger {
        Some(_) => String::new(),
        None => {
            // Swept before the output: a lead that reads that the run is over doesn't call again.
            context.sweep(plan);
            final_report(plan, &tree, &state, context)
        }
    };
    let actions = turn.actions.into_iter().map(|action| match action {
        LeadAction::Finish { .. } => LeadAction::Finish {
            report: report.clone(),
        },
        action => action,
    });
    Ok(DueNow {
        actions: actions.collect(),
        state,
        ledger,
        told,
        first,
        cut_off,
    })
}

/// Takes in what other machines have done with a shared plan. Returns the reason if they can't be reached.
fn sync(plan: &OpenPlan, context: &Context) -> Result<Option<String>, CommandError> {
    if !plan.load()?.state.is_shared() {
        return Ok(None);
    }
    match plan.sync() {
        Ok(notices) => {
            context.notices(&notices);
            plan.agreed_commands(&plan.load()?.state)?;
            Ok(None)
        }
        Err(error) if error.ends() == Exit::CutOff => {
            context.printer.note(&format!(
                "note: {error}: what is under way goes on, and nothing new begins"
            ));
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// `around` with what is heard of other machines.
fn with_fleet(
    around: RunSurroundings,
    member: &Membership,
    settings: &Settings,
    context: &Context,
) -> RunSurroundings {
    let lease = SignedDuration::from_mins(settings.fleet.lease_minutes.into());
    let is_silent = |at: &Timestamp| context.now().duration_since(*at) > lease;
    let silent = member
        .heard
        .iter()
        .filter(|(machine, at)| **machine != member.machine && is_silent(at));
    let silent = silent.map(|(machine, _)| machine.clone()).collect();
    let renew = context.now().duration_since(member.pushed_at) > lease / RENEWALS;
    RunSurroundings {
        silent,
        renew,
        ..around
    }
}

/// The report at the end of a run.
pub(super) fn final_report(
    plan: &OpenPlan,
    tree: &Tree,
    state: &State,
    context: &Context,
) -> String {
    let report = StatusReport::new(state, LeadPresence::Present);
    let mut report = status_text(state, &report, context.now());
    for (i, line) in RequirementLine::all(&interview_of(plan), &tree.parse(), state)
        .iter()
        .enumerate()
    {
        report += if i == 0 { "\nRequirements:\n" } else { "" };
        report += &format!("  {line}\n");
    }
    report + &what_comes_after(plan, context)
}

/// The next step, if the plan implements a layer of a roadmap.
fn what_comes_after(plan: &OpenPlan, context: &Context) -> String {
    let line = |OfLayer { id, layer }| {
        format!("\nIt makes layer {layer} of {id}; next: fp roadmap show {id}\n")
    };
    match plan.folder.layer() {
        Ok(layer) => layer.map(line).unwrap_or_default(),
        Err(error) => {
            // The run is over all the same.
            context.printer.note(&format!(
                "warning: which roadmap it belongs to can't be read: {error}"
            ));
            String::new()
        }
    }
}

/// The actions with ids that no other answer has.
fn numbered(plan: &PlanId, first: u64, actions: &[LeadAction]) -> Result<Vec<Value>, CommandError> {
    let with_id = |(i, action): (usize, &LeadAction)| {
        let mut whole = serde_json::to_value(action).map_err(CommandError::failed)?;
        whole["id"] = format!("a{first}-{}", i + 1).into();
        if let Some(printed) = printed_question(plan, action) {
            whole["printed"] = printed.question.into();
        }
        Ok(whole)
    };
    actions.iter().enumerate().map(with_id).collect()
}

/// Reports tasks that were edited during the run: they wait for a new approval.
fn say_edits(context: &Context, tree: &Tree, state: &State, edited: &BTreeSet<TaskId>) {
    if state
        .approval
        .as_ref()
        .is_none_or(|approval| approval.tree_hash == tree.hash)
    {
        return;
    }
    let leaves = approval::leaves(&tree.parse(), &[]).unwrap_or_default();
    let added = leaves
        .iter()
        .filter(|leaf| state.task(&leaf.id).is_none())
        .map(|leaf| &leaf.id);
    let changed: Vec<&str> = edited.iter().chain(added).map(TaskId::as_str).collect();
    if !changed.is_empty() {
        let (tasks, plan) = (changed.join(", "), &state.plan_id);
        context.printer.note(&format!(
            "note: edited since the approval: {tasks}; `fp approve {plan}` lets them run"
        ));
    }
}

/// The question of an `ask`, with the code by which its answer is recognised.
fn printed_question(plan: &PlanId, action: &LeadAction) -> Option<PrintedQuestion> {
    match action {
        LeadAction::Ask {
            question,
            text,
            header,
            options,
            ..
        } => Some(PrintedQuestion::of_run(
            plan, question, text, header, options,
        )),
        _ => None,
    }
}

/// The actions as a numbered list.
fn actions_text(plan: &PlanId, actions: &[LeadAction]) -> String {
    let mut text = String::new();
    for (i, action) in actions.iter().enumerate() {
        text.push_str(&format!("{}. {}", i + 1, action_text(plan, action)));
    }
    text
}

fn action_text(plan: &PlanId, action: &LeadAction) -> String {
    match action {
        LeadAction::Spawn {
            name,
            agent,
            prompt,
            player,
            again,
        } => start_text("spawn", name, *again, agent, player, prompt),
        LeadAction::Verify {
            name,
            agent,
            prompt,
            player,
            again,
            ..
        } => start_text("verify", name, *again, agent, player, prompt),
        LeadAction::Judge { task, prompt, .. } => format!("judge {task}\n{}", indented(prompt)),
        LeadAction::Resume {
            name,
            message,
            again,
            ..
        } => {
            format!(
                "resume {name}{}\n   message:\n{}",
                said_before(*again),
                indented(message)
            )
        }
        LeadAction::Ask { .. } => ask_text(plan, action),
        LeadAction::Wait { on } => format!(
            "wait for {}\n   End your turn. When one of them ends or goes idle: fp next {plan} --ended NAME\n   \
             The same for one that is not running at all.\n",
            on.join(", ")
        ),
        LeadAction::Deadlock { chain } => {
            lines_text("deadlock\n   Nothing can go on by itself:\n", chain)
        }
        LeadAction::Revise { due } => lines_text(
            "revise\n   Nothing can go on before the plan is changed and approved:\n",
            due,
        ),
        LeadAction::Finish { report } => {
            format!("finish\n   The run is over. Show this report:\n\n{report}")
        }
    }
}

fn lines_text(head: &str, lines: &[String]) -> String {
    lines.iter().fold(head.to_owned(), |text, line| {
        text + &format!("   - {line}\n")
    })
}

/// An `ask` as text; nothing for another action.
pub(super) fn ask_text(plan: &PlanId, action: &LeadAction) -> String {
    let LeadAction::Ask {
        question,
        header,
        options,
        ..
    } = action
    else {
        return String::new();
    };
    let printed = printed_question(plan, action)
        .map(|printed| printed.question)
        .unwrap_or_default();
    let mut ask =
        format!("ask {question}\n   question: {printed}\n   header: {header}\n   options:\n");
    for option in options {
        ask.push_str(&format!("   - {}: {}\n", option.label, option.description));
    }
    ask + &format!(
        "   then: the answer is recorded as it is given; without hooks: \
         fp answer {plan} {question} --option 'LABEL'\n"
    )
}

fn start_text(
    what: &str,
    name: &AgentName,
    again: bool,
    agent: &str,
    player: &AgentPlayer,
    prompt: &str,
) -> String {
    let model = player
        .model
        .as_ref()
        .map_or_else(String::new, |model| format!("   model: {model}\n"));
    format!(
        "{what} {name}{}\n   agent: {agent}\n   name and description: {name}\n{model}   prompt:\n{}",
        said_before(again),
        indented(prompt)
    )
}

fn said_before(again: bool) -> &'static str {
    if again {
        " (said before: skip it if it is under way)"
    } else {
        ""
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("     {line}\n")).collect()
}
