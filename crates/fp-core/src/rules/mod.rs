//! The rules of a task tree: one file per rule, with its id, its documentation and its check. Everything is
//! found in one go and reported in the order of the source.

mod catalogue;
mod edit;
mod facts;
pub mod fix;
mod scope;

mod ancestor_dependency;
mod circular_acceptance;
mod dependency_cycle;
mod duplicate_field;
mod duplicate_id;
mod empty_tree;
mod file_conflict;
mod hint_count;
mod malformed_id;
mod missing_acceptance;
mod missing_complexity;
mod missing_file;
mod missing_file_boundary;
mod missing_files;
mod missing_guardrails;
mod missing_hints;
mod missing_test_command;
mod missing_tests_required;
mod over_complexity;
mod parent_fields;
mod path_escape;
mod scope_leak;
mod self_dependency;
mod stale_reference;
mod subtask_count;
mod syntax;
mod uncovered_requirement;
mod unknown_dependency;
mod unknown_field;
mod vague_acceptance;

use std::ops::Range;
use std::thread;

pub use catalogue::RULES;
pub use facts::{Facts, Mentioned, PathFact, Requirement, mentioned};
pub use vague_acceptance::vague_phrase;

use self::scope::{Scope, Sink};
use crate::diagnostic::{Diagnostic, Severity};
use crate::plan::task::{Plan, Task, TaskIndex};

/// A rule and what `fp explain` says of it.
#[derive(Debug)]
pub struct Rule {
    /// Its id, such as `duplicate-id`.
    pub id: &'static str,
    /// How much its findings weigh.
    pub severity: Severity,
    /// What it finds, in one line.
    pub finds: &'static str,
    /// Why that is a problem.
    pub why: &'static str,
    /// What `--fix` does about it; `None` where judgement is needed.
    pub fix: Option<&'static str>,
    /// A tree with one finding.
    pub bad: &'static str,
    /// The same tree without it.
    pub good: &'static str,
    check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
enum Check {
    /// The parser reports it.
    Parser,
    /// Every leaf that is a task, and not only a line that starts like one.
    Leaf(fn(&Scope<'_>, &Task, &mut Sink<'_>)),
    /// Every task.
    Task(fn(&Scope<'_>, TaskIndex, &mut Sink<'_>)),
    /// The tree as a whole.
    Tree(fn(&Scope<'_>, &mut Sink<'_>)),
}

/// Up to so many tasks are checked without a second thread.
const ALONE: usize = 500;

/// The rule with this id.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// Checks `plan` against every rule. `parsed` is what the parser reported, `facts` what only the outside
/// knows. The result is in the order of the source and includes `parsed`.
#[must_use]
pub fn check(plan: &Plan, parsed: &[Diagnostic], facts: &Facts) -> Vec<Diagnostic> {
    let scope = Scope::new(plan, parsed, facts);
    let mut found = parsed.to_vec();
    let tasks = 0..plan.tasks.len();
    let half = tasks.end / 2;
    thread::scope(|threads| {
        let second = (tasks.end > ALONE).then(|| {
            thread::Builder::new().spawn_scoped(threads, || check_tasks(&scope, half..tasks.end)).ok()
        });
        match second.flatten() {
            None => found.extend(check_tasks(&scope, tasks.clone())),
            Some(second) => {
                found.extend(check_tasks(&scope, 0..half));
                match second.join() {
                    Ok(others) => found.extend(others),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        }
    });
    for rule in RULES {
        if let Check::Tree(check) = rule.check {
            check(&scope, &mut Sink::new(rule, &scope, &mut found));
        }
    }
    found.sort_by_key(|diagnostic| diagnostic.span);
    found
}

fn check_tasks(scope: &Scope<'_>, tasks: Range<usize>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for index in tasks {
        let task = scope.task(index);
        let leaf = task.is_leaf() && !task.broken;
        for rule in RULES {
            let mut sink = Sink::new(rule, scope, &mut found);
            match rule.check {
                Check::Leaf(check) if leaf => check(scope, task, &mut sink),
                Check::Task(check) => check(scope, index, &mut sink),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
