//! Defines the questions whose answers count as the user's consent, both for printing them for a lead and for
//! recognising them in the client's event. A lead that asks anything else, in other words or with other options, gets
//! no consent.

use std::collections::{BTreeMap, BTreeSet};

use fp_plan::plan::id::PlanId;
use fp_plan::plan::{Plan, Task};
use fp_plan::text::{counted, first_few, prompt_quoted, prompt_text, shown_command};
use serde::{Deserialize, Serialize};

use super::approval::{hash, hash_of};
use super::question::AnswerOption;

/// Longest title in a question, in bytes.
const MAX_TITLE: usize = 120;
/// Longest question that a dialog is asked to show, in bytes.
const MAX_QUESTION: usize = 10_000;
/// Maximum number of tasks of each kind named in a question; the tree shows the rest. All commands are named, since any
/// of them might do more than it seems to.
const NAMED: usize = 8;

/// The answer that approves a plan.
pub const APPROVE: &str = "Approve";

/// A question in the form that the client's AskUserQuestion takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedQuestion {
    /// Ends with the question's code.
    pub question: String,
    /// At most 12 characters.
    pub header: String,
    pub options: Vec<AnswerOption>,
}

/// The plan and the question that a code names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentCode {
    pub plan: PlanId,
    /// The question's id in the run; `None` for the approval question.
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
    /// The question `id` in the run of `plan`.
    pub fn of_run(
        plan: &PlanId,
        id: &str,
        text: &str,
        header: &str,
        options: &[AnswerOption],
    ) -> Self {
        Self::with_code(plan, id, "", text, header, options.to_vec())
    }

    /// Builds the question that asks for approval of `tree`, whose text has the hash `tree_hash`, and of
    /// `end_commands`. `before` is what the user last approved on this machine, if anything. `None` if the question is
    /// too long for a dialog.
    pub fn of_approval(
        plan: &PlanId,
        tree: &Plan,
        tree_hash: &str,
        end_commands: &[String],
        before: Option<&AgreedContent>,
    ) -> Option<Self> {
        let tasks = counted(tree.leaves().count(), "task");
        let title = tree.root.map_or("", |root| &tree.tasks[root].description);
        let title = prompt_quoted(title, MAX_TITLE);
        let commands = commands_by_program(tree, end_commands).join("\n");
        let text = match before {
            Some(before) => {
                let changes = before.changes_to(tree, end_commands);
                format!("Approve the plan {title} again, with {tasks}? {changes}")
            }
            None if commands.is_empty() => {
                format!("Approve the plan {title} with {tasks}? No task runs a command.")
            }
            None => format!(
                "Approve the plan {title} with {tasks}? These commands will run on this machine:\n{commands}"
            ),
        };
        let options = [
            (
                APPROVE,
                "the tasks may be built, and these commands may run",
            ),
            ("Discuss", "talk about the plan first"),
            ("Change", "change the plan first"),
            ("Stop", "leave the plan as it is; nothing runs"),
        ];
        let options = options.map(|(label, description)| AnswerOption {
            label: label.to_owned(),
            description: description.to_owned(),
        });
        let content = match end_commands.is_empty() {
            true => tree_hash.to_owned(),
            false => format!("{tree_hash}\n{}", end_commands.join("\n")),
        };
        let asked = Self::with_code(plan, APPROVAL, &content, &text, "Approve", options.to_vec());
        Some(asked).filter(|asked| asked.question.len() <= MAX_QUESTION)
    }

    /// Appends the code to the question. The code also depends on `content`, which the text doesn't repeat.
    fn with_code(
        plan: &PlanId,
        id: &str,
        content: &str,
        text: &str,
        header: &str,
        options: Vec<AnswerOption>,
    ) -> Self {
        let text = prompt_text(text);
        let code = hash(format!("{plan}\n{id}\n{content}\n{text}").as_bytes());
        Self {
            question: format!("{text} [{plan} {id} {}]", &code[..8]),
            header: header.to_owned(),
            options,
        }
    }
}

/// The parts of an approved plan that a later approval question compares with the new plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgreedContent {
    tasks: Vec<AgreedTask>,
    commands: BTreeSet<String>,
    end_commands: Vec<String>,
    #[serde(default)]
    setup: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AgreedTask {
    id: String,
    title: String,
    hash: String,
}

impl AgreedContent {
    pub fn from_tree(tree: &Plan, end_commands: &[String]) -> Self {
        let task = |leaf: &Task| AgreedTask {
            id: leaf.id.to_string(),
            title: leaf.description.to_string(),
            hash: hash_of(leaf),
        };
        Self {
            tasks: tree.leaves().map(task).collect(),
            commands: all_commands(tree, end_commands)
                .map(str::to_owned)
                .collect(),
            end_commands: end_commands.to_vec(),
            setup: tree.setup_commands().map(str::to_owned).collect(),
        }
    }

    /// Describes how `tree` and `end_commands` differ from the content approved before.
    pub fn changes_to(&self, tree: &Plan, end_commands: &[String]) -> String {
        let now = Self::from_tree(tree, end_commands);
        let known = |task: &AgreedTask| self.tasks.iter().find(|known| known.id == task.id);
        let is_same = |task: &&AgreedTask| known(task) == Some(*task);
        let is_known = |task: &&AgreedTask| known(task).is_some();
        let is_gone = |task: &&AgreedTask| now.tasks.iter().all(|left| left.id != task.id);
        let (same, others): (Vec<_>, Vec<_>) = now.tasks.iter().partition(is_same);
        let (changed, added): (Vec<_>, Vec<_>) = others.into_iter().partition(is_known);
        let removed: Vec<_> = self.tasks.iter().filter(is_gone).collect();
        let mut lines = Vec::new();
        for (how, tasks) in [("added", added), ("changed", changed), ("removed", removed)] {
            let named = |task: &&AgreedTask| {
                format!("{} {}", task.id, prompt_quoted(&task.title, MAX_TITLE))
            };
            let named: Vec<String> = tasks.iter().map(named).collect();
            let rest = named.get(NAMED).map_or("", |_| ", see the tree");
            if !named.is_empty() {
                lines.push(format!("- {how}: {}{rest}", first_few(&named, NAMED)));
            }
        }
        for (when, before, now) in [
            ("in a fresh checkout", &self.setup, &now.setup),
            ("at the end", &self.end_commands, &now.end_commands),
        ] {
            for line in before.iter().filter(|line| !now.contains(line)) {
                let line = shown_command(line);
                lines.push(format!("- no longer runs {when}: {line}"));
            }
        }
        let first = match lines.is_empty() {
            true => "Nothing has changed since you approved it.",
            false => "Since you approved it:",
        };
        lines.insert(0, first.to_owned());
        let is_new = |command: &&str| !self.commands.contains(*command);
        let new = listed_commands(all_commands(tree, end_commands).filter(is_new));
        lines.push(match new.is_empty() {
            true => "No command is new.".to_owned(),
            false => "New commands that will run on this machine:".to_owned(),
        });
        lines.extend(new);
        let kept = now.commands.intersection(&self.commands).count();
        let kept = [(same.len(), "task"), (kept, "command")];
        let kept = kept.iter().filter(|(count, _)| *count > 0);
        let kept: Vec<String> = kept.map(|(count, what)| counted(*count, what)).collect();
        if !kept.is_empty() {
            lines.push(format!("As you approved it: {}.", kept.join(", ")));
        }
        lines.join("\n")
    }
}

/// Every command that an approval allows.
pub fn all_commands<'p>(
    tree: &'p Plan<'_>,
    end_commands: &'p [String],
) -> impl Iterator<Item = &'p str> {
    let of_tasks = tree
        .leaves()
        .flat_map(|leaf| leaf.test_commands().chain(leaf.verify()));
    let of_tree = tree.setup_commands().chain(of_tasks);
    of_tree.chain(end_commands.iter().map(String::as_str))
}

/// The commands of a tree, its setup included, and those at the end, one entry each, grouped by program.
pub fn commands_by_program(tree: &Plan, end_commands: &[String]) -> Vec<String> {
    listed_commands(all_commands(tree, end_commands))
}

fn listed_commands<'c>(commands: impl Iterator<Item = &'c str>) -> Vec<String> {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for command in commands {
        let program = command.split_whitespace().next().unwrap_or_default();
        let of_program = programs.entry(program).or_default();
        if !of_program.contains(&command) {
            of_program.push(command);
        }
    }
    let all = programs.into_values().flatten();
    all.map(|command| format!("- {}", shown_command(command)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_is_left_out_and_those_of_a_program_stand_together() {
        let plain = (1..=12).map(|number| format!("tar c{number}"));
        let all: Vec<String> = plain
            .chain([
                "make -f -".into(),
                "tar --checkpoint-action=exec=sh x".into(),
            ])
            .chain(["tar c1".into()])
            .collect();
        let listed = listed_commands(all.iter().map(String::as_str));
        assert_eq!(listed.len(), 14);
        assert_eq!(listed[0], "- make -f -");
        assert_eq!(listed[13], "- tar --checkpoint-action=exec=sh x");
    }
}
