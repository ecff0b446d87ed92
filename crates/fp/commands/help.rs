//! `fp help`: prints the help of a command, or a topic from `docs/`, so that the program carries its own
//! manual.

use clap::{Command, CommandFactory as _};
use fp_plan::settings::closest_name;
use fp_plan::text::wrapped;
use serde_json::json;

use crate::cli::{Cli, meant_by};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;

/// Print the help of a command, or a help topic
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// A command with its subcommand, a topic, or `agents` for the commands that agents call.
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
    /// List all commands with a summary.
    #[arg(long, conflicts_with = "words")]
    all: bool,
}

/// The commands for people, by purpose.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Look", &["status", "show", "log", "why", "report", "plans"]),
    (
        "Steer",
        &["run", "approve", "answer", "retry", "cancel", "task"],
    ),
    ("Write", &["new", "import", "export", "validate"]),
    ("Project", &["config", "specs", "roadmap", "commit", "pr"]),
    ("Machines", &["share", "join", "fleet"]),
    ("Set up", &["install", "doctor", "demo"]),
];
/// The heading for all other commands.
pub(crate) const AGENTS: &str = "For agents and scripts";

/// The help topics: each page with its names, the file's name first.
static TOPICS: [(&[&str], &str); 2] = [
    (
        &["task-tree", "tasks"],
        include_str!("../../../docs/task-tree.md"),
    ),
    (
        &["configuration", "config"],
        include_str!("../../../docs/configuration.md"),
    ),
];

pub(crate) fn show_help(args: HelpArgs, context: &Context) -> CommandResult {
    let mut tree = Cli::command();
    tree.build();
    let groups = groups_of(&tree);
    let text = if args.all {
        groups.iter().map(group_text).collect::<Vec<_>>().join("\n")
    } else if args.words.is_empty() {
        first_page(&groups)
    } else if args.words == ["agents"] {
        let agents = groups.iter().filter(|(name, _)| *name == AGENTS);
        agents.map(group_text).collect()
    } else {
        // Some words, such as `config`, are both a command and a topic.
        let parts = [command_help(&tree, &args.words), topic_text(&args.words)];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    if text.is_empty() {
        return Err(unknown_words(&tree, &args.words));
    }
    let topics: Vec<_> = TOPICS.iter().map(|(names, _)| names[0]).collect();
    context.report(&json!({ "topics": topics, "text": text }), &text)
}

/// A group's name and its commands.
type CommandGroup<'t> = (&'static str, Vec<&'t Command>);

/// The commands of `tree` by group; those without a group are for agents.
pub(crate) fn groups_of(tree: &Command) -> Vec<CommandGroup<'_>> {
    let of_group = |names: &[&str]| {
        let found = names.iter().filter_map(|name| tree.find_subcommand(name));
        found.collect::<Vec<_>>()
    };
    let mut groups: Vec<_> = GROUPS.map(|(name, names)| (name, of_group(names))).into();
    let is_for_people = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others = tree.get_subcommands().filter(|one| !one.is_hide_set());
    let others = others.filter(|one| !is_for_people(one.get_name()));
    groups.push((AGENTS, others.collect()));
    groups
}

fn first_page(groups: &[CommandGroup<'_>]) -> String {
    let mut text = format!("{HEADLINE}\nIn Claude Code: /fp:plan GOAL, then /fp:implement\n\n");
    for (name, commands) in groups.iter().filter(|(name, _)| *name != AGENTS) {
        let names: Vec<_> = commands.iter().map(|command| command.get_name()).collect();
        text += &format!("{name:<10}{}\n", names.join("  "));
    }
    text += "\nHelp      fp help COMMAND, fp help --all, fp help agents, or fp help TOPIC:\n";
    let topics: Vec<_> = TOPICS.iter().map(|(names, _)| names[0]).collect();
    for line in wrapped(&topics.join(", "), WIDTH - 10) {
        text += &format!("          {line}\n");
    }
    text + "Options   --json for programs, -C DIR, -q, --help, --version\n"
}

/// The first line of `fp`'s own help.
pub(super) const HEADLINE: &str = concat!(
    "Fractal Planner ",
    env!("CARGO_PKG_VERSION"),
    ": plan a goal, build it task by task, commit what passes"
);

fn group_text((name, commands): &CommandGroup<'_>) -> String {
    let mut text = format!("{name}\n");
    for command in commands {
        let about = command.get_about().map(ToString::to_string);
        let mut name = command.get_name();
        for line in wrapped(&about.unwrap_or_default(), WIDTH - 15) {
            text += &format!("  {name:<11}  {line}\n");
            name = "";
        }
    }
    text
}

/// The `--help` of the command that `words` name.
fn command_help(tree: &Command, words: &[String]) -> Option<String> {
    let mut words = words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'));
    let found = words.clone();
    let line: Vec<&str> = ["fp"].into_iter().chain(found).chain(["--help"]).collect();
    words.try_fold(tree, |found, word| found.find_subcommand(word))?;
    let help = Cli::command().try_get_matches_from(line).err()?;
    Some(help.to_string())
}

fn topic_text(words: &[String]) -> Option<String> {
    let [word] = words else { return None };
    let mut topics = TOPICS.iter();
    let (_, page) = topics.find(|(names, _)| names.contains(&word.as_str()))?;
    Some((*page).to_owned())
}

fn unknown_words(tree: &Command, words: &[String]) -> CommandError {
    let asked = words.join(" ");
    let topics = TOPICS.iter().flat_map(|(names, _)| names.iter().copied());
    let names = tree.get_subcommands().map(Command::get_name).chain(topics);
    let hint = match (
        meant_by(&asked),
        closest_name(&asked, names.map(str::to_owned)),
    ) {
        (Some(meant), _) => meant.to_owned(),
        (None, Some(best)) => format!("did you mean `fp help {best}`?"),
        (None, None) => "`fp help` lists them all".to_owned(),
    };
    CommandError::failed(format!("there is no command or topic {asked:?}")).with_hint(hint)
}
