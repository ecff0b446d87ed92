//! `fp claim`: gives a builder its task and everything that it needs to know, in one call.

use std::collections::BTreeSet;
use std::path::Path;

use fp_host::facts::reference_text;
use fp_host::fleet::FleetError;
use fp_host::plan::{self, OpenPlan, Tree};
use fp_host::run::fresh_token;
use fp_host::run::verify::{check_before, unexplained};
use fp_host::run::worktree::{self, EarlierWork, Worktrees};
use fp_host::trust::AgreedCommands;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::{Plan, Task, parse};
use fp_plan::reading_language;
use fp_run::run::approval::is_approved;
use fp_run::run::decide::RunDecision;
use fp_run::run::event::{Base, Event, Leaf};
use fp_run::run::payload::{Around, payload};
use fp_run::run::reference::{ReferredFile, current_reference};
use fp_run::run::state::{Status, TaskState};
use fp_run::run::{Refusal, State};
use fp_run::verification;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::features::specs;
use crate::source::interview_at;

/// Take a task and print everything it takes to do it
#[derive(Debug, clap::Args)]
pub(crate) struct ClaimArgs {
    /// The plan.
    pub(crate) plan: String,
    /// Who claims.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) owner: AgentName,
    /// The task; the first that is ready where left out.
    task: Option<TaskId>,
}

pub(crate) fn run(args: ClaimArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    let tree = context.tree(&plan)?;
    let Prepared {
        chosen,
        edited,
        base,
        earlier,
        test_first,
        worktrees,
    } = prepare(&plan, &args, &tree, context)?;
    let checked = match test_first {
        Some(agreed) => {
            let own = base
                .worktree
                .as_ref()
                .map(|owner| worktree::path(&plan, owner));
            let place = own.as_deref().unwrap_or(&plan.repo.worktree);
            let part = tree.part_with(&chosen);
            let (tree, _) = parse(&part);
            let leaf = find(&plan.tasks_file(), &tree, &chosen.id)?;
            if !is_approved(leaf, &chosen) {
                return Err(Refusal::Edited(chosen.id).into());
            }
            check_before(leaf, agreed, place, &plan.settings)
        }
        None => None,
    };
    if let Some((checks, true)) = &checked {
        let why = format!(
            "the Verify command of task {} passes before its work",
            chosen.id
        );
        let decide = |state: &State| state.doubt(&chosen.id, checks.clone());
        return Err(doubt(&plan, &args.owner, why, decide, context)?);
    }
    let mut ledger = match plan.try_lock_in_order()? {
        Ok(ledger) => ledger,
        Err(synced) => {
            drop(worktrees);
            plan.keep_lost(&synced);
            return Err(FleetError::Overtaken.into());
        }
    };
    context.notices(ledger.notices());
    if ledger.state().may_be_others() {
        plan.agreed_commands(ledger.state())?;
    }
    // A task is built on the newest commit of all machines, unless its checks have already run on an older one.
    if ledger.state().is_shared()
        && checked.is_none()
        && ledger.state().held_by(&args.owner).is_none()
        && plan.newest(ledger.state())?.to_string() != base.head
    {
        return Err(FleetError::Overtaken.into());
    }
    // The prepared task is the one to claim where it matters which, even if another became ready meanwhile.
    let is_prepared = checked.is_some() || earlier.is_some();
    let wanted = Some(&chosen.id)
        .filter(|_| is_prepared)
        .or(args.task.as_ref());
    let (id, mut events) =
        ledger
            .state()
            .claim(&args.owner, wanted, &edited, fresh_token(), base)?;
    if let Some((checks, passed)) = checked {
        events.insert(
            0,
            Event::CheckedBefore {
                task: id.clone(),
                checks,
                passed,
            },
        );
    }
    ledger.append(events, context.now())?;
    let state = &ledger.into_state();
    let task = state.expect_task(&id)?;
    let part = tree.part_with(&task.leaf);
    let (parsed, _) = parse(&part);
    let leaf = find(&plan.tasks_file(), &parsed, &id)?;
    let place = task
        .worktree()
        .map(|owner| worktree::path(&plan, owner).display().to_string());
    let conventions = plan.conventions().map(|path| path.display().to_string());
    let goal = plan.goal();
    let language = reading_language::of(plan.settings.language.as_deref(), &goal);
    let root = task.worktree().map_or_else(
        || plan.repo.worktree.clone(),
        |owner| worktree::path(&plan, owner),
    );
    let stamps = task.leaf.stamps.as_deref().unwrap_or_default();
    let read = |path: &str| reference_text(&root, path).map(|text| ReferredFile::of(&text));
    let references: Vec<String> = leaf
        .references()
        .map(|text| current_reference(text, stamps, read))
        .collect();
    // Without a readable interview the payload lacks the answers, and is still useful.
    let interview = interview_at(&plan.folder.file("interview.json"))
        .ok()
        .flatten();
    let around = Around {
        goal: &goal,
        interview: interview.as_ref(),
        references: &references,
        tree: &plan.tasks_file().display().to_string(),
        place: place.as_deref(),
        earlier: earlier.as_deref(),
        conventions: conventions.as_deref(),
        language: language.as_deref(),
        specs: &specs::section_of_payload(&state.plan_id, leaf, &goal, context),
    };
    let text = payload(state, task, leaf, &around);
    let json = json!({
        "planId": state.plan_id, "task": id, "owner": args.owner, "iteration": task.iteration, "worktree": place,
        "claim": task.claim.as_ref().map(|claim| &claim.token), "payload": text,
    });
    context.report(&json, &text)
}

/// The input of a claim, prepared before it is logged.
struct Prepared<'p> {
    chosen: Leaf,
    edited: BTreeSet<TaskId>,
    base: Base,
    /// The words for the builder about an earlier attempt's work.
    earlier: Option<String>,
    /// The consent with which its check has to run before its work, if it has to.
    test_first: Option<AgreedCommands>,
    /// Held until the claim is logged: no other agent of this name may prepare the worktree for itself.
    worktrees: Option<Worktrees<'p>>,
}

fn prepare<'p>(
    plan: &'p OpenPlan,
    args: &ClaimArgs,
    tree: &Tree,
    context: &Context,
) -> Result<Prepared<'p>, CommandError> {
    let mut state = plan.load()?.state;
    let edited = tree.edited(&state);
    let choice = state.choose(&args.owner, args.task.as_ref(), &edited);
    // Checks take long: they run on what is newest before them.
    if state.is_shared() && choice.map_or(true, |task| state.wants_checks_before(&task.leaf.id)) {
        context.notices(&plan.sync()?);
        state = plan.load()?.state;
    }
    // Checked before taking the lock: a builder that gets nothing should not wait for git.
    state.choose(&args.owner, args.task.as_ref(), &edited)?;
    let own = state.is_shared()
        || state
            .run
            .as_ref()
            .is_some_and(|run| run.terms.checkout.is_some())
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
    let (base, earlier) = base(
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
        earlier: earlier.map(|earlier| match earlier {
            EarlierWork::Restored => {
                "Your checkout has the earlier attempt's work: go on from there".to_owned()
            }
            EarlierWork::Kept(patch) => format!(
                "The earlier attempt's work doesn't fit the newest commit: take what helps from {}",
                patch.display()
            ),
        }),
        test_first,
        edited,
        worktrees,
    })
}

/// The base for measuring `chosen`, which is about to be claimed. With the lock on `worktrees`, it gets a
/// worktree.
fn base(
    plan: &OpenPlan,
    state: &State,
    owner: &AgentName,
    chosen: &TaskState,
    worktrees: Option<&Worktrees<'_>>,
    context: &Context,
) -> Result<(Base, Option<EarlierWork>), CommandError> {
    match (&chosen.base, worktrees) {
        (Some(base), _) if chosen.status == Status::Implementing => {
            if worktrees
                .map(|worktrees| worktrees.restore(chosen))
                .transpose()?
                == Some(true)
            {
                context
                    .printer
                    .note("note: the worktree was gone, and what was in it; it was made again");
            }
            Ok((base.clone(), None))
        }
        (_, Some(worktrees)) => {
            Ok(worktrees.prepare(state, owner, chosen, |patch| context.say_kept(patch))?)
        }
        (_, None) => {
            let git = plan.git()?;
            let (snapshot, surroundings) = git.observe()?;
            let head = snapshot.status.head()?.commit;
            let paths = unexplained(plan, &git, state, &snapshot)?;
            if !paths.is_empty() {
                let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
                let names = verification::list(&names);
                let why = format!("changed in the checkout while no task had it: {names}");
                let decide =
                    |state: &State| Ok(state.doubt_checkout(snapshot.tree.to_string(), paths));
                return Err(doubt(plan, owner, why, decide, context)?);
            }
            let around = Some(surroundings.since(state.around(), false));
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

/// The leaf `id` of the tree in `file`. Other edits were refused before; it can only be missing if the tree
/// was read before a newer approval.
fn find<'p>(file: &Path, tree: &'p Plan<'p>, id: &TaskId) -> Result<&'p Task<'p>, CommandError> {
    plan::leaf(tree, id).ok_or_else(|| {
        CommandError::failed(format!("{}: task {id} was not in it yet", file.display()))
            .hint("run the same command again: the tree was approved anew in the meantime")
    })
}

/// Asks the user what `decide` asks, and tells the builder `why` it gets nothing.
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
    Ok(CommandError::refused(why).hint("end your turn: the user is asked, and you are told"))
}
