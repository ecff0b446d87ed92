//! A headless session: its events, and the user who answers over stream-json.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::process::{Mark, send_signal};
use crate::request::shortened;
use crate::stand_in::StandIn;
use crate::wait;

/// A running headless session. Dropping it kills it and everything it started.
pub(crate) struct Headless<'a> {
    stand_in: &'a StandIn,
    shared: Arc<Shared>,
    child: Child,
    readers: Vec<JoinHandle<()>>,
    mark: Mark,
}

#[derive(Default)]
struct Shared {
    input: Mutex<Option<ChildStdin>>,
    events: Mutex<Vec<Value>>,
    prompts: Mutex<Vec<Prompt>>,
    choices: Mutex<Vec<String>>,
    once: Mutex<Vec<String>>,
    refuses: AtomicBool,
    errors: Mutex<String>,
}

/// A question or a permission prompt from the client to its user.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    /// The tool that needs permission, or `AskUserQuestion`.
    pub(crate) tool: String,
    /// The tool's input.
    pub(crate) input: Value,
}

/// A session that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Every event on standard output.
    pub(crate) events: Vec<Value>,
    /// The questions and permission prompts that the user got, in order.
    pub(crate) prompts: Vec<Prompt>,
}

impl<'a> Headless<'a> {
    /// Starts `command`, whose standard input must already be configured.
    pub(crate) fn start(stand_in: &'a StandIn, mut command: Command, mark: Mark) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the client can be started");
        let shared = Arc::new(Shared {
            input: Mutex::new(child.stdin.take()),
            ..Shared::default()
        });
        let output = child.stdout.take().expect("standard output is piped");
        let mut errors = child.stderr.take().expect("standard error is piped");
        let (events, complaints) = (Arc::clone(&shared), Arc::clone(&shared));
        let readers = vec![
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    events.handle(&line);
                }
            }),
            std::thread::spawn(move || {
                let mut text = String::new();
                drop(errors.read_to_string(&mut text));
                *lock(&complaints.errors) = text;
            }),
        ];
        Self {
            stand_in,
            shared,
            child,
            readers,
            mark,
        }
    }

    /// Makes the user choose `label` the next time a question offers it, even before a label of [`Self::choosing`].
    /// Each call counts for one choice.
    pub(crate) fn choosing_once(self, label: &str) -> Self {
        lock(&self.shared.once).push(label.to_owned());
        self
    }

    /// Makes the user choose one of `labels` whenever a question offers it, instead of the first option.
    pub(crate) fn choosing(self, labels: &[&str]) -> Self {
        *lock(&self.shared.choices) = labels.iter().map(|label| (*label).to_owned()).collect();
        self
    }

    /// Makes the user answer questions but refuse every permission.
    pub(crate) fn refusing(self) -> Self {
        self.shared.refuses.store(true, Ordering::SeqCst);
        self
    }

    /// Sends a prompt as the user.
    pub(crate) fn say(&self, prompt: &str) {
        let message = json!({ "role": "user", "content": prompt });
        self.shared
            .send(&json!({ "type": "user", "message": message }));
    }

    /// Waits until the lead has ended a turn with a message that contains `needle`.
    pub(crate) fn wait_for_result(&self, needle: &str) {
        self.wait_for_any_result(&[needle]);
    }

    /// Like `wait_for_result`, but with any one of several needles.
    pub(crate) fn wait_for_any_result(&self, needles: &[&str]) {
        let matches = |text: &str| needles.iter().any(|needle| text.contains(needle));
        self.wait_until(&format!("a result with one of {needles:?}"), || {
            let events = lock(&self.shared.events);
            let mut results = events.iter().filter(|event| event["type"] == "result");
            results.any(|event| event["result"].as_str().is_some_and(matches))
        });
    }

    /// Waits until `condition` holds.
    ///
    /// # Panics
    ///
    /// If it doesn't hold within [`wait::LIMIT`], or the script has panicked; the message shows what was going on.
    pub(crate) fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        let met = wait::poll(wait::LIMIT, || {
            let broken = self.stand_in.broken().is_some();
            (broken || condition()).then_some(!broken)
        });
        assert!(
            met == Some(true),
            "waited in vain for {what}\n{}",
            self.story()
        );
    }

    /// Closes the input, so that no more prompts can come, and waits for the session to end; background agents may
    /// delay that.
    pub(crate) fn end(self) -> Ended {
        self.ending(true, || ())
    }

    /// Like `end`, but for a client whose exit status reports a failure.
    pub(crate) fn fail(self) -> Ended {
        self.ending(false, || ())
    }

    /// Sends `signal` to the client alone and waits for it to end; then calls `looks` to inspect anything left running,
    /// before that is killed.
    pub(crate) fn signal(self, signal: &str, looks: impl FnOnce()) -> Ended {
        assert!(send_signal(signal, self.child.id()), "it runs");
        self.ending(false, looks)
    }

    fn ending(mut self, well: bool, looks: impl FnOnce()) -> Ended {
        drop(lock(&self.shared.input).take());
        let status = wait::poll(wait::LIMIT, || {
            self.child.try_wait().expect("a child can be waited for")
        });
        let Some(status) = status else {
            panic!("the session did not end\n{}", self.story())
        };
        looks();
        // Anything that the client left running would keep the client's output open.
        self.mark.kill();
        self.readers
            .drain(..)
            .for_each(|reader| drop(reader.join()));
        assert_eq!(
            status.success(),
            well,
            "the client ended with {status}\n{}",
            self.story()
        );
        assert!(self.stand_in.broken().is_none(), "{}", self.story());
        let (events, prompts) = (
            lock(&self.shared.events).clone(),
            lock(&self.shared.prompts).clone(),
        );
        Ended { events, prompts }
    }

    /// Kills the client and everything it started, as a power cut would.
    pub(crate) fn kill(self) {
        drop(self);
    }

    fn story(&self) -> String {
        const SHOWN: usize = 5;
        let events = lock(&self.shared.events);
        let last = events
            .iter()
            .rev()
            .take(SHOWN)
            .rev()
            .map(|event| shortened(&event.to_string()));
        let last: Vec<_> = last.collect();
        let (events, errors) = (last.join("\n"), lock(&self.shared.errors));
        format!(
            "{}\nlast events:\n{events}\nstandard error:\n{errors}",
            self.stand_in.summary()
        )
    }
}

impl Drop for Headless<'_> {
    fn drop(&mut self) {
        self.mark.kill();
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Ended {
    /// The lead's last message.
    pub(crate) fn result(&self) -> &str {
        let last = self.events.iter().rfind(|event| event["type"] == "result");
        last.and_then(|event| event["result"].as_str())
            .unwrap_or_default()
    }

    /// The permissions that the client has asked for: all prompts but the questions.
    pub(crate) fn permission_prompts(&self) -> Vec<&Prompt> {
        self.prompts
            .iter()
            .filter(|prompt| prompt.tool != "AskUserQuestion")
            .collect()
    }
}

impl Shared {
    fn handle(&self, line: &str) {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            return;
        };
        if event["type"] == "control_request" {
            self.answer(&event);
        }
        lock(&self.events).push(event);
    }

    fn answer(&self, event: &Value) {
        let request = &event["request"];
        let tool = request["tool_name"].as_str().unwrap_or_default().to_owned();
        let mut input = request["input"].clone();
        lock(&self.prompts).push(Prompt {
            tool: tool.clone(),
            input: input.clone(),
        });
        if tool == "AskUserQuestion" {
            input["answers"] = self.choose(&input["questions"]);
        }
        let decision = match tool != "AskUserQuestion" && self.refuses.load(Ordering::SeqCst) {
            true => json!({ "behavior": "deny", "message": "Not that." }),
            false => json!({ "behavior": "allow", "updatedInput": input }),
        };
        let response = json!({ "subtype": "success", "request_id": event["request_id"], "response": decision });
        self.send(&json!({ "type": "control_response", "response": response }));
    }

    fn choose(&self, questions: &Value) -> Value {
        let choices = lock(&self.choices);
        let answers = questions.as_array().into_iter().flatten().map(|question| {
            let options = question["options"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            let labels: Vec<_> = options
                .iter()
                .filter_map(|option| option["label"].as_str())
                .collect();
            let mut once = lock(&self.once);
            let now = labels
                .iter()
                .find_map(|label| once.iter().position(|choice| choice == label));
            let now = now.map(|at| once.remove(at));
            let chosen = labels
                .iter()
                .find(|label| choices.iter().any(|choice| choice == *label));
            let chosen = chosen.or(labels.first()).map(|label| (*label).to_owned());
            let chosen = now.or(chosen).unwrap_or_default();
            (
                question["question"].as_str().unwrap_or_default().to_owned(),
                json!(chosen),
            )
        });
        Value::Object(answers.collect())
    }

    fn send(&self, message: &Value) {
        if let Some(input) = lock(&self.input).as_mut() {
            // If the client has ended, the code that waits for it will notice.
            drop(writeln!(input, "{message}").and_then(|()| input.flush()));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
