//! `fp validate`: checks a task tree, fixes what can be fixed automatically, and decides whether planning may continue.

use std::collections::BTreeMap;
use std::ops::Range;

use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::{FormatError, Lines, Plan, format, parse};
use fp_plan::rules::{RULES, Rule, RuleFacts, check_plan, find_rule, fix};
use fp_plan::settings::closest_name;
use fp_plan::text::{counted, fitted, visible, visible_line, wrapped};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::features::exchange::note_named;
use crate::printer::WIDTH;
use crate::source::PlanSource;
use crate::theme::Look;

/// Maximum number of findings in the text without `--all`.
const SHOWN: usize = 50;

/// Number of characters shown before the marked part if the start of the line is cut off.
const LEAD: usize = 24;

/// Check a task tree and report every finding
#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// The plan, or a file that ends in `.md`; defaults to the only active plan.
    plan: Option<String>,
    /// Fail on warnings, too.
    #[arg(long)]
    strict: bool,
    /// Highest complexity (1-10) that a leaf may have; defaults to the setting.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10))]
    max_complexity: Option<u32>,
    /// Apply every mechanical fix, then report what is left.
    #[arg(long)]
    fix: bool,
    /// Show every finding instead of the first 50.
    #[arg(long)]
    all: bool,
    /// Write the tree in its canonical form instead.
    #[arg(long, conflicts_with_all = ["strict", "max_complexity", "fix", "all"])]
    fmt: bool,
    /// With --fmt: write nothing; exit with status 1 if something would change.
    #[arg(long, requires = "fmt")]
    check: bool,
    /// Explain a rule instead; without RULE, list all rules.
    #[arg(long, value_name = "RULE", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["plan", "strict", "max_complexity", "fix", "all", "fmt"])]
    explain: Option<Option<String>>,
}

/// A tree and its findings.
struct Checked<'t> {
    text: &'t str,
    plan: Plan<'t>,
    facts: RuleFacts,
    found: Vec<Diagnostic>,
}

pub(crate) fn validate_tree(args: ValidateArgs, context: &Context) -> CommandResult {
    if let Some(rule) = &args.explain {
        return explain_rule(rule.as_deref(), context);
    }
    if args.fmt {
        return format_tree(&args, context);
    }
    let source = PlanSource::open_to_read(context, args.plan.as_deref())?;
    let text = source.read_text()?;
    let checked = Checked::check_source(&source, &text, args.max_complexity)?;
    if let Some(plan) = &source.plan {
        note_named(plan, &checked.plan, context)?;
    }
    match args.fix {
        true => fix_and_report(&args, context, &source, &checked),
        false => report_findings(&args, context, &source, &checked),
    }
}

impl<'t> Checked<'t> {
    fn check_source(
        source: &PlanSource,
        text: &'t str,
        max_complexity: Option<u32>,
    ) -> Result<Self, CommandError> {
        let (plan, parsed) = parse(text);
        let mut facts = source.facts(&plan)?;
        facts.max_complexity = max_complexity.unwrap_or(facts.max_complexity);
        let found = check_plan(&plan, &parsed, &facts);
        Ok(Self {
            text,
            plan,
            facts,
            found,
        })
    }
}

/// Maximum number of changes to list.
const SHOWN_CHANGES: usize = 20;

/// Applies every fix to the file and reports the remaining findings.
fn fix_and_report(
    args: &ValidateArgs,
    context: &Context,
    source: &PlanSource,
    checked: &Checked<'_>,
) -> CommandResult {
    let fixed = fix::fix_all(checked.text, &checked.facts);
    let changes = &fixed.changes;
    let after = Checked::check_source(source, &fixed.text, args.max_complexity)?;
    if !changes.is_empty() {
        let name = &source.name;
        if checked.plan.tasks.is_empty() && source.plan.is_none() {
            return Err(
                CommandError::refused(format!("{name} is unchanged: it has no task"))
                    .with_hint("name a task tree: `fp plans` lists the plans"),
            );
        }
        source.write(&fixed.text)?;
        context.note(format_args!(
            "{} fixed in {name}",
            counted(changes.len(), "finding")
        ));
        for change in changes.iter().take(SHOWN_CHANGES) {
            context.printer.print_note(&format!("  {change}"));
        }
        if let Some(more @ 1..) = changes.len().checked_sub(SHOWN_CHANGES) {
            context.printer.print_note(&format!("  and {more} more"));
        }
    }
    report_findings(args, context, source, &after)
}

fn report_findings(
    args: &ValidateArgs,
    context: &Context,
    source: &PlanSource,
    checked: &Checked<'_>,
) -> CommandResult {
    let found = &checked.found;
    let lines = Lines::new(checked.text);
    let valid = !found.iter().any(|found| found.fails(args.strict));
    let most = if args.all { usize::MAX } else { SHOWN };
    let shown = found.iter().take(most);
    let shown = shown.map(|found| finding_text(&source.name, &lines, found) + "\n");
    let summary = summary_text(&source.name, checked, valid, most);
    let text = shown.collect::<String>() + &visible(&summary);
    context.styled_report(&report_json(checked, &lines, valid), &text)?;
    Ok(Exit::with_findings(!valid))
}

/// The output of `--format json`. Lines and columns count from 1, columns in characters; the end is after the last one.
fn report_json(checked: &Checked<'_>, lines: &Lines<'_>, valid: bool) -> Value {
    let plan = &checked.plan;
    let mut complexities = BTreeMap::<u32, usize>::new();
    for complexity in plan.leaves().filter_map(|leaf| leaf.complexity) {
        *complexities.entry(complexity).or_default() += 1;
    }
    let violation = |found: &Diagnostic| {
        let (start, end) = lines.range(found.span);
        let mut json = json!(found);
        json["span"] = json!({
            "line": start.line, "column": start.column, "endLine": end.line, "endColumn": end.column,
        });
        json
    };
    json!({
        "valid": valid,
        "maxComplexity": checked.facts.max_complexity,
        "totalLeafTasks": plan.leaves().count(),
        "violations": checked.found.iter().map(violation).collect::<Vec<_>>(),
        "stats": {
            "maxDepth": plan.tasks.iter().map(|task| task.depth).max().unwrap_or(0),
            "leafComplexityDistribution": complexities,
        },
    })
}

fn summary_text(name: &str, checked: &Checked<'_>, valid: bool, most: usize) -> String {
    let found = &checked.found;
    let errors = found
        .iter()
        .filter(|found| found.severity == Severity::Error);
    let (all, errors) = (found.len(), errors.count());
    let fixable = found.iter().filter(|found| !found.fixes.is_empty()).count();
    let mut text = match all.saturating_sub(most) {
        0 => String::new(),
        more => format!("({more} more: fp validate --all)\n\n"),
    };
    text += &format!(
        "{name}: {}, {}, {}, {}",
        if valid { "valid" } else { "not valid" },
        counted(checked.plan.leaves().count(), "leaf task"),
        counted(errors, "error"),
        counted(all - errors, "warning")
    );
    if fixable > 0 {
        text += &format!(" ({fixable} can be fixed: --fix)");
    }
    text + "\n"
}

/// Formats one finding in the file `name`: its place and rule, the source line with a caret under the marked part, and
/// a hint. If the source line has more than 80 columns, only the part around the caret is shown.
pub(crate) fn finding_text(name: &str, lines: &Lines<'_>, found: &Diagnostic) -> String {
    let place = lines.position(found.span.start);
    let (name, detail) = (visible_line(name), visible_line(&found.detail));
    let look = match found.severity {
        Severity::Error => Look::Failed,
        Severity::Warning => Look::Building,
    };
    let severity = format!("{}[{}]:", found.severity.into_str(), found.rule);
    let severity = look.paint(&severity);
    let mut text = format!(
        "{name}:{}:{}: {severity} {detail}\n",
        place.line, place.column
    );
    let line = lines.line_text(place.line);
    if !line.trim().is_empty() {
        let start = lines.line_start(place.line);
        let gutter = place.line.to_string();
        let blank = " ".repeat(gutter.len());
        let span = found.span.start.saturating_sub(start)..found.span.end.saturating_sub(start);
        let excerpt = excerpt_around(line, span, WIDTH - gutter.len() - 3);
        let (margin, caret) = (" ".repeat(excerpt.before), "^".repeat(excerpt.marked));
        text += &format!("{gutter} | {}\n{blank} | {margin}{caret}\n", excerpt.shown);
    }
    if let Some(hint) = &found.hint {
        text += &format!("  {} {}\n", Look::Hint.paint("hint:"), visible_line(hint));
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

/// The part of `line` around `span` that fits into `room` columns, and where `span` is in it.
fn excerpt_around(line: &str, span: Range<usize>, room: usize) -> Excerpt {
    let is_boundary = |at: &usize| line.is_char_boundary(*at);
    let boundary = |at: usize| {
        (0..=at.min(line.len()))
            .rev()
            .find(is_boundary)
            .unwrap_or(0)
    };
    let start = boundary(span.start);
    let meant = &line[start..boundary(span.end).max(start)];
    // A line may be megabytes long, with as many findings, so only the text near the span is measured.
    let near = |text: &str| visible_line(&text.chars().take(2 * room).collect::<String>());
    let before = line[..start].char_indices().rev().nth(LEAD - 1);
    let head = match before {
        Some((lead @ 1.., _)) if near(line).width() >= room => {
            format!("…{}", visible_line(&line[lead..start]))
        }
        _ => visible_line(&line[..start]),
    };
    let before = head.width();
    let most = room.saturating_sub(before).max(1);
    Excerpt {
        shown: fitted(&(head + &near(&line[start..])), room),
        before,
        marked: near(meant).width().clamp(1, most),
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
    match find_rule(id) {
        Some(rule) => context.report(&json!(rule), &rule_page(rule)),
        None => Err(unknown_rule(id)),
    }
}

fn unknown_rule(id: &str) -> CommandError {
    let error = CommandError::failed(format!("there is no rule {id:?}"));
    let wanted = id.trim().to_lowercase().replace(['_', ' '], "-");
    match closest_name(&wanted, RULES.iter().map(|rule| rule.id.to_owned())) {
        Some(meant) => error.with_hint(format!("did you mean `{meant}`?")),
        None => error.with_hint("`fp validate --explain` lists them all"),
    }
}

/// The whole documentation of a rule.
fn rule_page(rule: &Rule) -> String {
    let finds = paragraph(&format!("{}.", rule.finds), "");
    let mut text = format!(
        "{}\n\n{finds}\n{}",
        rule_title(rule),
        paragraph(rule.why, "")
    );
    for (title, tree) in [("Bad", rule.bad), ("Good", rule.good)] {
        text += &format!("\n{title}:\n\n");
        for line in tree.lines() {
            text += &format!("{}\n", format!("    {line}").trim_end());
        }
    }
    let remedy = match rule.fix {
        Some(fix) => format!("`fp validate --fix`: {fix}"),
        None => "`fp validate --fix` leaves it to you.".to_owned(),
    };
    format!("{text}\n{}", paragraph(&remedy, ""))
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
    let text = source.read_text()?;
    let formatted = format(&text).map_err(|error| not_formatted(&source, &error))?;
    let changed = formatted != text;
    let written = changed && !args.check;
    if written {
        source.write(&formatted)?;
    }
    let outcome = match (changed, written) {
        (_, true) => "is in canonical form now",
        (true, false) => "is not in canonical form",
        (false, false) => "is in canonical form",
    };
    match context.is_json() {
        true => drop(context.report(&json!({ "changed": changed, "written": written }), "")?),
        false => context.note(format_args!("{} {outcome}", source.name)),
    }
    Ok(Exit::with_findings(changed && !written))
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
    CommandError::refused(format!("{} is unchanged: {error}", source.name)).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_caret_stands_under_what_is_meant() {
        let check = |line: &str, span: Range<usize>, shown: &str, before: usize, marked: usize| {
            assert_eq!(
                excerpt_around(line, span, 75),
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
            let Excerpt { shown, before, marked } = excerpt_around(&line, from..from + len, 75);
            prop_assert!(shown.width() <= 75 && before + marked <= 75, "{shown:?} {before} {marked}");
            prop_assert!(before + marked <= shown.width() + 1);
        }
    }
}
