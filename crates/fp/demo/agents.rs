//! The demonstration needs no model: scripted agents do fixed work for each task, and a scripted verifier relies on the
//! checks alone.

use std::path::Path;

use serde_json::Value;

use super::{DemoStage, stage};
use crate::error::CommandError;

/// The builder's work on `task` in `iteration`: 2.1 succeeds on the second attempt, 2.2 never.
fn work(task: &str, iteration: u64) -> (&'static str, &'static str) {
    match (task, iteration) {
        ("1.1", _) => ("texts/greeting.txt", "Hello, {name}!\n"),
        ("1.2", _) => ("texts/farewell.txt", "Goodbye, {name}!\n"),
        ("2.1", 1) => ("usage.txt", "  --greet\n"),
        ("2.1", _) => ("usage.txt", "  --greet\n  --farewell\n"),
        ("2.2", 1) => ("texts/greeting.ko.txt", "안녕하세요!\n"),
        ("2.2", _) => ("texts/greeting.ko.txt", "안녕!\n"),
        _ => ("languages.txt", "en\nko\n"),
    }
}

/// Plays a builder, which claims, works and submits, unless there is nothing to claim or a verdict is due.
pub(super) fn build_task(stage: &DemoStage, plan: &str, name: &str) -> Result<(), CommandError> {
    let args = ["claim", plan, "--as", name, "--format", "json"];
    let (text, status) = stage.fp_allowing(&args, &[0, 1, 3])?;
    let claim: Value = match status {
        0 => serde_json::from_str(&text).unwrap_or_default(),
        _ => return Ok(()),
    };
    let (task, iteration) = (
        claim["task"].as_str().unwrap_or_default(),
        &claim["iteration"],
    );
    stage.step(name, &format!("claims task {task}, attempt {iteration}"));
    let token = claim["claim"].as_str().unwrap_or_default();
    let (file, text) = work(task, iteration.as_u64().unwrap_or(1));
    let place = claim["worktree"].as_str().map_or(stage.folder(), Path::new);
    stage::write(&place.join(file), text)?;
    stage.fp(&["submit", plan, task, "--claim", token])?;
    stage.step(name, &format!("hands task {task} in"));
    Ok(())
}

/// Plays a verifier, which runs the checks and passes every criterion if none of them failed.
pub(super) fn judge_task(
    stage: &DemoStage,
    plan: &str,
    name: &str,
    task: &str,
) -> Result<(), CommandError> {
    let verified = stage.json(&["verify", plan, task])?;
    let checks = verified["checks"].as_array().map_or(&[][..], Vec::as_slice);
    let failed = checks.iter().any(|check| check["verdict"] == "fail");
    let (flag, reason) = if failed {
        ("--fail", "its test command does not find it")
    } else {
        ("--pass", "its test command finds it")
    };
    let count = verified["criteria"].as_array().map_or(0, Vec::len);
    let judgements: Vec<String> = (1..=count).map(|n| format!("{n}: {reason}")).collect();
    let mut args = vec![
        "verdict",
        plan,
        task,
        "--summary",
        "judged by the checks alone",
    ];
    judgements
        .iter()
        .for_each(|judgement| args.extend([flag, judgement.as_str()]));
    let verdict = stage.json(&args)?;
    let outcome = match (verdict["commit"].as_str(), verdict["status"].as_str()) {
        (Some(commit), _) => format!("passed, commit {}", &commit[..7.min(commit.len())]),
        (None, Some("IMPLEMENTING")) => format!("failed ({reason}), back to its builder"),
        (None, Some("FAILED")) => "failed for good".to_owned(),
        (None, _) => "passed, without a commit".to_owned(),
    };
    stage.step(name, &format!("judges task {task}: {outcome}"));
    Ok(())
}
