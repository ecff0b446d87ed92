//! The schedule as text that fits 80 columns.

use fp_core::schedule::{Schedule, Step};
use unicode_width::UnicodeWidthStr as _;

use super::status::fit;

const WIDTH: usize = 80;
/// Columns of an id, at most.
const ID: usize = 20;
/// Columns of what delays a task, at most.
const WHY: usize = 30;

/// The whole schedule.
pub(crate) fn text(schedule: &Schedule) -> String {
    let mut text = format!(
        "{} in {}, at most {} at once\n",
        count(schedule.order.len(), "task"),
        count(schedule.waves.len(), "wave"),
        schedule.max_parallel_tasks
    );
    let whys: Vec<String> = schedule.order.iter().map(why).collect();
    let widest = |widths: &mut dyn Iterator<Item = usize>, most: usize| widths.max().unwrap_or(0).min(most);
    let columns = Columns {
        position: schedule.order.len().to_string().len(),
        wave: schedule.waves.len().to_string().len(),
        id: widest(&mut schedule.order.iter().map(|step| step.id.width()), ID),
        title: widest(&mut schedule.order.iter().map(|step| step.title.width() + 5), WIDTH),
        why: widest(&mut whys.iter().map(|why| why.width()), WHY),
    };
    for (step, why) in schedule.order.iter().zip(&whys) {
        text.push_str(&columns.row(step, why));
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
    fn row(&self, step: &Step, why: &str) -> String {
        let id = padded(&step.id, self.id);
        let head = format!(
            "{:>position$}. wave {:<wave$}  {id}  ",
            step.position,
            step.wave,
            position = self.position,
            wave = self.wave
        );
        let complexity = format!(" ({})", step.complexity);
        let room = WIDTH.saturating_sub(head.width() + self.why + 2).min(self.title);
        let title = fit(&step.title, room.saturating_sub(complexity.len()).max(8)) + &complexity;
        let row = format!("{head}{}  {}", padded(&title, room), fit(why, self.why));
        format!("{}\n", row.trim_end())
    }
}

fn why(step: &Step) -> String {
    step.delay.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// `text` cut or filled to `width` columns.
fn padded(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let missing = width.saturating_sub(text.width());
    text + &" ".repeat(missing)
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

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
