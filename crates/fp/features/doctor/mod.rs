//! `fp doctor`: checks a plan or the setup, and names the command that fixes each fault. A check that finds nothing says
//! so, so that you see what was checked.

mod git;
mod hooks;
mod place;
mod plan;
mod setup;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use fp_host::plan::OpenPlan;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{counted, first_few, visible_line, wrapped};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;
use crate::theme::Look;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Check the setup or a plan, and show how to fix what is wrong
///
/// Without a plan it checks Claude Code, the plugin and its hooks, git, and the settings. It changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// The plan to check, instead of the setup.
    plan: Option<String>,
    /// Fix what can be fixed automatically: rebuild what follows from the log.
    #[arg(long, requires = "plan")]
    fix: bool,
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH", conflicts_with = "plan")]
    client: Option<PathBuf>,
}

pub(crate) fn run(args: DoctorArgs, context: &Context) -> CommandResult {
    let (mut report, head, findings) = match args.plan {
        Some(plan) => of_plan(&plan, args.fix, context)?,
        None => of_setup(args.client.as_deref(), context),
    };
    let (errors, warnings) = counts(&findings);
    report["errors"] = errors.into();
    report["warnings"] = warnings.into();
    context.styled_report(&report, &(head + &text(&findings)))?;
    Ok(if errors > 0 {
        Exit::Findings
    } else {
        Exit::Done
    })
}

/// The report without its counts, the first lines of the text, and the findings.
type DoctorReport = (Value, String, Vec<DoctorFinding>);

fn of_setup(client: Option<&Path>, context: &Context) -> DoctorReport {
    let findings = setup::examine(context, client);
    let checks: Vec<Value> = findings.iter().map(DoctorFinding::as_check).collect();
    (
        json!({ "version": VERSION, "checks": checks }),
        format!("Setup of fp {VERSION}\n"),
        findings,
    )
}

fn of_plan(plan: &str, fix: bool, context: &Context) -> Result<DoctorReport, CommandError> {
    let folder = context.plans()?.resolve(plan)?;
    // Settings of the plan that can't be read are a finding of their own.
    let settings = context
        .settings_for(&folder)
        .or_else(|_| context.settings().cloned())?;
    let plan = OpenPlan::new(context.repo().clone(), settings, folder);
    let mut findings = plan::examine(&plan);
    let mut mended = Vec::new();
    if fix {
        mended = plan::fix(&plan, &findings)?;
        findings = plan::examine(&plan);
    }
    let fixed: String = mended
        .iter()
        .map(|line| format!("  fixed    {line}\n"))
        .collect();
    let report = json!({ "planId": plan.id(), "mended": mended, "findings": findings });
    Ok((report, format!("Plan {}\n{fixed}", plan.id()), findings))
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub(crate) enum DoctorLevel {
    Ok,
    /// Work can continue.
    Warning,
    /// Work can't continue, or a part of a plan is lost.
    Error,
}

/// A fix that takes no judgement, and touches only files that follow from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoctorFix {
    /// The log ends in half a line.
    DropTornLine,
    /// The snapshot does not match the log.
    RebuildSnapshot,
    /// Evidence files are missing.
    WriteEvidence,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorFinding {
    check: &'static str,
    pub(crate) level: DoctorLevel,
    pub(crate) detail: String,
    /// The command that fixes it, where one does.
    command: Option<String>,
    #[serde(skip)]
    fix: Option<DoctorFix>,
}

impl DoctorFinding {
    pub(crate) fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            check,
            level: DoctorLevel::Ok,
            detail: detail.into(),
            command: None,
            fix: None,
        }
    }

    pub(crate) fn warning(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            level: DoctorLevel::Warning,
            ..Self::ok(check, detail)
        }
    }

    pub(crate) fn error(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            level: DoctorLevel::Error,
            ..Self::ok(check, detail)
        }
    }

    /// An error of another part of the program, with its hints.
    pub(crate) fn of_error(check: &'static str, error: impl Into<CommandError>) -> Self {
        let CommandError { message, hints, .. } = error.into();
        let parts: Vec<String> = [message].into_iter().chain(hints).collect();
        Self::error(check, parts.join("; "))
    }

    pub(crate) fn fixed_by(self, command: impl Into<String>) -> Self {
        Self {
            command: Some(command.into()),
            ..self
        }
    }

    /// With a fix that `fp doctor PLAN --fix` makes.
    fn fixable(self, plan: &PlanId, fix: DoctorFix) -> Self {
        Self {
            fix: Some(fix),
            ..self.fixed_by(format!("fp doctor {plan} --fix"))
        }
    }

    /// Its JSON in a report on the setup.
    fn as_check(&self) -> Value {
        let mut check = json!({ "name": self.check, "level": self.level, "detail": self.detail });
        if let Some(command) = &self.command {
            check["fix"] = command.as_str().into();
        }
        check
    }
}

/// Numbers of errors and of warnings.
fn counts(findings: &[DoctorFinding]) -> (usize, usize) {
    let count = |level: DoctorLevel| findings.iter().filter(|found| found.level == level).count();
    (count(DoctorLevel::Error), count(DoctorLevel::Warning))
}

/// Most ids that a finding lists.
const LISTED: usize = 5;

/// The first of `ids`, and the number of the others.
fn listed_tasks<'a>(ids: impl IntoIterator<Item = &'a TaskId>) -> String {
    let ids: Vec<&str> = ids.into_iter().map(TaskId::as_str).collect();
    match ids.len() {
        1 => format!("task {}", ids[0]),
        _ => format!("tasks {}", first_few(&ids, LISTED)),
    }
}

/// Shows paths below `folder` as `shown`.
fn show_paths(findings: &mut [DoctorFinding], folder: &Path, shown: &str) {
    let folder = folder.join("").display().to_string();
    for finding in findings {
        finding.detail = finding.detail.replace(&folder, shown);
    }
}

/// Columns in front of a finding's words.
const MARGIN: usize = 24;

fn text(findings: &[DoctorFinding]) -> String {
    let mut text = String::new();
    for found in findings {
        let look = match found.level {
            DoctorLevel::Ok => Look::Done,
            DoctorLevel::Warning => Look::Building,
            DoctorLevel::Error => Look::Failed,
        };
        let level = look.paint(found.level.into_str());
        let pad = " ".repeat(7 - found.level.into_str().len());
        let lines = wrapped(&visible_line(&found.detail), WIDTH - MARGIN);
        let detail = lines.join(&format!("\n{:MARGIN$}", ""));
        text.push_str(&format!("  {level}{pad}  {:<13}{detail}\n", found.check));
        if let Some(command) = &found.command {
            // A command is not broken, so that it can be copied.
            let command = Look::Hint.paint(&visible_line(command));
            text.push_str(&format!("{:MARGIN$}→ {command}\n", ""));
        }
    }
    let (errors, warnings) = counts(findings);
    let parts: Vec<String> = [(errors, "error"), (warnings, "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    let sum = if parts.is_empty() {
        "Everything looks good".to_owned()
    } else {
        parts.join(", ")
    };
    text + &format!("\n{sum}\n")
}
