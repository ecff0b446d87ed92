//! The documentation of rules, for terminals and for tools that show Markdown.

use fp_core::diagnostic::Severity;
use fp_core::rules::Rule;
use fp_core::text::wrapped;

use super::WIDTH;

/// All rules, each with what it finds.
pub(crate) fn list(rules: &[&Rule]) -> String {
    rules.iter().map(|rule| format!("{}\n{}", title(rule), paragraph(rule.finds, "    "))).collect()
}

/// All that is said about a rule.
pub(crate) fn page(rule: &Rule) -> String {
    let mut text = format!("{}\n\n", title(rule));
    text.push_str(&paragraph(&format!("{}.", rule.finds), ""));
    text.push('\n');
    text.push_str(&paragraph(rule.why, ""));
    for (title, tree) in [("Bad", rule.bad), ("Good", rule.good)] {
        text.push_str(&format!("\n{title}:\n\n"));
        for line in tree.lines() {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        }
    }
    text.push('\n');
    text + &paragraph(&remedy(rule), "")
}

/// The same as Markdown.
pub(crate) fn markdown(rule: &Rule) -> String {
    format!(
        "{}.\n\n{}\n\nBad:\n\n```markdown\n{}\n```\n\nGood:\n\n```markdown\n{}\n```\n\n{}\n",
        rule.finds,
        rule.why,
        rule.bad,
        rule.good,
        remedy(rule)
    )
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
fn paragraph(text: &str, indent: &str) -> String {
    wrapped(text, WIDTH - indent.len()).iter().map(|line| format!("{indent}{line}\n")).collect()
}
