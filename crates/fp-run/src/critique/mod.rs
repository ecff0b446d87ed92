//! Turns a critic's opinion of a task tree into a critique: it must cover every leaf, and the verdict follows from its
//! findings. The critic finds; the program decides.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::run::planning::ROUNDS;
use crate::run::{State, approval};
use fp_plan::hint::{Exit, Hint};
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
    /// The fault would cost an iteration.
    Warn,
    /// A builder couldn't finish the task as written, or could finish it and be wrong.
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
    /// Title of the leaf when it was judged, shortened if long; empty for the whole tree.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub item: CritiqueItem,
    /// Its severity; never a pass.
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
const MAX_TEXT: usize = 4000;
/// Maximum length of a title in a finding, in characters.
const MAX_TITLE: usize = 120;
/// Maximum number of leaves listed in an error.
const NAMED: usize = 10;
/// Maximum length of an input quoted in an error, in characters.
const SHOWN: usize = 60;
/// Stands for the whole tree in place of a leaf's id.
const TREE: &str = "tree";

/// The reason why an opinion isn't a complete critique.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotJudged(String);

impl Hint for NotJudged {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let items = CritiqueItem::VARIANTS.iter().map(|item| item.into_str());
        let items = items.collect::<Vec<_>>().join(", ");
        let hint = format!(
            "read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show PLAN` shows, or `tree`, ITEM is one of {items}, and TEXT has at most {MAX_TEXT} characters"
        );
        Some(hint.into())
    }

    fn exit_status(&self) -> Exit {
        Exit::Findings
    }
}

/// Makes a critique of `plan`, a valid tree whose text has the hash `tree_hash`, from the ids of the leaves that
/// `passed` and from `remarks`, each `LEAF ITEM: TEXT`. Fails if a leaf is left out, an unknown one is named, or one
/// both passes and has a finding.
pub fn new_critique(
    plan: &Plan,
    tree_hash: String,
    passed: &[String],
    remarks: &[(CriticVerdict, String)],
) -> Result<Critique, NotJudged> {
    let leaves: Vec<&Task> = plan.leaves().collect();
    let position_of = |id: &str| {
        let at = leaves.iter().position(|leaf| leaf.id == id);
        at.ok_or_else(|| NotJudged(format!("the tree has no leaf {:?}", clipped(id, SHOWN))))
    };
    let passed: Result<BTreeSet<usize>, _> = passed.iter().map(|id| position_of(id)).collect();
    let passed = passed?;
    let mut found = Vec::new();
    for (verdict, written) in remarks {
        let no_finding = || NotJudged(format!("{:?} is no finding", clipped(written, SHOWN)));
        let (place, item, text) = read_remark(written).ok_or_else(no_finding)?;
        let at = match position_of(place) {
            Err(_) if place.eq_ignore_ascii_case(TREE) => None,
            at => Some(at?),
        };
        let leaf = at.map(|at| leaves[at]);
        let title = leaf.map(|leaf| clipped(&one_line(&leaf.description), MAX_TITLE));
        let finding = CriticFinding {
            task: leaf.map(id_of),
            title: title.unwrap_or_default(),
            item,
            verdict: *verdict,
            text,
        };
        found.push((at, finding));
    }
    found.sort_by_key(|(at, finding)| (std::cmp::Reverse(finding.verdict), *at, finding.item));
    let mut left_out = Vec::new();
    for (at, leaf) in leaves.iter().enumerate() {
        let is_faulty = found.iter().any(|(place, _)| *place == Some(at));
        match (passed.contains(&at), is_faulty) {
            (true, true) => {
                let fault = format!("leaf {} passes and has a finding", leaf.id);
                return Err(NotJudged(fault));
            }
            (false, false) => left_out.push(&*leaf.id),
            (true, false) | (false, true) => {}
        }
    }
    if !left_out.is_empty() {
        let left_out = first_few(&left_out, NAMED);
        return Err(NotJudged(format!("not judged: {left_out}")));
    }
    let findings = found.into_iter().map(|(_, finding)| finding).collect();
    Ok(Critique::of_findings(tree_hash, leaves.len(), findings))
}

fn id_of(leaf: &Task) -> TaskId {
    TaskId::new(&*leaf.id).expect("a valid tree has no other ids")
}

/// Reads `1.2 criteria: TEXT`: the place, the item, and the text on one line.
fn read_remark(written: &str) -> Option<(&str, CritiqueItem, String)> {
    let (head, text) = written.split_once(':')?;
    let [place, item] = head.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let text = one_line(text);
    let fits = !text.is_empty() && text.chars().count() <= MAX_TEXT;
    Some((place, item.parse().ok()?, text)).filter(|_| fits)
}

/// A recorded critique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Critique {
    /// From 1. Judging the same tree again counts as the same round.
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
}

impl Critique {
    /// A first-round critique; its verdict is that of the worst finding.
    pub(crate) fn of_findings(
        tree_hash: String,
        leaves: usize,
        findings: Vec<CriticFinding>,
    ) -> Self {
        let worst = findings.iter().map(|finding| finding.verdict).max();
        Self {
            round: 1,
            verdict: worst.unwrap_or(CriticVerdict::Pass),
            tree_hash,
            leaves,
            findings,
        }
    }

    /// Whether all that fails is in the words of leaves: the critic's words mend it, without a second round. Other
    /// files, dependencies or leaves have to be judged again.
    pub fn fails_in_words(&self) -> bool {
        use CritiqueItem::{Dependencies, Guardrails, Scope};
        self.findings.iter().all(|finding| {
            finding.verdict != CriticVerdict::Fail
                || !matches!(finding.item, Scope | Dependencies | Guardrails)
        })
    }

    /// The number of leaves without a finding.
    pub fn passing(&self) -> usize {
        let faulty = self
            .findings
            .iter()
            .filter_map(|finding| finding.task.as_ref());
        self.leaves
            .saturating_sub(faulty.collect::<HashSet<_>>().len())
    }

    /// The text of `critique.md`, for the user and the next round.
    pub fn to_markdown(&self) -> String {
        let (verdict, round, found) = (self.verdict.into_str(), self.round, self.finding_list());
        let gap = if found.is_empty() { "" } else { "\n" };
        let (passing, leaves) = (self.passing(), self.leaves);
        format!(
            "{verdict}\n\nRound {round} of {ROUNDS}\n\n{found}{gap}{passing} of {leaves} leaves pass\n"
        )
    }

    /// The findings as a list, verbatim, because the next tree takes its wording from here.
    pub fn finding_list(&self) -> String {
        let lines = self.findings.iter().map(|finding| {
            let place = match &finding.task {
                Some(task) => format!("{task} ({})", finding.title),
                None => "the tree".to_owned(),
            };
            let (verdict, item) = (finding.verdict.into_str(), finding.item.into_str());
            format!("- {verdict} {place}, {item}: {}\n", finding.text)
        });
        lines.collect()
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
    /// Compares the last critique in `state` with `tree`, the current text; `None` if there is no critique.
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
        let (verdict, round) = (self.verdict.into_str(), self.round);
        let findings = counted(self.findings, "finding");
        write!(
            f,
            "critique: {verdict} in round {round}, {findings} (critique.md)"
        )?;
        f.write_str(if self.changed {
            "; the tree has changed since"
        } else {
            ""
        })
    }
}

#[cfg(test)]
mod tests;
