//! Draws the task tree as a Mermaid flowchart, which GitHub and editors render: a frame for each parent, an
//! arrow for each dependency.

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

pub(crate) fn flowchart(report: &TreeReport<'_>) -> String {
    let mut text = String::from("flowchart LR\n");
    let mut frames = 0;
    for (number, task) in report.tasks.iter().enumerate() {
        for depth in (task.depth.min(frames)..frames).rev() {
            text.push_str(&format!("{}end\n", indent(depth)));
        }
        frames = frames.min(task.depth);
        let (indent, label) = (indent(frames), escaped(&label(task)));
        if task.leaf {
            text.push_str(&format!("{indent}t{number}[\"{label}\"]\n"));
        } else {
            text.push_str(&format!("{indent}subgraph p{number}[\"{label}\"]\n"));
            frames += 1;
        }
    }
    for depth in (0..frames).rev() {
        text.push_str(&format!("{}end\n", indent(depth)));
    }
    for (number, task) in report.tasks.iter().enumerate() {
        for &target in &task.after {
            let kind = if report.tasks[target].leaf { 't' } else { 'p' };
            text.push_str(&format!("  {kind}{target} --> t{number}\n"));
        }
    }
    text.push_str(CLASSES);
    for (number, task) in report
        .tasks
        .iter()
        .enumerate()
        .filter(|(_, task)| task.leaf)
    {
        if let Some(classes) = classes(task) {
            text.push_str(&format!("  class t{number} {classes}\n"));
        }
    }
    text
}

/// The reason why Mermaid may refuse to draw `text`, if any.
pub(crate) fn limit(report: &TreeReport<'_>, text: &str) -> Option<String> {
    let arrows: usize = report.tasks.iter().map(|task| task.after.len()).sum();
    (arrows > MAX_ARROWS || text.len() > MAX_TEXT).then(|| {
        format!(
            "Mermaid draws at most {MAX_ARROWS} arrows and {MAX_TEXT} characters unless it is told otherwise"
        )
    })
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(20) + 1)
}

fn classes(task: &TaskRow) -> Option<String> {
    let state = task
        .state
        .as_ref()
        .map(|run| run.state_word().to_lowercase());
    let critical = task.critical.then(|| "critical".to_owned());
    let classes: Vec<String> = state.into_iter().chain(critical).collect();
    (!classes.is_empty()).then(|| classes.join(","))
}

/// Escapes `text` for a quoted label. Mermaid knows no escapes except character numbers, and reads Markdown
/// and HTML in labels, so every character that could have a meaning is written as its number.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | ',' | '(' | ')' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out.push_str(&format!("#{};", u32::from(c))),
        }
    }
    out
}

/// The label of a box: id, title, and in brackets complexity and state. One line, without control characters.
fn label(task: &TaskRow) -> String {
    let facts = complexity_and_state(task);
    let facts = if facts.is_empty() {
        facts
    } else {
        format!(" ({facts})")
    };
    let label = format!("{} {}{facts}", task.id, task.title);
    label
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
