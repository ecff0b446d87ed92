//! `/fp:implement` without a user: builders and verifiers are background subagents.

use crate::bundle::plugin;
use crate::cast::OVER;
use crate::run::{FEEDBACK, PLAN, assert_built, cast, sample};
use crate::session::{Client, Permissions};
use crate::stand_in::StandIn;
use crate::tests;

tests![
    a_plan_is_built_to_one_verified_commit_a_task,
    nobody_is_asked_for_the_commands_of_the_plugin
];

fn a_plan_is_built_to_one_verified_commit_a_task() {
    let (sample, cast) = (sample(), cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
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

    assert!(stand_in.of_lead()[0].was_told("Runs a plan's tasks with builders and verifiers"));
    let builder = stand_in.of_agent("builder-1");
    assert!(
        builder[0]
            .system_prompt()
            .contains("You build one task of a plan and submit it.")
    );
    assert!(
        builder.iter().any(|request| request.was_told(FEEDBACK)),
        "the builder is told why it failed"
    );
    for verifier in [
        "verifier-1-1-i1",
        "verifier-1-1-i2",
        "verifier-1-2-i1",
        "verifier-2-i1",
    ] {
        let requests = stand_in.of_agent(verifier);
        assert!(!requests.is_empty(), "{verifier} was started");
        assert!(
            requests[0]
                .system_prompt()
                .contains("You judge one submitted task, or the result of a plan as a whole.")
        );
    }
    let evidence = sample.read(&format!(
        ".fractal-planner/plans/{PLAN}/evidence/task-1.1-verification.md"
    ));
    assert!(evidence.contains("title ada"), "{evidence}");
}

/// Covers the default permission mode, where a skill's own permissions end with the turn that the user started.
fn nobody_is_asked_for_the_commands_of_the_plugin() {
    let (sample, cast) = (sample(), cast());
    let stand_in = StandIn::start(move |request| cast.reply(request));
    let client = Client::new(&stand_in, sample.path())
        .with_plugin(&plugin())
        .with_permissions(Permissions::Default);
    let session = client.converse(&format!("/fp:implement {PLAN} --builders 1"));
    session.wait_for_result(OVER);
    let ended = session.end();

    assert_built(&sample);
    let prompts = ended.permission_prompts();
    let commands: Vec<_> = prompts
        .iter()
        .filter_map(|prompt| prompt.input["command"].as_str())
        .collect();
    assert!(
        commands.iter().all(|command| !command.starts_with("fp ")),
        "{commands:?}"
    );
    assert!(
        !prompts.is_empty(),
        "what is not the plugin's is still asked for"
    );
}
