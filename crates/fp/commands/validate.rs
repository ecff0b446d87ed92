//! `fp validate`.

use fp_core::diagnostic::{Diagnostic, Severity};
use fp_core::plan::{Lines, parse};
use fp_core::report::validation::ValidationReport;
use fp_core::rules::{Facts, check, fix};
use fp_host::file;
use similar::TextDiff;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
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
    /// Show what --fix would change, and change nothing.
    #[arg(long, conflicts_with = "fix")]
    diff: bool,
    /// Show every finding, however many there are.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let source = Source::open(context, args.plan.as_deref())?;
    let mut text = source.text()?;
    let (plan, mut parsed) = parse(&text);
    let mut facts = source.facts(&plan)?;
    if let Some(max) = args.max_complexity {
        facts.max_complexity = max;
    }
    let mut plan = plan;
    if args.diff {
        return show_diff(context, &source, &text, &facts);
    }
    if args.fix {
        let fixed = fix::fix_all(&text, &facts);
        if fixed.resolved > 0 {
            source.refuse_running()?;
            file::atomic_write(&source.path, fixed.text.as_bytes())?;
            context.printer.note(&format!(
                "note: {} fixed in {}",
                count(fixed.resolved, "finding"),
                source.name
            ));
            text = fixed.text;
            (plan, parsed) = parse(&text);
            facts = Facts { max_complexity: facts.max_complexity, ..source.facts(&plan)? };
        }
    }
    let found = check(&plan, &parsed, &facts);
    let lines = Lines::new(&text);
    let report = ValidationReport::new(&plan, &lines, &found, facts.max_complexity, args.strict);
    match context.format {
        Format::Json => context.printer.json(&report)?,
        Format::Text => {
            let limit = if args.all { usize::MAX } else { SHOWN };
            context.printer.data(&shown(&source.name, &lines, &found, &report, limit));
        }
    }
    Ok(if report.valid { Exit::Done } else { Exit::Findings })
}

fn show_diff(context: &Context, source: &Source, text: &str, facts: &Facts) -> CommandResult {
    let fixed = fix::fix_all(text, facts);
    let diff = TextDiff::from_lines(text, &fixed.text);
    let unified = diff.unified_diff().header(&source.name, &source.name).to_string();
    match context.format {
        Format::Text => context.printer.data(&unified),
        Format::Json => {
            return Err(CommandError::failed("a diff has no JSON form").hint("leave --format out"));
        }
    }
    Ok(if fixed.resolved == 0 { Exit::Done } else { Exit::Findings })
}

fn shown(
    name: &str,
    lines: &Lines<'_>,
    found: &[Diagnostic],
    report: &ValidationReport,
    limit: usize,
) -> String {
    let mut text = String::new();
    for diagnostic in found.iter().take(limit) {
        text.push_str(&diagnostics::text(name, lines, diagnostic));
        text.push('\n');
    }
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
