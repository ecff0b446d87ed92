//! Writes `plan.md`, the schedule for people, and for tools that know the format of its first section.

use std::fmt::{self, Write as _};

use super::{Schedule, ScheduleStep};
use crate::markdown::{code, inline};
use crate::text::counted;

pub fn markdown(schedule: &Schedule<'_>) -> String {
    let mut out = String::new();
    write_all(&mut out, schedule).expect("writing to a string can't fail");
    out
}

fn write_all(out: &mut String, schedule: &Schedule<'_>) -> fmt::Result {
    writeln!(
        out,
        "# Implementation Plan\n\n{} in {}, at most {} at once. A wave is the earliest step at which its tasks can run.",
        counted(schedule.order.len(), "task"),
        counted(schedule.waves.len(), "wave"),
        schedule.max_parallel_tasks
    )?;
    out.push_str("\n## Execution Order\n");
    for step in &schedule.order {
        write_step(out, step)?;
    }
    write_waves(out, schedule)?;
    write_critical_path(out, schedule)
}

fn write_step(out: &mut String, step: &ScheduleStep<'_>) -> fmt::Result {
    write!(out, "{}. [Task ", step.position)?;
    inline(out, step.id)?;
    out.push_str("]: ");
    inline(out, step.title)?;
    // The text of an item is indented by its number's width.
    let pad = " ".repeat(step.position.to_string().len() + 2);
    write!(out, "\n{pad}- Dependencies: ")?;
    listed(out, &step.dependencies, ", ", inline)?;
    if !step.after.is_empty() {
        write!(out, "\n{pad}- After: ")?;
        listed(out, &step.after, ", ", inline)?;
    }
    write!(out, "\n{pad}- Complexity: {}\n{pad}- Files: ", step.complexity)?;
    listed(out, &step.files, ", ", code)?;
    write!(out, "\n{pad}- Commands: ")?;
    listed(out, &step.commands, ", ", code)?;
    writeln!(out, "\n{pad}- Acceptance:{}", if step.acceptance.is_empty() { " none" } else { "" })?;
    for (criterion, number) in step.acceptance.iter().zip(1..) {
        write!(out, "{pad}  {number}. ")?;
        let start = out.len();
        inline(out, criterion)?;
        if criterion.contains('\n') {
            let lines = out.split_off(start).replace('\n', &format!("\n{pad}     "));
            out.push_str(&lines);
        }
        out.push('\n');
    }
    Ok(())
}

/// Writes a text escaped for its place.
type Written = fn(&mut String, &str) -> fmt::Result;

fn listed(out: &mut String, texts: &[&str], between: &str, written: Written) -> fmt::Result {
    if texts.is_empty() {
        out.push_str("none");
    }
    for (number, text) in texts.iter().enumerate() {
        if number > 0 {
            out.push_str(between);
        }
        written(out, text)?;
    }
    Ok(())
}

fn write_waves(out: &mut String, schedule: &Schedule<'_>) -> fmt::Result {
    let mut steps: Vec<&ScheduleStep<'_>> = schedule.order.iter().collect();
    steps.sort_by_key(|step| step.wave);
    let mut steps = steps.into_iter().peekable();
    out.push_str("\n## Waves\n");
    for wave in &schedule.waves {
        write!(out, "\n### Wave {} (complexity {})\n\n", wave.number, wave.complexity)?;
        while let Some(step) = steps.next_if(|step| step.wave == wave.number) {
            out.push_str("- ");
            inline(out, step.id)?;
            out.push(' ');
            inline(out, step.title)?;
            write!(out, " ({})", step.complexity)?;
            if let Some(delay) = &step.delay {
                out.push_str(" — ");
                delay.tell(out, inline, code)?;
            }
            out.push('\n');
        }
    }
    Ok(())
}

fn write_critical_path(out: &mut String, schedule: &Schedule<'_>) -> fmt::Result {
    let path = &schedule.critical_path;
    let waves: u64 = schedule.waves.iter().map(|wave| u64::from(wave.complexity)).sum();
    out.push_str("\n## Critical Path\n\n");
    listed(out, &path.tasks, " → ", inline)?;
    writeln!(
        out,
        "\n\n- Complexity of the path: {} of {} in all, {waves} in waves",
        path.complexity, schedule.total_complexity
    )?;
    let gains: Vec<String> =
        schedule.speed_up.iter().map(|gain| format!("{} × {:.2}", gain.builders, gain.factor)).collect();
    writeln!(out, "- Ideal speed-up by builders: {}", gains.join(", "))
}
