//! `fp commit`: commits exactly the chosen files, with a message in the repository's own style.

use std::path::PathBuf;

use fp_host::commit::{ChoiceError, ChosenChanges, choose};
use fp_host::git::{Blocked, CommitOutcome, FileStat, Git};
use fp_plan::repo_path::RepoPath;
use fp_run::commit_style::{CommitHistory, CommitStyle, SUBJECTS, style_of};
use fp_run::verification::change::ChangeStatus;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use fp_plan::text::{counted, fitted, one_line};

/// Most changed files that the hint lists if none was named.
const LISTED: usize = 20;
/// Most subjects shown as examples.
const EXAMPLES: usize = 5;
/// Columns of a subject.
const SUBJECT: usize = 72;

/// Commit the named files, or what is staged, with a message in the repository's own style
///
/// Without a message it says how messages are written here, and ends with 1. A message that does not fit is refused
/// with the reasons, and nothing is committed. Whatever else is staged stays staged.
#[derive(Debug, clap::Args)]
pub(crate) struct CommitArgs {
    /// The files, each by its own name. Default: whatever is staged.
    files: Vec<PathBuf>,
    /// The message: a subject, then a blank line and a body if there is more to say.
    #[arg(long, short, value_name = "MESSAGE", allow_hyphen_values = true)]
    message: Option<String>,
    /// Explain how the style was found, with numbers and examples, and commit nothing.
    #[arg(long, conflicts_with_all = ["files", "message", "dry_run"])]
    explain: bool,
    /// Show what would be committed and check the message, but commit nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: CommitArgs, context: &Context) -> CommandResult {
    let git = Git::open(&context.cwd)?;
    let subjects = git.recent_subjects(SUBJECTS)?;
    let history = CommitHistory::of(&subjects).in_language(context.settings()?.language.as_deref());
    if args.explain {
        let json = json!({ "style": style_json(&history), "subjects": subjects });
        let text = style_text(&history, &subjects)
            + "\nCounted in the last subjects of HEAD. A run keeps what they were at its approval.\n";
        return context.report(&json, &text);
    }
    if let Some(blocked) = git.commit_obstacle()? {
        return Err(refused(&blocked));
    }
    let chosen = choose(&git, &context.cwd, &args.files).map_err(nothing_chosen)?;
    let with_files = |mut json: Value| {
        json["files"] = json!(chosen.stats);
        json["kept"] = json!(chosen.kept);
        json
    };
    let Some(message) = args.message.map(|message| message.replace("\r\n", "\n")) else {
        let json = json!({
            "style": style_json(&history), "rules": history.rules(), "examples": examples(&subjects),
        });
        let files = files_text(&chosen);
        let guide = style_text(&history, &subjects);
        let text = format!("{guide}{files}\nNext: the same command with --message 'SUBJECT'\n");
        context.report(&with_files(json), &text)?;
        return Ok(if args.dry_run {
            Exit::Done
        } else {
            Exit::Findings
        });
    };
    let objections = history.objections(&message);
    if !objections.is_empty() {
        let json = json!({
            "objections": objections, "style": style_json(&history), "rules": history.rules(),
        });
        let (objections, rules) = (list(&objections), list(&history.rules()));
        context.report(
            &json,
            &format!(
                "Nothing is committed: the message does not fit.\n{objections}\nA subject is, here:\n{rules}"
            ),
        )?;
        return Ok(Exit::Findings);
    }
    let message = message.trim();
    if args.dry_run {
        let lines: String = message
            .lines()
            .map(|line| format!("  {line}").trim_end().to_owned() + "\n")
            .collect();
        let files = files_text(&chosen);
        let text = format!("The message fits. Nothing is committed (--dry-run).\n\n{lines}{files}");
        return context.report(&with_files(json!({ "message": message })), &text);
    }
    commit(&git, &chosen, message, context)
}

fn style_json(history: &CommitHistory) -> Value {
    json!({
        "style": history.style(), "language": history.language_name(), "reasons": history.reasons(), "counts": history,
    })
}

/// The style of messages in this repository, and the reasons for it.
fn style_text(history: &CommitHistory, subjects: &[String]) -> String {
    let style = match history.style() {
        CommitStyle::Semantic => "SEMANTIC",
        CommitStyle::Plain => "PLAIN",
    };
    let language = if history.is_korean() { ", Korean" } else { "" };
    let mut text = format!("Style: {style}{language}\n");
    for reason in history.reasons() {
        text.push_str(&format!("  {reason}\n"));
    }
    text.push_str("\nA subject is:\n");
    text.push_str(&list(&history.rules()));
    let examples = examples(subjects);
    if !examples.is_empty() {
        text.push_str("\nThe last ones, as examples:\n");
        examples
            .iter()
            .for_each(|subject| text.push_str(&format!("  {subject}\n")));
    }
    text
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  - {line}\n")).collect()
}

/// The newest subjects that tell something about the style.
fn examples(subjects: &[String]) -> Vec<String> {
    let told = subjects
        .iter()
        .filter(|subject| style_of(subject).is_some());
    told.take(EXAMPLES)
        .map(|subject| fitted(&one_line(subject), SUBJECT))
        .collect()
}

fn commit(git: &Git, chosen: &ChosenChanges, message: &str, context: &Context) -> CommandResult {
    let hash = match chosen.commit(git, message)? {
        CommitOutcome::Committed { hash } => hash,
        CommitOutcome::NothingToCommit => {
            return Err(CommandError::refused(
                "there is nothing to commit: the files are as in the last commit",
            ));
        }
        CommitOutcome::Blocked(blocked) => return Err(refused(&blocked)),
    };
    // Hooks may have changed the message and the files.
    let made = git.last_commit()?.filter(|commit| commit.hash == hash);
    let (subject, files) = match made {
        Some(commit) => (commit.subject, commit.files),
        None => (
            message.lines().next().unwrap_or_default().to_owned(),
            chosen.files(),
        ),
    };
    let by_hooks: Vec<&RepoPath> = files
        .iter()
        .filter(|file| !chosen.files().contains(file))
        .collect();
    let json = json!({
        "commit": hash, "subject": subject, "files": files, "byHooks": by_hooks, "kept": chosen.kept,
    });
    let mut text = format!("Committed {}: {}\n", hash.short(), one_line(&subject));
    for file in &files {
        let by_hook = if by_hooks.contains(&file) {
            "  (by a hook)"
        } else {
            ""
        };
        text.push_str(&format!("  {file}{by_hook}\n"));
    }
    context.report(&json, &(text + &still_staged(&chosen.kept)))
}

fn files_text(chosen: &ChosenChanges) -> String {
    let sum = |of: fn(&FileStat) -> Option<u64>| chosen.stats.iter().filter_map(of).sum::<u64>();
    let (added, removed) = (sum(|stat| stat.added), sum(|stat| stat.removed));
    let count = counted(chosen.stats.len(), "file");
    let mut text = format!("\n{count}, +{added} -{removed}:\n");
    let number = |sign: char, lines: Option<u64>| {
        lines.map_or("-".to_owned(), |lines| format!("{sign}{lines}"))
    };
    for FileStat {
        change,
        added,
        removed,
    } in &chosen.stats
    {
        let (added, removed) = (number('+', *added), number('-', *removed));
        text.push_str(&format!(
            "  {} {added:>5} {removed:>5}  {}\n",
            letter(&change.status),
            change.path
        ));
    }
    text + &still_staged(&chosen.kept)
}

fn still_staged(kept: &[RepoPath]) -> String {
    if kept.is_empty() {
        return String::new();
    }
    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
    format!("Still staged: {}\n", kept.join(", "))
}

fn letter(status: &ChangeStatus) -> char {
    match status {
        ChangeStatus::Added => 'A',
        ChangeStatus::Modified | ChangeStatus::ModeChanged => 'M',
        ChangeStatus::Deleted => 'D',
        ChangeStatus::Renamed { .. } => 'R',
        ChangeStatus::TypeChanged => 'T',
    }
}

fn refused(blocked: &Blocked) -> CommandError {
    let refused = CommandError::refused(format!("nothing is committed: {blocked}"));
    match blocked {
        Blocked::HookFailed { .. } => {
            refused.hint("fix what the hook found, then run the same command again")
        }
        Blocked::SigningFailed { .. } => refused.hint(
            "make the key of `user.signingkey` available, or turn `commit.gpgsign` off for this repository",
        ),
        Blocked::Locked(lock) => {
            refused.hint(format!("wait for the other git; if none is running, remove `.git/{lock}`"))
        }
        _ => refused,
    }
}

fn nothing_chosen(error: ChoiceError) -> CommandError {
    let refused = CommandError::refused(&error);
    match error {
        ChoiceError::Git(error) => error.into(),
        ChoiceError::Unfit(_) => {
            refused.hint("nothing is committed; `git status` shows what has changed")
        }
        ChoiceError::NothingNamed(changed) => {
            let mut shown: Vec<String> = changed
                .iter()
                .take(LISTED)
                .map(ToString::to_string)
                .collect();
            if let more @ 1.. = changed.len().saturating_sub(LISTED) {
                shown.push(format!("and {more} more"));
            }
            refused
                .hint(format!("changed: {}", shown.join(", ")))
                .hint("name the files: `fp commit FILE… -m MESSAGE`")
        }
        ChoiceError::NothingChanged => refused,
    }
}
