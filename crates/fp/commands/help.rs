//! `fp help`: prints the help of a command, or a topic from `docs/`, so that the program carries its own
//! manual.

use clap::{Command, CommandFactory as _};
use fp_plan::settings::closest_name;
use fp_plan::text::wrapped;
use serde_json::json;

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;

/// Print the help of a command, or a help topic
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// A topic, or a command with its subcommand. Without one, all are listed.
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

pub(crate) fn run(args: HelpArgs, context: &Context) -> CommandResult {
    let mut tree = Cli::command();
    tree.build();
    if args.words.is_empty() {
        let text = format!("{}\n{}", tree.render_long_help(), topics());
        let names: Vec<_> = TOPICS.iter().map(|(name, _)| *name).collect();
        return context.report(&json!({ "topics": names, "text": text }), &text);
    }
    let parts = [command(&tree, &args.words), topic(&args.words)];
    // Some words, such as `log`, are both a command and a topic.
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
    TOPICS.iter().find(|(name, _)| name == word).map(|(_, page)| shown_page(page))
}

/// The list of topics, in the layout of the list of commands above it.
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
    Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect())
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
        let label =
            heading.get(index).filter(|_| is_list).map_or(String::new(), |label| format!("{label}: "));
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
