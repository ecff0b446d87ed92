use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::bundle::*;
use super::*;
use crate::assets::PluginFile;

const PLUGIN_JSON: &str = r#"{"name":"fp","version":"1.2.3","description":"Plans","author":{"name":"us"},"license":"MIT"}"#;

fn bundle<'a>(folder: &TempDir, files: &[(&str, &'a str)]) -> Bundle<'a> {
    let executable = folder.path().join("program");
    fs::write(&executable, "program").unwrap();
    let files = [(MANIFEST, PLUGIN_JSON)]
        .iter()
        .chain(files)
        .map(|(path, text)| PluginFile {
            path: (*path).into(),
            contents: text.as_bytes(),
        })
        .collect();
    Bundle {
        files,
        program: executable,
    }
}

/// Every file below `folder` with its text, sorted.
fn tree(folder: &Path) -> Vec<(String, String)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                found.push((
                    name,
                    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
                ));
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
    bundle(&folder, &[("skills/plan/SKILL.md", "plan")])
        .write(&out)
        .unwrap();
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
    assert_eq!(
        (found[2].1.as_str(), found[3].1.as_str()),
        ("program", "plan")
    );
    let catalog = serde_json::from_str::<serde_json::Value>(&found[0].1).unwrap();
    assert_eq!(
        (&catalog["name"], &catalog["plugins"][0]["name"]),
        (&json!("fractal-planner"), &json!("fp"))
    );
    assert_eq!(catalog["plugins"][0]["source"], "./fp");
}

#[test]
fn writing_again_leaves_nothing_of_the_old_one() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    bundle(&folder, &[("skills/old/SKILL.md", "old")])
        .write(&out)
        .unwrap();
    fs::create_dir(out.join(".fp-bundle")).unwrap();
    fs::write(out.join(".fp-bundle/half"), "half").unwrap();
    bundle(&folder, &[("skills/new/SKILL.md", "new")])
        .write(&out)
        .unwrap();
    let found = names(&out).join(" ");
    assert!(
        found.contains("skills/new/") && !found.contains("old") && !found.contains(STAGING),
        "{found}"
    );
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
        assert_eq!(
            error.message,
            format!("{} is not a bundle of fp: it has `{found}`", out.display())
        );
        let error = remove_bundle(&out).unwrap_err();
        assert_eq!(
            error.hints[0],
            "choose an empty folder, or one that `fp install --bundle` has written"
        );
        assert_eq!(tree(&out), before);
        fs::remove_dir_all(&out).unwrap();
    };
    check("notes.txt", "mine", "notes.txt");
    check("fp/main.py", "mine", "fp");
    check("fp/.claude-plugin/plugin.json", r#"{"name":"other"}"#, "fp");
    check(
        ".claude-plugin/marketplace.json",
        r#"{"name":"other"}"#,
        ".claude-plugin",
    );
    check(
        ".claude-plugin/plugin.json",
        r#"{"name":"fp"}"#,
        ".claude-plugin",
    );
    check("fp\n", "mine", "fp\\n");
}

#[test]
fn a_repository_with_the_same_marketplace_name_is_not_a_bundle() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    bundle(&folder, &[]).write(&out).unwrap();
    fs::write(out.join("Cargo.toml"), "").unwrap();
    let error = bundle(&folder, &[]).write(&out).unwrap_err();
    assert!(
        error
            .message
            .ends_with("is not a bundle of fp: it has `Cargo.toml`"),
        "{error:?}"
    );
}

#[test]
fn a_failure_leaves_the_old_one_and_nothing_beside_it() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let mut broken = bundle(&folder, &[("skills/a", "old")]);
    broken.write(&out).unwrap();
    let before = tree(&out);
    let gone = folder.path().join("gone");
    broken.program = gone.clone();
    let error = broken.write(&out).unwrap_err();
    assert_eq!(
        error.message,
        format!(
            "{} can't be copied into the bundle: no such file or directory",
            gone.display()
        )
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
    assert_eq!(
        error.message,
        format!("{} can't be written: not a directory", out.display())
    );
    assert_eq!(fs::read(&out).unwrap(), b"mine");
}

#[test]
fn removing_takes_all_of_it_once() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("data/out");
    bundle(&folder, &[]).write(&out).unwrap();
    assert!(remove_bundle(&out).unwrap());
    assert_eq!(fs::read_dir(folder.path().join("data")).unwrap().count(), 0);
    assert!(!remove_bundle(&out).unwrap());
}
