//! `fp linear`: remembers which issue in Linear each task of a plan has. An agent talks to Linear; the tasks from `fp
//! export` and the issues recorded here keep it from creating an issue twice.

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_plan::plan::id::{LinearId, TaskId};
use fp_plan::settings::Linear;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// The mapping's file in the plan's folder. Version 0.1 wrote it too; fields that aren't read here are preserved.
const MAPPING: &str = "linear-mapping.json";
/// Largest mapping that is read, in bytes.
const CAP: u64 = 1024 * 1024;
const VERSION: u64 = 1;

/// Print which issue in Linear each task has, or record one
///
/// Prints nothing while `linear.enabled` is false.
#[derive(Debug, clap::Args)]
pub(crate) struct LinearArgs {
    /// The plan.
    plan: String,
    /// The task whose issue was created or found.
    #[arg(requires = "issue")]
    task: Option<TaskId>,
    /// Its issue, by id or identifier.
    issue: Option<LinearId>,
}

pub(crate) fn run(args: LinearArgs, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    if !plan.settings.linear.enabled {
        return Ok(Exit::Done);
    }
    if let (Some(task), Some(issue)) = (args.task, args.issue) {
        return record_issue(&plan, &task, &issue, context);
    }
    let issues = issues_of(&mapping_of(&plan)?);
    let Linear {
        team,
        project,
        status_map,
        ..
    } = &plan.settings.linear;
    let json = json!({
        "planId": plan.id(), "team": team, "project": project, "statusMap": status_map, "issues": issues,
    });
    let mut text = String::new();
    for (what, name) in [("team", team), ("project", project)] {
        text.extend(name.iter().map(|name| format!("{what}: {name}\n")));
    }
    let lines = issues.iter().flat_map(serde_json::Map::iter);
    text.extend(lines.map(|(task, issue)| format!("{task} {}\n", issue.as_str().unwrap_or("?"))));
    context.report(&json, &text)
}

fn record_issue(
    plan: &OpenPlan,
    task: &TaskId,
    issue: &LinearId,
    context: &Context,
) -> CommandResult {
    if context.tree(plan)?.parse().find(task.as_str()).is_none() {
        return Err(
            CommandError::refused(format!("the plan has no task {task}"))
                .with_hint(format!("`fp show {}` shows its tasks", plan.id())),
        );
    }
    let _lock = plan.lock()?;
    let mut mapping = mapping_of(plan)?;
    mapping["tasks"][task.as_str()]["linearIssueId"] = json!(issue);
    file::atomic_write(&plan.folder.file(MAPPING), mapping.to_string().as_bytes())?;
    context.report(
        &json!({ "task": task, "issue": issue }),
        &format!("{task} {issue}\n"),
    )
}

/// The mapping of `plan`; empty if it has no file.
fn mapping_of(plan: &OpenPlan) -> Result<Value, CommandError> {
    let path = plan.folder.file(MAPPING);
    let Some(text) = file::read_text_if_there(&path, CAP)? else {
        return Ok(json!({ "schemaVersion": VERSION, "planId": plan.id(), "tasks": {} }));
    };
    let mapping: Option<Value> = serde_json::from_str(&text).ok();
    let fits = |mapping: &Value| {
        let version = mapping["schemaVersion"].as_u64().unwrap_or(VERSION);
        version <= VERSION && issues_of(mapping).is_some()
    };
    mapping.filter(fits).ok_or_else(|| {
        CommandError::failed(format!("{} is no mapping of tasks to issues", path.display()))
            .with_hint("update fp if a newer one wrote it; otherwise move it away: each issue names its task in its description")
    })
}

/// The known issues, by task id.
fn issues_of(mapping: &Value) -> Option<serde_json::Map<String, Value>> {
    let issue = |(task, entry): (&String, &Value)| {
        let issue = entry["linearIssueId"].as_str()?;
        let is_id = LinearId::new(issue).is_ok() && TaskId::new(task.as_str()).is_ok();
        is_id.then(|| (task.clone(), json!(issue)))
    };
    mapping["tasks"].as_object()?.iter().map(issue).collect()
}
