//! `fp status`: shows the progress of a plan, once, on a terminal of any size.

mod ready;
mod watch;

use std::cmp::Reverse;

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

use self::ready::show_ready;
pub(crate) use self::watch::{Beside, RunWatch, watch_plan};
use crate::context::Context;
use crate::error::CommandResult;
use crate::printer::{WIDTH, cut_columns};
use crate::theme::{self, Look, StyledLine};

/// The files that planning writes, in order.
const WRITTEN: &str = "interview.md research.md tasks.md critique.md";

/// Show a plan's progress, and what needs your attention
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
    /// Show which tasks can be claimed now, and why the others can't; exit status 3 means that none can.
    #[arg(long, conflicts_with_all = ["watch", "all"])]
    ready: bool,
}

pub(crate) fn show_status(args: StatusArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    if args.ready {
        return show_ready(&plan, context);
    }
    if args.watch {
        if !context.is_json() && Screen::is_there(context.env("TERM").as_deref()) {
            return watch_plan(&plan, context);
        }
        context.note("--watch shows text on a terminal: this is the status at the moment");
    }
    let (state, lead) = context.state_and_lead(&plan)?;
    if let Some(member) = plan.store.membership()?.filter(|_| state.is_shared()) {
        let ago = lasted(member.fetched_at, context.now());
        let remote = &member.place.remote;
        context.note(format_args!(
            "as it was on {remote} {ago} ago; `fp fleet` looks again"
        ));
    }
    let report = StatusReport::new(&state, lead);
    let view = StatusView::new(&state, &report, context.now(), cut_columns());
    let mut text = view.whole_text(args.all);
    let planned = (report.phase == Phase::Planning).then(|| PlanningStatus::of_plan(&plan, &state));
    text.extend(planned.iter().map(PlanningStatus::to_text));
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
        let written = WRITTEN.split(' ');
        let written = written.filter(|name| plan.folder.file(name).exists());
        // An unreadable tree counts as different from the reviewed one.
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
            written: written.collect(),
            critique: CritiqueLine::new(state, &tree),
            done_before,
        }
    }

    fn to_text(&self) -> String {
        let written = match self.written.is_empty() {
            true => "nothing".to_owned(),
            false => self.written.join(", "),
        };
        let mut text = format!("Written so far: {written}\n");
        text.extend(self.critique.iter().map(|critique| format!("{critique}\n")));
        if let Some(count) = self.done_before {
            text += &format!(
                "Done before the import, and to be taken over with the approval: {count}\n"
            );
        }
        text + &format!("Next: {}\n", self.next)
    }
}

/// The report as plain text, with every task in tree order: `fp next` prints it at the end.
pub(crate) fn status_text(state: &State, report: &StatusReport, now: Timestamp) -> String {
    let view = StatusView::new(state, report, now, WIDTH);
    let mut text = format!("Plan {} ({})\n", report.plan_id, report.standing.into_str());
    if report.counts.total > 0 {
        text += &format!("{}\n\n", report.counts.in_words());
    }
    for line in report
        .tasks
        .iter()
        .flat_map(|task| view.task_lines(task, "", WIDTH))
    {
        text += &format!("{}\n", theme::without_colours(&line.painted(WIDTH)));
    }
    for section in [view.end_lines(), view.cost_lines(usize::MAX)] {
        text += if section.is_empty() { "" } else { "\n" };
        text.extend(section.iter().map(|line| line.text() + "\n"));
    }
    let questions = report.questions.iter();
    text.extend(questions.map(|question| format!("\nOpen question: {question}\n")));
    text
}

/// The view of `fp status` on a screen, as plain text.
pub(crate) fn screen_text(state: &State, report: &StatusReport, now: Timestamp) -> String {
    let view = StatusView::new(state, report, now, WIDTH);
    theme::without_colours(&view.whole_text(false))
}

/// Maximum width of the bar, in columns.
const BAR: usize = 30;
/// Maximum number of lines per detail of a task.
const DETAIL: usize = 2;
/// Maximum number of task and question lines to show before some tasks are left out.
const ROWS: usize = 16;
/// Maximum number of questions.
const QUESTIONS: usize = 2;
/// Maximum number of lines about cost.
const COSTS: usize = 3;

/// The groups of tasks, most important first, and how many of each are shown if space is short.
const GROUPS: [(&[Look], usize); 8] = [
    (&[Look::Failed], 2),
    (&[Look::Asking], 4),
    (&[Look::Stopped], 4),
    (&[Look::Building, Look::Verifying], 4),
    (&[Look::Ready], 3),
    (&[Look::Waiting], 0),
    (&[Look::Done], 3),
    (&[Look::Skipped], 0),
];

/// Formats the state of a plan as lines.
struct StatusView<'s> {
    state: &'s State,
    report: &'s StatusReport,
    now: Timestamp,
    /// Width at which lines are wrapped or cut, in columns; unlimited for a pipe.
    columns: usize,
    /// Width of the task ids, in columns.
    id_width: usize,
}

impl<'s> StatusView<'s> {
    fn new(state: &'s State, report: &'s StatusReport, now: Timestamp, columns: usize) -> Self {
        let ids = report.tasks.iter().map(|task| task.id.as_str().len());
        Self {
            state,
            report,
            now,
            columns,
            id_width: ids.max().unwrap_or(0),
        }
    }

    fn is_piped(&self) -> bool {
        self.columns == usize::MAX
    }

    /// The whole report, kept short enough for a screen unless `all` tasks are requested.
    fn whole_text(&self, all: bool) -> String {
        let is_cut = !all && !self.is_piped();
        let needs = self.need_lines(if is_cut { QUESTIONS } else { usize::MAX }, None);
        let in_groups = self.lines_in_groups();
        let tasks = match all {
            true => self
                .report
                .tasks
                .iter()
                .flat_map(|task| self.lines_of(task))
                .collect(),
            false if in_groups.len() + needs.len() <= ROWS => in_groups,
            false => self.first_of_groups(),
        };
        let costs = self.cost_lines(if all { usize::MAX } else { COSTS });
        let mut lines = self.head_lines(false);
        append_sections(&mut lines, [needs, tasks, self.end_lines(), costs]);
        let lines = lines.iter().map(|line| line.painted(self.columns) + "\n");
        lines.collect()
    }

    /// The plan's standing and progress, wrapped. Gives no estimate while an agent `is_silent`.
    fn head_lines(&self, is_silent: bool) -> Vec<StyledLine> {
        let Self {
            state, report, now, ..
        } = *self;
        let is_running = report.standing == RunStanding::Running;
        let end = if is_running { Some(now) } else { state.last_at };
        let started = state.run.as_ref().map(|run| run.started_at);
        let took = started
            .zip(end)
            .filter(|(from, to)| to.duration_since(*from).as_secs() >= 60);
        let took = took.map(|(from, to)| lasted(from, to));
        let counts = &report.counts;
        let is_busy = is_running && !is_silent && counts.building + counts.verifying > 0;
        let left = time_left(state, now).filter(|_| is_busy);
        let left = left.map(|left| format!("about {left} left"));
        let cost = report
            .cost
            .iter()
            .map(|cost| spent_in_words(cost.tokens, cost.micro_usd));
        let facts: Vec<String> = took.into_iter().chain(left).chain(cost).collect();
        let facts = facts.join(", ");
        let head = StyledLine::new(Look::Plain, "Plan ")
            .with_text(Look::Strong, report.plan_id.as_str())
            .with_text(Look::Plain, format!(" ({})", report.standing.into_str()));
        let mut lines = match facts.is_empty() {
            true => vec![head],
            false if head.width() + 2 + facts.width() <= self.columns => {
                vec![head.with_text(Look::Faint, format!("  {facts}"))]
            }
            false => {
                let below = self.wrapped_behind("  ", Look::Faint, &facts);
                [head].into_iter().chain(below).collect()
            }
        };
        if counts.total > 0 {
            let columns = if self.is_piped() { WIDTH } else { self.columns };
            let width = BAR.min(columns / 8);
            let bar = theme::progress_bar(counts.completed, counts.total, width);
            lines.extend(self.wrapped_after(
                bar.with_text(Look::Plain, " "),
                Look::Plain,
                &counts.in_words(),
            ));
        }
        lines
    }

    /// Puts `text`, wrapped, after `head`.
    fn wrapped_after(&self, head: StyledLine, look: Look, text: &str) -> Vec<StyledLine> {
        let room = self.columns.saturating_sub(head.width()).max(1);
        head.hanging(look, wrapped_whole(text, room))
    }

    fn wrapped_behind(&self, indent: &str, look: Look, text: &str) -> Vec<StyledLine> {
        self.wrapped_after(StyledLine::new(Look::Plain, indent), look, text)
    }

    /// Everything that is waiting for the user: the command that continues a stopped run, and up to `most` questions.
    /// The options of the question with the id `by_digits` are numbered; without such an id, the command that answers
    /// the first question is shown.
    fn need_lines(&self, most: usize, by_digits: Option<&str>) -> Vec<StyledLine> {
        let (state, standing) = (self.state, self.report.standing);
        let open: Vec<_> = state.open_questions().collect();
        let obstacle = standing.obstacle(state);
        if open.is_empty() && obstacle.is_none() {
            return Vec::new();
        }
        let mut lines = vec![StyledLine::new(Look::Plain, "Needs you:")];
        if let Some(why) = obstacle {
            lines.extend(self.wrapped_behind("  ", Look::Strong, why));
        }
        if let Some(step) = NextStep::if_interrupted(state, standing) {
            lines.extend(self.wrapped_behind("  ", Look::Hint, &step.command));
        }
        for (question, number) in open.iter().take(most).zip(1..) {
            let mark = match open.len() {
                1 => String::new(),
                all => format!("{number} of {all}: "),
            };
            let sign = StyledLine::new(Look::Asking, "  ? ");
            lines.extend(self.wrapped_after(sign, Look::Plain, &(mark + &question.text)));
            let is_digits = by_digits == Some(question.id.as_str());
            for (option, digit) in question.options.iter().zip(1..).filter(|_| is_digits) {
                let text = format!("{digit} {}: {}", option.label, option.description);
                lines.extend(self.wrapped_behind(
                    "      ",
                    Look::Plain,
                    text.trim_end_matches(": "),
                ));
            }
        }
        if let (None, Some(step), false) = (
            by_digits,
            next_steps(state, standing).first(),
            open.is_empty(),
        ) {
            lines.extend(self.wrapped_behind("    ", Look::Hint, &step.command));
            if let Some(more @ 1..) = open.len().checked_sub(most) {
                let more = format!("(and {})", counted(more, "more question"));
                lines.extend(self.wrapped_behind("  ", Look::Faint, &more));
            }
        }
        lines
    }

    /// The tasks of a group; finished ones in reverse order.
    fn tasks_like(&self, looks: &[Look]) -> Vec<&'s TaskLine> {
        let tasks = self.report.tasks.iter();
        tasks
            .filter(|task| looks.contains(&Look::of_task(task)))
            .collect()
    }

    /// All tasks, most important first.
    fn lines_in_groups(&self) -> Vec<StyledLine> {
        let tasks = GROUPS.iter().flat_map(|(looks, _)| self.tasks_like(looks));
        tasks.flat_map(|task| self.lines_of(task)).collect()
    }

    /// The first tasks of each group (of the finished ones, the last), with the number of tasks left out.
    fn first_of_groups(&self) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        for (looks, most) in GROUPS {
            let mut tasks = self.tasks_like(looks);
            let (look, Some(first)) = (looks[0], tasks.first()) else {
                continue;
            };
            if most == 0 {
                let (sign, word) = (look.sign(), first.state_word());
                lines.push(StyledLine::new(
                    look,
                    format!("  {sign} {} {word}", tasks.len()),
                ));
            }
            if look == Look::Done {
                let ended = |task: &TaskLine| self.state.task(&task.id)?.ended_at;
                tasks.sort_by_key(|task| Reverse(ended(task)));
            }
            let rows = if look == Look::Failed { 4 } else { 1 };
            for (number, task) in tasks.iter().take(most).enumerate() {
                let more = match tasks.len().saturating_sub(most) {
                    more @ 1.. if number + 1 == most => format!("  +{more}"),
                    _ => String::new(),
                };
                let columns = self.columns.saturating_sub(more.width());
                let mut of_task = self
                    .task_lines(task, Look::of_task(task).sign(), columns)
                    .into_iter();
                lines.extend(
                    of_task
                        .next()
                        .map(|line| line.with_text(Look::Strong, more)),
                );
                lines.extend(of_task.take(rows - 1));
            }
        }
        lines
    }

    fn lines_of(&self, task: &TaskLine) -> Vec<StyledLine> {
        self.task_lines(task, Look::of_task(task).sign(), self.columns)
    }

    /// Formats a task after its `sign`, at most `columns` wide, with its dependencies and other details below.
    fn task_lines(&self, task: &TaskLine, sign: &str, columns: usize) -> Vec<StyledLine> {
        let look = Look::of_task(task);
        let blank = if sign.is_empty() { "" } else { " " };
        let head = StyledLine::new(look, format!("  {sign}{blank}"))
            .with_text(
                Look::Strong,
                format!("{:1$}  ", task.id.as_str(), self.id_width),
            )
            .with_text(look, format!("{:<9}  ", task.state_word()));
        let indent = " ".repeat(head.width());
        let room = columns.saturating_sub(indent.len()).max(20);
        let below = details_of(task).into_iter();
        let below: Vec<String> = below
            .flat_map(|line| lines_within(&line, room, DETAIL))
            .collect();
        let facts = facts_of(task);
        let title = columns.saturating_sub(head.width() + facts.width()).max(10);
        let head = head
            .with_text(Look::Plain, fitted(&task.title, title))
            .with_text(Look::Faint, facts);
        let below = below
            .iter()
            .map(|line| StyledLine::new(Look::Plain, format!("{indent}{line}")));
        [head].into_iter().chain(below).collect()
    }

    fn end_lines(&self) -> Vec<StyledLine> {
        let checks = self.report.end_checks.iter();
        let checks = checks.map(|line| StyledLine::new(Look::Plain, format!("  {line}")));
        let heading = StyledLine::new(Look::Plain, "Checks at the end:");
        let lines: Vec<_> = [heading].into_iter().chain(checks).collect();
        if lines.len() > 1 { lines } else { Vec::new() }
    }

    fn cost_lines(&self, most: usize) -> Vec<StyledLine> {
        let lines = self
            .report
            .cost
            .iter()
            .flat_map(CostReport::summary_lines)
            .take(most);
        lines
            .map(|line| StyledLine::new(Look::Plain, line))
            .collect()
    }
}

/// Adds the sections that aren't empty, with an empty line between them.
fn append_sections(
    lines: &mut Vec<StyledLine>,
    sections: impl IntoIterator<Item = Vec<StyledLine>>,
) {
    for section in sections.into_iter().filter(|section| !section.is_empty()) {
        if !lines.is_empty() {
            lines.push(StyledLine::default());
        }
        lines.extend(section);
    }
}

/// The first `most` lines of `text`, with an ellipsis if there are more.
fn lines_within(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped_whole(text, columns);
    if lines.len() > most {
        lines.truncate(most);
        lines.last_mut().into_iter().for_each(|last| last.push('…'));
    }
    lines
}

/// The text in parentheses after a task's title.
fn facts_of(task: &TaskLine) -> String {
    let mut facts = Vec::new();
    if task.iteration > 0 {
        facts.push(format!("{}/{}", task.iteration, task.max_iterations));
    }
    // The attempt number isn't enough, since a retry starts at 1 again.
    if task.failed_verdicts > task.iteration {
        facts.push(format!("{} failed", task.failed_verdicts));
    }
    if task.asked > 0 && task.status.is_final() {
        facts.push(counted(task.asked, "question"));
    }
    facts.extend(task.owner.iter().map(ToString::to_string));
    facts.extend(task.commit.iter().map(|commit| short(commit).to_owned()));
    match facts.is_empty() {
        true => String::new(),
        false => format!("  ({})", facts.join(", ")),
    }
}

/// The lines below a task: its obstacle or failure, and the changes to its scope and checks.
fn details_of(task: &TaskLine) -> Vec<String> {
    let detail = task.detail.iter().flat_map(|detail| reason_lines(detail));
    let mut lines: Vec<String> = detail.map(str::to_owned).collect();
    lines.extend(task.drift.clone());
    for granted in &task.granted {
        let by = match granted.by {
            Decider::User => "you",
            Decider::Auto => "the policy",
        };
        lines.push(format!("+ {} (by {by}): {}", granted.path, granted.reason));
    }
    let dropped = task.dropped.iter();
    lines.extend(dropped.map(|line| format!("- not checked, by your choice: {line}")));
    lines
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

    /// A run of `tasks` tasks: a third of them are done, some are being built, and most of the others wait for one of
    /// those.
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
        let text = status_in(state, LeadPresence::Unknown, columns, all);
        text.lines().map(str::to_owned).collect()
    }

    fn status_in(state: &State, lead: LeadPresence, columns: usize, all: bool) -> String {
        let now = state.last_at.unwrap() + jiff::SignedDuration::from_secs(5);
        let report = StatusReport::new(state, lead);
        StatusView::new(state, &report, now, columns).whole_text(all)
    }

    fn plain(state: &State, columns: usize) -> String {
        theme::without_colours(&status(state, columns, false).join("\n"))
    }

    #[test]
    fn the_status_fits_a_screen_of_any_size() {
        for tasks in [1, 5, 20, 200, 1000] {
            for columns in [40, 60, 80, 120, 200] {
                let lines = status(&busy(tasks), columns, false);
                // Questions and failures are shown in full, even on a narrow terminal.
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
        assert_snapshot!(plain(&busy(5), 200), @"
        Plan sample-20261121 (running)  5 min
        ▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 1 of 5 tasks done, 2 failed, 1 being built, 1 waiting

        Needs you:
          ? 1 of 2: Task 3 failed for good. How should it continue?
          ? 2 of 2: Task 4 failed for good. How should it continue?
            fp answer sample-20261121 q3 --option Retry

          ✕ 3  failed     Write part 3 of the parser, with all that belongs to it  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ✕ 4  failed     Write part 4 of the parser, with all that belongs to it  (1 question)
                          Criterion 1: the parser takes an empty line for the end
          ▶ 2  building   Write part 2 of the parser, with all that belongs to it  (1/3, builder-2)
          ○ 5  waiting    Write part 5 of the parser, with all that belongs to it
                          it waits for 2
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
        let text = status_in(&busy(5), LeadPresence::Gone, 80, false);
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
        let text = status_in(&busy(20), LeadPresence::Unknown, usize::MAX, false);
        assert_snapshot!(theme::without_colours(&text), @"
        Plan sample-20261121 (running)  16 min
        ▰▰▰▱▱▱▱▱▱▱ 6 of 20 tasks done, 3 failed, 1 being built, 10 waiting

        Needs you:
          ? 1 of 3: Task 8 failed for good. How should it continue?
          ? 2 of 3: Task 9 failed for good. How should it continue?
          ? 3 of 3: Task 10 failed for good. How should it continue?
            fp answer sample-20261121 q8 --option Retry

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
