use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::critique::{CriticFinding, CritiqueItem};
use crate::run::Entry;
use fp_plan::plan::id::PlanId;

fn state() -> State {
    State::new(PlanId::new("p").unwrap())
}

fn take(state: &mut State, events: Vec<Event>) {
    let at = Timestamp::UNIX_EPOCH;
    state.apply(&Entry {
        schema_version: 1,
        seq: state.seq + 1,
        at,
        clock: None,
        by: None,
        events,
    });
}

fn seen(tree: &str, failing: &[&str]) -> Seen {
    Seen {
        tree_hash: tree.to_owned(),
        errors: failing.len(),
        warnings: 1,
        failing: failing.iter().map(|rule| (*rule).to_owned()).collect(),
    }
}

/// Validates the tree; returns the pass number if the pass was counted.
fn validate(state: &mut State, tree: &str, failing: &[&str]) -> Option<u32> {
    let event = state.planning.count_pass(&seen(tree, failing))?;
    let Event::Validated { pass, .. } = event else {
        panic!("{event:?}")
    };
    take(state, vec![event]);
    Some(pass)
}

/// Criticises the tree with one finding per verdict; returns the round and the overall verdict.
fn criticise(
    state: &mut State,
    tree: &str,
    verdicts: &[CriticVerdict],
) -> Result<(u32, CriticVerdict), Refusal> {
    let finding = |verdict: &CriticVerdict| CriticFinding {
        task: None,
        title: String::new(),
        item: CritiqueItem::Scope,
        verdict: *verdict,
        text: "a".into(),
    };
    let judged = Critique::of_findings(tree.to_owned(), 1, verdicts.iter().map(finding).collect());
    let critique = state.criticise(judged)?;
    take(state, vec![Event::Critiqued(critique)]);
    let last = state.planning.critique.as_ref().unwrap();
    Ok((last.round, last.verdict))
}

fn approve(state: &mut State, tree: &str) {
    let approved = json!({ "approved": { "treeHash": tree, "leaves": [], "by": "user" } });
    take(state, vec![serde_json::from_value(approved).unwrap()]);
}

#[test]
fn failing_passes_are_counted_to_their_limit() {
    let mut state = state();
    for pass in 1..=PASSES {
        assert_eq!(
            validate(&mut state, &format!("t{pass}"), &["a", "b"]),
            Some(pass)
        );
        assert_eq!(
            validate(&mut state, &format!("t{pass}"), &["a", "b"]),
            None,
            "the same tree again"
        );
    }
    assert!(
        !state.planning.is_over(&seen("t6", &["a"])),
        "it is the last one counted"
    );
    assert!(state.planning.is_over(&seen("t7", &["a"])));
    assert_eq!(validate(&mut state, "t7", &["a"]), None);
    assert_eq!(state.planning.passes, PASSES);
    assert!(
        !state.planning.is_over(&seen("t8", &[])),
        "a valid tree ends it at any time"
    );
    assert_eq!(validate(&mut state, "t8", &[]), Some(PASSES + 1));
    assert_eq!(validate(&mut state, "t9", &["a"]), Some(1));
}

#[test]
fn a_tree_whose_surroundings_changed_counts_again() {
    let mut state = state();
    assert_eq!(validate(&mut state, "t", &["missing-file"]), Some(1));
    assert_eq!(validate(&mut state, "t", &[]), Some(2));
    assert_eq!(validate(&mut state, "t", &[]), None);
    assert_eq!(validate(&mut state, "t", &["missing-file"]), Some(1));
}

#[test]
fn what_failed_in_every_pass_is_known() {
    let mut state = state();
    let failing = |state: &State| {
        state
            .planning
            .failing
            .iter()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    validate(&mut state, "t1", &["a", "b", "c"]);
    assert_eq!(failing(&state), "a b c");
    validate(&mut state, "t2", &["b", "c", "d"]);
    validate(&mut state, "t3", &["b", "d"]);
    assert_eq!(failing(&state), "b");
    validate(&mut state, "t4", &["a"]);
    validate(&mut state, "t5", &["b"]);
    assert_eq!(failing(&state), "", "none failed in all of them");
    validate(&mut state, "t6", &[]);
    validate(&mut state, "t7", &["d"]);
    assert_eq!(failing(&state), "d");
}

#[test]
fn the_worst_finding_is_the_verdict_and_rounds_end() {
    use CriticVerdict::{Fail, Pass, Warn};
    let mut state = state();
    assert_eq!(criticise(&mut state, "t1", &[Warn, Fail]), Ok((1, Fail)));
    assert_eq!(
        criticise(&mut state, "t1", &[Warn, Warn]),
        Ok((1, Warn)),
        "the same tree is the same round"
    );
    assert_eq!(criticise(&mut state, "t2", &[Fail]), Ok((2, Fail)));
    assert_eq!(
        criticise(&mut state, "t1", &[]),
        Ok((3, Pass)),
        "and a former tree another one"
    );
    assert_eq!(criticise(&mut state, "t1", &[Fail]), Ok((3, Fail)));
    assert_eq!(
        criticise(&mut state, "t3", &[]).unwrap_err().to_string(),
        "the 3 rounds of critique are over: what is still found goes to the review"
    );
    let last = state.planning.critique.clone().unwrap();
    assert_eq!((last.tree_hash.as_str(), last.findings), ("t1", 1));
}

#[test]
fn an_approval_begins_anew_and_keeps_the_last_critique() {
    let mut state = state();
    for tree in ["t1", "t2", "t3"] {
        criticise(&mut state, tree, &[CriticVerdict::Fail]).unwrap();
    }
    validate(&mut state, "t3", &["a"]);
    approve(&mut state, "t3");
    let Planning {
        passes,
        failing,
        validated,
        rounds,
        critique,
    } = state.planning.clone();
    assert_eq!((passes, failing.len(), validated, rounds), (0, 0, None, 0));
    assert_eq!(critique.map(|last| last.round), Some(3));
    assert_eq!(
        criticise(&mut state, "t3", &[]),
        Ok((1, CriticVerdict::Pass)),
        "the same tree is a round of its own"
    );
    assert_eq!(validate(&mut state, "t3", &["a"]), Some(1));
}

#[test]
fn the_lead_is_not_taken_for_one_that_has_moved_on() {
    let mut state = state();
    take(&mut state, vec![Event::LeadNudged]);
    validate(&mut state, "t", &[]);
    criticise(&mut state, "t", &[]).unwrap();
    assert_eq!(state.lead_nudges, 1);
}

#[test]
fn a_snapshot_has_all_of_it() {
    let mut state = state();
    validate(&mut state, "t", &["a"]);
    criticise(&mut state, "t", &[CriticVerdict::Fail]).unwrap();
    let read: State = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(read, state);
}
