//! Plans to run, and the steps of a builder and a verifier in a run.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fmt::Write as _;

use super::{Environment, Output};

/// Id of the plan that [`Environment::plan`] writes.
pub(crate) const PLAN: &str = "sample-20261121";

/// Settings of a user who wants a verifier for each task.
pub(crate) const JUDGE_EACH: &str = r#"{ "verify": { "judge": "each" } }"#;

/// A leaf of a sample tree: its id, its dependencies, its file and its test command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaf<'a> {
    pub(crate) id: &'a str,
    pub(crate) after: &'a str,
    pub(crate) file: &'a str,
    pub(crate) test: &'a str,
}

/// A leaf that changes `file` and has no test.
pub(crate) const fn leaf<'a>(id: &'a str, after: &'a str, file: &'a str) -> Leaf<'a> {
    Leaf {
        id,
        after,
        file,
        test: "none",
    }
}

/// The arguments with which `builder-1` asks a question about task 1, with the options or the check in `ways`.
pub(crate) fn clarify_words<'a>(question: &'a str, ways: &[&'a str]) -> Vec<&'a str> {
    [
        &[
            "clarify",
            PLAN,
            "1",
            "--as",
            "builder-1",
            "--question",
            question,
        ],
        ways,
    ]
    .concat()
}

/// A valid tree with these leaves below one root.
pub(crate) fn tree(leaves: &[Leaf<'_>]) -> String {
    let mut text =
        String::from("## Root Task\n- [ID: root] Sample goal (Complexity: 5)\n\n### Subtasks\n");
    for Leaf {
        id,
        after,
        file,
        test,
    } in leaves
    {
        let _ = write!(
            text,
            "- [ID: {id}] Write part {id} (Complexity: 2)\n  - Acceptance:\n    - `{file}` has a line about {id}\n  \
             - Dependencies: {after}\n  - Files: {file}\n  - Tests Required: no\n  - Hints:\n    - One line\n    \
             - A newline at its end\n  - Test Commands: {test}\n"
        );
    }
    text
}

impl Environment {
    /// Writes the plan [`PLAN`] with this tree. A verifier judges each of its tasks, unless the user's settings are
    /// there already.
    pub(crate) fn plan(&self, tree: &str) {
        self.judge_each();
        self.write(".fractal-planner/plans/.gitignore", "*\n");
        self.write(&format!(".fractal-planner/plans/{PLAN}/tasks.md"), tree);
    }

    /// Has a verifier judge each task, unless the user's settings are there already.
    pub(crate) fn judge_each(&self) {
        let folder = self.beside("home/.config/fractal-planner");
        if !folder.join("config.json").exists() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("config.json"), JUDGE_EACH).unwrap();
        }
    }

    /// Makes builders share the checkout, however many there are.
    pub(crate) fn shared(self) -> Self {
        let folder = self.beside("home/.config/fractal-planner");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("config.json"),
            r#"{ "isolation": "shared", "verify": { "judge": "each" } }"#,
        )
        .unwrap();
        self
    }

    /// Approves and starts [`PLAN`] in the session `s1`.
    pub(crate) fn start(&self, flags: &[&str]) {
        self.done(&["approve", PLAN, "--yes"]);
        self.done(&[&["run", "start", PLAN, "--session", "s1"], flags].concat());
    }

    /// Gives `copy`, a copy of [`PLAN`], the same user consent as the original.
    pub(crate) fn trust_copy(&self, copy: &str) {
        let store = self.trust_store();
        let text = std::fs::read_to_string(&store).unwrap();
        std::fs::write(store, text.clone() + &text.replace(PLAN, copy)).unwrap();
        self.own_log(copy);
    }

    /// Makes the log of `plan` look as if `fp` wrote it on this machine and the user approved it, however it was really
    /// written.
    pub(crate) fn own_log(&self, plan: &str) {
        let log = format!(".fractal-planner/plans/{plan}/events.jsonl");
        let before = self.read(&log);
        let store = self.trust_store();
        let id = plan.parse().unwrap();
        let own = fp_host::store::log_of_user(store.parent().unwrap(), &id, before.as_bytes());
        let own = String::from_utf8(own.unwrap()).unwrap();
        let mut trust = std::fs::read_to_string(&store).unwrap();
        for (before, own) in before.lines().zip(own.lines()) {
            let code = |line: &str| Some(line.split_once("\"code\":\"")?.1[..64].to_owned());
            let of_plan = |line: &str| line.contains(&format!("\"{plan}\""));
            if let Some((before, own)) = code(before).zip(code(own)) {
                let lines = trust.lines().map(|line| match of_plan(line) {
                    true => line.replace(&before, &own) + "\n",
                    false => line.to_owned() + "\n",
                });
                trust = lines.collect();
            }
        }
        std::fs::write(store, trust).unwrap();
        self.write(&log, own);
        drop(std::fs::remove_file(
            self.path(&log.replace("events.jsonl", "execution-state.json")),
        ));
    }

    /// Records in the client that the user trusts the repository.
    pub(crate) fn trust_place(&self) {
        let root = self.path("");
        let root = root.to_str().unwrap().trim_end_matches('/');
        let record =
            serde_json::json!({ "projects": { root: { "hasTrustDialogAccepted": true } } });
        std::fs::write(self.beside("home/.claude.json"), record.to_string()).unwrap();
    }

    /// The user's trust store.
    pub(crate) fn trust_store(&self) -> std::path::PathBuf {
        self.beside("home/.local/state/fractal-planner/trust.jsonl")
    }

    /// Runs `fp`, which must succeed.
    pub(crate) fn done(&self, args: &[&str]) -> Output {
        let output = self.fp(args);
        assert_eq!(output.code, 0, "fp {args:?}:\n{output}");
        output
    }

    /// Claims a task for `owner`, and returns the task and the token; `None` if nothing is ready.
    pub(crate) fn claim(&self, owner: &str) -> Option<(String, String)> {
        let output = self.fp(&["claim", PLAN, "--as", owner, "--format", "json"]);
        if output.code != 0 {
            assert!(output.code == 1 || output.code == 3, "{output}");
            return None;
        }
        let claim = output.json();
        Some((
            claim["task"].as_str()?.to_owned(),
            claim["claim"].as_str()?.to_owned(),
        ))
    }

    /// Claims a task for `owner`, writes `file` and submits. Returns the task.
    pub(crate) fn build(&self, owner: &str, file: &str, text: &str) -> String {
        let (task, token) = self.claim(owner).expect("a task is ready");
        self.write(file, text);
        self.done(&["submit", PLAN, &task, "--claim", &token]);
        task
    }

    /// Claims `task` for `owner` and returns the token.
    pub(crate) fn claim_task(&self, owner: &str, task: &str) -> String {
        let claim = self
            .done(&["claim", PLAN, task, "--as", owner, "--format", "json"])
            .json();
        claim["claim"].as_str().unwrap_or_default().to_owned()
    }

    /// Claims `task` for `owner`, writes `file` and submits.
    pub(crate) fn build_task(&self, owner: &str, task: &str, file: &str, text: &str) {
        let token = self.claim_task(owner, task);
        self.write(file, text);
        self.done(&["submit", PLAN, task, "--claim", &token]);
    }

    /// Passes the only criterion of `task`.
    pub(crate) fn pass(&self, task: &str) -> Output {
        self.fp(&[
            "verdict",
            PLAN,
            task,
            "--pass",
            "1: seen",
            "--summary",
            "fine",
        ])
    }

    /// Fails the only criterion of `task`.
    pub(crate) fn fail(&self, task: &str) -> Output {
        self.fp(&[
            "verdict",
            PLAN,
            task,
            "--fail",
            "1: not seen",
            "--summary",
            "not yet",
        ])
    }

    /// The reasons of the last verdict, as recorded in the log.
    pub(crate) fn reasons(&self) -> String {
        let log = self.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
        let judged = |line: &str| {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            let reasons = entry["events"]
                .as_array()?
                .iter()
                .find_map(|event| event["judged"]["reasons"].as_array());
            reasons.map(|reasons| {
                reasons
                    .iter()
                    .filter_map(|reason| reason.as_str())
                    .collect::<Vec<_>>()
                    .join("\n")
            })
        };
        log.lines()
            .filter_map(judged)
            .next_back()
            .unwrap_or_default()
    }

    /// The state of each task, in document order.
    pub(crate) fn statuses(&self) -> Vec<(String, String)> {
        let report = self.done(&["status", PLAN, "--format", "json"]).json();
        let tasks = report["tasks"].as_array().cloned().unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        tasks
            .iter()
            .map(|task| (text(&task["id"]), text(&task["status"])))
            .collect()
    }

    /// `fp next PLAN` with these arguments.
    pub(crate) fn next(&self, args: &[&str]) -> Output {
        self.fp(&[&["next", PLAN], args].concat()).masked()
    }

    /// The last commits of HEAD, newest first: subject and files.
    pub(crate) fn commits(&self) -> String {
        self.git(&["log", "--name-only", "--format=* %s"])
    }

    /// The working tree according to `git status --short`.
    pub(crate) fn git_status(&self) -> String {
        self.git(&["status", "--short", "--untracked-files=all"])
    }
}
