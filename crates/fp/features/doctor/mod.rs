//! `fp doctor`: checks a plan or the setup, and names the command that fixes each fault. A check that finds nothing says
//! so, so that you see what was checked.

mod git;
mod plan;
mod setup;
#[cfg(test)]
mod tests;

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use fp_host::plan::OpenPlan;
use fp_host::platform::HOME;
use fp_plan::text::{counted, visible_line, wrapped};
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;
use crate::theme::Look;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Check the setup or a plan, and show how to fix what is wrong
///
/// Without a plan it checks Claude Code, the plugin and its hooks, git, and the settings, and prints what you may want in
/// Claude Code's settings. It changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// The plan to check, instead of the setup.
    plan: Option<String>,
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH", conflicts_with = "plan")]
    client: Option<PathBuf>,
}

pub(crate) fn run(args: DoctorArgs, context: &Context) -> CommandResult {
    let (mut report, head, mut findings, tail) = match args.plan {
        Some(plan) => {
            let folder = context.plans()?.resolve(&plan)?;
            // Settings of the plan that can't be read are a finding of their own.
            let settings = context
                .settings_for(&folder)
                .or_else(|_| context.settings().cloned())?;
            let plan = OpenPlan::new(context.repo().clone(), settings, folder);
            let mut findings = plan::examine(&plan);
            show_paths(&mut findings, plan.folder.path(), "");
            let head = format!("Plan {}\n", plan.id());
            (
                json!({ "planId": plan.id() }),
                head,
                findings,
                String::new(),
            )
        }
        None => {
            let setup = setup::examine(context, args.client.as_deref());
            let report = json!({ "version": VERSION, "offered": setup.offered });
            let tail = setup.offer();
            (
                report,
                format!("Setup of fp {VERSION}\n"),
                setup.findings,
                tail,
            )
        }
    };
    if context.repo().git_dir.is_some() {
        show_paths(&mut findings, &context.repo().root, "");
    }
    let home = context.env(HOME).map(PathBuf::from);
    if let Some(home) = home.filter(|home| home.is_absolute() && home.parent().is_some()) {
        show_paths(&mut findings, &home, &format!("~{MAIN_SEPARATOR}"));
    }
    let (errors, warnings) = counts(&findings);
    report["findings"] = json!(findings);
    report["errors"] = errors.into();
    report["warnings"] = warnings.into();
    context.styled_report(&report, &(head + &text_of(&findings) + &tail))?;
    Ok(if errors > 0 {
        Exit::Findings
    } else {
        Exit::Done
    })
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
enum DoctorLevel {
    Ok,
    /// Work can continue.
    Warning,
    /// Work can't continue, or a part of a plan is lost.
    Error,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DoctorFinding {
    check: &'static str,
    level: DoctorLevel,
    detail: String,
    /// The command that fixes it, where one does.
    command: Option<String>,
}

impl DoctorFinding {
    fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            check,
            level: DoctorLevel::Ok,
            detail: detail.into(),
            command: None,
        }
    }

    fn warning(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            level: DoctorLevel::Warning,
            ..Self::ok(check, detail)
        }
    }

    fn error(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            level: DoctorLevel::Error,
            ..Self::ok(check, detail)
        }
    }

    /// An error of another part of the program, with its hints.
    fn of_error(check: &'static str, error: impl Into<CommandError>) -> Self {
        let CommandError { message, hints, .. } = error.into();
        let parts: Vec<String> = [message].into_iter().chain(hints).collect();
        Self::error(check, parts.join("; "))
    }

    fn fixed_by(self, command: impl Into<String>) -> Self {
        Self {
            command: Some(command.into()),
            ..self
        }
    }
}

/// Numbers of errors and of warnings.
fn counts(findings: &[DoctorFinding]) -> (usize, usize) {
    let count = |level: DoctorLevel| findings.iter().filter(|found| found.level == level).count();
    (count(DoctorLevel::Error), count(DoctorLevel::Warning))
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

fn text_of(findings: &[DoctorFinding]) -> String {
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
