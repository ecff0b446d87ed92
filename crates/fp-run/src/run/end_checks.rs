//! The checks at the end of a run: the interview's own test command, and what the project's CI runs. They are approved
//! with the plan, and run once no task is left.

use super::decide::RunDecision;
use super::event::Event;
use super::question::{AnswerChoice, Topic};
use super::state::{Asked, State, Status};
use super::verdict::told_end;
use crate::verification::Check;
use fp_plan::plan::{Plan, Task};
use fp_plan::text::is_hidden;

/// The heading in `context.md` or `research.md` above the CI's commands, one per list item.
const HEADING: &str = "## CI Checks";
/// Maximum number of commands, and maximum length of one in bytes.
const MOST: usize = 20;
const LONGEST: usize = 300;

/// The commands in backticks in the interview's test strategy, then the CI's commands listed in `pages`. Omits commands
/// that every task of `tree` runs anyway.
pub fn end_commands(tree: &Plan, strategy: &str, pages: [&str; 2]) -> Vec<String> {
    let of_ci = pages.into_iter().flat_map(|page| {
        let below = page
            .lines()
            .skip_while(|line| line.trim_end() != HEADING)
            .skip(1);
        let items = below.take_while(|line| !line.starts_with('#'));
        let items = items.filter_map(|line| line.trim_start().strip_prefix("- "));
        items.map(|item| code_spans(item).next().unwrap_or(item).trim())
    });
    // A single word in a strategy is the name of a file or test rather than a command.
    let own = code_spans(strategy)
        .map(str::trim)
        .filter(|span| span.contains(' '));
    let by_each = |command: &str| {
        let runs = |leaf: &Task| {
            leaf.test_commands()
                .chain(leaf.verify())
                .any(|line| line == command)
        };
        tree.leaves().all(runs)
    };
    let is_fit = |command: &&str| {
        !command.is_empty() && command.len() <= LONGEST && !command.contains(is_hidden)
    };
    let mut found: Vec<String> = Vec::new();
    for command in own.chain(of_ci).filter(is_fit) {
        let is_known = found.iter().any(|known| known == command);
        if found.len() < MOST && !is_known && !by_each(command) {
            found.push(command.to_owned());
        }
    }
    found
}

fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

impl State {
    /// The commands that are due because no task is left; empty while anything else is due.
    pub fn end_commands_due(&self) -> &[String] {
        let is_over = self.tasks.iter().all(|task| task.status.is_final())
            && self.count_in(Status::Completed) > 0
            && self.open_questions().next().is_none();
        match &self.approval {
            Some(approval) if self.is_running() && is_over && self.end_checks.is_none() => {
                &approval.end_commands
            }
            _ => &[],
        }
    }

    /// Records the results of the commands that were due, and asks about a failure.
    pub fn check_at_end(&self, checks: Vec<Check>) -> RunDecision {
        if self.end_commands_due().is_empty() {
            return Ok(Vec::new());
        }
        let failed = checks.iter().filter(|check| check.fails());
        let told: Vec<String> = failed
            .map(|check| told_end(check, false).unwrap_or_else(|| check.name.clone()))
            .collect();
        let mut events = vec![Event::CheckedAtEnd { checks }];
        if !told.is_empty() {
            events.push(self.ask_about(Topic::EndChecks, told.join(" ").trim_end_matches('.')));
        }
        Ok(events)
    }

    /// True if the user wants another task because of a failed check, and there is none yet.
    pub(super) fn wants_task(&self) -> bool {
        let is_wanted = |asked: &Asked| asked.answer == [AnswerChoice::AddTask.into_str()];
        let last = self.asked_about(&Topic::EndChecks).next_back();
        self.end_checks.iter().flatten().any(Check::fails) && last.is_some_and(is_wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_plan::plan::parse;

    #[test]
    fn commands_of_the_interview_and_of_the_ci() {
        let check = |strategy: &str, context: &str, expect: &[&str]| {
            let (tree, _) = parse("- [ID: 1] One\n  - Test Commands: cargo test --doc\n");
            assert_eq!(
                end_commands(&tree, strategy, [context, ""]),
                expect,
                "{strategy:?} {context:?}"
            );
        };
        check("", "", &[]);
        check(
            "all of `tests/a.py` passes: `python3 -m unittest`",
            "",
            &["python3 -m unittest"],
        );
        check("all tests pass", "## Build\n- `make`\n", &[]);
        let context = "# C\n\n## CI Checks\n\n- `black --check .`, not installed\n- flake8\n- `flake8`\n\n## More\n- `rm -r x`\n";
        check("", context, &["black --check .", "flake8"]);
        check("`black --check .`", context, &["black --check .", "flake8"]);
        check("`cargo test --doc`", "", &[]);
        check(
            "`a\u{1b} b`",
            &format!("## CI Checks\n- {}\n- `unclosed\n", "x".repeat(400)),
            &["unclosed"],
        );
    }
}
