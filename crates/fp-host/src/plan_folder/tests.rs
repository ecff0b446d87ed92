use super::*;

struct Ground {
    #[cfg_attr(windows, allow(dead_code, reason = "links are made in it"))]
    folder: tempfile::TempDir,
    plans: Plans,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::find(folder.path());
        let plans = Plans::of(&repo, &Settings::default());
        Self { folder, plans }
    }

    fn with(ids: &[&str]) -> Self {
        let ground = Self::new();
        for id in ids {
            fs::create_dir_all(ground.plans.dir.join(id)).unwrap();
        }
        ground
    }

    fn listed(&self) -> Vec<String> {
        self.plans
            .list()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect()
    }
}

/// The error's message.
fn said<T: std::fmt::Debug>(result: HostResult<T>) -> String {
    result.unwrap_err().to_string()
}

fn day() -> Date {
    jiff::civil::date(2026, 11, 21)
}

#[test]
fn plans_of_one_goal_and_day_are_numbered() {
    let ground = Ground::new();
    let make = |goal: &str| ground.plans.create(goal, day()).unwrap().id.to_string();
    assert_eq!(make("Add JWT auth"), "add-jwt-auth-20261121");
    assert_eq!(make("add jwt auth!"), "add-jwt-auth-20261121-2");
    assert_eq!(make("add jwt auth"), "add-jwt-auth-20261121-3");
    assert_eq!(make("로그인"), "plan-20261121");
    assert_eq!(
        fs::read_to_string(ground.plans.dir.join(".gitignore")).unwrap(),
        "*\n"
    );
}

#[test]
fn a_gitignore_that_the_user_removed_stays_away() {
    let ground = Ground::new();
    ground.plans.create("one", day()).unwrap();
    let ignore = ground.plans.dir.join(".gitignore");
    fs::remove_file(&ignore).unwrap();
    ground.plans.create("two", day()).unwrap();
    assert!(!ignore.exists());
}

#[test]
fn processes_that_ask_at_once_get_different_plans() {
    let ground = Ground::new();
    let plans = &ground.plans;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                (0..8).for_each(|_| drop(plans.create("same goal", day()).unwrap()))
            });
        }
    });
    assert_eq!(ground.listed().len(), 64);
}

#[test]
fn the_oldest_plan_comes_first() {
    let ground = Ground::with(&[
        "b-20261120",
        "a-20261121-10",
        "a-20261121-9",
        "a-20261121",
        "c-20261119",
        "undated",
        "Not an id",
        ".hidden",
    ]);
    fs::write(ground.plans.dir.join("file-20261121"), "").unwrap();
    let expect = [
        "undated",
        "c-20261119",
        "b-20261120",
        "a-20261121",
        "a-20261121-9",
        "a-20261121-10",
    ];
    assert_eq!(ground.listed(), expect);
}

#[test]
fn a_plan_is_selected_by_id_number_or_part() {
    let ground = Ground::with(&[
        "add-auth-20261119",
        "fix-auth-20261120",
        "add-auth-20261119-2",
        "2-legs-20261121",
    ]);
    let check = |selector: &str, expect: Result<&str, &str>| {
        let found = ground
            .plans
            .resolve(selector)
            .map(|folder| folder.id.to_string())
            .map_err(|e| e.to_string());
        assert_eq!(
            found.as_deref().map_err(String::as_str),
            expect,
            "{selector:?}"
        );
    };
    check("add-auth-20261119", Ok("add-auth-20261119"));
    check("fix", Ok("fix-auth-20261120"));
    check("FIX-Auth", Ok("fix-auth-20261120"));
    check("1", Ok("add-auth-20261119"));
    check("3", Ok("fix-auth-20261120"));
    check("20261121", Ok("2-legs-20261121"));
    check(
        "auth-20261119",
        Err("\"auth-20261119\" matches 2 plans:\n  1  add-auth-20261119\n  2  add-auth-20261119-2"),
    );
    let all = "\n  1  add-auth-20261119\n  2  add-auth-20261119-2\n  3  fix-auth-20261120\n  4  2-legs-20261121";
    check(
        "99",
        Err(&format!("no plan matches \"99\"; there are:{all}")),
    );
    check(
        "login",
        Err(&format!("no plan matches \"login\"; there are:{all}")),
    );
    check("", Err("no plan has such a name: an id can't be empty"));
    check(
        "../../etc",
        Err(
            "no plan has such a name: \"../../etc\" is not an id: ids are letters, digits, `-`, `_`, and begin with \
             a letter or digit",
        ),
    );
    check(
        &"x".repeat(300),
        Err("no plan has such a name: an id has at most 100 bytes, this one has 300"),
    );
    for bad in [".", "..", "a/b", "a\nb", "a\0b", "/", "-x"] {
        assert!(
            said(ground.plans.resolve(bad)).starts_with("no plan has such a name"),
            "{bad:?}"
        );
    }
}

#[test]
fn without_a_name_the_only_active_plan_is_meant() {
    let ground = Ground::with(&["a-20261119", "b-20261120", "c-20261121"]);
    let check = |active: &[&str], expect: Result<&str, &str>| {
        let line = |folder: &PlanFolder| {
            active
                .contains(&folder.id.as_str())
                .then(|| format!("{} running", folder.id))
        };
        let chosen = ground.plans.only_active(line);
        let chosen = chosen
            .map(|folder| folder.id.to_string())
            .map_err(|e| e.to_string());
        assert_eq!(
            chosen.as_deref().map_err(String::as_str),
            expect,
            "{active:?}"
        );
    };
    check(&["b-20261120"], Ok("b-20261120"));
    check(
        &["a-20261119", "c-20261121"],
        Err(
            "no plan was named and 2 are active:\n  1  a-20261119 running\n  3  c-20261121 running",
        ),
    );
    check(
        &[],
        Err(
            "no plan was named and none is active; there are:\n  1  a-20261119\n  2  b-20261120\n  3  c-20261121",
        ),
    );
    let error = Ground::new()
        .plans
        .only_active(|_| Some(String::new()))
        .unwrap_err();
    assert_eq!(error.to_string(), "nothing is planned here yet");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_repository_are_refused() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("plans/p-20261121")).unwrap();
    let linked = |link: &str, target: &Path| {
        let ground = Ground::new();
        let link = ground.folder.path().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        ground
    };

    for (link, target) in [
        (".fractal-planner", outside.path().to_owned()),
        (".fractal-planner/plans", outside.path().join("plans")),
    ] {
        let ground = linked(link, &target);
        assert!(
            said(ground.plans.resolve("p-20261121")).contains(" leads out of the repository"),
            "{link}"
        );
        assert!(
            said(ground.plans.list()).contains(" leads out of the repository"),
            "{link}"
        );
        assert!(
            said(ground.plans.create("x", day())).contains(" leads out of the repository"),
            "{link}"
        );
    }
    // The folder of all plans doesn't exist yet behind this link, and must not be created there.
    let empty = tempfile::tempdir().unwrap();
    let ground = linked(".fractal-planner", empty.path());
    assert!(said(ground.plans.create("x", day())).contains(" leads out of the repository"));
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);

    let ground = linked(
        ".fractal-planner/plans/p-20261121",
        &outside.path().join("plans/p-20261121"),
    );
    assert!(said(ground.plans.resolve("p-20261121")).contains(" is a symbolic link"));
    assert_eq!(ground.listed(), Vec::<String>::new());
}
