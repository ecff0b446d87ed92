//! Each command killed at each of its calls to the system that write: the same command run once more ends where it
//! would have ended, with nothing beside it.

use std::process::Stdio;
use std::thread;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};

/// The calls at which a command is killed: those that write, and those that open, which may make a file.
const CALLS: [&str; 12] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "openat",
    "ftruncate",
    "unlink",
    "unlinkat",
    "mkdir",
];

/// More calls than any of the commands makes.
const MANY: usize = 400;

/// A state of the plan, and the command that is killed in it.
struct Case {
    name: &'static str,
    /// Brings an approved and started run of two tasks to that state.
    before: fn(&Environment),
    args: fn(&Environment) -> Vec<String>,
    /// What the command may answer when it had done its work before it was killed.
    done_before: &'static str,
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(|word| word.replace("PLAN", PLAN)).collect()
}

fn token(environment: &Environment) -> String {
    environment.claim("builder-1").unwrap().1
}

/// Has builders work in worktrees of their own from now on.
fn in_worktrees(environment: &Environment) {
    let folder = environment.beside("home/.config/fractal-planner");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), r#"{ "isolation": "worktree" }"#).unwrap();
    environment.done(&["run", "start", PLAN, "--session", "s1"]);
}

/// As [`in_worktrees`], with task 1 handed in from one.
fn built_in_a_worktree(environment: &Environment) {
    in_worktrees(environment);
    let token = token(environment);
    environment.write(&format!(".fractal-planner/plans/{PLAN}/worktrees/builder-1/a.txt"), "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
}

const CASES: [Case; 12] = [
    Case {
        name: "approve",
        before: |environment| {
            environment.plan(&tree(&[leaf("1", "none", "a.txt"), leaf("2", "none", "c.txt")]))
        },
        args: |_| words("approve PLAN --yes"),
        done_before: "",
    },
    Case {
        name: "run start",
        before: |environment| drop(environment.claim("builder-1")),
        args: |_| words("run start PLAN --session s2"),
        done_before: "",
    },
    Case { name: "next", before: |_| {}, args: |_| words("next PLAN"), done_before: "" },
    Case { name: "claim", before: |_| {}, args: |_| words("claim PLAN --as builder-1"), done_before: "" },
    Case {
        name: "submit",
        before: |environment| {
            token(environment);
            environment.write("a.txt", "about 1\n");
        },
        args: |environment| {
            let mut args = words("submit PLAN 1 --note UTIL:x --claim");
            args.push(token(environment));
            args
        },
        done_before: "it is handed in already",
    },
    Case {
        name: "verdict, passed",
        before: |environment| drop(environment.build("builder-1", "a.txt", "about 1\n")),
        args: |_| words("verdict PLAN 1 --pass 1:seen --summary fine"),
        done_before: "it has passed already|is COMPLETED",
    },
    Case {
        name: "verdict, failed",
        before: |environment| drop(environment.build("builder-1", "a.txt", "about 1\n")),
        args: |_| words("verdict PLAN 1 --fail 1:missing --summary no"),
        done_before: "only a submitted task can be verified",
    },
    Case {
        name: "claim in a worktree",
        before: in_worktrees,
        args: |_| words("claim PLAN --as builder-1"),
        done_before: "",
    },
    Case {
        name: "verdict, passed in a worktree",
        before: built_in_a_worktree,
        args: |_| words("verdict PLAN 1 --pass 1:seen --summary fine"),
        done_before: "it has passed already|is COMPLETED",
    },
    Case {
        name: "cancel with a worktree",
        before: built_in_a_worktree,
        args: |_| words("cancel PLAN"),
        done_before: "",
    },
    Case {
        name: "rollback",
        before: |environment| {
            environment.build("builder-1", "a.txt", "about 1\n");
            environment.pass("1");
        },
        args: |_| words("rollback PLAN 1"),
        done_before: "is PENDING",
    },
    Case { name: "note", before: |_| {}, args: |_| words("note PLAN add WARN:x"), done_before: "" },
];

#[test]
fn a_command_killed_at_any_write_is_made_good_by_the_same_command() {
    let tried = Environment::new().command("strace").args(["-o", "/dev/null", "true"]).status();
    if !tried.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("FP_REQUIRE_STRACE").is_none(), "strace is missing, or may not trace");
        println!("skipped: no strace");
        return;
    }
    let killed: usize = thread::scope(|scope| {
        let (even, odd): (Vec<_>, Vec<_>) = CASES.iter().enumerate().partition(|(i, _)| i % 2 == 0);
        let workers = [even, odd]
            .map(|cases| scope.spawn(|| cases.into_iter().map(|(_, case)| check(case)).sum::<usize>()));
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    println!("{} commands, killed at {killed} calls", CASES.len());
    assert!(killed > 100, "hardly anything was killed");
}

/// Kills the case's command at each of its calls, the first of a kind, the second, and so on; how many there are.
fn check(case: &Case) -> usize {
    let environment = Environment::new().env("GIT_TEMPLATE_DIR", "").repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt"), leaf("2", "none", "b.txt")]));
    environment.start(&[]);
    (case.before)(&environment);
    let args = (case.args)(&environment);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    environment.save();
    let answer = environment.done(&args).stdout;
    let expected = environment.seen();
    let kill_each = |call: &&str| {
        let survived_at = (1..MANY).find(|n| {
            environment.restore();
            let Some(said) = environment.killed_at(call, *n, &args) else { return true };
            make_good(
                case,
                &environment,
                &args,
                (&said, &answer),
                &expected,
                &format!("{} at {call} {n}", case.name),
            );
            false
        });
        survived_at.expect("no command makes so many calls") - 1
    };
    CALLS.iter().map(kill_each).sum()
}

/// Runs the command again, which was killed when it had `said` a part of its `answer`.
fn make_good(
    case: &Case,
    environment: &Environment,
    args: &[&str],
    (said, answer): (&str, &str),
    expected: &Seen,
    place: &str,
) {
    let again = environment.fp(args);
    let known = case.done_before.split('|').any(|text| !text.is_empty() && again.stderr.contains(text));
    assert!(again.code == 0 || again.code == 1 && known, "{place}: {again}");
    // What `next` tells, it tells at least once.
    assert!(
        case.name != "next" || said == answer || again.stdout == answer,
        "{place}: first\n{said}\nthen\n{again}"
    );
    if known {
        // What is left is done by the next command of the lead.
        environment.done(&["run", "start", PLAN, "--session", "s1"]);
    }
    assert_eq!(environment.seen(), *expected, "{place}");
}

/// All that a command leaves behind.
#[derive(Debug, PartialEq)]
struct Seen {
    files: std::collections::BTreeSet<String>,
    status: String,
    notes: String,
    notepad: String,
    evidence: String,
    commits: String,
    changes: String,
    worktrees: String,
}

impl Environment {
    fn seen(&self) -> Seen {
        let text = |name: &str| {
            let bytes = std::fs::read(self.path(&format!(".fractal-planner/plans/{PLAN}/{name}")));
            String::from_utf8(bytes.unwrap_or_default()).unwrap()
        };
        self.assert_snapshot_is_the_log();
        // Reading leaves the snapshot to the next command that writes.
        let mut files = self.plan_files();
        files.remove("execution-state.json");
        Seen {
            files,
            status: self.done(&["status", PLAN, "--format", "json"]).stdout,
            notes: self.done(&["note", PLAN, "list"]).stdout,
            notepad: text("notepad.md"),
            evidence: text("evidence/task-1-verification.md"),
            commits: self.git(&["log", "--name-status", "--format=%H %s"]),
            changes: self.git(&["status", "--short"]),
            worktrees: self.git(&["worktree", "list", "--porcelain"]),
        }
    }

    fn save(&self) {
        self.copy("work", "saved");
    }

    fn restore(&self) {
        std::fs::remove_dir_all(self.path("")).unwrap();
        self.copy("saved", "work");
    }

    fn copy(&self, from: &str, to: &str) {
        let copied = self
            .command("cp")
            .current_dir(self.beside("home"))
            .arg("-a")
            .args([self.beside(from), self.beside(to)])
            .status();
        assert!(copied.unwrap().success());
    }

    /// Runs `fp` and kills it at its `n`th `call`; what it had said by then. Nothing if it came to its end.
    fn killed_at(&self, call: &str, n: usize, args: &[&str]) -> Option<String> {
        let mut command = self.command("strace");
        command.args(["-o", "/dev/null", "-e"]).arg(format!("inject={call}:signal=KILL:when={n}"));
        let output = command.arg(env!("CARGO_BIN_EXE_fp")).args(args).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let output = Output {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            // A tracer ends as what it traced has ended.
            code: output.status.code().unwrap_or(-9),
        };
        assert!([0, -9].contains(&output.code), "{args:?}, {call} {n}: {output}");
        (output.code != 0).then_some(output.stdout)
    }
}
