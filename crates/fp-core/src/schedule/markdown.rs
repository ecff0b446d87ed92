//! `plan.md`: the schedule for people, and for tools that know the format of its first section.

use std::fmt::Write as _;

use super::{Schedule, Step};

const INFALLIBLE: &str = "writing to a string can't fail";

/// Writes `plan.md`.
#[must_use]
pub fn markdown(schedule: &Schedule) -> String {
    let mut out = String::from("# Implementation Plan\n\n");
    let waves = schedule.waves.len();
    let tasks = schedule.order.len();
    writeln!(
        out,
        "{tasks} task{} in {waves} wave{}, at most {} at once. A wave is the earliest step at which its tasks can run.",
        plural(tasks),
        plural(waves),
        schedule.max_parallel_tasks
    )
    .expect(INFALLIBLE);
    out.push_str("\n## Execution Order\n");
    for step in &schedule.order {
        write_step(&mut out, step);
    }
    write_waves(&mut out, schedule);
    write_critical_path(&mut out, schedule);
    out
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn write_step(out: &mut String, step: &Step) {
    writeln!(out, "{}. [Task {}]: {}", step.position, inline(&step.id), inline(&step.title))
        .expect(INFALLIBLE);
    // The text of an item stands below its number, however many digits that has.
    let pad = " ".repeat(step.position.to_string().len() + 2);
    let ids: Vec<String> = step.dependencies.iter().map(|id| inline(id)).collect();
    writeln!(out, "{pad}- Dependencies: {}", listed(&ids)).expect(INFALLIBLE);
    writeln!(out, "{pad}- Complexity: {}", step.complexity).expect(INFALLIBLE);
    let files: Vec<String> = step.files.iter().map(|file| code(file)).collect();
    writeln!(out, "{pad}- Files: {}", listed(&files)).expect(INFALLIBLE);
    writeln!(out, "{pad}- Acceptance:{}", if step.acceptance.is_empty() { " none" } else { "" })
        .expect(INFALLIBLE);
    for (criterion, number) in step.acceptance.iter().zip(1..) {
        let below = format!("\n{pad}     ");
        writeln!(out, "{pad}  {number}. {}", inline(criterion).replace('\n', &below)).expect(INFALLIBLE);
    }
}

fn listed(texts: &[String]) -> String {
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

fn write_waves(out: &mut String, schedule: &Schedule) {
    let mut sections: Vec<String> = vec![String::new(); schedule.waves.len()];
    for step in &schedule.order {
        let why =
            step.delay.as_ref().map_or(String::new(), |delay| format!(" — {}", delay.told(inline, code)));
        writeln!(
            sections[step.wave - 1],
            "- {} {} ({}){why}",
            inline(&step.id),
            inline(&step.title),
            step.complexity
        )
        .expect(INFALLIBLE);
    }
    out.push_str("\n## Waves\n");
    for (wave, tasks) in schedule.waves.iter().zip(sections) {
        write!(out, "\n### Wave {} (complexity {})\n\n{tasks}", wave.number, wave.complexity)
            .expect(INFALLIBLE);
    }
}

fn write_critical_path(out: &mut String, schedule: &Schedule) {
    let path = &schedule.critical_path;
    let waves: u64 = schedule.waves.iter().map(|wave| u64::from(wave.complexity)).sum();
    let ids: Vec<String> = path.tasks.iter().map(|id| inline(id)).collect();
    writeln!(out, "\n## Critical Path\n").expect(INFALLIBLE);
    writeln!(out, "{}\n", if ids.is_empty() { "none".to_owned() } else { ids.join(" → ") })
        .expect(INFALLIBLE);
    writeln!(
        out,
        "- Complexity of the path: {} of {} in all, {waves} in waves",
        path.complexity, schedule.total_complexity
    )
    .expect(INFALLIBLE);
    let gains: Vec<String> =
        schedule.speed_up.iter().map(|gain| format!("{} × {:.2}", gain.builders, gain.factor)).collect();
    writeln!(out, "- Ideal speed-up by builders: {}", gains.join(", ")).expect(INFALLIBLE);
}

/// A code span of `text`, whatever backticks are in it.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace(['\n', '\r'], " "))
}

/// `text` such that it can't be markup, its code spans excepted, which are left as they are.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut at, mut line) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == '`' {
            let run = rest.len() - rest.trim_start_matches('`').len();
            match span_length(rest, run) {
                Some(span) => out.push_str(&rest[..span]),
                None => out.push_str(&"\\`".repeat(run)),
            }
            at += span_length(rest, run).unwrap_or(run);
            continue;
        }
        if is_markup(c, &text[line..at], rest[c.len_utf8()..].chars().next()) {
            out.push('\\');
        }
        out.push(c);
        at += c.len_utf8();
        if c == '\n' {
            line = at;
        }
    }
    out
}

/// How long the code span is that `rest` begins with, opened by `run` backticks, if it is closed.
fn span_length(rest: &str, run: usize) -> Option<usize> {
    let mut at = run;
    while let Some(found) = rest[at..].find('`') {
        let from = at + found;
        let length = rest[from..].len() - rest[from..].trim_start_matches('`').len();
        at = from + length;
        if length == run {
            return Some(at);
        }
    }
    None
}

/// Whether `c` could be something other than text, behind this part of its line and before this character.
fn is_markup(c: char, line: &str, after: Option<char>) -> bool {
    let within_word = |c: char| c.is_alphanumeric();
    match c {
        '\\' | '*' | '<' | '[' | ']' | '&' | '~' | '|' | '$' => true,
        '_' => !(line.ends_with(within_word) && after.is_some_and(within_word)),
        // A heading, a list, a quotation, or the underline of a heading.
        '#' | '-' | '+' | '>' | '=' => line.trim().is_empty(),
        '.' | ')' => {
            let number = line.trim();
            let is_marker = after.is_none_or(char::is_whitespace);
            is_marker && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    #[test]
    fn text_is_no_markup() {
        let check = |text: &str, expect: &str| assert_eq!(inline(text), expect);
        check("Add a parser", "Add a parser");
        check("`greeting(\"\")` returns `*`", "`greeting(\"\")` returns `*`");
        check("one ` and two ``", "one \\` and two \\`\\`");
        check("<!-- a --> <b>", "\\<!-- a --> \\<b>");
        check("[x](javascript:0)", "\\[x\\](javascript:0)");
        check("snake_case and _emphasis_", "snake_case and \\_emphasis\\_");
        check("# no heading", "\\# no heading");
        check("C# and a - b", "C# and a - b");
        check("1.1", "1.1");
        check("1.1 and 2.0 (3)", "1.1 and 2.0 (3)");
        check("1. a", "1\\. a");
        check("first\n- second\n1. third", "first\n\\- second\n1\\. third");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("src/a.rs"), "`src/a.rs`");
    }

    proptest! {
        /// Whatever a title is, in its place it is a paragraph of text and code.
        #[test]
        fn text_stays_text(text in "[-a1 `*_#<>\\[\\]()&~|!:.$=+\\\\]{0,24}") {
            let page = format!("1. [Task 1]: {}\n   - Files: none\n", inline(text.trim()));
            for event in Parser::new_ext(&page, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
                let plain = match &event {
                    Event::Text(_) | Event::Code(_) | Event::SoftBreak | Event::End(_) => true,
                    Event::Start(tag) => matches!(tag, Tag::List(_) | Tag::Item | Tag::Paragraph),
                    _ => false,
                };
                prop_assert!(plain, "{page:?}: {event:?}");
            }
        }
    }
}
