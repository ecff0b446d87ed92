//! The client's hook events and replies on the wire. The client changes, so reading is tolerant: an unknown
//! field is ignored, a missing one is empty, and a wrong type counts as missing.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use fp_comments::{EditAction, FileEdit, TextReplacement};
use fp_plan::text::prompt_lines;
use fp_run::run::consent::PrintedQuestion;
use serde::Deserialize as _;
use serde_json::{Value, json};

/// Longest event that is read, in bytes; the client sends whole files with its edits.
pub const MAX_EVENT_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum number of bytes to read from the end of the client's record of a conversation.
const MAX_RECORD_BYTES: u64 = 64 * 1024 * 1024;

/// Fields that show that the user didn't submit an answer: the dialog timed out, or the user said something else.
const NOT_HANDED_IN: [&str; 3] = ["afkTimeoutMs", "followUp", "response"];

/// A hook event: the fields that several events share, and the whole JSON.
#[derive(Debug, Clone)]
pub struct HookEvent {
    pub session: Option<String>,
    pub cwd: Option<String>,
    /// `fp:builder` for a subagent, the name of a teammate, `None` in the main session.
    pub agent_type: Option<String>,
    /// The agent's id; for a process that plays an agent of this plugin, its session id.
    pub agent_id: Option<String>,
    pub teammate: Option<String>,
    /// Why a session begins: `startup`, `resume`, `clear` or `compact`.
    pub source: Option<String>,
    whole: Value,
}

impl HookEvent {
    /// Parses an event; fails, with the reason, unless it is a JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let whole: Value = serde_json::from_slice(bytes)
            .or_else(|_| serde_json::from_slice(&without_lone_surrogates(bytes)))
            .map_err(|e| format!("the event is not JSON: {e}"))?;
        if !whole.is_object() {
            return Err("the event is not a JSON object".into());
        }
        let text = |name| text_of(&whole, name).map(str::to_owned);
        let agent_type = text("agent_type");
        let is_process = agent_type
            .as_ref()
            .is_some_and(|kind| kind.starts_with("fp:"));
        let session = text("session_id");
        let agent_id = text("agent_id").or_else(|| session.clone().filter(|_| is_process));
        Ok(Self {
            session,
            cwd: text("cwd"),
            agent_type,
            agent_id,
            teammate: text("teammate_name"),
            source: text("source"),
            whole,
        })
    }

    fn tool(&self) -> Option<&str> {
        text_of(&self.whole, "tool_name")
    }

    /// A string field of the tool's input.
    fn input(&self, name: &str) -> Option<&str> {
        self.whole.get("tool_input")?.get(name)?.as_str()
    }

    pub fn command(&self) -> Option<&str> {
        self.input("command")
            .filter(|_| self.tool() == Some("Bash"))
    }

    /// The path that a tool call edits, as written in the call.
    pub fn edited_path(&self) -> Option<&str> {
        match self.tool()? {
            "Write" | "Edit" | "MultiEdit" => self.input("file_path"),
            "NotebookEdit" => self.input("notebook_path"),
            _ => None,
        }
    }

    /// The path, as written in the call, and the change that a Write, Edit or MultiEdit has made; `None` for
    /// another tool, for an edit not made yet, or if the event lacks the data.
    pub fn edit(&self) -> Option<(&str, FileEdit<'_>)> {
        if text_of(&self.whole, "hook_event_name").is_some_and(|name| name != "PostToolUse") {
            return None;
        }
        let input = self.whole.get("tool_input")?;
        let path = text_of(input, "file_path")?;
        let action = match self.tool()? {
            "Write" => EditAction::Written(input.get("content")?.as_str()?),
            "Edit" => EditAction::Replaced(vec![replacement(input)?]),
            "MultiEdit" => {
                let edits = input.get("edits")?.as_array()?;
                EditAction::Replaced(edits.iter().map(replacement).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        let response = self.whole.get("tool_response");
        let field = |name: &str| response.and_then(|response| response.get(name));
        let is_new = || field("type").and_then(Value::as_str) == Some("create");
        // The client sends the file before the edit under one of two names, with null for a new file.
        let original = match field("originalFile").or_else(|| field("originalFileContents")) {
            Some(Value::String(text)) => Some(text.as_str()),
            Some(Value::Null) => Some(""),
            _ => is_new().then_some(""),
        };
        let changed_by_user = field("userModified")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        Some((
            path,
            FileEdit {
                action,
                original,
                changed_by_user,
            },
        ))
    }

    /// Type, name and id of the agent that an Agent call started.
    pub fn started_agent(&self) -> Option<(&str, &str, &str)> {
        if self.tool() != Some("Agent") {
            return None;
        }
        let id = self.whole.get("tool_response")?.get("agentId")?.as_str()?;
        Some((
            self.input("subagent_type")?,
            self.input("name").or_else(|| self.input("description"))?,
            id,
        ))
    }

    /// The agent that a message was sent to.
    pub fn messaged_agent(&self) -> Option<&str> {
        self.input("to")
            .filter(|_| self.tool() == Some("SendMessage"))
    }

    /// The prompt that the user typed; `None` if the client says that it entered the prompt itself.
    pub fn prompt(&self) -> Option<&str> {
        let is_typed = matches!(text_of(&self.whole, "source"), None | Some("user" | "sdk"));
        text_of(&self.whole, "prompt").filter(|_| is_typed)
    }

    /// The client's record of the conversation.
    pub fn transcript(&self) -> Option<&Path> {
        text_of(&self.whole, "transcript_path").map(Path::new)
    }

    /// The client's record of this agent's conversation.
    pub fn agent_transcript(&self) -> Option<&Path> {
        text_of(&self.whole, "agent_transcript_path").map(Path::new)
    }

    /// The prompt that a tool call schedules. The client enters it later just as if the user had typed it.
    pub fn scheduled_prompt(&self) -> Option<&str> {
        self.input("prompt")
            .filter(|_| matches!(self.tool(), Some("CronCreate" | "ScheduleWakeup")))
    }

    /// The questions that the user has answered, each with the answers chosen; none if the user hasn't submitted them.
    pub fn answered(&self) -> Vec<(PrintedQuestion, Vec<String>)> {
        if self.tool() != Some("AskUserQuestion") {
            return Vec::new();
        }
        let has = |response: &Value, field: &&str| {
            !matches!(
                response.get(field),
                None | Some(Value::Null | Value::Bool(false))
            )
        };
        let handed_in = |response: &&Value| !NOT_HANDED_IN.iter().any(|field| has(response, field));
        let answers = self
            .whole
            .get("tool_response")
            .filter(handed_in)
            .and_then(|response| response.get("answers"));
        let questions = self.whole["tool_input"]["questions"]
            .as_array()
            .into_iter()
            .flatten();
        // Leaves out questions whose answer may not be exactly what the user chose: with a preview or a user's note, it
        // may differ from the words that are compared; where several answers are allowed, one may be missing.
        let is_plain = |asked: &&Value| {
            let mut options = asked["options"].as_array().into_iter().flatten();
            asked["multiSelect"] != true && !options.any(|option| has(option, &"preview"))
        };
        let noted = |question: &str| {
            has(
                &self.whole["tool_response"]["annotations"][question],
                &"notes",
            )
        };
        let answered = questions.filter(is_plain).filter_map(|asked| {
            let printed = PrintedQuestion::deserialize(asked).ok()?;
            if noted(&printed.question) {
                return None;
            }
            let chosen = match answers?.get(&printed.question)? {
                Value::String(label) => vec![label.clone()],
                Value::Array(labels) => labels
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
                _ => return None,
            };
            Some((printed, chosen))
        });
        answered.collect()
    }

    /// The last message of the agent that stops; empty if the client doesn't pass it on.
    pub fn last_words(&self) -> &str {
        text_of(&self.whole, "last_assistant_message").unwrap_or_default()
    }

    /// True if the agent continues only because a stop hook made it.
    pub fn stop_hook_active(&self) -> bool {
        self.whole
            .get("stop_hook_active")
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// The description of this agent's background task, which the lead sets to the agent's name.
    pub fn own_description(&self) -> Option<&str> {
        let id = self.agent_id.as_deref()?;
        let tasks = self.whole.get("background_tasks")?.as_array()?;
        let own = tasks
            .iter()
            .find(|t| t.get("id").and_then(Value::as_str) == Some(id))?;
        own.get("description").and_then(Value::as_str)
    }
}

/// Replaces each escaped lone surrogate, which JavaScript writes and no other parser accepts. Otherwise an edit with
/// one would go unchecked.
fn without_lone_surrogates(json: &[u8]) -> Vec<u8> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut mended, mut at) = (Vec::with_capacity(json.len()), 0);
    while let Some(&byte) = json.get(at) {
        let is_pair = || unit(at + 6).is_some_and(|low| (0xDC00..0xE000).contains(&low));
        let (taken, lone) = match unit(at) {
            Some(0xD800..0xDC00) if is_pair() => (12, false),
            Some(code) => (6, (0xD800..0xE000).contains(&code)),
            None if byte == b'\\' => (2, false),
            None => (1, false),
        };
        let end = json.len().min(at + taken);
        mended.extend_from_slice(if lone { b"\\ufffd" } else { &json[at..end] });
        at = end;
    }
    mended
}

/// The last part of a long file, which may begin in the middle of a line.
fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(MAX_RECORD_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(MAX_RECORD_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// True if the client entered `prompt` because it was scheduled, maybe by a file of the repository. Only the client's
/// record of the conversation, at `transcript`, shows this, and possibly with a short delay.
pub fn was_scheduled(transcript: &Path, prompt: &str) -> bool {
    let record = end_of(transcript).unwrap_or_default();
    const FIRE: &str = "scheduled_task_fire";
    let fires = record.lines().filter(|line| line.contains(FIRE));
    fires
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .any(|line| {
            text_of(&line, "subtype") == Some(FIRE) && text_of(&line, "prompt") == Some(prompt)
        })
}

fn replacement(value: &Value) -> Option<TextReplacement<'_>> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let everywhere = value
        .get("replace_all")
        .and_then(Value::as_bool)
        .unwrap_or(false);
    Some(TextReplacement {
        old: text("old_string")?,
        new: text("new_string")?,
        everywhere,
    })
}

/// A hook's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookReply<'t> {
    /// Lets a tool call through without asking the user.
    Allow(&'t str),
    /// Refuses a tool call and tells the agent why.
    Deny(&'t str),
    /// Gives the agent a message after a tool call.
    AfterTool(&'t str),
    /// Makes the agent continue, and tells it why.
    Block(&'t str),
    /// Gives a starting session one message and its user another.
    SessionContext {
        model: &'t str,
        user: Option<&'t str>,
    },
    /// Adds a message to a prompt.
    PromptContext(&'t str),
    /// Adds a message to the summary of the conversation.
    KeepInSummary(&'t str),
}

/// Longest reply, in bytes of JSON.
const MAX_REPLY: usize = 2048;

impl HookReply<'_> {
    /// The reply, cut to 2 KB.
    pub fn json(self) -> Value {
        let (Self::Allow(text)
        | Self::Deny(text)
        | Self::AfterTool(text)
        | Self::Block(text)
        | Self::SessionContext { model: text, .. }
        | Self::PromptContext(text)
        | Self::KeepInSummary(text)) = self;
        let text = prompt_lines(text, MAX_REPLY);
        let whole = self.json_with_text(&text);
        match whole.to_string().len().saturating_sub(MAX_REPLY) {
            0 => whole,
            excess => self.json_with_text(&prompt_lines(&text, text.len().saturating_sub(excess))),
        }
    }

    fn json_with_text(self, text: &str) -> Value {
        let permission = |decision: &str, reason: &str| {
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": reason,
            } })
        };
        let context = |event: &str, text: &str| json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } });
        match self {
            Self::Allow(_) => permission("allow", text),
            Self::Deny(_) => permission("deny", text),
            Self::AfterTool(_) => context("PostToolUse", text),
            Self::Block(_) => json!({ "decision": "block", "reason": text }),
            Self::SessionContext { user, .. } => {
                let mut reply = context("SessionStart", text);
                if let Some(user) = user {
                    reply["systemMessage"] = json!(prompt_lines(user, MAX_REPLY / 4));
                }
                reply
            }
            Self::PromptContext(_) => context("UserPromptSubmit", text),
            // The client shows the summarizing model everything printed so far, but rejects
            // `additionalContext` here.
            Self::KeepInSummary(_) => json!({ "systemMessage": text }),
        }
    }
}

fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value
        .get(name)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(response: Value) -> Vec<Vec<String>> {
        let options = json!([{ "label": "Red", "description": "Warm" }, { "label": "Blue", "description": "Cold" }]);
        let question = json!({ "question": "Which?", "header": "Colour", "options": options, "multiSelect": false });
        let event = json!({
            "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion",
            "tool_input": { "questions": [question], "answers": { "Which?": "Red" } },
            "tool_response": response,
        });
        let event = HookEvent::parse(event.to_string().as_bytes()).unwrap();
        event
            .answered()
            .into_iter()
            .map(|(_, chosen)| chosen)
            .collect()
    }

    #[test]
    fn half_characters_hide_nothing() {
        let prompt = |json: &str| {
            let event = HookEvent::parse(json.as_bytes()).unwrap();
            event.prompt().map(str::to_owned)
        };
        let check = |text: &str, expect: &str| {
            assert_eq!(
                prompt(&format!("{{\"prompt\":\"{text}\"}}")).as_deref(),
                Some(expect),
                "{text}"
            );
        };
        check("a\\ud800b", "a\u{fffd}b");
        check("\\udc00\\ud800", "\u{fffd}\u{fffd}");
        check("\\ud83d\\ude00\\ud83d", "\u{1f600}\u{fffd}");
        check("\\ud83d\\u0041", "\u{fffd}A");
        check("\\\\ud800 \\ud800", "\\ud800 \u{fffd}");
        assert!(HookEvent::parse(b"{\"prompt\":\"\\ud8\"}").is_err());
    }

    #[test]
    fn only_a_prompt_of_the_user_is_typed() {
        let prompt = |event: Value| {
            let event = HookEvent::parse(event.to_string().as_bytes()).unwrap();
            event.prompt().map(str::to_owned)
        };
        for source in ["user", "sdk"] {
            assert_eq!(
                prompt(json!({ "prompt": "Go", "source": source })).as_deref(),
                Some("Go")
            );
        }
        assert_eq!(
            prompt(json!({ "prompt": "Go" })).as_deref(),
            Some("Go"),
            "the client does not tell"
        );
        for source in [
            "system",
            "loop_wakeup",
            "schedule_wakeup",
            "poll_event",
            "something_new",
        ] {
            assert_eq!(
                prompt(json!({ "prompt": "Go", "source": source })),
                None,
                "{source}"
            );
        }
    }

    #[test]
    fn a_scheduled_prompt_is_known_by_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        assert!(!was_scheduled(&path, "Go"), "there is no record yet");
        let fire = r#"{"type":"system","subtype":"scheduled_task_fire","prompt":"Go"}"#;
        for (lines, expected) in [
            (vec![fire], true),
            (
                vec![
                    r#"{"type":"assistant"}"#,
                    fire,
                    r#"{"type":"user"}"#,
                    "cut off",
                ],
                true,
            ),
            (vec![r#"{"type":"user","prompt":"Go"}"#], false),
            (
                vec![r#"{"type":"system","subtype":"scheduled_task_fire","prompt":"Stop"}"#],
                false,
            ),
        ] {
            std::fs::write(&path, lines.join("\n")).unwrap();
            assert_eq!(was_scheduled(&path, "Go"), expected, "{lines:?}");
        }
    }

    #[test]
    fn answers_count_when_the_user_has_handed_them_in() {
        let answers = json!({ "Which?": "Blue" });
        assert_eq!(
            answered(json!({ "answers": answers, "followUp": false })),
            [["Blue"]]
        );
        assert!(answered(json!({ "answers": { "Another?": "Blue" } })).is_empty());
        assert!(answered(json!({})).is_empty(), "the input is the model's");
        for (field, value) in [
            ("afkTimeoutMs", json!(60_000)),
            ("followUp", json!(true)),
            ("response", json!("No.")),
        ] {
            let mut response = json!({ "answers": answers });
            response[field] = value;
            assert!(answered(response).is_empty(), "{field}");
        }
    }
}
