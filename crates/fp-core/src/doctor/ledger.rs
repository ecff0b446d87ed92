//! The log and the snapshot that is derived from it.

use super::{Finding, Fix};
use crate::plan::id::PlanId;
use crate::run::State;
use crate::run::event::Entry;

/// What was read of a log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogFacts {
    /// Its entries, as far as they could be read.
    pub entries: Vec<Entry>,
    /// What is wrong with the first line that is no entry, with its place, and what to do.
    pub fault: Option<(String, String)>,
    /// Bytes behind the last whole line.
    pub torn: u64,
}

/// What was read of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub enum SnapshotFacts {
    /// There is none.
    Missing,
    /// It is damaged, of another plan or of another version.
    Unreadable,
    /// It has this state; `current` says that the log is what it was when this was written, by its length and time.
    Read {
        /// The state.
        state: Box<State>,
        /// Whether the log was not touched since.
        current: bool,
    },
}

/// The findings about the log of `plan`.
#[must_use]
pub fn log(plan: &PlanId, facts: &LogFacts) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some((fault, hint)) = &facts.fault {
        found.push(Finding::error("log", format!("{fault}; {hint}")));
    }
    if facts.torn > 0 {
        let detail = format!("its last line was torn off while it was written ({} bytes)", facts.torn);
        found.push(Finding::warning("log", detail).fixable(plan, Fix::DropTornLine));
    }
    for pair in facts.entries.windows(2).filter(|pair| pair[1].at < pair[0].at) {
        let detail =
            format!("entry {} is older than the one in front of it: it was edited by hand", pair[1].seq);
        found.push(Finding::warning("log", detail));
    }
    if found.is_empty() {
        let count = facts.entries.len();
        found.push(Finding::ok("log", format!("{count} {}", super::verb(count, "entry", "entries"))));
    }
    found
}

/// The finding about the snapshot of `plan`, whose log has these `entries` without a fault.
#[must_use]
pub fn snapshot(plan: &PlanId, entries: &[Entry], facts: &SnapshotFacts) -> Finding {
    let check = "snapshot";
    let rebuilt = |detail: &str| Finding::warning(check, detail).fixable(plan, Fix::RebuildSnapshot);
    let (state, current) = match facts {
        SnapshotFacts::Missing if entries.is_empty() => return Finding::ok(check, "none is needed yet"),
        SnapshotFacts::Missing => return Finding::ok(check, "not there; the next change makes it anew"),
        SnapshotFacts::Unreadable => {
            return rebuilt("damaged, edited by hand, or of another plan or version");
        }
        SnapshotFacts::Read { state, current } => (state, *current),
    };
    let last = entries.last().map_or(0, |entry| entry.seq);
    if state.seq > last {
        return Finding::error(
            check,
            format!(
                "it was taken at entry {}, and the log ends at entry {last}: entries are gone; put events.jsonl back \
                 if you have it, since what the log says counts",
                state.seq
            ),
        );
    }
    let before = entries.iter().take_while(|entry| entry.seq <= state.seq);
    if State::replay(plan.clone(), before) != **state {
        return rebuilt(match current {
            true => "not what the log adds up to: one of them was edited by hand",
            false => "not what the log adds up to: the log was edited by hand since",
        });
    }
    Finding::ok(
        check,
        if state.seq == last { "what the log adds up to" } else { "older than the log, and right" },
    )
}
