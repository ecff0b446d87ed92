//! A session is killed in the middle of a run, and `/fp:implement` is started again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::Value;

use crate::bundle::plugin;
use crate::cast::OVER;
use crate::request::{Entry, Request, Speaker};
use crate::run::{PLAN, assert_built, cast, events, sample, status};
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::StandIn;
use crate::{tests, wait};

tests![
    killed_while_a_builder_is_about_to_submit,
    killed_while_a_verifier_is_about_to_judge,
    killed_before_the_lead_starts_anybody,
];

/// A moment of the run that is held until the session has been killed.
struct Moment {
    is_now: fn(&Request) -> bool,
    reached: AtomicBool,
    over: (Mutex<bool>, Condvar),
}

impl Moment {
    fn new(is_now: fn(&Request) -> bool) -> Self {
        Self { is_now, reached: AtomicBool::new(false), over: (Mutex::new(false), Condvar::new()) }
    }

    /// Called by the script: lasts until [`Moment::pass`], the first time that it is now.
    fn hold(&self, request: &Request) {
        if (self.is_now)(request) && !self.reached.swap(true, Ordering::SeqCst) {
            let (over, changed) = &self.over;
            let guard = over.lock().expect("nobody panics while holding it");
            let waited = changed.wait_timeout_while(guard, wait::LIMIT, |over| !*over);
            drop(waited.expect("nobody panics while holding it"));
        }
    }

    fn pass(&self) {
        let (over, changed) = &self.over;
        *over.lock().expect("nobody panics while holding it") = true;
        changed.notify_all();
    }
}

/// Kills the first session in the given moment, and has a second one finish the run.
fn kill_and_resume(is_now: fn(&Request) -> bool) {
    let (sample, cast) = (sample(), cast());
    let moment = Arc::new(Moment::new(is_now));
    let held = Arc::clone(&moment);
    let stand_in = StandIn::start(move |request| {
        held.hold(request);
        cast.reply(request)
    });
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let prompt = format!("/fp:implement {PLAN} --builders 1");

    let session = client.print(&prompt);
    session.wait_until("the moment of the kill", || moment.reached.load(Ordering::SeqCst));
    session.kill();
    moment.pass();
    let done = completed(&sample);
    let commits: Vec<_> = sample.new_commits().into_iter().map(|commit| commit.hash).collect();
    assert_eq!(done.len(), commits.len());
    let claimed = events(&sample, "claimed").len();

    let ended = client.print(&prompt).end();
    assert!(ended.result().contains(OVER), "{}\n{}", ended.result(), stand_in.summary());
    assert_built(&sample);

    let after = sample.new_commits();
    assert!(after.iter().zip(&commits).all(|(commit, before)| commit.hash == *before), "history is kept");
    for claim in &events(&sample, "claimed")[claimed..] {
        assert!(!done.iter().any(|task| *task == claim["task"]), "it was done: {claim}");
    }
}

fn completed(sample: &Sample) -> Vec<Value> {
    let status = status(sample);
    let tasks = status["tasks"].as_array().expect("a status lists the tasks");
    let completed = tasks.iter().filter(|task| task["status"] == "COMPLETED");
    completed.map(|task| task["id"].clone()).collect()
}

fn is_agent(request: &Request, wanted: &str) -> bool {
    matches!(&request.speaker, Speaker::Agent { kind, .. } if kind == wanted)
}

fn ran(request: &Request, command: &str) -> bool {
    request.entries().iter().any(|entry| match entry {
        Entry::Called { input, .. } => {
            input["command"].as_str().is_some_and(|line| line.starts_with(command))
        }
        _ => false,
    })
}

fn killed_while_a_builder_is_about_to_submit() {
    kill_and_resume(|request| is_agent(request, "fp:builder") && ran(request, "sh tests/bye_test.sh"));
}

fn killed_while_a_verifier_is_about_to_judge() {
    kill_and_resume(|request| {
        is_agent(request, "fp:verifier") && ran(request, "fp verify") && request.was_told("Task 1.2")
    });
}

fn killed_before_the_lead_starts_anybody() {
    kill_and_resume(|request| request.speaker == Speaker::Lead && ran(request, "fp next"));
}
