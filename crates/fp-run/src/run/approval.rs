//! Binds an approval to content: each leaf is hashed with everything it says, so a later edit is noticed.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use super::event::Leaf;
use super::state::State;
use fp_plan::exclusive::exclusive_of;
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::id::{InvalidId, TaskId};
use fp_plan::plan::meaning::leaf_text;
use fp_plan::plan::path;
use fp_plan::plan::{Plan, PlanIndex, Task};

/// SHA-256 of `bytes` as 64 hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hash of everything approved in `state`, as stored in the trust store: a log with other leaves gets a different hash,
/// no matter which hashes it contains.
pub fn consent_hash(state: &State) -> String {
    let leaves: Vec<&Leaf> = state.tasks.iter().map(|task| &task.leaf).collect();
    let approval = state.approval.as_ref();
    let at_end = approval.map_or(&[][..], |approval| &approval.end_commands);
    let setup = approval.map_or(&[][..], |approval| &approval.setup);
    let approved = match (at_end, setup) {
        ([], []) => serde_json::to_vec(&leaves),
        (_, []) => serde_json::to_vec(&(leaves, at_end)),
        _ => serde_json::to_vec(&(leaves, at_end, setup)),
    };
    // Falling back to a default would give every plan that can't be serialised the same consent.
    hash(&approved.expect("leaves and commands have text keys and plain values"))
}

/// Converts the leaves of a valid tree to the form a run stores. Only one task at a time may change a file in
/// `exclusive` or a lock file. Fails on a malformed id, which validation reports earlier.
pub fn leaves_to_run(plan: &Plan, exclusive: &[String]) -> Result<Vec<Leaf>, InvalidId> {
    let index = PlanIndex::new(plan);
    let leaf = |&number: &usize| {
        let task = &plan.tasks[number];
        let named = |kind| index.leaves_named(task, kind).into_iter().map(TaskId::new);
        let exclusive = exclusive_of(task, exclusive).into_iter();
        let paths = task.references().filter_map(path::reference);
        let references = paths.filter_map(|reference| path::normal(reference.path).ok());
        let references: BTreeSet<String> = references.map(Cow::into_owned).collect();
        Ok(Leaf {
            id: TaskId::new(&*task.id)?,
            title: task.description.to_string(),
            hash: hash_of(task),
            dependencies: named(FieldKind::Dependencies).collect::<Result<_, _>>()?,
            after: named(FieldKind::After).collect::<Result<_, _>>()?,
            files: task.files().map(str::to_owned).collect(),
            references: references.into_iter().collect(),
            exclusive: exclusive.map(str::to_owned).collect(),
            complexity: task.complexity.unwrap_or(1),
            risky: task.fields.text(FieldKind::Risk) == Some("high")
                || task.commands().next().is_none(),
            contract: task.fields.text(FieldKind::Kind) == Some("contract"),
            ..Leaf::default()
        })
    };
    index.leaves().iter().map(leaf).collect()
}

/// True if `task` still has the content approved as `leaf`.
pub fn is_approved(task: &Task, leaf: &Leaf) -> bool {
    hash_of(task) == leaf.hash
}

/// Hash of the whole content of `task`.
pub(crate) fn hash_of(task: &Task) -> String {
    hash(leaf_text(task).as_bytes())
}

/// The approved leaves that `plan` dropped or changed.
pub fn edited_leaves(state: &State, plan: &Plan) -> BTreeSet<TaskId> {
    let now = leaves_to_run(plan, &[]).unwrap_or_default();
    let now: BTreeSet<(&TaskId, &str)> = now.iter().map(|leaf| (&leaf.id, &*leaf.hash)).collect();
    let approved = state.tasks.iter().map(|task| &task.leaf);
    let edited = approved.filter(|leaf| !now.contains(&(&leaf.id, &*leaf.hash)));
    edited.map(|leaf| leaf.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_plan::plan::parse;

    const TREE: &str = "## Root Task
- [ID: root] Goal, see [ID: 1.1] (Complexity: 5)

### Subtasks
- [ID: 1] Group (Complexity: 4)
  - [ID: 1.1] First (Complexity: 2)
    - Acceptance: it does
    - Files: a.rs
    - Hints:
      - As in
        two lines

      - ```
        - [ID: 1.2] Second (Complexity: 9)
        ```
  - [ID: 1.2] Second (Complexity: 1)
    - Acceptance: 한글, too
    - Files: b.rs
- [ID: 2] Last (Complexity: 3)
  - Acceptance: it ends
  - Files: c.rs";

    fn approved(tree: &str) -> Vec<Leaf> {
        leaves_to_run(&parse(tree).0, &[]).unwrap()
    }

    #[test]
    fn a_consent_is_for_these_leaves_and_commands_alone() {
        let lines = |commands: &[&str]| commands.iter().map(|line| (*line).to_owned()).collect();
        let of = |tree: &str, at_end: &[&str], setup: &[&str]| {
            let mut state = State::new(fp_plan::plan::id::PlanId::new("p").unwrap());
            let approval = crate::run::event::Approve {
                tree_hash: String::new(),
                leaves: approved(tree),
                base: None,
                commits: None,
                end_commands: lines(at_end),
                setup: lines(setup),
                by: crate::run::event::Decider::User,
            };
            for event in state.approve(approval).unwrap() {
                state.fold(&event, jiff::Timestamp::UNIX_EPOCH);
            }
            consent_hash(&state)
        };
        let hashes = [
            of(TREE, &[], &[]),
            of(TREE, &["make"], &[]),
            of(TREE, &[], &["make"]),
            of(TREE, &["make", "true"], &[]),
            of(TREE, &["make"], &["true"]),
            of(&TREE.replace("it does", "it does not"), &[], &[]),
        ];
        let distinct: BTreeSet<&String> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len(), "{hashes:?}");
        assert!(!hashes.contains(&hash(b"")), "{hashes:?}");
    }
}
