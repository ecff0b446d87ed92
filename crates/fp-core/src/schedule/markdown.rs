//! `plan.md`: the schedule for people, and for tools that know the format of its first section.

use std::fmt::{self, Write as _};

use super::{Schedule, Step};

/// Writes `plan.md`.
#[must_use]
pub fn markdown(schedule: &Schedule<'_>) -> String {
    let mut out = String::with_capacity(schedule.order.iter().map(room).sum::<usize>() + 1024);
    write_all(&mut out, schedule).expect("writing to a string can't fail");
    out
}

fn room(step: &Step<'_>) -> usize {
    let lengths = |texts: &[&str]| texts.iter().map(|text| text.len() + 16).sum::<usize>();
    200 + 2 * step.title.len()
        + lengths(&step.acceptance)
        + lengths(&step.files)
        + lengths(&step.dependencies)
}

fn write_all(out: &mut String, schedule: &Schedule<'_>) -> fmt::Result {
    let waves = schedule.waves.len();
    let tasks = schedule.order.len();
    writeln!(
        out,
        "# Implementation Plan\n\n{tasks} task{} in {waves} wave{}, at most {} at once. A wave is the earliest step at which its tasks can run.",
        plural(tasks),
        plural(waves),
        schedule.max_parallel_tasks
    )?;
    out.push_str("\n## Execution Order\n");
    for step in &schedule.order {
        write_step(out, step)?;
    }
    write_waves(out, schedule)?;
    write_critical_path(out, schedule)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn write_step(out: &mut String, step: &Step<'_>) -> fmt::Result {
    write!(out, "{}. [Task ", step.position)?;
    inline(out, step.id)?;
    out.push_str("]: ");
    inline(out, step.title)?;
    // The text of an item stands below its number, however many digits that has.
    let pad = " ".repeat(step.position.to_string().len() + 2);
    write!(out, "\n{pad}- Dependencies: ")?;
    listed(out, &step.dependencies, ", ", inline)?;
    write!(out, "\n{pad}- Complexity: {}\n{pad}- Files: ", step.complexity)?;
    listed(out, &step.files, ", ", code)?;
    writeln!(out, "\n{pad}- Acceptance:{}", if step.acceptance.is_empty() { " none" } else { "" })?;
    for (criterion, number) in step.acceptance.iter().zip(1..) {
        write!(out, "{pad}  {number}. ")?;
        let start = out.len();
        inline(out, criterion)?;
        if criterion.contains('\n') {
            let lines = out.split_off(start).replace('\n', &format!("\n{pad}     "));
            out.push_str(&lines);
        }
        out.push('\n');
    }
    Ok(())
}

/// How a text is written in its place.
type Written = fn(&mut String, &str) -> fmt::Result;

fn listed(out: &mut String, texts: &[&str], between: &str, written: Written) -> fmt::Result {
    if texts.is_empty() {
        out.push_str("none");
    }
    for (number, text) in texts.iter().enumerate() {
        if number > 0 {
            out.push_str(between);
        }
        written(out, text)?;
    }
    Ok(())
}

fn write_waves(out: &mut String, schedule: &Schedule<'_>) -> fmt::Result {
    let mut steps: Vec<&Step<'_>> = schedule.order.iter().collect();
    steps.sort_by_key(|step| step.wave);
    let mut steps = steps.into_iter().peekable();
    out.push_str("\n## Waves\n");
    for wave in &schedule.waves {
        write!(out, "\n### Wave {} (complexity {})\n\n", wave.number, wave.complexity)?;
        while let Some(step) = steps.next_if(|step| step.wave == wave.number) {
            out.push_str("- ");
            inline(out, step.id)?;
            out.push(' ');
            inline(out, step.title)?;
            write!(out, " ({})", step.complexity)?;
            if let Some(delay) = &step.delay {
                out.push_str(" — ");
                delay.tell(out, inline, code)?;
            }
            out.push('\n');
        }
    }
    Ok(())
}

fn write_critical_path(out: &mut String, schedule: &Schedule<'_>) -> fmt::Result {
    let path = &schedule.critical_path;
    let waves: u64 = schedule.waves.iter().map(|wave| u64::from(wave.complexity)).sum();
    out.push_str("\n## Critical Path\n\n");
    listed(out, &path.tasks, " → ", inline)?;
    writeln!(
        out,
        "\n\n- Complexity of the path: {} of {} in all, {waves} in waves",
        path.complexity, schedule.total_complexity
    )?;
    let gains: Vec<String> =
        schedule.speed_up.iter().map(|gain| format!("{} × {:.2}", gain.builders, gain.factor)).collect();
    writeln!(out, "- Ideal speed-up by builders: {}", gains.join(", "))
}

/// Writes a code span of `text`, whatever backticks are in it.
pub(crate) fn code(out: &mut String, text: &str) -> fmt::Result {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    write!(out, "{fence}{pad}")?;
    for (number, line) in text.split(['\n', '\r']).enumerate() {
        if number > 0 {
            out.push(' ');
        }
        out.push_str(line);
    }
    write!(out, "{pad}{fence}")
}

/// Writes `text` such that it can't be markup, its code spans excepted, which are left as they are.
#[expect(clippy::unnecessary_wraps, reason = "one of several ways of writing")]
pub(crate) fn inline(out: &mut String, text: &str) -> fmt::Result {
    let (mut at, mut line, mut written) = (0, 0, 0);
    while let Some(found) = text[at..].bytes().position(may_be_markup) {
        at += found;
        let rest = &text[at..];
        let c = char::from(rest.as_bytes()[0]);
        if c == '`' {
            let run = rest.len() - rest.trim_start_matches('`').len();
            if let Some(span) = span_length(rest, run) {
                at += span;
            } else {
                out.push_str(&text[written..at]);
                out.push_str(&"\\`".repeat(run));
                at += run;
                written = at;
            }
            continue;
        }
        if is_markup(c, &text[line..at], rest[1..].chars().next()) {
            out.push_str(&text[written..at]);
            out.push('\\');
            written = at;
        }
        at += 1;
        if c == '\n' {
            line = at;
        }
    }
    out.push_str(&text[written..]);
    Ok(())
}

/// Whether [`inline`] has to look at this byte.
fn may_be_markup(byte: u8) -> bool {
    byte.is_ascii_punctuation() && !matches!(byte, b',' | b'\'' | b'"' | b'(' | b'/' | b':' | b';')
        || byte == b'\n'
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

    fn as_text(text: &str) -> String {
        let mut out = String::new();
        inline(&mut out, text).unwrap();
        out
    }

    #[test]
    fn text_is_no_markup() {
        let check = |text: &str, expect: &str| assert_eq!(as_text(text), expect);
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
        let check = |path: &str, expect: &str| {
            let mut out = String::new();
            code(&mut out, path).unwrap();
            assert_eq!(out, expect);
        };
        check("a`b", "`` a`b ``");
        check("src/a.rs", "`src/a.rs`");
        check("a\nb\rc", "`a b c`");
    }

    proptest! {
        /// Whatever a title is, in its place it is a paragraph of text and code.
        #[test]
        fn text_stays_text(text in "[-a1 `*_#<>\\[\\]()&~|!:.$=+\\\\]{0,24}") {
            let page = format!("1. [Task 1]: {}\n   - Files: none\n", as_text(text.trim()));
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
