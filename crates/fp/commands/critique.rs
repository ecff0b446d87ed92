//! `fp critique`: records a critic's judgement on every leaf, so that the program, not the model, does the counting.

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_plan::plan::id::TaskId;
use fp_plan::text::{counted, prompt_lines};
use fp_run::critique::{CriticFinding, CriticVerdict, Critique, new_critique};
use fp_run::run::State;
use fp_run::run::approval;
use fp_run::run::event::Event;
use fp_run::run::planning::ROUNDS;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::source::PlanSource;

/// Record a critic's findings on a task tree, or show them
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CritiqueArgs {
    Record(RecordArgs),
    Show(ShowCritiqueArgs),
}

/// Record a judgement on every leaf, and write critique.md
///
/// A leaf passes, or has findings. A finding is `LEAF ITEM: TEXT`, with `tree` for LEAF if it concerns the whole tree;
/// ITEM is criteria, hints, scope, dependencies, coverage, circularity or guardrails. The worst finding is the verdict.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct RecordArgs {
    /// The plan.
    plan: String,
    /// Leaves without findings.
    #[arg(long, value_name = "LEAF,…", value_delimiter = ',')]
    pass: Vec<String>,
    /// A finding that would cost an attempt.
    #[arg(long, value_name = "LEAF ITEM: TEXT")]
    warn: Vec<String>,
    /// A finding that keeps a leaf from being finished, or from being finished correctly.
    #[arg(long, value_name = "LEAF ITEM: TEXT")]
    fail: Vec<String>,
}

/// Print the last critique
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct ShowCritiqueArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
}

pub(crate) fn run(args: CritiqueArgs, context: &Context) -> CommandResult {
    match args {
        CritiqueArgs::Record(args) => record(&args, context),
        CritiqueArgs::Show(args) => show(&args, context),
    }
}

fn record(args: &RecordArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, Some(&args.plan))?;
    let plan = source.plan()?;
    source.refuse_running()?;
    let text = source.read_text()?;
    let with = |verdict| move |text: &String| (verdict, text.clone());
    let warned = args.warn.iter().map(with(CriticVerdict::Warn));
    let failed = args.fail.iter().map(with(CriticVerdict::Fail));
    let remarks: Vec<_> = warned.chain(failed).collect();
    let (tree, hash) = (source.valid_tree(&text)?, approval::hash(text.as_bytes()));
    let passed = args.pass.iter().map(|id| id.trim().to_owned());
    let passed: Vec<String> = passed.filter(|id| !id.is_empty()).collect();
    let judged = new_critique(&tree, hash, &passed, &remarks);
    let judged = judged.map_err(|error| {
        CommandError::with_message(&error, &error).with_plan(plan.id().as_str())
    })?;
    let mut ledger = context.with_notices(plan.lock()?);
    let critique = ledger.state().criticise(judged)?;
    let path = plan.folder.file("critique.md");
    let mut text = critique.to_markdown();
    if critique.round > 1 {
        // Earlier findings stay readable.
        let earlier = file::read_text_if_there(&path, file::TASKS_CAP)?.unwrap_or_default();
        text += &format!("\n---\n\n{earlier}");
    }
    file::atomic_write(&path, text.as_bytes())?;
    ledger.append(vec![Event::Critiqued(critique.clone())], context.now())?;
    drop(ledger);
    let next = next(&critique);
    let json = json!({ "planId": plan.id(), "rounds": ROUNDS, "critique": critique, "next": next });
    context.report(&json, &format!("{}\nnext: {next}\n", summary(&critique)))?;
    context
        .printer
        .print_note(&format!("note: written to {}", context.display_path(&path)));
    Ok(if critique.verdict == CriticVerdict::Fail {
        Exit::Findings
    } else {
        Exit::Done
    })
}

fn summary(critique: &Critique) -> String {
    let (round, leaves) = (critique.round, critique.leaves);
    let findings = counted(critique.findings.len(), "finding");
    let passing = critique.passing();
    let verdict = critique.verdict.into_str();
    format!("{verdict} in round {round} of {ROUNDS}: {findings}, {passing} of {leaves} leaves pass")
}

fn next(critique: &Critique) -> String {
    let (last, round) = (critique.round >= ROUNDS, critique.round + 1);
    match critique.verdict {
        CriticVerdict::Fail if last => "review; the user decides about what is left".to_owned(),
        CriticVerdict::Fail if critique.fails_in_words() => {
            "revise by critique.md, warnings too, then review".to_owned()
        }
        CriticVerdict::Fail => format!(
            "revise by critique.md, warnings too, then criticise again (round {round} of {ROUNDS})"
        ),
        CriticVerdict::Pass | CriticVerdict::Warn => "review".to_owned(),
    }
}

fn show(args: &ShowCritiqueArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open_to_read(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    context.notices(&plan.load()?.notices);
    let text = source.read_text().unwrap_or_default();
    let critique = last_critique(plan)?;
    let judged = critique.as_ref();
    let changed = judged.is_some_and(|it| approval::hash(text.as_bytes()) != it.tree_hash);
    let told = judged.map_or_else(|| "No critique yet\n".to_owned(), Critique::to_markdown);
    let since = changed.then_some("\nThe tree has changed since\n");
    context.report(
        &json!({ "planId": plan.id(), "rounds": ROUNDS, "critique": judged, "changed": changed }),
        &(told + since.unwrap_or_default()),
    )
}

/// Size limit of a finding for a builder or a verifier, in bytes.
const MAX_DOUBT: usize = 1000;

/// What the critic doubted about `task`, if its tree was approved as it stood.
pub(super) fn doubts_about(
    plan: &OpenPlan,
    state: &State,
    task: &TaskId,
) -> Result<Vec<String>, CommandError> {
    let judged = state.planning.critique.as_ref().map(|it| &it.tree_hash);
    if judged != state.approval.as_ref().map(|it| &it.tree_hash) {
        return Ok(Vec::new());
    }
    let findings = last_critique(plan)?.map_or_else(Vec::new, |it| it.findings);
    let about = findings.iter().filter(|it| it.task.as_ref() == Some(task));
    let told = |it: &CriticFinding| {
        format!(
            "{}: {}",
            it.item.into_str(),
            prompt_lines(&it.text, MAX_DOUBT)
        )
    };
    Ok(about.map(told).collect())
}

/// The last critique in the log of `plan`.
pub(super) fn last_critique(plan: &OpenPlan) -> Result<Option<Critique>, CommandError> {
    let events = plan
        .store
        .past()?
        .entries
        .into_iter()
        .rev()
        .flat_map(|entry| entry.events.into_iter().rev());
    let critique = |event| match event {
        Event::Critiqued(critique) => Some(critique),
        _ => None,
    };
    Ok(events.filter_map(critique).next())
}
