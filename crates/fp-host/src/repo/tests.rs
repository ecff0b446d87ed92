use std::process::Command;

use super::*;

/// A folder in which the real git creates the layouts to test.
struct Ground(tempfile::TempDir);

impl Ground {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap()
    }

    fn folder(&self, path: &str) {
        fs::create_dir_all(self.path().join(path)).unwrap();
    }

    fn git(&self, within: &str, args: &[&str]) {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.com",
                "-c",
                "protocol.file.allow=always",
            ])
            .args(args)
            .current_dir(self.path().join(within))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn repo(&self, path: &str) {
        self.folder(path);
        self.git(path, &["init", "--quiet"]);
        self.git(
            path,
            &["commit", "--quiet", "--allow-empty", "--message", "first"],
        );
    }

    /// Searches from `cwd`; expects root, worktree and git directory, all relative to the test folder.
    fn check(&self, cwd: &str, root: &str, worktree: &str, git_dir: Option<&str>) {
        let ground = self.path();
        let join = |path: &str| {
            if path.is_empty() {
                ground.clone()
            } else {
                ground.join(path)
            }
        };
        let expect = Repo {
            root: join(root),
            git_dir: git_dir.map(join),
            worktree: join(worktree),
        };
        assert_eq!(Repo::find(&join(cwd)), expect, "from {cwd:?}");
    }
}

#[test]
fn a_checkout_and_what_is_inside_it() {
    let ground = Ground::new();
    ground.repo("r");
    ground.folder("r/src/deep/.fractal-planner");
    ground.check("r", "r", "r", Some("r/.git"));
    ground.check("r/src/deep", "r", "r", Some("r/.git"));
    ground.check("r/.git/refs", "r", "r", Some("r/.git"));
    ground.check("r/not/there", "r", "r", Some("r/.git"));
}

#[test]
fn a_linked_worktree_leads_to_the_main_one() {
    let ground = Ground::new();
    ground.repo("r");
    ground.git("r", &["worktree", "add", "--quiet", "../linked"]);
    ground.git(
        "r",
        &[
            "worktree",
            "add",
            "--quiet",
            ".fractal-planner/plans/p/builder-1",
        ],
    );
    ground.folder("linked/src");
    ground.check("linked/src", "r", "linked", Some("r/.git"));
    let inner = "r/.fractal-planner/plans/p/builder-1";
    ground.check(inner, "r", inner, Some("r/.git"));
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let ground = Ground::new();
    ground.repo("lib");
    ground.repo("r");
    ground.git("r", &["submodule", "--quiet", "add", "../lib", "sub"]);
    ground.check("r/sub", "r/sub", "r/sub", Some("r/.git/modules/sub"));
    ground.git("r/sub", &["worktree", "add", "--quiet", "../../linked"]);
    ground.check("linked", "r/sub", "linked", Some("r/.git/modules/sub"));
}

#[test]
fn a_git_directory_elsewhere() {
    let ground = Ground::new();
    ground.folder("r");
    ground.git(
        "r",
        &["init", "--quiet", "--separate-git-dir", "../elsewhere"],
    );
    ground.check("r", "r", "r", Some("elsewhere"));
}

#[test]
fn worktrees_of_a_bare_repository() {
    let ground = Ground::new();
    ground.repo("r");
    ground.git("", &["clone", "--quiet", "--bare", "r", "alone.git"]);
    ground.git("alone.git", &["worktree", "add", "--quiet", "../a", "HEAD"]);
    ground.check("a", "a", "a", Some("alone.git"));

    // Worktrees kept beside their bare repository share one plans folder.
    ground.folder("p");
    ground.git("", &["clone", "--quiet", "--bare", "r", "p/.bare"]);
    fs::write(ground.path().join("p/.git"), "gitdir: ./.bare\n").unwrap();
    ground.git("p", &["worktree", "add", "--quiet", "b", "HEAD"]);
    ground.check("p/b", "p", "p/b", Some("p/.bare"));
}

#[test]
fn without_git_the_nearest_home_and_else_the_folder_itself() {
    let ground = Ground::new();
    ground.folder("p/.fractal-planner");
    ground.folder("p/a/b");
    ground.folder("q/a");
    ground.check("p/a/b", "p", "p", None);
    ground.check("q/a", "q/a", "q/a", None);
}

#[test]
fn a_broken_git_counts_as_none() {
    let ground = Ground::new();
    ground.folder("p/.fractal-planner");
    ground.folder("p/a/.git");
    ground.check("p/a", "p", "p", None);
    ground.folder("p/b");
    for content in [
        &b"gitdir: ../gone\n"[..],
        b"",
        b"\xff\xfe",
        b"hello\n",
        &[b'x'; 70_000],
    ] {
        fs::write(ground.path().join("p/b/.git"), content).unwrap();
        ground.check("p/b", "p", "p", None);
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_to_a_checkout_is_the_checkout() {
    let ground = Ground::new();
    ground.repo("r");
    ground.folder("r/src");
    std::os::unix::fs::symlink(ground.path().join("r/src"), ground.path().join("link")).unwrap();
    ground.check("link", "r", "r", Some("r/.git"));
}
