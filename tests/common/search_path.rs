//! The search path for all tests: this machine's, followed by stubs of the programs that the sample plans name, so that
//! no output depends on which of them are installed.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

const NAMED: [&str; 22] = [
    "bats",
    "bundle",
    "cargo",
    "composer",
    "ctest",
    "dotnet",
    "flutter",
    "go",
    "gradle",
    "make",
    "mix",
    "mvn",
    "node",
    "npm",
    "npx",
    "pnpm",
    "pytest",
    "python",
    "ruff",
    "swift",
    "terraform",
    "yarn",
];

static SEARCH_PATH: LazyLock<OsString> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    fs::create_dir_all(&folder).unwrap();
    for name in NAMED {
        place(&folder.join(name));
    }
    let own = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::env::split_paths(&own).chain([folder])).unwrap()
});

pub(crate) fn of_tests() -> &'static OsString {
    &SEARCH_PATH
}

#[cfg(unix)]
fn place(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    // Written to a temporary name first: another test runner may be executing it.
    let made = path.with_extension(std::process::id().to_string());
    fs::write(&made, "#!/bin/sh\necho not installed >&2\nexit 127\n").unwrap();
    fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(made, path).unwrap();
}

#[cfg(not(unix))]
fn place(path: &Path) {
    fs::write(path.with_extension("cmd"), "@exit /b 1\r\n").unwrap();
}
