//! The questions whose answers count as the user's consent, as they are printed for a lead and recognised again in the
//! client's event. A lead that asks anything else, in other words or with other options, gets no consent.

use std::collections::{BTreeMap, BTreeSet};

use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::plan::{Plan, Task};
use fp_plan::text::{counted, first_few, prompt_quoted};
use serde::{Deserialize, Serialize};

use super::approval::{hash, is_approved};
use super::question::AnswerOption;
use super::state::State;

/// Longest title in a question, in bytes.
const MAX_TITLE: usize = 120;
/// Longest command that a question may leave to the tree, in bytes.
const MAX_PLAIN: usize = 1000;
/// Longest question that a dialog is asked to show, in bytes.
const MAX_QUESTION: usize = 10_000;
/// Most items of one kind in a question; the tree shows the others. A command that is more than plain words is always
/// named.
const NAMED: usize = 8;

/// The answer that approves a plan.
pub const APPROVE: &str = "Approve";

/// A question as the client's AskUserQuestion takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedQuestion {
    /// Ends with its code.
    pub question: String,
    /// At most 12 characters.
    pub header: String,
    pub options: Vec<AnswerOption>,
}

/// The plan and the question that a code names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentCode {
    pub plan: PlanId,
    /// The question's id in the run; `None` asks for the approval.
    pub question: Option<String>,
}

const APPROVAL: &str = "approve";

impl ConsentCode {
    /// The code at the end of `text`, if there is one.
    pub fn in_question(text: &str) -> Option<Self> {
        let inside = text.trim_end().strip_suffix(']')?.rsplit_once('[')?.1;
        let [plan, question, _] = inside.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let question = Some(question.to_owned()).filter(|question| question != APPROVAL);
        Some(Self {
            plan: PlanId::new(plan).ok()?,
            question,
        })
    }
}

impl PrintedQuestion {
    /// The question `id` of the run of `plan`.
    pub fn of_run(
        plan: &PlanId,
        id: &str,
        text: &str,
        header: &str,
        options: &[AnswerOption],
    ) -> Self {
        Self::with_code(plan, id, "", text, header, options.to_vec())
    }

    /// The question that approves `tree`, whose text has the hash `tree_hash`, and `end_commands`. `before` is the state
    /// that the user approved on this machine, if there is one. `None` if it has to say more than a dialog shows.
    pub fn of_approval(
        plan: &PlanId,
        tree: &Plan,
        tree_hash: &str,
        end_commands: &[String],
        before: Option<&State>,
    ) -> Option<Self> {
        let tasks = counted(tree.leaves().count(), "task");
        let title = tree.root.map_or("", |root| &tree.tasks[root].description);
        let commands = commands_by_program(tree, end_commands, NAMED);
        let said = match before {
            Some(before) => changes_since(before, tree, end_commands, NAMED),
            None if commands.is_empty() => "No task runs a command.".to_owned(),
            None => format!(
                "These commands will run on this machine:\n{}",
                commands.join("\n")
            ),
        };
        let again = if before.is_some() { " again," } else { "" };
        let text = format!(
            "Approve the plan {}{again} with {tasks}? {said}",
            prompt_quoted(title, MAX_TITLE)
        );
        let option = |label: &str, description: &str| AnswerOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        let options = vec![
            option(
                APPROVE,
                "the tasks may be built, and these commands may run",
            ),
            option("Discuss", "talk about the plan first"),
            option("Change", "change the plan first"),
            option("Stop", "leave the plan as it is; nothing runs"),
        ];
        let content = format!("{tree_hash}\n{}", end_commands.join("\n"));
        let content = if end_commands.is_empty() {
            tree_hash
        } else {
            content.as_str()
        };
        let asked = Self::with_code(plan, APPROVAL, content, &text, "Approve", options);
        Some(asked).filter(|asked| asked.question.len() <= MAX_QUESTION)
    }

    /// The code also depends on `content`, which the question speaks of and doesn't repeat.
    fn with_code(
        plan: &PlanId,
        id: &str,
        content: &str,
        text: &str,
        header: &str,
        options: Vec<AnswerOption>,
    ) -> Self {
        let code = hash(format!("{plan}\n{id}\n{content}\n{text}").as_bytes());
        Self {
            question: format!("{text} [{plan} {id} {}]", &code[..8]),
            header: header.to_owned(),
            options,
        }
    }

    /// True if `asked` is this question: the same words, and the same options in the same order. Where lines break is the
    /// asker's business, but not how many are empty: nothing may be pushed out of sight.
    pub fn is_asked_by(&self, asked: &Self) -> bool {
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let option = |option: &AnswerOption| (words(&option.label), words(&option.description));
        words(&self.question) == words(&asked.question)
            && asked.question.len() <= self.question.len() + self.question.lines().count()
            && words(&self.header) == words(&asked.header)
            && self
                .options
                .iter()
                .map(option)
                .eq(asked.options.iter().map(option))
    }
}

/// Tells how `tree` and `end_commands` differ from what the user approved `before`. The log has only the hash of what the
/// user saw of a task, so the commands of a changed task count as new unless an unchanged task has them too. Names at most
/// `most` plain commands of a program.
pub fn changes_since(before: &State, tree: &Plan, end_commands: &[String], most: usize) -> String {
    let known = |leaf: &Task| before.task(&TaskId::new(leaf.id.to_string()).ok()?);
    let is_same = |leaf: &&Task| known(leaf).is_some_and(|task| is_approved(leaf, &task.leaf));
    let (same, others): (Vec<&Task>, Vec<&Task>) = tree.leaves().partition(is_same);
    let (changed, added): (Vec<&Task>, Vec<&Task>) =
        others.iter().partition(|leaf| known(leaf).is_some());
    let ids: BTreeSet<&str> = tree.leaves().map(|leaf| &*leaf.id).collect();
    let removed = before
        .tasks
        .iter()
        .map(|task| &task.leaf)
        .filter(|leaf| !ids.contains(leaf.id.as_str()));
    let named = |id: &str, title: &str| format!("{id} {}", prompt_quoted(title, MAX_TITLE));
    let told = |leaves: &[&Task]| {
        leaves
            .iter()
            .map(|leaf| named(&leaf.id, &leaf.description))
            .collect()
    };
    let commands = |leaves: &[&Task]| -> BTreeSet<String> {
        leaves
            .iter()
            .flat_map(|leaf| leaf.test_commands().chain(leaf.verify()))
            .map(str::to_owned)
            .collect()
    };
    let old_end = before
        .approval
        .as_ref()
        .map_or(&[][..], |approval| &approval.end_commands);
    let dropped = old_end
        .iter()
        .filter(|command| !end_commands.contains(command));
    let kept = commands(&same);
    let mut new = commands(&others);
    new.extend(end_commands.iter().cloned());
    new.retain(|command| !kept.contains(command) && !old_end.contains(command));
    let changes: [(&str, Vec<String>); 4] = [
        ("added", told(&added)),
        ("changed", told(&changed)),
        (
            "removed",
            removed
                .map(|leaf| named(leaf.id.as_str(), &leaf.title))
                .collect(),
        ),
        (
            "no longer run at the end",
            dropped
                .map(|command| prompt_quoted(command, MAX_PLAIN))
                .collect(),
        ),
    ];
    let changes = changes.iter().filter(|(_, items)| !items.is_empty());
    let mut lines = vec!["Since you approved it:".to_owned()];
    lines.extend(changes.map(|(how, items)| format!("- {how}: {}", first_of(items, NAMED))));
    lines.push(
        if new.is_empty() {
            "No command is new."
        } else {
            "New commands that will run on this machine:"
        }
        .into(),
    );
    lines.extend(by_program(new.iter().map(String::as_str), most));
    let (tasks, kept) = (counted(same.len(), "task"), counted(kept.len(), "command"));
    lines.push(format!("As you approved it: {tasks} with {kept}."));
    lines.join("\n")
}

/// At most `most` of `items`.
fn first_of(items: &[String], most: usize) -> String {
    first_few(items, most)
        + if items.len() > most {
            ", see the tree"
        } else {
            ""
        }
}

/// The commands of a tree's tasks and those at the end, one line a program with its commands, as a person judges them. At
/// most `most` plain ones of a program are named.
pub fn commands_by_program(tree: &Plan, end_commands: &[String], most: usize) -> Vec<String> {
    let of_tasks = tree
        .leaves()
        .flat_map(|leaf| leaf.test_commands().chain(leaf.verify()));
    by_program(
        of_tasks.chain(end_commands.iter().map(String::as_str)),
        most,
    )
}

fn by_program<'c>(commands: impl Iterator<Item = &'c str>, most: usize) -> Vec<String> {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for command in commands {
        let program = command.split_whitespace().next().unwrap_or_default();
        let of_program = programs.entry(program).or_default();
        if !of_program.contains(&command) {
            of_program.push(command);
        }
    }
    let line = |(program, mut commands): (&str, Vec<&str>)| {
        if commands.len() > NAMED {
            commands.sort_by_key(|command| is_plain(command));
        }
        let most = most.max(commands.iter().filter(|command| !is_plain(command)).count());
        let quoted: Vec<String> = commands
            .iter()
            .map(|command| prompt_quoted(command, usize::MAX))
            .collect();
        format!("- {program}: {}", first_of(&quoted, most))
    };
    programs.into_iter().map(line).collect()
}

/// True for a command that runs the program that it begins with, and nothing else that a shell would.
fn is_plain(command: &str) -> bool {
    command.len() <= MAX_PLAIN && !command.contains(['&', '|', ';', '$', '>', '<', '`', '\n'])
}
