//! Trees to export.

use std::fmt::Write as _;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

/// Titles that would be taken for markup, code or commands wherever they are not escaped.
pub(crate) const HOSTILE: &[&str] = &[
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror=\"window.pwned = 2\">",
    "\"]; end; subgraph x[\"y",
    "a --> b; click a \"javascript:window.pwned=3\"",
    "`\"` and '\\' and \\\" and \\n and \\N",
    "%%{init: {\"theme\": \"dark\"}}%%",
    "&lt;b&gt; &amp; &#35; #35; #quot;",
    "**bold** _em_ [link](javascript:window.pwned=4)",
    "\u{2028}line\u{2029}paragraph",
    "end",
    "a list: 1. one - two",
    "한국어 제목",
    "כותרת בעברית (1)",
    "${window.pwned = 5} {{x}} <!-- no comment",
];

/// Twelve leaves below two parents, with a chain, a fan and a shared file.
pub(crate) fn small() -> String {
    let mut text = String::from("- [ID: root] Serve the accounts (Complexity: 8)\n");
    for (parent, title) in [(1, "The store"), (2, "The pages")] {
        let _ = writeln!(text, "- [ID: {parent}] {title} (Complexity: 6)");
        for part in 1..=6 {
            let after = match (parent, part) {
                (1, 1) => "none".to_owned(),
                (1, _) => format!("1.{}", part - 1),
                (_, 1) => "1.1".to_owned(),
                (_, 6) => "1".to_owned(),
                _ => "2.1".to_owned(),
            };
            let file = if parent == 2 && part > 4 {
                "src/shared.rs".to_owned()
            } else {
                format!("src/{parent}/{part}.rs")
            };
            let _ = writeln!(
                text,
                "  - [ID: {parent}.{part}] Write part {part} of {title} (Complexity: {})\n    - Acceptance:\n      \
                 - `{file}` exists\n      - It is tested\n    - Dependencies: {after}\n    - Files: {file}\n    \
                 - Tests Required: yes\n    - Hints:\n      - Keep it short\n      - Follow src/main.rs\n    \
                 - Guardrails:\n      - Do NOT modify files outside: {file}\n    - Test Commands: cargo test",
                part % 4 + 1
            );
        }
    }
    text
}

/// A chain of leaves with [`HOSTILE`] titles, and equally hostile values in their other fields.
pub(crate) fn hostile() -> String {
    let mut text = format!("- [ID: root] {} (Complexity: 5)\n", HOSTILE[0]);
    for (number, title) in HOSTILE.iter().enumerate() {
        let after = if number == 0 {
            "none".to_owned()
        } else {
            number.to_string()
        };
        let _ = writeln!(
            text,
            "- [ID: {}] {title} (Complexity: 2)\n  - Acceptance:\n    - {title}\n  - Dependencies: {after}\n  \
             - Files: src/<b>{number}</b>.rs\n  - Hints:\n    - {title}\n  - Guardrails:\n    - {title}",
            number + 1
        );
    }
    text
}

/// The output of `fp show` for `tree` in this format.
pub(crate) fn show(tree: &str, format: &str) -> String {
    let environment = Environment::new();
    environment.write("tree.md", tree);
    environment
        .done(&["show", "tree.md", "--format", format])
        .stdout
}

/// The output of `fp show` in this format for a run with a task in every state.
pub(crate) fn show_run(format: &str) -> String {
    let environment = Environment::new().repo().shared();
    let leaves = [
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "2", "c.txt"),
        leaf("4", "none", "d.txt"),
        leaf("5", "none", "e.txt"),
        leaf("6", "5", "f.txt"),
        leaf("7", "none", "g.txt"),
    ];
    environment.plan(&tree(&leaves));
    environment.start(&["--builders", "3"]);
    environment.build_task("builder-1", "1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, 0);
    environment.claim_task("builder-1", "2");
    environment.done(&["cancel", PLAN, "2", "--reason", "it can't be done"]);
    environment.build_task("builder-2", "4", "d.txt", "about 4\n");
    environment.claim_task("builder-3", "5");
    environment.done(&["show", PLAN, "--format", format]).stdout
}
