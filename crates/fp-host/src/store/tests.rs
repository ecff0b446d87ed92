use fp_run::run::event::{Approve, Leaf};
use fp_run::run::notepad::NoteKind;

use super::*;
use crate::error::HostErrorKind;

const PATIENCE: Duration = Duration::from_millis(50);

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().to_owned(), PlanId::new("p").unwrap());
    (folder, store)
}

/// The same ledger as another process sees it.
fn another(store: &Store) -> Store {
    Store::new(store.folder().to_owned(), PlanId::new("p").unwrap())
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn note(text: &str) -> Vec<Event> {
    let note = fp_run::run::event::Note {
        kind: NoteKind::Util,
        text: text.into(),
        task: None,
        place: None,
        ended: false,
    };
    vec![Event::Noted { note }]
}

fn notes(store: &Store) -> Vec<String> {
    another(store)
        .load()
        .unwrap()
        .state
        .notes
        .iter()
        .map(|n| n.text.clone())
        .collect()
}

fn append(store: &Store, text: &str) {
    another(store)
        .lock(PATIENCE)
        .unwrap()
        .append(note(text), at(0))
        .unwrap();
}

#[test]
fn the_snapshot_equals_the_log() {
    let (_folder, store) = store();
    let leaf = Leaf {
        id: "1".parse().unwrap(),
        title: "t".into(),
        hash: "h".into(),
        dependencies: Vec::new(),
        after: Vec::new(),
        files: vec!["a".into()],
        references: Vec::new(),
        stamps: None,
        exclusive: Vec::new(),
        complexity: 1,
        risky: false,
        contract: false,
        phase: 0,
    };
    let mut ledger = store.lock(PATIENCE).unwrap();
    let approved = Event::Approved(Approve {
        tree_hash: "x".into(),
        leaves: vec![leaf],
        ..Approve::default()
    });
    ledger.append(vec![approved], at(0)).unwrap();
    ledger.append(note("b"), at(1)).unwrap();
    drop(ledger);
    let by_snapshot = store.load().unwrap().state;
    assert_eq!(by_snapshot, another(&store).load().unwrap().state);
    fs::remove_file(store.folder().join(SNAPSHOT)).unwrap();
    assert_eq!(by_snapshot, another(&store).load().unwrap().state);
    assert!(by_snapshot.task(&"1".parse().unwrap()).is_some());
}

/// The state kept in memory equals the state on disk.
#[test]
fn what_was_appended_is_known_without_reading() {
    let (_folder, store) = store();
    let mut ledger = store.lock(PATIENCE).unwrap();
    ledger.append(note("a"), at(0)).unwrap();
    ledger.append(note("b"), at(1)).unwrap();
    let state = ledger.into_state();
    assert_eq!(state, store.load().unwrap().state);
    assert_eq!(state, another(&store).load().unwrap().state);
    append(&store, "c");
    assert_eq!(
        store.load().unwrap().state,
        another(&store).load().unwrap().state
    );
}

#[test]
fn a_torn_last_line_is_dropped_and_said_so() {
    let (_folder, store) = store();
    append(&store, "a");
    let log = store.folder().join(LOG);
    let mut text = fs::read(&log).unwrap();
    text.extend_from_slice(b"{\"schemaVersion\":1,\"se");
    fs::write(&log, text).unwrap();
    let loaded = store.load().unwrap();
    assert_eq!(loaded.notices.len(), 1);
    assert!(
        loaded.notices[0]
            .ends_with("the last line was torn off while it was written (22 bytes): dropped")
    );
    append(&store, "b");
    assert_eq!(notes(&store), ["a", "b"]);
    assert!(store.load().unwrap().notices.is_empty());
}

#[test]
fn a_wrong_line_is_named_and_nothing_is_overwritten() {
    let check = |line: &str, expect: &str| {
        let (_folder, store) = store();
        append(&store, "a");
        let log = store.folder().join(LOG);
        let mut text = fs::read_to_string(&log).unwrap();
        text.push_str(line);
        text.push('\n');
        fs::write(&log, &text).unwrap();
        let error = store.lock(PATIENCE).unwrap_err().to_string();
        assert_eq!(
            error.replace(&format!("{}", store.folder().display()), "[DIR]"),
            expect
        );
        assert_eq!(fs::read_to_string(&log).unwrap(), text);
    };
    check(
        "nonsense",
        "[DIR]/events.jsonl:2: not an entry of this log: expected ident at line 1 column 2",
    );
    check(
        r#"{"schemaVersion":1,"seq":7,"at":"2026-11-21T00:00:00Z","events":[]}"#,
        "[DIR]/events.jsonl:2: not an entry of this log: seq 7 where 2 is due",
    );
    check(
        r#"{"schemaVersion":9,"seq":2,"at":"2026-11-21T00:00:00Z","events":["something new"]}"#,
        "[DIR]/events.jsonl:2: written by a newer fp (log version 9, this fp reads 2)",
    );
}

#[test]
fn a_log_edited_by_hand_is_read_again() {
    let (_folder, store) = store();
    append(&store, "a");
    append(&store, "b");
    let log = store.folder().join(LOG);
    let text = fs::read_to_string(&log)
        .unwrap()
        .replace("\"b\"", "\"edited\"");
    fs::write(&log, text).unwrap();
    assert_eq!(notes(&store), ["a", "edited"]);
}

#[test]
fn a_foreign_snapshot_is_made_anew() {
    for snapshot in ["", "{}", "{\"schemaVersion\":99}", "\0\0"] {
        let (_folder, store) = store();
        append(&store, "a");
        fs::write(store.folder().join(SNAPSHOT), snapshot).unwrap();
        assert_eq!(notes(&store), ["a"], "{snapshot:?}");
        append(&store, "b");
        assert_eq!(notes(&store), ["a", "b"], "{snapshot:?}");
    }
}

#[test]
fn a_snapshot_whose_writer_was_killed_is_written_by_whoever_locks_next() {
    let (_folder, store) = store();
    append(&store, "a");
    let snapshot = store.folder().join(SNAPSHOT);
    fs::remove_file(&snapshot).unwrap();
    fs::write(store.folder().join("execution-state.json.tmp"), "half").unwrap();
    drop(another(&store).lock(PATIENCE).unwrap());
    assert!(snapshot.exists());
    assert!(!store.folder().join("execution-state.json.tmp").exists());
}

#[test]
fn time_never_runs_backwards_in_the_log() {
    let (_folder, store) = store();
    store
        .lock(PATIENCE)
        .unwrap()
        .append(note("a"), at(10))
        .unwrap();
    store
        .lock(PATIENCE)
        .unwrap()
        .append(note("b"), at(5))
        .unwrap();
    assert_eq!(store.load().unwrap().state.last_at, Some(at(10)));
}

#[test]
fn a_held_lock_is_waited_for_and_then_named() {
    let (_folder, store) = store();
    let held = store.lock(PATIENCE).unwrap();
    let error = store.lock(PATIENCE).unwrap_err();
    let HostErrorKind::Locked(holder) = error.kind else {
        panic!("{error}")
    };
    assert_eq!(holder, Some(std::process::id().to_string()));
    drop(held);
    store.lock(PATIENCE).unwrap();
}

#[test]
fn an_entry_that_this_machine_did_not_write_is_found_where_it_is() {
    let (_folder, store) = store();
    for text in ["a", "b", "c", "d"] {
        append(&store, text);
    }
    let log = store.folder().join(LOG);
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let foreign = |what: &str, lines: Vec<String>, expect: Option<u64>| {
        // A forger who removes or inserts a line renumbers the rest.
        let numbered = lines.iter().zip(1..).map(|(line, number)| {
            let (start, rest) = line.split_once("\"seq\":").unwrap();
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{start}\"seq\":{number}{rest}\n")
        });
        fs::write(&log, numbered.collect::<String>()).unwrap();
        assert_eq!(
            another(&store).load().unwrap().state.foreign,
            expect,
            "{what}"
        );
    };
    let with = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        lines
    };
    let uncoded = |line: &str| line.split_once(",\"code\"").unwrap().0.to_owned() + "}";
    foreign("as it was", lines.clone(), None);
    foreign("cut back", with(&|lines| drop(lines.pop())), None);
    foreign("taken out", with(&|lines| drop(lines.remove(1))), Some(2));
    foreign(
        "the first taken out",
        with(&|lines| drop(lines.remove(0))),
        Some(1),
    );
    foreign(
        "changed",
        with(&|lines| lines[2] = lines[2].replace("\"c\"", "\"x\"")),
        Some(3),
    );
    foreign(
        "repeated",
        with(&|lines| lines.insert(2, lines[1].clone())),
        Some(3),
    );
    foreign("moved", with(&|lines| lines.swap(1, 3)), Some(2));
    foreign(
        "added",
        with(&|lines| lines.push(uncoded(&lines[3]))),
        Some(5),
    );
    foreign(
        "without a code",
        with(&|lines| lines[1] = uncoded(&lines[1])),
        Some(2),
    );
    let all = lines.iter().map(|line| uncoded(line)).collect();
    foreign("without any code", all, Some(1));
    let code = |line: &str| line.split_once("\"code\":").unwrap().1.to_owned();
    let swapped =
        |lines: &mut Vec<String>| lines[1] = lines[1].replace(&code(&lines[1]), &code(&lines[2]));
    foreign("with another code", with(&swapped), Some(2));
    // The log stays foreign after this machine appends to it.
    fs::write(
        &log,
        with(&|lines| lines[1] = lines[1].replace("\"b\"", "\"x\"")).join("\n") + "\n",
    )
    .unwrap();
    append(&store, "e");
    assert_eq!(another(&store).load().unwrap().state.foreign, Some(2));
    // A forged snapshot changes nothing.
    let snapshot = store.folder().join(SNAPSHOT);
    let sealed = fs::read_to_string(&snapshot).unwrap();
    let forged = sealed.replace("\"foreign\":2,", "");
    assert_ne!(forged, sealed);
    fs::write(&snapshot, forged).unwrap();
    assert_eq!(another(&store).load().unwrap().state.foreign, Some(2));
    // A new log begins; the old one is kept aside in full.
    let before = fs::read(&log).unwrap();
    let mut ledger = store.lock(PATIENCE).unwrap();
    let kept = ledger.begin_anew().unwrap().unwrap();
    assert_eq!(fs::read(kept.join(LOG)).unwrap(), before);
    assert!(ledger.begin_anew().unwrap().is_none());
    ledger.append(note("f"), at(0)).unwrap();
    drop(ledger);
    assert_eq!(
        (notes(&store), store.load().unwrap().state.foreign),
        (vec!["f".into()], None)
    );
}

#[test]
fn a_reader_sees_whole_lines_and_begins_anew_with_another_log() {
    let (_folder, store) = store();
    let mut reader = store.reader();
    let mut texts = || {
        let Portion { lines, torn, anew } = reader.more().unwrap();
        (lines.len(), torn > 0, anew)
    };
    assert_eq!(texts(), (0, false, false));
    append(&store, "a");
    let one = fs::read(store.log_file()).unwrap();
    append(&store, "b");
    let two = fs::read(store.log_file()).unwrap();
    assert_eq!(texts(), (2, false, false));
    append(&store, "c");
    let three = fs::read(store.log_file()).unwrap();
    fs::write(store.log_file(), &three[..two.len() + 50]).unwrap();
    assert_eq!(texts(), (0, true, false));
    fs::write(store.log_file(), &three).unwrap();
    assert_eq!(texts(), (1, false, false));
    fs::write(store.log_file(), &one).unwrap();
    assert_eq!(texts(), (1, false, true));
}
