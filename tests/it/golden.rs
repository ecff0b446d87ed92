//! Logs of older versions must stay readable, and other programs rely on the JSON. So recorded logs must replay to the
//! recorded state, and `next`, `claim`, `verify`, `verdict` and `status` must print the recorded JSON.
//!
//! `tests/golden/logs` has logs of version 1, each with its state; `tests/golden/sessions` has runs, command by
//! command. They are never re-recorded to match a change in the program: `FP_GOLDEN_RECORD=1` only adds new files.

use std::fs;
use std::path::{Path, PathBuf};

use fp_plan::plan::id::PlanId;
use fp_run::run::State;
use fp_run::run::event::Entry;
use serde_json::{Value, json};

use crate::common::plan::{Leaf, PLAN, clarify_words, leaf, tree};
use crate::common::{Environment, Output};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

/// Compares `value` with the file at `path`, or writes a missing file if recording is on.
fn compare(path: &Path, value: &Value) -> Result<(), String> {
    if !path.exists() && std::env::var_os("FP_GOLDEN_RECORD").is_some() {
        let text = serde_json::to_string_pretty(value).unwrap() + "\n";
        fs::write(path, text).unwrap();
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let recorded: Value = serde_json::from_str(&text).unwrap();
    match difference("", &recorded, value) {
        None => Ok(()),
        Some(difference) => Err(format!("{}: {difference}", path.display())),
    }
}

/// The first recorded value that differs now. Objects may have gained fields.
fn difference(at: &str, recorded: &Value, now: &Value) -> Option<String> {
    match (recorded, now) {
        (Value::Object(a), Value::Object(b)) => {
            a.keys().filter(|key| !is_gone(at, key)).find_map(|key| {
                difference(
                    &format!("{at}/{key}"),
                    a.get(key).unwrap_or(&json!("(absent)")),
                    b.get(key).unwrap_or(&json!("(absent)")),
                )
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(i, (a, b))| difference(&format!("{at}/{i}"), a, b)),
        _ if recorded == now => None,
        (Value::String(recorded), Value::String(now)) if reworded(recorded) == *now => None,
        _ => Some(format!("{at}: recorded {recorded}, now {now}")),
    }
}

/// True for the fields of a state about messages between builders, which now only exist in the log.
fn is_gone(at: &str, key: &str) -> bool {
    at.is_empty() && ["inboxes", "messages"].contains(&key)
}

/// Applies the wording changes that were made on purpose since the recording.
fn reworded(recorded: &str) -> String {
    let changes = [
        (r"How to go on\?", "How should it continue?"),
        // Each state now has a single word.
        ("^it is COMPLETED$", "it is done"),
        ("^it is FAILED", "it failed"),
        ("^it is SKIPPED: Blocked", "it is skipped: blocked"),
        (r"^it is IMPLEMENTING by (\S+)$", "it is building, with $1"),
        (
            r"^it is AWAITING_VERIFICATION by (\S+)$",
            "it is verifying, with $1",
        ),
        (r" after \d+\.\d{3} s, output sha256 \S+", ""),
        // Builders now only inform each other by notes.
        (
            r"\nAnother builder must know something at once\?[^\n]*\n",
            "",
        ),
        // The evidence file concerns the verifier, not the builder.
        (r"- Evidence: \S+-verification\.md\n", ""),
        // A note now says what it is about.
        (
            r"'GOTCHA: …' \(or PATTERN, UTIL, WARN\) for what the next builder should know, 'DEBT: …' for work outside your task",
            "'GOTCHA(PATH): …' (or PATTERN, UTIL, WARN) for what whoever touches PATH should know, 'DEBT(PATH): …' for a defect outside your task",
        ),
        // Only what a task itself builds on is told.
        (r"- Before that, task [^\n]*\n", ""),
        // The result of an earlier task now follows a colon.
        (r"(?m)^(- Task \S+ did: .*, commit [0-9a-f]+\)) ", "$1: "),
        // Only the claim has the feedback now.
        (
            r"(?s)^(Task \S+ did not pass):\n.*\nRun (`fp claim [^`]+` for what to mend.*)$",
            "$1: run $2",
        ),
        (
            r": answer `fp next`, or revise it and run `fp approve (\S+)`$",
            ". If the task still fits, run `fp approve $1`; if not, `fp task revise $1 2` first",
        ),
    ];
    changes
        .iter()
        .fold(recorded.to_owned(), |text, (before, now)| {
            regex::Regex::new(before)
                .unwrap()
                .replace_all(&text, *now)
                .into_owned()
        })
}

/// The recorded logs, by name.
fn logs() -> Vec<PathBuf> {
    let mut logs: Vec<PathBuf> = fs::read_dir(folder("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    logs.sort();
    assert!(logs.len() > 30, "only {} logs", logs.len());
    logs
}

fn entries(log: &Path) -> Vec<Entry> {
    let text = fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}: {error}: {line}", log.display()))
        })
        .collect()
}

fn fail_with(differences: &[String]) {
    assert!(
        differences.is_empty(),
        "{} differ from what was recorded:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn logs_replay_to_the_recorded_state() {
    let mut differences = Vec::new();
    for log in logs() {
        let state = State::replay(PLAN.parse::<PlanId>().unwrap(), &entries(&log));
        let state = serde_json::to_value(&state).unwrap();
        differences.extend(compare(&log.with_extension("state.json"), &state).err());
    }
    fail_with(&differences);
}

/// Writing an entry reproduces what was read: no part of an event is lost or renamed.
#[test]
fn entries_are_written_as_they_were_read() {
    for log in logs() {
        for (line, entry) in fs::read_to_string(&log).unwrap().lines().zip(entries(&log)) {
            let read: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                difference("", &read, &serde_json::to_value(&entry).unwrap()),
                None,
                "{}",
                log.display()
            );
        }
    }
}

#[test]
fn logs_have_the_recorded_status() {
    let mut differences = Vec::new();
    let environment = Environment::new().repo();
    for log in logs() {
        drop(fs::remove_dir_all(
            environment.path(&format!(".fractal-planner/plans/{PLAN}")),
        ));
        environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
        let folder = format!(".fractal-planner/plans/{PLAN}");
        environment.write(&format!("{folder}/events.jsonl"), fs::read(&log).unwrap());
        if let Ok(tree) = fs::read(log.with_extension("md")) {
            environment.write(&format!("{folder}/tasks.md"), tree);
        }
        let shown: Vec<Value> = [
            &["status", PLAN][..],
            &["status", "--ready", PLAN],
            &["log", PLAN],
        ]
        .iter()
        .map(|args| {
            told(
                args,
                &environment.fp(&[args, &["--format", "json"][..]].concat()),
            )
        })
        .collect();
        differences.extend(compare(&log.with_extension("status.json"), &Value::Array(shown)).err());
    }
    fail_with(&differences);
}

/// A command with its exit status and its output, parsed if it is JSON.
fn told(args: &[&str], output: &Output) -> Value {
    let output = output.masked();
    let args: Vec<String> = args.iter().map(|arg| mask(arg)).collect();
    let printed = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|_| json!(output.stdout.lines().collect::<Vec<_>>()));
    json!({ "command": args.join(" "), "code": output.code, "printed": printed })
}

fn mask(text: &str) -> String {
    Output {
        stdout: text.to_owned(),
        stderr: String::new(),
        code: 0,
    }
    .masked()
    .stdout
}

/// A run recorded command by command.
struct Session {
    environment: Environment,
    said: Vec<Value>,
}

impl Session {
    fn new(leaves: &[Leaf<'_>], shared: bool, flags: &[&str]) -> Self {
        let environment = Environment::new();
        let environment = if shared {
            environment.shared()
        } else {
            environment
        }
        .repo();
        environment.plan(&tree(leaves));
        let mut session = Self {
            environment,
            said: Vec::new(),
        };
        session.tell(&["approve", PLAN, "--yes"]);
        session.tell(&[&["run", "start", PLAN, "--session", "s1"], flags].concat());
        session
    }

    /// Runs a command with `--format json`, then records and returns its output.
    fn tell(&mut self, args: &[&str]) -> Value {
        let output = self.environment.fp(&[args, &["--format", "json"]].concat());
        // The flag is newer than the recordings.
        let recorded: Vec<&str> = args.iter().copied().filter(|arg| *arg != "--yes").collect();
        self.said.push(told(&recorded, &output));
        serde_json::from_str(&output.stdout).unwrap_or_default()
    }

    fn next(&mut self, flags: &[&str]) -> Value {
        self.tell(&[&["next", PLAN], flags].concat())
    }

    /// Claims for `owner`, writes `file` in the claim's folder, and submits. Returns the task.
    fn build(&mut self, owner: &str, file: &str, text: &str) -> String {
        let claim = self.tell(&["claim", PLAN, "--as", owner]);
        let task = claim["task"].as_str().unwrap().to_owned();
        let token = claim["claim"].as_str().unwrap().to_owned();
        match claim["worktree"].as_str() {
            Some(place) => fs::write(
                Path::new(&place.replace("[ROOT]", self.environment.beside("").to_str().unwrap()))
                    .join(file),
                text,
            )
            .unwrap(),
            None => self.environment.write(file, text),
        }
        self.tell(&["submit", PLAN, &task, "--claim", &token]);
        task
    }

    fn judge(&mut self, task: &str, word: &str) {
        self.tell(&["verify", PLAN, task]);
        self.tell(&[
            "verdict",
            PLAN,
            task,
            word,
            "1: seen in the file",
            "--summary",
            "as it should be",
        ]);
    }

    fn status(&mut self) {
        self.tell(&["status", PLAN]);
        self.tell(&["status", "--ready", PLAN]);
        self.tell(&["plans"]);
    }

    /// Like `end`, for a session in which command `at` now prints an additional `resume`: for a message that the lead
    /// may have lost, or for the answer to a builder that counts as ended. Since action ids count log entries, the ids
    /// of later actions are replaced with the recorded ones. So are the values at the pointers in `reworded`, such as a
    /// question that has more text and options now.
    fn end_with_resume(mut self, at: usize, reworded: &[&str], name: &str) {
        let recorded =
            fs::read_to_string(folder("sessions").join(name).with_extension("json")).unwrap();
        let recorded: Value = serde_json::from_str(&recorded).unwrap();
        let actions = self.said[at]["printed"]["actions"].as_array_mut().unwrap();
        assert_eq!(actions.remove(0)["action"], "resume");
        for (said, recorded) in self
            .said
            .iter_mut()
            .zip(recorded.as_array().unwrap())
            .skip(at)
        {
            let actions = said["printed"]["actions"]
                .as_array_mut()
                .into_iter()
                .flatten();
            for (action, recorded) in actions.zip(
                recorded["printed"]["actions"]
                    .as_array()
                    .into_iter()
                    .flatten(),
            ) {
                action["id"] = recorded["id"].clone();
            }
        }
        self.end_reworded(reworded, name);
    }

    /// Like `end`, with the recorded values at the pointers in `reworded`.
    fn end_reworded(mut self, reworded: &[&str], name: &str) {
        let path = folder("sessions").join(name).with_extension("json");
        let recorded: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut said = Value::Array(std::mem::take(&mut self.said));
        for pointer in reworded {
            *said.pointer_mut(pointer).unwrap() = recorded.pointer(pointer).unwrap().clone();
        }
        self.said = said.as_array().unwrap().clone();
        self.end(name);
    }

    fn end(self, name: &str) {
        let path = folder("sessions").join(name).with_extension("json");
        if let Err(difference) = compare(&path, &Value::Array(self.said)) {
            panic!("{difference}");
        }
    }
}

const CHAIN: [Leaf<'static>; 3] = [
    leaf("1", "none", "a.txt"),
    leaf("2", "1", "b.txt"),
    leaf("3", "2", "c.txt"),
];
const APART: [Leaf<'static>; 3] = [
    leaf("1", "none", "a.txt"),
    leaf("2", "none", "b.txt"),
    leaf("3", "1, 2", "c.txt"),
];

#[test]
fn one_builder_from_claim_to_commit() {
    let mut session = Session::new(&CHAIN, true, &[]);
    session.next(&[]);
    for (file, text) in [
        ("a.txt", "about 1\n"),
        ("b.txt", "about 2\n"),
        ("c.txt", "about 3\n"),
    ] {
        let task = session.build("builder-1", file, text);
        session.next(&["--ended", "builder-1"]);
        session.judge(&task, "--pass");
        session.next(&[]);
        session.status();
    }
    session.end("one_builder");
}

#[test]
fn an_attempt_that_fails_and_is_done_again() {
    let mut session = Session::new(&CHAIN, true, &["--max-iterations", "2"]);
    session.next(&[]);
    let task = session.build("builder-1", "a.txt", "nothing\n");
    session.next(&["--ended", "builder-1"]);
    session.judge(&task, "--fail");
    session.next(&[]);
    session.build("builder-1", "a.txt", "nothing much\n");
    session.judge(&task, "--fail");
    session.status();
    let question = session.next(&[]);
    let question = question["actions"].as_array().and_then(|actions| {
        actions.iter().find_map(|action| {
            action["question"]
                .as_str()
                .or(action["id"].as_str())
                .map(str::to_owned)
        })
    });
    session.tell(&[
        "answer",
        PLAN,
        &question.unwrap_or_else(|| "q1".to_owned()),
        "--option",
        "Retry",
    ]);
    session.next(&[]);
    session.tell(&["retry", PLAN, "1"]);
    session.next(&[]);
    session.build("builder-1", "a.txt", "about 1\n");
    session.judge(&task, "--pass");
    session.next(&[]);
    session.status();
    // Since the recording, a claim after a failed attempt also says that the earlier work is still there.
    for claim in [9, 21] {
        let payload = &mut session.said[claim]["printed"]["payload"];
        let without = payload.as_str().unwrap().replace(
            "- Your checkout has the earlier attempt's work: go on from there\n",
            "",
        );
        *payload = json!(without);
    }
    let reworded = ["/13/printed/questions/0", "/16/printed/actions/0"];
    session.end_with_resume(20, &reworded, "failed_and_retried");
}

#[test]
fn two_builders_in_worktrees() {
    let mut session = Session::new(&APART, false, &["--builders", "2"]);
    session.next(&[]);
    let first = session.build("builder-1", "a.txt", "about 1\n");
    let second = session.build("builder-2", "b.txt", "about 2\n");
    session.next(&["--ended", "builder-1"]);
    session.judge(&first, "--pass");
    session.judge(&second, "--pass");
    session.next(&[]);
    session.status();
    let third = session.build("builder-1", "c.txt", "about 3\n");
    session.judge(&third, "--pass");
    session.next(&[]);
    session.status();
    session.end("worktrees");
}

#[test]
fn what_is_refused() {
    let mut session = Session::new(&CHAIN, true, &[]);
    session.tell(&["claim", PLAN, "3", "--as", "builder-1"]);
    session.tell(&["claim", PLAN, "9", "--as", "builder-1"]);
    session.tell(&["verify", PLAN, "1"]);
    session.tell(&[
        "verdict",
        PLAN,
        "1",
        "--pass",
        "1: seen",
        "--summary",
        "fine",
    ]);
    let claim = session.tell(&["claim", PLAN, "--as", "builder-1"]);
    session.tell(&["claim", PLAN, "2", "--as", "builder-1"]);
    session.tell(&clarify_words(
        "Which?",
        &["--option", "A|the first", "--option", "B|the second"],
    ));
    session.next(&[]);
    session.tell(&["answer", PLAN, "q1", "--option", "A"]);
    session.next(&[]);
    session.tell(&[
        "scope",
        "extend",
        PLAN,
        "1",
        "c.txt",
        "--claim",
        claim["claim"].as_str().unwrap(),
        "--reason",
        "needed",
    ]);
    session.next(&[]);
    session.tell(&["cancel", PLAN]);
    session.next(&[]);
    session.status();
    // The report of a cancelled run no longer says that a builder is at work.
    let reworded = [
        "/12/command",
        "/12/printed/path",
        "/13/printed/actions/0/text",
        "/15/printed/actions/0/report",
        "/16/printed/questions/0",
    ];
    session.end_with_resume(11, &reworded, "refused");
}
