//! The ways to get the program: an installer, npm, Homebrew, cargo-binstall; and the single place that names their
//! owner.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::{Sample, VERSION, root};

/// The target whose programs run here, as the installer and npm name it.
fn target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// A release of version 1.2.3 as a folder of files, with a program for this machine.
#[cfg(target_os = "linux")]
fn released(sample: &Sample) {
    let program = "#!/bin/sh\necho fp 1.2.3 \"$@\"; [ \"$1\" != fail ] || exit 3\n";
    sample
        .0
        .write_program(&format!("programs/{}/fp", target()), program);
    for other in [
        "aarch64-apple-darwin",
        "x86_64-apple-darwin",
        "x86_64-unknown-linux-musl",
        "aarch64-unknown-linux-musl",
    ] {
        if other != target() {
            sample
                .0
                .write(&format!("programs/{other}/fp"), "for another machine");
        }
    }
    sample
        .0
        .write("programs/x86_64-pc-windows-msvc/fp.exe", "for Windows");
    for folder in ["latest/download", "download/v1.2.3"] {
        let said = sample.script("archives", &["programs", &format!("releases/{folder}")]);
        assert_eq!(said.code, 0, "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_installer_installs_what_has_the_right_checksum() {
    let sample = Sample::new();
    released(&sample);
    let url = format!(
        "FP_INSTALL_URL=file://{}",
        sample.0.path("releases").display()
    );
    let install = |more: &[&str]| {
        let home = format!("HOME={}", sample.0.beside("user").display());
        sample.0.run(
            "env",
            &[&[url.as_str(), &home], more, &["sh", "release/install.sh"]].concat(),
        )
    };
    assert_snapshot!(install(&[]), @"
    exit status: 0
    --- stdout
    Installed fp 1.2.3 --version to [ROOT]/user/.local/bin/fp
    Add [ROOT]/user/.local/bin to your PATH
    Next: fp install puts the plugin into Claude Code
    ");
    assert_eq!(
        fs::read_dir(sample.0.beside("user/.local/bin"))
            .unwrap()
            .count(),
        1
    );
    // A given version into another folder, replacing an existing file.
    let folder = format!("FP_INSTALL_DIR={}", sample.0.path("a folder").display());
    sample.0.write("a folder/fp", "old");
    assert_eq!(install(&[&folder, "FP_VERSION=1.2.3"]).code, 0);
    assert_eq!(sample.0.run("a folder/fp", &["x"]).stdout, "fp 1.2.3 x\n");
    let said = install(&["FP_VERSION=9.9.9"]);
    assert!(
        said.code == 1
            && said
                .stderr
                .contains("SHA256SUMS can't be downloaded\nhint: "),
        "{said}"
    );

    let archive = format!("releases/latest/download/fp-1.2.3-{}.tar.gz", target());
    sample.0.write(&archive, "another");
    sample.0.write("a folder/fp", "as it was");
    let said = install(&[&folder]);
    assert!(
        said.code == 1 && said.stderr.contains("the checksum of fp-1.2.3-"),
        "{said}"
    );
    assert_eq!(sample.0.read("a folder/fp"), "as it was");

    let sums = "releases/latest/download/SHA256SUMS";
    sample.0.write(
        sums,
        sample
            .0
            .read(sums)
            .replace("-musl.tar.gz", "-musl.tar.gz; touch pwned"),
    );
    let said = install(&[&folder]);
    assert!(
        said.code == 1 && said.stderr.contains("the release has no program for"),
        "{said}"
    );
}

/// A truncated installer script does nothing.
#[test]
fn an_installer_that_was_cut_off_does_nothing() {
    let text = fs::read_to_string(root().join("release/install.sh")).unwrap();
    assert!(text.ends_with("\nmain\n"));
    let outside: Vec<&str> = text
        .lines()
        .filter(|line| {
            !line.is_empty() && !line.starts_with([' ', '#', '}']) && !line.contains("() {")
        })
        .collect();
    assert_eq!(outside, ["set -eu", "main"]);
}

#[cfg(target_os = "linux")]
#[test]
fn npm_installs_the_program_for_this_machine() {
    let sample = Sample::new();
    if sample.0.run("sh", &["-c", "command -v npm"]).code != 0 {
        println!("skipped: no npm");
        return;
    }
    released(&sample);
    sample.0.write("README.md", "# Sample\n");
    let said = sample.script("npm", &["programs", "packages"]);
    assert_eq!(said.code, 0, "{said}");
    let cpu = if std::env::consts::ARCH == "x86_64" {
        "x64"
    } else {
        "arm64"
    };
    let own = format!("./packages/fractal-planner-linux-{cpu}-1.2.3.tgz");
    let main = "./packages/fractal-planner-1.2.3.tgz";
    let package = sample
        .0
        .run("tar", &["-xzOf", main, "package/package.json"]);
    let package: Value = serde_json::from_str(&package.stdout).unwrap();
    let platforms: Vec<&String> = package["optionalDependencies"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(platforms.len(), 5, "{platforms:?}");
    assert_eq!(
        package["repository"]["url"],
        "git+https://github.com/ada/sample.git"
    );

    let install = |packages: &[&str]| {
        let flags = [
            "install",
            "--offline",
            "--no-audit",
            "--no-fund",
            "--prefix",
            "app",
        ];
        sample.0.run("npm", &[&flags, packages].concat())
    };
    let said = install(&[main, &own]);
    assert_eq!(said.code, 0, "{said}");
    let fp = |arguments: &[&str]| sample.0.run("app/node_modules/.bin/fp", arguments);
    assert_eq!(
        fp(&["a b", "c"]).to_string(),
        "exit status: 0\n--- stdout\nfp 1.2.3 a b c\n"
    );
    assert_eq!(fp(&["fail"]).code, 3, "the status is the program's");
    fs::remove_dir_all(
        sample
            .0
            .path(&format!("app/node_modules/fractal-planner-linux-{cpu}")),
    )
    .unwrap();
    let said = fp(&[]);
    assert!(
        said.code == 2 && said.stderr.contains("is not installed\nhint: "),
        "{said}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_formula_has_the_archives_and_their_sums() {
    let sample = Sample::new();
    released(&sample);
    let formula = sample.script("formula", &["releases/latest/download/SHA256SUMS"]);
    assert_eq!(formula.code, 0, "{formula}");
    for line in sample
        .0
        .read("releases/latest/download/SHA256SUMS")
        .lines()
        .filter(|line| !line.contains("windows"))
    {
        let (sum, name) = line.split_once("  ").unwrap();
        let both = format!(
            "      url \"https://github.com/ada/sample/releases/download/v1.2.3/{name}\"\n      sha256 \"{sum}\"\n"
        );
        assert!(
            formula.stdout.contains(&both),
            "{both} is not in\n{}",
            formula.stdout
        );
    }
    let word = |word: &str| {
        formula
            .stdout
            .split_whitespace()
            .filter(|other| *other == word)
            .count()
    };
    assert_eq!(
        word("do") + word("class") + word("def"),
        word("end"),
        "{}",
        formula.stdout
    );
    sample.0.write("fp.rb", &formula.stdout);
    if sample.0.run("sh", &["-c", "command -v ruby"]).code == 0 {
        let said = sample.0.run("ruby", &["-c", "fp.rb"]);
        assert_eq!(said.code, 0, "{said}");
    }
    sample.0.write("SUMS", "");
    let said = sample.script("formula", &["SUMS"]);
    assert!(said.code == 1 && said.stderr.contains("\nhint: "), "{said}");
}

/// cargo-binstall looks for the archives that the release makes.
#[test]
fn binstall_finds_the_archives() {
    let metadata = std::process::Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages
        .iter()
        .find(|package| package["name"] == "fractal-planner")
        .unwrap();
    let repository = package["repository"].as_str().unwrap();
    let told = &package["metadata"]["binstall"];
    let filled = |key: &str| {
        let text = told[key].as_str().unwrap();
        let values = [
            ("repo", repository),
            ("version", VERSION),
            ("target", "T"),
            ("bin", "fp"),
            ("binary-ext", ""),
        ];
        values.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{ {name} }}"), value)
        })
    };
    assert_eq!(
        filled("pkg-url"),
        format!("{repository}/releases/download/v{VERSION}/fp-{VERSION}-T.tar.gz")
    );
    assert_eq!(filled("bin-dir"), format!("fp-{VERSION}-T/fp"));
    assert_eq!(told["pkg-fmt"], "tgz");
}

/// A fork has to change the owner in only one place.
#[test]
fn the_owner_is_set_in_one_place() {
    let sample = Sample::new();
    sample.0.write(
        "docs/a.md",
        "see https://github.com/ada/sample/releases & ada/sample\n",
    );
    sample.0.git(&["add", "--all"]);
    assert_eq!(sample.script("repository", &[]).stdout, "ada/sample\n");
    let said = sample.script("repository", &["bob/planner.rs"]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(sample.script("repository", &[]).stdout, "bob/planner.rs\n");
    assert_eq!(
        sample.0.read("docs/a.md"),
        "see https://github.com/bob/planner.rs/releases & bob/planner.rs\n"
    );
    for wrong in ["bob", "bob/a/b", "bob/$(id)", "/b", "bob/"] {
        assert_eq!(sample.script("repository", &[wrong]).code, 1, "{wrong}");
    }
}

/// Every place names the repository that Cargo.toml names.
#[test]
fn every_place_names_the_same_repository() {
    let repository = env!("CARGO_PKG_REPOSITORY").trim_start_matches("https://github.com/");
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let json = |path: &str| serde_json::from_str::<Value>(&read(path)).unwrap();
    let home = format!("https://github.com/{repository}");
    let plugin = json("plugin/.claude-plugin/plugin.json");
    assert_eq!(
        (&plugin["homepage"], &plugin["repository"]),
        (&home.as_str().into(), &home.as_str().into())
    );
    let offered = &json(".claude-plugin/marketplace.json")["plugins"][0];
    assert_eq!(offered["source"]["repo"], repository);
    assert_eq!(
        (&offered["homepage"], &offered["repository"]),
        (&home.as_str().into(), &home.as_str().into())
    );
    for path in [
        "README.md",
        "docs/install.md",
        "plugin/README.md",
        "release/install.sh",
    ] {
        let text = read(path);
        assert!(
            text.contains(repository),
            "{path} does not name {repository}"
        );
    }
    for path in ["README.md", "docs/install.md"] {
        assert!(
            read(path).contains(&format!("/plugin marketplace add {repository}\n")),
            "{path}"
        );
    }
}
