//! A machine that takes part in a shared plan: a clone with its own home folder, and the steps of its builders and
//! verifiers.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::host::Host;
use crate::common::plan::{Leaf, leaf};
use crate::common::plan::{PLAN, tree};
use crate::common::{Environment, Output};

/// The ref of the log, and the branch that gets the commits.
pub(super) const LOG: &str = "refs/fp/sample-20261121";
pub(super) const BRANCH: &str = "refs/heads/fp/sample-20261121";

pub(super) struct Machine {
    environment: Environment,
    pub(super) name: String,
}

impl Deref for Machine {
    type Target = Environment;

    fn deref(&self) -> &Environment {
        &self.environment
    }
}

/// The outcome of trying to do one more task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Done(String),
    Nothing,
}

impl Machine {
    /// A clone that uses the real clock.
    pub(super) fn new(host: &Host, name: &str) -> Self {
        Self {
            environment: host.machine().env("FP_NOW", ""),
            name: name.to_owned(),
        }
    }

    /// A shallow clone.
    pub(super) fn shallow(host: &Host, name: &str) -> Self {
        let environment = Environment::new().env("FP_NOW", "");
        environment.git(&["clone", "--quiet", "--depth", "1", &host.url(), "."]);
        Self {
            environment,
            name: name.to_owned(),
        }
    }

    /// This machine with an environment variable set.
    pub(super) fn with(self, name: &str, value: &str) -> Self {
        Self {
            environment: self.environment.env(name, value),
            ..self
        }
    }

    /// Shares an approved plan with these leaves and starts its run. Returns the plan's hash.
    pub(super) fn share(&self, leaves: &[Leaf<'_>]) -> String {
        self.plan(&tree(leaves));
        self.done(&["approve", PLAN, "--yes"]);
        let shared = self
            .done(&["share", PLAN, "--as", &self.name, "--format", "json"])
            .json();
        self.begin();
        shared["hash"].as_str().unwrap().to_owned()
    }

    pub(super) fn try_join(&self, hash: &str) -> Output {
        self.fp(&["join", PLAN, "--as", &self.name, "--yes", hash])
    }

    /// Joins the shared plan with this hash, and starts the run here.
    pub(super) fn join(&self, hash: &str) {
        let joined = self.try_join(hash);
        assert_eq!(joined.code, 0, "{}: {joined}", self.name);
        self.begin();
    }

    fn begin(&self) {
        self.done(&[
            "start",
            PLAN,
            "--here",
            "--builders",
            "2",
            "--session",
            &self.name,
        ]);
    }

    pub(super) fn owner(&self, builder: usize) -> String {
        format!("{}-builder-{builder}", self.name)
    }

    /// Path of `file` in a builder's worktree.
    pub(super) fn in_worktree(&self, builder: usize, file: &str) -> String {
        format!(
            ".fractal-planner/plans/{PLAN}/worktrees/{}/{file}",
            self.owner(builder)
        )
    }

    /// Claims a task for a builder of this machine, and returns the task and its token; `None` if nothing is ready or
    /// the run has ended.
    pub(super) fn take(&self, builder: usize) -> Option<(String, String)> {
        let output = self.fp(&[
            "claim",
            PLAN,
            "--as",
            &self.owner(builder),
            "--format",
            "json",
        ]);
        if output.code == 3 || output.stderr.contains("the run is over") {
            return None;
        }
        assert_eq!(output.code, 0, "{}: {output}", self.name);
        let claim = output.json();
        Some((
            claim["task"].as_str()?.to_owned(),
            claim["claim"].as_str()?.to_owned(),
        ))
    }

    /// Writes the file of `task` in a builder's worktree and submits the task.
    pub(super) fn hand_in(&self, builder: usize, task: &str, token: &str) {
        self.write(
            &self.in_worktree(builder, &format!("part-{task}.txt")),
            format!("about {task}\n"),
        );
        self.done(&["submit", PLAN, task, "--claim", token]);
    }

    /// Claims, builds, submits and passes one task.
    pub(super) fn step(&self, builder: usize) -> Step {
        self.step_of(builder, Duration::ZERO)
    }

    fn step_of(&self, builder: usize, time: Duration) -> Step {
        let Some((task, token)) = self.take(builder) else {
            return Step::Nothing;
        };
        std::thread::sleep(time);
        self.hand_in(builder, &task, &token);
        let verdict = self.pass(&task);
        assert_eq!(verdict.code, 0, "{}, task {task}: {verdict}", self.name);
        assert!(
            verdict.stdout.contains(" passed"),
            "{}, task {task}: {verdict}",
            self.name
        );
        // If another process in this clone is committing, this task's commit is made later.
        let (due, start) = (
            format!("Task {task} passed, its commit is due"),
            Instant::now(),
        );
        while verdict.stdout.starts_with(&due) && !self.is_done(&task) {
            self.done(&["next", PLAN]);
            assert!(
                start.elapsed() < Duration::from_secs(300),
                "{}, task {task}: {verdict}",
                self.name
            );
        }
        Step::Done(task)
    }

    /// Works until all tasks of the plan are done, spending `time` on building each. Returns the tasks that this
    /// builder did.
    pub(super) fn work(&self, builder: usize, time: Duration) -> Vec<String> {
        let (mut done, start) = (Vec::new(), Instant::now());
        loop {
            match self.step_of(builder, time) {
                Step::Done(task) => done.push(task),
                Step::Nothing if self.open_tasks() == 0 => return done,
                Step::Nothing => std::thread::sleep(Duration::from_millis(50)),
            }
            assert!(
                start.elapsed() < Duration::from_secs(1800),
                "{}: {done:?}",
                self.name
            );
        }
    }

    fn is_done(&self, task: &str) -> bool {
        self.statuses()
            .iter()
            .any(|(id, status)| id == task && status == "COMPLETED")
    }

    /// Number of tasks that this machine doesn't know to be completed.
    pub(super) fn open_tasks(&self) -> usize {
        self.statuses()
            .iter()
            .filter(|(_, status)| status != "COMPLETED")
            .count()
    }

    /// The entries of this machine's copy of the log, without the `code` that only this machine can compute.
    pub(super) fn entries(&self) -> Vec<Value> {
        let log = self.path(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
        let mut entries = lines(&std::fs::read_to_string(log).unwrap());
        for entry in &mut entries {
            let code = entry.as_object_mut().unwrap().remove("code");
            assert!(code.is_some(), "{entry}");
        }
        entries
    }
}

/// Independent tasks, whose files are `part-ID.txt`.
pub(super) fn parts(count: usize) -> Vec<Leaf<'static>> {
    let text = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    (1..=count)
        .map(|n| leaf(text(n.to_string()), "none", text(format!("part-{n}.txt"))))
        .collect()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The log as recorded in the chain of commits on the host.
pub(super) fn chain(host: &Host) -> Vec<Value> {
    lines(&host.git(&["log", "--reverse", "--format=%B", LOG]))
}

/// How many events of a kind each task has.
fn count(entries: &[Value], kind: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for event in entries
        .iter()
        .flat_map(|entry| entry["events"].as_array().unwrap())
    {
        if let Some(task) = event[kind]["task"].as_str() {
            *found.entry(task.to_owned()).or_default() += 1;
        }
    }
    found
}

/// Asserts that the log on the host has no gap, that each of this many tasks was claimed once more than it was released
/// and completed once, and that each has exactly its own commit on the branch.
pub(super) fn expect_all_done_once(host: &Host, tasks: usize) {
    let entries = chain(host);
    let seqs: Vec<u64> = entries
        .iter()
        .map(|entry| entry["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(
        seqs,
        (1..=entries.len() as u64).collect::<Vec<_>>(),
        "the log has gaps"
    );
    let (claimed, released) = (count(&entries, "claimed"), count(&entries, "released"));
    let completed = count(&entries, "completed");
    for task in (1..=tasks).map(|n| n.to_string()) {
        let net = claimed.get(&task).unwrap_or(&0) - released.get(&task).unwrap_or(&0);
        assert_eq!((net, completed.get(&task)), (1, Some(&1)), "task {task}");
    }
    expect_a_commit_each(host, tasks);
}

/// Asserts that the branch has one commit for each of this many tasks, which adds its file and nothing else.
pub(super) fn expect_a_commit_each(host: &Host, tasks: usize) {
    let log = host.git(&[
        "log",
        "--reverse",
        "--name-only",
        "--format=commit %P",
        &format!("main..{BRANCH}"),
    ]);
    let commits: Vec<&str> = log.split("commit ").skip(1).collect();
    let mut files = Vec::new();
    for commit in &commits {
        let mut words = commit.lines().filter(|line| !line.is_empty());
        assert_eq!(
            words.next().unwrap().len(),
            40,
            "a commit has one parent: {commit}"
        );
        files.push(words.next().unwrap().to_owned());
        assert_eq!(words.next(), None, "a commit has one file: {commit}");
    }
    files.sort();
    let mut expect: Vec<String> = (1..=tasks).map(|n| format!("part-{n}.txt")).collect();
    expect.sort();
    assert_eq!(files, expect, "{log}");
    for n in 1..=tasks {
        assert_eq!(
            host.git(&["show", &format!("{BRANCH}:part-{n}.txt")]),
            format!("about {n}\n")
        );
    }
}
