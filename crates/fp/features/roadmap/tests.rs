use super::*;

const GOOD: &str = "\
# Roadmap

> Accounts for everybody,
> with a log of who did what

## [1] Accounts
- Goal: Somebody can have an account
- Done when:
  - `app account add Ada` prints `1`

## [2] Login
- Goal: Somebody can log in
- Done when: `app login Ada` prints a token
- Owner: me

## [3] Log
- Goal: Everybody can see who did what

## [4] Report
- Goal: A page of it
";

#[test]
fn a_page_is_read() {
    let (goal, layers) = read_page(GOOD);
    assert_eq!(goal, "Accounts for everybody,\nwith a log of who did what");
    let told = layers
        .iter()
        .map(|layer| format!("{} {}: {}", layer.id, layer.title, layer.goal));
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @"
    1 Accounts: Somebody can have an account
    2 Login: Somebody can log in
    3 Log: Everybody can see who did what
    4 Report: A page of it
    ");
    assert!(layers[1].text.contains("- Owner: me\n"), "{:?}", layers[1]);
    assert_eq!(faults_in(&layers), [""; 0]);
    assert_eq!(faults_in(&read_page(FORM).1), [""; 0]);
    assert_eq!(read_page("# Roadmap\n\n## [1] A\n> a quotation\n").0, "");
}

#[test]
fn what_is_wrong_is_found_at_once() {
    let check = |from: &str, to: &str, expect: &[&str]| {
        assert!(GOOD.contains(from), "{from}");
        let (_, layers) = read_page(&GOOD.replacen(from, to, 1));
        assert_eq!(faults_in(&layers), expect, "{from} -> {to}");
    };
    check(
        "- Goal: A page of it\n",
        "",
        &["layer 4 has no `- Goal:` for its plan"],
    );
    check("[4]", "[3]", &["there are two layers 3"]);
    assert_eq!(
        faults_in(&read_page("# Roadmap\n").1),
        ["there is no layer: write one as `## [1] Title`, with its `- Goal:`"]
    );
}
