//! The environment of a command: its folder, its time, and its output. Built once and passed down, so that tests can
//! replace it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fp_host::bench::repository_around;
use fp_host::claude::is_trusted_folder;
use fp_host::clock;
use fp_host::config::{Config, SettingOrigin};
use fp_host::error::{HostError, HostErrorKind, HostResult};
use fp_host::file::reason_of;
use fp_host::lead::LeadLook;
use fp_host::plan::{OpenPlan, Tree};
use fp_host::plan_folder::{PlanFolder, Plans};
use fp_host::process::{AGENT_NAME, AGENT_ROLE, AGENT_TASK, LED_CHECKOUT};
use fp_host::repo::Repo;
use fp_host::run::worktree;
use fp_host::store::{Ledger, Store};
pub(crate) use fp_host::trust::consent_of;
use fp_host::trust::{Consent, ConsentSource, TrustStore};
use fp_plan::plan::id::PlanId;
use fp_plan::settings::{Settings, SettingsLayer};
use fp_plan::text::visible;
use fp_run::interview::PlanningStep;
use fp_run::report::lasted;
use fp_run::report::standing::{LeadPresence, RunStanding};
use fp_run::report::status::StatusReport;
use fp_run::run::State;
use fp_run::run::state::{Role, TaskState};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Output, Printer};

/// The environment of one command. Files are read on first use, so that a hook with nothing to do reads nothing.
#[derive(Debug)]
pub(crate) struct Context {
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// The output format; only a command that can export gets an export format.
    pub(crate) output: Output,
    pub(crate) printer: Printer,
    repo: OnceCell<Repo>,
    config: OnceCell<Config>,
    settings: OnceCell<Settings>,
    /// The settings of earlier versions that were already reported.
    /// The plan that was opened last, which hints refer to.
    pub(crate) opened: RefCell<Option<PlanId>>,
}

impl Context {
    /// The context of this process; fails if the working directory is gone.
    pub(crate) fn new(output: Output) -> Result<Self, CommandError> {
        let cwd = std::env::current_dir().map_err(|e| {
            CommandError::failed(format!(
                "the working directory can't be read: {}",
                reason_of(&e)
            ))
            .with_hint("change to a directory that exists")
        })?;
        Ok(Self::in_folder(cwd, output))
    }

    fn in_folder(cwd: PathBuf, output: Output) -> Self {
        Self {
            cwd,
            output,
            printer: Printer::default(),
            repo: OnceCell::new(),
            config: OnceCell::new(),
            settings: OnceCell::new(),
            opened: RefCell::default(),
        }
    }

    /// This context in another working directory.
    pub(crate) fn in_directory(&self, cwd: PathBuf) -> Self {
        Self::in_folder(cwd, self.output)
    }

    /// A copy of this context for another thread, which prints no notes.
    pub(crate) fn without_notes(&self) -> Self {
        Self {
            printer: Printer { is_silent: true },
            ..self.in_directory(self.cwd.clone())
        }
    }

    /// Fails if an agent's process makes this call, and `task` is somebody else's.
    pub(crate) fn expect_own_task(&self, task: &TaskState) -> Result<(), CommandError> {
        let name = std::env::var(AGENT_NAME).ok();
        let judged = std::env::var(AGENT_TASK).ok();
        let is_own = match (&judged, &name) {
            (Some(judged), _) => judged == task.leaf.id.as_str(),
            (None, Some(name)) => task.owner().is_none_or(|owner| owner.as_str() == name),
            (None, None) => true,
        };
        match is_own {
            true => Ok(()),
            false => Err(
                CommandError::refused(format!("task {} is not yours", task.leaf.id))
                    .with_hint("do what you were started for, and end your turn"),
            ),
        }
    }

    /// Fails if an agent's process makes this call, and wasn't started to judge the whole.
    pub(crate) fn expect_own_whole(&self) -> Result<(), CommandError> {
        let role = std::env::var(AGENT_ROLE).ok();
        let is_other = role.is_some_and(|role| role != Role::Verifier.into_str());
        match is_other || std::env::var_os(AGENT_TASK).is_some() {
            false => Ok(()),
            true => Err(
                CommandError::refused("you were not asked to judge the whole")
                    .with_hint("do what you were started for, and end your turn"),
            ),
        }
    }

    /// True if results are printed as JSON, for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.output == Output::Json
    }

    /// Prints a result in the requested format.
    pub(crate) fn report(&self, json: &impl Serialize, text: &str) -> CommandResult {
        self.styled_report(json, &visible(text))
    }

    /// Like [`Self::report`], for coloured text whose control characters have already been made visible.
    pub(crate) fn styled_report(&self, json: &impl Serialize, text: &str) -> CommandResult {
        match self.is_json() {
            false => self.printer.styled(text),
            true => self.printer.json(json)?,
        }
        Ok(Exit::Done)
    }

    /// Prints a note in addition to the result.
    pub(crate) fn note(&self, text: impl fmt::Display) {
        self.printer.print_note(&format!("note: {text}"));
    }

    pub(crate) fn warn(&self, text: impl fmt::Display) {
        self.printer.print_note(&format!("warning: {text}"));
    }

    /// Prints the path of a written result.
    pub(crate) fn note_written(&self, path: &Path) {
        self.note(format_args!("written to {}", self.display_path(path)));
    }

    /// The repository around the working directory.
    pub(crate) fn repo(&self) -> &Repo {
        self.repo
            .get_or_init(|| match std::env::var_os(LED_CHECKOUT) {
                Some(led) => Repo::find(Path::new(&led)),
                None => repository_around(&self.cwd),
            })
    }

    /// The layers of the configuration, without this command's flags.
    pub(crate) fn config(&self) -> Result<&Config, CommandError> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let env = |name: &str| self.env(name);
        let config = Config::load(self.repo(), &env)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// The settings in force, without this command's flags.
    pub(crate) fn settings(&self) -> Result<&Settings, CommandError> {
        let config = self.config()?;
        Ok(self.settings.get_or_init(|| config.settings()))
    }

    /// The settings in force with `layer` added at the precedence of `origin`.
    pub(crate) fn settings_with(
        &self,
        origin: SettingOrigin,
        layer: SettingsLayer,
    ) -> Result<Settings, CommandError> {
        let mut config = self.config()?.clone();
        config.add_layer(origin, layer);
        Ok(config.settings())
    }

    /// The settings in force for a plan, including the flags that it was created with.
    pub(crate) fn settings_for(&self, folder: &PlanFolder) -> Result<Settings, CommandError> {
        self.settings_with(SettingOrigin::Plan, folder.settings()?)
    }

    pub(crate) fn plans(&self) -> Result<Plans, CommandError> {
        Ok(Plans::of(self.repo(), self.settings()?))
    }

    /// A path for messages, relative to the working directory or the repository if it is below one of them.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        let below = path
            .strip_prefix(&self.cwd)
            .or_else(|_| path.strip_prefix(&self.repo().root));
        below.unwrap_or(path).display().to_string()
    }

    /// The value of an environment variable, if it is set and not empty.
    pub(crate) fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The time of this command.
    #[expect(clippy::unused_self, reason = "a command asks its surroundings")]
    pub(crate) fn now(&self) -> Timestamp {
        clock::now()
    }

    /// The date of this command in UTC.
    pub(crate) fn today(&self) -> Date {
        self.now().to_zoned(TimeZone::UTC).date()
    }

    /// The id of the client session that this process runs in, if any.
    pub(crate) fn session(&self) -> Option<String> {
        self.env("CLAUDE_CODE_SESSION_ID")
    }

    /// The process id of the client that this process runs in, if any.
    pub(crate) fn client(&self) -> Option<u32> {
        self.env("CLAUDE_PID").and_then(|id| id.parse().ok())
    }

    /// True if somebody can answer questions; false in an unattended session.
    pub(crate) fn attended(&self) -> bool {
        self.env("CLAUDE_CODE_SESSION_ATTENDED").as_deref() != Some("0")
    }
}

/// The path of this executable. Fails if the system can't provide it.
pub(crate) fn this_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| {
        CommandError::failed(format!("the program fp can't find itself: {error}"))
            .with_hint("on Linux, mount /proc: it says where a program is")
    })
}

/// A plan of the repository.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) folder: PlanFolder,
    pub(crate) archived: bool,
    /// The plan's state, or the reason it can't be read.
    pub(crate) state: Result<Arc<State>, CommandError>,
    pub(crate) lead: LeadLook,
}

impl Known {
    fn new(folder: PlanFolder, archived: bool) -> Self {
        // The lead must be looked up before the log is read.
        let lead = LeadLook::in_folder(folder.path());
        let store = Store::new(folder.path().to_owned(), folder.id().clone());
        let state = store.load().map(|loaded| loaded.state);
        Self {
            lead,
            state: state.map_err(CommandError::from),
            folder,
            archived,
        }
    }

    /// The plans in `plans` whose id satisfies `is_wanted`.
    pub(crate) fn all_in(
        plans: &Plans,
        archived: bool,
        is_wanted: impl Fn(&PlanId) -> bool,
    ) -> Result<Vec<Self>, CommandError> {
        let ids = plans.list()?.into_iter().filter(is_wanted);
        ids.map(|id| Ok(Self::new(plans.open(&id)?, archived)))
            .collect()
    }

    /// The plan's progress; `None` if its state can't be read.
    pub(crate) fn report(&self) -> Option<StatusReport> {
        let state = self.state.as_deref().ok()?;
        Some(StatusReport::new(state, self.lead.presence(state)))
    }
}

impl Context {
    /// All plans of the repository, the archived ones last.
    pub(crate) fn known_plans(&self) -> Result<Vec<Known>, CommandError> {
        let plans = self.plans()?;
        let mut known = Known::all_in(&plans, false, |_| true)?;
        known.extend(Known::all_in(&plans.archived(), true, |_| true)?);
        Ok(known)
    }

    /// The user's own plans in the repository, and the number of other plans. If `wanted`, includes the archived ones,
    /// last. Doesn't read any file of a plan that was neither made nor approved on this machine.
    pub(crate) fn own_plans(&self, wanted: bool) -> Result<(Vec<Known>, usize), CommandError> {
        let (plans, own) = (self.plans()?, self.own_ids());
        let mut known = Known::all_in(&plans, false, |id| own.contains(id))?;
        let others = plans.list()?.len() - known.len();
        if wanted {
            known.extend(Known::all_in(&plans.archived(), true, |id| {
                own.contains(id)
            })?);
        }
        Ok((known, others))
    }

    /// Warns of plans whose log can't be read.
    pub(crate) fn warn_of_unread(&self, known: &[Known]) {
        for Known { folder, state, .. } in known {
            if let Err(error) = state {
                let id = folder.id();
                self.warn(format_args!("plan {id} is left out: {}", error.message));
            }
        }
    }

    /// Opens the plan that `selector` names or, without a selector, the only plan whose run isn't over.
    pub(crate) fn open(&self, selector: Option<&str>) -> Result<OpenPlan, CommandError> {
        self.open_folder(self.plans()?.find(selector)?)
    }

    /// Opens the plan that `selector` names for reading, even if it is archived. Without a selector, opens the only
    /// active plan, or else the one whose log changed last.
    pub(crate) fn open_to_read(&self, selector: Option<&str>) -> Result<OpenPlan, CommandError> {
        let plans = self.plans()?;
        let found = match selector {
            None => plans.find(None),
            Some(selector) => plans.resolve(selector).or_else(|error| match error.kind {
                HostErrorKind::NoPlan => plans.find_archived(selector).ok_or(error),
                _ => Err(error),
            }),
        };
        match found {
            Err(error) if error.kind == HostErrorKind::NoneActive => {
                self.last_plan(&plans)?.ok_or_else(|| error.into())
            }
            found => self.open_folder(found?),
        }
    }

    /// Opens the plan whose log changed last, and prints a note about it.
    fn last_plan(&self, plans: &Plans) -> Result<Option<OpenPlan>, CommandError> {
        let touched = |folder: &PlanFolder| {
            let log = std::fs::metadata(folder.file("events.jsonl"));
            log.and_then(|log| log.modified()).ok()
        };
        let existing = plans.list()?;
        let folders = existing.iter().map(|id| plans.open(id));
        let folders = folders.collect::<HostResult<Vec<_>>>()?;
        let Some(last) = folders.into_iter().max_by_key(touched) else {
            return Ok(None);
        };
        let plan = self.open_folder(last)?;
        let lead = plan.look_at_lead();
        let state = plan.load()?.state;
        let at = state.last_at.map(|at| lasted(at, self.now()));
        let ago = at.map_or_else(String::new, |ago| format!(" {ago} ago"));
        let standing = RunStanding::of(&state, lead.presence(&state)).into_str();
        let id = plan.id();
        self.note(format_args!("this is the last plan, {id}, {standing}{ago}"));
        Ok(Some(plan))
    }

    /// Opens a plan to continue its run. Fails if this user didn't approve it.
    pub(crate) fn open_trusted(&self, selector: Option<&str>) -> Result<OpenPlan, CommandError> {
        let plan = self.open(selector)?;
        let state = plan.load()?.state;
        if state.approval.is_some() {
            plan.agreed_commands(&state)?;
        }
        Ok(plan)
    }

    /// Like `open_trusted`, but for starting a run: without a selector, the only plan is opened even if it is finished.
    pub(crate) fn open_to_lead(&self, selector: Option<&str>) -> Result<OpenPlan, CommandError> {
        let existing = self.plans()?.list()?;
        let only = existing.first().filter(|_| existing.len() == 1);
        self.open_trusted(selector.or(only.map(|id| id.as_str())))
    }

    /// True if the user approved the plan of `state` on this machine. False if the trust store can't be read; that is
    /// reported only where it matters.
    pub(crate) fn approved_here(&self, state: &State) -> bool {
        let approves = || self.trust().ok()?.approves(state).ok();
        state.approval.is_some() && approves().unwrap_or_default()
    }

    /// True if the user trusts the repository, with its texts, settings and hooks, enough to let agents run in it.
    pub(crate) fn trusts_place(&self) -> Result<bool, CommandError> {
        let env = |name: &str| self.env(name);
        Ok(self.trust()?.trusts(&Consent::Agents)? || is_trusted_folder(&env, &self.repo().root))
    }

    /// The trust store of this user, for this repository.
    pub(crate) fn trust(&self) -> Result<TrustStore, CommandError> {
        Ok(TrustStore::of_user(&|name| self.env(name), self.repo())?)
    }

    /// The repository's plans that were made or approved on this machine. An unreadable trust store is reported only
    /// where it matters.
    pub(crate) fn own_ids(&self) -> BTreeSet<PlanId> {
        let own = || self.trust().ok()?.own_plans().ok();
        own().unwrap_or_default()
    }

    /// Records that `plan` was made on this machine. If that fails, the plan is shown only on request.
    pub(crate) fn note_made(&self, plan: &PlanId) {
        let made = Consent::Made { plan: plan.clone() };
        if let Ok(trust) = self.trust() {
            drop(trust.add(made, ConsentSource::Command, self.now()));
        }
    }

    fn open_folder(&self, folder: PlanFolder) -> Result<OpenPlan, CommandError> {
        self.opened.replace(Some(folder.id().clone()));
        let settings = self.settings_for(&folder)?;
        Ok(OpenPlan::new(self.repo().clone(), settings, folder))
    }

    /// The task tree of `plan`.
    pub(crate) fn tree(&self, plan: &OpenPlan) -> Result<Tree, CommandError> {
        plan.tree().map_err(|error| tree_error(plan, error))
    }

    /// Removes the builders' worktrees that the run no longer needs. A failure only prints a note, since it affects no
    /// other command.
    pub(crate) fn remove_unneeded_worktrees(&self, plan: &OpenPlan) {
        match worktree::sweep(plan) {
            Ok(kept) => kept.iter().for_each(|patch| self.say_kept(patch)),
            Err(error) => self.note(format_args!(
                "worktrees are left over: {error}; `fp next {}` tries again to remove them",
                plan.id()
            )),
        }
    }

    /// Prints where unfinished work was saved.
    pub(crate) fn say_kept(&self, kept: &Path) {
        let shown = self.display_path(kept);
        self.note(match kept.is_dir() {
            true => format!("a repository that a builder had in its worktree is kept: {shown}"),
            false => format!("what was not finished is kept: `git apply {shown}` takes it up"),
        });
    }

    /// Loads the state of `plan`, and prints the notices from reading its log.
    pub(crate) fn state(&self, plan: &OpenPlan) -> Result<Arc<State>, CommandError> {
        let loaded = plan.load()?;
        self.notices(&loaded.notices);
        Ok(loaded.state)
    }

    /// Like `state`, but also returns the presence of the lead.
    pub(crate) fn state_and_lead(
        &self,
        plan: &OpenPlan,
    ) -> Result<(Arc<State>, LeadPresence), CommandError> {
        let lead = plan.look_at_lead();
        let state = self.state(plan)?;
        let lead = lead.presence(&state);
        Ok((state, lead))
    }

    /// Prints the notices from reading `ledger`, and returns it.
    pub(crate) fn with_notices<'p>(&self, ledger: Ledger<'p>) -> Ledger<'p> {
        self.notices(ledger.notices());
        ledger
    }

    /// Prints the notices from reading a log.
    pub(crate) fn notices(&self, notices: &[String]) {
        notices.iter().for_each(|notice| self.note(notice));
    }
}

/// The error for a task tree that can't be read.
pub(crate) fn tree_error(plan: &OpenPlan, error: HostError) -> CommandError {
    if !error.is_missing() {
        return error.into();
    }
    let loaded = plan.load();
    if loaded.is_ok_and(|loaded| loaded.state.approval.is_some()) {
        return CommandError::failed(error).with_hint(
            "put it back as it was approved; what is done so far is in the log, and is not lost",
        );
    }
    let (id, step) = (plan.id(), planning_step(plan).into_str());
    CommandError::failed(format!("{id} has no task tree yet; planning is at: {step}")).with_hint(format!(
        "`/fp:plan` in Claude Code plans; by hand, write its tasks.md, and `fp validate {id}` checks it"
    ))
}

/// The current planning step of `plan`, according to its files.
pub(crate) fn planning_step(plan: &OpenPlan) -> PlanningStep {
    let record = plan.folder.record().unwrap_or_default();
    let is_missing = |name| !plan.folder.file(name).exists();
    let is_due = |step: &PlanningStep| match step {
        PlanningStep::Interview => is_missing("interview.md"),
        PlanningStep::Research => is_missing("research.md"),
        PlanningStep::Decompose => is_missing("tasks.md"),
        PlanningStep::Approach | PlanningStep::Critique | PlanningStep::Review => false,
        PlanningStep::Approve => true,
    };
    let mut steps = record.mode.steps(&plan.settings).into_iter();
    steps.find(is_due).unwrap_or(PlanningStep::Approve)
}
