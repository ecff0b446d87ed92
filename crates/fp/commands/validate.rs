//! `fp validate`.

mod pass;

use std::mem::ManuallyDrop;

use fp_core::diagnostic::{Diagnostic, Severity};
use fp_core::plan::{Lines, Plan, parse};
use fp_core::report::validation::{Gate, GateVerdict, ValidationReport};
use fp_core::rules::{Facts, check, fix};
use fp_host::file;
use serde::Serialize;
use serde_json::json;
use similar::TextDiff;

use self::pass::Pass;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Format, SCHEMA_VERSION};
use crate::render::diagnostics;
use crate::source::Source;

/// How many findings the text shows without `--all`.
const SHOWN: usize = 50;

/// Check a task tree and report every finding
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan, or a file that ends in `.md`; the only active plan where left out.
    plan: Option<String>,
    /// Let warnings fail as well.
    #[arg(long)]
    strict: bool,
    /// Highest complexity (1-10) that a leaf may have; else as configured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
    max_complexity: Option<u32>,
    /// Apply every mechanical fix, then report what is left.
    #[arg(long)]
    fix: bool,
    /// Show what --fix would change, and change nothing, with --fix as well.
    #[arg(long, conflicts_with = "gate")]
    diff: bool,
    /// Print only whether the plan may go on: PASS, CAUTION, FIX or BLOCK, and the next command.
    #[arg(long)]
    gate: bool,
    /// Show every finding, however many there are; else the first 50.
    #[arg(long)]
    all: bool,
}

/// A tree and what was found in it.
struct Checked<'t> {
    text: &'t str,
    plan: Plan<'t>,
    facts: Facts,
    found: Vec<Diagnostic>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = Source::open(context, args.plan.as_deref())?;
    let text = source.text()?;
    // The process ends with this command, and gives back all of its memory faster than piece by piece.
    let checked = ManuallyDrop::new(Checked::read(&source, &text, args.max_complexity)?);
    if args.diff {
        return show_diff(context, &source, &checked);
    }
    if args.fix {
        fix_and_report(&args, context, &source, &checked)
    } else {
        report(&args, context, &source, &checked, None)
    }
}

impl<'t> Checked<'t> {
    fn read(source: &Source, text: &'t str, max_complexity: Option<u32>) -> Result<Self, CommandError> {
        let (plan, parsed) = parse(text);
        let mut facts = source.facts(&plan)?;
        facts.max_complexity = max_complexity.unwrap_or(facts.max_complexity);
        let found = check(&plan, &parsed, &facts);
        Ok(Self { text, plan, facts, found })
    }
}

/// Applies every fix to the file and reports what is left. In a plan that is a pass, of which there are so many.
fn fix_and_report(args: &Args, context: &Context, source: &Source, checked: &Checked<'_>) -> CommandResult {
    let fixed = fix::fix_all(checked.text, &checked.facts);
    let again;
    let after = if fixed.resolved == 0 {
        checked
    } else {
        again = ManuallyDrop::new(Checked::read(source, &fixed.text, args.max_complexity)?);
        &again
    };
    let seen = source.plan.as_ref().map(|plan| (plan, pass::seen(after.text, &after.found, args.strict)));
    if let Some(over) = seen.as_ref().and_then(|(plan, seen)| pass::over(plan, seen, context)) {
        report(args, context, source, checked, Some(over))?;
        return Ok(Exit::Findings);
    }
    if fixed.resolved > 0 {
        source.refuse_running()?;
        file::atomic_write(&source.path, fixed.text.as_bytes())?;
        context.printer.note(&format!("note: {} fixed in {}", count(fixed.resolved, "finding"), source.name));
    }
    let pass = seen.and_then(|(plan, seen)| pass::count(plan, seen, context));
    report(args, context, source, after, pass)
}

fn show_diff(context: &Context, source: &Source, checked: &Checked<'_>) -> CommandResult {
    let fixed = fix::fix_all(checked.text, &checked.facts);
    let diff = TextDiff::from_lines(checked.text, &fixed.text);
    let unified = diff.unified_diff().header(&source.name, &source.name).to_string();
    match context.format {
        Format::Text => context.printer.exact(&unified),
        Format::Json => {
            context.printer.json(&json!({ "resolved": fixed.resolved, "diff": unified }))?;
        }
    }
    Ok(if fixed.resolved == 0 { Exit::Done } else { Exit::Findings })
}

/// The verdict and where to go from it.
#[derive(Serialize)]
struct Gated {
    #[serde(flatten)]
    gate: Gate,
    next: String,
}

/// What `--format json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'r> {
    schema_version: u32,
    #[serde(flatten)]
    report: &'r ValidationReport<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<Gated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<Pass>,
}

fn report(
    args: &Args,
    context: &Context,
    source: &Source,
    checked: &Checked<'_>,
    pass: Option<Pass>,
) -> CommandResult {
    let Checked { text, plan, facts, found } = checked;
    let lines = Lines::new(text);
    let report = ValidationReport::new(plan, &lines, found, facts.max_complexity, args.strict);
    let gate = args.gate.then(|| {
        let gate = Gate::new(text, found, facts, args.strict);
        Gated { gate, next: next(args, source, &gate) }
    });
    let printer = &context.printer;
    match (context.format, gate) {
        (Format::Json, gate) => {
            printer.document(&Printed { schema_version: SCHEMA_VERSION, report: &report, gate, pass })?;
        }
        (Format::Text, Some(gated)) => printer.data(&verdict(&gated)),
        (Format::Text, None) => {
            let limit = if args.all { usize::MAX } else { SHOWN };
            let shown = found.iter().take(limit);
            let findings = shown.map(|found| diagnostics::text(&source.name, &lines, found) + "\n");
            printer.parts(findings.chain([summary(&source.name, &report, limit)]));
        }
    }
    Ok(if report.valid { Exit::Done } else { Exit::Findings })
}

fn verdict(Gated { gate, next }: &Gated) -> String {
    let left = match gate.verdict {
        GateVerdict::Block => format!("; {} left after --fix", count(gate.errors_after_fix, "error")),
        GateVerdict::Fix => "; --fix resolves every error".to_owned(),
        GateVerdict::Caution | GateVerdict::Pass => String::new(),
    };
    let (errors, warnings) = (count(gate.errors, "error"), count(gate.warnings, "warning"));
    format!("{}: {errors}, {warnings}{left}\nnext: {next}\n", gate.verdict.into_str())
}

/// The command that takes the plan further, with the limits of this one.
fn next(args: &Args, source: &Source, gate: &Gate) -> String {
    let name = source.argument();
    let mut command = match gate.verdict {
        GateVerdict::Pass | GateVerdict::Caution if source.plan.is_some() => {
            return format!("fp plan {name}");
        }
        GateVerdict::Pass | GateVerdict::Caution => return format!("fp show {name}"),
        GateVerdict::Block if gate.errors_after_fix == gate.errors => format!("fp validate {name}"),
        GateVerdict::Block | GateVerdict::Fix => format!("fp validate {name} --fix"),
    };
    if args.strict {
        command.push_str(" --strict");
    }
    if let Some(max) = args.max_complexity {
        command.push_str(&format!(" --max-complexity {max}"));
    }
    command
}

fn summary(name: &str, report: &ValidationReport<'_>, limit: usize) -> String {
    let found = report.violations.found;
    let mut text = String::new();
    if found.len() > limit {
        text.push_str(&format!("({} more: fp validate --all)\n\n", found.len() - limit));
    }
    let errors = found.iter().filter(|d| d.severity == Severity::Error).count();
    let fixable = found.iter().filter(|d| !d.fixes.is_empty()).count();
    let verdict = if report.valid { "valid" } else { "not valid" };
    text.push_str(&format!(
        "{name}: {verdict}, {}, {}, {}",
        count(report.total_leaf_tasks, "leaf task"),
        count(errors, "error"),
        count(found.len() - errors, "warning")
    ));
    if fixable > 0 {
        text.push_str(&format!(" ({fixable} can be fixed: --fix)"));
    }
    text + "\n"
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
