//! From what a critic wrote to a critique: every leaf is judged once, by names that exist.

use std::collections::{HashMap, HashSet};

use super::finding::{Finding, UnknownItem, Verdict};
use crate::plan::Plan;
use crate::plan::id::{InvalidId, TaskId};
use crate::text::{clipped, one_line};

/// Longest text of a finding, in characters.
pub const MAX_TEXT: usize = 4000;
/// Longest title that a finding repeats, in characters.
const MAX_TITLE: usize = 120;
/// Most leaves that an error names.
const NAMED: usize = 10;
/// Longest id that an error repeats, in characters.
const SHOWN: usize = 60;
/// What stands for the whole tree in place of a leaf.
const TREE: &str = "tree";

/// What a critic says, as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opinion {
    /// The leaves in which nothing was found.
    pub pass: Vec<String>,
    /// What was found in the others.
    pub remarks: Vec<Remark>,
}

/// A finding as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// A leaf, or `tree`.
    pub place: String,
    /// The item.
    pub item: String,
    /// How much it weighs.
    pub verdict: Verdict,
    /// What is wrong.
    pub text: String,
}

impl Remark {
    /// Reads `1.2 criteria: TEXT`; `None` where it is not of that form.
    #[must_use]
    pub fn parse(written: &str, verdict: Verdict) -> Option<Self> {
        let (head, text) = written.split_once(':')?;
        let mut words = head.split_whitespace();
        let (place, item) = (words.next()?.to_owned(), words.next()?.to_owned());
        words.next().is_none().then(|| Self { place, item, verdict, text: text.to_owned() })
    }
}

/// An opinion on every leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// How many leaves there are.
    pub leaves: usize,
    /// What was found: the worst first, then in the order of the tree, then in that of the items.
    pub findings: Vec<Finding>,
}

/// Why an opinion is no critique of a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotJudged {
    /// The tree has no such leaf.
    #[error("the tree has no leaf {0:?}")]
    UnknownLeaf(String),
    /// The task is divided.
    #[error("task {0} has subtasks, and its leaves are what is judged")]
    NoLeaf(String),
    /// The leaf has no fault, and has one.
    #[error("leaf {0} passes and has a finding")]
    Both(TaskId),
    /// Leaves that nothing was said of.
    #[error("{}", left_out(.0))]
    LeftOut(Vec<TaskId>),
    /// A finding about something else.
    #[error(transparent)]
    Item(#[from] UnknownItem),
    /// A finding that says nothing.
    #[error("the finding on {0} says nothing")]
    NoText(String),
    /// A finding that says too much.
    #[error("the finding on {place} has {length} characters: at most {MAX_TEXT} are taken")]
    TooLong {
        /// Where it is.
        place: String,
        /// How many it has.
        length: usize,
    },
    /// An id of the tree is none; validation finds it before.
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
pub fn judge(plan: &Plan, opinion: &Opinion) -> Result<Judged, NotJudged> {
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
    Ok(Judged { leaves: leaves.all.len(), findings: found.into_iter().map(|(_, finding)| finding).collect() })
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

    /// The finding that `remark` is, and the leaf it is about.
    fn finding(&self, remark: &Remark) -> Result<(Option<usize>, Finding), NotJudged> {
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
        let finding = Finding {
            task: leaf.map(|(id, _)| id.clone()),
            title: leaf.map_or_else(String::new, |(_, title)| clipped(&one_line(title), MAX_TITLE)),
            item: remark.item.parse()?,
            verdict: remark.verdict,
            text,
        };
        Ok((number, finding))
    }
}
