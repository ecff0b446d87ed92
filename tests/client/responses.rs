//! Translates the Responses API, which Codex speaks, to and from the Messages API, so that one script plays the model
//! for both.
//!
//! A script calls `Bash`, `Read` and `Write`. Codex has a single tool for all of these, `exec_command`; even a patch is
//! a command in that tool.

use serde_json::{Value, json};

use crate::request::words;

/// The tool that runs a command line, by Codex's name.
const SHELL: &str = "exec_command";

/// Converts a request of the Responses API into one of the Messages API.
pub(crate) fn as_messages(body: &Value) -> Value {
    let items = body["input"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let system = items
        .iter()
        .filter(|item| item["role"] == "developer")
        .map(|item| words(&item["content"]));
    let system: Vec<_> = std::iter::once(words(&body["instructions"]))
        .chain(system)
        .map(|text| json!({ "type": "text", "text": text }))
        .collect();
    let messages: Vec<_> = items.iter().filter_map(message_of).collect();
    json!({
        "model": body["model"], "effort": body["reasoning"]["effort"], "stream": body["stream"],
        "system": system, "messages": messages, "tools": [{ "name": SHELL }],
    })
}

fn message_of(item: &Value) -> Option<Value> {
    let block = match item["type"].as_str()? {
        "message" if item["role"] != "developer" => {
            json!({ "type": "text", "text": words(&item["content"]) })
        }
        "function_call" => {
            let arguments = item["arguments"].as_str()?;
            let arguments: Value = serde_json::from_str(arguments).ok()?;
            let input = json!({ "command": arguments["cmd"] });
            json!({ "type": "tool_use", "id": item["call_id"], "name": "Bash", "input": input })
        }
        "function_call_output" => {
            let printed = words(&item["output"]);
            let (output, failed) = result_of(&printed);
            json!({
                "type": "tool_result", "tool_use_id": item["call_id"], "content": output, "is_error": failed
            })
        }
        _ => return None,
    };
    let of_model = item["type"] == "function_call" || item["role"] == "assistant";
    Some(json!({ "role": if of_model { "assistant" } else { "user" }, "content": [block] }))
}

/// The output of a command, and true if the command failed.
fn result_of(output: &str) -> (&str, bool) {
    let printed = output
        .split_once("Output:\n")
        .map_or(output, |(_, printed)| printed);
    (
        printed.trim_end(),
        !output.contains("xited with code 0\n") && !output.contains("Exit code: 0\n"),
    )
}

/// Converts an answer of the Messages API into the events of the Responses API.
pub(crate) fn server_sent_events(message: &Value) -> String {
    let response = &message["id"];
    let blocks = message["content"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let items = blocks.iter().enumerate().map(|(index, block)| {
        json!({ "type": "response.output_item.done", "output_index": index, "item": item_of(block) })
    });
    let (input, output) = (
        &message["usage"]["input_tokens"],
        &message["usage"]["output_tokens"],
    );
    let usage = json!({
        "input_tokens": input, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": input,
    });
    let created = json!({ "type": "response.created", "response": { "id": response } });
    let completed =
        json!({ "type": "response.completed", "response": { "id": response, "usage": usage } });
    let events = std::iter::once(created).chain(items).chain([completed]);
    let lines = events.map(|event| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap_or_default()
        )
    });
    lines.collect()
}

fn item_of(block: &Value) -> Value {
    if block["type"] == "text" {
        let content = json!([{ "type": "output_text", "text": block["text"] }]);
        return json!({ "type": "message", "role": "assistant", "content": content });
    }
    let string = |key: &str| block["input"][key].as_str().unwrap_or_default();
    let command = match block["name"].as_str() {
        Some("Bash") => string("command").to_owned(),
        Some("Read") => format!("cat '{}'", string("file_path")),
        Some("Write") => patch(string("file_path"), string("content")),
        other => panic!("a script for Codex calls Bash, Read or Write, not {other:?}"),
    };
    // The maximum wait; a command that takes longer has to be polled.
    let arguments = json!({ "cmd": command, "yield_time_ms": 30_000 }).to_string();
    json!({ "type": "function_call", "name": SHELL, "call_id": block["id"], "arguments": arguments })
}

/// A command that sets the file at `path` to `content`, whether or not the file exists.
fn patch(path: &str, content: &str) -> String {
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    format!(
        "apply_patch <<'END_OF_PATCH'\n*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\nEND_OF_PATCH\n"
    )
}
