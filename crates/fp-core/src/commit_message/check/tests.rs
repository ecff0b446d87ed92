use proptest::prelude::*;

use super::*;
use crate::commit_message::compose;

const SCOPED: [&str; 4] =
    ["feat(api): add login", "fix(web): mend it", "docs(api): say why", "feat(cli): list"];
const TYPED: [&str; 4] = ["feat: add login", "fix: mend it", "docs: say why", "Update README"];
const MIXED: [&str; 4] =
    ["feat: add login", "Fix the parser again, all of it", "say why it is so", "로그인을 고친다"];
const CAPITALS: [&str; 3] =
    ["Add the login page of the site", "Handle input that is empty", "Say why it is so"];
const SHORT: [&str; 4] = ["wip", "fix typo", "login page", "Add the second half of the parser"];
const KOREAN: [&str; 4] = ["feat: 로그인 추가", "fix: 오류를 고친다", "feat: add x", "docs: 설명"];
const STOPS: [&str; 3] =
    ["Add the login page of the site.", "Handle input that is empty.", "Say why it is so."];

#[track_caller]
fn objects(subjects: &[&str], message: &str, expect: &[&str]) {
    let found: Vec<String> = check(&History::of(subjects), message).iter().map(ToString::to_string).collect();
    assert_eq!(found, expect, "{message:?}");
}

#[test]
fn messages_in_style_are_fine() {
    let fine = |subjects: &[&str], message: &str| objects(subjects, message, &[]);
    fine(&[], "Anything goes");
    fine(&[], "feat: 무엇이든");
    fine(&[], "  Anything goes\n\nWith a body.\n- and a list\n\nSigned-off-by: A <a@b.c>\n\n");
    fine(&SCOPED, "fix(api): handle it");
    fine(&SCOPED, "fix(new/part)!: handle it");
    fine(&TYPED, "fix: handle it");
    fine(&TYPED, "feat: JWT keys");
    fine(&TYPED, "feat: wait...");
    fine(&MIXED, "feat: add it");
    fine(&MIXED, "feat(x): Add it");
    fine(&MIXED, "로그인 추가");
    fine(&CAPITALS, "Add it");
    fine(&CAPITALS, "git: measure once");
    fine(&CAPITALS, "`x` is gone");
    fine(&SHORT, "mend it");
    fine(&KOREAN, "fix: parser 오류");
    fine(&STOPS, "Add it.");
    fine(&STOPS, "Add it");
}

#[test]
fn what_is_wrong_is_said() {
    let form = "the subject has none of the types: begin with one, as in `fix: WHAT`";
    objects(&[], "", &["the subject is empty"]);
    objects(&[], " \n\n ", &["the subject is empty"]);
    objects(&SCOPED, "handle it", &[form]);
    objects(&SCOPED, "wip: handle it", &[form]);
    objects(&SCOPED, "fix(api) handle it", &[form]);
    objects(
        &SCOPED,
        "fix: handle it",
        &["the type has no scope, and nearly all here have one: `fix(SCOPE): WHAT`"],
    );
    objects(
        &["feat: a b c d", "fix: b", "docs: c"],
        "fix(api): d",
        &["the type has the scope `(api)`, and hardly any here has one"],
    );
    objects(
        &CAPITALS,
        "feat: Add it",
        &["the subject begins with the type `feat:`, and subjects here have none"],
    );
    objects(&CAPITALS, "add it", &["`add` has no capital, and subjects here begin with one"]);
    let lower =
        "`Add` has a capital, and subjects here begin in lower case: write `add`, or begin with another word";
    objects(&SCOPED, "feat(api): Add it", &[lower]);
    objects(&SCOPED, "feat(api): add it.", &["the subject ends with a full stop"]);
    objects(
        &KOREAN,
        "fix: handle it",
        &["the subject is not Korean, and at least half of the subjects here are"],
    );
    objects(&CAPITALS, "로그인 추가", &["the subject is Korean, and hardly any here is"]);
    objects(
        &SHORT,
        "rewrite the whole parser from scratch",
        &["the subject has 37 columns, of at most 32: say the rest in the body"],
    );
    objects(&[], &"가".repeat(37), &["the subject has 74 columns, of at most 72: say the rest in the body"]);
    objects(&[], "One\ntwo", &["the second line is not blank: git would take it for a part of the subject"]);
    objects(&[], "One\u{1b}[31m", &["there is an invisible character in it, U+001B"]);
    objects(&[], "One\r\n\r\nbody\u{202e}", &["there is an invisible character in it, U+000D"]);
    let sign = |sign: &str| {
        format!(
            "the subject begins with `{sign}`, which git may read as an instruction or a comment: begin with a word"
        )
    };
    objects(&[], "fixup! Add it", &[&sign("fixup!")]);
    objects(&[], "# Add it", &[&sign("#")]);
    objects(&[], "--amend", &[&sign("-")]);
}

#[test]
fn the_rules_of_each_history() {
    let check = |subjects: &[&str], expect: &[&str]| assert_eq!(History::of(subjects).rules(), expect);
    let body = "a blank line between the subject and a body, if there is one";
    let (full_stop, lower) =
        ("no full stop at the end", "the first word in lower case, unless it is an abbreviation");
    let language = "in the language of the examples, not in Korean";
    check(&[], &["a phrase", "at most 72 columns", full_stop, body]);
    check(
        &SCOPED,
        &[
            "`type(scope): what`",
            "at most 72 columns",
            "types used here: feat (2), docs (1), fix (1)",
            "other types: build, chore, ci, perf, refactor, revert, style, test",
            "scopes used here: api (2), cli (1), web (1)",
            language,
            lower,
            full_stop,
            body,
        ],
    );
    check(
        &KOREAN[..2],
        &[
            "`type: what`",
            "at most 72 columns",
            "types used here: feat (1), fix (1)",
            "other types: build, chore, ci, docs, perf, refactor, revert, style, test",
            "in Korean",
            full_stop,
            body,
        ],
    );
    check(&SHORT, &["two or three words", "at most 32 columns", language, full_stop, body]);
    check(
        &STOPS,
        &[
            "a phrase, without a type such as `feat:`",
            "at most 72 columns",
            language,
            "the first word with a capital",
            body,
        ],
    );
}

proptest! {
    /// What the program writes by itself is in the style that it asks for, as far as the title allows.
    #[test]
    fn composed_messages_pass(
        subjects in prop::sample::select(vec![&SCOPED[..], &TYPED, &MIXED, &SHORT, &[]]),
        title in "[a-z]{1,8}( [a-z]{1,8}){0,12}",
    ) {
        let history = History::of(subjects);
        let message = compose(&history, &title, &["src/api/a.rs".into()]).to_string();
        prop_assert_eq!(check(&history, &message), Vec::new(), "{}", message);
    }

    #[test]
    fn what_passes_is_one_visible_line(
        subjects in prop::collection::vec(any::<String>(), 0..5),
        message in any::<String>(),
    ) {
        let history = History::of(&subjects);
        prop_assert!(!history.rules().is_empty());
        if check(&history, &message).is_empty() {
            let subject = message.trim().lines().next().unwrap_or_default().trim_end();
            prop_assert!(!subject.is_empty() && subject.width() <= history.columns(), "{:?}", subject);
            prop_assert!(!subject.chars().any(is_invisible), "{:?}", subject);
        }
    }
}

#[test]
fn a_language_that_is_asked_for_outweighs_the_history() {
    let check = |subjects: &[&str], language: &str, message: &str, expect: &[&str]| {
        let history = History::of(subjects).in_language(Some(language));
        let found: Vec<String> = check(&history, message).iter().map(ToString::to_string).collect();
        assert_eq!(found, expect, "{language} {message:?}");
    };
    check(&TYPED, "한국어", "fix: 오류를 고친다", &[]);
    check(
        &TYPED,
        "한국어",
        "fix: handle it",
        &["the subject is not in Korean, and the setting `language` asks for 한국어"],
    );
    check(&KOREAN, "German", "fix: Fehler beheben", &[]);
    check(
        &KOREAN,
        "German",
        "fix: 오류를 고친다",
        &["the subject is in Korean, and the setting `language` asks for German"],
    );
    let rules = History::of(&KOREAN).in_language(Some("German")).rules();
    assert!(rules.contains(&"in German".to_owned()), "{rules:?}");
    let history = History::of(&TYPED);
    assert_eq!(history.clone().in_language(None), history);
}
