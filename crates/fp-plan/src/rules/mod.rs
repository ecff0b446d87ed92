//! Holds the rules for a task tree, one per file, each with its id, documentation and check. One pass finds everything
//! and reports it in source order, so that a plan can be corrected in one go.

mod context;
pub mod fix;

mod ancestor_dependency;
pub mod boilerplate;
mod dependency_cycle;
mod duplicate_id;
mod empty_tree;
mod file_conflict;
mod foreign_name;
mod fragmentation;
mod hidden_character;
mod hint_count;
mod malformed_id;
mod missing_acceptance;
mod missing_complexity;
mod missing_file;
mod missing_files;
mod missing_hints;
mod missing_setup;
mod missing_test_command;
mod missing_tests_required;
mod over_complexity;
mod parent_fields;
mod path_escape;
mod several_commands;
mod stale_reference;
mod syntax;
mod uncovered_requirement;
mod unknown_dependency;
mod unknown_field;
mod unknown_program;
mod vague_acceptance;

pub use context::{ConfirmedRequirement, PathFact, RuleFacts, mentioned_paths, mentioned_programs};
pub use vague_acceptance::vague_phrase;

use serde::Serialize;

use self::prelude::*;
use crate::diagnostic::Diagnostic;
use crate::plan::task::Plan;

/// The imports of every rule's file.
mod prelude {
    pub(super) use super::context::{FindingSink, PathFact, RuleContext};
    pub(super) use super::{Check, Rule};
    pub(super) use crate::diagnostic::{Severity, Span, TextFix};
    pub(super) use crate::plan::field::FieldKind;
    pub(super) use crate::plan::task::{Task, TaskIndex};
}

/// A rule, with its documentation for `fp validate --explain`.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// Such as `duplicate-id`.
    pub id: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The problem that the rule finds, in one line.
    pub finds: &'static str,
    /// The reason why it is a problem.
    pub why: &'static str,
    /// The effect of `--fix`; `None` if fixing needs judgement.
    pub fix: Option<&'static str>,
    /// A tree with one finding.
    pub bad: &'static str,
    /// The same tree without the finding.
    pub good: &'static str,
    #[serde(skip)]
    check: Check,
}

/// The scope of a rule's check.
#[derive(Debug, Clone, Copy)]
enum Check {
    /// Nothing: the parser reports the findings.
    Parser,
    /// Every leaf that is still to be built, except for lines that only start like a task.
    Leaf(fn(&RuleContext<'_>, &Task, &mut FindingSink<'_>)),
    /// Every leaf, including those that were done before the plan was made.
    AnyLeaf(fn(&RuleContext<'_>, &Task, &mut FindingSink<'_>)),
    /// Every task.
    Task(fn(&RuleContext<'_>, TaskIndex, &mut FindingSink<'_>)),
    /// The tree as a whole.
    Tree(fn(&RuleContext<'_>, &mut FindingSink<'_>)),
}

/// All rules, in listing order.
pub static RULES: &[&Rule] = &[
    &over_complexity::RULE,
    &missing_complexity::RULE,
    &missing_acceptance::RULE,
    &missing_files::RULE,
    &missing_tests_required::RULE,
    &missing_hints::RULE,
    &duplicate_id::RULE,
    &malformed_id::RULE,
    &unknown_dependency::RULE,
    &dependency_cycle::RULE,
    &ancestor_dependency::RULE,
    &empty_tree::RULE,
    &syntax::RULE,
    &path_escape::RULE,
    &file_conflict::RULE,
    &missing_file::RULE,
    &stale_reference::RULE,
    &vague_acceptance::RULE,
    &several_commands::RULE,
    &hidden_character::RULE,
    &unknown_program::RULE,
    &missing_test_command::RULE,
    &missing_setup::RULE,
    &boilerplate::RULE,
    &fragmentation::RULE,
    &foreign_name::RULE,
    &hint_count::RULE,
    &uncovered_requirement::RULE,
    &unknown_field::RULE,
    &parent_fields::RULE,
];

pub fn find_rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// Checks `plan` against every rule. `parsed` holds the parser's findings, `facts` the facts about the outside world.
/// The result includes `parsed` and is in source order.
pub fn check_plan(plan: &Plan, parsed: &[Diagnostic], facts: &RuleFacts) -> Vec<Diagnostic> {
    let context = RuleContext::new(plan, parsed, facts);
    let mut found = parsed.to_vec();
    let leaves: Vec<&Task> = plan.leaves().filter(|leaf| !leaf.broken).collect();
    let is_done = |leaf: &Task| {
        facts
            .done
            .get(&*leaf.id)
            .is_some_and(|title| *title == leaf.description)
    };
    let to_build: Vec<&Task> = leaves
        .iter()
        .copied()
        .filter(|leaf| !is_done(leaf))
        .collect();
    for rule in RULES {
        let mut sink = FindingSink::new(rule, &context, &mut found);
        match rule.check {
            Check::Parser => {}
            Check::Leaf(check) => to_build
                .iter()
                .for_each(|leaf| check(&context, leaf, &mut sink)),
            Check::AnyLeaf(check) => leaves
                .iter()
                .for_each(|leaf| check(&context, leaf, &mut sink)),
            Check::Task(check) => {
                (0..plan.tasks.len()).for_each(|index| check(&context, index, &mut sink))
            }
            Check::Tree(check) => check(&context, &mut sink),
        }
    }
    found.sort_by_key(|diagnostic| diagnostic.span);
    found
}

#[cfg(test)]
mod tests;
