//! Makes a critic's opinion of a task tree count: it must cover every leaf, and the verdict follows from its findings.
//! The critic finds; the program decides.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::run::approval::hash_of;
use crate::run::planning::ROUNDS;
use crate::run::{State, approval};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::{Plan, Task};
use fp_plan::text::{clipped, counted, first_few, one_line};

/// The verdict of a finding or of a whole critique; greater is worse.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum CriticVerdict {
    Pass,
    /// It would cost an iteration.
    Warn,
    /// A builder couldn't finish as written, or could finish and be wrong.
    Fail,
}

/// The seven aspects by which a leaf is judged.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive, const_into_str)]
pub enum CritiqueItem {
    Criteria,
    Hints,
    /// It does what was asked for, and no more.
    Scope,
    /// It waits for everything it needs.
    Dependencies,
    /// Its checks would prove the requirements it covers.
    Coverage,
    /// Its criteria don't merely test its own definitions.
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
    /// Title of the leaf at the time, shortened if long; empty for the whole tree.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub item: CritiqueItem,
    /// Its weight; never a pass.
    pub verdict: CriticVerdict,
    /// The fault, on one line.
    pub text: String,
}

impl fmt::Display for CriticFinding {
    /// On one line: `FAIL 1.2 criteria: what is wrong`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.task.as_ref().map_or("tree", TaskId::as_str);
        write!(
            f,
            "{} {place} {}: {}",
            self.verdict.into_str(),
            self.item.into_str(),
            self.text
        )
    }
}

/// Maximum length of a finding's text, in characters.
pub const MAX_TEXT: usize = 4000;
/// Maximum length of a title in a finding, in characters.
const MAX_TITLE: usize = 120;
/// Maximum number of leaves listed in an error.
const NAMED: usize = 10;
/// Maximum length of an id quoted in an error, in characters.
const SHOWN: usize = 60;
/// Stands for the whole tree in place of a leaf's id.
const TREE: &str = "tree";

/// A critic's opinion as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticOpinion {
    /// Leaves without a finding.
    pub pass: Vec<String>,
    pub remarks: Vec<CriticRemark>,
}

/// A finding as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriticRemark {
    pub place: String,
    pub item: String,
    pub verdict: CriticVerdict,
    pub text: String,
}

impl CriticRemark {
    /// Reads `1.2 criteria: TEXT`; `None` for any other form.
    pub fn parse(written: &str, verdict: CriticVerdict) -> Option<Self> {
        let (head, text) = written.split_once(':')?;
        let mut words = head.split_whitespace();
        let (place, item) = (words.next()?.to_owned(), words.next()?.to_owned());
        words.next().is_none().then(|| Self {
            place,
            item,
            verdict,
            text: text.to_owned(),
        })
    }
}

/// The reason why an opinion is not a complete critique.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotJudged {
    #[error("the tree has no leaf {0:?}")]
    UnknownLeaf(String),
    #[error("task {0} has subtasks: judge its leaves")]
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
}

fn left_out(leaves: &[TaskId]) -> String {
    let ids: Vec<&str> = leaves.iter().map(TaskId::as_str).collect();
    let (noun, verb) = if leaves.len() == 1 {
        ("leaf", "is")
    } else {
        ("leaves", "are")
    };
    format!(
        "{} {noun} {verb} not judged: {}",
        ids.len(),
        first_few(&ids, NAMED)
    )
}

/// Converts `opinion` into the first critique of `plan`, a valid tree whose text has the hash `tree_hash`. A leaf that passed in `last`, the round before, and has
/// not changed still passes where the opinion doesn't name it. Fails if it omits another leaf, names an unknown one, or
/// contradicts itself.
pub fn judge(
    plan: &Plan,
    tree_hash: String,
    opinion: &CriticOpinion,
    last: Option<&Critique>,
) -> Result<Critique, NotJudged> {
    let leaves = Leaves::of(plan);
    let due: Option<HashSet<&str>> = last.map(|last| {
        last.due_leaves(plan)
            .into_iter()
            .map(|(leaf, _)| &*leaf.id)
            .collect()
    });
    let passed: HashSet<usize> = opinion
        .pass
        .iter()
        .map(|id| leaves.number(id))
        .collect::<Result<_, _>>()?;
    let mut found = opinion
        .remarks
        .iter()
        .map(|r| leaves.finding(r))
        .collect::<Result<Vec<_>, _>>()?;
    let faulty: HashSet<usize> = found.iter().filter_map(|(number, _)| *number).collect();
    if let Some(&both) = passed.intersection(&faulty).min() {
        return Err(NotJudged::Both(leaves.all[both].0.clone()));
    }
    let still_passes = |number: usize| {
        due.as_ref()
            .is_some_and(|due| !due.contains(leaves.all[number].0.as_str()))
    };
    let judged = |number: &usize| {
        passed.contains(number) || faulty.contains(number) || still_passes(*number)
    };
    let missing: Vec<TaskId> = (0..leaves.all.len())
        .filter(|n| !judged(n))
        .map(|n| leaves.all[n].0.clone())
        .collect();
    if !missing.is_empty() {
        return Err(NotJudged::LeftOut(missing));
    }
    found.sort_by_key(|(number, finding)| {
        (std::cmp::Reverse(finding.verdict), *number, finding.item)
    });
    let all = leaves.all.iter().zip(plan.leaves()).enumerate();
    let passing = all.filter(|(number, _)| !faulty.contains(number));
    let passed = passing
        .map(|(_, ((id, _), leaf))| (id.clone(), hash_of(leaf)))
        .collect();
    let findings = found.into_iter().map(|(_, finding)| finding).collect();
    Ok(Critique {
        passed,
        ..Critique::of_findings(tree_hash, leaves.all.len(), findings)
    })
}

/// The leaves of a tree, indexed by id.
struct Leaves<'p> {
    plan: &'p Plan<'p>,
    /// Id and title, in the order of the tree.
    all: Vec<(TaskId, &'p str)>,
    numbers: HashMap<&'p str, usize>,
}

impl<'p> Leaves<'p> {
    fn of(plan: &'p Plan<'p>) -> Self {
        let id = |leaf: &Task| TaskId::new(&*leaf.id).expect("a valid tree has no other ids");
        let all = plan
            .leaves()
            .map(|leaf| (id(leaf), &*leaf.description))
            .collect();
        let numbers = plan
            .leaves()
            .enumerate()
            .map(|(number, leaf)| (&*leaf.id, number))
            .collect();
        Self { plan, all, numbers }
    }

    fn number(&self, id: &str) -> Result<usize, NotJudged> {
        self.numbers.get(id).copied().ok_or_else(|| {
            match self.plan.tasks.iter().any(|task| task.id == id) {
                true => NotJudged::NoLeaf(clipped(id, SHOWN)),
                false => NotJudged::UnknownLeaf(clipped(id, SHOWN)),
            }
        })
    }

    /// Converts `remark` into a finding, with the number of its leaf.
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
            return Err(NotJudged::TooLong {
                place: place(),
                length,
            });
        }
        let leaf = number.map(|number| &self.all[number]);
        let finding = CriticFinding {
            task: leaf.map(|(id, _)| id.clone()),
            title: leaf.map_or_else(String::new, |(_, title)| {
                clipped(&one_line(title), MAX_TITLE)
            }),
            item: remark
                .item
                .parse()
                .map_err(|_| NotJudged::UnknownItem(clipped(&remark.item, SHOWN)))?,
            verdict: remark.verdict,
            text,
        };
        Ok((number, finding))
    }
}

/// A recorded critique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Critique {
    /// From 1. The same tree again counts as the same round.
    pub round: u32,
    /// The severest verdict among its findings.
    pub verdict: CriticVerdict,
    /// Hash of the judged tree.
    pub tree_hash: String,
    /// Number of leaves in the tree.
    pub leaves: usize,
    /// Worst first.
    #[serde(default)]
    pub findings: Vec<CriticFinding>,
    /// The hash of each leaf without a finding.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub passed: BTreeMap<TaskId, String>,
}

impl Critique {
    /// A first critique; the worst finding is its verdict.
    pub(crate) fn of_findings(
        tree_hash: String,
        leaves: usize,
        findings: Vec<CriticFinding>,
    ) -> Self {
        let verdict = findings
            .iter()
            .map(|finding| finding.verdict)
            .max()
            .unwrap_or(CriticVerdict::Pass);
        Self {
            round: 1,
            verdict,
            tree_hash,
            leaves,
            findings,
            passed: BTreeMap::new(),
        }
    }

    /// The leaves of `plan` that the next round judges, each with the reason; the others passed and have not changed.
    pub fn due_leaves<'p>(&self, plan: &'p Plan<'p>) -> Vec<(&'p Task<'p>, &'static str)> {
        let due = |leaf: &'p Task<'p>| match self.passed.get(&*leaf.id) {
            Some(hash) if *hash == hash_of(leaf) => None,
            Some(_) => Some((leaf, "changed")),
            None => Some((leaf, "has not passed yet")),
        };
        plan.leaves().filter_map(due).collect()
    }

    /// The number of leaves without a finding.
    pub fn passing(&self) -> usize {
        let faulty: HashSet<_> = self
            .findings
            .iter()
            .filter_map(|finding| finding.task.as_ref())
            .collect();
        self.leaves.saturating_sub(faulty.len())
    }

    /// The text of `critique.md`, for the user and the next round.
    pub fn to_markdown(&self) -> String {
        let mut page = format!(
            "{}\n\nRound {} of {ROUNDS}\n",
            self.verdict.into_str(),
            self.round
        );
        if !self.findings.is_empty() {
            page.push('\n');
        }
        page.push_str(&self.finding_list());
        match self.passing() {
            1 => page.push_str("\n1 leaf passes\n"),
            passing => page.push_str(&format!("\n{passing} leaves pass\n")),
        }
        page
    }

    /// The findings as a list.
    pub fn finding_list(&self) -> String {
        self.findings.iter().map(CriticFinding::item_line).collect()
    }
}

impl CriticFinding {
    /// The finding as a list item, in the critic's own characters: the next tree takes its wording from here.
    fn item_line(&self) -> String {
        let place = match &self.task {
            Some(task) => format!("{task} ({})", self.title),
            None => "the tree".to_owned(),
        };
        format!(
            "- {} {place}, {}: {}\n",
            self.verdict.into_str(),
            self.item.into_str(),
            self.text
        )
    }
}

/// The last critique, and whether the tree has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CritiqueLine {
    /// The severest verdict among its findings.
    pub verdict: CriticVerdict,
    pub round: u32,
    pub findings: usize,
    /// True if the tree has changed since.
    pub changed: bool,
}

impl CritiqueLine {
    /// Compares the last critique in `state` with `tree`, the current text; `None` if there was none.
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
        let Self {
            verdict,
            round,
            findings,
            changed,
        } = self;
        let findings = if *findings == 0 {
            String::new()
        } else {
            format!(", {}", counted(*findings, "finding"))
        };
        let since = if *changed {
            "; the tree has changed since"
        } else {
            ""
        };
        write!(
            f,
            "critique: {} in round {round}{findings} (critique.md){since}",
            verdict.into_str()
        )
    }
}

#[cfg(test)]
mod tests;
