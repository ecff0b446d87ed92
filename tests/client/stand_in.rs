//! The Messages API and the Responses API on loopback, with a script in the model's place.
//!
//! The stand-in answers with streamed server-sent events, as the real services do, and keeps every request so that
//! tests can assert on what the client actually sent. If a test fails, the requests are left in a file under `target/`.
//! The stand-in can also fail the way a real service does: see [`Fault`].

use std::any::Any;
use std::io::{Cursor, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tiny_http::{Header, Method, Response, Server};

use crate::client_binary::target_directory;
use crate::request::{Block, Entry, Request, Speaker, text};
use crate::{responses, wait};

/// Decides what the model answers. Requests from several agents arrive at once, so a script must not keep a count of
/// its own: everything it needs to know is in the request.
pub(crate) type Script = dyn Fn(&Request) -> Vec<Block> + Send + Sync;

/// Decides whether an answer counts as filling the model's window.
type IsFull = dyn Fn(&Request) -> bool + Send + Sync;

/// How an answer fails.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// A refusal with this status, such as 401, 429 or 529.
    Status(u16),
    /// Cut off after this many bytes.
    Cut(usize),
    /// Never arrives: delayed longer than any test waits.
    Hang,
}

/// A fault scheduled for the next answers.
struct Due {
    fault: Fault,
    times: usize,
    concerns: Box<dyn Fn(&Request) -> bool + Send>,
}

/// The API that a request belongs to.
#[derive(Clone, Copy)]
enum Api {
    /// Anthropic's, which Claude Code speaks.
    Messages,
    /// OpenAI's, which Codex speaks.
    Responses,
}

/// A token count that leaves no room in the model's window.
const WINDOW: u32 = 2_000_000;

/// A running stand-in; it stops when dropped.
pub(crate) struct StandIn {
    server: Arc<Server>,
    model: Arc<Model>,
    listener: Option<JoinHandle<()>>,
}

/// An agent that a reply of the script has started.
struct Started {
    name: String,
    kind: String,
    prompt: String,
}

struct Model {
    script: Box<Script>,
    is_full: OnceLock<Box<IsFull>>,
    requests: Mutex<Vec<Arc<Request>>>,
    started: Mutex<Vec<Started>>,
    broken: Mutex<Option<String>>,
    faults: Mutex<Vec<Due>>,
}

impl StandIn {
    /// Starts on a free loopback port.
    pub(crate) fn start(script: impl Fn(&Request) -> Vec<Block> + Send + Sync + 'static) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").expect("loopback has a free port"));
        let model = Arc::new(Model {
            script: Box::new(script),
            is_full: OnceLock::new(),
            requests: Mutex::default(),
            started: Mutex::default(),
            broken: Mutex::default(),
            faults: Mutex::default(),
        });
        let (listening, answering) = (Arc::clone(&server), Arc::clone(&model));
        let listener = std::thread::spawn(move || {
            while let Ok(request) = listening.recv() {
                let model = Arc::clone(&answering);
                // A script may block, which must not hold up the other agents.
                std::thread::spawn(move || model.serve(request));
            }
        });
        Self {
            server,
            model,
            listener: Some(listener),
        }
    }

    /// Makes the answer to each request for which `is_full` holds report a full model window, so that the client
    /// compacts the conversation.
    pub(crate) fn filling_the_window_at(
        self,
        is_full: impl Fn(&Request) -> bool + Send + Sync + 'static,
    ) -> Self {
        let set = self.model.is_full.set(Box::new(is_full));
        assert!(set.is_ok(), "it is said once");
        self
    }

    /// Answers the next `times` requests for which `concerns` holds with `fault`. Can be called repeatedly, even while
    /// agents run; faults are used up in the order of the calls.
    pub(crate) fn fail(
        &self,
        times: usize,
        fault: Fault,
        concerns: impl Fn(&Request) -> bool + Send + 'static,
    ) {
        lock(&self.model.faults).push(Due {
            fault,
            times,
            concerns: Box::new(concerns),
        });
    }

    /// The value for `ANTHROPIC_BASE_URL`; Codex needs `/v1` appended.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }

    /// Every request so far, in order of arrival.
    pub(crate) fn requests(&self) -> Vec<Arc<Request>> {
        lock(&self.model.requests).clone()
    }

    /// The lead's requests so far.
    pub(crate) fn of_lead(&self) -> Vec<Arc<Request>> {
        self.filtered(|speaker| *speaker == Speaker::Lead)
    }

    /// The requests so far of the agent called `name`.
    pub(crate) fn of_agent(&self, name: &str) -> Vec<Arc<Request>> {
        self.filtered(|speaker| speaker.is(name))
    }

    fn filtered(&self, wanted: impl Fn(&Speaker) -> bool) -> Vec<Arc<Request>> {
        self.requests()
            .into_iter()
            .filter(|request| wanted(&request.speaker))
            .collect()
    }

    /// The panic message, if the script panicked: the client only mentions a model's failure in passing.
    pub(crate) fn broken(&self) -> Option<String> {
        lock(&self.model.broken).clone()
    }

    /// The last requests, for the message of a failed test.
    pub(crate) fn summary(&self) -> String {
        const SHOWN: usize = 6;
        let requests = self.requests();
        let last: Vec<_> = requests
            .iter()
            .rev()
            .take(SHOWN)
            .rev()
            .map(|request| request.summary())
            .collect();
        let broken = self
            .broken()
            .map(|reason| format!("the script panicked: {reason}\n"));
        format!(
            "{}last of {} requests:\n{}",
            broken.unwrap_or_default(),
            requests.len(),
            last.join("\n")
        )
    }

    fn dump(&self) -> std::io::Result<PathBuf> {
        let directory = target_directory().join("client-failures");
        std::fs::create_dir_all(&directory)?;
        let port = self
            .server
            .server_addr()
            .to_ip()
            .map_or(0, |address| address.port());
        let path = directory.join(format!("{}-{port}.jsonl", std::process::id()));
        let requests = self.requests();
        let lines = requests.iter().map(|request| {
            let speaker = format!("{:?}", request.speaker);
            format!(
                "{}\n",
                json!({ "number": request.number, "speaker": speaker, "body": request.body })
            )
        });
        std::fs::write(&path, lines.collect::<String>())?;
        Ok(path)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
        if std::thread::panicking()
            && let Ok(path) = self.dump()
        {
            drop(writeln!(
                std::io::stderr(),
                "all requests: {}",
                path.display()
            ));
        }
    }
}

impl Model {
    fn serve(&self, mut request: tiny_http::Request) {
        let mut body = String::new();
        let read = request.as_reader().read_to_string(&mut body);
        let path = request
            .url()
            .split('?')
            .next()
            .unwrap_or_default()
            .to_owned();
        let posted = *request.method() == Method::Post;
        let sent = match (posted, path.as_str()) {
            (true, "/v1/messages") if read.is_ok() => self.answer(&body, Api::Messages, request),
            (true, "/v1/responses") if read.is_ok() => self.answer(&body, Api::Responses, request),
            (true, "/v1/messages/count_tokens") => {
                request.respond(json_response(200, &json!({ "input_tokens": 10 })))
            }
            _ => request.respond(Response::empty(404)),
        };
        // Some tests kill a client in the middle of an answer, so sending may fail.
        drop(sent);
    }

    fn answer(&self, body: &str, api: Api, request: tiny_http::Request) -> std::io::Result<()> {
        let Ok(body) = serde_json::from_str::<Value>(body) else {
            return request.respond(json_response(400, &error("the body is no JSON")));
        };
        let streaming = body["stream"] == true;
        let asked = self.record(match api {
            Api::Messages => body,
            Api::Responses => responses::as_messages(&body),
        });
        let fault = self.fault_of(&asked);
        if let Some(Fault::Status(status)) = fault {
            return request.respond(json_response(
                status,
                &error("the service fails as it was told to"),
            ));
        }
        if let Some(Fault::Hang) = fault {
            std::thread::sleep(2 * wait::LIMIT);
        }
        let blocks = match catch_unwind(AssertUnwindSafe(|| (self.script)(&asked))) {
            Ok(blocks) => self.remember_agents(blocks),
            Err(panic) => {
                let reason = panic_message(panic.as_ref());
                lock(&self.broken).get_or_insert(reason.clone());
                return request.respond(json_response(400, &error(&reason)));
            }
        };
        let full = self.is_full.get().is_some_and(|is_full| is_full(&asked));
        let message = message(&asked, &blocks, if full { WINDOW } else { 10 });
        if !streaming {
            return request.respond(json_response(200, &message));
        }
        let events = match api {
            Api::Messages => server_sent_events(&message),
            Api::Responses => responses::server_sent_events(&message),
        };
        if let Some(Fault::Cut(length)) = fault {
            return cut(request, &events.as_bytes()[..length.min(events.len())]);
        }
        let kind = header("content-type", "text/event-stream");
        let events = Cursor::new(events.into_bytes());
        request.respond(Response::new(200.into(), vec![kind], events, None, None))
    }

    fn fault_of(&self, asked: &Request) -> Option<Fault> {
        let mut faults = lock(&self.faults);
        let due = faults
            .iter_mut()
            .find(|due| due.times > 0 && (due.concerns)(asked))?;
        due.times -= 1;
        Some(due.fault)
    }

    fn record(&self, body: Value) -> Arc<Request> {
        let mut requests = lock(&self.requests);
        let request = Request::new(requests.len() + 1, body, |request| self.speaker(request));
        requests.push(Arc::new(request));
        Arc::clone(requests.last().expect("it was pushed just now"))
    }

    /// Determines who sent `request`. An agent's first message is the prompt it was started with: verbatim for a
    /// subagent, wrapped in a message from the lead for a teammate.
    fn speaker(&self, request: &Request) -> Speaker {
        let opened_with = |prompt: &str| {
            let wrapped = format!("\n{}\n</teammate-message>", prompt.trim());
            request.opening().iter().any(|entry| {
                matches!(entry, Entry::Heard(text) if text.trim() == prompt.trim() || text.contains(&wrapped))
            })
        };
        let started = lock(&self.started);
        match started
            .iter()
            .rev()
            .find(|agent| opened_with(&agent.prompt))
        {
            Some(agent) => Speaker::Agent {
                name: agent.name.clone(),
                kind: agent.kind.clone(),
            },
            None => request.process().unwrap_or(Speaker::Lead),
        }
    }

    fn remember_agents(&self, blocks: Vec<Block>) -> Vec<Block> {
        let blocks = if blocks.is_empty() {
            text("ok")
        } else {
            blocks
        };
        for block in &blocks {
            if let Block::Call { tool, input } = block
                && tool == "Agent"
            {
                let string = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
                let name = if input["name"].is_string() {
                    "name"
                } else {
                    "description"
                };
                let agent = Started {
                    name: string(name),
                    kind: string("subagent_type"),
                    prompt: string("prompt"),
                };
                lock(&self.started).push(agent);
            }
        }
        blocks
    }
}

/// A panic elsewhere in the test doesn't corrupt the recorded data, so poisoning is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
        .to_owned()
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("headers here are plain ASCII")
}

fn json_response(status: u16, body: &Value) -> Response<Cursor<Vec<u8>>> {
    Response::from_string(body.to_string())
        .with_status_code(status)
        .with_header(header("content-type", "application/json"))
}

/// Sends the beginning of an answer, then something that isn't HTTP, which a client takes for a lost connection.
fn cut(request: tiny_http::Request, sent: &[u8]) -> std::io::Result<()> {
    let mut writer = request.into_writer();
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    write!(writer, "{head}{:x}\r\n", sent.len())?;
    writer.write_all(sent)?;
    writer.write_all(b"\r\nthe connection is lost\r\n")?;
    writer.flush()
}

fn error(reason: &str) -> Value {
    json!({ "type": "error", "error": { "type": "invalid_request_error", "message": reason } })
}

fn message(asked: &Request, blocks: &[Block], tokens: u32) -> Value {
    let (number, model) = (asked.number, &asked.body["model"]);
    let content = blocks.iter().enumerate().map(|(index, block)| match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Call { tool, input } => {
            json!({ "type": "tool_use", "id": format!("toolu_{number}_{index}"), "name": tool, "input": input })
        }
    });
    let content: Vec<_> = content.collect();
    let calls = blocks
        .iter()
        .any(|block| matches!(block, Block::Call { .. }));
    json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": if calls { "tool_use" } else { "end_turn" }, "stop_sequence": null,
        "usage": { "input_tokens": tokens, "output_tokens": 5 },
    })
}

fn server_sent_events(message: &Value) -> String {
    let mut opening = message.clone();
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    let mut events = vec![json!({ "type": "message_start", "message": opening })];
    for (index, block) in message["content"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        events.extend(block_events(index, block));
    }
    let delta = json!({ "stop_reason": message["stop_reason"], "stop_sequence": null });
    events
        .push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 5 } }));
    events.push(json!({ "type": "message_stop" }));
    let lines = events.iter().map(|event| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap_or_default()
        )
    });
    lines.collect()
}

fn block_events(index: usize, block: &Value) -> [Value; 3] {
    let (mut start, delta) = (
        block.clone(),
        match block["type"] == "text" {
            true => json!({ "type": "text_delta", "text": block["text"] }),
            false => {
                json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
            }
        },
    );
    match block["type"] == "text" {
        true => start["text"] = json!(""),
        false => start["input"] = json!({}),
    }
    [
        json!({ "type": "content_block_start", "index": index, "content_block": start }),
        json!({ "type": "content_block_delta", "index": index, "delta": delta }),
        json!({ "type": "content_block_stop", "index": index }),
    ]
}
