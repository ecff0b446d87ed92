//! The task tree as a Graphviz graph: a cluster for each parent, an arrow for each dependency.

use fp_core::report::tree::{TaskRow, TreeReport};
use unicode_width::UnicodeWidthStr as _;

use super::graph::{Part, critical_arrows, label, walk};
use super::tree::state;

/// Columns after which a label goes on in the next line.
const LABEL: usize = 30;

const HEAD: &str = "digraph plan {
  graph [rankdir=LR, compound=true, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, color=\"#a8a8a0\", style=rounded, ranksep=0.6, nodesep=0.25]
  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, color=\"#8a8a83\", fillcolor=\"#f8f8f5\", fontcolor=\"#1c1c1a\"]
  edge [color=\"#77776f\", arrowsize=0.7]
";

/// The graph.
pub(crate) fn text(report: &TreeReport<'_>) -> String {
    let mut text = HEAD.to_owned();
    for part in walk(report) {
        match part {
            Part::Opens(task, depth) => {
                let label = quoted(&label(&report.tasks[task]));
                text.push_str(&format!("{0}subgraph cluster_{task} {{\n{0}  label={label}\n", indent(depth)));
            }
            Part::Closes(depth) => text.push_str(&format!("{}}}\n", indent(depth))),
            Part::Leaf(task, depth) => {
                let row = &report.tasks[task];
                text.push_str(&format!(
                    "{}t{task} [label={}{}]\n",
                    indent(depth),
                    quoted(&label(row)),
                    looks(row)
                ));
            }
        }
    }
    let on_path = critical_arrows(report);
    for (number, task) in report.tasks.iter().enumerate() {
        for &target in &task.after {
            text.push_str(&arrow(report, target, number, on_path.contains(&(target, number))));
        }
    }
    text + "}\n"
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(20) + 1)
}

/// An arrow from a leaf, or from the frame of a parent: Graphviz ties those to one of the leaves in it.
fn arrow(report: &TreeReport<'_>, from: usize, to: usize, critical: bool) -> String {
    let mut leaf = from;
    while let Some(&last) = report.tasks[leaf].children.last() {
        leaf = last;
    }
    let mut attributes = Vec::new();
    if leaf != from {
        attributes.push(format!("ltail=cluster_{from}"));
    }
    if critical {
        attributes.push("color=\"#c2410c\", penwidth=2.5".to_owned());
    }
    let attributes =
        if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
    format!("  t{leaf} -> t{to}{attributes}\n")
}

fn looks(task: &TaskRow) -> String {
    let colours = task.state.as_ref().map_or("", |run| match state(run) {
        "ready" => ", fillcolor=\"#dbeafe\", color=\"#2563eb\"",
        "building" => ", fillcolor=\"#fef3c7\", color=\"#b45309\"",
        "verifying" => ", fillcolor=\"#ede9fe\", color=\"#7c3aed\"",
        "done" => ", fillcolor=\"#dcfce7\", color=\"#15803d\"",
        "FAILED" => ", fillcolor=\"#fee2e2\", color=\"#b91c1c\"",
        "skipped" => ", style=\"rounded,filled,dashed\"",
        _ => "",
    });
    format!("{colours}{}", if task.critical { ", penwidth=2.5" } else { "" })
}

/// `text` as a quoted string that Graphviz shows as it is: neither its escapes nor HTML's are read in it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    let mut column = 0;
    for word in text.split(' ') {
        if column > 0 && column + 1 + word.width() > LABEL {
            out.push_str("\\n");
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        column += word.width();
        for c in word.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '&' => out.push_str("&amp;"),
                c => out.push(c),
            }
        }
    }
    out + "\""
}
