use super::*;
use crate::doctor::{Lead, Level};
use crate::plan::id::PlanId;
use crate::run::State;

/// Fails unless `finding` is of `level`, with this detail and this command.
fn check(finding: &Finding, level: Level, detail: &str, command: Option<&str>) {
    let found = (finding.level, finding.detail.as_str(), finding.command.as_deref());
    assert_eq!(found, (level, detail, command));
}

#[test]
fn a_git_that_is_too_old_is_said_to_be_for_what() {
    let said = |text: &str| git(&Ok(text.to_owned()));
    check(&said("git version 2.47.3"), Level::Ok, "2.47.3", None);
    check(&said("git version 2.39.5 (Apple Git-154)"), Level::Ok, "2.39.5", None);
    check(&said("git version 3.0"), Level::Ok, "3.0", None);
    let old = "2.37.1.windows.1: a worktree for each of several builders needs 2.38 or newer";
    check(&said("git version 2.37.1.windows.1"), Level::Warning, old, None);
    check(&said("git version 2.9.0"), Level::Warning, "2.9.0: `fp rollback` needs 2.32 or newer", None);
    check(&said("hub 1"), Level::Warning, "`git --version` says \"hub 1\", which is no version", None);
    let fault = Fault::new("no git", Some("get it".into())).mended_by("apt install git");
    check(&git(&Err(fault)), Level::Error, "no git; get it", Some("apt install git"));
}

#[test]
fn author_and_committer_have_to_be_known() {
    let one = "A <a@b.c> 1 +0000";
    check(&identity(Some(one), Some(one)), Level::Ok, "A <a@b.c>", None);
    check(
        &identity(Some(one), Some("B <b@b.c> 1 +0000")),
        Level::Ok,
        "A <a@b.c>, committed by B <b@b.c>",
        None,
    );
    assert_eq!(identity(None, Some(one)).level, Level::Error);
    assert_eq!(identity(Some(one), None).level, Level::Error);
}

#[test]
fn hooks_that_are_not_run_are_told() {
    let hooks = CommitHooks { folder: "/r/.git/hooks".into(), there: true, ..CommitHooks::default() };
    check(&commit_hooks(&hooks), Level::Ok, "none", None);
    let run = vec!["pre-commit".to_owned(), "commit-msg".into()];
    let two = CommitHooks { run, ..hooks.clone() };
    check(&commit_hooks(&two), Level::Ok, "a commit runs pre-commit, commit-msg, in /r/.git/hooks", None);
    let gone = CommitHooks { configured: true, there: false, ..hooks.clone() };
    check(
        &commit_hooks(&gone),
        Level::Warning,
        "core.hooksPath is /r/.git/hooks, which is not there: none is run",
        Some("git config --show-origin core.hooksPath"),
    );
    let not_executable = vec!["pre-commit".to_owned()];
    let passed_over = CommitHooks { folder: "/my hooks; x".into(), not_executable, ..hooks };
    // What a shell would not take for a path is not in a command.
    let detail = "not executable, so that git passes over it: pre-commit, in /my hooks; x";
    check(&commit_hooks(&passed_over), Level::Warning, detail, None);
}

#[test]
fn a_signature_needs_a_program_and_a_key() {
    let on = Signing {
        on: true,
        format: "openpgp".into(),
        program: "gpg".into(),
        program_is_there: true,
        ..Signing::default()
    };
    let ssh = Signing { format: "ssh".into(), program: "ssh-keygen".into(), ..on.clone() };
    let key = Some("ABCD".to_owned());
    check(&signing(&Signing::default()), Level::Ok, "commits are not signed", None);
    check(
        &signing(&Signing { key: key.clone(), ..on.clone() }),
        Level::Ok,
        "commits are signed (openpgp, key ABCD)",
        None,
    );
    check(
        &signing(&on),
        Level::Warning,
        "commits are signed (openpgp), and no key is configured: gpg looks for one of your address",
        Some("git config --global user.signingKey KEY"),
    );
    check(
        &signing(&ssh),
        Level::Error,
        "commits are to be signed with ssh, and no key is configured",
        Some("git config --global user.signingKey ~/.ssh/id_ed25519.pub"),
    );
    check(
        &signing(&Signing { key_command: true, ..ssh.clone() }),
        Level::Ok,
        "commits are signed (ssh)",
        None,
    );
    check(
        &signing(&Signing { key, key_is_missing: true, ..ssh.clone() }),
        Level::Error,
        "commits are to be signed with ABCD, which is not there",
        Some("git config --show-origin user.signingKey"),
    );
    check(
        &signing(&Signing { program_is_there: false, ..ssh }),
        Level::Error,
        "commits are to be signed, and ssh-keygen is not on PATH",
        Some("git config --show-origin commit.gpgSign"),
    );
}

#[test]
fn little_room_is_a_warning() {
    let of = |free: Result<u64, String>| disk(&[Disk { of: "the repository", free }]);
    check(&of(Ok(1_000_000_000)), Level::Ok, "1.0 GB free for the repository", None);
    check(
        &of(Ok(999_999_999)),
        Level::Warning,
        "999.9 MB free for the repository; below 1 GB a build or a commit may fail",
        None,
    );
    assert!(of(Ok(512)).detail.starts_with("512 bytes free"));
    let unknown = "nobody knows what is free for the repository: permission denied";
    check(&of(Err("permission denied".into())), Level::Ok, unknown, None);
    check(&disk(&[]), Level::Ok, "not looked at on this system", None);
}

#[test]
fn settings_of_the_client_are_read_as_far_as_they_go() {
    let read = |text: &str| ClientSettings::parse("s", text);
    assert_eq!(read("{}"), ClientSettings { file: "s".into(), ..ClientSettings::default() });
    assert_eq!(read(r#"{"permissions": {"allow": ["a", 1]}, "env": []}"#).allow, ["a"]);
    assert_eq!(read(r#"{"permissions": [], "env": 3, "disableAllHooks": "x"}"#), read("{}"));
    assert_eq!(read("[]"), read("{}"));
    let variable = r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": 1}, "disableAllHooks": true}"#;
    assert_eq!(read(variable).teams.as_deref(), Some("1"));
    assert!(read(variable).hooks_off);
    assert_eq!(
        read("\u{feff}{").fault.as_deref(),
        Some("not JSON: EOF while parsing an object at line 1 column 1")
    );
}

#[test]
fn the_file_that_has_the_last_word_decides_about_agent_teams() {
    let file = |name: &str, teams: Option<&str>| ClientSettings {
        file: name.into(),
        teams: teams.map(str::to_owned),
        ..ClientSettings::default()
    };
    let on = |environment: Option<&str>, files: &[ClientSettings]| {
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
    let with = |rule: &str| ClientSettings { allow: vec![rule.to_owned()], ..ClientSettings::default() };
    let found = permissions(&[with("Bash(fp *)"), with("Edit(.fractal-planner/**)")]);
    assert_eq!((found.len(), found[0].level), (1, Level::Ok));
    let found = permissions(&[with("Edit(.fractal-planner/**)")]);
    let missing =
        "no rule Bash(fp *): Claude Code may ask when commands of fp are run where hooks are switched off";
    check(&found[0], Level::Warning, missing, Some("fp install"));
}

#[test]
fn a_program_of_another_version_is_told() {
    let said = |text: &str| ProgramFacts { path: "p".into(), answered: Answered::Said(text.into()) };
    check(&program(Some(&said("fp 1.0.0")), None, "1.0.0"), Level::Ok, "p answers as fp 1.0.0", None);
    check(
        &program(Some(&said("fp 0.9.0")), None, "1.0.0"),
        Level::Warning,
        "p answers as \"fp 0.9.0\", not as fp 1.0.0",
        Some("fp install"),
    );
    let failed =
        ProgramFacts { path: "p".into(), answered: Answered::Failed("no answer in 5 seconds".into()) };
    check(
        &program(Some(&failed), None, "1.0.0"),
        Level::Error,
        "p does not run: no answer in 5 seconds",
        Some("fp install"),
    );
}

#[test]
fn a_run_that_nobody_started_leaves_nothing() {
    let plan = PlanId::new("sample-20261121").unwrap();
    let state = State::new(plan.clone());
    assert_eq!(left_by(&state, Lead::Gone), None);
    check(&leftovers(0, Vec::new())[0], Level::Ok, "none; there is no plan", None);
    check(
        &leftovers(2, vec![(Some(plan.clone()), Finding::ok("git", "x"))])[0],
        Level::Ok,
        "none in 2 plans",
        None,
    );
    let left =
        leftovers(1, vec![(Some(plan), Finding::warning("git", "x")), (None, Finding::error("git", "y"))]);
    assert_eq!(left.iter().map(|found| found.check).collect::<Vec<_>>(), ["leftovers", "leftovers"]);
    check(&left[0], Level::Warning, "sample-20261121: x", None);
    check(&left[1], Level::Error, "y", None);
}

#[test]
fn a_repository_is_told_with_its_worktree() {
    let inside = |worktree: Option<&str>, has_commit| Located::Inside {
        root: "/r".into(),
        worktree: worktree.map(str::to_owned),
        has_commit,
    };
    check(&repository(&inside(None, Ok(true))), Level::Ok, "/r", None);
    check(&repository(&inside(Some("/w"), Ok(true))), Level::Ok, "/w, a worktree of /r", None);
    check(
        &repository(&inside(None, Ok(false))),
        Level::Warning,
        "/r has no commit yet, and a run starts from one",
        Some("git commit --allow-empty --message Start"),
    );
    check(
        &repository(&inside(None, Err(Fault::new("not trusted", None)))),
        Level::Error,
        "not trusted",
        None,
    );
}
