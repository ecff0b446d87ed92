//! A small repository to plan and build in: shell scripts with a shell test, so that no toolchain is needed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::client_binary;
use crate::session::{state_home, write};

/// The repository. Its history, identity and dates are always the same.
pub(crate) struct Sample {
    directory: TempDir,
    repository: PathBuf,
}

/// A commit of the repository.
#[derive(Debug)]
pub(crate) struct Commit {
    /// The full hash.
    pub(crate) hash: String,
    /// The changed files, in git's order.
    pub(crate) files: Vec<String>,
}

impl Sample {
    /// A repository with two commits and a clean tree.
    pub(crate) fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// Like `new`, but in a folder that Codex's commands can see too: they get a `/dev` of their own, and temporary
    /// folders may be in `/dev/shm`.
    pub(crate) fn for_codex() -> Self {
        Self::within(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    fn within(folder: &Path) -> Self {
        let directory = TempDir::new_in(folder).expect("a temporary directory can be made");
        let repository = directory.path().join("repository");
        let sample = Self {
            directory,
            repository,
        };
        sample.write("README.md", README);
        sample.git(&["init", "--quiet", "--initial-branch=main"]);
        sample.git(&["config", "user.name", "Sample Author"]);
        sample.git(&["config", "user.email", "author@example.com"]);
        sample.write("lib/text.sh", TEXT);
        sample.write("bin/hello", HELLO);
        sample.commit("feat: say hello");
        sample.write("tests/run.sh", RUN_TESTS);
        sample.write("tests/hello_test.sh", HELLO_TEST);
        sample.commit("test: check what hello says");
        sample
    }

    /// The repository's top directory.
    pub(crate) fn path(&self) -> &Path {
        &self.repository
    }

    /// Writes the file at `path`, relative to the repository.
    pub(crate) fn write(&self, path: &str, content: &str) {
        write(&self.path().join(path), content);
    }

    /// The content of a file; empty if the file doesn't exist.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap_or_default()
    }

    /// Runs `git` with `arguments` and returns its output.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        printed("git", self.run("git", arguments))
    }

    /// The commits made since the sample was created, oldest first.
    pub(crate) fn new_commits(&self) -> Vec<Commit> {
        const OWN: usize = 2;
        let hashes = self.git(&["log", "--reverse", "--format=%H"]);
        let commit = |hash: &str| {
            let shown = self.git(&["show", "--name-only", "--format=", hash]);
            Commit {
                hash: hash.to_owned(),
                files: shown.lines().map(str::to_owned).collect(),
            }
        };
        hashes.lines().skip(OWN).map(commit).collect()
    }

    /// The output of `git status`; empty if everything is committed.
    pub(crate) fn uncommitted(&self) -> String {
        self.git(&["status", "--porcelain"])
    }

    /// True if the repository's own tests pass.
    pub(crate) fn tests_pass(&self) -> bool {
        self.run("sh", &["tests/run.sh"]).status.success()
    }

    /// Runs `fp` with `arguments` and returns its standard output.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub(crate) fn fp(&self, arguments: &[&str]) -> String {
        printed("fp", self.run(env!("CARGO_BIN_EXE_fp"), arguments))
    }

    /// Runs `fp` with `arguments`, which it must refuse, and returns its standard error.
    ///
    /// # Panics
    ///
    /// If it doesn't refuse.
    pub(crate) fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(env!("CARGO_BIN_EXE_fp"), arguments);
        assert!(
            !output.status.success(),
            "`fp {arguments:?}` is not refused"
        );
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// The user's consents on this machine, oldest first. A record that a plan was made here isn't a consent.
    pub(crate) fn consents(&self) -> Vec<Value> {
        let store = state_home(self.path()).join("fractal-planner/trust.jsonl");
        let lines = std::fs::read_to_string(store).unwrap_or_default();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("the store is JSON"))
            .filter(|line: &Value| line["consent"]["kind"] != "made")
            .collect()
    }

    /// A clone of this repository, including its ignored files, on the machine of somebody who hasn't agreed to
    /// anything.
    pub(crate) fn cloned(&self) -> Self {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--message", "chore: share the plans"]);
        let directory = TempDir::new().expect("a temporary directory can be made");
        let repository = directory.path().join("repository");
        let target = repository
            .to_str()
            .expect("a temporary directory has a readable name");
        self.git(&["clone", "--quiet", ".", target]);
        Self {
            directory,
            repository,
        }
    }

    fn commit(&self, subject: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", subject]);
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let date = "2026-01-05T12:00:00Z";
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path()).env_clear();
        command
            .env("PATH", client_binary::search_path())
            .env("HOME", self.directory.path().join("home"));
        command.env("XDG_STATE_HOME", state_home(self.path()));
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", date)
            .env("GIT_COMMITTER_DATE", date);
        command.env("FP_NOW", date);
        command
            .output()
            .expect("git and sh are installed, and cargo has built fp")
    }
}

fn printed(program: &str, output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} failed with {}: {errors}",
        output.status
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

const README: &str = "\
# Sample

`bin/hello` says hello. `sh tests/run.sh` runs the tests.
";

const TEXT: &str = "\
# Prints its arguments in capitals.
shout() {
  printf '%s\\n' \"$*\" | tr '[:lower:]' '[:upper:]'
}
";

const HELLO: &str = "\
#!/bin/sh
. \"$(dirname \"$0\")/../lib/text.sh\"
shout \"hello, ${1:-world}\"
";

const RUN_TESTS: &str = "\
#!/bin/sh
# Runs every test beside this file; fails when one does.
cd \"$(dirname \"$0\")/..\" || exit 1
failed=0
for test in tests/*_test.sh; do
  if sh \"$test\"; then echo \"ok $test\"; else echo \"failed $test\"; failed=1; fi
done
exit $failed
";

const HELLO_TEST: &str = "\
[ \"$(sh bin/hello)\" = 'HELLO, WORLD' ] && [ \"$(sh bin/hello ada)\" = 'HELLO, ADA' ]
";
