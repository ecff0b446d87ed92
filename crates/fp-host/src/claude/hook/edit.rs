//! An edit of a file as the client tells of it after it was made. Clients differ in what they send: the whole file
//! before it, under one of two names, the patch, or neither.

use fp_core::comments::edit::{Action, Edit, Hunk, Original, Replacement};
use serde_json::Value;

use super::HookEvent;

impl HookEvent {
    /// The file that a Write, Edit or MultiEdit was about, as it names it, and what was done; `None` for another tool,
    /// for an edit that is still to be made, or where the event does not say.
    #[must_use]
    pub fn edit(&self) -> Option<(&str, Edit<'_>)> {
        if self.text("hook_event_name").is_some_and(|name| name != "PostToolUse") {
            return None;
        }
        let input = self.0.get("tool_input")?;
        let path = input.get("file_path").and_then(Value::as_str).filter(|path| !path.is_empty())?;
        let action = match self.text("tool_name")? {
            "Write" => Action::Written(input.get("content")?.as_str()?),
            "Edit" => Action::Replaced(vec![replacement(input)?]),
            "MultiEdit" => {
                let edits = input.get("edits")?.as_array()?;
                Action::Replaced(edits.iter().map(replacement).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        let response = self.0.get("tool_response");
        let field = |name: &str| response.and_then(|response| response.get(name));
        let original = match field("originalFile").or_else(|| field("originalFileContents")) {
            Some(Value::String(text)) => Original::Known(text),
            // A file that was not there.
            Some(Value::Null) => Original::Known(""),
            _ if field("type").and_then(Value::as_str) == Some("create") => Original::Known(""),
            _ => Original::Unknown,
        };
        let patch = field("structuredPatch").and_then(Value::as_array).and_then(|hunks| patch(hunks));
        let changed_by_user = field("userModified").and_then(Value::as_bool).unwrap_or(false);
        Some((path, Edit { action, original, patch: patch.unwrap_or_default(), changed_by_user }))
    }
}

fn replacement(value: &Value) -> Option<Replacement<'_>> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let everywhere = value.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
    Some(Replacement { old: text("old_string")?, new: text("new_string")?, everywhere })
}

/// The hunks; `None` where one of them is not as the client writes them.
fn patch(hunks: &[Value]) -> Option<Vec<Hunk<'_>>> {
    hunks
        .iter()
        .map(|value| {
            let old_start = usize::try_from(value.get("oldStart")?.as_u64()?).ok()?;
            let lines = value.get("lines")?.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
            Some(Hunk { old_start, lines })
        })
        .collect()
}
