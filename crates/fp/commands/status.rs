//! `fp status`.

use fp_core::critique::CritiqueLine;
use fp_core::report::status::{Phase, StatusReport, TaskLine};
use fp_core::run::State;
use fp_core::run::event::Decider;
use fp_core::run::payload::short;
use fp_core::text::fitted;
use fp_host::plan::OpenPlan;
use fp_host::screen::Screen;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::{Format, WIDTH};
use crate::watch::watch_plan;

/// The files of planning, in order.
const WRITTEN: [&str; 7] =
    ["pre-analysis.md", "interview.md", "research.md", "context.md", "tasks.md", "critique.md", "plan.md"];

/// Show how far a plan is
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Show it on the whole terminal and keep it up to date: q ends, arrow keys scroll.
    #[arg(long, short)]
    watch: bool,
}

pub(crate) fn run(args: StatusArgs, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    if args.watch {
        if context.format == Format::Text && Screen::is_there(context.env("TERM").as_deref()) {
            return watch_plan(&plan, context);
        }
        context.printer.note("note: --watch shows text on a terminal: this is the status at the moment");
    }
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let report = StatusReport::new(&loaded.state);
    let planned = (report.phase == Phase::Planning).then(|| PlanningStatus::of_plan(&plan, &loaded.state));
    match context.format {
        Format::Text => {
            let planned = planned.as_ref().map_or_else(String::new, PlanningStatus::text);
            context.printer.data(&(status_text(&report) + &planned));
        }
        Format::Json => context.printer.json(&Printed { report, planned })?,
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    report: StatusReport,
    #[serde(flatten)]
    planned: Option<PlanningStatus>,
}

/// How far a plan is before its approval.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanningStatus {
    written: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    critique: Option<CritiqueLine>,
    /// Tasks done before the import.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_before: Option<usize>,
}

impl PlanningStatus {
    fn of_plan(plan: &OpenPlan, state: &State) -> Self {
        let written = WRITTEN.into_iter().filter(|name| plan.folder.file(name).exists()).collect();
        // A tree that can't be read is not the one that was criticised.
        let tree = plan.tree().map(|tree| tree.text).unwrap_or_default();
        let done_before = Some(state.imported.len()).filter(|count| *count > 0);
        Self { written, critique: CritiqueLine::new(state, &tree), done_before }
    }

    fn text(&self) -> String {
        let written = if self.written.is_empty() { "nothing".to_owned() } else { self.written.join(", ") };
        let critique = self.critique.iter().map(|critique| format!("{critique}\n"));
        let before = self.done_before.map_or_else(String::new, |count| {
            format!("Done before the import, and to be taken over with the approval: {count}\n")
        });
        format!("Written so far: {written}\n{}{before}", critique.collect::<String>())
    }
}

/// The report as text, which `fp next` prints as well.
pub(crate) fn status_text(report: &StatusReport) -> String {
    let mut text = format!("Plan {} ({})\n", report.plan_id, report.phase.word());
    if report.counts.total > 0 {
        text.push_str(&format!("{}\n", report.counts.in_words()));
    }
    if !report.tasks.is_empty() {
        text.push('\n');
    }
    let id_width = report.tasks.iter().map(|task| task.id.as_str().len()).max().unwrap_or(0);
    report.tasks.iter().for_each(|task| text.push_str(&task_lines(task, id_width)));
    for question in &report.questions {
        text.push_str(&format!("\nOpen question: {question}\n"));
    }
    text
}

fn task_lines(task: &TaskLine, id_width: usize) -> String {
    let mut facts = Vec::new();
    if task.iteration > 0 {
        facts.push(format!("{}/{}", task.iteration, task.max_iterations));
    }
    facts.extend(task.owner.as_ref().map(ToString::to_string));
    facts.extend(task.commit.as_deref().map(|commit| short(commit).to_owned()));
    let facts = if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) };
    let head = format!("  {:id_width$}  {:<9}  ", task.id.as_str(), task.state_word());
    let room = WIDTH.saturating_sub(head.width() + facts.width());
    let mut text = format!("{head}{}{facts}\n", fitted(&task.title, room.max(10)));
    let below = task.granted.iter().map(|granted| {
        let by = if granted.by == Decider::User { "you" } else { "the policy" };
        format!("+ {} (by {by}): {}", granted.path, granted.reason)
    });
    for line in task.detail.iter().cloned().chain(below) {
        let room = WIDTH.saturating_sub(id_width + 15).max(20);
        text.push_str(&format!("{:1$}{2}\n", "", id_width + 15, fitted(&line, room)));
    }
    text
}
