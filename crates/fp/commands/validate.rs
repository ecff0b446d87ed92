//! `fp validate`: checks a task tree, fixes what can be fixed automatically, and decides whether planning may
//! go on.

use std::ops::Range;

use fp_host::error::HostResult;
use fp_host::plan::OpenPlan;
use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::{FormatError, Lines, Plan, format, parse};
use fp_plan::rules::{RULES, Rule, RuleFacts, check, fix, rule};
use fp_plan::settings::closest_name;
use fp_plan::text::{counted, fitted, visible, visible_line, wrapped};
use fp_run::report::validation::{Gate, GateVerdict, ValidationReport};
use fp_run::run::approval;
use fp_run::run::planning::{PASSES, Planning, Seen};
use serde::Serialize;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::features::exchange::note_named;
use crate::printer::{SCHEMA_VERSION, WIDTH};
use crate::source::PlanSource;
use crate::theme::Look;

/// Most findings in the text without `--all`.
const SHOWN: usize = 50;

/// Characters shown before the marked part if the line is cut there.
const LEAD: usize = 24;

/// Check a task tree and report every finding
#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// The plan, or a file that ends in `.md`; defaults to the only active plan.
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
    /// Print only whether the plan may go on: PASS, CAUTION, FIX or BLOCK, and the next command.
    #[arg(long)]
    gate: bool,
    /// Show every finding, however many there are; else the first 50.
    #[arg(long)]
    all: bool,
    /// Write the tree in its canonical form instead.
    #[arg(long, conflicts_with_all = ["strict", "max_complexity", "fix", "gate", "all"])]
    fmt: bool,
    /// With --fmt: write nothing; end with status 1 if something would change.
    #[arg(long, requires = "fmt")]
    check: bool,
    /// Explain a rule instead; without RULE, list them all.
    #[arg(long, value_name = "RULE", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["plan", "strict", "max_complexity", "fix", "gate", "all", "fmt"])]
    explain: Option<Option<String>>,
}

/// A tree and its findings.
struct Checked<'t> {
    text: &'t str,
    plan: Plan<'t>,
    facts: RuleFacts,
    found: Vec<Diagnostic>,
}

pub(crate) fn run(args: ValidateArgs, context: &Context) -> CommandResult {
    if let Some(rule) = &args.explain {
        return explain_rule(rule.as_deref(), context);
    }
    if args.fmt {
        return format_tree(&args, context);
    }
    let source = PlanSource::open_to_read(context, args.plan.as_deref())?;
    let text = source.text()?;
    let checked = Checked::read(&source, &text, args.max_complexity)?;
    if let Some(plan) = &source.plan {
        note_named(plan, &checked.plan, context)?;
    }
    if args.fix {
        fix_and_report(&args, context, &source, &checked)
    } else {
        report(&args, context, &source, &checked, None)
    }
}

impl<'t> Checked<'t> {
    fn read(
        source: &PlanSource,
        text: &'t str,
        max_complexity: Option<u32>,
    ) -> Result<Self, CommandError> {
        let (plan, parsed) = parse(text);
        let mut facts = source.facts(&plan)?;
        facts.max_complexity = max_complexity.unwrap_or(facts.max_complexity);
        let found = check(&plan, &parsed, &facts);
        Ok(Self {
            text,
            plan,
            facts,
            found,
        })
    }
}

/// Most changes that are named.
const SHOWN_CHANGES: usize = 20;

/// Applies every fix to the file and reports the remaining findings. In a plan this counts as a pass, and
/// passes are limited.
fn fix_and_report(
    args: &ValidateArgs,
    context: &Context,
    source: &PlanSource,
    checked: &Checked<'_>,
) -> CommandResult {
    let fixed = fix::fix_all(checked.text, &checked.facts);
    let again;
    let after = if fixed.changes.is_empty() {
        checked
    } else {
        again = Checked::read(source, &fixed.text, args.max_complexity)?;
        &again
    };
    let seen = source
        .plan
        .as_ref()
        .map(|plan| (plan, tree_seen(after.text, &after.found, args.strict)));
    if let Some(over) = seen
        .as_ref()
        .and_then(|(plan, seen)| pass_over(plan, seen, context))
    {
        report(args, context, source, checked, Some(over))?;
        return Ok(Exit::Findings);
    }
    if !fixed.changes.is_empty() {
        if checked.plan.tasks.is_empty() && source.plan.is_none() {
            return Err(CommandError::refused(format!(
                "{} is unchanged: it has no task",
                source.name
            ))
            .hint("name a task tree: `fp plans` lists the plans"));
        }
        source.write(&fixed.text)?;
        context.printer.note(&format!(
            "note: {} fixed in {}",
            counted(fixed.changes.len(), "finding"),
            source.name
        ));
        fixed
            .changes
            .iter()
            .take(SHOWN_CHANGES)
            .for_each(|change| context.printer.note(&format!("  {change}")));
        if let Some(more @ 1..) = fixed.changes.len().checked_sub(SHOWN_CHANGES) {
            context.printer.note(&format!("  and {more} more"));
        }
    }
    let pass = seen.and_then(|(plan, seen)| count_pass(plan, seen, context));
    report(args, context, source, after, pass)
}

/// The verdict and the next command.
#[derive(Serialize)]
struct Gated {
    #[serde(flatten)]
    gate: Gate,
    next: String,
}

/// The output of `--format json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrintedReport<'r> {
    schema_version: u32,
    #[serde(flatten)]
    report: &'r ValidationReport<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<Gated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<FixPass>,
}

fn report(
    args: &ValidateArgs,
    context: &Context,
    source: &PlanSource,
    checked: &Checked<'_>,
    pass: Option<FixPass>,
) -> CommandResult {
    let Checked {
        text,
        plan,
        facts,
        found,
    } = checked;
    let lines = Lines::new(text);
    let report = ValidationReport::new(plan, &lines, found, facts.max_complexity, args.strict);
    let gate = args.gate.then(|| {
        let gate = Gate::new(text, found, facts, args.strict);
        Gated {
            gate,
            next: next(args, source, &gate),
        }
    });
    let printer = &context.printer;
    match (context.is_json(), gate) {
        (true, gate) => {
            printer.document(&PrintedReport {
                schema_version: SCHEMA_VERSION,
                report: &report,
                gate,
                pass,
            })?;
        }
        (false, Some(gated)) => printer.data(&verdict(&gated)),
        (false, None) => {
            let limit = if args.all { usize::MAX } else { SHOWN };
            let shown = found.iter().take(limit);
            let findings: String = shown
                .map(|found| finding_text(&source.name, &lines, found) + "\n")
                .collect();
            printer.styled(&(findings + &visible(&summary(&source.name, &report, limit))));
        }
    }
    Ok(if report.valid {
        Exit::Done
    } else {
        Exit::Findings
    })
}

fn verdict(Gated { gate, next }: &Gated) -> String {
    let left = match gate.verdict {
        GateVerdict::Block => format!(
            "; {} left after --fix",
            counted(gate.errors_after_fix, "error")
        ),
        GateVerdict::Fix => "; --fix resolves every error".to_owned(),
        GateVerdict::Caution | GateVerdict::Pass => String::new(),
    };
    let (errors, warnings) = (
        counted(gate.errors, "error"),
        counted(gate.warnings, "warning"),
    );
    format!(
        "{}: {errors}, {warnings}{left}\nnext: {next}\n",
        gate.verdict.into_str()
    )
}

/// The next command, with the limits of this one.
fn next(args: &ValidateArgs, source: &PlanSource, gate: &Gate) -> String {
    let name = source.argument();
    let mut command = match gate.verdict {
        GateVerdict::Pass | GateVerdict::Caution if source.plan.is_some() => {
            return format!("fp schedule {name}");
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
    let found: Vec<_> = report
        .violations
        .iter()
        .map(|violation| violation.found)
        .collect();
    let mut text = String::new();
    if found.len() > limit {
        text.push_str(&format!(
            "({} more: fp validate --all)\n\n",
            found.len() - limit
        ));
    }
    let errors = found
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .count();
    let fixable = found.iter().filter(|d| !d.fixes.is_empty()).count();
    let verdict = if report.valid { "valid" } else { "not valid" };
    text.push_str(&format!(
        "{name}: {verdict}, {}, {}, {}",
        counted(report.total_leaf_tasks, "leaf task"),
        counted(errors, "error"),
        counted(found.len() - errors, "warning")
    ));
    if fixable > 0 {
        text.push_str(&format!(" ({fixable} can be fixed: --fix)"));
    }
    text + "\n"
}

/// A pass that left errors.
#[derive(Debug, Serialize)]
struct FixPass {
    /// Its number since the tree was last valid.
    number: u32,
    /// Most passes allowed.
    of: u32,
    /// True if it would exceed the limit; then nothing is fixed.
    over: bool,
}

/// The counts of a tree with this text and these findings.
fn tree_seen(text: &str, found: &[Diagnostic], strict: bool) -> Seen {
    let failing = || found.iter().filter(|diagnostic| diagnostic.fails(strict));
    let errors = failing().count();
    Seen {
        tree_hash: approval::hash(text.as_bytes()),
        errors,
        warnings: found.len() - errors,
        failing: failing()
            .map(|diagnostic| diagnostic.rule.to_owned())
            .collect(),
    }
}

/// Reports a pass that would exceed the limit; `None` if one is left. [`count_pass`] reports a log that can't
/// be read.
fn pass_over(plan: &OpenPlan, seen: &Seen, context: &Context) -> Option<FixPass> {
    let state = plan.load().ok()?.state;
    if state.is_running() || !state.planning.is_over(seen) {
        return None;
    }
    let Planning {
        passes, failing, ..
    } = &state.planning;
    let always = match failing.iter().map(String::as_str).collect::<Vec<_>>() {
        rules if rules.is_empty() => String::new(),
        rules => format!(" (in each of them: {})", rules.join(", ")),
    };
    context.printer.note(&format!(
        "note: {PASSES} passes have not made this tree valid, and nothing more is fixed; stop and tell the user what \
         keeps failing{always}"
    ));
    Some(FixPass {
        number: *passes,
        of: PASSES,
        over: true,
    })
}

/// Counts a pass, and returns its number if it left errors. During a run passes don't count, since planning
/// is over. A pass that can't be recorded only leads to a note: the findings matter more.
fn count_pass(plan: &OpenPlan, seen: Seen, context: &Context) -> Option<FixPass> {
    let failed = seen.errors > 0;
    let passes = passes_with_this(plan, seen, context).unwrap_or_else(|error| {
        context
            .printer
            .note(&format!("note: this pass is not counted: {error}"));
        None
    });
    let number = passes.filter(|_| failed)?;
    context
        .printer
        .note(&format!("note: pass {number} of {PASSES}"));
    Some(FixPass {
        number,
        of: PASSES,
        over: false,
    })
}

/// The number of passes including this one; `None` if it doesn't count.
fn passes_with_this(plan: &OpenPlan, seen: Seen, context: &Context) -> HostResult<Option<u32>> {
    let state = plan.load()?.state;
    if state.is_running() {
        return Ok(None);
    }
    if state.planning.count(&seen).is_none() {
        return Ok(Some(state.planning.passes));
    }
    let mut ledger = context.told(plan.lock()?);
    let event = ledger
        .state()
        .planning
        .count(&seen)
        .filter(|_| !ledger.state().is_running());
    ledger.append(event.into_iter().collect(), context.now())?;
    Ok(Some(ledger.state().planning.passes))
}

/// Formats one finding in the file called `name`: its place and rule, the source line with a caret under the
/// marked part, and a hint. A source line takes at most 80 columns: of a longer one, the part around the
/// caret is shown.
pub(crate) fn finding_text(name: &str, lines: &Lines<'_>, found: &Diagnostic) -> String {
    let place = lines.position(found.span.start);
    let (name, detail) = (visible_line(name), visible_line(&found.detail));
    let look = if found.severity == Severity::Error {
        Look::Failed
    } else {
        Look::Building
    };
    let severity = look.paint(&format!("{}[{}]:", found.severity.into_str(), found.rule));
    let mut text = format!(
        "{name}:{}:{}: {severity} {detail}\n",
        place.line, place.column
    );
    let line = lines.line(place.line);
    if !line.trim().is_empty() {
        let start = lines.start(place.line);
        let gutter = place.line.to_string();
        let blank = " ".repeat(gutter.len());
        let span = found.span.start.saturating_sub(start)..found.span.end.saturating_sub(start);
        let Excerpt {
            shown,
            before,
            marked,
        } = excerpt(line, span, WIDTH - gutter.len() - 3);
        let (margin, caret) = (" ".repeat(before), "^".repeat(marked));
        text.push_str(&format!("{gutter} | {shown}\n{blank} | {margin}{caret}\n"));
    }
    if let Some(hint) = &found.hint {
        text.push_str(&format!(
            "  {} {}\n",
            Look::Hint.paint("hint:"),
            visible_line(hint)
        ));
    }
    text
}

/// The visible part of a line.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    shown: String,
    /// Columns before the marked part.
    before: usize,
    /// Visible columns of the marked part; at least 1.
    marked: usize,
}

/// The part of `line` around `span` that fits into `room` columns, and the place of `span` in it.
fn excerpt(line: &str, span: Range<usize>, room: usize) -> Excerpt {
    let boundary = |at: usize| {
        (0..=at.min(line.len()))
            .rev()
            .find(|&at| line.is_char_boundary(at))
            .unwrap_or(0)
    };
    let start = boundary(span.start);
    let meant = &line[start..boundary(span.end).max(start)];
    // A line may have megabytes, and as many findings.
    let near = |text: &str| visible_line(&text.chars().take(2 * room).collect::<String>());
    let lead = line[..start]
        .char_indices()
        .rev()
        .nth(LEAD - 1)
        .map_or(0, |(at, _)| at);
    let head = match near(line).width() < room || lead == 0 {
        true => visible_line(&line[..start]),
        false => format!("…{}", visible_line(&line[lead..start])),
    };
    let before = head.width();
    let shown = fitted(&(head + &near(&line[start..])), room);
    let marked = near(meant)
        .width()
        .clamp(1, room.saturating_sub(before).max(1));
    Excerpt {
        shown,
        before,
        marked,
    }
}

/// Prints the documentation of the rule `id`, or a list of all rules.
fn explain_rule(id: Option<&str>, context: &Context) -> CommandResult {
    let Some(id) = id else {
        let list: String = RULES
            .iter()
            .map(|rule| rule_title(rule) + "\n" + &paragraph(rule.finds, "    "))
            .collect();
        return context.report(&json!({ "rules": RULES }), &list);
    };
    match rule(id) {
        Some(rule) => context.report(&json!(rule), &rule_page(rule)),
        None => Err(unknown_rule(id)),
    }
}

fn unknown_rule(id: &str) -> CommandError {
    let error = CommandError::failed(format!("there is no rule {id:?}"));
    let wanted = id.trim().to_lowercase().replace(['_', ' '], "-");
    match closest_name(&wanted, RULES.iter().map(|rule| rule.id.to_owned())) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint("`fp validate --explain` lists them all"),
    }
}

/// The whole documentation of a rule.
fn rule_page(rule: &Rule) -> String {
    let mut text = format!("{}\n\n", rule_title(rule));
    text.push_str(&paragraph(&format!("{}.", rule.finds), ""));
    text.push('\n');
    text.push_str(&paragraph(rule.why, ""));
    for (title, tree) in [("Bad", rule.bad), ("Good", rule.good)] {
        text.push_str(&format!("\n{title}:\n\n"));
        for line in tree.lines() {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        }
    }
    text.push('\n');
    let remedy = match rule.fix {
        Some(fix) => format!("`fp validate --fix`: {fix}"),
        None => "`fp validate --fix` leaves it to you.".to_owned(),
    };
    text + &paragraph(&remedy, "")
}

fn rule_title(rule: &Rule) -> String {
    format!("{} ({})", rule.id, rule.severity.into_str())
}

/// `text` in lines of at most [`WIDTH`] columns, each preceded by `indent`.
fn paragraph(text: &str, indent: &str) -> String {
    wrapped(text, WIDTH - indent.len())
        .iter()
        .map(|line| format!("{indent}{line}\n"))
        .collect()
}

/// Writes the tree in its canonical form.
fn format_tree(args: &ValidateArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let text = source.text()?;
    let formatted = format(&text).map_err(|error| not_formatted(&source, &error))?;
    let changed = formatted != text;
    let written = changed && !args.check;
    if written {
        source.write(&formatted)?;
    }
    match context.is_json() {
        true => context
            .printer
            .json(&json!({ "changed": changed, "written": written }))?,
        false => context.printer.note(&format!(
            "note: {} {}",
            source.name,
            format_outcome(changed, written)
        )),
    }
    Ok(if changed && !written {
        Exit::Findings
    } else {
        Exit::Done
    })
}

fn format_outcome(changed: bool, written: bool) -> &'static str {
    match (changed, written) {
        (_, true) => "is in canonical form now",
        (true, false) => "is not in canonical form",
        (false, false) => "is in canonical form",
    }
}

fn not_formatted(source: &PlanSource, error: &FormatError) -> CommandError {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_caret_stands_under_what_is_meant() {
        let check = |line: &str, span: Range<usize>, shown: &str, before: usize, marked: usize| {
            assert_eq!(
                excerpt(line, span, 75),
                Excerpt {
                    shown: shown.to_owned(),
                    before,
                    marked
                }
            );
        };
        check("- Files: a", 9..10, "- Files: a", 9, 1);
        check("\t- Files: a", 3..8, " - Files: a", 3, 5);
        check("- 한글: a", 2..8, "- 한글: a", 2, 4);
        check("- 한글: a", 10..11, "- 한글: a", 8, 1);
        check("- 한글: a", 4..9, "- 한글: a", 2, 5);
        check("a\u{1b}[31mb", 6..7, "a␛[31mb", 6, 1);
        check("ab", 2..2, "ab", 2, 1);
        check("ab", 9..20, "ab", 2, 1);
        let long = format!("{}X{}", "a".repeat(200), "b".repeat(200));
        check(
            &long,
            200..201,
            &format!("…{}X{}…", "a".repeat(24), "b".repeat(48)),
            25,
            1,
        );
        check(&long, 0..401, &format!("{}…", "a".repeat(74)), 0, 75);
        check(&long, 401..401, &format!("…{}", "b".repeat(24)), 25, 1);
    }

    proptest! {
        #[test]
        fn an_excerpt_fits(line in r"(a|한|\t|\x1b|é|😀|\u{301}){0,120}", from in 0_usize..400, len in 0_usize..400) {
            let Excerpt { shown, before, marked } = excerpt(&line, from..from + len, 75);
            prop_assert!(shown.width() <= 75 && before + marked <= 75, "{shown:?} {before} {marked}");
            prop_assert!(before + marked <= shown.width() + 1);
        }
    }
}
