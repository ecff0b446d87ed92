//! A hermetic environment for running `fp`: no inherited variables, a home of its own, a fixed clock and
//! identity.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::unwrap_used,
    reason = "a place that can't be set up fails the test"
)]

pub(crate) mod fixture;
pub(crate) mod plan;
pub(crate) mod program;
pub(crate) mod search_path;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A folder `work` to run in and a folder `home` beside it, both temporary.
pub(crate) struct Environment {
    _folder: tempfile::TempDir,
    root: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

/// A command's output and exit status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Environment {
    /// An empty environment, without a git repository.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["work", "home"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let mut environment = Self {
            _folder: folder,
            root,
            variables: Vec::new(),
        };
        let home = environment.root.join("home");
        environment = environment
            .env("HOME", home)
            .env("PATH", search_path::of_tests());
        [
            ("FP_NOW", "2026-11-21T09:00:00Z"),
            ("TZ", "UTC"),
            ("LANG", "C.UTF-8"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "A Person"),
            ("GIT_AUTHOR_EMAIL", "person@example.com"),
            ("GIT_AUTHOR_DATE", "2026-11-21T09:00:00Z"),
            ("GIT_COMMITTER_NAME", "A Person"),
            ("GIT_COMMITTER_EMAIL", "person@example.com"),
            ("GIT_COMMITTER_DATE", "2026-11-21T09:00:00Z"),
            ("GIT_EDITOR", "false"),
        ]
        .into_iter()
        .fold(environment, |environment, (name, value)| {
            environment.env(name, value)
        })
    }

    /// Makes `work` a git repository on branch `main` with one commit. Only the first repository in a process is
    /// created by git; the others are copies of it.
    pub(crate) fn repo(self) -> Self {
        static FIRST: OnceLock<Vec<(PathBuf, Option<Vec<u8>>)>> = OnceLock::new();
        for (path, content) in FIRST.get_or_init(|| Self::new().first_repo()) {
            let path = self.path("").join(path);
            match content {
                Some(content) => fs::write(path, content).unwrap(),
                None => fs::create_dir(path).unwrap(),
            }
        }
        self
    }

    /// The files and folders of a new repository, each folder before its contents.
    fn first_repo(self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        self.git(&["init", "--quiet", "--initial-branch", "main"]);
        // Removes git's sample hooks, which never run.
        for sample in fs::read_dir(self.path(".git/hooks")).into_iter().flatten() {
            fs::remove_file(sample.unwrap().path()).unwrap();
        }
        self.write("README.md", "# Sample\n");
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "Start"]);
        let top = self.path("");
        let (mut found, mut open) = (Vec::new(), vec![top.clone()]);
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let content = if path.is_dir() {
                    None
                } else {
                    Some(fs::read(&path).unwrap())
                };
                found.push((path.strip_prefix(&top).unwrap().to_owned(), content));
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found
    }

    /// Sets a variable for everything that runs here.
    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// `path` within `work`.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join("work").join(path)
    }

    /// `path` beside `work`.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file within `work`, creating its folders.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes a program within `work`, creating its folders.
    pub(crate) fn write_program(&self, path: &str, content: impl AsRef<[u8]>) {
        program::write_program(&self.path(path), content);
    }

    /// Installs a git hook that runs this shell script.
    pub(crate) fn git_hook(&self, name: &str, script: &str) {
        self.write_program(
            &format!(".git/hooks/{name}"),
            format!("#!/bin/sh\n{script}\n"),
        );
    }

    /// The text of a file within `work`, with temporary paths replaced.
    pub(crate) fn read(&self, path: &str) -> String {
        self.shown(&fs::read(self.path(path)).unwrap())
    }

    /// Runs git in `work` and returns its standard output. Panics if it fails.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.run("git", args);
        assert_eq!(output.code, 0, "git {args:?}: {}", output.stderr);
        output.stdout
    }

    /// Runs `fp` in `work`.
    pub(crate) fn fp(&self, args: &[&str]) -> Output {
        self.fp_in("", args)
    }

    /// Runs `fp` in a folder within `work`.
    pub(crate) fn fp_in(&self, folder: &str, args: &[&str]) -> Output {
        self.run_in(folder, env!("CARGO_BIN_EXE_fp"), args)
    }

    /// Runs any program in `work`.
    pub(crate) fn run(&self, program: &str, args: &[&str]) -> Output {
        self.run_in("", program, args)
    }

    /// `program` with this environment, ready to run in `work`.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path(""))
            .env_clear()
            .stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run_in(&self, folder: &str, program: &str, args: &[&str]) -> Output {
        let output = self
            .command(program)
            .args(args)
            .current_dir(self.path(folder))
            .output()
            .unwrap();
        Output {
            stdout: self.shown(&output.stdout),
            stderr: self.shown(&output.stderr),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// The output as text, with temporary paths replaced.
    pub(crate) fn shown(&self, bytes: &[u8]) -> String {
        const BENCHES: &str = "/fractal-planner/benches/";
        let text = String::from_utf8_lossy(bytes).replace(self.root.to_str().unwrap(), "[ROOT]");
        // The name of a plan's benches has a hash of the repository's path.
        let mut parts = text.split(BENCHES);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |shown, part| {
            let rest = part.find('/').map_or("", |at| &part[at..]);
            format!("{shown}{BENCHES}[PLAN]{rest}")
        })
    }
}

/// Arguments that keep a program from registering signal handlers; only the first attempt, which is the runtime's,
/// succeeds.
pub(crate) const DEAF: [&str; 5] = [
    "strace",
    "-o",
    "/dev/null",
    "-e",
    "inject=rt_sigaction:error=EPERM:when=2+",
];

impl Environment {
    /// True if [`DEAF`] works here; prints a note if not.
    #[allow(clippy::print_stdout, reason = "what was skipped")]
    pub(crate) fn can_trace(&self) -> bool {
        let tried = self
            .command("strace")
            .args(["-o", "/dev/null", "true"])
            .status();
        let traced = tried.is_ok_and(|status| status.success());
        if !traced {
            assert!(
                std::env::var_os("FP_REQUIRE_STRACE").is_none(),
                "strace is missing, or may not trace"
            );
            println!("skipped: no strace");
        }
        traced
    }
}

impl Output {
    /// This output, masking everything that differs from run to run: claim tokens and commit ids.
    pub(crate) fn masked(&self) -> Self {
        let mask = |text: &str| {
            [
                (r"\b[0-9a-f]{40}\b", "[COMMIT]"),
                (r"\b[0-9a-f]{16}\b", "[TOKEN]"),
                (r"(, )[0-9a-f]{7}\)", "${1}[COMMIT])"),
            ]
            .into_iter()
            .fold(text.to_owned(), |text, (pattern, name)| {
                regex::Regex::new(pattern)
                    .unwrap()
                    .replace_all(&text, name)
                    .into_owned()
            })
        };
        Self {
            stdout: mask(&self.stdout),
            stderr: mask(&self.stderr),
            code: self.code,
        }
    }

    /// The standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{self}"))
    }
}

/// The whole output, formatted for snapshots.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit status: {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{}", text.strip_suffix('\n').unwrap_or(text))?;
            }
        }
        Ok(())
    }
}
