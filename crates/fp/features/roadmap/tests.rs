use fp_plan::plan::Lines;
use proptest::prelude::*;

use super::check::check_roadmap;
use super::model::*;

const GOOD: &str = "\
# Roadmap

> Accounts for everybody,
> with a log of who did what

## [1] Accounts
- Goal: Somebody can have an account
- Inputs: src/main.rs
- Outputs: the account store - keeps accounts, `src/account.rs`
- Done when:
  - `app account add Ada` prints `1`

## [2] Login
- Goal: Somebody can log in
- Inputs: The  account store
- Outputs: the session
- Done when: `app login Ada` prints a token
- Owner: me

## [3] Log
- Goal: Everybody can see who did what
- Inputs: `src/account.rs`
- Outputs: the log
- Done when: `app log` lists what Ada did
- Depends on: 1

## [4] Report
- Goal: A page of it
- Inputs:
  - the session
  - the log (all of it)
- Outputs: none
- Done when: the page lists Ada
- Depends on: 2 and 3
";

fn found(text: &str) -> Vec<String> {
    let (roadmap, parsed) = read_roadmap(text);
    let lines = Lines::new(text);
    let line = |found: &fp_plan::diagnostic::Diagnostic| {
        let place = lines.position(found.span.start);
        format!(
            "{}:{} {}: {}",
            place.line, place.column, found.rule, found.detail
        )
    };
    check_roadmap(&roadmap, parsed, |path| path == "src/main.rs")
        .iter()
        .map(line)
        .collect()
}

#[test]
fn a_page_is_read() {
    let (roadmap, parsed) = read_roadmap(GOOD);
    assert_eq!(parsed, []);
    assert_eq!(
        roadmap.goal,
        "Accounts for everybody,\nwith a log of who did what"
    );
    let texts = |items: &[LayerItem]| {
        items
            .iter()
            .map(|item| item.text.clone())
            .collect::<Vec<_>>()
    };
    let of = |layer: &RoadmapLayer| {
        (
            format!("{} {}: {}", layer.id, layer.title, layer.goal),
            texts(&layer.inputs).join("|"),
            texts(&layer.outputs).join("|"),
            texts(&layer.done_when).join("|"),
            layer.depends_on.as_deref().map(texts),
        )
    };
    let ids = |ids: &[&str]| Some(ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
    let expect = [
        (
            "1 Accounts: Somebody can have an account",
            "src/main.rs",
            "the account store|src/account.rs",
            "`app account add Ada` prints `1`",
            None,
        ),
        (
            "2 Login: Somebody can log in",
            "The  account store",
            "the session",
            "`app login Ada` prints a token",
            None,
        ),
        (
            "3 Log: Everybody can see who did what",
            "src/account.rs",
            "the log",
            "`app log` lists what Ada did",
            ids(&["1"]),
        ),
        (
            "4 Report: A page of it",
            "the session|the log",
            "",
            "the page lists Ada",
            ids(&["2", "3"]),
        ),
    ]
    .map(|(head, inputs, outputs, done, depends)| {
        (
            head.to_owned(),
            inputs.to_owned(),
            outputs.to_owned(),
            done.to_owned(),
            depends,
        )
    });
    assert_eq!(roadmap.layers.iter().map(of).collect::<Vec<_>>(), expect);
    let before: Vec<_> = roadmap
        .layers
        .iter()
        .map(|layer| layer.before.clone())
        .collect();
    assert_eq!(before, [vec![], vec![0], vec![0], vec![1, 2]]);
    assert_eq!(found(GOOD), [""; 0]);
}

#[test]
fn the_words_of_trees_are_read_as_well() {
    let text = "- [ID: 1] A\n  - goal: a\n  - Acceptance:\n    - b is seen\n  - Dependencies: none\n- [ID: 2] B\n  - DONE-WHEN: c\n  - Goal: d\n    e\n";
    let (roadmap, _) = read_roadmap(text);
    assert_eq!(
        (
            &*roadmap.layers[0].done_when[0].text,
            &roadmap.layers[0].depends_on
        ),
        ("b is seen", &Some(vec![]))
    );
    assert_eq!(
        (
            &*roadmap.layers[1].goal,
            &*roadmap.layers[1].done_when[0].text
        ),
        ("d e", "c")
    );
    assert_eq!(found(text), [""; 0]);
}

#[test]
fn what_is_wrong_is_found_at_once() {
    let check = |from: &str, to: &str, expect: &[&str]| {
        assert!(GOOD.contains(from), "{from}");
        assert_eq!(found(&GOOD.replacen(from, to, 1)), expect, "{from} -> {to}");
    };
    check(
        "- Goal: A page of it\n",
        "",
        &["27:4 missing-goal: the layer has no goal"],
    );
    check(
        "- Goal: A page of it\n",
        "- Goal: none\n",
        &["27:4 missing-goal: the layer has no goal"],
    );
    check(
        "- Done when: the page lists Ada\n",
        "",
        &["27:4 missing-done-when: the layer has no `Done when`"],
    );
    check(
        "- Done when: the page lists Ada\n",
        "- Done when:\n",
        &["27:4 missing-done-when: the layer has no `Done when`"],
    );
    check(
        "the page lists Ada",
        "the page works as expected",
        &["33:14 vague-done-when: \"works as expected\" says nothing that can be observed"],
    );
    check(
        "[4]",
        "[3]",
        &["27:5 duplicate-layer: there is a layer 3 already"],
    );
    check(
        "[4]",
        "[a/b]",
        &[
            "27:5 layer-id: \"a/b\" is not an id: ids are letters, digits, `-`, `_`, in segments joined by `.`",
        ],
    );
    check(
        "## [4]",
        "### [4]",
        &["27:5 nested-layer: the layer is nested in another one"],
    );
    check(
        "2 and 3",
        "2, 7",
        &[
            "31:5 unmade-input: layer 3 makes `the log` but doesn't come before",
            "34:18 unknown-layer: there is no layer `7`",
        ],
    );
    check(
        "the session\n- Done",
        "the log\n- Done",
        &[
            "23:12 duplicate-output: layer 2 already makes `the log`",
            "30:5 unmade-input: no layer makes `the session`, and the repository has no such file",
        ],
    );
    check(
        "Inputs: src/main.rs",
        "Inputs: src/nothing.rs, ../src/main.rs",
        &[
            "8:11 unmade-input: no layer makes `src/nothing.rs`, and the repository has no such file",
            "8:27 unmade-input: no layer makes `../src/main.rs`, and the repository has no such file",
        ],
    );
    check(
        "Inputs: src/main.rs",
        "Inputs: the account store",
        &["8:11 unmade-input: layer 1 makes `the account store` but doesn't come before"],
    );
    check(
        "Depends on: 1\n",
        "Depends on: 4\n",
        &["25:15 layer-cycle: layers wait for each other: 3, 4"],
    );
}

#[test]
fn how_many_layers() {
    let layers = |number: usize| -> String {
        (1..=number)
            .map(|n| format!("## [{n}] Layer\n- Goal: a\n- Done when: b is seen\n"))
            .collect()
    };
    assert_eq!(found("# Roadmap\n"), ["1:1 no-layer: there is no layer"]);
    assert_eq!(found(&layers(7)), [""; 0]);
    assert_eq!(
        found(&layers(8)),
        ["1:1 many-layers: there are 8 layers; more than 7 are hard to keep in mind"]
    );
}

#[test]
fn layers_that_wait_for_themselves() {
    let text = "## [1] A\n- Depends on: 2\n## [2] B\n- Depends on: 3, 4\n## [3] C\n- Depends on: 2\n## [4] D\n- Depends on: 4\n## [5] E\n- Depends on: none\n";
    let (roadmap, _) = read_roadmap(text);
    let cycle: Vec<&str> = roadmap.in_cycles().iter().map(|layer| &*layer.id).collect();
    assert_eq!(cycle, ["2", "3", "4"]);
    assert_eq!(roadmap.all_before(0), [1, 3, 2]);
}

#[test]
fn a_page_is_begun_with_its_goal() {
    for goal in ["Accounts", "Accounts\n\n## [1] and > more", " a \r\nb"] {
        let page = empty_page(goal);
        let expect: Vec<&str> = goal.trim().lines().map(str::trim).collect();
        let (roadmap, parsed) = read_roadmap(&page);
        assert_eq!(
            (quoted_goal(&page), roadmap.layers.len(), parsed.len()),
            (expect.join("\n"), 0, 0),
            "{page}"
        );
    }
    assert_eq!(quoted_goal("# Roadmap\n\n## [1] A\n\n> a quotation\n"), "");
    assert_eq!(
        found(&format!("{}\n{FORM}", empty_page("Accounts"))),
        [""; 0]
    );
}

proptest! {
    #[test]
    fn whatever_is_read_keeps_to_its_text(pieces in prop::collection::vec(prop::sample::select(vec![
        "## [1] A\n", "## [2] B\n", "### [1.1] C\n", "- Goal: a\n", "- Inputs: x, `y`; z\n", "- Inputs:\n  - x\n", "- Outputs: x\n",
        "- Outputs:\n  - y - why\n", "- Done when:\n", "  - it is properly done\n", "- Depends on: 2\n", "- Depends on: 1, 3\n",
        "- Depends on: none\n", "> a\n", "# R\n", "\n", "- [ID: 3] D\n", "```\n", "한글\n", "- Other: 1\n", "\u{feff}", "\r\n", "    ",
    ]), 0..30)) {
        let text = pieces.concat();
        let (roadmap, parsed) = read_roadmap(&text);
        for layer in roadmap.in_cycles() {
            let waits = |at: usize| roadmap.all_before(at).iter().any(|before| roadmap.layers[*before] == *layer);
            prop_assert!(layer.before.iter().any(|at| roadmap.layers[*at] == *layer || waits(*at)));
        }
        for finding in check_roadmap(&roadmap, parsed, |_| false) {
            prop_assert!(text.get(finding.span.start..finding.span.end).is_some(), "{:?} in {:?}", finding, text);
            prop_assert!(finding.hint.is_some() || finding.rule == "syntax");
        }
    }
}
