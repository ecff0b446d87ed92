//! `fp explain`.

use fp_core::diagnostic::Severity;
use fp_core::rules::{RULES, Rule, rule};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Print the documentation of a rule
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the rule, as findings name it; all of them, a line each, where left out.
    rule: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    match args.rule {
        None => {
            let rules: Vec<Value> = RULES.iter().copied().map(data).collect();
            context.report(&json!({ "rules": rules }), &list())
        }
        Some(id) => {
            let found = rule(&id).ok_or_else(|| {
                CommandError::failed(format!("there is no rule {id:?}")).hint("`fp explain` lists them all")
            })?;
            context.report(&data(found), &page(found))
        }
    }
}

fn word(rule: &Rule) -> &'static str {
    match rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn data(rule: &Rule) -> Value {
    json!({
        "id": rule.id, "severity": rule.severity, "finds": rule.finds, "why": rule.why, "fix": rule.fix,
        "bad": rule.bad, "good": rule.good,
    })
}

fn list() -> String {
    RULES.iter().map(|rule| format!("{} ({})\n    {}\n", rule.id, word(rule), rule.finds)).collect()
}

fn page(rule: &Rule) -> String {
    let mut text = format!("{} ({})\n\n{}.\n\n{}\n", rule.id, word(rule), rule.finds, rule.why);
    for (title, tree) in [("Bad", rule.bad), ("Good", rule.good)] {
        text.push_str(&format!("\n{title}:\n\n"));
        for line in tree.lines() {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        }
    }
    match rule.fix {
        Some(fix) => text.push_str(&format!("\n`fp validate --fix`: {fix}\n")),
        None => text.push_str("\n`fp validate --fix` leaves it to you.\n"),
    }
    text
}
