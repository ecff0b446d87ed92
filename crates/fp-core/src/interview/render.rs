//! `interview.md`: the record of the interview for people, and what `fp interview` prints.

use std::fmt::Write as _;

use super::clearance::Clearance;
use super::record::{Interview, Said};

/// The record of the interview about `goal` as Markdown. Sections that have nothing in them are left out.
#[must_use]
pub fn markdown(goal: &str, interview: &Interview) -> String {
    let mut text = String::from("# Interview\n");
    section(&mut text, "Goal", quoted(goal));
    if let Some(objective) = interview.objective() {
        section(&mut text, "Objective", format!("{objective}{}\n", assumed(interview.said_by("objective"))));
    }
    let requirements = interview.requirements();
    let requirements =
        requirements.iter().map(|r| format!("**{}** {}{}", r.id, r.text, assumed(Some(&r.by))));
    section(&mut text, "Requirements", lines(requirements));
    section(&mut text, "In scope", scope(&interview.inclusions()));
    let excluded = match interview.excludes_nothing() {
        Some(by) => format!("Nothing, as was said expressly{}\n", assumed(Some(by))),
        None => scope(&interview.exclusions()),
    };
    section(&mut text, "Out of scope", excluded);
    let decisions = interview.decisions().into_iter().map(|decided| {
        let mark = assumed(Some(&decided.by));
        match decided.question.as_str() {
            "" => format!("{}{mark}", decided.answer),
            question => format!("{question} {}{mark}", decided.answer),
        }
    });
    section(&mut text, "Decisions", lines(decisions));
    section(&mut text, "Assumptions", lines(interview.assumptions()));
    section(&mut text, "Approach", approach(interview));
    if let Some(tests) = interview.test_strategy() {
        section(&mut text, "Tests", format!("{tests}{}\n", assumed(interview.said_by("testStrategy"))));
    }
    section(&mut text, "Open questions", lines(interview.open_questions()));
    text
}

/// What `clearance` says of the record, as the last section of its page.
#[must_use]
pub fn clearance(clearance: &Clearance) -> String {
    let mut text = String::new();
    let left_open = clearance.is_left_open();
    let title = if left_open { "Left open" } else { "Clearance" };
    let items = clearance.items.iter().filter(|item| !left_open || item.missing.is_some()).map(|item| {
        let missing = item.missing.as_ref().map(|what| format!("; {what}")).unwrap_or_default();
        format!("{}: {}{missing}", item.name, item.state.word())
    });
    let head = match left_open {
        true => format!("Nobody is asked any more after {} rounds.", clearance.rounds),
        false => {
            format!("Interview: {}. Rounds: {}.", clearance.in_words(), clearance.rounds_in_words())
        }
    };
    section(&mut text, title, format!("{head}\n\n{}", lines(items)));
    text
}

/// What was chosen, and what was not.
fn approach(interview: &Interview) -> String {
    let chosen =
        interview.approach().map(|text| format!("{text}{}\n", assumed(interview.said_by("approach"))));
    let others = interview.alternatives();
    let others = lines(others.iter().map(|other| format!("{}: {}", other.name, other.why_not)));
    let others = if others.is_empty() { others } else { format!("Not chosen:\n\n{others}") };
    chosen.into_iter().chain(Some(others).filter(|text| !text.is_empty())).collect::<Vec<_>>().join("\n")
}

fn scope(said: &[Said<'_>]) -> String {
    lines(said.iter().map(|said| format!("{}{}", said.text, assumed(Some(said.by)))))
}

fn section(text: &mut String, title: &str, body: String) {
    if !body.is_empty() {
        let _ = write!(text, "\n## {title}\n\n{body}");
    }
}

/// Each entry as one item of a list; its further lines are indented so that they stay in it.
fn lines(entries: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for entry in entries {
        let _ = writeln!(text, "- {}", entry.as_ref().lines().collect::<Vec<_>>().join("\n  "));
    }
    text
}

fn quoted(goal: &str) -> String {
    goal.lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{}", format!("> {line}").trim_end());
        text
    })
}

/// Marks what nobody has confirmed.
fn assumed(by: Option<&str>) -> &'static str {
    if by == Some("auto") { " (assumed)" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_well() {
        let interview = Interview::parse(
            r#"{
                "objective": "Greet people",
                "saidBy": {"objective": "auto"},
                "requirements": ["It greets", {"id": "R5", "text": "It greets\nby name", "by": "auto"}],
                "scopeInclusions": [{"text": "the command", "by": "auto"}],
                "scopeExclusions": ["translations"],
                "approach": "a subcommand",
                "alternatives": [{"name": "a plugin", "whyNot": "more to install"}, {"name": "x"}, 3],
                "decisions": [{"question": "Which language?", "answer": "Rust", "by": "auto"}, "no colours"],
                "testStrategy": "unit tests",
                "openQuestions": ["Else?"]
            }"#,
        )
        .unwrap();
        insta::assert_snapshot!(markdown("Add a greeting\n\n# now", &interview), @r"
        # Interview

        ## Goal

        > Add a greeting
        >
        > # now

        ## Objective

        Greet people (assumed)

        ## Requirements

        - **R1** It greets
        - **R5** It greets
          by name (assumed)

        ## In scope

        - the command (assumed)

        ## Out of scope

        - translations

        ## Decisions

        - Which language? Rust (assumed)
        - no colours

        ## Approach

        a subcommand

        Not chosen:

        - a plugin: more to install

        ## Tests

        unit tests

        ## Open questions

        - Else?
        ");
        insta::assert_snapshot!(markdown("x", &Interview::default()), @r"
        # Interview

        ## Goal

        > x
        ");
    }
}
