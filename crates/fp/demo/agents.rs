//! The scripted agents: what a builder writes for each task, and a verifier that goes by the checks alone.

use std::path::Path;

use serde_json::{Value, json};

use super::{DemoStage, stage};
use crate::error::CommandError;

/// The task whose builder stops in the middle of it, once.
const STALLS: &str = "1.2";

/// What the builder writes for `task` in `iteration`: 2.1 comes right the second time, 2.2 never does.
fn work(task: &str, iteration: u64) -> (&'static str, &'static str) {
    match (task, iteration) {
        ("1.1", _) => ("texts/greeting.txt", "Hello, {name}!\n"),
        ("1.2", _) => ("texts/farewell.txt", "Goodbye, {name}!\n"),
        ("2.1", 1) => ("usage.txt", "  --greet\n"),
        ("2.1", _) => ("usage.txt", "  --greet\n  --farewell\n"),
        ("2.2", _) => ("texts/greeting.ko.txt", "안녕하세요!\n"),
        _ => ("languages.txt", "en\nko\n"),
    }
}

pub(super) struct DemoBuilder<'a> {
    pub(super) stage: &'a DemoStage,
    pub(super) plan: &'a str,
    pub(super) name: &'a str,
}

impl DemoBuilder<'_> {
    /// Claims, works and hands in, until there is nothing to claim or a verdict is due.
    pub(super) fn turn(&self) -> Result<(), CommandError> {
        let Some(claim) = self.claim()? else { return Ok(()) };
        let (task, iteration) = (claim["task"].as_str().unwrap_or_default(), &claim["iteration"]);
        self.stage.step(self.name, &format!("claims task {task}, iteration {iteration}"));
        if task == STALLS && self.stops()? {
            self.stage.step(self.name, "stops in the middle, is nudged by the hook, and goes on");
        }
        let Some(claim) = self.claim()? else { return Ok(()) };
        let token = claim["claim"].as_str().unwrap_or_default();
        let (file, text) = work(task, iteration.as_u64().unwrap_or(1));
        let place = claim["worktree"].as_str().map_or(self.stage.folder(), Path::new);
        stage::write(&place.join(file), text)?;
        self.stage.fp(&["submit", self.plan, task, "--claim", token])?;
        self.stage.step(self.name, &format!("hands task {task} in"));
        Ok(())
    }

    fn claim(&self) -> Result<Option<Value>, CommandError> {
        let args = ["claim", self.plan, "--as", self.name, "--format", "json"];
        let (text, status) = self.stage.fp_allowing(&args, &[0, 1, 3])?;
        Ok(if status == 0 { serde_json::from_str(&text).ok() } else { None })
    }

    /// Ends its turn as the client would see it; whether the hook made it go on.
    fn stops(&self) -> Result<bool, CommandError> {
        let event = json!({
            "hook_event_name": "TeammateIdle", "teammate_name": self.name, "agent_type": self.name,
            "cwd": self.stage.folder(), "session_id": "demo",
        });
        Ok(self.stage.hook("teammate-idle", &event)?.contains("\"block\""))
    }
}

pub(super) struct DemoVerifier<'a> {
    pub(super) stage: &'a DemoStage,
    pub(super) plan: &'a str,
    pub(super) name: &'a str,
    pub(super) task: &'a str,
}

impl DemoVerifier<'_> {
    /// Runs the checks and judges by them: a criterion is met when no check failed.
    pub(super) fn turn(&self) -> Result<(), CommandError> {
        let verified = self.stage.json(&["verify", self.plan, self.task])?;
        let no_checks = Vec::new();
        let checks = verified["checks"].as_array().unwrap_or(&no_checks);
        let failed = checks.iter().find(|check| check["verdict"] == "fail");
        let flag = if failed.is_some() { "--fail" } else { "--pass" };
        let reason = match failed.and_then(|check| check["name"].as_str()) {
            Some(name) if name.starts_with("command") => "its test command does not find it",
            Some(_) => "a mechanical check failed",
            None => "its test command finds it",
        };
        let count = verified["criteria"].as_array().map_or(0, Vec::len);
        let judgements: Vec<String> = (1..=count).map(|n| format!("{n}: {reason}")).collect();
        let mut args = vec!["verdict", self.plan, self.task, "--summary", "judged by the checks alone"];
        judgements.iter().for_each(|judgement| args.extend([flag, judgement.as_str()]));
        let verdict = self.stage.json(&args)?;
        let outcome = match (verdict["commit"].as_str(), verdict["status"].as_str()) {
            (Some(commit), _) => format!("passed, commit {}", &commit[..7.min(commit.len())]),
            (None, Some("IMPLEMENTING")) => format!("failed ({reason}), back to its builder"),
            (None, Some("FAILED")) => "failed for good".to_owned(),
            (None, _) => "passed, without a commit".to_owned(),
        };
        self.stage.step(self.name, &format!("judges task {}: {outcome}", self.task));
        Ok(())
    }
}
