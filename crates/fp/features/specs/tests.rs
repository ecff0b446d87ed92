//! Reading, choosing and handing on specs, by tables and for any text.

use std::path::Path;

use proptest::prelude::*;

use super::model::*;

fn read(text: &str) -> Result<Spec, String> {
    let read = parse_spec(
        "api/errors".parse().unwrap(),
        Path::new("p"),
        text.to_owned(),
    );
    read.map_err(|fault| fault.line().strip_prefix("p:").unwrap().to_owned())
}

fn spec(name: &str, front: &str, body: &str) -> Spec {
    parse_spec(
        name.parse().unwrap(),
        Path::new("p"),
        format!("---\n{front}\n---\n{body}"),
    )
    .unwrap()
}

#[test]
fn what_is_missing_has_a_default() {
    let check = |text: &str,
                 expect: (
        &str,
        SpecCategory,
        SpecReadMode,
        SpecPriority,
        &[&str],
        &str,
    )| {
        let Spec {
            title,
            category,
            read_mode,
            priority,
            keywords,
            body,
            ..
        } = read(text).unwrap();
        let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
        let read = (
            title.as_str(),
            category,
            read_mode,
            priority,
            &keywords[..],
            body.as_str(),
        );
        assert_eq!(read, expect, "{text:?}");
    };
    let (general, optional, medium) = (
        SpecCategory::General,
        SpecReadMode::Optional,
        SpecPriority::Medium,
    );
    check("", ("errors", general, optional, medium, &[], ""));
    check(
        "plain\n",
        ("errors", general, optional, medium, &[], "plain"),
    );
    check(
        "# How *errors* `read`\nx",
        (
            "How errors read",
            general,
            optional,
            medium,
            &[],
            "# How *errors* `read`\nx",
        ),
    );
    check("---\n---\n", ("errors", general, optional, medium, &[], ""));
    check(
        "---\n# nothing yet\n---\nx",
        ("errors", general, optional, medium, &[], "x"),
    );
    check(
        "---\ntitle:\n---\nText\n",
        ("errors", general, optional, medium, &[], "Text"),
    );
    check(
        "\u{feff}---\r\ntitle: A\r\nkeywords: [jwt, 2024]\r\nreadMode: required\r\n---\r\n\r\none\r\ntwo\r\n",
        (
            "A",
            general,
            SpecReadMode::Required,
            medium,
            &["jwt", "2024"],
            "one\ntwo",
        ),
    );
    check(
        "---\ntitle: 2024\ncategory: execution\npriority: critical\nkeywords: [a b, 인증]\nowner: me\ndimension: personal\n---\n",
        (
            "2024",
            SpecCategory::Execution,
            optional,
            SpecPriority::Critical,
            &["a b", "인증"],
            "",
        ),
    );
    check(
        "---\nread-mode: required\nkeywords: [a7]\n---",
        (
            "errors",
            general,
            SpecReadMode::Required,
            medium,
            &["a7"],
            "",
        ),
    );
    check(
        "---\ntitle: >\n  one\n  two\n---\n",
        ("one two", general, optional, medium, &[], ""),
    );
    check(
        "text\n---\ntitle: no\n---\n",
        (
            "errors",
            general,
            optional,
            medium,
            &[],
            "text\n---\ntitle: no\n---",
        ),
    );
}

#[test]
fn what_is_wrong_has_its_place() {
    let check = |text: &str, expect: &str| {
        assert_eq!(read(text).unwrap_err(), expect, "{text:?}");
    };
    let correct = "correct it, or leave the key out for its default";
    check(
        "---\ntitle: A\nreadMode: requird\n---\n",
        &format!(
            "3:11: readMode: unknown value `requird`, expected `required` or `optional` ({correct})"
        ),
    );
    check(
        "---\npriority: 1\n---\n",
        &format!(
            "2:11: priority: unknown value `1`, expected one of `critical`, `high`, `medium`, `low` ({correct})"
        ),
    );
    check(
        "---\ntitle: [a, b]\n---\n",
        &format!("2:8: title: invalid type: sequence, expected a string ({correct})"),
    );
    check(
        "---\nkeywords: {a: b}\n---\n",
        &format!("2:11: keywords: invalid type: map, expected a sequence ({correct})"),
    );
    check(
        "---\ntitle: A\ntitle: B\n---\n",
        &format!("2:1: duplicate field `title` ({correct})"),
    );
    check(
        "---\njust text\n---\n",
        &format!(
            "2:1: invalid type: string \"just text\", expected keys and their values ({correct})"
        ),
    );
    check(
        "---\ntitle: \"한글\n---\n",
        &format!("3:1: found unexpected end of stream ({correct})"),
    );
    check(
        "---\nkeywords: [a, b\npriority: low\n---\n",
        &format!("3:9: did not find expected ',' or ']' ({correct})"),
    );
    check(
        "---\ntitle: A\n\nText\n",
        "1:1: the frontmatter is never closed (put a line `---` after its last key, or an empty line before the first \
         `---` if it is no frontmatter)",
    );
}

#[test]
fn a_name_is_no_path() {
    let check =
        |name: &str, expect: bool| assert_eq!(name.parse::<SpecName>().is_ok(), expect, "{name:?}");
    check("errors", true);
    check("API rules", true);
    check("api/오류", true);
    check("errors.md", true);
    for bad in [
        "",
        "..",
        "../a",
        "a/../b",
        "a/b/c",
        "/a",
        "a/",
        ".hidden",
        "a\nb",
        "a\\b",
        "c:a",
        " a",
        "a\u{202e}/\u{2028}",
    ] {
        check(bad, false);
    }
    check(&"a".repeat(121), false);
}

fn names(specs: &[Spec], stages: &[SpecCategory], about: &str) -> String {
    let names = applicable_specs(specs, stages, about)
        .into_iter()
        .map(|spec| spec.name.to_string());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn stage_keywords_and_importance_decide() {
    let specs = [
        spec("all", "title: All", "x"),
        spec(
            "auth",
            "keywords: [jwt, 인증]\ncategory: execution\npriority: high",
            "x",
        ),
        spec("must", "readMode: required\npriority: low", "x"),
        spec("plan", "category: planning\nreadMode: required", "x"),
        spec("ui", "keywords: ['', '++', button, css]", "x"),
    ];
    let check = |stages: &[SpecCategory], about: &str, expect: &str| {
        assert_eq!(names(&specs, stages, about), expect);
    };
    check(
        &[SpecCategory::Execution],
        "Add a login\nsrc/jwt.rs",
        "must auth all",
    );
    check(
        &[SpecCategory::Planning],
        "로그인 인증을 추가, CSS too",
        "plan must all ui",
    );
    check(&[], "인증을", "plan must auth all");
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
        let text = payload_section(
            &apply,
            room,
            |spec| format!("/p/{}.md", spec.name),
            "fp specs for p 1",
        );
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
        "critical|high|medium|low",
        "general|planning|execution",
        r"\[jwt\]|\[인증\]|\[\]",
    );
    ("[a-z]{1,3}", front, body).prop_map(|(name, (mode, priority, category, keywords), body)| {
        let front = format!(
            "readMode: {mode}\npriority: {priority}\ncategory: {category}\nkeywords: {keywords}"
        );
        spec(&name, &front, &body.join("\n"))
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in r"(---\n)?(\PC|[\n\r\t:\[{}\]#&*!|>'-]){0,80}(\n---\n)?\PC{0,20}") {
        match read(&text) {
            Ok(spec) => prop_assert!(!spec.title.is_empty() && !spec.title.contains('\n')),
            Err(fault) => {
                let place: Vec<usize> = fault.split(':').take(2).map(|number| number.parse().unwrap()).collect();
                prop_assert!((1..=text.lines().count() + 1).contains(&place[0]) && place[1] > 0, "{:?}", fault);
            }
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
        let text = payload_section(&apply, room, |spec| format!("/{}.md", spec.name), "fp specs for p 1");
        prop_assert!(text.len() <= room || text.matches('\n').count() <= 3, "{}", text);
        for spec in apply.iter().filter(|spec| spec.read_mode == SpecReadMode::Required) {
            let there = text.contains(&format!("Read /{}.md before", spec.name))
                || text.contains(&format!("{}, which every task", spec.title))
                || text.contains("Run `fp specs for p 1`");
            prop_assert!(there, "{} is missing:\n{}", spec.name, text);
        }
    }
}
