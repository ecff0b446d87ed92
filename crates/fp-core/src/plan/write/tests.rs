//! What is written for what, and that it means the same.

use crate::plan::{format, parse};

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

/// `body` below a task, as it is and as it is written.
fn below(body: &str, expect: &str) {
    let expect = format!("# Task Decomposition\n\n## Root Task\n- [ID: 1] A\n{expect}");
    check(&format!("- [ID: 1] A\n{body}"), &expect);
}

#[test]
fn roots_that_are_given_made_up_or_moved() {
    check("- [ID: 1] A\n  - [ID: 1.1] B\n", "# Task Decomposition\n\n## Root Task\n- [ID: 1] A\n  - [ID: 1.1] B\n");
    check(
        "- [ID: root] R\n  - [ID: 1] A\n    - [ID: 1.1] B\n",
        "# Task Decomposition\n\n## Root Task\n- [ID: root] R\n\n### Subtasks\n- [ID: 1] A\n  - [ID: 1.1] B\n",
    );
    check("- [ID: 1] A\n* [ID: 2] B\n", "# Task Decomposition\n\n## Subtasks\n- [ID: 1] A\n- [ID: 2] B\n");
    check(
        "Before.\n\n- [ID: 1] A\n\nBetween.\n\n- [ID: root] R\n\nBehind.\n",
        "# Task Decomposition\n\nBefore.\n\n## Root Task\n- [ID: root] R\n\n### Subtasks\n- [ID: 1] A\n\nBetween.\n\nBehind.\n",
    );
}

#[test]
fn fields_have_one_order_and_one_form() {
    below(
        "  * priority: P1\n  * Risk: High - much\n  * Covers: R1\n  * **Test Commands**: `a`, `b`\n  * files: `a.rs` (new)\n  * acceptance criteria: a; b\n  * Complexity: 3, or so\n",
        "",
    );
}
