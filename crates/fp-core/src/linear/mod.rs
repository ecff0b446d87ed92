//! The mirror of a plan in Linear. An agent makes the calls; what has to be sent, in which order, and what was sent
//! already is computed and remembered here, so that a call that was interrupted is neither lost nor made twice.
//!
//! Every thing to be sent has a [`Key`]. What was sent is acknowledged by its key, and is never given out again.

mod comment;
mod create;
mod id;
mod key;
mod mapping;
mod outbox;
mod stage;
mod statuses;

pub use create::{Batch, Issue, Request, batch};
pub use id::{InvalidLinearId, LinearId};
pub use key::{InvalidKey, Key};
pub use mapping::{Answer, AnswerError, Failure, MAX_ATTEMPTS, Mapped, Mapping, MappingError};
pub use outbox::{Call, Change, Outbox, outbox, rollup};
pub use stage::Stage;
pub use statuses::{Resolved, TeamStatus, TeamStatuses, resolve};

/// Something that was tried [`MAX_ATTEMPTS`] times in vain, and is not given out any more.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct GivenUp {
    /// What it was.
    pub key: Key,
    /// Why it failed the last time.
    pub reason: String,
}

/// `text` on one line, at most `most` characters of it.
fn one_line(text: &str, most: usize) -> String {
    let mut words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words {
        line.push(' ');
        line.push_str(word);
    }
    if line.chars().count() > most {
        line = line.chars().take(most.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests;
