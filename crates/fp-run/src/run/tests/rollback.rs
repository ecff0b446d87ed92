//! Tests rolling back tasks.

use super::*;

/// Rolls `task` back, if allowed; the agent `meanwhile` claims what it can while the commit is being undone.
pub(super) fn roll_back(machine: &mut Machine, task: &TaskId, meanwhile: &AgentName) {
    let Ok(found) = machine.state.expect_revertible(task, &[]) else {
        return;
    };
    let commit = found.commit.clone();
    // A task done before the import doesn't depend on its dependencies being done; once it is rolled back, it does.
    let lost = |d: &TaskId| {
        matches!(
            machine.state.task(d).unwrap().status,
            Status::Failed | Status::Skipped
        )
    };
    let expected = match found.imported && found.leaf.dependencies.iter().any(lost) {
        true => Status::Skipped,
        false => Status::Pending,
    };
    let waiting = machine.state.dependents(task).into_iter();
    let waiting: Vec<TaskId> = waiting.map(|user| user.leaf.id.clone()).collect();
    machine.claim(meanwhile);
    let revert = commit.as_ref().map(|_| "feed".to_owned());
    let events = machine.state.roll_back(task, commit, revert).unwrap();
    machine.take(events);
    let now = machine.state.task(task).unwrap();
    assert_eq!(
        (now.status, now.iteration, &now.commit, &now.verdict),
        (expected, 0, &None, &None)
    );
    for dependent in waiting {
        let status = machine.state.task(&dependent).unwrap().status;
        assert!(
            !status.is_running() && status != Status::Completed,
            "{dependent} stands on nothing"
        );
    }
}

/// Three tasks in a row, of which the first `done` are completed.
fn chain(done: usize) -> Machine {
    let mut machine = Machine::new(
        vec![leaf(1, &[], 0), leaf(2, &[1], 1), leaf(3, &[2], 2)],
        true,
    );
    for number in 1..=done {
        complete(&mut machine, &number.to_string());
    }
    machine
}

fn complete(machine: &mut Machine, task: &str) {
    machine.claim(&name("builder-1"));
    machine.submit(&name("builder-1"));
    machine.judge(&id(task), true);
    assert_eq!(
        machine.state.task(&id(task)).unwrap().status,
        Status::Completed
    );
}

fn statuses(machine: &Machine) -> Vec<&'static str> {
    machine
        .state
        .tasks
        .iter()
        .map(|t| t.status.into_str())
        .collect()
}

fn refusal(machine: &Machine, task: &str, files: &[&str]) -> String {
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    machine
        .state
        .expect_revertible(&id(task), &files)
        .unwrap_err()
        .to_string()
}

#[test]
fn what_was_built_on_it_goes_first() {
    let mut machine = chain(3);
    assert_eq!(
        refusal(&machine, "1", &[]),
        "task 1 can't be rolled back: tasks 2 (done), 3 (done) build on it"
    );
    for task in ["3", "2", "1"] {
        roll_back(&mut machine, &id(task), &name("builder-2"));
        machine.check();
    }
    // The second builder claimed the task just rolled back, and lost it when the one below it was rolled back.
    assert_eq!(statuses(&machine), ["waiting", "waiting", "waiting"]);
    complete(&mut machine, "1");
    assert_eq!(statuses(&machine), ["done", "waiting", "waiting"]);
}

#[test]
fn what_is_not_done_can_not_be_rolled_back() {
    let mut machine = chain(1);
    assert_eq!(
        refusal(&machine, "2", &[]),
        "task 2 is waiting: only a task that is done can be rolled back"
    );
    assert_eq!(
        refusal(&machine, "9", &[]),
        "the approved plan has no leaf 9"
    );
    machine.claim(&name("builder-1"));
    assert_eq!(
        refusal(&machine, "1", &[]),
        "task 1 can't be rolled back: task 2 (building) builds on it"
    );
    let refused = machine.state.roll_back(&id("2"), None, None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "task 2 is building: only a task that is done can be rolled back"
    );
}

#[test]
fn a_running_task_keeps_its_files() {
    let mut machine = Machine::new(vec![leaf(1, &[], 0), leaf(2, &[], 1)], true);
    complete(&mut machine, "1");
    machine.claim(&name("builder-1"));
    assert_eq!(
        refusal(&machine, "1", &["f0", "f1/x"]),
        "task 1 can't be rolled back: running task 2 may change f1, too"
    );
    assert!(
        machine
            .state
            .expect_revertible(&id("1"), &["f0".into()])
            .is_ok()
    );
}

#[test]
fn its_attempts_begin_anew_and_are_measured_anew() {
    let mut machine = chain(0);
    machine.claim(&name("builder-1"));
    machine.submit(&name("builder-1"));
    machine.judge(&id("1"), false);
    complete(&mut machine, "1");
    assert_eq!(machine.state.task(&id("1")).unwrap().iteration, 2);
    roll_back(&mut machine, &id("1"), &name("builder-2"));
    let task = machine.state.task(&id("1")).unwrap();
    assert_eq!(
        (task.iteration, &task.base, task.started_at),
        (0, &None, None)
    );
    assert_eq!(machine.state.undone, ["c0ffee", "feed"]);
    machine.check();
}

#[test]
fn what_has_no_commit_is_measured_from_where_it_began() {
    let mut machine = chain(0);
    machine.claim(&name("builder-1"));
    machine.submit(&name("builder-1"));
    let opinion = VerifierOpinion {
        judgements: vec![Judgement {
            criterion: 1,
            pass: true,
            evidence: "seen".into(),
        }],
        summary: String::new(),
        tree: None,
    };
    let events = machine
        .state
        .judge_task(&id("1"), None, opinion, &["c".into()])
        .unwrap();
    machine.take(events);
    let events = machine
        .state
        .complete(&id("1"), None, Some("commits are off".into()))
        .unwrap();
    machine.take(events);
    roll_back(&mut machine, &id("1"), &name("builder-2"));
    let task = machine.state.task(&id("1")).unwrap();
    assert!(task.base.is_some() && task.started_at.is_some() && task.note.is_none());
    assert!(machine.state.undone.is_empty());
}

#[test]
fn a_finished_run_goes_on_and_a_cancelled_one_does_not() {
    let mut machine = chain(3);
    let done = machine.next(&[name("builder-1")]);
    assert!(matches!(done[..], [LeadAction::Finish { .. }]), "{done:?}");
    roll_back(&mut machine, &id("3"), &name("builder-2"));
    assert!(machine.state.is_running());
    assert!(matches!(
        machine.next(&[])[..],
        [LeadAction::Resume { .. }, LeadAction::Wait { .. }]
    ));
    let events = machine.state.cancel(Decider::User).unwrap();
    machine.take(events);
    roll_back(&mut machine, &id("2"), &name("builder-2"));
    assert!(!machine.state.is_running());
    assert_eq!(statuses(&machine), ["done", "waiting", "waiting"]);
}

#[test]
fn a_failed_task_that_waits_for_it_can_be_retried_and_waits_again() {
    let mut machine = chain(1);
    let events = machine.state.fail(&id("2"), "no").unwrap();
    machine.take(events);
    roll_back(&mut machine, &id("1"), &name("builder-2"));
    assert_eq!(statuses(&machine), ["waiting", "failed", "skipped"]);
    let events = machine.state.retry(&id("2")).unwrap();
    machine.take(events);
    assert_eq!(statuses(&machine), ["waiting", "waiting", "waiting"]);
    machine.check();
    complete(&mut machine, "1");
}
