//! `fp status`: shows the progress of a plan, once, on a terminal of any size.

mod watch;

use std::ops::RangeInclusive;

use fp_host::plan::OpenPlan;
use fp_host::screen::Screen;
use fp_plan::text::{counted, fitted, wrapped_whole};
use fp_run::critique::CritiqueLine;
use fp_run::report::cost::{CostReport, spent_in_words};
use fp_run::report::handoff::{NextStep, next_steps};
use fp_run::report::standing::RunStanding;
use fp_run::report::status::{Phase, StatusReport, TaskLine, time_left};
use fp_run::report::{lasted, reason_lines};
use fp_run::run::State;
use fp_run::run::event::Decider;
use fp_run::run::payload::short;
use jiff::Timestamp;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

pub(crate) use self::watch::{Beside, RunWatch, watch_plan};
use super::fleet::short_time;
use super::ready::show_ready;
use crate::context::Context;
use crate::error::CommandResult;
use crate::printer::{WIDTH, columns, cut_columns};
use crate::theme::{self, Look, StyledLine};

/// The files of planning, in order.
const WRITTEN: [&str; 7] = [
    "pre-analysis.md",
    "interview.md",
    "research.md",
    "context.md",
    "tasks.md",
    "critique.md",
    "plan.md",
];

/// Show how far a plan is, and what needs you
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
    /// Follow the run on the whole terminal, until it ends or `q` is pressed; arrow keys scroll.
    #[arg(long, short)]
    watch: bool,
    /// Show every task, in the order of the tree.
    #[arg(long, short)]
    all: bool,
    /// Show which tasks can be claimed now, and why the others can't; exit status 3 says that none can.
    #[arg(long, conflicts_with_all = ["watch", "all"])]
    ready: bool,
}

pub(crate) fn run(args: StatusArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    if args.ready {
        return show_ready(&plan, context);
    }
    if args.watch {
        if !context.is_json() && Screen::is_there(context.env("TERM").as_deref()) {
            return watch_plan(&plan, context);
        }
        context
            .printer
            .note("note: --watch shows text on a terminal: this is the status at the moment");
    }
    let (state, lead) = context.seen(&plan)?;
    if let Some(member) = plan.store.membership()?.filter(|_| state.is_shared()) {
        let seen = context.now().duration_since(member.fetched_at);
        let (remote, ago) = (&member.place.remote, short_time(seen));
        context.printer.note(&format!(
            "note: as it was on {remote} {ago} ago; `fp fleet` looks again"
        ));
    }
    let report = StatusReport::new(&state, lead);
    let planned = (report.phase == Phase::Planning).then(|| PlanningStatus::of_plan(&plan, &state));
    let room = TextRoom {
        wrap: columns(),
        cut: cut_columns(),
    };
    let lines = status_lines(&state, &report, context.now(), room, args.all);
    let text = lines.join("\n")
        + "\n"
        + &planned
            .as_ref()
            .map_or_else(String::new, PlanningStatus::text);
    let report = report.as_if_open(&state);
    context.styled_report(&Printed { report, planned }, &text)
}

#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    report: StatusReport,
    #[serde(flatten)]
    planned: Option<PlanningStatus>,
}

/// The progress of a plan before its approval.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanningStatus {
    written: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    critique: Option<CritiqueLine>,
    /// Number of tasks that were done before the import.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_before: Option<usize>,
    #[serde(skip)]
    next: String,
}

impl PlanningStatus {
    fn of_plan(plan: &OpenPlan, state: &State) -> Self {
        let written = WRITTEN
            .into_iter()
            .filter(|name| plan.folder.file(name).exists())
            .collect();
        // A tree that can't be read is not the one that was criticised.
        let tree = plan.tree().map(|tree| tree.text).unwrap_or_default();
        let done_before = Some(state.imported.len()).filter(|count| *count > 0);
        let id = plan.id();
        let next = match plan.tasks_file().exists() {
            true => format!("fp validate {id}, then fp approve {id}"),
            false => format!(
                "fp validate {id}, once tasks.md is written; in Claude Code, ask for the planning to go on"
            ),
        };
        Self {
            next,
            written,
            critique: CritiqueLine::new(state, &tree),
            done_before,
        }
    }

    fn text(&self) -> String {
        let written = if self.written.is_empty() {
            "nothing".to_owned()
        } else {
            self.written.join(", ")
        };
        let critique = self.critique.iter().map(|critique| format!("{critique}\n"));
        let before = self.done_before.map_or_else(String::new, |count| {
            format!("Done before the import, and to be taken over with the approval: {count}\n")
        });
        format!(
            "Written so far: {written}\n{}{before}Next: {}\n",
            critique.collect::<String>(),
            self.next
        )
    }
}

/// The report as plain text, with every task in the order of the tree: what `fp next` prints at the end.
pub(crate) fn status_text(report: &StatusReport) -> String {
    let mut text = format!("Plan {} ({})\n", report.plan_id, report.standing.into_str());
    if report.counts.total > 0 {
        text.push_str(&format!("{}\n\n", report.counts.in_words()));
    }
    let columns = TaskColumns {
        id: id_width(report),
        all: WIDTH,
        signs: false,
    };
    for line in report
        .tasks
        .iter()
        .flat_map(|task| task_lines(task, columns))
    {
        text.push_str(&format!(
            "{}\n",
            theme::without_colours(&line.painted(WIDTH))
        ));
    }
    if !report.end_checks.is_empty() {
        text.push_str("\nChecks at the end:\n");
        report
            .end_checks
            .iter()
            .for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    if let Some(cost) = &report.cost {
        text.push_str(&format!("\n{}\n", cost.lines().join("\n")));
    }
    for question in &report.questions {
        text.push_str(&format!("\nOpen question: {question}\n"));
    }
    text
}

/// How a task is laid out.
#[derive(Clone, Copy)]
struct TaskColumns {
    /// Columns of the ids.
    id: usize,
    /// Columns of the line.
    all: usize,
    /// True if the sign of its state precedes it.
    signs: bool,
}

/// Most columns of the bar.
const BAR: usize = 30;
/// Most lines of one detail of a task.
const DETAIL: usize = 2;
/// Columns of a terminal on which a detail stands beside its task.
const WIDE: RangeInclusive<usize> = 120..=1000;
/// Most lines of tasks before some are left out.
const ROWS: usize = 16;
/// Most questions.
const QUESTIONS: usize = 2;

/// Where text wraps, and where a line that can't is cut.
#[derive(Clone, Copy)]
struct TextRoom {
    wrap: usize,
    cut: usize,
}

/// The status, so that it fits a screen unless `all` tasks are wanted.
fn status_lines(
    state: &State,
    report: &StatusReport,
    now: Timestamp,
    room: TextRoom,
    all: bool,
) -> Vec<String> {
    let mut lines = head_lines(state, report, now, false, room.wrap);
    let groups = groups_of(report);
    let in_columns = TaskColumns {
        id: id_width(report),
        all: room.cut,
        signs: true,
    };
    let told = |line: &TaskLine| task_lines(line, in_columns);
    let most = if all || room.cut > room.wrap {
        usize::MAX
    } else {
        QUESTIONS
    };
    let needs = need_lines(state, report, most, None, room.wrap);
    let tasks: Vec<StyledLine> = if all {
        report.tasks.iter().flat_map(told).collect()
    } else {
        let whole: Vec<_> = groups
            .iter()
            .flat_map(|(_, tasks)| tasks.iter().copied().flat_map(told))
            .collect();
        let fits = whole.len() + needs.len() <= ROWS;
        if fits {
            whole
        } else {
            groups
                .iter()
                .flat_map(|(look, tasks)| shortened(state, report, (*look, tasks), room.cut))
                .collect()
        }
    };
    let ends = report
        .end_checks
        .iter()
        .map(|line| StyledLine::default().and(Look::Plain, format!("  {line}")));
    let ends: Vec<_> = ends.collect();
    let cost: Vec<_> = report
        .cost
        .iter()
        .flat_map(CostReport::lines)
        .take(if all { usize::MAX } else { 3 })
        .collect();
    let cost = cost
        .into_iter()
        .map(|line| StyledLine::default().and(Look::Plain, line))
        .collect();
    let sections = [
        (None, needs),
        (None, tasks),
        (Some("Checks at the end:"), ends),
        (None, cost),
    ];
    for (heading, section) in sections
        .into_iter()
        .filter(|(_, section)| !section.is_empty())
    {
        lines.push(StyledLine::default());
        lines.extend(heading.map(|heading| StyledLine::default().and(Look::Plain, heading)));
        lines.extend(section);
    }
    lines.iter().map(|line| line.painted(room.cut)).collect()
}

/// The plan's standing and progress, whole, on as many lines as it takes. There is no estimate while an agent
/// `is_silent`.
fn head_lines(
    state: &State,
    report: &StatusReport,
    now: Timestamp,
    is_silent: bool,
    columns: usize,
) -> Vec<StyledLine> {
    let is_running = report.standing == RunStanding::Running;
    let end = if is_running { Some(now) } else { state.last_at };
    let started = state.run.as_ref().map(|run| run.started_at);
    let took = started
        .zip(end)
        .filter(|(from, to)| to.duration_since(*from).as_secs() >= 60);
    let took = took.map(|(from, to)| lasted(from, to));
    let counts = &report.counts;
    let left = Some(())
        .filter(|()| is_running && !is_silent && counts.building + counts.verifying > 0)
        .and_then(|()| time_left(state, now))
        .map(|left| format!("about {left} left"));
    let cost = report
        .cost
        .iter()
        .map(|cost| spent_in_words(cost.tokens, cost.micro_usd));
    let facts: Vec<String> = took.into_iter().chain(left).chain(cost).collect();
    let facts = facts.join(", ");
    let head = StyledLine::default()
        .and(Look::Plain, "Plan ")
        .and(Look::Strong, report.plan_id.as_str())
        .and(Look::Plain, format!(" ({})", report.standing.into_str()));
    let mut lines = if facts.is_empty() {
        vec![head]
    } else if head.width() + 2 + facts.width() <= columns {
        vec![head.and(Look::Faint, format!("  {facts}"))]
    } else {
        let below = indented_lines(Look::Faint, "  ", &facts, columns);
        [head].into_iter().chain(below).collect()
    };
    if counts.total == 0 {
        return lines;
    }
    let bar = theme::bar(counts.completed, counts.total, BAR.min(columns / 8));
    let indent = " ".repeat(bar.width() + 1);
    let mut counted = indented_lines(Look::Plain, &indent, &report.counts.in_words(), columns);
    if let Some(first) = counted.first_mut() {
        let words = first.text().trim_start().to_owned();
        *first = bar.and(Look::Plain, format!(" {words}"));
    }
    lines.extend(counted);
    lines
}

/// `text` below `indent`, on as many lines as it takes.
fn indented_lines(look: Look, indent: &str, text: &str, columns: usize) -> Vec<StyledLine> {
    let room = columns.saturating_sub(indent.width()).max(1);
    wrapped_whole(text, room)
        .into_iter()
        .map(|line| {
            StyledLine::default()
                .and(Look::Plain, indent)
                .and(look, line)
        })
        .collect()
}

/// The first `most` lines of `text`, and a sign that there is more.
fn lines_within(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped_whole(text, columns);
    if lines.len() > most {
        lines.truncate(most);
        lines.last_mut().into_iter().for_each(|last| last.push('…'));
    }
    lines
}

/// What waits for the user: the command that goes on where nothing runs, and up to `most` questions. The options of the
/// question `by_digits` have digits; without one, a command answers the first question.
fn need_lines(
    state: &State,
    report: &StatusReport,
    most: usize,
    by_digits: Option<&str>,
    columns: usize,
) -> Vec<StyledLine> {
    let open: Vec<_> = state.open_questions().collect();
    let obstacle = report.standing.obstacle(state);
    if open.is_empty() && obstacle.is_none() {
        return Vec::new();
    }
    let line = |look: Look, text: &str| indented_lines(look, "  ", text, columns);
    let mut lines = vec![StyledLine::default().and(Look::Plain, "Needs you:")];
    lines.extend(obstacle.into_iter().flat_map(|why| line(Look::Strong, why)));
    let go_on = NextStep::if_interrupted(state, report.standing);
    lines.extend(
        go_on
            .iter()
            .flat_map(|step| line(Look::Hint, &step.command)),
    );
    for (question, number) in open.iter().take(most).zip(1..) {
        let mark = match open.len() {
            1 => String::new(),
            all => format!("{number} of {all}: "),
        };
        let text = format!("{mark}{}", question.text);
        let mut asked = indented_lines(Look::Plain, "    ", &text, columns);
        if let Some(first) = asked.first_mut() {
            let text = first.text();
            *first = StyledLine::default()
                .and(Look::Asking, "  ? ")
                .and(Look::Plain, text.trim_start());
        }
        lines.extend(asked);
        if by_digits == Some(question.id.as_str()) {
            for (option, digit) in question.options.iter().zip(1..) {
                let text = format!("{digit} {}: {}", option.label, option.description);
                let text = text.trim_end_matches(": ");
                lines.extend(indented_lines(Look::Plain, "      ", text, columns));
            }
        }
    }
    let answer = next_steps(state, report.standing).into_iter().next();
    if let Some(step) = answer.filter(|_| by_digits.is_none() && !open.is_empty()) {
        lines.extend(indented_lines(Look::Hint, "    ", &step.command, columns));
        let more = open.len().saturating_sub(most);
        if more > 0 {
            let more = format!("(and {})", counted(more, "more question"));
            lines.extend(line(Look::Faint, &more));
        }
    }
    lines
}

/// The tasks by what is worth knowing first, each group with its look.
fn groups_of(report: &StatusReport) -> Vec<(Look, Vec<&TaskLine>)> {
    let of = |looks: &[Look]| -> Vec<&TaskLine> {
        report
            .tasks
            .iter()
            .filter(|task| looks.contains(&look_of(task)))
            .collect()
    };
    vec![
        (Look::Failed, of(&[Look::Failed])),
        (Look::Asking, of(&[Look::Asking])),
        (Look::Stopped, of(&[Look::Stopped])),
        (Look::Building, of(&[Look::Building, Look::Verifying])),
        (Look::Ready, of(&[Look::Ready])),
        (Look::Waiting, of(&[Look::Waiting])),
        (Look::Done, of(&[Look::Done])),
        (Look::Skipped, of(&[Look::Skipped])),
    ]
}

fn look_of(task: &TaskLine) -> Look {
    Look::of(task.status, task.ready, task.halt)
}

/// The first tasks of a group, of those that are done the last ones, with the number of the others.
fn shortened(
    state: &State,
    report: &StatusReport,
    (look, tasks): (Look, &[&TaskLine]),
    columns: usize,
) -> Vec<StyledLine> {
    let mut tasks = tasks.to_vec();
    if look == Look::Done {
        tasks.sort_by_key(|task| {
            std::cmp::Reverse(state.task(&task.id).and_then(|task| task.ended_at))
        });
    }
    let most = match look {
        Look::Failed => 2,
        Look::Asking | Look::Stopped | Look::Building => 4,
        Look::Ready => 3,
        Look::Done => 3,
        Look::Plain
        | Look::Verifying
        | Look::Waiting
        | Look::Skipped
        | Look::Strong
        | Look::Faint
        | Look::Hint => 0,
    };
    let Some(first) = tasks.first() else {
        return Vec::new();
    };
    if most == 0 {
        let word = first.state_word();
        return vec![
            StyledLine::default().and(look, format!("  {} {} {word}", look.sign(), tasks.len())),
        ];
    }
    let lines = if look == Look::Failed { 4 } else { 1 };
    let mut shown: Vec<StyledLine> = Vec::new();
    let more = tasks.len().saturating_sub(most);
    for (number, task) in tasks.iter().take(most).enumerate() {
        let more = Some(more).filter(|more| *more > 0 && number + 1 == most);
        let more = more.map_or_else(String::new, |more| format!("  +{more}"));
        let columns = TaskColumns {
            id: id_width(report),
            all: columns.saturating_sub(more.width()),
            signs: true,
        };
        let mut of_task = task_lines(task, columns).into_iter().take(lines);
        shown.extend(of_task.next().map(|line| line.and(Look::Strong, more)));
        shown.extend(of_task);
    }
    shown
}

fn id_width(report: &StatusReport) -> usize {
    report
        .tasks
        .iter()
        .map(|task| task.id.as_str().len())
        .max()
        .unwrap_or(0)
}

/// A task on a line of `columns` columns, with its dependencies and additions below.
fn task_lines(task: &TaskLine, columns: TaskColumns) -> Vec<StyledLine> {
    let TaskColumns {
        id: id_width,
        all: columns,
        signs,
    } = columns;
    let mut facts = Vec::new();
    if task.iteration > 0 {
        facts.push(format!("{}/{}", task.iteration, task.max_iterations));
    }
    // What the attempt doesn't tell: a retry counts from 1 again.
    if task.failed_verdicts > task.iteration {
        facts.push(format!("{} failed", task.failed_verdicts));
    }
    if task.asked > 0 && task.status.is_final() {
        facts.push(counted(task.asked, "question"));
    }
    facts.extend(task.owner.as_ref().map(ToString::to_string));
    facts.extend(
        task.commit
            .as_deref()
            .map(|commit| short(commit).to_owned()),
    );
    let facts = if facts.is_empty() {
        String::new()
    } else {
        format!("  ({})", facts.join(", "))
    };
    let look = look_of(task);
    let head = StyledLine::default()
        .and(
            look,
            if signs {
                format!("  {} ", look.sign())
            } else {
                "  ".to_owned()
            },
        )
        .and(Look::Strong, format!("{:id_width$}  ", task.id.as_str()))
        .and(look, format!("{:<9}  ", task.state_word()));
    let below = task.granted.iter().map(|granted| {
        let by = if granted.by == Decider::User {
            "you"
        } else {
            "the policy"
        };
        format!("+ {} (by {by}): {}", granted.path, granted.reason)
    });
    let below = below.chain(
        task.dropped
            .iter()
            .map(|line| format!("- not checked, by your choice: {line}")),
    );
    let indent = " ".repeat(head.width());
    let room = columns.saturating_sub(indent.len()).max(20);
    let detail = task
        .detail
        .iter()
        .flat_map(|detail| reason_lines(detail))
        .map(str::to_owned);
    let below = detail.chain(task.drift.iter().cloned()).chain(below);
    let mut below: Vec<String> = below
        .flat_map(|line| lines_within(&line, room, DETAIL))
        .collect();
    let title = columns.saturating_sub(head.width() + facts.width()).max(10);
    let head = head
        .and(Look::Plain, fitted(&task.title, title))
        .and(Look::Faint, facts);
    let beside = below
        .first()
        .map_or(0, |line| head.width() + 2 + line.width());
    // Room for more tasks, where a line has some.
    if below.len() == 1 && WIDE.contains(&columns) && beside <= columns {
        let line = format!("  {}", below.remove(0));
        return vec![head.and(Look::Faint, line)];
    }
    let below = below
        .into_iter()
        .map(|line| StyledLine::default().and(Look::Plain, indent.clone() + &line));
    [head].into_iter().chain(below).collect()
}

#[cfg(test)]
mod tests {
    use fp_plan::plan::id::PlanId;
    use fp_run::report::standing::LeadPresence;
    use fp_run::run::State;
    use fp_run::run::event::Entry;
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    const START: &str = "2026-11-21T09:00:00Z";

    /// A run of `tasks` tasks of which a third is done, some are built, and most of the others wait for one of those.
    fn busy(tasks: usize) -> State {
        let leaf = |number: usize| {
            let after = if number > tasks / 2 {
                vec![(tasks / 3 + 1).to_string()]
            } else {
                Vec::new()
            };
            json!({ "id": number.to_string(), "title": format!("Write part {number} of the parser, with all that belongs to it"),
                "hash": "", "dependencies": after, "files": [format!("{number}.txt")], "complexity": 2 })
        };
        let leaves: Vec<_> = (1..=tasks).map(leaf).collect();
        let claimed = |task: usize, owner: usize| {
            json!({ "claimed": { "task": task.to_string(), "owner": format!("builder-{owner}"), "token": "t",
            "iteration": 1, "base": { "tree": "a", "head": "b" } } })
        };
        let mut log = vec![json!([
            { "approved": { "treeHash": "h", "leaves": leaves, "by": "user" } },
            { "runStarted": { "builders": 3, "maxIterations": 3, "noCommit": false } },
        ])];
        let done = tasks / 3;
        for task in 1..=done {
            log.push(json!([claimed(task, 1)]));
            log.push(json!([{ "completed": { "task": task.to_string(), "commit": format!("{task:07}") } }]));
        }
        log.push(json!([claimed(done + 1, 2)]));
        for task in done + 2..(done + 5).min(tasks) {
            log.push(json!([{ "failed": { "task": task.to_string(), "reason": "Criterion 1: the parser takes an empty line for the end" } },
                { "asked": { "question": { "id": format!("q{task}"), "topic": { "about": "taskFailed", "task": task.to_string() },
                    "text": format!("Task {task} failed for good. How should it continue?"), "header": "Task failed",
                    "options": [{ "label": "Retry", "description": "" }] } } }]));
        }
        let entry = |(seq, events): (usize, serde_json::Value)| -> Entry {
            let at = START.parse::<Timestamp>().unwrap()
                + jiff::SignedDuration::from_secs(seq as i64 * 60);
            serde_json::from_value(
                json!({ "schemaVersion": 1, "seq": seq + 1, "at": at.to_string(), "events": events }),
            )
            .unwrap()
        };
        let entries: Vec<Entry> = log.into_iter().enumerate().map(entry).collect();
        State::replay(PlanId::new("sample-20261121").unwrap(), &entries)
    }

    fn status(state: &State, columns: usize, all: bool) -> Vec<String> {
        let room = TextRoom {
            wrap: columns,
            cut: columns,
        };
        status_in(state, LeadPresence::Unknown, room, all)
    }

    fn status_in(state: &State, lead: LeadPresence, room: TextRoom, all: bool) -> Vec<String> {
        let now = state.last_at.unwrap() + jiff::SignedDuration::from_secs(5);
        status_lines(state, &StatusReport::new(state, lead), now, room, all)
    }

    fn plain(state: &State, columns: usize) -> String {
        theme::without_colours(&status(state, columns, false).join("\n"))
    }

    #[test]
    fn the_status_fits_a_screen_of_any_size() {
        for tasks in [1, 5, 20, 200, 1000] {
            for columns in [40, 60, 80, 120, 200] {
                let lines = status(&busy(tasks), columns, false);
                // On a narrow one, the questions and what failed are whole all the same.
                let most = match columns {
                    ..60 => 32,
                    60..80 => 26,
                    _ => 23,
                };
                assert!(
                    lines.len() <= most,
                    "{tasks} tasks, {columns} columns: {lines:#?}"
                );
                let wide = lines
                    .iter()
                    .map(|line| theme::without_colours(line))
                    .find(|line| line.width() > columns);
                assert_eq!(wide, None, "{tasks} tasks, {columns} columns");
            }
        }
        assert_eq!(
            status(&busy(200), 80, true)
                .iter()
                .filter(|line| line.contains("Write part"))
                .count(),
            200
        );
    }

    #[test]
    fn the_status_of_few_tasks_has_them_all() {
        assert_snapshot!(plain(&busy(5), 80), @r"
        Plan sample-20261121 (running)  5 min
        ▰▰▱▱▱▱▱▱▱▱ 1 of 5 tasks done, 2 failed, 1 being built, 1 waiting

        Needs you:
          ? 1 of 2: Task 3 failed for good. How should it continue?
          ? 2 of 2: Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q3 --option Retry

          ✕ 3  failed     Write part 3 of the parser, with all that belon…  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ✕ 4  failed     Write part 4 of the parser, with all that belon…  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ▶ 2  building   Write part 2 of the parser, with all that b…  (1/3, builder-2)
          ○ 5  waiting    Write part 5 of the parser, with all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1 of the parser, with all that bel…  (1/3, 0000001)
        ");
        assert_snapshot!(plain(&busy(5), 200), @r"
        Plan sample-20261121 (running)  5 min
        ▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 1 of 5 tasks done, 2 failed, 1 being built, 1 waiting

        Needs you:
          ? 1 of 2: Task 3 failed for good. How should it continue?
          ? 2 of 2: Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q3 --option Retry

          ✕ 3  failed     Write part 3 of the parser, with all that belongs to it  (1 question)  Criterion 1: the parser takes an empty line for the end
          ✕ 4  failed     Write part 4 of the parser, with all that belongs to it  (1 question)  Criterion 1: the parser takes an empty line for the end
          ▶ 2  building   Write part 2 of the parser, with all that belongs to it  (1/3, builder-2)
          ○ 5  waiting    Write part 5 of the parser, with all that belongs to it  it waits for 2
          ✓ 1  done       Write part 1 of the parser, with all that belongs to it  (1/3, 0000001)
        ");
        assert_snapshot!(status(&busy(5), 80, false).join("\n").replace('\u{1b}', "^"), @r"
        Plan ^[1msample-20261121^[0m (running)^[2m  5 min^[0m
        ^[32m▰▰^[0m^[2m▱▱▱▱▱▱▱▱^[0m 1 of 5 tasks done, 2 failed, 1 being built, 1 waiting

        Needs you:
        ^[35m  ? ^[0m1 of 2: Task 3 failed for good. How should it continue?
        ^[35m  ? ^[0m2 of 2: Task 4 failed for good. How should it continue?
            ^[36mfp answer sample-20261121 q3 --option Retry^[0m

        ^[31m  ✕ ^[0m^[1m3  ^[0m^[31mfailed     ^[0mWrite part 3 of the parser, with all that belon…^[2m  (1 question)^[0m
                          Criterion 1: the parser takes an empty line for the end
        ^[31m  ✕ ^[0m^[1m4  ^[0m^[31mfailed     ^[0mWrite part 4 of the parser, with all that belon…^[2m  (1 question)^[0m
                          Criterion 1: the parser takes an empty line for the end
        ^[33m  ▶ ^[0m^[1m2  ^[0m^[33mbuilding   ^[0mWrite part 2 of the parser, with all that b…^[2m  (1/3, builder-2)^[0m
        ^[2m  ○ ^[0m^[1m5  ^[0m^[2mwaiting    ^[0mWrite part 5 of the parser, with all that belongs to it
                          it waits for 2
        ^[32m  ✓ ^[0m^[1m1  ^[0m^[32mdone       ^[0mWrite part 1 of the parser, with all that bel…^[2m  (1/3, 0000001)^[0m
        ");
    }

    #[test]
    fn an_interrupted_run_counts_nothing_and_says_what_goes_on() {
        let room = TextRoom { wrap: 80, cut: 80 };
        let state = busy(5);
        let text = status_in(&state, LeadPresence::Gone, room, false).join("\n");
        assert_snapshot!(theme::without_colours(&text), @r"
        Plan sample-20261121 (interrupted)  5 min
        ▰▰▱▱▱▱▱▱▱▱ 1 of 5 tasks done, 2 failed, 1 stopped, 1 waiting

        Needs you:
          Nothing runs: nobody leads the run
          /fp:implement sample-20261121
          ? 1 of 2: Task 3 failed for good. How should it continue?
          ? 2 of 2: Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q3 --option Retry

          ✕ 3  failed     Write part 3 of the parser, with all that belon…  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ✕ 4  failed     Write part 4 of the parser, with all that belon…  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ■ 2  stopped    Write part 2 of the parser, with all that b…  (1/3, builder-2)
          ○ 5  waiting    Write part 5 of the parser, with all that belongs to it
                          it waits for 2
          ✓ 1  done       Write part 1 of the parser, with all that bel…  (1/3, 0000001)
        ");
    }

    #[test]
    fn a_pipe_gets_everything_whole() {
        let room = TextRoom {
            wrap: 40,
            cut: usize::MAX,
        };
        let text = status_in(&busy(20), LeadPresence::Unknown, room, false).join("\n");
        assert_snapshot!(theme::without_colours(&text), @r"
        Plan sample-20261121 (running)  16 min
        ▰▱▱▱▱ 6 of 20 tasks done, 3 failed, 1
              being built, 10 waiting

        Needs you:
          ? 1 of 3: Task 8 failed for good. How
            should it continue?
          ? 2 of 3: Task 9 failed for good. How
            should it continue?
          ? 3 of 3: Task 10 failed for good. How
            should it continue?
            fp answer sample-20261121 q8
            --option Retry

          ✕ 8   failed     Write part 8 of the parser, with all that belongs to it  (1 question)
                           Criterion 1: the parser takes an empty line for the end
          ✕ 9   failed     Write part 9 of the parser, with all that belongs to it  (1 question)  +1
                           Criterion 1: the parser takes an empty line for the end
          ▶ 7   building   Write part 7 of the parser, with all that belongs to it  (1/3, builder-2)
          ○ 10 waiting
          ✓ 6   done       Write part 6 of the parser, with all that belongs to it  (1/3, 0000006)
          ✓ 5   done       Write part 5 of the parser, with all that belongs to it  (1/3, 0000005)
          ✓ 4   done       Write part 4 of the parser, with all that belongs to it  (1/3, 0000004)  +3
        ");
    }

    #[test]
    fn the_status_of_many_tasks_has_what_matters() {
        assert_snapshot!(plain(&busy(20), 60), @r"
        Plan sample-20261121 (running)  16 min
        ▰▰▱▱▱▱▱ 6 of 20 tasks done, 3 failed, 1 being built, 10
                waiting

        Needs you:
          ? 1 of 3: Task 8 failed for good. How should it continue?
          ? 2 of 3: Task 9 failed for good. How should it continue?
            fp answer sample-20261121 q8 --option Retry
          (and 1 more question)

          ✕ 8   failed     Write part 8 of the parser…  (1 question)
                           Criterion 1: the parser takes an empty
                           line for the end
          ✕ 9   failed     Write part 9 of the pa…  (1 question)  +1
                           Criterion 1: the parser takes an
                           empty line for the end
          ▶ 7   building   Write part 7 of the pa…  (1/3, builder-2)
          ○ 10 waiting
          ✓ 6   done       Write part 6 of the pars…  (1/3, 0000006)
          ✓ 5   done       Write part 5 of the pars…  (1/3, 0000005)
          ✓ 4   done       Write part 4 of the …  (1/3, 0000004)  +3
        ");
        assert_snapshot!(plain(&busy(200), 80), @r"
        Plan sample-20261121 (running)  2 h 16 min
        ▰▰▰▱▱▱▱▱▱▱ 66 of 200 tasks done, 3 failed, 1 being built, 30 ready, 100 waiting

        Needs you:
          ? 1 of 3: Task 68 failed for good. How should it continue?
          ? 2 of 3: Task 69 failed for good. How should it continue?
            fp answer sample-20261121 q68 --option Retry
          (and 1 more question)

          ✕ 68   failed     Write part 68 of the parser, with all that be…  (1 question)
                            Criterion 1: the parser takes an empty line for the end
          ✕ 69   failed     Write part 69 of the parser, with all tha…  (1 question)  +1
                            Criterion 1: the parser takes an empty line for the end
          ▶ 67   building   Write part 67 of the parser, with all tha…  (1/3, builder-2)
          ● 71   ready      Write part 71 of the parser, with all that belongs to it
          ● 72   ready      Write part 72 of the parser, with all that belongs to it
          ● 73   ready      Write part 73 of the parser, with all that belongs to …  +27
          ○ 100 waiting
          ✓ 66   done       Write part 66 of the parser, with all that …  (1/3, 0000066)
          ✓ 65   done       Write part 65 of the parser, with all that …  (1/3, 0000065)
          ✓ 64   done       Write part 64 of the parser, with all …  (1/3, 0000064)  +63
        ");
        assert_snapshot!(plain(&busy(200), 120), @r"
        Plan sample-20261121 (running)  2 h 16 min
        ▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱ 66 of 200 tasks done, 3 failed, 1 being built, 30 ready, 100 waiting

        Needs you:
          ? 1 of 3: Task 68 failed for good. How should it continue?
          ? 2 of 3: Task 69 failed for good. How should it continue?
            fp answer sample-20261121 q68 --option Retry
          (and 1 more question)

          ✕ 68   failed     Write part 68 of the parser, with all that belongs to it  (1 question)
                            Criterion 1: the parser takes an empty line for the end
          ✕ 69   failed     Write part 69 of the parser, with all that belongs to it  (1 question)  +1
                            Criterion 1: the parser takes an empty line for the end
          ▶ 67   building   Write part 67 of the parser, with all that belongs to it  (1/3, builder-2)
          ● 71   ready      Write part 71 of the parser, with all that belongs to it
          ● 72   ready      Write part 72 of the parser, with all that belongs to it
          ● 73   ready      Write part 73 of the parser, with all that belongs to it  +27
          ○ 100 waiting
          ✓ 66   done       Write part 66 of the parser, with all that belongs to it  (1/3, 0000066)
          ✓ 65   done       Write part 65 of the parser, with all that belongs to it  (1/3, 0000065)
          ✓ 64   done       Write part 64 of the parser, with all that belongs to it  (1/3, 0000064)  +63
        ");
    }
}
