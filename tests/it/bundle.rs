//! `fp bundle --binary`: the plugin for several platforms, and the launcher that chooses among their programs.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::common::program::write_program;
use crate::common::{Environment, Output};
use insta::assert_snapshot;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where Linux says what machine it is on.
const KERNEL: &str = "/proc/sys/kernel/arch";

/// A place with files that stand in for programs of other platforms, and `uname` as it is elsewhere.
struct Place(Environment);

impl Place {
    fn new() -> Self {
        let environment = Environment::new();
        fs::create_dir(environment.beside("bin")).unwrap();
        let search = format!("{}:/usr/bin:/bin", environment.beside("bin").display());
        let place = Self(environment.env("PATH", search));
        for program in ["linux", "mac-arm", "mac-intel", "windows.exe"] {
            place.0.write(program, "a program");
        }
        place
    }

    /// What `fp` said, with its version as `VERSION`.
    fn fp(&self, arguments: &[&str]) -> Output {
        let output = self.0.fp(arguments);
        let shown = |text: String| text.replace(VERSION, "VERSION");
        Output { stdout: shown(output.stdout), stderr: shown(output.stderr), ..output }
    }

    /// From here on this machine is another one.
    fn machine(&self, name: &str) {
        self.script("bin/uname", &format!("[ \"$*\" = -sm ] || exit 64; echo '{name}'"));
    }

    fn script(&self, path: &str, text: &str) {
        write_program(&self.0.beside(path), format!("#!/bin/sh\n{text}\n"));
    }

    /// The launcher of a plugin for these platforms, on the machine of [`Place::machine`]. The programs say for which
    /// one they are, and with what they run.
    fn launcher(&self, programs: &[&str]) -> PathBuf {
        let out = self.0.fp(&["bundle", "--out", "out dir", "--binary", "aarch64-apple-darwin=mac-arm"]);
        assert_eq!(out.code, 0, "{out}");
        let bin = "work/out dir/fp/bin";
        fs::remove_dir_all(self.0.beside(bin).join("aarch64-apple-darwin")).unwrap();
        for program in programs {
            self.script(&format!("{bin}/{program}"), &format!("printf '%s\\n' '{program}' \"$@\"; exit 7"));
        }
        let launcher = self.0.beside(bin).join("fp");
        let text = fs::read_to_string(&launcher).unwrap();
        assert_eq!(text.matches(KERNEL).count(), 2, "{text}");
        write_program(&launcher, text.replace(KERNEL, self.0.beside("kernel").to_str().unwrap()));
        launcher
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Output {
        self.0.run(program.to_str().unwrap(), arguments)
    }
}

/// The target that has `fp` here as its program.
fn here() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-gnu" };
    format!("{}-{system}", std::env::consts::ARCH)
}

fn with_this_fp() -> String {
    format!("{}={}", here(), env!("CARGO_BIN_EXE_fp"))
}

#[test]
fn a_bundle_for_several_platforms_runs_here() {
    let place = Place::new();
    let this = with_this_fp();
    let windows = "x86_64-pc-windows-msvc=windows.exe";
    let said = place.fp(&["bundle", "--out", "out dir", "--binary", &this, "--binary", windows]);
    let said = said.to_string().replace(&here(), "HERE");
    assert_snapshot!(said, @"
    exit status: 0
    --- stdout
    plugin       out dir/fp (fp VERSION)
    marketplace  out dir
    platforms    HERE, x86_64-pc-windows-msvc
    ");
    let bin = place.0.path("out dir/fp/bin");
    let version = format!("exit status: 0\n--- stdout\nfp {VERSION}\n");
    assert_eq!(place.run(&bin.join("fp"), &["--version"]).to_string(), version);
    symlink(bin.join("fp"), place.0.beside("one")).unwrap();
    symlink("../one", place.0.beside("bin/two")).unwrap();
    assert_eq!(place.run(&place.0.beside("bin/two"), &["--version"]).to_string(), version);
    assert_eq!(place.run(Path::new("sh"), &["-c", "two --version"]).to_string(), version);
    let beside = "cd 'out dir/fp/bin' && ./fp --version && sh fp --version";
    assert_eq!(place.run(Path::new("sh"), &["-c", beside]).stdout, format!("fp {VERSION}\n").repeat(2));
}

#[test]
fn json_lists_the_platforms() {
    let place = Place::new();
    let arguments =
        ["bundle", "--out", "out", "--binary", "x86_64-apple-darwin=mac-intel", "--format", "json"];
    assert_eq!(place.fp(&arguments).json()["platforms"], serde_json::json!(["x86_64-apple-darwin"]));
    let alone = place.fp(&["bundle", "--out", "out", "--format", "json"]);
    assert_eq!(alone.json()["platforms"], serde_json::json!([]));
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
    check("Darwin arm64", &["x86_64-apple-darwin/fp"], "x86_64-apple-darwin/fp");
    check("MINGW64_NT-10.0-22631 x86_64", &all, "fp.exe");
    check("MSYS_NT-10.0-22631 aarch64", &all, "aarch64-pc-windows-msvc/fp.exe");
    check("CYGWIN_NT-10.0-22631 aarch64", &["fp.exe"], "fp.exe");
}

#[test]
fn linux_says_without_another_process_what_it_is() {
    let place = Place::new();
    let launcher = place.launcher(&["x86_64-unknown-linux-gnu/fp", "aarch64-unknown-linux-musl/fp"]);
    place.machine("SunOS sun4v");
    fs::write(place.0.beside("kernel"), "aarch64\n").unwrap();
    assert_eq!(place.run(&launcher, &[]).stdout, "aarch64-unknown-linux-musl/fp\n");
}

#[test]
fn the_launcher_passes_input_and_signals_through() {
    let place = Place::new();
    let launcher = place.launcher(&[]);
    place.machine("Linux x86_64");
    place.script("work/out dir/fp/bin/x86_64-unknown-linux-musl/fp", "cat; kill -TERM $$");
    let mut child = place.0.command(launcher.to_str().unwrap());
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"in\0put").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"in\0put");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(15));
}

#[test]
fn a_machine_without_a_program_is_told_which_there_are() {
    let place = Place::new();
    let launcher = place.launcher(&["aarch64-apple-darwin/fp", "x86_64-unknown-linux-musl/fp", "fp.exe"]);
    let said =
        ["Linux riscv64", "Darwin x86_64", "Linux aarch64", "SunOS i86pc", "FreeBSD amd64"].map(|machine| {
            place.machine(machine);
            // Status 2 of a hook would refuse the user's every edit.
            let hook = place.run(&launcher, &["hook", "pre-tool-use"]);
            assert_eq!((hook.code, hook.stdout.as_str(), hook.stderr.lines().count()), (0, "", 1), "{hook}");
            place.run(&launcher, &["status"]).to_string().replace(machine, "MACHINE")
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
    let list = "cd fp; find . | sort | xargs ls -ld | cut -c 1-10; find . -type f | sort | xargs cksum";
    let bundle = |umask: &str, out: &str| {
        let fp = env!("CARGO_BIN_EXE_fp");
        let script = format!(
            "umask {umask}; '{fp}' bundle --out {out} --binary {} --binary x86_64-pc-windows-msvc=windows.exe >&2
             cd {out}; {list}",
            with_this_fp()
        );
        let said = place.run(Path::new("sh"), &["-euc", &script]);
        assert_eq!(said.code, 0, "{said}");
        said.stdout
    };
    let first = bundle("022", "a");
    assert!(first.contains("./bin/fp\n") && first.contains("-rwxr-xr-x\n"), "{first}");
    assert_eq!(first, bundle("077", "b"));
}

#[test]
fn each_reason_not_to_take_a_program_says_what_to_do() {
    let place = Place::new();
    let refused = |binaries: &[&str]| {
        let mut arguments = vec!["bundle", "--out", "out"];
        binaries.iter().for_each(|binary| arguments.extend(["--binary", binary]));
        let said = place.fp(&arguments);
        assert!(!place.0.path("out").exists(), "{said}");
        said
    };
    assert_snapshot!(refused(&["sparc-sun-solaris=linux"]), @r#"
    exit status: 2
    --- stderr
    error: invalid value 'sparc-sun-solaris=linux' for '--binary <TARGET=PATH>': "sparc-sun-solaris" is not a target; choose from x86_64-unknown-linux-musl, x86_64-unknown-linux-gnu, aarch64-unknown-linux-musl, aarch64-unknown-linux-gnu, x86_64-apple-darwin, aarch64-apple-darwin, x86_64-pc-windows-msvc, aarch64-pc-windows-msvc

    For more information, try '--help'.
    "#);
    assert_snapshot!(refused(&["linux"]), @"
    exit status: 2
    --- stderr
    error: invalid value 'linux' for '--binary <TARGET=PATH>': expected TARGET=PATH

    For more information, try '--help'.
    ");
}

#[test]
fn a_program_that_is_gone_is_named() {
    let place = Place::new();
    assert_snapshot!(place.fp(&["bundle", "--out", "out", "--binary", "x86_64-apple-darwin=gone"]), @"
    exit status: 2
    --- stderr
    error: gone can't be copied into the bundle: no such file or directory
    hint: check the path, and start fp by a path where it still is
    ");
}

/// `true` is a program of this machine, and of nobody's version.
#[cfg(target_os = "linux")]
#[test]
fn a_program_of_another_version_is_refused() {
    let place = Place::new();
    let said = place.fp(&["bundle", "--out", "out", "--binary", &format!("{}=/bin/true", here())]);
    assert_eq!(said.code, 2, "{said}");
    let first = said.stderr.lines().next().unwrap();
    assert!(first.starts_with("error: /bin/true is not fp VERSION: `--version` says \""), "{first}");
    assert!(!place.0.path("out").exists());
}
