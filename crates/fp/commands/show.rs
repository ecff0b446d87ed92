//! `fp show`.

use fp_core::plan::{Plan, Task, parse};
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::WIDTH;
use crate::render::status::fit;
use crate::source::Source;

/// Columns of branches; what is deeper is drawn no further to the right.
const BRANCHES: usize = 36;

/// Draw the task tree
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan, or a file that ends in `.md`; the only active plan where left out.
    plan: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = Source::open(context, args.plan.as_deref())?;
    let text = source.text()?;
    let (tree, _) = parse(&text);
    match context.format {
        Format::Text => context.printer.data(&draw(&tree)),
        Format::Json => {
            let tasks = tree.tasks.iter().map(|task| {
                json!({
                    "id": task.id, "title": task.description, "complexity": task.complexity,
                    "depth": task.depth, "parentId": task.parent.map(|p| &tree.tasks[p].id),
                    "leaf": task.is_leaf(), "dependencies": task.dependencies().collect::<Vec<_>>(),
                    "files": task.files().collect::<Vec<_>>(),
                    "acceptance": task.acceptance().collect::<Vec<_>>(),
                })
            });
            context.printer.json(&json!({ "tasks": tasks.collect::<Vec<_>>() }))?;
        }
    }
    Ok(Exit::Done)
}

/// The tree, a task a line. Walks with a stack of its own, since a tree can be deeper than the program's.
fn draw(tree: &Plan) -> String {
    let Some(root) = tree.root else { return "No tasks\n".to_owned() };
    let mut text = String::new();
    let mut open = vec![(root, String::new(), String::new())];
    while let Some((index, branch, below)) = open.pop() {
        let task = &tree.tasks[index];
        text.push_str(&line(task, &branch));
        let mut children = task.children.iter().rev();
        let last = children.next().map(|child| (*child, "└─ ", "   "));
        let others = children.map(|child| (*child, "├─ ", "│  "));
        for (child, own, under) in last.into_iter().chain(others) {
            open.push((child, limited(&below, own), limited(&below, under)));
        }
    }
    text
}

fn limited(below: &str, part: &str) -> String {
    if below.width() < BRANCHES { format!("{below}{part}") } else { below.to_owned() }
}

fn line(task: &Task, branch: &str) -> String {
    let complexity = task.complexity.map(|c| format!(" ({c})")).unwrap_or_default();
    let after: Vec<&str> = task.dependencies().collect();
    let after = if after.is_empty() { String::new() } else { format!("  after {}", after.join(", ")) };
    let after = fit(&after, WIDTH / 3);
    let head = format!("{branch}{}  ", task.id);
    let room = WIDTH.saturating_sub(head.width() + complexity.len() + after.width()).max(12);
    format!("{head}{}{complexity}{after}\n", fit(&task.description, room))
}
