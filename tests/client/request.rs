//! Requests from the client to the model, and the replies of a script.

use serde_json::{Value, json};

/// A piece of a reply.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    /// Text. A reply that is only text ends the turn.
    Text(String),
    /// A tool call.
    Call { tool: String, input: Value },
}

/// A text-only reply.
pub(crate) fn text(words: impl Into<String>) -> Vec<Block> {
    vec![Block::Text(words.into())]
}

/// A reply with one tool call.
pub(crate) fn call(tool: &str, input: Value) -> Vec<Block> {
    vec![Block::Call {
        tool: tool.to_owned(),
        input,
    }]
}

/// A reply that runs one command line.
pub(crate) fn bash(command: impl Into<String>) -> Vec<Block> {
    call(
        "Bash",
        json!({ "command": command.into(), "description": "A step of the script" }),
    )
}

/// The party that a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The session that the user talks to.
    Lead,
    /// An agent that was started by an `Agent` call or runs as its own process.
    Agent {
        /// The call's `name`, or its `description` if it has none; for a process, the name it was given in its prompt.
        name: String,
        /// The call's `subagent_type`, such as `fp:builder`.
        kind: String,
    },
    /// The client itself, in a side request without tools, such as for a title or a summary.
    Client,
}

impl Speaker {
    /// True if the speaker is the agent called `name`.
    pub(crate) fn is(&self, name: &str) -> bool {
        matches!(self, Self::Agent { name: theirs, .. } if theirs == name)
    }
}

/// One entry in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// Text sent to the model: a prompt, a notification, a reminder.
    Heard(String),
    /// Text from the model.
    Said(String),
    /// A tool call of the model.
    Called {
        id: String,
        tool: String,
        input: Value,
    },
    /// The result of the call with the same id.
    Returned {
        id: String,
        text: String,
        failed: bool,
    },
}

impl Entry {
    fn is_of_model(&self) -> bool {
        matches!(self, Self::Said(_) | Self::Called { .. })
    }

    /// True for the texts that the client sends every agent at the start.
    fn is_routine(&self) -> bool {
        const OPENINGS: [&str; 3] = [
            "<system-reminder>\nAs you answer",
            "<system-reminder>\nAttribution",
            "# Environment",
        ];
        matches!(self, Self::Heard(text) if OPENINGS.iter().any(|opening| text.starts_with(opening)))
    }
}

/// A request of the Messages API, as the client sent it.
#[derive(Debug)]
pub(crate) struct Request {
    /// The request's number, from 1, in order of arrival.
    pub(crate) number: usize,
    /// The party that the request comes from.
    pub(crate) speaker: Speaker,
    /// The whole body.
    pub(crate) body: Value,
    entries: Vec<Entry>,
}

impl Request {
    /// Parses `body`. If it offers tools, `speaker` determines whose request it is; otherwise it is the client's own.
    pub(crate) fn new(number: usize, body: Value, speaker: impl FnOnce(&Self) -> Speaker) -> Self {
        let entries = entries(&body);
        let mut request = Self {
            number,
            speaker: Speaker::Client,
            body,
            entries,
        };
        if !request.tools().is_empty() {
            request.speaker = speaker(&request);
        }
        request
    }

    /// The conversation so far.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of turns that the model has had.
    pub(crate) fn turns(&self) -> usize {
        let messages = self.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        messages
            .iter()
            .filter(|message| message["role"] == "assistant")
            .count()
    }

    /// The tools offered, by name; deferred ones are not among them until `ToolSearch` has loaded them.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect()
    }

    /// True if `tool` is offered.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.tools().contains(&tool)
    }

    /// The system prompt, without the system messages within the conversation.
    pub(crate) fn system_prompt(&self) -> String {
        words(&self.body["system"])
    }

    /// The entries before the model first spoke.
    pub(crate) fn opening(&self) -> &[Entry] {
        let end = self
            .entries
            .iter()
            .position(Entry::is_of_model)
            .unwrap_or(self.entries.len());
        &self.entries[..end]
    }

    /// The agent that speaks, if it runs as its own process: in that case, the system prompt or the opening messages
    /// contain the page of the agent's role and say who the agent is.
    pub(crate) fn process(&self) -> Option<Speaker> {
        let heard = self.opening().iter().filter_map(|entry| match entry {
            Entry::Heard(text) => Some(text.clone()),
            _ => None,
        });
        let told: Vec<_> = std::iter::once(self.system_prompt()).chain(heard).collect();
        let is_role = |page: &str| told.iter().any(|text| text.contains(page));
        let role = match (is_role("# Builder\n"), is_role("# Verifier\n")) {
            (true, _) => "builder",
            (_, true) => "verifier",
            _ => return None,
        };
        let greeting = format!("You are {role}-");
        let number = told
            .iter()
            .find_map(|text| Some(text.split_once(&greeting)?.1))?;
        let end = number
            .find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '-')
            .unwrap_or(number.len());
        Some(Speaker::Agent {
            name: format!("{role}-{}", &number[..end]),
            kind: format!("fp:{role}"),
        })
    }

    /// The entries since the model last spoke: tool results, notifications, messages.
    pub(crate) fn news(&self) -> &[Entry] {
        let start = self
            .entries
            .iter()
            .rposition(Entry::is_of_model)
            .map_or(0, |last| last + 1);
        &self.entries[start..]
    }

    /// The text of the tool results in [`Request::news`].
    pub(crate) fn last_result(&self) -> String {
        let results = self.news().iter().filter_map(|entry| match entry {
            Entry::Returned { text, .. } => Some(text.as_str()),
            _ => None,
        });
        results.collect::<Vec<_>>().join("\n")
    }

    /// True if any text sent to the model, in the system prompt or in the conversation, contains `needle`.
    pub(crate) fn was_told(&self, needle: &str) -> bool {
        self.system_prompt().contains(needle)
            || self.entries.iter().any(|entry| match entry {
                Entry::Heard(text) | Entry::Returned { text, .. } => text.contains(needle),
                Entry::Said(_) | Entry::Called { .. } => false,
            })
    }

    /// The request in a few lines, for the message of a failed test.
    pub(crate) fn summary(&self) -> String {
        let news = self.news().iter().filter(|entry| !entry.is_routine());
        let news = news.map(|entry| shortened(&format!("{entry:?}")));
        let lines: Vec<_> = news.collect();
        format!(
            "#{} {:?}, turn {}\n    {}",
            self.number,
            self.speaker,
            self.turns(),
            lines.join("\n    ")
        )
    }
}

/// The beginning of `text`, for the message of a failed test.
pub(crate) fn shortened(text: &str) -> String {
    const LIMIT: usize = 600;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn entries(body: &Value) -> Vec<Entry> {
    let messages = body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    messages.iter().flat_map(entries_of_message).collect()
}

fn entries_of_message(message: &Value) -> Vec<Entry> {
    let of_model = message["role"] == "assistant";
    let spoken = |text: &str| match of_model {
        true => Entry::Said(text.to_owned()),
        false => Entry::Heard(text.to_owned()),
    };
    match &message["content"] {
        Value::String(text) => vec![spoken(text)],
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| entry_of_block(block, spoken))
            .collect(),
        _ => Vec::new(),
    }
}

fn entry_of_block(block: &Value, spoken: impl Fn(&str) -> Entry) -> Option<Entry> {
    let string = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str()? {
        "text" => Some(spoken(block["text"].as_str()?)),
        "tool_use" => {
            let input = block["input"].clone();
            Some(Entry::Called {
                id: string("id"),
                tool: string("name"),
                input,
            })
        }
        "tool_result" => Some(Entry::Returned {
            id: string("tool_use_id"),
            text: words(&block["content"]),
            failed: block["is_error"] == true,
        }),
        _ => None,
    }
}

/// The text of message content, which is either a string or a list of blocks.
pub(crate) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
