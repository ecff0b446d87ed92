//! The client's hook events and replies as they are on the wire. Reading is tolerant: an unknown field is
//! ignored, a missing one is empty, and a wrong type is the same as a missing one.

use fp_comments::{EditAction, FileEdit, TextReplacement};
use serde_json::{Value, json};

/// Longest event that is read, in bytes; the client sends whole files with its edits.
pub const MAX_EVENT_BYTES: u64 = 64 * 1024 * 1024;

/// A hook event, read field by field.
#[derive(Debug, Clone)]
pub struct HookEvent(Value);

impl HookEvent {
    /// Reads an event; fails, with what is wrong, on what is no JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        match serde_json::from_slice(bytes) {
            Ok(value @ Value::Object(_)) => Ok(Self(value)),
            Ok(_) => Err("the event is not a JSON object".into()),
            Err(e) => Err(format!("the event is not JSON: {e}")),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str).filter(|s| !s.is_empty())
    }

    /// A text among what a call gives its tool.
    fn input(&self, name: &str) -> Option<&str> {
        self.0.get("tool_input")?.get(name)?.as_str()
    }

    /// The session.
    pub fn session(&self) -> Option<&str> {
        self.text("session_id")
    }

    /// The session's working directory.
    pub fn cwd(&self) -> Option<&str> {
        self.text("cwd")
    }

    /// The agent's type: `fp:builder` for a subagent, its name for a teammate, nothing in the main session.
    pub fn agent_type(&self) -> Option<&str> {
        self.text("agent_type")
    }

    /// The agent's id.
    pub fn agent_id(&self) -> Option<&str> {
        self.text("agent_id")
    }

    /// The teammate's name.
    pub fn teammate(&self) -> Option<&str> {
        self.text("teammate_name")
    }

    /// The teammate's team.
    pub fn team(&self) -> Option<&str> {
        self.text("team_name")
    }

    /// Why a session begins: `startup`, `resume`, `clear` or `compact`.
    pub fn source(&self) -> Option<&str> {
        self.text("source")
    }

    /// The command line of a Bash call.
    pub fn command(&self) -> Option<&str> {
        if self.text("tool_name")? == "Bash" { self.input("command") } else { None }
    }

    /// The path that a call of a tool edits, as the call has it.
    pub fn edited_path(&self) -> Option<&str> {
        let field = match self.text("tool_name")? {
            "Write" | "Edit" | "MultiEdit" => "file_path",
            "NotebookEdit" => "notebook_path",
            _ => return None,
        };
        self.input(field)
    }

    /// The path of the file that a Write, Edit or MultiEdit has changed, as the call has it, and the change; `None` for
    /// another tool, for an edit that is still to be made, or where the event does not say.
    pub fn edit(&self) -> Option<(&str, FileEdit<'_>)> {
        if self.text("hook_event_name").is_some_and(|name| name != "PostToolUse") {
            return None;
        }
        let input = self.0.get("tool_input")?;
        let path = input.get("file_path").and_then(Value::as_str).filter(|path| !path.is_empty())?;
        let action = match self.text("tool_name")? {
            "Write" => EditAction::Written(input.get("content")?.as_str()?),
            "Edit" => EditAction::Replaced(vec![replacement(input)?]),
            "MultiEdit" => {
                let edits = input.get("edits")?.as_array()?;
                EditAction::Replaced(edits.iter().map(replacement).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        let response = self.0.get("tool_response");
        let field = |name: &str| response.and_then(|response| response.get(name));
        let is_new = || field("type").and_then(Value::as_str) == Some("create");
        // The client sends the file before the edit under one of two names, with null for a new file.
        let original = match field("originalFile").or_else(|| field("originalFileContents")) {
            Some(Value::String(text)) => Some(text.as_str()),
            Some(Value::Null) => Some(""),
            _ => is_new().then_some(""),
        };
        let changed_by_user = field("userModified").and_then(Value::as_bool).unwrap_or(false);
        Some((path, FileEdit { action, original, changed_by_user }))
    }

    /// Type, name and id of the agent that a call of a tool has started.
    pub fn started_agent(&self) -> Option<(&str, &str, &str)> {
        if self.text("tool_name") != Some("Agent") {
            return None;
        }
        let id = self.0.get("tool_response")?.get("agentId")?.as_str()?;
        let name = self.input("name").or_else(|| self.input("description"));
        Some((self.input("subagent_type")?, name?, id))
    }

    /// Whether the agent goes on only because a stop hook made it.
    pub fn stop_hook_active(&self) -> bool {
        self.0.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The description of the background task that this agent is, which the lead makes equal to its name.
    pub fn own_description(&self) -> Option<&str> {
        let id = self.agent_id()?;
        let tasks = self.0.get("background_tasks")?.as_array()?;
        let own = tasks.iter().find(|t| t.get("id").and_then(Value::as_str) == Some(id))?;
        own.get("description").and_then(Value::as_str)
    }
}

fn replacement(value: &Value) -> Option<TextReplacement<'_>> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let everywhere = value.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
    Some(TextReplacement { old: text("old_string")?, new: text("new_string")?, everywhere })
}

/// The reply that lets a tool call through without asking the user.
pub fn allow(reason: &str) -> String {
    permission("allow", reason)
}

/// The reply that refuses a tool call and tells the agent `reason`.
pub fn deny(reason: &str) -> String {
    permission("deny", reason)
}

fn permission(decision: &str, reason: &str) -> String {
    let output = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    });
    json!({ "hookSpecificOutput": output }).to_string()
}

/// The reply that tells an agent `text` after a tool call.
pub fn after_tool(text: &str) -> String {
    let output = json!({ "hookEventName": "PostToolUse", "additionalContext": text });
    json!({ "hookSpecificOutput": output }).to_string()
}

/// The reply that makes an agent go on and tells it `reason`.
pub fn block(reason: &str) -> String {
    json!({ "decision": "block", "reason": reason }).to_string()
}

/// The reply that tells a session that begins `text`.
pub fn session_context(text: &str) -> String {
    let output = json!({ "hookEventName": "SessionStart", "additionalContext": text });
    json!({ "hookSpecificOutput": output }).to_string()
}

/// The reply that has a summary of the conversation keep `text`. Of an object that the client knows for this event it
/// puts all that was printed before the model that sums up; one with `additionalContext` it refuses.
pub fn keep_in_summary(text: &str) -> String {
    json!({ "systemMessage": text }).to_string()
}
