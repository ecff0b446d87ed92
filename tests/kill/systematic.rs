//! Each command is killed at each of its system calls that write: running it once more ends in the same state as
//! without the kill, with nothing left over.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

/// The system calls at which a command is killed: those that change a file or print something. A kill at any other
/// call, such as `fsync`, leaves the same state as a kill at the next call from this list.
const CALLS: [&str; 10] = [
    "write",
    "pwrite64",
    "rename",
    "renameat",
    "renameat2",
    "openat",
    "ftruncate",
    "unlink",
    "unlinkat",
    "mkdir",
];

/// Number of cases tested at the same time.
const WORKERS: usize = 4;

/// A state of the plan, and the command that is killed in it.
struct Case {
    name: &'static str,
    /// Brings an approved and started run of two tasks to that state.
    before: fn(&Environment),
    args: fn(&Environment) -> Vec<String>,
    /// The error messages, separated by `|`, that the second run of the command may give if the killed one had already
    /// done its work.
    done_before: &'static str,
}

fn words(text: &str) -> Vec<String> {
    text.split(' ')
        .map(|word| word.replace("PLAN", PLAN))
        .collect()
}

fn token(environment: &Environment) -> String {
    environment.claim("builder-1").unwrap().1
}

/// Makes builders work in their own worktrees from now on.
fn in_worktrees(environment: &Environment) {
    let folder = environment.beside("home/.config/fractal-planner");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), r#"{ "isolation": "worktree" }"#).unwrap();
    environment.done(&["run", "start", PLAN, "--session", "s1"]);
}

/// Makes `owner` claim task 1 and submit it from its worktree.
fn hand_in(environment: &Environment, owner: &str) {
    let token = environment.claim(owner).unwrap().1;
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/worktrees/{owner}/a.txt"),
        "about 1\n",
    );
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
}

/// Like [`in_worktrees`], with task 1 submitted from a worktree.
fn built_in_a_worktree(environment: &Environment) {
    in_worktrees(environment);
    hand_in(environment, "builder-1");
}

/// Shares the run through a remote next to the repository.
fn shared(environment: &Environment) {
    environment.git(&["init", "--quiet", "--bare", "../remote.git"]);
    environment.git(&["remote", "add", "origin", "../remote.git"]);
    environment.done(&["share", PLAN, "--as", "m1"]);
    environment.done(&["start", PLAN, "--here", "--session", "s1"]);
}

/// Like [`shared`], with task 1 submitted.
fn shared_and_built(environment: &Environment) {
    shared(environment);
    hand_in(environment, "m1-builder-1");
}

const CASES: [Case; 15] = [
    Case {
        name: "approve",
        before: |environment| {
            environment.plan(&tree(&[
                leaf("1", "none", "a.txt"),
                leaf("2", "none", "c.txt"),
            ]))
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
    Case {
        name: "run start on a branch",
        before: |_| {},
        args: |_| words("run start PLAN --session s2 --branch"),
        done_before: "",
    },
    Case {
        name: "next",
        before: |_| {},
        args: |_| words("next PLAN"),
        done_before: "",
    },
    Case {
        name: "claim",
        before: |_| {},
        args: |_| words("claim PLAN --as builder-1"),
        done_before: "",
    },
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
        done_before: "it has passed already|is done",
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
        done_before: "it has passed already|is done",
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
        args: |_| words("retry PLAN 1 --undo"),
        done_before: "is waiting",
    },
    Case {
        name: "claim in a shared plan",
        before: shared,
        args: |_| words("claim PLAN --as m1-builder-1"),
        done_before: "",
    },
    Case {
        name: "verdict, passed in a shared plan",
        before: shared_and_built,
        args: |_| words("verdict PLAN 1 --pass 1:seen --summary fine"),
        done_before: "it has passed already|is done",
    },
    Case {
        name: "note",
        before: |_| {},
        args: |_| words("note PLAN add WARN:x"),
        done_before: "",
    },
];

#[test]
fn a_command_killed_at_any_write_is_made_good_by_the_same_command() {
    let tried = Environment::new()
        .command("strace")
        .args(["-o", "/dev/null", "true"])
        .status();
    if !tried.is_ok_and(|status| status.success()) {
        assert!(
            std::env::var_os("FP_REQUIRE_STRACE").is_none(),
            "strace is missing, or may not trace"
        );
        println!("skipped: no strace");
        return;
    }
    // Most of the time is spent waiting, so there are more workers than cores.
    let cases = Mutex::new(CASES.iter());
    let next = || cases.lock().unwrap().next();
    let killed: usize = thread::scope(|scope| {
        let work = || std::iter::from_fn(next).map(check).sum::<usize>();
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    println!("{} commands, killed at {killed} calls", CASES.len());
    assert!(killed > 100, "hardly anything was killed");
}

/// Kills the case's command at each of its [`CALLS`], or at a sample of them. Returns the number of kills.
fn check(case: &Case) -> usize {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&[]);
    (case.before)(&environment);
    let args = (case.args)(&environment);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    environment.save();
    let (answer, calls) = environment.traced(&args);
    let expected = environment.seen();
    // Most calls in a shared plan also occur in the other cases, and git makes these cases slow.
    let every = if case.name.ends_with("shared plan") {
        3
    } else {
        1
    };
    for (call, n) in calls.iter().step_by(every) {
        environment.restore();
        let place = format!("{} at {call} {n}", case.name);
        let said = environment.killed_at(call, *n, &args);
        make_good(
            case,
            &environment,
            &args,
            (&said, &answer),
            &expected,
            &place,
        );
    }
    calls.len() / every
}

/// Runs the command again after the kill, before which it had printed `said` of its full output `answer`, and checks
/// the resulting state.
fn make_good(
    case: &Case,
    environment: &Environment,
    args: &[&str],
    (said, answer): (&str, &str),
    expected: &Seen,
    place: &str,
) {
    let again = environment.fp(args);
    let known = case
        .done_before
        .split('|')
        .any(|text| !text.is_empty() && again.stderr.contains(text));
    assert!(
        again.code == 0 || again.code == 1 && known,
        "{place}: {again}"
    );
    // At least one of the two runs of `next` must print the whole answer.
    assert!(
        case.name != "next" || said == answer || again.stdout == answer,
        "{place}: first\n{said}\nthen\n{again}"
    );
    if known {
        // The lead's next command does the rest.
        environment.done(&["start", PLAN, "--here", "--session", "s1"]);
    }
    assert_eq!(environment.seen(), *expected, "{place}");
}

/// Everything that a command leaves behind.
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
    /// The last seen commit of a shared plan's branch.
    branch: String,
}

impl Environment {
    fn seen(&self) -> Seen {
        let text = |name: &str| {
            let bytes = std::fs::read(self.path(&format!(".fractal-planner/plans/{PLAN}/{name}")));
            String::from_utf8(bytes.unwrap_or_default()).unwrap()
        };
        let status = self.assert_snapshot_is_the_log();
        // Commands that only read leave updating the snapshot to the next one that writes. A claim that is printed
        // again adds a waiting entry.
        let mut files = self.plan_files();
        files.remove("execution-state.json");
        files.remove("waiting.jsonl");
        Seen {
            files,
            status,
            notes: self.done(&["note", PLAN, "list"]).stdout,
            notepad: text("notepad.md"),
            evidence: text("evidence/task-1-verification.md"),
            commits: self.git(&["log", "--name-status", "--format=%H %s"]),
            changes: self.git(&["status", "--short"]),
            worktrees: self.git(&["worktree", "list", "--porcelain"]),
            branch: self.git(&["ls-remote", ".", &format!("refs/fp-seen/{PLAN}/branch")]),
        }
    }

    fn save(&self) {
        std::fs::create_dir(self.beside("saved")).unwrap();
        self.copy("", "saved");
    }

    fn restore(&self) {
        for folder in self.repositories("") {
            std::fs::remove_dir_all(self.beside(folder)).unwrap();
        }
        self.copy("saved", "");
    }

    /// The repository, its user's home, and the remote of a shared plan, provided they exist in `place`.
    fn repositories(&self, place: &str) -> Vec<&'static str> {
        let place = self.beside(place);
        ["work", "home", "remote.git"]
            .into_iter()
            .filter(|folder| place.join(folder).exists())
            .collect()
    }

    /// Copies all [`Self::repositories`] in `from` to `to`.
    fn copy(&self, from: &str, to: &str) {
        let mut command = self.command("cp");
        command
            .current_dir(self.beside(from))
            .arg("-a")
            .args(self.repositories(from));
        assert!(command.arg(self.beside(to)).status().unwrap().success());
    }

    /// Runs `fp`, and returns its output and its [`CALLS`], each numbered among the calls of the same name. An `openat`
    /// that only reads is counted but left out.
    fn traced(&self, args: &[&str]) -> (String, Vec<(String, usize)>) {
        let trace = self.beside("trace");
        let mut command = self.command("strace");
        command
            .arg("-o")
            .arg(&trace)
            .arg("-e")
            .arg(format!("trace={}", CALLS.join(",")));
        let output = command
            .arg(env!("CARGO_BIN_EXE_fp"))
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        let mut numbers = BTreeMap::<String, usize>::new();
        let mut calls = Vec::new();
        for line in std::fs::read_to_string(trace).unwrap().lines() {
            let Some((call, arguments)) = line.split_once('(') else {
                continue;
            };
            let number = numbers.entry(call.to_owned()).or_default();
            *number += 1;
            if call != "openat"
                || ["O_CREAT", "O_WRONLY", "O_RDWR"]
                    .iter()
                    .any(|flag| arguments.contains(flag))
            {
                calls.push((call.to_owned(), *number));
            }
        }
        (String::from_utf8(output.stdout).unwrap(), calls)
    }

    /// Runs `fp` and kills it at its `n`th `call`. Returns the output up to that point.
    fn killed_at(&self, call: &str, n: usize, args: &[&str]) -> String {
        let mut command = self.command("strace");
        command
            .args(["-o", "/dev/null", "-e"])
            .arg(format!("trace={call}"));
        command
            .arg("-e")
            .arg(format!("inject={call}:signal=KILL:when={n}"));
        let output = command
            .arg(env!("CARGO_BIN_EXE_fp"))
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        // strace ends the same way as the process it traces.
        assert!(
            output.status.code().is_none(),
            "{args:?} came to its end before {call} {n}: {output:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    }
}
