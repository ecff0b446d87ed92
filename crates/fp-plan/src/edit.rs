//! Changes the shape of a tree by editing its text, which leaves everything around an edit as it is.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::TextFix;
use crate::plan::meaning::leaf_text;
use crate::plan::{FieldKind, Plan, PlanIndex, Task, TaskIndex, parse};
use crate::rules::fix::{apply, set_ids, written_ids};
use crate::rules::{RuleFacts, check};

/// The place for a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPlace<'a> {
    /// Replaces the leaf with this id.
    Instead(&'a str),
    /// After the last subtask of the task with this id.
    Below(&'a str),
    /// Directly before the task with this id, as its sibling.
    Before(&'a str),
    /// Directly after the task with this id, as its sibling.
    After(&'a str),
}

/// The reason why a tree can't be edited like that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlaced {
    /// The tree has no such task.
    #[error("the tree has no task {0}")]
    UnknownTask(String),
    /// The given text isn't exactly one leaf.
    #[error("what is given is not one task that begins with `- [ID: …]` and has no subtasks")]
    NotALeaf,
    /// The given text isn't a list of at least two leaves.
    #[error(
        "what is given is not two or more tasks that begin with `- [ID: …]` and have no subtasks"
    )]
    NotParts,
    /// Its id differs from that of the leaf it replaces.
    #[error("what is given is task {given}, not {wanted}")]
    OtherId {
        /// The id of the replaced leaf.
        wanted: String,
        /// The id of the new leaf.
        given: String,
    },
    /// The task to edit has subtasks.
    #[error("task {0} has subtasks; each of them is edited by itself")]
    HasSubtasks(String),
    /// The task is to move next to itself.
    #[error("task {0} can't be moved next to itself")]
    Itself(String),
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
    /// The id of the edited leaf, as it is now.
    pub task: String,
    /// The other changes of the edit, a sentence each without a full stop.
    pub notes: Vec<String>,
    /// The tasks that wait for a removed one no longer.
    pub loosened: Vec<String>,
}

/// Puts `leaf` at `place` in the tree `text`. All other leaves stay as they are. Doesn't check if the result is valid.
pub fn with_leaf(text: &str, place: LeafPlace<'_>, leaf: &str) -> Result<EditedTree, NotPlaced> {
    let (ids, leaf) = leaves_of(leaf)
        .filter(|(ids, _)| ids.len() == 1)
        .ok_or(NotPlaced::NotALeaf)?;
    let id = ids.concat();
    if let LeafPlace::Instead(wanted) = place {
        let (plan, _) = parse(text);
        leaf_of(&plan, wanted)?;
        if id != wanted {
            return Err(NotPlaced::OtherId {
                wanted: wanted.to_owned(),
                given: id,
            });
        }
    }
    let edit = Edit {
        text: put(text, place, &leaf)?,
        touched: HashSet::from([id.clone()]),
        ..Edit::default()
    };
    edit.finish(text, id)
}

/// Makes the leaf `id` a parent of `parts`, at least two leaves: what waited for it waits for all of them.
pub fn split_leaf(text: &str, id: &str, parts: &str) -> Result<EditedTree, NotPlaced> {
    let (plan, _) = parse(text);
    let task = leaf_of(&plan, id)?;
    let (ids, lines) = leaves_of(parts)
        .filter(|(ids, _)| ids.len() > 1)
        .ok_or(NotPlaced::NotParts)?;
    let (_, indent) = line_of(text, task)?;
    let (given, _) = parse(parts);
    let named: HashSet<&str> = given
        .leaves()
        .flat_map(Task::ordering)
        .map(|item| &*item.text)
        .collect();
    let lost = task.ordering().filter(|item| !named.contains(&*item.text));
    let edit = Edit {
        text: [
            &text[..task.line_end],
            plan.newline(),
            &indented(&lines, indent + 2, &plan),
            &text[end_of(text, task)..],
        ]
        .concat(),
        notes: lost
            .map(|item| {
                format!(
                    "No part waits for {}, which task {id} waited for",
                    item.text
                )
            })
            .collect(),
        touched: ids.into_iter().chain([id.to_owned()]).collect(),
        ..Edit::default()
    };
    edit.finish(text, id.to_owned())
}

/// Takes out the leaf `id`, and its id from the tasks that wait for it.
pub fn without_leaf(text: &str, id: &str) -> Result<EditedTree, NotPlaced> {
    let (plan, _) = parse(text);
    let task = leaf_of(&plan, id)?;
    let mut edit = Edit {
        text: cut(text, task)?.0,
        touched: HashSet::from([id.to_owned()]),
        ..Edit::default()
    };
    edit.loosened = edit.rename_dependency(id, None);
    edit.notes.extend(
        edit.loosened
            .iter()
            .map(|other| format!("Task {other} no longer waits for {id}")),
    );
    edit.lift_lone_subtask(&plan, task)?;
    edit.finish(text, id.to_owned())
}

/// Moves the leaf `id` to `place`. Beside a task, it also waits for that task, or that task for it. Below another parent
/// it gets a free id there, which the tasks that wait for it follow.
pub fn moved_leaf(text: &str, id: &str, place: LeafPlace<'_>) -> Result<EditedTree, NotPlaced> {
    let (plan, _) = parse(text);
    let task = leaf_of(&plan, id)?;
    let (LeafPlace::Instead(other)
    | LeafPlace::Below(other)
    | LeafPlace::Before(other)
    | LeafPlace::After(other)) = place;
    find(&plan, other)?;
    if id == other {
        return Err(NotPlaced::Itself(id.to_owned()));
    }
    let (rest, leaf) = cut(text, task)?;
    let mut edit = Edit {
        text: put(&rest, place, &leaf)?,
        touched: HashSet::from([id.to_owned()]),
        ..Edit::default()
    };
    let id = edit.fit_id(id);
    match place {
        LeafPlace::After(_) => edit.order(&id, other),
        LeafPlace::Before(_) => {
            let (moved, _) = parse(&edit.text);
            let index = PlanIndex::new(&moved);
            let later = index
                .find(other)
                .map_or(&[][..], |task| index.leaves_of(task));
            let later: Vec<String> = later
                .iter()
                .map(|&leaf| moved.tasks[leaf].id.to_string())
                .collect();
            later.iter().for_each(|later| edit.order(later, &id));
        }
        LeafPlace::Instead(_) | LeafPlace::Below(_) => {}
    }
    edit.tell_left_groups(&plan, task, &id);
    edit.lift_lone_subtask(&plan, task)?;
    edit.finish(text, id)
}

/// A tree that is being edited.
#[derive(Default)]
struct Edit {
    text: String,
    /// The leaves that may differ.
    touched: HashSet<String>,
    notes: Vec<String>,
    loosened: Vec<String>,
}

impl Edit {
    /// Refuses an edit that changes leaves of `before` that it isn't about.
    fn finish(self, before: &str, task: String) -> Result<EditedTree, NotPlaced> {
        let texts = |text: &str| -> HashMap<String, String> {
            let (plan, _) = parse(text);
            let others = plan
                .leaves()
                .filter(|leaf| !self.touched.contains(&*leaf.id));
            others
                .map(|leaf| (leaf.id.to_string(), leaf_text(leaf)))
                .collect()
        };
        let (before, after) = (texts(before), texts(&self.text));
        let missing = before
            .iter()
            .find(|(id, text)| after.get(*id) != Some(text))
            .map(|(id, _)| id);
        match missing.or_else(|| after.keys().find(|id| !before.contains_key(*id))) {
            Some(other) => Err(NotPlaced::ChangesAnother(other.clone())),
            None => Ok(EditedTree {
                text: self.text,
                task,
                notes: self.notes,
                loosened: self.loosened,
            }),
        }
    }

    /// Puts `new` in the place of `old` wherever a task waits for it. Returns those tasks.
    fn rename_dependency(&mut self, old: &str, new: Option<&str>) -> Vec<String> {
        let (plan, _) = parse(&self.text);
        let mut fixes = Vec::new();
        let mut waiting: Vec<String> = Vec::new();
        for task in &plan.tasks {
            for kind in FieldKind::ORDERING {
                let mut ids = written_ids(task, kind, |id| id != old);
                if ids.len() < task.fields.items(kind).len() {
                    ids.extend(
                        new.filter(|new| !task.ordering().any(|item| item.text == *new))
                            .map(str::to_owned),
                    );
                    fixes.push(set_ids(&plan, task, kind, &ids, String::new()));
                    waiting.push(task.id.to_string());
                }
            }
        }
        waiting.dedup();
        self.touched.extend(waiting.iter().cloned());
        self.text = replaced(&self.text, fixes);
        waiting
    }

    /// Lets `later` wait until `earlier` is over, unless it waits for it already.
    fn order(&mut self, later: &str, earlier: &str) {
        let (plan, _) = parse(&self.text);
        let Some(task) = plan
            .find(later)
            .filter(|task| !task.ordering().any(|item| item.text == earlier))
        else {
            return;
        };
        let mut ids = written_ids(task, FieldKind::After, |_| true);
        ids.push(earlier.to_owned());
        let fix = set_ids(&plan, task, FieldKind::After, &ids, String::new());
        self.notes
            .push(format!("Task {later} waits until {earlier} is over"));
        self.touched.insert(later.to_owned());
        self.text = replaced(&self.text, vec![fix]);
    }

    /// Gives the task `id` an id that says where it is now, unless its own does. Returns its id.
    fn fit_id(&mut self, id: &str) -> String {
        let (plan, problems) = parse(&self.text);
        let mut found = check(&plan, &problems, &RuleFacts::default());
        found.retain(|finding| finding.rule == "malformed-id" && finding.task_id == id);
        let Some(new) = found
            .first()
            .and_then(|finding| finding.fixes.first())
            .map(|fix| fix.replacement.clone())
        else {
            return id.to_owned();
        };
        let waiting = plan
            .tasks
            .iter()
            .filter(|task| task.ordering().any(|item| item.text == id));
        self.touched
            .extend(waiting.map(|task| task.id.to_string()).chain([new.clone()]));
        self.notes.push(format!(
            "Task {id} is {new} now, also where others wait for it"
        ));
        self.text = apply(&self.text, &found).0;
        new
    }

    /// Tells who waits for a group that `moved`, a task of `before`, has left for another place, where its id is `id`.
    fn tell_left_groups(&mut self, before: &Plan<'_>, moved: &Task<'_>, id: &str) {
        let (plan, _) = parse(&self.text);
        let index = PlanIndex::new(&plan);
        let above = std::iter::successors(moved.parent, |&group| before.tasks[group].parent);
        let left = above.map(|group| &*before.tasks[group].id).filter(|group| {
            index
                .find(group)
                .zip(index.find(id))
                .is_some_and(|(group, moved)| !index.is_ancestor(group, moved))
        });
        for group in left {
            let waiting = plan
                .leaves()
                .filter(|task| task.ordering().any(|item| item.text == group));
            let note = |task: &Task| {
                format!(
                    "Task {} waits for {group}, but no longer for {id} in it",
                    task.id
                )
            };
            self.notes.extend(waiting.map(note));
        }
    }

    /// Puts the subtask that is left of the parent of `gone`, a task of `before`, in the place of that parent, since one
    /// subtask is no group. Ids stay: they extend those of all ancestors.
    fn lift_lone_subtask(&mut self, before: &Plan<'_>, gone: &Task<'_>) -> Result<(), NotPlaced> {
        let text = self.text.clone();
        let (plan, _) = parse(&text);
        let group = gone
            .parent
            .and_then(|parent| plan.find(&before.tasks[parent].id));
        let Some((group, &[left])) = group
            .filter(|group| group.parent.is_some())
            .map(|group| (group, &group.children[..]))
        else {
            return Ok(());
        };
        let left = &plan.tasks[left];
        let ((start, outer), (left_start, inner)) = (line_of(&text, group)?, line_of(&text, left)?);
        let lines = dedented(text[left_start..end_of(&text, left)].lines(), inner - outer);
        self.text = [
            &text[..start],
            &lines.join(plan.newline()),
            &text[end_of(&text, group)..],
        ]
        .concat();
        self.rename_dependency(&group.id, Some(&left.id));
        self.notes.push(format!(
            "Task {} takes the place of {}, of which it is the last part",
            left.id, group.id
        ));
        Ok(())
    }
}

fn find(plan: &Plan<'_>, id: &str) -> Result<TaskIndex, NotPlaced> {
    let found = plan
        .tasks
        .iter()
        .position(|task| task.id == id && !task.synthetic);
    found.ok_or_else(|| NotPlaced::UnknownTask(id.to_owned()))
}

fn leaf_of<'p, 't>(plan: &'p Plan<'t>, id: &str) -> Result<&'p Task<'t>, NotPlaced> {
    let task = &plan.tasks[find(plan, id)?];
    if task.is_leaf() {
        Ok(task)
    } else {
        Err(NotPlaced::HasSubtasks(id.to_owned()))
    }
}

/// Reads `text` as leaves; returns their ids and their lines without the common indentation.
fn leaves_of(text: &str) -> Option<(Vec<String>, String)> {
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .peekable();
    let indent = lines
        .peek()
        .map_or(0, |first| first.len() - first.trim_start_matches(' ').len());
    let dedented = dedented(lines, indent).join("\n");
    let (plan, _) = parse(&dedented);
    let written: Vec<&Task> = plan.tasks.iter().filter(|task| !task.synthetic).collect();
    let are_leaves = written.iter().all(|task| task.is_leaf() && !task.broken);
    let ids = written.iter().map(|task| task.id.to_string()).collect();
    (are_leaves && dedented.starts_with("- ")).then_some((ids, dedented))
}

/// Puts `leaf` at `place` in `text`.
fn put(text: &str, place: LeafPlace<'_>, leaf: &str) -> Result<String, NotPlaced> {
    let (plan, _) = parse(text);
    let newline = plan.newline();
    let lines = |indent| indented(leaf, indent, &plan);
    let task = |id| Ok(&plan.tasks[find(&plan, id)?]);
    Ok(match place {
        LeafPlace::Instead(id) => {
            let task = task(id)?;
            let (start, indent) = line_of(text, task)?;
            [&text[..start], &lines(indent), &text[end_of(text, task)..]].concat()
        }
        LeafPlace::Before(id) => {
            let (start, indent) = line_of(text, task(id)?)?;
            [&text[..start], &lines(indent), newline, &text[start..]].concat()
        }
        LeafPlace::After(id) => {
            let task = task(id)?;
            let (end, indent) = (end_of(text, task), line_of(text, task)?.1);
            [&text[..end], newline, &lines(indent), &text[end..]].concat()
        }
        LeafPlace::Below(id) => {
            let parent = task(id)?;
            let indent = match parent.children.last() {
                Some(&last) => line_of(text, &plan.tasks[last])?.1,
                None => line_of(text, parent)?.1 + 2,
            };
            let end = end_of(text, parent);
            [&text[..end], newline, &lines(indent), &text[end..]].concat()
        }
    })
}

/// `text` without `task`, and the lines of `task` without their indentation.
fn cut(text: &str, task: &Task<'_>) -> Result<(String, String), NotPlaced> {
    let (start, indent) = line_of(text, task)?;
    let end = end_of(text, task);
    let lines = dedented(text[start..end].lines(), indent).join("\n");
    Ok(([text[..start].trim_end(), &text[end..]].concat(), lines))
}

/// Where the last line of `task` ends.
fn end_of(text: &str, task: &Task<'_>) -> usize {
    text[..task.extent.end].trim_end().len()
}

fn replaced(text: &str, mut fixes: Vec<TextFix>) -> String {
    let mut text = text.to_owned();
    fixes.sort_by_key(|fix| fix.span);
    for fix in fixes.into_iter().rev() {
        text.replace_range(fix.span.start..fix.span.end, &fix.replacement);
    }
    text
}

/// The start of the line of `task`, and the number of columns before its bullet.
fn line_of(text: &str, task: &Task<'_>) -> Result<(usize, usize), NotPlaced> {
    let start = text[..task.span.start].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[start..task.span.start];
    let indent = before
        .strip_suffix("- ")
        .filter(|spaces| spaces.bytes().all(|byte| byte == b' '));
    let indent = indent.ok_or_else(|| NotPlaced::NotInAList(task.id.clone().into_owned()))?;
    Ok((start, indent.len()))
}

fn dedented<'t>(lines: impl Iterator<Item = &'t str>, indent: usize) -> Vec<&'t str> {
    lines.map(|line| line.get(indent..).unwrap_or("")).collect()
}

fn indented(leaf: &str, indent: usize, plan: &Plan<'_>) -> String {
    let indent = " ".repeat(indent);
    let line = |line: &str| {
        if line.is_empty() {
            String::new()
        } else {
            format!("{indent}{line}")
        }
    };
    leaf.lines()
        .map(line)
        .collect::<Vec<_>>()
        .join(plan.newline())
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
                notes: vec![],
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
            "what is given is not one task that begins with `- [ID: …]` and has no subtasks";
        let new = "- [ID: 3] New (Complexity: 1)\n";
        check(LeafPlace::Instead("9"), new, "the tree has no task 9");
        check(LeafPlace::Below("9"), new, "the tree has no task 9");
        check(
            LeafPlace::Instead("2"),
            new,
            "what is given is task 3, not 2",
        );
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
