//! Changes single leaves of a tree by editing its text, so that everything around them stays as it is.

use std::collections::{HashMap, HashSet};

use crate::plan::meaning::leaf_text;
use crate::plan::position::BOM;
use crate::plan::{FieldKind, Plan, Task, TaskIndex, parse};
use crate::rules::fix::{set_ids, written_ids};
use crate::text::indented;

/// The place for a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPlace<'a> {
    /// Replaces the leaf with this id.
    Instead(&'a str),
    /// After the last subtask of the task with this id.
    Below(&'a str),
}

/// The reason why a tree can't be edited in the requested way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlaced {
    #[error("the tree has no task {0}")]
    UnknownTask(String),
    #[error("the input is not a single task that begins with `- [ID: …]` and has no subtasks")]
    NotALeaf,
    #[error("the input is task {given}, not {wanted}")]
    OtherId { wanted: String, given: String },
    #[error("task {0} has subtasks; each of them is edited by itself")]
    HasSubtasks(String),
    #[error("task {0} is not a list item")]
    NotInAList(String),
    #[error("in that place it would change task {0} as well")]
    ChangesAnother(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedTree {
    pub text: String,
    /// The id of the edited leaf.
    pub task: String,
    /// The tasks that no longer wait for a removed task.
    pub loosened: Vec<String>,
}

/// Puts `leaf` at `place` in the tree `text`. All other leaves stay as they are. Doesn't check if the result is valid.
pub fn with_leaf(text: &str, place: LeafPlace<'_>, leaf: &str) -> Result<EditedTree, NotPlaced> {
    let (id, leaf) = leaf_in(leaf).ok_or(NotPlaced::NotALeaf)?;
    let (plan, _) = parse(text);
    let (before, indent, behind) = match place {
        LeafPlace::Instead(wanted) => {
            let task = leaf_of(&plan, wanted)?;
            if id != wanted {
                return Err(NotPlaced::OtherId {
                    wanted: wanted.to_owned(),
                    given: id,
                });
            }
            let (start, indent) = line_of(text, task)?;
            (text[..start].to_owned(), indent, end_of(text, task))
        }
        LeafPlace::Below(parent) => {
            let parent = &plan.tasks[find_task(&plan, parent)?];
            let indent = match parent.children.last() {
                Some(&last) => line_of(text, &plan.tasks[last])?.1,
                None => line_of(text, parent)?.1 + 2,
            };
            let end = end_of(text, parent);
            (text[..end].to_owned() + plan.newline(), indent, end)
        }
    };
    let margin = " ".repeat(indent);
    let leaf = indented(&leaf, indent).replace('\n', plan.newline());
    let edited = [&before, &margin, &leaf, &text[behind..]].concat();
    checked_edit(text, edited, id, Vec::new())
}

/// Removes the leaf `id`, and removes its id from the tasks that wait for it.
pub fn without_leaf(text: &str, id: &str) -> Result<EditedTree, NotPlaced> {
    let (plan, _) = parse(text);
    let task = leaf_of(&plan, id)?;
    let (start, _) = line_of(text, task)?;
    let mut edited = [text[..start].trim_end(), &text[end_of(text, task)..]].concat();
    let (rest, _) = parse(&edited);
    let mut fixes = Vec::new();
    let mut loosened: Vec<String> = Vec::new();
    for task in &rest.tasks {
        for kind in FieldKind::ORDERING {
            let ids = written_ids(task, kind, |other| other != id);
            if ids.len() < task.fields.items(kind).len() {
                fixes.push(set_ids(&rest, task, kind, &ids, ""));
                loosened.push(task.id.to_string());
            }
        }
    }
    loosened.dedup();
    fixes.sort_by_key(|fix| fix.span);
    for fix in fixes.into_iter().rev() {
        edited.replace_range(fix.span.start..fix.span.end, &fix.replacement);
    }
    checked_edit(text, edited, id.to_owned(), loosened)
}

/// Refuses an edit that changes leaves other than those it is meant to change.
fn checked_edit(
    before: &str,
    text: String,
    task: String,
    loosened: Vec<String>,
) -> Result<EditedTree, NotPlaced> {
    let touched: HashSet<&String> = loosened.iter().chain([&task]).collect();
    let texts = |text: &str| -> HashMap<String, String> {
        let (plan, _) = parse(text);
        let leaves = plan
            .leaves()
            .map(|leaf| (leaf.id.to_string(), leaf_text(leaf)));
        leaves.filter(|(id, _)| !touched.contains(id)).collect()
    };
    let (before, after) = (texts(before), texts(&text));
    let changed = |id: &&String| before.get(*id) != after.get(*id);
    if let Some(other) = before.keys().chain(after.keys()).find(changed) {
        return Err(NotPlaced::ChangesAnother(other.clone()));
    }
    Ok(EditedTree {
        text,
        task,
        loosened,
    })
}

fn find_task(plan: &Plan<'_>, id: &str) -> Result<TaskIndex, NotPlaced> {
    let mut tasks = plan.tasks.iter();
    let found = tasks.position(|task| task.id == id && !task.synthetic);
    found.ok_or_else(|| NotPlaced::UnknownTask(id.to_owned()))
}

fn leaf_of<'p, 't>(plan: &'p Plan<'t>, id: &str) -> Result<&'p Task<'t>, NotPlaced> {
    let task = &plan.tasks[find_task(plan, id)?];
    match task.is_leaf() {
        true => Ok(task),
        false => Err(NotPlaced::HasSubtasks(id.to_owned())),
    }
}

/// Reads `text` as a single leaf; returns its id and its dedented lines.
fn leaf_in(text: &str) -> Option<(String, String)> {
    let text = text.trim_start_matches(BOM).trim_end();
    let lines = text.lines().skip_while(|line| line.trim().is_empty());
    let first = lines.clone().next()?;
    let indent = first.len() - first.trim_start_matches(' ').len();
    let lines = lines.map(|line| line.get(indent..).unwrap_or_default());
    let dedented = lines.collect::<Vec<_>>().join("\n");
    let id = match &parse(&dedented).0.tasks[..] {
        [leaf] if !leaf.broken && dedented.starts_with("- ") => leaf.id.to_string(),
        _ => return None,
    };
    Some((id, dedented))
}

/// The end of the last line of `task`.
fn end_of(text: &str, task: &Task<'_>) -> usize {
    text[..task.extent.end].trim_end().len()
}

/// The start of the line that `task` is on, and the number of columns before its bullet.
fn line_of(text: &str, task: &Task<'_>) -> Result<(usize, usize), NotPlaced> {
    let start = text[..task.span.start].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[start..task.span.start];
    let indent = before
        .strip_suffix("- ")
        .filter(|spaces| spaces.bytes().all(|byte| byte == b' '));
    let indent = indent.ok_or_else(|| NotPlaced::NotInAList(task.id.clone().into_owned()))?;
    Ok((start, indent.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "## Root Task
- [ID: root] Goal (Complexity: 5)

### Subtasks
- [ID: 1] Group (Complexity: 4)
  - [ID: 1.1] First (Complexity: 2)
    - Files: a.rs
  - [ID: 1.2] Second (Complexity: 1)
    - Files: b.rs

- [ID: 2] Last (Complexity: 3)
  - Files: c.rs

Prose.
";

    #[test]
    fn a_leaf_takes_the_place_of_another() {
        let new =
            "- [ID: 1.1] First, better (Complexity: 3)\n  - Files:\n    - a.rs\n\n    - d.rs\n";
        let expect = TREE.replace(
            "  - [ID: 1.1] First (Complexity: 2)\n    - Files: a.rs\n",
            "  - [ID: 1.1] First, better (Complexity: 3)\n    - Files:\n      - a.rs\n\n      - d.rs\n",
        );
        let check = |tree: &str, new: &str, text: String| {
            let expect = EditedTree {
                text,
                task: "1.1".into(),
                loosened: vec![],
            };
            assert_eq!(with_leaf(tree, LeafPlace::Instead("1.1"), new), Ok(expect));
        };
        check(TREE, new, expect.clone());
        let deeper: String = new.lines().map(|line| format!("   {line}\n")).collect();
        check(TREE, &format!("\n{deeper}"), expect.clone());
        check(
            &TREE.replace('\n', "\r\n"),
            new,
            expect.replace('\n', "\r\n"),
        );
    }

    #[test]
    fn a_leaf_is_added() {
        let check = |parent: &str, id: &str, after: &str, expect: &str| {
            let new = format!("- [ID: {id}] New (Complexity: 1)\n  - Files: n.rs\n");
            let edited = with_leaf(TREE, LeafPlace::Below(parent), &new).unwrap();
            assert_eq!(
                edited.text,
                TREE.replace(after, &format!("{after}{expect}")),
                "{parent}"
            );
            assert_eq!(edited.task, id);
        };
        let nested = "\n  - [ID: 1.3] New (Complexity: 1)\n    - Files: n.rs";
        check("1", "1.3", "    - Files: b.rs", nested);
        check(
            "root",
            "3",
            "  - Files: c.rs",
            "\n- [ID: 3] New (Complexity: 1)\n  - Files: n.rs",
        );
    }

    #[test]
    fn what_is_refused() {
        let check = |place: LeafPlace<'_>, leaf: &str, expect: &str| {
            assert_eq!(
                with_leaf(TREE, place, leaf).unwrap_err().to_string(),
                expect,
                "{leaf:?}"
            );
        };
        let no_leaf =
            "the input is not a single task that begins with `- [ID: …]` and has no subtasks";
        let new = "- [ID: 3] New (Complexity: 1)\n";
        check(LeafPlace::Instead("9"), new, "the tree has no task 9");
        check(LeafPlace::Below("9"), new, "the tree has no task 9");
        check(LeafPlace::Instead("2"), new, "the input is task 3, not 2");
        check(
            LeafPlace::Instead("1"),
            new,
            "task 1 has subtasks; each of them is edited by itself",
        );
        for text in [
            "",
            "Prose",
            "## [3] New",
            "- [ID: 3] New\n  - [ID: 3.1] Part\n",
            "- [ID: 3] A\n- [ID: 4] B\n",
        ] {
            check(LeafPlace::Below("1"), text, no_leaf);
        }
        check(
            LeafPlace::Below("2"),
            new,
            "in that place it would change task 2 as well",
        );
        let heading = "## [1] Goal\n### [1.1] Part\n- Files: a.rs\n";
        let error =
            with_leaf(heading, LeafPlace::Instead("1.1"), "- [ID: 1.1] Part\n").unwrap_err();
        assert_eq!(error, NotPlaced::NotInAList("1.1".into()));
    }
}
