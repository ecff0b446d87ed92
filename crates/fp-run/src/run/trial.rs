//! Tries the plan's commands once before any work begins. If a command can't succeed, the user is asked about it before
//! builders waste attempts on it. A command that may fail only because the work isn't done yet raises no question.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::approval::is_approved;
use super::event::Event;
use super::question::{AnswerChoice, Question, Topic};
use super::state::{State, Status, TaskState};
use super::verdict::{full_lines, told_end};
use crate::regex;
use crate::verification::{CommandEnd, CommandRun, command_check};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::{Plan, Task};

/// Runners whose complaints about an argument never come from the program that the plan builds.
const RUNNERS: [&str; 16] = [
    "black", "cargo", "cmake", "dotnet", "eslint", "flake8", "go", "gradle", "jest", "mvn", "mypy",
    "phpunit", "pytest", "ruff", "unittest", "vitest",
];
/// Subcommands of these runners that start the program that the plan builds.
const FORWARDING: [&str; 3] = ["run", "xtask", "exec"];
/// Number of lines at the start of the output in which to look for a runner's complaint about its arguments.
const HEAD: usize = 3;

/// A complaint about an argument, or about a missing component of the runner.
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?ix) unexpected\ argument | unrecogni[sz]ed\ (?:argument|option|subcommand) | no\ such\ (?:option|command:)
        | unknown\ (?:option|flag|argument) | flag\ provided\ but\ not\ defined | python[\d.]*:\ no\ module\ named\ ",
    )
});

/// Commands of each task.
type TaskCommands = BTreeMap<TaskId, BTreeSet<String>>;

/// A command of the plan, and the tasks that it checks.
#[derive(Debug)]
pub struct PlannedCommand {
    pub line: String,
    pub tasks: BTreeSet<TaskId>,
    /// True if every one of these tasks uses the command as a test, and none as a check that its own work has to make
    /// pass.
    pub is_test: bool,
}

impl State {
    /// True if the run is in progress and there are untried commands: the approved ones before the first claim, or
    /// those of tasks added or changed since.
    pub fn is_trial_due(&self) -> bool {
        self.is_running() && (!self.untried.is_empty() || !self.tried && !self.has_claimed())
    }

    /// True if a task was ever claimed.
    pub fn has_claimed(&self) -> bool {
        self.tasks.iter().any(|task| task.base.is_some())
    }

    /// The commands of the pending tasks of `plan`, without duplicates; once work has begun, only those of added and
    /// changed tasks.
    pub fn commands_to_try(&self, plan: &Plan) -> Vec<PlannedCommand> {
        let begun = self.has_claimed();
        let is_due = |leaf: &Task, task: &TaskState| {
            task.status == Status::Pending
                && is_approved(leaf, &task.leaf)
                && (!begun || self.untried.contains(&task.leaf.id))
        };
        let mut commands: Vec<PlannedCommand> = Vec::new();
        for leaf in plan.leaves() {
            let id = TaskId::new(&*leaf.id).ok();
            let task = id
                .and_then(|id| self.task(&id))
                .filter(|task| is_due(leaf, task));
            let Some(id) = task.map(|task| &task.leaf.id) else {
                continue;
            };
            let tests = leaf.test_commands().map(|line| (line, true));
            for (line, is_test) in tests.chain(leaf.verify().map(|line| (line, false))) {
                match commands.iter_mut().find(|known| known.line == line) {
                    Some(known) => {
                        known.is_test &= is_test;
                        known.tasks.insert(id.clone());
                    }
                    None => commands.push(PlannedCommand {
                        line: line.to_owned(),
                        tasks: BTreeSet::from([id.clone()]),
                        is_test,
                    }),
                }
            }
        }
        commands
    }

    /// Records the `runs` of `commands`, with `notes`, and asks the user about commands that can't succeed.
    pub fn record_trial(
        &self,
        commands: &[PlannedCommand],
        runs: &[CommandRun],
        notes: Vec<String>,
    ) -> Vec<Event> {
        if !self.is_trial_due() {
            return Vec::new();
        }
        // For each program, the failures and the commands of each task.
        let mut doubted: BTreeMap<&str, (Vec<String>, TaskCommands)> = BTreeMap::new();
        for (command, run) in commands.iter().zip(runs) {
            if self.cannot_start(run) && !self.is_kept(&command.line) {
                let program = run.line.split_whitespace().next().unwrap_or_default();
                let (told, by_task) = doubted.entry(program).or_default();
                told.extend(told_end(&command_check(run), true));
                for task in &command.tasks {
                    let lines = by_task.entry(task.clone()).or_default();
                    lines.insert(command.line.clone());
                }
            }
        }
        let mut events = vec![Event::CommandsTried {
            checks: runs.iter().map(command_check).collect(),
            notes,
        }];
        let serials = self.questions.len() as u64 + 1..;
        for (serial, (told, commands)) in serials.zip(doubted.into_values()) {
            let question = Question::new(Topic::FailsBefore { commands }, serial, &told.join(" "));
            events.push(Event::Asked { question });
        }
        events
    }

    /// True if the user decided to keep the check with this command.
    fn is_kept(&self, line: &str) -> bool {
        let names = |(_, lines): &(&TaskId, &BTreeSet<String>)| lines.contains(line);
        let mut kept = self.answered_with(AnswerChoice::Keep);
        kept.any(|asked| asked.question.topic.doubted_commands().iter().any(names))
    }

    /// True if the command of `run` couldn't even start its work, for a reason that no task can fix.
    fn cannot_start(&self, run: &CommandRun) -> bool {
        let status = match run.end {
            None => return true,
            Some(CommandEnd::Exited(status)) if status != 0 => status,
            Some(_) => return false,
        };
        let head: Vec<&str> = full_lines(&run.output).take(HEAD).collect();
        let files = || self.tasks.iter().flat_map(|task| &task.leaf.files);
        let names_file = |line: &&str| files().any(|file| line.contains(file.as_str()));
        let complains = |line: &&str| {
            COMPLAINT.is_match(line) || status == 2 && line.to_lowercase().contains("usage:")
        };
        let is_broken =
            matches!(status, 126 | 127) || starts_runner(&run.line) && head.iter().any(complains);
        is_broken && !head.iter().any(names_file)
    }
}

/// True if `line` runs a known runner on the project's tests or sources.
fn starts_runner(line: &str) -> bool {
    let words = line
        .split_whitespace()
        .skip_while(|word| word.contains('='));
    let words: Vec<&str> = words.collect();
    let (runner, first) = match words[..] {
        [python, "-m", module, ..] if python.starts_with("python") => (module, "-m"),
        [runner, first, ..] => (runner, first),
        [runner] => (runner, ""),
        [] => return false,
    };
    RUNNERS.contains(&runner) && !FORWARDING.contains(&first)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_can_not_start() {
        let check = |line: &str, status: i32, output: &str, expect: bool| {
            let end = Some(CommandEnd::Exited(status));
            let (line, output) = (line.to_owned(), output.to_owned());
            let run = CommandRun {
                line,
                end,
                duration: Duration::ZERO,
                output,
                sha256: String::new(),
            };
            let state = State::new("p".parse().unwrap());
            assert_eq!(
                state.cannot_start(&run),
                expect,
                "{} {}",
                run.line,
                run.output
            );
        };
        check("pytest", 127, "sh: 1: pytest: not found", true);
        check("./check", 126, "sh: 1: ./check: Permission denied", true);
        check(
            "cargo test a, b",
            1,
            "error: unexpected argument 'b' found\n\nUsage: cargo test",
            true,
        );
        check(
            "RUST_LOG=x cargo nextest run",
            101,
            "error: no such command: `nextest`",
            true,
        );
        check(
            "python3 -m pytest -q --slow",
            4,
            "ERROR: usage: __main__.py [options]\n__main__.py: error: unrecognized arguments: --slow",
            true,
        );
        check(
            "python3 -m pytest",
            1,
            "/usr/bin/python3: No module named pytest",
            true,
        );
        check("mypy", 2, "usage: mypy [-h]\n", true);
        check("mypy src", 1, "usage: mypy [-h]\n", false);
        check(
            "python3 -m shop --json",
            2,
            "usage: shop [-h]\nshop: error: unrecognized arguments: --json",
            false,
        );
        check(
            "cargo run -- --json",
            2,
            "error: unexpected argument '--json' found",
            false,
        );
        check(
            "cargo test",
            101,
            "running 1 test\na\nb\nerror: unexpected argument '--json' found",
            false,
        );
        check("cargo test", 0, "error: unexpected argument", false);
    }
}
