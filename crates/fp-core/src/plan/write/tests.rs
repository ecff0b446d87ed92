//! What is written for what, and that it means the same.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::plan::{FormatError, format, parse};
use crate::rules::{Facts, check as check_rules};

/// Formats `text`, which has to give `expect`, and to mean the same.
fn check(text: &str, expect: &str) {
    let found = format(text)
        .unwrap_or_else(|error| panic!("{error}\n{text}\n--- written\n{}", super::write(&parse(text).0)));
    assert_eq!(found, expect, "\n{text}\n--- found\n{found}--- expected\n{expect}");
    assert_eq!(format(&found).as_ref(), Ok(&found), "once is enough");
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(format(&crlf), Ok(expect.replace('\n', "\r\n")), "with CRLF:\n{text}");
    assert_eq!(format(&format!("\u{feff}{text}")), Ok(found), "with a byte-order mark:\n{text}");
}

#[test]
fn the_example_of_the_language_is_canonical() {
    let text = "\
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
";
    check(text, text);
}

/// Lines and parts of lines that the language and Markdown are made of, and `w1`, `w2`, … that stand nowhere
/// else, so that it shows when one is lost.
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

fn garbage() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(piece(), 0..16).prop_map(|pieces| pieces.concat());
    (prop::sample::select(vec!["", "- [ID: 1] a\n", "- [ID: root] a\n  - ", "# [1] a\n"]), pieces)
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
    (label, value, entries, bullet, any::<bool>()).prop_map(|(label, value, entries, bullet, loose)| {
        let mut lines = vec![format!("- {label}: {value}")];
        for entry in entries {
            lines.extend(loose.then(String::new));
            lines.push(format!("  {bullet}{entry}"));
        }
        lines
    })
}

/// A tree in either dialect, with all kinds of fields and notes.
fn tree() -> impl Strategy<Value = String> {
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
    let task = (1usize..4, any::<bool>(), title, 0u32..12, prop::collection::vec(part, 0..5));
    (prop::collection::vec(task, 1..8), any::<bool>(), any::<bool>()).prop_map(|(tasks, root, crlf)| {
        let mut text = String::from(if root { "Prose.\n\n- [ID: root] R (Complexity: 5)\n" } else { "" });
        let mut level = 0;
        for (number, (depth, heading, title, complexity, parts)) in tasks.into_iter().enumerate() {
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
                text.push_str(&format!("{}{line}\n", " ".repeat(if line.is_empty() { 0 } else { lines })));
            }
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// Words that stand nowhere else.
fn marks(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 2 && word.starts_with('w')).collect()
}

/// What has to hold for any text that can be formatted.
fn holds(text: &str) -> Result<(), TestCaseError> {
    let formatted = match format(text) {
        Ok(formatted) => formatted,
        Err(FormatError::Changed(task)) => {
            let written = super::write(&parse(text).0);
            return Err(TestCaseError::fail(format!("{task:?} changes:\n{text:?}\n{text}\n---\n{written}")));
        }
        Err(_) => return Ok(()),
    };
    let again = format(&formatted);
    prop_assert_eq!(again.as_ref(), Ok(&formatted), "once is enough: {:?}", text);
    prop_assert!(marks(text).is_subset(&marks(&formatted)), "something is lost: {:?}\n{}", text, formatted);
    let rules = |text: &str| {
        let (plan, parsed) = parse(text);
        let found = check_rules(&plan, &parsed, &Facts::default());
        let mut found: Vec<_> = found.into_iter().map(|found| (found.rule, found.task_id)).collect();
        found.sort();
        found
    };
    prop_assert_eq!(rules(text), rules(&formatted), "the rules find something else: {:?}", text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_means_the_same_afterwards(text in garbage()) {
        // Of two definitions of one link Markdown itself forgets the second.
        prop_assume!(text.matches("]: ").count() < 2);
        holds(&text)?;
    }

    #[test]
    fn any_tree_means_the_same_afterwards(text in tree()) {
        holds(&text)?;
    }
}
