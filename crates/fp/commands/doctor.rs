//! `fp doctor`.

use std::path::PathBuf;

use fp_core::doctor::{Finding, Level};
use fp_host::doctor::setup::{self, Setup};
use fp_host::doctor::{examine, mend};
use fp_host::plan::OpenPlan;
use serde_json::{Value, json};

use crate::assets;
use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::doctor;

/// Look for what is wrong with the setup or with a plan, and say what mends it
///
/// Without a plan: Claude Code, the plugin in it and its hooks, git and what a commit needs, the settings, what
/// interrupted runs have left, and the room on the disk. Nothing is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; without one the setup is looked at.
    plan: Option<String>,
    /// Mend what takes no judgement: what follows from the log is made anew, what killed processes left is removed.
    #[arg(long, requires = "plan")]
    fix: bool,
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH", conflicts_with = "plan")]
    client: Option<PathBuf>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    match args.plan {
        Some(plan) => of_plan(&plan, args.fix, context),
        None => of_setup(args.client, context),
    }
}

fn of_setup(client: Option<PathBuf>, context: &Context) -> CommandResult {
    let hooks = assets::plugin_file("hooks/hooks.json").expect("the plugin has hooks");
    let version = env!("CARGO_PKG_VERSION");
    let findings = setup::examine(&Setup {
        cwd: &context.cwd,
        repo: context.repo(),
        env: &|name| context.env(name),
        client: client.as_deref(),
        version,
        hooks,
        now: context.now(),
    });
    let (errors, warnings) = counts(&findings);
    match context.format {
        Format::Json => {
            let checks: Vec<Value> = findings.iter().map(check).collect();
            let report =
                json!({ "version": version, "errors": errors, "warnings": warnings, "checks": checks });
            context.printer.json(&report)?;
        }
        Format::Text => context.printer.data(&doctor::setup(version, &findings)),
    }
    Ok(if errors > 0 { Exit::Findings } else { Exit::Done })
}

fn check(found: &Finding) -> Value {
    let mut check = json!({ "name": found.check, "level": found.level, "detail": found.detail });
    if let Some(command) = &found.command {
        check["fix"] = command.as_str().into();
    }
    check
}

fn of_plan(plan: &str, fix: bool, context: &Context) -> CommandResult {
    let folder = context.plans()?.resolve(plan)?;
    // Settings of the plan that can't be read are one of the findings.
    let settings = context.settings_for(&folder).or_else(|_| context.settings().cloned())?;
    let plan = OpenPlan::new(context.repo().clone(), settings, folder);
    let mut findings = examine(&plan, context.now());
    let mut mended = Vec::new();
    if fix {
        mended = mend(&plan, &findings)?;
        findings = examine(&plan, context.now());
    }
    let (errors, warnings) = counts(&findings);
    match context.format {
        Format::Json => context.printer.json(&json!({
            "planId": plan.id(), "errors": errors, "warnings": warnings, "mended": mended, "findings": findings,
        }))?,
        Format::Text => context.printer.data(&doctor::plan(plan.id(), &findings, &mended)),
    }
    Ok(if errors > 0 { Exit::Findings } else { Exit::Done })
}

/// Numbers of errors and of warnings.
fn counts(findings: &[Finding]) -> (usize, usize) {
    let count = |level: Level| findings.iter().filter(|found| found.level == level).count();
    (count(Level::Error), count(Level::Warning))
}
