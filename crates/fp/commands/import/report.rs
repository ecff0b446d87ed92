//! What `fp import` says of what it found and wrote.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fp_core::diagnostic::{Diagnostic, Severity};
use fp_core::exchange::{Notice, Source};
use fp_core::interview::Mode;
use fp_core::plan::id::PlanId;
use fp_core::text::counted;
use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::Import;
use crate::context::Context;

/// Most notices of a kind of weight that the text shows.
const SHOWN: usize = 20;

/// How often each rule finds something.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    errors: usize,
    warnings: usize,
    #[serde(rename = "byRule")]
    by_rule: BTreeMap<&'static str, Count>,
    #[serde(skip)]
    leaves: usize,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Count {
    severity: Severity,
    count: usize,
}

impl Findings {
    pub(super) fn of(found: &[Diagnostic], leaves: usize) -> Self {
        let mut by_rule: BTreeMap<&'static str, Count> = BTreeMap::new();
        for finding in found {
            by_rule.entry(finding.rule).or_insert(Count { severity: finding.severity, count: 0 }).count += 1;
        }
        let of = |severity: Severity| found.iter().filter(|finding| finding.severity == severity).count();
        Self { errors: of(Severity::Error), warnings: of(Severity::Warning), by_rule, leaves }
    }
}

/// The plan that was made.
pub(super) struct Written {
    pub(super) plan_id: PlanId,
    pub(super) path: PathBuf,
    pub(super) mode: Mode,
    pub(super) why: String,
}

/// All that is said.
pub(super) struct Report<'i> {
    pub(super) path: &'i str,
    pub(super) import: &'i Import,
    pub(super) findings: Findings,
    /// The plans that were made of the same before.
    pub(super) earlier: Vec<PlanId>,
    pub(super) dry_run: bool,
}

impl Report<'_> {
    fn proven(&self) -> usize {
        self.import.done.iter().filter(|done| done.commit.is_some()).count()
    }

    fn by_weight(&self, problem: bool) -> Vec<&Notice> {
        self.import.notices.iter().filter(|notice| notice.kind.is_problem() == problem).collect()
    }

    pub(super) fn json(&self, written: Option<&Written>) -> Value {
        let Self { import, findings, .. } = self;
        let mut json = json!({
            "from": import.recognised.source,
            "because": import.recognised.because,
            "path": self.path,
            "title": import.plan.title,
            "tasks": {
                "total": import.plan.tasks.len(),
                "leaves": findings.leaves,
                "done": import.done.len(),
                "proven": self.proven(),
                "todo": findings.leaves - import.done.len(),
            },
            "problems": self.by_weight(true),
            "notes": self.by_weight(false),
            "validation": findings,
            "earlier": self.earlier,
            "planId": written.map(|written| &written.plan_id),
        });
        match written {
            Some(written) => {
                json["folder"] = json!(written.path);
                json["mode"] = json!({ "name": written.mode, "reason": written.why });
            }
            None => json["tree"] = json!(import.draft.text),
        }
        json
    }

    /// What was found, before anything is written.
    pub(super) fn text(&self) -> String {
        let Self { import, findings, .. } = self;
        let recognised = &import.recognised;
        let mut text = format!("{}: {} ({})\n", self.path, recognised.source, recognised.because);
        text += &format!("  title  {}\n", import.plan.title);
        let leaves =
            if findings.leaves == 1 { "1 leaf".to_owned() } else { format!("{} leaves", findings.leaves) };
        text += &format!("  tasks  {}, of which {leaves}\n", import.plan.tasks.len());
        text += &format!("  work   {}\n", self.work());
        text += &told("Problems of the source", &self.by_weight(true));
        text += &told("Worth knowing", &self.by_weight(false));
        text += &self.validation();
        let earlier: Vec<&str> = self.earlier.iter().map(PlanId::as_str).collect();
        if !earlier.is_empty() {
            let verb = if self.dry_run { "would be" } else { "is" };
            text += &format!(
                "\nThe same was imported before, as {}: this {verb} another one\n",
                earlier.join(", ")
            );
        }
        text
    }

    /// What was written, or would be.
    pub(super) fn end(&self, written: Option<&Written>, context: &Context) -> String {
        match written {
            Some(written) => self.written(written, context),
            None => {
                format!("\nNothing is written (--dry-run). tasks.md would be:\n\n{}", self.import.draft.text)
            }
        }
    }

    fn work(&self) -> String {
        let (done, proven) = (self.import.done.len(), self.proven());
        let how = match (done, proven) {
            (0, _) => "",
            (_, 0) => " by what the source says",
            (all, some) if all == some => " and proven by their commits",
            _ => " by what the source says, of which a commit proves",
        };
        let number = if proven > 0 && proven < done { format!(" {proven}") } else { String::new() };
        format!("{done} done{how}{number}, {} to do", self.findings.leaves - done)
    }

    fn validation(&self) -> String {
        let Findings { errors, warnings, by_rule, .. } = &self.findings;
        if by_rule.is_empty() {
            return "\nThe tree is valid as it is\n".to_owned();
        }
        let (errors, warnings) = (counted(*errors, "error"), counted(*warnings, "warning"));
        let mut text = format!("\nWhat the tree is short of ({errors}, {warnings}):\n");
        let width = by_rule.keys().map(|rule| rule.width()).max().unwrap_or(0);
        let mut rules: Vec<_> = by_rule.iter().collect();
        rules.sort_by_key(|(_, count)| count.severity);
        for (rule, Count { severity, count }) in rules {
            let word = if *severity == Severity::Error { "error" } else { "warning" };
            text += &format!("  {rule:width$}  {}\n", counted(*count, word));
        }
        text
    }

    fn written(&self, written: &Written, context: &Context) -> String {
        let id = &written.plan_id;
        let mut text = format!("\nPlan {id}\n  folder  {}\n", context.shown(&written.path));
        text += &format!("  mode    {}: {}\n\nNext:\n", written.mode.name(), written.why);
        if self.findings.errors > 0 {
            text += &format!("  fp validate {id} --fix\n");
            text += "  ask Claude Code to have fp:decomposer complete the tree by what is left\n";
        }
        text += &format!("  fp approve {id}\n");
        if self.import.recognised.source == Source::FractalPlanner && self.path.contains("plans/") {
            text += &format!("The plan that it was imported from is still there: {}\n", self.path);
        }
        text
    }
}

fn told(heading: &str, notices: &[&Notice]) -> String {
    if notices.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{heading}:\n");
    for notice in notices.iter().take(SHOWN) {
        text += &format!("  {notice}\n");
    }
    if notices.len() > SHOWN {
        text += &format!("  … and {} more, which --format json has\n", notices.len() - SHOWN);
    }
    text
}
