//! Determines the owner of each change if several builders share a working tree: git tells what changed, not who
//! changed it.
//!
//! A path belongs to the task, with two exceptions: the path is still as another task's commit left it, or it lies in
//! the boundary of another running task but not in this one's, and this task's builder was not seen to edit it.

use std::collections::HashSet;

use super::boundary::Boundary;
use super::change::{Change, ChangeStatus};
use super::{OtherTask, TaskScope};
use fp_plan::package_files::is_lock;
use fp_plan::repo_path::RepoPath;

/// The facts that separate one task's changes from another's.
#[derive(Debug, Clone, Default)]
pub struct OwnershipEvidence {
    /// True if other tasks work in the same working tree.
    pub shared: bool,
    /// Paths that are still as another task's commit left them.
    pub settled: HashSet<RepoPath>,
    /// Paths that this task's builder was seen to edit.
    pub seen: HashSet<RepoPath>,
}

enum Owner {
    This,
    Settled,
    Tool,
    Other(String),
}

/// Changes by owner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Divided {
    pub own: Vec<Change>,
    /// Changes by other running tasks, each with the task's id.
    pub elsewhere: Vec<(Change, String)>,
    /// New lock files unrelated to the task: package managers make them when tests run.
    pub made_locks: Vec<RepoPath>,
}

/// Divides the differences from the task's base by owner.
pub fn divide(changes: Vec<Change>, scope: &TaskScope, evidence: &OwnershipEvidence) -> Divided {
    let others = scope.others.iter();
    let judge = Judge {
        own: scope.boundary(),
        others: others.map(|task| (task, scope.boundary_of(task))).collect(),
        evidence,
    };
    let mut divided = Divided::default();
    for change in changes
        .into_iter()
        .flat_map(|change| judge.parts_of(change))
    {
        match judge.owner_of(&change) {
            Owner::This => divided.own.push(change),
            Owner::Settled => {}
            Owner::Tool => divided.made_locks.push(change.path),
            Owner::Other(task) => divided.elsewhere.push((change, task)),
        }
    }
    divided
}

struct Judge<'s> {
    own: Boundary,
    others: Vec<(&'s OtherTask, Boundary)>,
    evidence: &'s OwnershipEvidence,
}

impl Judge<'_> {
    fn owner_of(&self, change: &Change) -> Owner {
        let path = &change.path;
        if self.evidence.settled.contains(path) {
            return Owner::Settled;
        }
        let new = change.status == ChangeStatus::Added;
        if new && is_lock(path) && !self.own.covers(path) && !self.own.allows_lock(path) {
            return Owner::Tool;
        }
        if !self.evidence.shared || self.own.covers(path) || self.evidence.seen.contains(path) {
            return Owner::This;
        }
        let other = self.others.iter().find(|(_, other)| {
            other.covers(path)
                || other.allows_lock(path) && !self.own.allows_lock(path)
                || new && other.allows_new(path) && !self.own.allows_new(path)
        });
        other.map_or(Owner::This, |(task, _)| Owner::Other(task.id.clone()))
    }

    /// Splits a rename if its ends have different owners: git reports a file deleted by one task and a similar one
    /// added by another as a rename.
    fn parts_of(&self, change: Change) -> Vec<Change> {
        let ChangeStatus::Renamed { from } = &change.status else {
            return vec![change];
        };
        let part = |path: &RepoPath, status| Change {
            path: path.clone(),
            status,
            kind: change.kind,
        };
        let gone = part(from, ChangeStatus::Deleted);
        let new = part(&change.path, ChangeStatus::Added);
        match (self.owner_of(&gone), self.owner_of(&new)) {
            (Owner::This, Owner::This) => vec![change],
            _ => vec![gone, new],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::change::FileKind;

    fn change(path: &str, status: ChangeStatus) -> Change {
        Change {
            path: path.into(),
            status,
            kind: FileKind::File,
        }
    }

    /// Divides changes (a path, `+` for a new one, `from>to` for a rename) between a task with `src/a.rs` and one
    /// with `src/b.rs`.
    #[track_caller]
    fn check(changes: &[&str], evidence: &OwnershipEvidence, own: &[&str], elsewhere: &[&str]) {
        let changes =
            changes.iter().map(
                |text| match (text.strip_prefix('+'), text.split_once('>')) {
                    (Some(path), _) => change(path, ChangeStatus::Added),
                    (_, Some((from, to))) => {
                        change(to, ChangeStatus::Renamed { from: from.into() })
                    }
                    _ => change(text, ChangeStatus::Modified),
                },
            );
        let others = vec![OtherTask {
            id: "2".into(),
            files: vec!["src/b.rs".into(), "b/Cargo.toml".into()],
        }];
        let scope = TaskScope {
            files: vec!["src/a.rs".into()],
            others,
            ..TaskScope::default()
        };
        let Divided {
            own: found,
            elsewhere: found_elsewhere,
            ..
        } = divide(changes.collect(), &scope, evidence);
        let shown = |change: &Change| match &change.status {
            ChangeStatus::Renamed { from } => format!("{from}>{}", change.path),
            ChangeStatus::Added => format!("+{}", change.path),
            ChangeStatus::Deleted => format!("-{}", change.path),
            _ => change.path.to_string(),
        };
        let found: Vec<String> = found.iter().map(shown).collect();
        let found_elsewhere: Vec<String> = found_elsewhere
            .iter()
            .map(|(change, _)| shown(change))
            .collect();
        assert_eq!(
            (found, found_elsewhere),
            (
                own.iter().map(|t| (*t).into()).collect(),
                elsewhere.iter().map(|t| (*t).into()).collect()
            )
        );
    }

    #[test]
    fn alone_everything_is_the_tasks() {
        let alone = OwnershipEvidence::default();
        check(
            &["src/a.rs", "src/b.rs", "+tests/b.rs"],
            &alone,
            &["src/a.rs", "src/b.rs", "+tests/b.rs"],
            &[],
        );
        check(&["src/b.rs>src/a.rs"], &alone, &["src/b.rs>src/a.rs"], &[]);
    }

    #[test]
    fn what_is_in_anothers_boundary_is_the_others() {
        let shared = OwnershipEvidence {
            shared: true,
            ..OwnershipEvidence::default()
        };
        check(
            &["src/a.rs", "src/b.rs", "src/c.rs"],
            &shared,
            &["src/a.rs", "src/c.rs"],
            &["src/b.rs"],
        );
        check(
            &["Cargo.lock", "b/Cargo.lock"],
            &shared,
            &[],
            &["Cargo.lock", "b/Cargo.lock"],
        );
        check(&["+src/b/tests.rs"], &shared, &[], &["+src/b/tests.rs"]);
        let seen = OwnershipEvidence {
            seen: HashSet::from(["src/b.rs".into()]),
            ..shared
        };
        check(&["src/b.rs"], &seen, &["src/b.rs"], &[]);
    }

    #[test]
    fn a_lock_file_that_a_tool_made() {
        let check = |files: &[&str], change: Change, expect: bool| {
            let scope = TaskScope {
                files: files.iter().map(|f| (*f).into()).collect(),
                ..TaskScope::default()
            };
            let divided = divide(vec![change], &scope, &OwnershipEvidence::default());
            assert_eq!(
                (divided.made_locks.len() == 1, divided.own.len() == 1),
                (expect, !expect),
                "{files:?}"
            );
        };
        check(
            &["src/a.rs"],
            change("Cargo.lock", ChangeStatus::Added),
            true,
        );
        check(
            &["src/a.rs"],
            change("Cargo.lock", ChangeStatus::Modified),
            false,
        );
        check(
            &["Cargo.toml"],
            change("Cargo.lock", ChangeStatus::Added),
            false,
        );
        check(
            &["Cargo.lock"],
            change("Cargo.lock", ChangeStatus::Added),
            false,
        );
    }

    #[test]
    fn what_another_task_committed_is_nobodys() {
        let settled = OwnershipEvidence {
            settled: HashSet::from(["src/c.rs".into()]),
            ..OwnershipEvidence::default()
        };
        check(&["src/a.rs", "src/c.rs"], &settled, &["src/a.rs"], &[]);
    }

    #[test]
    fn a_rename_between_two_tasks_is_none() {
        let shared = OwnershipEvidence {
            shared: true,
            ..OwnershipEvidence::default()
        };
        check(
            &["src/b.rs>src/a.rs"],
            &shared,
            &["+src/a.rs"],
            &["-src/b.rs"],
        );
        check(
            &["src/a.rs>src/b.rs"],
            &shared,
            &["-src/a.rs"],
            &["+src/b.rs"],
        );
        check(&["src/a.rs>src/c.rs"], &shared, &["src/a.rs>src/c.rs"], &[]);
        let settled = OwnershipEvidence {
            settled: HashSet::from(["src/c.rs".into()]),
            ..OwnershipEvidence::default()
        };
        check(&["src/c.rs>src/a.rs"], &settled, &["+src/a.rs"], &[]);
    }
}
