//! The client's hook events and replies as they are on the wire. Reading is tolerant: an unknown field is
//! ignored, a missing one is empty, and a wrong type is the same as a missing one.

mod edit;

use serde_json::{Value, json};

pub use edit::add_context;

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

    /// The session.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.text("session_id")
    }

    /// The session's working directory.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.text("cwd")
    }

    /// The agent's type: `fp:builder` for a subagent, its name for a teammate, nothing in the main session.
    #[must_use]
    pub fn agent_type(&self) -> Option<&str> {
        self.text("agent_type")
    }

    /// The agent's id.
    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        self.text("agent_id")
    }

    /// The teammate's name.
    #[must_use]
    pub fn teammate(&self) -> Option<&str> {
        self.text("teammate_name")
    }

    /// The command line of a Bash call.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        (self.text("tool_name") == Some("Bash"))
            .then(|| self.0.get("tool_input")?.get("command")?.as_str())
            .flatten()
    }

    /// Whether the agent goes on only because a stop hook made it.
    #[must_use]
    pub fn stop_hook_active(&self) -> bool {
        self.0.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The description of the background task that this agent is, which the lead makes equal to its name.
    #[must_use]
    pub fn own_description(&self) -> Option<&str> {
        let id = self.agent_id()?;
        let tasks = self.0.get("background_tasks")?.as_array()?;
        let own = tasks.iter().find(|t| t.get("id").and_then(Value::as_str) == Some(id))?;
        own.get("description").and_then(Value::as_str)
    }
}

/// The reply that lets a tool call through without asking the user.
#[must_use]
pub fn allow(reason: &str) -> String {
    let output = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": reason,
    });
    json!({ "hookSpecificOutput": output }).to_string()
}

/// The reply that makes an agent go on and tells it `reason`.
#[must_use]
pub fn block(reason: &str) -> String {
    json!({ "decision": "block", "reason": reason }).to_string()
}
