use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use fp_host::store::{ExaminedLog, ExaminedSnapshot};
use fp_plan::plan::meaning::leaf_text;
use fp_plan::plan::parse;
use fp_plan::plan::task::Task;
use fp_run::run::State;
use fp_run::run::approval::hash;
use fp_run::run::event::{Base, Decider, Entry, Event, LOG_VERSION};

use super::git::{commit_hooks, identity, signing};
use super::place::left_by_run;
#[cfg(unix)]
use super::place::room;
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
    Entry { schema_version: LOG_VERSION, seq, at, clock: None, events: vec![event] }
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
    let of = |entries: &[Entry]| ExaminedSnapshot::Read(Box::new(State::replay(plan(), entries)));
    let all = entries();
    let found = |facts: &ExaminedSnapshot| snapshot(&plan(), &all, facts);
    check(&found(&of(&all)), DoctorLevel::Ok, "what the log adds up to", None);
    check(&found(&of(&all[..2])), DoctorLevel::Ok, "what the log adds up to", None);
    assert_eq!(found(&ExaminedSnapshot::Missing).level, DoctorLevel::Ok);
    assert_eq!(found(&ExaminedSnapshot::Unreadable).fix, Some(DoctorFix::RebuildSnapshot));
    let mut other = all.clone();
    other[0].at -= jiff::SignedDuration::from_secs(1);
    assert_eq!(found(&of(&other)).fix, Some(DoctorFix::RebuildSnapshot));
    assert_eq!(found(&of(&other[..2])).level, DoctorLevel::Warning);
    let longer = snapshot(&plan(), &all[..1], &of(&all));
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
    check(&of(&edited), DoctorLevel::Warning, "since the approval edited or removed: task 2", approve);
    let other = TREE.replace("ID: 2", "ID: 3");
    let detail = "since the approval edited or removed: task 2; new: task 3";
    check(&of(&other), DoctorLevel::Warning, detail, approve);
    let none = approval(&State::new(plan()), &parse(TREE).0, "x");
    check(&none, DoctorLevel::Ok, "the plan is not approved yet", None);
}

#[test]
fn who_holds_what() {
    let start = Some("fp run start sample-20261121");
    check(&claims(&State::new(plan()), RunLead::Gone), DoctorLevel::Ok, "no task is held", None);
    let state = state();
    check(&claims(&state, RunLead::There), DoctorLevel::Ok, "held: task 1; the session is there", None);
    let gone = "held: task 1; the session is gone";
    check(&claims(&state, RunLead::Gone), DoctorLevel::Warning, gone, start);
    assert_eq!(claims(&state, RunLead::Unknown).level, DoctorLevel::Ok);
    let mut log = entries();
    log.push(entry(4, 3, Event::Cancelled { by: Decider::User }));
    let over = State::replay(plan(), &log);
    check(&claims(&over, RunLead::There), DoctorLevel::Warning, "held: task 1; the run is over", start);
}

#[test]
fn commits_that_are_gone() {
    let commit = "a".repeat(40);
    let mut log = entries();
    log.push(entry(4, 3, Event::Completed { task: task("1"), commit: Some(commit.clone()), note: None }));
    let state = State::replay(plan(), &log);
    let detail = "1 commit in the history of HEAD";
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

/// A repository with these settings of git.
fn repository(settings: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| fp_host::git::command::ask(folder.path(), args).unwrap();
    git(&["init", "--quiet"]);
    settings.iter().for_each(|(name, value)| drop(git(&["config", name, value])));
    folder
}

#[cfg(unix)]
#[test]
fn hooks_that_are_not_run_are_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let told = |hooks: &str, files: &[(&str, u32)], level, detail: &str, command: Option<&str>| {
        let folder = repository(&[("core.hooksPath", hooks)]);
        for (name, mode) in files {
            let path = folder.path().join(hooks).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        let mut found = commit_hooks(folder.path()).unwrap().unwrap();
        let real = folder.path().canonicalize().unwrap().display().to_string();
        found.detail = found.detail.replace(&real, "/r").replace(&folder.path().display().to_string(), "/r");
        check(&found, level, detail, command);
    };
    told("hooks", &[("other", 0o755)], DoctorLevel::Ok, "none", None);
    let run = [("pre-commit", 0o755), ("commit-msg", 0o755)];
    told("hooks", &run, DoctorLevel::Ok, "a commit runs pre-commit, commit-msg, in /r/hooks", None);
    let gone = "core.hooksPath is /r/hooks, which is not there: none is run";
    told("hooks", &[], DoctorLevel::Warning, gone, Some("git config --show-origin core.hooksPath"));
    // What a shell would not take for a path is not in a command.
    let detail = "not executable, so that git passes over it: pre-commit, in /r/my hooks; x";
    told("my hooks; x", &[("pre-commit", 0o644)], DoctorLevel::Warning, detail, None);
}

#[cfg(unix)]
#[test]
fn a_signature_needs_a_program_and_a_key() {
    let told = |settings: &[(&str, &str)], level, detail: &str, command: Option<&str>| {
        let folder =
            repository(&[("commit.gpgSign", "true"), ("gpg.program", "sh"), ("gpg.ssh.program", "sh")]);
        let git = |args: &[&str]| fp_host::git::command::ask(folder.path(), args).unwrap();
        settings.iter().for_each(|(name, value)| drop(git(&["config", name, value])));
        check(&signing(folder.path()).unwrap(), level, detail, command);
    };
    let (key, ssh) = (("user.signingKey", "ABCD"), ("gpg.format", "ssh"));
    told(&[("commit.gpgSign", "false")], DoctorLevel::Ok, "commits are not signed", None);
    told(&[key], DoctorLevel::Ok, "commits are signed (openpgp, key ABCD)", None);
    told(&[], DoctorLevel::Ok, "commits are signed (openpgp); sh finds the key", None);
    told(
        &[ssh],
        DoctorLevel::Error,
        "commits have to be signed with ssh, and no key is configured",
        Some("git config --global user.signingKey ~/.ssh/id_ed25519.pub"),
    );
    let by_command = [ssh, ("gpg.ssh.defaultKeyCommand", "ssh-add -L")];
    told(&by_command, DoctorLevel::Ok, "commits are signed (ssh); sh finds the key", None);
    told(
        &[ssh, key],
        DoctorLevel::Error,
        "commits have to be signed with ABCD, which is not there",
        Some("git config --show-origin user.signingKey"),
    );
    told(
        &[ssh, ("gpg.ssh.program", "no-such-program")],
        DoctorLevel::Error,
        "commits have to be signed, and no-such-program is not on PATH",
        Some("git config --show-origin commit.gpgSign"),
    );
}

#[cfg(unix)]
#[test]
fn little_room_is_a_warning() {
    check(&room(12_340_000_000), DoctorLevel::Ok, "12.3 GB free for the repository", None);
    check(&room(1_000_000_000), DoctorLevel::Ok, "1.0 GB free for the repository", None);
    let little = "0.9 GB free for the repository; below 1 GB a build or a commit may fail";
    check(&room(999_999_999), DoctorLevel::Warning, little, None);
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
        "s: not JSON: EOF while parsing an object at line 1 column 1"
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
    let state = State::new(plan());
    assert_eq!(left_by_run(&state, RunLead::Gone).level, DoctorLevel::Ok);
}
