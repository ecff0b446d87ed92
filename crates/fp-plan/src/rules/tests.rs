//! Tests every rule against its own examples, and behaviour that takes more than one rule to show.

use std::collections::HashSet;

use proptest::prelude::*;

use super::fix::fix_all;
use super::{ConfirmedRequirement, PathFact, RULES, RuleFacts, check_plan, find_rule};
use crate::diagnostic::{Diagnostic, Severity};
use crate::plan::parse;

fn facts() -> RuleFacts {
    let file = |lines| PathFact::File { lines: Some(lines) };
    let paths = [
        ("src/lexer.rs", file(100)),
        ("src/nubmer.rs", PathFact::Missing),
        ("src/decimal.rs", PathFact::Missing),
    ];
    RuleFacts {
        paths: paths
            .into_iter()
            .map(|(path, fact)| (path.to_owned(), fact))
            .collect(),
        requirements: ["R1", "R2"]
            .map(|id| ConfirmedRequirement {
                id: id.to_owned(),
                text: format!("What {id} says"),
            })
            .into(),
        programs: [("cargo", true), ("grep", true), ("crago", false)]
            .map(|(word, known)| (word.to_owned(), known))
            .into(),
        ..RuleFacts::default()
    }
}

/// [`facts`] of a project with a lock file.
fn facts_with_lock() -> RuleFacts {
    let mut facts = facts();
    let lock = PathFact::File { lines: None };
    facts.paths.insert("package-lock.json".to_owned(), lock);
    facts
}

fn found(text: &str, facts: &RuleFacts) -> Vec<Diagnostic> {
    let (plan, parsed) = parse(text);
    check_plan(&plan, &parsed, facts)
}

fn ids(text: &str) -> Vec<&'static str> {
    found(text, &RuleFacts::default())
        .into_iter()
        .map(|diagnostic| diagnostic.rule)
        .collect()
}

#[test]
fn every_rule_holds_for_its_examples() {
    for rule in RULES {
        let facts = match rule.id {
            "missing-setup" => facts_with_lock(),
            _ => facts(),
        };
        let count = |text: &str| {
            found(text, &facts)
                .iter()
                .filter(|diagnostic| diagnostic.rule == rule.id)
                .count()
        };
        assert_eq!(
            count(rule.bad),
            1,
            "{} on its bad example:\n{}",
            rule.id,
            rule.bad
        );
        assert_eq!(
            count(rule.good),
            0,
            "{} on its good example:\n{}",
            rule.id,
            rule.good
        );
        if rule.id == "empty-tree" {
            // Without a task, nothing else can be wrong.
            continue;
        }
        let others = |text: &str| -> HashSet<&str> {
            found(text, &facts)
                .iter()
                .map(|diagnostic| diagnostic.rule)
                .filter(|id| *id != rule.id)
                .collect()
        };
        let more: Vec<&str> = others(rule.good)
            .difference(&others(rule.bad))
            .copied()
            .collect();
        assert!(
            more.is_empty(),
            "{}: the good example has other faults: {more:?}",
            rule.id
        );
    }
}

#[test]
fn the_catalogue_is_complete() {
    let unique: HashSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!((RULES.len(), unique.len()), (30, 30));
    assert!(find_rule("syntax").is_some() && find_rule("nonsense").is_none());
    let errors = RULES
        .iter()
        .filter(|rule| rule.severity == Severity::Error)
        .count();
    assert_eq!(errors, 16);
    for rule in RULES {
        for text in [rule.finds, rule.why, rule.fix.unwrap_or("x")] {
            assert!(
                !text.contains("  ") && !text.is_empty(),
                "{}: {text:?}",
                rule.id
            );
        }
        assert!(!rule.finds.ends_with('.'), "{}", rule.id);
    }
}

/// A leaf that breaks no rule, with `extra` lines below it.
fn leaf(id: &str, indent: usize, extra: &[&str]) -> String {
    let margin = " ".repeat(indent);
    let fields = [
        "Acceptance: Prints the id",
        "Tests Required: no",
        "Hints: Look at main; Reuse print",
    ];
    let given: Vec<&str> = extra
        .iter()
        .filter_map(|line| line.split_once(':').map(|(label, _)| label))
        .collect();
    let file = format!("Files: {id}.rs");
    let mut text = format!("{margin}- [ID: {id}] Leaf number {id} (Complexity: 2)\n");
    let kept = fields
        .iter()
        .copied()
        .chain([file.as_str()])
        .filter(|line| !given.iter().any(|label| line.starts_with(label)));
    for line in kept.chain(extra.iter().copied()) {
        text.push_str(&format!("{margin}  - {line}\n"));
    }
    text
}

fn tree(leaves: &[String]) -> String {
    format!("- [ID: root] Goal (Complexity: 9)\n{}", leaves.concat())
}

#[test]
fn one_mistake_gives_one_finding() {
    let check = |text: &str, expect: &[&str]| assert_eq!(ids(text), expect, "{text}");
    check(&tree(&[leaf("1", 0, &[]), leaf("2", 0, &[])]), &[]);
    check(&leaf("1", 0, &[]), &[]);
    check(
        &tree(&[leaf("1", 0, &["Hints: none"]), leaf("2", 0, &[])]),
        &["missing-hints"],
    );
    check(
        &tree(&[leaf("1", 0, &["Tests Required: yes"]), leaf("2", 0, &[])]),
        &["missing-test-command"],
    );
    check(
        &tree(&[
            leaf("1", 0, &["Tests Required: perhaps"]),
            leaf("2", 0, &[]),
        ]),
        &["missing-tests-required"],
    );
    check(
        &tree(&[leaf("1", 0, &["Files: none"]), leaf("2", 0, &[])]),
        &[],
    );
    check(
        &tree(&[
            leaf("1", 0, &["Acceptance: Leaf number 1 works"]),
            leaf("2", 0, &[]),
        ]),
        &["vague-acceptance"],
    );
    check(
        &tree(&[leaf("1", 0, &["Dependencies: 1"]), leaf("2", 0, &[])]),
        &["ancestor-dependency"],
    );
    check(
        &tree(&[leaf("1", 0, &["Dependencies: root"]), leaf("2", 0, &[])]),
        &["ancestor-dependency"],
    );
    check(
        &tree(&[
            leaf("1", 0, &["Dependencies: 2"]),
            leaf("2", 0, &["Dependencies: 1"]),
        ]),
        &["dependency-cycle"],
    );
    check(
        &tree(&[leaf("1", 0, &["Dependencies: 9"]), leaf("2", 0, &[])]),
        &["unknown-dependency"],
    );
    check(
        &tree(&[leaf("1", 0, &[]), leaf("1", 0, &["Files: b"])]),
        &["duplicate-id"],
    );
    check(
        &tree(&[
            leaf("1", 0, &[]),
            "- [ID 2] B\n".to_owned(),
            leaf("3", 0, &["Dependencies: 2"]),
        ]),
        &["syntax"],
    );
    check(
        &leaf("1", 0, &[]).replace("Complexity: 2", "Complexity: 12"),
        &["missing-complexity"],
    );
    check(
        &leaf("1", 0, &[]).replace("Complexity: 2", "Complexity: 0"),
        &["missing-complexity"],
    );
    check(
        &leaf("1", 0, &[]).replace("Complexity: 2", "Complexity: 10"),
        &["over-complexity"],
    );
    check("no task", &["empty-tree"]);
    check("- [1.1] broken", &["syntax"]);
}

#[test]
fn ids_extend_their_parents() {
    let tree = |ids: &[(&str, usize)]| {
        let parents: Vec<bool> = (0..ids.len())
            .map(|at| ids.get(at + 1).is_some_and(|next| next.1 > ids[at].1))
            .collect();
        let lines = ids.iter().zip(parents).map(|(&(id, depth), parent)| {
            if parent {
                format!("{}- [ID: {id}] Parent\n", "  ".repeat(depth))
            } else {
                leaf(id, 2 * depth, &["Files: none"])
            }
        });
        format!("- [ID: root] Goal\n{}", lines.collect::<String>())
    };
    let check =
        |ids_: &[(&str, usize)], expect: &[&str]| assert_eq!(ids(&tree(ids_)), expect, "{ids_:?}");
    check(&[("1", 0), ("1.1", 1), ("1.2", 1), ("2", 0)], &[]);
    check(&[("T1", 0), ("T1.1", 1), ("T1.2", 1), ("api", 0)], &[]);
    check(
        &[("1", 0), ("1.1", 1), ("2.2", 1), ("2", 0)],
        &["malformed-id"],
    );
    check(
        &[("1", 0), ("1.1", 1), ("12", 1), ("2", 0)],
        &["malformed-id"],
    );
    check(
        &[("1", 0), ("2.1", 1), ("2.1.1", 2), ("2.1.2", 2), ("1.2", 1)],
        &["malformed-id"],
    );
    check(&[("1..2", 0), ("2", 0)], &["malformed-id"]);
    check(&[("../x", 0), ("2", 0)], &["malformed-id"]);
    check(
        &[("1", 0), ("1.1", 1), ("root", 1), ("2", 0)],
        &["duplicate-id"],
    );
}

#[test]
fn findings_name_their_task() {
    let text = format!(
        "- [ID: root] Goal\n- [ID: 1] Part\n{}{}- [ID: 2] Rest (Complexity: 2)\n",
        leaf("1.1", 2, &["Owner: me"]),
        leaf("1.2", 2, &[])
    );
    let found = found(&text, &RuleFacts::default());
    let first = &found[0];
    let at = &text[first.span.start..first.span.end];
    assert_eq!(
        (
            first.rule,
            first.task_id.as_str(),
            first.parent_id.as_deref(),
            first.depth,
            at
        ),
        ("unknown-field", "1.1", Some("1"), 2, "Owner: me")
    );
    assert!(found.is_sorted_by_key(|diagnostic| diagnostic.span));
}

#[test]
fn file_conflicts() {
    let check = |leaves: &[(&str, &[&str])], expect: &[(&str, &str)]| {
        let text = tree(
            &leaves
                .iter()
                .map(|(id, extra)| leaf(id, 0, extra))
                .collect::<Vec<_>>(),
        );
        let conflicts: Vec<(String, String)> = found(&text, &RuleFacts::default())
            .into_iter()
            .filter(|diagnostic| diagnostic.rule == "file-conflict")
            .map(|diagnostic| (diagnostic.task_id, diagnostic.detail))
            .collect();
        assert_eq!(conflicts.len(), expect.len(), "{text}{conflicts:?}");
        for ((id, detail), (expect_id, part)) in conflicts.iter().zip(expect) {
            assert!(id == expect_id && detail.contains(part), "{id}: {detail}");
        }
    };
    check(
        &[("1", &["Files: a"]), ("2", &["Files: a"])],
        &[("2", "`a` is also changed by 1")],
    );
    check(
        &[("1", &["Files: a, b"]), ("2", &["Files: b, a"])],
        &[("2", "and 1 more is also changed by 1")],
    );
    check(
        &[
            ("1", &["Files: a"]),
            ("2", &["Files: ./a", "Dependencies: 1"]),
        ],
        &[],
    );
    check(
        &[
            ("1", &["Files: a"]),
            ("2", &["Dependencies: 1"]),
            ("3", &["Files: a", "Dependencies: 2"]),
        ],
        &[],
    );
    check(
        &[
            ("1", &["Files: a", "Dependencies: 2"]),
            ("2", &["Files: a"]),
        ],
        &[],
    );
    check(
        &[
            ("1", &["Files: src/"]),
            ("2", &["Files: src/a.rs"]),
            ("3", &["Files: src/b.rs"]),
        ],
        &[("2", "changed by 1"), ("3", "changed by 1")],
    );
    check(&[("1", &["Files: src"]), ("2", &["Files: srcs/a.rs"])], &[]);
    check(
        &[("1", &["Files: ."]), ("2", &["Files: x/y"])],
        &[("2", "changed by 1")],
    );
    check(
        &[("1", &["Files: src/*.rs"]), ("2", &["Files: src/a.rs"])],
        &[("2", "changed by 1")],
    );
    check(
        &[
            ("1", &["Files: a"]),
            ("2", &["Files: a"]),
            ("3", &["Files: a"]),
        ],
        &[("2", "by 1"), ("3", "by 2")],
    );
    check(&[("1", &["Files: a, a"])], &[]);
    // A line that only starts like a task takes no part in the ordering.
    let broken = tree(&[
        leaf("1", 0, &["Files: a"]),
        leaf("2", 0, &["Files: a"]).replace("[ID: 2]", "[ID: ]"),
    ]);
    assert_eq!(ids(&broken), ["syntax"]);
}

#[test]
fn files_that_some_task_creates_are_not_missing() {
    let facts = RuleFacts {
        paths: [("x.rs".to_owned(), PathFact::Missing)].into(),
        ..RuleFacts::default()
    };
    let check = |leaves: &[&[&str]], expect: usize| {
        let leaves: Vec<String> = leaves
            .iter()
            .zip(1..)
            .map(|(extra, id): (_, u32)| leaf(&id.to_string(), 0, extra))
            .collect();
        let text = tree(&leaves);
        let count = found(&text, &facts)
            .iter()
            .filter(|diagnostic| diagnostic.rule == "missing-file")
            .count();
        assert_eq!(count, expect, "{text}");
    };
    check(&[&["Files: x.rs"]], 1);
    check(&[&["Files: ./x.rs (new)"]], 0);
    check(&[&["Files: x.rs", "Acceptance: Creates the module"]], 0);
    check(
        &[&["Files: x.rs (new)"], &["Files: x.rs", "Dependencies: 1"]],
        0,
    );
    check(&[&["Files: x*.rs"]], 0);
}

#[test]
fn who_shares_a_file_comes_in_the_order_that_keeps_the_critical_path_short() {
    let task = |id: &str, complexity: u32, fields: &str| {
        format!("- [ID: {id}] Task {id} (Complexity: {complexity})\n{fields}")
    };
    let check = |tasks: &[String], expect: &[&str]| {
        let text = format!("- [ID: root] R (Complexity: 9)\n{}", tasks.concat());
        let fixed = fix_all(&text, &RuleFacts::default());
        let changes: Vec<&str> = fixed.changes.iter().map(String::as_str).collect();
        assert_eq!(changes, expect, "{}", fixed.text);
    };
    let shares = "  - Files: a\n";
    check(
        &[task("1", 2, shares), task("2", 2, shares)],
        &["2: add `After: 1`, since both change a"],
    );
    let behind = task("3", 4, "  - Files: b\n  - Dependencies: 2\n");
    check(
        &[task("1", 2, shares), task("2", 2, shares), behind],
        &["1: add `After: 2`, since both change a"],
    );
    check(
        &[
            task("1", 2, shares),
            task("2", 2, &format!("{shares}  - After: 1\n")),
        ],
        &[],
    );
}

#[test]
fn programs_of_commands() {
    let programs = [
        ("cargo", true),
        ("grep", true),
        ("lint", true),
        ("pytset", false),
        ("b", false),
    ];
    let facts = RuleFacts {
        programs: programs
            .map(|(word, known)| (word.to_owned(), known))
            .into(),
        paths: ["run.sh", "new.sh", "gone.sh"]
            .map(|path| {
                let there = if path == "run.sh" {
                    PathFact::File { lines: None }
                } else {
                    PathFact::Missing
                };
                (path.to_owned(), there)
            })
            .into(),
        ..RuleFacts::default()
    };
    let check = |field: &str, expect: &[&str]| {
        let text = leaf("1", 0, &["Files: new.sh (new)", field]);
        let rules: Vec<&str> = found(&text, &facts)
            .iter()
            .map(|diagnostic| diagnostic.rule)
            .collect();
        assert_eq!(rules, expect, "{field}");
    };
    check("Test Commands: cargo test a, cargo test b", &[]);
    check("Test Commands: cargo test a, lint b", &["several-commands"]);
    check("Test Commands: cargo test a, b c", &[]);
    check("Test Commands: cargo test 'a, lint b'", &[]);
    check("Verify: cargo test a, cargo test b", &["several-commands"]);
    check("Verify: pytset a", &["unknown-program"]);
    check("Test Commands: pytset a; pytset b", &["unknown-program"]);
    check(
        "Test Commands: ./run.sh; ./new.sh; cd x && y; A=1 cargo test; ! grep a b; (true)",
        &[],
    );
    check("Test Commands: ./gone.sh", &["unknown-program"]);
    check("Test Commands: other --flag, /usr/bin/x", &[]);
}

#[test]
fn a_program_that_is_missing_is_reported_once() {
    let facts = RuleFacts {
        programs: [("swift".to_owned(), false)].into(),
        ..RuleFacts::default()
    };
    let leaves = ["1", "2", "3"].map(|id| leaf(id, 0, &["Test Commands: swift test"]));
    let found = found(&tree(&leaves), &facts);
    let shown: Vec<(&str, &str)> = found.iter().map(|d| (&*d.task_id, &*d.detail)).collect();
    assert_eq!(shown, [("1", "there is no program `swift`")]);
}

#[test]
fn fixes() {
    let check = |before: &str, after: &str| {
        let fixed = fix_all(before, &RuleFacts::default());
        assert_eq!(
            fixed.text, after,
            "--- before\n{before}--- fixed\n{}",
            fixed.text
        );
        assert_eq!(
            fix_all(&fixed.text, &RuleFacts::default()).changes.len(),
            0,
            "fixing again:\n{after}"
        );
    };
    check(
        "- [ID: root] R\r\n- [ID: 1] A\r\n  - Guardrails: Do NOT modify files outside: a\r\n  - Dependencies:\r\n    - 2 (its types)\r\n    <!-- first\r\n    second -->\r\n    - 1\r\n    <!-- third -->\r\n- [ID: 2] B\r\n  - Guardrails: Do NOT modify files outside: b\r\n",
        "- [ID: root] R\r\n- [ID: 1] A\r\n  - Guardrails: Do NOT modify files outside: a\r\n  - Dependencies: 2 (its types)\r\n    <!-- first\r\n    second -->\r\n    <!-- third -->\r\n- [ID: 2] B\r\n  - Guardrails: Do NOT modify files outside: b\r\n",
    );
    let guarded = "  - Guardrails: Do NOT recurse";
    check(
        &format!(
            "- [ID: root] R\n- [ID: 1] A\n{guarded}\n  - Files: a\n- [ID: 2] B\n{guarded}\n  - Files: a\n- [ID: 3] C\n{guarded}\n  - Files: a\n  - Dependencies: none\n"
        ),
        &format!(
            "- [ID: root] R\n- [ID: 1] A\n{guarded}\n  - Files: a\n- [ID: 2] B\n{guarded}\n  - Files: a\n  - After: 1\n- [ID: 3] C\n{guarded}\n  - Files: a\n  - Dependencies: none\n  - After: 2\n"
        ),
    );
    check(
        &format!(
            "- [ID: root] R\n- [ID: 1] A\n  - [ID: 1.1] B\n  {guarded}\n    - Dependencies:\n      - 2 (its types)\n      - 1\n      - 1.1\n  - [ID: 3.1] C\n  {guarded}\n- [ID: 2] D\n{guarded}\n  - Dependencies: 3.1\n"
        ),
        &format!(
            "- [ID: root] R\n- [ID: 1] A\n  - [ID: 1.1] B\n  {guarded}\n    - Dependencies: 2 (its types)\n  - [ID: 1.2] C\n  {guarded}\n- [ID: 2] D\n{guarded}\n  - Dependencies: 1.2\n"
        ),
    );
    check(
        &format!(
            "- [ID: root] R\n- [ID: 1] A\n  - [ID: 9] B\n    - [ID: 9.1] C\n    {guarded}\n    - [ID: 9.2] D\n    {guarded}\n      - Dependencies: 9.1\n  - [ID: 1.1] E\n  {guarded}\n    - Dependencies: 9\n"
        ),
        &format!(
            "- [ID: root] R\n- [ID: 1] A\n  - [ID: 1.2] B\n    - [ID: 1.2.1] C\n    {guarded}\n    - [ID: 1.2.2] D\n    {guarded}\n      - Dependencies: 1.2.1\n  - [ID: 1.1] E\n  {guarded}\n    - Dependencies: 1.2\n"
        ),
    );
}

/// Fixes the second of two tasks that share a file, of which `text` is the second.
fn with_after(text: &str) -> String {
    let first = "- [ID: 1] A (Complexity: 5)\n  - Files: a\n";
    let fixed = fix_all(&format!("{first}{text}"), &RuleFacts::default()).text;
    fixed.strip_prefix(first).unwrap().to_owned()
}

/// Text right below a field isn't read as part of a field added between the two.
#[test]
fn a_field_is_added_apart_from_text() {
    assert_eq!(
        with_after("- [ID: 2] B (Complexity: 5)\n  - Files: a\n  ```\n  c\n  ```\n"),
        "- [ID: 2] B (Complexity: 5)\n  - Files: a\n  - After: 1\n  ```\n  c\n  ```\n"
    );
}

/// A new field is indented like the others, however the task is indented.
#[test]
fn a_field_is_added_beside_the_others() {
    assert_eq!(
        with_after("-   [ID: 2] B (Complexity: 5)\n  - Files: a\n"),
        "-   [ID: 2] B (Complexity: 5)\n  - Files: a\n  - After: 1\n"
    );
}

/// The remark of a list's last entry belongs to the field.
#[test]
fn a_field_is_added_after_a_remark() {
    let task = "- [ID: 2] B (Complexity: 5)\n  - Files:\n    - `a` (new)\n";
    assert_eq!(with_after(task), format!("{task}  - After: 1\n"));
    let waits =
        "- [ID: 0] C (Complexity: 1)\n- [ID: 2] B (Complexity: 5)\n  - Files: a\n  - After:";
    assert_eq!(
        with_after(&format!("{waits}\n    - 0 (its types), 0\n")),
        format!("{waits} 0 (its types), 0, 1\n")
    );
}

#[test]
fn guardrails_of_every_builder_are_dropped_where_many_repeat_them() {
    let task = |id: u32, guardrails: &str| {
        format!(
            "- [ID: {id}] T{id} (Complexity: 5)\n  - Files: {id}\n  - Guardrails: {guardrails}\n"
        )
    };
    let trees = |guardrails: [&str; 3]| {
        let tasks = guardrails
            .iter()
            .zip(1..)
            .map(|(rails, id)| task(id, rails));
        format!("- [ID: root] R\n{}", tasks.collect::<String>())
    };
    let check = |before: [&str; 3], after: [&str; 3]| {
        let fixed = fix_all(&trees(before), &RuleFacts::default()).text;
        assert_eq!(fixed, trees(after));
    };
    let (boundary, none) = (
        "Do NOT modify files outside: a.",
        "do not add new dependencies.",
    );
    check(
        [
            boundary,
            none,
            "Do NOT add new dependencies; Do NOT recurse",
        ],
        ["none", "none", "Do NOT recurse"],
    );
    let few = [boundary, none, "Do NOT recurse"];
    check(few, few);
    let other = ["Do NOT add new dependencies to the parser"; 3];
    check(other, other);
}

#[test]
fn what_one_agent_would_do_in_a_sitting_is_reported_as_fragments() {
    let check = |parent: &str, tasks: &[(u32, &str)], expect: usize| {
        let tasks = tasks
            .iter()
            .zip(1..)
            .map(|((complexity, field), id): (_, u32)| {
                format!("  - [ID: 1.{id}] T (Complexity: {complexity})\n    - {field}\n")
            });
        let text = format!(
            "- [ID: root] R\n- [ID: 1] P\n{parent}{}",
            tasks.collect::<String>()
        );
        let found = found(&text, &RuleFacts::default());
        let count = found.iter().filter(|it| it.rule == "fragmentation").count();
        assert_eq!(count, expect, "{text}");
    };
    let chain = [(3, "Files: a"), (3, "Dependencies: 1.1"), (3, "After: 1.2")];
    check("", &chain, 1);
    check("  - Split: gate\n", &chain, 0);
    check("  - Split: parallel\n", &chain, 1);
    check("", &chain[..2], 0);
    // Two sittings for three tasks.
    check(
        "",
        &[
            (7, "Files: a"),
            (7, "Dependencies: 1.1"),
            (6, "Dependencies: 1.2"),
        ],
        0,
    );
    // Two of them run at the same time.
    check(
        "",
        &[
            (3, "Files: a"),
            (3, "Dependencies: 1.1"),
            (3, "Dependencies: 1.1"),
        ],
        0,
    );
    check("", &[(2, "Files: a"), (5, "Files: a")], 1);
    check("", &[(2, "Files: a"), (2, "Files: a")], 1);
    check("", &[(2, "Files: a"), (7, "Files: a")], 1);
    check("", &[(2, "Files: a"), (8, "Files: a")], 0);
    check("", &[(3, "Files: a"), (5, "Files: a")], 0);
    check("", &[(2, "Files: a"), (5, "Files: b")], 0);
    check("  - Split: asked\n", &[(2, "Files: a"), (5, "Files: a")], 0);
    // What one leaf waits for could be part of it; what several wait for holds them all up if it is.
    let behind = (5, "Files: a\n    - Dependencies: 1.1");
    check("", &[(2, "Files: a"), behind], 1);
    check("", &[(2, "Files: a"), behind, (5, "Dependencies: 1.1")], 0);
}

#[test]
fn names_of_other_leaves_are_foreign_without_a_dependency() {
    let check = |first: &str, second: &str, expect: usize| {
        let text = format!(
            "- [ID: root] R\n- [ID: 1] {first}\n- [ID: 2] T (Complexity: 5)\n  - {second}\n"
        );
        let found = found(&text, &RuleFacts::default());
        let count = found.iter().filter(|it| it.rule == "foreign-name").count();
        assert_eq!(count, expect, "{text}");
    };
    let flag = "Add `--exact` (Complexity: 3)";
    check(flag, "Acceptance: `calc --exact 1` prints 1", 1);
    check(flag, "Acceptance: `calc --exactly 1` prints 1", 0);
    check(flag, "Acceptance: it prints what --exact asks", 0);
    check(
        flag,
        "Acceptance: `calc --exact 1` prints 1\n  - Dependencies: 1",
        0,
    );
    check(
        flag,
        "Acceptance: `calc --exact 1` prints 1\n  - After: 1",
        0,
    );
    check(flag, "Hints: `calc --exact 1` prints 1", 0);
    let file = "Lexer (Complexity: 3)\n  - Files: src/lex.py (new), src/old.py";
    check(file, "Acceptance: `python src/lex.py` prints nothing", 1);
    check(file, "Acceptance: `python src/old.py` prints nothing", 0);
    // Two leaves introduce it.
    check(
        "`run` (Complexity: 3)\n- [ID: 3] Also `run`",
        "Acceptance: `run` ends with 0",
        0,
    );
}

#[test]
fn large_trees_are_checked_in_linear_time() {
    let chain: String = (1..=4_000)
        .map(|id| {
            leaf(
                &id.to_string(),
                0,
                &[
                    &format!(
                        "Dependencies: {}",
                        if id == 1 {
                            "none".to_owned()
                        } else {
                            (id - 1).to_string()
                        }
                    ),
                    "Files: CHANGELOG.md",
                ],
            )
        })
        .collect();
    assert_eq!(ids(&format!("- [ID: root] R\n{chain}")), ["fragmentation"]);
    let free: String = (1..=4_000)
        .map(|id| leaf(&id.to_string(), 0, &["Files: CHANGELOG.md"]))
        .collect();
    let free = ids(&format!("- [ID: root] R\n{free}"));
    let conflicts = free.iter().filter(|id| **id == "file-conflict");
    assert_eq!(conflicts.count(), 3_999);
    let deep: String = (0..3000)
        .map(|depth| {
            format!(
                "{}- [ID: 1{}] T\n",
                "  ".repeat(depth),
                ".1".repeat(depth.min(40))
            )
        })
        .collect();
    assert!(
        ids(&deep).contains(&"missing-complexity"),
        "{:?}",
        ids(&deep)
    );
}

fn line() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec![
        "1", "1.1", "1.2", "2", "2.1", "3.1", "root", "x y", "",
    ]);
    let text = prop::sample::select(vec![
        "Files: a, b",
        "Files: src/",
        "Guardrails: none",
        "Guardrails: x",
        "Guardrails:",
        "- y",
        "Hints: z",
        "Owner: me",
        "Files: ../x",
        "note",
    ]);
    let list = prop::collection::vec(id.clone(), 0..3)
        .prop_map(|ids| format!("Dependencies: {}", ids.join(", ")));
    prop_oneof![
        3 => (0_usize..4, id).prop_map(|(depth, id)| format!("{}- [ID: {id}] T (Complexity: 2)\n", "  ".repeat(depth))),
        3 => (0_usize..5, text).prop_map(|(depth, text)| format!("{}- {text}\n", "  ".repeat(depth))),
        2 => (0_usize..5, list).prop_map(|(depth, text)| format!("{}- {text}\n", "  ".repeat(depth))),
    ]
}

#[test]
fn setup_is_the_roots_and_shown_as_it_runs() {
    const TREE: &str =
        "- [ID: root] A\n  - Setup: npm ci\n- [ID: 1] B\n  - Test Commands: npm test\n";
    let rules = |text: &str| -> Vec<&str> {
        let setup_rules = [
            "hidden-character",
            "missing-setup",
            "parent-fields",
            "unknown-program",
        ];
        let mut ids: Vec<&str> = found(text, &facts_with_lock())
            .iter()
            .map(|diagnostic| diagnostic.rule)
            .filter(|id| setup_rules.contains(id))
            .collect();
        ids.dedup();
        ids
    };
    let check = |setup: &str, expect: &[&str]| {
        assert_eq!(
            rules(&TREE.replace("  - Setup: npm ci\n", setup)),
            expect,
            "{setup:?}"
        );
    };
    check("  - Setup: npm ci\n", &[]);
    check("  - Setup: none\n", &[]);
    check("", &["missing-setup"]);
    check("  - Setup: npm\u{200b} ci\n", &["hidden-character"]);
    check("  - Setup: crago fetch\n", &["unknown-program"]);
    assert_eq!(
        rules("- [ID: root] A\n  - Setup: none\n- [ID: 1] B\n  - Setup: npm\u{202e} ci\n"),
        ["parent-fields", "hidden-character"]
    );
    assert_eq!(
        rules("- [ID: root] A\n- [ID: 1] B\n"),
        [""; 0],
        "nothing runs"
    );
}

proptest! {
    #[test]
    fn any_tree_is_checked_and_fixed_once(lines in prop::collection::vec(line(), 0..25)) {
        let text: String = lines.concat();
        let facts = facts();
        for diagnostic in found(&text, &facts) {
            prop_assert!(text.get(diagnostic.span.start..diagnostic.span.end).is_some());
            prop_assert!(!diagnostic.detail.ends_with('.') && !diagnostic.detail.is_empty());
        }
        let fixed = fix_all(&text, &facts);
        prop_assert_eq!(fix_all(&fixed.text, &facts).text, fixed.text);
    }
}

#[test]
fn a_reference_whose_line_has_none_of_its_names() {
    let text = format!(
        "def dotproduct(a, b): ...\n{}def power_set(s): ...\n",
        "# the structure\n".repeat(30)
    );
    let check = |reference: &str, expect: Option<&str>| {
        let tree = format!("- [ID: 1] Parse (Complexity: 2)\n  - References: {reference}\n");
        let facts = RuleFacts {
            paths: [("a.pyi".to_owned(), PathFact::File { lines: Some(32) })].into(),
            texts: [("a.pyi".to_owned(), text.clone())].into(),
            ..RuleFacts::default()
        };
        let found = found(&tree, &facts);
        let found = found
            .iter()
            .find(|finding| finding.rule == "stale-reference");
        assert_eq!(
            found.map(|finding| finding.detail.as_str()),
            expect,
            "{reference}"
        );
    };
    let expect = "`dotproduct` is not near line 32 of `a.pyi`, but at line 1";
    check("a.pyi:32 - the stub of dotproduct", None);
    check("a.pyi:32 - the stub of `dotproduct`", Some(expect));
    check("a.pyi:11 - the stub of dotproduct", None);
    check("a.pyi:5-32 - the stub of dotproduct", None);
    check("a.pyi:32 - dotproduct, above power_set", None);
    check(
        "a.pyi:1 - power_set",
        Some("`power_set` is not near line 1 of `a.pyi`, but at line 32"),
    );
    check("a.pyi:32 - structure to follow", None);
    check("a.pyi:32 - as `matmul` does", None);
    check("a.pyi:32", None);
}
