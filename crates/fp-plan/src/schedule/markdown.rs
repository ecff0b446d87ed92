//! Writes `plan.md`, the schedule for people, and for tools that know the format of its first section.

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
    out + &waves_text(schedule) + &critical_path_text(schedule)
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
    field("Dependencies", listed(&step.dependencies, inline));
    if !step.after.is_empty() {
        field("After", listed(&step.after, inline));
    }
    field("Complexity", format!(" {}", step.complexity));
    field("Files", listed(&step.files, code));
    field("Commands", listed(&step.commands, code));
    field(
        "Acceptance",
        if step.acceptance.is_empty() {
            " none"
        } else {
            ""
        }
        .to_owned(),
    );
    for (criterion, number) in step.acceptance.iter().zip(1..) {
        let criterion = inline(criterion).replace('\n', &format!("\n{pad}     "));
        out.push_str(&format!("{pad}  {number}. {criterion}\n"));
    }
    out
}

/// The texts behind a label, each escaped for its place.
fn listed(texts: &[&str], escaped: fn(&str) -> String) -> String {
    let texts: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    format!(
        " {}",
        if texts.is_empty() {
            "none".to_owned()
        } else {
            texts.join(", ")
        }
    )
}

fn waves_text(schedule: &Schedule<'_>) -> String {
    let mut steps: Vec<&ScheduleStep<'_>> = schedule.order.iter().collect();
    steps.sort_by_key(|step| step.wave);
    let mut steps = steps.into_iter().peekable();
    let mut out = "\n## Waves\n".to_owned();
    for wave in &schedule.waves {
        out.push_str(&format!(
            "\n### Wave {} (complexity {})\n\n",
            wave.number, wave.complexity
        ));
        while let Some(step) = steps.next_if(|step| step.wave == wave.number) {
            let delay = step
                .delay
                .as_ref()
                .map(|delay| format!(" — {}", delay.told(inline, code)));
            let (id, title) = (inline(step.id), inline(step.title));
            out.push_str(&format!(
                "- {id} {title} ({}){}\n",
                step.complexity,
                delay.unwrap_or_default()
            ));
        }
    }
    out
}

fn critical_path_text(schedule: &Schedule<'_>) -> String {
    let path = &schedule.critical_path;
    let waves: u64 = schedule
        .waves
        .iter()
        .map(|wave| u64::from(wave.complexity))
        .sum();
    let tasks: Vec<String> = path.tasks.iter().map(|task| inline(task)).collect();
    let gains: Vec<String> = schedule
        .speed_up
        .iter()
        .map(|gain| format!("{} × {:.2}", gain.builders, gain.factor))
        .collect();
    format!(
        "\n## Critical Path\n\n{}\n\n- Complexity of the path: {} of {} in all, {waves} in waves\n\
         - Ideal speed-up by builders: {}\n",
        if tasks.is_empty() {
            "none".to_owned()
        } else {
            tasks.join(" → ")
        },
        path.complexity,
        schedule.total_complexity,
        gains.join(", ")
    )
}
