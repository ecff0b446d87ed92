//! Claude Code, one process per agent: `claude -p`, with the plugin's own agents and hooks. The hooks allow `fp` calls
//! and the task's commands; anything that would need a permission prompt is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fp_run::hook::{BUILDER, VERIFIER};
use fp_run::run::state::Role;
use serde_json::Value;

use super::{
    AgentCommand, AgentNews, AgentOrder, OwnPlaces, ServiceFault, TokenUse, micro_usd, number,
    said_news, session_of, short_line, use_of,
};
use crate::platform::HOME;
use crate::run::fresh_token;

/// Variables that are set if this process runs inside a session. The agent must not inherit them, since it is a
/// separate process.
pub(super) const OF_SESSION: [&str; 4] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PID",
    "CLAUDE_CODE_ENTRYPOINT",
];

/// The folders that Claude Code writes in its own, without those that hold a user's wishes for later sessions.
const OWN_FOLDERS: [&str; 8] = [
    "debug",
    "file-history",
    "plugins/data/fp-inline",
    "projects",
    "session-env",
    "sessions",
    "shell-snapshots",
    "todos",
];

/// The folder that Claude Code makes as a lock while it renews its login. In a sandbox it can't remove it.
const LOGIN_LOCK: &str = ".oauth_refresh.lock";
/// Age after which Claude Code takes that lock for one that was left behind.
const STALE: Duration = Duration::from_secs(60);

/// The places that Claude Code writes for itself: its folders, and its login.
pub(super) fn own_places() -> OwnPlaces {
    let home = std::env::var_os(HOME).map(PathBuf::from);
    let chosen = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let Some(folder) = chosen.or_else(|| Some(home?.join(".claude"))) else {
        return OwnPlaces::default();
    };
    let mut writes = OWN_FOLDERS.map(|name| folder.join(name)).to_vec();
    // The client makes those that it needs; in a sandbox it couldn't.
    writes
        .iter()
        .for_each(|path| drop(fs::create_dir_all(path)));
    writes.push(folder.join(".credentials.json"));
    let lock = folder.join(LOGIN_LOCK);
    let made = fs::metadata(&lock).and_then(|lock| lock.modified());
    if made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > STALE)) {
        drop(fs::remove_dir(&lock));
    }
    OwnPlaces {
        writes,
        locks: Some(folder),
    }
}

pub(super) fn build_command(path: &Path, order: &AgentOrder<'_>) -> AgentCommand {
    let (agent, mode) = match order.role {
        Role::Builder => (BUILDER, "acceptEdits"),
        Role::Verifier => (VERIFIER, "default"),
    };
    let (flag, session) = match order.session {
        Some(session) => ("--resume", session.to_owned()),
        None => ("--session-id", fresh_uuid()),
    };
    let mut command = Command::new(path);
    command
        .args(["-p", "--output-format", "stream-json", "--verbose"])
        .args(["--agent", agent, "--plugin-dir"])
        .arg(order.plugin)
        .args(["--name", order.name.as_str()])
        .args(["--permission-mode", mode, flag, &session])
        .args(order.model_args("--model", "--effort"));
    if !order.allow.is_empty() {
        command.arg("--allowedTools").args(order.allow);
    }
    // The project's settings may be part of what is judged.
    if order.role == Role::Verifier {
        command.args(["--setting-sources", "user"]);
    }
    // This flag also ends the list of allowed tools.
    command.arg("--strict-mcp-config");
    for name in OF_SESSION {
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

pub(super) fn parse_news(line: &Value) -> Vec<AgentNews> {
    match (line["type"].as_str(), line["subtype"].as_str()) {
        (Some("system"), Some("init")) => Vec::from_iter(session_of(&line["session_id"])),
        (Some("system"), Some("api_retry")) => vec![retry_of(line)],
        (Some("assistant"), _) => news_of_message(&line["message"]),
        (Some("result"), _) => news_of_result(line),
        _ => Vec::new(),
    }
}

/// A refused login is reported as a fault at once, because the client would retry it as often as an overload.
fn retry_of(line: &Value) -> AgentNews {
    if let Some(401 | 403) = line["error_status"].as_u64() {
        let said = "claude can't log in to its service: run `claude` and log in".to_owned();
        return AgentNews::Fault(ServiceFault::Refused(said));
    }
    let why = line["error"].as_str().unwrap_or_default();
    AgentNews::Waiting(short_line(&format!(
        "{why}, try {}",
        number(&line["attempt"])
    )))
}

/// Each block of a message has its own line. The output tokens are final only in the result.
fn news_of_message(message: &Value) -> Vec<AgentNews> {
    let blocks = items_of(&message["content"]);
    let uses = blocks.iter().filter(|block| block["type"] == "tool_use");
    let doing = uses.map(|block| AgentNews::Doing(use_of(&block["name"], &block["input"])));
    let said = blocks.iter().filter_map(|block| said_news(&block["text"]));
    let request = message["id"].as_str().map(|id| AgentNews::Request {
        id: id.to_owned(),
        tokens: tokens_of(&message["usage"]),
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

fn news_of_result(line: &Value) -> Vec<AgentNews> {
    let denied = items_of(&line["permission_denials"]).iter();
    let denied = denied.map(|call| AgentNews::Denied(rule_for(call)));
    let spent = AgentNews::Spent {
        turns: number(&line["num_turns"]),
        tokens: tokens_of(&line["usage"]),
        micro_usd: None,
    };
    let total = AgentNews::SessionTotal {
        tokens: None,
        micro_usd: micro_usd(&line["total_cost_usd"]),
    };
    let fault = (line["is_error"] == true).then(|| fault_of(line)).flatten();
    denied
        .chain([spent, total])
        .chain(fault.map(AgentNews::Fault))
        .collect()
}

fn items_of(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// The permission rule that would allow a refused call.
fn rule_for(call: &Value) -> String {
    let tool = call["tool_name"].as_str().unwrap_or("?");
    let input = &call["tool_input"];
    let on = input["command"].as_str().or(input["file_path"].as_str());
    short_line(&on.map_or_else(|| tool.to_owned(), |on| format!("{tool}({on})")))
}

fn fault_of(line: &Value) -> Option<ServiceFault> {
    let said = line["result"]
        .as_str()
        .or(line["errors"][0].as_str())
        .unwrap_or_default();
    let (is_of_service, words) = (line["terminal_reason"] == "api_error", short_line(said));
    match line["api_error_status"].as_u64() {
        _ if said.starts_with("No conversation found") => Some(ServiceFault::SessionLost(words)),
        _ if line["terminal_reason"] == "prompt_too_long" => None,
        Some(400) if !said.contains("redit balance") => Some(ServiceFault::SessionLost(words)),
        Some(status @ 400..=404) => {
            let told = short_line(&format!("claude says: {said} (status {status})"));
            Some(ServiceFault::Refused(told))
        }
        None if said.starts_with("Not logged in") => Some(ServiceFault::Refused(short_line(
            &format!("claude says: {said}"),
        ))),
        None if is_of_service => Some(ServiceFault::Away(words)),
        status if is_of_service => Some(ServiceFault::of_status(status, words)),
        Some(_) | None => None,
    }
}
