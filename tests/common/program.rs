//! Writes programs that a test then runs.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program and creates the folders above it.
///
/// A child process does the writing. If this process held the file open for writing, a child that another test starts
/// at that moment would inherit the descriptor, and until that child calls exec, running the file would fail with "Text
/// file busy".
#[allow(
    clippy::unwrap_used,
    reason = "a program that can't be written fails the test"
)]
pub(crate) fn write_program(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = "cat >\"$1\" && chmod 755 \"$1\"";
    let mut shell = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    shell
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_ref())
        .unwrap();
    assert!(
        shell.wait().unwrap().success(),
        "{} can't be written",
        path.display()
    );
}
