use super::*;
use fp_plan::plan::parse;

/// A parent with two leaves and, if `odd`, a leaf whose id is the word that stands for the whole tree.
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

fn critique_of(
    text: &str,
    pass: &[&str],
    remarks: &[(CriticVerdict, &str)],
) -> Result<Critique, NotJudged> {
    let pass: Vec<String> = pass.iter().map(|id| (*id).to_owned()).collect();
    let remarks = remarks
        .iter()
        .map(|(verdict, text)| (*verdict, (*text).to_owned()));
    let remarks: Vec<_> = remarks.collect();
    new_critique(&parse(text).0, String::new(), &pass, &remarks)
}

/// The findings, one per line, or the error.
fn judged(text: &str, pass: &[&str], remarks: &[(CriticVerdict, &str)]) -> String {
    match critique_of(text, pass, remarks) {
        Ok(critique) => {
            let lines = critique.findings.iter();
            lines.map(|finding| format!("{finding}\n")).collect()
        }
        Err(error) => error.to_string(),
    }
}

const WARN: CriticVerdict = CriticVerdict::Warn;
const FAIL: CriticVerdict = CriticVerdict::Fail;

#[test]
fn every_leaf_is_judged_once() {
    let check = |pass: &[&str], remarks: &[(CriticVerdict, &str)], expect: &str| {
        assert_eq!(
            judged(&text(false), pass, remarks),
            expect,
            "{pass:?} {remarks:?}"
        );
    };
    check(&["1.1", "1.2"], &[], "");
    check(&["1.1", "1.1", "1.2"], &[], "");
    check(&["1.1"], &[(FAIL, "1.2 hints: no")], "FAIL 1.2 hints: no\n");
    check(&[], &[], "not judged: 1.1, 1.2");
    check(&["1.2"], &[(WARN, "tree scope: wide")], "not judged: 1.1");
    check(
        &["1.1", "1.2"],
        &[(WARN, "1.2 hints: no")],
        "leaf 1.2 passes and has a finding",
    );
    check(&["1.1", "1.3"], &[], "the tree has no leaf \"1.3\"");
    check(&["1"], &[], "the tree has no leaf \"1\"");
    check(&["tree"], &[], "the tree has no leaf \"tree\"");
    let long = format!("1.2 hints: {}", "é".repeat(MAX_TEXT + 1));
    for bad in [
        "",
        "1.2",
        "1.2 hints",
        "1.2: a",
        ": a",
        "1.2 hints and scope: a",
        "1.2 taste: no",
        "1.2 hints:  \n\u{7} ",
        &long,
    ] {
        let expect = format!("{:?} is no finding", clipped(bad, SHOWN));
        check(&["1.1"], &[(WARN, bad)], &expect);
    }
}

#[test]
fn the_worst_comes_first_then_the_order_of_the_tree() {
    let remarks = [
        (WARN, "1.2 hints: a"),
        (FAIL, "1.2 Guardrails: b"),
        (WARN, "1.1 SCOPE: c"),
        (FAIL, "1.2 criteria : d: e"),
        (WARN, "TREE coverage: f"),
    ];
    let expect = "FAIL 1.2 criteria: d: e\nFAIL 1.2 guardrails: b\nWARN tree coverage: f\nWARN 1.1 scope: c\n\
                  WARN 1.2 hints: a\n";
    assert_eq!(judged(&text(false), &[], &remarks), expect);
}

#[test]
fn a_leaf_may_be_called_tree() {
    let critique = critique_of(&text(true), &["1.1", "1.2"], &[(WARN, "tree hints: a")]).unwrap();
    assert_eq!(critique.findings[0].task.as_ref().unwrap().as_str(), "tree");
}

#[test]
fn a_text_is_one_line_without_control_characters() {
    let check = |text: &str, expect: &str| {
        let remark = format!("1.2 hints: {text}");
        assert_eq!(
            judged(&self::text(false), &["1.1"], &[(WARN, &remark)]),
            expect
        );
    };
    check(
        " a\n\n  b\tc \u{1b}[31md\u{0} ",
        "WARN 1.2 hints: a b c [31md\n",
    );
    check("한글", "WARN 1.2 hints: 한글\n");
}

#[test]
fn a_page_has_the_verdict_first_and_the_critics_own_words() {
    let remarks = [
        (WARN, "1.1 hints: <b> & [x](y)"),
        (FAIL, "tree scope: `a` *b*"),
    ];
    let judged = critique_of(&text(false), &["1.2"], &remarks).unwrap();
    let critique = Critique { round: 2, ..judged };
    let expect = "FAIL\n\nRound 2 of 2\n\n- FAIL the tree, scope: `a` *b*\n\
                  - WARN 1.1 (Parse *numbers*), hints: <b> & [x](y)\n\n1 of 2 leaves pass\n";
    assert_eq!(critique.to_markdown(), expect);
    let none = critique_of(&text(false), &["1.1", "1.2"], &[]).unwrap();
    assert_eq!(
        none.to_markdown(),
        "PASS\n\nRound 1 of 2\n\n2 of 2 leaves pass\n"
    );
}

#[test]
fn a_long_title_is_cut() {
    let text = text(false).replace("Print them", &"é".repeat(200));
    let judged = critique_of(&text, &["1.1"], &[(WARN, "1.2 hints: a")]).unwrap();
    assert_eq!(judged.findings[0].title, "é".repeat(119) + "…");
}
