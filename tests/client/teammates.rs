//! `/fp:implement` in an interactive session, with two builders as teammates.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::bundle::plugin;
use crate::cast::OVER;
use crate::request::{Request, Speaker};
use crate::run::{PLAN, assert_built, cast, events, sample};
use crate::session::Client;
use crate::stand_in::StandIn;
use crate::{tests, wait};

tests![an_idle_teammate_is_nudged_into_finishing];

/// Holds each builder back until the other has claimed a task too.
#[derive(Default)]
struct Rendezvous {
    arrived: Mutex<BTreeSet<String>>,
}

impl Rendezvous {
    fn meet(&self, request: &Request) {
        const BUILDERS: usize = 2;
        let arrived = || self.arrived.lock().expect("nobody panics while holding it");
        match &request.speaker {
            Speaker::Agent { name, kind } if kind == "fp:builder" && request.turns() == 1 => {
                arrived().insert(name.clone());
                let met = wait::poll(wait::LIMIT, || (arrived().len() == BUILDERS).then_some(()));
                assert!(met.is_some(), "only {:?} claimed a task", arrived());
            }
            _ => {}
        }
    }
}

fn an_idle_teammate_is_nudged_into_finishing() {
    let (sample, mut cast, rendezvous) = (sample(), cast(), Rendezvous::default());
    cast.builder = cast.builder.stopping_at("1.2");
    let stand_in = StandIn::start(move |request| {
        rendezvous.meet(request);
        cast.reply(request)
    });
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(&plugin())
        .with_teams()
        .with_status_line();
    let mut terminal = client.open();
    terminal.enter(&format!("/fp:implement {PLAN} --builders 2"));
    // The client refreshes the status line on activity, so the state it shows depends on timing.
    let is_there = |line: &str| {
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        has(&["fp 0/3 ▱", "fp 1/3 ▰", "fp 2/3 ▰"]) && has(&[" building", " verifying"])
    };
    terminal.wait_until("the status line", || {
        terminal.screen().lines().any(is_there)
    });
    terminal.wait_for(OVER);

    assert_built(&sample);
    let first = &stand_in.of_agent("builder-1")[0];
    assert!(
        first.was_told("<teammate-message teammate_id=\"team-lead\""),
        "{}",
        first.summary()
    );
    let nudged = stand_in
        .requests()
        .into_iter()
        .find(|request| request.was_told("TeammateIdle hook feedback"));
    let nudged = nudged.expect("the hook speaks to the idle teammate");
    assert!(nudged.was_told("hold task 1.2"), "{}", nudged.summary());
    assert_eq!(events(&sample, "nudged").len(), 1, "one nudge is enough");
}
