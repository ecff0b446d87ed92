//! Tests the messages of the hooks, and that they reach the model.

use serde_json::json;

use crate::bundle::plugin;
use crate::cast::OVER;
use crate::request::{Block, Entry, Request, Speaker, call, text};
use crate::run::{PLAN, all_events, assert_built, cast, events, sample};
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::StandIn;
use crate::tests;

tests![
    a_comment_that_an_edit_adds_is_asked_about,
    a_builder_is_kept_to_the_files_of_its_task,
    a_lead_that_stops_too_early_goes_on,
    a_lead_goes_on_after_a_compaction,
    a_new_session_is_told_of_an_interrupted_run,
];

const STOPPING: &str = "That is enough for now.";
const SUMMARY: &str = "A plan is being built.";

fn is_lead(request: &Request) -> bool {
    request.speaker == Speaker::Lead
}

fn has_said(request: &Request, words: &str) -> bool {
    request
        .entries()
        .iter()
        .any(|entry| matches!(entry, Entry::Said(said) if said == words))
}

/// True if the lead's last action was to call `fp next`.
fn has_just_asked(request: &Request) -> bool {
    let mut calls = request
        .entries()
        .iter()
        .rev()
        .filter_map(|entry| match entry {
            Entry::Called { input, .. } => Some(input["command"].as_str().unwrap_or_default()),
            _ => None,
        });
    is_lead(request)
        && calls
            .next()
            .is_some_and(|command| command.starts_with("fp next"))
}

fn a_comment_that_an_edit_adds_is_asked_about() {
    let sample = Sample::new();
    let path = sample.path().join("bin/new");
    let stand_in = StandIn::start(move |request| match request.turns() {
        0 => {
            let content = "#!/bin/sh\n# print the word new\necho new\n";
            call("Write", json!({ "file_path": path, "content": content }))
        }
        _ => text("done"),
    });
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    assert_eq!(client.print("Add bin/new").end().result(), "done");
    let after = &stand_in.of_lead()[1];
    assert!(
        after.was_told("# print the word new"),
        "{}",
        after.summary()
    );
    assert!(!after.was_told("#!/bin/sh"), "{}", after.summary());
}

fn a_builder_is_kept_to_the_files_of_its_task() {
    let (sample, mut cast) = (sample(), cast());
    cast.builder = cast
        .builder
        .trying("1.2", "README.md", "Nobody asked for this.\n");
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:implement {PLAN} --builders 1"))
        .end();
    assert!(ended.result().contains(OVER), "{}", ended.result());

    assert_built(&sample);
    let requests = stand_in.of_agent("builder-1");
    let told = requests
        .iter()
        .find(|request| request.was_told("README.md is not among its files"));
    let told = told.expect("the guard tells the builder why");
    assert!(
        told.was_told(&format!("fp scope extend {PLAN} 1.2 README.md")),
        "{}",
        told.summary()
    );
}

fn a_lead_that_stops_too_early_goes_on() {
    let (sample, cast) = (sample(), cast());
    let stand_in = StandIn::start(move |request| {
        let stops = has_just_asked(request) && !has_said(request, STOPPING);
        if stops {
            text(STOPPING)
        } else {
            cast.reply(request)
        }
    });
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:implement {PLAN} --builders 1"))
        .end();
    assert!(
        ended.result().contains(OVER),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );

    assert_built(&sample);
    // An agent may end just before its lead stops, which is another reason for a word.
    let all = all_events(&sample);
    let is_nudge = |event: &serde_json::Value| event == "leadNudged";
    assert!(all.iter().any(is_nudge), "{all:?}");
    let in_a_row = all.windows(2).find(|two| two.iter().all(is_nudge));
    assert_eq!(in_a_row, None, "one word is enough");
    let told = stand_in
        .of_lead()
        .iter()
        .any(|request| request.was_told(&format!("fp next {PLAN}")));
    assert!(told, "{}", stand_in.summary());
}

/// True if the client asks for a summary, as it does once the conversation reportedly fills its window.
fn asks_for_a_summary(request: &Request) -> bool {
    let asked = |entry: &Entry| matches!(entry, Entry::Heard(text) if text.contains("create a detailed summary of the conversation"));
    request.news().iter().any(asked)
}

fn was_compacted(request: &Request) -> bool {
    request
        .opening()
        .iter()
        .any(|entry| matches!(entry, Entry::Heard(text) if text.contains(SUMMARY)))
}

fn a_lead_goes_on_after_a_compaction() {
    let (sample, cast) = (sample(), cast());
    let script = move |request: &Request| -> Vec<Block> {
        if asks_for_a_summary(request) {
            return text(format!("<summary>{SUMMARY}</summary>"));
        }
        cast.reply(request)
    };
    let is_full = |request: &Request| has_just_asked(request) && !was_compacted(request);
    let stand_in = StandIn::start(script).filling_the_window_at(is_full);
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let ended = client
        .print(&format!("/fp:implement {PLAN} --builders 1"))
        .end();
    assert!(
        ended.result().contains(OVER),
        "{}\n{}",
        ended.result(),
        stand_in.summary()
    );

    assert_built(&sample);
    let requests = stand_in.of_lead();
    let first = requests
        .iter()
        .find(|request| was_compacted(request))
        .expect("the client compacts");
    assert!(
        first.was_told(&format!("leads the unfinished run of plan {PLAN}")),
        "{}",
        first.summary()
    );
    let starts = events(&sample, "runStarted").len();
    assert_eq!(starts, 1, "it goes on without starting again");
}

fn a_new_session_is_told_of_an_interrupted_run() {
    let sample = sample();
    sample.fp(&["run", "start", PLAN, "--session", "one-that-is-gone"]);
    let stand_in = StandIn::start(|_| text("Hello."));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    assert_eq!(client.print("Hello").end().result(), "Hello.");
    let first = &stand_in.of_lead()[0];
    assert!(
        first.was_told(&format!("`/fp:implement {PLAN}` continues it")),
        "{}",
        first.summary()
    );
}
