//! The release: its scripts run as in CI, with fake programs and a bare repository as the remote, and its workflows are
//! checked for claims that aren't true.

mod ways;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::common::program::write_program;
use crate::common::{Environment, Output};
use insta::assert_snapshot;
use regex::Regex;
use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A repository with the release's scripts, a version and a changelog.
struct Sample(Environment);

impl Sample {
    fn new() -> Self {
        let sample = Self(Environment::new().repo());
        // The unoptimized program is too large to be compressed in every test.
        sample.0.git(&["config", "core.compression", "0"]);
        // Copying keeps the modes, and a child does it for the reason given at `write_program`.
        let copied = sample
            .0
            .run("cp", &["-R", root().join("release").to_str().unwrap(), "."]);
        assert_eq!(copied.code, 0, "{copied}");
        sample.0.write(
            "Cargo.toml",
            "[workspace.package]\nversion = \"1.2.3\"\nrepository = \"https://github.com/ada/sample\"\n\n[package]\nname = \"sample\"\n",
        );
        sample.0.write("LICENSE", "MIT\n");
        sample.changelog(
            "## [1.2.3] - 2026-11-21\n\n- Greets.\n\n## [1.2.2] - 2026-11-20\n\n- Exists.\n",
        );
        sample
    }

    fn changelog(&self, sections: &str) {
        self.0
            .write("CHANGELOG.md", format!("# Changelog\n\n{sections}"));
    }

    fn script(&self, name: &str, arguments: &[&str]) -> Output {
        self.0.run(&format!("release/{name}"), arguments)
    }
}

#[test]
fn only_a_tag_of_this_version_is_released_and_only_with_notes() {
    let sample = Sample::new();
    assert_eq!(
        sample.script("check-tag", &["v1.2.3"]).to_string(),
        "exit status: 0\n"
    );
    assert_eq!(sample.script("notes", &[]).stdout, "\n- Greets.\n");
    assert_snapshot!(sample.script("check-tag", &["v1.2.4"]), @"
    exit status: 1
    --- stderr
    error: the tag is v1.2.4, and Cargo.toml has version 1.2.3
    hint: tag v1.2.3, or change the version, commit that, and tag the commit
    ");
    assert_snapshot!(sample.script("check-tag", &["1.2.3"]), @"
    exit status: 1
    --- stderr
    error: the tag is 1.2.3, and Cargo.toml has version 1.2.3
    hint: tag v1.2.3, or change the version, commit that, and tag the commit
    ");
    sample.changelog("## [1.2.3] - Unreleased\n\n- Greets.\n");
    assert_snapshot!(sample.script("check-tag", &["v1.2.3"]), @"
    exit status: 1
    --- stderr
    error: the section of CHANGELOG.md for 1.2.3 has no date: ## [1.2.3] - Unreleased
    hint: make it `## [1.2.3] - YYYY-MM-DD`
    ");
    sample.changelog("## [1x2.3] - 2026-11-21\n\n- Greets.\n");
    assert_snapshot!(sample.script("check-tag", &["v1.2.3"]), @"
    exit status: 1
    --- stderr
    error: CHANGELOG.md has no section for 1.2.3
    hint: add one, `## [1.2.3] - YYYY-MM-DD`
    ");
    sample.changelog("## [1.2.3] - 2026-11-21\n\n## [1.2.2] - 2026-11-20\n\n- Exists.\n");
    assert_snapshot!(sample.script("check-tag", &["v1.2.3"]), @"
    exit status: 1
    --- stderr
    error: the section of CHANGELOG.md for 1.2.3 is empty
    hint: say there what users will notice
    ");
}

#[test]
fn the_version_is_that_of_this_program() {
    let said = Environment::new().run(root().join("release/version").to_str().unwrap(), &[]);
    assert_eq!(said.stdout, format!("{VERSION}\n"));
}

#[test]
fn a_program_is_released_that_runs_and_is_of_this_version() {
    let sample = Sample::new();
    let smoke = |text: &str| {
        sample
            .0
            .write_program("a program", format!("#!/bin/sh\n{text}\n"));
        sample.script("smoke", &["./a program"])
    };
    let demo = |status: i32| {
        format!(
            "case $1 in --version) printf 'fp 1.2.3\\r\\n' ;; demo) echo played; exit {status} ;; esac"
        )
    };
    assert_eq!(
        smoke(&demo(0)).to_string(),
        "exit status: 0\n--- stdout\nplayed\n"
    );
    assert_eq!(smoke(&demo(5)).code, 5);
    assert_snapshot!(smoke("echo fp 1.2.2"), @"
    exit status: 1
    --- stderr
    error: ./a program says that it is fp 1.2.2, and Cargo.toml has version 1.2.3
    ");
    assert_ne!(smoke("exit 1").code, 0);
}

/// Needs GNU tar and sha256sum, which the release uses.
#[cfg(target_os = "linux")]
#[test]
fn archives_are_named_by_version_and_target_and_their_sums_are_right() {
    let sample = Sample::new();
    sample
        .0
        .write("programs/x86_64-unknown-linux-musl/fp", "for Linux");
    sample
        .0
        .write("programs/x86_64-pc-windows-msvc/fp.exe", "for Windows");
    let said = sample.script("archives", &["programs", "out dir"]);
    assert_eq!(said.code, 0, "{said}");
    let listed: Vec<&str> = said
        .stdout
        .lines()
        .filter_map(|line| line.split("  ").nth(1))
        .collect();
    let names = [
        "fp-1.2.3-x86_64-pc-windows-msvc.tar.gz",
        "fp-1.2.3-x86_64-unknown-linux-musl.tar.gz",
    ];
    assert_eq!(listed, names);
    let checked = sample.0.run(
        "sh",
        &["-c", "cd 'out dir' && sha256sum -c SHA256SUMS && ls"],
    );
    let [windows, linux] = names;
    assert_eq!(
        checked.stdout,
        format!("{windows}: OK\n{linux}: OK\nSHA256SUMS\n{windows}\n{linux}\n")
    );
    let list = "tar -tvzf \"out dir/$1\" | awk '{ print $1, $2, $6 }'";
    assert_snapshot!(sample.0.run("sh", &["-c", list, "sh", linux]), @"
    exit status: 0
    --- stdout
    drwxr-xr-x 0/0 fp-1.2.3-x86_64-unknown-linux-musl/
    -rw-r--r-- 0/0 fp-1.2.3-x86_64-unknown-linux-musl/CHANGELOG.md
    -rw-r--r-- 0/0 fp-1.2.3-x86_64-unknown-linux-musl/LICENSE
    -rw-r--r-- 0/0 fp-1.2.3-x86_64-unknown-linux-musl/README.md
    -rwxr-xr-x 0/0 fp-1.2.3-x86_64-unknown-linux-musl/fp
    ");
    // Archives must not depend on the time or on file permissions.
    sample.0.run(
        "touch",
        &[
            "-d",
            "2001-01-01",
            "programs/x86_64-unknown-linux-musl/fp",
            "LICENSE",
        ],
    );
    let again = sample
        .0
        .run("sh", &["-c", "umask 077; release/archives programs again"]);
    assert_eq!(again.stdout, said.stdout);
    sample.0.write(
        "out dir/fp-1.2.3-x86_64-unknown-linux-musl.tar.gz",
        "another",
    );
    assert_ne!(
        sample
            .0
            .run("sh", &["-c", "cd 'out dir' && sha256sum -c SHA256SUMS"])
            .code,
        0
    );
}

#[test]
fn nothing_to_release_is_an_error() {
    let sample = Sample::new();
    fs::create_dir(sample.0.path("programs")).unwrap();
    assert_snapshot!(sample.script("plugin", &["fp", "programs", "out"]), @"
    exit status: 1
    --- stderr
    error: there is no program in programs
    hint: it has a folder for each target, with fp or fp.exe in it
    ");
    assert_snapshot!(sample.script("archives", &["programs", "out"]), @"
    exit status: 1
    --- stderr
    error: there is no program in [ROOT]/work/programs
    hint: it has a folder for each target, with fp or fp.exe in it
    ");
}

/// Builds a release's plugin with this `fp` for Linux, and a fake one for macOS.
#[cfg(target_os = "linux")]
fn plugin(sample: &Sample) {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let program = format!("programs/{target}/fp");
    sample
        .0
        .write_program(&program, fs::read(env!("CARGO_BIN_EXE_fp")).unwrap());
    sample.0.write(
        "programs/aarch64-apple-darwin/fp",
        [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1],
    );
    let said = sample.script("plugin", &[&program, "programs", "bundle"]);
    assert_eq!(said.code, 0, "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn dist_is_the_plugin_and_nothing_else_and_its_past_is_replaced() {
    let sample = Sample::new();
    plugin(&sample);
    sample.0.git(&["init", "--quiet", "--bare", "../remote"]);
    sample.0.git(&["push", "--quiet", "../remote", "main"]);
    let head = sample.0.git(&["rev-parse", "HEAD"]);
    let status = sample.0.git(&["status", "--porcelain"]);
    let remote = |arguments: &[&str]| {
        sample
            .0
            .git(&[&["--git-dir", "../remote"], arguments].concat())
    };

    let said = sample.script("dist", &["bundle/fp", "../remote"]);
    assert_eq!(said.code, 0, "{said}");
    let first = remote(&["rev-parse", "dist"]);
    assert_eq!(
        said.stdout,
        format!("dist is {} now; it was not there\n", first.trim())
    );
    assert_eq!(
        remote(&["log", "--format=%s|%b", "dist"]),
        format!("fp 1.2.3|Built from {head}\n")
    );
    let listed = remote(&["ls-tree", "-r", "--format=%(objectmode) %(path)", "dist"]);
    let listed = listed.replace(std::env::consts::ARCH, "CPU");
    let in_root: Vec<&str> = listed
        .lines()
        .filter(|line| !line.contains("skills/") && !line.contains("agents/"))
        .collect();
    assert_snapshot!(in_root.join("\n"), @"
    100644 .claude-plugin/icon.png
    100644 .claude-plugin/plugin.json
    100644 .gitattributes
    100644 README.md
    100755 bin/aarch64-apple-darwin/fp
    100755 bin/fp
    100755 bin/CPU-unknown-linux-gnu/fp
    100644 hooks/hooks.json
    ");

    // The cloned plugin runs, with the line endings that were pushed.
    let clone = [
        "-c",
        "core.autocrlf=true",
        "clone",
        "--quiet",
        "--branch",
        "dist",
        "../remote",
        "../clone",
    ];
    sample.0.git(&clone);
    let version = sample.0.run(
        sample.0.beside("clone/bin/fp").to_str().unwrap(),
        &["--version"],
    );
    assert_eq!(
        version.to_string(),
        format!("exit status: 0\n--- stdout\nfp {VERSION}\n")
    );

    fs::remove_dir_all(sample.0.path("bundle/fp/agents")).unwrap();
    let said = sample.script("dist", &["bundle/fp", "../remote"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.stdout.ends_with(&format!("it was {first}")), "{said}");
    assert_eq!(remote(&["rev-list", "--count", "dist"]), "1\n");
    assert!(!remote(&["ls-tree", "-r", "--name-only", "dist"]).contains("agents/"));

    assert_eq!(remote(&["rev-list", "main"]), head);
    assert_eq!(
        (
            sample.0.git(&["rev-parse", "HEAD"]),
            sample.0.git(&["status", "--porcelain"])
        ),
        (head, status)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_push_of_somebody_else_in_between_is_not_overwritten() {
    let sample = Sample::new();
    plugin(&sample);
    sample.0.git(&["init", "--quiet", "--bare", "../remote"]);
    sample.0.git(&["push", "--quiet", "../remote", "main:dist"]);
    let other = sample
        .0
        .git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Other"]);
    sample.0.git(&["branch", "other", other.trim()]);
    // A wrapper around git that lets the other push arrive right after `dist` was looked up.
    let bin = sample.0.beside("bin");
    let git = "#!/bin/sh\nPATH=$REAL_PATH\ngit \"$@\" || exit\n\
               [ \"$1\" != ls-remote ] || git push --quiet ../remote other:dist\n";
    write_program(&bin.join("git"), git);
    let run = "REAL_PATH=$PATH; PATH=$1:$PATH; export REAL_PATH PATH; exec release/dist bundle/fp ../remote";
    let said = sample
        .0
        .run("sh", &["-c", run, "sh", bin.to_str().unwrap()]);
    assert!(
        said.code != 0 && said.stderr.contains("stale info"),
        "{said}"
    );
    assert_eq!(
        sample
            .0
            .git(&["--git-dir", "../remote", "rev-parse", "dist"]),
        other
    );
}

/// A workflow of this repository, parsed and as text.
fn workflow(name: &str) -> (Value, String) {
    let text = fs::read_to_string(root().join(".github/workflows").join(name)).unwrap();
    (
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")),
        text,
    )
}

fn workflows() -> Vec<(String, Value)> {
    let entries = fs::read_dir(root().join(".github/workflows")).unwrap();
    let mut found: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| (name.clone(), workflow(&name).0))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        found
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>(),
        ["ci.yml", "release.yml"]
    );
    found
}

/// Collects every value of `key` anywhere in `value`, as text.
fn all<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                if name == key && inner.is_string() {
                    found.extend(inner.as_str());
                }
                all(inner, key, found);
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| all(entry, key, found)),
        _ => {}
    }
}

fn values<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    let mut found = Vec::new();
    all(value, key, &mut found);
    found
}

#[test]
fn every_script_of_a_workflow_is_there_and_can_be_run() {
    let script = Regex::new(r"(?m)(?:^|\s)((?:release|\.ci)/[a-z.-]+)").unwrap();
    let mut named = Vec::new();
    for (name, workflow) in workflows() {
        for run in values(&workflow, "run") {
            named.extend(script.captures_iter(run).map(|found| found[1].to_owned()));
        }
        assert!(!named.is_empty(), "{name} runs no script");
    }
    for path in &named {
        let mode = fs::metadata(root().join(path))
            .unwrap_or_else(|e| panic!("{path}: {e}"))
            .permissions()
            .mode();
        assert_eq!(mode & 0o111, 0o111, "{path} can't be run");
    }
    for entry in fs::read_dir(root().join("release")).unwrap() {
        let path = format!("release/{}", entry.unwrap().file_name().to_str().unwrap());
        let name = path.strip_prefix("release/").unwrap();
        let scripts = ["check-tag", "plugin", "formula", "npm"]
            .map(|script| fs::read_to_string(root().join("release").join(script)).unwrap());
        let called = scripts.concat().contains(&format!("/{name}\""));
        assert!(called || named.contains(&path), "nothing runs {path}");
        if path.ends_with(".js") {
            continue;
        }
        let syntax = Environment::new().run("sh", &["-n", root().join(&path).to_str().unwrap()]);
        assert_eq!(syntax.code, 0, "{path}: {syntax}");
    }
}

#[test]
fn every_target_of_the_release_is_one_that_the_launcher_knows() {
    let (release, _) = workflow("release.yml");
    let launcher = fs::read_to_string(root().join("release/launcher")).unwrap();
    let builds = release["jobs"]["build"]["strategy"]["matrix"]["include"]
        .as_array()
        .unwrap();
    let targets: Vec<&str> = builds
        .iter()
        .map(|build| build["target"].as_str().unwrap())
        .collect();
    assert_eq!(targets.len(), 6);
    for (build, target) in builds.iter().zip(&targets) {
        let program = if target.contains("windows") {
            "fp.exe"
        } else {
            "fp"
        };
        assert_eq!(build["program"], program, "{target}");
        let (cpu, system) = target.split_once('-').unwrap();
        assert!(
            launcher.contains(&format!("$cpu-{system}/{program}")),
            "{target}"
        );
        assert!(launcher.contains(&format!("cpu={cpu} ")), "{target}");
    }
    let plugin = values(&release, "run")
        .into_iter()
        .find(|run| run.starts_with("release/plugin "))
        .unwrap();
    let runs_bundle = plugin.split('/').nth(2).unwrap();
    assert!(targets.contains(&runs_bundle), "{plugin}");
}

/// If a workflow's command contains text from an event, whoever triggers the event can run commands.
#[test]
fn no_command_of_a_workflow_has_text_of_an_event_in_it() {
    let inserted = Regex::new(r"\$\{\{\s*([^}]*?)\s*\}\}").unwrap();
    let allowed = ["matrix.target", "matrix.program"];
    let mut commands = 0;
    for (name, workflow) in workflows() {
        for run in values(&workflow, "run") {
            commands += 1;
            for found in inserted.captures_iter(run) {
                assert!(allowed.contains(&&found[1]), "{name}: {run}");
            }
        }
        assert!(
            workflow["on"].get("pull_request_target").is_none(),
            "{name}"
        );
    }
    assert!(commands > 8, "only {commands} commands were found");
}

#[test]
fn actions_are_pinned_and_rights_are_few() {
    let pinned = Regex::new(r"^actions/[a-z-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})$").unwrap();
    for (name, workflow) in workflows() {
        let used = values(&workflow, "uses");
        assert!(!used.is_empty(), "{name} uses no action");
        for action in used {
            assert!(
                pinned.is_match(action) || action == "./.github/workflows/ci.yml",
                "{name}: {action}"
            );
        }
        assert_eq!(
            workflow["permissions"],
            serde_json::json!({ "contents": "read" }),
            "{name}"
        );
        for (job, what) in workflow["jobs"].as_object().unwrap() {
            let may_write = (name.as_str(), job.as_str()) == ("release.yml", "publish");
            assert_eq!(
                what.get("permissions").is_some(),
                may_write,
                "{name}: {job}"
            );
        }
    }
    let (_, text) = workflow("release.yml");
    let secrets: Vec<_> = Regex::new(r"secrets\.\w+")
        .unwrap()
        .find_iter(&text)
        .map(|s| s.as_str())
        .collect();
    assert_eq!(secrets, ["secrets.GITHUB_TOKEN"]);
}

#[test]
fn ci_runs_on_three_systems_and_with_the_oldest_compiler() {
    let (ci, text) = workflow("ci.yml");
    for runner in ["ubuntu-", "macos-", "windows-"] {
        assert!(text.contains(runner), "{runner}");
    }
    let runs = values(&ci, "run");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for command in [
        "cargo test --workspace",
        "cargo fmt --all --check",
        ".ci/run",
    ] {
        assert!(runs.contains(&command), "{command}");
    }
    assert!(readme.contains("cargo test --workspace"));
    let oldest = format!(
        "cargo +{} check --workspace --all-targets --locked",
        env!("CARGO_PKG_RUST_VERSION")
    );
    assert!(runs.contains(&oldest.as_str()), "{oldest}");
    assert_eq!(
        ci["jobs"]["gate"]["steps"][2]["env"]["FP_REQUIRE_CLIENT"],
        "1"
    );
}

/// The catalog that people add points to the branch that the release pushes.
#[test]
fn the_marketplace_offers_what_the_release_pushes() {
    let catalog = fs::read_to_string(root().join(".claude-plugin/marketplace.json")).unwrap();
    let catalog: Value = serde_json::from_str(&catalog).unwrap();
    let branch = catalog["plugins"][0]["source"]["ref"].as_str().unwrap();
    let script = fs::read_to_string(root().join("release/dist")).unwrap();
    assert!(
        script.contains(&format!("\"$commit:refs/heads/{branch}\"")),
        "{branch}"
    );
}
