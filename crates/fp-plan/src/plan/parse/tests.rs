//! Checks what the parser reads, by means of outlines that show all of it.

use std::fmt::Write;

use super::parse;
use crate::plan::FieldKind;
use crate::plan::meaning::leaf_text;
use crate::plan::task::{Field, Item, TaskFields};

fn entries(out: &mut String, name: &str, list: Option<&Field>) {
    if let Some(list) = list {
        let texts: Vec<String> = list
            .items
            .iter()
            .map(|item| match &item.note {
                Some(note) => format!("{}<{note}>", item.text),
                None => item.text.to_string(),
            })
            .collect();
        write!(out, " {name}={texts:?}").unwrap();
    }
}

fn labelled(out: &mut String, name: &str, list: &[(&str, Item<'_>)]) {
    for (label, item) in list {
        write!(out, " {name}:{label}={:?}", item.text).unwrap();
    }
}

/// Writes a field that takes one of several words: the canonical word, then the original text if it differs.
fn word(out: &mut String, name: &str, fields: &TaskFields, kind: FieldKind) {
    if let (Some(word), Some(item)) = (fields.text(kind), fields.value(kind)) {
        write!(out, " {name}={word}").unwrap();
        if item.text != word {
            write!(out, "<{}>", item.text).unwrap();
        }
    }
}

/// One line per task, indented by depth, then the findings as `! offset: detail`.
fn outline(text: &str) -> String {
    let (plan, diagnostics) = parse(text);
    let mut out = String::new();
    for task in &plan.tasks {
        let marks = format!(
            "{}{}",
            if task.synthetic { "~" } else { "" },
            if task.broken { "?" } else { "" }
        );
        write!(
            out,
            "{}{marks}{} {:?}",
            "  ".repeat(task.depth),
            task.id,
            task.description
        )
        .unwrap();
        match (task.complexity, task.fields.value(FieldKind::Complexity)) {
            (Some(number), _) => write!(out, " ({number})").unwrap(),
            (None, Some(source)) => write!(out, " ({})", source.text).unwrap(),
            (None, None) => {}
        }
        let fields = &task.fields;
        entries(&mut out, "A", fields.get(FieldKind::Acceptance));
        entries(&mut out, "D", fields.get(FieldKind::Dependencies));
        entries(&mut out, "after", fields.get(FieldKind::After));
        entries(&mut out, "F", fields.get(FieldKind::Files));
        word(&mut out, "T", fields, FieldKind::TestsRequired);
        entries(&mut out, "H", fields.get(FieldKind::Hints));
        entries(&mut out, "R", fields.get(FieldKind::References));
        entries(&mut out, "G", fields.get(FieldKind::Guardrails));
        entries(&mut out, "setup", fields.get(FieldKind::Setup));
        entries(&mut out, "C", fields.get(FieldKind::TestCommands));
        entries(&mut out, "covers", fields.get(FieldKind::Covers));
        for (name, kind) in [
            ("group", FieldKind::Group),
            ("verify", FieldKind::Verify),
            ("priority", FieldKind::Priority),
            ("description", FieldKind::Description),
            ("split", FieldKind::Split),
            ("kind", FieldKind::Kind),
        ] {
            if let Some(value) = fields.text(kind) {
                write!(out, " {name}={value:?}").unwrap();
            }
        }
        word(&mut out, "risk", fields, FieldKind::Risk);
        labelled(&mut out, "unknown", &fields.unknown);
        labelled(&mut out, "again", &fields.duplicates);
        for kind in [FieldKind::TestsRequired, FieldKind::Risk] {
            if let (Some(field), None) = (fields.get(kind), fields.text(kind)) {
                let text = field.items.first().map_or("", |item| &item.text);
                write!(out, " unreadable:{}={text:?}", kind.label()).unwrap();
            }
        }
        for note in &task.notes {
            write!(out, " note={:?}", note.text).unwrap();
        }
        out.push('\n');
    }
    for (before, item) in &plan.prose {
        writeln!(out, "prose@{before} {:?}", item.text).unwrap();
    }
    for diagnostic in diagnostics {
        writeln!(
            out,
            "! {:?} {}",
            &text[diagnostic.span.start..diagnostic.span.end],
            diagnostic.detail
        )
        .unwrap();
    }
    out
}

fn check(text: &str, expect: &str) {
    let found = outline(text);
    let margin = if expect.starts_with('\n') { "    " } else { "" };
    let lines = expect.lines().filter(|line| !line.trim().is_empty());
    let expect: String = lines
        .map(|line| format!("{}\n", line.strip_prefix(margin).unwrap_or(line)))
        .collect();
    assert_eq!(
        found, expect,
        "\n{text}\n--- found\n{found}--- expected\n{expect}"
    );
    assert_eq!(
        outline(&text.replace('\n', "\r\n")).replace("\\r", ""),
        found,
        "with CRLF:\n{text}"
    );
    assert_eq!(
        outline(&format!("\u{feff}{text}")),
        found,
        "with a byte-order mark:\n{text}"
    );
    assert_eq!(
        outline(text.trim_end()),
        found,
        "without the last line end:\n{text}"
    );
}

#[test]
fn the_list_dialect() {
    check(
        "\
# Task Decomposition

## Root Task
- [ID: root] Add user authentication (Complexity: 9)

### Subtasks
- [ID: 1] Token handling (Complexity: 6)
  - [ID: 1.1] JWT helper (Complexity: 3)
    - Acceptance:
      - Signs a token with a configurable expiry
      - Rejects an expired, a malformed and a wrongly signed token
    - Dependencies: none
    - Files: src/jwt.rs
    - Tests Required: yes
    - Hints:
      - Follow the structure of src/crypto.rs
      - Return the crate's Error type
    - References:
      - src/crypto.rs:15 - structure to follow
    - Guardrails:
      - Do NOT modify files outside: src/jwt.rs
      - Do NOT add new dependencies
    - Test Commands: cargo test jwt
",
        r#"
    root "Add user authentication" (9)
      1 "Token handling" (6)
        1.1 "JWT helper" (3) A=["Signs a token with a configurable expiry", "Rejects an expired, a malformed and a wrongly signed token"] D=[] F=["src/jwt.rs"] T=yes H=["Follow the structure of src/crypto.rs", "Return the crate's Error type"] R=["src/crypto.rs:15 - structure to follow"] G=["Do NOT modify files outside: src/jwt.rs", "Do NOT add new dependencies"] C=["cargo test jwt"]
"#,
    );
}

#[test]
fn the_heading_dialect_and_both_mixed() {
    check(
        "\
# [root] Goal

- Complexity: 9

## [1] First
- Complexity: 4
- Description: What it is
- Dependencies:
  - 2.1

## [2] Second

- [ID: 2.1] In a list (Complexity: 2)
  - Files: a.rs
### [2.2] In a heading
* Files: b.rs

## [3] Third
- [ID: 3.1] Below (Complexity: 1)
",
        r#"
    root "Goal" (9)
      1 "First" (4) D=["2.1"] description="What it is"
      2 "Second"
        2.1 "In a list" (2) F=["a.rs"]
        2.2 "In a heading" F=["b.rs"]
      3 "Third"
        3.1 "Below" (1)
"#,
    );
}

#[test]
fn roots() {
    check("", "");
    check(
        "# Only prose\n\nNothing here.\n",
        "prose@0 \"# Only prose\"\nprose@0 \"Nothing here.\"\n",
    );
    check("- [ID: 1] Alone (Complexity: 2)\n", "1 \"Alone\" (2)");
    check(
        "- [ID: 1] A (Complexity: 2)\n- [ID: 2] B (Complexity: 5)\n  - [ID: 2.1] C\n",
        "~root \"A; B\" (5)\n  1 \"A\" (2)\n  2 \"B\" (5)\n    2.1 \"C\"\n",
    );
    check(
        "- [ID: 1] A\n  - [ID: 1.1] AA\n- [ID: root] R\n  - [ID: 2] B\n- [ID: 3] C\n",
        "~root \"A; R; C\"\n  1 \"A\"\n    1.1 \"AA\"\n  root \"R\"\n    2 \"B\"\n  3 \"C\"\n",
    );
    check(
        "- [ID: 1] A\n- [ID: 1] B\n",
        "~root \"A; B\"\n  1 \"A\"\n  1 \"B\"\n",
    );
}

#[test]
fn bullets_emphasis_checkboxes_and_separators() {
    check(
        "* [ID: 1] A\n  + [ID: 1.1] B\n    1. [ID: 1.1.1] C\n",
        "1 \"A\"\n  1.1 \"B\"\n    1.1.1 \"C\"\n",
    );
    check("- **[ID: 1.1]** A (Complexity: 3)\n", "1.1 \"A\" (3)");
    check("- **[ID: 1.1] A** (Complexity: 3)\n", "1.1 \"A\" (3)");
    check("- **[ID: 1.1] A (Complexity: 3)**\n", "1.1 \"A\" (3)");
    check(
        "- [ ] [ID: 1.1] A\n  - [x] __[id: 1.2]__: B\n",
        "1.1 \"A\"\n  1.2 \"B\"\n",
    );
    check("- [ID: 1]: A\n", "1 \"A\"");
    check(
        "- [ID: 1]: two words\n\n  - [ID: 1.1]: C\n",
        "1 \"two words\"\n  1.1 \"C\"\n",
    );
    check("- [ID: `1`] — A – b\n", "1 \"A – b\"");
    check(
        "- [ID: -x] A\n  - [ID: ../y] B\n",
        "-x \"A\"\n  ../y \"B\"\n",
    );
    check("- [ID: #1] A\n", "1 \"A\"");
    check("## [#1] A\n", "1 \"A\"");
    check("- [ID:~-.1~] A\n", "-.1 \"A\"");
    check("- \\[ID: 1\\] A\n", "1 \"A\"");
    check(
        "- [ID: 1] A\n  wrapped\n  (Complexity: 3)\n",
        "1 \"A wrapped\" (3)",
    );
    check(
        "- [ID: 1] 값 `x` *y* (see z) (complexity: 3)\n",
        "1 \"값 `x` *y* (see z)\" (3)",
    );
    check(
        "- [ID: 1] A (Complexity: 3, Risk: low) !\n",
        "1 \"A !\" (3)",
    );
    check(
        "- [ID: 1] A (Complexity:\n  b\n",
        "1 \"A b\" ()\n! \"[ID: 1] A (Complexity:\\n  b\" the parenthesis of the complexity isn't closed\n",
    );
    check("- [ID: 1] A (Complexity: high)\n", "1 \"A\" (high)");
    check(
        "- [ID: 1] A (Complexity: 99999999999)\n",
        "1 \"A\" (99999999999)",
    );
    check("## [1] A ##\n", "1 \"A\"");
}

#[test]
fn indentation() {
    check(
        "1. [ID: 1] A\n  - [ID: 1.1] B\n    - Files: b\n  - [ID: 1.2] C\n2. [ID: 2] D\n",
        "~root \"A; D\"\n  1 \"A\"\n    1.1 \"B\" F=[\"b\"]\n    1.2 \"C\"\n  2 \"D\"\n",
    );
    check(
        "- [ID: 1] A\n\t- [ID: 1.1] B\n\t\t- Files: b\n",
        "1 \"A\"\n  1.1 \"B\" F=[\"b\"]\n",
    );
    check(
        "- [ID: 1] A\n    - [ID: 1.1] B\n        - Files: b\n",
        "1 \"A\"\n  1.1 \"B\" F=[\"b\"]\n",
    );
    check(
        "-   [ID: 1] A\n    -   [ID: 1.1] B\n",
        "1 \"A\"\n  1.1 \"B\"\n",
    );
    check(
        "- [ID: 1] A\n\n  - [ID: 1.1] B\n\n    - Files: b\n\n      - c\n\n    - Hints: x\n",
        "1 \"A\"\n  1.1 \"B\" F=[\"b\", \"c\"] H=[\"x\"]\n",
    );
    check(
        "- [ID: 1] A\n<!-- note -->\n  - [ID: 1.1] B\n",
        "1 \"A\"\n  1.1 \"B\"\nprose@1 \"<!-- note -->\"\n",
    );
    check(
        "- [ID: 1] A\n\nProse.\n\n  - [ID: 1.1] B\n",
        "1 \"A\"\n  1.1 \"B\"\nprose@1 \"Prose.\"\n",
    );
    check(
        "- - [ID: 1] A\n",
        "?1 \"A\"\n! \"[ID: 1] A\" the line looks like a task and can't be read as one\n",
    );
}

#[test]
fn fields_absent_empty_and_given() {
    check(
        "- [ID: 1] A\n  - Acceptance: none\n  - Dependencies:\n  - Files: None.\n  - Hints:\n    - none\n",
        "1 \"A\" A=[] D=[] F=[] H=[]",
    );
    check("- [ID: 1] A\n  - Tests Required: No\n", "1 \"A\" T=no");
    check("- [ID: 1] A\n  - Tests Required: none\n", "1 \"A\" T=no");
    check(
        "- [ID: 1] A\n  - Tests Required: yes (unit)\n",
        "1 \"A\" T=yes<yes (unit)>",
    );
    check(
        "- [ID: 1] A\n  - Tests Required: **Yes**.\n",
        "1 \"A\" T=yes",
    );
    check(
        "- [ID: 1] A\n  - Tests Required:\n    - yes\n",
        "1 \"A\" T=yes",
    );
    check(
        "- [ID: 1] A\n  - Tests Required: maybe\n",
        "1 \"A\" unreadable:Tests Required=\"maybe\"",
    );
    check(
        "- [ID: 1] A\n  - Tests Required:\n",
        "1 \"A\" unreadable:Tests Required=\"\"",
    );
    check(
        "- [ID: 1] A\n  - Risk: High - much\n  - Group: g 1\n  - Priority: P1\n  - Verify: `make check`\n  - Covers: R1, R2\n",
        "1 \"A\" covers=[\"R1\", \"R2\"] group=\"g 1\" verify=\"make check\" priority=\"P1\" risk=high<High - much>",
    );
    check(
        "- [ID: 1] A\n  - Risk: huge\n  - Group: none\n",
        "1 \"A\" unreadable:Risk=\"huge\"",
    );
    check(
        "- [ID: 1] A\n  - **Files**: a\n  - **Hints:** b\n  - `Acceptance Criteria`: c\n  - test-commands: d\n",
        "1 \"A\" A=[\"c\"] F=[\"a\"] H=[\"b\"] C=[\"d\"]",
    );
    check("- [ID: 1] A\n  - Files:a.rs\n", "1 \"A\" F=[\"a.rs\"]");
}

#[test]
fn values_are_source_text() {
    check(
        "- [ID: 1] A\n  - Files: importer/__main__.py, `b*c*.rs`, ./d.rs\n",
        "1 \"A\" F=[\"importer/__main__.py\", \"b*c*.rs\", \"d.rs\"]",
    );
    check(
        "- [ID: 1] A\n  - Files: src/a.rs (new), src/b.rs - entry\n",
        "1 \"A\" F=[\"src/a.rs<(new)>\", \"src/b.rs<- entry>\"]",
    );
    check(
        "- [ID: 1] A\n  - Acceptance: prints \\* **x**; *y*\n",
        "1 \"A\" A=[\"prints \\\\* **x**\", \"*y*\"]",
    );
    check(
        "- [ID: 1] A\n  - Acceptance: accepts `a, b and c`, rejects (d, e), \"f, g\"\n",
        "1 \"A\" A=[\"accepts `a, b and c`\", \"rejects (d, e)\", \"\\\"f, g\\\"\"]",
    );
    check(
        "- [ID: 1] A\n  - Acceptance: a, b; c\n",
        "1 \"A\" A=[\"a, b\", \"c\"]",
    );
    check(
        "- [ID: 1] A\n  - Acceptance:\n    - a, b; c\n",
        "1 \"A\" A=[\"a, b; c\"]",
    );
    check(
        "- [ID: 1] A\n  - Acceptance: first\n    - second\n",
        "1 \"A\" A=[\"first\", \"second\"]",
    );
    check(
        "- [ID: 1] A\n  - Test Commands: `a; b`; c \"d; e\"\n",
        "1 \"A\" C=[\"a; b\", \"c \\\"d; e\\\"\"]",
    );
    check(
        "- [ID: 1] A\n  - Test Commands: `a`, `b`\n",
        "1 \"A\" C=[\"a\", \"b\"]",
    );
    check(
        "- [ID: 1] A\n  - Test Commands: a, b\n",
        "1 \"A\" C=[\"a, b\"]",
    );
    check(
        "- [ID: 1] A\n  - Test Commands:\n    ```sh\n    a\n    b\n    ```\n",
        "1 \"A\" C=[\"a\", \"b\"]",
    );
    check(
        "- [ID: 1] A\n  - References: src/a.rs:1 - x, then y\n",
        "1 \"A\" R=[\"src/a.rs:1 - x, then y\"]",
    );
}

#[test]
fn dependencies_are_ids() {
    let check = |value: &str, expect: &str| {
        check(
            &format!("- [ID: 1] A\n  - Dependencies: {value}\n"),
            &format!("1 \"A\" D={expect}"),
        )
    };
    check("1.1, 1.2", r#"["1.1", "1.2"]"#);
    check("1.1; 1.2", r#"["1.1", "1.2"]"#);
    check(
        "`1.1`, [1.2], [ID: 2], Task 3, **4**",
        r#"["1.1", "1.2", "2", "3", "4"]"#,
    );
    check("T1.1 (needs its types)", r#"["T1.1<(needs its types)>"]"#);
    check("1.1 - the helper", r#"["1.1<- the helper>"]"#);
    check("1.1.", r#"["1.1"]"#);
    check("the helper", r#"["the helper"]"#);
}

#[test]
fn entries_keep_their_blocks() {
    check(
        "- [ID: 1] A\n  - Acceptance:\n    - prints\n      ```\n      - [ID: 2] x (Complexity: 1)\n      ```\n    - lists\n      - one\n      - two\n    - wraps\n      a line\n    - two\n\n      paragraphs\n",
        r#"1 "A" A=["prints\n```\n- [ID: 2] x (Complexity: 1)\n```", "lists\n- one\n- two", "wraps a line", "two\n\nparagraphs"]"#,
    );
}

#[test]
fn a_hint_that_looks_like_a_field_is_a_hint() {
    check(
        "- [ID: 1] A\n  - Hints:\n    - Files: keep them small\n    - Complexity: low\n  - Files: a\n",
        "1 \"A\" F=[\"a\"] H=[\"Files: keep them small\", \"Complexity: low\"]",
    );
    check(
        "- [ID: 1] A\n  - Notes:\n    - Files: b\n  - Files: a\n",
        "1 \"A\" F=[\"a\"] unknown:Notes=\"- Files: b\"",
    );
}

#[test]
fn unknown_and_repeated_fields_are_kept() {
    check(
        "- [ID: 1] A\n  - Owner: me\n  - Files: a\n  - files: b, c\n  - Files:\n    - d\n",
        "1 \"A\" F=[\"a\"] unknown:Owner=\"me\" again:files=\"b, c\" again:Files=\"- d\"",
    );
    check(
        "- [ID: 1] A (Complexity: 3)\n  - Complexity: 4\n",
        "1 \"A\" (3) again:Complexity=\"4\"",
    );
    check(
        "- [ID: 1] A\n  - see http://x: y\n  - a very long label that is prose: y\n",
        "1 \"A\" note=\"- see http://x: y\" note=\"- a very long label that is prose: y\"",
    );
    check(
        "## [1] A\n### Details\n- Note: prose\n- Files: a\n",
        "1 \"A\" F=[\"a\"] note=\"### Details\" note=\"- Note: prose\"",
    );
    check(
        "## Assumptions\n- Note: prose\n\n- [ID: 1] A\n",
        "1 \"A\"\nprose@0 \"## Assumptions\"\nprose@0 \"- Note: prose\"\n",
    );
}

#[test]
fn groups_are_transparent() {
    check(
        "- [ID: 1] A\n  - Subtasks:\n    - [ID: 1.1] B\n      - Files: b\n    - [ID: 1.2] C\n",
        "1 \"A\"\n  1.1 \"B\" F=[\"b\"]\n  1.2 \"C\"\n",
    );
    check(
        "- Phase one\n  - [ID: 1] A\n- Phase two\n  - [ID: 2] B\n",
        "~root \"A; B\"\n  1 \"A\"\n  2 \"B\"\nprose@0 \"- Phase one\"\nprose@2 \"- Phase two\"\n",
    );
}

#[test]
fn code_and_quotes_hold_no_tasks() {
    check(
        "- [ID: 1] A\n\n```\n- [ID: 2] B\n```\n\n~~~md\n## [3] C\n~~~\n",
        "1 \"A\"\nprose@1 \"```\\n- [ID: 2] B\\n```\"\nprose@1 \"~~~md\\n## [3] C\\n~~~\"",
    );
    check(
        "> - [ID: 2] B\n\n- [ID: 1] A\n",
        "1 \"A\"\nprose@0 \"> - [ID: 2] B\"\n",
    );
    check(
        "<!-- - [ID: 2] B -->\n\n- [ID: 1] A\n",
        "1 \"A\"\nprose@0 \"<!-- - [ID: 2] B -->\"\n",
    );
    check(
        "The form is `[ID: 2] B`.\n\n- [ID: 1] A\n",
        "1 \"A\"\nprose@0 \"The form is `[ID: 2] B`.\"\n",
    );
}

#[test]
fn lines_that_only_start_like_a_task() {
    let faults = |line: &str, expect: &str| {
        let text = format!(
            "- [ID: root] R\n- [ID: 1] A\n  - Files: a\n{line}\n  - Files: b\n- [ID: 3] C\n"
        );
        let found = outline(&text);
        let (_, found) = found
            .split_once("  1 \"A\" F=[\"a\"]\n")
            .unwrap_or_else(|| panic!("{line}\n{found}"));
        assert_eq!(
            found.replace("  3 \"C\"\n", ""),
            format!("{expect}\n"),
            "{line}"
        );
    };
    faults(
        "- [ID 2] B",
        "  ?2 \"B\" F=[\"b\"]\n! \"[ID 2] B\" the line looks like a task and can't be read as one",
    );
    faults(
        "- [ID=2] B",
        "  ?2 \"B\" F=[\"b\"]\n! \"[ID=2] B\" the line looks like a task and can't be read as one",
    );
    faults(
        "- [ID: 2 B",
        "  ?2 \"B\" F=[\"b\"]\n! \"[ID: 2 B\" the line looks like a task and can't be read as one",
    );
    faults(
        "- [ID: ] B",
        "  ? \"B\" F=[\"b\"]\n! \"[ID: ] B\" the line looks like a task and can't be read as one",
    );
    faults(
        "- [2.1] B",
        "  ?2.1 \"B\" F=[\"b\"]\n! \"[2.1] B\" the line looks like a task and can't be read as one",
    );
    faults(
        "- [2] B (Complexity: 3)",
        "  ?2 \"B\" (3) F=[\"b\"]\n! \"[2] B (Complexity: 3)\" the line looks like a task and can't be read as one",
    );
    faults(
        "- (ID: 2) B",
        "  ?2 \"B\" F=[\"b\"]\n! \"(ID: 2) B\" the line looks like a task and can't be read as one",
    );
    faults(
        "- ID: 2 B (Complexity: 3)",
        "  ?2 \"B\" (3) F=[\"b\"]\n! \"ID: 2 B (Complexity: 3)\" the line looks like a task and can't be read as one",
    );
    faults(
        "- Task 2: B (Complexity: 3)",
        "  ?2 \"B\" (3) F=[\"b\"]\n! \"Task 2: B (Complexity: 3)\" the line looks like a task and can't be read as one",
    );
    faults(
        "- B b (Complexity: 3)",
        "  ? \"B b\" (3) F=[\"b\"]\n! \"B b (Complexity: 3)\" the line looks like a task and can't be read as one",
    );
    faults(
        "-[ID: 2] B",
        "  ?2 \"B\" F=[\"b\"]\n! \"[ID: 2] B\" the line looks like a task and can't be read as one",
    );
    faults(
        "[ID: 2] B",
        "  ?2 \"B\" F=[\"b\"]\n! \"[ID: 2] B\" the line looks like a task and can't be read as one",
    );
    faults(
        "• [ID: 2] B",
        "  ?2 \"B\" F=[\"b\"]\n! \"[ID: 2] B\" the line looks like a task and can't be read as one",
    );
    faults(
        "- [ID: 2] (Complexity: 3)",
        "  2 \"\" (3) F=[\"b\"]\n! \"[ID: 2] (Complexity: 3)\" task \"2\" has no title",
    );
    faults(
        "- [ID: 2] B (Complexity: 3",
        "  2 \"B\" (3) F=[\"b\"]\n! \"[ID: 2] B (Complexity: 3\" the parenthesis of the complexity isn't closed",
    );
}

#[test]
fn headings_that_only_start_like_a_task() {
    check(
        "## [1] A\n##[2] B\n- Files: b\n",
        "~root \"A; B\"\n  1 \"A\"\n  ?2 \"B\" F=[\"b\"]\n! \"[2] B\" the line looks like a task and can't be read as one\n",
    );
    check(
        "## [root A\n### [1] B\n",
        "?root \"A\"\n  1 \"B\"\n! \"[root A\" the line looks like a task and can't be read as one\n",
    );
    check("## [see below\n", "prose@0 \"## [see below\"\n");
    check(
        "## [1 A\n- Files: b\n",
        "?1 \"A\" F=[\"b\"]\n! \"[1 A\" the line looks like a task and can't be read as one\n",
    );
    check(
        "## 1.1 A (Complexity: 3)\n",
        "?1.1 \"A\" (3)\n! \"1.1 A (Complexity: 3)\" the line looks like a task and can't be read as one\n",
    );
    check("## [ID: 1] A\n", "1 \"A\"");
    check(
        "## [see this](x)\n## [a note] B\n## [ ] todo\n",
        "prose@0 \"## [see this](x)\"\nprose@0 \"## [a note] B\"\nprose@0 \"## [ ] todo\"\n",
    );
}

#[test]
fn what_is_never_closed_swallows_nothing() {
    check(
        "- [ID: 1] A\n\n```\ncode\n\n- [ID: 2] B\n",
        "~root \"A; B\"\n  1 \"A\"\n  2 \"B\"\nprose@2 \"```\\ncode\"\n! \"```\" the code fence is never closed\n",
    );
    check(
        "<!-- note\n- [ID: 1] A\n",
        "1 \"A\"\nprose@0 \"<!-- note\"\n! \"<!-- note\" the comment is never closed\n",
    );
}

#[test]
fn indentation_makes_no_task_code() {
    check(
        "- [ID: 1] A\n\nText\n\n      - [ID: 1.1] B\n      - [ID: 1.2] C\n",
        "1 \"A\"\n  1.1 \"B\"\n  1.2 \"C\"\nprose@1 \"Text\"\n",
    );
    check("- [ID: 1] A\n  2. [ID: 1.2] B\n", "1 \"A\"\n  1.2 \"B\"\n");
}

#[test]
fn tasks_inside_fields() {
    check(
        "- [ID: 1] A\n  - [ID: 1.1] B\n    - Hints: x\n      - [ID: 1.2] C (Complexity: 2)\n        - Files: c\n  - [ID: 1.3] D\n",
        "1 \"A\"\n  1.1 \"B\" H=[\"x\"]\n    ?1.2 \"C\" (2) F=[\"c\"]\n  1.3 \"D\"\n! \"[ID: 1.2] C (Complexity: 2)\" the line looks like a task and can't be read as one\n",
    );
}

#[test]
fn spans_lead_back_to_the_source() {
    let text = "\u{feff}- [ID: 1] 값 (Complexity: 3)\r\n  - Files: `a`,  b\r\n    - c\r\n\r\n";
    let (plan, _) = parse(text);
    let at = |span: crate::diagnostic::Span| &text[span.start..span.end];
    let task = &plan.tasks[0];
    assert_eq!(at(task.id_span), "1");
    assert_eq!(at(task.span), "[ID: 1] 값 (Complexity: 3)");
    assert_eq!(
        at(task.extent),
        "[ID: 1] 값 (Complexity: 3)\r\n  - Files: `a`,  b\r\n    - c"
    );
    let files = task.fields.get(FieldKind::Files).unwrap();
    assert_eq!(at(files.span), "Files: `a`,  b\r\n    - c");
    assert_eq!(
        files
            .items
            .iter()
            .map(|item| at(item.span))
            .collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
    assert_eq!((task.field_indent, plan.newline()), (2, "\r\n"));
}

#[test]
fn size_and_depth_are_no_obstacle() {
    let deep: String = (0..2000)
        .map(|level| format!("{}- [ID: {level}] a\n", " ".repeat(2 * level)))
        .collect();
    let (plan, diagnostics) = parse(&deep);
    assert_eq!(
        (plan.tasks.len(), plan.tasks[1999].depth, diagnostics.len()),
        (2000, 1999, 0)
    );
    for text in [
        "- ".repeat(10_000) + "[ID: 1] a\n  - Files: x\n",
        "> ".repeat(10_000) + "- [ID: 1] a\n",
        format!("- [ID: 1] a{}b\n", " ".repeat(1_000_000)),
        format!("{}- [ID: 1] a\n", " ".repeat(1_000_000)),
        format!("- [ID: 1] a\n  - Acceptance: {}\n", "(".repeat(1_000_000)),
        format!("- [ID: 1] a\n  - Acceptance: {}\n", ", ".repeat(500_000)),
        "[ID: 1] a\n".repeat(50_000),
        "- [ID: 1] ".repeat(50_000),
        "- x\n".repeat(100_000),
    ] {
        drop(parse(&text));
    }
}

#[test]
fn canonical_text_follows_meaning_alone() {
    let text = |source: &str| {
        let (plan, _) = parse(source);
        leaf_text(plan.leaves().next().unwrap())
    };
    let same = |a: &str, b: &str| assert_eq!(text(a), text(b), "{a}\n{b}");
    let differ = |a: &str, b: &str| assert_ne!(text(a), text(b), "{a}\n{b}");
    same(
        "- [ID: 1] A (Complexity: 3)\n  - Files: a, b\n",
        "## [1] A\n- Complexity: 3\n- Files:\n  - `a`\n  - b (new)\n",
    );
    same(
        "- [ID: 1] A\n  - Files: a\n  - Hints: b\n",
        "* **[ID: 1]** A\r\n\r\n  * hints: b\r\n  * Files: a\r\n",
    );
    differ("- [ID: 1] A\n", "- [ID: 1] B\n");
    differ("- [ID: 1] A\n", "- [ID: 1] A\n  - Files: none\n");
    differ(
        "- [ID: 1] A\n  - Files: a, b\n",
        "- [ID: 1] A\n  - Files: b, a\n",
    );
    differ(
        "- [ID: 1] A\n  - Verify: a\n",
        "- [ID: 1] A\n  - Verify: b\n",
    );
    differ("- [ID: 1] A\n  - Owner: a\n", "- [ID: 1] A\n  - Owner: b\n");
    differ(
        "- [ID: 1] A\n  - Hints:\n    - a\n    - b\n",
        "- [ID: 1] A\n  - Hints:\n    - |\n      a\n    - b\n",
    );
}

#[test]
fn commas_in_a_code_span_cut_no_criterion() {
    check(
        "- [ID: 1] A\n  - Acceptance: `f(a, b), c` prints 1, 2, keeps (x, y)\n",
        "1 \"A\" A=[\"`f(a, b), c` prints 1\", \"2\", \"keeps (x, y)\"]",
    );
    check(
        "- [ID: 1] A\n  - Acceptance: ``a ` b, c`` is one, \"d, e\" is another\n",
        "1 \"A\" A=[\"``a ` b, c`` is one\", \"\\\"d, e\\\" is another\"]",
    );
}

#[test]
fn a_task_in_a_code_fence_is_not_counted() {
    let text = "- [ID: root] R\n- [ID: 1] A\n\n  ```md\n  - [ID: 1.1] in a fence (Complexity: 3)\n    - Files: x\n  ```\n\n  - [ID: 1.2] B\n";
    let (plan, findings) = parse(text);
    let ids: Vec<&str> = plan.tasks.iter().map(|task| &*task.id).collect();
    assert_eq!(
        (ids, plan.leaves().count(), findings.len()),
        (vec!["root", "1", "1.2"], 1, 0)
    );
}

#[test]
fn an_absent_field_is_not_an_empty_one() {
    let fields = |text: String| parse(text.leak()).0.tasks.remove(0).fields;
    let lists: Vec<FieldKind> = FieldKind::ALL
        .into_iter()
        .filter(|kind| kind.form().is_list())
        .collect();
    for &kind in &lists {
        let given = fields(format!("- [ID: 1] A\n  - {}: none\n", kind.label()));
        assert_eq!(fields("- [ID: 1] A\n".to_owned()).get(kind), None);
        assert_eq!(
            given.get(kind).map(|list| list.items.len()),
            Some(0),
            "{kind:?}"
        );
    }
    assert_eq!(lists.len(), 10);
}

#[test]
fn carriage_returns_lose_no_field() {
    let text = "- [ID: 1] A (Complexity: 3)\r\n  - Acceptance:\r\n    - a\r\n\r\n    - b\r\n  - Files: c\r\n  - Tests Required: yes\r\n  - Hints: d\r\n";
    let found = outline(text);
    assert_eq!(
        found,
        "1 \"A\" (3) A=[\"a\", \"b\"] F=[\"c\"] T=yes H=[\"d\"]\n"
    );
}

#[test]
fn a_blank_line_does_not_end_a_list() {
    check(
        "- [ID: 1] A\n\n  - Acceptance:\n\n    - a\n\n\n    - b\n\n    more of b\n\n  - Files: c\n",
        "1 \"A\" A=[\"a\", \"b\", \"more of b\"] F=[\"c\"]",
    );
}

#[test]
fn nested_dependencies_are_not_dropped() {
    check(
        "- [ID: 1] A\n  - Dependencies:\n    - 1.1\n    - Task 1.2 (its types)\n",
        "1 \"A\" D=[\"1.1\", \"1.2<(its types)>\"]",
    );
}

#[test]
fn a_hint_that_looks_like_a_field_overwrites_nothing() {
    check(
        "- [ID: 1] A\n  - Files: a\n  - Hints:\n    - Files: b\n    - Tests Required: no\n  - Tests Required: yes\n",
        "1 \"A\" F=[\"a\"] T=yes H=[\"Files: b\", \"Tests Required: no\"]",
    );
}

#[test]
fn list_tasks_below_a_heading_task_are_its_children() {
    check(
        "# [root] R\n\n## [1] A\n\n- [ID: 1.1] B\n  - [ID: 1.1.1] C\n- [ID: 1.2] D\n\n## [2] E\n",
        "root \"R\"\n  1 \"A\"\n    1.1 \"B\"\n      1.1.1 \"C\"\n    1.2 \"D\"\n  2 \"E\"\n",
    );
}

#[test]
fn the_first_task_of_a_rootless_list_is_no_root() {
    check(
        "- [ID: 1] A (Complexity: 2)\n  - Files: a\n- [ID: 2] B (Complexity: 4)\n",
        "~root \"A; B\" (4)\n  1 \"A\" (2) F=[\"a\"]\n  2 \"B\" (4)\n",
    );
}

#[test]
fn a_repeated_id_drops_no_task() {
    check(
        "- [ID: root] R\n- [ID: 1] A\n  - Files: a\n- [ID: 1] B\n  - Files: b\n",
        "root \"R\"\n  1 \"A\" F=[\"a\"]\n  1 \"B\" F=[\"b\"]\n",
    );
}

/// Every field in every accepted form, in both dialects.
#[test]
fn every_form_of_every_field_says_the_same() {
    let lists: [(&str, &str, &[&str], &str); 10] = [
        ("Acceptance", "a; b", &["a", "b"], "A=[\"a\", \"b\"]"),
        ("Dependencies", "2, 3", &["2", "3"], "D=[\"2\", \"3\"]"),
        ("After", "2, 3", &["2", "3"], "after=[\"2\", \"3\"]"),
        (
            "Files",
            "a.rs, b.rs",
            &["a.rs", "b.rs"],
            "F=[\"a.rs\", \"b.rs\"]",
        ),
        ("Hints", "a, b; c", &["a, b", "c"], "H=[\"a, b\", \"c\"]"),
        (
            "References",
            "a.rs:1 - x; b.rs",
            &["a.rs:1 - x", "b.rs"],
            "R=[\"a.rs:1 - x\", \"b.rs\"]",
        ),
        ("Guardrails", "a; b", &["a", "b"], "G=[\"a\", \"b\"]"),
        (
            "Setup",
            "`a; b`; c",
            &["`a; b`", "c"],
            "setup=[\"a; b\", \"c\"]",
        ),
        (
            "Test Commands",
            "`a; b`; c",
            &["`a; b`", "c"],
            "C=[\"a; b\", \"c\"]",
        ),
        ("Covers", "R1, R2", &["R1", "R2"], "covers=[\"R1\", \"R2\"]"),
    ];
    for (label, line, entries, expect) in lists {
        let nested = |bullet: &str, gap: &str| -> String {
            entries
                .iter()
                .map(|entry| format!("{gap}\n  {bullet} {entry}"))
                .collect()
        };
        let forms = [
            format!("- {label}: {line}"),
            format!("- {label}:\n  {line}"),
            format!("- {label}:\n\n  {line}"),
            format!("- {label}:{}", nested("-", "")),
            format!("- {label}:{}", nested("*", "")),
            format!("- {label}:{}", nested("1.", "")),
            format!("- {label}:{}", nested("+", "\n")),
            format!("- {label}: {}\n  - {}", entries[0], entries[1]),
            format!("- **{label}**: {line}"),
            format!("- **{label}:** {line}"),
            format!("- `{label}`:{}", nested("-", "")),
            format!("* {}: {line}", label.to_uppercase()),
            format!(
                "1. {}:{}",
                label.to_lowercase().replace(' ', "_"),
                nested(" -", "")
            ),
        ];
        for form in forms {
            same_in_both_dialects(&form, expect);
        }
    }
    let scalars = [
        ("Tests Required", "Yes", "T=yes"),
        ("Risk", "HIGH", "risk=high"),
        ("Group", "g 1", "group=\"g 1\""),
        ("Verify", "`make a`", "verify=\"make a\""),
        ("Priority", "P1", "priority=\"P1\""),
        ("Split", "Gate", "split=\"gate\""),
        ("Kind", "contract", "kind=\"contract\""),
    ];
    for (label, value, expect) in scalars {
        let forms = [
            format!("- {label}: {value}"),
            format!("- {label}:{value}"),
            format!("- {label}:\n  {value}"),
            format!("- {label}:\n\n  {value}"),
            format!("- {label}:\n  - {value}"),
            format!("- {label}:\n\n  1. {value}"),
            format!("- __{label}__: {value}"),
            format!("+ {}: {value}", label.to_lowercase()),
        ];
        for form in forms {
            same_in_both_dialects(&form, expect);
        }
    }
    assert_eq!(
        lists.len() + scalars.len() + 2,
        FieldKind::ALL.len(),
        "and complexity and description"
    );
}

fn same_in_both_dialects(field: &str, expect: &str) {
    let indented: String = field.lines().map(|line| format!("  {line}\n")).collect();
    check(
        &format!("- [ID: 1] A\n{indented}"),
        &format!("1 \"A\" {expect}"),
    );
    check(
        &format!("## [1] A\n{field}\n"),
        &format!("1 \"A\" {expect}"),
    );
    check(
        &format!("## [1] A\n\n{field}\n\n## [2] B\n"),
        &format!("~root \"A; B\"\n  1 \"A\" {expect}\n  2 \"B\"\n"),
    );
}
