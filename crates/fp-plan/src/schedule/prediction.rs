//! Predicts how many minutes a plan takes, and how many one session takes for the same work. A complexity stands for
//! minutes; a task of a plan takes longer than its share of a session, since its agent reads what others have read.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::simulation::{Simulation, TaskSeconds};
use super::{ScheduleOptions, weight_of};
use crate::plan::field::FieldKind;
use crate::plan::task::{Plan, Task};

/// Minutes of one agent in one sitting for a task of complexity 1 to 10.
pub const MINUTES: [u32; 10] = [2, 4, 7, 10, 15, 20, 30, 45, 60, 90];
/// Minutes, and share of its work, that a task of a plan takes more than the same work in a session.
const OVERHEAD: (f64, f64) = (3.0, 0.25);
/// Minutes of a task that is only checked, from its submission to its commit.
const CHECKED: f64 = 0.5;
/// Share of a verdict in the minutes that were built, and its fewest and most minutes.
const VERDICT: (f64, f64, f64) = (0.1, 2.0, 10.0);
/// Weight of the scale beside what was measured: minutes of all tasks, and number of tasks of one complexity.
const PRIOR: (f64, f64) = (20.0, 1.0);
/// Shortest and longest minutes of a task that count as measured.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.1..=600.0;
/// Largest number of builders that a prediction is made for.
const MOST_BUILDERS: u32 = 8;
/// A plan is worth its agents if it takes at most this share of one session.
const WORTH: f64 = 0.8;

/// Minutes of one agent in one sitting for a task of this complexity.
pub fn minutes_of(complexity: u32) -> u32 {
    MINUTES[complexity.clamp(1, 10) as usize - 1]
}

/// Minutes of a verdict on work that took `built` minutes.
pub fn verdict_minutes(built: f64) -> f64 {
    (built * VERDICT.0).clamp(VERDICT.1, VERDICT.2)
}

/// Minutes of a task of a plan by the scale alone.
fn expected_minutes(complexity: u32) -> f64 {
    f64::from(minutes_of(complexity)) * (1.0 + OVERHEAD.1) + OVERHEAD.0
}

/// Minutes that builders with one program and model have taken here, by complexity.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MeasuredPace(BTreeMap<u32, MeasuredMinutes>);

/// The sum of what tasks of one complexity took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct MeasuredMinutes {
    tasks: u32,
    minutes: f64,
}

impl MeasuredPace {
    /// Adds a task that took `minutes`; leaves out what no task takes.
    pub fn add_task(&mut self, complexity: u32, minutes: f64) {
        if PLAUSIBLE.contains(&minutes) && (1..=10).contains(&complexity) {
            let known = self.0.entry(complexity).or_default();
            known.tasks = known.tasks.saturating_add(1);
            known.minutes += minutes;
        }
    }

    /// Number of tasks that were measured.
    pub fn task_count(&self) -> u32 {
        self.plausible().map(|(_, known)| known.tasks).sum()
    }

    /// The sums that can be true; a file may say anything.
    fn plausible(&self) -> impl Iterator<Item = (u32, MeasuredMinutes)> {
        let is_plausible = |known: &MeasuredMinutes| {
            known.tasks > 0 && PLAUSIBLE.contains(&(known.minutes / f64::from(known.tasks)))
        };
        self.0
            .iter()
            .map(|(complexity, known)| (*complexity, *known))
            .filter(move |(_, known)| is_plausible(known))
    }

    /// How much longer than by the scale tasks take.
    fn factor(&self) -> f64 {
        let expected = |(complexity, known): (u32, MeasuredMinutes)| {
            expected_minutes(complexity) * f64::from(known.tasks)
        };
        let by_scale: f64 = self.plausible().map(expected).sum();
        let measured: f64 = self.plausible().map(|(_, known)| known.minutes).sum();
        (PRIOR.0 + measured) / (PRIOR.0 + by_scale)
    }

    /// Minutes of a task of a plan.
    fn task_minutes(&self, complexity: u32) -> f64 {
        let prior = expected_minutes(complexity) * self.factor();
        let known = self.plausible().find(|(of, _)| *of == complexity);
        let (tasks, minutes) = known.map_or((0.0, 0.0), |(_, known)| {
            (f64::from(known.tasks), known.minutes)
        });
        (PRIOR.1 * prior + minutes) / (PRIOR.1 + tasks)
    }
}

/// The terms of a prediction beside the tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictionTerms {
    pub pace: MeasuredPace,
    /// True for a leaf that gets a verifier of its own, by its id.
    pub judged: BTreeMap<String, bool>,
    /// True if a verifier judges the result as a whole.
    pub is_judged_whole: bool,
}

impl PredictionTerms {
    fn is_judged(&self, leaf: &Task<'_>) -> bool {
        self.judged.get(&*leaf.id).copied().unwrap_or(true)
    }

    /// The seconds of each task of `plan`. A leaf takes a minute at least, so that its dependents start in a later one.
    pub(super) fn task_seconds(&self, plan: &Plan<'_>) -> Vec<TaskSeconds> {
        let is_only = plan.leaves().nth(1).is_none();
        let of_task = |task: &Task<'_>| {
            if !task.is_leaf() {
                return (0, 0);
            }
            let complexity = weight_of(task);
            let built = match is_only || task.fields.text(FieldKind::Kind) == Some("contract") {
                false => self.pace.task_minutes(complexity),
                // The only task and a contract read nothing that somebody else has read.
                true => f64::from(minutes_of(complexity)) * self.pace.factor(),
            };
            let judged = match self.is_judged(task) {
                true => verdict_minutes(built),
                false => CHECKED,
            };
            (seconds_of(built.max(1.0)), seconds_of(judged))
        };
        plan.tasks.iter().map(of_task).collect()
    }
}

/// The chain of tasks that wait for each other and take longest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CriticalPath<'p> {
    /// Ids in order.
    pub tasks: Vec<&'p str>,
    /// With the verdict at the end.
    pub minutes: u32,
}

/// Minutes with a number of builders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BuilderMinutes {
    pub builders: u32,
    pub minutes: u32,
}

/// The prediction for a plan, in minutes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prediction<'p> {
    /// The same work in one session.
    pub session: u32,
    /// With the scheduled number of builders.
    pub minutes: u32,
    pub builders: u32,
    /// The chain that no number of builders shortens.
    pub critical_path: CriticalPath<'p>,
    /// Each number of builders that is faster than the one before.
    pub by_builders: Vec<BuilderMinutes>,
    /// Number of agents: builders and verifiers of leaves, and the verifier at the end.
    pub sittings: usize,
    /// Number of tasks on this machine that the prediction is corrected by.
    pub measured: u32,
    /// True if the split gains less than a fifth of the session's time, and the plan names no other reason for it.
    pub is_not_worth: bool,
}

impl<'p> Prediction<'p> {
    pub(super) fn new(
        simulation: &Simulation<'p>,
        options: &ScheduleOptions,
        terms: &PredictionTerms,
    ) -> Self {
        let plan = simulation.plan;
        let leaves: Vec<&Task<'_>> = plan.leaves().collect();
        let share = |leaf: &&Task<'_>| f64::from(minutes_of(weight_of(leaf)));
        let session = leaves.iter().map(share).sum::<f64>() * terms.pace.factor();
        let judged = leaves.iter().filter(|leaf| terms.is_judged(leaf)).count();
        let is_whole = terms.is_judged_whole && leaves.len() > 1;
        let end = u64::from(is_whole) * seconds_of(verdict_minutes(session));
        let with = |builders| rounded(simulation.play(builders).1 + end);
        let builders = options.max_parallel_tasks.max(1);
        let mut by_builders: Vec<BuilderMinutes> = Vec::new();
        for builders in 1..=MOST_BUILDERS {
            let minutes = with(builders);
            // A minute in twenty is no difference.
            let is_faster =
                |last: &BuilderMinutes| u64::from(minutes) * 20 < u64::from(last.minutes) * 19;
            if by_builders.last().is_none_or(is_faster) {
                by_builders.push(BuilderMinutes { builders, minutes });
            }
        }
        let tasks = plan.tasks.iter();
        let mut reasons = tasks.filter_map(|task| task.fields.text(FieldKind::Split));
        let has_reason = reasons.any(|reason| reason != "parallel");
        let (minutes, session) = (with(builders), rounded(seconds_of(session)));
        let (tasks, chain) = simulation.longest_chain();
        let is_slow = f64::from(minutes) > f64::from(session) * WORTH;
        Self {
            session,
            minutes,
            builders,
            critical_path: CriticalPath {
                tasks,
                minutes: rounded(chain + end),
            },
            by_builders,
            sittings: leaves.len() + judged + usize::from(is_whole),
            measured: terms.pace.task_count(),
            is_not_worth: leaves.len() > 1 && is_slow && !has_reason,
        }
    }
}

/// One line, such as `About 38 min with 3 builders (critical path 31), about 61 min in one session; 14 agents`.
impl fmt::Display for Prediction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let builders = crate::text::counted(self.builders as usize, "builder");
        write!(
            f,
            "About {} min with {builders} (critical path {}), about {} min in one session; {}",
            self.minutes,
            self.critical_path.minutes,
            self.session,
            crate::text::counted(self.sittings, "agent")
        )
    }
}

fn seconds_of(minutes: f64) -> u64 {
    Duration::from_secs_f64(minutes * 60.0).as_secs()
}

fn rounded(seconds: u64) -> u32 {
    u32::try_from(seconds.div_ceil(60).max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;
    use crate::schedule::schedule;

    fn predicted(tree: &str, builders: u32) -> Prediction<'static> {
        let plan = Box::leak(Box::new(parse(tree.to_owned().leak()).0));
        let options = ScheduleOptions {
            max_parallel_tasks: builders,
            ..ScheduleOptions::default()
        };
        let terms = PredictionTerms {
            is_judged_whole: true,
            ..PredictionTerms::default()
        };
        schedule(plan, &options, &terms).unwrap().prediction
    }

    #[test]
    fn a_split_gains_less_than_its_count() {
        let side_by_side = "- [ID: 1] A (Complexity: 7)\n  - Files: a\n- [ID: 2] B (Complexity: 7)\n  - Files: b\n- [ID: 3] C (Complexity: 7)\n  - Files: c\n";
        let three = predicted(side_by_side, 3);
        // 40.5 to build, 4.05 to judge, 9 at the end.
        assert_eq!((three.session, three.minutes, three.sittings), (90, 54, 7));
        assert!(!three.is_not_worth, "{three:?}");
        assert_eq!(
            three.to_string(),
            "About 54 min with 3 builders (critical path 54), about 90 min in one session; 7 agents"
        );
        let builders: Vec<u32> = three.by_builders.iter().map(|it| it.builders).collect();
        assert_eq!(builders, [1, 2, 3]);
        let one = predicted(side_by_side, 1);
        assert!(one.minutes > one.session && one.is_not_worth, "{one:?}");
        let asked = format!("- [ID: root] All\n  - Split: gate\n{}", side_by_side);
        assert!(!predicted(&asked, 1).is_not_worth);
        let parallel = asked.replace("gate", "parallel");
        assert!(predicted(&parallel, 1).is_not_worth);
    }

    #[test]
    fn a_verdict_has_a_tenth_within_limits() {
        let minutes = [0.0, 45.0, 5000.0].map(verdict_minutes);
        assert_eq!(minutes, [2.0, 4.5, 10.0]);
    }

    #[test]
    fn one_leaf_is_its_sitting() {
        let one = predicted("- [ID: 1] A (Complexity: 5)\n", 3);
        assert_eq!(
            (one.session, one.sittings, one.is_not_worth),
            (15, 2, false)
        );
        assert_eq!(one.by_builders.len(), 1);
        assert_eq!(predicted("", 1).sittings, 0);
    }

    #[test]
    fn a_contract_is_written_without_reading_again() {
        let minutes = |kind: &str| {
            let tree = format!(
                "- [ID: 1] A (Complexity: 2)\n{kind}- [ID: 2] B (Complexity: 5)\n  - Dependencies: 1\n"
            );
            predicted(&tree, 2).minutes
        };
        assert_eq!(minutes("  - Kind: contract\n") + 4, minutes(""));
    }

    #[test]
    fn shared_files_and_dependencies_take_turns() {
        let minutes = |second: &str| {
            let tree = format!(
                "- [ID: 1] A (Complexity: 5)\n  - Files: a\n- [ID: 2] B (Complexity: 5)\n  - {second}\n"
            );
            predicted(&tree, 2).minutes
        };
        let (apart, shared, behind) = (
            minutes("Files: b"),
            minutes("Files: a"),
            minutes("Dependencies: 1"),
        );
        assert!(
            apart < shared && shared == behind,
            "{apart} {shared} {behind}"
        );
    }

    #[test]
    fn what_waits_starts_in_a_later_minute_however_quick_the_tasks_are() {
        let tree =
            "- [ID: 1] A (Complexity: 1)\n- [ID: 2] B (Complexity: 1)\n  - Dependencies: 1\n";
        let (plan, _) = parse(tree);
        let mut terms = PredictionTerms::default();
        for _ in 0..100_000 {
            terms.pace.add_task(1, 0.1);
        }
        terms.judged = ["1", "2"].map(|id| (id.to_owned(), false)).into();
        let found = schedule(&plan, &ScheduleOptions::default(), &terms).unwrap();
        assert_eq!((found.order[0].start, found.order[1].start), (0, 1));
    }

    #[test]
    fn what_was_measured_corrects_the_scale() {
        let mut pace = MeasuredPace::default();
        for absurd in [f64::NAN, -5.0, 0.0, 1e9, f64::INFINITY] {
            pace.add_task(5, absurd);
        }
        pace.add_task(0, 5.0);
        pace.add_task(11, 5.0);
        assert_eq!((pace.task_count(), pace.factor()), (0, 1.0));
        let by_scale = pace.task_minutes(5);
        for _ in 0..9 {
            pace.add_task(5, 2.0 * by_scale);
        }
        assert!(
            pace.task_minutes(5) > 1.8 * by_scale,
            "{}",
            pace.task_minutes(5)
        );
        assert!(pace.task_minutes(7) > 1.5 * MeasuredPace::default().task_minutes(7));
        let written = r#"{"5":{"tasks":3,"minutes":1e300},"6":{"tasks":0,"minutes":1.0}}"#;
        let wrong: MeasuredPace = serde_json::from_str(written).unwrap();
        assert_eq!(
            wrong,
            serde_json::from_str(&serde_json::to_string(&wrong).unwrap()).unwrap()
        );
        assert!((wrong.task_minutes(5) - by_scale).abs() < 1e-9);
    }
}
