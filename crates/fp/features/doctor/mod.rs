//! `fp doctor`: checks the setup, and names the command that fixes each problem. A check without findings says so, to
//! show that it ran.

mod git;
mod setup;
#[cfg(test)]
mod tests;

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use fp_host::platform::HOME;
use fp_plan::text::{counted, visible_line, wrapped};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;
use crate::theme::Look;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Check the setup, and show how to fix what is wrong
///
/// It checks Claude Code, the plugin and its hooks, git, and the settings, and suggests Claude Code settings. It
/// changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
}

pub(crate) fn run(args: DoctorArgs, context: &Context) -> CommandResult {
    let mut report = setup::examine_setup(context, args.client.as_deref());
    if context.repo().git_dir.is_some() {
        report.shorten_paths(&context.repo().root, "");
    }
    let home = context.env(HOME).map(PathBuf::from);
    if let Some(home) = home.filter(|home| home.is_absolute() && home.parent().is_some()) {
        report.shorten_paths(&home, &format!("~{MAIN_SEPARATOR}"));
    }
    let (errors, warnings) = (
        report.count_at(DoctorLevel::Error),
        report.count_at(DoctorLevel::Warning),
    );
    report.facts["findings"] = json!(report.findings);
    report.facts["errors"] = errors.into();
    report.facts["warnings"] = warnings.into();
    let parts = [(errors, "error"), (warnings, "warning")].into_iter();
    let parts = parts.filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| counted(count, what)).collect();
    let sum = match parts.is_empty() {
        true => "Everything looks good".to_owned(),
        false => parts.join(", "),
    };
    let lines: String = report
        .findings
        .iter()
        .map(DoctorFinding::to_lines)
        .collect();
    let offer = report.offer;
    let text = format!("Setup of fp {VERSION}\n{lines}\n{sum}\n{offer}");
    context.styled_report(&report.facts, &text)?;
    Ok(match errors {
        0 => Exit::Done,
        _ => Exit::Findings,
    })
}

/// The findings about the setup.
struct DoctorReport {
    /// The fields at the beginning of the JSON.
    facts: Value,
    findings: Vec<DoctorFinding>,
    /// The suggested client settings, in words.
    offer: String,
}

impl DoctorReport {
    /// Replaces `folder` with `shown` in the paths that the findings mention.
    fn shorten_paths(&mut self, folder: &Path, shown: &str) {
        let folder = folder.join("").display().to_string();
        for finding in &mut self.findings {
            finding.detail = finding.detail.replace(&folder, shown);
        }
    }

    fn count_at(&self, level: DoctorLevel) -> usize {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.level == level).count()
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
enum DoctorLevel {
    Ok,
    /// Work can continue.
    Warning,
    /// Work can't continue.
    Error,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DoctorFinding {
    check: &'static str,
    level: DoctorLevel,
    detail: String,
    /// The command that fixes the problem, if there is one.
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

    /// Converts an error from another part of the program, along with its hints.
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

    fn to_lines(&self) -> String {
        let look = match self.level {
            DoctorLevel::Ok => Look::Done,
            DoctorLevel::Warning => Look::Building,
            DoctorLevel::Error => Look::Failed,
        };
        let level = look.paint(self.level.into_str());
        let pad = " ".repeat(7 - self.level.into_str().len());
        let lines = wrapped(&visible_line(&self.detail), WIDTH - MARGIN);
        let detail = lines.join(&format!("\n{:MARGIN$}", ""));
        let mut text = format!("  {level}{pad}  {:<13}{detail}\n", self.check);
        if let Some(command) = &self.command {
            // A command isn't wrapped, so that it can be copied.
            let command = Look::Hint.paint(&visible_line(command));
            text += &format!("{:MARGIN$}→ {command}\n", "");
        }
        text
    }
}

/// Indentation of a finding's text, in columns.
const MARGIN: usize = 24;
