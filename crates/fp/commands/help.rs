//! `fp help`.

use clap::{Command, CommandFactory as _};
use serde_json::json;

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render::page;

/// Print the help of a command, or the page on a topic
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// A topic, or a command with its subcommand; all of them if left out.
    #[arg(value_name = "TOPIC|COMMAND")]
    words: Vec<String>,
}

/// The help topics: each name with its page.
static TOPICS: [(&str, &str); 10] = [
    ("tasks", include_str!("../../../docs/task-tree.md")),
    ("plan", include_str!("../../../docs/plan-folder.md")),
    ("run", include_str!("../../../docs/run-protocol.md")),
    ("log", include_str!("../../../docs/log.md")),
    ("hooks", include_str!("../../../docs/hooks.md")),
    ("exit-codes", include_str!("../../../docs/exit-codes.md")),
    ("config", include_str!("../../../docs/configuration.md")),
    ("specs", include_str!("../../../docs/specs.md")),
    ("import-export", include_str!("../../../docs/import-export.md")),
    ("roadmap", include_str!("../../../docs/roadmap.md")),
];

/// Similarity, from 0 to 1, from which a name is offered as the one that was meant.
const LIKE: f64 = 0.8;

pub(crate) fn run(args: HelpArgs, context: &Context) -> CommandResult {
    let mut tree = Cli::command();
    tree.build();
    if args.words.is_empty() {
        let text = format!("{}\n{}", tree.render_long_help(), topics());
        let names: Vec<_> = TOPICS.iter().map(|(name, _)| *name).collect();
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
    TOPICS.iter().find(|(name, _)| name == word).map(|(_, page)| page::text(page))
}

/// The topics, as the commands are listed above them.
fn topics() -> String {
    let mut text = "Topics, for `fp help TOPIC`:\n".to_owned();
    for (name, page) in &TOPICS {
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        text += &format!("  {:<15}{title}\n", name);
    }
    text
}

fn unknown(tree: &Command, words: &[String]) -> CommandError {
    let asked = words.join(" ");
    let error = CommandError::failed(format!("there is no command or topic {asked:?}"));
    let names = tree.get_subcommands().map(Command::get_name).chain(TOPICS.iter().map(|(name, _)| *name));
    let likeness = |name: &str| strsim::jaro_winkler(&asked, name);
    match names.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|best| likeness(best) > LIKE) {
        Some(best) => error.hint(format!("did you mean `fp help {best}`?")),
        None => error.hint("`fp help` lists them all"),
    }
}
