//! `fp report`: shows the results of a run, as Markdown or as a page.

use std::path::{Path, PathBuf};

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_host::store::Past;
use fp_plan::plan::parse;
use fp_run::interview::Interview;
use fp_run::report::handoff::{handoff_page, next_steps};
use fp_run::report::pull_request::{facts_of, pull_request};
use fp_run::report::requirements::RequirementLine;
use fp_run::report::run_page::RunPage;
use fp_run::report::status::StatusReport;
use serde_json::json;

use super::show::scheduled_tree;
use super::status::screen_text;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::pages::run::{FAR, is_run_page, run_page};
use crate::printer::{self, Output, format_option};
use crate::source::interview_at;

/// Report on a run: who did what, how long it took, and the evidence for each verdict
///
/// Without a flag it prints as Markdown what `fp pr` tells reviewers. --out writes a page for a browser, or the format of the other flags. It also accepts an archived plan.
#[derive(Debug, clap::Args)]
#[command(arg(format_option(&["text", "json", "html"])))]
pub(crate) struct ReportArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// Markdown instead of a page, also with --out.
    #[arg(long)]
    markdown: bool,
    /// Write to this file; Markdown if it ends in `.md`. A page that an earlier `fp report` wrote is replaced.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace any existing file.
    #[arg(long, requires = "out")]
    force: bool,
    /// Write handoff.md instead: everything that someone else needs to continue the plan.
    #[arg(long, conflicts_with_all = ["markdown", "out"])]
    handoff: bool,
}

pub(crate) fn report_run(args: ReportArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    if args.handoff {
        return write_handoff(&plan, context);
    }
    let is_markdown_file = |out: &PathBuf| out.extension().is_some_and(|end| end == "md");
    let is_text = context.output == Output::Text && args.out.as_ref().is_none_or(is_markdown_file);
    let page = with_run_page(&plan, context, |past, report| {
        context.notices(&past.notices);
        match context.output {
            _ if args.markdown || is_text => {
                let text = pull_request(&report, &past.state, None);
                Ok(format!(
                    "# {}\n\n{}\n{}",
                    plan.id(),
                    facts_of(&report),
                    text.body
                ))
            }
            Output::Json => printer::json(&report),
            Output::Text | Output::Html => Ok(run_page(&report, plan.git().ok().as_ref())),
        }
    })?;
    match args.out {
        Some(out) => {
            let path = context.cwd.join(out);
            write_page(context, &path, &page, args.force)?;
            context.note_written(&path);
        }
        None if context.output == Output::Html => context.printer.exact(&page),
        None => context.printer.data(&page),
    }
    Ok(Exit::Done)
}

/// Calls `use_page` with the history of `plan` and the page about its run, and returns the result of the call.
pub(super) fn with_run_page<T>(
    plan: &OpenPlan,
    context: &Context,
    use_page: impl FnOnce(&Past, RunPage<'_>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let look = plan.look_at_lead();
    let past = plan.store.past()?;
    let text = match plan.tree() {
        Ok(tree) => tree.text,
        Err(error) if error.is_missing() => String::new(),
        Err(error) => return Err(error.into()),
    };
    let (state, parsed) = (&past.state, parse(&text).0);
    let lead = look.presence(state);
    let tree = scheduled_tree(
        &parsed,
        state,
        lead,
        &plan.settings,
        plan.folder.goal(),
        context,
    );
    let interview = interview_of(plan);
    let decisions = interview.decisions.iter().map(ToString::to_string);
    let page = RunPage {
        requirements: RequirementLine::for_interview(&interview, &parsed, state),
        interview_decisions: decisions.collect(),
        ..RunPage::new(state, &past.entries, lead, plan.goal(), tree)
    };
    use_page(&past, page)
}

/// The interview; empty if there is none or it can't be read.
pub(super) fn interview_of(plan: &OpenPlan) -> Interview {
    let interview = interview_at(&plan.folder.file("interview.json"));
    interview.ok().flatten().unwrap_or_default()
}

/// Writes the page, unless that would replace a file that `fp report` didn't write.
fn write_page(context: &Context, path: &Path, page: &str, force: bool) -> Result<(), CommandError> {
    if !force && file::write_if_absent(path, page.as_bytes())? {
        return Ok(());
    }
    if force || is_run_page(&file::beginning(path, FAR)?) {
        return Ok(file::atomic_write(path, page.as_bytes())?);
    }
    let shown = context.display_path(path);
    let message = format!("{shown} is there already, and no page of fp report");
    Err(CommandError::refused(message).with_hint("name another file, or add --force to replace it"))
}

/// Files of a plan that are worth reading.
const WORTH_READING: &str = "interview.md research.md critique.md tasks.md notepad.md evidence";

/// Writes the handoff page of `plan`.
fn write_handoff(plan: &OpenPlan, context: &Context) -> CommandResult {
    let (state, lead) = context.state_and_lead(plan)?;
    let status = StatusReport::new(&state, lead);
    let read = WORTH_READING.split(' ');
    let read: Vec<&str> = read
        .filter(|name| plan.folder.file(name).exists())
        .collect();
    let text = handoff_page(
        &state,
        status.standing,
        &plan.goal(),
        &screen_text(&state, &status, context.now()),
        &interview_of(plan),
        &read,
    );
    let path = plan.folder.file("handoff.md");
    file::atomic_write(&path, text.as_bytes())?;
    let json =
        json!({ "planId": plan.id(), "next": next_steps(&state, status.standing), "text": text });
    context.report(&json, &text)?;
    context.note_written(&path);
    Ok(Exit::Done)
}
