//! `fp share`, `fp join` and `fp fleet`: a plan that several machines work on, which meet at a git remote.

use std::collections::BTreeMap;

use fp_host::error::{HostError, HostErrorKind};
use fp_host::fleet::{FleetPlace, FleetRemote, Membership, not_joined, unreachable};
use fp_host::git::Git;
use fp_host::plan::OpenPlan;
use fp_host::platform::machine_name;
use fp_host::run::worktree;
use fp_host::store::Store;
use fp_host::trust::ConsentSource;
use fp_plan::hint::Hint as _;
use fp_plan::plan::id::{MachineId, PlanId};
use fp_plan::text::counted;
use fp_run::run::consent::AgreedContent;
use fp_run::run::event::{Event, Leaf};
use fp_run::run::state::Status;
use fp_run::run::{Refusal, State, approval};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::approve::commands_text;
use super::start::lead_lock;
use crate::context::{Context, consent_of};
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;

/// Longest name that is taken from a machine's own, in bytes.
const MAX_NAME: usize = 20;

/// Share an approved plan through a git remote, so that other machines can work on it
#[derive(Debug, clap::Args)]
pub(crate) struct ShareArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    #[command(flatten)]
    at: RemoteArgs,
}

/// Take part in a plan that another machine shares
#[derive(Debug, clap::Args)]
pub(crate) struct JoinArgs {
    /// The whole id of the plan; without one, those on the remote are listed.
    plan: Option<PlanId>,
    #[command(flatten)]
    at: RemoteArgs,
    /// Agree to the plan without asking, if it still has this hash, which `fp share` printed.
    #[arg(long, value_name = "HASH", requires = "plan")]
    yes: Option<String>,
}

#[derive(Debug, clap::Args)]
struct RemoteArgs {
    /// The remote, by its name in `git remote`; the only one, or `origin`, where left out.
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
    /// The name of this machine in the plan; else its own.
    #[arg(long = "as", value_name = "MACHINE")]
    machine: Option<MachineId>,
}

/// List the machines of a shared plan, and what each one does
#[derive(Debug, clap::Args)]
pub(crate) struct FleetArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// Stop taking part in it.
    #[arg(long)]
    leave: bool,
}

/// Where the logs of plans are on a remote.
const LOG_REFS: &str = "refs/fp/";

impl RemoteArgs {
    /// The named remote, or the only one.
    fn remote(&self, git: &Git) -> Result<String, CommandError> {
        let known = git.remotes()?;
        Ok(match (&self.remote, &known[..]) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.clone(),
            (None, _) if known.iter().any(|name| name == "origin") => "origin".to_owned(),
            (None, []) => {
                return Err(CommandError::refused(
                    "the repository has no remote, which is where machines meet",
                )
                .hint("git remote add origin URL"));
            }
            (None, _) => {
                return Err(
                    CommandError::failed("several remotes, and none is called origin")
                        .hint(format!("name one with --remote: {}", known.join(", "))),
                );
            }
        })
    }

    fn place(
        &self,
        git: &Git,
        plan: &PlanId,
        context: &Context,
    ) -> Result<FleetPlace, CommandError> {
        let remote = self.remote(git)?;
        Ok(FleetPlace {
            remote,
            log_ref: format!("{LOG_REFS}{plan}"),
            branch: format!("fp/{plan}"),
            signed: context.settings()?.fleet.signed,
        })
    }

    fn machine(&self) -> MachineId {
        self.machine.clone().unwrap_or_else(own_name)
    }
}

/// The name that this machine has for its user.
fn own_name() -> MachineId {
    let name = machine_name();
    let first = name.split('.').next().unwrap_or_default().to_lowercase();
    let plain: String = first
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let plain = plain.trim_matches('-');
    let named = MachineId::new(&plain[..plain.len().min(MAX_NAME)]);
    named.unwrap_or_else(|_| MachineId::new("machine").expect("it is a name"))
}

pub(crate) fn share(args: ShareArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(args.plan.as_deref())?;
    let (id, state) = (plan.id(), plan.load()?.state);
    if state.is_shared() {
        let Some(member) = plan.store.membership()? else {
            return Err(not_joined(id).into());
        };
        return Err(CommandError::refused(format!(
            "{id} is shared already, on {}",
            member.place.remote
        ))
        .hint(join_line(&state, &member.place.remote)));
    }
    if state.approval.is_none() {
        return Err(Refusal::NotApproved.into());
    }
    let _lead = lead_lock(&plan)?;
    if let Some(task) = state.running().next() {
        return Err(
            CommandError::refused(format!("task {} is under way", task.leaf.id))
                .hint("share the plan once it has ended, or take it back with `fp retry`"),
        );
    }
    let git = expect_worktrees(plan.git()?)?;
    let place = args.at.place(&git, id, context)?;
    let (remote, head) = (place.remote.clone(), git.head()?);
    let fleet = FleetRemote::new(git, plan.folder.path(), id, place);
    let machine = args.at.machine();
    plan.store.share(&fleet, &machine, &head, context.now())?;
    let line = join_line(&state, &remote);
    let hash = approval::consent_hash(&state);
    context.report(
        &json!({ "planId": id, "machine": machine, "remote": remote, "hash": hash, "join": line }),
        &format!("Shared: {id} on {remote}, as {machine}\nOn another machine: {line}\nHere: fp run {id}\n"),
    )
}

/// Fails unless builders can have worktrees of their own.
fn expect_worktrees(git: Git) -> Result<Git, CommandError> {
    match git.worktree_obstacle()? {
        None => Ok(git),
        Some(obstacle) => Err(CommandError::refused(format!(
            "a shared plan needs worktrees: {obstacle}"
        ))
        .hint("`git worktree` has to be able to check the repository out")),
    }
}

fn join_line(state: &State, remote: &str) -> String {
    format!(
        "fp join {} --remote {remote} --yes {}",
        state.plan_id,
        approval::consent_hash(state)
    )
}

/// Lists the plans that can be joined.
fn list_shared(at: &RemoteArgs, context: &Context) -> CommandResult {
    let git = Git::open(&context.repo().root)?;
    let remote = at.remote(&git)?;
    let names = git
        .remote_refs(&remote, &format!("{LOG_REFS}*"))
        .map_err(|source| unreachable(&remote, &source))?;
    let ids: Vec<PlanId> = names
        .iter()
        .filter_map(|name| name.strip_prefix(LOG_REFS)?.parse().ok())
        .collect();
    let mut text = match ids[..] {
        [] => format!("No plan is shared on {remote}; `fp share` on another machine shares one\n"),
        _ => format!("Shared on {remote}:\n"),
    };
    ids.iter()
        .for_each(|id| text += &format!("  fp join {id} --remote {remote}\n"));
    context.report(&json!({ "remote": remote, "plans": ids }), &text)
}

pub(crate) fn join(args: JoinArgs, context: &Context) -> CommandResult {
    let Some(id) = &args.plan else {
        return list_shared(&args.at, context);
    };
    let plans = context.plans()?;
    let existing = match plans.open(id) {
        Ok(folder) => Some(folder),
        Err(error) if error.kind == HostErrorKind::NoPlan => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(folder) = &existing {
        let store = Store::new(folder.path().to_owned(), id.clone());
        if let Some(member) = store.membership()? {
            let message = format!(
                "this clone takes part in {id} already, as {}",
                member.machine
            );
            return Err(CommandError::refused(message).hint(format!(
                "`fp fleet {id}` shows the others, `fp run {id}` goes on"
            )));
        }
        if !store.load()?.state.is_shared() {
            let message = format!("there is another plan {id} here, which is not shared");
            return Err(CommandError::refused(message)
                .hint(format!("`fp plans archive {id}` puts it aside")));
        }
    }
    let git = expect_worktrees(Git::open(&context.repo().root)?)?;
    let place = args.at.place(&git, id, context)?;
    plans.make_dir()?;
    // A half-made folder is no plan: its name can't be an id.
    let stage = tempfile::Builder::new()
        .prefix(".joining-")
        .tempdir_in(plans.dir());
    let stage = stage.map_err(HostError::writing(plans.dir()))?;
    let folder = existing
        .as_ref()
        .map_or(stage.path(), |folder| folder.path());
    let fleet = FleetRemote::new(git, folder, id, place.clone());
    let news = fleet.fetch_all()?;
    let mut state = State::new(id.clone());
    news.entries(&place.log_ref)?
        .iter()
        .for_each(|(_, entry)| state.apply(entry));
    if state.approval.is_none() {
        return Err(Refusal::NotApproved.into());
    }
    let text = fleet.text_of(&news, "tasks.md")?.unwrap_or_default();
    // What is shown has to be what is agreed to.
    let told = state.approval.as_ref().map(|approval| &approval.tree_hash);
    if told != Some(&approval::hash(text.as_bytes())) || !has_tasks_of(&state, &text) {
        return Err(CommandError::refused(format!(
            "the tasks.md of {id} on {} is not the approved one",
            place.remote
        ))
        .hint(format!(
            "have it approved where it was changed: fp approve {id}"
        )));
    }
    let how = agree(&args, &state, &text, &place.remote, context)?;
    let wanted = args.at.machine();
    let machine = state.free_machine(&wanted).unwrap_or(wanted);
    let heard: BTreeMap<_, _> = state
        .machines
        .keys()
        .map(|machine| (machine.clone(), context.now()))
        .collect();
    Store::new(folder.to_owned(), id.clone()).adopt(&fleet, machine.clone(), news, heard)?;
    let path = plans.dir().join(id.as_str());
    if existing.is_none() {
        std::fs::rename(stage.keep(), &path).map_err(HostError::writing(&path))?;
    }
    let joined = context.open(Some(id.as_str())).and_then(|plan| {
        if let Some(how) = how {
            let state = plan.load()?.state;
            let approval = state.approval.as_ref();
            let end_commands = approval.map_or(&[][..], |approval| &approval.end_commands);
            let (tree, _) = fp_plan::plan::parse(&text);
            let trust = context.trust()?;
            trust.add(consent_of(&state), how, context.now())?;
            trust.keep_agreed(id, AgreedContent::of(&tree, end_commands))?;
        }
        enter(&plan, context).map(|()| plan)
    });
    let plan = joined.inspect_err(|_| {
        // Nothing of it is anybody's yet.
        if existing.is_none() {
            drop(std::fs::remove_dir_all(&path));
        } else {
            drop(Membership::remove(&path));
        }
    })?;
    let state = plan.load()?.state;
    let (done, tasks) = (state.count(Status::Completed), state.tasks.len());
    context.report(
        &json!({ "planId": id, "machine": machine, "remote": place.remote, "completed": done, "total": tasks }),
        &format!("Joined: {id} as {machine}, {done} of {} done\nNext: fp run {id}\n", counted(tasks, "task")),
    )
}

/// Writes that this machine takes part.
fn enter(plan: &OpenPlan, context: &Context) -> Result<(), CommandError> {
    let tip = plan.newest(&plan.load()?.state)?;
    loop {
        let mut ledger = plan.lock_in_order()?;
        match ledger.append(
            vec![Event::Joined {
                head: tip.to_string(),
            }],
            context.now(),
        ) {
            Ok(()) => return Ok(()),
            Err(error) if error.ends() == Exit::Overtaken => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// True if the tasks of `state` are those of the tree in `text`.
fn has_tasks_of(state: &State, text: &str) -> bool {
    let planned = approval::leaves(&fp_plan::plan::parse(text).0, &[]).unwrap_or_default();
    let told = |leaf: &Leaf| {
        let Leaf {
            id,
            title,
            hash,
            dependencies,
            after,
            files,
            ..
        } = leaf.clone();
        (id, title, hash, dependencies, after, files)
    };
    planned
        .iter()
        .map(told)
        .eq(state.tasks.iter().map(|task| told(&task.leaf)))
}

/// Asks the user of this machine for the plan, as every machine has its own. Returns how the user agreed; `None` if that
/// is known.
fn agree(
    args: &JoinArgs,
    state: &State,
    text: &str,
    remote: &str,
    context: &Context,
) -> Result<Option<ConsentSource>, CommandError> {
    let id = &state.plan_id;
    let hash = approval::consent_hash(state);
    let (tree, _) = fp_plan::plan::parse(text);
    let end_commands = state
        .approval
        .as_ref()
        .map_or(&[][..], |approval| &approval.end_commands);
    let how = match &args.yes {
        Some(given) if *given == hash => ConsentSource::Flag,
        Some(_) => {
            return Err(CommandError::refused(format!(
                "{id} on {remote} is not the plan with that hash"
            ))
            .hint(format!(
                "look at it with `fp join {id} --remote {remote}` at a terminal; it has {hash} now"
            )));
        }
        None if context.trust()?.approves(state)? => return Ok(None),
        None => {
            let tasks = counted(state.tasks.len(), "task");
            context.printer.note(&format!(
                "Plan {id} has {tasks}. {}",
                commands_text(&tree, end_commands)
            ));
            if !input::can_ask(context) {
                let message = format!("nobody could be asked about {id}, and it was not joined");
                return Err(CommandError::refused(message).hint(format!(
                    "run it at a terminal, or: fp join {id} --remote {remote} --yes {hash}"
                )));
            }
            if !input::agrees("Approve it on this machine?", context) {
                return Err(CommandError::refused(format!("{id} was not joined"))
                    .hint("nothing was written"));
            }
            ConsentSource::Terminal
        }
    };
    Ok(Some(how))
}

fn leave(plan: &OpenPlan, context: &Context) -> CommandResult {
    let id = plan.id();
    let Some(member) = plan.store.membership()? else {
        return Err(
            CommandError::refused(format!("this clone takes part in no shared plan {id}"))
                .hint("`fp fleet` shows the machines of a plan"),
        );
    };
    let _lead = lead_lock(plan)?;
    let last = |state: &State| {
        let released = state.own_running().map(|task| Event::Released {
            task: task.leaf.id.clone(),
            reason: format!("{} takes part no more", member.machine),
            iteration: task.iteration,
        });
        released.chain([Event::Left]).collect::<Vec<_>>()
    };
    let before = plan.load()?.state;
    let told = plan
        .lock_in_order()
        .and_then(|mut ledger| ledger.append(last(&before), context.now()));
    match told {
        Err(error) if error.ends() != Exit::Overtaken => {
            context.printer.note(&format!(
                "note: no other machine was told, and each will know it by its silence: {error}"
            ));
            plan.store.leave_alone(last(&before), context.now())?;
        }
        told => told?,
    }
    worktree::leave(plan, &before)?;
    Membership::remove(plan.folder.path())?;
    context.report(
        &json!({ "planId": id, "machine": member.machine }),
        &format!(
            "Left: {id}\nWhat was not finished is in {}; `fp join {id} --remote {}` takes part again\n",
            context.shown(&plan.folder.path().join("unfinished")),
            member.place.remote
        ),
    )
}

pub(crate) fn list(args: FleetArgs, context: &Context) -> CommandResult {
    if args.leave {
        return leave(&context.open(args.plan.as_deref())?, context);
    }
    let plan = context.open_to_read(args.plan.as_deref())?;
    let id = plan.id();
    if !plan.load()?.state.is_shared() {
        return Err(
            CommandError::refused(format!("{id} is not shared")).hint(format!("fp share {id}"))
        );
    }
    if let Err(error) = plan.sync() {
        context
            .printer
            .note(&format!("note: this is what was seen last: {error}"));
    }
    let member = plan.store.membership()?.ok_or_else(|| not_joined(id))?;
    let (state, now) = (plan.load()?.state, context.now());
    let waiting = plan.store.waiting()?;
    let seen = now.duration_since(member.fetched_at);
    let place = &member.place;
    let (remote, log_ref, branch) = (&place.remote, &place.log_ref, &place.branch);
    let mut text = format!("{id} on {remote}: log {log_ref}, commits {branch}\n");
    let mut rows = Vec::new();
    for machine in state.machines.keys() {
        let (row, line) = machine_row(machine, &state, &member, now);
        rows.push(row);
        text.push_str(&line);
    }
    let unsent = match waiting {
        0 => "all is sent".to_owned(),
        _ => format!("{} not sent yet", counted(waiting, "change")),
    };
    text.push_str(&format!("Seen {} ago; {unsent}\n", short_time(seen)));
    let json = json!({
        "planId": id, "remote": remote, "ref": log_ref, "branch": branch, "secondsSinceLook": seen.as_secs(),
        "waiting": waiting, "machines": rows,
    });
    context.report(&json, &text)
}

/// A machine as others see it: its tasks, and when something was heard of it.
fn machine_row(
    machine: &MachineId,
    state: &State,
    member: &Membership,
    now: Timestamp,
) -> (Value, String) {
    let is_this = *machine == member.machine;
    let has_left = state
        .machines
        .get(machine)
        .is_some_and(|known| known.has_left);
    let its = state
        .running()
        .filter(|task| task.machine.as_ref() == Some(machine));
    let tasks: BTreeMap<&str, &str> = its
        .map(|task| match task.status {
            Status::Implementing => (task.leaf.id.as_str(), "builds"),
            _ => (task.leaf.id.as_str(), "verifies"),
        })
        .collect();
    let heard = member.heard.get(machine).filter(|_| !is_this);
    let heard = heard.map(|at| now.duration_since(*at));
    let told: Vec<String> = tasks.iter().map(|(id, is)| format!("{is} {id}")).collect();
    let does = match told.is_empty() {
        _ if has_left => "has left".to_owned(),
        true if state.run.is_some() && !state.is_running() => "done".to_owned(),
        true => "waiting".to_owned(),
        false => told.join(", "),
    };
    let last = match heard {
        _ if is_this => "this machine".to_owned(),
        Some(ago) => format!("heard {} ago", short_time(ago)),
        None => "never heard".to_owned(),
    };
    let row = json!({
        "machine": machine, "isThis": is_this, "hasLeft": has_left, "tasks": tasks,
        "secondsSinceHeard": heard.map(|ago| ago.as_secs()),
    });
    (row, format!("  {machine:16}  {does}; {last}\n"))
}

pub(super) fn short_time(time: SignedDuration) -> String {
    match time.as_secs().max(0) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
