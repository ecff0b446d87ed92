use proptest::prelude::*;

use super::*;

fn paths(files: &[&str]) -> Vec<RepoPath> {
    files.iter().map(|file| (*file).into()).collect()
}

const SEMANTIC: [&str; 4] = [
    "feat: add login",
    "fix: handle empty input",
    "Update README",
    "chore: bump deps",
];
const SCOPED: [&str; 3] = ["feat(api): add login", "fix(web): typo", "docs: say why"];
const PLAIN: [&str; 3] = [
    "Add the login page of the site",
    "Handle input that is empty",
    "Say why it is so",
];
const LOWER: [&str; 2] = [
    "git: measure the working tree once",
    "add the login page of the site",
];
/// A history of terse subjects, which doesn't make the subject for a task any shorter.
const TERSE: [&str; 4] = [
    "wip",
    "fix typo",
    "login page",
    "Add the second half of the parser",
];
const KOREAN: [&str; 3] = [
    "로그인 페이지를 새로 추가한다 그리고 고친다",
    "feat: 로그인",
    "Add login to the site at last",
];

#[test]
fn what_a_history_has_in_common() {
    let check = |subjects: &[&str], style: CommitStyle, rule: &str| {
        let history = CommitHistory::from_subjects(subjects);
        assert_eq!(
            (history.style(), &*history.message_rule()),
            (style, rule),
            "{subjects:?}"
        );
    };
    let phrase = "a phrase, in at most 72 columns";
    for subjects in [
        &[][..],
        &PLAIN,
        &LOWER,
        &TERSE,
        &KOREAN,
        &["Initial commit"],
    ] {
        check(subjects, CommitStyle::Plain, phrase);
    }
    check(
        &SEMANTIC,
        CommitStyle::Semantic,
        "`type: what`, in at most 72 columns; types used here: chore (1), feat (1), fix (1)",
    );
    check(
        &SCOPED,
        CommitStyle::Semantic,
        "`type(scope): what`, in at most 72 columns; types used here: docs (1), feat (1), fix (1); scopes: api (1), web (1)",
    );
    check(
        &[
            "feat: add x",
            "Merge branch 'a'",
            "Revert \"b\"",
            "fixup! c",
            "",
        ],
        CommitStyle::Semantic,
        "`type: what`, in at most 72 columns; types used here: feat (1)",
    );
    check(
        &["note: this is no type of ours", "core: neither is this one"],
        CommitStyle::Plain,
        phrase,
    );
}

#[track_caller]
fn check(subjects: &[&str], title: &str, files: &[&str], expect: &str) {
    let message = CommitHistory::from_subjects(subjects).compose(title, &paths(files));
    assert_eq!(message.trim_end(), expect, "{title:?} {files:?}");
}

#[test]
fn messages_of_each_style() {
    let src = &["src/a.rs"][..];
    check(&[], "Add a greeting command", src, "Add a greeting command");
    check(
        &PLAIN,
        "Add a greeting command.",
        src,
        "Add a greeting command",
    );
    check(
        &PLAIN,
        "feat: add a greeting command",
        src,
        "add a greeting command",
    );
    check(
        &LOWER,
        "Add a greeting command",
        src,
        "add a greeting command",
    );
    check(&LOWER, "JWT helper", src, "JWT helper");
    let title = "make batched and matmul yield tuples; say so, with a test";
    check(&TERSE, title, src, title);
    check(
        &SEMANTIC,
        "Add a greeting command",
        src,
        "feat: add a greeting command",
    );
    check(&SEMANTIC, "perf: Greet faster", src, "perf: greet faster");
    check(&SEMANTIC, "API keys", src, "feat: API keys");
    check(&KOREAN, "인사 명령 추가", src, "인사 명령 추가");
    check(
        &["feat: 로그인 추가"],
        "로그인 버그를 고친다",
        src,
        "fix: 로그인 버그를 고친다",
    );
}

#[test]
fn types() {
    let check = |title: &str, files: &[&str], expect: &str| {
        let message = CommitHistory::from_subjects(&SEMANTIC).compose(title, &paths(files));
        assert_eq!(
            message.split(':').next(),
            Some(expect),
            "{title:?} {files:?}"
        );
    };
    check("Add a parser", &["src/a.rs", "tests/a.rs"], "feat");
    check("Parser", &["src/a.rs"], "feat");
    check("Add cases", &["tests/a.rs", "src/a.test.ts"], "test");
    check("Explain it", &["README.md", "docs/img.png"], "docs");
    check("Fix the parser", &["src/a.rs"], "fix");
    check("Handle a crash", &["src/a.rs"], "fix");
    check("Add a bug report form", &["src/a.rs"], "feat");
    check("Add fixtures", &["src/a.rs"], "feat");
    check("Rename the parser", &["src/a.rs"], "refactor");
    check("Refactor the fix for the parser", &["src/a.rs"], "refactor");
    check("Make it faster", &["src/a.rs"], "feat");
    check("perf: optimize the parser", &["src/a.rs"], "perf");
    check("버그를 고친다", &["src/a.rs"], "fix");
}

#[test]
fn scopes() {
    let check = |files: &[&str], expect: &str| check(&SCOPED, "Add it", files, expect);
    check(&["src/api/a.rs", "src/api/b/c.rs"], "feat(api): add it");
    check(&["src/web.rs"], "feat(web): add it");
    check(&["src/api/a.rs", "tests/api.rs"], "feat(api): add it");
    check(&["crates/other/a.rs"], "feat: add it");
    check(&["src/a.rs", "lib/b.rs"], "feat: add it");
    check(&["src/a.rs"], "feat: add it");
    check(&["$(touch x)/a"], "feat: add it");
    check(&[], "feat: add it");
}

#[test]
fn titles_that_are_no_subjects() {
    let check = |title: &str, files: &[&str], expect: &str| check(&[], title, files, expect);
    check("# Add it", &[], "Add it");
    check("feat: # Add it", &[], "Add it");
    check("- --amend Add it", &[], "amend Add it");
    check("fixup! squash! Add it", &[], "Add it");
    check("Add\nit\tall\u{7}\u{1b}[31m", &[], "Add it all [31m");
    check("Add\u{202e}it\u{200b}", &[], "Addit");
    check("###", &["src/a.rs"], "Update");
    check("Wait...", &[], "Wait...");
    check("`$(touch x)`", &[], "`$(touch x)`");
}

#[test]
fn what_is_too_long_is_cut_and_told_whole() {
    let title = "Reject every token whose signature is missing, malformed, expired or made with a key that is unknown";
    check(
        &[],
        title,
        &[],
        "Reject every token whose signature is missing, malformed, expired or…\n\n\
         Reject every token whose signature is missing, malformed, expired or\nmade with a key that is unknown",
    );
    let korean = "가".repeat(40);
    let message = CommitHistory::default().compose(&korean, &[]);
    let subject = format!("{}…", "가".repeat(35));
    assert_eq!(subject.width(), 71);
    assert_eq!(message, format!("{subject}\n\n{korean}\n"));
    let hash = format!("{} #12 and more", "word ".repeat(14).trim());
    assert!(
        CommitHistory::default()
            .compose(&hash, &[])
            .lines()
            .all(|line| !line.starts_with('#'))
    );
}

proptest! {
    #[test]
    fn every_title_makes_one_line_that_git_takes_as_it_is(
        title in any::<String>(),
        subjects in prop::sample::select(vec![&SEMANTIC[..], &SCOPED, &PLAIN, &LOWER, &TERSE, &KOREAN, &[]]),
        files in prop::collection::vec("[a-z/.]{1,12}", 0..3),
    ) {
        let files: Vec<RepoPath> = files.iter().map(|file| file.as_str().into()).collect();
        let message = CommitHistory::from_subjects(subjects).compose(&title, &files);
        let (subject, body) = message.trim_end().split_once("\n\n").unwrap_or((message.trim_end(), ""));
        prop_assert!(!subject.trim().is_empty());
        prop_assert!(subject.width() <= SUBJECT_COLUMNS, "{}", subject);
        prop_assert!(!subject.chars().any(char::is_control));
        prop_assert!(!subject.starts_with(['#', '-', ' ']), "{}", subject);
        prop_assert!(body.lines().all(|line| !line.starts_with(['#', '-'])), "{}", body);
    }
}

const ALL_SCOPED: [&str; 4] = [
    "feat(api): add login",
    "fix(web): mend it",
    "docs(api): say why",
    "feat(cli): list",
];
const TYPED: [&str; 4] = [
    "feat: add login",
    "fix: mend it",
    "docs: say why",
    "Update README",
];
const MIXED: [&str; 4] = [
    "feat: add login",
    "Fix the parser again, all of it",
    "say why it is so",
    "로그인을 고친다",
];
const CAPITALS: [&str; 3] = [
    "Add the login page of the site",
    "Handle input that is empty",
    "Say why it is so",
];
#[track_caller]
fn objects(subjects: &[&str], message: &str, expect: &[&str]) {
    let found = CommitHistory::from_subjects(subjects).objections(message);
    assert_eq!(found, expect, "{message:?}");
}

#[test]
fn messages_in_style_are_fine() {
    let fine = |subjects: &[&str], message: &str| objects(subjects, message, &[]);
    fine(&[], "Anything goes");
    fine(&[], "feat: 무엇이든");
    fine(
        &[],
        "  Anything goes\n\nWith a body.\n- and a list\n\nSigned-off-by: A <a@b.c>\n\n",
    );
    fine(&ALL_SCOPED, "fix(api): handle it");
    fine(&ALL_SCOPED, "fix(new/part)!: handle it");
    fine(&ALL_SCOPED, "fix: handle it");
    fine(&TYPED, "fix: handle it");
    fine(&TYPED, "feat: JWT keys");
    fine(&TYPED, "feat: wait...");
    fine(&MIXED, "feat: add it");
    fine(&MIXED, "feat(x): Add it");
    fine(&MIXED, "로그인 추가");
    fine(&CAPITALS, "Add it");
    fine(&CAPITALS, "git: measure once");
    fine(&CAPITALS, "`x` is gone");
    fine(&TERSE, "mend it");
}

#[test]
fn what_is_wrong_is_said() {
    let form = "the subject has none of the types: begin with one, as in `fix: WHAT`";
    objects(&[], "", &["the subject is empty"]);
    objects(&[], " \n\n ", &["the subject is empty"]);
    objects(&ALL_SCOPED, "handle it", &[form]);
    objects(&ALL_SCOPED, "wip: handle it", &[form]);
    objects(&ALL_SCOPED, "fix(api) handle it", &[form]);
    objects(
        &CAPITALS,
        "feat: Add it",
        &["the subject begins with the type `feat:`, and subjects here have none"],
    );
    objects(
        &[],
        &"가".repeat(37),
        &["the subject has 74 columns, of at most 72: say the rest in the body"],
    );
    objects(
        &[],
        "One\ntwo",
        &["the second line is not blank: git would take it for a part of the subject"],
    );
    objects(
        &[],
        "One\u{1b}[31m",
        &["there is an invisible character in it, U+001B"],
    );
    objects(
        &[],
        "One\r\n\r\nbody\u{202e}",
        &["there is an invisible character in it, U+000D"],
    );
    let sign = |sign: &str| {
        format!(
            "the subject begins with `{sign}`, which git may read as an instruction or a comment: begin with a word"
        )
    };
    objects(&[], "fixup! Add it", &[&sign("fixup!")]);
    objects(&[], "# Add it", &[&sign("#")]);
    objects(&[], "--amend", &[&sign("-")]);
}

proptest! {
    /// The program accepts the messages that it composes itself.
    #[test]
    fn composed_messages_pass(
        subjects in prop::sample::select(vec![&ALL_SCOPED[..], &TYPED, &MIXED, &TERSE, &[]]),
        title in "[a-z]{1,8}( [a-z]{1,8}){0,12}",
    ) {
        let history = CommitHistory::from_subjects(subjects);
        let message = history.compose(&title, &["src/api/a.rs".into()]);
        prop_assert_eq!(history.objections(&message), Vec::<String>::new(), "{}", message);
    }

    #[test]
    fn what_passes_is_one_visible_line(
        subjects in prop::collection::vec(any::<String>(), 0..5),
        message in any::<String>(),
    ) {
        let history = CommitHistory::from_subjects(&subjects);
        prop_assert!(!history.message_rule().is_empty());
        if history.objections(&message).is_empty() {
            let subject = message.trim().lines().next().unwrap_or_default().trim_end();
            prop_assert!(!subject.is_empty() && subject.width() <= SUBJECT_COLUMNS, "{:?}", subject);
            prop_assert!(!subject.chars().any(is_invisible), "{:?}", subject);
        }
    }
}
