//! Debts keep work that somebody noted for later, or that a run left undone, until a plan does it or somebody
//! drops it.
//!
//! A noted debt is a line in a log of its own. Leftovers are derived from the run's state each time and never
//! stored again. Their id names plan and task, so that they can be closed like any other.

mod model;

use std::time::Duration;

use fp_host::file::{self, FileError};
use fp_host::repo::{DEBT_LOG, HOME, Repo};
use fp_host::store::acquire;
use fp_plan::plan::id::TaskId;
use fp_plan::plan::path;
use fp_plan::text::{visible_line, wrapped_within};
use serde_json::{Value, json};

pub(crate) use self::model::DebtOffer;
use self::model::{
    DEBT_VERSION, Debt, DebtEntry, DebtEvent, DebtOrigin, DebtPlan, DebtStanding, all_debts,
    debt_text, next_id, offer,
};
use crate::context::{Context, Known};
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;

/// The lock of the log, in the folder of plans, which git ignores.
const LOCK: &str = "debt.lock";
/// Size limit of the log, in bytes.
const CAP: u64 = 16 * 1024 * 1024;

/// Most lines of one debt's text in a list.
const MOST_LINES: usize = 4;
/// Columns before the text.
const INDENT: usize = 2;

/// The open debts to offer when a plan for `goal` begins. A log that can't be read becomes a warning.
pub(crate) fn offer_for(
    goal: &str,
    known: &[Known],
    context: &Context,
    warnings: &mut Vec<String>,
) -> DebtOffer {
    let entries = read_log(context.repo())
        .map(|(entries, _)| entries)
        .unwrap_or_else(|error| {
            warnings.push(error.message);
            Vec::new()
        });
    offer(all_debts(&entries, &debt_plans(known)), goal)
}

/// List and add follow-up work: your notes and what runs left unfinished
#[derive(Debug, clap::Args)]
pub(crate) struct DebtArgs {
    #[command(subcommand)]
    action: DebtAction,
}

#[derive(Debug, clap::Subcommand)]
enum DebtAction {
    Add(AddDebtArgs),
    /// List open debts
    ///
    /// The list has noted debts, tasks that failed or were skipped in a run that is over, and whatever verification
    /// found unfinished in a task that passed. Archived plans count too.
    List {
        /// Include those that are done or dropped.
        #[arg(long)]
        all: bool,
    },
    Close(CloseDebtsArgs),
}

/// Note work for later
#[derive(Debug, clap::Args)]
struct AddDebtArgs {
    /// The work to do, in one line.
    #[arg(value_name = "TEXT")]
    text: String,
    /// The plan in which you noticed it.
    #[arg(long)]
    plan: Option<String>,
    /// The task in which you noticed it.
    #[arg(long, value_name = "ID", requires = "plan")]
    task: Option<TaskId>,
    /// A file that it concerns; repeatable.
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
}

/// Mark debts as done, taken up by a plan, or dropped
#[derive(Debug, clap::Args)]
struct CloseDebtsArgs {
    /// The id in `fp debt list`.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The plan that takes it up: done with that plan, and open again if the plan ends before all of it is done.
    #[arg(long)]
    plan: Option<String>,
    /// Drop it: nobody wants it any more.
    #[arg(long, conflicts_with = "plan")]
    drop: bool,
}

pub(crate) fn run(args: DebtArgs, context: &Context) -> CommandResult {
    match args.action {
        DebtAction::Add(args) => add(args, context),
        DebtAction::List { all } => list(all, context),
        DebtAction::Close(args) => close(&args, context),
    }
}

fn add(args: AddDebtArgs, context: &Context) -> CommandResult {
    let plan = args
        .plan
        .as_ref()
        .map(|plan| context.open(Some(plan)))
        .transpose()?;
    if let (Some(plan), Some(task)) = (&plan, &args.task) {
        plan.load()?.state.expect_task(task)?;
    }
    let text = debt_text(&args.text);
    if text.is_empty() {
        return Err(CommandError::failed("the debt has no text")
            .hint("say what to do: `fp debt add 'Refresh expired tokens'`"));
    }
    let normal = |file: &String| match path::normal(file.trim()) {
        Ok(path) => Ok(path.into_owned()),
        Err(why) => Err(CommandError::failed(format!(
            "{file:?} is no file of the repository: {why}"
        ))
        .hint("name a file by its path from the root of the repository")),
    };
    let files = args
        .file
        .iter()
        .map(normal)
        .collect::<Result<Vec<_>, _>>()?;
    let from = plan.map(|plan| DebtOrigin {
        plan: plan.id().clone(),
        task: args.task,
    });
    let known = context.known_plans()?;
    let (id, new) = extend_log(context, |entries| {
        let debts = all_debts(entries, &debt_plans(&known));
        if let Some(same) = debts
            .iter()
            .find(|debt| debt.text == text && debt.standing == DebtStanding::Open)
        {
            return Ok((Vec::new(), (same.id.clone(), false)));
        }
        let id = next_id(&debts);
        let event = DebtEvent::Noted {
            id: id.clone(),
            text,
            files,
            from,
        };
        Ok((vec![event.at(context.now())], (id, true)))
    })?;
    let text = if new {
        format!("Added {id}\n")
    } else {
        format!("{id} is the same and still open\n")
    };
    context.report(&json!({ "id": id, "new": new }), &text)
}

fn list(all: bool, context: &Context) -> CommandResult {
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let debts = all_debts(&read_log(context.repo())?.0, &debt_plans(&known));
    let listed: Vec<&Debt> = debts
        .iter()
        .filter(|debt| all || debt.standing.is_due())
        .collect();
    let closed = debts.len() - listed.len();
    let mut text: String = listed.iter().map(|debt| list_item(debt)).collect();
    if listed.is_empty() {
        text += "No open debts\n";
    }
    if closed > 0 {
        text += &format!("({closed} done or dropped: fp debt list --all)\n");
    }
    context.report(&json!({ "debts": listed, "closed": closed }), &text)
}

fn close(args: &CloseDebtsArgs, context: &Context) -> CommandResult {
    let plan = args
        .plan
        .as_ref()
        .map(|plan| context.open(Some(plan)))
        .transpose()?;
    let plan = plan.map(|plan| plan.id().clone());
    let known = context.known_plans()?;
    let plans = debt_plans(&known);
    let closed = extend_log(context, |entries| {
        let mut debts = all_debts(entries, &plans);
        let is = |debt: &Debt, id: &String| debt.id.eq_ignore_ascii_case(id);
        if let Some(id) = args
            .ids
            .iter()
            .find(|id| !debts.iter().any(|debt| is(debt, id)))
        {
            return Err(CommandError::failed(format!("there is no debt {id}"))
                .hint("`fp debt list --all` lists all of them"));
        }
        debts.retain(|debt| args.ids.iter().any(|id| is(debt, id)));
        let mut new = Vec::new();
        for debt in &mut debts {
            let id = debt.id.clone();
            let event = match args.drop {
                true => DebtEvent::Dropped { id },
                false => DebtEvent::Closed {
                    id,
                    plan: plan.clone(),
                },
            };
            match (event.standing(&plans), &plan) {
                (Some((_, DebtStanding::Open)), Some(plan)) => {
                    return Err(CommandError::refused(format!(
                        "{plan} is over, and not all of it is done"
                    ))
                    .hint("leave out --plan to mark the debt as done"));
                }
                (Some((_, standing)), _) if standing != debt.standing => {
                    debt.standing = standing;
                    // If the clock was set back, the end must still not precede the beginning.
                    new.push(event.at(context.now().max(debt.at)));
                }
                _ => {}
            }
        }
        Ok((new, debts))
    })?;
    let text: String = closed
        .iter()
        .map(|debt| format!("{} is {}\n", debt.id, standing_words(debt)))
        .collect();
    let outcome = |debt: &Debt| {
        let mut value = json!(debt.standing);
        value["id"] = json!(debt.id);
        value
    };
    context.report(
        &json!({ "debts": closed.iter().map(outcome).collect::<Vec<_>>() }),
        &text,
    )
}

fn list_item(debt: &Debt) -> String {
    let standing = match debt.standing {
        DebtStanding::Open => String::new(),
        _ => format!("  ({})", standing_words(debt)),
    };
    let files = debt
        .files
        .iter()
        .map(|file| visible_line(file))
        .collect::<Vec<_>>()
        .join(", ");
    let room = WIDTH - INDENT;
    let lines = wrapped_within(&debt.text, room, MOST_LINES)
        .into_iter()
        .chain(wrapped_within(&files, room, 1));
    let text: String = lines
        .map(|line| format!("{:INDENT$}{line}\n", ""))
        .collect();
    format!("{}{standing}\n{text}", debt.id)
}

fn standing_words(debt: &Debt) -> String {
    match &debt.standing {
        DebtStanding::Open => "open".into(),
        DebtStanding::Taken { by } => format!("taken up by {by}"),
        DebtStanding::Done { by: Some(by) } => format!("done by {by}"),
        DebtStanding::Done { by: None } => "done".into(),
        DebtStanding::Dropped => "dropped".into(),
    }
}

impl DebtOffer {
    pub(crate) fn json(&self) -> Vec<Value> {
        let described = |Debt {
                             id,
                             text,
                             files,
                             from,
                             ..
                         }: &Debt| json!({ "id": id, "text": text, "files": files, "from": from });
        self.debts.iter().map(described).collect()
    }

    /// The text for whoever makes the plan `plan`; empty if nothing is open.
    pub(crate) fn text(&self, plan: &str) -> String {
        if self.debts.is_empty() {
            return String::new();
        }
        let mut text = "\nOpen debts (ask which of them belong to this goal):\n".to_owned();
        for debt in &self.debts {
            let lines = wrapped_within(&format!("{}: {}", debt.id, debt.text), WIDTH - INDENT, 2);
            text.extend(lines.iter().map(|line| format!("{:INDENT$}{line}\n", "")));
        }
        if self.more > 0 {
            text += &format!("  ({} more: fp debt list)\n", self.more);
        }
        text + &format!("  to take one up: fp debt close ID --plan {plan}\n")
    }
}

/// The entries in the log of `repo`, oldest first, and its text; both empty if there is no such file. Fails
/// on a line that is no debt: the log is replaced as a whole, so no crash leaves half a line, and whoever
/// edited it should know.
fn read_log(repo: &Repo) -> Result<(Vec<DebtEntry>, String), CommandError> {
    let path = repo.root.join(DEBT_LOG);
    if path.is_symlink() {
        return Err(FileError::Link { path }.into());
    }
    let text = file::read_text_if_there(&path, CAP)?.unwrap_or_default();
    let mut entries = Vec::new();
    for (number, line) in (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let place = format!("{}:{number}", path.display());
        let wrong = |error: serde_json::Error| {
            CommandError::failed(format!("{place}: not a debt: {error}"))
                .hint("fix or remove that line: each one is a JSON object, in the form that `fp help roadmap` shows")
        };
        let value: Value = serde_json::from_str(line).map_err(wrong)?;
        let version = value["schemaVersion"].as_u64().unwrap_or_default();
        if version > DEBT_VERSION.into() {
            return Err(CommandError::failed(format!(
                "{place}: written by a newer fp (version {version} of debts, this fp reads {DEBT_VERSION})"
            ))
            .hint("update fp: `fp --version` prints the version of this one"));
        }
        entries.push(serde_json::from_value(value).map_err(wrong)?);
    }
    Ok((entries, text))
}

/// Appends the entries that `decide` returns, all or none, and passes its result on. Waits for other
/// processes that do the same. On return the entries are on the disk.
fn extend_log<T>(
    context: &Context,
    decide: impl FnOnce(&[DebtEntry]) -> Result<(Vec<DebtEntry>, T), CommandError>,
) -> Result<T, CommandError> {
    let (repo, plans) = (context.repo(), context.plans()?);
    let patience = Duration::from_secs(context.settings()?.lock_timeout_seconds.into());
    repo.make_folder(HOME)?;
    plans.make_dir()?;
    let _lock = acquire(&plans.dir().join(LOCK), patience)?;
    let (entries, mut text) = read_log(repo)?;
    let (new, result) = decide(&entries)?;
    if !new.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for entry in new {
            text +=
                &serde_json::to_string(&entry).expect("an entry has text keys and plain values");
            text.push('\n');
        }
        file::atomic_write(&repo.root.join(DEBT_LOG), text.as_bytes())?;
    }
    Ok(result)
}

/// The plans that can be read.
fn debt_plans(known: &[Known]) -> Vec<DebtPlan<'_>> {
    let plans = known.iter().filter_map(|known| {
        let state = known.state.as_deref().ok()?;
        Some(DebtPlan {
            state,
            archived: known.archived,
        })
    });
    plans.collect()
}
