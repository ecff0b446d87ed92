//! Reads an evidence file back. People may have edited it, and 0.1 had it written by a model, so what is not
//! understood is an error with its line, and never a guess at a result.

use jiff::Timestamp;

use super::{CHECK_WORDS, Criterion, Evidence, Finding, Output};
use crate::verification::CheckVerdict;

/// Why a text is no evidence file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct EvidenceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, or was expected in it.
    pub what: String,
}

type Parsed<T> = Result<T, EvidenceError>;

fn wrong<T>(line: usize, what: impl Into<String>) -> Parsed<T> {
    Err(EvidenceError { line, what: what.into() })
}

/// The lines of a file, of which one after the other is read.
struct Lines<'t> {
    lines: Vec<&'t str>,
    next: usize,
}

impl<'t> Lines<'t> {
    fn peek(&self) -> Option<&'t str> {
        self.lines.get(self.next).copied()
    }

    fn take(&mut self) -> Option<&'t str> {
        let line = self.peek()?;
        self.next += 1;
        Some(line)
    }

    /// The next line that is not blank.
    fn take_text(&mut self) -> Option<&'t str> {
        while let Some(line) = self.take() {
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
        None
    }

    /// The number of the line that was taken last.
    fn number(&self) -> usize {
        self.next.max(1)
    }

    /// The next line of a section that is not blank; `None` where the next section begins.
    fn take_within(&mut self) -> Option<&'t str> {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.next += 1;
        }
        if self.peek()?.starts_with("## ") { None } else { self.take() }
    }

    /// All lines up to the next section, as one text.
    fn take_section(&mut self) -> String {
        let start = self.next;
        while self.peek().is_some_and(|line| !line.starts_with("## ")) {
            self.next += 1;
        }
        self.lines[start..self.next].join("\n").trim().to_owned()
    }
}

impl Evidence {
    /// Reads an evidence file, of this version or of 0.1. What [`Evidence::to_markdown`] has written reads back as it
    /// was.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Self, EvidenceError> {
        let mut lines = Lines { lines: text.split('\n').collect(), next: 0 };
        let mut evidence = head(&mut lines)?;
        let mut has_criteria = false;
        while let Some(line) = lines.take_text() {
            let Some(heading) = line.strip_prefix("## ") else {
                return wrong(lines.number(), format!("expected a section, found {line:?}"));
            };
            match heading.trim() {
                "Criteria Results" => {
                    has_criteria = true;
                    evidence.criteria = rows(&mut lines, criterion)?;
                }
                "Mechanical Checks" => evidence.checks = rows(&mut lines, finding)?,
                "Files Reviewed" => evidence.files = files(&mut lines),
                // It is the last one, and what it says may look like anything.
                "Summary" => {
                    evidence.summary = lines.lines.split_off(lines.next).join("\n").trim().to_owned();
                }
                heading if heading.ends_with(" Output") => {
                    evidence.outputs.extend(outputs(&mut lines, heading)?);
                }
                // Other tools may add sections of their own.
                _ => drop(lines.take_section()),
            }
        }
        if has_criteria {
            Ok(evidence)
        } else {
            wrong(lines.number(), "the section `## Criteria Results` is missing")
        }
    }
}

fn head(lines: &mut Lines<'_>) -> Parsed<Evidence> {
    let first = lines.take_text().unwrap_or_default();
    let Some(task) = first.strip_prefix("# Verification Evidence: Task ") else {
        return wrong(lines.number(), "expected `# Verification Evidence: Task ID`");
    };
    let (mut pass, mut at, mut title, mut iteration) = (None, None, String::new(), None);
    while let Some(line) = lines.take_within() {
        let number = lines.number();
        let Some((key, value)) = line.split_once(':') else {
            return wrong(number, format!("expected `KEY: VALUE`, found {line:?}"));
        };
        let value = value.trim();
        match key.trim() {
            "Result" => pass = Some(result(value, number)?),
            "Timestamp" => match value.parse::<Timestamp>() {
                Ok(time) => at = Some(time),
                Err(_) => return wrong(number, format!("{value:?} is no time in RFC 3339")),
            },
            "Task" => title = value.to_owned(),
            "Iteration" => match value.parse() {
                Ok(count) => iteration = Some(count),
                Err(_) => return wrong(number, format!("{value:?} is no number of an iteration")),
            },
            _ => {}
        }
    }
    let (Some(pass), Some(at)) = (pass, at) else {
        let missing = if pass.is_none() { "Result" } else { "Timestamp" };
        return wrong(lines.number(), format!("`{missing}:` is missing above the first section"));
    };
    Ok(Evidence {
        task: task.trim().to_owned(),
        pass,
        at,
        title,
        iteration,
        criteria: Vec::new(),
        checks: Vec::new(),
        outputs: Vec::new(),
        files: Vec::new(),
        summary: String::new(),
    })
}

fn result(value: &str, line: usize) -> Parsed<bool> {
    match value {
        "PASS" => Ok(true),
        "FAIL" => Ok(false),
        _ => wrong(line, format!("{value:?} is neither PASS nor FAIL")),
    }
}

fn check_result(value: &str) -> Option<CheckVerdict> {
    CHECK_WORDS.iter().find(|(_, word)| *word == value).map(|(verdict, _)| *verdict)
}

/// The rows of a table below its heading and its rule.
fn rows<T>(lines: &mut Lines<'_>, read: impl Fn(&[String], usize) -> Parsed<T>) -> Parsed<Vec<T>> {
    let mut rows = Vec::new();
    let mut above = 2;
    while let Some(line) = lines.take_within() {
        let number = lines.number();
        let Some(cells) = cells(line) else {
            return wrong(number, format!("expected a row of a table, found {line:?}"));
        };
        if above > 0 {
            above -= 1;
        } else {
            rows.push(read(&cells, number)?);
        }
    }
    if above == 0 { Ok(rows) } else { wrong(lines.number(), "the table of this section is missing") }
}

/// The cells of `| a | b |`; a `\|` is a part of its cell.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = vec![String::new()];
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        let cell = cells.last_mut()?;
        match c {
            '\\' if rest.next_if_eq(&'|').is_some() => cell.push('|'),
            '|' => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    Some(cells.into_iter().map(|cell| cell.trim().to_owned()).collect())
}

fn criterion(cells: &[String], line: usize) -> Parsed<Criterion> {
    let [number, criterion, verdict, evidence] = cells else {
        return wrong(line, format!("a criterion has 4 cells, this row has {}", cells.len()));
    };
    let Ok(number) = number.parse() else {
        return wrong(line, format!("{number:?} is no number of a criterion"));
    };
    let pass = result(verdict, line)?;
    Ok(Criterion { number, criterion: criterion.clone(), pass, evidence: evidence.clone() })
}

fn finding(cells: &[String], line: usize) -> Parsed<Finding> {
    let [name, verdict, detail] = cells else {
        return wrong(line, format!("a check has 3 cells, this row has {}", cells.len()));
    };
    match check_result(verdict) {
        Some(verdict) => Ok(Finding { name: name.clone(), verdict, detail: detail.clone() }),
        None => wrong(line, format!("{verdict:?} is not what a check says: PASS, FAIL, NOTE or N/A")),
    }
}

/// The fenced texts of a section, each below the name of its command; where it has none, `heading` names it.
fn outputs(lines: &mut Lines<'_>, heading: &str) -> Parsed<Vec<Output>> {
    let mut outputs = Vec::new();
    let mut named: Option<(String, CheckVerdict)> = None;
    while let Some(line) = lines.take_within() {
        let backticks = line.len() - line.trim_start_matches('`').len();
        if backticks >= 3 {
            let text = fenced(lines, backticks)?;
            let (name, verdict) =
                named.take().map_or((heading.to_owned(), None), |(name, v)| (name, Some(v)));
            outputs.push(Output { name, verdict, text });
        } else {
            // Other lines are prose, such as that there was nothing to run.
            named = name_of(line);
        }
    }
    Ok(outputs)
}

/// The name and the verdict of `NAME (VERDICT)`.
fn name_of(line: &str) -> Option<(String, CheckVerdict)> {
    let (name, word) = line.strip_suffix(')')?.rsplit_once(" (")?;
    Some((name.to_owned(), check_result(word)?))
}

fn fenced(lines: &mut Lines<'_>, backticks: usize) -> Parsed<String> {
    let opened = lines.number();
    let mut text = Vec::new();
    while let Some(line) = lines.take() {
        let trimmed = line.trim_end();
        if trimmed.len() == backticks && trimmed.bytes().all(|b| b == b'`') {
            return Ok(text.join("\n"));
        }
        text.push(line);
    }
    wrong(opened, "the fence that opens here is not closed")
}

fn files(lines: &mut Lines<'_>) -> Vec<String> {
    let mut files = Vec::new();
    while let Some(line) = lines.take_within() {
        files.extend(line.strip_prefix("- ").map(str::to_owned));
    }
    files
}
