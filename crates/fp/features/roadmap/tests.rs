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
- Depends on: 1

## [4] Report
- Goal: A page of it
- Depends on: 2 and 3
";

#[test]
fn a_page_is_read() {
    let (goal, layers) = read_page(GOOD);
    assert_eq!(goal, "Accounts for everybody,\nwith a log of who did what");
    let told = layers.iter().map(|layer| {
        format!(
            "{} {}: {} <- {}",
            layer.id,
            layer.title,
            layer.goal,
            layer.depends_on.join(" ")
        )
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @"
    1 Accounts: Somebody can have an account <- 
    2 Login: Somebody can log in <- 1
    3 Log: Everybody can see who did what <- 1
    4 Report: A page of it <- 2 3
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
    check("2 and 3", "2, 7", &["there is no layer 7 above layer 4"]);
    check(
        "Depends on: 1\n",
        "Depends on: 4\n",
        &["there is no layer 4 above layer 3"],
    );
    check("Depends on: 2 and 3", "Depends on: none", &[]);
    assert_eq!(
        faults_in(&read_page("# Roadmap\n").1),
        ["there is no layer: write one as `## [1] Title`, with its `- Goal:`"]
    );
}
