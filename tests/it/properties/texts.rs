//! Generates texts from fragments of the language.

use proptest::prelude::*;

/// Lines and fragments of the task language and of Markdown, with unique markers `w1`, `w2`, … so that a lost one is
/// noticed.
fn piece() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "- ",
        "* ",
        "1. ",
        "2) ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\r\n",
        "\n\n",
        "\n- ",
        "\n  - ",
        "\n    - ",
        "\n  ",
        "\n\n  ",
        "\n## ",
        "# ",
        "\n### ",
        "[ID: 1] ",
        "[ID: root] ",
        "[1] ",
        "**",
        "`",
        "```\n",
        "~~~\n",
        "> ",
        "<!-- ",
        "-->",
        "<div>\n",
        "(Complexity: 3)",
        "(Complexity:",
        "Files: ",
        "Acceptance:",
        "Dependencies: ",
        "Tests Required: ",
        "Description: ",
        "Complexity: ",
        "Owner: ",
        "Hints:",
        "Covers: ",
        "Group: ",
        "Verify: ",
        "Test Commands: ",
        "Risk: ",
        "Subtasks",
        "Subtasks:",
        "none",
        "high",
        "yes",
        "a, b",
        "; ",
        "and ",
        "값",
        "---\n",
        "===\n",
        "]",
        "[x] ",
        "\\",
        "(new)",
        " - ",
        "[a]: b\n",
        "\n- [ID: 1.1] a\n  - ",
        "\n## [2] b\n",
        "\u{feff}",
    ]);
    prop_oneof![3 => parts.prop_map(str::to_owned), 1 => (0..10).prop_map(|number| format!("w{number} "))]
}

pub(crate) fn garbage() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(piece(), 0..16).prop_map(|pieces| pieces.concat());
    (
        prop::sample::select(vec![
            "",
            "- [ID: 1] a\n",
            "- [ID: root] a\n  - ",
            "# [1] a\n",
        ]),
        pieces,
    )
        .prop_map(|(head, rest)| format!("{head}{rest}"))
}

/// A field in one of the forms that people write.
fn field() -> impl Strategy<Value = Vec<String>> {
    let label = prop::sample::select(vec![
        "Acceptance",
        "Acceptance Criteria",
        "dependencies",
        "Files",
        "**Files**",
        "Tests Required",
        "Hints",
        "References",
        "Guardrails",
        "Test Commands",
        "Verify",
        "Covers",
        "Group",
        "RISK",
        "Priority",
        "Owner",
    ]);
    let value = prop::sample::select(vec![
        "none",
        "",
        "yes (unit)",
        "src/a.rs (new), `b, c.rs` - why",
        "1.1, [ID: 2] and Task 3",
        "low: why",
        "R1; R2",
        "`cargo test`; make \"a; b\"",
        "prints `a, b` (or c, d), e",
        "# [1] x",
        "[ID: 9] like a task",
        "Files: a",
        "1. first; - second; > third",
        "<!-- x -->",
        "**bold**, _x_",
        "한글; 漢字",
        "a\tb",
        "https://a.b/c: d",
        "````",
    ]);
    let entries = prop::collection::vec(value.clone(), 0..4);
    let bullet = prop::sample::select(vec!["- ", "* ", "+ ", "1. ", "-   "]);
    (label, value, entries, bullet, any::<bool>()).prop_map(
        |(label, value, entries, bullet, loose)| {
            let mut lines = vec![format!("- {label}: {value}")];
            for entry in entries {
                lines.extend(loose.then(String::new));
                lines.push(format!("  {bullet}{entry}"));
            }
            lines
        },
    )
}

/// A tree in either dialect, with all kinds of fields and notes.
pub(crate) fn tree() -> impl Strategy<Value = String> {
    let note = prop::sample::select(vec![
        "<!-- a comment -->",
        "A paragraph\nof two lines",
        "```sh\n- [ID: 7] no task\n```",
        "    code",
        "- a remark",
        "1. one\n2. two",
        "> quoted",
        "### Details\n- Note: x",
        "[page]: https://example.org",
        "---",
        "* a\n  * b",
    ])
    .prop_map(|note: &str| note.lines().map(str::to_owned).collect::<Vec<_>>());
    let part = prop_oneof![3 => field(), 1 => note.prop_map(|mut note| { note.insert(0, String::new()); note.push(String::new()); note })];
    let title = prop::sample::select(vec![
        "A",
        "**B** `c`",
        "(d) e: f",
        "- g",
        "한글 (Complexity: x) y",
        "[h](i)",
        "# j",
    ]);
    let task = (
        1usize..4,
        any::<bool>(),
        title,
        0u32..12,
        prop::collection::vec(part, 0..5),
    );
    (
        prop::collection::vec(task, 1..8),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(tasks, root, crlf)| {
            let mut text = String::from(if root {
                "Prose.\n\n- [ID: root] R (Complexity: 5)\n"
            } else {
                ""
            });
            let mut level = 0;
            for (number, (depth, heading, title, complexity, parts)) in
                tasks.into_iter().enumerate()
            {
                let depth = depth.min(level + 1);
                level = depth;
                let indent = if heading { 0 } else { 2 * (depth - 1) };
                let lines = if heading {
                    text.push_str(&format!(
                        "\n{} [{number}] {title}\n- Complexity: {complexity}\n",
                        "#".repeat(depth + 1)
                    ));
                    0
                } else {
                    text.push_str(&format!(
                        "{}- **[ID: {number}]** {title} (Complexity: {complexity})\n",
                        " ".repeat(indent)
                    ));
                    indent + 2
                };
                for line in parts.concat() {
                    text.push_str(&format!(
                        "{}{line}\n",
                        " ".repeat(if line.is_empty() { 0 } else { lines })
                    ));
                }
            }
            if crlf {
                text.replace('\n', "\r\n")
            } else {
                text
            }
        })
}
