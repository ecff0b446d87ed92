//! Writes `plan.md`, the schedule for people.

use super::{Schedule, ScheduleStep};
use crate::markdown::{code, inline};
use crate::text::counted;

pub fn markdown(schedule: &Schedule<'_>) -> String {
    let mut out = format!(
        "# Implementation Plan\n\n{} in {}, at most {} at once. A wave is the earliest step at which its tasks can run.\n",
        counted(schedule.order.len(), "task"),
        counted(schedule.waves.len(), "wave"),
        schedule.max_parallel_tasks
    );
    out.push_str("\n## Execution Order\n");
    schedule
        .order
        .iter()
        .for_each(|step| out.push_str(&step_text(step)));
    out
}

fn step_text(step: &ScheduleStep<'_>) -> String {
    // The text of an item is indented by its number's width.
    let pad = " ".repeat(step.position.to_string().len() + 2);
    let mut out = format!(
        "{}. [Task {}]: {}\n",
        step.position,
        inline(step.id),
        inline(step.title)
    );
    let mut field = |label: &str, value: String| out.push_str(&format!("{pad}- {label}:{value}\n"));
    field("Dependencies", label_texts(&step.dependencies, inline));
    if !step.after.is_empty() {
        field("After", label_texts(&step.after, inline));
    }
    field("Complexity", format!(" {}", step.complexity));
    let delay = step.delay.as_ref().map(|delay| inline(&delay.to_string()));
    let delay = delay.map_or_else(String::new, |delay| format!(", {delay}"));
    field("Wave", format!(" {}{delay}", step.wave));
    field("Files", label_texts(&step.files, code));
    field("Commands", label_texts(&step.commands, code));
    let none = if step.acceptance.is_empty() {
        " none"
    } else {
        ""
    };
    field("Acceptance", none.to_owned());
    for (criterion, number) in step.acceptance.iter().zip(1..) {
        let criterion = inline(criterion).replace('\n', &format!("\n{pad}     "));
        out.push_str(&format!("{pad}  {number}. {criterion}\n"));
    }
    out
}

/// The texts behind a label, each escaped for its place.
fn label_texts(texts: &[&str], escaped: fn(&str) -> String) -> String {
    let texts: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    match &texts[..] {
        [] => " none".to_owned(),
        texts => format!(" {}", texts.join(", ")),
    }
}
