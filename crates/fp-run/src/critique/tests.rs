use std::fmt::Write as _;

use super::*;
use fp_plan::plan::parse;

/// A parent with two leaves, and a leaf of the name of what stands for the whole tree where `odd`.
fn text(odd: bool) -> String {
    let mut text = String::from(
        "- [ID: 1] Goal (Complexity: 5)\n  - [ID: 1.1] Parse *numbers* (Complexity: 2)\n  \
         - [ID: 1.2] Print them (Complexity: 2)\n",
    );
    if odd {
        text.push_str("  - [ID: tree] Draw a tree (Complexity: 2)\n");
    }
    text
}

fn opinion(pass: &[&str], remarks: &[(CriticVerdict, &str)]) -> CriticOpinion {
    CriticOpinion {
        pass: pass.iter().map(|id| (*id).to_owned()).collect(),
        remarks: remarks
            .iter()
            .map(|(verdict, text)| CriticRemark::parse(text, *verdict).unwrap())
            .collect(),
    }
}

/// The findings, a line each, or the error.
fn judged(text: &str, opinion: &CriticOpinion) -> String {
    let (plan, _) = parse(text);
    match judge(&plan, String::new(), opinion, None) {
        Ok(judged) => judged
            .findings
            .iter()
            .map(|finding| format!("{finding}\n"))
            .collect(),
        Err(error) => error.to_string(),
    }
}

const WARN: CriticVerdict = CriticVerdict::Warn;
const FAIL: CriticVerdict = CriticVerdict::Fail;

#[test]
fn every_leaf_is_judged_once() {
    let check = |pass: &[&str], remarks: &[(CriticVerdict, &str)], expect: &str| {
        assert_eq!(
            judged(&text(false), &opinion(pass, remarks)),
            expect,
            "{pass:?} {remarks:?}"
        );
    };
    check(&["1.1", "1.2"], &[], "");
    check(&["1.1", "1.1", "1.2"], &[], "");
    check(&["1.1"], &[(FAIL, "1.2 hints: no")], "FAIL 1.2 hints: no\n");
    check(&[], &[], "2 leaves are not judged: 1.1, 1.2");
    check(
        &["1.2"],
        &[(WARN, "tree scope: wide")],
        "1 leaf is not judged: 1.1",
    );
    check(
        &["1.1", "1.2"],
        &[(WARN, "1.2 hints: no")],
        "leaf 1.2 passes and has a finding",
    );
    check(&["1.1", "1.3"], &[], "the tree has no leaf \"1.3\"");
    check(&["1"], &[], "task 1 has subtasks: judge its leaves");
    check(&["tree"], &[], "the tree has no leaf \"tree\"");
    check(
        &["1.1"],
        &[(WARN, "1.2 taste: no")],
        "\"taste\" is none of the seven items",
    );
    check(
        &["1.1"],
        &[(WARN, "1.2 hints:  \n\u{7} ")],
        "the finding on 1.2 says nothing",
    );
}

#[test]
fn many_leaves_that_are_left_out_are_named_in_part() {
    let mut tree = String::new();
    for number in 1..=5000 {
        let _ = writeln!(tree, "- [ID: {number}] Step {number} (Complexity: 2)");
    }
    let expect = "4999 leaves are not judged: 1, 2, 4, 5, 6, 7, 8, 9, 10, 11 and 4989 more";
    assert_eq!(judged(&tree, &opinion(&["3"], &[])), expect);
}

#[test]
fn the_worst_comes_first_then_the_order_of_the_tree() {
    let opinion = opinion(
        &[],
        &[
            (WARN, "1.2 hints: a"),
            (FAIL, "1.2 Guardrails: b"),
            (WARN, "1.1 SCOPE: c"),
            (FAIL, "1.2 criteria : d: e"),
            (WARN, "TREE coverage: f"),
        ],
    );
    let expect = "FAIL 1.2 criteria: d: e\nFAIL 1.2 guardrails: b\nWARN tree coverage: f\nWARN 1.1 scope: c\n\
                  WARN 1.2 hints: a\n";
    assert_eq!(judged(&text(false), &opinion), expect);
}

#[test]
fn a_leaf_may_be_called_tree() {
    let opinion = opinion(&["1.1", "1.2"], &[(WARN, "tree hints: a")]);
    let text = text(true);
    let (plan, _) = parse(&text);
    assert_eq!(
        judge(&plan, String::new(), &opinion, None)
            .unwrap()
            .findings[0]
            .task
            .as_ref()
            .unwrap()
            .as_str(),
        "tree"
    );
}

#[test]
fn a_text_is_one_line_without_control_characters_and_not_too_long() {
    let check = |text: &str, expect: &str| {
        let opinion = opinion(&["1.1"], &[(WARN, &format!("1.2 hints: {text}"))]);
        assert_eq!(judged(&self::text(false), &opinion), expect);
    };
    check(
        " a\n\n  b\tc \u{1b}[31md\u{0} ",
        "WARN 1.2 hints: a b c [31md\n",
    );
    check("한글", "WARN 1.2 hints: 한글\n");
    check(
        &"é".repeat(MAX_TEXT),
        &format!("WARN 1.2 hints: {}\n", "é".repeat(MAX_TEXT)),
    );
    let long = MAX_TEXT + 1;
    check(
        &"é".repeat(long),
        &format!("the finding on 1.2 has {long} characters: at most {MAX_TEXT} are taken"),
    );
}

#[test]
fn what_is_no_finding_is_not_read_as_one() {
    for text in [
        "",
        "1.2",
        "1.2 hints",
        "1.2: a",
        ": a",
        "1.2 hints and scope: a",
    ] {
        assert_eq!(CriticRemark::parse(text, WARN), None, "{text:?}");
    }
}

#[test]
fn a_page_has_the_verdict_first_and_the_critics_own_words() {
    let opinion = opinion(
        &["1.2"],
        &[
            (WARN, "1.1 hints: <b> & [x](y)"),
            (FAIL, "tree scope: `a` *b*"),
        ],
    );
    let text = text(false);
    let (plan, _) = parse(&text);
    let judged = judge(&plan, String::new(), &opinion, None).unwrap();
    let critique = Critique { round: 2, ..judged };
    let expect = "FAIL\n\nRound 2 of 3\n\n- FAIL the tree, scope: `a` *b*\n\
                  - WARN 1.1 (Parse *numbers*), hints: <b> & [x](y)\n\n1 leaf passes\n";
    assert_eq!(critique.to_markdown(), expect);
    let none = Critique {
        round: 1,
        verdict: CriticVerdict::Pass,
        tree_hash: "h".into(),
        leaves: 2,
        findings: Vec::new(),
        passed: BTreeMap::new(),
    };
    assert_eq!(
        none.to_markdown(),
        "PASS\n\nRound 1 of 3\n\n2 leaves pass\n"
    );
}

#[test]
fn a_long_title_is_cut() {
    let text = text(false).replace("Print them", &"é".repeat(200));
    let (plan, _) = parse(&text);
    let judged = judge(
        &plan,
        String::new(),
        &opinion(&["1.1"], &[(WARN, "1.2 hints: a")]),
        None,
    )
    .unwrap();
    assert_eq!(judged.findings[0].title, "é".repeat(119) + "…");
}
