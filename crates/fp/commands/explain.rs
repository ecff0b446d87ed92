//! `fp explain`: prints the documentation of a rule.

use fp_plan::rules::{RULES, Rule, rule};
use fp_plan::settings::closest_name;
use fp_plan::text::wrapped;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;

/// Print the documentation of a rule
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// The rule's id, as findings name it. Without one, all rules are listed.
    rule: Option<String>,
}

pub(crate) fn run(args: ExplainArgs, context: &Context) -> CommandResult {
    let Some(id) = args.rule else {
        return context.report(&json!({ "rules": RULES }), &list(RULES));
    };
    match rule(&id) {
        Some(rule) => context.report(&json!(rule), &page(rule)),
        None => Err(unknown(&id)),
    }
}

fn unknown(id: &str) -> CommandError {
    let error = CommandError::failed(format!("there is no rule {id:?}"));
    let wanted = id.trim().to_lowercase().replace(['_', ' '], "-");
    match closest_name(&wanted, RULES.iter().map(|rule| rule.id.to_owned())) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint("`fp explain` lists them all"),
    }
}

/// All rules, each with a description of its findings.
fn list(rules: &[&Rule]) -> String {
    rules
        .iter()
        .map(|rule| format!("{}\n{}", title(rule), paragraph(rule.finds, "    ")))
        .collect()
}

/// The whole documentation of a rule.
fn page(rule: &Rule) -> String {
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
    let remedy = match rule.fix {
        Some(fix) => format!("`fp validate --fix`: {fix}"),
        None => "`fp validate --fix` leaves it to you.".to_owned(),
    };
    text + &paragraph(&remedy, "")
}

fn title(rule: &Rule) -> String {
    format!("{} ({})", rule.id, rule.severity.into_str())
}

/// `text` in lines of at most [`WIDTH`] columns, each preceded by `indent`.
fn paragraph(text: &str, indent: &str) -> String {
    wrapped(text, WIDTH - indent.len())
        .iter()
        .map(|line| format!("{indent}{line}\n"))
        .collect()
}
