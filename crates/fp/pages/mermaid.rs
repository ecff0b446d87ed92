//! Draws the task tree as a Mermaid flowchart, which GitHub and editors render: a frame for each parent, an
//! arrow for each dependency.

use fp_run::report::status::TaskLine;
use fp_run::report::tree::{TaskRow, TreeReport};

use crate::commands::show::complexity_and_state;

/// Mermaid draws no longer text, unless its reader raises `maxTextSize`.
const MAX_TEXT: usize = 50_000;
/// Mermaid draws no more arrows, unless its reader raises `maxEdges`.
const MAX_ARROWS: usize = 500;

/// The style of each state, and of tasks on the critical path.
const CLASSES: &str = "  classDef waiting fill:#f2f2ef,stroke:#8a8a83,color:#1c1c1a
  classDef ready fill:#dbeafe,stroke:#2563eb,color:#10244f
  classDef building fill:#fef3c7,stroke:#b45309,color:#4a2503
  classDef verifying fill:#ede9fe,stroke:#7c3aed,color:#2e1065
  classDef asking fill:#ede9fe,stroke:#7c3aed,color:#2e1065,stroke-width:2px
  classDef stopped fill:#f2f2ef,stroke:#55554f,color:#1c1c1a
  classDef done fill:#dcfce7,stroke:#15803d,color:#0b3d1c
  classDef failed fill:#fee2e2,stroke:#b91c1c,color:#4c0a0a
  classDef skipped fill:#f2f2ef,stroke:#8a8a83,color:#55554f,stroke-dasharray:4 3
  classDef critical stroke-width:3px
";

pub(crate) fn flowchart_of(report: &TreeReport<'_>) -> String {
    let mut text = String::from("flowchart LR\n");
    let mut frames = 0;
    let close_frames = |text: &mut String, frames: usize, depth: usize| {
        (depth..frames)
            .rev()
            .for_each(|depth| *text += &format!("{}end\n", margin_of(depth)));
    };
    for (number, task) in report.tasks.iter().enumerate() {
        close_frames(&mut text, frames, task.depth);
        frames = frames.min(task.depth);
        let (margin, label) = (margin_of(frames), label_of(task));
        if task.leaf {
            text += &format!("{margin}t{number}[\"{label}\"]\n");
        } else {
            text += &format!("{margin}subgraph p{number}[\"{label}\"]\n");
            frames += 1;
        }
    }
    close_frames(&mut text, frames, 0);
    for (number, task) in report.tasks.iter().enumerate() {
        for &target in &task.after {
            let kind = if report.tasks[target].leaf { 't' } else { 'p' };
            text += &format!("  {kind}{target} --> t{number}\n");
        }
    }
    text += CLASSES;
    for (number, task) in report.tasks.iter().enumerate() {
        let state = task.state.as_ref().map(TaskLine::state_word);
        let critical = task.critical.then_some("critical");
        let classes: Vec<&str> = state.into_iter().chain(critical).collect();
        if task.leaf && !classes.is_empty() {
            text += &format!("  class t{number} {}\n", classes.join(","));
        }
    }
    text
}

/// The reason why Mermaid may refuse to draw `text`, if any.
pub(crate) fn limit_exceeded(report: &TreeReport<'_>, text: &str) -> Option<String> {
    let arrows: usize = report.tasks.iter().map(|task| task.after.len()).sum();
    (arrows > MAX_ARROWS || text.len() > MAX_TEXT).then(|| {
        format!(
            "Mermaid draws at most {MAX_ARROWS} arrows and {MAX_TEXT} characters unless it is told otherwise"
        )
    })
}

fn margin_of(depth: usize) -> String {
    "  ".repeat(depth.min(20) + 1)
}

/// The label of a box: id, title, and in brackets complexity and state.
///
/// Mermaid knows no escapes except character numbers, and reads Markdown and HTML in labels, so every character that could
/// have a meaning is written as its number.
fn label_of(task: &TaskRow) -> String {
    let facts = match complexity_and_state(task) {
        facts if facts.is_empty() => facts,
        facts => format!(" ({facts})"),
    };
    let label = format!("{} {}{facts}", task.id, task.title);
    let escape = |c: char| match c {
        c if c.is_alphanumeric() || " ,()".contains(c) => c.to_string(),
        c if c.is_control() => " ".to_owned(),
        c => format!("#{};", u32::from(c)),
    };
    label.chars().map(escape).collect()
}
