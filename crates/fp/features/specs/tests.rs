//! Tests for reading, choosing and quoting specs, with tables and with arbitrary text.

use std::path::Path;

use proptest::prelude::*;

use super::page::*;

fn spec(name: &str, front: &str, body: &str) -> Spec {
    let path = format!("/p/{name}.md");
    let page = format!("---\n{front}\n---\n{body}");
    parse_spec(name, Path::new(&path), &page).unwrap()
}

#[test]
fn what_is_missing_has_a_default() {
    let check = |text: &str, expect: (&str, SpecCategory, SpecReadMode, &[&str], &str)| {
        let spec = parse_spec("api/errors", Path::new("a.md"), text).unwrap();
        let keywords: Vec<&str> = spec.keywords.iter().map(String::as_str).collect();
        let read = (
            &*spec.title,
            spec.category,
            spec.read_mode,
            &keywords[..],
            &*spec.body,
        );
        assert_eq!(read, expect, "{text:?}");
    };
    let (general, optional) = (SpecCategory::General, SpecReadMode::Optional);
    check("", ("errors", general, optional, &[], ""));
    check("plain\n", ("errors", general, optional, &[], "plain"));
    check(
        "# How *errors* `read`\nx",
        (
            "How errors read",
            general,
            optional,
            &[],
            "# How *errors* `read`\nx",
        ),
    );
    check("---\n---\n", ("errors", general, optional, &[], ""));
    check(
        "---\n# nothing yet\n---\nx",
        ("errors", general, optional, &[], "x"),
    );
    check(
        "---\ntitle:\n---\nText\n",
        ("errors", general, optional, &[], "Text"),
    );
    check(
        "\u{feff}---\r\ntitle: A\r\nkeywords: [jwt, 2024]\r\nreadMode: required\r\n---\r\n\r\none\r\ntwo\r\n",
        (
            "A",
            general,
            SpecReadMode::Required,
            &["jwt", "2024"],
            "one\ntwo",
        ),
    );
    check(
        "---\ntitle: 2024\ncategory: execution\npriority: critical\nkeywords: [a b, 인증]\nowner: me\n---\n",
        (
            "2024",
            SpecCategory::Execution,
            optional,
            &["a b", "인증"],
            "",
        ),
    );
    check(
        "---\nread-mode: required\nkeywords: [a7]\n---",
        ("errors", general, SpecReadMode::Required, &["a7"], ""),
    );
    check(
        "---\ntitle: >\n  one\n  two\n---\n",
        ("one two", general, optional, &[], ""),
    );
    check(
        "text\n---\ntitle: no\n---\n",
        (
            "errors",
            general,
            optional,
            &[],
            "text\n---\ntitle: no\n---",
        ),
    );
}

#[test]
fn what_is_wrong_is_said() {
    let check = |text: &str, expect: &str| {
        assert_eq!(
            parse_spec("a", Path::new("a.md"), text).unwrap_err(),
            expect,
            "{text:?}"
        );
    };
    check(
        "---\ntitle: A\nreadMode: requird\n---\n",
        "readMode: unknown variant `requird`, expected `required` or `optional` at line 3 column 11",
    );
    check(
        "---\ntitle: [a, b]\n---\n",
        "title: invalid type: sequence, expected a string at line 2 column 8",
    );
    check(
        "---\njust text\n---\n",
        "invalid type: string \"just text\", expected keys and their values at line 2 column 1",
    );
    check(
        "---\ntitle: A\n\nText\n",
        "the frontmatter is never closed by a line `---`",
    );
}

fn names(specs: &[Spec], stages: &[SpecCategory], about: &str) -> String {
    let names = applicable_specs(specs, stages, about)
        .into_iter()
        .map(|spec| spec.name.clone());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn stage_and_keywords_decide() {
    let specs = [
        spec("all", "title: All", "x"),
        spec("auth", "keywords: [jwt, 인증]\ncategory: execution", "x"),
        spec("must", "readMode: required", "x"),
        spec("plan", "category: planning\nreadMode: required", "x"),
        spec("ui", "keywords: ['', '++', button, css]", "x"),
    ];
    let check = |stages: &[SpecCategory], about: &str, expect: &str| {
        assert_eq!(names(&specs, stages, about), expect);
    };
    check(
        &[SpecCategory::Execution],
        "Add a login\nsrc/jwt.rs",
        "must all auth",
    );
    check(
        &[SpecCategory::Planning],
        "로그인 인증을 추가, CSS too",
        "must plan all ui",
    );
    check(&[], "인증을", "must plan all auth");
}

#[test]
fn a_payload_has_required_ones_as_text_and_others_as_lines() {
    let specs = [
        spec(
            "a",
            "readMode: required\ntitle: Errors",
            "## HAND IN\n\nSay where.",
        ),
        spec("b", "title: Names", "text"),
        spec("c", "title: Tests", "text"),
    ];
    let apply = applicable_specs(&specs, &[SpecCategory::Execution], "");
    let check = |room: usize, expect: &str| {
        let text = payload_section(&apply, room, "fp specs for p 1");
        assert_eq!(text, expect, "{room}");
        assert!(text.len() <= room || !text.contains('>'), "{room}");
    };
    let text = "Errors, which every task keeps to:\n> ## HAND IN\n>\n> Say where.\n";
    let names = "- Where it helps, read /p/b.md: Names\n- Where it helps, read /p/c.md: Tests\n";
    let read = "- Read /p/a.md before you begin: Errors\n";
    check(1000, &format!("\n## PROJECT SPECS\n{text}{names}"));
    check(
        150,
        &format!("\n## PROJECT SPECS\n{text}- (2 more where they help: `fp specs for p 1`)\n"),
    );
    check(70, &format!("\n## PROJECT SPECS\n{read}"));
    check(
        10,
        "\n## PROJECT SPECS\n- Run `fp specs for p 1` before you begin, and keep to what it prints\n",
    );
}

fn any_spec() -> impl Strategy<Value = Spec> {
    let body = prop::collection::vec("[a-z한 ]{0,40}|#{1,3} [a-z]{0,8}|```|> # q|", 0..12);
    let front = (
        "required|optional",
        "general|planning|execution",
        r"\[jwt\]|\[인증\]|\[\]",
    );
    ("[a-z]{1,3}", front, body).prop_map(|(name, (mode, category, keywords), body)| {
        let front = format!("readMode: {mode}\ncategory: {category}\nkeywords: {keywords}");
        spec(&name, &front, &body.join("\n"))
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in r"(---\n)?(\PC|[\n\r\t:\[{}\]#&*!|>'-]){0,80}(\n---\n)?\PC{0,20}") {
        if let Ok(spec) = parse_spec("a", Path::new("a.md"), &text) {
            prop_assert!(!spec.title.is_empty() && !spec.title.contains('\n'));
        }
    }

    #[test]
    fn the_room_is_kept_and_nothing_required_is_missing(
        specs in prop::collection::vec(any_spec(), 0..8),
        about in "(jwt|인증을|other| )*",
        room in 0_usize..600,
    ) {
        let stages = [SpecCategory::Execution];
        let apply = applicable_specs(&specs, &stages, &about);
        let text = payload_section(&apply, room, "fp specs for p 1");
        prop_assert!(text.len() <= room || text.matches('\n').count() <= 3, "{}", text);
        for spec in apply.iter().filter(|spec| spec.read_mode == SpecReadMode::Required) {
            let there = text.contains(&format!("Read {} before", spec.path.display()))
                || text.contains(&format!("{}, which every task", spec.title))
                || text.contains("Run `fp specs for p 1`");
            prop_assert!(there, "{} is missing:\n{}", spec.name, text);
        }
    }
}
