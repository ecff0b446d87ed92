//! A ledger that was damaged, edited or replaced behind fp's back: the log is authoritative, nothing that was written
//! is lost, and nothing is written through a link.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

/// [`PLAN`] with three tasks: the first is done and the second claimed.
fn under_way() -> Environment {
    let environment = Environment::new().repo();
    let leaves = [
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "1", "c.txt"),
    ];
    environment.plan(&tree(&leaves));
    environment.start(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, 0);
    environment.claim("builder-1").unwrap();
    environment
}

impl Environment {
    fn ledger(&self, name: &str) -> PathBuf {
        self.path(&format!(".fractal-planner/plans/{PLAN}/{name}"))
    }

    fn log(&self) -> String {
        fs::read_to_string(self.ledger("events.jsonl")).unwrap()
    }

    fn write_log(&self, text: impl AsRef<[u8]>) {
        fs::write(self.ledger("events.jsonl"), text).unwrap();
    }

    fn status(&self) -> Output {
        self.fp(&["status", PLAN])
    }

    /// Adds a note, which locks, repairs and writes the ledger.
    fn add_note(&self) -> Output {
        self.fp(&["note", PLAN, "add", "UTIL: x"])
    }

    /// The number of entries in the log, all of which must be valid.
    fn logged_entries(&self) -> usize {
        let report = self.done(&["log", PLAN, "--format", "json"]);
        let entries = report
            .stdout
            .lines()
            .map(serde_json::from_str::<serde_json::Value>);
        entries.map(Result::unwrap).count()
    }
}

#[test]
fn a_last_line_that_lacks_only_its_end_is_kept() {
    let environment = under_way();
    let whole = environment.log();
    let before = environment.status();
    let entries = environment.logged_entries();
    environment.write_log(whole.trim_end());
    assert_eq!(
        environment.status(),
        before,
        "nothing is lost, and there is nothing to say"
    );
    assert_eq!(environment.logged_entries(), entries);
    assert_eq!(environment.add_note().stderr, "");
    assert!(
        environment.log().starts_with(&whole),
        "the end is put back, and nothing else"
    );
    assert_eq!(environment.logged_entries(), entries + 1);
}

#[test]
fn every_part_of_a_last_line_is_torn_until_it_is_whole() {
    let environment = under_way();
    let whole = environment.log();
    let last = whole.trim_end().rfind('\n').unwrap() + 1;
    let kept = |text: &[u8]| {
        environment.write_log(text);
        let output = environment.fp(&["log", PLAN, "--format", "json"]);
        assert_eq!(output.code, 0, "{output}");
        assert!(output.stderr.contains("was torn off"), "{output}");
        environment.status()
    };
    let without = kept(&whole.as_bytes()[..=last]);
    for length in (last + 2..whole.len() - 2)
        .step_by(37)
        .chain([whole.len() - 2])
    {
        assert_eq!(
            kept(&whole.as_bytes()[..length]).stdout,
            without.stdout,
            "{length}"
        );
    }
    // After a power cut, the end of the file may be space that was allocated but never written.
    let nothing = [&whole.as_bytes()[..last], &[0; 80]].concat();
    assert_eq!(kept(&nothing).stdout, without.stdout);
    assert_eq!(environment.add_note().code, 0);
    assert!(environment.log().starts_with(&whole[..last]));
    assert_eq!(environment.status().stderr, "");
}

#[test]
fn a_log_edited_in_its_middle_is_refused_by_the_line_and_left_alone() {
    let environment = under_way();
    let whole = environment.log();
    let lines: Vec<&str> = whole.lines().collect();
    let refused = |third: &str, expect: &str| {
        let mut edited = lines.clone();
        edited[2] = third;
        let edited = edited.join("\n") + "\n";
        environment.write_log(&edited);
        for output in [
            environment.status(),
            environment.add_note(),
            environment.fp(&["next", PLAN]),
        ] {
            assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
            assert!(output.stderr.contains(expect), "{expect}: {output}");
            assert!(output.stderr.contains("\nhint: "), "{output}");
        }
        assert_eq!(environment.log(), edited);
    };
    refused(
        &lines[2][..40],
        "events.jsonl:3: not an entry of this log: EOF while parsing",
    );
    refused(
        "{}",
        "events.jsonl:3: not an entry of this log: missing field `schemaVersion`",
    );
    refused(
        lines[3],
        "events.jsonl:3: not an entry of this log: seq 4 where 3 is due",
    );
    refused(
        lines[1],
        "events.jsonl:3: not an entry of this log: seq 2 where 3 is due",
    );
    refused(
        "",
        "events.jsonl:4: not an entry of this log: seq 4 where 3 is due",
    );
    let changed = |from: &str, to: &str| lines[2].replacen(from, to, 1);
    refused(
        &changed("\"schemaVersion\":1", "\"schemaVersion\":7"),
        "events.jsonl:3: written by a newer fp (log version 7, this fp reads 2)",
    );
    refused(
        &changed("\"events\":[", "\"events\":[{\"invented\":{}},"),
        "events.jsonl:3: not an entry of this log: unknown variant `invented`",
    );
    environment.write_log(&whole);
    assert_eq!(environment.status().code, 0, "put back, it goes on");
}

#[test]
fn a_field_that_fp_does_not_know_stays_where_it_is() {
    let environment = under_way();
    let before = environment.status();
    let edited = environment
        .log()
        .replace("\"seq\":2,", "\"seq\":2,\"remark\":{\"by\":\"me\"},");
    environment.write_log(&edited);
    assert_eq!(environment.status(), before);
    assert_eq!(environment.add_note().code, 0);
    assert!(environment.log().starts_with(&edited));
}

#[test]
fn time_goes_on_from_the_last_entry_whatever_one_before_it_was_dated() {
    let environment = under_way();
    let whole = environment.log();
    let edited = whole.replacen("\"seq\":3,\"at\":\"2026", "\"seq\":3,\"at\":\"2020", 1);
    assert_ne!(edited, whole);
    environment.write_log(edited);
    assert_eq!(environment.add_note().code, 0);
    assert!(
        environment
            .log()
            .lines()
            .last()
            .unwrap()
            .contains("2026-11-21T09:00:00Z")
    );
}

#[test]
fn what_a_snapshot_says_never_outdoes_the_log() {
    let environment = under_way();
    let snapshot = environment.ledger("execution-state.json");
    let before = environment.status();
    let good = fs::read_to_string(&snapshot).unwrap();
    let replaced = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        Some(text)
    };
    let cases = [
        ("deleted", None),
        ("empty", Some(String::new())),
        ("torn", Some(good[..good.len() / 2].to_owned())),
        ("no JSON", Some("\0".repeat(100))),
        (
            "older",
            replaced("{\"schemaVersion\":4", "{\"schemaVersion\":2"),
        ),
        (
            "newer",
            replaced(
                "{\"schemaVersion\":4",
                "{\"schemaVersion\":99,\"more\":true",
            ),
        ),
        (
            "edited",
            replaced("\"status\":\"IMPLEMENTING\"", "\"status\":\"COMPLETED\""),
        ),
        (
            "of another plan",
            Some(good.replace(PLAN, "another-20261121")),
        ),
        (
            "of no state",
            replaced("\"state\":{", "\"state\":null,\"was\":{"),
        ),
    ];
    for (what, text) in cases {
        match text {
            Some(text) => fs::write(&snapshot, text).unwrap(),
            None => fs::remove_file(&snapshot).unwrap(),
        }
        assert_eq!(environment.status(), before, "{what}");
        environment.done(&["next", PLAN]);
        assert_eq!(environment.status(), before, "{what}");
        let text = fs::read_to_string(&snapshot).unwrap();
        assert!(
            text.starts_with("{\"schemaVersion\":4") && text.contains("IMPLEMENTING"),
            "{what}"
        );
    }
}

#[test]
fn a_log_that_was_cut_back_counts_and_says_so() {
    let environment = under_way();
    let whole = environment.log();
    let cut: String = whole.split_inclusive('\n').take(2).collect();
    environment.write_log(&cut);
    let written = whole.lines().count();
    let note =
        format!("events.jsonl: it ends at entry 2, and {written} were written: put the file back");
    let output = environment.status();
    assert!(
        output.code == 0 && output.stderr.contains(&note),
        "{output}"
    );
    assert!(output.stdout.contains("0 of 3 tasks done"), "{output}");
    fs::remove_file(environment.ledger("events.jsonl")).unwrap();
    let gone = environment.status().stderr;
    assert!(gone.contains("events.jsonl: it ends at entry 0"), "{gone}");
    environment.write_log(&whole);
    assert_eq!(environment.status().stderr, "");
    assert!(environment.status().stdout.contains("1 of 3 tasks done"));
}

#[test]
fn nothing_is_written_where_a_link_leads() {
    let environment = under_way();
    let outside = environment.beside("outside");
    for name in ["lock", "events.jsonl", "execution-state.json"] {
        let file = environment.ledger(name);
        let kept = fs::read(&file).unwrap();
        fs::write(&outside, &kept).unwrap();
        fs::remove_file(&file).unwrap();
        symlink(&outside, &file).unwrap();
        let output = environment.add_note();
        assert_eq!(fs::read(&outside).unwrap(), kept, "{name}");
        if name == "execution-state.json" {
            assert_eq!(output.code, 0, "{output}");
            assert!(!file.is_symlink(), "it was made anew");
            continue;
        }
        let expect = format!(
            "{name} is a symbolic link, which is not followed\nhint: move what is in its place"
        );
        assert!(
            output.code == 2 && output.stderr.contains(&expect),
            "{output}"
        );
        fs::remove_file(&file).unwrap();
        fs::write(&file, kept).unwrap();
        assert_eq!(environment.add_note().code, 0, "{name}");
    }
}

#[test]
fn a_folder_or_a_pipe_in_place_of_a_file_is_named() {
    let environment = under_way();
    for name in ["lock", "events.jsonl", "execution-state.json"] {
        let file = environment.ledger(name);
        let aside = environment.beside("aside");
        fs::rename(&file, &aside).unwrap();
        for program in ["mkdir", "mkfifo"] {
            assert_eq!(environment.run(program, &[file.to_str().unwrap()]).code, 0);
            let output = environment.add_note();
            if name == "execution-state.json" {
                assert_eq!(output.code, 0, "{program}: {output}");
            } else {
                let expect = format!("{name} is not a file\nhint: move what is in its place");
                assert!(
                    output.code == 2 && output.stderr.contains(&expect),
                    "{program}: {output}"
                );
            }
            drop(fs::remove_dir(&file).or_else(|_| fs::remove_file(&file)));
        }
        fs::rename(&aside, &file).unwrap();
        assert_eq!(environment.status().code, 0, "{name}");
    }
}

#[test]
fn a_clock_that_goes_back_turns_nothing_back_and_gives_up_nobody() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
    ]));
    environment.start(&[]);
    environment.done(&["next", PLAN]);
    let (task, token) = environment.claim("builder-1").unwrap();
    // A day and many years before the claim, then two minutes after it.
    for now in [
        "2026-11-20T09:00:00Z",
        "1971-01-01T00:00:00Z",
        "2026-11-21T09:02:00Z",
    ] {
        let late = |args: &[&str]| {
            let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
            command.args(args).env("FP_NOW", now).output().unwrap()
        };
        let next = late(&["next", PLAN, "--format", "json"]);
        assert!(next.status.success());
        let actions: serde_json::Value = serde_json::from_slice(&next.stdout).unwrap();
        let kinds: Vec<&str> = actions["actions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["action"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["wait"], "{now}: the builder works");
        assert!(
            late(&["note", PLAN, "add", &format!("UTIL: {now}")])
                .status
                .success()
        );
    }
    let times: Vec<String> = environment
        .log()
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["at"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(times.last().unwrap(), "2026-11-21T09:02:00Z");
    environment.write("a.txt", "about 1\n");
    environment.done(&["submit", PLAN, &task, "--claim", &token]);
}

/// Another process that holds the lock and has written its id into it, like a command of fp.
fn holder(environment: &Environment) -> Child {
    let mut command = environment.command("sh");
    command.args([
        "-c",
        "exec 9>>\"$0\" && flock 9 && echo $$ > \"$0\" && echo held && exec sleep 600",
    ]);
    let mut child = command
        .arg(environment.ledger("lock"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "held\n");
    child
}

#[test]
fn the_lock_of_a_living_process_is_waited_for_and_that_of_a_dead_one_is_none() {
    let environment = under_way();
    let mut held = holder(&environment);
    let start = Instant::now();
    let output = environment.add_note();
    let waited = start.elapsed();
    assert!(
        waited >= Duration::from_secs(10) && waited < Duration::from_secs(20),
        "{waited:?}"
    );
    assert_snapshot!(output.to_string().replace(&held.id().to_string(), "[PID]"), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/lock is held by process [PID] and was not given back within 10 s
    hint: wait for the other command to end, or end it; a lock dies with its process
    ");
    assert_eq!(environment.status().code, 0, "reading needs no lock");
    held.kill().unwrap();
    held.wait().unwrap();
    assert_eq!(
        fs::read_to_string(environment.ledger("lock"))
            .unwrap()
            .trim(),
        held.id().to_string()
    );
    let output = environment.add_note();
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (0, ""),
        "the dead one is not waited for"
    );
}
