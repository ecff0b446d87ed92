//! Decides, without touching files, what has become of each debt and which debts concern a goal.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{clipped, one_line};
use fp_run::report::status::Phase;
use fp_run::run::State;
use fp_run::run::state::{RunStatus, Status, TaskState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Version of the lines in the log.
pub(super) const DEBT_VERSION: u32 = 1;
/// Longest text of a debt in characters; the rest is cut.
const MAX_CHARS: usize = 500;
/// Most debts offered to a new plan.
pub(super) const MOST_OFFERED: usize = 10;

/// The plan and task in which somebody noticed a debt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DebtOrigin {
    pub(super) plan: PlanId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<TaskId>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DebtEntry {
    schema_version: u32,
    at: Timestamp,
    #[serde(flatten)]
    event: DebtEvent,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase")]
pub(super) enum DebtEvent {
    Noted {
        /// `D` and a number.
        id: String,
        /// One line.
        text: String,
        /// Paths from the root of the repository.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<DebtOrigin>,
    },
    Closed {
        id: String,
        /// The plan that does it: the debt is taken up until that plan is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<PlanId>,
    },
    Dropped {
        id: String,
    },
}

impl DebtEvent {
    pub(super) fn at(self, at: Timestamp) -> DebtEntry {
        DebtEntry {
            schema_version: DEBT_VERSION,
            at,
            event: self,
        }
    }

    /// The effect of this event on its debt; `None` if it doesn't close it.
    pub(super) fn standing(&self, plans: &[DebtPlan<'_>]) -> Option<(&str, DebtStanding)> {
        match self {
            Self::Noted { .. } => None,
            Self::Dropped { id } => Some((id, DebtStanding::Dropped)),
            Self::Closed { id, plan: None } => Some((id, DebtStanding::Done { by: None })),
            Self::Closed {
                id,
                plan: Some(plan),
            } => {
                let plan = plans.iter().find(|known| known.state.plan_id == *plan);
                Some((
                    id,
                    plan.map_or(DebtStanding::Open, DebtPlan::standing_of_taken),
                ))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Debt {
    /// `D3` for the third that was noted, `PLAN:TASK` for a task that a run left undone.
    pub(super) id: String,
    /// One line.
    pub(super) text: String,
    pub(super) files: Vec<String>,
    pub(super) from: Option<DebtOrigin>,
    pub(super) at: Timestamp,
    #[serde(flatten)]
    pub(super) standing: DebtStanding,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub(super) enum DebtStanding {
    Open,
    /// An unfinished plan has taken it up.
    Taken {
        by: PlanId,
    },
    Done {
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<PlanId>,
    },
    Dropped,
}

impl DebtStanding {
    /// True if somebody still has to do it.
    pub(super) fn is_due(&self) -> bool {
        matches!(self, Self::Open | Self::Taken { .. })
    }
}

/// A plan, as far as debts depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DebtPlan<'s> {
    pub(super) state: &'s State,
    pub(super) archived: bool,
}

impl DebtPlan<'_> {
    /// The standing of a debt that this plan took up: done with the plan's last task, open again if the plan
    /// ended or was archived before that.
    pub(super) fn standing_of_taken(&self) -> DebtStanding {
        let by = self.state.plan_id.clone();
        let is_done = self
            .state
            .tasks
            .iter()
            .all(|task| task.status == Status::Completed);
        match Phase::of(self.state) {
            Phase::Finished | Phase::Cancelled if is_done => DebtStanding::Done { by: Some(by) },
            Phase::Planning | Phase::Approved | Phase::Running if !self.archived => {
                DebtStanding::Taken { by }
            }
            Phase::Planning
            | Phase::Approved
            | Phase::Running
            | Phase::Finished
            | Phase::Cancelled => DebtStanding::Open,
        }
    }

    /// Tasks that a finished run left undone, and whatever verification let pass unfinished. An unfinished
    /// run may still do them.
    fn leftovers(&self) -> impl Iterator<Item = Debt> {
        let over = self
            .state
            .run
            .as_ref()
            .is_some_and(|run| run.status != RunStatus::Running);
        let tasks = if over { &self.state.tasks[..] } else { &[] };
        tasks.iter().filter_map(|task| leftover(self.state, task))
    }
}

/// Every debt: noted ones in the order of the log, then the leftovers of the runs of `plans`.
pub(super) fn all_debts(log: &[DebtEntry], plans: &[DebtPlan<'_>]) -> Vec<Debt> {
    let mut debts: Vec<Debt> = log.iter().filter_map(noted_debt).collect();
    let mut known = BTreeSet::new();
    // Merging two branches can bring in a second line with the same number; the first one counts.
    debts.retain(|debt| known.insert(debt.id.clone()));
    debts.extend(plans.iter().flat_map(DebtPlan::leftovers));
    let ends = log.iter().filter_map(|entry| {
        let (id, standing) = entry.event.standing(plans)?;
        Some((id, (entry.at, standing)))
    });
    let ends: BTreeMap<&str, (Timestamp, DebtStanding)> = ends.collect();
    for debt in &mut debts {
        // A task that a later run left undone again is open again.
        if let Some((_, standing)) = ends.get(&*debt.id).filter(|(at, _)| *at >= debt.at) {
            debt.standing = standing.clone();
        }
    }
    debts
}

fn noted_debt(entry: &DebtEntry) -> Option<Debt> {
    let DebtEvent::Noted {
        id,
        text,
        files,
        from,
    } = entry.event.clone()
    else {
        return None;
    };
    Some(Debt {
        id,
        text,
        files,
        from,
        at: entry.at,
        standing: DebtStanding::Open,
    })
}

fn leftover(state: &State, task: &TaskState) -> Option<Debt> {
    let leaf = &task.leaf;
    let text = match task.status {
        Status::Failed => match &task.reason {
            Some(reason) => format!("{} (failed: {reason})", leaf.title),
            None => format!("{} (failed)", leaf.title),
        },
        Status::Skipped => match &task.because {
            Some(because) => format!("{} (skipped, since {because} failed)", leaf.title),
            None => format!("{} (skipped)", leaf.title),
        },
        Status::Completed => {
            let checks = &task.verification.as_ref()?.checks;
            let unfinished = checks.iter().find(|check| check.lets_go())?;
            format!("Unfinished after \"{}\": {}", leaf.title, unfinished.detail)
        }
        Status::Pending | Status::Implementing | Status::AwaitingVerification => return None,
    };
    let plan = state.plan_id.clone();
    Some(Debt {
        id: format!("{plan}:{}", leaf.id),
        text: debt_text(&text),
        files: leaf.files.clone(),
        from: Some(DebtOrigin {
            plan,
            task: Some(leaf.id.clone()),
        }),
        at: task.ended_at.or(state.last_at)?,
        standing: DebtStanding::Open,
    })
}

/// `text` on one line of at most [`MAX_CHARS`] characters.
pub(super) fn debt_text(text: &str) -> String {
    clipped(&one_line(text), MAX_CHARS)
}

/// The id for the next noted debt. Only valid while the caller holds the lock under which it writes the line.
pub(super) fn next_id(known: &[Debt]) -> String {
    let numbers = known
        .iter()
        .filter_map(|debt| debt.id.strip_prefix('D')?.parse::<u32>().ok());
    format!("D{}", numbers.max().unwrap_or(0).saturating_add(1))
}

/// Open debts, the most relevant to a goal first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DebtOffer {
    /// At most [`MOST_OFFERED`].
    pub(super) debts: Vec<Debt>,
    /// Number of further open debts.
    pub(crate) more: usize,
}

/// Offers the open ones of `debts`: first those whose files `goal` names, then the latest. The words of the others are
/// for a model to compare.
pub(super) fn offer(mut debts: Vec<Debt>, goal: &str) -> DebtOffer {
    debts.retain(|debt| debt.standing == DebtStanding::Open);
    debts.sort_by_cached_key(|debt| {
        let files = debt
            .files
            .iter()
            .filter(|file| goal.contains(file.as_str()))
            .count();
        Reverse((files, debt.at))
    });
    let more = debts.len().saturating_sub(MOST_OFFERED);
    debts.truncate(MOST_OFFERED);
    DebtOffer { debts, more }
}

#[cfg(test)]
mod tests {
    use fp_run::run::event::Leaf;
    use fp_run::verification::{Check, CheckVerdict};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn id(text: &str) -> String {
        text.to_owned()
    }

    fn noted(name: &str, text: &str, second: i64) -> DebtEntry {
        DebtEvent::Noted {
            id: id(name),
            text: text.into(),
            files: Vec::new(),
            from: None,
        }
        .at(at(second))
    }

    fn closed(name: &str, plan: Option<&str>, second: i64) -> DebtEntry {
        DebtEvent::Closed {
            id: id(name),
            plan: plan.map(|plan| PlanId::new(plan).unwrap()),
        }
        .at(at(second))
    }

    fn state(plan: &str, run: Option<&str>, tasks: &[Status]) -> State {
        let mut state = State::new(PlanId::new(plan).unwrap());
        state.run = run.map(|status| {
            let run = json!({
                "builders": 1, "maxIterations": 3, "noCommit": false, "status": status, "startedAt": at(1),
            });
            serde_json::from_value(run).unwrap()
        });
        state.tasks = tasks
            .iter()
            .enumerate()
            .map(|(i, status)| {
                let leaf: Leaf = serde_json::from_value(json!({
                    "id": (i + 1).to_string(), "title": format!("Part {}", i + 1), "hash": "", "complexity": 1,
                    "files": [format!("part_{}.rs", i + 1)],
                }))
                .unwrap();
                let reason = (*status == Status::Failed).then(|| "it was\nnot seen".into());
                TaskState { status: *status, ended_at: Some(at(10)), reason, ..TaskState::new(leaf) }
            })
            .collect();
        state
    }

    fn listed(log: &[DebtEntry], plans: &[(&State, bool)]) -> Vec<String> {
        let plans: Vec<_> = plans
            .iter()
            .map(|(state, archived)| DebtPlan {
                state,
                archived: *archived,
            })
            .collect();
        let line = |debt: &Debt| format!("{}: {} {:?}", debt.id, debt.text, debt.standing);
        all_debts(log, &plans).iter().map(line).collect()
    }

    #[test]
    fn what_a_run_left_over() {
        use Status::{Completed, Failed, Implementing, Pending, Skipped};
        let mut over = state(
            "p",
            Some("finished"),
            &[Completed, Failed, Skipped, Pending],
        );
        over.tasks[2].because = Some(TaskId::new("2").unwrap());
        assert_eq!(
            listed(&[], &[(&over, true)]),
            [
                "p:2: Part 2 (failed: it was not seen) Open",
                "p:3: Part 3 (skipped, since 2 failed) Open"
            ]
        );
        let note = |name: &str, verdict| Check {
            name: name.into(),
            verdict,
            detail: "a.md:1: TODO".into(),
        };
        over.tasks[0].verification =
            serde_json::from_value(json!({ "tree": "", "files": [] })).ok();
        let checks = [
            note("boundary", CheckVerdict::Note),
            note("leftovers", CheckVerdict::Note),
        ];
        over.tasks[0].verification.as_mut().unwrap().checks = checks.into();
        over.tasks.truncate(1);
        assert_eq!(
            listed(&[], &[(&over, false)]),
            ["p:1: Unfinished after \"Part 1\": a.md:1: TODO Open"]
        );
        assert_eq!(
            listed(
                &[],
                &[(&state("q", Some("running"), &[Failed, Implementing]), false)]
            ),
            [""; 0]
        );
        assert_eq!(
            listed(&[], &[(&state("q", None, &[Failed]), false)]),
            [""; 0]
        );
    }

    #[test]
    fn what_becomes_of_debts() {
        use Status::{Completed, Failed, Pending};
        let log = [
            noted("D1", "one", 1),
            noted("D2", "two", 2),
            noted("D1", "again", 3),
        ];
        let check = |more: &[DebtEntry], plans: &[(&State, bool)], expect: [&str; 2]| {
            assert_eq!(
                listed(&[&log[..], more].concat(), plans)[..2],
                expect.map(str::to_owned),
                "{more:?}"
            );
        };
        check(&[], &[], ["D1: one Open", "D2: two Open"]);
        check(
            &[closed("D1", None, 4)],
            &[],
            ["D1: one Done { by: None }", "D2: two Open"],
        );
        let dropped = DebtEvent::Dropped { id: id("D2") }.at(at(5));
        check(
            &[closed("D2", None, 4), dropped],
            &[],
            ["D1: one Open", "D2: two Dropped"],
        );
        let taken = [closed("D1", Some("p"), 4)];
        let by = "by: PlanId(\"p\")";
        let open = "D1: one Open";
        check(&taken, &[], [open, "D2: two Open"]);
        let phases: [(Option<&str>, &[Status], bool, &str); 7] = [
            (None, &[], false, "Taken"),
            (Some("running"), &[Completed, Pending], false, "Taken"),
            (Some("finished"), &[Completed], false, "Done"),
            (Some("finished"), &[Completed], true, "Done"),
            (Some("finished"), &[Completed, Failed], false, open),
            (Some("cancelled"), &[Pending], false, open),
            (None, &[], true, open),
        ];
        for (run, tasks, archived, expect) in phases {
            let by = match expect {
                "Taken" => format!("D1: one Taken {{ {by} }}"),
                "Done" => "D1: one Done { by: Some(PlanId(\"p\")) }".to_owned(),
                open => open.to_owned(),
            };
            check(
                &taken,
                &[(&state("p", run, tasks), archived)],
                [&by, "D2: two Open"],
            );
        }
    }

    #[test]
    fn what_is_left_over_again_is_open_again() {
        let over = state("p", Some("finished"), &[Status::Failed]);
        let check = |second: i64, expect: &str| {
            let line = format!("p:1: Part 1 (failed: it was not seen) {expect}");
            assert_eq!(
                listed(&[closed("p:1", None, second)], &[(&over, false)]),
                [line]
            );
        };
        check(10, "Done { by: None }");
        check(9, "Open");
    }

    #[test]
    fn numbers_and_texts() {
        let known = all_debts(
            &[
                noted("D4", "four", 1),
                noted("D7", "seven", 1),
                closed("D7", None, 2),
            ],
            &[],
        );
        assert_eq!(
            (next_id(&[]), next_id(&known)),
            ("D1".to_owned(), "D8".to_owned())
        );
        assert_eq!(debt_text(" a\n b "), "a b");
        let long = debt_text(&"한".repeat(600));
        assert_eq!(
            (long.chars().count(), long.ends_with("한…")),
            (MAX_CHARS, true)
        );
    }

    #[test]
    fn a_line_is_read_whatever_else_it_has() {
        let line = r#"{"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"noted","id":"D1","text":"a","owner":"me"}"#;
        let entry: DebtEntry = serde_json::from_str(line).unwrap();
        let written = serde_json::to_string(&entry).unwrap();
        assert_eq!(written, line.replace(r#","owner":"me""#, ""));
    }

    #[test]
    fn a_debt_in_a_file_of_the_goal_is_offered_first() {
        let mut log: Vec<DebtEntry> = (1..=12)
            .map(|n| noted(&format!("D{n}"), &format!("thing {n}"), n))
            .collect();
        let about = DebtEvent::Noted {
            id: id("D13"),
            text: "x".into(),
            files: vec!["src/auth.rs".into()],
            from: None,
        };
        log.push(about.at(at(0)));
        log.push(closed("D12", None, 20));
        let known = all_debts(&log, &[]);
        let check = |goal: &str, first: &[&str]| {
            let offer = offer(known.clone(), goal);
            let ids: Vec<String> = offer.debts.iter().map(|debt| debt.id.to_string()).collect();
            assert_eq!(
                (&ids[..first.len()], ids.len(), offer.more),
                (
                    &first.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()[..],
                    10,
                    2
                ),
                "{goal}"
            );
        };
        check("", &["D11", "D10", "D9"]);
        check("refresh tokens in src/auth.rs", &["D13", "D11"]);
    }

    proptest! {
        #[test]
        fn numbers_are_given_once_and_the_last_word_counts(steps in prop::collection::vec((0..3u8, 0..6usize), 0..40)) {
            let mut log: Vec<DebtEntry> = Vec::new();
            let mut expect: Vec<(String, DebtStanding)> = Vec::new();
            for (second, (kind, number)) in (1..).zip(steps) {
                let known = all_debts(&log, &[]);
                let (event, standing) = match (kind, known.get(number)) {
                    (0, _) => {
                        let (id, text) = (next_id(&known), format!("thing {number}"));
                        (DebtEvent::Noted { id, text, files: Vec::new(), from: None }, DebtStanding::Open)
                    }
                    (_, None) => continue,
                    (1, Some(debt)) => (DebtEvent::Closed { id: debt.id.clone(), plan: None }, DebtStanding::Done { by: None }),
                    (_, Some(debt)) => (DebtEvent::Dropped { id: debt.id.clone() }, DebtStanding::Dropped),
                };
                let id = match &event {
                    DebtEvent::Noted { id, .. } | DebtEvent::Closed { id, .. } | DebtEvent::Dropped { id } => id.to_string(),
                };
                match expect.iter_mut().find(|(known, _)| *known == id) {
                    Some(known) => known.1 = standing,
                    None => {
                        prop_assert_eq!(&id, &format!("D{}", expect.len() + 1));
                        expect.push((id, standing));
                    }
                }
                log.push(event.at(at(second)));
            }
            let written: Vec<String> = log.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
            let read: Vec<DebtEntry> = written.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            prop_assert_eq!(&read, &log);
            let found: Vec<_> = all_debts(&read, &[]).into_iter().map(|debt| (debt.id.to_string(), debt.standing)).collect();
            prop_assert_eq!(found, expect);
        }

        #[test]
        fn an_offer_is_of_open_debts_each_once(words in prop::collection::vec("[a-z한글 ]{0,12}", 0..30), goal in "[a-z한글 /.]{0,60}") {
            let log: Vec<DebtEntry> = (1..).zip(&words).map(|(n, text)| noted(&format!("D{n}"), text, n)).collect();
            let known = all_debts(&log, &[]);
            let offer = offer(known.clone(), &goal);
            prop_assert_eq!(offer.debts.len() + offer.more, known.len());
            prop_assert!(offer.debts.len() <= MOST_OFFERED && (offer.more == 0 || offer.debts.len() == MOST_OFFERED));
            let ids: std::collections::BTreeSet<_> = offer.debts.iter().map(|debt| &debt.id).collect();
            prop_assert_eq!(ids.len(), offer.debts.len());
        }
    }
}
