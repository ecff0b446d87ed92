//! Ways to cheat or go wrong: a builder's actions in a real repository, and the message that catches them.
//!
//! Every [`Cheat`] of a table goes from claim to verdict, in the checkout and in a worktree, using only the program.
//! The verifier is fooled and passes every criterion, so the program's own checks must catch the cheat.

mod bench;
mod checks;
mod commands;
mod fences;
mod files;
mod git_folder;
mod history;
mod measuring;

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::process::Child;

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
    /// Processes that the builder left running.
    left: RefCell<Vec<Child>>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        for process in self.left.get_mut() {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

impl Scene {
    /// Has `builder-1` claim task 1, which lists `files`.
    fn new(place: Place, files: &str) -> Self {
        Self::tested_by(place, files, CHECK, 600)
    }

    /// [`Scene::new`] with another test command and its time limit in seconds.
    fn tested_by(place: Place, files: &str, test: &str, seconds: u32) -> Self {
        Self::in_repository(repository(place, seconds), place, files, test)
    }

    /// A scene in which `prepare` has changed the repository before the plan was made.
    fn prepared(place: Place, test: &str, prepare: fn(&Scene)) -> Self {
        let before = Self {
            environment: repository(place, 600),
            place: Place::Checkout,
            token: String::new(),
            left: RefCell::default(),
        };
        prepare(&before);
        before.git(&["add", "--all"]);
        before.git(&["commit", "--quiet", "--allow-empty", "--message", "Prepare"]);
        Self::in_repository(before.into_environment(), place, "src/a.rs", test)
    }

    fn into_environment(mut self) -> Environment {
        std::mem::replace(&mut self.environment, Environment::new())
    }

    fn in_repository(environment: Environment, place: Place, files: &str, test: &str) -> Self {
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
            left: RefCell::default(),
        }
    }

    /// Ends `process` with the scene.
    fn leave_behind(&self, process: Child) {
        self.left.borrow_mut().push(process);
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
        r#"{{ "isolation": "{isolation}", "verify": {{ "timeoutSeconds": {seconds}, "judge": "each" }}, "sandbox": {{ "mode": "off" }} }}"#
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
    let scene = Scene::new(place, cheat.files);
    (cheat.does)(&scene);
    let submit = scene.submit();
    if submit.code != 0 {
        // A problem that can be detected without running a command makes the submission fail. After an honest
        // submission, the cheat must come to nothing.
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
        return is_too_late(cheat, place);
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
        .starts_with("Task 1 did not pass: it goes back, attempt 2")
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

/// Cheats after an honest submission, and asserts that only the honest work is judged and committed.
fn is_too_late(cheat: &Cheat, place: Place) -> Result<(), String> {
    let scene = Scene::new(place, cheat.files);
    scene.work();
    let submit = scene.submit();
    assert_eq!(submit.code, 0, "{submit}");
    (cheat.does)(&scene);
    let verified = scene.verify();
    let verdict = scene.environment.pass("1");
    let git = |args: &[&str]| {
        let args = [&["--no-replace-objects"], args].concat();
        scene.environment.git(&args)
    };
    let committed = git(&["log", "--format=", "--name-status", "-1", "main"]);
    let content = git(&["show", "main:src/a.rs"]);
    // What the builder committed itself, or put in the way, keeps `fp` from committing.
    let is_left = !scene.subjects().contains("Write part 1");
    let is_honest = verified.code == 0 && committed == "M\tsrc/a.rs\n" && content == DONE;
    if is_honest || is_left {
        return Ok(());
    }
    Err(format!(
        "it counts after the submission\n{verified}\n{verdict}\n{committed}{content}"
    ))
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
