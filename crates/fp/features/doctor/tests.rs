use serde_json::{Value, json};

use super::git::check_identity;
use super::setup::{ClientSettings, broad_permissions, check_permissions, offered_settings};
use super::*;

fn check(found: &DoctorFinding, level: DoctorLevel, detail: &str, command: Option<&str>) {
    assert_eq!(
        (found.level, found.detail.as_str(), found.command.as_deref()),
        (level, detail, command)
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
