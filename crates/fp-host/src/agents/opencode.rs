//! OpenCode: `opencode run`. The role's page is part of the prompt.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{AgentCommand, AgentNews, AgentOrder, ServiceFault, TokenUse, micro_usd, number, told, use_of};

pub(super) fn command(path: &Path, order: &AgentOrder<'_>) -> AgentCommand {
    let mut command = Command::new(path);
    command.args(["run", "--format", "json", "--auto"]).arg("--dir").arg(order.cwd);
    for (flag, value) in [("--model", &order.player.model), ("--variant", &order.player.effort)] {
        command.args(value.iter().flat_map(|value| [flag, value]));
    }
    if let Some(session) = order.session {
        command.args(["--session", session]);
    }
    command.args(&order.player.args);
    AgentCommand { command, input: order.whole_prompt(), session: None }
}

pub(super) fn read(line: &Value) -> Vec<AgentNews> {
    let part = &line["part"];
    let mut news: Vec<AgentNews> =
        line["sessionID"].as_str().map(|id| AgentNews::Session(id.to_owned())).into_iter().collect();
    match line["type"].as_str() {
        Some("tool_use") => {
            news.push(AgentNews::Doing(use_of(
                part["tool"].as_str().unwrap_or("?"),
                &part["state"]["input"],
            )));
        }
        Some("step_finish") => {
            let tokens = &part["tokens"];
            news.push(AgentNews::Spent {
                turns: 1,
                tokens: TokenUse {
                    input: number(&tokens["input"]).saturating_add(number(&tokens["cache"]["write"])),
                    cached: number(&tokens["cache"]["read"]),
                    output: number(&tokens["output"]).saturating_add(number(&tokens["reasoning"])),
                },
                micro_usd: micro_usd(&part["cost"]).filter(|cost| *cost > 0),
            });
        }
        Some("error") => {
            let error = &line["error"];
            let said = error["data"]["message"].as_str().or(error["name"].as_str()).unwrap_or("it failed");
            let told = told(&format!("opencode says: {said}"));
            let fault = match error["data"]["statusCode"].as_u64() {
                Some(400..=404) => ServiceFault::Refused(told),
                _ => ServiceFault::Away(told),
            };
            news.push(AgentNews::Fault(fault));
        }
        _ => {}
    }
    news
}
