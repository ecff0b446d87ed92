//! `fp approve`: records that the user agreed to a plan and to its commands, in the log and in the trust store of this
//! machine. Without a word of the user it prints the question to ask.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use fp_host::plan::OpenPlan;
use fp_host::run::end_checks::{end_commands, missing_program};
use fp_host::trust::ConsentSource;
use fp_plan::plan::Plan;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{counted, shown_command};
use fp_run::commit_style::{CommitHistory, SUBJECTS};
use fp_run::run::consent::{AgreedContent, PrintedQuestion, commands_by_program};
use fp_run::run::event::{Approve, Decider, Event};
use fp_run::run::{State, approval};
use serde_json::json;

use crate::context::{Context, consent_of};
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;
use crate::source::PlanSource;

/// Approve a plan, so that its tasks and their commands may run
///
/// Shows the size of the plan and its commands, and asks. Where nobody can be asked it prints the question for the user
/// instead and approves nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// Approve without asking.
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: ApproveArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let text = source.text()?;
    let tree = source.valid_tree(&text)?;
    let total = tree.leaves().count();
    let state = plan.load()?.state;
    let commands = end_commands(plan, &tree);
    let is_of_this = state.approval.as_ref().is_some_and(|approval| {
        approval.tree_hash == approval::hash(text.as_bytes()) && approval.end_commands == commands
    });
    let is_approved = is_of_this && context.approved_here(&state);
    let before = match is_approved {
        true => None,
        false => context.trust()?.last_agreed(plan.id())?,
    };
    let terms = match &before {
        Some(before) => before.changes_to(&tree, &commands) + "\n",
        None => commands_text(&tree, &commands),
    };
    let given = match is_approved {
        true => Some(ConsentSource::Flag),
        false => consent_given(&args, plan, &tree, &terms, &state, context)?,
    };
    let Some(how) = given else {
        return ask_for_consent(plan, &text, &tree, &commands, before.as_ref(), context);
    };
    let approved = approve(plan, &text, &tree, &commands, how, context)?;
    let Approved { changed, state, .. } = &approved;
    if let Some(note) = approved.kept_note(context) {
        context.printer.note(&note);
    }
    let before = Before::of(state);
    for id in before.others.iter().filter(|_| *changed) {
        context.printer.note(&format!(
            "note: what was done before the import as task {id} has another title or is gone: nothing counts as done for it"
        ));
    }
    let of_tasks = tree
        .leaves()
        .flat_map(|leaf| leaf.test_commands().chain(leaf.verify()));
    let all: BTreeSet<&str> = of_tasks
        .chain(commands.iter().map(String::as_str))
        .collect();
    let mut json = json!({
        "planId": plan.id(), "tasks": total, "commands": all, "changed": changed, "endCommands": commands,
    });
    if before.done > 0 {
        json["doneBefore"] = json!(before.done);
        json["unverified"] = json!(before.unverified);
    }
    let head = if *changed {
        "Approved"
    } else {
        "Approved already"
    };
    let terms = if how == ConsentSource::Terminal {
        ""
    } else {
        terms.as_str()
    };
    let (id, tasks, before, next) = (
        plan.id(),
        counted(total, "task"),
        before.text(),
        approved.next(),
    );
    let text = format!("{head}: {id} with {tasks}\n{before}{terms}Next: {next}\n");
    context.report(&json, &text)
}

/// The commands that an approval allows, and which of them run at the end.
pub(crate) fn commands_text(tree: &Plan, end_commands: &[String]) -> String {
    let commands = commands_by_program(tree, end_commands);
    if commands.is_empty() {
        return String::new();
    }
    let mut text = format!("These commands may run:\n{}\n", commands.join("\n"));
    if !end_commands.is_empty() {
        text.push_str("Once no task is left, these run:\n");
    }
    for command in end_commands {
        text.push_str(&format!("- {}\n", shown_command(command)));
        if let Some(program) = missing_program(command) {
            text.push_str(&format!("  (not run: {program} isn't installed)\n"));
        }
    }
    text
}

/// How the user has agreed, or agrees now at a terminal; `None` if there is no word of the user.
fn consent_given(
    args: &ApproveArgs,
    plan: &OpenPlan,
    tree: &Plan,
    terms: &str,
    state: &State,
    context: &Context,
) -> Result<Option<ConsentSource>, CommandError> {
    if args.yes {
        return Ok(Some(ConsentSource::Flag));
    }
    if state.approval.is_none() && context.trust()?.asked_for_no_review(plan.id())? {
        return Ok(Some(ConsentSource::Prompt));
    }
    if !input::can_ask(context) {
        return Ok(None);
    }
    let tasks = counted(tree.leaves().count(), "task");
    context
        .printer
        .note(&format!("Plan {} has {tasks}. {terms}", plan.id()));
    match input::agrees("Approve it?", context) {
        true => Ok(Some(ConsentSource::Terminal)),
        false => Err(
            CommandError::refused(format!("plan {} is not approved", plan.id()))
                .hint(format!("`fp show {}` shows it", plan.id())),
        ),
    }
}

/// An approval that was recorded.
pub(crate) struct Approved {
    /// False if the log had it already.
    changed: bool,
    state: Arc<State>,
    /// The folder of the log that this machine did not write, if there was one.
    kept: Option<PathBuf>,
}

impl Approved {
    /// The note on a log that doesn't count any more.
    pub(crate) fn kept_note(&self, context: &Context) -> Option<String> {
        let kept = context.shown(self.kept.as_deref()?);
        Some(format!(
            "note: the log that was here was not written by fp on this machine; it is in {kept}, and the plan begins anew"
        ))
    }

    /// The command that follows: it continues the run, or starts one.
    pub(crate) fn next(&self) -> String {
        let (state, plan) = (&self.state, &self.state.plan_id);
        match state.is_running() || state.has_processes() {
            true => state.lead_command(),
            false => format!("/fp:implement {plan}, or in a terminal: fp run {plan}"),
        }
    }
}

/// Records that the user agreed to `tree` and `end_commands`, first in the log, since the store names what the log has.
pub(crate) fn approve(
    plan: &OpenPlan,
    text: &str,
    tree: &Plan,
    end_commands: &[String],
    how: ConsentSource,
    context: &Context,
) -> Result<Approved, CommandError> {
    let leaves = approval::leaves(tree, &plan.settings.exclusive).map_err(CommandError::failed)?;
    // Without git a plan can be approved; `fp start` is what needs it.
    let git = plan.git().ok();
    let base = git.as_ref().and_then(|git| git.head().ok());
    let base = base.map(|head| head.to_string());
    let subjects = git.and_then(|git| git.recent_subjects(SUBJECTS).ok());
    let commits = subjects.map(|subjects| CommitHistory::of(&subjects));
    let by = if how == ConsentSource::Prompt {
        Decider::Auto
    } else {
        Decider::User
    };
    let trust = context.trust()?;
    let mut ledger = plan.lock_in_order()?;
    let agreed = AgreedContent::of(tree, end_commands);
    let kept = ledger.begin_anew()?;
    // This machine's own, moved or copied here: what was under way there isn't here.
    let is_moved = ledger.state().approval.is_some() && !trust.approves(ledger.state())?;
    let (tree_hash, end_commands) = (approval::hash(text.as_bytes()), end_commands.to_vec());
    // Before the approval, which would leave tasks that are being built as they are.
    let mut events = Vec::new();
    if is_moved && ledger.state().has_begun() {
        events.push(Event::ProgressDropped {});
    }
    let approved = Approve {
        tree_hash,
        leaves,
        base,
        commits,
        end_commands,
        by,
    };
    events.extend(ledger.after(&events, context.now()).approve(approved)?);
    let changed = !events.is_empty();
    ledger.append(events, context.now())?;
    // With the lock still held: who goes on with the run never meets an approval that isn't trusted yet.
    trust.add(consent_of(ledger.state()), how, context.now())?;
    if how != ConsentSource::Prompt {
        // After a prompt with `--auto` the user has seen none of it.
        trust.keep_agreed(plan.id(), agreed)?;
    }
    Ok(Approved {
        changed,
        state: ledger.into_state(),
        kept,
    })
}

/// The question that approves `tree`, whose text is `text`.
///
/// # Errors
/// The dialog of a client can't show all that the user has to see.
pub(crate) fn approval_question(
    plan: &PlanId,
    text: &str,
    tree: &Plan,
    end_commands: &[String],
    before: Option<&AgreedContent>,
) -> Result<PrintedQuestion, CommandError> {
    let hash = approval::hash(text.as_bytes());
    PrintedQuestion::of_approval(plan, tree, &hash, end_commands, before).ok_or_else(|| {
        CommandError::refused(format!(
            "plan {plan} has more commands to look at than a question can show"
        ))
        .hint(format!(
            "have the user run `fp approve {plan}` at a terminal, which lists them all"
        ))
    })
}

/// Prints the question for the user. The plan is not approved.
fn ask_for_consent(
    plan: &OpenPlan,
    text: &str,
    tree: &Plan,
    end_commands: &[String],
    before: Option<&AgreedContent>,
    context: &Context,
) -> CommandResult {
    let id = plan.id();
    let PrintedQuestion {
        question,
        header,
        options,
    } = approval_question(id, text, tree, end_commands, before)?;
    let mut text = format!(
        "Not approved: that takes the user's answer to this question, word for word.\n\nquestion: {question}\n"
    );
    text.push_str(&format!("header: {header}\noptions:\n"));
    for option in &options {
        text.push_str(&format!("- {}: {}\n", option.label, option.description));
    }
    text.push_str(&format!(
        "\nIn Claude Code the answer is recorded when it is given. At a terminal: fp approve {id}\n"
    ));
    let json = json!({
        "planId": id, "approved": false, "question": question, "header": header, "options": options,
    });
    context.report(&json, &text)?;
    Ok(Exit::Findings)
}

/// The work done before the plan was imported.
struct Before {
    done: usize,
    unverified: usize,
    /// The tasks of the import that the approved tree has no more.
    others: Vec<TaskId>,
}

impl Before {
    fn of(state: &State) -> Self {
        let is_there = |id: &&TaskId| state.task(id).is_some_and(|task| task.imported);
        Self {
            done: state.tasks.iter().filter(|task| task.imported).count(),
            unverified: state
                .tasks
                .iter()
                .filter(|task| task.is_unverified())
                .count(),
            others: state
                .imported
                .keys()
                .filter(|id| !is_there(id))
                .cloned()
                .collect(),
        }
    }

    fn text(&self) -> String {
        let proof = match self.unverified {
            0 => String::new(),
            count => format!(", {count} of them unverified: only the source says so"),
        };
        match self.done {
            0 => String::new(),
            done => format!("Done before the import: {}{proof}\n", counted(done, "task")),
        }
    }
}
