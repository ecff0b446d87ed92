//! The style of a repository's commit messages: detected, reported and enforced.

use insta::assert_snapshot;

use crate::commit::history;

const SEMANTIC: [&str; 6] = [
    "feat(api): add login",
    "fix(web): mend the list of plans",
    "docs(api): say why it is so",
    "feat(cli): list plans",
    "fixup! feat(cli): list plans",
    "Say why once more, in a sentence",
];
const PLAIN: [&str; 4] = [
    "Add the login page of the site",
    "Handle input that is empty",
    "Merge branch 'side'",
    "Say why it is so, and not otherwise",
];
const TERSE: [&str; 4] = [
    "wip",
    "fix typo",
    "login page",
    "Add the second half of the parser",
];
const KOREAN: [&str; 4] = [
    "로그인 페이지를 새로 추가한다",
    "fix: 오류를 고친다",
    "Add login to the site",
    "테스트를 더 쓴다 그리고 고친다",
];
const MIXED: [&str; 5] = [
    "feat: add login",
    "Fix the parser again, all of it",
    "wip",
    "feat: 로그인",
    "say why it is so at last",
];

#[track_caller]
fn takes(subjects: &[&str], message: &str) {
    let environment = history(subjects);
    environment.write("b.txt", "new\n");
    let output = environment.commit(&["b.txt", "--message", message]);
    assert_eq!(output.code, 0, "{message:?}: {output}");
    assert_eq!(
        environment.git(&["log", "-1", "--format=%B"]).trim_end(),
        message.trim().replace("\r\n", "\n")
    );
}

#[track_caller]
fn objection(subjects: &[&str], message: &str) -> String {
    let environment = history(subjects);
    environment.write("b.txt", "new\n");
    let before = environment.count();
    let output = environment.commit(&["b.txt", "--message", message]);
    assert_eq!((output.code, environment.count()), (1, before), "{output}");
    assert_eq!(environment.git_status(), "?? b.txt\n", "nothing is staged");
    let json = environment
        .fp(&["commit", "b.txt", "--message", message, "--format", "json"])
        .json();
    let told: Vec<&str> = json["objections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect();
    assert!(
        told.iter().all(|text| output.stdout.contains(text)),
        "{told:?} {output}"
    );
    told.join("; ")
}

#[test]
fn messages_of_each_style() {
    takes(&SEMANTIC, "feat(api): add logout");
    takes(&SEMANTIC, "feat: add logout");
    takes(&KOREAN, "Add logout");
    takes(
        &SEMANTIC,
        "fix(cli)!: list them all\n\nSince nobody could see them.\n\nCloses: #12",
    );
    takes(&PLAIN, "Add logout");
    takes(&TERSE, "mend it");
    takes(&KOREAN, "로그아웃을 추가한다");
    takes(&MIXED, "feat: add logout");
    takes(&MIXED, "로그아웃");
    takes(&[], "Begin");
    takes(&PLAIN, "Say `$(touch x)` and --amend");
    takes(&PLAIN, "  Blanks around it  \n");
    takes(&PLAIN, "Lines of Windows\r\n\r\nand more\r\n");
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    assert_snapshot!(objection(&SEMANTIC, "Add logout."), @r"the subject has none of the types: begin with one, as in `fix: WHAT`");
    assert_snapshot!(objection(&PLAIN, "feat: add logout"), @r"the subject begins with the type `feat:`, and subjects here have none");
    assert_snapshot!(objection(&PLAIN, &"Very long ".repeat(10)), @r"the subject has 99 columns, of at most 72: say the rest in the body");
    assert_snapshot!(objection(&PLAIN, "One\ntwo"), @r"the second line is not blank: git would take it for a part of the subject");
    assert_snapshot!(objection(&[], ""), @r"the subject is empty");
    assert_snapshot!(objection(&[], "--amend"), @r"the subject begins with `-`, which git may read as an instruction or a comment: begin with a word");
    assert_snapshot!(objection(&[], "Red\u{1b}[31m"), @r"there is an invisible character in it, U+001B");
}

#[test]
fn without_a_message_it_says_how_one_is_written() {
    let environment = history(&SEMANTIC);
    environment.write("a.txt", "changed\nand longer\n");
    environment.write("b.txt", "new\n");
    let guide = environment.commit(&["a.txt", "b.txt"]);
    assert_snapshot!(guide, @"
    exit status: 1
    --- stdout
    A subject is `type(scope): what`, in at most 72 columns; types used here: feat (2), docs (1), fix (1); scopes: api (2), cli (1), web (1)
      Say why once more, in a sentence
      feat(cli): list plans
      docs(api): say why it is so
      fix(web): mend the list of plans
      feat(api): add login

    2 files:
      M  a.txt
      A  b.txt

    Next: the same command with --message 'SUBJECT'
    ");
    let json = environment.fp(&["commit", "a.txt", "--format", "json"]);
    assert_eq!(json.code, 1);
    assert_snapshot!(json, @r#"
    exit status: 1
    --- stdout
    {
      "examples": [
        "Say why once more, in a sentence",
        "feat(cli): list plans",
        "docs(api): say why it is so",
        "fix(web): mend the list of plans",
        "feat(api): add login"
      ],
      "files": [
        {
          "path": "a.txt",
          "status": "M"
        }
      ],
      "kept": [],
      "rule": "`type(scope): what`, in at most 72 columns; types used here: feat (2), docs (1), fix (1); scopes: api (2), cli (1), web (1)",
      "schemaVersion": 1,
      "style": "SEMANTIC"
    }
    "#);
}

#[test]
fn only_the_last_thirty_subjects_count() {
    let old: Vec<String> = (0..31).map(|n| format!("feat: old number {n}")).collect();
    let new: Vec<String> = (0..30)
        .map(|n| format!("Say in a sentence what number {n} is about"))
        .collect();
    let subjects: Vec<&str> = old.iter().chain(&new).map(String::as_str).collect();
    let environment = history(&subjects);
    environment.write("b.txt", "new\n");
    let guide = environment.fp(&["commit", "b.txt", "--format", "json"]);
    assert_eq!(guide.json()["style"], "PLAIN");
}
