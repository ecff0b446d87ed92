use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::critique::{CriticFinding, CritiqueItem};
use crate::run::Entry;
use crate::run::event::Event;
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
        criticise(&mut state, "t1", &[]).unwrap_err().to_string(),
        "the 2 rounds of critique are over: what is still found goes to the review",
        "and a former tree another one"
    );
    assert_eq!(criticise(&mut state, "t2", &[]), Ok((2, Pass)));
    let last = state.planning.critique.clone().unwrap();
    assert_eq!((last.tree_hash.as_str(), last.findings), ("t2", 0));
}

#[test]
fn an_approval_begins_anew_and_keeps_the_last_critique() {
    let mut state = state();
    for tree in ["t1", "t2"] {
        criticise(&mut state, tree, &[CriticVerdict::Fail]).unwrap();
    }
    approve(&mut state, "t2");
    let Planning { rounds, critique } = state.planning.clone();
    assert_eq!(rounds, 0);
    assert_eq!(critique.map(|last| last.round), Some(2));
    assert_eq!(
        criticise(&mut state, "t2", &[]),
        Ok((1, CriticVerdict::Pass)),
        "the same tree is a round of its own"
    );
}

#[test]
fn the_lead_is_not_taken_for_one_that_has_moved_on() {
    let mut state = state();
    take(&mut state, vec![Event::LeadNudged]);
    criticise(&mut state, "t", &[]).unwrap();
    assert_eq!(state.lead_nudges, 1);
}

#[test]
fn a_snapshot_has_all_of_it() {
    let mut state = state();
    criticise(&mut state, "t", &[CriticVerdict::Fail]).unwrap();
    let read: State = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(read, state);
}
