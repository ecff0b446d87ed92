//! `fp start`: starts or resumes a run, after checking that none of the user's work can be lost.

use std::time::Duration;

use fp_host::error::HostErrorKind;
use fp_host::error::HostResult;
use fp_host::file::acquire;
use fp_host::git::Git;
use fp_host::plan::OpenPlan;
use fp_host::plan_folder::is_plan_file;
use fp_host::platform::end_marked;
use fp_host::run::branch::{open_branch, plan_branch};
use fp_host::run::commit::{COMMIT_PATIENCE, settle};
use fp_host::run::trial;
use fp_host::run::worktree::follow_branch;
use fp_plan::plan::id::TaskId;
use fp_plan::plan::path::overlap;
use fp_plan::reading_language;
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::{BranchChoice, Engine, Isolation};
use fp_plan::text::shell_quoted;
use fp_run::report::handoff::next_steps;
use fp_run::report::standing::{LeadPresence, RunStanding};
use fp_run::run::Policy;
use fp_run::run::event::{FoundCheckout, PlanBranch, RunTerms};
use fp_run::run::state::{State, Status};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Start a run, or resume it: finished tasks stay finished
#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    terms: TermsArgs,
    /// How many builders work at once (1-16); else as configured.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=16))]
    builders: Option<u32>,
    /// The session that leads; defaults to the client's current one.
    #[arg(long)]
    session: Option<String>,
    /// The user can be asked although the session looks unattended.
    #[arg(long)]
    attended: bool,
}

/// The terms of a run, for a session and for `fp run`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct TermsArgs {
    /// The plan: an id, a part of one, or a number of `fp plans`; defaults to the only active one.
    pub(super) plan: Option<String>,
    /// How many attempts a task has (1-20); defaults to the setting.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(super) max_iterations: Option<u32>,
    /// Leave passed work uncommitted.
    #[arg(long)]
    pub(super) no_commit: bool,
    /// Put the commits on this branch of the plan's own, made at the commit that is checked out.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["here", "no_commit", "allow_dirty"])]
    branch: Option<String>,
    /// Put the commits on the branch that is checked out; with `fp start`, the session leads.
    #[arg(long)]
    pub(super) here: bool,
    /// Start although files of the plan have uncommitted changes, which become part of the tasks' commits here.
    #[arg(long)]
    allow_dirty: bool,
}

pub(crate) fn start_run(args: StartArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_lead(args.terms.plan.as_deref())?;
    let state = plan.load()?.state;
    let builders = args.builders.unwrap_or(plan.settings.max_parallel_tasks);
    let by_processes = match plan.settings.engine {
        // A session couldn't report to other machines that it is still working, nor receive their reports.
        _ if state.is_shared() => true,
        Engine::Processes => true,
        Engine::Session => false,
        Engine::Auto if args.session.is_some() || has_session_run(&state) => false,
        // Leading costs a session tokens for each task.
        Engine::Auto => builders > 1 || state.tasks.len() > FEW,
    };
    if by_processes && !args.terms.here {
        let line = background_line(&plan, state.run.is_none(), &args);
        let json = json!({ "planId": plan.id(), "background": line });
        return context.report(&json, &format!("In the background: {line}\n"));
    }
    let _lock = lead_lock(&plan)?;
    let lead = RunTerms {
        session: args.session.or_else(|| context.session()),
        client: context.client(),
        attended: args.attended,
        builders,
        ..RunTerms::default()
    };
    let released = begin(&plan, &args.terms, lead, context)?;
    let language =
        reading_language::choose_language(plan.settings.language.as_deref(), &plan.goal());
    report_start(context, &plan.load()?.state, released, language.as_deref())
}

/// Number of tasks that a session leads well by itself.
const FEW: usize = 2;

/// True if a session leads the run already.
fn has_session_run(state: &State) -> bool {
    state.is_running() && !state.has_processes()
}

/// The command that leads the run in the background, instead of the session.
fn background_line(plan: &OpenPlan, is_first: bool, args: &StartArgs) -> String {
    let terms = &args.terms;
    let has_commits = !terms.no_commit && !terms.allow_dirty;
    let mut line = format!("fp run {} --ask", plan.id());
    if let Some(builders) = args.builders {
        line += &format!(" -j {builders}");
    }
    if let Some(iterations) = terms.max_iterations {
        line += &format!(" --max-iterations {iterations}");
    }
    match &terms.branch {
        Some(name) if name.is_empty() => line += " --branch",
        Some(name) => line += &format!(" --branch {}", shell_quoted(name)),
        // The user of a session sees their own branch.
        None if is_first && plan.settings.branch == BranchChoice::Auto && has_commits => {
            line += " --here";
        }
        None => {}
    }
    line += if terms.no_commit { " --no-commit" } else { "" };
    line + if terms.allow_dirty {
        " --allow-dirty"
    } else {
        ""
    }
}

/// How long a lead's lock may outlive the lead: a newly forked child process holds the lock until it executes its
/// program.
pub(super) const LEAD_PATIENCE: Duration = Duration::from_secs(1);

/// Takes the lock for leading `plan`. Refused while `fp run` holds it.
pub(super) fn lead_lock(plan: &OpenPlan) -> Result<std::fs::File, CommandError> {
    acquire(&plan.lead_lock(), LEAD_PATIENCE).map_err(|error| match &error.kind {
        HostErrorKind::Locked(holder) => {
            let by: String = holder.iter().map(|id| format!(", process {id}")).collect();
            CommandError::refused(format!("`fp run`{by} leads the run of {}", plan.id()))
                .with_hint("end it first, with Ctrl-C in its terminal; nothing is lost")
        }
        _ => error.into(),
    })
}

/// Fails if git tracks anything but plans in the plans folder, where changes go unnoticed.
fn refuse_files_among_plans(plan: &OpenPlan, git: &Git) -> Result<(), CommandError> {
    let folder = &plan.settings.plans_dir;
    let of_folder = RepoPath::from_bytes(folder.as_bytes());
    for path in git.known_files(Some(&of_folder))? {
        let path = path.to_string();
        let below = path.strip_prefix(folder.as_str()).unwrap_or(&path);
        if !is_plan_file(below.trim_start_matches('/')) {
            return Err(CommandError::refused(format!(
                "git tracks {path}, which is no file of a plan, in {folder}: what changes there is never seen"
            ))
            .with_hint("move it elsewhere, or set `plansDir` to a folder of its own in your own settings: `fp config set plansDir FOLDER --user`"));
        }
    }
    Ok(())
}

/// Starts or resumes the run of `plan` on the terms in `lead`. Returns the number of tasks that were taken back from a
/// lost lead.
pub(super) fn begin(
    plan: &OpenPlan,
    args: &TermsArgs,
    lead: RunTerms,
    context: &Context,
) -> Result<usize, CommandError> {
    let before = plan.load()?.state;
    let is_shared = before.is_shared();
    let no_commit = args.no_commit || plan.settings.no_commit;
    let branch = match is_shared || no_commit {
        true => None,
        false => branch_of_run(plan, args, lead.processes, &before)?,
    };
    let git = match &branch {
        _ if is_shared => {
            context.notices(&plan.sync()?);
            let _lock = acquire(&plan.commit_lock(), COMMIT_PATIENCE)?;
            follow_branch(plan)?;
            plan.checkout(&plan.load()?.state)?
        }
        Some(branch) => open_branch(plan, &before, branch)?,
        None => plan.git()?,
    };
    refuse_files_among_plans(plan, &git)?;
    let status = git.status()?;
    if no_commit && is_shared {
        return Err(CommandError::refused(
            "a shared plan needs commits: they are how its machines meet",
        )
        .with_hint("leave `--no-commit` away, or set `noCommit` to false"));
    }
    status.head()?;
    if !no_commit && !is_shared {
        git.expect_branch(&status)?;
    }
    for (key, _) in context.config()?.ignored.by_key() {
        context.note(format_args!(
            "{key} in the project's file is ignored here: `fp config` says why"
        ));
    }
    let before = plan.load()?.state;
    let changed = status.entries.iter().map(|entry| entry.path.to_string());
    let dirty = files_of_plan(&before, changed);
    let is_first = before.run.is_none();
    if is_first && !args.allow_dirty && !dirty.is_empty() {
        let files = dirty.join(", ");
        let message = format!("files that the plan changes have uncommitted changes: {files}");
        return Err(CommandError::refused(message).with_hint(
            "commit or stash them, or add --allow-dirty to make them part of the tasks' commits",
        ));
    }
    let in_the_way = dirty.first().filter(|_| is_first);
    let checkout = match &branch {
        Some(_) => git.worktree().to_str().map(str::to_owned),
        None => checkout_to_integrate(plan, &git, &lead, no_commit, in_the_way, context)?,
    };
    if let Some(branch) = branch.as_ref().filter(|_| is_first) {
        tell_what_is_left_out(plan, &before, branch, context)?;
    }
    // A killed `fp run` may have left agents running.
    let marks = before
        .processes
        .values()
        .map(|process| process.mark.as_str());
    end_marked(&marks.filter(|mark| !mark.is_empty()).collect::<Vec<_>>());
    let mut ledger = context.with_notices(plan.lock_in_order()?);
    if ledger.state().may_be_others() {
        plan.agreed_commands(ledger.state())?;
    }
    let start = RunTerms {
        max_iterations: args.max_iterations.unwrap_or(plan.settings.max_iterations),
        no_commit,
        policy: policy_of(plan)?,
        checkout,
        branch,
        found: Some(found_checkout(&git, ledger.state())?),
        ..lead
    };
    let events = ledger.state().start(start)?;
    let released = ledger.state().count_in(Status::Implementing);
    ledger.append(events, context.now())?;
    let released = released - ledger.state().count_in(Status::Implementing);
    drop(ledger);
    settle(plan, || context.now(), Duration::ZERO)?;
    context.remove_unneeded_worktrees(plan);
    try_commands(plan, context)?;
    Ok(released)
}

/// Tries the plan's commands if that is due.
///
/// # Errors
/// They can't be tried, and an agent would cost something before anybody saw why.
pub(super) fn try_commands(plan: &OpenPlan, context: &Context) -> HostResult<()> {
    let say = |line: &str| context.note(format_args!("trying {line}"));
    match trial::try_commands(plan, say, || context.now()) {
        Ok(notes) => notes.iter().for_each(|note| context.warn(note)),
        Err(error) if plan.load()?.state.has_processes() => return Err(error),
        Err(error) => context.warn(format_args!(
            "the plan's commands could not be tried: {error}"
        )),
    }
    Ok(())
}

/// The branch of the plan's own that gets the commits; `None` for the one that is checked out. Once something is
/// committed, it stays the same.
fn branch_of_run(
    plan: &OpenPlan,
    args: &TermsArgs,
    by_processes: bool,
    state: &State,
) -> Result<Option<PlanBranch>, CommandError> {
    let name = args.branch.as_deref().filter(|name| !name.is_empty());
    if let Some(run) = &state.run {
        let before = &run.terms.branch;
        let is_same = match (&args.branch, before) {
            (None, before) => !args.here || before.is_none(),
            (Some(_), None) => false,
            (Some(_), Some(before)) => name.is_none_or(|name| name == before.name),
        };
        if is_same {
            return Ok(before.clone());
        }
        if state.tasks.iter().any(|task| task.commit.is_some()) {
            let place = match before {
                Some(before) => before.name.clone(),
                None => "the branch that was checked out".to_owned(),
            };
            let said = format!("what is done so far is on {place}, and so is the rest");
            return Err(CommandError::refused(said).with_hint("leave that flag away"));
        }
    }
    let is_wanted = match plan.settings.branch {
        _ if args.here || args.allow_dirty => false,
        _ if args.branch.is_some() => true,
        BranchChoice::Auto => by_processes,
        BranchChoice::Plan => true,
        BranchChoice::Current => false,
    };
    if !is_wanted {
        return Ok(None);
    }
    let obstacle = match plan.settings.isolation {
        Isolation::Shared => Some("builders share the checkout (`isolation`)".to_owned()),
        Isolation::Auto | Isolation::Worktree => plan.git()?.worktree_obstacle()?,
    };
    match obstacle {
        Some(obstacle) if args.branch.is_some() => {
            let said = format!("the plan can't have a branch of its own: {obstacle}");
            Err(CommandError::refused(said)
                .with_hint("`--here` takes the branch that is checked out"))
        }
        Some(_) => Ok(None),
        None => Ok(Some(plan_branch(plan, name)?)),
    }
}

/// Says that the user's uncommitted changes to files of the plan are not on its branch.
fn tell_what_is_left_out(
    plan: &OpenPlan,
    state: &State,
    branch: &PlanBranch,
    context: &Context,
) -> Result<(), CommandError> {
    let status = plan.git()?.status()?;
    let changed = status.entries.iter().map(|entry| entry.path.to_string());
    let left = files_of_plan(state, changed);
    if !left.is_empty() {
        context.note(format_args!(
            "{} begins at the last commit, without your uncommitted changes to {}; `--allow-dirty` takes them in, on the branch that is checked out",
            branch.name,
            left.join(", ")
        ));
    }
    Ok(())
}

/// The checkout as it was at the start of the run.
fn found_checkout(git: &Git, state: &State) -> Result<FoundCheckout, CommandError> {
    let running = state.run.as_ref().filter(|_| state.is_running());
    if let Some(before) = running.and_then(|run| run.terms.found.clone()) {
        return Ok(before);
    }
    let (snapshot, around) = git.observe()?;
    Ok(FoundCheckout {
        tree: snapshot.tree.to_string(),
        around,
    })
}

/// The policy for ordering tasks by their measured signals.
fn policy_of(plan: &OpenPlan) -> Result<Policy, CommandError> {
    let composites = plan.composites()?.unwrap_or_default().into_iter();
    let known = composites.filter_map(|(id, composite)| Some((TaskId::new(id).ok()?, composite)));
    Ok(Policy::new(&plan.settings, known))
}

/// Those of `paths` that the plan may change.
fn files_of_plan(state: &State, paths: impl Iterator<Item = String>) -> Vec<String> {
    let files = state.tasks.iter().flat_map(|task| task.leaf.files.clone());
    let files: Vec<String> = files.collect();
    paths
        .filter(|path| overlap(&files, std::slice::from_ref(path)))
        .collect()
}

/// The checkout that receives passed tasks, if builders get their own worktrees. If that is impossible, for example
/// because `dirty` has uncommitted changes, they share the checkout, unless the settings insist on worktrees.
fn checkout_to_integrate(
    plan: &OpenPlan,
    git: &Git,
    lead: &RunTerms,
    no_commit: bool,
    dirty: Option<&String>,
    context: &Context,
) -> Result<Option<String>, CommandError> {
    let insists = match plan.settings.isolation {
        _ if plan.load()?.state.is_shared() => true,
        Isolation::Shared => return Ok(None),
        // Agents of `fp run` may build while the user works in the checkout.
        Isolation::Auto if lead.builders == 1 && !lead.processes => return Ok(None),
        Isolation::Auto => false,
        Isolation::Worktree => true,
    };
    let checkout = git.worktree().to_str();
    let obstacle = match (checkout, dirty) {
        _ if no_commit => {
            Some("commits are off, and without them no task sees what another did".to_owned())
        }
        (_, Some(file)) => Some(format!(
            "a worktree has no uncommitted changes, such as those of {file}"
        )),
        (None, _) => Some("the path of the checkout is not UTF-8".to_owned()),
        _ => git.worktree_obstacle()?,
    };
    match obstacle {
        None => Ok(checkout.map(str::to_owned)),
        Some(obstacle) if insists => {
            let message = format!("builders can't have worktrees of their own: {obstacle}");
            Err(CommandError::refused(message).with_hint(
                "set `isolation` to `auto` or `shared` to have them work in the checkout",
            ))
        }
        Some(obstacle) => {
            context.note(format_args!("builders share the checkout: {obstacle}"));
            Ok(None)
        }
    }
}

fn report_start(
    context: &Context,
    state: &State,
    released: usize,
    language: Option<&str>,
) -> CommandResult {
    let (id, terms) = (&state.plan_id, state.terms());
    let (done, total) = (state.count_in(Status::Completed), state.tasks.len());
    let (failed, skipped) = (
        state.count_in(Status::Failed),
        state.count_in(Status::Skipped),
    );
    let mut text = format!("Run of {id}: {done} of {total} tasks done");
    for (count, what) in [
        (failed, "failed"),
        (skipped, "skipped"),
        (state.count_in(Status::AwaitingVerification), "verifying"),
        (released, "taken back, since the run was interrupted"),
    ] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    let place = match terms.checkout {
        Some(_) => " in worktrees of their own",
        None => "",
    };
    let commits = match &terms.branch {
        _ if terms.no_commit => "off",
        Some(branch) => &format!("on {}", branch.name),
        None => "on",
    };
    let (builders, attempts) = (terms.builders, terms.max_iterations);
    text += &format!("\nBuilders: {builders}{place}, attempts: {attempts}, commits: {commits}\n");
    if let Some(language) = language {
        text += &format!("Words to the user: {language}\n");
    }
    let standing = RunStanding::of(state, LeadPresence::Present);
    text += &match next_steps(state, standing).first() {
        _ if state.is_running() => format!("Next: {}\n", state.lead_command()),
        Some(step) => format!("Nothing is left to do. Next: {}\n", step.command),
        None => "Nothing is left to do\n".to_owned(),
    };
    let json = json!({
        "planId": id, "session": terms.session, "builders": builders, "maxIterations": attempts,
        "scaledIterations": terms.scaled_iterations, "noCommit": terms.no_commit, "language": language,
        "checkout": terms.checkout, "completed": done, "failed": failed, "skipped": skipped,
        "total": total, "released": released,
    });
    context.report(&json, &text)
}
