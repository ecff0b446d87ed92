//! The critique of a task tree: what a critic says of each leaf, whether it said something of all of them, and what
//! that adds up to. The critic finds; the verdict is counted.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::run::event::Event;
use crate::run::planning::ROUNDS;
use crate::run::{State, approval};
use fp_plan::markdown::inline;
use fp_plan::plan::Plan;
use fp_plan::plan::id::{InvalidId, TaskId};
use fp_plan::text::{clipped, counted, one_line};

/// The verdict of a finding or a whole critique; the worst is the greatest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum CriticVerdict {
    Pass,
    /// It would cost an iteration.
    Warn,
    /// A builder could not finish as written, or could finish and be wrong.
    Fail,
}

/// The seven things that a leaf is judged by.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive, const_into_str)]
pub enum CritiqueItem {
    Criteria,
    Hints,
    /// It does what was asked for, and no more.
    Scope,
    /// It waits for all that it needs.
    Dependencies,
    /// What it covers would be shown to be met.
    Coverage,
    /// Its criteria don't test what it defines itself.
    Circularity,
    /// Its guardrails leave room for the work, and for nothing else.
    Guardrails,
}

/// A fault in one item of a leaf, or of the whole tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticFinding {
    /// The leaf; `None` for the whole tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Title of the leaf when it was judged, cut where it is long; empty for the whole tree.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub item: CritiqueItem,
    /// How much it weighs; never a pass.
    pub verdict: CriticVerdict,
    /// What is wrong, on one line.
    pub text: String,
}

impl fmt::Display for CriticFinding {
    /// On one line: `FAIL 1.2 criteria: what is wrong`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.task.as_ref().map_or("tree", TaskId::as_str);
        write!(f, "{} {place} {}: {}", self.verdict.into_str(), self.item.into_str(), self.text)
    }
}

/// Longest text of a finding, in characters.
pub const MAX_TEXT: usize = 4000;
/// Longest title that a finding repeats, in characters.
const MAX_TITLE: usize = 120;
/// Most leaves that an error names.
const NAMED: usize = 10;
/// Longest id that an error repeats, in characters.
const SHOWN: usize = 60;
/// Names the whole tree where a leaf is expected.
const TREE: &str = "tree";

/// What a critic says, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriticOpinion {
    /// Leaves without a finding.
    #[serde(default)]
    pub pass: Vec<String>,
    #[serde(default, rename = "findings")]
    pub remarks: Vec<CriticRemark>,
}

/// A finding as written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriticRemark {
    #[serde(rename = "leaf")]
    pub place: String,
    pub item: String,
    pub verdict: FindingWeight,
    pub text: String,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum FindingWeight {
    #[serde(rename = "WARN", alias = "warn")]
    Warn,
    #[serde(rename = "FAIL", alias = "fail")]
    Fail,
}

impl From<FindingWeight> for CriticVerdict {
    fn from(weight: FindingWeight) -> Self {
        match weight {
            FindingWeight::Warn => Self::Warn,
            FindingWeight::Fail => Self::Fail,
        }
    }
}

impl CriticRemark {
    /// Reads `1.2 criteria: TEXT`; `None` where it is not of that form.
    pub fn parse(written: &str, verdict: FindingWeight) -> Option<Self> {
        let (head, text) = written.split_once(':')?;
        let mut words = head.split_whitespace();
        let (place, item) = (words.next()?.to_owned(), words.next()?.to_owned());
        words.next().is_none().then(|| Self { place, item, verdict, text: text.to_owned() })
    }
}

/// An opinion on every leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedTree {
    pub leaves: usize,
    /// The worst first, then in the order of the tree, then in that of the items.
    pub findings: Vec<CriticFinding>,
}

/// Why an opinion is no critique of a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotJudged {
    #[error("the tree has no leaf {0:?}")]
    UnknownLeaf(String),
    #[error("task {0} has subtasks, and its leaves are what is judged")]
    NoLeaf(String),
    #[error("leaf {0} passes and has a finding")]
    Both(TaskId),
    #[error("{}", left_out(.0))]
    LeftOut(Vec<TaskId>),
    #[error("{0:?} is none of the seven items")]
    UnknownItem(String),
    #[error("the finding on {0} says nothing")]
    NoText(String),
    #[error("the finding on {place} has {length} characters: at most {MAX_TEXT} are taken")]
    TooLong { place: String, length: usize },
    /// Validation refuses such ids before.
    #[error(transparent)]
    Id(#[from] InvalidId),
}

fn left_out(leaves: &[TaskId]) -> String {
    let named: Vec<&str> = leaves.iter().take(NAMED).map(TaskId::as_str).collect();
    let more = match leaves.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (noun, verb) = if leaves.len() == 1 { ("leaf", "is") } else { ("leaves", "are") };
    format!("{} {noun} {verb} not judged: {}{more}", leaves.len(), named.join(", "))
}

/// `opinion` as a critique of `plan`, a valid tree. Fails where it leaves a leaf out, names what the tree doesn't
/// have, or contradicts itself.
pub fn judge(plan: &Plan, opinion: &CriticOpinion) -> Result<JudgedTree, NotJudged> {
    let leaves = Leaves::of(plan)?;
    let passed: HashSet<usize> = opinion.pass.iter().map(|id| leaves.number(id)).collect::<Result<_, _>>()?;
    let mut found = opinion.remarks.iter().map(|r| leaves.finding(r)).collect::<Result<Vec<_>, _>>()?;
    let faulty: HashSet<usize> = found.iter().filter_map(|(number, _)| *number).collect();
    if let Some(&both) = passed.intersection(&faulty).min() {
        return Err(NotJudged::Both(leaves.all[both].0.clone()));
    }
    let judged = |number: &usize| passed.contains(number) || faulty.contains(number);
    let missing: Vec<TaskId> =
        (0..leaves.all.len()).filter(|n| !judged(n)).map(|n| leaves.all[n].0.clone()).collect();
    if !missing.is_empty() {
        return Err(NotJudged::LeftOut(missing));
    }
    found.sort_by_key(|(number, finding)| (std::cmp::Reverse(finding.verdict), *number, finding.item));
    Ok(JudgedTree {
        leaves: leaves.all.len(),
        findings: found.into_iter().map(|(_, finding)| finding).collect(),
    })
}

/// The leaves of a tree, found by what they are called.
struct Leaves<'p> {
    plan: &'p Plan<'p>,
    /// Id and title, in the order of the tree.
    all: Vec<(TaskId, &'p str)>,
    numbers: HashMap<&'p str, usize>,
}

impl<'p> Leaves<'p> {
    fn of(plan: &'p Plan<'p>) -> Result<Self, InvalidId> {
        let all: Vec<(TaskId, &str)> = plan
            .leaves()
            .map(|leaf| Ok((TaskId::new(&*leaf.id)?, &*leaf.description)))
            .collect::<Result<_, InvalidId>>()?;
        let numbers = plan.leaves().enumerate().map(|(number, leaf)| (&*leaf.id, number)).collect();
        Ok(Self { plan, all, numbers })
    }

    fn number(&self, id: &str) -> Result<usize, NotJudged> {
        self.numbers.get(id).copied().ok_or_else(|| match self.plan.tasks.iter().any(|task| task.id == id) {
            true => NotJudged::NoLeaf(clipped(id, SHOWN)),
            false => NotJudged::UnknownLeaf(clipped(id, SHOWN)),
        })
    }

    /// `remark` as a finding, with the number of its leaf.
    fn finding(&self, remark: &CriticRemark) -> Result<(Option<usize>, CriticFinding), NotJudged> {
        let number = match self.number(&remark.place) {
            Err(NotJudged::UnknownLeaf(place)) if place.eq_ignore_ascii_case(TREE) => None,
            found => Some(found?),
        };
        let text = one_line(&remark.text);
        let length = text.chars().count();
        let place = || remark.place.clone();
        if text.is_empty() {
            return Err(NotJudged::NoText(place()));
        }
        if length > MAX_TEXT {
            return Err(NotJudged::TooLong { place: place(), length });
        }
        let leaf = number.map(|number| &self.all[number]);
        let finding = CriticFinding {
            task: leaf.map(|(id, _)| id.clone()),
            title: leaf.map_or_else(String::new, |(_, title)| clipped(&one_line(title), MAX_TITLE)),
            item: remark.item.parse().map_err(|_| NotJudged::UnknownItem(clipped(&remark.item, SHOWN)))?,
            verdict: remark.verdict.into(),
            text,
        };
        Ok((number, finding))
    }
}

/// A recorded critique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Critique {
    pub round: u32,
    /// The worst of its findings.
    pub verdict: CriticVerdict,
    /// Hash of the tree that was judged.
    pub tree_hash: String,
    pub leaves: usize,
    /// What was found, the worst first.
    pub findings: Vec<CriticFinding>,
}

impl Critique {
    /// The critique in `event`, if it has one.
    pub fn of(event: Event) -> Option<Self> {
        match event {
            Event::Critiqued { round, verdict, tree_hash, leaves, findings } => {
                Some(Self { round, verdict, tree_hash, leaves, findings })
            }
            _ => None,
        }
    }

    /// Leaves without a finding.
    pub fn passing(&self) -> usize {
        let faulty: HashSet<_> = self.findings.iter().filter_map(|finding| finding.task.as_ref()).collect();
        self.leaves.saturating_sub(faulty.len())
    }
    /// The text of `critique.md`, which the next round and the user read.
    pub fn to_markdown(&self) -> String {
        let mut page = format!("{}\n\nRound {} of {ROUNDS}\n", self.verdict.into_str(), self.round);
        if !self.findings.is_empty() {
            page.push('\n');
        }
        for finding in &self.findings {
            // Writing to a string can't fail.
            let _ = finding.write_line(&mut page);
        }
        match self.passing() {
            1 => page.push_str("\n1 leaf passes\n"),
            passing => page.push_str(&format!("\n{passing} leaves pass\n")),
        }
        page
    }
}

impl CriticFinding {
    /// Writes the finding as an item of a list in which nothing of the critic's text is markup.
    fn write_line(&self, page: &mut String) -> fmt::Result {
        write!(page, "- {} ", self.verdict.into_str())?;
        match &self.task {
            Some(task) => {
                inline(page, task.as_str())?;
                page.push_str(" (");
                inline(page, &self.title)?;
                page.push(')');
            }
            None => page.push_str("the tree"),
        }
        write!(page, ", {}: ", self.item.into_str())?;
        inline(page, &self.text)?;
        page.push('\n');
        Ok(())
    }
}

impl From<Critique> for Event {
    fn from(Critique { round, verdict, tree_hash, leaves, findings }: Critique) -> Self {
        Self::Critiqued { round, verdict, tree_hash, leaves, findings }
    }
}

/// The last critique, and whether it is about the tree as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CritiqueLine {
    /// The worst of its findings.
    pub verdict: CriticVerdict,
    pub round: u32,
    pub findings: usize,
    /// Whether the tree has changed since.
    pub changed: bool,
}

impl CritiqueLine {
    /// The last critique in `state`, of a tree that has the text `tree` now; nothing where there was none.
    pub fn new(state: &State, tree: &str) -> Option<Self> {
        let last = state.planning.critique.as_ref()?;
        Some(Self {
            verdict: last.verdict,
            round: last.round,
            findings: last.findings,
            changed: approval::hash(tree.as_bytes()) != last.tree_hash,
        })
    }
}

impl fmt::Display for CritiqueLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verdict, round, findings, changed } = self;
        let findings =
            if *findings == 0 { String::new() } else { format!(", {}", counted(*findings, "finding")) };
        let since = if *changed { "; the tree has changed since" } else { "" };
        write!(f, "critique: {} in round {round}{findings} (critique.md){since}", verdict.into_str())
    }
}

#[cfg(test)]
mod tests;
