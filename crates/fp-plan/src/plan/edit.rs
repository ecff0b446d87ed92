//! Puts a leaf into a tree, or replaces one, by editing the text, which leaves everything around it as it is.

use std::collections::HashMap;

use super::meaning::leaf_text;
use super::task::{Plan, Task};
use super::{TaskIndex, parse};

/// The place for a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPlace<'a> {
    /// Replaces the leaf with this id.
    Instead(&'a str),
    /// After the last subtask of the task with this id.
    Below(&'a str),
}

/// The reason why a leaf can't go there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlaced {
    /// The tree has no such task.
    #[error("the tree has no task {0}")]
    UnknownTask(String),
    /// The given text isn't exactly one leaf.
    #[error("what is given is not one task that begins with `- [ID: …]` and has no subtasks")]
    NotALeaf,
    /// Its id differs from that of the leaf it replaces.
    #[error("what is given is task {given}, not {wanted}")]
    OtherId {
        /// The id of the replaced leaf.
        wanted: String,
        /// The id of the new leaf.
        given: String,
    },
    /// The task to replace has subtasks.
    #[error("task {0} has subtasks; each of them is revised by itself")]
    HasSubtasks(String),
    /// The tree's form has no room for a list item there.
    #[error("task {0} is no item of a list")]
    NotInAList(String),
    /// The edit would change the meaning of the text around it.
    #[error("in that place it would change task {0} as well")]
    ChangesAnother(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedTree {
    pub text: String,
    /// The id of the new or replaced leaf.
    pub task: String,
}

/// Puts `leaf` at `place` in the tree `text`. All other leaves stay as they are. Doesn't check if the result is valid.
pub fn with_leaf(text: &str, place: LeafPlace<'_>, leaf: &str) -> Result<EditedTree, NotPlaced> {
    let (plan, _) = parse(text);
    let (id, leaf) = one_leaf(leaf)?;
    let edited = match place {
        LeafPlace::Instead(wanted) => {
            let task = &plan.tasks[find(&plan, wanted)?];
            if !task.is_leaf() {
                return Err(NotPlaced::HasSubtasks(wanted.to_owned()));
            }
            if id != wanted {
                return Err(NotPlaced::OtherId { wanted: wanted.to_owned(), given: id });
            }
            let (start, indent) = line_of(text, task)?;
            let end = start + text[start..task.extent.end].trim_end().len();
            [&text[..start], &indented(&leaf, indent, &plan), &text[end..]].concat()
        }
        LeafPlace::Below(parent) => {
            let parent = &plan.tasks[find(&plan, parent)?];
            let indent = match parent.children.last() {
                Some(&last) => line_of(text, &plan.tasks[last])?.1,
                None => line_of(text, parent)?.1 + 2,
            };
            let end = text[..parent.extent.end].trim_end().len();
            let newline = plan.newline();
            [&text[..end], newline, &indented(&leaf, indent, &plan), &text[end..]].concat()
        }
    };
    let (after, _) = parse(&edited);
    match changed(&plan, &after, &id) {
        Some(other) => Err(NotPlaced::ChangesAnother(other)),
        None => Ok(EditedTree { text: edited, task: id }),
    }
}

fn find(plan: &Plan<'_>, id: &str) -> Result<TaskIndex, NotPlaced> {
    let found = plan.tasks.iter().position(|task| task.id == id && !task.synthetic);
    found.ok_or_else(|| NotPlaced::UnknownTask(id.to_owned()))
}

/// Reads `text` as a single leaf; returns its id and its lines without their common indentation.
fn one_leaf(text: &str) -> Result<(String, String), NotPlaced> {
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty()).peekable();
    let indent = lines.peek().map_or(0, |first| first.len() - first.trim_start_matches(' ').len());
    let dedented: Vec<&str> = lines.map(|line| line.get(indent..).unwrap_or("")).collect();
    let dedented = dedented.join("\n");
    let (plan, _) = parse(&dedented);
    match &plan.tasks[..] {
        [task] if dedented.starts_with("- ") && !task.broken => Ok((task.id.clone().into_owned(), dedented)),
        _ => Err(NotPlaced::NotALeaf),
    }
}

/// The start of the line of `task`, and the number of columns before its bullet.
fn line_of(text: &str, task: &Task<'_>) -> Result<(usize, usize), NotPlaced> {
    let start = text[..task.span.start].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[start..task.span.start];
    let indent = before.strip_suffix("- ").filter(|spaces| spaces.bytes().all(|byte| byte == b' '));
    let indent = indent.ok_or_else(|| NotPlaced::NotInAList(task.id.clone().into_owned()))?;
    Ok((start, indent.len()))
}

fn indented(leaf: &str, indent: usize, plan: &Plan<'_>) -> String {
    let indent = " ".repeat(indent);
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    leaf.lines().map(line).collect::<Vec<_>>().join(plan.newline())
}

/// Finds a leaf other than `id` that differs between the two plans, or exists in only one.
fn changed(before: &Plan<'_>, after: &Plan<'_>, id: &str) -> Option<String> {
    let texts = |plan: &Plan<'_>| -> HashMap<String, String> {
        let others = plan.leaves().filter(|leaf| leaf.id != id);
        others.map(|leaf| (leaf.id.clone().into_owned(), leaf_text(leaf))).collect()
    };
    let (before, after) = (texts(before), texts(after));
    let missing = before.iter().find(|(id, text)| after.get(*id) != Some(text));
    let made = after.keys().find(|id| !before.contains_key(*id));
    missing.map(|(id, _)| id).or(made).cloned()
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
        let new = "- [ID: 1.1] First, better (Complexity: 3)\n  - Files:\n    - a.rs\n\n    - d.rs\n";
        let expect = TREE.replace(
            "  - [ID: 1.1] First (Complexity: 2)\n    - Files: a.rs\n",
            "  - [ID: 1.1] First, better (Complexity: 3)\n    - Files:\n      - a.rs\n\n      - d.rs\n",
        );
        let check = |tree: &str, new: &str, text: String| {
            let expect = EditedTree { text, task: "1.1".into() };
            assert_eq!(with_leaf(tree, LeafPlace::Instead("1.1"), new), Ok(expect));
        };
        check(TREE, new, expect.clone());
        let deeper: String = new.lines().map(|line| format!("   {line}\n")).collect();
        check(TREE, &format!("\n{deeper}"), expect.clone());
        check(&TREE.replace('\n', "\r\n"), new, expect.replace('\n', "\r\n"));
    }

    #[test]
    fn a_leaf_is_added() {
        let check = |parent: &str, id: &str, after: &str, expect: &str| {
            let new = format!("- [ID: {id}] New (Complexity: 1)\n  - Files: n.rs\n");
            let expect =
                EditedTree { text: TREE.replace(after, &format!("{after}{expect}")), task: id.into() };
            assert_eq!(with_leaf(TREE, LeafPlace::Below(parent), &new), Ok(expect), "{parent}");
        };
        let nested = "\n  - [ID: 1.3] New (Complexity: 1)\n    - Files: n.rs";
        check("1", "1.3", "    - Files: b.rs", nested);
        check("root", "3", "  - Files: c.rs", "\n- [ID: 3] New (Complexity: 1)\n  - Files: n.rs");
    }

    #[test]
    fn what_is_refused() {
        let check = |place: LeafPlace<'_>, leaf: &str, expect: &str| {
            assert_eq!(with_leaf(TREE, place, leaf).unwrap_err().to_string(), expect, "{leaf:?}");
        };
        let no_leaf = "what is given is not one task that begins with `- [ID: …]` and has no subtasks";
        let new = "- [ID: 3] New (Complexity: 1)\n";
        check(LeafPlace::Instead("9"), new, "the tree has no task 9");
        check(LeafPlace::Below("9"), new, "the tree has no task 9");
        check(LeafPlace::Instead("2"), new, "what is given is task 3, not 2");
        check(LeafPlace::Instead("1"), new, "task 1 has subtasks; each of them is revised by itself");
        for text in
            ["", "Prose", "## [3] New", "- [ID: 3] New\n  - [ID: 3.1] Part\n", "- [ID: 3] A\n- [ID: 4] B\n"]
        {
            check(LeafPlace::Below("1"), text, no_leaf);
        }
        check(LeafPlace::Below("2"), new, "in that place it would change task 2 as well");
        let heading = "## [1] Goal\n### [1.1] Part\n- Files: a.rs\n";
        let error = with_leaf(heading, LeafPlace::Instead("1.1"), "- [ID: 1.1] Part\n").unwrap_err();
        assert_eq!(error, NotPlaced::NotInAList("1.1".into()));
    }
}
