//! Tells what an interview hasn't found out yet, so that planning neither starts too early nor asks forever.

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

/// Maximum length of a quoted text, in bytes.
const QUOTED: usize = 60;
/// Maximum number of texts quoted in one item.
const NAMED: usize = 3;

/// The facts that decide whether an interview is complete, apart from its record.
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
    /// One line, which may quote strangers' texts.
    pub missing: String,
}

/// The items still missing before a plan can be made.
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
    /// Checks `interview` against `grounds`. Reports only the first gap in each item.
    pub fn new(interview: &Interview, grounds: &Grounds) -> Self {
        let takes_assumptions = grounds.takes_assumptions();
        let rounds = match takes_assumptions {
            true => grounds.rounds.user.saturating_add(grounds.rounds.auto),
            false => grounds.rounds.user,
        };
        let lack = |name: &'static str, flag: &str, is_said: bool, is_users: bool| {
            let fault = match (is_said, is_users || takes_assumptions) {
                (true, true) => return None,
                (true, false) => "the user has not confirmed it",
                (false, _) => "not said yet",
            };
            let missing = format!("{fault}: {flag}");
            Some(OpenItem { name, missing })
        };
        let is_users = |field: &str| interview.is_users(field);
        let any_users =
            |said: &[RecordedStatement]| said.iter().any(|said| said.by == Some(Decider::User));
        let has_objective = interview.objective.is_some();
        let has_requirements = !interview.requirements.is_empty();
        let (inside, outside) = (&interview.scope_inclusions, &interview.scope_exclusions);
        let none_by = interview.excludes_nothing();
        let has_outside = !outside.is_empty() || none_by.is_some();
        let users_outside = any_users(outside) || none_by == Some(Decider::User);
        // A goal that says itself what to build is its own scope.
        let is_stated = takes_assumptions && any_users(&interview.requirements);
        let (or_none, has_tests) = (
            "--exclude TEXT, or --exclude none",
            interview.test_strategy.is_some(),
        );
        let looks = [
            lack(
                "objective",
                "--objective TEXT",
                has_objective,
                is_users("objective"),
            ),
            lack("objective", "--requirement TEXT", has_requirements, true),
            lack(
                "scope",
                "--include TEXT",
                is_stated || !inside.is_empty(),
                any_users(inside),
            ),
            lack("scope", or_none, is_stated || has_outside, users_outside),
            ambiguous_words(interview),
            open_questions(interview),
            lack("tests", "--tests TEXT", has_tests, is_users("testStrategy")),
        ];
        let mut open: Vec<OpenItem> = looks.into_iter().flatten().collect();
        open.dedup_by_key(|item| item.name);
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
    /// True if the user needn't confirm conclusions, because nobody can be asked or because the goal itself says what
    /// to build. The review still shows the conclusions.
    fn takes_assumptions(&self) -> bool {
        self.by == Decider::Auto || matches!(self.mode, Mode::Direct | Mode::Specified)
    }
}

/// The step after the interview among the plan's `steps`. If the interview settled the approach, nothing is left to
/// research or choose.
pub fn step_after(
    interview: &Interview,
    grounds: &Grounds,
    steps: &[PlanningStep],
) -> Option<PlanningStep> {
    let is_confirmed = grounds.takes_assumptions() || interview.is_users("approach");
    let is_settled = interview.approach.is_some() && is_confirmed;
    let is_settled = is_settled && steps.contains(&PlanningStep::Decompose);
    let is_due = |step: &&PlanningStep| {
        !is_settled || !matches!(step, PlanningStep::Research | PlanningStep::Approach)
    };
    let is_later = |step: &&PlanningStep| **step != PlanningStep::Interview;
    steps.iter().filter(is_later).find(is_due).copied()
}

fn ambiguous_words(interview: &Interview) -> Option<OpenItem> {
    let inside = &interview.scope_inclusions;
    let vague = interview
        .requirements
        .iter()
        .chain(inside)
        .filter_map(|said| {
            let phrase = quoted(vague_phrase(&said.text)?);
            let name = if said.id.is_empty() {
                &said.text
            } else {
                &said.id
            };
            Some(format!("{} says {phrase}", quoted(name)))
        });
    let outside = interview.scope_exclusions.iter();
    let outside: BTreeSet<String> = outside.map(|said| wording(&said.text)).collect();
    let torn = inside
        .iter()
        .filter(|said| outside.contains(&wording(&said.text)));
    let faults: [(Vec<String>, &str); 2] = [
        (vague.collect(), "which nobody can observe"),
        (
            torn.map(|said| quoted(&said.text)).collect(),
            "in and out of scope at once",
        ),
    ];
    let faults = faults.iter().filter(|(texts, _)| !texts.is_empty());
    let told = faults.map(|(texts, why)| format!("{}, {why}", first_few(texts, NAMED)));
    let told = told.collect::<Vec<_>>().join("; ");
    (!told.is_empty()).then(|| OpenItem {
        name: "ambiguities",
        missing: format!("{told}: --withdraw ID-OR-TEXT, and say it anew"),
    })
}

fn open_questions(interview: &Interview) -> Option<OpenItem> {
    let open = interview.open_questions.iter();
    let open: Vec<String> = open.map(|text| quoted(text)).collect();
    let named = first_few(&open, NAMED);
    (!open.is_empty()).then(|| OpenItem {
        name: "questions",
        missing: format!("nobody has answered {named}: --decision 'QUESTION|ANSWER'"),
    })
}

/// Quotes somebody's words unchanged, so that a command can find them again.
fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(&prompt_lines(text, QUOTED)))
}

#[cfg(test)]
mod tests;
