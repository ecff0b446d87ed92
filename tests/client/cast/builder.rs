//! A builder: claims, writes the content that the test specifies for the task, runs the printed commands, submits.

use std::path::Path;

use serde_json::json;

use super::{Done, calls, command_line, quoted, quoted_command};
use crate::request::{Block, Entry, Request, bash, call, text};

/// The builder's message when it stops in the middle of a task.
const STOPPING: &str = "I stop here for now.";

/// The behaviour that all builders share.
#[derive(Default)]
pub(crate) struct Builder {
    edits: Vec<Edit>,
    attempts: Vec<Edit>,
    stops: Vec<String>,
    clarifies: Vec<(String, String)>,
}

struct Edit {
    task: String,
    /// The first iteration that makes this edit.
    from: u32,
    path: String,
    content: String,
}

/// A task as described in its payload.
struct Assignment<'a> {
    task: &'a str,
    iteration: u32,
    /// The worktree to work in, unless it is the working directory.
    place: Option<&'a Path>,
    commands: Vec<&'a str>,
    submit: &'a str,
    /// The command that asks the user a question.
    clarify: Option<&'a str>,
    /// True if the user has answered the question.
    answered: bool,
}

impl Builder {
    /// Makes the builder of `task` write `content` to the file at `path`.
    pub(crate) fn writing(self, task: &str, path: &str, content: &str) -> Self {
        self.writing_from(1, task, path, content)
    }

    /// Like `writing`, but from iteration `from` on; earlier iterations keep the content given for them. Repeating a
    /// call replaces the earlier content.
    pub(crate) fn writing_from(mut self, from: u32, task: &str, path: &str, content: &str) -> Self {
        let [task, path, content] = [task, path, content].map(str::to_owned);
        self.edits
            .retain(|edit| (&edit.task, edit.from, &edit.path) != (&task, from, &path));
        self.edits.push(Edit {
            task,
            from,
            path,
            content,
        });
        self
    }

    /// Makes the builder of `task` first try to write `content` to the file at `path`, and continue whatever the
    /// outcome.
    pub(crate) fn trying(mut self, task: &str, path: &str, content: &str) -> Self {
        let [task, path, content] = [task, path, content].map(str::to_owned);
        self.attempts.push(Edit {
            task,
            from: 1,
            path,
            content,
        });
        self
    }

    /// Makes the builder of `task` stop in the middle, and continue when nudged.
    pub(crate) fn stopping_at(mut self, task: &str) -> Self {
        self.stops.push(task.to_owned());
        self
    }

    /// Makes the builder of `task` ask the user `question` before it begins.
    pub(crate) fn clarifying(mut self, task: &str, question: &str) -> Self {
        self.clarifies.push((task.to_owned(), question.to_owned()));
        self
    }

    /// The builder's next message or tool call.
    pub(crate) fn reply(&self, request: &Request) -> Vec<Block> {
        let done = calls(request);
        let claims: Vec<_> = done
            .iter()
            .filter(|call| call.command().starts_with("fp claim"))
            .collect();
        let told = latest_instruction(request, claims.last().map_or(0, |claim| claim.position));
        let Some(claim) = claims.last().filter(|_| told.is_none()) else {
            return bash(told.expect("a builder is told what to claim"));
        };
        if claim.failed {
            return text(format!("I have nothing to do: {}", claim.result));
        }
        if claim.result.starts_with("The answer to your question") {
            return bash(claim.command());
        }
        let assignment = assignment(claim.result);
        let again = claims
            .iter()
            .filter(|earlier| is_same(earlier.result, &assignment))
            .count()
            > 1;
        let stops = self.stops.iter().any(|task| task == assignment.task) && !again;
        let since: Vec<_> = done
            .iter()
            .filter(|call| call.position > claim.position)
            .collect();
        self.work(request, &assignment, &since, stops)
    }

    fn work(
        &self,
        request: &Request,
        assignment: &Assignment<'_>,
        since: &[&Done<'_>],
        stops: bool,
    ) -> Vec<Block> {
        let edits = self.edits_of(assignment);
        assert!(
            !edits.is_empty(),
            "no edits were given for task {}",
            assignment.task
        );
        let attempts = self
            .attempts
            .iter()
            .filter(|attempt| attempt.task == assignment.task);
        let attempts =
            attempts.map(|attempt| (Path::new(attempt.path.as_str()), attempt.content.as_str()));
        let of_task = |(task, _): &&(String, String)| task == assignment.task;
        let mut steps: Vec<Vec<Block>> = Vec::new();
        if let Some((_, question)) = self
            .clarifies
            .iter()
            .find(of_task)
            .filter(|_| !assignment.answered)
        {
            let ask = assignment.clarify.expect("the payload says how to ask");
            let (line, _) = ask
                .split_once(" --question")
                .expect("the line has a question");
            let options = "--option 'Loud|In capitals' --option 'Quiet|In small letters'";
            steps.push(bash(format!(
                "{line} --question {} {options}",
                quoted(question)
            )));
            steps.push(text(STOPPING));
        }
        for (path, content) in attempts.chain(edits) {
            let path = assignment
                .place
                .unwrap_or_else(|| working_directory(request))
                .join(path);
            // The client refuses to overwrite a file that hasn't been read.
            steps.push(call("Read", json!({ "file_path": path })));
            steps.push(call(
                "Write",
                json!({ "file_path": path, "content": content }),
            ));
        }
        if stops {
            steps.push(text(STOPPING));
        }
        steps.extend(
            assignment
                .commands
                .iter()
                .map(|command| match assignment.place {
                    Some(place) => bash(format!("cd {} && {command}", place.display())),
                    None => bash(*command),
                }),
        );
        steps.push(bash(assignment.submit));
        let submitted = since
            .last()
            .is_some_and(|call| call.command() == assignment.submit);
        if submitted {
            let failed = since.last().is_some_and(|call| call.failed);
            return text(if failed {
                "It was not taken."
            } else {
                "Submitted."
            });
        }
        steps
            .into_iter()
            .nth(since.len())
            .unwrap_or_else(|| text(STOPPING))
    }

    fn edits_of(&self, assignment: &Assignment<'_>) -> Vec<(&Path, &str)> {
        let due = |edit: &&Edit| edit.task == assignment.task && edit.from <= assignment.iteration;
        let latest = |edit: &Edit| {
            let same = self
                .edits
                .iter()
                .filter(due)
                .filter(|other| other.path == edit.path);
            same.map(|other| other.from).max() == Some(edit.from)
        };
        let edits = self.edits.iter().filter(due).filter(|edit| latest(edit));
        edits
            .map(|edit| (Path::new(edit.path.as_str()), edit.content.as_str()))
            .collect()
    }
}

/// The claim command in the latest prompt or message after `position`.
fn latest_instruction(request: &Request, position: usize) -> Option<&str> {
    let heard = request.entries()[position..]
        .iter()
        .rev()
        .filter_map(|entry| match entry {
            Entry::Heard(text) => Some(text.as_str()),
            _ => None,
        });
    // The role's page, which may be in the prompt, contains only the command's name.
    heard
        .filter_map(|text| quoted_command(text, "fp claim "))
        .next()
}

fn is_same(payload: &str, assignment: &Assignment<'_>) -> bool {
    payload.contains("## TASK") && {
        let other = self::assignment(payload);
        (other.task, other.iteration) == (assignment.task, assignment.iteration)
    }
}

/// Parses a payload: its task and iteration, the commands under VERIFICATION, and the line that submits the task.
fn assignment(payload: &str) -> Assignment<'_> {
    let title = payload
        .split_once("(task ")
        .and_then(|(_, rest)| rest.split_once(')'));
    let place = title.and_then(|(place, _)| place.split_once(", iteration "));
    let (task, iteration) =
        place.unwrap_or_else(|| panic!("a payload names task and iteration: {payload}"));
    let place = payload
        .split_once("- Work in ")
        .and_then(|(_, rest)| rest.split_once(", your own checkout"));
    Assignment {
        task,
        place: place.map(|(place, _)| Path::new(place)),
        iteration: iteration.parse().expect("an iteration is a number"),
        commands: payload
            .lines()
            .filter_map(|line| line.strip_prefix("- Run: "))
            .collect(),
        submit: command_line(payload, "fp submit").expect("a payload says how to submit"),
        clarify: quoted_command(payload, "fp clarify"),
        answered: payload.contains("- You asked: "),
    }
}

/// The session's working directory, as stated by the client.
fn working_directory(request: &Request) -> &Path {
    let named = request.entries().iter().find_map(|entry| match entry {
        Entry::Heard(text) => {
            let rest = text
                .split_once("Primary working directory: ")
                .or_else(|| text.split_once("<cwd>"))?
                .1;
            rest.split(['\n', '<']).next()
        }
        _ => None,
    });
    Path::new(named.expect("the client tells every agent the working directory"))
}
