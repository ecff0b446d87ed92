//! The evidence file of a task: what its last verdict rested on. The form is that of fractal-planner 0.1, so
//! that older tools can read it, and files that those wrote can be read here.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use crate::run::state::{Granted, TaskState};
use crate::text::one_line;
use crate::verification::{COMMAND_CHECK, Check, CheckVerdict};

/// What an evidence file says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskEvidence {
    /// Id of the task.
    pub task: String,
    /// Whether it passed.
    pub pass: bool,
    /// When the file was written.
    pub at: Timestamp,
    /// Title of the task.
    pub title: String,
    /// The iteration that was judged; files of 0.1 don't say.
    pub iteration: Option<u32>,
    /// The verdict on each criterion.
    pub criteria: Vec<EvidenceCriterion>,
    /// The mechanical checks that are no commands; files of 0.1 have none.
    pub checks: Vec<EvidenceCheck>,
    /// What was run.
    pub outputs: Vec<EvidenceOutput>,
    /// The files that the task changed; in files of 0.1, those that were read.
    pub files: Vec<String>,
    /// The verifier's summary.
    pub summary: String,
}

/// The verdict on one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceCriterion {
    /// Its number, from 1.
    pub number: usize,
    /// What it asks for.
    pub criterion: String,
    /// Whether it is met.
    pub pass: bool,
    /// What shows it, or why it is not met.
    pub evidence: String,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceCheck {
    /// Name of the check.
    pub name: String,
    /// What it says.
    pub verdict: CheckVerdict,
    /// Why.
    pub detail: String,
}

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceOutput {
    /// Name of the check that ran it; in files of 0.1 the heading that it stands under.
    pub name: String,
    /// What that check says; files of 0.1 don't.
    pub verdict: Option<CheckVerdict>,
    /// The output, cut where it is long.
    pub text: String,
}

/// The evidence file of `task` with these `criteria`, written at `at`.
#[must_use]
pub fn render(task: &TaskState, criteria: &[String], at: Timestamp) -> String {
    TaskEvidence::new(task, criteria, at).to_markdown()
}

impl TaskEvidence {
    /// The evidence of the last verdict on `task`, which has these `criteria`. Every text is as the file can hold it:
    /// on one line, where the form is one of lines.
    #[must_use]
    pub fn new(task: &TaskState, criteria: &[String], at: Timestamp) -> Self {
        let verdict = task.verdict.as_ref();
        let checks = task.verification.as_ref().map_or(&[][..], |v| &v.checks);
        let (commands, checks): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|c| is_command(c));
        let criterion = |number: usize| criteria.get(number.wrapping_sub(1)).map_or("", String::as_str);
        Self {
            task: task.leaf.id.to_string(),
            pass: verdict.is_some_and(|v| v.pass),
            at,
            title: one_line(&task.leaf.title),
            iteration: Some(verdict.map_or(task.iteration, |v| v.iteration)),
            criteria: verdict
                .map_or(&[][..], |v| &v.judgements)
                .iter()
                .map(|judgement| EvidenceCriterion {
                    number: judgement.criterion,
                    criterion: one_line(criterion(judgement.criterion)),
                    pass: judgement.pass,
                    evidence: one_line(&judgement.evidence),
                })
                .collect(),
            checks: checks
                .iter()
                .map(|check| EvidenceCheck {
                    name: one_line(&check.name),
                    verdict: check.verdict,
                    detail: one_line(&check.detail),
                })
                .collect(),
            outputs: commands
                .iter()
                .map(|check| EvidenceOutput {
                    name: one_line(&check.name),
                    verdict: Some(check.verdict),
                    text: check.detail.trim_end().to_owned(),
                })
                .collect(),
            files: task
                .changed()
                .iter()
                .map(|change| change.path.to_string())
                .chain(task.granted.iter().map(granted))
                .collect(),
            summary: verdict.map_or("", |v| v.summary.trim()).to_owned(),
        }
    }

    /// The file.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "# Verification Evidence: Task {}\n\nResult: {}\nTimestamp: {}\nTask: {}\n",
            self.task,
            word(self.pass),
            self.at,
            self.title,
        );
        if let Some(iteration) = self.iteration {
            let _ = writeln!(text, "Iteration: {iteration}");
        }
        text.push_str(
            "\n## Criteria Results\n\n| # | Criterion | Result | Evidence |\n|---|-----------|--------|---------|\n",
        );
        for EvidenceCriterion { number, criterion, pass, evidence } in &self.criteria {
            let (criterion, evidence) = (cell(criterion), cell(evidence));
            let _ = writeln!(text, "| {number} | {criterion} | {} | {evidence} |", word(*pass));
        }
        text.push_str("\n## Mechanical Checks\n\n| Check | Result | Detail |\n|-------|--------|--------|\n");
        for EvidenceCheck { name, verdict, detail } in &self.checks {
            let _ = writeln!(text, "| {} | {} | {} |", cell(name), check_word(*verdict), cell(detail));
        }
        text.push_str("\n## Test Output\n\n");
        if self.outputs.is_empty() {
            text.push_str("No test commands\n");
        }
        for EvidenceOutput { name, verdict, text: output } in &self.outputs {
            let fence = fence(output);
            if let Some(verdict) = verdict {
                let _ = writeln!(text, "{name} ({})\n", check_word(*verdict));
            }
            let _ = write!(text, "{fence}\n{output}\n{fence}\n\n");
        }
        text.push_str("\n## Files Reviewed\n\n");
        for file in &self.files {
            let _ = writeln!(text, "- {file}");
        }
        let _ = write!(text, "\n## Summary\n\n{}\n", self.summary);
        text
    }
}

fn granted(granted: &Granted) -> String {
    one_line(&format!("{} is not in the plan: {}", granted.path, granted.reason))
}

/// Every verdict of a check, with the word that it is written as.
const CHECK_WORDS: [(CheckVerdict, &str); 4] = [
    (CheckVerdict::Pass, "PASS"),
    (CheckVerdict::Fail, "FAIL"),
    (CheckVerdict::Note, "NOTE"),
    (CheckVerdict::NotApplicable, "N/A"),
];

fn is_command(check: &Check) -> bool {
    check.name.starts_with(COMMAND_CHECK)
}

fn word(pass: bool) -> &'static str {
    if pass { "PASS" } else { "FAIL" }
}

fn check_word(verdict: CheckVerdict) -> &'static str {
    CHECK_WORDS.iter().find(|(of, _)| *of == verdict).map_or("", |(_, word)| word)
}

/// Text that can't end its table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A fence longer than any run of backticks in `text`.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

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

impl TaskEvidence {
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

fn head(lines: &mut Lines<'_>) -> Parsed<TaskEvidence> {
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
    Ok(TaskEvidence {
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

fn criterion(cells: &[String], line: usize) -> Parsed<EvidenceCriterion> {
    let [number, criterion, verdict, evidence] = cells else {
        return wrong(line, format!("a criterion has 4 cells, this row has {}", cells.len()));
    };
    let Ok(number) = number.parse() else {
        return wrong(line, format!("{number:?} is no number of a criterion"));
    };
    let pass = result(verdict, line)?;
    Ok(EvidenceCriterion { number, criterion: criterion.clone(), pass, evidence: evidence.clone() })
}

fn finding(cells: &[String], line: usize) -> Parsed<EvidenceCheck> {
    let [name, verdict, detail] = cells else {
        return wrong(line, format!("a check has 3 cells, this row has {}", cells.len()));
    };
    match check_result(verdict) {
        Some(verdict) => Ok(EvidenceCheck { name: name.clone(), verdict, detail: detail.clone() }),
        None => wrong(line, format!("{verdict:?} is not what a check says: PASS, FAIL, NOTE or N/A")),
    }
}

/// The fenced texts of a section, each below the name of its command; where it has none, `heading` names it.
fn outputs(lines: &mut Lines<'_>, heading: &str) -> Parsed<Vec<EvidenceOutput>> {
    let mut outputs = Vec::new();
    let mut named: Option<(String, CheckVerdict)> = None;
    while let Some(line) = lines.take_within() {
        let backticks = line.len() - line.trim_start_matches('`').len();
        if backticks >= 3 {
            let text = fenced(lines, backticks)?;
            let (name, verdict) =
                named.take().map_or((heading.to_owned(), None), |(name, v)| (name, Some(v)));
            outputs.push(EvidenceOutput { name, verdict, text });
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

#[cfg(test)]
mod tests;
