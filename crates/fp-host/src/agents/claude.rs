//! Claude Code, one process an agent: `claude -p`, with the plugin's own agents and hooks. Its hooks allow the calls of
//! `fp` and the commands of the task; what it would have to ask for is refused.

use std::path::Path;
use std::process::Command;

use fp_run::hook::{BUILDER, VERIFIER};
use serde_json::Value;

use super::{
    AgentCommand, AgentNews, AgentOrder, ServiceFault, TokenUse, micro_usd, number, said, told,
    use_of,
};
use crate::run::fresh_token;

pub(super) fn command(path: &Path, order: &AgentOrder<'_>) -> AgentCommand {
    let mut command = Command::new(path);
    command.args(["-p", "--output-format", "stream-json", "--verbose"]);
    command.args([
        "--agent",
        if order.is_builder() {
            BUILDER
        } else {
            VERIFIER
        },
    ]);
    command.arg("--plugin-dir").arg(order.plugin);
    command.args(["--name", order.name.as_str()]);
    command.args([
        "--permission-mode",
        if order.is_builder() {
            "acceptEdits"
        } else {
            "default"
        },
    ]);
    let session = order.session.map_or_else(fresh_uuid, str::to_owned);
    command.args([
        if order.session.is_some() {
            "--resume"
        } else {
            "--session-id"
        },
        &session,
    ]);
    for (flag, value) in [
        ("--model", &order.player.model),
        ("--effort", &order.player.effort),
    ] {
        command.args(value.iter().flat_map(|value| [flag, value]));
    }
    if !order.allow.is_empty() {
        command.arg("--allowedTools").args(order.allow);
    }
    // Also ends the list of rules.
    command.arg("--strict-mcp-config");
    // It is a process of its own, wherever this one was started.
    for name in [
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_PID",
        "CLAUDE_CODE_ENTRYPOINT",
    ] {
        command.env_remove(name);
    }
    AgentCommand {
        command,
        input: order.prompt.to_owned(),
        session: Some(session),
    }
}

/// A random UUID, version 4.
fn fresh_uuid() -> String {
    let digits = fresh_token() + &fresh_token();
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-4{}-a{}-{}",
        part(0, 8),
        part(8, 12),
        part(13, 16),
        part(17, 20),
        part(20, 32)
    )
}

pub(super) fn read(line: &Value) -> Vec<AgentNews> {
    match (line["type"].as_str(), line["subtype"].as_str()) {
        (Some("system"), Some("init")) => line["session_id"]
            .as_str()
            .map(|id| AgentNews::Session(id.to_owned()))
            .into_iter()
            .collect(),
        (Some("system"), Some("api_retry")) => retrying(line),
        (Some("assistant"), _) => assistant(line),
        (Some("result"), _) => result(line),
        _ => Vec::new(),
    }
}

/// The client repeats a refused login as long as an overload.
fn retrying(line: &Value) -> Vec<AgentNews> {
    let (status, what) = (
        line["error_status"].as_u64(),
        line["error"].as_str().unwrap_or_default(),
    );
    match status {
        Some(401 | 403) => {
            vec![AgentNews::Fault(refused(
                "claude can't log in to its service: run `claude` and log in",
            ))]
        }
        _ => vec![AgentNews::Waiting(told(&format!(
            "{what}, try {}",
            number(&line["attempt"])
        )))],
    }
}

/// Each block of a message has a line of its own. How much was said is final only in the result.
fn assistant(line: &Value) -> Vec<AgentNews> {
    let message = &line["message"];
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let uses = blocks.iter().filter(|block| block["type"] == "tool_use");
    let doing = uses.filter_map(|block| {
        Some(AgentNews::Doing(use_of(
            block["name"].as_str()?,
            &block["input"],
        )))
    });
    let said = blocks.iter().filter_map(|block| said(&block["text"]));
    let request = message["id"].as_str().map(|id| {
        let tokens = tokens_of(&message["usage"]);
        AgentNews::Request {
            id: id.to_owned(),
            tokens,
        }
    });
    doing.chain(said).chain(request).collect()
}

fn tokens_of(usage: &Value) -> TokenUse {
    TokenUse {
        input: number(&usage["input_tokens"])
            .saturating_add(number(&usage["cache_creation_input_tokens"])),
        cached: number(&usage["cache_read_input_tokens"]),
        output: number(&usage["output_tokens"]),
    }
}

fn result(line: &Value) -> Vec<AgentNews> {
    let denied = line["permission_denials"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let mut news: Vec<AgentNews> = denied
        .iter()
        .map(|call| AgentNews::Denied(rule_for(call)))
        .collect();
    let tokens = tokens_of(&line["usage"]);
    news.push(AgentNews::Spent {
        turns: number(&line["num_turns"]),
        tokens,
        micro_usd: None,
    });
    let micro_usd = micro_usd(&line["total_cost_usd"]);
    news.push(AgentNews::SessionTotal {
        tokens: None,
        micro_usd,
    });
    if line["is_error"] == true {
        news.extend(fault(line).map(AgentNews::Fault));
    }
    news
}

/// The rule that would allow a refused call.
fn rule_for(call: &Value) -> String {
    let tool = call["tool_name"].as_str().unwrap_or("?");
    let input = &call["tool_input"];
    let on = input["command"].as_str().or(input["file_path"].as_str());
    told(&on.map_or_else(|| tool.to_owned(), |on| format!("{tool}({on})")))
}

fn fault(line: &Value) -> Option<ServiceFault> {
    let said = line["result"]
        .as_str()
        .or(line["errors"][0].as_str())
        .unwrap_or_default();
    if said.starts_with("No conversation found") {
        return Some(ServiceFault::SessionLost(told(said)));
    }
    if line["terminal_reason"] == "prompt_too_long" {
        return None;
    }
    let is_of_service = line["terminal_reason"] == "api_error";
    match line["api_error_status"].as_u64() {
        Some(400) if !said.contains("redit balance") => Some(ServiceFault::SessionLost(told(said))),
        Some(status @ 400..=404) => {
            Some(refused(&format!("claude says: {said} (status {status})")))
        }
        None if said.starts_with("Not logged in") => Some(refused(&format!("claude says: {said}"))),
        None if is_of_service => Some(ServiceFault::Away(told(said))),
        status if is_of_service => Some(ServiceFault::of_status(status, told(said))),
        Some(_) | None => None,
    }
}

fn refused(said: &str) -> ServiceFault {
    ServiceFault::Refused(told(said))
}
