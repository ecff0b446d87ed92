//! Names from a model and files from a stranger: nothing runs, nothing outside the repository is read, nothing hangs.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{measured, sample, signals, tree};
use crate::common::Environment;

/// Asserts that nothing was read from these paths, and that each still counts as a file.
#[track_caller]
fn assert_not_read(environment: &Environment, files: &str) {
    for file in measured(environment, files).as_array().unwrap() {
        let sums = ["files", "lines"].map(|name| file[name].as_u64().unwrap());
        assert_eq!(sums, [1, 0], "{files}: {file}");
    }
}

#[test]
fn names_do_nothing() {
    let environment = sample();
    let before = fs::read_dir(environment.path("")).unwrap().count() + 1;
    for name in [
        "$(touch x)",
        "`touch x`",
        "; touch x",
        "--output=x",
        "-x",
        "| touch x",
        "a && touch x",
        ":(exclude)*",
        "*",
        "?",
        "[a-z]",
        "{a}",
    ] {
        let output = signals(&environment, &[name]);
        assert_eq!(output.as_array().unwrap().len(), 1, "{name}: {output}");
        assert_eq!(
            fs::read_dir(environment.path("")).unwrap().count(),
            before,
            "{name}"
        );
    }
    environment.write("--output=y", "1\n2\n");
    environment.write("$(touch x)", "1\n");
    let files = measured(&environment, "--output=y, $(touch x)");
    assert_eq!(
        (&files[0]["lines"], &files[1]["lines"]),
        (&json!(2), &json!(1)),
        "{files}"
    );
}

#[test]
fn nothing_outside_is_looked_at() {
    let environment = sample();
    fs::write(environment.beside("secret.rs"), "1\n2\n3\n").unwrap();
    let absolute = environment.beside("secret.rs").display().to_string();
    let listed = format!(
        "../secret.rs, {absolute}, src/../../secret.rs, ~/secret.rs, C:\\secret.rs, /etc/passwd"
    );
    assert_not_read(&environment, &listed);
}

#[test]
fn links_are_not_followed() {
    let environment = sample();
    fs::create_dir(environment.beside("out")).unwrap();
    fs::write(
        environment.beside("out/secret.rs"),
        "use crate::signals::a;\n",
    )
    .unwrap();
    symlink(environment.beside("out"), environment.path("folder")).unwrap();
    symlink(
        environment.beside("out/secret.rs"),
        environment.path("src/link.rs"),
    )
    .unwrap();
    symlink("/dev/zero", environment.path("src/zero.rs")).unwrap();
    symlink("..", environment.path("src/loop")).unwrap();
    symlink("/nowhere", environment.path("broken.rs")).unwrap();
    let listed = "folder/secret.rs, src/link.rs, src/zero.rs, src/loop/src/a.rs, broken.rs";
    assert_not_read(&environment, listed);
    assert_eq!(measured(&environment, "folder")[0]["lines"], json!(0));
}

#[test]
fn pipes_and_huge_files_are_no_trouble() {
    let environment = sample();
    for name in ["src/pipe.rs", "pipe.ts"] {
        let path = environment.path(name);
        assert_eq!(environment.run("mkfifo", &[path.to_str().unwrap()]).code, 0);
    }
    let sparse = fs::File::create(environment.path("src/huge.rs")).unwrap();
    sparse.set_len(5 * 1024 * 1024 * 1024).unwrap();
    environment.write("src/long.rs", "use crate::signals::a;\n".repeat(200_000));
    environment.write("src/binary.rs", b"use crate::signals::a;\n\0\n\n");
    let began = Instant::now();
    assert_not_read(&environment, "src/pipe.rs, pipe.ts");
    let files = measured(
        &environment,
        "src/huge.rs, src/long.rs, src/binary.rs, src/a.rs",
    );
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(files[0]["lines"], json!(0));
    assert_eq!(files[1]["lines"], json!(200_000));
    assert_eq!(files[2]["lines"], json!(0));
}

#[test]
fn devices_and_sockets_are_not_read() {
    let environment = sample();
    let socket = std::os::unix::net::UnixListener::bind(environment.path("src/socket.rs")).unwrap();
    assert_not_read(&environment, "src/socket.rs");
    drop(socket);
    // Only root can make a device; the other cases show just as well that only regular files are opened.
    let device = environment.path("src/zero.rs");
    if environment
        .run("mknod", &[device.to_str().unwrap(), "c", "1", "5"])
        .code
        == 0
    {
        assert_not_read(&environment, "src/zero.rs");
    }
}

#[test]
fn a_file_that_cannot_be_read_has_no_lines() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = sample();
    environment.write("src/locked.rs", "1\n");
    let path = environment.path("src/locked.rs");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything.
    let lines = u64::from(fs::read(&path).is_ok());
    assert_eq!(
        measured(&environment, "src/locked.rs")[0]["lines"],
        json!(lines)
    );
}

#[test]
fn a_title_can_not_move_the_cursor() {
    let environment = sample();
    environment.write(
        "tree.md",
        tree(&["src/a.rs"]).replace("Write part 1", "Write \u{1b}[2J part"),
    );
    let output = environment.fp(&["signals", "tree.md"]);
    assert!(!output.stdout.contains('\u{1b}'), "{output}");
}
