use jiff::Timestamp;
use serde_json::{Value, json};

use fp_host::store::ExaminedLog;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::plan::meaning::leaf_text;
use fp_plan::plan::parse;
use fp_plan::plan::task::Task;
use fp_run::run::approval::hash;
use fp_run::run::event::{Base, Entry, Event, LOG_VERSION};

use super::git::check_identity;
use super::plan::check_log;
use super::setup::{ClientSettings, broad_permissions, check_permissions, offered_settings};
use super::*;

const TREE: &str =
    "- [ID: root] Goal (Complexity: 5)\n- [ID: 1] A (Complexity: 2)\n- [ID: 2] B (Complexity: 2)\n";

fn plan() -> PlanId {
    PlanId::new("sample-20261121").unwrap()
}

fn task(id: &str) -> TaskId {
    TaskId::new(id).unwrap()
}

fn entry(seq: u64, at: i64, event: Event) -> Entry {
    let at = Timestamp::from_second(1_800_000_000 + at).unwrap();
    Entry {
        schema_version: LOG_VERSION,
        seq,
        at,
        clock: None,
        by: None,
        events: vec![event],
    }
}

fn entries() -> Vec<Entry> {
    let (tree, _) = parse(TREE);
    let leaf = |task: &Task<'_>| {
        let text = leaf_text(task);
        json!({ "id": task.id, "title": task.description, "hash": hash(text.as_bytes()), "complexity": 2 })
    };
    let leaves: Vec<Value> = tree.leaves().map(leaf).collect();
    let approved = json!({ "approved": { "treeHash": hash(TREE.as_bytes()), "leaves": leaves, "by": "user" } });
    let started = json!({ "runStarted": { "client": 7, "builders": 1, "maxIterations": 3, "noCommit": false } });
    let [approved, started] =
        [approved, started].map(|event| serde_json::from_value(event).unwrap());
    let claimed = Event::Claimed {
        task: task("1"),
        owner: "builder-1".parse().unwrap(),
        token: "t".into(),
        iteration: 1,
        base: Base {
            tree: String::new(),
            head: String::new(),
            worktree: None,
            around: None,
        },
    };
    vec![
        entry(1, 0, approved),
        entry(2, 1, started),
        entry(3, 2, claimed),
    ]
}

fn check(found: &DoctorFinding, level: DoctorLevel, detail: &str, command: Option<&str>) {
    assert_eq!(
        (found.level, found.detail.as_str(), found.command.as_deref()),
        (level, detail, command)
    );
}

#[test]
fn what_is_wrong_with_a_log() {
    let facts = |entries: Vec<Entry>| ExaminedLog {
        entries,
        ..ExaminedLog::default()
    };
    check(
        &check_log(&plan(), &facts(entries()))[0],
        DoctorLevel::Ok,
        "3 entries",
        None,
    );
    let torn = ExaminedLog {
        torn: 9,
        ..facts(entries())
    };
    let detail =
        "its last line was cut off while it was written (9 bytes); the next change drops it";
    check(
        &check_log(&plan(), &torn)[0],
        DoctorLevel::Warning,
        detail,
        None,
    );
    let cut_back = ExaminedLog {
        written: 5,
        ..facts(entries())
    };
    let detail = "it ends at entry 3, and 5 were written: restore events.jsonl if you have a copy, since only the log \
                  counts";
    check(
        &check_log(&plan(), &cut_back)[0],
        DoctorLevel::Error,
        detail,
        None,
    );
}

#[test]
fn a_git_that_is_too_old_is_said_to_be_for_what() {
    let said = |text: &str| git::check_version(text);
    check(&said("git version 2.47.3"), DoctorLevel::Ok, "2.47.3", None);
    check(
        &said("git version 2.39.5 (Apple Git-154)"),
        DoctorLevel::Ok,
        "2.39.5 (Apple Git-154)",
        None,
    );
    let old = "2.37.1.windows.1: a worktree for each of several builders needs 2.38 or newer";
    check(
        &said("git version 2.37.1.windows.1"),
        DoctorLevel::Warning,
        old,
        None,
    );
    assert_eq!(said("hub 1").level, DoctorLevel::Warning);
    let error = CommandError::failed("no git").with_hint("get it");
    check(
        &DoctorFinding::of_error("git", error),
        DoctorLevel::Error,
        "no git; get it",
        None,
    );
}

#[test]
fn author_and_committer_have_to_be_known() {
    let one = "A <a@b.c> 1 +0000";
    check(
        &check_identity(Some(one), Some(one)),
        DoctorLevel::Ok,
        "A <a@b.c>",
        None,
    );
    check(
        &check_identity(Some(one), Some("B <b@b.c> 1 +0000")),
        DoctorLevel::Ok,
        "A <a@b.c>, committed by B <b@b.c>",
        None,
    );
    assert_eq!(check_identity(None, Some(one)).level, DoctorLevel::Error);
    assert_eq!(check_identity(Some(one), None).level, DoctorLevel::Error);
}

fn settings_file(path: &str, value: Value) -> ClientSettings {
    ClientSettings {
        path: path.into(),
        value,
    }
}

#[test]
fn rules_may_be_in_different_files() {
    let with = |rule: &str| settings_file("s", json!({ "permissions": { "allow": [rule] } }));
    let [plans, roadmaps] = fp_host::claude::PERMISSIONS;
    let found = check_permissions(&[with(plans), with(roadmaps)]);
    assert_eq!(found.level, DoctorLevel::Ok);
    let found = check_permissions(&[with(plans), with("Edit(.fractal-planner/**)")]);
    let missing = "no rule Edit(.fractal-planner/roadmaps/*.md): Claude Code may ask about each page that agents write";
    check(&found, DoctorLevel::Warning, missing, None);
}

#[test]
fn only_what_is_missing_is_offered() {
    let of = |files: &[ClientSettings]| offered_settings(files, std::path::Path::new("/a b/fp"));
    let rules = fp_host::claude::PERMISSIONS;
    let all = json!({
        "permissions": { "allow": rules },
        "env": { fp_host::claude::TEAMS: "1" },
        "statusLine": { "type": "command", "command": "'/a b/fp' statusline" },
    });
    assert_eq!(of(&[]), all);
    assert_eq!(of(&[settings_file("s", all)]), json!({}));
}

#[test]
fn rules_that_allow_everything_are_told_with_their_file() {
    let with = |name: &str, rules: &[&str]| {
        settings_file(name, json!({ "permissions": { "allow": rules } }))
    };
    let files = [
        with("/a b", &["Bash(fp *)", "Edit(.fractal-planner/**)"]),
        with(
            "/c",
            &["Bash(fp status *)", fp_host::claude::PERMISSIONS[0]],
        ),
        settings_file("/d", json!({ "permissions": { "deny": ["Bash(fp *)"] } })),
        with("/e", &["Bash(fp:*)"]),
    ];
    let found: Vec<DoctorFinding> = broad_permissions(&files).collect();
    let both = "/a b allows Bash(fp *) and Edit(.fractal-planner/**): any agent can approve plans and change settings; \
                remove that";
    check(&found[0], DoctorLevel::Warning, both, None);
    let one = "/e allows Bash(fp:*): any agent can approve plans and change settings; remove that";
    check(&found[1], DoctorLevel::Warning, one, None);
    assert_eq!(found.len(), 2);
}
