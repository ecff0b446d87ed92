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

    /// Runs `fp task`, which must refuse and change nothing. Returns the error.
    #[track_caller]
    fn refused_task(&self, args: &[&str], leaf: &str) -> String {
        self.refused_edit(|| self.task(args, leaf))
    }

    #[track_caller]
    fn refused_edit(&self, edit: impl Fn() -> Output) -> String {
        let before = self.tasks();
        let output = edit();
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
    assert!(
        environment.tasks().contains("- Files: d.txt") && !environment.tasks().contains("c.txt")
    );
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
    assert_eq!(
        environment.tasks(),
        format!("{before}{}", new_leaf("4", "d.txt"))
    );
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
    error: task 1 is done and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first, a failed one retried
    ");
    assert_snapshot!(revise("2", &new_leaf("2", "d.txt")), @r"
    error: task 2 is building and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first, a failed one retried
    ");
    assert_snapshot!(revise("3", &new_leaf("4", "d.txt")), @r"
    error: the input is task 4, not 3
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
    error: the input is not a single task that begins with `- [ID: …]` and has no subtasks
    hint: give one leaf with all its fields, as the tree has them
    ");
    assert_snapshot!(environment.refused_task(&["add", PLAN, "--under", "root"], &new_leaf("3", "d.txt")), @r#"
    error: with what leaf.md says, the tree is not valid
    hint: 3: id 3 is already that of "Write part 3"
    "#);
    assert_snapshot!(environment.refused_task(&["add", PLAN, "--under", "3"], &new_leaf("3.1", "d.txt")), @r"
    error: in that place it would change task 3 as well
    hint: put it under another task, or edit the shape of the tree in tasks.md
    ");
    let headings = Environment::new().repo();
    headings.plan("## [1] Goal\n### [1.1] Part (Complexity: 1)\n- Files: a.txt\n");
    assert_snapshot!(headings.refused_task(&["revise", PLAN, "1.1"], &new_leaf("1.1", "d.txt")), @"
    error: task 1.1 is not a list item
    hint: `fp validate sample-20261121 --fmt` writes the tree as a list
    ");
    assert_snapshot!(environment.fp(&["task", "revise", PLAN, "3", "--file", "gone.md"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/gone.md can't be read: no such file or directory
    hint: check the path
    ");
}

/// Task 1 is completed; 2 is a group of 2.1, 2.2 and 2.3; 3 waits for 2.1, 4 for the group.
fn grouped() -> Environment {
    let environment = Environment::new().repo();
    let (first, rest) = (
        leaf("1", "none", "a.txt"),
        [leaf("3", "2.1", "d.txt"), leaf("4", "2", "e.txt")],
    );
    let parts = tree(&[
        leaf("2.1", "1", "b.txt"),
        leaf("2.2", "1, 2.1", "c.txt"),
        leaf("2.3", "none", "f.txt"),
    ]);
    let parts = parts.split_once("### Subtasks\n").unwrap().1;
    let parts: String = parts.lines().map(|line| format!("  {line}\n")).collect();
    let rest = tree(&rest);
    let rest = rest.split_once("### Subtasks\n").unwrap().1;
    environment.plan(&format!(
        "{}- [ID: 2] The group (Complexity: 4)\n{parts}{rest}",
        tree(&[first])
    ));
    environment.start(&["--no-commit"]);
    environment.build_task("builder-1", "1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, 0);
    environment
}

impl Environment {
    /// The lines of the tree that have an id or dependencies.
    fn order(&self) -> String {
        let tasks = self.tasks();
        let says = |line: &&str| {
            ["[ID:", "Dependencies:", "After:"]
                .iter()
                .any(|part| line.contains(part))
        };
        tasks
            .lines()
            .filter(says)
            .map(|line| format!("{line}\n"))
            .collect()
    }

    /// Edits the tree with `fp task`, returns its output and the resulting order, and approves the tree.
    fn edited(&self, args: &[&str]) -> String {
        let output = self.done(&[&["task"], args].concat());
        self.done(&["approve", PLAN, "--yes"]);
        format!("{}\n{}", output.stdout, self.order())
    }
}

#[test]
fn a_task_is_removed() {
    let environment = grouped();
    assert_snapshot!(environment.edited(&["remove", PLAN, "2.1"]), @r"
    Task 2.1 removed in .fractal-planner/plans/sample-20261121/tasks.md
    Task 2.2 no longer waits for 2.1
    Task 3 no longer waits for 2.1
    Next: fp approve sample-20261121 when the user has seen it

    - [ID: root] Sample goal (Complexity: 5)
    - [ID: 1] Write part 1 (Complexity: 2)
      - Dependencies: none
    - [ID: 2] The group (Complexity: 4)
      - [ID: 2.2] Write part 2.2 (Complexity: 2)
        - Dependencies: 1
      - [ID: 2.3] Write part 2.3 (Complexity: 2)
        - Dependencies: none
    - [ID: 3] Write part 3 (Complexity: 2)
      - Dependencies: none
    - [ID: 4] Write part 4 (Complexity: 2)
      - Dependencies: 2
    ");
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
    assert_snapshot!(environment.fp(&["note", PLAN, "list", "--for", "3"]), @r"
    exit status: 0
    --- stdout
      1  [plan] WARN: task 2.1 was removed from the plan; what waited for it: 2.2, 3
    ");
    let json = environment.done(&["task", "remove", PLAN, "4", "--format", "json"]);
    assert_snapshot!(json.stdout, @r#"
    {
      "done": "removed",
      "notes": [],
      "planId": "sample-20261121",
      "schemaVersion": 1,
      "task": "4"
    }
    "#);

    let remove =
        |task: &str| environment.refused_edit(|| environment.fp(&["task", "remove", PLAN, task]));
    assert_snapshot!(remove("1"), @r"
    error: task 1 is done and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first, a failed one retried
    ");
    assert_snapshot!(remove("9"), @r"
    error: the tree has no task 9
    hint: `fp show sample-20261121` shows the tree
    ");
    environment.done(&["task", "remove", PLAN, "2.3"]);
    assert_snapshot!(remove("2.2"), @r"
    error: in that place it would change task 2 as well
    hint: put it under another task, or edit the shape of the tree in tasks.md
    ");
    environment.claim_task("builder-1", "3");
    assert_snapshot!(remove("3"), @r"
    error: task 3 is building and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first, a failed one retried
    ");
}

#[test]
fn what_a_begun_task_waits_for_stays() {
    let environment = Environment::new().repo();
    let sample = tree(&[leaf("1", "none", "a.txt"), leaf("2", "none", "b.txt")]);
    let (first, second) = sample.split_at(sample.find("- [ID: 2]").unwrap());
    let second = second.replace(
        "  - Dependencies: none\n",
        "  - Dependencies: none\n  - After: 1\n",
    );
    environment.plan(&format!("{first}{second}"));
    environment.start(&["--no-commit"]);
    environment.done(&["cancel", PLAN, "1", "--reason", "no need"]);
    environment.claim_task("builder-1", "2");
    let remove =
        |task: &str| environment.refused_edit(|| environment.fp(&["task", "remove", PLAN, task]));
    assert_snapshot!(remove("1"), @r"
    error: task 1 stays: task 2, which is building, waits for it
    hint: `fp task revise` changes a task that nobody has begun
    ");
    environment.done(&["retry", PLAN, "2"]);
    assert_snapshot!(remove("1"), @r"
    error: task 1 is failed and can't be changed or removed any more
    hint: undo the edit of that task in tasks.md and add a new task instead; one that is being built can be released first, a failed one retried
    ");
}

#[test]
fn a_group_is_not_removed() {
    let environment = grouped();
    let remove =
        |task: &str| environment.refused_edit(|| environment.fp(&["task", "remove", PLAN, task]));
    assert_snapshot!(remove("2"), @r"
    error: task 2 has subtasks; each of them is edited by itself
    hint: `fp show sample-20261121` shows the tree
    ");
    assert_snapshot!(remove("root"), @r"
    error: task root has subtasks; each of them is edited by itself
    hint: `fp show sample-20261121` shows the tree
    ");
    assert_snapshot!(environment.fp(&["task", "remove", PLAN, "../x"]), @r#"
    exit status: 2
    --- stderr
    error: invalid value '../x' for '<TASK>': "../x" is not an id: ids are letters, digits, `-`, `_`, in segments joined by `.`

    For more information, try '--help'.
    "#);
}

#[test]
fn the_shape_of_a_tree_is_edited_in_its_file() {
    for word in ["split", "move"] {
        let said = Environment::new().fp(&["task", word, PLAN, "3"]).stderr;
        assert_eq!(
            said,
            format!(
                "error: there is no command \"task {word}\"\nhint: edit tasks.md; `fp validate PLAN` checks it, `fp approve PLAN` lets it run\n"
            )
        );
    }
}
