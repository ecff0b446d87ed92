//! A program that the user configured. The agent is done when the program exits. Output lines such as `{"session":
//! "x"}` and `{"usage": {"input_tokens": 1, "output_tokens": 2}, "cost_usd": 0.01}` are read if present.

use std::fs;
use std::io;

use fp_plan::settings::OwnProgram;
use serde_json::Value;

use super::{AgentCommand, AgentNews, AgentOrder, TokenUse, micro_usd, number, session_of};
use crate::platform::program_command;

pub(super) fn build_command(own: &OwnProgram, order: &AgentOrder<'_>) -> io::Result<AgentCommand> {
    let resumed = order.session.filter(|_| !own.resume.is_empty());
    let prompt = order.scratch.join(format!("{}.md", order.name));
    fs::write(&prompt, order.whole_prompt(resumed.is_some()))?;
    let words = resumed.map_or(&own.start, |_| &own.resume);
    let filled = |word: &String| {
        word.replace("{cwd}", &order.cwd.to_string_lossy())
            .replace("{model}", order.player.model.as_deref().unwrap_or_default())
            .replace("{session}", resumed.unwrap_or_default())
            .replace("{role}", order.role.into_str())
            .replace("{name}", order.name.as_str())
            .replace("{prompt}", &prompt.to_string_lossy())
    };
    let mut words = words.iter().map(filled);
    let mut command = program_command(&words.next().unwrap_or_default(), order.search_path);
    command.args(words);
    Ok(AgentCommand {
        command,
        input: String::new(),
        session: None,
    })
}

pub(super) fn parse_news(line: &Value) -> Vec<AgentNews> {
    let session = session_of(&line["session"]);
    let usage = &line["usage"];
    let micro_usd = micro_usd(&line["cost_usd"]);
    let spent = (usage.is_object() || micro_usd.is_some()).then(|| {
        let [input, cached, output] = ["input_tokens", "cached_input_tokens", "output_tokens"]
            .map(|name| number(&usage[name]));
        AgentNews::Spent {
            turns: 1,
            tokens: TokenUse {
                input,
                cached,
                output,
            },
            micro_usd,
        }
    });
    session.into_iter().chain(spent).collect()
}
