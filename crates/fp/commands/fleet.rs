//! `fp share`, `fp join` and `fp fleet`: several machines work on one plan through a git remote.

use std::collections::BTreeMap;

use fp_host::error::{HostError, HostErrorKind};
use fp_host::fleet::{FleetPlace, FleetRemote, Membership, not_joined};
use fp_host::git::Git;
use fp_host::plan::OpenPlan;
use fp_host::plan_folder::PlanFolder;
use fp_host::platform::machine_name;
use fp_host::run::worktree;
use fp_host::store::Store;
use fp_host::trust::ConsentSource;
use fp_plan::hint::Hint as _;
use fp_plan::plan::id::{MachineId, PlanId};
use fp_plan::plan::{Plan, parse};
use fp_plan::text::counted;
use fp_run::report::lasted;
use fp_run::run::consent::AgreedContent;
use fp_run::run::event::{Event, Leaf};
use fp_run::run::state::Status;
use fp_run::run::{Refusal, State, approval};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::approve::commands_text;
use super::start::lead_lock;
use crate::context::{Context, consent_of};
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;

/// Maximum length of the part of a host name that is used as a machine's name, in bytes.
const MAX_NAME: usize = 20;

/// Share an approved plan through a git remote, so that other machines can work on it
///
/// `fp ci github` writes a workflow by which runners of GitHub take part.
#[derive(Debug, clap::Args)]
pub(crate) struct ShareArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    #[command(flatten)]
    at: RemoteArgs,
}

/// Join a plan that another machine shares
#[derive(Debug, clap::Args)]
pub(crate) struct JoinArgs {
    /// The whole id of the plan.
    plan: PlanId,
    #[command(flatten)]
    at: RemoteArgs,
    /// Agree to the plan without asking, if it still has this hash, which `fp share` printed.
    #[arg(long, value_name = "HASH")]
    yes: Option<String>,
}

#[derive(Debug, clap::Args)]
struct RemoteArgs {
    /// The remote, by its name in `git remote`; defaults to the only one, or to `origin`.
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
    /// The name of this machine in the plan; defaults to its host name.
    #[arg(long = "as", value_name = "MACHINE")]
    machine: Option<MachineId>,
}

/// List the machines of a shared plan, and what each one does
#[derive(Debug, clap::Args)]
pub(crate) struct FleetArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// Leave the shared plan.
    #[arg(long)]
    leave: bool,
}

/// The remote `named`, or else the only one, or `origin`.
pub(super) fn remote_or_only(named: Option<&str>, git: &Git) -> Result<String, CommandError> {
    let known = git.remotes()?;
    let has_origin = known.iter().any(|name| name == "origin");
    match (named, &known[..]) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (None, _) if has_origin => Ok("origin".to_owned()),
        (None, []) => Err(
            CommandError::refused("the repository has no remote to push to")
                .with_hint("git remote add origin URL"),
        ),
        (None, _) => Err(
            CommandError::failed("several remotes, and none is called origin")
                .with_hint(format!("name one with --remote: {}", known.join(", "))),
        ),
    }
}

impl RemoteArgs {
    /// The remote given on the command line, or else the only one.
    fn remote_of(&self, git: &Git) -> Result<String, CommandError> {
        remote_or_only(self.remote.as_deref(), git)
    }

    fn place_of(
        &self,
        git: &Git,
        plan: &PlanId,
        context: &Context,
    ) -> Result<FleetPlace, CommandError> {
        Ok(FleetPlace {
            remote: self.remote_of(git)?,
            log_ref: format!("refs/fp/{plan}"),
            branch: format!("fp/{plan}"),
            signed: context.settings()?.fleet.signed,
        })
    }

    /// The requested name, or one derived from the host name.
    fn machine(&self) -> MachineId {
        let own_name = || {
            let name = machine_name().to_lowercase();
            let first = name.split('.').next().unwrap_or_default();
            let plain = first.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let plain = plain.trim_matches('-');
            let named = MachineId::new(&plain[..plain.len().min(MAX_NAME)]);
            named.unwrap_or_else(|_| MachineId::new("machine").expect("it is a name"))
        };
        self.machine.clone().unwrap_or_else(own_name)
    }
}

pub(crate) fn share_plan(args: ShareArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(args.plan.as_deref())?;
    let (id, state) = (plan.id(), plan.load()?.state);
    if state.is_shared() {
        let member = plan.store.membership()?.ok_or_else(|| not_joined(id))?;
        let remote = &member.place.remote;
        return Err(
            CommandError::refused(format!("{id} is shared already, on {remote}"))
                .with_hint(join_line(&state, remote)),
        );
    }
    if state.approval.is_none() {
        return Err(Refusal::NotApproved.into());
    }
    let _lead = lead_lock(&plan)?;
    if let Some(task) = state.running().next() {
        let message = format!("task {} is under way", task.leaf.id);
        return Err(CommandError::refused(message)
            .with_hint("share the plan once it has ended, or take it back with `fp retry`"));
    }
    let git = expect_worktrees(plan.git()?)?;
    let place = args.at.place_of(&git, id, context)?;
    let (remote, head) = (place.remote.clone(), git.head()?);
    let fleet = FleetRemote::new(git, plan.folder.path(), id, place);
    let machine = args.at.machine();
    let shared = plan.store.share(&fleet, &machine, &head, context.now());
    shared.map_err(|error| match error.exit_status() {
        Exit::Overtaken => CommandError::refused(format!("{remote} has a plan {id} already"))
            .with_hint(format!(
                "`git push {remote} :refs/fp/{id}` removes that one for everybody"
            )),
        _ => error.into(),
    })?;
    let line = join_line(&state, &remote);
    let hash = approval::consent_hash(&state);
    context.report(
        &json!({ "planId": id, "machine": machine, "remote": remote, "hash": hash, "join": line }),
        &format!("Shared: {id} on {remote}, as {machine}\nOn another machine: {line}\nHere: fp run {id}\n"),
    )
}

/// Fails unless git can check out a worktree for each builder.
fn expect_worktrees(git: Git) -> Result<Git, CommandError> {
    match git.worktree_obstacle()? {
        None => Ok(git),
        Some(obstacle) => {
            let message = format!("a shared plan needs worktrees: {obstacle}");
            Err(CommandError::refused(message)
                .with_hint("`git worktree` has to be able to check the repository out"))
        }
    }
}

fn join_line(state: &State, remote: &str) -> String {
    let (id, hash) = (&state.plan_id, approval::consent_hash(state));
    format!("fp join {id} --remote {remote} --yes {hash}")
}

/// Fails unless the plan in `folder` is a shared one that this clone hasn't joined.
fn refuse_other_plan(folder: &PlanFolder) -> Result<(), CommandError> {
    let id = folder.id();
    let store = Store::new(folder.path().to_owned(), id.clone());
    if let Some(Membership { machine, .. }) = store.membership()? {
        let message = format!("this clone takes part in {id} already, as {machine}");
        let hint = format!("`fp fleet {id}` shows the others, `fp run {id}` goes on");
        return Err(CommandError::refused(message).with_hint(hint));
    }
    if !store.load()?.state.is_shared() {
        let message = format!("there is another plan {id} here, which is not shared");
        let hint = format!("`fp plans archive {id}` puts it aside");
        return Err(CommandError::refused(message).with_hint(hint));
    }
    Ok(())
}

pub(crate) fn join_plan(args: JoinArgs, context: &Context) -> CommandResult {
    let (id, plans) = (&args.plan, context.plans()?);
    let existing = match plans.open(id) {
        Err(error) if error.kind == HostErrorKind::NoPlan => None,
        folder => Some(folder?),
    };
    existing.as_ref().map_or(Ok(()), refuse_other_plan)?;
    let git = expect_worktrees(Git::open(&context.repo().root)?)?;
    let place = args.at.place_of(&git, id, context)?;
    plans.make_dir()?;
    // A half-made folder can't be mistaken for a plan, because its name can't be an id.
    let stage = tempfile::Builder::new()
        .prefix(".joining-")
        .tempdir_in(plans.dir());
    let stage = stage.map_err(HostError::writing(plans.dir()))?;
    let folder = existing.as_ref().map_or(stage.path(), PlanFolder::path);
    let fleet = FleetRemote::new(git, folder, id, place.clone());
    let news = fleet.fetch_all()?;
    let mut state = State::new(id.clone());
    for (_, entry) in news.entries(&place.log_ref)? {
        state.apply(&entry);
    }
    let Some(approval) = &state.approval else {
        return Err(Refusal::NotApproved.into());
    };
    let text = fleet.text_of(&news, "tasks.md")?.unwrap_or_default();
    let (tree, _) = parse(&text);
    // The user must agree to exactly the text that is shown.
    if approval.tree_hash != approval::hash(text.as_bytes())
        || !tree.setup_commands().eq(&approval.setup)
        || !has_tasks_of(&state, &tree)
    {
        let remote = &place.remote;
        let message = format!("the tasks.md of {id} on {remote} is not the approved one");
        return Err(CommandError::refused(message).with_hint(format!(
            "have it approved where it was changed: fp approve {id}"
        )));
    }
    let commands = commands_text(&tree, &approval.end_commands);
    let how = consent_to_join(&args, &state, &commands, &place.remote, context)?;
    let wanted = args.at.machine();
    let machine = state.free_machine(&wanted).unwrap_or(wanted);
    let heard = state
        .machines
        .keys()
        .map(|machine| (machine.clone(), context.now()));
    let store = Store::new(folder.to_owned(), id.clone());
    store.adopt(&fleet, machine.clone(), news, heard.collect())?;
    let path = plans.dir().join(id.as_str());
    if existing.is_none() {
        std::fs::rename(stage.keep(), &path).map_err(HostError::writing(&path))?;
    }
    let joined = context.open(Some(id.as_str())).and_then(|plan| {
        if let Some(how) = how {
            let trust = context.trust()?;
            trust.add(consent_of(&plan.load()?.state), how, context.now())?;
            trust.keep_agreed(id, AgreedContent::from_tree(&tree, &approval.end_commands))?;
        }
        log_joined(&plan, context).map(|()| plan)
    });
    let plan = joined.inspect_err(|_| {
        // Nothing uses the unfinished folder yet.
        match existing {
            None => drop(std::fs::remove_dir_all(&path)),
            Some(_) => drop(Membership::remove(&path)),
        }
    })?;
    let state = plan.load()?.state;
    let (done, all) = (state.count_in(Status::Completed), state.tasks.len());
    let tasks = counted(all, "task");
    context.report(
        &json!({ "planId": id, "machine": machine, "remote": place.remote, "completed": done, "total": all }),
        &format!("Joined: {id} as {machine}, {done} of {tasks} done\nNext: fp run {id}\n"),
    )
}

/// Records that this machine has joined.
fn log_joined(plan: &OpenPlan, context: &Context) -> Result<(), CommandError> {
    let head = plan.newest(&plan.load()?.state)?.to_string();
    loop {
        let mut ledger = plan.lock_in_order()?;
        let joined = Event::Joined { head: head.clone() };
        match ledger.append(vec![joined], context.now()) {
            Err(error) if error.exit_status() == Exit::Overtaken => {}
            appended => return Ok(appended?),
        }
    }
}

/// True if the tasks in `state` are those of `tree`.
fn has_tasks_of(state: &State, tree: &Plan<'_>) -> bool {
    let planned = approval::leaves_to_run(tree, &[]).unwrap_or_default();
    let is_same = |planned: &Leaf, told: &Leaf| {
        planned.id == told.id
            && planned.title == told.title
            && planned.hash == told.hash
            && planned.dependencies == told.dependencies
            && planned.after == told.after
            && planned.files == told.files
    };
    let mut pairs = planned.iter().zip(&state.tasks);
    planned.len() == state.tasks.len() && pairs.all(|(leaf, task)| is_same(leaf, &task.leaf))
}

/// Asks this machine's user to approve the plan, as on every machine. Returns how the user agreed; `None` if that is
/// already on record.
fn consent_to_join(
    args: &JoinArgs,
    state: &State,
    commands: &str,
    remote: &str,
    context: &Context,
) -> Result<Option<ConsentSource>, CommandError> {
    let (id, hash) = (&state.plan_id, approval::consent_hash(state));
    if let Some(given) = &args.yes {
        if *given == hash {
            return Ok(Some(ConsentSource::Flag));
        }
        let message = format!("{id} on {remote} is not the plan with that hash");
        return Err(CommandError::refused(message).with_hint(format!(
            "look at it with `fp join {id} --remote {remote}` at a terminal; it has {hash} now"
        )));
    }
    if context.trust()?.approves(state)? {
        return Ok(None);
    }
    let tasks = counted(state.tasks.len(), "task");
    context
        .printer
        .print_note(&format!("Plan {id} has {tasks}. {commands}"));
    if !input::can_ask(context) {
        let message = format!("nobody could be asked about {id}, and it was not joined");
        return Err(CommandError::refused(message).with_hint(format!(
            "run it at a terminal, or: {}",
            join_line(state, remote)
        )));
    }
    match input::agrees("Approve it on this machine?", context) {
        true => Ok(Some(ConsentSource::Terminal)),
        false => {
            Err(CommandError::refused(format!("{id} was not joined"))
                .with_hint("nothing was written"))
        }
    }
}

fn leave_plan(plan: &OpenPlan, context: &Context) -> CommandResult {
    let id = plan.id();
    let Some(Membership { machine, place, .. }) = plan.store.membership()? else {
        let message = format!("this clone takes part in no shared plan {id}");
        let hint = "`fp fleet` shows the machines of a plan";
        return Err(CommandError::refused(message).with_hint(hint));
    };
    let _lead = lead_lock(plan)?;
    let before = plan.load()?.state;
    let released = before.own_running().map(|task| Event::Released {
        task: task.leaf.id.clone(),
        reason: format!("{machine} takes part no more"),
        iteration: task.iteration,
    });
    let last: Vec<Event> = released.chain([Event::Left]).collect();
    let ledger = plan.lock_in_order();
    match ledger.and_then(|mut ledger| ledger.append(last.clone(), context.now())) {
        Err(error) if error.exit_status() != Exit::Overtaken => {
            context.note(format_args!(
                "no other machine was told, and each will know it by its silence: {error}"
            ));
            plan.store.leave_alone(last, context.now())?;
        }
        told => told?,
    }
    worktree::leave(plan, &before)?;
    Membership::remove(plan.folder.path())?;
    let kept = context.display_path(&plan.folder.path().join("unfinished"));
    let again = format!("fp join {id} --remote {}", place.remote);
    context.report(
        &json!({ "planId": id, "machine": machine }),
        &format!("Left: {id}\nWhat was not finished is in {kept}; `{again}` takes part again\n"),
    )
}

pub(crate) fn show_fleet(args: FleetArgs, context: &Context) -> CommandResult {
    if args.leave {
        return leave_plan(&context.open(args.plan.as_deref())?, context);
    }
    let plan = context.open_to_read(args.plan.as_deref())?;
    let id = plan.id();
    if !plan.load()?.state.is_shared() {
        let message = format!("{id} is not shared");
        return Err(CommandError::refused(message).with_hint(format!("fp share {id}")));
    }
    if let Err(error) = plan.sync() {
        context.note(format_args!("this is what was seen last: {error}"));
    }
    let member = plan.store.membership()?.ok_or_else(|| not_joined(id))?;
    let (state, now) = (plan.load()?.state, context.now());
    let waiting = plan.store.waiting()?;
    let FleetPlace {
        remote,
        log_ref,
        branch,
        ..
    } = &member.place;
    let machines = state.machines.keys();
    let rows: Vec<_> = machines
        .map(|machine| machine_row(machine, &state, &member, now))
        .collect();
    let mut text = format!("{id} on {remote}: log {log_ref}, commits {branch}\n");
    text.extend(rows.iter().map(|(_, line)| line.as_str()));
    let unsent = match waiting {
        0 => "all is sent".to_owned(),
        _ => format!("{} not sent yet", counted(waiting, "change")),
    };
    text += &format!("Seen {} ago; {unsent}\n", lasted(member.fetched_at, now));
    let seconds = now.duration_since(member.fetched_at).as_secs();
    let rows: Vec<Value> = rows.into_iter().map(|(row, _)| row).collect();
    let json = json!({
        "planId": id, "remote": remote, "ref": log_ref, "branch": branch, "secondsSinceLook": seconds,
        "waiting": waiting, "machines": rows,
    });
    context.report(&json, &text)
}

/// A machine as others see it: its tasks and its last sign of life.
fn machine_row(
    machine: &MachineId,
    state: &State,
    member: &Membership,
    now: Timestamp,
) -> (Value, String) {
    let is_this = *machine == member.machine;
    let known = state.machines.get(machine);
    let has_left = known.is_some_and(|known| known.has_left);
    let running = state.running();
    let its = running.filter(|task| task.machine.as_ref() == Some(machine));
    let tasks = its.map(|task| match task.status {
        Status::Implementing => (task.leaf.id.as_str(), "builds"),
        _ => (task.leaf.id.as_str(), "verifies"),
    });
    let tasks: BTreeMap<&str, &str> = tasks.collect();
    let told: Vec<String> = tasks.iter().map(|(id, is)| format!("{is} {id}")).collect();
    let does = match told.is_empty() {
        _ if has_left => "has left".to_owned(),
        true if state.run.is_some() && !state.is_running() => "done".to_owned(),
        true => "waiting".to_owned(),
        false => told.join(", "),
    };
    let heard = member.heard.get(machine).filter(|_| !is_this);
    let last = match heard {
        _ if is_this => "this machine".to_owned(),
        Some(at) => format!("heard {} ago", lasted(*at, now)),
        None => "never heard".to_owned(),
    };
    let row = json!({
        "machine": machine, "isThis": is_this, "hasLeft": has_left, "tasks": tasks,
        "secondsSinceHeard": heard.map(|at| now.duration_since(*at).as_secs()),
    });
    (row, format!("  {machine:16}  {does}; {last}\n"))
}
