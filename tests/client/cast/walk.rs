//! Replays a conversation from its beginning: matches the script's steps with the calls already made, up to the first
//! step that is still to be done.

use serde_json::{Value, json};

use super::lead::{answer_in, heard_of};
use super::{Done, Skill, calls};
use crate::request::{Block, Entry, Request, bash, call, text};

/// The message or calls to send next.
pub(super) type Next = Vec<Block>;

/// The calls that a skill has made so far, in order.
pub(super) struct Walk<'a> {
    request: &'a Request,
    done: Vec<Done<'a>>,
    at: usize,
}

impl<'a> Walk<'a> {
    /// Starts where the user called `skill`.
    pub(super) fn new(request: &'a Request, skill: &Skill) -> Self {
        let done = calls(request)
            .into_iter()
            .filter(|call| call.position > skill.position)
            .collect();
        Self {
            request,
            done,
            at: 0,
        }
    }

    /// True if the client offers `tool`.
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.request.offers(tool)
    }

    /// Returns the call already made at this step, or `Err(next)` if there is none yet, so that the caller makes it.
    pub(super) fn take(&mut self, next: Next) -> Result<&Done<'a>, Next> {
        match self.done.get(self.at) {
            Some(done) => {
                self.at += 1;
                Ok(done)
            }
            None => Err(next),
        }
    }

    /// Like `take`, for a command line, which may have failed.
    pub(super) fn try_run(&mut self, command: &str) -> Result<&Done<'a>, Next> {
        self.take(bash(command))
    }

    /// Like `try_run`, but returns the output of the command, which must have succeeded.
    pub(super) fn run(&mut self, command: &str) -> Result<&'a str, Next> {
        let done = self.try_run(command)?;
        assert!(!done.failed, "`{command}` failed: {}", done.result);
        Ok(done.result)
    }

    /// Asks `questions` together, and returns the answers.
    pub(super) fn ask(&mut self, questions: &[Question]) -> Result<Vec<String>, Next> {
        assert!(self.offers("AskUserQuestion"), "the user can be asked");
        let asked: Vec<_> = questions.iter().map(Question::json).collect();
        let done = self.take(call("AskUserQuestion", json!({ "questions": asked })))?;
        let answer = |question: &Question| {
            answer_in(done.result, question.text)
                .unwrap_or_else(|| panic!("no answer to {:?} in {}", question.text, done.result))
        };
        Ok(questions.iter().map(answer).collect())
    }

    /// Asks the single question `asked`, and returns the answer and the messages that the lead got along with it.
    pub(super) fn ask_as_printed(&mut self, asked: &Value) -> Result<(String, String), Next> {
        let done = self.take(call("AskUserQuestion", json!({ "questions": [asked] })))?;
        let (since, result) = (done.position, done.result);
        let question = asked["question"].as_str().expect("it is a text");
        let answer = answer_in(result, question)
            .unwrap_or_else(|| panic!("no answer to {question:?} in {result}"));
        Ok((answer, self.heard_since(since).join("\n")))
    }

    /// The messages that the lead got between the call at `since` and the next call.
    fn heard_since(&self, since: usize) -> Vec<&'a str> {
        let entries = self.request.entries();
        let until = self
            .done
            .get(self.at)
            .map_or(entries.len(), |next| next.position);
        let heard = entries[since..until]
            .iter()
            .filter_map(|entry| match entry {
                Entry::Heard(text) => Some(text.as_str()),
                _ => None,
            });
        heard.collect()
    }

    /// Starts agents in one message, and returns their reports; `Err` while one of them is still running.
    pub(super) fn agents(&mut self, calls: Vec<Value>) -> Result<String, Next> {
        assert!(self.offers("Agent"), "the lead may start agents");
        let blocks: Next = calls
            .iter()
            .flat_map(|input| call("Agent", input.clone()))
            .collect();
        let first = self.at;
        for _ in &calls {
            self.take(blocks.clone())?;
        }
        let since = self.done[first].position;
        for (input, done) in calls.iter().zip(&self.done[first..]) {
            // The client may start an agent in the background although it was asked not to.
            let launched = done.result.contains("launched successfully");
            let ended = heard_of(&self.request.entries()[since..])
                .iter()
                .any(|name| input["description"] == **name);
            if launched && !ended {
                return Err(text(format!("Waiting for {}.", input["description"])));
            }
        }
        let reports = self.done[first..self.at].iter().map(|done| done.result);
        let reports: Vec<_> = reports.chain(self.heard_since(since)).collect();
        Ok(reports.join("\n"))
    }
}

/// A question to the user; the first option is the recommended one.
pub(super) struct Question {
    pub(super) text: &'static str,
    pub(super) header: &'static str,
    pub(super) options: &'static [&'static str],
}

impl Question {
    fn json(&self) -> Value {
        let option =
            |label: &&str| json!({ "label": label, "description": format!("That is: {label}") });
        let options: Vec<_> = self.options.iter().map(option).collect();
        json!({ "question": self.text, "header": self.header, "options": options, "multiSelect": false })
    }
}
