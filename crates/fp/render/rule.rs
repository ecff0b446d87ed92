//! The documentation of rules, for terminals and for tools that show Markdown.

use fp_core::diagnostic::Severity;
use fp_core::rules::Rule;
use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;

/// All rules, each with what it finds.
pub(crate) fn list(rules: &[&Rule]) -> String {
    rules.iter().map(|rule| format!("{}\n{}", title(rule), wrapped(rule.finds, "    "))).collect()
}

/// All that is said about a rule.
pub(crate) fn page(rule: &Rule) -> String {
    let mut text = format!("{}\n\n", title(rule));
    text.push_str(&wrapped(&format!("{}.", rule.finds), ""));
    text.push('\n');
    text.push_str(&wrapped(rule.why, ""));
    for (title, tree) in [("Bad", rule.bad), ("Good", rule.good)] {
        text.push_str(&format!("\n{title}:\n\n"));
        for line in tree.lines() {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        }
    }
    text.push('\n');
    text + &wrapped(&remedy(rule), "")
}

/// The name of a severity.
pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn title(rule: &Rule) -> String {
    format!("{} ({})", rule.id, severity(rule.severity))
}

fn remedy(rule: &Rule) -> String {
    match rule.fix {
        Some(fix) => format!("`fp validate --fix`: {fix}"),
        None => "`fp validate --fix` leaves it to you.".to_owned(),
    }
}

/// `text` in lines of at most [`WIDTH`] columns, each behind `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first one");
        let empty = line.len() == indent.len();
        if !empty && line.width() + 1 + word.width() > WIDTH {
            lines.push(format!("{indent}{word}"));
            continue;
        }
        line.push_str(if empty { "" } else { " " });
        line.push_str(word);
    }
    lines.join("\n") + "\n"
}
