//! Checks that written trees look as they should and mean the same as before.

use crate::plan::{FormatError, format, parse};

/// Checks that formatting `text` gives `expect` and keeps its meaning.
fn check(text: &str, expect: &str) {
    let found = format(text).unwrap_or_else(|error| {
        panic!(
            "{error}\n{text}\n--- written\n{}",
            super::write(&parse(text).0)
        )
    });
    assert_eq!(
        found, expect,
        "\n{text}\n--- found\n{found}--- expected\n{expect}"
    );
    assert_eq!(format(&found).as_ref(), Ok(&found), "once is enough");
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(
        format(&crlf),
        Ok(expect.replace('\n', "\r\n")),
        "with CRLF:\n{text}"
    );
    assert_eq!(
        format(&format!("\u{feff}{text}")),
        Ok(found),
        "with a byte-order mark:\n{text}"
    );
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

/// Checks how `body` is written when it is below a task.
fn below(body: &str, expect: &str) {
    let expect = format!("# Task Decomposition\n\n## Root Task\n- [ID: 1] A\n{expect}");
    check(&format!("- [ID: 1] A\n{body}"), &expect);
}

#[test]
fn roots_that_are_given_made_up_or_moved() {
    check(
        "- [ID: 1] A\n  - [ID: 1.1] B\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: 1] A\n  - [ID: 1.1] B\n",
    );
    check(
        "- [ID: root] R\n  - [ID: 1] A\n    - [ID: 1.1] B\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: root] R\n\n### Subtasks\n- [ID: 1] A\n  - [ID: 1.1] B\n",
    );
    check(
        "- [ID: 1] A\n* [ID: 2] B\n",
        "# Task Decomposition\n\n## Subtasks\n- [ID: 1] A\n- [ID: 2] B\n",
    );
    check(
        "Before.\n\n- [ID: root] R\n- [ID: 1] A\n\nBehind.\n",
        "# Task Decomposition\n\nBefore.\n\n## Root Task\n- [ID: root] R\n\n### Subtasks\n- [ID: 1] A\n\nBehind.\n",
    );
}

#[test]
fn fields_have_one_order_and_one_form() {
    check(
        "- [ID: 1] A\n  * priority: P1\n  * Risk: High - much\n  * Covers: R1\n  * **Test Commands**: `a`, `b`\n  * files: `a.rs` (new)\n  * acceptance criteria: a; b\n  * Complexity: 3, or so\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: 1] A (Complexity: 3, or so)\n  - Acceptance:\n    - a\n    - b\n  - Files: a.rs (new)\n  - Test Commands: a; b\n  - Covers: R1\n  - Risk: High - much\n  - Priority: P1\n",
    );
    below(
        "  - Files: none\n  - Acceptance:\n",
        "  - Acceptance: none\n  - Files: none\n",
    );
    below(
        "  - Files: a\n  - Owner: me\n  - files: b, c\n",
        "  - Files: a\n  - Owner: me\n  - files: b, c\n",
    );
    below(
        "  - Group: none\n  - Group: x\n",
        "  - Group: none\n  - Group: x\n",
    );
    below(
        "  - Tests Required: maybe\n  - Risk:\n    - huge\n",
        "  - Tests Required: maybe\n  - Risk: huge\n",
    );
    below("  - Tests Required:\n", "  - Tests Required:\n");
    below("  - Verify: `make check`\n", "  - Verify: make check\n");
    below(
        "  - Description: What\n    it is\n\n    - and more\n",
        "  - Description: What\n    it is\n\n    - and more\n",
    );
}

#[test]
fn values_that_one_line_would_cut_are_nested_and_others_stay_on_one() {
    below("  - Files:\n    - a, b.rs\n", "  - Files:\n    - a, b.rs\n");
    below(
        "  - Files: `a, b.rs`, `c (d).rs` (new)\n",
        "  - Files:\n    - a, b.rs\n    - `c (d).rs` (new)\n",
    );
    below("  - Files: `a - b.rs`\n", "  - Files: `a - b.rs`\n");
    below(
        "  - Dependencies:\n    - 1.1\n    - Task 1.2 (its types)\n",
        "  - Dependencies: 1.1, 1.2 (its types)\n",
    );
    below(
        "  - Test Commands: `a; b`; c \"d; e\"\n",
        "  - Test Commands:\n    - a; b\n    - c \"d; e\"\n",
    );
    below(
        "  - Test Commands:\n    ```sh\n    a; b\n    c\n    ```\n",
        "  - Test Commands:\n    - a; b\n    - c\n",
    );
    below(
        "  - References: a.rs:1 - x; b.rs:2 - y\n",
        "  - References:\n    - a.rs:1 - x\n    - b.rs:2 - y\n",
    );
}

/// Each of these texts would be read as something else after a bullet or at the margin.
#[test]
fn text_that_looks_like_something_else_stays_text() {
    below(
        "  - Hints:\n    - Files: keep them small\n    - [ID: 2] is no task\n    - [x] done\n",
        "  - Hints:\n    - Files: keep them small\n    - [ID: 2] is no task\n    - [x] done\n",
    );
    below(
        "  - Acceptance: # a; - b; 1. c; > d; ``` e; <!-- f -->\n",
        "  - Acceptance:\n    - # a\n    - - b\n    - 1. c\n    - > d\n    - ``` e\n    - <!-- f -->\n",
    );
    below(
        "  - Acceptance: [ID: 2] a (Complexity: 1); b\n",
        "  - Acceptance: [ID: 2] a (Complexity: 1); b\n",
    );
    below(
        "  - Notes:\n    - Files: b\n",
        "  - Notes:\n    - Files: b\n",
    );
    check(
        "## [1] A\n### Details\n- Note: x\n\n      code\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: 1] A\n\n  ### Details\n\n  - Note: x\n\n        code\n",
    );
    check(
        "## [1] - # b (Complexity\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: 1] # b (Complexity\n",
    );
    check(
        "## [1] A\n- Complexity: 3) (\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: 1] A\n  - Complexity: 3) (\n",
    );
}

#[test]
fn entries_keep_their_blocks() {
    let entries = "  - Acceptance:\n    - prints\n      ```make\n      - [ID: 2] x\n      \tcc\n      ```\n    - two\n\n      paragraphs\n    - lists\n      - one\n      - two\n";
    below(entries, entries);
}

#[test]
fn prose_keeps_its_place_and_its_form() {
    below(
        "\n  A paragraph\n  of two lines.\n  <!-- a comment -->\n\n      code\n\n  > a quote\n\n  - a remark\n  - another\n  * a third\n\n  1. first\n\n  [page]: https://example.org\n",
        "\n  A paragraph\n  of two lines.\n\n  <!-- a comment -->\n\n  code\n\n  > a quote\n\n  - a remark\n  - another\n  * a third\n  1. first\n\n  [page]: https://example.org\n",
    );
    below(
        "  - Hints: a\n\n  ---\n\n  text\n",
        "  - Hints:\n    - a\n\n  ---\n\n  text\n",
    );
    below("\n  \u{3000}- no item\n", "\n  \u{3000}- no item\n");
    below("  - Subtasks:\n    - [ID: 1.1] B\n", "  - [ID: 1.1] B\n");
    check(
        "# My plan\n\nWhy.\n\n- Phase one\n\n  Its reason.\n\n  - [ID: 1] A\n- Phase two\n  - [ID: 2] B\n",
        "# Task Decomposition\n\n# My plan\n\nWhy.\n\n- Phase one\n\n  Its reason.\n\n## Subtasks\n- [ID: 1] A\n- Phase two\n- [ID: 2] B\n",
    );
    check(
        "- [ID: root] R\n\n# Subtasks\n<!-- about 1 -->\n\n- [ID: 1] A\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: root] R\n\n<!-- about 1 -->\n\n### Subtasks\n- [ID: 1] A\n",
    );
}

#[test]
fn what_can_not_be_formatted() {
    assert_eq!(
        format("# Notes\n\nNothing of the kind.\n"),
        Err(FormatError::NoTask)
    );
    assert_eq!(
        format("- [ID: 1] A\n- [ID 2] B\n"),
        Err(FormatError::Unreadable(1))
    );
}
