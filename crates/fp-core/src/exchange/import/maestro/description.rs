//! A description that has sections: PURPOSE, TASK, CONTEXT, EXPECTED, CONSTRAINTS.

use crate::exchange::import::words::{self, one_line};

/// A description that is written in sections.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) goal: Option<String>,
    success: Option<String>,
    pub(super) steps: Vec<String>,
    pub(super) key_files: Vec<String>,
    expected: Vec<String>,
    pub(super) constraints: Vec<String>,
}

impl Parts {
    pub(super) fn of(text: &str) -> Self {
        const HEADS: [&str; 7] =
            ["PURPOSE", "TASK", "CONTEXT", "EXPECTED", "CONSTRAINTS", "InnerLoop", "RoleSpec"];
        let mut parts = Self::default();
        let mut under = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "---") {
            let head =
                HEADS.into_iter().find_map(|head| Some((head, line.strip_prefix(head)?.strip_prefix(':')?)));
            let line = match head {
                Some((head, rest)) => {
                    under = head;
                    rest.trim()
                }
                None => words::bare_entry(line),
            };
            parts.line(under, &one_line(line));
        }
        parts
    }

    fn line(&mut self, under: &str, line: &str) {
        if words::is_none(line) {
            return;
        }
        match under {
            "PURPOSE" => {
                let (goal, success) = line.split_once("| Success:").unwrap_or((line, ""));
                let goal = goal.trim();
                self.goal = match self.goal.take() {
                    Some(before) => Some(format!("{before} {goal}")),
                    None => Some(goal.to_owned()).filter(|goal| !goal.is_empty()),
                };
                self.success =
                    self.success.take().or(Some(one_line(success)).filter(|success| !success.is_empty()));
            }
            "TASK" => self.steps.push(line.to_owned()),
            "CONTEXT" => {
                if let Some(files) = line.strip_prefix("Key files:") {
                    self.key_files.extend(words::pieces(files));
                }
            }
            "EXPECTED" => self.expected.push(line.to_owned()),
            "CONSTRAINTS" => self.constraints.push(line.to_owned()),
            _ => {}
        }
    }

    pub(super) fn is_structured(&self) -> bool {
        *self != Self::default()
    }

    pub(super) fn acceptance(&self) -> Option<Vec<String>> {
        let all: Vec<String> = self.success.iter().chain(&self.expected).cloned().collect();
        (!all.is_empty()).then_some(all)
    }
}
