//! `fp next`: tells the lead what to do now, so that the program, not the model, keeps track of state and order.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fp_host::fleet::Membership;
use fp_host::plan::{OpenPlan, Tree};
use fp_host::plan_folder::OfLayer;
use fp_host::run::commit::{COMMIT_PATIENCE, head_moved, settle};
use fp_host::run::end_checks::check_at_end;
use fp_host::run::whole::judge_by_checks;
use fp_host::store::Ledger;
use fp_plan::hint::Hint as _;
use fp_plan::plan::id::{AgentName, PlanId, TaskId};
use fp_plan::settings::{AgentPlayer, Settings};
use fp_plan::text::shell_quoted;
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

use super::consent::question_text;
use super::repairs::add_repairs;
use super::report::interview_of;
use super::start::try_commands;
use super::status::status_text;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::pace::learn_pace;

/// Number of signs of life that a working machine sends within the time after which others give up on it.
const RENEWALS: i32 = 3;

/// Print the actions that are due now
#[derive(Debug, clap::Args)]
pub(crate) struct NextArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// An agent that has just ended or become idle.
    #[arg(long, value_name = "NAME")]
    ended: Vec<AgentName>,
}

/// Name of the agent that brings Linear up to date with a run. It isn't part of the run.
const TRACKER: &str = "tracker";

pub(crate) fn show_next(mut args: NextArgs, context: &Context) -> CommandResult {
    let agents = args.ended.len();
    args.ended.retain(|name| name.as_str() != TRACKER);
    let is_tracked = args.ended.len() < agents;
    let plan = context.open_trusted(args.plan.as_deref())?;
    let (id, state) = (plan.id(), plan.load()?.state);
    if state.is_running() && state.terms().processes {
        let message = format!("the run of {id} is one that `fp run` leads");
        return Err(CommandError::refused(message).with_hint(format!(
            "`fp run {id}` goes on with it; `fp start {id} --here` takes it over for a session"
        )));
    }
    let mut due = take_turn(&plan, &args.ended, context.attended(), context)?;
    let is_over = matches!(due.actions.last(), Some(LeadAction::Finish { .. }));
    if is_over && !is_tracked && plan.settings.linear.enabled {
        let tracker = LeadAction::Spawn {
            name: AgentName::new(TRACKER).expect("it is a name"),
            agent: "fp:linear-sync",
            prompt: format!("You are {TRACKER}. Bring Linear up to date with plan {id}."),
            player: AgentPlayer::default(),
            again: false,
        };
        // Inserted before the last action, which ends the lead's turn.
        due.actions.insert(due.actions.len() - 1, tracker);
    }
    let json = json!({ "actions": actions_json(id, due.first, &due.actions)? });
    let actions = due.actions.iter().zip(1..);
    let text: String = actions
        .map(|(action, number)| format!("{number}. {}", action_text(id, action)))
        .collect();
    context.report(&json, &text)?;
    if let Some(mut ledger) = due.ledger {
        ledger.append(due.told, context.now())?;
    }
    Ok(Exit::Done)
}

/// The actions that are due according to the log.
pub(super) struct DueNow<'p> {
    pub(super) actions: Vec<LeadAction>,
    pub(super) state: Arc<State>,
    /// Held until the actions are shown; `None` once the run is over.
    pub(super) ledger: Option<Ledger<'p>>,
    /// The events to log once the actions are shown.
    told: Vec<Event>,
    /// The log's position before this turn's events.
    first: u64,
    /// The reason why other machines of a shared plan can't be reached.
    pub(super) cut_off: Option<String>,
}

/// Makes the commits that are due, and logs what follows from the end of the agents in `ended`.
pub(super) fn take_turn<'p>(
    plan: &'p OpenPlan,
    ended: &[AgentName],
    attended: bool,
    context: &Context,
) -> Result<DueNow<'p>, CommandError> {
    let works = |(name, agent): (&AgentName, &RunAgent)| {
        agent.activity != Activity::Idle && !ended.contains(name)
    };
    // A working agent will wake the lead again; another process that is committing won't.
    let patience = match plan.load()?.state.agents.iter().any(works) {
        true => Duration::ZERO,
        false => COMMIT_PATIENCE,
    };
    let cut_off = sync_shared(plan, context)?;
    if cut_off.is_none() {
        settle(plan, || context.now(), patience)?;
        decide_by_checks(plan, context)?;
        check_at_end(plan, || context.now())?;
        add_repairs(plan, context)?;
    }
    let tree = context.tree(plan)?;
    let before = plan.load()?.state;
    if !before.untried.is_empty() && cut_off.is_none() {
        try_commands(plan, context)?;
    }
    let member = plan.store.membership()?;
    let tip = member.as_ref().filter(|_| before.is_shared());
    let moved = head_moved(plan, &before, tip.map(|member| &member.tip))?;
    let mut ledger = context.with_notices(plan.lock()?);
    // Meanwhile another process may have synced a new approval, or a pull changed the log.
    if ledger.state().may_be_others() {
        plan.agreed_commands(ledger.state())?;
    }
    let mut around = RunSurroundings {
        edited: tree.edited(ledger.state()),
        // If another call checked HEAD in the meantime, that call has reported the commits.
        moved: moved.filter(|_| ledger.state().head == before.head),
        cut_off: cut_off.is_some(),
        ..RunSurroundings::new(ledger.state(), &plan.settings, context.now(), attended)
    };
    if let Some(member) = plan.store.membership()?.filter(|_| cut_off.is_none()) {
        hear_of_machines(&mut around, &member, &plan.settings);
    }
    note_edits(context, &tree, ledger.state(), &around.edited);
    let mut turn = ledger.state().next(ended, &around)?;
    let first = ledger.state().seq;
    let told = turn.events_once_shown();
    let has_finished = turn.events.contains(&Event::Finished);
    ledger.append(turn.events, around.now)?;
    if ledger.state().wants_repairs() && cut_off.is_none() {
        // A rule has just answered, so nothing else is due.
        drop(ledger);
        return take_turn(plan, &[], attended, context);
    }
    let (state, ledger) = match ledger.state().is_running() {
        true => (Arc::new(ledger.state().clone()), Some(ledger)),
        false => (ledger.into_state(), None),
    };
    if ledger.is_none() {
        // Cleans up before printing, because a lead that reads that the run is over doesn't call again.
        context.remove_unneeded_worktrees(plan);
        if let Some(error) = has_finished
            .then(|| learn_pace(plan, context).err())
            .flatten()
        {
            context.warn(format_args!(
                "how long the tasks took can't be kept: {}",
                error.message
            ));
        }
        let text = final_report(plan, &tree, &state, context);
        for action in &mut turn.actions {
            if let LeadAction::Finish { report } = action {
                report.clone_from(&text);
            }
        }
    }
    Ok(DueNow {
        actions: turn.actions,
        state,
        ledger,
        told,
        first,
        cut_off,
    })
}

/// Lets checks decide on the tasks that no verifier judges, unless `fp run` leads, which does so beside its other work.
fn decide_by_checks(plan: &OpenPlan, context: &Context) -> Result<(), CommandError> {
    let state = plan.load()?.state;
    if !state.is_running() || state.has_processes() {
        return Ok(());
    }
    for task in state.checks_due() {
        judge_by_checks(plan, &task.leaf.id, task.iteration, || context.now())?;
    }
    Ok(())
}

/// Syncs a shared plan. Returns the reason if the other machines can't be reached.
fn sync_shared(plan: &OpenPlan, context: &Context) -> Result<Option<String>, CommandError> {
    if !plan.load()?.state.is_shared() {
        return Ok(None);
    }
    match plan.sync() {
        Ok(notices) => {
            context.notices(&notices);
            plan.agreed_commands(&plan.load()?.state)?;
            Ok(None)
        }
        Err(error) if error.exit_status() == Exit::CutOff => {
            context.note(format_args!(
                "{error}: what is under way goes on, and nothing new begins"
            ));
            Ok(Some(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Adds to `around` what this machine knows about the others.
fn hear_of_machines(around: &mut RunSurroundings, member: &Membership, settings: &Settings) {
    let lease = SignedDuration::from_mins(settings.fleet.lease_minutes.into());
    let since = |at: &Timestamp| around.now.duration_since(*at);
    let heard = member.heard.iter();
    let silent = heard.filter(|(machine, at)| **machine != member.machine && since(at) > lease);
    let silent = silent.map(|(machine, _)| machine.clone()).collect();
    around.renew = since(&member.pushed_at) > lease / RENEWALS;
    around.silent = silent;
}

/// The report at the end of a run.
pub(super) fn final_report(
    plan: &OpenPlan,
    tree: &Tree,
    state: &State,
    context: &Context,
) -> String {
    let report = StatusReport::new(state, LeadPresence::Present);
    let mut text = status_text(state, &report, context.now());
    let requirements = RequirementLine::for_interview(&interview_of(plan), &tree.parse(), state);
    if !requirements.is_empty() {
        text += "\nRequirements:\n";
    }
    text.extend(requirements.iter().map(|line| format!("  {line}\n")));
    let has_commits = state.tasks.iter().any(|task| task.commit.is_some());
    if let Some(branch) = state.terms().branch.as_ref().filter(|_| has_commits) {
        let (name, id) = (shell_quoted(&branch.name), plan.id());
        text += &format!(
            "\nThe commits are on {}: `git merge {name}` takes them, `fp pr {id}` opens a pull request\n",
            branch.name
        );
    }
    let integration = plan.integration();
    if state.terms().branch.is_some() && integration.exists() {
        let shown = context.display_path(&integration);
        text += &format!("\nWhat was not committed is in {shown}\n");
    }
    match plan.folder.layer() {
        Ok(None) => {}
        Ok(Some(OfLayer { id, layer })) => {
            text += &format!("\nIt makes layer {layer} of {id}; next: fp roadmap show {id}\n");
        }
        // The run is over even if there is no report.
        Err(error) => {
            context.warn(format_args!(
                "which roadmap it belongs to can't be read: {error}"
            ));
        }
    }
    text
}

/// The actions as JSON, with ids that are unique across all outputs.
fn actions_json(
    plan: &PlanId,
    first: u64,
    actions: &[LeadAction],
) -> Result<Vec<Value>, CommandError> {
    let with_id = |(action, number): (&LeadAction, usize)| {
        let mut whole = serde_json::to_value(action).map_err(CommandError::failed)?;
        whole["id"] = format!("a{first}-{number}").into();
        if let Some(printed) = printed_question(plan, action) {
            whole["printed"] = printed.question.into();
        }
        Ok(whole)
    };
    actions.iter().zip(1..).map(with_id).collect()
}

/// Reports tasks that were edited during the run and wait for a new approval.
fn note_edits(context: &Context, tree: &Tree, state: &State, edited: &BTreeSet<TaskId>) {
    let approval = state.approval.as_ref();
    if approval.is_none_or(|approval| approval.tree_hash == tree.hash) {
        return;
    }
    let leaves = approval::leaves_to_run(&tree.parse(), &[]).unwrap_or_default();
    let added = leaves
        .iter()
        .map(|leaf| &leaf.id)
        .filter(|id| state.task(id).is_none());
    let changed: Vec<&str> = edited.iter().chain(added).map(TaskId::as_str).collect();
    if !changed.is_empty() {
        let (tasks, plan) = (changed.join(", "), &state.plan_id);
        context.note(format_args!(
            "edited since the approval: {tasks}; `fp approve {plan}` lets them run"
        ));
    }
}

/// The question of an `ask` action, with the code that identifies its answer.
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

fn action_text(plan: &PlanId, action: &LeadAction) -> String {
    let said_before = |again: bool| match again {
        true => " (said before: skip it if it is under way)",
        false => "",
    };
    match action {
        LeadAction::Spawn {
            name,
            agent,
            prompt,
            player,
            again,
        }
        | LeadAction::Verify {
            name,
            agent,
            prompt,
            player,
            again,
            ..
        } => {
            let is_start = matches!(action, LeadAction::Spawn { .. });
            let what = if is_start { "spawn" } else { "verify" };
            let (said, prompt) = (said_before(*again), indented_lines(prompt));
            let model = player
                .model
                .iter()
                .map(|model| format!("   model: {model}\n"));
            let model: String = model.collect();
            format!(
                "{what} {name}{said}\n   agent: {agent}\n   name and description: {name}\n{model}   prompt:\n{prompt}"
            )
        }
        LeadAction::Check { task, .. } => {
            format!("check {task}\n   Run `fp next {plan}` again: its checks decide.\n")
        }
        LeadAction::Resume {
            name,
            message,
            again,
            ..
        } => {
            let (said, message) = (said_before(*again), indented_lines(message));
            format!("resume {name}{said}\n   message:\n{message}")
        }
        LeadAction::Ask { .. } => ask_text(plan, action),
        LeadAction::Wait { on } => format!(
            "wait for {}\n   End your turn. When one of them ends or goes idle: fp next {plan} --ended NAME\n   \
             The same for one that is not running at all.\n",
            on.join(", ")
        ),
        LeadAction::Deadlock { chain } => {
            let chain = listed_lines(chain);
            format!("deadlock\n   Nothing can go on by itself:\n{chain}")
        }
        LeadAction::Revise { due } => {
            let due = listed_lines(due);
            format!("revise\n   Nothing can go on before the plan is changed and approved:\n{due}")
        }
        LeadAction::Finish { report } => {
            format!("finish\n   The run is over. Show this report:\n\n{report}")
        }
    }
}

fn listed_lines(lines: &[String]) -> String {
    let lines = lines.iter();
    lines.map(|line| format!("   - {line}\n")).collect()
}

fn indented_lines(text: &str) -> String {
    text.lines().map(|line| format!("     {line}\n")).collect()
}

/// The text of an `ask` action; empty for any other action.
pub(super) fn ask_text(plan: &PlanId, action: &LeadAction) -> String {
    let (LeadAction::Ask { question, .. }, Some(printed)) =
        (action, printed_question(plan, action))
    else {
        return String::new();
    };
    format!(
        "ask {question}\n{}   then: the answer is recorded as it is given; without hooks: \
         fp answer {plan} {question} --option 'LABEL'\n",
        question_text(&printed, "   ")
    )
}
