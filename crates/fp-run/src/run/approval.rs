//! Binds an approval to content: each leaf is hashed with everything it says, which makes a later edit visible.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest as _, Sha256};

use super::event::Leaf;
use super::state::State;
use fp_plan::exclusive::exclusive_of;
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::id::{InvalidId, TaskId};
use fp_plan::plan::meaning::leaf_text;
use fp_plan::plan::path;
use fp_plan::plan::{Plan, PlanIndex, Task, parse};
use fp_plan::schedule;

/// SHA-256 of `bytes` as 64 hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Hash of everything approved in `state`, as the trust store keeps it: a log with other leaves has another one, whatever
/// hashes it claims for itself.
pub fn consent_hash(state: &State) -> String {
    let leaves: Vec<&Leaf> = state.tasks.iter().map(|task| &task.leaf).collect();
    let commands = state
        .approval
        .as_ref()
        .map_or(&[][..], |approval| &approval.end_commands);
    let approved = match commands.is_empty() {
        true => serde_json::to_vec(&leaves),
        false => serde_json::to_vec(&(leaves, commands)),
    };
    // A hash with a default would be one consent for every plan that can't be written.
    hash(&approved.expect("leaves and commands have text keys and plain values"))
}

/// Converts the leaves of a valid tree to the form a run stores. Only one task at a time may change a file in
/// `exclusive` or a lock file. Fails on a malformed id, which validation reports earlier.
pub fn leaves(plan: &Plan, exclusive: &[String]) -> Result<Vec<Leaf>, InvalidId> {
    let index = PlanIndex::new(plan);
    let phases = schedule::phases(plan);
    index
        .leaves()
        .iter()
        .map(|&number| {
            let task = &plan.tasks[number];
            let named = |kind| -> Result<Vec<TaskId>, InvalidId> {
                index
                    .leaves_named(task, kind)
                    .into_iter()
                    .map(TaskId::new)
                    .collect()
            };
            Ok(Leaf {
                id: TaskId::new(&*task.id)?,
                title: task.description.to_string(),
                hash: hash_of(task),
                dependencies: named(FieldKind::Dependencies)?,
                after: named(FieldKind::After)?,
                files: task.files().map(str::to_owned).collect(),
                references: references(task),
                stamps: None,
                exclusive: exclusive_of(task, exclusive)
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
                complexity: task.complexity.unwrap_or(1),
                phase: phases[number],
            })
        })
        .collect()
}

/// The distinct paths that `task` refers to.
fn references(task: &Task) -> Vec<String> {
    let paths = task.references().filter_map(path::reference);
    let normal = paths.filter_map(|reference| path::normal(reference.path).ok());
    let mut found: Vec<String> = normal.map(std::borrow::Cow::into_owned).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the lines of `text` that define `leaf`, without their indentation, if they still match the approval. `None`
/// if they differ, or if only a parse of the whole tree could tell.
pub fn excerpt(text: &str, leaf: &Leaf) -> Option<String> {
    let mark = format!("[ID: {}]", leaf.id);
    memchr::memmem::find_iter(text.as_bytes(), &mark).find_map(|at| {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let indent = text[start..at]
            .strip_suffix("- ")
            .filter(|before| before.trim().is_empty())?
            .len();
        let of_it =
            |line: &&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
        let mut lines = text[start..].split_inclusive('\n');
        let mut excerpt = lines.next()?[indent..].to_owned();
        for line in lines.take_while(of_it) {
            excerpt.push_str(line.get(indent..).unwrap_or("\n"));
        }
        let (plan, _) = parse(&excerpt);
        let [task] = &plan.tasks[..] else { return None };
        is_approved(task, leaf).then_some(excerpt)
    })
}

/// True if `task` still has the content approved as `leaf`.
pub fn is_approved(task: &Task, leaf: &Leaf) -> bool {
    hash_of(task) == leaf.hash
}

/// Hash of everything that `task` says.
pub(crate) fn hash_of(task: &Task) -> String {
    hash(leaf_text(task).as_bytes())
}

/// The approved leaves that `plan` dropped or changed.
pub fn edited(state: &State, plan: &Plan) -> BTreeSet<TaskId> {
    let now = leaves(plan, &[]).unwrap_or_default();
    let hashes: HashMap<&str, &str> = now
        .iter()
        .map(|l| (l.id.as_str(), l.hash.as_str()))
        .collect();
    let same = |leaf: &Leaf| {
        hashes
            .get(leaf.id.as_str())
            .is_some_and(|hash| *hash == leaf.hash)
    };
    state
        .tasks
        .iter()
        .filter(|t| !same(&t.leaf))
        .map(|t| t.leaf.id.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        leaves(&parse(tree).0, &[]).unwrap()
    }

    #[test]
    fn a_consent_is_for_these_leaves_and_commands_alone() {
        let of = |tree: &str, commands: &[&str]| {
            let mut state = State::new(fp_plan::plan::id::PlanId::new("p").unwrap());
            let approval = crate::run::event::Approve {
                tree_hash: String::new(),
                leaves: approved(tree),
                base: None,
                commits: None,
                end_commands: commands.iter().map(|line| (*line).to_owned()).collect(),
                by: crate::run::event::Decider::User,
            };
            for event in state.approve(approval).unwrap() {
                state.fold(&event, jiff::Timestamp::UNIX_EPOCH);
            }
            consent_hash(&state)
        };
        let hashes = [
            of(TREE, &[]),
            of(TREE, &["make"]),
            of(TREE, &["make", "true"]),
            of(&TREE.replace("it does", "it does not"), &[]),
        ];
        let distinct: BTreeSet<&String> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len(), "{hashes:?}");
        assert!(!hashes.contains(&hash(b"")), "{hashes:?}");
    }

    #[test]
    fn every_leaf_of_a_tree() {
        for tree in [TREE.to_owned(), TREE.replace('\n', "\r\n")] {
            let cut: Vec<String> = approved(&tree)
                .iter()
                .filter_map(|leaf| excerpt(&tree, leaf))
                .collect();
            assert_eq!(cut.len(), 3, "{cut:#?}");
            assert!(
                cut[0].starts_with("- [ID: 1.1] First") && cut[0].trim_end().ends_with("```"),
                "{}",
                cut[0]
            );
            assert!(
                cut[2].starts_with("- [ID: 2] Last") && cut[2].ends_with("c.rs"),
                "{}",
                cut[2]
            );
            for (leaf, cut) in approved(&tree).iter().zip(&cut) {
                let again = approved(cut);
                assert_eq!((&again[0].id, &again[0].hash), (&leaf.id, &leaf.hash));
            }
        }
    }

    #[test]
    fn not_one_that_was_edited_or_is_gone_or_is_no_leaf_any_more() {
        let check = |from: &str, to: &str, left: &[&str]| {
            assert!(TREE.contains(from));
            let tree = TREE.replace(from, to);
            let cut: Vec<String> = approved(TREE)
                .iter()
                .filter(|leaf| excerpt(&tree, leaf).is_some())
                .map(|leaf| leaf.id.to_string())
                .collect();
            assert_eq!(cut, left, "{tree}");
        };
        check("it does", "it does not", &["1.2", "2"]);
        check("two lines", "three lines", &["1.2", "2"]);
        check(
            "- [ID: 1.2] Second (Complexity: 1)",
            "- [ID: 1.3] Second (Complexity: 1)",
            &["1.1", "2"],
        );
        check(
            "    - Files: b.rs",
            "    - Files: b.rs\n    - [ID: 1.2.1] Part",
            &["1.1", "2"],
        );
        check("c.rs", "d.rs", &["1.1", "1.2"]);
    }
}
