//! `fp import`: samples of every format in `tests/fixtures/import/FORMAT/VARIANT`, with everything that is printed and
//! recorded for them in `VARIANT.snap`; the files that an import writes; work that was already done; and errors about
//! everything else that somebody may name.

mod errors;
mod material;
mod samples;
mod work;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Environment;

/// The folder of the samples.
fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import")
}

/// Copies a sample into the repository, as `to`.
fn lay_out(environment: &Environment, sample: &str, to: &str) {
    copy(&samples().join(sample), &environment.path(to));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The id of the only plan.
fn only_plan(environment: &Environment) -> String {
    let plans = fs::read_dir(environment.path(".fractal-planner/plans")).unwrap();
    let names = plans.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut plans: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    assert_eq!(plans.len(), 1, "{plans:?}");
    plans.remove(0)
}
