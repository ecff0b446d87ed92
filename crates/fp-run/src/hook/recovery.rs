//! Tells a session about unfinished runs: that it leads one, or that one was interrupted. Every session of the
//! repository gets this text, so it is short and leaves the rest to `fp next`.

use crate::report::standing::LeadPresence;
use crate::report::status::StatusReport;
use crate::run::State;
use fp_plan::text::counted;

/// An unfinished run.
#[derive(Debug, Clone, Copy)]
pub struct LedRun<'a> {
    pub state: &'a State,
    pub leader: RunLeader,
}

/// The leader of a run, as a session sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLeader {
    /// The session itself.
    This,
    /// The session itself, but in an earlier process of the client, whose agents ended with it.
    ThisBefore,
    /// Another session, or an unknown one.
    Another,
}

impl LedRun<'_> {
    fn is_own(&self) -> bool {
        self.leader != RunLeader::Another
    }
}

/// The context for a new session; `None` without an unfinished run. `runs` must be sorted, newest first.
pub fn context(runs: &[LedRun<'_>]) -> Option<String> {
    let own = runs.iter().find(|led| led.is_own());
    let mut text = opening_text(*own.or(runs.first())?);
    if let further @ 1.. = runs.len() - 1 {
        let runs = counted(further, "run");
        text += &format!("\nUnfinished besides: {runs}, which `fp plans` lists.");
    }
    Some(text)
}

/// The message for the user of a new session; `None` unless a run was interrupted.
pub fn for_user(runs: &[LedRun<'_>]) -> Option<String> {
    let led = runs.iter().find(|led| led.leader != RunLeader::This)?;
    let (plan, so_far) = (&led.state.plan_id, so_far(led.state));
    Some(format!(
        "Fractal Planner: the run of {plan} is unfinished, {so_far}. /fp:implement continues it."
    ))
}

/// The sentence that a summary of the conversation must keep; `None` if the session leads none of `runs`.
pub fn to_keep(runs: &[LedRun<'_>]) -> Option<String> {
    let own = runs.iter().find(|led| led.is_own())?;
    let plan = &own.state.plan_id;
    Some(format!(
        "Keep in the summary that this session leads the run of plan {plan} of Fractal Planner, and that \
         `fp next {plan}` says what to do, whatever the summary says of its tasks."
    ))
}

fn opening_text(led: LedRun<'_>) -> String {
    let (plan, so_far) = (&led.state.plan_id, so_far(led.state));
    let whose = match led.is_own() {
        true => format!("this session leads the unfinished run of plan {plan}"),
        false => format!("a run in this repository is unfinished: plan {plan}"),
    };
    let next = match led.leader {
        RunLeader::This => format!(
            "Run `fp next {plan}`, do each action as it is printed, and repeat until one ends your turn."
        ),
        RunLeader::ThisBefore => format!(
            "Its agents ended with the client's previous process. When the user wants to continue, run \
             `fp start {plan}`; then `fp next {plan}` says what to do."
        ),
        RunLeader::Another => format!(
            "Another session leads it, or led it and was interrupted. Start nothing by yourself; if it matters to \
             the user, say that `/fp:implement {plan}` continues it and `fp cancel {plan}` ends it."
        ),
    };
    format!("Fractal Planner: {whose}, {so_far}.\n{next}")
}

fn so_far(state: &State) -> String {
    // The lead's presence doesn't matter to somebody who continues the run.
    StatusReport::new(state, LeadPresence::Unknown)
        .counts
        .in_words()
}
