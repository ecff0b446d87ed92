//! The workflow that `fp ci github` writes, played step by step as a runner would, with stand-ins for the programs that
//! reach the network.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;

use crate::common::plan::{Leaf, tree};
use crate::common::program::write_program;
use crate::common::{Environment, Output, search_path};
use crate::review::use_own_agents;

/// A stand-in for `gh`: keeps what it is called with and the comment it makes, and answers from files.
const GH: &str = r#"#!/bin/sh
printf '%s\n' "$*" >>"$HOME/gh.log"
case "$1 $2" in
  "issue view") echo '{"number":7,"title":"Two parts are missing","body":"Add them. $(touch /tmp/x)","url":"https://github.com/team/repo/issues/7"}' ;;
  "issue comment") [ "$4" != --body-file ] || cp "$5" "$HOME/comment" ;;
  "pr list") echo '[]' ;;
  "pr create") cat >"$HOME/gh-body"; echo "https://github.com/team/repo/pull/5" ;;
  "api repos"*) cat "$HOME/permission" ;;
esac
"#;

/// Plans as a session of the client would: an interview, a tree, and no approval.
const CLAUDE: &str = r#"#!/bin/sh
[ "$1" = -p ] || exec "$HOME/client" "$@"
printf '%s\n' "$*" >>"$HOME/claude.log"
fp new '#7' --mode specified >/dev/null && cd .fractal-planner/plans/* || exit
cp "$HOME/tree" tasks.md && ln -s /proc/self/environ research.md && touch context.md
"#;

/// Builds what its task says.
const AGENT: &str = r#"#!/bin/sh
[ "$1" = builder ] || exit 0
claim=$(fp claim "$PLAN" --as "$2" --format json) || exit 0
task=$(printf '%s\n' "$claim" | sed -n 's/^  "task": "\(.*\)",*$/\1/p')
token=$(printf '%s\n' "$claim" | sed -n 's/^  "claim": "\(.*\)",*$/\1/p')
for file in part-1.txt part-2.txt; do
  printf '%s\n' "$claim" | grep -q "$file" && echo "line $task" >>"$file"
done
fp submit "$PLAN" "$task" --claim "$token"
"#;

/// The values of an event on this issue.
fn event_on(issue: &str) -> Vec<(&str, &str)> {
    vec![
        ("github.event.issue.number", issue),
        ("github.event.sender.login", "somebody"),
        ("github.run_id", "42"),
        ("github.run_attempt", "1"),
        ("github.server_url", "https://github.com"),
        ("github.repository", "team/repo"),
    ]
}

/// A host with a repository in which the workflow is, and what its runners have.
struct Host {
    environment: Environment,
    workflow: Value,
    /// What a job has left for the others: the outputs of its steps.
    outputs: Vec<(String, String)>,
}

impl Host {
    fn new() -> Self {
        let environment = Environment::new();
        let bin = environment.beside("bin");
        let own = std::iter::once(bin.clone());
        let path = std::env::join_paths(own.chain(std::env::split_paths(&search_path::of_tests())));
        let global = environment.beside("home/.gitconfig");
        let environment = environment.env("PATH", path.unwrap());
        let environment = environment.env("GIT_CONFIG_GLOBAL", global).repo();
        for (name, text) in [
            ("gh", GH),
            ("claude", CLAUDE),
            ("own", AGENT),
            ("npm", "#!/bin/sh\n"),
        ] {
            write_program(&bin.join(name), text);
        }
        let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/client/claude");
        fs::copy(client, environment.beside("home/client")).unwrap();
        fs::write(environment.beside("home/version"), "2.1.207 (Claude Code)").unwrap();
        fs::write(environment.beside("home/offers"), env!("CARGO_PKG_VERSION")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fp"), bin.join("fp")).unwrap();
        use_own_agents(&environment);
        let leaf = |id, file, test| Leaf {
            id,
            after: "none",
            file,
            test,
        };
        let tasks = tree(&[
            leaf("1", "part-1.txt", "grep -q line part-1.txt"),
            leaf("2", "part-2.txt", "grep -q line part-2.txt"),
        ]);
        fs::write(environment.beside("home/tree"), tasks).unwrap();
        let remote = environment.beside("remote.git").display().to_string();
        environment.git(&["init", "-q", "--bare", "-b", "main", &remote]);
        let address = "https://github.com/team/repo.git";
        environment.git(&["remote", "add", "origin", address]);
        environment.git(&[
            "config",
            "--global",
            &format!("url.{remote}.insteadOf"),
            address,
        ]);
        environment.done(&["ci", "github", "-j", "2"]);
        environment.git(&["add", ".github"]);
        environment.git(&["commit", "-qm", "Add the workflow"]);
        environment.git(&["push", "-q", "origin", "main"]);
        let workflow = serde_yaml::from_str(&environment.read(".github/workflows/fp.yml")).unwrap();
        Self {
            environment,
            workflow,
            outputs: Vec::new(),
        }
    }

    fn home(&self, name: &str) -> PathBuf {
        self.environment.beside("home").join(name)
    }

    fn remote(&self) -> String {
        self.environment.beside("remote.git").display().to_string()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.home(name)).unwrap_or_default()
    }

    /// Plays `job` in a fresh clone for an event with these `values` of expressions. Fails at the first step that
    /// fails; returns its output, or that of the last step.
    fn play(&mut self, job: &str, machine: &str, values: &[(&str, &str)]) -> Output {
        let clone = format!("runner-{job}-{machine}");
        let folder = self.environment.beside(&clone).display().to_string();
        let address = "https://github.com/team/repo.git";
        let what = self.workflow["jobs"][job].clone();
        let mut last = self.environment.run("true", &[]);
        for step in what["steps"].as_array().unwrap() {
            let uses = step["uses"].as_str().unwrap_or_default();
            let kept = self.environment.beside("artifact").display().to_string();
            let script = match uses.split('@').next().unwrap() {
                "actions/checkout" => {
                    format!("rm -rf {folder} && git clone -q {address} {folder}")
                }
                "actions/upload-artifact" => format!("cp -r {folder}/planned {kept}"),
                "actions/download-artifact" => format!("cp -r {kept} {folder}/planned"),
                "" => format!(
                    "mkdir -p {folder} && cd {folder}\n{}",
                    step["run"].as_str().unwrap()
                ),
                other => panic!("{other} is no action that the runner knows"),
            };
            let output_file = self.home("output");
            fs::write(&output_file, "").unwrap();
            let mut command = self.environment.command("bash");
            command.args(["-eo", "pipefail", "-c", &script]);
            command.env("GITHUB_OUTPUT", &output_file);
            command.env("GITHUB_REPOSITORY", "team/repo");
            // Each job has a machine of its own, which trusts nothing yet.
            command.env(
                "XDG_STATE_HOME",
                self.home(&format!("state-{job}-{machine}")),
            );
            for environment in [&what["env"], &step["env"]] {
                for (name, value) in environment.as_object().into_iter().flatten() {
                    let value = self.filled(value.as_str().unwrap(), machine, values);
                    command.env(name, value);
                }
            }
            let done = command.output().unwrap();
            last = Output {
                code: done.status.code().unwrap(),
                stdout: String::from_utf8(done.stdout).unwrap(),
                stderr: String::from_utf8(done.stderr).unwrap(),
            };
            if last.code != 0 {
                return last;
            }
            if step["id"].is_string() {
                let told = fs::read_to_string(&output_file).unwrap();
                let pairs = told.lines().filter_map(|line| line.split_once('='));
                self.outputs.extend(
                    pairs.map(|(name, value)| (format!("needs.{job}.{name}"), value.to_owned())),
                );
            }
        }
        last
    }

    /// `text` with each `${{ … }}` filled in.
    fn filled(&self, text: &str, machine: &str, values: &[(&str, &str)]) -> String {
        let expression = Regex::new(r"\$\{\{ ([a-zA-Z_.]+) \}\}").unwrap();
        let fill = |found: &regex::Captures<'_>| {
            let name = &found[1];
            let own = [
                ("matrix.machine", machine),
                ("github.token", "token"),
                ("github.event.repository.default_branch", "main"),
                ("secrets.ANTHROPIC_API_KEY", "key"),
            ];
            let told = own.iter().chain(values).find(|(known, _)| *known == name);
            match told {
                Some((_, value)) => (*value).to_owned(),
                None => {
                    let (job, name) = name.split_once(".outputs.").unwrap();
                    let name = format!("{job}.{name}");
                    let told = self.outputs.iter().rev().find(|(known, _)| *known == name);
                    told.unwrap().1.clone()
                }
            }
        };
        expression.replace_all(text, fill).into_owned()
    }

    /// Somebody comments on the issue.
    fn comment(&mut self, body: &str, permission: &str) -> Output {
        fs::write(self.home("permission"), permission).unwrap();
        let mut values = event_on("7");
        values.push(("github.event.comment.body", body));
        values.push(("github.event.comment.user.login", "somebody"));
        self.play("consent", "0", &values)
    }

    /// Somebody who may write sets the label. Returns the comment that is made, and the line to agree with, if any.
    fn label(&mut self) -> (String, Option<String>) {
        fs::write(self.home("permission"), "write").unwrap();
        drop(fs::remove_dir_all(self.environment.beside("artifact")));
        for job in ["plan", "propose"] {
            let played = self.play(job, "0", &event_on("7"));
            assert_eq!(played.code, 0, "{job}: {played}");
        }
        let comment = self.read("comment");
        let line = comment.lines().find(|line| line.starts_with("fp join "));
        let line = line.map(str::to_owned);
        (comment, line)
    }

    fn agreed_plan(&self) -> Option<&str> {
        let mut outputs = self.outputs.iter();
        let plan = outputs.find(|(name, _)| name == "needs.consent.plan")?;
        Some(&plan.1)
    }
}

#[test]
fn an_issue_becomes_a_pull_request_by_the_comment_of_somebody_who_may_write() {
    let mut host = Host::new();
    let (comment, line) = host.label();
    let called = "-p --setting-sources user /fp:plan --mode specified #7\n";
    assert_eq!(host.read("claude.log"), called);
    let line = line.unwrap_or_else(|| panic!("{comment}"));
    assert!(line.starts_with("fp join issue-7-42-1 "), "{line}");
    // All that agents and commands get is shown: commands, hints, criteria, the goal.
    let parts = [
        "grep -q line part-1.txt",
        "- Hints:",
        "`part-2.txt` has a line about 2",
        "$(touch /tmp/x)",
    ];
    for part in parts {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    assert!(!comment.contains("== research.md"), "{comment}");
    let shared = [
        "--git-dir",
        &host.remote(),
        "ls-tree",
        "-r",
        "--name-only",
        "refs/fp/issue-7-42-1",
    ];
    assert_eq!(host.environment.git(&shared), "plan.json\ntasks.md\n");
    // What the plan says is text, whatever it says, and the line stands apart from it.
    let (_, quoted) = comment.split_once("commands get:\n").unwrap();
    assert!(quoted.lines().count() > 30, "{comment}");
    let is_quoted = |line: &str| line.is_empty() || line.starts_with("    ");
    assert!(quoted.lines().all(is_quoted), "{comment}");

    for (body, permission, why) in [
        (line.as_str(), "read", "may not write here"),
        (&format!("{line}; touch x"), "admin", "not the printed line"),
        (&format!("> {line}"), "admin", "not the printed line"),
        (
            &format!("{line}\n$(touch x)"),
            "admin",
            "not the printed line",
        ),
        (
            &line.replace("issue-7-", "issue-8-"),
            "admin",
            "of another issue",
        ),
        (
            &line.replace("issue-7-", "--help-"),
            "admin",
            "not the printed line",
        ),
    ] {
        let refused = host.comment(body, permission);
        assert_eq!(refused.code, 1, "{body}: {refused}");
        assert!(refused.stdout.contains(why), "{body}: {refused}");
        assert_eq!(host.agreed_plan(), None, "{body}");
    }
    let agreed = host.comment(&format!("{line}\r\n"), "write");
    assert_eq!(agreed.code, 0, "{agreed}");
    for machine in ["1", "2"] {
        let built = host.play("build", machine, &[]);
        assert_eq!(built.code, 0, "{machine}: {built}");
    }
    let reviewed = host.play("review", "0", &[]);
    assert_eq!(reviewed.code, 0, "{reviewed}");
    let noted = ["--git-dir", &host.remote(), "notes", "--ref=fp", "list"];
    assert_eq!(host.environment.git(&noted).lines().count(), 2);
    let log = host.read("gh.log");
    assert!(
        log.contains("pr create --head fp/") && log.contains("--base main"),
        "{log}"
    );
    let body = host.read("gh-body");
    for part in ["**2 of 2 tasks done**", "Closes #7."] {
        assert!(body.contains(part), "{part}: {body}");
    }
}

#[test]
fn a_failure_is_told_in_the_issue() {
    let mut host = Host::new();
    let told = host.play("tell", "0", &event_on("7"));
    assert_eq!(told.code, 0, "{told}");
    let expect = "issue comment 7 --repo team/repo --body This failed - https://github.com/team/repo/actions/runs/42\n";
    assert_eq!(host.read("gh.log"), expect);
    let after = &host.workflow["jobs"]["tell"]["needs"];
    assert_eq!(
        after.as_array().unwrap().len() + 1,
        host.workflow["jobs"].as_object().unwrap().len()
    );
}

#[test]
fn a_changed_plan_is_not_what_somebody_agreed_to() {
    let mut host = Host::new();
    let (_, line) = host.label();
    let line = line.unwrap();
    let other = Regex::new("[0-9a-f]{64}")
        .unwrap()
        .replace(&line, "0".repeat(64));
    assert_eq!(host.comment(&other, "write").code, 0);
    let refused = host.play("build", "1", &[]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused.stderr.contains("is not the plan with that hash"),
        "{refused}"
    );
}

#[test]
fn what_can_not_be_shown_whole_can_not_be_agreed_to() {
    let mut host = Host::new();
    let tree = host.read("tree");
    let long = "x".repeat(61_000);
    let hidden = tree.replacen("grep -q line part-1.txt", &format!("true {long}"), 1);
    assert_ne!(hidden, tree);
    fs::write(host.home("tree"), hidden).unwrap();
    let (comment, line) = host.label();
    assert_eq!(line, None, "{comment}");
    assert!(
        comment.starts_with("The plan is too long to be shown here."),
        "{comment}"
    );
}

#[test]
fn a_planner_that_asks_is_heard() {
    let mut host = Host::new();
    let asks =
        "#!/bin/sh\n[ \"$1\" = -p ] || exec \"$HOME/client\" \"$@\"\necho 'Which parts? ```'\n";
    write_program(&host.environment.beside("bin/claude"), asks);
    let (comment, line) = host.label();
    assert_eq!(line, None, "{comment}");
    assert!(comment.starts_with("No plan was made."), "{comment}");
    assert!(comment.ends_with("\n    Which parts? ```\n"), "{comment}");
    fs::write(host.home("permission"), "read").unwrap();
    let refused = host.play("plan", "0", &event_on("7"));
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused
            .stdout
            .contains("who set the label may not write here"),
        "{refused}"
    );
}

/// If a command of a workflow contains text of an event, whoever triggers the event runs commands.
#[test]
fn strangers_text_reaches_commands_as_variables_alone() {
    let host = Host::new();
    let jobs = host.workflow["jobs"].as_object().unwrap();
    assert_eq!(host.workflow["permissions"], serde_json::json!({}));
    let pinned = Regex::new("^actions/[a-z-]+@[0-9a-f]{40}$").unwrap();
    let mut commands = 0;
    for (name, job) in jobs {
        for step in job["steps"].as_array().unwrap() {
            if let Some(run) = step["run"].as_str() {
                assert!(!run.contains("${{"), "{name}: {run}");
                commands += 1;
            }
            if let Some(action) = step["uses"].as_str() {
                assert!(pinned.is_match(action), "{name}: {action}");
            }
        }
        let reads_strangers = name == "plan" || name == "consent";
        let rights = job["permissions"].as_object().unwrap();
        let may_write = rights.values().any(|right| right == "write");
        assert_ne!(may_write, reads_strangers, "{name}");
    }
    assert!(commands > 8, "only {commands}");
}

#[test]
fn a_workflow_of_ones_own_stays() {
    let environment = Environment::new().repo();
    insta::assert_snapshot!(environment.fp(&["ci", "github"]), @"
    exit status: 0
    --- stdout
    Written: .github/workflows/fp.yml
    Commit it to the default branch. There it needs
    - the label `fp`: set it on issues that you have read, since an agent reads them too
    - the secret ANTHROPIC_API_KEY, best with a limit on what it may spend
    - in Settings, Actions, General: the right of workflows to create pull requests
    Then a comment of the line that it prints in the issue starts the run.
    Pull requests of a workflow start no other workflow: close and reopen them for your checks.
    ");
    environment.done(&["ci", "github"]);
    let written = environment.read(".github/workflows/fp.yml");
    assert!(written.contains("machine: [1] }"), "{written}");
    environment.write(".github/workflows/fp.yml", "mine\n");
    insta::assert_snapshot!(environment.fp(&["ci", "github", "-j", "3"]), @"
    exit status: 1
    --- stderr
    error: there is another .github/workflows/fp.yml already
    hint: remove it, or move it out of .github/workflows, then call this again
    ");
    assert_eq!(environment.read(".github/workflows/fp.yml"), "mine\n");
    insta::assert_snapshot!(environment.fp(&["ci", "github", "-j", "0"]), @"
    exit status: 2
    --- stderr
    error: invalid value '0' for '--runners <N>': 0 is not in 1..=20

    For more information, try '--help'.
    ");
}
