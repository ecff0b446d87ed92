//! The page of a task tree, which shows a plan before its run: goal and figures, then the tasks in WAI-ARIA's tree
//! pattern, when they start, and the details of one task.

use fp_run::report::tree::TreeReport;
use serde::Serialize;

use super::{HtmlPage, json_of, states_of};

const STYLE: &str = concat!(include_str!("base.css"), include_str!("page.css"));
const SCRIPT: &str = concat!(
    include_str!("element.js"),
    include_str!("find.js"),
    include_str!("tasks.js"),
    include_str!("tree.js"),
    include_str!("graph.js"),
    include_str!("detail.js")
);

/// Number of builders in the initial drawing if only one is configured: with a single builder, each column would have
/// one task, and the row would get long.
const DRAWN: u32 = 4;
/// Maximum level of indentation; deeper rows are drawn at this level.
const LEVELS: usize = 12;

#[derive(Serialize)]
struct TreePage<'r> {
    tree: &'r TreeReport<'r>,
    name: &'r str,
    standing: Option<&'static str>,
    /// The number of builders in the initial drawing.
    builders: u32,
    states: Vec<(&'static str, usize)>,
    rows: Vec<TreeRow>,
}

/// The parts of a task's row besides the task itself.
#[derive(Serialize)]
struct TreeRow {
    state: &'static str,
    indent: usize,
    /// The number of tasks below the same parent, and its position among them, from 1.
    siblings: usize,
    position: usize,
}

impl TreeRow {
    fn of_task(report: &TreeReport<'_>, number: usize) -> Self {
        let task = &report.tasks[number];
        let siblings = match task.parent {
            Some(parent) => &report.tasks[parent].children[..],
            None => &[number],
        };
        // Children are in document order.
        let before = siblings.partition_point(|sibling| *sibling < number);
        Self {
            state: task.state.as_ref().map_or("", |run| run.state_word()),
            indent: task.depth.min(LEVELS),
            siblings: siblings.len(),
            position: before + 1,
        }
    }
}

/// Renders the page. `name` is the tree's name; `builders` is the number of builders in the initial drawing.
pub(crate) fn plan_page(report: &TreeReport<'_>, name: &str, builders: u32) -> String {
    let rows = 0..report.tasks.len();
    let page = TreePage {
        tree: report,
        name: report.plan_id.as_ref().map_or(name, |id| id.as_str()),
        standing: report.standing.map(|standing| standing.into_str()),
        builders: if builders > 1 { builders } else { DRAWN },
        states: states_of(report),
        rows: rows
            .map(|number| TreeRow::of_task(report, number))
            .collect(),
    };
    HtmlPage {
        template: "plan.html",
        goal: &report.goal,
        kind: "task tree",
        style: STYLE,
        script: SCRIPT,
        data: vec![("report", json_of(report))],
        page,
    }
    .render()
}
