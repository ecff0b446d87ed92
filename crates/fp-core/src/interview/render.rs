//! `interview.md`: the record of the interview for people, and what `fp interview` prints.

use std::fmt::Write as _;

use super::record::Interview;

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
    section(&mut text, "In scope", lines(interview.scope_inclusions()));
    section(&mut text, "Out of scope", lines(interview.scope_exclusions()));
    let decisions = interview.decisions().into_iter().map(|decided| {
        let mark = assumed(Some(&decided.by));
        match decided.question.as_str() {
            "" => format!("{}{mark}", decided.answer),
            question => format!("{question} {}{mark}", decided.answer),
        }
    });
    section(&mut text, "Decisions", lines(decisions));
    section(&mut text, "Assumptions", lines(interview.assumptions()));
    if let Some(approach) = interview.approach() {
        section(&mut text, "Approach", format!("{approach}{}\n", assumed(interview.said_by("approach"))));
    }
    if let Some(tests) = interview.test_strategy() {
        section(&mut text, "Tests", format!("{tests}{}\n", assumed(interview.said_by("testStrategy"))));
    }
    section(&mut text, "Open questions", lines(interview.open_questions()));
    text
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
                "scopeExclusions": ["translations"],
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

        ## Out of scope

        - translations

        ## Decisions

        - Which language? Rust (assumed)
        - no colours

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
