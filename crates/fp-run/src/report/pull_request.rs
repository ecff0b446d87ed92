//! The text of a pull request and of `fp report`, for a reviewer who has ten minutes: what was asked and built, what to look at first, and
//! how it was verified. All texts come from models or strangers: none is read as markup, names nobody, and closes
//! nothing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::run_page::{AttemptEnd, RunPage, RunTask};
use super::{reason_lines, took};
use crate::regex;
use crate::run::State;
use crate::run::event::Decider;
use crate::run::payload::short;
use crate::run::state::{Status, TaskState};
use crate::test_files::is_test_file;
use crate::verification::CheckVerdict;
use crate::verification::change::ChangeStatus;
use fp_plan::markdown::{code, inline};
use fp_plan::text::{clipped, counted, fitted, one_line};

/// Maximum length of a body, in characters; hosts take 65,536.
const BODY_CAP: usize = 60_000;
/// Maximum width of a title, in columns.
const TITLE_COLUMNS: usize = 72;
/// Maximum length of a text in a list or a table, in characters.
const CELL: usize = 160;
/// Maximum number of lines of the goal.
const GOAL_LINES: usize = 12;
/// Maximum number of lines of a section that isn't a table of tasks.
const SHOWN: usize = 30;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestText {
    pub title: String,
    pub body: String,
}

/// The pull request for the plan of `run`, whose state is `state`. `closes` is the number of the issue that it closes.
pub fn pull_request(run: &RunPage<'_>, state: &State, closes: Option<u64>) -> PullRequestText {
    let goal = run.goal.lines().find(|line| !line.trim().is_empty());
    let title = fitted(
        &one_line(goal.unwrap_or(run.plan_id.as_str())),
        TITLE_COLUMNS,
    );
    let mut page = String::new();
    add_goal(&mut page, &run.goal);
    page += &format!("\n**{}**", run.counts.in_words());
    page += match state.whole_verdict.as_ref().map(|verdict| verdict.pass) {
        Some(true) => ". A verifier passed the result as a whole.",
        Some(false) => ". **A verifier did not pass the result as a whole.**",
        None => ".",
    };
    if state.whole_verdict.is_some() && run.revisions > 0 {
        // The whole is judged once.
        let added = counted(run.revisions, "task");
        page +=
            &format!(" After the start, {added} were added or changed; that verdict may be older.");
    }
    page += &closes.map_or_else(String::new, |issue| format!(" Closes #{issue}."));
    page.push('\n');
    let first = look_first(run, state);
    if first.is_empty() && run.started_at.is_some() {
        page += "\n## Look at first\n\nNothing stands out: no file beyond the plan, no changed test, no second attempt.\n";
    }
    add_items(&mut page, "Look at first", &first);
    let left = left_out(run);
    add_items(&mut page, "Not done", &left);
    let decided = run.interview_decisions.iter();
    let decided: Vec<String> = decided.map(|line| plain(line, 2 * CELL)).collect();
    add_items(&mut page, "Decisions", &decided);
    add_requirements(&mut page, run);
    add_items(&mut page, "How it was verified", &verified(run, state));
    add_tasks(&mut page, run);
    add_items(&mut page, "Cost and time", &cost_and_time(run));
    if page.chars().count() > BODY_CAP {
        page = clipped(&page, BODY_CAP - 100);
        page += &format!("\n\n`fp report {}` has the rest.\n", run.plan_id);
    }
    PullRequestText { title, body: page }
}

/// The state and times of the run and the commands that go on with it, as a list.
pub fn facts_of(run: &RunPage<'_>) -> String {
    let mut facts = vec![format!("State: {}", run.standing.into_str())];
    let go_on = run.go_on.iter();
    facts.extend(go_on.map(|step| format!("{}: {}", step.why, code(&step.command))));
    let end = match run.phase.is_over() {
        true => "Ended",
        false => "Last event",
    };
    for (what, at) in [("Started", run.started_at), (end, run.ended_at)] {
        facts.extend(at.map(|at| format!("{what}: {at:.0}")));
    }
    if run.revisions > 0 {
        facts.push(format!("Tasks revised after the start: {}", run.revisions));
    }
    facts.iter().map(|fact| format!("- {fact}\n")).collect()
}

fn add_goal(page: &mut String, goal: &str) {
    let lines: Vec<&str> = goal.trim().lines().collect();
    for line in lines.iter().take(GOAL_LINES) {
        *page += &format!("> {}\n", plain(line, 4 * CELL));
    }
    if lines.len() > GOAL_LINES {
        *page += &format!("> … ({} more)\n", counted(lines.len() - GOAL_LINES, "line"));
    }
}

/// Points that a reviewer can't expect from the plan alone.
fn look_first(run: &RunPage<'_>, state: &State) -> Vec<String> {
    let mut items = Vec::new();
    for task in &state.tasks {
        let id = &task.leaf.id;
        items.extend(task.granted.iter().map(|granted| {
            let (path, reason) = (
                code(&granted.path.to_string()),
                plain(&granted.reason, CELL),
            );
            format!("{path} is not in the plan; task {id} got it: {reason}")
        }));
        let tests = changed_tests(task);
        if !tests.is_empty() {
            items.push(format!(
                "Task {id} changed tests that were there: {}",
                tests.join(", ")
            ));
        }
        if let Some(note) = task.note.as_ref().filter(|_| task.commit.is_some()) {
            items.push(format!("Task {id}: {}", plain(note, CELL)));
        }
    }
    for task in run.tasks.iter().filter(|task| task.tries.len() > 1) {
        let ended = task.tries.iter().rev().skip(1);
        let why = ended
            .filter_map(|one| match &one.attempt.end {
                Some(AttemptEnd::Failed(why) | AttemptEnd::Released(why)) => Some(why),
                Some(AttemptEnd::Passed) | None => None,
            })
            .next();
        let why = why.and_then(|why| reason_lines(why).first().copied());
        items.push(format!(
            "Task {} took {} attempts{}",
            task.line.id,
            task.tries.len(),
            why.map_or_else(String::new, |why| format!(": {}", plain(why, CELL)))
        ));
    }
    for asked in run
        .decisions
        .iter()
        .filter(|asked| !asked.answer.is_empty())
    {
        let by = match asked.by {
            Decider::Auto => "a rule",
            Decider::User => "the user",
        };
        items.push(format!(
            "{} {} answered: {}",
            plain(&asked.question, CELL),
            by,
            plain(&asked.answer.join(", "), CELL)
        ));
    }
    items.extend(run.notes.iter().map(|note| plain(note, CELL)));
    items
}

/// The tests of `task` that were there before it changed them.
fn changed_tests(task: &TaskState) -> Vec<String> {
    let changes = task.measured_changes().iter();
    let changed =
        changes.filter(|change| change.status != ChangeStatus::Added && is_test_file(&change.path));
    changed
        .map(|change| code(&change.path.to_string()))
        .collect()
}

fn left_out(run: &RunPage<'_>) -> Vec<String> {
    let open = |task: &&RunTask| task.line.status != Status::Completed;
    let line = |task: &RunTask| {
        // A failure ends with what the command printed last.
        let why = task.line.detail.as_deref().map(reason_lines);
        let why = why.map_or_else(String::new, |why| {
            format!(": {}", plain(&why.join("; "), 2 * CELL))
        });
        format!(
            "{} {}: {}{why}",
            task.line.id,
            plain(&task.line.title, CELL),
            task.line.state_word()
        )
    };
    run.tasks.iter().filter(open).map(line).collect()
}

fn add_requirements(page: &mut String, run: &RunPage<'_>) {
    if run.requirements.is_empty() {
        return;
    }
    *page +=
        "\n## Requirements\n\n| | Requirement | Tasks | Shown by |\n| --- | --- | --- | --- |\n";
    for line in run.requirements.iter().take(2 * SHOWN) {
        let met = if line.met { "met" } else { "**not met**" };
        let tasks = run.tasks.iter();
        let tasks = tasks.filter(|task| line.tasks.iter().any(|id| task.line.id.as_str() == id));
        let mut commands: Vec<&str> = tasks.flat_map(commands_of).collect();
        commands.dedup();
        let commands: Vec<String> = commands.into_iter().take(3).map(command).collect();
        *page += &format!(
            "| {} {met} | {} | {} | {} |\n",
            cell(&line.id),
            cell(&line.text),
            cell(&line.tasks.join(", ")),
            commands.join(", ")
        );
    }
    add_rest(page, run.requirements.len(), 2 * SHOWN);
}

/// The commands that passed in the last attempt at `task`.
fn commands_of(task: &RunTask) -> impl Iterator<Item = &str> {
    let checks = task.tries.last().into_iter().flat_map(|last| &last.checks);
    let passed = checks.filter(|check| check.verdict == CheckVerdict::Pass);
    passed.filter_map(|check| check.command())
}

fn verified(run: &RunPage<'_>, state: &State) -> Vec<String> {
    let mut items: Vec<String> = run
        .end_checks
        .iter()
        .map(|line| plain(line, 4 * CELL))
        .collect();
    let mut by_command: BTreeMap<&str, usize> = BTreeMap::new();
    for task in &run.tasks {
        for command in commands_of(task) {
            *by_command.entry(command).or_default() += 1;
        }
    }
    items.extend(
        by_command.iter().map(|(line, tasks)| {
            format!("passed for {}: {}", counted(*tasks, "task"), command(line))
        }),
    );
    if let Some(branch) = &state.terms().branch {
        items.push(format!(
            "each commit has its evidence as a note: {}",
            code(&format!("git log --notes=fp {}", branch.name))
        ));
    }
    items
}

fn add_tasks(page: &mut String, run: &RunPage<'_>) {
    if run.tasks.is_empty() {
        return;
    }
    *page += "\n## Tasks\n\n| Task | | Commit | Attempts | Verified |\n| --- | --- | --- | --- | --- |\n";
    for task in &run.tasks {
        let commit = task.line.commit.as_deref().map_or("-", short);
        let judged = task.tries.last().map_or(0, |last| last.criteria.len());
        let judged = match judged {
            0 => None,
            1 => Some("1 criterion".to_owned()),
            more => Some(format!("{more} criteria")),
        };
        let commands = Some(commands_of(task).count()).filter(|count| *count > 0);
        let commands = commands.map(|count| counted(count, "command"));
        let verified: Vec<String> = judged.into_iter().chain(commands).collect();
        let verified = match (task.line.status, &task.line.detail) {
            (Status::Completed, Some(detail)) if verified.is_empty() => cell(detail),
            _ => verified.join(", "),
        };
        let row = format!(
            "| {} | {} | {commit} | {} | {verified} |\n",
            cell(task.line.id.as_str()),
            cell(&clipped(&task.line.title, CELL / 2)),
            task.tries.len(),
        );
        if page.len() + row.len() > BODY_CAP - 2_000 {
            *page += "\nThe other tasks are left out.\n";
            return;
        }
        *page += &row;
    }
}

fn cost_and_time(run: &RunPage<'_>) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    if run.wall() > 0 {
        items.push(format!("took {}", took(run.wall())));
    }
    let lines = run.cost.iter().flat_map(|cost| cost.summary_lines());
    items.extend(lines.map(|line| plain(&line, 2 * CELL)));
    items
}

fn add_items(page: &mut String, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    *page += &format!("\n## {heading}\n\n");
    page.extend(items.iter().take(SHOWN).map(|item| format!("- {item}\n")));
    add_rest(page, items.len(), SHOWN);
}

fn add_rest(page: &mut String, all: usize, shown: usize) {
    if all > shown {
        *page += &format!("\n… and {} more\n", all - shown);
    }
}

fn command(line: &str) -> String {
    code(&clipped(&one_line(line), CELL)).replace('|', "\\|")
}

fn cell(text: &str) -> String {
    plain(text, CELL).replace('|', "\\|")
}

/// `text` on one line, cut to `most` characters, as a host shows it and nothing else: it mentions nobody, and refers to
/// no issue, which a word before it could close.
fn plain(text: &str, most: usize) -> String {
    static ACTS: LazyLock<Regex> =
        LazyLock::new(|| regex(r"`+[^`]*`+|@\w|#\d|(?i:\bGH)-\d|https?://"));
    let text = inline(&clipped(&one_line(text), most));
    let apart = ACTS.replace_all(&text, |found: &regex::Captures<'_>| {
        let all = &found[0];
        match all
            .find(['@', '#', '-', ':'])
            .filter(|_| !all.starts_with('`'))
        {
            Some(at) => format!("{}<!-- -->{}", &all[..=at], &all[at + 1..]),
            None => all.to_owned(),
        }
    });
    apart.into_owned()
}

#[cfg(test)]
mod tests;
