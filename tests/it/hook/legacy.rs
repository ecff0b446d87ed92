//! Plans of fractal-planner 0.1, whose tasks are the client's own.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::{TEAMMATE_IDLE, TEAMMATE_STOP, silent};
use crate::common::{Environment, Output};

const TEAM: &str = "fp-impl-add-login-20260220";
const COUNT: &str = "teams/fp-impl-add-login-20260220/nudge-builder-1.json";

struct Client {
    environment: Environment,
    folder: PathBuf,
}

impl Client {
    fn new() -> Self {
        let environment = Environment::new();
        let folder = environment.beside("home/.claude");
        Self { environment, folder }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Task 5 in the state `status`, `fp_status` in its metadata.
    fn task(&self, status: &str, fp_status: &str) {
        let text = format!(
            r#"{{"id": "5", "subject": "Add the form", "status": "{status}", "owner": "builder-1", "blocks": [],
            "blockedBy": [], "metadata": {{"planTaskId": "1.2", "fpStatus": "{fp_status}"}}}}"#
        );
        self.write(&format!("tasks/{TEAM}/5.json"), &text);
    }

    fn count(&self) -> Option<String> {
        fs::read_to_string(self.folder.join(COUNT)).ok()
    }

    fn idles_in(&self, team: &str, edits: &[(&str, &str)]) -> Output {
        let edits = [&[("session-4086f10a", team)], edits].concat();
        self.environment.replay_with("teammate-idle", TEAMMATE_IDLE, &edits)
    }

    fn idles(&self) -> Output {
        self.idles_in(TEAM, &[])
    }
}

#[test]
fn a_builder_of_0_1_is_nudged_so_often() {
    let client = Client::new();
    client.task("in_progress", "IMPLEMENTING");
    assert_snapshot!(client.idles(), @r#"
    exit status: 0
    --- stdout
    {"decision":"block","reason":"builder-1, you own task 5, 1.2 of its plan, of team fp-impl-add-login-20260220, it is in progress and you have not handed it in. Read it again with TaskGet and go on with it; when it is done, set its fpStatus to AWAITING_VERIFICATION and tell the lead."}
    "#);
    assert_eq!(client.count().unwrap(), r#"{"lastRetryAt":"2026-11-21T09:00:00Z","retries":1,"taskId":"5"}"#);
    let nudged = || !client.idles().stdout.is_empty();
    assert_eq!([nudged(), nudged(), nudged(), nudged()], [true, true, false, false]);

    client.task("in_progress", "AWAITING_VERIFICATION");
    assert_eq!(client.idles(), silent());
    assert_eq!(client.count(), None, "the next iteration counts anew");
    client.task("in_progress", "IMPLEMENTING");
    assert!(nudged());
    client.task("completed", "COMPLETED");
    assert_eq!((client.idles(), client.count()), (silent(), None));
}

#[test]
fn the_count_of_0_1_is_gone_on_with() {
    let client = Client::new();
    client.task("in_progress", "IMPLEMENTING");
    client.write(COUNT, r#"{ "retries": 2, "lastRetryAt": "2026-02-20T12:00:00Z", "taskId": "5" }"#);
    let nudged = || !client.idles().stdout.is_empty();
    assert_eq!([nudged(), nudged()], [true, false]);
}

#[test]
fn the_client_may_keep_its_files_elsewhere() {
    let mut client = Client::new();
    let folder = client.environment.beside("elsewhere");
    client.environment = client.environment.env("CLAUDE_CONFIG_DIR", &folder);
    client.task("in_progress", "IMPLEMENTING");
    assert_eq!(client.idles(), silent());
    client.folder = folder;
    client.task("in_progress", "IMPLEMENTING");
    assert!(!client.idles().stdout.is_empty());
    assert!(client.count().is_some());
}

#[test]
fn whatever_is_no_builder_of_0_1_with_a_task_may_stop() {
    let client = Client::new();
    client.task("in_progress", "IMPLEMENTING");
    client.write(
        "tasks/x/5.json",
        &fs::read_to_string(client.folder.join(format!("tasks/{TEAM}/5.json"))).unwrap(),
    );
    for team in ["fp-impl-../x", "fp-impl-/../../tasks/x", "fp-impl-", "x", "fp-impl-other"] {
        assert_eq!(client.idles_in(team, &[]), silent(), "{team}");
    }
    for name in ["builder-2", "tracker", "committer-1", "../builder-1", "builder-1\\u0000", ""] {
        let name = format!("\"teammate_name\": \"{name}\"");
        assert_eq!(client.idles_in(TEAM, &[("\"teammate_name\": \"builder-1\"", &name)]), silent(), "{name}");
    }
    assert_eq!(client.environment.replay("subagent-stop", TEAMMATE_STOP), silent());
    let active = [("\"team_name\"", "\"stop_hook_active\": true, \"team_name\"")];
    assert_eq!(client.idles_in(TEAM, &active), silent());
    assert!(!client.folder.join("teams").exists(), "nothing was counted");

    client.environment.write(".git/HEAD", "ref: refs/heads/main\n");
    client.environment.write(".fractal-planner/config.json", r#"{"nudge": {"enabled": false}}"#);
    assert_eq!(client.idles(), silent());
}

#[test]
fn torn_and_foreign_files_are_passed_over() {
    let client = Client::new();
    let tasks = |name: &str| format!("tasks/{TEAM}/{name}");
    client.write(&tasks("1.json"), "{\"id\": \"1\", \"status\": \"in_pro");
    client.write(&tasks("2.json"), "[[[[");
    client.write(&tasks("3.json"), "");
    client.write(&tasks("4.json"), &"[".repeat(100_000));
    client.write(&tasks(".lock"), "");
    client.write(&tasks("5.txt"), r#"{"id": "5", "status": "in_progress", "owner": "builder-1"}"#);
    client.write(&tasks("6.json/x"), "a folder");
    client.write(&tasks("7.json"), r#"{"id": {}, "status": ["in_progress"], "owner": 5, "metadata": "x"}"#);
    client.write(
        &tasks("8.json"),
        r#"{"id": "8", "status": "in_progress", "owner": "builder-1", "metadata": {"fpStatus": "?"}}"#,
    );
    fs::write(client.folder.join(tasks("9.json")), [0xff, 0xfe]).unwrap();
    assert_eq!(client.idles(), silent());
    client.task("in_progress", "IMPLEMENTING");
    client.write(COUNT, "{\"retr");
    let nudged = || !client.idles().stdout.is_empty();
    assert_eq!([nudged(), nudged(), nudged(), nudged()], [true, true, true, false]);
}

/// What can't be counted is not done: it would go on for ever.
#[test]
fn nobody_is_nudged_who_can_t_be_counted() {
    let client = Client::new();
    client.task("in_progress", "IMPLEMENTING");
    client.write("teams", "a file");
    let output = client.idles();
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
    assert_eq!(output.stderr.lines().count(), 1, "{output}");
}
