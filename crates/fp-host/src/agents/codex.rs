//! Codex: `codex exec`, in its own sandbox. It doesn't have this plugin's agents, so the role's page is part of the
//! prompt. It has no hooks either, so only the verification keeps it to its task's files.

use std::path::{Path, PathBuf};
use std::process::Command;

use fp_run::run::state::Role;
use serde_json::{Value, json};

use super::{
    AgentCommand, AgentNews, AgentOrder, ServiceFault, TokenUse, number, said_news, session_of,
    short_line,
};
use crate::file;
use crate::platform::real_path;

/// Size limit of a worktree's `.git`, in bytes.
const MAX_GIT_FILE: u64 = 64 * 1024;

pub(super) fn build_command(
    path: &Path,
    order: &AgentOrder<'_>,
    calls: Option<&Path>,
) -> AgentCommand {
    let mut command = Command::new(path);
    command.arg("exec");
    command.args(["--json", "--skip-git-repo-check", "-s", "workspace-write"]);
    // If one of these folders is missing, Codex runs no commands.
    let writes: Vec<PathBuf> = match calls {
        Some(calls) => vec![calls.to_owned()],
        None => order
            .writes
            .iter()
            .cloned()
            .chain(git_folder_of(order.cwd, order.writes))
            // `fp verify` writes it anew for each tree that it brings to the bench.
            .chain((order.role == Role::Verifier).then(|| order.cwd.join(".git")))
            .collect(),
    };
    let writes = writes.iter().filter(|folder| folder.is_dir());
    let writes: Vec<String> = writes
        .filter_map(|folder| folder.to_str().map(str::to_owned))
        .collect();
    let settings = [
        ("approval_policy", json!("never")),
        ("sandbox_workspace_write.writable_roots", json!(writes)),
        (
            "sandbox_workspace_write.network_access",
            json!(order.needs_network && calls.is_none()),
        ),
        ("shell_environment_policy.inherit", json!("all")),
        // A login shell would lose the search path, and might then not find this `fp`.
        ("allow_login_shell", json!(false)),
        ("features.multi_agent", json!(false)),
        ("web_search", json!("disabled")),
        ("project_doc_fallback_filenames", json!(["CLAUDE.md"])),
    ];
    // Strings and lists of strings are written the same way in TOML and JSON.
    for (key, value) in settings {
        command.args(["-c", &format!("{key}={value}")]);
    }
    if let Some(model) = &order.player.model {
        command.args(["-m", model]);
    }
    if let Some(effort) = &order.player.effort {
        command.args(["-c", &format!("model_reasoning_effort={}", json!(effort))]);
    }
    if let Some(session) = order.session {
        command.args(["resume", session]);
    }
    // The prompt comes from stdin.
    command.arg("-");
    AgentCommand {
        command,
        input: order.whole_prompt(order.session.is_some()),
        session: None,
    }
}

/// Git's folder for the worktree `place`; the sandbox write-protects that folder by default. Its builder can write the
/// file that names the folder, so only one below `writes` counts, which the builder may write anyway.
fn git_folder_of(place: &Path, writes: &[PathBuf]) -> Option<PathBuf> {
    let text = file::read_text(&place.join(".git"), MAX_GIT_FILE).ok()?;
    let folder = real_path(place.join(text.strip_prefix("gitdir:")?.trim())).ok()?;
    let is_inside = |write: &PathBuf| real_path(write).is_ok_and(|write| folder.starts_with(write));
    writes.iter().any(is_inside).then_some(folder)
}

pub(super) fn parse_news(line: &Value) -> Vec<AgentNews> {
    let item = &line["item"];
    let news = match (line["type"].as_str(), item["type"].as_str()) {
        (Some("thread.started"), _) => session_of(&line["thread_id"]),
        (Some("item.started"), Some("command_execution")) => {
            let command = item["command"].as_str().unwrap_or_default();
            Some(AgentNews::Doing(short_line(command)))
        }
        (Some("item.completed"), Some("file_change")) => {
            let path = item["changes"][0]["path"].as_str().unwrap_or_default();
            Some(AgentNews::Doing(short_line(&format!("edit {path}"))))
        }
        (Some("item.completed"), Some("agent_message")) => said_news(&item["text"]),
        (Some("turn.completed"), _) => return news_of_turn(&line["usage"]),
        (Some("error"), _) => {
            let said = line["message"].as_str().unwrap_or("an error");
            Some(AgentNews::Waiting(short_line(said)))
        }
        (Some("turn.failed"), _) => {
            let said = line["error"]["message"].as_str().unwrap_or("it failed");
            Some(AgentNews::Fault(fault_of(said)))
        }
        _ => None,
    };
    Vec::from_iter(news)
}

fn news_of_turn(usage: &Value) -> Vec<AgentNews> {
    let cached = number(&usage["cached_input_tokens"]);
    let tokens = TokenUse {
        input: number(&usage["input_tokens"]).saturating_sub(cached),
        cached,
        output: number(&usage["output_tokens"]),
    };
    let spent = AgentNews::Spent {
        turns: 1,
        tokens: TokenUse::default(),
        micro_usd: None,
    };
    let total = AgentNews::SessionTotal {
        tokens: Some(tokens),
        micro_usd: None,
    };
    vec![spent, total]
}

/// Phrases in messages about problems that the user has to solve first.
const REFUSALS: &str = "status 401|status 402|status 403|status 404|quota exceeded|missing environment variable|model_not_found|invalid_request_error";
/// Phrases in messages about failures that a retry may resolve.
const AWAY: &str = "limit|429|status 5|capacity|overload|connect|network|timed out|timeout";

/// Recognises the kind of fault by phrases in the message, since it has no error code.
fn fault_of(said: &str) -> ServiceFault {
    let lower = said.to_ascii_lowercase();
    let has = |words: &str| words.split('|').any(|word| lower.contains(word));
    let told = short_line(&format!("codex says: {said}"));
    if has("context_length|context window") {
        return ServiceFault::SessionLost(told);
    }
    match (has(REFUSALS), has(AWAY)) {
        (true, _) => ServiceFault::Refused(told),
        (false, true) => ServiceFault::Away(told),
        (false, false) => ServiceFault::Unknown(told),
    }
}
