//! `fp report`: shows the results of a run, as Markdown or as a page.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_host::store::Past;
use fp_plan::plan::{Plan, parse};
use fp_run::interview::Interview;
use fp_run::report::handoff::HandoffReport;
use fp_run::report::requirements::RequirementLine;
use fp_run::report::results::results_page;
use fp_run::report::run_page::RunPage;
use fp_run::report::standing::LeadPresence;
use fp_run::report::status::Phase;

use super::show::scheduled_tree;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input::interrupt;
use crate::pages::run::{FAR, is_run_page, run_page};
use crate::printer::{Output, format_option, json};
use crate::source::interview_at;

/// Report on a run: who did what, how long it took, and the evidence for each verdict
///
/// Without a flag the results are printed as Markdown: each task with its commit and evidence, the decisions, the
/// notes. --out writes a page to look at in a browser, or what the other flags ask for. An archived plan can be named
/// as well.
#[derive(Debug, clap::Args)]
#[command(arg(format_option(&["text", "json", "html"])))]
pub(crate) struct ReportArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// The results as Markdown, with --out as well.
    #[arg(long)]
    markdown: bool,
    /// Write to this file; Markdown if it ends in `.md`. A page that an earlier `fp report` wrote is replaced.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the page anew while the run goes on; an open page loads itself again. Without --out, it is `report.html`
    /// in the plan's folder. Ends with the run, or by Ctrl-C.
    #[arg(long, conflicts_with = "markdown")]
    watch: bool,
    /// Replace whatever file is there.
    #[arg(long, requires = "out")]
    force: bool,
    /// Write handoff.md instead: what someone else needs to continue the plan.
    #[arg(long, conflicts_with_all = ["markdown", "out", "watch"])]
    handoff: bool,
}

pub(crate) fn run(args: ReportArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    if args.watch {
        return watch(&plan, args, context);
    }
    if args.handoff {
        return write_handoff(&plan, context);
    }
    let lead = plan.look_at_lead();
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let text = tree_text(&plan)?;
    let parsed = parse(&text).0;
    let report = report(&plan, &past, lead.presence(&past.state), &parsed);
    let is_markdown = args
        .out
        .as_ref()
        .is_some_and(|out| out.extension().is_some_and(|end| end == "md"));
    let page = match context.output {
        _ if args.markdown => results_page(&report),
        Output::Text if is_markdown => results_page(&report),
        Output::Json => json(&report)?,
        Output::Text if args.out.is_none() => results_page(&report),
        Output::Text | Output::Html | Output::Mermaid => run_page(&report, false),
    };
    let Some(out) = args.out else {
        if context.output == Output::Html {
            context.printer.exact(&page);
        } else {
            context.printer.data(&page);
        }
        return Ok(Exit::Done);
    };
    let path = context.cwd.join(out);
    write(context, &path, &page, args.force)?;
    context
        .printer
        .note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}

/// Interval between looks at the log.
const LOOK: Duration = Duration::from_millis(500);

/// Writes the page whenever something has happened.
fn watch(plan: &OpenPlan, args: ReportArgs, context: &Context) -> CommandResult {
    let path = args.out.map_or_else(
        || plan.folder.file("report.html"),
        |out| context.cwd.join(out),
    );
    let interrupt = interrupt("without --watch, the page is written once")?;
    let write_page = |is_stopped: bool, force: bool| {
        let look = plan.look_at_lead();
        let past = plan.store.past()?;
        let lead = look.presence(&past.state);
        let text = tree_text(plan)?;
        let parsed = parse(&text).0;
        let report = report(plan, &past, lead, &parsed);
        let is_over = matches!(report.phase, Phase::Finished | Phase::Cancelled);
        write(
            context,
            &path,
            &run_page(&report, !is_over && !is_stopped),
            force,
        )?;
        Ok::<_, CommandError>((is_over, lead))
    };
    let mut reader = plan.store.reader();
    reader.more()?;
    let (mut is_over, mut lead) = write_page(false, args.force)?;
    context.printer.note(&format!(
        "note: {} follows the run; open it in a browser",
        context.shown(&path)
    ));
    while !is_over {
        if interrupt.within(LOOK) {
            write_page(true, true)?;
            break;
        }
        let portion = reader.more()?;
        let is_news = portion.anew || !portion.lines.is_empty();
        let look = plan.look_at_lead();
        if is_news || look.presence(&plan.load()?.state) != lead {
            (is_over, lead) = write_page(false, true)?;
        }
    }
    Ok(Exit::Done)
}

/// The text of the tree; none where there is no tree.
fn tree_text(plan: &OpenPlan) -> Result<String, CommandError> {
    match plan.tree() {
        Ok(tree) => Ok(tree.text),
        Err(error) if error.is_missing() => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

fn report<'p>(
    plan: &OpenPlan,
    past: &Past,
    lead: LeadPresence,
    parsed: &'p Plan<'p>,
) -> RunPage<'p> {
    let tree = scheduled_tree(
        parsed,
        &past.state,
        lead,
        &plan.settings,
        plan.folder.goal(),
    );
    let interview = interview_of(plan);
    RunPage {
        requirements: RequirementLine::all(&interview, parsed, &past.state),
        interview_decisions: interview
            .decisions
            .iter()
            .map(ToString::to_string)
            .collect(),
        ..RunPage::new(&past.state, &past.entries, lead, plan.goal(), tree)
    }
}

/// The interview, as far as it can be read.
pub(super) fn interview_of(plan: &OpenPlan) -> Interview {
    interview_at(&plan.folder.file("interview.json"))
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// Writes the page, unless that would replace a file that `fp report` didn't write.
fn write(context: &Context, path: &Path, page: &str, force: bool) -> Result<(), CommandError> {
    if !force && file::write_if_absent(path, page.as_bytes())? {
        return Ok(());
    }
    if force || is_run_page(&file::beginning(path, FAR)?) {
        return Ok(file::atomic_write(path, page.as_bytes())?);
    }
    Err(CommandError::refused(format!(
        "{} is there already, and no page of fp report",
        context.shown(path)
    ))
    .hint("name another file, or add --force to replace it"))
}

/// Files of a plan that are worth reading.
const WORTH_READING: [&str; 7] = [
    "interview.md",
    "research.md",
    "critique.md",
    "tasks.md",
    "plan.md",
    "notepad.md",
    "evidence",
];

/// Writes the page for whoever continues `plan`.
fn write_handoff(plan: &OpenPlan, context: &Context) -> CommandResult {
    let lead = plan.look_at_lead();
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let interview = interview_at(&plan.folder.file("interview.json")).unwrap_or_else(|error| {
        context.printer.note(&format!(
            "note: what the interview found is left out: {}",
            error.message
        ));
        None
    });
    let read = WORTH_READING
        .iter()
        .filter(|name| plan.folder.file(name).exists());
    let read = read.map(|name| (*name).to_owned()).collect();
    let report = HandoffReport::new(
        &past.state,
        &past.entries,
        lead.presence(&past.state),
        plan.goal(),
        interview.as_ref(),
        read,
    );
    let text = report.to_markdown();
    let path = plan.folder.file("handoff.md");
    file::atomic_write(&path, text.as_bytes())?;
    context.report(&report, &text)?;
    context
        .printer
        .note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}
