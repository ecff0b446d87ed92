//! The questions whose answers count as the user's consent, as they are printed for a lead and recognised again in the
//! client's event. A lead that asks anything else, in other words or with other options, gets no consent.

use std::collections::BTreeMap;

use fp_plan::plan::Plan;
use fp_plan::plan::id::PlanId;
use fp_plan::text::{counted, prompt_quoted};
use serde::{Deserialize, Serialize};

use super::approval::hash;
use super::question::AnswerOption;

/// Longest title in a question, in bytes.
const MAX_TITLE: usize = 120;
/// Longest command in a question, in bytes.
const MAX_COMMAND: usize = 1000;
/// Most commands of one program in a question; the tree shows the others.
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
        let [plan, question, _] = inside.split(' ').collect::<Vec<_>>()[..] else { return None };
        let question = Some(question.to_owned()).filter(|question| question != APPROVAL);
        Some(Self { plan: PlanId::new(plan).ok()?, question })
    }
}

impl PrintedQuestion {
    /// The question `id` of the run of `plan`.
    pub fn of_run(plan: &PlanId, id: &str, text: &str, header: &str, options: &[AnswerOption]) -> Self {
        Self::with_code(plan, id, "", text, header, options.to_vec())
    }

    /// The question that approves `tree`, whose text has the hash `tree_hash`, and `end_commands`.
    pub fn of_approval(plan: &PlanId, tree: &Plan, tree_hash: &str, end_commands: &[String]) -> Self {
        let tasks = counted(tree.leaves().count(), "task");
        let title = tree.root.map_or("", |root| &tree.tasks[root].description);
        let commands = commands_by_program(tree, end_commands);
        let said = match commands.is_empty() {
            true => "No task runs a command.".to_owned(),
            false => format!("These commands will run on this machine:\n{}", commands.join("\n")),
        };
        let text = format!("Approve the plan {} with {tasks}? {said}", prompt_quoted(title, MAX_TITLE));
        let option = |label: &str, description: &str| AnswerOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        let options = vec![
            option(APPROVE, "the tasks may be built, and these commands may run"),
            option("Discuss", "talk about the plan first"),
            option("Change", "change the plan first"),
            option("Stop", "leave the plan as it is; nothing runs"),
        ];
        let content = format!("{tree_hash}\n{}", end_commands.join("\n"));
        let content = if end_commands.is_empty() { tree_hash } else { content.as_str() };
        Self::with_code(plan, APPROVAL, content, &text, "Approve", options)
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
        Self { question: format!("{text} [{plan} {id} {}]", &code[..8]), header: header.to_owned(), options }
    }

    /// True if `asked` is this question: the same words, and the same options in the same order. Where lines break is the
    /// asker's business, but not how many are empty: nothing may be pushed out of sight.
    pub fn is_asked_by(&self, asked: &Self) -> bool {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let option = |option: &AnswerOption| (words(&option.label), words(&option.description));
        words(&self.question) == words(&asked.question)
            && asked.question.len() <= self.question.len() + self.question.lines().count()
            && words(&self.header) == words(&asked.header)
            && self.options.iter().map(option).eq(asked.options.iter().map(option))
    }
}

/// The commands of a tree's tasks and those at the end, one line a program with its commands, as a person judges them.
pub fn commands_by_program(tree: &Plan, end_commands: &[String]) -> Vec<String> {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let of_tasks = tree.leaves().flat_map(|leaf| leaf.test_commands().chain(leaf.verify()));
    for command in of_tasks.chain(end_commands.iter().map(String::as_str)) {
        let program = command.split_whitespace().next().unwrap_or_default();
        let of_program = programs.entry(program).or_default();
        if !of_program.contains(&command) {
            of_program.push(command);
        }
    }
    let line = |(program, commands): (&str, Vec<&str>)| {
        let named = commands.iter().take(NAMED).map(|command| prompt_quoted(command, MAX_COMMAND));
        let more = commands.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more, see the tree") } else { String::new() };
        format!("- {program}: {}{more}", named.collect::<Vec<_>>().join(", "))
    };
    programs.into_iter().map(line).collect()
}
