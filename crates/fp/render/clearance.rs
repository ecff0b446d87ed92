//! Whether an interview is enough, as text that fits 80 columns.

use fp_core::interview::Clearance;
use fp_core::plan::id::PlanId;
use fp_core::text::wrapped_within;

use super::WIDTH;

/// Columns in front of what is missing.
const MARGIN: usize = 26;
/// Most lines for what one item misses.
const LINES: usize = 10;

/// The whole report; `next` is what brings planning on.
pub(crate) fn text(plan: &PlanId, clearance: &Clearance, next: &str) -> String {
    let mut text = format!("Interview of {plan}: {}\n\n", clearance.in_words());
    for item in &clearance.items {
        let head = format!("  {:<11}  {}", item.name, item.state.word());
        let missing = wrapped_within(item.missing.as_deref().unwrap_or_default(), WIDTH - MARGIN, LINES);
        let mut lines = missing.iter();
        match lines.next() {
            Some(first) => text.push_str(&format!("{head:<MARGIN$}{first}\n")),
            None => text.push_str(&format!("{head}\n")),
        }
        lines.for_each(|line| text.push_str(&format!("{:MARGIN$}{line}\n", "")));
    }
    text.push_str(&format!("\n  {:<11}  {}\n\n", "rounds", clearance.rounds_in_words()));
    if clearance.is_left_open() {
        let names: Vec<&str> = clearance.open().map(|item| item.name).collect();
        let told = format!("Nobody is asked any more, and this is left open: {}", names.join(", "));
        wrapped_within(&told, WIDTH, LINES).iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text + &format!("next: {next}\n")
}
