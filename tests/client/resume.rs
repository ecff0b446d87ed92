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
    killed_while_a_teammate_works,
];

/// A point in the run at which the script blocks until the session has been killed.
struct Moment {
    is_now: fn(&Request) -> bool,
    reached: AtomicBool,
    over: (Mutex<bool>, Condvar),
}

impl Moment {
    fn new(is_now: fn(&Request) -> bool) -> Self {
        Self {
            is_now,
            reached: AtomicBool::new(false),
            over: (Mutex::new(false), Condvar::new()),
        }
    }

    /// Called by the script. Blocks the first time the moment is reached, until [`Moment::pass`].
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

/// Two sessions of one user: the first is killed at a given moment, the second finishes the run.
struct Story {
    sample: Sample,
    stand_in: StandIn,
    moment: Arc<Moment>,
}

/// The state when the first session was killed.
struct Before {
    done: Vec<Value>,
    commits: Vec<String>,
    claims: usize,
}

impl Story {
    fn new(is_now: fn(&Request) -> bool) -> Self {
        let (sample, cast) = (sample(), cast());
        let moment = Arc::new(Moment::new(is_now));
        let held = Arc::clone(&moment);
        let stand_in = StandIn::start(move |request| {
            held.hold(request);
            cast.reply(request)
        });
        Self {
            sample,
            stand_in,
            moment,
        }
    }

    fn client(&self) -> Client<'_> {
        Client::new(&self.stand_in, self.sample.path()).with_plugin(&plugin())
    }

    fn is_reached(&self) -> bool {
        self.moment.reached.load(Ordering::SeqCst)
    }

    /// Called after the session was killed. Unblocks the script, whose reply is no longer needed, and returns the
    /// state.
    fn killed(&self) -> Before {
        self.moment.pass();
        let done = completed(&self.sample);
        let commits: Vec<_> = self
            .sample
            .new_commits()
            .into_iter()
            .map(|commit| commit.hash)
            .collect();
        // The log has the intent before git has the commit, and the completion after it.
        let begun = events(&self.sample, "commitStarted").len();
        let expected = done.len()..=begun;
        assert!(
            expected.contains(&commits.len()),
            "{commits:?}, {expected:?} were expected"
        );
        Before {
            done,
            commits,
            claims: events(&self.sample, "claimed").len(),
        }
    }

    fn assert_finished_after(&self, before: &Before) {
        assert_built(&self.sample);
        let after: Vec<_> = self
            .sample
            .new_commits()
            .into_iter()
            .map(|commit| commit.hash)
            .collect();
        assert!(
            after.starts_with(&before.commits),
            "{after:?} goes on from {:?}",
            before.commits
        );
        for claim in &events(&self.sample, "claimed")[before.claims..] {
            assert!(
                !before.done.contains(&claim["task"]),
                "it was done: {claim}"
            );
        }
    }
}

/// Runs the story in headless sessions, whose builder is a background subagent.
fn kill_and_resume(is_now: fn(&Request) -> bool) {
    let story = Story::new(is_now);
    let client = story.client();
    let prompt = format!("/fp:implement {PLAN} --builders 1");
    let session = client.print(&prompt);
    session.wait_until("the moment of the kill", || story.is_reached());
    session.kill();
    let before = story.killed();

    let ended = client.print(&prompt).end();
    assert!(
        ended.result().contains(OVER),
        "{}\n{}",
        ended.result(),
        story.stand_in.summary()
    );
    story.assert_finished_after(&before);
}

fn completed(sample: &Sample) -> Vec<Value> {
    let status = status(sample);
    let tasks = status["tasks"]
        .as_array()
        .expect("a status lists the tasks");
    let completed = tasks.iter().filter(|task| task["status"] == "COMPLETED");
    completed.map(|task| task["id"].clone()).collect()
}

fn is_agent(request: &Request, wanted: &str) -> bool {
    matches!(&request.speaker, Speaker::Agent { kind, .. } if kind == wanted)
}

fn ran(request: &Request, command: &str) -> bool {
    request.entries().iter().any(|entry| match entry {
        Entry::Called { input, .. } => input["command"]
            .as_str()
            .is_some_and(|line| line.starts_with(command)),
        _ => false,
    })
}

fn killed_while_a_builder_is_about_to_submit() {
    kill_and_resume(|request| {
        is_agent(request, "fp:builder") && ran(request, "sh tests/bye_test.sh")
    });
}

fn killed_while_a_verifier_is_about_to_judge() {
    kill_and_resume(|request| {
        is_agent(request, "fp:verifier")
            && ran(request, "fp verify")
            && request.was_told("Task 1.2")
    });
}

fn killed_before_the_lead_starts_anybody() {
    kill_and_resume(|request| request.speaker == Speaker::Lead && ran(request, "fp next"));
}

fn killed_while_a_teammate_works() {
    let story = Story::new(|request| {
        is_agent(request, "fp:builder") && ran(request, "sh tests/bye_test.sh")
    });
    let client = story.client().with_teams();
    let prompt = format!("/fp:implement {PLAN} --builders 1");
    let mut session = client.open();
    session.enter(&prompt);
    session.wait_until("the moment of the kill", || story.is_reached());
    session.kill();
    let before = story.killed();

    let mut session = client.open();
    session.enter(&prompt);
    session.wait_for(OVER);
    story.assert_finished_after(&before);
}
