//! `fp interview check`.

use fp_core::interview::{Clearance, Step};
use fp_core::run::event::Decider;
use fp_host::plan::OpenPlan;
use serde::Serialize;

use super::{judge, read, write_page};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::clearance;

/// Say whether the interview has found out enough, and what is missing
///
/// It writes `interview.md` anew, with what it found. Exit status 1 says that something is missing. A plan that is
/// called `check` is shown by `fp interview -- check`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// The plan: its id, a part of it, or its number in `fp plans`
    plan: Option<String>,
}

/// What `--format json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    plan_id: &'a str,
    #[serde(flatten)]
    clearance: &'a Clearance,
}

pub(super) fn run(args: &Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let clearance = {
        let ledger = plan.lock()?;
        context.notices(ledger.notices());
        let interview = read(&plan)?;
        let clearance = judge(&plan, &interview, ledger.state().interview_rounds)?;
        write_page(&plan, &interview, &clearance)?;
        clearance
    };
    match context.format {
        Format::Json => {
            context.printer.json(&Report { plan_id: plan.id().as_str(), clearance: &clearance })?;
        }
        Format::Text => {
            context.printer.data(&clearance::text(plan.id(), &clearance, &next(&plan, &clearance)?));
        }
    }
    Ok(if clearance.may_go_on() { Exit::Done } else { Exit::Findings })
}

/// What brings planning on.
fn next(plan: &OpenPlan, clearance: &Clearance) -> Result<String, CommandError> {
    let (id, purpose) = (plan.id(), plan.folder.purpose()?);
    if clearance.may_go_on() {
        let steps = purpose.mode.steps(purpose.intent, &plan.settings);
        let behind = steps.into_iter().skip_while(|step| *step != Step::Interview).nth(1);
        let step = behind.expect("no mode ends with its interview");
        return Ok(format!("the step {}", step.name()));
    }
    Ok(match (purpose.by, clearance.open().count()) {
        (Decider::Auto, _) => format!("fp interview {id} --by auto, with the flags above"),
        (Decider::User, 0) => format!("ask once more: fp interview {id} --decision 'Q|A'"),
        (Decider::User, _) => format!("ask, then fp interview {id}, with the flags above"),
    })
}
