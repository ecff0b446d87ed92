//! Which open debts somebody who starts a plan is told of.

use std::cmp::Reverse;

use serde::Serialize;

use super::{Debt, Standing};
use crate::word_forms::is_glued;
use crate::word_forms::{are_forms, words};

/// Most debts that are offered.
pub const MOST_OFFERED: usize = 10;

/// Most characters of a goal that are compared: what it is about stands at its beginning.
const LOOKED_AT: usize = 4_000;
/// What a file counts that the goal names, in words.
const FILE_WEIGHT: usize = 4;

/// Words that say nothing of what a goal is about.
const EMPTY: [&str; 38] = [
    "the",
    "and",
    "for",
    "with",
    "from",
    "into",
    "that",
    "this",
    "when",
    "then",
    "not",
    "are",
    "was",
    "has",
    "have",
    "its",
    "all",
    "add",
    "make",
    "use",
    "new",
    "fix",
    "can",
    "should",
    "must",
    "src",
    "lib",
    "failed",
    "skipped",
    "since",
    "unfinished",
    "after",
    "what",
    "where",
    "which",
    "write",
    "file",
    "task",
];

/// Open debts, those first that share words or files with a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer<'d> {
    /// At most [`MOST_OFFERED`].
    pub debts: Vec<&'d Debt>,
    /// How many more are open.
    pub more: usize,
}

/// What of `debts` is offered to a plan for `goal`: what has most in common with it first, then the latest.
#[must_use]
pub fn offer<'d>(debts: &'d [Debt], goal: &str) -> Offer<'d> {
    let goal: String = goal.chars().take(LOOKED_AT).collect();
    let about = told(&goal);
    let mut open: Vec<(usize, &Debt)> = debts
        .iter()
        .filter(|debt| debt.standing == Standing::Open)
        .map(|debt| (in_common(debt, &goal, &about), debt))
        .collect();
    open.sort_by_key(|(common, debt)| Reverse((*common, debt.at)));
    let more = open.len().saturating_sub(MOST_OFFERED);
    Offer { debts: open.into_iter().take(MOST_OFFERED).map(|(_, debt)| debt).collect(), more }
}

/// How much `debt` has in common with the goal: words of either in any form, and files that the goal names.
fn in_common(debt: &Debt, goal: &str, about: &[String]) -> usize {
    let files = debt.files.iter().filter(|file| goal.contains(file.as_str())).count();
    let said = told(&format!("{} {}", debt.text, debt.files.join(" ")));
    let common = about.iter().filter(|word| said.iter().any(|other| are_forms(word, other))).count();
    files * FILE_WEIGHT + common
}

/// The words of `text` that tell what it is about, each once; of a script that glues particles to its words, or has no
/// blanks between them, each pair of neighbours instead.
fn told(text: &str) -> Vec<String> {
    let mut told: Vec<String> = words(text).into_iter().flat_map(parts).collect();
    told.retain(|word| (word.len() > 2 || !word.is_ascii()) && !EMPTY.contains(&word.as_str()));
    told.sort_unstable();
    told.dedup();
    told
}

fn parts(word: String) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    if chars.len() < 3 || !chars.iter().any(|c| is_glued(*c)) {
        return vec![word];
    }
    chars.windows(2).map(|pair| pair.iter().collect()).collect()
}
