//! Finds the client under test.
//!
//! That is the file that `FP_CLIENT` names; else the copy that `.ci/fetch-client` keeps under `target/client/`; else
//! the `claude` on the `PATH`.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The version that the tests were written against, and that `.ci/fetch-client` fetches.
const PINNED_VERSION: &str = include_str!("VERSION");

/// Cargo's target directory, which holds everything that tests leave behind.
pub(crate) fn target_directory() -> &'static Path {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap_or(scratch)
}

/// The client's path; `None` if there is no client and none is required.
///
/// # Errors
///
/// If `FP_CLIENT` doesn't name a file, or if there is no client although `FP_REQUIRE_CLIENT=1` is set.
pub(crate) fn find() -> Result<Option<PathBuf>, String> {
    static FOUND: OnceLock<Result<Option<PathBuf>, String>> = OnceLock::new();
    FOUND.get_or_init(look).clone()
}

/// The client's path, for a test that runs only if there is a client.
pub(crate) fn path() -> PathBuf {
    find()
        .ok()
        .flatten()
        .expect("a test runs only when the client was found")
}

fn look() -> Result<Option<PathBuf>, String> {
    if let Some(named) = env::var_os("FP_CLIENT") {
        let named = PathBuf::from(named);
        return match named.is_file() {
            true => Ok(Some(named)),
            false => Err(format!("FP_CLIENT names no file: {}", named.display())),
        };
    }
    let cached = target_directory()
        .join("client")
        .join(PINNED_VERSION.trim())
        .join("claude");
    let found = std::iter::once(cached)
        .chain(on_path("claude"))
        .find(|path| path.is_file());
    match found {
        None if is_required() => {
            Err("no client, and FP_REQUIRE_CLIENT=1 requires it: run .ci/fetch-client".to_owned())
        }
        found => Ok(found),
    }
}

/// The version of Codex that the tests were written against, and that `.ci/fetch-codex` fetches.
const PINNED_CODEX: &str = include_str!("CODEX_VERSION");

/// The path of Codex, which `.ci/fetch-codex` installs; `None` if it is missing and not required.
///
/// # Errors
///
/// If it is missing although `FP_REQUIRE_CLIENT=1` is set.
pub(crate) fn find_codex() -> Result<Option<PathBuf>, String> {
    let cached = target_directory()
        .join("codex")
        .join(PINNED_CODEX.trim())
        .join("bin/codex");
    match cached.is_file() {
        false if is_required() => {
            Err("no Codex, and FP_REQUIRE_CLIENT=1 requires it: run .ci/fetch-codex".to_owned())
        }
        found => Ok(found.then_some(cached)),
    }
}

/// The path of Codex, for a test that runs only if it is installed.
pub(crate) fn codex_path() -> PathBuf {
    find_codex()
        .ok()
        .flatten()
        .expect("a test runs only when Codex was found")
}

fn is_required() -> bool {
    env::var("FP_REQUIRE_CLIENT").is_ok_and(|value| value == "1")
}

fn on_path(program: &str) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|directory| directory.join(program))
        .collect()
}

/// A `PATH` for cleared environments: the system's own directories, and the directory of `git` if that is elsewhere.
pub(crate) fn search_path() -> String {
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let git = on_path("git").into_iter().find(|path| path.is_file());
    let directories = git
        .iter()
        .filter_map(|path| path.parent())
        .map(Path::to_owned)
        .chain(system);
    env::join_paths(directories)
        .expect("directories of a PATH have no colon")
        .to_string_lossy()
        .into_owned()
}
