use tempfile::TempDir;

use super::*;

const PLUGIN_JSON: &str =
    r#"{"name":"fp","version":"1.2.3","description":"Plans","author":{"name":"us"},"license":"MIT"}"#;

fn bundle<'a>(folder: &TempDir, files: &[(&str, &'a str)]) -> Bundle<'a> {
    let executable = folder.path().join("program");
    fs::write(&executable, "program").unwrap();
    let files = [(MANIFEST, PLUGIN_JSON)]
        .iter()
        .chain(files)
        .map(|(path, text)| BundleFile { path: (*path).into(), contents: text.as_bytes() })
        .collect();
    Bundle { files, programs: Programs::One(executable) }
}

/// Every file below `folder` with its text, sorted.
fn tree(folder: &Path) -> Vec<(String, String)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                found.push((name, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()));
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

fn names(folder: &Path) -> Vec<String> {
    tree(folder).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_bundle_is_the_plugin_and_a_marketplace_that_offers_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("a/out");
    bundle(&folder, &[("skills/plan/SKILL.md", "plan")]).write(&out).unwrap();
    let program = format!("fp/bin/fp{}", std::env::consts::EXE_SUFFIX);
    let found = tree(&out);
    assert_eq!(
        names(&out),
        [
            ".claude-plugin/marketplace.json",
            "fp/.claude-plugin/plugin.json",
            &program,
            "fp/skills/plan/SKILL.md"
        ]
    );
    assert_eq!((found[2].1.as_str(), found[3].1.as_str()), ("program", "plan"));
    let catalog = serde_json::from_str::<serde_json::Value>(&found[0].1).unwrap();
    let expect = serde_json::json!({
        "name": "fractal-planner",
        "description": "Fractal Planner 1.2.3, as written by `fp bundle`",
        "owner": { "name": "us" },
        "plugins": [{
            "name": "fp",
            "description": "Plans",
            "source": "./fp",
            "license": "MIT",
            "category": "productivity",
        }],
    });
    assert_eq!(catalog, expect);
}

#[cfg(unix)]
#[test]
fn the_program_can_be_run_by_everybody() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let bundle = bundle(&folder, &[]);
    fs::set_permissions(folder.path().join("program"), fs::Permissions::from_mode(0o600)).unwrap();
    let out = folder.path().join("out");
    bundle.write(&out).unwrap();
    assert_eq!(fs::metadata(out.join("fp/bin/fp")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::metadata(out.join("fp")).unwrap().permissions().mode() & 0o500, 0o500);
}

#[test]
fn writing_again_leaves_nothing_of_the_old_one() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    bundle(&folder, &[("skills/old/SKILL.md", "old")]).write(&out).unwrap();
    fs::create_dir(out.join(".fp-bundle-killed")).unwrap();
    fs::write(out.join(".fp-bundle-killed/half"), "half").unwrap();
    bundle(&folder, &[("skills/new/SKILL.md", "new")]).write(&out).unwrap();
    let found = names(&out).join(" ");
    assert!(found.contains("skills/new/") && !found.contains("old") && !found.contains(STAGING), "{found}");
}

#[test]
fn a_swap_that_was_cut_short_is_completed() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let bundle = bundle(&folder, &[]);
    for missing in [PLUGIN, CATALOG_FOLDER] {
        bundle.write(&out).unwrap();
        fs::remove_dir_all(out.join(missing)).unwrap();
        bundle.write(&out).unwrap();
        assert_eq!(names(&out).len(), 3, "without {missing}");
    }
}

#[test]
fn nothing_is_written_over_what_is_not_a_bundle() {
    let folder = TempDir::new().unwrap();
    let check = |file: &str, text: &str, found: &str| {
        let out = folder.path().join("out");
        let path = out.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let before = tree(&out);
        let error = bundle(&folder, &[]).write(&out).unwrap_err();
        assert_eq!(error.to_string(), format!("{} is not a bundle of fp: it has `{found}`", out.display()));
        let error = remove(&out).unwrap_err();
        assert_eq!(error.hint().unwrap(), "name an empty folder, or one that `fp bundle` has written");
        assert_eq!(tree(&out), before);
        fs::remove_dir_all(&out).unwrap();
    };
    check("notes.txt", "mine", "notes.txt");
    check("fp/main.py", "mine", "fp");
    check("fp/.claude-plugin/plugin.json", r#"{"name":"other"}"#, "fp");
    check(".claude-plugin/marketplace.json", r#"{"name":"other"}"#, ".claude-plugin");
    check(".claude-plugin/plugin.json", r#"{"name":"fp"}"#, ".claude-plugin");
    check("fp\n", "mine", "fp\\n");
}

#[test]
fn a_repository_with_the_same_marketplace_name_is_not_a_bundle() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    bundle(&folder, &[]).write(&out).unwrap();
    fs::write(out.join("Cargo.toml"), "").unwrap();
    assert!(matches!(bundle(&folder, &[]).write(&out), Err(BundleError::NotOurs { .. })));
}

#[test]
fn a_failure_leaves_the_old_one_and_nothing_beside_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let mut broken = bundle(&folder, &[("skills/a", "old")]);
    broken.write(&out).unwrap();
    let before = tree(&out);
    let gone = folder.path().join("gone");
    broken.programs = Programs::One(gone.clone());
    let error = broken.write(&out).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{} can't be copied into the bundle: no such file or directory", gone.display())
    );
    broken.files.clear();
    let error = broken.write(&out).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the plugin's manifest is unusable: there is no .claude-plugin/plugin.json"
    );
    assert_eq!(tree(&out), before);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
}

#[test]
fn a_file_in_its_place_is_said_so() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    fs::write(&out, "mine").unwrap();
    let error = bundle(&folder, &[]).write(&out).unwrap_err();
    assert_eq!(error.to_string(), format!("{} can't be written: not a directory", out.display()));
    assert_eq!(fs::read(&out).unwrap(), b"mine");
}

#[test]
fn removing_takes_all_of_it_once() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("data/out");
    bundle(&folder, &[]).write(&out).unwrap();
    assert!(remove(&out).unwrap());
    assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 0);
    assert!(!remove(&out).unwrap());
}

/// A file that begins like a program for `target`.
fn program(folder: &TempDir, target: &str) -> Program {
    let mut bytes = match target {
        _ if target.contains("linux") => b"\x7fELF".to_vec(),
        _ if target.contains("apple") => vec![0xcf, 0xfa, 0xed, 0xfe],
        _ => b"MZ".to_vec(),
    };
    bytes.resize(0x80, 0);
    let is_arm = target.starts_with("aarch64");
    match bytes[0] {
        0x7f => bytes[18] = if is_arm { 0xb7 } else { 0x3e },
        0xcf => bytes[4..8].copy_from_slice(&[if is_arm { 0x0c } else { 0x07 }, 0, 0, 1]),
        _ => {
            bytes[0x3c] = 0x40;
            bytes[0x40..0x46].copy_from_slice(&[b'P', b'E', 0, 0, 0x64, if is_arm { 0xaa } else { 0x86 }]);
        }
    }
    bytes.extend(target.as_bytes());
    let path = folder.path().join(target);
    fs::write(&path, bytes).unwrap();
    Program { target: Target::named(target).unwrap(), path }
}

fn programs(folder: &TempDir, targets: &[&str]) -> Programs {
    Programs::Each(targets.iter().map(|target| program(folder, target)).collect())
}

fn binaries(folder: &Path) -> Vec<String> {
    let mut found = names(folder);
    found.retain(|name| name.starts_with("fp/bin/"));
    found
}

#[test]
fn each_platform_has_its_program_where_the_launcher_looks() {
    let folder = TempDir::new().unwrap();
    let check = |targets: &[&str], expect: &[&str]| {
        let out = folder.path().join("out");
        let mut bundle = bundle(&folder, &[]);
        bundle.programs = programs(&folder, targets);
        bundle.write(&out).unwrap();
        assert_eq!(binaries(&out), expect);
        assert_eq!(fs::read_to_string(out.join("fp/bin/fp")).unwrap(), include_str!("launcher"));
    };
    check(
        &["aarch64-apple-darwin", "aarch64-pc-windows-msvc", "x86_64-pc-windows-msvc"],
        &[
            "fp/bin/aarch64-apple-darwin/fp",
            "fp/bin/aarch64-pc-windows-msvc/fp.exe",
            "fp/bin/fp",
            "fp/bin/fp.exe",
        ],
    );
    check(&["aarch64-pc-windows-msvc"], &["fp/bin/fp", "fp/bin/fp.exe"]);
    check(&["x86_64-apple-darwin"], &["fp/bin/fp", "fp/bin/x86_64-apple-darwin/fp"]);
}

#[test]
fn the_program_that_windows_finds_is_the_one_that_all_of_it_runs() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let mut bundle = bundle(&folder, &[]);
    bundle.programs = programs(&folder, &["aarch64-pc-windows-msvc", "x86_64-pc-windows-msvc"]);
    bundle.write(&out).unwrap();
    let found = fs::read(out.join("fp/bin/fp.exe")).unwrap();
    assert!(found.ends_with(b"x86_64-pc-windows-msvc"));
}

#[test]
fn a_program_that_is_not_what_it_is_said_to_be_is_refused() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let refused = |programs: Programs| {
        let mut bundle = bundle(&folder, &[]);
        bundle.programs = programs;
        let error = bundle.write(&out).unwrap_err();
        assert!(!out.exists());
        format!("{error}\n{}", error.hint().unwrap()).replace(folder.path().to_str().unwrap(), "[FOLDER]")
    };
    assert_eq!(
        refused(programs(&folder, &["aarch64-apple-darwin", "aarch64-apple-darwin"])),
        "there are two programs for aarch64-apple-darwin\nname one of them"
    );
    assert_eq!(
        refused(programs(&folder, &["aarch64-unknown-linux-gnu", "aarch64-unknown-linux-musl"])),
        "aarch64-unknown-linux-gnu and aarch64-unknown-linux-musl are for the same machines\nname one of them"
    );
    let mut wrong = program(&folder, "aarch64-apple-darwin");
    wrong.target = Target::named("x86_64-apple-darwin").unwrap();
    assert_eq!(
        refused(Programs::Each(vec![wrong.clone()])),
        "[FOLDER]/aarch64-apple-darwin is no program for x86_64-apple-darwin: it is one for macOS on aarch64\n\
         build it with `cargo build --release --target x86_64-apple-darwin`"
    );
    wrong.path = folder.path().join("gone");
    assert_eq!(
        refused(Programs::Each(vec![wrong])),
        "the program for x86_64-apple-darwin, [FOLDER]/gone, can't be read: no such file or directory\n\
         name a program that is there and can be read"
    );
}
