//! Ways to cheat or go wrong: a builder's actions in a real repository, and the message that catches them.
//!
//! Every [`Cheat`] of a table goes from claim to verdict, in the checkout and in a worktree, using only the program.
//! The verifier is fooled and passes every criterion, so the program's own checks must catch the cheat.

mod checks;
mod commands;
mod fences;
mod files;
mod git_folder;
mod history;
mod measuring;

use std::fs;
use std::path::PathBuf;

use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::common::{Environment, Output};

/// Content of `src/a.rs` after honest work, which [`CHECK`] asks for.
const DONE: &str = "pub fn a() -> u8 {\n    2\n}\n";
/// The test command of task 1.
const CHECK: &str = "sh check.sh";
const MANIFEST: &str = "[package]\nname = \"sample\"\n\n[dependencies]\nserde = \"1\"\n";
const LOCK: &str = "[[package]]\nname = \"sample\"\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\nsource = \"registry+https://r/index\"\nchecksum = \"good\"\n";
const TEST: &str = "#[test]\nfn works() {\n    assert_eq!(1, 1);\n}\n";

/// The builders' working trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// All in the user's checkout.
    Checkout,
    /// Each in a worktree of its own.
    Worktree,
}

/// One way to cheat.
struct Cheat {
    name: &'static str,
    /// The files that task 1 lists.
    files: &'static str,
    /// The builder's actions between claim and submit.
    does: fn(&Scene),
    /// The failing checks in order, each with the first line of its message.
    caught: &'static [&'static str],
}

/// A repository with a claimed task 1 and a task 2, which lists `src/b.rs`.
struct Scene {
    environment: Environment,
    place: Place,
    token: String,
}

impl Scene {
    /// Has `builder-1` claim task 1, which lists `files`.
    fn new(place: Place, files: &str) -> Self {
        Self::tested_by(place, files, CHECK, 600)
    }

    /// [`Scene::new`] with another test command and its time limit in seconds.
    fn tested_by(place: Place, files: &str, test: &str, seconds: u32) -> Self {
        let environment = repository(place, seconds);
        environment.plan(&tree(&[
            Leaf {
                test,
                ..leaf("1", "none", files)
            },
            leaf("2", "none", "src/b.rs"),
        ]));
        environment.start(&["--builders", "2"]);
        let token = environment.claim_task("builder-1", "1");
        Self {
            environment,
            place,
            token,
        }
    }

    /// The working folder of a builder, relative to the top of the repository.
    fn folder(&self, owner: &str) -> String {
        match self.place {
            Place::Checkout => ".".to_owned(),
            Place::Worktree => format!(".fractal-planner/plans/{PLAN}/worktrees/{owner}"),
        }
    }

    /// `file` in the working folder of `builder-1`.
    fn path(&self, file: &str) -> PathBuf {
        self.environment.path(&self.folder("builder-1")).join(file)
    }

    /// Writes `file` in the working folder of `builder-1`.
    fn write(&self, file: &str, text: &str) {
        self.environment
            .write(&format!("{}/{file}", self.folder("builder-1")), text);
    }

    /// Does the task's work.
    fn work(&self) {
        self.write("src/a.rs", DONE);
    }

    fn remove(&self, file: &str) {
        fs::remove_file(self.path(file)).unwrap();
    }

    /// Makes `file` a link to `target`.
    fn link(&self, target: &str, file: &str) {
        std::os::unix::fs::symlink(target, self.path(file)).unwrap();
    }

    /// Runs git in the working folder of `builder-1`.
    fn git(&self, args: &[&str]) -> String {
        self.environment
            .git(&[&["-C", &self.folder("builder-1")], args].concat())
    }

    fn submit(&self) -> Output {
        self.environment
            .fp(&["submit", PLAN, "1", "--claim", &self.token])
    }

    fn verify(&self) -> Output {
        self.environment.fp(&["verify", PLAN, "1"])
    }

    /// The failing checks, each with the first line of its message.
    fn failing(&self) -> Vec<String> {
        let verified = self.verify();
        verified
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("FAIL  "))
            .map(str::to_owned)
            .collect()
    }

    /// Submits task 1, and has a verifier pass everything.
    fn submit_and_pass(&self) -> Output {
        let submit = self.submit();
        assert_eq!(submit.code, 0, "{submit}");
        self.environment.pass("1")
    }

    /// The status of task 1.
    fn status(&self) -> String {
        self.environment.statuses()[0].1.clone()
    }

    /// Subjects of the commits on the user's branch, newest first.
    fn subjects(&self) -> String {
        self.environment.git(&["log", "--format=%s", "main"])
    }
}

/// A small program with a test, a check, a manifest and its lock file.
fn repository(place: Place, seconds: u32) -> Environment {
    let environment = Environment::new().repo();
    for (file, text) in [
        ("src/a.rs", "pub fn a() -> u8 {\n    1\n}\n"),
        ("src/b.rs", "pub fn b() -> u8 {\n    1\n}\n"),
        ("tests/a.rs", TEST),
        ("check.sh", "grep -q 2 src/a.rs\n"),
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        (".gitignore", "dist/\n"),
    ] {
        environment.write(file, text);
    }
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Add a program"]);
    let isolation = match place {
        Place::Checkout => "shared",
        Place::Worktree => "worktree",
    };
    let folder = environment.beside("home/.config/fractal-planner");
    fs::create_dir_all(&folder).unwrap();
    // What is measured has to be right also where nothing confines a command.
    let config = format!(
        r#"{{ "isolation": "{isolation}", "verify": {{ "timeoutSeconds": {seconds} }}, "sandbox": {{ "mode": "off" }} }}"#
    );
    fs::write(folder.join("config.json"), config).unwrap();
    environment
}

/// Asserts that each of `cheats` is caught, wherever builders work.
#[track_caller]
fn all_caught(cheats: &[Cheat]) {
    all_caught_in(&[Place::Checkout, Place::Worktree], cheats);
}

/// Asserts that the named checks catch each of `cheats` with the named messages, and that `fp` commits
/// nothing.
#[track_caller]
fn all_caught_in(places: &[Place], cheats: &[Cheat]) {
    let runs = cheats
        .iter()
        .flat_map(|cheat| places.iter().map(move |place| (cheat, *place)));
    let wrong: Vec<String> = runs
        .filter_map(|(cheat, place)| {
            let found = run(cheat, place).err()?;
            Some(format!("{} ({place:?}): {found}", cheat.name))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "not caught as it should be:\n{}",
        wrong.join("\n")
    );
}

fn run(cheat: &Cheat, place: Place) -> Result<(), String> {
    let mut scene = Scene::new(place, cheat.files);
    (cheat.does)(&scene);
    let submit = scene.submit();
    if submit.code != 0 {
        // A problem that can be detected without running a command makes the submission fail. The cheat must also be
        // caught if it happens after the submission.
        let at_hand = |words: &&&str| {
            ["boundary:", "leftovers:", "changes:"]
                .iter()
                .any(|name| words.starts_with(name))
        };
        let named = cheat
            .caught
            .iter()
            .filter(at_hand)
            .all(|words| submit.stderr.contains(words));
        if !named || scene.status() != "IMPLEMENTING" {
            return Err(format!("the submit is refused\n{submit}"));
        }
        if cheat
            .caught
            .iter()
            .any(|words| words.starts_with("changes:"))
        {
            return Ok(());
        }
        scene = Scene::new(place, cheat.files);
        scene.work();
        let submit = scene.submit();
        assert_eq!(submit.code, 0, "{submit}");
        (cheat.does)(&scene);
    }
    let failing = scene.failing();
    let same = failing.len() == cheat.caught.len()
        && failing
            .iter()
            .zip(cheat.caught)
            .all(|(found, wanted)| found.starts_with(wanted));
    if !same {
        return Err(format!(
            "{} fail where {:?} are to\n{}",
            failing.len(),
            cheat.caught,
            scene.verify()
        ));
    }
    let verdict = scene.environment.pass("1");
    let refused = verdict
        .stdout
        .starts_with("Task 1 did not pass: it goes back to its builder, attempt 2")
        || verdict
            .stdout
            .starts_with("Task 1 did not pass by its commands: the user is asked");
    // For a failed command, the reasons are worded differently from the check's message.
    let reasons = scene
        .environment
        .reasons()
        .replace("`sh check.sh` failed: ", "command: sh check.sh: ");
    if !refused || !cheat.caught.iter().all(|words| reasons.contains(words)) {
        return Err(format!("the verdict lets it through\n{verdict}"));
    }
    match (
        scene.status().as_str(),
        scene.environment.git(&["log", "--all", "--format=%s"]),
    ) {
        ("IMPLEMENTING" | "AWAITING_VERIFICATION", subjects)
            if !subjects.contains("Write part 1") =>
        {
            Ok(())
        }
        (status, subjects) => Err(format!(
            "the task is {status}, and there are the commits\n{subjects}"
        )),
    }
}

/// The premise of the tables: honest work passes, wherever it is done.
#[test]
fn honest_work_passes() {
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        let verdict = scene.submit_and_pass();
        assert!(
            verdict.stdout.starts_with("Task 1 passed: commit "),
            "{place:?}: {verdict}"
        );
        assert_eq!(
            scene.subjects(),
            "Write part 1\nAdd a program\nStart\n",
            "{place:?}"
        );
    }
}
