use serde_json::{Value, json};

use super::*;
use crate::report::standing::LeadPresence;
use crate::report::tree::TreeReport;
use crate::run::event::Entry;
use fp_plan::plan::id::PlanId;
use fp_plan::plan::parse;

/// The pull request for a plan of `count` tasks with long titles, after `more` events.
fn body(count: usize, more: Vec<Value>) -> String {
    let title = "Closes #1 @ana | `x` ".repeat(12);
    let leaves: Vec<Value> = (1..=count)
        .map(|id| json!({ "id": id.to_string(), "title": title, "hash": "h", "dependencies": [], "complexity": 1 }))
        .collect();
    let mut events = vec![
        json!({ "approved": { "treeHash": "h", "leaves": leaves, "by": "user" } }),
        json!({ "runStarted": { "session": "s", "builders": 2, "maxIterations": 3, "noCommit": false } }),
    ];
    events.extend(more);
    let entry =
        json!({ "schemaVersion": 1, "seq": 1, "at": "2026-11-21T09:00:00Z", "events": events });
    let entries: Vec<Entry> = vec![serde_json::from_value(entry).unwrap()];
    let state = State::replay(PlanId::new("sample-20261121").unwrap(), &entries);
    let lead = LeadPresence::Unknown;
    let tree = TreeReport::new(&parse("").0, None).with_run(&parse("").0, &state, lead);
    let goal = "A goal of many lines\n".repeat(2_000);
    let run = RunPage::new(&state, &entries, lead, goal, tree);
    pull_request(&run, &state, Some(7)).body
}

#[test]
fn a_body_of_two_hundred_tasks_is_taken_by_a_host() {
    let text = body(200, Vec::new());
    assert!(text.chars().count() < 60_000, "{}", text.len());
    assert_eq!(
        text.lines().filter(|line| line.starts_with("| ")).count(),
        202
    );
    // The first screen has what was asked, how far it is, and what to look at.
    let first: Vec<&str> = text.lines().take(20).collect();
    for part in [
        "> A goal of many lines",
        "**0 of 200 tasks done, 200 ready**. Closes #7.",
        "## Look at first",
    ] {
        assert!(first.iter().any(|line| line.starts_with(part)), "{part}");
    }
    assert!(!text.contains("#1 @") && !text.contains("@ana"), "{text}");
    let huge = body(2_000, Vec::new());
    assert!(huge.chars().count() < 60_000 && huge.contains("The other tasks are left out."));
}

#[test]
fn a_text_acts_on_nothing() {
    let check = |text: &str, expect: &str| assert_eq!(plain(text, CELL), expect);
    check("Fixes #12 and GH-3", "Fixes #<!-- -->12 and GH-<!-- -->3");
    check("ask @ana, not a@ b", "ask @<!-- -->ana, not a@ b");
    check(
        "closes https://github.com/a/b/issues/1",
        "closes https:<!-- -->//github.com/a/b/issues/1",
    );
    check("`@ana #1` stays", "`@ana #1` stays");
    check("a\n# b", "a # b");
    check("<img src=x>", "\\<img src=x>");
}
