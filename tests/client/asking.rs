//! Runs that need the user: a builder's question, a verifier without a verdict, a task that runs out of attempts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bundle::plugin;
use crate::cast::{Cast, Loss, OVER};
use crate::headless::Ended;
use crate::request::Entry;
use crate::run::{FEEDBACK, PLAN, assert_built, cast, events, sample, status};
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::StandIn;
use crate::tests;

tests![
    what_a_builder_asks_is_answered_by_the_user,
    a_verifier_that_never_answers_is_replaced_and_then_asked_about,
    a_task_that_failed_for_good_is_retried_when_the_rest_is_done,
    each_action_that_gets_lost_once_is_done_later,
    one_of_several_actions_that_gets_lost_is_done_later,
];

const QUESTION: &str = "How loud is the goodbye?";

/// Runs the plan with one builder. The user takes the first option, except that each of `choices` is chosen when it is
/// offered.
fn run(sample: &Sample, cast: Cast, flags: &str, choices: &[&str]) -> (StandIn, Ended) {
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let ended = {
        let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
        let session = client.converse(&format!("/fp:implement {PLAN} --builders 1 {flags}"));
        let session = choices
            .iter()
            .fold(session, |session, choice| session.choosing_once(choice));
        session.wait_for_result(OVER);
        session.end()
    };
    (stand_in, ended)
}

/// Makes the lead lose actions in a run that has every kind of action. Returns how often each kind was printed again.
fn losing(loss: Loss) -> BTreeMap<String, usize> {
    let (sample, mut cast) = (sample(), cast());
    cast.builder = cast.builder.clarifying("1.2", QUESTION);
    cast.loss = loss;
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client
        .converse(&format!("/fp:implement {PLAN} --builders 2"))
        .choosing_once("Quiet");
    session.wait_for_result(OVER);
    session.end();
    assert_built(&sample);

    let lead = stand_in.of_lead();
    let lists = lead
        .last()
        .expect("it leads")
        .entries()
        .iter()
        .filter_map(|entry| match entry {
            Entry::Returned { text, .. } => serde_json::from_str::<Value>(text).ok()?["actions"]
                .as_array()
                .cloned(),
            _ => None,
        });
    let lists: Vec<_> = lists.collect();
    let said = |action: &Value| {
        ["action", "name", "prompt", "message", "question", "on"].map(|key| action[key].clone())
    };
    let mut again = BTreeMap::new();
    for pair in lists.windows(2) {
        let before: Vec<_> = pair[0].iter().map(said).collect();
        for action in pair[1]
            .iter()
            .filter(|action| before.contains(&said(action)))
        {
            let kind = action["action"].as_str().expect("a kind");
            *again.entry(kind.to_owned()).or_default() += 1;
        }
    }
    again
}

fn each_action_that_gets_lost_once_is_done_later() {
    let again = losing(Loss::Everything);
    let least = [
        ("ask", 1),
        ("finish", 1),
        ("resume", 3),
        ("spawn", 2),
        ("verify", 4),
        ("wait", 5),
    ];
    for (kind, times) in least {
        assert!(
            again.get(kind).is_some_and(|known| *known >= times),
            "{kind}: {again:?}"
        );
    }
}

fn one_of_several_actions_that_gets_lost_is_done_later() {
    let again = losing(Loss::LastOfSeveral);
    assert!(again.contains_key("spawn"), "{again:?}");
}

fn questions(ended: &Ended) -> Vec<String> {
    let asked = ended
        .prompts
        .iter()
        .filter(|prompt| prompt.tool == "AskUserQuestion");
    let texts = asked.filter_map(|prompt| prompt.input["questions"][0]["question"].as_str());
    // The code at the end of a question depends on the plan.
    texts
        .map(|text| text.rsplit_once(" [").expect("it has a code").0.to_owned())
        .collect()
}

fn what_a_builder_asks_is_answered_by_the_user() {
    let (sample, mut cast) = (sample(), cast());
    cast.builder = cast.builder.clarifying("1.2", QUESTION);
    let (stand_in, ended) = run(&sample, cast, "", &["Quiet"]);
    assert_built(&sample);
    assert_eq!(questions(&ended), [format!("Task 1.2: {QUESTION}")]);
    let builder = stand_in.of_agent("builder-1");
    let told = builder
        .iter()
        .find(|request| request.was_told("the answer: Quiet"));
    assert!(
        told.is_some(),
        "the answer is in the payload: {}",
        stand_in.summary()
    );
    assert!(
        events(&sample, "nudged").is_empty(),
        "nobody urges a builder that waits for an answer"
    );
}

fn a_verifier_that_never_answers_is_replaced_and_then_asked_about() {
    let (sample, mut cast) = (sample(), cast());
    cast.verifier = cast.verifier.silent_at("1.2", 2);
    let (stand_in, ended) = run(&sample, cast, "", &["Retry"]);
    assert_built(&sample);
    for verifier in ["verifier-1-2-i1", "verifier-1-2-i1-2", "verifier-1-2-i1-3"] {
        assert!(
            !stand_in.of_agent(verifier).is_empty(),
            "{verifier} was started"
        );
    }
    let asked = questions(&ended);
    assert_eq!(
        asked,
        [
            "Two verifiers of task 1.2 ended without a verdict; its last words: \"I have looked at it.\". How should it continue?"
        ]
    );
}

fn a_task_that_failed_for_good_is_retried_when_the_rest_is_done() {
    let (sample, cast) = (sample(), cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin());
    let session = client.converse(&format!(
        "/fp:implement {PLAN} --builders 1 --max-iterations 1"
    ));
    let session = session.choosing(&["Continue"]);
    session.wait_for_result(OVER);
    let after = status(&sample);
    let states: Vec<_> = after["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .map(|task| &task["status"])
        .collect();
    assert_eq!(states, ["FAILED", "COMPLETED", "SKIPPED"], "{after:#}");
    assert_eq!(sample.new_commits().len(), 1, "what could be done is");

    session.say(&format!("/fp:retry {PLAN} 1.1"));
    session.wait_for_result("waits again");
    // Given another chance, the model does it right.
    session.say(&format!(
        "/fp:implement {PLAN} --builders 1 --max-iterations 3"
    ));
    session.wait_until("the end of the second run", || {
        status(&sample)["phase"] == "finished" && { sample.new_commits().len() == 3 }
    });
    let ended = session.end();
    assert!(ended.result().contains(OVER), "{}", ended.result());
    assert!(
        stand_in
            .of_agent("builder-1")
            .iter()
            .any(|request| request.was_told(FEEDBACK))
    );
    assert_eq!(
        questions(&ended).len(),
        1,
        "the user is asked once: {:?}",
        questions(&ended)
    );
    assert_eq!(events(&sample, "retried").len(), 1);
}
