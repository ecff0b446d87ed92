//! Reads an agent's token use from the client's record of its conversation.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use fp_run::run::crew::TokenUse;
use serde::Deserialize;

/// Maximum number of bytes of a record to read.
const MAX_RECORD: u64 = 64 * 1024 * 1024;

/// The token use of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedUse {
    /// Requests to the model.
    pub turns: u64,
    pub tokens: TokenUse,
    /// The model of the last request.
    pub model: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    id: String,
    model: String,
    usage: Usage,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

/// Sums up the record at `path`. Unreadable lines are skipped, since each message has several lines and the last of
/// them has its figures.
pub fn recorded_use(path: &Path) -> RecordedUse {
    let Ok(file) = File::open(path) else {
        return RecordedUse::default();
    };
    let mut messages: BTreeMap<String, TokenUse> = BTreeMap::new();
    let mut model = None;
    for line in BufReader::new(file.take(MAX_RECORD)).split(b'\n') {
        let Ok(line) = line else { break };
        // Most of a record is tool output, which needs no parsing.
        if memchr::memmem::find(&line, b"\"usage\"").is_none() {
            continue;
        }
        let Ok(Line { message }) = serde_json::from_slice(&line) else {
            continue;
        };
        let usage = message.usage;
        let tokens = TokenUse {
            input: usage
                .input_tokens
                .saturating_add(usage.cache_creation_input_tokens),
            cached: usage.cache_read_input_tokens,
            output: usage.output_tokens,
        };
        messages.insert(message.id, tokens);
        model = Some(message.model);
    }
    let mut sum = RecordedUse {
        turns: messages.len() as u64,
        tokens: TokenUse::default(),
        model,
    };
    messages
        .into_values()
        .for_each(|tokens| sum.tokens.add(tokens));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        let line = |id: &str, output: u64| {
            format!(
                r#"{{"type":"assistant","message":{{"id":"{id}","model":"m","content":[],"usage":{{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":{output}}}}}}}"#
            )
        };
        let text = [
            line("a", 1),
            line("a", 20),
            "{\"usage\": torn".into(),
            "{\"type\":\"user\"}".into(),
            line("b", 3),
        ];
        std::fs::write(&path, text.join("\n")).unwrap();
        let tokens = TokenUse {
            input: 10,
            cached: 14,
            output: 23,
        };
        assert_eq!(
            recorded_use(&path),
            RecordedUse {
                turns: 2,
                tokens,
                model: Some("m".into())
            }
        );
        assert_eq!(
            recorded_use(&folder.path().join("none")),
            RecordedUse::default()
        );
    }
}
