//! Tells for each requirement of the interview whether the tasks that cover it are done.

use serde::Serialize;

use crate::interview::Interview;
use crate::interview::record::RecordedStatement;
use crate::run::state::{State, Status};
use fp_plan::plan::Plan;
use fp_plan::plan::field::FieldKind;
use fp_plan::text::one_line;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementLine {
    pub id: String,
    pub text: String,
    /// True if at least one task covers the requirement and all tasks that do are done.
    pub met: bool,
    /// The ids of the tasks that cover the requirement.
    pub tasks: Vec<String>,
}

impl RequirementLine {
    /// The requirements of `interview`, judged by the tasks of `tree` and their states.
    pub fn for_interview(interview: &Interview, tree: &Plan, state: &State) -> Vec<Self> {
        let is_done = |id: &String| {
            let mut done = state
                .tasks
                .iter()
                .filter(|task| task.status == Status::Completed);
            done.any(|task| task.leaf.id.as_str() == id)
        };
        let line = |requirement: &RecordedStatement| {
            let covering = tree.leaves().filter(|leaf| {
                let mut covered = leaf.fields.items(FieldKind::Covers).iter();
                covered.any(|item| item.text.eq_ignore_ascii_case(&requirement.id))
            });
            let tasks: Vec<String> = covering.map(|leaf| leaf.id.to_string()).collect();
            Self {
                id: requirement.id.clone(),
                text: one_line(&requirement.text),
                met: !tasks.is_empty() && tasks.iter().all(is_done),
                tasks,
            }
        };
        interview.requirements.iter().map(line).collect()
    }
}

impl std::fmt::Display for RequirementLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let met = if self.met { "met" } else { "not met" };
        let tasks = match self.tasks.is_empty() {
            true => "no task covers it".to_owned(),
            false => self.tasks.join(", "),
        };
        write!(f, "{} {met}: {} ({tasks})", self.id, self.text)
    }
}
