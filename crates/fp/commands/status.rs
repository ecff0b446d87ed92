//! `fp status`.

use fp_core::report::critique::CritiqueLine;
use fp_core::report::status::{Phase, StatusReport};
use fp_core::run::State;
use fp_host::plan::OpenPlan;
use fp_host::screen::Screen;
use serde::Serialize;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::status;
use crate::watch::watch;

/// What planning writes, in the order in which it does.
const WRITTEN: [&str; 7] =
    ["pre-analysis.md", "interview.md", "research.md", "context.md", "tasks.md", "critique.md", "plan.md"];

/// Show how far a plan is
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Show it on the whole terminal, and go on as it changes: q ends, arrow keys scroll.
    #[arg(long, short)]
    watch: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    if args.watch {
        if context.format == Format::Text && Screen::is_there(context.env("TERM").as_deref()) {
            return watch(&plan, context);
        }
        context.printer.note("note: --watch shows text on a terminal: this is the status at the moment");
    }
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let report = StatusReport::new(&loaded.state);
    let planned = (report.phase == Phase::Planning).then(|| Planned::of(&plan, &loaded.state));
    match context.format {
        Format::Text => {
            let planned = planned.as_ref().map_or_else(String::new, Planned::text);
            context.printer.data(&(status::text(&report) + &planned));
        }
        Format::Json => context.printer.json(&Printed { report, planned })?,
    }
    Ok(Exit::Done)
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    report: StatusReport,
    #[serde(flatten)]
    planned: Option<Planned>,
}

/// How far a plan is that nobody has approved yet.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Planned {
    /// What there is in its folder.
    written: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    critique: Option<CritiqueLine>,
    /// How many tasks were done before the plan was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_before: Option<usize>,
}

impl Planned {
    fn of(plan: &OpenPlan, state: &State) -> Self {
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
