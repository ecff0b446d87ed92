//! Debts as text, within 80 columns.

use fp_core::debt::{Debt, Standing};
use fp_core::text::{one_line, wrapped_within};

use super::WIDTH;

/// Most lines of one debt's text.
const MOST_LINES: usize = 4;
/// Columns before the text.
const INDENT: usize = 2;

/// What `fp debt list` prints: each with its name on a line of its own, then what is to be done, and where.
pub(crate) fn list(debts: &[&Debt], closed: usize) -> String {
    let mut text: String = debts.iter().map(|debt| listed(debt)).collect();
    if debts.is_empty() {
        text += "Nothing is left to be done\n";
    }
    if closed > 0 {
        text += &format!("({closed} done or dropped: fp debt list --all)\n");
    }
    text
}

fn listed(debt: &Debt) -> String {
    let what = match debt.standing {
        Standing::Open => String::new(),
        _ => format!("  ({})", word(debt)),
    };
    format!("{}{what}\n{}", debt.id, told(debt))
}

/// What is to be done, and in which files.
fn told(debt: &Debt) -> String {
    let files = debt.files.iter().map(|file| one_line(file)).collect::<Vec<_>>().join(", ");
    let room = WIDTH - INDENT;
    let lines =
        wrapped_within(&debt.text, room, MOST_LINES).into_iter().chain(wrapped_within(&files, room, 1));
    lines.map(|line| format!("{:INDENT$}{line}\n", "")).collect()
}

/// What has become of it.
pub(crate) fn word(debt: &Debt) -> String {
    match &debt.standing {
        Standing::Open => "open".into(),
        Standing::Taken { by } => format!("taken up by {by}"),
        Standing::Done { by: Some(by) } => format!("done by {by}"),
        Standing::Done { by: None } => "done".into(),
        Standing::Dropped => "dropped".into(),
    }
}

/// What is offered to somebody who makes the plan `plan`; nothing where nothing is open.
pub(crate) fn offer(debts: &[&Debt], more: usize, plan: &str) -> String {
    if debts.is_empty() {
        return String::new();
    }
    let mut text = "\nLeft over from before (ask which of it belongs to this goal):\n".to_owned();
    for debt in debts {
        let lines = wrapped_within(&format!("{}: {}", debt.id, debt.text), WIDTH - INDENT, 2);
        text.extend(lines.iter().map(|line| format!("{:INDENT$}{line}\n", "")));
    }
    if more > 0 {
        text += &format!("  ({more} more: fp debt list)\n");
    }
    text + &format!("  taken up by this plan: fp debt close ID --plan {plan}\n")
}
