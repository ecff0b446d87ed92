use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use fp_core::plan::meaning::leaf_text;
use fp_core::plan::parse;
use fp_core::plan::task::Task;
use fp_core::run::State;
use fp_core::run::approval::hash;
use fp_core::run::event::{Base, Decider, Entry, Event, LOG_VERSION};
use fp_host::store::{ExaminedLog, ExaminedSnapshot};

use super::git::{CommitHooks, CommitSigning, commit_hooks, identity, signing};
use super::place::{all_leftovers, left_by_run, room};
use super::plan::{RunLead, approval, claims, commits, log, snapshot};
use super::setup::{SettingsSeen, agent_teams, permissions, program};
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
    Entry { schema_version: LOG_VERSION, seq, at, events: vec![event] }
}

fn entries() -> Vec<Entry> {
    let (tree, _) = parse(TREE);
    let leaf = |task: &Task<'_>| {
        let text = leaf_text(task);
        json!({ "id": task.id, "title": task.description, "hash": hash(text.as_bytes()), "complexity": 2 })
    };
    let leaves: Vec<Value> = tree.leaves().map(leaf).collect();
    let approved =
        json!({ "approved": { "treeHash": hash(TREE.as_bytes()), "leaves": leaves, "by": "user" } });
    let started =
        json!({ "runStarted": { "client": 7, "builders": 1, "maxIterations": 3, "noCommit": false } });
    let [approved, started] = [approved, started].map(|event| serde_json::from_value(event).unwrap());
    let claimed = Event::Claimed {
        task: task("1"),
        owner: "builder-1".parse().unwrap(),
        token: "t".into(),
        iteration: 1,
        base: Base { tree: String::new(), head: String::new(), worktree: None, around: None },
    };
    vec![entry(1, 0, approved), entry(2, 1, started), entry(3, 2, claimed)]
}

fn state() -> State {
    State::replay(plan(), &entries())
}

fn check(found: &DoctorFinding, level: DoctorLevel, detail: &str, command: Option<&str>) {
    assert_eq!((found.level, found.detail.as_str(), found.command.as_deref()), (level, detail, command));
}

#[test]
fn what_is_wrong_with_a_log() {
    let facts = |entries: Vec<Entry>| ExaminedLog { entries, ..ExaminedLog::default() };
    check(&log(&plan(), &facts(entries()))[0], DoctorLevel::Ok, "3 entries", None);
    let mut backwards = entries();
    backwards[2].at = backwards[0].at - jiff::SignedDuration::from_secs(9);
    let detail = "entry 3 is older than the one in front of it: it was edited by hand";
    check(&log(&plan(), &facts(backwards))[0], DoctorLevel::Warning, detail, None);
    let torn = ExaminedLog { torn: 9, ..facts(entries()) };
    let fix = Some("fp doctor sample-20261121 --fix");
    let detail = "its last line was torn off while it was written (9 bytes)";
    check(&log(&plan(), &torn)[0], DoctorLevel::Warning, detail, fix);
}

#[test]
fn what_is_wrong_with_a_snapshot() {
    let of = |entries: &[Entry], current| ExaminedSnapshot::Read {
        state: Box::new(State::replay(plan(), entries)),
        current,
    };
    let all = entries();
    let found = |facts: &ExaminedSnapshot| snapshot(&plan(), &all, facts);
    check(&found(&of(&all, true)), DoctorLevel::Ok, "what the log adds up to", None);
    check(&found(&of(&all[..2], false)), DoctorLevel::Ok, "older than the log, and right", None);
    assert_eq!(found(&ExaminedSnapshot::Missing).level, DoctorLevel::Ok);
    assert_eq!(found(&ExaminedSnapshot::Unreadable).fix, Some(DoctorFix::RebuildSnapshot));
    let mut other = all.clone();
    other[0].at -= jiff::SignedDuration::from_secs(1);
    for current in [true, false] {
        assert_eq!(found(&of(&other, current)).fix, Some(DoctorFix::RebuildSnapshot));
        assert_eq!(found(&of(&other[..2], current)).level, DoctorLevel::Warning);
    }
    let longer = snapshot(&plan(), &all[..1], &of(&all, false));
    assert_eq!((longer.level, longer.fix), (DoctorLevel::Error, None));
}

#[test]
fn what_differs_from_the_approval() {
    let of = |text: &str| approval(&state(), &parse(text).0, &hash(text.as_bytes()));
    check(&of(TREE), DoctorLevel::Ok, "the tree is the one that was approved", None);
    let prose = format!("Some words\n\n{TREE}");
    check(&of(&prose), DoctorLevel::Ok, "the text of the tree was edited, but none of its tasks", None);
    let approve = Some("fp approve sample-20261121");
    let edited = TREE.replace("] B", "] C");
    check(&of(&edited), DoctorLevel::Warning, "task 2 was edited or removed since the approval", approve);
    let other = TREE.replace("ID: 2", "ID: 3");
    let detail = "task 2 was edited or removed, and task 3 is new since the approval";
    check(&of(&other), DoctorLevel::Warning, detail, approve);
    let none = approval(&State::new(plan()), &parse(TREE).0, "x");
    check(&none, DoctorLevel::Ok, "the plan is not approved yet", None);
}

#[test]
fn who_holds_what() {
    let start = Some("fp run start sample-20261121");
    check(&claims(&State::new(plan()), RunLead::Gone), DoctorLevel::Ok, "no task is held", None);
    let state = state();
    check(&claims(&state, RunLead::There), DoctorLevel::Ok, "task 1 is held, and the session is there", None);
    let gone = "task 1 is held by a session that is gone";
    check(&claims(&state, RunLead::Gone), DoctorLevel::Warning, gone, start);
    assert_eq!(claims(&state, RunLead::Unknown).level, DoctorLevel::Ok);
    let mut log = entries();
    log.push(entry(4, 3, Event::Cancelled { by: Decider::User }));
    let over = State::replay(plan(), &log);
    check(&claims(&over, RunLead::There), DoctorLevel::Warning, "task 1 is held, and the run is over", start);
}

#[test]
fn commits_that_are_gone() {
    let commit = "a".repeat(40);
    let mut log = entries();
    log.push(entry(4, 3, Event::Completed { task: task("1"), commit: Some(commit.clone()), note: None }));
    let state = State::replay(plan(), &log);
    let detail = "1 task has its commit in the history of HEAD";
    check(&commits(&state, &BTreeSet::new()), DoctorLevel::Ok, detail, None);
    let found = commits(&state, &BTreeSet::from([commit.clone()]));
    assert_eq!(found.level, DoctorLevel::Warning);
    assert_eq!(found.command, Some(format!("git branch --contains {commit}")));
}

#[test]
fn a_git_that_is_too_old_is_said_to_be_for_what() {
    let said = |text: &str| git::version(text);
    check(&said("git version 2.47.3"), DoctorLevel::Ok, "2.47.3", None);
    check(&said("git version 2.39.5 (Apple Git-154)"), DoctorLevel::Ok, "2.39.5", None);
    check(&said("git version 3.0"), DoctorLevel::Ok, "3.0", None);
    let old = "2.37.1.windows.1: a worktree for each of several builders needs 2.38 or newer";
    check(&said("git version 2.37.1.windows.1"), DoctorLevel::Warning, old, None);
    check(&said("git version 2.9.0"), DoctorLevel::Warning, "2.9.0: `fp rollback` needs 2.32 or newer", None);
    check(&said("hub 1"), DoctorLevel::Warning, "`git --version` says \"hub 1\", which is no version", None);
    let error = CommandError::failed("no git").hint("get it");
    check(&DoctorFinding::of_error("git", error), DoctorLevel::Error, "no git; get it", None);
}

#[test]
fn author_and_committer_have_to_be_known() {
    let one = "A <a@b.c> 1 +0000";
    check(&identity(Some(one), Some(one)), DoctorLevel::Ok, "A <a@b.c>", None);
    check(
        &identity(Some(one), Some("B <b@b.c> 1 +0000")),
        DoctorLevel::Ok,
        "A <a@b.c>, committed by B <b@b.c>",
        None,
    );
    assert_eq!(identity(None, Some(one)).level, DoctorLevel::Error);
    assert_eq!(identity(Some(one), None).level, DoctorLevel::Error);
}

#[test]
fn hooks_that_are_not_run_are_told() {
    let hooks = CommitHooks { folder: "/r/.git/hooks".into(), there: true, ..CommitHooks::default() };
    check(&commit_hooks(&hooks), DoctorLevel::Ok, "none", None);
    let run = vec!["pre-commit", "commit-msg"];
    let two = CommitHooks { run, ..hooks.clone() };
    check(
        &commit_hooks(&two),
        DoctorLevel::Ok,
        "a commit runs pre-commit, commit-msg, in /r/.git/hooks",
        None,
    );
    let gone = CommitHooks { configured: true, there: false, ..hooks.clone() };
    check(
        &commit_hooks(&gone),
        DoctorLevel::Warning,
        "core.hooksPath is /r/.git/hooks, which is not there: none is run",
        Some("git config --show-origin core.hooksPath"),
    );
    let not_executable = vec!["pre-commit"];
    let passed_over = CommitHooks { folder: "/my hooks; x".into(), not_executable, ..hooks };
    // What a shell would not take for a path is not in a command.
    let detail = "not executable, so that git passes over it: pre-commit, in /my hooks; x";
    check(&commit_hooks(&passed_over), DoctorLevel::Warning, detail, None);
}

#[test]
fn a_signature_needs_a_program_and_a_key() {
    let on = CommitSigning {
        format: "openpgp".into(),
        program: "gpg".into(),
        program_is_there: true,
        ..CommitSigning::default()
    };
    let ssh = CommitSigning { format: "ssh".into(), program: "ssh-keygen".into(), ..on.clone() };
    let key = Some("ABCD".to_owned());
    check(&signing(None), DoctorLevel::Ok, "commits are not signed", None);
    check(
        &signing(Some(&CommitSigning { key: key.clone(), ..on.clone() })),
        DoctorLevel::Ok,
        "commits are signed (openpgp, key ABCD)",
        None,
    );
    check(
        &signing(Some(&on)),
        DoctorLevel::Warning,
        "commits are signed (openpgp), and no key is configured: gpg looks for one of your address",
        Some("git config --global user.signingKey KEY"),
    );
    check(
        &signing(Some(&ssh)),
        DoctorLevel::Error,
        "commits have to be signed with ssh, and no key is configured",
        Some("git config --global user.signingKey ~/.ssh/id_ed25519.pub"),
    );
    check(
        &signing(Some(&CommitSigning { key_command: true, ..ssh.clone() })),
        DoctorLevel::Ok,
        "commits are signed (ssh)",
        None,
    );
    check(
        &signing(Some(&CommitSigning { key, key_is_missing: true, ..ssh.clone() })),
        DoctorLevel::Error,
        "commits have to be signed with ABCD, which is not there",
        Some("git config --show-origin user.signingKey"),
    );
    check(
        &signing(Some(&CommitSigning { program_is_there: false, ..ssh })),
        DoctorLevel::Error,
        "commits have to be signed, and ssh-keygen is not on PATH",
        Some("git config --show-origin commit.gpgSign"),
    );
}

#[test]
fn little_room_is_a_warning() {
    let of = |free: Result<u64, String>| room(&[("the repository", free)]);
    check(&of(Ok(1_000_000_000)), DoctorLevel::Ok, "1.0 GB free for the repository", None);
    check(
        &of(Ok(999_999_999)),
        DoctorLevel::Warning,
        "999.9 MB free for the repository; below 1 GB a build or a commit may fail",
        None,
    );
    assert!(of(Ok(512)).detail.starts_with("512 bytes free"));
    let unknown = "what is free for the repository can't be told: permission denied";
    check(&of(Err("permission denied".into())), DoctorLevel::Ok, unknown, None);
    check(&room(&[]), DoctorLevel::Ok, "not looked at on this system", None);
}

#[test]
fn settings_of_the_client_are_read_as_far_as_they_go() {
    let read = |text: &str| SettingsSeen::parse("s", text);
    let allows = |text: &str| read(text).allows("a");
    assert!(allows(r#"{"permissions": {"allow": ["a", 1]}, "env": []}"#));
    for text in ["{}", "[]", r#"{"permissions": [], "env": 3, "disableAllHooks": "x"}"#] {
        assert!(!allows(text) && read(text).teams().is_none() && read(text).value.is_ok(), "{text}");
    }
    let variable = r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": 1}, "disableAllHooks": true}"#;
    assert_eq!(read(variable).teams().as_deref(), Some("1"));
    assert_eq!(
        read("\u{feff}{").value.unwrap_err(),
        "not JSON: EOF while parsing an object at line 1 column 1"
    );
}

#[test]
fn the_file_that_has_the_last_word_decides_about_agent_teams() {
    let file = |name: &str, teams: Option<&str>| SettingsSeen {
        path: name.into(),
        value: Ok(json!({ "env": teams.map(|teams| json!({ (fp_host::claude::TEAMS): teams })) })),
    };
    let on = |environment: Option<&str>, files: &[SettingsSeen]| {
        let detail = agent_teams(environment, files).detail;
        detail.split(':').next().unwrap_or_default().to_owned()
    };
    assert_eq!(on(None, &[]), "off");
    assert_eq!(on(None, &[file("user", Some("1")), file("project", None)]), "on, by user");
    assert_eq!(on(None, &[file("user", Some("1")), file("project", Some("0"))]), "off");
    assert_eq!(on(Some("1"), &[file("project", Some("0"))]), "on, by the environment");
    assert_eq!(on(Some("false"), &[file("user", Some("1"))]), "off");
}

#[test]
fn rules_may_be_in_different_files() {
    let with = |rule: &str| SettingsSeen {
        path: "s".into(),
        value: Ok(json!({ "permissions": { "allow": [rule] } })),
    };
    let found = permissions(&[with("Bash(fp *)"), with("Edit(.fractal-planner/**)")]);
    assert_eq!((found.len(), found[0].level), (1, DoctorLevel::Ok));
    let found = permissions(&[with("Edit(.fractal-planner/**)")]);
    let missing =
        "no rule Bash(fp *): Claude Code may ask when commands of fp are run where hooks are switched off";
    check(&found[0], DoctorLevel::Warning, missing, Some("fp install"));
}

#[test]
fn a_program_of_another_version_is_told() {
    let of = |said: Result<&str, &str>| {
        let answer = said.map(str::to_owned).map_err(str::to_owned);
        program(Some((Path::new("p"), &answer)), "1.0.0", "fp install")
    };
    check(&of(Ok("fp 1.0.0")), DoctorLevel::Ok, "p answers as fp 1.0.0", None);
    check(
        &of(Ok("fp 0.9.0")),
        DoctorLevel::Warning,
        "p answers as \"fp 0.9.0\", not as fp 1.0.0",
        Some("fp install"),
    );
    check(
        &of(Err("does not run: no answer in 5 seconds")),
        DoctorLevel::Error,
        "p does not run: no answer in 5 seconds",
        Some("fp install"),
    );
}

#[test]
fn a_run_that_nobody_started_leaves_nothing() {
    let plan = PlanId::new("sample-20261121").unwrap();
    let state = State::new(plan.clone());
    assert_eq!(left_by_run(&state, RunLead::Gone).level, DoctorLevel::Ok);
    check(&all_leftovers(0, Vec::new())[0], DoctorLevel::Ok, "none; there is no plan", None);
    check(
        &all_leftovers(2, vec![(Some(plan.clone()), DoctorFinding::ok("git", "x"))])[0],
        DoctorLevel::Ok,
        "none in 2 plans",
        None,
    );
    let left = all_leftovers(
        1,
        vec![(Some(plan), DoctorFinding::warning("git", "x")), (None, DoctorFinding::error("git", "y"))],
    );
    assert_eq!(left.iter().map(|found| found.check).collect::<Vec<_>>(), ["leftovers", "leftovers"]);
    check(&left[0], DoctorLevel::Warning, "sample-20261121: x", None);
    check(&left[1], DoctorLevel::Error, "y", None);
}
