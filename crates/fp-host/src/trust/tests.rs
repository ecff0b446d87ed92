use std::fs;

use super::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn store_in(folder: &Path, repository: &Path) -> TrustStore {
    let state = folder.join("state").display().to_string();
    let repo = Repo {
        root: repository.to_owned(),
        git_dir: None,
        worktree: repository.to_owned(),
    };
    TrustStore::of_user(
        &|name| (name == "XDG_STATE_HOME").then(|| state.clone()),
        &repo,
    )
    .unwrap()
}

fn approval(tree: &str) -> Consent {
    Consent::Plan {
        plan: PlanId::new("sample-20261121").unwrap(),
        tree: tree.to_owned(),
    }
}

#[test]
fn what_was_agreed_to_is_known_in_its_repository_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    let store = store_in(folder.path(), &here);
    assert!(!store.trusts(&approval("a")).unwrap());
    store
        .add(approval("a"), ConsentSource::Question, NOW)
        .unwrap();
    store
        .add(approval("a"), ConsentSource::Question, NOW)
        .unwrap();
    assert!(store.trusts(&approval("a")).unwrap() && store.knows(&approval("a")).unwrap());
    assert!(!store.knows(&approval("b")).unwrap());
    assert!(
        !store_in(folder.path(), &there)
            .knows(&approval("a"))
            .unwrap()
    );
    let text = fs::read_to_string(store.file()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_broken_line_is_no_consent_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path(), folder.path());
    store.add(approval("a"), ConsentSource::Flag, NOW).unwrap();
    let text = fs::read_to_string(store.file()).unwrap();
    fs::write(store.file(), format!("{{\"half\n{text}{}", &text[..20])).unwrap();
    assert!(store.trusts(&approval("a")).unwrap());
    assert!(!store.trusts(&approval("half")).unwrap());
    store.add(approval("b"), ConsentSource::Flag, NOW).unwrap();
    assert!(store.trusts(&approval("b")).unwrap());
}

#[cfg(unix)]
#[test]
fn the_store_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path(), folder.path());
    store.add(approval("a"), ConsentSource::Flag, NOW).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&store.file()), mode(&store.folder)), (0o600, 0o700));
    fs::set_permissions(store.file(), fs::Permissions::from_mode(0o666)).unwrap();
    let error = store.trusts(&approval("a")).unwrap_err();
    assert!(matches!(error, TrustError::Exposed { .. }), "{error}");
    assert!(error.hint().unwrap().contains("chmod go-w"));
}

#[test]
fn a_prompt_counts_once_and_for_its_session_and_repository() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path(), &folder.path().join("here"));
    store
        .keep_prompt("s1", "/fp:plan --auto add it's greeting", None)
        .unwrap();
    let elsewhere = store_in(folder.path(), &folder.path().join("there"));
    assert_eq!(elsewhere.take_prompt("s1").unwrap(), None);
    assert_eq!(store.take_prompt("s2").unwrap(), None);
    assert_eq!(
        store.take_prompt("s1").unwrap().as_deref(),
        Some("/fp:plan --auto add it's greeting")
    );
    assert_eq!(store.take_prompt("s1").unwrap(), None);
    for session in ["", "../s1", "a/b", ".hidden"] {
        assert!(store.keep_prompt(session, "x", None).is_err(), "{session}");
    }
}

#[test]
fn each_system_has_its_folder() {
    let check = |system: &str, variables: &[(&str, &str)], expect: Option<&str>| {
        let env = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(
            state_folder_on(system, &env),
            expect.map(PathBuf::from),
            "{system} {variables:?}"
        );
    };
    check(
        "linux",
        &[("HOME", "/h")],
        Some("/h/.local/state/fractal-planner"),
    );
    check(
        "linux",
        &[("HOME", "/h"), ("XDG_STATE_HOME", "/s")],
        Some("/s/fractal-planner"),
    );
    check(
        "linux",
        &[("HOME", "/h"), ("XDG_STATE_HOME", "s")],
        Some("/h/.local/state/fractal-planner"),
    );
    check(
        "macos",
        &[("HOME", "/h")],
        Some("/h/Library/Application Support/fractal-planner"),
    );
    check("windows", &[("HOME", "/h")], None);
    check("linux", &[], None);
}
