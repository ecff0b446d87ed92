//! Every sample, compared as a whole.

use std::fs;

use insta::{assert_snapshot, with_settings};
use strum::VariantArray as _;

use super::{lay_out, only_plan, samples};
use crate::common::Environment;

/// The samples: format and variant.
fn all() -> Vec<(String, String)> {
    let names = |path: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
        let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
        let mut names: Vec<String> = folders
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let formats = names(&samples());
    formats
        .into_iter()
        .flat_map(|format| {
            let variants = names(&samples().join(&format));
            variants
                .into_iter()
                .map(move |variant| (format.clone(), variant))
        })
        .collect()
}

#[test]
fn there_are_samples_of_every_format() {
    let mut formats: Vec<String> = all().into_iter().map(|(format, _)| format).collect();
    formats.dedup();
    let mut known: Vec<&str> = fp_exchange::SourceFormat::VARIANTS
        .iter()
        .map(|format| format.into_str())
        .collect();
    known.sort_unstable();
    assert_eq!(formats, known);
}

#[test]
fn every_sample_is_recognised_told_and_written_and_its_tree_is_canonical() {
    for (format, variant) in all() {
        let environment = Environment::new().repo();
        lay_out(&environment, &format!("{format}/{variant}"), "sample");
        let dry = environment.done(&["import", "sample", "--dry-run"]);
        assert!(
            !environment.path(".fractal-planner").exists(),
            "{format}/{variant}: a dry run writes nothing"
        );
        let said = environment
            .done(&["import", "sample", "--format", "json"])
            .json();
        assert_eq!(said["from"], format.as_str(), "{variant}");
        let plan = only_plan(&environment);
        let of_plan =
            |name: &str| environment.read(&format!(".fractal-planner/plans/{plan}/{name}"));
        let tree = of_plan("tasks.md");
        assert!(
            dry.stdout.ends_with(&tree),
            "{format}/{variant}: what is shown is what is written"
        );
        let formatted = environment.fp(&["validate", "--fmt", &plan, "--check"]);
        assert_eq!(formatted.code, 0, "{format}/{variant}: {formatted}");
        let origin = of_plan("import.json");
        with_settings!({
            snapshot_path => samples().join(&format),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, { assert_snapshot!(variant.as_str(), format!("{dry}--- import.json\n{origin}")) });
    }
}
