//! `fp help`: prints the help of a command, or a topic from `docs/`, so that the program carries its own
//! manual.

use clap::{Command, CommandFactory as _};
use fp_plan::settings::closest_name;
use fp_plan::text::wrapped;
use fp_run::hook::own_command::respelled;
use serde_json::json;

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;

/// Print the help of a command, or a help topic
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// A command with its subcommand, a topic, or `agents` for the commands that agents call.
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
    /// List all commands with what they do.
    #[arg(long, conflicts_with = "words")]
    all: bool,
}

/// The commands for people, by what they are for.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Look", &["status", "show", "log", "why", "report", "plans"]),
    (
        "Steer",
        &["run", "approve", "answer", "retry", "cancel", "task"],
    ),
    ("Write", &["new", "import", "export", "validate"]),
    ("Project", &["config", "specs", "roadmap", "commit"]),
    ("Machines", &["share", "join", "fleet"]),
    ("Set up", &["install", "doctor", "demo"]),
];
/// The name of the others.
pub(crate) const AGENTS: &str = "For agents and scripts";

/// The help topics: each page with its names, the first that of its file.
static TOPICS: [(&[&str], &str); 10] = [
    (
        &["task-tree", "tasks"],
        include_str!("../../../docs/task-tree.md"),
    ),
    (
        &["plan-folder", "plan"],
        include_str!("../../../docs/plan-folder.md"),
    ),
    (
        &["run-protocol", "run"],
        include_str!("../../../docs/run-protocol.md"),
    ),
    (&["log"], include_str!("../../../docs/log.md")),
    (&["hooks"], include_str!("../../../docs/hooks.md")),
    (&["exit-codes"], include_str!("../../../docs/exit-codes.md")),
    (
        &["configuration", "config"],
        include_str!("../../../docs/configuration.md"),
    ),
    (&["specs"], include_str!("../../../docs/specs.md")),
    (
        &["import-export"],
        include_str!("../../../docs/import-export.md"),
    ),
    (&["roadmap"], include_str!("../../../docs/roadmap.md")),
];

pub(crate) fn run(args: HelpArgs, context: &Context) -> CommandResult {
    let mut tree = Cli::command();
    tree.build();
    let topics: Vec<_> = TOPICS.iter().map(|(names, _)| names[0]).collect();
    let text = if args.all {
        groups_of(&tree)
            .iter()
            .map(list)
            .collect::<Vec<_>>()
            .join("\n")
    } else if args.words.is_empty() {
        first_page(&tree)
    } else if args.words == ["agents"] {
        groups_of(&tree)
            .iter()
            .filter(|(name, _)| *name == AGENTS)
            .map(list)
            .collect()
    } else {
        let parts = [command(&tree, &args.words), topic(&args.words)];
        // Some words, such as `log`, are both a command and a topic.
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    if text.is_empty() {
        return Err(unknown(&tree, &args.words));
    }
    context.report(&json!({ "topics": topics, "text": text }), &text)
}

/// The commands of `tree` in their groups; those in none are the agents'.
pub(crate) fn groups_of(tree: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let of_group = |names: &[&str]| {
        names
            .iter()
            .filter_map(|name| tree.find_subcommand(name))
            .collect()
    };
    let mut groups: Vec<(_, Vec<_>)> = GROUPS.map(|(name, names)| (name, of_group(names))).into();
    let is_for_people = |command: &&Command| {
        GROUPS
            .iter()
            .any(|(_, all)| all.contains(&command.get_name()))
    };
    let others = tree
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    groups.push((
        AGENTS,
        others.filter(|command| !is_for_people(command)).collect(),
    ));
    groups.retain(|(_, commands)| !commands.is_empty());
    groups
}

fn first_page(tree: &Command) -> String {
    let mut text = format!("{HEADLINE}\nIn Claude Code: /fp:plan GOAL, then /fp:implement\n\n");
    for (name, commands) in groups_of(tree).iter().filter(|(name, _)| *name != AGENTS) {
        let names: Vec<_> = commands.iter().map(|command| command.get_name()).collect();
        text += &format!("{name:<10}{}\n", names.join("  "));
    }
    text += "\nHelp      fp help COMMAND, fp help --all, fp help agents, or fp help TOPIC:\n";
    let topics: Vec<_> = TOPICS.iter().map(|(names, _)| names[0]).collect();
    wrapped(&topics.join(", "), WIDTH - 10)
        .iter()
        .for_each(|line| text += &format!("          {line}\n"));
    text + "Options   --json for programs, -C DIR, -q, --help, --version\n"
}

/// The first line of what `fp` says of itself.
pub(super) const HEADLINE: &str = concat!(
    "Fractal Planner ",
    env!("CARGO_PKG_VERSION"),
    ": plan a goal, build it task by task, commit what passes"
);

fn about(command: &Command) -> String {
    command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn list((name, commands): &(&str, Vec<&Command>)) -> String {
    let mut text = format!("{name}\n");
    for command in commands {
        for (number, line) in wrapped(&about(command), WIDTH - 15).iter().enumerate() {
            let name = if number == 0 { command.get_name() } else { "" };
            text += &format!("  {name:<11}  {line}\n");
        }
    }
    text
}

/// The `--help` of the command that `words` name.
fn command(tree: &Command, words: &[String]) -> Option<String> {
    let words = respelled(words.to_vec());
    let words = words.iter().filter(|word| !word.starts_with('-'));
    words
        .clone()
        .try_fold(tree, |found, word| found.find_subcommand(word))?;
    let line = ["fp"]
        .into_iter()
        .chain(words.map(String::as_str))
        .chain(["--help"]);
    Cli::command()
        .try_get_matches_from(line)
        .err()
        .map(|help| help.to_string())
}

fn topic(words: &[String]) -> Option<String> {
    let [word] = words else { return None };
    TOPICS
        .iter()
        .find(|(names, _)| names.contains(&word.as_str()))
        .map(|(_, page)| shown_page(page))
}

fn unknown(tree: &Command, words: &[String]) -> CommandError {
    let asked = words.join(" ");
    let error = CommandError::failed(format!("there is no command or topic {asked:?}"));
    let topics = TOPICS.iter().flat_map(|(names, _)| names.iter().copied());
    let names = tree.get_subcommands().map(Command::get_name).chain(topics);
    match closest_name(&asked, names.map(str::to_owned)) {
        Some(best) => error.hint(format!("did you mean `fp help {best}`?")),
        None => error.hint("`fp help` lists them all"),
    }
}

/// Wraps `markdown`, which has one paragraph a line, to at most [`WIDTH`] columns. Indents code blocks
/// instead.
fn shown_page(markdown: &str) -> String {
    let mut text = String::new();
    let mut in_block = false;
    let mut heading = Vec::new();
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            text += format!("    {line}").trim_end();
            text.push('\n');
        } else if let Some(cells) = cells(line) {
            row(&heading, &cells, &mut text);
            if heading.is_empty() {
                heading = cells;
            }
        } else {
            heading.clear();
            let indent = line.len() - line.trim_start_matches([' ', '-']).len();
            paragraph(line, indent, &mut text);
        }
    }
    text
}

/// The cells of a table's row.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(
        line.strip_prefix("| ")?
            .strip_suffix(" |")?
            .split(" | ")
            .collect(),
    )
}

/// A row as a list: its first cell, with the others below it. Each gets its heading if there are several.
fn row(heading: &[&str], cells: &[&str], text: &mut String) {
    let is_list = cells.len() > 2;
    let is_rule = cells.iter().all(|cell| *cell == "---");
    if is_rule || (is_list && heading.is_empty()) {
        return;
    }
    paragraph(cells[0], 0, text);
    for (index, cell) in cells.iter().enumerate().skip(1) {
        let label = heading
            .get(index)
            .filter(|_| is_list)
            .map_or(String::new(), |label| format!("{label}: "));
        paragraph(&format!("    {label}{cell}"), 4, text);
    }
}

/// Wraps `line`; all lines but the first are indented by `indent` blanks.
fn paragraph(line: &str, indent: usize, text: &mut String) {
    let (mut begin, rest) = (line[..indent].to_owned(), &line[indent..]);
    for part in wrapped(rest, WIDTH - indent) {
        text.push_str(&begin);
        text.push_str(&part);
        text.push('\n');
        begin = " ".repeat(indent);
    }
    if rest.is_empty() {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_fits_the_terminal() {
        let long = "word ".repeat(20);
        let page = format!(
            "# Title\n\n{long}\n- {long}\n\n```sh\nfp  status\n\n```\n\n| key | meaning |\n| --- | --- |\n| `a` | {long}|\n\n| key | in | out |\n| --- | --- | --- |\n| `b` | 1 | 2 |\n"
        );
        let half = ["word"; 16].join(" ");
        let expect = format!(
            "# Title\n\n{half}\nword word word word\n- {}\n  {}\n\n    fp  status\n\n\nkey\n    meaning\n`a`\n    {}\n    {}\n\n`b`\n    in: 1\n    out: 2\n",
            ["word"; 15].join(" "),
            ["word"; 5].join(" "),
            ["word"; 15].join(" "),
            ["word"; 5].join(" "),
        );
        assert_eq!(shown_page(&page), expect);
    }
}
