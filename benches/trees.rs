//! Task trees of any size for the benchmarks: what a decomposer writes, 800 bytes a leaf, and the shapes that
//! are hard on a parser or a schedule. The same size gives the same text.

use std::fmt::Write as _;

/// Leaves of one parent.
const SIBLINGS: usize = 5;

/// The shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Groups of five leaves, each leaf with every common field and a dependency on its neighbour.
    Plan,
    /// Each leaf waits for the one before it, to the end.
    Chain,
    /// No leaf waits for another, and one file is in all of them.
    Shared,
}

impl Shape {
    /// The shape of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "plan" => Some(Self::Plan),
            "chain" => Some(Self::Chain),
            "shared" => Some(Self::Shared),
            _ => None,
        }
    }
}

/// A valid tree with `leaves` leaves in groups of groups, no parent having more than [`SIBLINGS`] children.
pub(crate) fn tree(shape: Shape, leaves: usize) -> String {
    let mut text = String::with_capacity(leaves * 850);
    text.push_str(
        "# Task Decomposition\n\n## Root Task\n- [ID: root] Rewrite the service (Complexity: 9)\n\n",
    );
    text.push_str("### Subtasks\n");
    let groups: Vec<Vec<String>> = (0..leaves.div_ceil(SIBLINGS)).map(|_| Vec::new()).collect();
    let mut previous = String::new();
    for group in 0..groups.len() {
        let parent = format!("{}", group + 1);
        let _ = writeln!(
            text,
            "- [ID: {parent}] Part {parent} of the service (Complexity: 6)"
        );
        for number in 0..SIBLINGS.min(leaves - group * SIBLINGS).max(2) {
            let id = format!("{parent}.{}", number + 1);
            let after = match shape {
                Shape::Plan if number > 0 => format!("{parent}.{number}"),
                Shape::Chain if !previous.is_empty() => previous.clone(),
                _ => "none".to_owned(),
            };
            let file = if shape == Shape::Shared {
                "CHANGELOG.md".to_owned()
            } else {
                format!("src/part{parent}/step{number}.rs")
            };
            leaf(&mut text, &id, &after, &file);
            previous = id;
        }
    }
    text
}

fn leaf(text: &mut String, id: &str, after: &str, file: &str) {
    let _ = write!(
        text,
        "  - [ID: {id}] Handle request kind {id} (Complexity: 3)
    - Acceptance:
      - A request of kind {id} with a valid body gets status 200 and the `Location` of what was made
      - A body over 1 MiB gets status 413, and nothing of it is kept in memory
      - A request without a token gets status 401 before its body is read
    - Dependencies: {after}
    - Files: {file} (new)
    - Tests Required: yes
    - Hints:
      - Follow the structure of `src/request.rs`, which has one function per kind
      - Return the crate's `Error`, never a status of its own
    - Guardrails:
      - Do NOT modify files outside: {file}
      - Do NOT add new dependencies
    - Test Commands: cargo test --package service request
"
    );
}
