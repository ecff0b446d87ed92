//! Scripts rely on exit statuses and people on hints: every command ends with one of these statuses, or with an error
//! with hints.

use std::borrow::Cow;
use std::fmt;

pub(crate) use fp_plan::hint::Exit;
use fp_plan::hint::Hint;

/// An error for the user: what happened, why, and what to do next.
#[derive(Debug, Clone)]
pub(crate) struct CommandError {
    pub(crate) exit: Exit,
    /// The fault and its place, in one sentence without a full stop.
    pub(crate) message: String,
    /// Next steps, one line each.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// The command could not run.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Failed,
            message: message.to_string(),
            hints: Vec::new(),
        }
    }

    /// The command ran and the answer is no.
    pub(crate) fn refused(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Findings,
            ..Self::failed(message)
        }
    }

    /// Converts `error`, replacing its text with `message` and keeping its hint.
    pub(crate) fn with_message(message: impl fmt::Display, error: &impl Hint) -> Self {
        let hints = error.hint().map(Cow::into_owned);
        Self {
            exit: error.exit_status(),
            message: message.to_string(),
            hints: hints.into_iter().collect(),
        }
    }

    /// Replaces the word PLAN in the hints with `plan`.
    pub(crate) fn with_plan(mut self, plan: &str) -> Self {
        let is_end = |c: char| matches!(c, ' ' | '`' | ',');
        for hint in &mut self.hints {
            let words = hint.split_inclusive(is_end);
            *hint = words
                .map(|word| match word.strip_prefix("PLAN") {
                    Some(end) if end.chars().all(is_end) => format!("{plan}{end}"),
                    _ => word.to_owned(),
                })
                .collect();
        }
        self
    }

    /// Adds a line that says what to do next.
    pub(crate) fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

/// The result of every command.
pub(crate) type CommandResult = Result<Exit, CommandError>;

impl<E: Hint> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::with_message(&error, &error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_plan() {
        let check = |hint: &str, expect: &str| {
            let error = CommandError::failed("no").with_hint(hint).with_plan("p-1");
            assert_eq!(error.hints, [expect]);
        };
        check("run `fp start PLAN`", "run `fp start p-1`");
        check("fp why PLAN 1.2", "fp why p-1 1.2");
        check("see PLAN, or PLANS", "see p-1, or PLANS");
        check("set it to refs/fp/PLAN", "set it to refs/fp/PLAN");
        check("`fp claim PLAN --as NAME`", "`fp claim p-1 --as NAME`");
    }
}
