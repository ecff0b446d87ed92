//! Writes a plan in the canonical form that `fp validate --fmt` produces: the list dialect with fields in a fixed
//! order. The output depends only on the plan's meaning, never on positions in its source.

mod forms;

use super::field::FieldKind;
use super::marker_length;
use super::parse::{fields, parse};
use super::task::{Plan, Task};

/// Writes `plan` in the list dialect, with the line endings of its source. A synthetic root is omitted, because parsing
/// adds it again.
pub fn write(plan: &Plan) -> String {
    let mut writer = Writer::default();
    writer.block(0, "# Task Decomposition");
    let root = plan.tasks.first();
    // The children of a root that is synthetic or named `root` go beside it, at the margin.
    let outside = root.is_some_and(|root| root.synthetic || root.id == "root");
    let mut prose = plan.prose.iter().peekable();
    let mut has_frame = false;
    for index in 0..=plan.tasks.len() {
        while let Some((_, item)) = prose.next_if(|(before, _)| *before <= index) {
            writer.block(0, &item.text);
        }
        let Some(task) = plan.tasks.get(index).filter(|task| !task.synthetic) else {
            continue;
        };
        if index == 0 {
            writer.heading("## Root Task");
        } else if outside && !has_frame {
            has_frame = true;
            let has_root = root.is_some_and(|root| !root.synthetic);
            writer.heading(if has_root {
                "### Subtasks"
            } else {
                "## Subtasks"
            });
        }
        writer.task(task, 2 * task.depth.saturating_sub(usize::from(outside)));
    }
    match plan.newline() {
        "\n" => writer.out,
        newline => writer.out.replace('\n', newline),
    }
}

#[derive(Default)]
struct Writer {
    /// With `\n` as line ending.
    out: String,
    /// True if the next item needs no blank line before it, because it follows another item or the heading of a list.
    in_list: bool,
}

impl Writer {
    fn task(&mut self, task: &Task, indent: usize) {
        self.item(indent, &forms::head(task));
        let fields = &task.fields;
        for kind in FieldKind::ALL {
            if let Some(text) = forms::field(kind, task) {
                self.item(indent + 2, &text);
            }
        }
        for (label, item) in &fields.unknown {
            self.item(indent + 2, &forms::unknown(label, &item.text));
        }
        for (label, item) in &fields.duplicates {
            self.item(indent + 2, &forms::duplicate(label, &item.text));
        }
        for note in &task.notes {
            self.block(indent + 2, &note.text);
        }
    }

    /// Writes the heading above a list of tasks.
    fn heading(&mut self, text: &str) {
        self.block(0, text);
        self.in_list = true;
    }

    fn item(&mut self, indent: usize, text: &str) {
        if !self.in_list {
            self.blank_line();
        }
        self.push_indented(indent, text);
        self.in_list = true;
    }

    /// Writes a standalone Markdown block.
    fn block(&mut self, indent: usize, text: &str) {
        if text[marker_length(text)..].starts_with(' ') && marker_length(text) > 0 {
            return self.item(indent, text);
        }
        self.blank_line();
        self.push_indented(indent, text);
        self.in_list = false;
    }

    fn blank_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn push_indented(&mut self, indent: usize, text: &str) {
        for line in text.split('\n') {
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n(' ', indent));
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests;
