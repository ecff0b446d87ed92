//! `fp task`: edits a tree during its run, except tasks that are done or under way.

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

/// Task 1 is completed, 2 is being built, 3 waits.
fn running() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "none", "c.txt"),
    ]));
    environment.start(&["--no-commit"]);
    environment.build_task("builder-1", "1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, 0);
    environment.claim_task("builder-1", "2");
    environment
}

/// A leaf as a person would write it into a file.
fn new_leaf(id: &str, file: &str) -> String {
    let text = tree(&[leaf(id, "none", file)]);
    text.split_once("### Subtasks\n").unwrap().1.to_owned()
}

impl Environment {
    fn tasks(&self) -> String {
        self.read(&format!(".fractal-planner/plans/{PLAN}/tasks.md"))
    }

    fn task(&self, args: &[&str], leaf: &str) -> Output {
        self.write("leaf.md", leaf);
        let output = self.fp(&[&["task"], args, &["--file", "leaf.md"]].concat());
        std::fs::remove_file(self.path("leaf.md")).unwrap();
        output
    }

    /// The same, but it must be refused and change nothing.
    #[track_caller]
    fn refused_task(&self, args: &[&str], leaf: &str) -> String {
        let before = self.tasks();
        let output = self.task(args, leaf);
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{output}");
        assert_eq!(self.tasks(), before);
        output.stderr
    }
}

#[test]
fn a_waiting_task_is_revised_and_built_when_it_is_approved() {
    let environment = running();
    assert_snapshot!(environment.task(&["revise", PLAN, "3"], &new_leaf("3", "d.txt")), @r"
    exit status: 0
    --- stdout
    Task 3 revised in .fractal-planner/plans/sample-20261121/tasks.md
    Next: fp approve sample-20261121 when the user has seen it; until then it is not built
    ");
    assert!(environment.tasks().contains("- Files: d.txt") && !environment.tasks().contains("c.txt"));
    let ready = |expect: &str| {
        let why = environment.fp(&["why", PLAN, "3"]);
        assert!(why.stdout.contains(expect), "{why}");
    };
    ready("edited");
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
    assert_eq!(environment.statuses()[1].1, "IMPLEMENTING");
    let claim = environment.done(&["claim", PLAN, "3", "--as", "builder-2"]);
    assert!(claim.stdout.contains("d.txt"), "{claim}");
}

#[test]
fn a_task_is_added_and_nothing_else_is_touched() {
    let environment = running();
    let before = environment.tasks();
    assert_snapshot!(environment.task(&["add", PLAN, "--under", "root"], &new_leaf("4", "d.txt")), @r"
    exit status: 0
    --- stdout
    Task 4 added in .fractal-planner/plans/sample-20261121/tasks.md
    Next: fp approve sample-20261121 when the user has seen it; until then it is not built
    ");
    assert_eq!(environment.tasks(), format!("{before}{}", new_leaf("4", "d.txt")));
    environment.done(&["approve", PLAN, "--yes"]);
    let statuses = environment.statuses();
    assert_eq!(statuses.len(), 4);
    assert_eq!(statuses[0].1, "COMPLETED");
}

#[test]
fn what_is_refused() {
    let environment = running();
    let revise = |task: &str, leaf: &str| environment.refused_task(&["revise", PLAN, task], leaf);
    assert_snapshot!(revise("1", &new_leaf("1", "d.txt")), @r"
    error: task 1 is COMPLETED and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first
    ");
    assert_snapshot!(revise("2", &new_leaf("2", "d.txt")), @r"
    error: task 2 is IMPLEMENTING and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first
    ");
    assert_snapshot!(revise("3", &new_leaf("4", "d.txt")), @r"
    error: what is given is task 4, not 3
    hint: give one leaf with all its fields, as the tree has them
    ");
    assert_snapshot!(revise("9", &new_leaf("9", "d.txt")), @r"
    error: the tree has no task 9
    hint: `fp show sample-20261121` shows the tree
    ");
    assert_snapshot!(revise("3", "- [ID: 3] Nothing but a title\n"), @r"
    error: with what leaf.md says, the tree is not valid
    hint: 3: the task has no complexity
    hint: 3: the task has no acceptance criteria
    hint: 3: the task doesn't say which files it changes
    hint: 3: the task doesn't say whether tests are required
    hint: 3: the task has no hints
    ");
    assert_snapshot!(revise("3", "Some prose.\n"), @r"
    error: what is given is not one task that begins with `- [ID: …]` and has no subtasks
    hint: give one leaf with all its fields, as the tree has them
    ");
    assert_snapshot!(environment.refused_task(&["add", PLAN, "--under", "root"], &new_leaf("3", "d.txt")), @r#"
    error: with what leaf.md says, the tree is not valid
    hint: 3: id 3 is already that of "Write part 3"
    "#);
    assert_snapshot!(environment.refused_task(&["add", PLAN, "--under", "3"], &new_leaf("3.1", "d.txt")), @r"
    error: in that place it would change task 3 as well
    hint: choose another task to put it under
    ");
    let headings = Environment::new().repo();
    headings.plan("## [1] Goal\n### [1.1] Part (Complexity: 1)\n- Files: a.txt\n");
    assert_snapshot!(headings.refused_task(&["revise", PLAN, "1.1"], &new_leaf("1.1", "d.txt")), @r"
    error: task 1.1 is no item of a list
    hint: `fp fmt sample-20261121` writes the tree as a list
    ");
    assert_snapshot!(environment.fp(&["task", "revise", PLAN, "3", "--file", "gone.md"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/gone.md can't be read: no such file or directory
    hint: check the path
    ");
}
