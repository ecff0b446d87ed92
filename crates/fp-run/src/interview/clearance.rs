//! Keeps planning from starting too early and from asking for ever: decides if an interview has found out enough. Six
//! items are judged by what is recorded and who said it, between a minimum and a maximum number of rounds.

use std::collections::BTreeSet;

use serde::Serialize;

use super::answers::wording;
use super::intent::{Intent, Mode, PlanningStep};
use super::record::{Interview, ScopeStatement};
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

/// The facts beside the record that decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grounds {
    pub intent: Intent,
    /// The amount of planning.
    pub mode: Mode,
    /// The source of the plan's choices. If nobody can be asked, assumptions are enough.
    pub by: Decider,
    /// Number of times something was recorded.
    pub rounds: InterviewRounds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum ItemState {
    /// The user said it.
    Clear,
    /// Recorded, but not as said by the user.
    Assumed,
    /// Not recorded, and not needed: the task is small, or a later step asks.
    Automatic,
    /// Not recorded.
    Missing,
}

/// One of the six items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClearanceItem {
    pub name: &'static str,
    pub state: ItemState,
    /// The next thing to record, with the flag that does so; `None` if the item is no obstacle. Quotes strangers'
    /// texts, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// The state of an interview, and what is still missing before a plan can be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Clearance {
    /// True if nothing is missing.
    pub clear: bool,
    /// True if nobody will be asked again, even if something is missing.
    pub limit_reached: bool,
    /// The rounds so far: the user's, or all rounds if nobody can be asked.
    pub rounds: u32,
    /// Minimum number of rounds.
    pub min_rounds: u32,
    /// Maximum number of rounds.
    pub max_rounds: u32,
    /// All six, in order.
    pub items: Vec<ClearanceItem>,
}

impl Clearance {
    /// Judges `interview` by `grounds`.
    pub fn new(interview: &Interview, grounds: &Grounds) -> Self {
        let items: Vec<ClearanceItem> = ITEMS
            .iter()
            .map(|item| item.judge(interview, grounds))
            .collect();
        let (rounds, min_rounds) = (grounds.rounds_that_count(), grounds.min_rounds());
        Self {
            clear: rounds >= min_rounds && items.iter().all(|item| item.missing.is_none()),
            limit_reached: rounds >= MAX_ROUNDS,
            rounds,
            min_rounds,
            max_rounds: MAX_ROUNDS,
            items,
        }
    }

    /// True if planning may continue.
    pub fn may_go_on(&self) -> bool {
        self.clear || self.limit_reached
    }

    /// The step of planning that is next among `steps`, those of the plan. Where the interview settled the approach,
    /// nothing is left to research and to choose.
    pub fn next_step(&self, steps: &[PlanningStep]) -> Option<PlanningStep> {
        let is_settled = |item: &ClearanceItem| {
            item.name == "approach" && matches!(item.state, ItemState::Clear | ItemState::Assumed)
        };
        let is_left_out = |step: &PlanningStep| {
            matches!(step, PlanningStep::Research | PlanningStep::Approach)
                && steps.contains(&PlanningStep::Decompose)
                && self.items.iter().any(is_settled)
        };
        let mut behind = steps
            .iter()
            .copied()
            .skip_while(|step| *step != PlanningStep::Interview)
            .skip(1);
        behind.find(|step| !is_left_out(step))
    }

    /// The items that still need something.
    pub fn open(&self) -> impl Iterator<Item = &ClearanceItem> {
        self.items.iter().filter(|item| item.missing.is_some())
    }

    /// The state in words, without a full stop.
    pub fn in_words(&self) -> String {
        match self.open().count() {
            _ if self.clear => "clear".into(),
            _ if self.limit_reached => format!("not clear after {MAX_ROUNDS} rounds"),
            0 => "not clear, one more round at least".into(),
            1 => format!("1 of {} items is open", self.items.len()),
            open => format!("{open} of {} items are open", self.items.len()),
        }
    }

    /// True if planning continues with open items.
    pub fn is_left_open(&self) -> bool {
        self.limit_reached && !self.clear
    }

    /// The rounds so far with their limits, in words.
    pub fn rounds_in_words(&self) -> String {
        let Self {
            rounds,
            min_rounds,
            max_rounds,
            ..
        } = self;
        match min_rounds {
            0 => format!("{rounds} (at most {max_rounds})"),
            _ => format!("{rounds} (at least {min_rounds}, at most {max_rounds})"),
        }
    }
}

impl Grounds {
    fn is_small(&self) -> bool {
        self.intent == Intent::Trivial || self.mode == Mode::Direct
    }

    /// True if the user need not confirm what was concluded: nobody can be asked, or the goal itself says what to
    /// build. The review shows it.
    fn takes_assumptions(&self) -> bool {
        self.by == Decider::Auto || self.mode == Mode::Specified
    }

    fn min_rounds(&self) -> u32 {
        u32::from(!self.takes_assumptions())
    }

    fn rounds_that_count(&self) -> u32 {
        match self.takes_assumptions() {
            false => self.rounds.user,
            true => self.rounds.user.saturating_add(self.rounds.auto),
        }
    }
}

/// The amount that is recorded about an item.
enum Found {
    ByUser,
    /// Recorded, but not from the user; says what the user would have to confirm.
    Unconfirmed(String),
    /// Incomplete; says what to do.
    Lacking(String),
}

/// The relief for an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relief {
    Nothing,
    /// In small work anybody may say it, not only the user.
    Anybody,
    /// In small work nobody has to say it.
    Everything,
    /// Nobody has to say it: a step of its own asks.
    Later,
}

struct Rule {
    name: &'static str,
    relief: Relief,
    look: fn(&Interview) -> Found,
}

const ITEMS: [Rule; 6] = [
    Rule {
        name: "objective",
        relief: Relief::Nothing,
        look: objective,
    },
    Rule {
        name: "scope",
        relief: Relief::Everything,
        look: scope,
    },
    Rule {
        name: "ambiguities",
        relief: Relief::Everything,
        look: ambiguities,
    },
    Rule {
        name: "approach",
        relief: Relief::Later,
        look: approach,
    },
    Rule {
        name: "questions",
        relief: Relief::Nothing,
        look: questions,
    },
    Rule {
        name: "tests",
        relief: Relief::Anybody,
        look: tests,
    },
];

impl Rule {
    fn judge(&self, interview: &Interview, grounds: &Grounds) -> ClearanceItem {
        let is_due = grounds.is_small() || self.relief == Relief::Later;
        let relief = if is_due { self.relief } else { Relief::Nothing };
        let (state, missing) = match ((self.look)(interview), relief) {
            (Found::ByUser, _) => (ItemState::Clear, None),
            (Found::Unconfirmed(_), Relief::Nothing | Relief::Later)
                if grounds.takes_assumptions() =>
            {
                (ItemState::Assumed, None)
            }
            (_, Relief::Everything | Relief::Later) | (Found::Unconfirmed(_), Relief::Anybody) => {
                (ItemState::Automatic, None)
            }
            (Found::Unconfirmed(what), _) => (ItemState::Assumed, Some(what)),
            (Found::Lacking(what), _) => (ItemState::Missing, Some(what)),
        };
        ClearanceItem {
            name: self.name,
            state,
            missing,
        }
    }
}

fn lacking(what: &str) -> Found {
    Found::Lacking(what.into())
}

/// Requires that the user confirms it with `flag`, unless it came from the user.
fn confirmed(by_user: bool, flag: &str) -> Found {
    if by_user {
        Found::ByUser
    } else {
        Found::Unconfirmed(format!("the user has not confirmed it: {flag}"))
    }
}

fn is_user(by: Option<&str>) -> bool {
    by == Some("user")
}

fn objective(interview: &Interview) -> Found {
    if interview.objective().is_none() {
        return lacking("nobody has said what the goal is: --objective TEXT");
    }
    if interview.requirements().is_empty() {
        return lacking("nothing is required yet: --requirement TEXT");
    }
    confirmed(is_user(interview.said_by("objective")), "--objective TEXT")
}

fn scope(interview: &Interview) -> Found {
    let (inclusions, exclusions) = (interview.inclusions(), interview.exclusions());
    if inclusions.is_empty() {
        return lacking("nothing is said to be in scope: --include TEXT");
    }
    if exclusions.is_empty() && interview.excludes_nothing().is_none() {
        return lacking("nothing is said to be out of scope: --exclude TEXT, or --exclude none");
    }
    let any_by_user = |said: &[ScopeStatement<'_>]| said.iter().any(|said| said.by == "user");
    match confirmed(any_by_user(&inclusions), "--include TEXT") {
        Found::ByUser => {
            let by_user = any_by_user(&exclusions) || is_user(interview.excludes_nothing());
            confirmed(by_user, "--exclude TEXT, or --exclude none")
        }
        found => found,
    }
}

fn ambiguities(interview: &Interview) -> Found {
    let requirements = interview.requirements();
    if requirements.is_empty() {
        return lacking("nothing is required that could be judged: --requirement TEXT");
    }
    let (inclusions, exclusions) = (interview.inclusions(), interview.exclusions());
    let in_requirements = requirements.iter().filter_map(|required| {
        let phrase = vague_phrase(&required.text)?;
        Some(format!("{} says {}", quoted(&required.id), quoted(phrase)))
    });
    let in_scope = inclusions.iter().filter_map(|said| {
        let phrase = vague_phrase(said.text)?;
        Some(format!(
            "{}, in scope, says {}",
            quoted(said.text),
            quoted(phrase)
        ))
    });
    let vague: Vec<String> = in_requirements.chain(in_scope).collect();
    let out: BTreeSet<String> = exclusions.iter().map(|said| wording(said.text)).collect();
    let torn = inclusions
        .iter()
        .filter(|said| out.contains(&wording(said.text)));
    let torn: Vec<String> = torn.map(|said| quoted(said.text)).collect();
    let mut problems = Vec::new();
    if !vague.is_empty() {
        problems.push(format!(
            "{}, which nobody can observe",
            first_few(&vague, NAMED)
        ));
    }
    if !torn.is_empty() {
        problems.push(format!(
            "{}, in and out of scope at once",
            first_few(&torn, NAMED)
        ));
    }
    if problems.is_empty() {
        return Found::ByUser;
    }
    Found::Lacking(format!(
        "{}: --withdraw ID-OR-TEXT, and say it anew",
        problems.join("; ")
    ))
}

/// What somebody said, as it is, so that a command finds it again.
fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(&prompt_lines(text, QUOTED)))
}

fn approach(interview: &Interview) -> Found {
    match interview.approach() {
        Some(_) => confirmed(is_user(interview.said_by("approach")), "--approach TEXT"),
        None => lacking("nobody has said how to do it: --approach TEXT"),
    }
}

fn questions(interview: &Interview) -> Found {
    let open: Vec<String> = interview
        .open_questions()
        .iter()
        .map(|text| quoted(text))
        .collect();
    if open.is_empty() {
        return Found::ByUser;
    }
    Found::Lacking(format!(
        "nobody has answered {}: --decision 'QUESTION|ANSWER'",
        first_few(&open, NAMED)
    ))
}

fn tests(interview: &Interview) -> Found {
    match interview.test_strategy() {
        Some(_) => confirmed(is_user(interview.said_by("testStrategy")), "--tests TEXT"),
        None => lacking("nobody has said how it is tested: --tests TEXT"),
    }
}

#[cfg(test)]
mod tests;
