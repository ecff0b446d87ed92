//! The payload of a builder if its task is too large for it, and its part about the code base.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

/// The payload of the only task of `tree`.
fn payload(environment: &Environment, tree: &str) -> String {
    environment.plan(tree);
    environment.start(&[]);
    environment.done(&["claim", PLAN, "--as", "builder-1"]).stdout
}

#[test]
fn a_task_with_too_many_hints_says_where_they_are() {
    let environment = Environment::new().repo();
    let hints: String =
        (1..=300).map(|n| format!("    - Hint {n}: 가나다라마바사 아자차카타파하\n")).collect();
    let plan =
        tree(&[leaf("1", "none", "a.txt")]).replacen("  - Hints:\n", &format!("  - Hints:\n{hints}"), 1);
    let text = payload(&environment, &plan);
    assert!(text.len() <= 8192 && text.len() > 8000, "{} bytes", text.len());
    let said: Vec<&str> = text.lines().filter(|line| line.contains("left out")).collect();
    assert!(said[0].starts_with("- (hints: "), "{said:?}");
    let file = format!("[ROOT]/work/.fractal-planner/plans/{PLAN}/tasks.md");
    assert!(text.contains(&format!("(cut to fit; task 1 as a whole is in {file})\n")), "{text}");
    assert!(text.contains("- Do NOT modify files outside: a.txt (new test files"), "{text}");
    assert!(text.contains(&format!("\n    fp submit {PLAN} 1 --claim ")), "{text}");
}

#[test]
fn the_conventions_of_the_code_base_are_named_where_they_are_known() {
    for known in [false, true] {
        let environment = Environment::new().repo();
        let file = format!(".fractal-planner/plans/{PLAN}/context.md");
        if known {
            environment.write(&file, "# Context\n");
        }
        let text = payload(&environment, &tree(&[leaf("1", "none", "a.txt")]));
        let line = format!("- Conventions and commands of this code base: [ROOT]/work/{file}\n");
        assert_eq!(text.contains(&line), known, "{text}");
        assert!(!text.contains("cut to fit"), "{text}");
    }
}
