//! What a confined command can write, and what programs that build and test need.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_host::platform::{can_close_network, can_confine, find_program, supervise_with};
use fp_host::process::{CommandEnd, Confinement, FinishedCommand, Limits, run_line};

/// A user with a repository, and a folder for commands.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        supervise_with(env!("CARGO_BIN_EXE_fp"));
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "home/.ssh",
            "home/.cargo/bin",
            "home/.cargo/registry",
            "home/.cache/fractal-planner",
            "home/.local/state/fractal-planner",
            "home/.npm/_cacache",
            "repo/.git",
            "repo/.fractal-planner/plans",
            "bench",
            "more",
        ] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        for path in FILES {
            fs::write(folder.path().join(path), "as it was").unwrap();
        }
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn confinement(&self, network: bool) -> Confinement {
        let env = |name: &str| match name {
            "HOME" => Some(self.path("home")),
            "PATH" => std::env::var_os("PATH").map(PathBuf::from),
            _ => None,
        };
        let made = Confinement::new(env, [self.path("more")], network, &[self.path("repo")]);
        made.expect("this system confines")
    }

    fn run(&self, line: &str, network: bool) -> FinishedCommand {
        let confinement = self.confinement(network);
        run_confined(line, &self.path("bench"), &confinement)
    }
}

fn run_confined(line: &str, folder: &Path, confinement: &Confinement) -> FinishedCommand {
    let limits = Limits {
        time: Duration::from_secs(120),
        ..Limits::default()
    };
    run_line(line, folder, limits, Some(confinement)).unwrap()
}

/// Files of the user's.
const FILES: [&str; 8] = [
    "home/.bashrc",
    "home/.ssh/authorized_keys",
    "home/.cargo/config.toml",
    "home/.cargo/bin/tool",
    "home/.local/state/fractal-planner/trust.jsonl",
    "home/.cache/fractal-planner/key",
    "repo/.git/config",
    "repo/.fractal-planner/plans/events.jsonl",
];

#[test]
fn it_writes_where_it_may_and_nowhere_else() {
    if !can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let ground = Ground::new();
    for file in FILES {
        let path = ground.path(file);
        for (what, line) in [
            ("write", format!("echo bad >{}", path.display())),
            ("append", format!("echo bad >>{}", path.display())),
            (
                "replace",
                format!("echo bad >new && mv -f new {}", path.display()),
            ),
            ("remove", format!("rm -f {}", path.display())),
            ("move", format!("mv {} taken", path.display())),
            (
                "link",
                format!("ln {} linked && echo bad >>linked", path.display()),
            ),
            ("beside", format!("echo bad >{}.new", path.display())),
            (
                "follow",
                format!("ln -s {} way; echo bad >way", path.display()),
            ),
        ] {
            let line = format!("rm -f new taken linked way; {line}");
            let run = ground.run(&line, true);
            let text = run.output.to_text();
            assert_ne!(run.end, CommandEnd::Exited(0), "{what} {file}: {text}");
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                "as it was",
                "{what} {file}"
            );
        }
        assert!(!ground.path(&format!("{file}.new")).exists(), "{file}");
    }
    for line in [
        "cat ../home/.bashrc; echo fine >own; mkdir -p a/b; mv own a/b; ln a/b/own linked",
        "echo fine >\"$TMPDIR/file\" && [ \"$TMPDIR\" != \"${TMPDIR#/}\" ]",
        "echo fine >../home/.cargo/registry/crate && echo fine >../home/.npm/_cacache/package",
        "echo fine >../more/file",
        "echo fine >/dev/null; echo fine >/dev/stdout; mkfifo pipe",
    ] {
        let run = ground.run(line, true);
        assert_eq!(
            run.end,
            CommandEnd::Exited(0),
            "{line}: {}",
            run.output.to_text()
        );
    }
}

/// A rule for a folder in another one that is open would follow a link that a command puts in its place.
#[test]
fn a_link_in_place_of_an_open_folder_opens_nothing() {
    if !can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let ground = Ground::new();
    fs::create_dir_all(ground.path("home/go/pkg/mod")).unwrap();
    let go = ground.path("home/go/pkg").display().to_string();
    let run = ground.run(&format!("rm -r {go}/mod && ln -s ../.. {go}/mod"), true);
    assert_eq!(run.end, CommandEnd::Exited(0), "{}", run.output.to_text());
    let run = ground.run(&format!("echo bad >{go}/mod/.bashrc"), true);
    assert_ne!(run.end, CommandEnd::Exited(0));
    let profile = fs::read_to_string(ground.path("home/.bashrc")).unwrap();
    assert_eq!(profile, "as it was");
}

/// Git's hooks run programs from these caches, and a user reads these terminals.
#[test]
fn programs_of_hooks_and_terminals_are_closed() {
    if !can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let ground = Ground::new();
    for folder in [".cache/pre-commit", ".cache/node/corepack", ".npm/_npx"] {
        let folder = ground.path("home").join(folder);
        fs::create_dir_all(&folder).unwrap();
        let run = ground.run(&format!("echo bad >{}/tool", folder.display()), true);
        assert_ne!(run.end, CommandEnd::Exited(0), "{}", folder.display());
    }
    let (_own, terminal) = (fs::File::open("/dev/ptmx").unwrap(), "/dev/pts");
    let open = format!("for it in {terminal}/[0-9]*; do (echo bad >$it) && exit 0; done; exit 1");
    assert_ne!(ground.run(&open, true).end, CommandEnd::Exited(0));
}

#[test]
fn a_temporary_folder_ends_with_its_command() {
    if !can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let ground = Ground::new();
    let run = ground.run("touch \"$TMPDIR/file\"; echo \"$TMPDIR\"", true);
    let folder = PathBuf::from(run.output.to_text().trim());
    assert!(
        folder.is_absolute() && !folder.exists(),
        "{}",
        folder.display()
    );
}

#[test]
fn nothing_signals_what_is_outside() {
    if !can_confine() || !can_close_network() {
        println!("skipped: this system confines nothing, or no signals");
        return;
    }
    let ground = Ground::new();
    let mut other = Command::new("sleep").arg("4010").spawn().unwrap();
    let run = ground.run(
        &format!("kill -9 {}; sleep 4011 & kill $!", other.id()),
        true,
    );
    assert_eq!(run.end, CommandEnd::Exited(0), "{}", run.output.to_text());
    assert_eq!(other.try_wait().unwrap(), None);
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn without_network_it_connects_nowhere() {
    if !can_close_network() {
        println!("skipped: this system doesn't close the network");
        return;
    }
    let ground = Ground::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line =
        format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'");
    let run = ground.run(&line, true);
    assert_eq!(run.end, CommandEnd::Exited(0), "{}", run.output.to_text());
    let run = ground.run(&line, false);
    assert!(
        run.output.to_text().contains("PermissionError"),
        "{}",
        run.output.to_text()
    );
}

/// What is installed here runs as it would without confinement, with the caches of the user who runs the test.
#[test]
fn programs_that_build_and_test_run() {
    if !can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let env = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let confinement = Confinement::new(env, [], true, &[]).unwrap();
    let manifest = "[package]\nname = \"a\"\nedition = \"2021\"\n";
    let package = r#"{ "scripts": { "test": "node --test" } }"#;
    let mut ran = 0;
    for (program, line, files) in [
        (
            "cargo",
            "cargo test --offline",
            &[
                ("Cargo.toml", manifest),
                ("src/lib.rs", "#[test]\nfn it() {}\n"),
            ][..],
        ),
        (
            "npm",
            "npm test",
            &[
                ("package.json", package),
                ("a.test.js", "require('node:test')('it', () => {})\n"),
            ],
        ),
        (
            "python3",
            "python3 -m unittest test_a",
            &[(
                "test_a.py",
                "import tempfile, unittest\nclass A(unittest.TestCase):\n  def test_a(self):\n    tempfile.TemporaryFile()\n",
            )],
        ),
        (
            "pytest",
            "pytest -q",
            &[(
                "test_a.py",
                "def test_a(tmp_path): (tmp_path / 'a').touch()\n",
            )],
        ),
        (
            "go",
            "go test ./...",
            &[
                ("go.mod", "module a\n"),
                (
                    "a_test.go",
                    "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n",
                ),
            ],
        ),
        (
            "make",
            "make -j2",
            &[("Makefile", "all: a b\na b:\n\techo $@ >$@\n")],
        ),
        (
            "gcc",
            "gcc -o a a.c && ./a",
            &[("a.c", "int main(void) { return 0; }\n")],
        ),
        (
            "mktemp",
            "mktemp && mktemp -p /tmp && mktemp -p /dev/shm",
            &[],
        ),
    ] {
        let search = std::env::var_os("PATH").unwrap();
        if find_program(program, &search).is_none() {
            println!("skipped: {program} isn't installed");
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let run = run_confined(line, folder.path(), &confinement);
        assert_eq!(
            run.end,
            CommandEnd::Exited(0),
            "{line}: {}",
            run.output.to_text()
        );
        ran += 1;
    }
    assert!(ran >= 2, "only {ran} programs");
}
