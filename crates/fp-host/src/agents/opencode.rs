//! OpenCode: `opencode run`, with the role's page as an agent in its configuration. Anything that would need a
//! permission prompt is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fp_run::run::state::Role;
use serde_json::{Value, json};

use super::{
    AgentCommand, AgentNews, AgentOrder, OwnPlaces, ServiceFault, TokenUse, micro_usd, number,
    said_news, session_of, short_line, use_of,
};
use crate::platform::UserFolder;

/// The environment variable whose configuration overrides the configuration files.
const CONFIGURATION: &str = "OPENCODE_CONFIG_CONTENT";
/// The agent's name in that configuration.
const AGENT: &str = "fp";

/// The places that OpenCode writes for itself.
pub(super) fn own_places() -> OwnPlaces {
    let of_user = [UserFolder::Data, UserFolder::State, UserFolder::Cache];
    let env = |name: &str| std::env::var_os(name);
    let places = of_user.map(|folder| folder.path_on(std::env::consts::OS, env));
    let places = places.into_iter().flatten();
    let writes: Vec<PathBuf> = places.map(|folder| folder.join("opencode")).collect();
    // It makes those that it needs; in a sandbox it couldn't.
    writes
        .iter()
        .for_each(|path| drop(fs::create_dir_all(path)));
    OwnPlaces {
        writes,
        locks: None,
    }
}

pub(super) fn build_command(path: &Path, order: &AgentOrder<'_>) -> AgentCommand {
    let known = std::env::var(CONFIGURATION)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .filter(Value::is_object);
    let configuration = configuration(known.unwrap_or_else(|| json!({})), order);
    let mut command = Command::new(path);
    command
        .args(["run", "--format", "json", "--agent", AGENT])
        .arg("--dir")
        .arg(order.cwd)
        .env(CONFIGURATION, configuration.to_string())
        .args(order.model_args("--model", "--variant"));
    if let Some(session) = order.session {
        command.args(["--session", session]);
    }
    AgentCommand {
        command,
        input: order.prompt.to_owned(),
        session: None,
    }
}

/// The user's `known` configuration, with the agent and its permissions added.
fn configuration(mut known: Value, order: &AgentOrder<'_>) -> Value {
    let (own, edit): (&[&str], _) = match order.role {
        Role::Builder => (&["claim", "submit", "scope", "clarify", "note"], "allow"),
        Role::Verifier => (&["verify", "verdict"], "deny"),
    };
    let mut shell = json!({ "*": "deny" });
    for command in own {
        shell[format!("fp {command} *")] = "allow".into();
    }
    for rule in order.allow {
        let command = rule
            .strip_prefix("Bash(")
            .and_then(|rest| rest.strip_suffix(')'));
        if let Some(command) = command {
            shell[command] = "allow".into();
        }
    }
    known["permission"] =
        json!({ "edit": edit, "webfetch": "deny", "external_directory": "deny", "bash": shell });
    if !known["agent"].is_object() {
        known["agent"] = json!({});
    }
    known["agent"][AGENT] = json!({ "mode": "primary", "prompt": order.page,
        "tools": { "task": false, "webfetch": false, "todowrite": false, "skill": false } });
    known
}

pub(super) fn parse_news(line: &Value) -> Vec<AgentNews> {
    let part = &line["part"];
    let mut news = Vec::from_iter(session_of(&line["sessionID"]));
    match line["type"].as_str() {
        Some("tool_use") => {
            news.push(AgentNews::Doing(use_of(
                &part["tool"],
                &part["state"]["input"],
            )));
        }
        Some("text") => news.extend(said_news(&part["text"])),
        Some("step_finish") => {
            let tokens = &part["tokens"];
            news.push(AgentNews::Spent {
                turns: 1,
                tokens: TokenUse {
                    input: number(&tokens["input"])
                        .saturating_add(number(&tokens["cache"]["write"])),
                    cached: number(&tokens["cache"]["read"]),
                    output: number(&tokens["output"]).saturating_add(number(&tokens["reasoning"])),
                },
                micro_usd: micro_usd(&part["cost"]).filter(|cost| *cost > 0),
            });
        }
        Some("error") => {
            let error = &line["error"];
            let said = error["data"]["message"]
                .as_str()
                .or(error["name"].as_str())
                .unwrap_or("it failed");
            let told = short_line(&format!("opencode says: {said}"));
            let fault = ServiceFault::of_status(error["data"]["statusCode"].as_u64(), told);
            news.push(AgentNews::Fault(fault));
        }
        _ => {}
    }
    news
}
