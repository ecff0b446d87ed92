//! Finds the generated files that only one task at a time may change: files named in the settings, and lock files,
//! which a task may change without listing them if it lists their manifest.

use crate::package_files::{is_lock_of, is_manifest, lock_names};
use crate::plan::path::overlap;
use crate::plan::task::Task;

/// Returns the lock files that `task` may change because it lists their manifest, and the files and folders of `named`
/// that overlap with its files.
pub fn exclusive_of<'n>(task: &Task, named: &'n [String]) -> Vec<&'n str> {
    let manifests: Vec<&str> = task.files().filter(|file| is_manifest(file)).collect();
    let written = |lock: &&str| manifests.iter().any(|manifest| is_lock_of(lock, manifest));
    let mut held: Vec<&str> = lock_names()
        .filter(|lock| !manifests.is_empty() && written(lock))
        .collect();
    let listed =
        |entry: &&str| written(entry) || task.files().any(|file| overlap(&[entry], &[file]));
    held.extend(named.iter().map(String::as_str).filter(listed));
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    #[test]
    fn lock_files_and_what_is_named() {
        let named = ["made/", "schema.json"].map(str::to_owned);
        let check = |files: &str, expect: &[&str]| {
            let text = format!("- [ID: 1] A\n  - Files: {files}\n");
            assert_eq!(
                exclusive_of(&parse(&text).0.tasks[0], &named),
                expect,
                "{files}"
            );
        };
        check("src/a.rs", &[]);
        check("crates/a/Cargo.toml, src/a.rs", &["Cargo.lock"]);
        check(
            "package.json",
            &[
                "package-lock.json",
                "npm-shrinkwrap.json",
                "yarn.lock",
                "pnpm-lock.yaml",
                "bun.lock",
            ],
        );
        check("made/a.rs", &["made/"]);
        check("made", &["made/"]);
        check("schema.json, go.mod", &["go.sum", "schema.json"]);
        check("../x", &[]);
    }
}
