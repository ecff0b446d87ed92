//! `fp fmt`: writes a task tree in its canonical form.

use fp_plan::plan::{FormatError, format};
use serde_json::json;
use similar::TextDiff;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::source::PlanSource;

/// Write a task tree in its canonical form
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// The plan, or a file that ends in `.md`. Default: the only active plan.
    plan: Option<String>,
    /// Write nothing; end with status 1 if something would change.
    #[arg(long)]
    check: bool,
    /// Write nothing; show what would change.
    #[arg(long)]
    diff: bool,
}

pub(crate) fn run(args: FmtArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let text = source.text()?;
    let formatted = format(&text).map_err(|error| refusal(&source, &error))?;
    let changed = formatted != text;
    let written = changed && !args.check && !args.diff;
    if written {
        source.write(&formatted)?;
    }
    match context.is_json() {
        true => context
            .printer
            .json(&json!({ "changed": changed, "written": written }))?,
        false if args.diff => {
            let diff = TextDiff::from_lines(&text, &formatted);
            context.printer.data(
                &diff
                    .unified_diff()
                    .header(&source.name, &source.name)
                    .to_string(),
            );
        }
        false => context.printer.note(&format!(
            "note: {} {}",
            source.name,
            outcome(changed, written)
        )),
    }
    Ok(if changed && !written {
        Exit::Findings
    } else {
        Exit::Done
    })
}

fn outcome(changed: bool, written: bool) -> &'static str {
    match (changed, written) {
        (_, true) => "is in canonical form now",
        (true, false) => "is not in canonical form",
        (false, false) => "is in canonical form",
    }
}

fn refusal(source: &PlanSource, error: &FormatError) -> CommandError {
    let hint = match error {
        FormatError::NoTask => "name a task tree: `fp plans` lists the plans".to_owned(),
        FormatError::Unreadable(_) => {
            format!("`fp validate {}` shows what is wrong", source.argument())
        }
        FormatError::Changed(_) => {
            "rewrite that part: the canonical form can't express it".to_owned()
        }
    };
    CommandError::refused(format!("{} is unchanged: {error}", source.name)).hint(hint)
}
