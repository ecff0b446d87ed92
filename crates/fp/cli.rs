//! The clap tree: turns a command line into a call of one command. A command's help is the doc comment of its
//! arguments.

use std::path::PathBuf;
use std::time::Instant;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};
use fp_host::agents::call_lead;
use fp_host::process::AGENT_ROLE;
use fp_host::{file, fleet};
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::settings::closest_name;
use fp_run::hook::own_command::refuse_process;
use fp_run::run::state::Role;

use crate::commands::{self, hook};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::features::exchange::{export, import};
use crate::features::{self, ci, doctor, install, linear, signals};
use crate::printer::{Output, Printer, output_of};

/// The heading of the options that every command has.
const EVERYWHERE: &str = "Options of every command";

/// Plan a goal as a tree of small tasks and run it to verified commits
#[derive(Debug, Parser)]
#[command(name = "fp", bin_name = "fp", version, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Print JSON, for programs
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    json: bool,
    /// Run in this folder
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = EVERYWHERE)]
    folder: Option<PathBuf>,
    /// Print results and errors only
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    quiet: bool,
    #[arg(long, global = true, hide = true, value_parser = output_of(&["text", "json"]))]
    format: Option<Output>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(commands::new::NewArgs),
    Import(import::ImportArgs),
    Interview(commands::interview::InterviewArgs),
    Validate(commands::validate::ValidateArgs),
    #[command(subcommand)]
    Critique(commands::critique::CritiqueArgs),
    Show(commands::show::ShowTreeArgs),
    Signals(signals::SignalsArgs),
    #[command(alias = "plan")]
    Schedule(commands::schedule::ScheduleArgs),
    Approve(commands::approve::ApproveArgs),
    #[command(subcommand)]
    Task(commands::task::TaskArgs),
    Run(Box<commands::run::RunArgs>),
    Start(commands::start::StartArgs),
    Next(commands::next::NextArgs),
    Claim(commands::claim::ClaimArgs),
    Clarify(commands::clarify::ClarifyArgs),
    #[command(subcommand)]
    Scope(commands::scope::ScopeArgs),
    Submit(commands::submit::SubmitArgs),
    Verify(commands::verify::VerifyArgs),
    Verdict(commands::verdict::VerdictArgs),
    Answer(commands::answer::AnswerArgs),
    Retry(commands::retry::RetryArgs),
    Cancel(commands::cancel::CancelArgs),
    Note(commands::note::NoteArgs),
    Specs(features::specs::SpecsArgs),
    Roadmap(features::roadmap::RoadmapArgs),
    Commit(commands::commit::CommitArgs),
    #[command(hide = true)]
    Linear(linear::LinearArgs),
    Status(commands::status::StatusArgs),
    /// Print a line on the active plan for Claude Code's status line
    ///
    /// Reads Claude Code's status-line input from standard input. Prints nothing if no plan is active.
    #[command(hide = true)]
    Statusline,
    Why(commands::why::WhyArgs),
    Log(commands::log::LogArgs),
    Report(commands::report::ReportArgs),
    Pr(commands::pr::PrArgs),
    Plans(commands::plans::PlansArgs),
    Export(export::ExportArgs),
    Share(commands::fleet::ShareArgs),
    Join(commands::fleet::JoinArgs),
    Fleet(commands::fleet::FleetArgs),
    #[command(hide = true, subcommand)]
    Ci(ci::CiArgs),
    Doctor(doctor::DoctorArgs),
    Config(commands::config::ConfigArgs),
    #[command(hide = true)]
    Hook(commands::hook::HookArgs),
    Install(install::InstallArgs),
    Demo(commands::demo::DemoArgs),
    #[command(hide = true)]
    Help(commands::help::HelpArgs),
}

/// A command that a hook inspects before allowing it.
pub(crate) enum RoleCall {
    Claim { plan: String, owner: AgentName },
    Verdict { plan: String, task: Option<TaskId> },
}

impl Cli {
    /// Parses `words` as a command line; returns its claim or verdict, if it makes one.
    pub(crate) fn role_call(words: &[String]) -> Option<RoleCall> {
        match Self::try_parse_from(words).ok()?.command? {
            Command::Claim(args) => Some(RoleCall::Claim {
                plan: args.plan,
                owner: args.owner,
            }),
            Command::Verdict(args) => Some(RoleCall::Verdict {
                plan: args.plan,
                task: args.task,
            }),
            _ => None,
        }
    }
}

impl Command {
    fn run(self, context: &Context) -> CommandResult {
        match self {
            Self::New(args) => commands::new::create_plan(args, context),
            Self::Import(args) => import::run(args, context),
            Self::Interview(args) => commands::interview::run(args, context),
            Self::Validate(args) => commands::validate::validate_tree(args, context),
            Self::Critique(args) => commands::critique::run(args, context),
            Self::Show(args) => commands::show::show_tree(args, context),
            Self::Signals(args) => signals::run(args, context),
            Self::Schedule(args) => commands::schedule::run(args, context),
            Self::Approve(args) => commands::approve::approve_plan(args, context),
            Self::Task(args) => commands::task::run(args, context),
            Self::Run(args) => commands::run::run(*args, context),
            Self::Start(args) => commands::start::start_run(args, context),
            Self::Next(args) => commands::next::show_next(args, context),
            Self::Claim(args) => commands::claim::run(args, context),
            Self::Clarify(args) => commands::clarify::run(args, context),
            Self::Scope(args) => commands::scope::run(args, context),
            Self::Submit(args) => commands::submit::run(args, context),
            Self::Verify(args) => commands::verify::run(args, context),
            Self::Verdict(args) => commands::verdict::run(args, context),
            Self::Answer(args) => commands::answer::run(args, context),
            Self::Retry(args) => commands::retry::run(args, context),
            Self::Cancel(args) => commands::cancel::run(args, context),
            Self::Note(args) => commands::note::run(args, context),
            Self::Specs(args) => features::specs::run(args, context),
            Self::Roadmap(args) => features::roadmap::run(args, context),
            Self::Commit(args) => commands::commit::run(args, context),
            Self::Linear(args) => linear::run(args, context),
            Self::Status(args) => commands::status::show_status(args, context),
            Self::Statusline => commands::statusline::show_statusline(context),
            Self::Why(args) => commands::why::explain_task(args, context),
            Self::Log(args) => commands::log::show_log(args, context),
            Self::Report(args) => commands::report::report_run(args, context),
            Self::Pr(args) => commands::pr::open_pull_request(args, context),
            Self::Plans(args) => commands::plans::run_plans(args, context),
            Self::Export(args) => export::run(args, context),
            Self::Share(args) => commands::fleet::share_plan(args, context),
            Self::Join(args) => commands::fleet::join_plan(args, context),
            Self::Fleet(args) => commands::fleet::show_fleet(args, context),
            Self::Ci(args) => ci::run(args, context),
            Self::Doctor(args) => doctor::run(args, context),
            Self::Config(args) => commands::config::run(args, context),
            Self::Hook(args) => commands::hook::run_hook(args, context),
            Self::Install(args) => install::run(args, context),
            Self::Demo(args) => commands::demo::run(args, context),
            Self::Help(args) => commands::help::show_help(args, context),
        }
    }
}

impl Cli {
    /// Recognises `fp hook EVENT`, which the client runs with every tool call, and `fp statusline`, which it runs
    /// with every message. Building clap's tree of commands would take as long as the hook itself.
    fn of_client() -> Option<Self> {
        let mut arguments = std::env::args_os().skip(1);
        let first = arguments.next()?;
        let command = match (arguments.next(), arguments.next()) {
            (None, _) if first == "statusline" => Command::Statusline,
            (Some(event), None) if first == "hook" => {
                let event = event.into_string().ok();
                let event = event.filter(|event| !event.starts_with('-'))?;
                Command::Hook(hook::HookArgs { event })
            }
            _ => return None,
        };
        Some(Self {
            json: false,
            folder: None,
            quiet: false,
            format: None,
            command: Some(command),
        })
    }

    /// Recognises `fp --help` and `fp -h`, for which `fp help` is run instead of clap's help.
    fn of_help() -> Option<Self> {
        let mut arguments = std::env::args_os().skip(1);
        let is_asked = arguments
            .next()
            .is_some_and(|word| word == "--help" || word == "-h");
        (is_asked && arguments.next().is_none()).then(|| Self::parse_from(["fp", "help"]))
    }
}

/// Parses the command line, runs the command, prints its error.
pub(crate) fn main() -> Exit {
    // The client treats a hook that exits with the bad-usage status as blocking.
    let first = std::env::args_os().nth(1);
    let is_hook = first.is_some_and(|first| first == "hook");
    let quick = Cli::of_client().or_else(Cli::of_help);
    let ended = match quick.map_or_else(Cli::try_parse, Ok) {
        Ok(cli) => run_again(cli),
        Err(message) if is_hook && message.use_stderr() => Err(CommandError::failed(message)),
        Err(message) => match unknown_command(&message) {
            Some(error) => Err(error),
            None => {
                // Printing fails if the reader is gone, in which case nobody would see an error either.
                drop(message.print());
                let is_error = message.use_stderr();
                return if is_error { Exit::Failed } else { Exit::Done };
            }
        },
    };
    match ended {
        Ok(exit) => exit,
        Err(error) if is_hook => {
            Printer::default().print_note(&hook::complaint("fp hook", &error.message));
            Exit::Done
        }
        Err(error) => {
            Printer::default().error(&error);
            error.exit
        }
    }
}

/// The exit status of a call that the lead of a run has made for this process.
pub(crate) fn made_by_lead() -> Option<u8> {
    Some(call_lead()?.unwrap_or_else(|error| {
        let error = CommandError::from(error);
        Printer::default().error(&error);
        error.exit.code()
    }))
}

/// Runs a command, retrying it if another machine got there first.
fn run_again(cli: Cli) -> CommandResult {
    refuse_agent()?;
    if let Some(folder) = &cli.folder {
        std::env::set_current_dir(folder).map_err(|error| {
            let (folder, why) = (folder.display(), file::reason_of(&error));
            CommandError::failed(format!("can't change to {folder}: {why}"))
                .with_hint("name a folder that exists after `-C`")
        })?;
    }
    let mut begun = Instant::now();
    let mut ended = run_once(cli);
    for tries in 1..=fleet::TRIES {
        if !matches!(&ended, Err(error) if error.exit == Exit::Overtaken) {
            break;
        }
        fleet::pause(tries, begun.elapsed());
        // The command had no effect, so it can run again on the new state.
        let Ok(again) = Cli::try_parse() else { break };
        begun = Instant::now();
        ended = run_once(again);
    }
    ended
}

fn run_once(cli: Cli) -> CommandResult {
    let output = match cli.json {
        true => Output::Json,
        false => cli.format.unwrap_or_default(),
    };
    let mut context = Context::new(output)?;
    context.printer.is_silent = cli.quiet;
    let ended = match cli.command {
        Some(command) => command.run(&context),
        None => commands::home::show_home(&context),
    };
    ended.map_err(|error| match &*context.opened.borrow() {
        Some(plan) => error.with_plan(plan.as_str()),
        None => error,
    })
}

/// The error for an unknown command, suggesting the likeliest known one.
fn unknown_command(message: &clap::Error) -> Option<CommandError> {
    let unknown = message.get(ContextKind::InvalidSubcommand);
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (message.kind(), unknown)
    else {
        return None;
    };
    let tree = Cli::command();
    let mut before = std::env::args().take_while(|argument| argument != word);
    let group = before.find(|argument| tree.find_subcommand(argument).is_some());
    let word = match &group {
        Some(group) => &format!("{group} {word}"),
        None => word,
    };
    let hint = match (meant_by(word), group) {
        (Some(hint), _) => hint.to_owned(),
        // The command has subcommands, and clap lists them.
        (None, Some(_)) => return None,
        (None, None) => {
            let shown = tree.get_subcommands().filter(|one| !one.is_hide_set());
            match closest_name(word, shown.map(|one| one.get_name().to_owned())) {
                Some(name) => format!("did you mean `fp {name}`?"),
                None => "`fp help` lists them all".into(),
            }
        }
    };
    Some(CommandError::failed(format!("there is no command {word:?}")).with_hint(hint))
}

/// Commands of other tools, and what does the same.
const MEANT: &str = "\
init|create|goal: `fp new GOAL` makes a plan; in Claude Code, `/fp:plan GOAL` does all of it
ls|list: `fp plans` lists the plans, `fp status` the tasks of one
watch|top|monitor|screen: `fp status --watch` follows a run
results: `fp report` has the results of a run
implement|build|execute|go: in Claude Code: `/fp:implement`; without it: `fp run`
resume|continue: `fp run` goes on with a run; in Claude Code, `/fp:implement`
version: `fp --version`
open|view|page: `fp show --format html --out plan.html` writes a page
stop|abort|kill: `fp cancel` ends the run
undo|revert|rollback: `fp retry PLAN TASK --undo` undoes a task that is done
fail: `fp cancel PLAN TASK --reason TEXT` gives a task up
release: `fp retry PLAN TASK` frees a task whose builder is gone
bundle: `fp install --bundle DIR` writes the plugin to a folder
completions: `fp install --completions SHELL` prints them
uninstall: `fp install --remove` undoes the installation
evidence: `fp why PLAN TASK --evidence` shows it
explain: `fp validate --explain RULE` explains a rule
fmt|format: `fp validate PLAN --fmt` writes the tree in its canonical form
handoff: `fp report PLAN --handoff` writes it
leave: `fp fleet PLAN --leave` leaves a shared plan
ready: `fp status PLAN --ready` checks whether a run can start
config schema: `fp help config` says what each setting takes
debt: `fp note PLAN add 'DEBT: TEXT'` notes work for later, and `fp new` lists it
task move|split: edit tasks.md; `fp validate PLAN` checks it, `fp approve PLAN` lets it run";

/// The line of `table` for `words`. Each word of a line may be one of several, separated by `|`.
fn commands_behind(table: &'static str, words: &str) -> Option<&'static str> {
    let is_meant = |(known, word): (&str, &str)| known.split('|').any(|known| known == word);
    let mut known = table.lines().filter_map(|line| line.split_once(": "));
    let known = known.find(|(known, _)| {
        known.matches(' ').count() == words.matches(' ').count()
            && known.split(' ').zip(words.split(' ')).all(is_meant)
    });
    known.map(|(_, instead)| instead)
}

/// The command that people probably mean by `word`.
pub(crate) fn meant_by(word: &str) -> Option<&'static str> {
    commands_behind(MEANT, word)
}

/// Refuses a command that the agent around this process, if any, may not run.
fn refuse_agent() -> Result<(), CommandError> {
    let role = match std::env::var(AGENT_ROLE).as_deref() {
        Ok("builder") => Role::Builder,
        Ok("verifier") => Role::Verifier,
        _ => return Ok(()),
    };
    match refuse_process(role, std::env::args().skip(1).collect()) {
        Some(reason) => Err(CommandError::refused(reason)
            .with_hint("ask the lead of the run or its user to do this")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};
    use fp_run::hook::own_command::{Caller, LineJudgement, judge_line};

    #[test]
    fn the_tree_is_consistent() {
        super::Cli::command().debug_assert();
    }

    #[test]
    fn words_that_people_try() {
        let told = |words| super::commands_behind(super::MEANT, words);
        assert!(told("fail").is_some() && told("task split").is_some());
        assert_eq!((told("split"), told("status")), (None, None));
    }

    /// Flags that the hook leaves to the user's own rules, by command. A new flag belongs in the hook's list or here.
    const ASKED_ABOUT: [(&str, &[&str]); 13] = [
        ("approve", &["yes"]),
        ("config set", &["user"]),
        ("config trust", &["yes"]),
        ("config unset", &["user"]),
        ("doctor", &["client"]),
        ("fleet", &["leave"]),
        ("new", &["import", "issue", "only", "open", "tag"]),
        ("report", &["force", "out"]),
        (
            "run",
            &[
                "agent",
                "branch",
                "budget",
                "here",
                "pr",
                "unattended",
                "yes",
            ],
        ),
        ("run start", &["attended", "branch", "here", "session"]),
        ("show", &["out"]),
        ("task add", &["from-review"]),
        // Only standard input is allowed.
        ("verdict", &["from"]),
    ];
    /// Commands that are for the user only, with all of their flags.
    const OF_THE_USER: [&str; 14] = [
        "answer",
        "ci",
        "commit",
        "demo",
        "help",
        "hook",
        "import",
        "install",
        "join",
        "plans archive",
        "plans restore",
        "pr",
        "share",
        "statusline",
    ];

    #[test]
    fn each_flag_is_allowed_or_asked_about() {
        let mut tree = super::Cli::command();
        tree.build();
        let mut missing = Vec::new();
        tree.get_subcommands()
            .for_each(|command| look_at(command, "fp", "", &mut missing));
        assert!(missing.is_empty(), "{missing:#?}");
    }

    /// Collects the flags of `command` that are on neither list, or on both; `line` is the command line before the
    /// command's name.
    fn look_at(command: &Command, line: &str, path: &str, missing: &mut Vec<String>) {
        let (line, path) = (
            format!("{line} {}", command.get_name()),
            format!("{path} {}", command.get_name()).trim().to_owned(),
        );
        if OF_THE_USER
            .iter()
            .any(|of| path == *of || path.starts_with(&format!("{of} ")))
        {
            return;
        }
        for flag in command.get_arguments().filter(|flag| !flag.is_global_set()) {
            let Some(name) = flag.get_long().filter(|name| *name != "help") else {
                continue;
            };
            let value = if flag.get_action().takes_values() {
                " x"
            } else {
                ""
            };
            let call = format!("{line} --{name}{value}");
            let is_allowed = matches!(judge_line(&call, Caller::Lead), LineJudgement::Own(_));
            let is_asked = ASKED_ABOUT
                .iter()
                .any(|(of, flags)| *of == path && flags.contains(&name));
            if is_allowed == is_asked {
                missing.push(call);
            }
        }
        let words: String = command.get_positionals().map(|_| " x").collect();
        for action in command.get_subcommands() {
            look_at(action, &format!("{line}{words}"), &path, missing);
        }
    }
}
