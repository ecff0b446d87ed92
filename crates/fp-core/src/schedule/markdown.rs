//! `plan.md`: the schedule for people, and for tools that know the format of its first section.

use std::fmt::Write as _;

use super::{Cause, Delay, Schedule, Step};

/// Writes `plan.md`.
#[must_use]
pub fn markdown(schedule: &Schedule) -> String {
    let mut out = String::from("# Implementation Plan\n\n## Execution Order\n");
    for step in &schedule.order {
        write_step(&mut out, step);
    }
    let mut sections: Vec<String> = vec![String::new(); schedule.waves.len()];
    for step in &schedule.order {
        let why = step.delay.as_ref().map_or(String::new(), |delay| format!(" — {}", reason(delay)));
        writeln!(sections[step.wave - 1], "- {} {}{why}", step.id, step.title).expect(INFALLIBLE);
    }
    out.push_str("\n## Waves\n");
    for (wave, tasks) in schedule.waves.iter().zip(sections) {
        write!(out, "\n### Wave {} (complexity {})\n\n{tasks}", wave.number, wave.complexity)
            .expect(INFALLIBLE);
    }
    write_critical_path(&mut out, schedule);
    out
}

const INFALLIBLE: &str = "writing to a string can't fail";

fn write_step(out: &mut String, step: &Step) {
    let none = || "none".to_owned();
    let dependencies = if step.dependencies.is_empty() { none() } else { step.dependencies.join(", ") };
    writeln!(out, "{}. [Task {}]: {}", step.position, step.id, step.title).expect(INFALLIBLE);
    writeln!(out, "   - Dependencies: {dependencies}").expect(INFALLIBLE);
    writeln!(out, "   - Acceptance:{}", if step.acceptance.is_empty() { " none" } else { "" })
        .expect(INFALLIBLE);
    for (criterion, number) in step.acceptance.iter().zip(1..) {
        let indented = criterion.replace('\n', "\n        ");
        writeln!(out, "     {number}. {indented}").expect(INFALLIBLE);
    }
}

/// Why a task is not in an earlier wave, in a few words.
fn reason(delay: &Delay) -> String {
    let on = delay.on.join(", ");
    match (delay.cause, &delay.file) {
        (Cause::Dependency, _) => format!("after {on}"),
        (Cause::File, Some(file)) => format!("`{file}` is with {on}"),
        (Cause::File, None) => format!("a file is with {on}"),
        (Cause::Group, _) => format!("after the group of {on}"),
        (Cause::Limit, _) => "no builder is free".to_owned(),
    }
}

fn write_critical_path(out: &mut String, schedule: &Schedule) {
    let path = &schedule.critical_path;
    let waves: u64 = schedule.waves.iter().map(|wave| u64::from(wave.complexity)).sum();
    writeln!(out, "\n## Critical Path\n").expect(INFALLIBLE);
    writeln!(out, "{}\n", if path.tasks.is_empty() { "none".to_owned() } else { path.tasks.join(" → ") })
        .expect(INFALLIBLE);
    writeln!(
        out,
        "- Complexity of the path: {} of {} in all, {waves} in waves",
        path.complexity, schedule.total_complexity
    )
    .expect(INFALLIBLE);
    let gains: Vec<String> =
        schedule.speed_up.iter().map(|gain| format!("{} × {:.2}", gain.builders, gain.factor)).collect();
    writeln!(out, "- Ideal speed-up by builders: {}", gains.join(", ")).expect(INFALLIBLE);
}
