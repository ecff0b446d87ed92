//! `release/plugin`: the plugin for several platforms, and the launcher that picks the right program.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::program::write_program;
use crate::common::{Environment, Output};
use insta::assert_snapshot;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The file in which Linux reports the machine's architecture.
const KERNEL: &str = "/proc/sys/kernel/arch";

/// A place with stub files for the programs of other platforms, and a fake `uname`.
struct Place(Environment);

impl Place {
    fn new() -> Self {
        let environment = Environment::new();
        fs::create_dir(environment.beside("bin")).unwrap();
        let search = format!("{}:/usr/bin:/bin", environment.beside("bin").display());
        Self(environment.env("PATH", search))
    }

    /// Writes the programs into the folders of their targets: this machine's is a symlink to `fp`, the others are
    /// stubs.
    fn programs(&self, programs: &[&str]) {
        drop(fs::remove_dir_all(self.0.path("programs")));
        for program in programs {
            let program = format!("programs/{program}");
            if program.contains(&here()) {
                fs::create_dir_all(self.0.path(&program).parent().unwrap()).unwrap();
                symlink(env!("CARGO_BIN_EXE_fp"), self.0.path(&program)).unwrap();
            } else {
                self.0.write(&program, &*program);
            }
        }
    }

    /// Builds the plugin from [`Place::programs`] in `out`.
    fn plugin(&self, out: &str) -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("release/plugin");
        self.0.run(
            script.to_str().unwrap(),
            &[env!("CARGO_BIN_EXE_fp"), "programs", out],
        )
    }

    /// Makes `uname` report the machine `name` from here on.
    fn machine(&self, name: &str) {
        self.script(
            "bin/uname",
            &format!("[ \"$*\" = -sm ] || exit 64; echo '{name}'"),
        );
    }

    fn script(&self, path: &str, text: &str) {
        write_program(&self.0.beside(path), format!("#!/bin/sh\n{text}\n"));
    }

    /// The launcher of a plugin with these `programs`, to be run on the machine set by [`Place::machine`]. Each program
    /// prints its platform and its arguments.
    fn launcher(&self, programs: &[&str]) -> PathBuf {
        self.programs(&["aarch64-apple-darwin/fp"]);
        let out = self.plugin("out dir");
        assert_eq!(out.code, 0, "{out}");
        let bin = "work/out dir/fp/bin";
        fs::remove_dir_all(self.0.beside(bin).join("aarch64-apple-darwin")).unwrap();
        for program in programs {
            self.script(
                &format!("{bin}/{program}"),
                &format!("printf '%s\\n' '{program}' \"$@\"; exit 7"),
            );
        }
        let launcher = self.0.beside(bin).join("fp");
        let text = fs::read_to_string(&launcher).unwrap();
        assert_eq!(text.matches(KERNEL).count(), 2, "{text}");
        write_program(
            &launcher,
            text.replace(KERNEL, self.0.beside("kernel").to_str().unwrap()),
        );
        launcher
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        self.0.run(program.to_str().unwrap(), arguments)
    }
}

/// The target of this machine's `fp`.
fn here() -> String {
    let system = if cfg!(target_os = "macos") {
        "apple-darwin"
    } else {
        "unknown-linux-gnu"
    };
    format!("{}-{system}", std::env::consts::ARCH)
}

#[test]
fn a_bundle_for_several_platforms_runs_here() {
    let place = Place::new();
    place.programs(&[
        &format!("{}/fp", here()),
        "x86_64-pc-windows-msvc/fp.exe",
        "aarch64-pc-windows-msvc/fp.exe",
    ]);
    let said = place.plugin("out dir");
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(
        place.0.read("out dir/fp/bin/fp.exe"),
        "programs/x86_64-pc-windows-msvc/fp.exe"
    );
    assert_eq!(
        place
            .0
            .read("out dir/fp/bin/aarch64-pc-windows-msvc/fp.exe"),
        "programs/aarch64-pc-windows-msvc/fp.exe"
    );
    let bin = place.0.path("out dir/fp/bin");
    let version = format!("exit status: 0\n--- stdout\nfp {VERSION}\n");
    assert_eq!(
        place.run(&bin.join("fp"), &["--version"]).to_string(),
        version
    );
    symlink(bin.join("fp"), place.0.beside("one")).unwrap();
    symlink("../one", place.0.beside("bin/two")).unwrap();
    assert_eq!(
        place
            .run(&place.0.beside("bin/two"), &["--version"])
            .to_string(),
        version
    );
    assert_eq!(
        place
            .run(Path::new("sh"), &["-c", "two --version"])
            .to_string(),
        version
    );
    let beside = "cd 'out dir/fp/bin' && ./fp --version && sh fp --version";
    assert_eq!(
        place.run(Path::new("sh"), &["-c", beside]).stdout,
        format!("fp {VERSION}\n").repeat(2)
    );
}

#[test]
fn the_launcher_chooses_by_the_machine() {
    let place = Place::new();
    let check = |machine: &str, programs: &[&str], expect: &str| {
        let launcher = place.launcher(programs);
        place.machine(machine);
        let said = place.run(&launcher, &["a b", "", "*"]);
        assert_eq!(
            (said.stdout, said.code),
            (format!("{expect}\na b\n\n*\n"), 7),
            "{machine}: {}",
            said.stderr
        );
    };
    let all = [
        "x86_64-unknown-linux-musl/fp",
        "aarch64-unknown-linux-gnu/fp",
        "x86_64-apple-darwin/fp",
        "aarch64-apple-darwin/fp",
        "aarch64-pc-windows-msvc/fp.exe",
        "fp.exe",
    ];
    check("Linux x86_64", &all, "x86_64-unknown-linux-musl/fp");
    check("Linux aarch64", &all, "aarch64-unknown-linux-gnu/fp");
    check("Darwin arm64", &all, "aarch64-apple-darwin/fp");
    check("Darwin x86_64", &all, "x86_64-apple-darwin/fp");
    check(
        "Darwin arm64",
        &["x86_64-apple-darwin/fp"],
        "x86_64-apple-darwin/fp",
    );
    check("MINGW64_NT-10.0-22631 x86_64", &all, "fp.exe");
    check(
        "MSYS_NT-10.0-22631 aarch64",
        &all,
        "aarch64-pc-windows-msvc/fp.exe",
    );
    check("CYGWIN_NT-10.0-22631 aarch64", &["fp.exe"], "fp.exe");
}

#[test]
fn linux_says_without_another_process_what_it_is() {
    let place = Place::new();
    let launcher = place.launcher(&[
        "x86_64-unknown-linux-gnu/fp",
        "aarch64-unknown-linux-musl/fp",
    ]);
    place.machine("SunOS sun4v");
    fs::write(place.0.beside("kernel"), "aarch64\n").unwrap();
    assert_eq!(
        place.run(&launcher, &[]).stdout,
        "aarch64-unknown-linux-musl/fp\n"
    );
}

#[test]
fn the_launcher_passes_input_and_signals_through() {
    let place = Place::new();
    let launcher = place.launcher(&[]);
    place.machine("Linux x86_64");
    place.script(
        "work/out dir/fp/bin/x86_64-unknown-linux-musl/fp",
        "cat; kill -TERM $$",
    );
    let mut child = place.0.command(launcher.to_str().unwrap());
    let mut child = child
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"in\0put").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"in\0put");
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&output.status),
        Some(15)
    );
}

#[test]
fn a_machine_without_a_program_is_told_which_there_are() {
    let place = Place::new();
    let launcher = place.launcher(&[
        "aarch64-apple-darwin/fp",
        "x86_64-unknown-linux-musl/fp",
        "fp.exe",
    ]);
    let said = [
        "Linux riscv64",
        "Darwin x86_64",
        "Linux aarch64",
        "SunOS i86pc",
        "FreeBSD amd64",
    ]
    .map(|machine| {
        place.machine(machine);
        // A hook that exits with 2 would block the user's every edit.
        let hook = place.run(&launcher, &["hook", "pre-tool-use"]);
        assert_eq!(
            (hook.code, hook.stdout.as_str(), hook.stderr.lines().count()),
            (0, "", 1),
            "{hook}"
        );
        place
            .run(&launcher, &["status"])
            .to_string()
            .replace(machine, "MACHINE")
    });
    assert!(said.iter().all(|other| *other == said[0]), "{said:?}");
    assert_snapshot!(said[0], @"
    exit status: 2
    --- stderr
    error: this plugin has no fp for MACHINE; it has one for: aarch64-apple-darwin x86_64-unknown-linux-musl Windows
    hint: build fp on this machine from its sources; its `fp install` puts it here
    ");
}

#[test]
fn the_same_programs_make_the_same_bundle() {
    let place = Place::new();
    let list =
        "cd fp; find . | sort | xargs ls -ld | cut -c 1-10; find . -type f | sort | xargs cksum";
    place.programs(&[&format!("{}/fp", here()), "x86_64-pc-windows-msvc/fp.exe"]);
    let bundle = |umask: &str, out: &str| {
        let (fp, root) = (env!("CARGO_BIN_EXE_fp"), env!("CARGO_MANIFEST_DIR"));
        let script = format!(
            "umask {umask}; '{root}/release/plugin' '{fp}' programs {out} >&2; cd {out}; {list}"
        );
        let said = place.run(Path::new("sh"), &["-euc", &script]);
        assert_eq!(said.code, 0, "{said}");
        said.stdout
    };
    let first = bundle("022", "a");
    assert!(
        first.contains("./bin/fp\n") && first.contains("-rwxr-xr-x\n"),
        "{first}"
    );
    assert_eq!(first, bundle("077", "b"));
}
