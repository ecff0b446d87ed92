//! Names that are special to a shell, to git or to a command line are taken literally.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::commit::with;
use crate::common::Environment;

const NAMES: [&[u8]; 10] = [
    b"a b",
    b"-rf",
    b"--message",
    b"*",
    b":(glob)*",
    b":x",
    b"$(touch pwned)",
    b"a\nb",
    b"\xff\xfe.rs",
    b"\"q\"",
];

fn write(environment: &Environment, name: &[u8], text: &str) {
    std::fs::write(environment.path("").join(OsStr::from_bytes(name)), text).unwrap();
}

fn commit(environment: &Environment, names: &[&[u8]]) -> i32 {
    let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
    command.args(["commit", "--message", "Do it", "--"]);
    command.args(names.iter().map(|name| OsStr::from_bytes(name)));
    command.output().unwrap().status.code().unwrap()
}

fn listed(environment: &Environment, args: &[&str]) -> Vec<Vec<u8>> {
    let output = environment
        .command("git")
        .args(args)
        .output()
        .unwrap()
        .stdout;
    let mut names: Vec<Vec<u8>> = output
        .split(|&b| b == 0)
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    names.sort();
    names
}

#[test]
fn each_by_itself_and_all_together() {
    let environment = with(&["bystander"]);
    environment.write("bystander", "two\n");
    for name in NAMES {
        write(&environment, name, "one\n");
    }
    for name in NAMES {
        assert_eq!(commit(&environment, &[name]), 0, "{}", name.escape_ascii());
        let last = listed(
            &environment,
            &["show", "-z", "--name-only", "--format=", "HEAD"],
        );
        assert_eq!(last, [name], "{}", name.escape_ascii());
    }
    for name in NAMES {
        std::fs::remove_file(environment.path("").join(OsStr::from_bytes(name))).unwrap();
    }
    assert_eq!(commit(&environment, &NAMES), 0);
    let mut all = NAMES.map(<[u8]>::to_vec).to_vec();
    all.sort();
    assert_eq!(
        listed(
            &environment,
            &["show", "-z", "--name-only", "--format=", "HEAD"]
        ),
        all
    );
    assert_eq!(environment.git_status(), " M bystander\n");
    assert!(!environment.path("pwned").exists());
}

#[test]
fn a_star_is_no_pattern_and_nothing_is_no_file() {
    let environment = with(&["a.txt", "b.txt"]);
    environment.write("a.txt", "two\n");
    environment.write("b.txt", "two\n");
    for (name, expect) in [
        (&b"*.txt"[..], 1),
        (b":(glob)*", 1),
        (b":/", 1),
        (b"", 2),
        (b"none/../a.txt", 0),
        (b"b.txt/", 0),
    ] {
        assert_eq!(
            commit(&environment, &[name]),
            expect,
            "{}",
            name.escape_ascii()
        );
    }
    assert_eq!(environment.git_status(), "");
}

#[test]
fn control_characters_of_a_name_never_reach_the_terminal() {
    let environment = with(&[]);
    write(&environment, b"\x1b[31mred", "one\n");
    let output = environment.fp(&["commit"]);
    assert!(!output.stderr.contains('\x1b'), "{output}");
    let output = environment.commit(&["-m", "Do it", "\x1b[31mred"]);
    assert!(
        output.code == 0 && !output.stdout.contains('\x1b'),
        "{output}"
    );
}
