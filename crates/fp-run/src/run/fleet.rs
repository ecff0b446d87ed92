//! Supports a plan shared by several machines. All have the same log in the same order, but each derives its own view:
//! tasks, questions and notes are shared, while agents, worktrees and the checkout are those of the local machine.
//! Clocks aren't trusted here: one machine gives up on another after hearing nothing from it for too long.

use std::collections::BTreeSet;
use std::mem::swap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::{Entry, EntryOrigin, Event};
use super::state::{Approval, Asked, Run, RunStatus, State, Status, TaskState};
use fp_plan::plan::id::{AgentName, MachineId, TaskId};

/// A machine of a shared plan, as the log shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetMachine {
    /// Number of the machine's last entry.
    pub entries: u64,
    /// Time of the machine's last entry by its own clock.
    pub at: Timestamp,
    /// True if the machine has left the plan.
    pub has_left: bool,
}

impl Event {
    /// True if no other machine depends on this event's position in the log, so it may be held back until an event that
    /// one does depend on.
    pub fn may_wait(&self) -> bool {
        match self {
            Self::HeadMoved { drifted, .. } => drifted.is_empty(),
            Self::Interviewed { .. }
            | Self::Validated(_)
            | Self::Critiqued(_)
            | Self::CheckedBefore { .. }
            | Self::AgentSpent { .. }
            | Self::Noted { .. } => true,
            // Other machines rely on these.
            Self::Completed { .. }
            | Self::ScopeExtended { .. }
            | Self::ChecksDropped { .. }
            | Self::Waived { .. } => false,
            _ => self.is_of_own_machine() || self.needs_hold_of().is_some(),
        }
    }

    /// The task that a machine must hold for this event to count, if any.
    fn needs_hold_of(&self) -> Option<&TaskId> {
        match self {
            Self::CheckedBefore { .. }
            | Self::RevisionDue { .. }
            | Self::Claimed { .. }
            | Self::Released { .. }
            | Self::Failed { .. }
            | Self::Skipped { .. }
            | Self::Retried { .. }
            | Self::RolledBack { .. } => None,
            _ => self.task(),
        }
    }

    /// The commit that this event adds to the integration branch, if any.
    pub fn commit_to_push(&self) -> Option<&str> {
        match self {
            Self::Completed { commit, .. } => commit.as_deref(),
            Self::RolledBack { revert, .. } => revert.as_deref(),
            _ => None,
        }
    }

    /// True if the event concerns only the machine that wrote it.
    fn is_of_own_machine(&self) -> bool {
        matches!(
            self,
            Self::Dispatched { .. }
                | Self::Told
                | Self::LeadNudged
                | Self::Reached { .. }
                | Self::AgentStarted { .. }
                | Self::AgentEnded { .. }
                | Self::AgentKnown { .. }
                | Self::Resumed { .. }
                | Self::Nudged { .. }
                | Self::Edited { .. }
                | Self::CheckoutSeen { .. }
                | Self::CommandsTried { .. }
                | Self::CheckedAtEnd { .. }
                | Self::WholeJudged { .. }
        )
    }
}

impl State {
    /// The state of an empty log, for the same plan and machine.
    pub fn emptied(&self) -> Self {
        let mut empty = Self::new(self.plan_id.clone());
        empty.machine.clone_from(&self.machine);
        empty
    }

    /// True if several machines may work on the plan.
    pub fn is_shared(&self) -> bool {
        !self.machines.is_empty()
    }

    /// True if this machine has, or last had, `task`.
    pub fn is_own(&self, task: &TaskState) -> bool {
        task.machine == self.machine
    }

    /// The tasks that this machine holds.
    pub fn own_running(&self) -> impl Iterator<Item = &TaskState> {
        self.running().filter(|task| self.is_own(task))
    }

    /// The name of this machine's builder `number`.
    pub fn builder(&self, number: u32) -> Option<AgentName> {
        AgentName::builder(number, self.machine.as_ref())
    }

    /// A name for a machine that is about to join: `wanted`, with a number appended if another machine has or had that
    /// name.
    pub fn free_machine(&self, wanted: &MachineId) -> Option<MachineId> {
        let numbered =
            (2..=u32::MAX).map_while(|number| MachineId::new(format!("{wanted}-{number}")).ok());
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        names.find(|name| !self.machines.contains_key(name))
    }

    /// The tasks that this machine held in `self`, but in `after` neither holds nor has completed. `after` is the state
    /// after entries of other machines.
    pub fn lost_since(&self, after: &Self) -> BTreeSet<TaskId> {
        let is_kept = |now: &TaskState| {
            after.is_own(now) && (now.status.is_running() || now.status == Status::Completed)
        };
        let is_lost = |id: &&TaskId| !after.task(id).is_some_and(is_kept);
        let held = self.own_running().map(|task| &task.leaf.id);
        held.filter(is_lost).cloned().collect()
    }

    /// The origin of this machine's next entry; `None` unless the plan is shared.
    pub fn next_origin(&self) -> Option<EntryOrigin> {
        let machine = self.machine.clone().filter(|_| self.is_shared())?;
        let number = self.machines.get(&machine).map_or(0, |known| known.entries) + 1;
        Some(EntryOrigin { machine, number })
    }

    /// Applies `waiting`, this machine's unpublished entries, on top of this state. Returns the new state, and the
    /// entries with the numbers and times they get there.
    pub fn with_waiting(&self, waiting: Vec<Entry>) -> (Self, Vec<Entry>) {
        let mut state = self.clone();
        let counted = |entry: Entry| {
            let now = entry.clock.unwrap_or(entry.at);
            let at = state.last_at.map_or(now, |last| last.max(now));
            let entry = Entry {
                seq: state.seq + 1,
                at,
                clock: Some(now).filter(|now| *now < at),
                by: state.next_origin(),
                ..entry
            };
            state.apply(&entry);
            entry
        };
        let entries = waiting.into_iter().map(counted).collect();
        (state, entries)
    }

    /// Records `entry` as the latest of the machine that wrote it. Returns true if that is this machine.
    pub(super) fn count_entry(&mut self, entry: &Entry) -> bool {
        let Some(by) = &entry.by else { return true };
        let is_own = self.machine.as_ref() == Some(&by.machine);
        let joins = |event: &Event| matches!(event, Event::Joined { .. });
        if self.machines.is_empty() && entry.events.iter().any(joins) {
            // Everything until now was done on the machine that shares the plan.
            for task in &mut self.tasks {
                task.machine = Some(by.machine.clone());
            }
            if !is_own {
                let head = self.head.take();
                (self.tried, self.end_checks) = (false, None);
                self.swap_own_part(&mut self.emptied());
                self.head = head;
                if let Some(run) = &mut self.run {
                    run.terms = run.terms.without_lead();
                }
            }
        }
        let machine = FleetMachine {
            entries: by.number,
            at: entry.clock.unwrap_or(entry.at),
            has_left: entry.events.contains(&Event::Left),
        };
        self.machines.insert(by.machine.clone(), machine);
        is_own
    }

    /// The open questions that `entry` answers; empty unless the plan is shared.
    pub(super) fn answered_by(&self, entry: &Entry) -> Vec<Asked> {
        let answered = entry.events.iter().filter_map(|event| match event {
            Event::Answered { question, .. } => Some(question),
            _ => None,
        });
        let answered: Vec<&String> = answered.filter(|_| self.is_shared()).collect();
        let is_answered = |asked: &&Asked| answered.contains(&&asked.question.id);
        let open = self.questions.iter().filter(|asked| asked.is_open());
        open.filter(is_answered).cloned().collect()
    }

    /// False if `event` is about a task that the machine that wrote it doesn't hold. The user may answer a question on
    /// any machine, though: the events that the question offers count if the task's machine asked it, or if nobody
    /// holds the task.
    pub(super) fn is_effective(&self, event: &Event, entry: &Entry, answered: &[Asked]) -> bool {
        if !self.is_shared() {
            return true;
        }
        let task = event.task().and_then(|id| self.task(id));
        let is_held = task.is_some_and(|task| task.status.is_running());
        // Results of checks before the work count only if the same entry claims the task, or if they raised a question.
        if let Event::CheckedBefore { passed, .. } = event {
            let claims = |other: &Event| {
                matches!(other, Event::Claimed { .. }) && other.task() == event.task()
            };
            return entry.events.iter().any(claims) || *passed && !is_held;
        }
        let Some(task) = task.filter(|_| event.needs_hold_of().is_some()) else {
            return true;
        };
        let is_offered = |asked: &Asked| {
            asked.question.topic.offers(event) && (!is_held || asked.machine == task.machine)
        };
        let by = entry.by.as_ref().map(|by| &by.machine);
        is_held && task.machine.as_ref() == by || answered.iter().any(is_offered)
    }

    /// Folds an event of another machine, but nothing that concerns only that machine.
    pub(super) fn fold_of_other(&mut self, event: &Event, at: Timestamp) {
        if event.is_of_own_machine() {
            return;
        }
        // Each machine runs the commands for the end of the run itself before it finishes.
        let has_end_commands = |approval: &Approval| !approval.end_commands.is_empty();
        if *event == Event::Finished && self.approval.as_ref().is_some_and(has_end_commands) {
            return;
        }
        if let Event::RunStarted(terms) = event {
            let started = Run {
                terms: terms.without_lead(),
                status: RunStatus::Running,
                started_at: at,
            };
            self.run.get_or_insert(started).status = RunStatus::Running;
            return;
        }
        let mut own = self.emptied();
        self.swap_own_part(&mut own);
        self.fold(event, at);
        self.swap_own_part(&mut own);
    }

    /// Swaps with `other` the parts of the state that describe only its own machine, except for the terms of the run.
    fn swap_own_part(&mut self, other: &mut Self) {
        swap(&mut self.head, &mut other.head);
        swap(&mut self.checkout_left, &mut other.checkout_left);
        swap(&mut self.agents, &mut other.agents);
        swap(&mut self.agent_ids, &mut other.agent_ids);
        swap(&mut self.processes, &mut other.processes);
        swap(&mut self.worktrees, &mut other.worktrees);
        swap(&mut self.untold, &mut other.untold);
        swap(&mut self.unstarted, &mut other.unstarted);
        swap(&mut self.unwoken, &mut other.unwoken);
        swap(&mut self.lead_nudges, &mut other.lead_nudges);
    }
}

/// Returns this machine's entries that are still to be published after it `lost` tasks to others. Drops events that
/// require holding these tasks and, if there are any, nudges, since the lead now has news to hear.
pub fn still_waiting(waiting: Vec<Entry>, lost: &BTreeSet<TaskId>) -> Vec<Entry> {
    let counts = |event: &Event| match event {
        Event::LeadNudged => lost.is_empty(),
        _ => !event
            .needs_hold_of()
            .is_some_and(|task| lost.contains(task)),
    };
    let left = waiting.into_iter().map(|entry| Entry {
        events: entry.events.into_iter().filter(&counts).collect(),
        ..entry
    });
    left.filter(|entry| !entry.events.is_empty()).collect()
}
