//! `fp run`: leads a run in one process. It carries out the actions of `fp next`, with one process for each agent. So
//! leading costs no tokens, and a run outlives every session.

mod crew;
mod view;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fp_host::error::{HostErrorKind, HostResult};
use fp_host::file::acquire;
use fp_host::fleet;
use fp_host::plan::OpenPlan;
use fp_host::run::fresh_token;
use fp_host::run::whole::judge_by_checks;
use fp_host::run::worktree::{self, Worktrees};
use fp_host::screen::Screen;
use fp_host::trust::{Consent, ConsentSource};
use fp_plan::plan::id::{AgentName, PlanId, TaskId};
use fp_plan::settings::{AgentPlayer, SpendingLimit};
use fp_plan::text::{shell_quoted, shown_command, wrapped};
use fp_run::report::standing::LeadPresence;
use fp_run::report::status::{StatusReport, used_up};
use fp_run::run::State;
use fp_run::run::event::{Event, RunFlags, RunTerms};
use fp_run::run::next::LeadAction;
use fp_run::run::payload::short;
use fp_run::run::state::{RunStatus, Status};

use super::consent::answer_question;
use super::next::{ask_text, final_report, take_turn};
use super::pr::PrKeeper;
use super::start::{self, LEAD_PATIENCE, TermsArgs, begin};
use super::status::watch_plan;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;
use crate::printer::columns;
use crew::{AgentTask, Crew, CrewNews};
use view::{LeadInput, LeadView};

/// Interval between checks for news from agents and input from the user.
const TICK: Duration = Duration::from_millis(100);
/// First interval between checks whether a turn is over, which takes a few times as long unless it runs commands.
const FIRST_TICK: Duration = Duration::from_millis(10);
/// Shortest interval between checks for due actions.
const PAUSE: Duration = Duration::from_millis(50);
/// Time for agents to end on their own once the run is over.
const FAREWELL: Duration = Duration::from_secs(30);
/// Interval between checks of the other machines of a shared plan.
const LOOK_AROUND: Duration = Duration::from_secs(5);
/// Interval between checks while another process makes a commit.
const AGAIN: Duration = Duration::from_secs(1);

/// Build a plan without a session, with a process for each agent
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    terms: TermsArgs,
    /// How many builders work at once (1-16); defaults to the setting.
    #[arg(short = 'j', long, value_parser = clap::value_parser!(u32).range(1..=16))]
    builders: Option<u32>,
    /// The program that plays all agents: `claude`, `codex`, `opencode`, or one of your own; defaults to the setting.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Cost at which you are asked, such as `20` (USD) or `"500000 tokens"`; defaults to the setting.
    #[arg(long, value_name = "AMOUNT")]
    budget: Option<SpendingLimit>,
    /// Open a pull request with the first commit, a draft until the end, and keep it up to date.
    #[arg(long, conflicts_with_all = ["no_commit", "here"])]
    pr: bool,
    /// Ask no questions: the rules of an unattended run answer them.
    #[arg(long, conflicts_with = "ask")]
    unattended: bool,
    /// Print only the report, or, with status 3, the questions that block the run.
    #[arg(long)]
    ask: bool,
    /// Agents may start in this repository although Claude Code has no record that you trust it.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// The same as `fp start`.
    #[command(hide = true)]
    Start(start::StartArgs),
}

pub(crate) fn run(args: RunArgs, context: &Context) -> CommandResult {
    if let Some(Action::Start(args)) = args.action {
        return start::start_run(args, context);
    }
    let mut plan = context.open_to_lead(args.terms.plan.as_deref())?;
    // Checked first, so that a run that can't start fails at once.
    plan.load()?.state.start(RunTerms::default())?;
    let flags = RunFlags {
        builders: args.builders,
        agent: args.agent.clone(),
        budget: args.budget,
        max_iterations: args.terms.max_iterations,
        no_commit: args.terms.no_commit,
    };
    let way_on = format!("fp run {}{flags}", plan.id());
    let _lock = match acquire(&plan.lead_lock(), LEAD_PATIENCE) {
        Ok(lock) => lock,
        Err(error) => match error.kind {
            HostErrorKind::Locked(holder) => return watch_another(&plan, holder, context),
            _ => return Err(error.into()),
        },
    };
    if let Some(program) = args.agent {
        let agents = &mut plan.settings.agents;
        for player in [&mut agents.builder, &mut agents.verifier] {
            if player.program != program {
                *player = AgentPlayer {
                    program: program.clone(),
                    ..AgentPlayer::default()
                };
            }
        }
    }
    plan.settings.budget.run = args.budget.or(plan.settings.budget.run);
    let plan = Arc::new(plan);
    let crew = Crew::gather(&plan, context)?;
    expect_trusted_place(&plan, args.yes, context)?;
    let has_screen = !args.ask && !args.unattended && LeadView::has_screen(context);
    let attended = args.ask || has_screen;
    let lead = RunTerms {
        session: Some(format!("fp-run-{}", fresh_token())),
        client: Some(std::process::id()),
        attended,
        processes: true,
        flags,
        builders: args.builders.unwrap_or(plan.settings.max_parallel_tasks),
        ..RunTerms::default()
    };
    begin(&plan, &args.terms, lead, context)?;
    let wants_pr = args.pr || plan.settings.pr;
    if args.pr && plan.load()?.state.terms().branch.is_none() {
        let said = "a pull request needs a branch of the plan's own, and the commits go to the one that is checked out";
        return Err(CommandError::refused(said).with_hint("leave `--pr` away"));
    }
    // From here on the view owns the terminal.
    let view = if args.ask {
        LeadView::silent()
    } else {
        LeadView::open(&plan, has_screen, context)?
    };
    let mut lead = Lead {
        plan: &plan,
        context,
        crew,
        view,
        attended,
        ended: Vec::new(),
        checks: BTreeMap::new(),
        stop: Stop::No,
        cut_off: None,
        pr: wants_pr.then(PrKeeper::default),
    };
    let mut end = lead.lead();
    let is_cancelled = || {
        plan.load()
            .is_ok_and(|loaded| loaded.state.has_status(RunStatus::Cancelled))
    };
    if matches!(end, Ok(LeadEnd::Over)) && !is_cancelled() {
        end = lead.let_finish().and(end);
    }
    lead.crew.end_all();
    lead.view.close();
    send_rest(&plan, context);
    let told = match &end {
        Ok(end) => end.in_words(&plan)?,
        Err(error) => format!("{} has stopped: {}", plan.id(), error.message),
    };
    let is_over = matches!(end, Ok(LeadEnd::Over));
    let pr = lead.pr.take().filter(|_| is_over);
    let pr = pr.and_then(|pr| pr.end(&plan, context));
    notify(&plan, &told, context);
    let exit = end?.print(&plan, &way_on, context)?;
    pr.iter().for_each(|told| context.note(told));
    Ok(exit)
}

/// Pushes the log entries that are waiting: once the run is over, no later entry would push them. A failure loses
/// nothing.
fn send_rest(plan: &OpenPlan, context: &Context) {
    let is_over = plan
        .load()
        .is_ok_and(|it| it.state.is_shared() && !it.state.is_running());
    if is_over && plan.store.waiting().is_ok_and(|waiting| waiting > 0) {
        let sent = plan.lock_in_order();
        drop(sent.and_then(|mut ledger| ledger.append(vec![Event::Renewed], context.now())));
    }
}

/// Shows the run, since another process leads it.
fn watch_another(plan: &OpenPlan, holder: Option<String>, context: &Context) -> CommandResult {
    let by = holder.map_or_else(
        || "another process".to_owned(),
        |id| format!("process {id} of this machine"),
    );
    let id = plan.id();
    if !context.is_json() && Screen::is_there(context.env("TERM").as_deref()) {
        context.printer.print_note(&format!(
            "note: {by} leads the run of {id}: this only watches"
        ));
        return watch_plan(plan, context);
    }
    Err(
        CommandError::refused(format!("{by} leads the run of {id}")).with_hint(format!(
            "`fp status {id}` says how far it is, `fp status {id} --watch` what happens"
        )),
    )
}

/// Fails unless the user trusts the repository with agents: the agents' programs apply the repository's settings, hooks
/// and instructions without asking.
fn expect_trusted_place(plan: &OpenPlan, yes: bool, context: &Context) -> Result<(), CommandError> {
    if context.trusts_place()? {
        return Ok(());
    }
    let agents = &plan.settings.agents;
    let program = |player: &AgentPlayer| {
        let own = agents.programs.get(&player.program);
        match own.filter(|own| !own.start.is_empty()) {
            Some(own) => format!(
                "{} ({})",
                player.program,
                shown_command(&own.start.join(" "))
            ),
            None => player.program.clone(),
        }
    };
    let (builder, verifier) = (program(&agents.builder), program(&agents.verifier));
    let what = match builder == verifier {
        true => format!("builders and verifiers are processes of {builder}"),
        false => format!("builders are processes of {builder}, verifiers of {verifier}"),
    };
    let root = &plan.repo.root;
    let what = format!(
        "{what}. In {} they take on its settings, hooks and instructions, as \
         Claude Code does in a folder that you trust",
        root.display()
    );
    let source = if yes {
        Some(ConsentSource::Flag)
    } else if input::can_ask(context) {
        let asked = wrapped(&format!("Before anything starts: {what}."), columns());
        context.printer.print_note(&asked.join("\n"));
        input::agrees("Do you trust it?", context).then_some(ConsentSource::Terminal)
    } else {
        None
    };
    if let Some(source) = source {
        return Ok(context
            .trust()?
            .add(Consent::Agents, source, context.now())?);
    }
    Err(CommandError::refused(format!("nothing was started: {what}")).with_hint(
        "run `fp run` at a terminal, and say yes; or open the folder in Claude Code, and trust it there; a script adds --yes",
    ))
}

/// How far the user wants the run to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stop {
    No,
    /// Start nothing new, and let running work finish.
    Finishing,
    Now,
}

/// The reason why this process stops leading.
enum LeadEnd {
    /// The run is over.
    Over,
    /// Questions are open, and nothing else can proceed.
    Asked(Vec<LeadAction>),
    /// Nothing can proceed: one line per task.
    Deadlock(Vec<String>),
    /// The user stopped it.
    Stopped,
}

/// The lead of a run.
struct Lead<'c> {
    plan: &'c Arc<OpenPlan>,
    context: &'c Context,
    crew: Crew<'c>,
    view: LeadView,
    attended: bool,
    /// Agents whose end isn't in the log yet.
    ended: Vec<AgentName>,
    /// The tasks whose checks run.
    checks: BTreeMap<TaskId, JoinHandle<HostResult<()>>>,
    stop: Stop,
    /// The reason why other machines can't be reached.
    cut_off: Option<String>,
    /// Keeps the pull request up to date, if there is to be one.
    pr: Option<PrKeeper>,
}

impl Lead<'_> {
    fn lead(&mut self) -> Result<LeadEnd, CommandError> {
        loop {
            let begun = Instant::now();
            let Some((actions, state, cut_off)) = self.turn()? else {
                return Ok(LeadEnd::Stopped);
            };
            if self.cut_off != cut_off {
                self.view.tell(match &cut_off {
                    Some(reason) => reason,
                    None => "the remote can be reached again",
                });
                self.cut_off = cut_off;
            }
            self.crew.observe(&state);
            if let Some(pr) = &mut self.pr {
                pr.follow(self.plan, &state, self.context);
            }
            if let Some(end) = self.act(actions, &state, begun)? {
                return Ok(end);
            }
        }
    }

    /// Determines the due actions. Listens for the user's keys while the plan's commands run; `None` if the user won't
    /// wait for the commands, which then end with this process.
    fn turn(&mut self) -> Result<Option<TurnOfRun>, CommandError> {
        let mut ended = std::mem::take(&mut self.ended);
        let known = self.plan.load()?.state;
        // An agent without a process has ended, for example one that claimed under an invented name.
        let works = known
            .agents
            .iter()
            .filter(|(name, agent)| agent.is_at_work() && !self.crew.has(name));
        ended.extend(works.map(|(name, _)| name.clone()));
        let (plan, worker) = (Arc::clone(self.plan), self.context.without_notes());
        let attended = self.attended;
        let turn = thread::spawn(move || turn_of(&plan, &ended, attended, &worker));
        let (mut fault, mut tick) = (None, FIRST_TICK);
        while !turn.is_finished() {
            let looked = self.look(tick);
            tick = (tick * 2).min(TICK);
            if let Err(error) = looked {
                self.crew.end_all();
                fault.get_or_insert(error);
            }
            if self.stop == Stop::Now {
                return Ok(None);
            }
        }
        let turn = turn
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        fault.map_or(turn, Err).map(Some)
    }

    /// Carries out the due actions, and waits until more may be due.
    fn act(
        &mut self,
        actions: Vec<LeadAction>,
        state: &State,
        begun: Instant,
    ) -> Result<Option<LeadEnd>, CommandError> {
        let (mut asks, mut again, mut chain, mut started) = (Vec::new(), None, None, 0);
        for action in actions {
            match action {
                LeadAction::Finish { .. } => return Ok(Some(LeadEnd::Over)),
                LeadAction::Ask { .. } => asks.push(action),
                LeadAction::Deadlock { chain: why } | LeadAction::Revise { due: why } => {
                    chain = Some(why)
                }
                LeadAction::Wait { .. } if self.is_idle() => again = Some(begun + AGAIN),
                LeadAction::Wait { .. } => {}
                LeadAction::Check { task, iteration } => self.start_checks(task, iteration),
                LeadAction::Spawn { .. }
                | LeadAction::Resume { .. }
                | LeadAction::Verify { .. } => {
                    if let Some(task) = AgentTask::of(action, state, self.plan)? {
                        started += u64::from(self.crew.start(task)?);
                    }
                }
            }
        }
        self.view.ask(&asks);
        let length = self.log_length();
        // Entries since `state` was read are news, too, except those about started agents.
        let mut is_news = self.plan.load()?.state.seq != state.seq + started;
        loop {
            self.look(TICK)?;
            self.end_checks()?;
            if self.stop == Stop::Now || (self.stop == Stop::Finishing && self.is_idle()) {
                return Ok(Some(LeadEnd::Stopped));
            }
            if let Some((question, label)) = self.view.answered() {
                // The question may have been answered elsewhere in the meantime.
                if let Err(error) = answer_question(
                    self.plan,
                    &question,
                    &[label],
                    &self.context.without_notes(),
                ) {
                    self.view.tell(&error.message);
                }
                return Ok(None);
            }
            if state.is_shared() && begun.elapsed() >= LOOK_AROUND {
                return Ok(None);
            }
            is_news |= !self.ended.is_empty() || self.log_length() != length;
            if is_news && begun.elapsed() >= PAUSE {
                return Ok(None);
            }
            if !self.is_idle() || is_news {
                continue;
            }
            if let Some(chain) = chain {
                return Ok(Some(LeadEnd::Deadlock(chain)));
            }
            if !asks.is_empty() && !self.view.is_screen() {
                return Ok(Some(LeadEnd::Asked(asks)));
            }
            if again.is_some_and(|again| Instant::now() >= again) {
                return Ok(None);
            }
        }
    }

    /// True if nothing is under way.
    fn is_idle(&self) -> bool {
        self.crew.is_idle() && self.checks.is_empty()
    }

    /// Runs the checks of `task` beside everything else, unless they run already.
    fn start_checks(&mut self, task: TaskId, iteration: u32) {
        if self.checks.contains_key(&task) || self.stop != Stop::No {
            return;
        }
        let (plan, worker, id) = (
            Arc::clone(self.plan),
            self.context.without_notes(),
            task.clone(),
        );
        let decide = move || judge_by_checks(&plan, &id, iteration, || worker.now()).map(drop);
        self.checks.insert(task, thread::spawn(decide));
    }

    /// Takes in the checks that have ended. A task that is no longer submitted needs none.
    fn end_checks(&mut self) -> Result<(), CommandError> {
        let ended = self
            .checks
            .iter()
            .filter(|(_, checks)| checks.is_finished());
        let ended: Vec<TaskId> = ended.map(|(task, _)| task.clone()).collect();
        for task in ended {
            let Some(checks) = self.checks.remove(&task) else {
                continue;
            };
            let decided = checks
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let state = self.plan.load()?.state;
            if state.checks_due().any(|due| due.leaf.id == task) {
                decided?;
            }
        }
        Ok(())
    }

    /// Lets the finished agents end on their own, so that they report their cost.
    fn let_finish(&mut self) -> Result<(), CommandError> {
        self.crew.start_nothing_more();
        let begun = Instant::now();
        while !self.crew.is_idle() && begun.elapsed() < FAREWELL && self.stop != Stop::Now {
            self.look(TICK)?;
        }
        Ok(())
    }

    fn log_length(&self) -> u64 {
        std::fs::metadata(self.plan.folder.file("events.jsonl")).map_or(0, |log| log.len())
    }

    /// Handles news from agents and input from the user for up to `time`.
    fn look(&mut self, time: Duration) -> Result<(), CommandError> {
        // A live view does the waiting itself, because it listens for the user's keys.
        let wait = if self.view.is_screen() {
            Duration::ZERO
        } else {
            time
        };
        for news in self.crew.news(wait)? {
            match news {
                CrewNews::Ended(name) => self.ended.push(name),
                CrewNews::Told(line) => self.view.tell(&line),
            }
        }
        match self.view.show(&self.crew, time, self.context)? {
            LeadInput::Nothing => {}
            LeadInput::Stop if self.stop == Stop::No => {
                self.stop = Stop::Finishing;
                self.crew.start_nothing_more();
                self.view
                    .tell("ending: what runs may finish; once more ends it too");
            }
            LeadInput::Stop | LeadInput::Gone => self.stop = Stop::Now,
        }
        Ok(())
    }
}

/// The due actions, the state that they are based on, and the reason why other machines can't be reached.
type TurnOfRun = (Vec<LeadAction>, Arc<State>, Option<String>);

fn turn_of(
    plan: &OpenPlan,
    ended: &[AgentName],
    attended: bool,
    context: &Context,
) -> Result<TurnOfRun, CommandError> {
    let mut tries = 0;
    let due = loop {
        let begun = Instant::now();
        match take_turn(plan, ended, attended, context) {
            Err(error) if error.exit == Exit::Overtaken && tries < fleet::TRIES => {
                tries += 1;
                fleet::pause(tries, begun.elapsed());
            }
            Err(error) if error.exit == Exit::CutOff => {
                let actions = vec![LeadAction::Wait { on: Vec::new() }];
                return Ok((actions, plan.load()?.state, Some(error.message)));
            }
            due => break due?,
        }
    };
    // Creating worktrees takes other locks, so this one is released.
    drop(due.ledger);
    make_places(plan, &due.state, &due.actions)?;
    Ok((due.actions, due.state, due.cut_off))
}

/// Creates worktrees for the builders that are about to start, so that they start in them.
fn make_places(plan: &OpenPlan, state: &State, actions: &[LeadAction]) -> Result<(), CommandError> {
    if state.terms().checkout.is_none() {
        return Ok(());
    }
    let missing = actions.iter().filter_map(|action| match action {
        LeadAction::Spawn { name, .. } | LeadAction::Resume { name, .. } => {
            Some(name).filter(|name| !worktree::path(plan, name).is_dir())
        }
        _ => None,
    });
    for name in missing {
        Worktrees::lock(plan)?.make(state, name)?;
    }
    Ok(())
}

impl LeadEnd {
    /// Describes how the lead ended, for a notification.
    fn in_words(&self, plan: &OpenPlan) -> Result<String, CommandError> {
        let (id, state) = (plan.id(), plan.load()?.state);
        Ok(match self {
            Self::Over => {
                format!(
                    "{id}: {} of {} tasks done",
                    state.count_in(Status::Completed),
                    state.tasks.len()
                )
            }
            Self::Asked(_) => format!("{id} waits for an answer"),
            Self::Deadlock(_) => format!("{id} can't go on by itself"),
            Self::Stopped => format!("{id} was stopped"),
        })
    }

    fn print(self, plan: &OpenPlan, way_on: &str, context: &Context) -> CommandResult {
        let id = plan.id();
        match self {
            Self::Over => {
                let state = plan.load()?.state;
                let text = final_report(plan, &context.tree(plan)?, &state, context);
                let text = text + &what_now(plan, &state)?;
                context.report(&StatusReport::new(&state, LeadPresence::Present), &text)?;
                if let Some(used_up) = state
                    .higher_budget()
                    .and_then(|_| used_up(&state.questions.last()?.question.topic))
                {
                    context.printer.print_note(&format!(
                        "note: {used_up}; a higher --budget goes on: {}",
                        state.run_command()
                    ));
                }
                Ok(over(&state))
            }
            Self::Asked(asks) => {
                context.report(
                    &serde_json::json!({ "actions": asks }),
                    &asked_text(id, &asks, way_on),
                )?;
                Ok(Exit::Asked)
            }
            Self::Deadlock(chain) => Err(CommandError::refused(format!(
                "nothing can go on by itself in {id}: {}",
                chain.join("; ")
            ))
            .with_hint(format!("`fp status {id}` shows all of it"))),
            Self::Stopped => {
                context.printer.print_note(&stopped(way_on));
                Ok(Exit::Findings)
            }
        }
    }
}

/// The commands that show the results of the run.
fn what_now(plan: &OpenPlan, state: &State) -> Result<String, CommandError> {
    let id = plan.id();
    let report = format!("Report: fp report {id} --out report.html\n");
    if let Some(member) = plan.store.membership()?.filter(|_| state.is_shared()) {
        let (remote, branch) = (&member.place.remote, &member.place.branch);
        return Ok(format!(
            "\nReview: git fetch {remote} && git log -p HEAD..{remote}/{branch}\n\
             Merge:  git merge {remote}/{branch}\n{report}"
        ));
    }
    let has_commits = state.tasks.iter().any(|task| task.commit.is_some());
    if let Some(branch) = state.terms().branch.as_ref().filter(|_| has_commits) {
        let from = shell_quoted(branch.from.as_ref().unwrap_or(&branch.at));
        let name = shell_quoted(&branch.name);
        return Ok(format!("\nReview: git log -p {from}..{name}\n{report}"));
    }
    let own = state.tasks.iter().filter(|task| !task.imported);
    let own = own.filter_map(|task| Some((task.ended_at?, task.commit.as_ref()?)));
    let review = own.min().map_or_else(String::new, |(_, first)| {
        format!("Review: git log -p {}~..\n", short(first))
    });
    Ok(format!("\n{review}{report}"))
}

/// The questions that block the run, and the command that continues it.
pub(crate) fn asked_text(plan: &PlanId, asks: &[LeadAction], way_on: &str) -> String {
    let asks: String = asks.iter().map(|ask| ask_text(plan, ask)).collect();
    format!("{asks}Then go on: {way_on} --ask\n")
}

fn stopped(way_on: &str) -> String {
    format!("note: stopped; nothing is lost: `{way_on}` goes on")
}

fn over(state: &State) -> Exit {
    let is_finished = state.has_status(RunStatus::Finished);
    match is_finished && state.count_in(Status::Completed) == state.tasks.len() {
        true => Exit::Done,
        false => Exit::Findings,
    }
}

/// Runs the user's command for notifications.
fn notify(plan: &OpenPlan, told: &str, context: &Context) {
    let mut words = plan
        .settings
        .notify
        .command
        .iter()
        .map(|word| word.replace("{text}", told));
    let Some(program) = words.next() else { return };
    let mut command =
        fp_host::platform::program_command(&program, &std::env::var_os("PATH").unwrap_or_default());
    command.args(words).current_dir(Path::new(&plan.repo.root));
    let limits = fp_host::process::Limits {
        time: Duration::from_secs(10),
        ..Default::default()
    };
    if let Err(error) = fp_host::process::run_to_end(command, b"", limits) {
        context
            .printer
            .print_note(&format!("note: `notify.command` can't be started: {error}"));
    }
}
