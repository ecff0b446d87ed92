//! `fp claim`: gives a builder its task and everything that it needs to know, in one call.

use std::collections::BTreeSet;
use std::sync::Arc;

use fp_host::fleet::overtaken;
use fp_host::plan::{OpenPlan, Tree};
use fp_host::run::fresh_token;
use fp_host::run::verify::{check_before, unexplained};
use fp_host::run::worktree::{self, EarlierWork, Worktrees};
use fp_host::trust::AgreedCommands;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::reading_language;
use fp_plan::repo_path::RepoPath;
use fp_plan::text::{prompt_path, prompt_text, shell_quoted};
use fp_run::run::decide::RunDecision;
use fp_run::run::event::{Base, Event, Leaf};
use fp_run::run::payload::{Around, payload};
use fp_run::run::state::{Asked, TaskState};
use fp_run::run::{Refusal, State};
use fp_run::verification;
use serde_json::json;

use super::critique::doubts_about;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::features::specs;
use crate::source::interview_at;

/// Claim a task and print everything needed to do it
#[derive(Debug, clap::Args)]
pub(crate) struct ClaimArgs {
    /// The plan.
    pub(crate) plan: String,
    /// The name of the builder.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) owner: AgentName,
    /// The task; defaults to the first that is ready.
    task: Option<TaskId>,
}

pub(crate) fn run(args: ClaimArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    let tree = context.tree(&plan)?;
    let before = plan.load()?.state;
    let answered = before
        .held_by(&args.owner)
        .and_then(|task| task.answered.as_ref());
    let mut prepared = prepare_claim(&plan, &args, &tree, context)?;
    let earlier = prepared.earlier.take();
    let first = check_first(&plan, &args.owner, &tree, &mut prepared, context)?;
    // If the claim was prepared for a specific task, claims that task, even if another has become ready since.
    let is_prepared = first.is_some() || earlier.is_some();
    let chosen = is_prepared.then(|| prepared.chosen.id.clone());
    let wanted = chosen.or(args.task);
    let (id, state) = log_claim(&plan, &args.owner, wanted, prepared, first, context)?;
    let task = state.expect_task(&id)?;
    let place = task.worktree().map(|owner| worktree::path(&plan, owner));
    let place = place.map(|place| place.display().to_string());
    let text = match answered.and_then(|question| answer_to(&state, task, question)) {
        Some(answer) => answer,
        None => payload_of(
            &plan,
            &tree,
            &state,
            task,
            (place.as_deref(), earlier.as_deref()),
            context,
        )?,
    };
    let json = json!({
        "planId": state.plan_id, "task": id, "owner": args.owner, "iteration": task.iteration, "worktree": place,
        "claim": task.claim.as_ref().map(|claim| &claim.token), "payload": text,
    });
    context.report(&json, &text)
}

/// What the builder of `task` hears of the answer to its `question`, in place of the payload that it has read. Its next
/// claim prints the payload.
fn answer_to(state: &State, task: &TaskState, question: &str) -> Option<String> {
    let (plan, id) = (&state.plan_id, &task.leaf.id);
    let is_it =
        |asked: &&Asked| asked.question.id == question && asked.question.topic.task() == Some(id);
    let asked = state.questions.iter().find(is_it)?;
    let owner = &task.claim.as_ref()?.owner;
    let token = task.claim.as_ref().map_or("", |claim| &*claim.token);
    let asked = asked.question.with_safe_texts().text + " — " + &asked.answer.join(", ");
    Some(prompt_text(&format!(
        "The answer to your question about task {id}: {asked}\n\nGo on with the task; `fp claim {plan} --as {owner}` \
         prints all of it again. When it is done:\n\n    fp submit {plan} {id} --claim {}\n",
        shell_quoted(token)
    )))
}

/// Runs the checks of the prepared task that must fail before the work begins, and returns the result as an event. If
/// all of them pass, asks the user instead.
fn check_first(
    plan: &OpenPlan,
    owner: &AgentName,
    tree: &Tree,
    prepared: &mut Prepared<'_>,
    context: &Context,
) -> Result<Option<Event>, CommandError> {
    let Some(agreed) = prepared.test_first.take() else {
        return Ok(None);
    };
    let (chosen, state) = (&prepared.chosen, plan.load()?.state);
    let checked = tree.with_approved(chosen, |leaf| check_before(plan, &state, leaf, agreed));
    let Some((checks, passed)) = checked?? else {
        return Ok(None);
    };
    let task = chosen.id.clone();
    if passed {
        let why = format!("the Verify command of task {task} passes before its work");
        return Err(doubt(
            plan,
            owner,
            why,
            |state| state.doubt(&task, checks),
            context,
        )?);
    }
    Ok(Some(Event::CheckedBefore {
        task,
        checks,
        passed,
    }))
}

/// Logs the claim of `wanted`, or of the first task that is ready, with the results in `first`.
fn log_claim(
    plan: &OpenPlan,
    owner: &AgentName,
    wanted: Option<TaskId>,
    prepared: Prepared<'_>,
    first: Option<Event>,
    context: &Context,
) -> Result<(TaskId, Arc<State>), CommandError> {
    let Prepared {
        edited,
        base,
        worktrees,
        ..
    } = prepared;
    let mut ledger = match plan.try_lock_in_order()? {
        Ok(ledger) => context.with_notices(ledger),
        Err(synced) => {
            drop(worktrees);
            plan.keep_lost(&synced);
            return Err(overtaken().into());
        }
    };
    let state = ledger.state();
    if state.may_be_others() {
        plan.agreed_commands(state)?;
    }
    // A task is built on the newest commit of all machines, unless its checks have already run on an older one.
    let is_new = first.is_none() && state.held_by(owner).is_none();
    if state.is_shared() && is_new && plan.newest(state)?.to_string() != base.head {
        return Err(overtaken().into());
    }
    let (id, claimed) = state.claim(owner, wanted.as_ref(), &edited, fresh_token(), base)?;
    ledger.append(first.into_iter().chain(claimed).collect(), context.now())?;
    Ok((id, ledger.into_state()))
}

/// The payload of the claimed `task`, with its working directory and the note about an earlier attempt.
fn payload_of(
    plan: &OpenPlan,
    tree: &Tree,
    state: &State,
    task: &TaskState,
    (place, earlier): (Option<&str>, Option<&str>),
    context: &Context,
) -> Result<String, CommandError> {
    let goal = plan.goal();
    // The task can be done without an interview that can't be read.
    let interview = interview_at(&plan.folder.file("interview.json"))
        .ok()
        .flatten();
    let doubts = doubts_about(plan, state, &task.leaf.id)?;
    let conventions = plan.conventions().map(|path| path.display().to_string());
    let language = reading_language::choose_language(plan.settings.language.as_deref(), &goal);
    tree.with_leaf(&task.leaf, |leaf| {
        // The leaf is missing only if the tree was read before a newer approval.
        let leaf = leaf.ok_or_else(|| Refusal::UnknownTask(task.leaf.id.clone()))?;
        let around = Around {
            goal: &goal,
            interview: interview.as_ref(),
            tree: &plan.tasks_file().display().to_string(),
            place,
            earlier,
            doubts: &doubts,
            conventions: conventions.as_deref(),
            language: language.as_deref(),
            specs: &specs::section_of_payload(&state.plan_id, leaf, &goal, context),
        };
        Ok(payload(state, task, leaf, &around))
    })
}

/// Everything that a claim needs, prepared before the claim is logged.
struct Prepared<'p> {
    chosen: Leaf,
    edited: BTreeSet<TaskId>,
    base: Base,
    /// The note to the builder about an earlier attempt's work.
    earlier: Option<String>,
    /// The consent to run the task's checks before its work, if they have to run.
    test_first: Option<AgreedCommands<'p>>,
    /// Held until the claim is logged, so that no other agent of this name can prepare the worktree for itself.
    worktrees: Option<Worktrees<'p>>,
}

fn prepare_claim<'p>(
    plan: &'p OpenPlan,
    args: &ClaimArgs,
    tree: &Tree,
    context: &Context,
) -> Result<Prepared<'p>, CommandError> {
    let mut state = plan.load()?.state;
    let edited = tree.edited(&state);
    let choice = state.choose(&args.owner, args.task.as_ref(), &edited);
    // Checks are slow, so sync first to run them on the newest commit.
    if state.is_shared() && choice.map_or(true, |task| state.wants_checks_before(&task.leaf.id)) {
        context.notices(&plan.sync()?);
        state = plan.load()?.state;
    }
    // Checked before taking the lock: a builder that gets no task shouldn't wait for git.
    state.choose(&args.owner, args.task.as_ref(), &edited)?;
    let own = state.is_shared()
        || state.terms().checkout.is_some()
        || state
            .held_by(&args.owner)
            .is_some_and(|task| task.worktree().is_some());
    let worktrees = own.then(|| Worktrees::lock(plan)).transpose()?;
    if own {
        state = plan.load()?.state;
    }
    let chosen = state.choose(&args.owner, args.task.as_ref(), &edited)?;
    let test_first = state
        .wants_checks_before(&chosen.leaf.id)
        .then(|| plan.agreed_commands(&state));
    let test_first = test_first.transpose()?;
    let (base, earlier) = measuring_base(
        plan,
        &state,
        &args.owner,
        chosen,
        worktrees.as_ref(),
        context,
    )?;
    Ok(Prepared {
        chosen: chosen.leaf.clone(),
        base,
        earlier: earlier.map(told_earlier),
        test_first,
        edited,
        worktrees,
    })
}

/// The note to a builder about an earlier attempt's work.
fn told_earlier(earlier: EarlierWork) -> String {
    let listed = |paths: &[RepoPath]| {
        let paths: Vec<String> = paths
            .iter()
            .map(|path| prompt_path(&path.to_string()))
            .collect();
        verification::list(&paths)
    };
    match earlier {
        EarlierWork::Restored => {
            "Your checkout has the earlier attempt's work: go on from there".to_owned()
        }
        EarlierWork::Merged { changed, conflicts } if conflicts.is_empty() => {
            let changed = listed(&changed);
            format!("Your checkout has the earlier attempt's work, in {changed}: go on from there")
        }
        EarlierWork::Merged { changed, conflicts } => {
            let (changed, conflicts) = (listed(&changed), listed(&conflicts));
            format!(
                "Your checkout has the earlier attempt's work, in {changed}. It conflicts with newer commits in \
                 {conflicts}: keep what both are for, and leave no conflict marker"
            )
        }
        EarlierWork::Kept(patch) => format!(
            "The earlier attempt's work doesn't fit the newest commit: take what helps from {}",
            patch.display()
        ),
    }
}

/// The base from which to measure the changes of `chosen`, which is about to be claimed. Given the lock on `worktrees`,
/// prepares the builder's worktree.
fn measuring_base(
    plan: &OpenPlan,
    state: &State,
    owner: &AgentName,
    chosen: &TaskState,
    worktrees: Option<&Worktrees<'_>>,
    context: &Context,
) -> Result<(Base, Option<EarlierWork>), CommandError> {
    match (&chosen.base, worktrees) {
        (Some(base), _) if chosen.owner() == Some(owner) => {
            if worktrees
                .map(|worktrees| worktrees.restore(chosen))
                .transpose()?
                == Some(true)
            {
                context.printer.print_note(
                    "note: the worktree was gone, and what was in it; it was made again",
                );
            }
            Ok((base.clone(), None))
        }
        (_, Some(worktrees)) => {
            Ok(worktrees.prepare(state, owner, chosen, |patch| context.say_kept(patch))?)
        }
        (_, None) => {
            let git = plan.git()?;
            let (snapshot, surroundings) = git.observe()?;
            let head = snapshot.status.head()?;
            let paths = unexplained(plan, &git, state, &snapshot)?;
            if !paths.is_empty() {
                let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
                let names = verification::list(&names);
                let why = format!("changed in the checkout while no task had it: {names}");
                let decide =
                    |state: &State| Ok(state.doubt_checkout(snapshot.tree.to_string(), paths));
                return Err(doubt(plan, owner, why, decide, context)?);
            }
            let around = Some(surroundings.since(state.git_surroundings(), false));
            let base = Base {
                tree: snapshot.tree.to_string(),
                head: head.to_string(),
                worktree: None,
                around,
            };
            let left = chosen
                .base
                .as_ref()
                .is_some_and(|left| left.worktree.is_none() && left.tree != base.tree);
            Ok((base, left.then_some(EarlierWork::Restored)))
        }
    }
}

/// Asks the user the question that `decide` raises, and tells the builder `why` it gets no task.
fn doubt(
    plan: &OpenPlan,
    owner: &AgentName,
    why: String,
    decide: impl FnOnce(&State) -> RunDecision,
    context: &Context,
) -> Result<CommandError, CommandError> {
    let mut ledger = plan.lock_in_order()?;
    let mut events = decide(ledger.state())?;
    events.push(Event::agent_ended(owner.clone()));
    ledger.append(events, context.now())?;
    Ok(CommandError::refused(why).with_hint("end your turn: the user is asked, and you are told"))
}
