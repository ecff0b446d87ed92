//! Junk input too large to write by hand: a hundred thousand findings are printed one by one, in any format, instead of
//! being collected first.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::validate::{FILE, with};

/// Returns the number of bytes that `fp validate` prints for a quarter of a megabyte of broken tasks, and asserts that
/// the last of them contain `end`.
fn printed(flags: &[&str], end: &str) -> usize {
    let environment = with(&"- [ID: x] (Complexity: 99)\n".repeat((1 << 18) / 27));
    let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
    let mut child = command
        .args(["validate", FILE])
        .args(flags)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::with_capacity(1 << 16, child.stdout.take().unwrap());
    let (mut count, mut tail) = (0, Vec::new());
    loop {
        let part = out.fill_buf().unwrap();
        let len = part.len();
        if len == 0 {
            break;
        }
        tail.extend_from_slice(part);
        tail.drain(..tail.len().saturating_sub(400));
        count += len;
        out.consume(len);
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let tail = String::from_utf8_lossy(&tail);
    assert!(tail.contains(end), "{flags:?}: {tail}");
    count
}

#[test]
fn junk_is_reported_in_every_form() {
    let start = Instant::now();
    assert!(printed(&[], "more: fp validate --all)") < 20_000);
    assert!(printed(&["--all"], "tasks.md: not valid, ") > 1 << 23);
    assert!(
        printed(
            &["--format", "json"],
            "\"missing-complexity\"\n    }\n  ]\n}\n"
        ) > 1 << 23
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_reader_that_has_seen_enough_ends_it() {
    let environment = with(&"- [ID: x] (Complexity: 99)\n".repeat((1 << 18) / 27));
    for flags in [["--all"].as_slice(), &["--format", "json"]] {
        let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
        let mut child = command
            .args(["validate", FILE])
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let mut complaints = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut complaints)
            .unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), complaints.as_str()),
            (Some(1), ""),
            "{flags:?}"
        );
    }
}

#[test]
fn thousands_of_findings_in_one_line() {
    let start = Instant::now();
    let files = "../x, ".repeat(20_000);
    let environment = with(&format!(
        "- [ID: 1] A (Complexity: 2)\n  - Files: {files}\n"
    ));
    let output = environment.fp(&["validate", FILE, "--format", "json"]);
    let report = output.json();
    let last = report["violations"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last["type"], "path-escape");
    assert_eq!(last["span"]["column"], 12 + 6 * 19_999);
    let output = environment.fp(&["validate", FILE, "--all"]);
    assert!(
        output
            .stdout
            .lines()
            .filter(|line| line.contains(" | "))
            .all(|line| line.chars().count() <= 80)
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}
