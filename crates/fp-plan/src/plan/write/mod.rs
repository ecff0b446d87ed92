//! Writes a plan in the one form of `fp fmt`, the list dialect with fields in a fixed order.
//!
//! Every text of a plan is source text, and source text can begin anything in Markdown. It is therefore written in the
//! first of several forms ([`forms`]) that the parser reads back unchanged. The output depends only on the plan's
//! meaning, never on positions in its source.

mod forms;
mod layout;

use self::layout::Layout;
use super::field::FieldKind;
use super::parse::parse;
use super::task::{Plan, Task};

/// Writes `plan` in the list dialect, with the line endings of its source. A synthetic root is omitted, because parsing
/// adds it again.
pub fn write(plan: &Plan) -> String {
    let mut writer = Writer {
        plan,
        layout: Layout::default(),
        has_frame: false,
    };
    writer.plan();
    writer.layout.into_text(plan.newline())
}

struct Writer<'p> {
    plan: &'p Plan<'p>,
    layout: Layout,
    /// True once the heading above the subtasks is written.
    has_frame: bool,
}

impl Writer<'_> {
    fn plan(&mut self) {
        self.layout.heading("# Task Decomposition");
        let mut prose = self.plan.prose.iter().peekable();
        let outside = self.tasks_at_margin();
        for index in 0..=self.plan.tasks.len() {
            let mut behind_task = index > 0;
            while let Some((_, item)) = prose.next_if(|(before, _)| *before <= index) {
                match behind_task {
                    true if forms::ends_tasks(&item.text) => self.layout.end_list(),
                    true => self.subtasks(),
                    false => {}
                }
                self.layout.block(0, &item.text);
                behind_task = false;
            }
            if index > 0 && !behind_task {
                self.layout.end_list();
            }
            if let Some(task) = self.plan.tasks.get(index).filter(|task| !task.synthetic) {
                self.frame(index, outside);
                let depth = task.depth.saturating_sub(usize::from(outside));
                self.task(task, 2 * depth);
            }
        }
    }

    /// True if the children of the root go beside it, at the margin: the root is synthetic, or named `root`.
    fn tasks_at_margin(&self) -> bool {
        self.plan
            .tasks
            .first()
            .is_some_and(|root| root.synthetic || root.id == "root")
    }

    /// Writes the heading above a task, if it needs one.
    fn frame(&mut self, index: usize, outside: bool) {
        if index == 0 {
            self.layout.heading("## Root Task");
        } else if outside && !self.has_frame {
            self.subtasks();
        }
    }

    fn subtasks(&mut self) {
        self.has_frame = true;
        let below_root = self.plan.tasks.first().is_some_and(|root| !root.synthetic);
        self.layout.heading(if below_root {
            "### Subtasks"
        } else {
            "## Subtasks"
        });
    }

    fn task(&mut self, task: &Task, indent: usize) {
        self.layout.item(indent, &forms::head(task));
        let fields = &task.fields;
        for kind in FieldKind::ALL {
            if let Some(text) = forms::field(kind, task) {
                self.layout.item(indent + 2, &text);
            }
        }
        for (label, item) in &fields.unknown {
            self.layout
                .item(indent + 2, &forms::unknown(label, &item.text));
        }
        for (label, item) in &fields.duplicates {
            self.layout
                .item(indent + 2, &forms::duplicate(label, &item.text));
        }
        for note in &task.notes {
            self.layout.block(indent + 2, &note.text);
        }
    }
}

#[cfg(test)]
mod tests;
