//! Explains a task's state: its history, the chain of what it waits for down to the cause, and the commands that
//! unblock it.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::handoff::NextStep;
use super::log::{TaskConcern, ToldEvent, word_entry};
use super::reason_lines;
use super::standing::{LeadPresence, RunStanding, TaskHalt};
use super::status::{TaskLine, task_line};
use crate::run::Refusal;
use crate::run::event::{Entry, Event};
use crate::run::question::AnswerChoice;
use crate::run::ready::{Obstacle, Obstacles};
use crate::run::state::{State, Status, TaskState};
use fp_plan::plan::id::{PlanId, TaskId};

/// Maximum number of causes for which next steps are suggested.
const CAUSES: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyReport {
    pub plan_id: PlanId,
    pub task: TaskId,
    pub title: String,
    /// The events that led to the task's state, oldest first.
    pub events: Vec<TaskEvent>,
    /// The task, then what blocks it, and so on down to the causes. Each task occurs once, below the first one it
    /// blocks.
    pub chain: Vec<WhyLink>,
    /// The commands that unblock the task; empty if it is done.
    pub next: Vec<NextStep>,
}

/// An event of the task's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskEvent {
    /// Number of the log entry.
    pub seq: u64,
    pub at: Timestamp,
    /// About this task, or about one whose failure or retry affected it.
    #[serde(flatten)]
    pub told: ToldEvent,
}

/// A task of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WhyLink {
    #[serde(flatten)]
    pub line: TaskLine,
    /// Number of tasks above it in the chain; 0 for the task in question.
    pub depth: usize,
    /// The reason for the task's state.
    pub reason: String,
}

impl WhyReport {
    /// Explains leaf `id` from its state and the whole log. `edited` holds the leaves that differ from the approval.
    /// Refused if the plan isn't approved or has no such leaf.
    pub fn new<'e>(
        state: &State,
        entries: impl IntoIterator<Item = &'e Entry>,
        edited: &BTreeSet<TaskId>,
        lead: LeadPresence,
        id: &TaskId,
    ) -> Result<Self, Refusal> {
        if state.approval.is_none() {
            return Err(Refusal::NotApproved);
        }
        let task = state.expect_task(id)?;
        let why = TaskReasons {
            state,
            standing: RunStanding::of(state, lead),
            obstacles: state.obstacles(edited),
        };
        let (chain, causes) = why.chain_below(task);
        let causes = causes.into_iter().take(CAUSES);
        let mut next: Vec<NextStep> = Vec::new();
        for step in causes.flat_map(|cause| why.ways_out(cause)) {
            if !next.contains(&step) {
                next.push(step);
            }
        }
        Ok(Self {
            plan_id: state.plan_id.clone(),
            task: id.clone(),
            title: task.leaf.title.clone(),
            events: events_of(entries, id),
            chain,
            next,
        })
    }
}

fn events_of<'e>(entries: impl IntoIterator<Item = &'e Entry>, id: &TaskId) -> Vec<TaskEvent> {
    let mut concern = TaskConcern::new(id.clone());
    let mut all = Vec::new();
    for entry in entries {
        // `Verified` is left out, because the verdict repeats which checks failed.
        let told = word_entry(entry, |event| {
            concern.includes(event) && !matches!(event, Event::Verified { .. })
        });
        all.extend(told.into_iter().map(|told| TaskEvent {
            seq: entry.seq,
            at: entry.at,
            told,
        }));
    }
    all
}

/// The facts that explain the states of tasks.
struct TaskReasons<'s, 'e> {
    state: &'s State,
    standing: RunStanding,
    obstacles: Obstacles<'s, 'e>,
}

impl<'s> TaskReasons<'s, '_> {
    /// The chain below `task`, depth first, and the tasks in it that nothing else blocks.
    fn chain_below(&self, task: &'s TaskState) -> (Vec<WhyLink>, Vec<&'s TaskState>) {
        let (mut links, mut causes) = (Vec::new(), Vec::new());
        let mut seen = HashSet::from([&task.leaf.id]);
        let mut open = vec![(task, 0)];
        while let Some((task, depth)) = open.pop() {
            let line = task_line(self.state, self.standing, &self.obstacles, task);
            links.push(WhyLink {
                reason: self.reason_of(task, &line),
                line,
                depth,
            });
            let blockers = self.blockers_of(task);
            if blockers.is_empty() {
                causes.push(task);
            }
            // The stack pops the last task first.
            let unseen = blockers
                .into_iter()
                .rev()
                .filter(|task| seen.insert(&task.leaf.id));
            open.extend(unseen.map(|task| (task, depth + 1)));
        }
        (links, causes)
    }

    /// The tasks that block `task`.
    fn blockers_of(&self, task: &TaskState) -> Vec<&'s TaskState> {
        let among = |ids: &[TaskId]| -> Vec<&'s TaskState> {
            ids.iter().filter_map(|id| self.state.task(id)).collect()
        };
        match self.obstacles.obstacle_to(task) {
            Some(Obstacle::Waits { on }) => among(&on),
            Some(Obstacle::File { task, .. }) => among(&[task]),
            Some(Obstacle::Blocked { by }) => {
                let mut lost = among(&task.leaf.dependencies);
                lost.retain(|t| matches!(t.status, Status::Failed | Status::Skipped));
                match lost.is_empty() && by != task.leaf.id {
                    true => among(&[by]),
                    false => lost,
                }
            }
            _ => Vec::new(),
        }
    }

    fn reason_of(&self, task: &TaskState, line: &TaskLine) -> String {
        let (state, id) = (self.state, &line.id);
        if let Some(asked) = state.open_questions().find(|q| q.topic.task() == Some(id)) {
            return format!("question {} waits for an answer: {}", asked.id, asked.text);
        }
        if let Some(detail) = &line.detail {
            return reason_lines(detail).join("; ");
        }
        let what = match line.status {
            Status::Completed if task.imported => {
                return "it was done before the plan was imported".into();
            }
            Status::Completed => return "it passed".into(),
            Status::Pending | Status::Failed | Status::Skipped => {
                let bar = state.bar().map(|bar| state.explain(task, &bar));
                return bar.unwrap_or_else(|| "it is ready".into());
            }
            Status::Implementing => "being built",
            Status::AwaitingVerification => "handed in",
        };
        let by = line.owner.iter().map(|by| format!(" by {by}"));
        let (by, attempt, most) = (by.collect::<String>(), line.iteration, line.max_iterations);
        let told = format!("{what}{by}, attempt {attempt} of {most}");
        match line.halt == Some(TaskHalt::Stopped) && state.is_running() {
            true => format!("it was {told}, when the run was interrupted"),
            false => format!("it is {told}"),
        }
    }

    /// The commands that help when no other task blocks `task`.
    fn ways_out(&self, task: &TaskState) -> Vec<NextStep> {
        let (state, plan, id) = (self.state, &self.state.plan_id, &task.leaf.id);
        let is_about = |topic: Option<&TaskId>| match topic {
            Some(about) => about == id,
            None => task.status == Status::Pending,
        };
        let questions = state
            .open_questions()
            .filter(|question| is_about(question.topic.task()));
        let retry = AnswerChoice::Retry.into_str();
        let answers: Vec<NextStep> = questions
            .map(|question| NextStep::answer_command(plan, question, retry))
            .collect();
        if !answers.is_empty() {
            return answers;
        }
        vec![match self.obstacles.obstacle_to(task) {
            Some(Obstacle::Done) => return Vec::new(),
            Some(Obstacle::Failed) => {
                return vec![NextStep::retry(plan, id), NextStep::revise(plan, id)];
            }
            Some(Obstacle::ToRevise) => NextStep::revise(plan, id),
            Some(Obstacle::Edited) => NextStep::new(
                format!("fp approve {plan}"),
                "approves the tree as it is now, after a look at it",
            ),
            Some(Obstacle::Held { .. }) if self.standing == RunStanding::Interrupted => {
                NextStep::go_on(state, &format!("goes on with task {id}"))
            }
            Some(Obstacle::Held {
                by: Some(by),
                status: Status::Implementing,
            }) => NextStep::new(
                format!("fp retry {plan} {id}"),
                format!("takes task {id} back from {by}, in case that one is gone"),
            ),
            Some(Obstacle::Held { .. }) => {
                let why = match task.awaits_commit() {
                    true => format!("makes the commit of task {id}"),
                    false => format!("has task {id} verified"),
                };
                NextStep::new(state.lead_command(), why)
            }
            _ => NextStep::go_on(state, &format!("has task {id} built")),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::event::{Approve, Base, Leaf};
    use crate::run::question::{Question, Topic};

    fn task(id: &str) -> TaskId {
        TaskId::new(id).unwrap()
    }

    /// Tasks 2 and 3 wait for 1, 4 waits for 2 and 3, and 5 shares a file with 1.
    fn log(more: Vec<Event>) -> Vec<Entry> {
        let leaf = |id: &str, after: &[&str], file: &str| Leaf {
            id: task(id),
            title: format!("Part {id}"),
            hash: String::new(),
            dependencies: after.iter().map(|id| task(id)).collect(),
            after: Vec::new(),
            files: vec![file.into()],
            references: Vec::new(),
            stamps: None,
            exclusive: Vec::new(),
            complexity: 1,
            risky: false,
            contract: false,
            phase: 0,
        };
        let leaves = vec![
            leaf("1", &[], "a"),
            leaf("2", &["1"], "b"),
            leaf("3", &["1"], "c"),
            leaf("4", &["2", "3"], "d"),
            leaf("5", &[], "a"),
        ];
        let approved = Event::Approved(Approve {
            tree_hash: "h".into(),
            leaves,
            ..Default::default()
        });
        let started = Event::RunStarted(crate::run::event::RunTerms {
            builders: 1,
            max_iterations: 2,
            ..Default::default()
        });
        let entry = |(seq, events)| Entry {
            schema_version: 1,
            seq,
            at: Timestamp::UNIX_EPOCH,
            clock: None,
            by: None,
            events,
        };
        [(1, vec![approved]), (2, vec![started]), (3, more)]
            .into_iter()
            .map(entry)
            .collect()
    }

    fn claimed(id: &str) -> Event {
        Event::Claimed {
            task: task(id),
            owner: fp_plan::plan::id::AgentName::new("builder-1").unwrap(),
            token: "t".into(),
            iteration: 1,
            base: Base {
                tree: "a".into(),
                head: "b".into(),
                worktree: None,
                around: None,
            },
        }
    }

    fn failed() -> Vec<Event> {
        let skipped = ["2", "3", "4"].map(|id| Event::Skipped {
            task: task(id),
            because: task("1"),
        });
        [Event::Failed {
            task: task("1"),
            reason: "no".into(),
        }]
        .into_iter()
        .chain(skipped)
        .collect()
    }

    /// The chain of `id` as lines of `depth id: reason`, and the suggested commands.
    fn why(id: &str, log: &[Entry], edited: &[&str]) -> (Vec<String>, Vec<String>) {
        why_led(id, log, edited, LeadPresence::Unknown)
    }

    fn why_led(
        id: &str,
        log: &[Entry],
        edited: &[&str],
        lead: LeadPresence,
    ) -> (Vec<String>, Vec<String>) {
        let state = State::replay(PlanId::new("p").unwrap(), log);
        let edited = edited.iter().map(|id| task(id)).collect();
        let report = WhyReport::new(&state, log, &edited, lead, &task(id)).unwrap();
        let chain = report
            .chain
            .iter()
            .map(|link| format!("{} {}: {}", link.depth, link.line.id, link.reason));
        (
            chain.collect(),
            report.next.into_iter().map(|step| step.command).collect(),
        )
    }

    #[test]
    fn the_chain_goes_down_to_the_cause() {
        let check = |id: &str, log: &[Entry], edited: &[&str], chain: &[&str], next: &str| {
            let (found, commands) = why(id, log, edited);
            assert_eq!(
                (
                    found
                        .iter()
                        .map(String::as_str)
                        .collect::<Vec<_>>()
                        .as_slice(),
                    commands.join("; ").as_str()
                ),
                (chain, next)
            );
        };
        let waiting = [
            "0 4: it waits for 2, 3",
            "1 2: it waits for 1",
            "2 1: it is ready",
            "1 3: it waits for 1",
        ];
        check("4", &log(vec![]), &[], &waiting, "/fp:implement p");
        let held = "it is being built by builder-1, attempt 1 of 2";
        let (two, five) = (format!("1 1: {held}"), "0 5: running task 1 may change a");
        check(
            "2",
            &log(vec![claimed("1")]),
            &[],
            &["0 2: it waits for 1", &two],
            "fp retry p 1",
        );
        check(
            "5",
            &log(vec![claimed("1")]),
            &[],
            &[five, &two],
            "fp retry p 1",
        );
        let skipped = [
            "0 4: Blocked by 1",
            "1 2: Blocked by 1",
            "2 1: no",
            "1 3: Blocked by 1",
        ];
        check(
            "4",
            &log(failed()),
            &[],
            &skipped,
            "fp retry p 1; fp task revise p 1 --file -",
        );
        let edited = "0 1: it was edited after the approval: run `fp approve p`";
        check("1", &log(vec![]), &["1"], &[edited], "fp approve p");
        let done = Event::Completed {
            task: task("1"),
            commit: None,
            note: Some("commits are off".into()),
        };
        let log = log(vec![claimed("1"), done]);
        check("1", &log, &[], &["0 1: commits are off"], "");
    }

    #[test]
    fn a_run_whose_lead_is_gone_goes_on_by_its_own_command() {
        let (chain, next) = why_led("2", &log(vec![claimed("1")]), &[], LeadPresence::Gone);
        let was = "it was being built by builder-1, attempt 1 of 2, when the run was interrupted";
        assert_eq!(chain[1], format!("1 1: {was}"));
        assert_eq!(next, ["/fp:implement p"]);
        let mut log = log(vec![claimed("1")]);
        let [Event::RunStarted(terms)] = &mut log[1].events[..] else {
            panic!("{log:?}");
        };
        terms.processes = true;
        terms.flags.builders = Some(2);
        terms.flags.agent = Some("my own".into());
        let (_, next) = why_led("1", &log, &[], LeadPresence::Gone);
        assert_eq!(next, ["fp run p -j 2 --agent 'my own'"]);
        let (_, next) = why_led("1", &log, &[], LeadPresence::Present);
        assert_eq!(next, ["fp retry p 1"]);
    }

    #[test]
    fn an_open_question_comes_before_everything_else() {
        let mut events = failed();
        events.push(Event::Asked {
            question: Question::new(Topic::TaskFailed(task("1")), 1, "no"),
        });
        let (chain, next) = why("2", &log(events), &[]);
        assert!(
            chain[1].starts_with("1 1: question q1 waits for an answer: Task 1 failed"),
            "{chain:?}"
        );
        assert_eq!(next, ["fp answer p q1 --option Retry"]);
    }

    #[test]
    fn only_what_decides_is_told() {
        let mut events = vec![claimed("1"), Event::Told];
        events.extend(failed());
        let log = log(events);
        let state = State::replay(PlanId::new("p").unwrap(), &log);
        let report = WhyReport::new(
            &state,
            &log,
            &BTreeSet::new(),
            LeadPresence::Unknown,
            &task("1"),
        )
        .unwrap();
        let told: Vec<&str> = report
            .events
            .iter()
            .map(|event| event.told.text.as_str())
            .collect();
        assert_eq!(told, ["builder-1 claims it (attempt 1)", "failed"]);
        let unknown = WhyReport::new(
            &state,
            &log,
            &BTreeSet::new(),
            LeadPresence::Unknown,
            &task("9"),
        );
        assert_eq!(unknown, Err(Refusal::UnknownTask(task("9"))));
        let none = WhyReport::new(
            &State::new(PlanId::new("p").unwrap()),
            [],
            &BTreeSet::new(),
            LeadPresence::Unknown,
            &task("1"),
        );
        assert_eq!(none, Err(Refusal::NotApproved));
    }

    #[test]
    fn a_long_chain_is_walked_without_recursion() {
        let leaves = (1..=20_000).map(|number| Leaf {
            id: task(&number.to_string()),
            title: String::new(),
            hash: String::new(),
            dependencies: if number == 1 {
                vec![]
            } else {
                vec![task(&(number - 1).to_string())]
            },
            after: Vec::new(),
            files: Vec::new(),
            references: Vec::new(),
            stamps: None,
            exclusive: Vec::new(),
            complexity: 1,
            risky: false,
            contract: false,
            phase: 0,
        });
        let leaves = leaves.collect();
        let approved = Event::Approved(Approve {
            tree_hash: "h".into(),
            leaves,
            ..Default::default()
        });
        let log = [Entry {
            schema_version: 1,
            seq: 1,
            at: Timestamp::UNIX_EPOCH,
            clock: None,
            by: None,
            events: vec![approved],
        }];
        let state = State::replay(PlanId::new("p").unwrap(), &log);
        let report = WhyReport::new(
            &state,
            &log,
            &BTreeSet::new(),
            LeadPresence::Unknown,
            &task("20000"),
        )
        .unwrap();
        assert_eq!(report.chain.len(), 20_000);
        assert_eq!(report.next[0].command, "/fp:implement p");
    }
}
