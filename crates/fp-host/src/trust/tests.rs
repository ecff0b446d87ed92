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
        code: None,
    }
}

#[test]
fn of_the_approvals_of_a_plan_the_last_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path(), folder.path());
    let coded = |tree: &str, code: &str| match approval(tree) {
        Consent::Plan { plan, tree, .. } => Consent::Plan {
            plan,
            tree,
            code: Some(code.to_owned()),
        },
        consent => consent,
    };
    let check = |known: &[Consent]| {
        for consent in [
            approval("a"),
            coded("a", "1"),
            coded("a", "2"),
            coded("b", "2"),
        ] {
            let expect = known.contains(&consent);
            assert_eq!(store.trusts(&consent).unwrap(), expect, "{consent:?}");
        }
    };
    let add = |consent| store.add(consent, ConsentSource::Flag, NOW).unwrap();
    add(approval("a"));
    check(&[approval("a")]);
    add(coded("a", "1"));
    check(&[approval("a"), coded("a", "1")]);
    add(coded("b", "2"));
    check(&[coded("b", "2")]);
    add(coded("a", "1"));
    check(&[approval("a"), coded("a", "1")]);
}

/// Several processes that create the key at once all get the same one.
#[test]
fn a_key_is_made_once_and_kept_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("state");
    assert!(MachineKey::read(&folder).unwrap().is_none());
    let made: BTreeSet<String> = std::thread::scope(|scope| {
        let make = || MachineKey::make(&folder).unwrap().code_of(&[b"a"]);
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(made.len(), 1);
    let key = MachineKey::read(&folder).unwrap().unwrap();
    assert_ne!(key.code_of(&[b"ab", b"c"]), key.code_of(&[b"a", b"bc"]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder.join("key"), fs::Permissions::from_mode(0o640)).unwrap();
        let error = MachineKey::make(&folder).unwrap_err().to_string();
        assert!(error.starts_with("somebody else may know"), "{error}");
    }
    fs::remove_file(folder.join("key")).unwrap();
    fs::write(folder.join("key"), "short").unwrap();
    assert!(MachineKey::make(&folder).is_err());
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
    let text = fs::read_to_string(store.store_file()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Fails if git can't tell whether the folder has the repository's first commit.
#[test]
fn a_repository_that_can_not_be_asked_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path(), &folder.path().join("here"));
    store.add(approval("a"), ConsentSource::Flag, NOW).unwrap();
    let text = fs::read_to_string(store.store_file()).unwrap();
    let root = format!("\"root\":\"{}\",\"path\":", "a".repeat(40));
    let text = text.replacen("\"path\":", &root, 1);
    assert!(text.contains(&root), "{text}");
    fs::write(store.store_file(), text).unwrap();
    assert!(store.knows(&approval("a")).unwrap());
    assert!(store.trusts(&approval("a")).is_err());
}

#[test]
fn a_broken_line_is_no_consent_and_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path(), folder.path());
    store.add(approval("a"), ConsentSource::Flag, NOW).unwrap();
    let text = fs::read_to_string(store.store_file()).unwrap();
    fs::write(
        store.store_file(),
        format!("{{\"half\n{text}{}", &text[..20]),
    )
    .unwrap();
    assert!(store.trusts(&approval("a")).unwrap());
    assert!(!store.trusts(&approval("half")).unwrap());
    store.add(approval("b"), ConsentSource::Flag, NOW).unwrap();
    assert!(store.trusts(&approval("b")).unwrap());
}

#[cfg(unix)]
#[test]
fn the_store_is_the_users_alone() {
    use fp_plan::hint::Hint as _;
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path(), folder.path());
    store.add(approval("a"), ConsentSource::Flag, NOW).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&store.store_file()), mode(&store.folder)),
        (0o600, 0o700)
    );
    fs::set_permissions(store.store_file(), fs::Permissions::from_mode(0o666)).unwrap();
    let error = store.trusts(&approval("a")).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with(" can be changed by other users"),
        "{error}"
    );
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
