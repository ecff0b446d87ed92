//! Throw-away repositories, isolated from the machine's configuration.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fp_host::git::{Git, Oid};
use fp_plan::repo_path::RepoPath;

const ENV: [(&str, &str); 9] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "A Person"),
    ("GIT_AUTHOR_EMAIL", "person@example.com"),
    ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
    ("GIT_COMMITTER_NAME", "A Person"),
    ("GIT_COMMITTER_EMAIL", "person@example.com"),
    ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
    ("GIT_EDITOR", "false"),
];

/// A repository in a temporary folder, on branch `main`.
pub(crate) struct Repo {
    folder: tempfile::TempDir,
    pub(crate) git: Git,
}

impl Repo {
    /// A repository without a commit.
    pub(crate) fn unborn() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("repo");
        std::fs::create_dir(&top).unwrap();
        run(&top, "git", &["init", "-q", "-b", "main"]);
        Self {
            git: hermetic(&top),
            folder,
        }
    }

    /// A repository with these files in a first commit.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self::unborn();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.run("git", &["add", "--all"]);
        repo.run("git", &["commit", "-q", "--allow-empty", "-m", "Start"]);
        repo
    }

    /// The top of its working tree.
    pub(crate) fn top(&self) -> &Path {
        self.git.worktree()
    }

    /// A folder beside the working tree.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn path(&self, path: impl AsRef<OsStr>) -> PathBuf {
        self.top().join(Path::new(path.as_ref()))
    }

    pub(crate) fn write(&self, path: impl AsRef<OsStr>, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn remove(&self, path: impl AsRef<OsStr>) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn executable(&self, path: &str) {
        std::fs::set_permissions(self.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Installs a hook that runs this shell script.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        let path = self.path(format!(".git/hooks/{name}"));
        crate::common::program::write_program(&path, format!("#!/bin/sh\n{script}\n"));
    }

    /// Runs a program in the working tree and returns its output without the last line ending.
    pub(crate) fn run(&self, program: &str, args: &[&str]) -> String {
        run(self.top(), program, args)
    }

    pub(crate) fn tree(&self) -> Oid {
        self.git.snapshot_tree().unwrap().tree
    }

    /// `git status --short`, one line each.
    pub(crate) fn short_status(&self) -> String {
        self.run("git", &["status", "--short", "-uall"])
    }

    /// The names in HEAD's tree.
    pub(crate) fn committed(&self) -> Vec<String> {
        let names = self.run("git", &["ls-tree", "-r", "--name-only", "HEAD"]);
        names.lines().map(str::to_owned).collect()
    }
}

/// The working tree at `top`, isolated from the machine's configuration.
pub(crate) fn hermetic(top: &Path) -> Git {
    ENV.iter()
        .fold(Git::open(top).unwrap(), |git, (name, value)| {
            git.with_env(*name, *value)
        })
}

/// Runs a program; panics with its output if it fails.
pub(crate) fn run(folder: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .envs(ENV)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {args:?}: {said}");
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

pub(crate) fn paths(names: &[&str]) -> Vec<RepoPath> {
    names
        .iter()
        .copied()
        .map(|name| RepoPath::from_bytes(name.as_bytes()))
        .collect()
}

pub(crate) fn os(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}
