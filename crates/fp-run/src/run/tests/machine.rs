//! An in-memory run with its log, and the invariants that must always hold.

use fp_plan::settings::Settings;

use super::*;

/// An in-memory run with its log.
#[derive(Clone)]
pub(super) struct Machine {
    pub(super) state: State,
    pub(super) log: Vec<Entry>,
    pub(super) tokens: u64,
    pub(super) now: Timestamp,
    pub(super) attended: bool,
    /// The tasks that were done before the plan was imported.
    pub(super) done: BTreeSet<TaskId>,
    /// Commits that a person made since `next` last looked.
    pub(super) moved: Option<Moved>,
}

impl Machine {
    pub(super) fn new(leaves: Vec<Leaf>, attended: bool) -> Self {
        Self::imported(leaves, attended, &[])
    }

    /// A run of an imported plan in which the tasks numbered in `done` were already done.
    pub(super) fn imported(leaves: Vec<Leaf>, attended: bool, done: &[usize]) -> Self {
        let plan = PlanId::new("p").unwrap();
        let mut machine = Self {
            state: State::new(plan),
            log: Vec::new(),
            tokens: 0,
            now: "2026-11-21T00:00:00Z".parse().unwrap(),
            attended,
            done: done.iter().map(|number| id(&number.to_string())).collect(),
            moved: None,
        };
        let tasks: Vec<ImportedTask> = leaves
            .iter()
            .filter(|leaf| machine.done.contains(&leaf.id))
            .map(|leaf| ImportedTask {
                task: leaf.id.clone(),
                title: leaf.title.clone(),
                commit: None,
            })
            .collect();
        machine.take(vec![Event::Imported {
            from: "json".into(),
            tasks,
        }]);
        machine.approve("t", leaves);
        machine.start("s0");
        machine
    }

    pub(super) fn approve(&mut self, tree_hash: &str, leaves: Vec<Leaf>) {
        let approve = Approve {
            tree_hash: tree_hash.into(),
            leaves,
            base: None,
            commits: None,
            end_commands: Vec::new(),
            setup: Vec::new(),
            by: Decider::User,
        };
        let events = self.state.approve(approve).unwrap();
        self.take(events);
    }

    pub(super) fn take(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let at = self
            .state
            .last_at
            .map_or(self.now, |last| last.max(self.now));
        let entry = Entry {
            schema_version: LOG_VERSION,
            seq: self.state.seq + 1,
            at,
            clock: Some(self.now).filter(|now| *now < at),
            by: self.state.next_origin(),
            events,
        };
        self.state.apply(&entry);
        self.log.push(entry);
    }

    pub(super) fn start(&mut self, session: &str) {
        let events = self.state.start(start(session)).unwrap();
        self.take(events);
    }

    pub(super) fn token(&mut self) -> String {
        self.tokens += 1;
        format!("t{}", self.tokens)
    }

    pub(super) fn next(&mut self, ended: &[AgentName]) -> Vec<LeadAction> {
        let turn = self.killed_next(ended);
        self.take(turn.events_once_shown());
        turn.actions
    }

    /// Calls `next`, which is killed before it shows anything.
    pub(super) fn killed_next(&mut self, ended: &[AgentName]) -> LeadTurn {
        let moved = self.moved.take();
        let around = self.around(moved);
        let turn = self.state.next(ended, &around).unwrap();
        self.take(turn.events.clone());
        turn
    }

    /// Reports all agents that the lead was told to start or wake as started or reached.
    pub(super) fn start_agents(&mut self) {
        let started = self
            .state
            .unstarted
            .iter()
            .map(|unstarted| unstarted.name.clone());
        let known = started.map(|name| Event::AgentKnown {
            id: format!("id of {name}"),
            name,
        });
        let woken = self.state.unwoken.iter().map(|unwoken| Event::Reached {
            name: unwoken.name.clone(),
        });
        let events = known.chain(woken).collect();
        self.take(events);
    }

    /// The lead loses its instructions. When it asks again, `next` repeats them, marked as repeats.
    pub(super) fn lose(&mut self, told: &[LeadAction]) {
        let sorted = |actions: Vec<LeadAction>| {
            let mut words: Vec<String> =
                actions.iter().map(|action| format!("{action:?}")).collect();
            words.sort();
            words
        };
        let again = self
            .next(&[])
            .into_iter()
            .filter(|action| said_before(action).is_some())
            .collect();
        let told = told.iter().filter_map(said_before).collect();
        assert_eq!(
            sorted(again),
            sorted(told),
            "what is lost is said again, and nothing else is"
        );
    }

    /// A lead that stops without following any of its instructions gets all of them again, unless it has already been
    /// nudged the maximum number of times.
    pub(super) fn forgetful_next(&mut self) {
        let told = self.next(&[]);
        if !self.lead_stops().1 {
            let due: Vec<LeadAction> = told.iter().filter_map(said_before).collect();
            assert!(
                due.is_empty() || self.state.lead_nudges == NUDGES,
                "{due:?} is forgotten"
            );
        }
        self.lose(&told);
    }

    pub(super) fn around(&mut self, moved: Option<Moved>) -> RunSurroundings {
        // By default, an agent times out after 30 minutes of silence, unless `fp run` leads.
        let usual =
            RunSurroundings::new(&self.state, &Settings::default(), self.now, self.attended);
        RunSurroundings {
            nudges: NUDGES,
            moved,
            ..usual
        }
    }

    /// Ends the lead's turn. Returns what was due, and whether the lead was told so.
    pub(super) fn lead_stops(&mut self) -> (LeadDue, bool) {
        let around = self.around(None);
        let due = lead_due(&self.state, &around);
        let decision = lead_stops(&self.state, due, NUDGES, true);
        self.take(decision.events);
        (due, decision.told.is_some())
    }

    pub(super) fn claim(&mut self, owner: &AgentName) -> bool {
        let token = self.token();
        let base = Base {
            tree: "b".into(),
            head: "h".into(),
            worktree: None,
            around: None,
        };
        match self.state.claim(owner, None, &BTreeSet::new(), token, base) {
            Ok((_, events)) => {
                self.take(events);
                true
            }
            Err(_) => false,
        }
    }

    pub(super) fn submit(&mut self, owner: &AgentName) {
        let Some(task) = self
            .state
            .held_by(owner)
            .filter(|t| t.status == Status::Implementing)
        else {
            return;
        };
        let (id, token) = (task.leaf.id.clone(), task.claim.clone().unwrap().token);
        let events = self
            .state
            .submit(&id, &token, MeasuredWork::default())
            .unwrap();
        self.take(events);
    }

    /// A person commits a change to `file`.
    pub(super) fn commit(&mut self, file: &str) {
        self.tokens += 1;
        let hash = format!("c{}", self.tokens);
        let commit = SeenCommit {
            told: hash.clone(),
            hash: hash.clone(),
            files: [(file.into(), "+1 -0".into())].into(),
        };
        let moved = self.moved.get_or_insert(Moved {
            head: String::new(),
            commits: Vec::new(),
        });
        moved.head = hash;
        moved.commits.push(commit);
    }

    pub(super) fn clarify(&mut self, owner: &AgentName) {
        let Some(id) = self.state.held_by(owner).map(|t| t.leaf.id.clone()) else {
            return;
        };
        let option = |label: &str| AnswerOption {
            label: label.into(),
            description: String::new(),
        };
        let events = self
            .state
            .clarify(&id, owner, "Which?", vec![option("a"), option("b")]);
        self.take(events.unwrap_or_default());
    }

    pub(super) fn extend(&mut self, owner: &AgentName, path: &str) {
        let Some(task) = self.state.held_by(owner) else {
            return;
        };
        let (id, token) = (task.leaf.id.clone(), task.claim.clone().unwrap().token);
        match self.state.extend(
            &id,
            &token,
            path,
            "because",
            (ExtensionPolicy::Ask, true),
            ".plans",
        ) {
            Ok(Extension::Allowed(events) | Extension::Asked(_, events)) => self.take(events),
            Ok(Extension::Listed) | Err(_) => {}
        }
    }

    pub(super) fn judge(&mut self, task: &TaskId, pass: bool) {
        self.judge_and_commit(task, pass, false);
    }

    /// Judges `task`. If it passes, it is committed next, or, if it `conflicts` with newer commits, sent back.
    pub(super) fn judge_and_commit(&mut self, task: &TaskId, pass: bool, conflicts: bool) {
        let opinion = VerifierOpinion {
            judgements: vec![Judgement {
                criterion: 1,
                pass,
                evidence: "seen".into(),
            }],
            summary: String::new(),
            tree: None,
        };
        if let Ok(events) = self.state.judge_task(task, None, opinion, &["c".into()]) {
            self.take(events);
            let passed = self
                .state
                .task(task)
                .is_some_and(|task| task.awaits_commit());
            if passed && conflicts {
                let events = self.state.conflict(task, "it does not fit").unwrap();
                self.take(events);
            } else if passed {
                let events = self
                    .state
                    .complete(task, Some("c0ffee".into()), None)
                    .unwrap();
                self.take(events);
            }
        }
    }

    /// Fails `task` because of a command in the tree `tree`, although every criterion is met.
    pub(super) fn fail_by_command(&mut self, task: &TaskId, tree: &str) {
        let Some(iteration) = self
            .state
            .expect_submitted(task, None)
            .ok()
            .map(|task| task.iteration)
        else {
            return;
        };
        let check = Check {
            name: "command: make \"test\"".into(),
            verdict: CheckVerdict::Fail,
            detail:
                "exit status 2 after 0.1 s, output sha256 abc…\nfirst\n\nunexpected argument 'x'"
                    .into(),
        };
        let work = MeasuredWork {
            onto: None,
            tree: tree.into(),
            files: Vec::new(),
            checks: vec![check],
        };
        self.take(vec![Event::Verified {
            task: task.clone(),
            iteration,
            work,
        }]);
        self.judge(task, true);
    }

    /// Lets the checks of `task`, which all pass or of which one fails, decide on it.
    pub(super) fn check_only(&mut self, task: &TaskId, pass: bool) {
        let Ok(iteration) = self
            .state
            .expect_submitted(task, None)
            .map(|it| it.iteration)
        else {
            return;
        };
        let check = Check {
            name: "command: make".into(),
            verdict: if pass {
                CheckVerdict::Pass
            } else {
                CheckVerdict::Fail
            },
            detail: "exit status".into(),
        };
        let work = MeasuredWork {
            checks: vec![check],
            ..MeasuredWork::default()
        };
        let task = task.clone();
        let verified = Event::Verified {
            task: task.clone(),
            iteration,
            work,
        };
        self.take(vec![verified]);
        let events = self.state.judge_by_checks(&task, iteration).unwrap();
        self.take(events);
        if self.state.task(&task).is_some_and(TaskState::awaits_commit) {
            let events = self.state.complete(&task, Some("c0ffee".into()), None);
            self.take(events.unwrap());
        }
    }

    pub(super) fn awaiting(&self) -> Option<TaskId> {
        self.awaiting_nth(0)
    }

    /// The task number `nth` of those that await a verdict, or the first one.
    pub(super) fn awaiting_nth(&self, nth: usize) -> Option<TaskId> {
        let due: Vec<&TaskState> = self.state.tasks_in(Status::AwaitingVerification).collect();
        let task = due.get(nth).or(due.first())?;
        Some(task.leaf.id.clone())
    }

    /// Checks all invariants.
    pub(super) fn check(&self) {
        let running: Vec<_> = self.state.running().collect();
        let mut owners = BTreeSet::new();
        for (i, task) in running.iter().enumerate() {
            let builds = task.owner().filter(|_| task.status == Status::Implementing);
            assert!(
                builds.is_none_or(|owner| owners.insert(owner.clone())),
                "{builds:?} builds two tasks"
            );
            for other in &running[i + 1..] {
                let (one, two): (Vec<&str>, Vec<&str>) =
                    (task.held().collect(), other.held().collect());
                assert!(!overlap(&one, &two), "two running tasks share a file");
            }
        }
        for task in self
            .state
            .tasks
            .iter()
            .filter(|t| t.status.is_running() || t.status == Status::Completed)
        {
            // A task done before the import need not have waited for anything, and can be redone after the tasks that
            // depend on it.
            let built = task.leaf.dependencies.iter().filter(|dependency| {
                task.status.is_running() || !(task.imported || self.done.contains(*dependency))
            });
            for dependency in built {
                let status = self.state.task(dependency).unwrap().status;
                assert_eq!(
                    status,
                    Status::Completed,
                    "{} runs before {dependency}",
                    task.leaf.id
                );
            }
        }
        for task in &self.state.tasks {
            assert!(
                task.iteration <= iterations(&task.leaf.id),
                "{} has iteration {}",
                task.leaf.id,
                task.iteration
            );
            assert_eq!(
                task.claim.is_some(),
                task.status.is_running() && !task.is_sent_back(),
                "{} {:?}",
                task.leaf.id,
                task.status
            );
        }
        let verifiers = self.state.active_agents();
        let verifiers = verifiers.filter(|(_, agent)| agent.role == Role::Verifier);
        assert!(verifiers.count() <= BUILDERS as usize, "too many verifiers");
        let mut blocked: BTreeSet<TaskId> = BTreeSet::new();
        for task in self
            .state
            .tasks
            .iter()
            .filter(|t| t.status == Status::Failed)
        {
            let waiting = self.state.blocked_by(&task.leaf.id).into_iter();
            blocked.extend(waiting.map(|user| user.leaf.id.clone()));
        }
        let of = |status| {
            let tasks = self.state.tasks.iter().filter(move |t| t.status == status);
            tasks.map(|t| t.leaf.id.clone()).collect::<BTreeSet<_>>()
        };
        let failed = of(Status::Failed);
        let expected: BTreeSet<TaskId> = blocked.difference(&failed).cloned().collect();
        assert_eq!(
            of(Status::Skipped),
            expected,
            "skipped is exactly what waits for a failed task"
        );
        let Planning { rounds, .. } = &self.state.planning;
        assert!(*rounds <= ROUNDS, "{rounds} rounds");
        let replayed = State::replay(self.state.plan_id.clone(), &self.log);
        assert_eq!(replayed, self.state, "replaying the log gives the state");
    }
}

/// `action` marked as a repeat, if it starts or wakes an agent.
fn said_before(action: &LeadAction) -> Option<LeadAction> {
    let mut said = action.clone();
    match &mut said {
        LeadAction::Spawn { again, .. }
        | LeadAction::Resume { again, .. }
        | LeadAction::Verify { again, .. } => {
            *again = true;
            Some(said)
        }
        _ => None,
    }
}
