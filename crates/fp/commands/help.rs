//! `fp help`.

use clap::{Command, CommandFactory as _};
use serde_json::json;

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render::page;

/// Print the help of a command, or the page on a topic
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A topic, or a command with its subcommand; what there are where left out.
    #[arg(value_name = "TOPIC|COMMAND")]
    words: Vec<String>,
}

/// A page of `docs/`, by the word that it is asked for.
struct Topic {
    name: &'static str,
    page: &'static str,
}

macro_rules! topic {
    ($name:literal, $file:literal) => {
        Topic { name: $name, page: include_str!(concat!("../../../docs/", $file)) }
    };
}

static TOPICS: [Topic; 9] = [
    topic!("tasks", "task-tree.md"),
    topic!("plan", "plan-folder.md"),
    topic!("run", "run-protocol.md"),
    topic!("log", "log.md"),
    topic!("hooks", "hooks.md"),
    topic!("exit-codes", "exit-codes.md"),
    topic!("config", "configuration.md"),
    topic!("specs", "specs.md"),
    topic!("import-export", "import-export.md"),
];

/// How like a word's name, from 0 to 1, another has to be for it to be what was meant.
const LIKE: f64 = 0.8;

pub(crate) fn run(args: &Args, context: &Context) -> CommandResult {
    let mut tree = Cli::command();
    tree.build();
    if args.words.is_empty() {
        let text = format!("{}\n{}", tree.render_long_help(), topics());
        let names: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
        return context.report(&json!({ "topics": names, "text": text }), &text);
    }
    let parts = [command(&tree, &args.words), topic(&args.words)];
    // A word such as `log` is a command and has a format.
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        return Err(unknown(&tree, &args.words));
    }
    context.report(&json!({ "text": text }), &text)
}

fn command(tree: &Command, words: &[String]) -> Option<String> {
    let mut found = tree;
    for word in words {
        found = found.find_subcommand(word)?;
    }
    Some(found.clone().render_long_help().to_string())
}

fn topic(words: &[String]) -> Option<String> {
    let [word] = words else { return None };
    TOPICS.iter().find(|topic| topic.name == word).map(|topic| page::text(topic.page))
}

/// The topics, as the commands are listed above them.
fn topics() -> String {
    let mut text = "Topics, for `fp help TOPIC`:\n".to_owned();
    for topic in &TOPICS {
        let title = topic.page.lines().next().unwrap_or_default().trim_start_matches("# ");
        text += &format!("  {:<15}{title}\n", topic.name);
    }
    text
}

fn unknown(tree: &Command, words: &[String]) -> CommandError {
    let asked = words.join(" ");
    let error = CommandError::failed(format!("there is no command or topic {asked:?}"));
    let names = tree.get_subcommands().map(Command::get_name).chain(TOPICS.iter().map(|topic| topic.name));
    let likeness = |name: &str| strsim::jaro_winkler(&asked, name);
    match names.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|best| likeness(best) > LIKE) {
        Some(best) => error.hint(format!("did you mean `fp help {best}`?")),
        None => error.hint("`fp help` lists them all"),
    }
}
