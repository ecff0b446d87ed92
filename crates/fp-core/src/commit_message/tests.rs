use proptest::prelude::*;

use super::*;

fn paths(files: &[&str]) -> Vec<RepoPath> {
    files.iter().map(|file| (*file).into()).collect()
}

const SEMANTIC: [&str; 4] =
    ["feat: add login", "fix: handle empty input", "Update README", "chore: bump deps"];
const SCOPED: [&str; 3] = ["feat(api): add login", "fix(web): typo", "docs: say why"];
const PLAIN: [&str; 3] = ["Add the login page of the site", "Handle input that is empty", "Say why it is so"];
const LOWER: [&str; 2] = ["git: measure the working tree once", "add the login page of the site"];
const SHORT: [&str; 4] = ["wip", "fix typo", "login page", "Add the second half of the parser"];
const KOREAN: [&str; 3] =
    ["로그인 페이지를 새로 추가한다 그리고 고친다", "feat: 로그인", "Add login to the site at last"];

#[test]
fn what_a_history_has_in_common() {
    let check = |subjects: &[&str], style: Style, language: Language, scopes: bool| {
        let history = History::of(subjects);
        assert_eq!(
            (history.style(), history.language(), history.has_scopes()),
            (style, language, scopes),
            "{subjects:?}"
        );
    };
    check(&[], Style::Plain, Language::English, false);
    check(&SEMANTIC, Style::Semantic, Language::English, false);
    check(&SCOPED, Style::Semantic, Language::English, true);
    check(&PLAIN, Style::Plain, Language::English, false);
    check(&LOWER, Style::Plain, Language::English, false);
    check(&SHORT, Style::Short, Language::English, false);
    check(&["Initial commit"], Style::Plain, Language::English, false);
    check(&["Initial commit", "wip"], Style::Plain, Language::English, false);
    check(&["Initial commit", "wip", "mend"], Style::Short, Language::English, false);
    check(&KOREAN, Style::Plain, Language::Korean, false);
    check(&["feat: 로그인 추가", "feat: add"], Style::Semantic, Language::Korean, false);
    check(
        &["feat: add x", "Merge branch 'a'", "Revert \"b\"", "fixup! c", ""],
        Style::Semantic,
        Language::English,
        false,
    );
    check(
        &["note: this is no type of ours", "core: neither is this one"],
        Style::Plain,
        Language::English,
        false,
    );
}

#[test]
fn reasons_are_numbers() {
    let check = |subjects: &[&str], expect: &[&str]| assert_eq!(History::of(subjects).reasons(), expect);
    check(&[], &["there is no commit to take a style from, so subjects are plain"]);
    check(
        &SCOPED,
        &[
            "3 of 3 subjects begin with a type such as `feat:`",
            "0 of 3 subjects are Korean",
            "2 of 3 with a type have a scope",
        ],
    );
    check(
        &["Initial commit"],
        &["0 of 1 subjects begin with a type, and so few make no other habit", "0 of 1 subjects are Korean"],
    );
    check(&SHORT, &["3 of 4 subjects have at most 3 words", "0 of 4 subjects are Korean"]);
    check(
        &PLAIN,
        &["only 0 of 3 subjects begin with a type, and only 0 are short", "0 of 3 subjects are Korean"],
    );
}

#[track_caller]
fn check(subjects: &[&str], title: &str, files: &[&str], expect: &str) {
    let message = compose(&History::of(subjects), title, &paths(files));
    assert_eq!(message.to_string().trim_end(), expect, "{title:?} {files:?}");
}

#[test]
fn messages_of_each_style() {
    let src = &["src/a.rs"][..];
    check(&[], "Add a greeting command", src, "Add a greeting command");
    check(&PLAIN, "Add a greeting command.", src, "Add a greeting command");
    check(&PLAIN, "feat: add a greeting command", src, "add a greeting command");
    check(&LOWER, "Add a greeting command", src, "add a greeting command");
    check(&LOWER, "JWT helper", src, "JWT helper");
    check(&SHORT, "Add a greeting command with tests for it", src, "add a greeting command");
    check(&SEMANTIC, "Add a greeting command", src, "feat: add a greeting command");
    check(&SEMANTIC, "perf: Greet faster", src, "perf: greet faster");
    check(&SEMANTIC, "API keys", src, "feat: API keys");
    check(&KOREAN, "인사 명령 추가", src, "인사 명령 추가");
    check(&["feat: 로그인 추가"], "로그인 버그를 고친다", src, "fix: 로그인 버그를 고친다");
}

#[test]
fn types() {
    let check = |title: &str, files: &[&str], expect: &str| {
        let message = compose(&History::of(&SEMANTIC), title, &paths(files));
        assert_eq!(message.subject.split(':').next(), Some(expect), "{title:?} {files:?}");
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
    check("Optimize the parser", &["src/a.rs"], "perf");
    check("Run tests", &[".github/workflows/ci.yml"], "chore");
    check("Bump serde", &["Cargo.toml", "Cargo.lock"], "chore");
    check("버그를 고친다", &["src/a.rs"], "fix");
    let ci =
        compose(&History::of(&["ci: run", "build: x"]), "Run tests", &paths(&[".github/workflows/ci.yml"]));
    assert_eq!(ci.subject, "ci: run tests");
}

#[test]
fn scopes() {
    let check = |files: &[&str], expect: &str| check(&SCOPED, "Add it", files, expect);
    check(&["src/api/a.rs", "src/api/b/c.rs"], "feat(api): add it");
    check(&["src/web.rs"], "feat(web): add it");
    check(&["crates/fp-core/src/a.rs", "crates/fp-core/tests/a.rs"], "feat(fp-core): add it");
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
    check("   ", &["src/a.rs"], "Update src/a.rs");
    check("###", &["src/a.rs", "b"], "Update src/a.rs and 1 more");
    check("", &[], "Update");
    check("", &["a\nb"], "Update \"a\\nb\"");
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
    let message = compose(&History::default(), &korean, &[]);
    assert_eq!(message.subject, format!("{}…", "가".repeat(35)));
    assert_eq!(message.subject.width(), 71);
    assert_eq!(message.body, korean);
    let hash = format!("{} #12 and more", "word ".repeat(14).trim());
    assert!(compose(&History::default(), &hash, &[]).body.lines().all(|line| !line.starts_with('#')));
}

proptest! {
    #[test]
    fn every_title_makes_one_line_that_git_takes_as_it_is(
        title in any::<String>(),
        subjects in prop::sample::select(vec![&SEMANTIC[..], &SCOPED, &PLAIN, &LOWER, &SHORT, &KOREAN, &[]]),
        files in prop::collection::vec("[a-z/.]{1,12}", 0..3),
    ) {
        let files: Vec<RepoPath> = files.iter().map(|file| file.as_str().into()).collect();
        let Message { subject, body } = compose(&History::of(subjects), &title, &files);
        prop_assert!(!subject.trim().is_empty());
        prop_assert!(subject.width() <= SUBJECT_COLUMNS, "{}", subject);
        prop_assert!(!subject.chars().any(char::is_control));
        prop_assert!(!subject.starts_with(['#', '-', ' ']), "{}", subject);
        prop_assert!(body.lines().all(|line| !line.starts_with(['#', '-'])), "{}", body);
    }
}
