//! `fp approve`: records that the user agreed to a plan and to its commands, in the log and in the trust store of this
//! machine. Without the user's consent it prints the question to ask.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use fp_host::plan::OpenPlan;
use fp_host::run::end_checks::{end_commands, missing_program};
use fp_host::trust::ConsentSource;
use fp_plan::plan::Plan;
use fp_plan::plan::id::TaskId;
use fp_plan::schedule::schedule;
use fp_plan::text::{counted, shown_command};
use fp_run::commit_style::{CommitHistory, SUBJECTS};
use fp_run::run::consent::{AgreedContent, PrintedQuestion, all_commands, commands_by_program};
use fp_run::run::event::{Approve, Decider, Event};
use fp_run::run::{State, approval};
use serde_json::json;

use super::consent::question_text;
use super::schedule::prediction_text;
use super::show::schedule_options;
use crate::context::{Context, consent_of};
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;
use crate::pace::prediction_terms;
use crate::source::PlanSource;

/// Approve a plan, so that its tasks and their commands may run
///
/// Shows the size of the plan and its commands, and asks. If nobody can be asked, it prints the question for the user
/// instead and approves nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// Approve without asking.
    #[arg(long)]
    yes: bool,
}

pub(crate) fn approve_plan(args: ApproveArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let text = source.read_text()?;
    let tree = source.valid_tree(&text)?;
    let state = plan.load()?.state;
    let mut proposal = Proposal::new(plan, &text, &tree, context)?;
    let commands = &proposal.end_commands;
    let is_of_this = state.approval.as_ref().is_some_and(|approval| {
        approval.tree_hash == proposal.hash()
            && approval.end_commands == *commands
            && tree.setup_commands().eq(&approval.setup)
    });
    let is_approved = is_of_this && context.approved_here(&state);
    proposal.before = proposal.before.filter(|_| !is_approved);
    let terms = proposal.terms();
    let given = match is_approved || args.yes {
        true => Some(ConsentSource::Flag),
        false => consent_given(&proposal, &terms, &state, context)?,
    };
    let Some(how) = given else {
        return ask_for_consent(&proposal, context);
    };
    let approved = proposal.approve(how, context)?;
    if let Some(note) = approved.kept_note(context) {
        context.printer.print_note(&note);
    }
    let state = &approved.state;
    let tasks = state.tasks.iter();
    let done = tasks.clone().filter(|task| task.imported).count();
    let unverified = tasks.filter(|task| task.is_unverified()).count();
    let is_there = |id: &&TaskId| state.task(id).is_some_and(|task| task.imported);
    let others = state.imported.keys().filter(|id| !is_there(id));
    for id in others.filter(|_| approved.changed) {
        context.note(format_args!(
            "what was done before the import as task {id} has another title or is gone: nothing counts as done for it"
        ));
    }
    let total = tree.leaves().count();
    let mut json = json!({
        "planId": plan.id(), "tasks": total, "commands": proposal.all_commands(), "changed": approved.changed,
        "endCommands": proposal.end_commands, "setup": tree.setup_commands().collect::<Vec<_>>(),
    });
    let mut before = String::new();
    if done > 0 {
        (json["doneBefore"], json["unverified"]) = (json!(done), json!(unverified));
        let proof = match unverified {
            0 => String::new(),
            count => format!(", {count} of them unverified: only the source says so"),
        };
        before = format!("Done before the import: {}{proof}\n", counted(done, "task"));
    }
    let head = if approved.changed {
        "Approved"
    } else {
        "Approved already"
    };
    let terms = if how == ConsentSource::Terminal {
        ""
    } else {
        &terms
    };
    let (id, tasks, next) = (plan.id(), counted(total, "task"), approved.next());
    let text = format!("{head}: {id} with {tasks}\n{before}{terms}Next: {next}\n");
    context.report(&json, &text)
}

/// The commands that an approval allows, which of them run first, and which at the end.
pub(crate) fn commands_text(tree: &Plan, end_commands: &[String]) -> String {
    let commands = commands_by_program(tree, end_commands);
    if commands.is_empty() {
        return String::new();
    }
    let mut text = format!("These commands may run:\n{}\n", commands.join("\n"));
    let mut setup = tree.setup_commands().peekable();
    if setup.peek().is_some() {
        text += "Before them, in a fresh checkout, these run:\n";
    }
    text.extend(setup.map(|command| format!("- {}\n", shown_command(command))));
    if !end_commands.is_empty() {
        text += "Once no task is left, these run:\n";
    }
    for command in end_commands {
        text += &format!("- {}\n", shown_command(command));
        if let Some(program) = missing_program(command) {
            text += &format!("  (not run: {program} isn't installed)\n");
        }
    }
    text
}

/// Returns how the user agreed, asking at the terminal if necessary; `None` without consent.
fn consent_given(
    proposal: &Proposal<'_>,
    terms: &str,
    state: &State,
    context: &Context,
) -> Result<Option<ConsentSource>, CommandError> {
    let id = proposal.plan.id();
    if state.approval.is_none() && context.trust()?.asked_for_no_review(id)? {
        return Ok(Some(ConsentSource::Prompt));
    }
    if !input::can_ask(context) {
        return Ok(None);
    }
    let tasks = counted(proposal.tree.leaves().count(), "task");
    context.printer.print_note(&format!(
        "Plan {id} has {tasks}. {}{terms}",
        proposal.predicted
    ));
    match input::agrees("Approve it?", context) {
        true => Ok(Some(ConsentSource::Terminal)),
        false => Err(CommandError::refused(format!("plan {id} is not approved"))
            .with_hint(format!("`fp show {id}` shows it"))),
    }
}

/// A plan as it is shown to the user for consent.
pub(crate) struct Proposal<'p> {
    plan: &'p OpenPlan,
    text: &'p str,
    tree: &'p Plan<'p>,
    end_commands: Vec<String>,
    /// The user's last consent.
    before: Option<AgreedContent>,
    /// The prediction for the plan, as text.
    predicted: String,
}

impl<'p> Proposal<'p> {
    /// The proposal of `tree`, whose text is `text`.
    pub(crate) fn new(
        plan: &'p OpenPlan,
        text: &'p str,
        tree: &'p Plan<'p>,
        context: &Context,
    ) -> Result<Self, CommandError> {
        Ok(Self {
            plan,
            text,
            tree,
            end_commands: end_commands(plan, tree),
            before: context.trust()?.last_agreed(plan.id())?,
            predicted: predicted_text(plan, tree, context),
        })
    }

    fn hash(&self) -> String {
        approval::hash(self.text.as_bytes())
    }

    /// The changes since the last consent, or if there was none, all commands that may run.
    fn terms(&self) -> String {
        match &self.before {
            Some(before) => before.changes_to(self.tree, &self.end_commands) + "\n",
            None => commands_text(self.tree, &self.end_commands),
        }
    }

    pub(super) fn all_commands(&self) -> BTreeSet<&str> {
        all_commands(self.tree, &self.end_commands).collect()
    }

    /// The question whose answer approves the plan.
    ///
    /// # Errors
    /// The client's dialog can't show everything that the user has to see.
    pub(crate) fn question(&self) -> Result<PrintedQuestion, CommandError> {
        let (id, before) = (self.plan.id(), self.before.as_ref());
        let question =
            PrintedQuestion::of_approval(id, self.tree, &self.hash(), &self.end_commands, before);
        question.ok_or_else(|| {
            let message =
                format!("plan {id} has more commands to look at than a question can show");
            CommandError::refused(message).with_hint(format!(
                "have the user run `fp approve {id}` at a terminal, which lists them all"
            ))
        })
    }

    /// Records the user's consent, first in the log, since the trust store refers to the log entry.
    pub(crate) fn approve(
        &self,
        how: ConsentSource,
        context: &Context,
    ) -> Result<Approved, CommandError> {
        let (plan, trust) = (self.plan, context.trust()?);
        let leaves = approval::leaves_to_run(self.tree, &plan.settings.exclusive);
        let leaves = leaves.map_err(CommandError::failed)?;
        // Approval works without git; only `fp start` needs it.
        let git = plan.git().ok();
        let base = git.as_ref().and_then(|git| git.head().ok());
        let subjects = git.and_then(|git| git.recent_subjects(SUBJECTS).ok());
        let mut ledger = plan.lock_in_order()?;
        let kept = ledger.begin_anew()?;
        // This machine's own plan was moved or copied here, so the work it claims to have isn't here.
        let is_moved = ledger.state().approval.is_some() && !trust.approves(ledger.state())?;
        // Must precede the approval, which doesn't reset tasks that are being built.
        let mut events = Vec::new();
        if is_moved && ledger.state().has_begun() {
            events.push(Event::ProgressDropped {});
        }
        let approved = Approve {
            tree_hash: self.hash(),
            leaves,
            base: base.map(|head| head.to_string()),
            commits: subjects.map(|subjects| CommitHistory::from_subjects(&subjects)),
            end_commands: self.end_commands.clone(),
            setup: self.tree.setup_commands().map(str::to_owned).collect(),
            by: match how {
                ConsentSource::Prompt => Decider::Auto,
                _ => Decider::User,
            },
        };
        events.extend(ledger.after(&events, context.now()).approve(approved)?);
        let changed = !events.is_empty();
        ledger.append(events, context.now())?;
        // The lock is still held, so that nobody can continue the run before the approval is trusted.
        trust.add(consent_of(ledger.state()), how, context.now())?;
        if how != ConsentSource::Prompt {
            // With `--auto` the user hasn't seen the plan.
            trust.keep_agreed(
                plan.id(),
                AgreedContent::from_tree(self.tree, &self.end_commands),
            )?;
        }
        Ok(Approved {
            changed,
            state: ledger.into_state(),
            kept,
        })
    }
}

/// An approval that was recorded.
pub(crate) struct Approved {
    /// False if the approval was already in the log.
    changed: bool,
    state: Arc<State>,
    /// The folder where another machine's log was set aside, if there was one.
    kept: Option<PathBuf>,
}

impl Approved {
    /// The note on a log that was set aside.
    pub(crate) fn kept_note(&self, context: &Context) -> Option<String> {
        let kept = context.display_path(self.kept.as_deref()?);
        Some(format!(
            "note: the log that was here was not written by fp on this machine; it is in {kept}, and the plan begins anew"
        ))
    }

    /// The command to run next: it continues the run, or starts one.
    pub(crate) fn next(&self) -> String {
        let (state, plan) = (&self.state, &self.state.plan_id);
        match state.is_running() || state.has_processes() {
            true => state.lead_command(),
            false => format!("/fp:implement {plan}, or in a terminal: fp run {plan}"),
        }
    }
}

/// The prediction for `tree` with the configured number of builders; empty if its tasks can't be ordered.
fn predicted_text(plan: &OpenPlan, tree: &Plan<'_>, context: &Context) -> String {
    let terms = prediction_terms(tree, &plan.settings, context);
    let found = schedule(tree, &schedule_options(&plan.settings), &terms);
    found.map_or_else(
        |_| String::new(),
        |found| prediction_text(&found.prediction),
    )
}

/// Prints the question for the user. The plan is not approved.
fn ask_for_consent(proposal: &Proposal<'_>, context: &Context) -> CommandResult {
    let id = proposal.plan.id();
    let printed = proposal.question()?;
    let text = format!(
        "{}Not approved: that takes the user's answer to this question, word for word.\n\n{}\n\
         In Claude Code the answer is recorded when it is given. At a terminal: fp approve {id}\n",
        proposal.predicted,
        question_text(&printed, "")
    );
    let json = json!({
        "planId": id, "approved": false, "question": printed.question, "header": printed.header,
        "options": printed.options,
    });
    context.report(&json, &text)?;
    Ok(Exit::Findings)
}
