//! Specs as text: the list within 80 columns, those that apply as one page, and why.

use fp_core::specs::{Chosen, Form, Spec};
use fp_core::text::{fitted, wrapped_within};
use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;

/// Most columns of a name.
const NAME: usize = 28;
/// Most lines of a reason.
const MOST_LINES: usize = 4;

/// A line for each spec, by name.
pub(crate) fn list(specs: &[Spec]) -> String {
    let width = name_width(specs.iter());
    specs.iter().map(|spec| line(spec, width)).collect()
}

fn line(spec: &Spec, width: usize) -> String {
    let Spec { read_mode, priority, category, .. } = spec;
    let head = format!(
        "{}  {:<8}  {:<8}  {:<11}  ",
        padded(spec, width),
        read_mode.word(),
        priority.word(),
        category.word()
    );
    let room = WIDTH.saturating_sub(head.width());
    format!("{head}{}\n", fitted(&spec.title, room))
}

fn name_width<'a>(specs: impl Iterator<Item = &'a Spec>) -> usize {
    specs.map(|spec| spec.name.as_str().width().min(NAME)).max().unwrap_or(0)
}

fn padded(spec: &Spec, width: usize) -> String {
    let name = fitted(spec.name.as_str(), NAME);
    let pad = " ".repeat(width.saturating_sub(name.width()));
    name + &pad
}

/// What becomes of each spec, and why.
pub(crate) fn explained(chosen: &[Chosen<'_>]) -> String {
    let width = name_width(chosen.iter().map(|chosen| chosen.spec));
    let line = |chosen: &Chosen<'_>| {
        let (word, more) = outcome(&chosen.form);
        let head = format!("{}  {word:<5}  ", padded(chosen.spec, width));
        let room = WIDTH.saturating_sub(head.width());
        let lines = wrapped_within(&format!("{}{more}", chosen.why), room, MOST_LINES);
        format!("{head}{}\n", lines.join(&format!("\n{}", " ".repeat(head.width()))))
    };
    chosen.iter().map(line).collect()
}

fn outcome(form: &Form) -> (&'static str, String) {
    match form {
        Form::Whole { text } => ("in", format!(" ({} characters)", text.chars().count())),
        Form::Part { text, left_out } => {
            let from = left_out.first().map(|heading| format!("; without \"{heading}\" and what follows"));
            ("cut", format!(" ({} characters{})", text.chars().count(), from.unwrap_or_default()))
        }
        Form::Named => ("named", "; no room for its text, so it is to be read".to_owned()),
        Form::LeftOut => ("cut", "; no room for it".to_owned()),
        Form::Out => ("out", String::new()),
    }
}

/// The texts of the specs that apply, between what is to be read besides and what was left out. `path` names a spec.
pub(crate) fn chosen(chosen: &[Chosen<'_>], budget: usize, path: impl Fn(&Spec) -> String) -> String {
    let mut text = String::new();
    let named = chosen
        .iter()
        .filter(|chosen| chosen.form == Form::Named)
        .map(|chosen| format!("- Read {} before you begin: {}\n", path(chosen.spec), chosen.spec.title));
    section(&mut text, "Required, and too long for the budget", budget, named);
    for Chosen { form, .. } in chosen {
        if let Form::Whole { text: of } | Form::Part { text: of, .. } = form {
            text.push_str(of);
        }
    }
    let left_out = chosen.iter().filter_map(|chosen| {
        let part = match &chosen.form {
            Form::Part { left_out, .. } => format!("from \"{}\" on", left_out.first()?),
            Form::LeftOut => "all of it".to_owned(),
            _ => return None,
        };
        Some(format!("- {}: {part}\n", path(chosen.spec)))
    });
    section(&mut text, "Left out, for the budget", budget, left_out);
    text.trim_end().to_owned() + if text.is_empty() { "" } else { "\n" }
}

fn section(text: &mut String, heading: &str, budget: usize, lines: impl Iterator<Item = String>) {
    let lines: String = lines.collect();
    if !lines.is_empty() {
        text.push_str(&format!("# {heading} of {budget} characters\n\n{lines}\n"));
    }
}
