//! `fp explain`.

use fp_core::rules::{RULES, Rule, rule};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render::rule::{list, page, severity};

/// Print the documentation of a rule
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the rule, as findings name it; all of them, with what they find, where left out.
    rule: Option<String>,
}

/// How like a rule's id, from 0 to 1, a name has to be for it to be what was meant.
const LIKE: f64 = 0.8;

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let Some(id) = args.rule else {
        let rules: Vec<Value> = RULES.iter().copied().map(data).collect();
        return context.report(&json!({ "rules": rules }), &list(RULES));
    };
    match rule(&id) {
        Some(rule) => context.report(&data(rule), &page(rule)),
        None => Err(unknown(&id)),
    }
}

fn unknown(id: &str) -> CommandError {
    let error = CommandError::failed(format!("there is no rule {id:?}"));
    let wanted = id.trim().to_lowercase().replace(['_', ' '], "-");
    let likeness = |rule: &Rule| strsim::jaro_winkler(&wanted, rule.id);
    let best = RULES.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match best.filter(|rule| likeness(rule) > LIKE) {
        Some(meant) => error.hint(format!("did you mean `{}`?", meant.id)),
        None => error.hint("`fp explain` lists them all"),
    }
}

fn data(rule: &Rule) -> Value {
    json!({
        "id": rule.id, "severity": severity(rule.severity), "finds": rule.finds, "why": rule.why,
        "fix": rule.fix, "bad": rule.bad, "good": rule.good,
    })
}
