//! The branch of a plan's own: `fp run` never touches the user's checkout.

use super::*;

const BRANCH: &str = "fp/sample-20261121";

/// A scene whose commits go where they go by default.
fn scene_by_default(tasks: usize) -> Environment {
    let environment = scene(tasks);
    let config = environment.beside("home/.config/fractal-planner/config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace(r#""branch": "current", "#, "")).unwrap();
    environment
}

/// The subjects of the branch's own commits, sorted.
fn subjects(environment: &Environment, branch: &str) -> Vec<String> {
    let range = format!("main..{branch}");
    let text = environment.git(&["log", "--format=%s", &range]);
    let mut subjects: Vec<String> = text.lines().map(str::to_lowercase).collect();
    subjects.sort();
    subjects
}

fn expected(tasks: usize) -> Vec<String> {
    let mut subjects: Vec<String> = (1..=tasks).map(|id| format!("write part {id}")).collect();
    subjects.sort();
    subjects
}

/// Fails if git or `fp` still has a worktree of the run.
fn expect_no_worktrees(environment: &Environment) {
    let worktrees = environment.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(worktrees.matches("worktree ").count(), 1, "{worktrees}");
    let folder = environment.path(&format!(".fractal-planner/plans/{PLAN}"));
    assert!(!folder.join("integration").exists());
}

#[test]
fn whoever_works_in_the_checkout_finds_it_as_they_left_it() {
    let environment = scene_by_default(24);
    environment.write("own.txt", "one\n");
    environment.git(&["add", "own.txt"]);
    environment.git(&["commit", "-qm", "Own"]);
    environment.git(&["branch", "other"]);
    let mut run = lead_in_background(&environment, &["-j", "3", "--unattended"]);
    let (mut round, mut commits) = (0, Vec::new());
    while run.try_wait().unwrap().is_none() {
        round += 1;
        // A file of the plan, and one that is not.
        environment.write("part-7.txt", format!("mine {round}\n"));
        environment.write("own.txt", format!("round {round}\n"));
        environment.git(&["add", "own.txt"]);
        if round % 2 == 0 {
            environment.git(&["commit", "-qm", &format!("Round {round}")]);
            commits.push(format!("Round {round}"));
        }
        if round % 10 == 5 {
            environment.git(&["stash", "-q"]);
            environment.git(&["switch", "-q", "other"]);
            std::thread::sleep(Duration::from_millis(50));
            environment.git(&["switch", "-q", "main"]);
            environment.git(&["stash", "pop", "-q", "--index"]);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(round > 3, "the run was over too soon: {round}");
    environment.write("own.txt", "unstaged\n");
    for (task, status) in environment.statuses() {
        assert_eq!(status, "COMPLETED", "{task}");
    }
    assert_eq!(subjects(&environment, BRANCH), expected(24));
    let mine = environment.git(&["log", "--format=%s", "--reverse", "main"]);
    let mine: Vec<&str> = mine
        .lines()
        .filter(|line| line.starts_with("Round"))
        .collect();
    assert_eq!(mine, commits);
    assert_eq!(environment.read("part-7.txt"), format!("mine {round}\n"));
    assert_eq!(environment.read("own.txt"), "unstaged\n");
    assert!(!environment.path("part-1.txt").exists());
    let log = environment.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    assert!(!log.contains("\"asked\""), "{log}");
    expect_no_worktrees(&environment);
    expect_nothing_left(&environment);
}

#[test]
fn the_end_says_where_the_commits_are_and_what_is_undone_is_undone_there() {
    let environment = scene_by_default(2);
    environment.write("part-2.txt", "mine\n");
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stderr.contains(
            "fp/sample-20261121 begins at the last commit, without your uncommitted changes to part-2.txt"
        ),
        "{output}"
    );
    assert!(
        output.stdout.contains(
            "The commits are on fp/sample-20261121: `git merge fp/sample-20261121` takes them, `fp pr sample-20261121` opens a pull request\n\n\
             Review: git log -p main..fp/sample-20261121\n"
        ),
        "{output}"
    );
    assert_eq!(environment.git_status(), "?? part-2.txt\n");
    let notes = environment.git(&["notes", "--ref=fp", "list"]);
    assert_eq!(notes.lines().count(), 2, "{notes}");
    environment.done(&["retry", PLAN, "1", "--undo"]);
    assert_eq!(subjects(&environment, BRANCH).len(), 3);
    assert_eq!(environment.git_status(), "?? part-2.txt\n");
    fs::remove_file(environment.path("part-2.txt")).unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
    expect_no_worktrees(&environment);
    environment.git(&["merge", "-q", "--ff-only", BRANCH]);
    assert!(environment.read("part-1.txt").contains("a line about 1"));
}

#[test]
fn a_branch_of_somebody_else_is_left_alone() {
    let environment = scene_by_default(1);
    environment.git(&["branch", BRANCH]);
    let taken = lead(&environment, &[]);
    assert_eq!(
        taken.stderr,
        "error: there is a branch fp/sample-20261121 already, and this run did not make it\n\
         hint: `--branch NAME` takes another name, `--here` the branch that is checked out\n"
    );
    for name in ["a..b", "-x", "with space", "a:b", "HEAD", "refs/heads/y"] {
        let output = lead(&environment, &[&format!("--branch={name}")]);
        assert_eq!(output.code, 2, "{output}");
        assert!(
            output.stderr.contains("can't be the name of a branch"),
            "{output}"
        );
    }
    let clash = lead(&environment, &["--branch", "x", "--here"]);
    assert_eq!(clash.code, 2, "{clash}");
    assert_eq!(lead(&environment, &["--branch", "mine/one"]).code, 0);
    assert_eq!(subjects(&environment, "mine/one"), expected(1));
    assert_eq!(subjects(&environment, BRANCH), expected(0));
}

#[test]
fn the_checked_out_branch_gets_them_where_that_is_asked_for() {
    let environment = scene_by_default(2);
    assert_eq!(lead(&environment, &["--here"]).code, 0);
    expect_all_done(&environment, 2);
    assert_eq!(
        environment.git(&["branch", "--format=%(refname:short)"]),
        "main\n"
    );
}

#[test]
fn an_interrupted_run_goes_on_on_its_branch_whatever_became_of_it() {
    let environment = scene_by_default(4);
    let slow = "[ \"$role\" = builder ] && sleep 0.3\n";
    fs::write(environment.beside("home/first"), slow).unwrap();
    let mut run = lead_in_background(&environment, &["-j", "1", "--unattended"]);
    until("nothing is committed", || {
        environment
            .statuses()
            .iter()
            .any(|(_, status)| status == "COMPLETED")
    });
    signal(&run, rustix::process::Signal::KILL);
    run.wait().unwrap();
    let done = subjects(&environment, BRANCH).len();
    assert!((1..4).contains(&done), "{done}");
    let other = lead(&environment, &["--here"]);
    assert_eq!(
        other.stderr,
        "error: what is done so far is on fp/sample-20261121, and so is the rest\n\
         hint: leave that flag away\n"
    );
    // The user removes what they don't know.
    let integration = environment.path(&format!(".fractal-planner/plans/{PLAN}/integration"));
    fs::remove_dir_all(&integration).unwrap();
    environment.git(&["worktree", "prune"]);
    environment.git(&["branch", "-qD", BRANCH]);
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(subjects(&environment, BRANCH), expected(4));
    assert_eq!(environment.git_status(), "");
}

#[test]
fn a_branch_that_another_checkout_has_is_waited_for() {
    let environment = scene_by_default(2);
    assert_eq!(lead(&environment, &[]).code, 0);
    environment.git(&["switch", "-q", BRANCH]);
    let undo = environment.fp(&["retry", PLAN, "1", "--undo"]);
    assert_eq!(
        undo.stderr,
        "error: fp/sample-20261121 is checked out in [ROOT]/work\n\
         hint: `git -C [ROOT]/work switch --detach` frees it; the run goes on with it then\n"
    );
    environment.git(&["switch", "-q", "main"]);
    environment.done(&["retry", PLAN, "1", "--undo"]);
}

#[test]
fn what_stays_uncommitted_is_kept_where_it_is() {
    let environment = scene_by_default(1);
    environment.git_hook("pre-commit", "#!/bin/sh\nexit 1\n");
    let asked = lead(&environment, &["--ask"]);
    assert_eq!(asked.code, 3, "{asked}");
    environment.done(&["answer", PLAN, "q1", "--option", "Leave uncommitted"]);
    let output = lead(&environment, &["--ask"]);
    assert_eq!(output.code, 0, "{output}");
    let kept = format!(".fractal-planner/plans/{PLAN}/integration");
    assert!(
        output
            .stdout
            .contains(&format!("What was not committed is in {kept}\n")),
        "{output}"
    );
    assert!(
        environment
            .read(&format!("{kept}/part-1.txt"))
            .contains("a line about 1")
    );
    assert_eq!(environment.git_status(), "");
}

#[test]
fn a_folder_in_its_place_is_not_removed() {
    let environment = scene_by_default(1);
    let place = format!(".fractal-planner/plans/{PLAN}/integration");
    environment.write(&format!("{place}/mine.txt"), "precious\n");
    let refused = lead(&environment, &[]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused.stderr.contains("has files that are in no commit"),
        "{refused}"
    );
    assert_eq!(environment.read(&format!("{place}/mine.txt")), "precious\n");
    fs::remove_file(environment.path(&format!("{place}/mine.txt"))).unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
    expect_no_worktrees(&environment);
}
