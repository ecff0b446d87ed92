//! Keeps planning from starting too early and from asking for ever: says what an interview has not found out yet.

use std::collections::BTreeSet;

use serde::Serialize;

use super::mode::{Mode, PlanningStep};
use super::record::{Interview, RecordedStatement, wording};
use crate::run::event::Decider;
use crate::run::state::InterviewRounds;
use fp_plan::rules::vague_phrase;
use fp_plan::text::{first_few, one_line, prompt_lines};

/// Number of rounds after which nobody is asked again.
pub const MAX_ROUNDS: u32 = 30;

/// Maximum quotation of a recorded text, in bytes.
const QUOTED: usize = 60;
/// Maximum number of texts quoted in one item.
const NAMED: usize = 3;
const UNCONFIRMED: &str = "the user has not confirmed it";

/// The facts beside the record that decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grounds {
    pub mode: Mode,
    /// Who answers for the plan's choices. If nobody can be asked, assumptions are enough.
    pub by: Decider,
    /// Number of times something was recorded.
    pub rounds: InterviewRounds,
}

/// Something to find out, and the flag that records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenItem {
    pub name: &'static str,
    /// Quotes strangers' texts, on one line.
    pub missing: String,
}

/// What is still missing before a plan can be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Clearance {
    /// True if nothing is missing.
    pub clear: bool,
    /// True if nobody will be asked again, even if something is missing.
    pub limit_reached: bool,
    pub open: Vec<OpenItem>,
}

impl Clearance {
    /// Judges `interview` by `grounds`.
    pub fn new(interview: &Interview, grounds: &Grounds) -> Self {
        let Grounds { mode, rounds, .. } = *grounds;
        let takes_assumptions = grounds.takes_assumptions();
        let rounds = match takes_assumptions {
            true => rounds.user.saturating_add(rounds.auto),
            false => rounds.user,
        };
        let looks: [(&'static str, Option<String>); 5] = [
            ("objective", missing_objective(interview, takes_assumptions)),
            (
                "scope",
                missing_scope(interview, takes_assumptions).filter(|_| mode != Mode::Direct),
            ),
            (
                "ambiguities",
                ambiguities(interview).filter(|_| mode != Mode::Direct),
            ),
            ("questions", open_questions(interview)),
            ("tests", missing_tests(interview, takes_assumptions)),
        ];
        let open = looks.into_iter().filter_map(|(name, missing)| {
            let missing = missing?;
            Some(OpenItem { name, missing })
        });
        let open: Vec<OpenItem> = open.collect();
        Self {
            clear: open.is_empty(),
            limit_reached: rounds >= MAX_ROUNDS,
            open,
        }
    }

    /// True if planning may continue.
    pub fn may_go_on(&self) -> bool {
        self.clear || self.limit_reached
    }
}

impl Grounds {
    /// True if the user need not confirm what was concluded: nobody can be asked, or the goal itself says what to build.
    /// The review shows it.
    fn takes_assumptions(&self) -> bool {
        self.by == Decider::Auto || matches!(self.mode, Mode::Direct | Mode::Specified)
    }
}

/// The step after the interview among `steps`, those of the plan. Where the interview settled the approach, nothing is
/// left to research and to choose.
pub fn step_after(
    interview: &Interview,
    grounds: &Grounds,
    steps: &[PlanningStep],
) -> Option<PlanningStep> {
    let is_confirmed = grounds.takes_assumptions() || interview.is_users("approach");
    let is_settled =
        interview.approach.is_some() && is_confirmed && steps.contains(&PlanningStep::Decompose);
    let is_left_out = |step: &PlanningStep| {
        is_settled && matches!(step, PlanningStep::Research | PlanningStep::Approach)
    };
    let behind = steps
        .iter()
        .copied()
        .skip_while(|step| *step != PlanningStep::Interview);
    behind.skip(1).find(|step| !is_left_out(step))
}

fn missing_objective(interview: &Interview, takes_assumptions: bool) -> Option<String> {
    if interview.objective.is_none() {
        return Some("nobody has said what the goal is: --objective TEXT".to_owned());
    }
    if interview.requirements.is_empty() {
        return Some("nothing is required yet: --requirement TEXT".to_owned());
    }
    let is_confirmed = takes_assumptions || interview.is_users("objective");
    (!is_confirmed).then(|| format!("{UNCONFIRMED}: --objective TEXT"))
}

fn missing_scope(interview: &Interview, takes_assumptions: bool) -> Option<String> {
    let (inside, outside) = (&interview.scope_inclusions, &interview.scope_exclusions);
    if inside.is_empty() {
        return Some("nothing is said to be in scope: --include TEXT".to_owned());
    }
    if outside.is_empty() && interview.excludes_nothing().is_none() {
        return Some(
            "nothing is said to be out of scope: --exclude TEXT, or --exclude none".to_owned(),
        );
    }
    let any_by_user =
        |said: &[RecordedStatement]| said.iter().any(|said| said.by == Some(Decider::User));
    if !takes_assumptions && !any_by_user(inside) {
        return Some(format!("{UNCONFIRMED}: --include TEXT"));
    }
    let is_confirmed = takes_assumptions
        || any_by_user(outside)
        || interview.excludes_nothing() == Some(Decider::User);
    (!is_confirmed).then(|| format!("{UNCONFIRMED}: --exclude TEXT, or --exclude none"))
}

fn ambiguities(interview: &Interview) -> Option<String> {
    let said = interview
        .requirements
        .iter()
        .chain(&interview.scope_inclusions);
    let vague = said.filter_map(|said| {
        let phrase = vague_phrase(&said.text)?;
        let name = if said.id.is_empty() {
            &said.text
        } else {
            &said.id
        };
        Some(format!("{} says {}", quoted(name), quoted(phrase)))
    });
    let vague: Vec<String> = vague.collect();
    let outside = interview.scope_exclusions.iter();
    let outside: BTreeSet<String> = outside.map(|said| wording(&said.text)).collect();
    let torn = interview
        .scope_inclusions
        .iter()
        .filter(|said| outside.contains(&wording(&said.text)));
    let torn: Vec<String> = torn.map(|said| quoted(&said.text)).collect();
    let problems = [
        (vague, "which nobody can observe"),
        (torn, "in and out of scope at once"),
    ];
    let problems = problems.iter().filter(|(texts, _)| !texts.is_empty());
    let problems: Vec<String> = problems
        .map(|(texts, why)| format!("{}, {why}", first_few(texts, NAMED)))
        .collect();
    let mend = "--withdraw ID-OR-TEXT, and say it anew";
    (!problems.is_empty()).then(|| format!("{}: {mend}", problems.join("; ")))
}

fn open_questions(interview: &Interview) -> Option<String> {
    let open: Vec<String> = interview
        .open_questions
        .iter()
        .map(|text| quoted(text))
        .collect();
    let named = first_few(&open, NAMED);
    (!open.is_empty()).then(|| format!("nobody has answered {named}: --decision 'QUESTION|ANSWER'"))
}

fn missing_tests(interview: &Interview, takes_assumptions: bool) -> Option<String> {
    if interview.test_strategy.is_none() {
        return Some("nobody has said how it is tested: --tests TEXT".to_owned());
    }
    let is_confirmed = takes_assumptions || interview.is_users("testStrategy");
    (!is_confirmed).then(|| format!("{UNCONFIRMED}: --tests TEXT"))
}

/// What somebody said, as it is, so that a command finds it again.
fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(&prompt_lines(text, QUOTED)))
}

#[cfg(test)]
mod tests;
