//! The language of texts meant for people, passed to every agent that writes them.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

fn started(goal: &str, configured: Option<&str>) -> Environment {
    let environment = Environment::new().repo();
    if let Some(language) = configured {
        let settings = serde_json::json!({ "language": language });
        environment.write(".fractal-planner/config.json", settings.to_string());
    }
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    let record = serde_json::json!({ "goal": goal });
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/plan.json"),
        record.to_string(),
    );
    environment.done(&["approve", PLAN, "--yes"]);
    environment
}

/// The lines about the language for the lead, the builder and the verifier.
fn told(environment: &Environment) -> Vec<String> {
    let lead = environment
        .done(&["run", "start", PLAN, "--session", "s1"])
        .stdout;
    let builder = environment
        .done(&["claim", PLAN, "--as", "builder-1"])
        .stdout;
    environment.build("builder-1", "a.txt", "about 1\n");
    let verifier = environment.fp(&["verify", PLAN, "1"]).stdout;
    let signs = ["Words to the user", "- Write notes", "Judge each one"];
    let lines = [lead, builder, verifier].into_iter().zip(signs);
    let line = |(text, sign): (String, &str)| {
        text.lines()
            .find(|line| line.starts_with(sign))
            .map(str::to_owned)
    };
    lines.filter_map(line).collect()
}

#[test]
fn the_users_own_words_tell_it() {
    assert_eq!(
        told(&started("auth.rs의 토큰 만료를 고쳐 줘", None)),
        [
            "Words to the user: Korean",
            "- Write notes, questions and messages in Korean",
            "Judge each one, in Korean: `fail 2: WHAT YOU SAW, AND WHAT WAS WANTED` for what fails, `pass 1,3: EVIDENCE` for several. Notes are WARN for a doubt, DEBT for work that is left; none, or several.",
        ]
    );
}

#[test]
fn the_setting_outweighs_them() {
    let told = told(&started("auth.rs의 토큰 만료를 고쳐 줘", Some("Deutsch")));
    assert_eq!(told[0], "Words to the user: Deutsch");
    assert!(told.iter().all(|line| line.contains("Deutsch")), "{told:?}");
}

#[test]
fn where_nobody_knows_nothing_is_said() {
    let told = told(&started("Mend the expiry of tokens", None));
    assert_eq!(
        told,
        [
            "Judge each one: `fail 2: WHAT YOU SAW, AND WHAT WAS WANTED` for what fails, `pass 1,3: EVIDENCE` for several. Notes are WARN for a doubt, DEBT for work that is left; none, or several."
        ]
    );
}

#[test]
fn a_message_of_a_commit_is_in_it() {
    let environment = started("Mend the expiry of tokens", Some("ko"));
    environment.write("b.txt", "b\n");
    let guide = environment.fp(&["commit", "b.txt"]).stdout;
    assert!(guide.contains("; in ko\n"), "{guide}");
    environment.done(&["commit", "b.txt", "--message", "b를 더한다"]);
}
