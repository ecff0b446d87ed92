//! The schedule as text that fits 80 columns.

use std::fmt::Write as _;

use fp_core::schedule::{Schedule, ScheduleStep};
use fp_core::text::{counted, fitted};
use unicode_width::UnicodeWidthStr as _;

const INFALLIBLE: &str = "writing to a string can't fail";
const WIDTH: usize = 80;
/// Columns of an id, at most.
const ID: usize = 20;
/// Columns of what delays a task, at most.
const WHY: usize = 30;

/// The whole schedule.
pub(crate) fn text(schedule: &Schedule<'_>) -> String {
    let mut text = format!(
        "{} in {}, at most {} at once\n",
        counted(schedule.order.len(), "task"),
        counted(schedule.waves.len(), "wave"),
        schedule.max_parallel_tasks
    );
    let widest = |widths: &mut dyn Iterator<Item = usize>, most: usize| widths.max().unwrap_or(0).min(most);
    let mut why = String::new();
    let whys = schedule.order.iter().map(|step| write_why(&mut why, step).width());
    let columns = Columns {
        position: schedule.order.len().to_string().len(),
        wave: schedule.waves.len().to_string().len(),
        why: widest(&mut { whys }, WHY),
        id: widest(&mut schedule.order.iter().map(|step| step.id.width()), ID),
        title: widest(&mut schedule.order.iter().map(|step| step.title.width() + 5), WIDTH),
    };
    for step in &schedule.order {
        columns.write_row(&mut text, step, write_why(&mut why, step));
    }
    let path = &schedule.critical_path;
    let way = if path.tasks.is_empty() { "none".to_owned() } else { path.tasks.join(" → ") };
    let label = format!("\nCritical path, {} of {} complexity: ", path.complexity, schedule.total_complexity);
    text.push_str(&wrapped(&label, &way));
    let factors = schedule.speed_up.iter().map(|gain| format!("{:.1}x with {}", gain.factor, gain.builders));
    text.push_str(&format!("Ideal speed-up: {} builders\n", factors.collect::<Vec<_>>().join(", ")));
    text
}

struct Columns {
    position: usize,
    wave: usize,
    id: usize,
    title: usize,
    why: usize,
}

impl Columns {
    fn write_row(&self, out: &mut String, step: &ScheduleStep<'_>, why: &str) {
        let start = out.len();
        write!(
            out,
            "{:>position$}. wave {:<wave$}  ",
            step.position,
            step.wave,
            position = self.position,
            wave = self.wave
        )
        .expect(INFALLIBLE);
        let used = out.len() - start + self.id + 2;
        write_padded(out, &fitted(step.id, self.id), self.id);
        out.push_str("  ");
        let complexity = format!(" ({})", step.complexity);
        let room = WIDTH.saturating_sub(used + self.why + 2).min(self.title);
        let title = fitted(step.title, room.saturating_sub(complexity.len()).max(8));
        write_padded(out, &fitted(&(title + &complexity), room), room);
        out.push_str("  ");
        out.push_str(&fitted(why, self.why));
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

/// What delays a task, in the place of what `out` had.
fn write_why<'o>(out: &'o mut String, step: &ScheduleStep<'_>) -> &'o str {
    out.clear();
    if let Some(delay) = &step.delay {
        write!(out, "{delay}").expect(INFALLIBLE);
    }
    out
}

/// `text`, and blanks up to `width` columns.
fn write_padded(out: &mut String, text: &str, width: usize) {
    out.push_str(text);
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(text.width())));
}

/// `text` behind `label`, on lines of at most 80 columns where its words allow.
fn wrapped(label: &str, text: &str) -> String {
    let mut out = label.to_owned();
    let mut column = label.width();
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 && column + 1 + word.width() > WIDTH {
            out.push_str("\n  ");
            column = 2;
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.width();
    }
    out + "\n"
}
