//! Whole runs, in which each process is killed at a random moment and started again.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};

/// Maximum number of times that a command is killed before it may finish.
const KILLS: u32 = 3;

/// The processes to kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// `fp` alone, so that a git it has started continues.
    Process,
    /// `fp` and everything it has started.
    Group,
}

/// Where builders work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Isolation {
    Shared,
    Worktree,
}

#[test]
fn killed_runs_lose_nothing_and_do_nothing_twice() {
    let rounds = std::env::var("FP_KILL_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4);
    let play = |round: u64| {
        let victim = if round.is_multiple_of(2) {
            Victim::Process
        } else {
            Victim::Group
        };
        let isolation = if (round / 2).is_multiple_of(2) {
            Isolation::Shared
        } else {
            Isolation::Worktree
        };
        Run::new(round, victim, isolation).play()
    };
    // Two runs at a time, since most of the time is spent waiting.
    let kills: u32 = std::thread::scope(|scope| {
        let workers = [0, 1].map(|first| {
            scope.spawn(move || {
                (0..rounds)
                    .filter(|round| round / 2 % 2 == first)
                    .map(play)
                    .sum::<u32>()
            })
        });
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    println!("{rounds} runs, {kills} processes killed");
    assert!(kills > 20 * rounds as u32, "hardly anything was killed");
}

struct Run {
    environment: Environment,
    victim: Victim,
    isolation: Isolation,
    random: u64,
    kills: u32,
    /// Duration of each command when it isn't killed.
    durations: BTreeMap<String, Duration>,
}

impl Run {
    fn new(seed: u64, victim: Victim, isolation: Isolation) -> Self {
        let environment = Environment::new().repo();
        let environment = if isolation == Isolation::Shared {
            environment.shared()
        } else {
            environment
        };
        environment.plan(&tree(&[
            leaf("1", "none", "one.txt"),
            leaf("2", "none", "two.txt"),
            leaf("3", "1", "three.txt"),
            leaf("4", "2", "four.txt"),
            leaf("5", "3, 4", "five.txt"),
            leaf("6", "5", "six.txt"),
        ]));
        environment.write("mine.txt", "the user's\n");
        environment.git(&["add", "mine.txt"]);
        let random = 0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0x2545_f491_4f6c_dd1d);
        Self {
            environment,
            victim,
            isolation,
            random,
            kills: 0,
            durations: BTreeMap::new(),
        }
    }

    fn up_to(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit.max(1)
    }

    /// Performs the run from its approval to its last commit. Returns the number of processes killed.
    fn play(mut self) -> u32 {
        self.run(&["approve", PLAN, "--yes"]);
        self.run(&["run", "start", PLAN, "--session", "s1", "--builders", "2"]);
        let mut ended: Vec<String> = Vec::new();
        for _ in 0..100 {
            let mut next = vec!["next", PLAN, "--format", "json"];
            next.extend(ended.iter().flat_map(|name| ["--ended", name]));
            let actions = self.run(&next).json()["actions"].clone();
            ended.clear();
            for action in actions.as_array().unwrap() {
                match action["action"].as_str().unwrap() {
                    "spawn" | "resume" => self.build(action["name"].as_str().unwrap()),
                    "verify" => self.verify(action["task"].as_str().unwrap()),
                    "ask" => self.answer(action),
                    "wait" => assert!(!ended.is_empty(), "nobody will wake the lead: {actions:#}"),
                    "finish" => {
                        self.check();
                        return self.kills;
                    }
                    _ => panic!("{actions:#}"),
                }
                ended.extend(action["name"].as_str().map(str::to_owned));
            }
        }
        panic!(
            "the run goes on for ever: {}",
            self.environment.fp(&["status", PLAN])
        );
    }

    fn build(&mut self, name: &str) {
        let claim = self.run(&["claim", PLAN, "--as", name, "--format", "json"]);
        if claim.code == 3 {
            return;
        }
        let claim = claim.json();
        let (task, token) = (
            claim["task"].as_str().unwrap(),
            claim["claim"].as_str().unwrap(),
        );
        let file = [
            "one.txt",
            "two.txt",
            "three.txt",
            "four.txt",
            "five.txt",
            "six.txt",
        ];
        let file = file[task.parse::<usize>().unwrap() - 1];
        let own = format!(".fractal-planner/plans/{PLAN}/worktrees/{name}/");
        let place = if claim["worktree"].is_null() {
            ""
        } else {
            &own
        };
        self.environment
            .write(&format!("{place}{file}"), format!("about {task}\n"));
        let note = format!("util: learnt in {task}");
        let submit = self.run(&["submit", PLAN, task, "--claim", token, "--note", &note]);
        assert!(
            submit.code == 0 || submit.stderr.contains("it is handed in already"),
            "{submit}"
        );
    }

    fn verify(&mut self, task: &str) {
        assert_eq!(self.run(&["verify", PLAN, task]).code, 0);
        let verdict = self.run(&[
            "verdict",
            PLAN,
            task,
            "--pass",
            "1: seen",
            "--summary",
            "fine",
        ]);
        let known = ["it has passed already", "is done"];
        assert!(
            verdict.code == 0 || known.iter().any(|text| verdict.stderr.contains(text)),
            "{verdict}"
        );
    }

    /// Does as a user would: removes the locks of a killed git, which can't be told from those of a running one, and
    /// answers with `Retry`.
    fn answer(&mut self, ask: &Value) {
        assert_eq!(self.victim, Victim::Group, "nobody killed a git: {ask:#}");
        let text = ask["text"].as_str().unwrap();
        assert!(
            text.contains("git is locked") || text.contains("cannot lock ref"),
            "{ask:#}"
        );
        let locks = self
            .environment
            .command("find")
            .args([".git", "-name", "*.lock", "-delete"])
            .status();
        assert!(locks.unwrap().success());
        let done = self.run(&[
            "answer",
            PLAN,
            ask["question"].as_str().unwrap(),
            "--option",
            "Retry",
        ]);
        assert!(
            done.code == 0 || done.stderr.contains("there is no open question"),
            "{done}"
        );
    }

    /// Runs `fp`, killing it up to [`KILLS`] times before letting it finish.
    fn run(&mut self, args: &[&str]) -> Output {
        for _ in 0..KILLS {
            let usual = self
                .durations
                .get(args[0])
                .copied()
                .unwrap_or_default()
                .as_micros();
            let limit = (u64::try_from(usual).unwrap() * 5 / 4).max(20_000);
            let delay = Duration::from_micros(self.up_to(limit));
            if let Some(output) = self.run_for(args, delay) {
                return output;
            }
            self.kills += 1;
        }
        let start = Instant::now();
        let output = self.environment.fp(args);
        self.durations.insert(args[0].to_owned(), start.elapsed());
        assert!([0, 1, 3].contains(&output.code), "{args:?}: {output}");
        output
    }

    /// Runs `fp` and kills it after `delay`. Returns its output if it finished first.
    fn run_for(&self, args: &[&str], delay: Duration) -> Option<Output> {
        let mut command = self.environment.command(env!("CARGO_BIN_EXE_fp"));
        command
            .args(args)
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        std::thread::sleep(delay);
        let id = Pid::from_child(&child);
        // A child that hasn't been waited for keeps its id.
        match self.victim {
            Victim::Process => drop(kill_process(id, Signal::KILL)),
            Victim::Group => drop(kill_process_group(id, Signal::KILL)),
        }
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.code().is_some() || output.status.signal() == Some(9),
            "{args:?}: {output:?}"
        );
        // A process that has printed its whole output has done its work, even if it was killed while exiting.
        let has_said_all = || {
            serde_json::from_slice::<Value>(&output.stdout)
                .is_ok()
                .then_some(0)
        };
        output
            .status
            .code()
            .or_else(has_said_all)
            .map(|code| Output {
                stdout: text(&output.stdout),
                stderr: text(&output.stderr),
                code,
            })
    }

    /// Asserts that in the end everything expected is there, and nothing else.
    fn check(&self) {
        let environment = &self.environment;
        let tasks = ["1", "2", "3", "4", "5", "6"];
        let report = environment
            .done(&["status", PLAN, "--format", "json"])
            .json();
        for task in report["tasks"].as_array().unwrap() {
            assert_eq!(
                (&task["status"], &task["iteration"]),
                (&"COMPLETED".into(), &1.into()),
                "{task}"
            );
        }

        let log = environment.git(&["log", "--reverse", "--name-only", "--format=%x00%H"]);
        let commits: Vec<Vec<&str>> = log
            .split('\0')
            .skip(2)
            .map(|c| c.split_whitespace().collect())
            .collect();
        assert!(
            commits.iter().all(|commit| commit.len() == 2),
            "one file in each: {log}"
        );
        let files: BTreeSet<&str> = commits.iter().map(|commit| commit[1]).collect();
        let expected = [
            "one.txt",
            "two.txt",
            "three.txt",
            "four.txt",
            "five.txt",
            "six.txt",
        ];
        assert_eq!(
            (commits.len(), files),
            (6, BTreeSet::from(expected)),
            "one commit a task: {log}"
        );
        let hashes: BTreeSet<&str> = commits.iter().map(|commit| commit[0]).collect();
        let known: Vec<Value> = report["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["commit"].clone())
            .collect();
        assert_eq!(
            known
                .iter()
                .filter_map(Value::as_str)
                .collect::<BTreeSet<_>>(),
            hashes,
            "{report:#}"
        );
        assert_eq!(
            environment.git(&["status", "--short"]),
            "A  mine.txt\n",
            "the user's index is as it was"
        );

        let of = |kind: &str| -> Vec<String> {
            let mut ids: Vec<String> = environment
                .logged(kind)
                .iter()
                .map(|e| e["task"].as_str().unwrap().to_owned())
                .collect();
            ids.sort_unstable();
            ids
        };
        for kind in ["claimed", "submitted", "judged", "completed"] {
            assert_eq!(of(kind), tasks, "{kind} once each");
        }
        assert_eq!(environment.logged("noted").len(), tasks.len());
        assert_eq!(
            environment
                .read(&format!(".fractal-planner/plans/{PLAN}/notepad.md"))
                .matches("learnt in")
                .count(),
            6
        );

        let mut files: BTreeSet<String> = [
            ".gitignore",
            "commit.lock",
            "tasks.md",
            "events.jsonl",
            "execution-state.json",
            "lead.lock",
            "lock",
            "notepad.md",
        ]
        .map(str::to_owned)
        .into();
        files.extend(
            tasks
                .iter()
                .map(|task| format!("evidence/task-{task}-verification.md")),
        );
        if self.isolation == Isolation::Worktree {
            files.insert("worktrees.lock".to_owned());
        }
        assert_eq!(environment.plan_files(), files);
        assert!(
            !environment.path(".git/worktrees").exists(),
            "git knows no worktree any more"
        );
        environment.assert_snapshot_is_the_log();
    }
}
