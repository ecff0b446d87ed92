//! `fp commit`: commits exactly the chosen files, with a message in the repository's own style.

use std::path::PathBuf;

use fp_host::commit::{ChosenChanges, ChosenFile, choose_changes};
use fp_host::git::{Blocked, CommitOutcome, Git};
use fp_plan::repo_path::RepoPath;
use fp_run::commit_style::{CommitHistory, SUBJECTS, style_of};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use fp_plan::text::{counted, fitted, one_line};

/// Maximum number of subjects to show as examples.
const EXAMPLES: usize = 5;
/// Maximum width of a subject, in columns.
const SUBJECT: usize = 72;

/// Commit the named files, or the staged ones, with a message in the repository's own style
///
/// Without a message it prints the repository's message style, and exits with 1. A message that does not fit is refused
/// with the reasons, and nothing is committed. Other staged files stay staged.
#[derive(Debug, clap::Args)]
pub(crate) struct CommitArgs {
    /// The files, each by its own name. Default: all staged files.
    files: Vec<PathBuf>,
    /// The message: a subject, then optionally a blank line and a body.
    #[arg(long, short, value_name = "MESSAGE", allow_hyphen_values = true)]
    message: Option<String>,
}

pub(crate) fn run(args: CommitArgs, context: &Context) -> CommandResult {
    let git = Git::open(&context.cwd)?;
    let subjects = git.recent_subjects(SUBJECTS)?;
    let history = CommitHistory::from_subjects(&subjects);
    if let Some(blocked) = git.commit_obstacle()? {
        return Err(blocked_error(&blocked));
    }
    let chosen = choose_changes(&git, &context.cwd, &args.files)?;
    let rule = history.message_rule();
    let Some(message) = args.message.map(|message| message.replace("\r\n", "\n")) else {
        let told = subjects
            .iter()
            .filter(|subject| style_of(subject).is_some());
        let examples: Vec<String> = told
            .take(EXAMPLES)
            .map(|subject| fitted(&one_line(subject), SUBJECT))
            .collect();
        let json = json!({
            "style": history.style(), "rule": rule, "examples": examples, "files": chosen.changes, "kept": chosen.kept,
        });
        let settings = context.settings()?;
        let language = settings
            .language
            .as_ref()
            .map_or_else(String::new, |language| format!("; in {language}"));
        let listed: String = examples
            .iter()
            .map(|subject| format!("  {subject}\n"))
            .collect();
        let text = format!(
            "A subject is {rule}{language}\n{listed}{}\nNext: the same command with --message 'SUBJECT'\n",
            files_text(&chosen)
        );
        context.report(&json, &text)?;
        return Ok(Exit::Findings);
    };
    let objections = history.objections(&message);
    if objections.is_empty() {
        return commit(&git, &chosen, message.trim(), context);
    }
    let listed: String = objections
        .iter()
        .map(|line| format!("  - {line}\n"))
        .collect();
    context.report(
        &json!({ "objections": objections, "rule": rule }),
        &format!("Nothing is committed: the message does not fit.\n{listed}A subject is {rule}\n"),
    )?;
    Ok(Exit::Findings)
}

fn commit(git: &Git, chosen: &ChosenChanges, message: &str, context: &Context) -> CommandResult {
    let hash = match chosen.commit(git, message)? {
        CommitOutcome::Committed { hash } => hash,
        CommitOutcome::NothingToCommit => {
            return Err(CommandError::refused(
                "there is nothing to commit: the files are as in the last commit",
            ));
        }
        CommitOutcome::Blocked(blocked) => return Err(blocked_error(&blocked)),
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
    let mut text = format!("\n{}:\n", counted(chosen.changes.len(), "file"));
    for ChosenFile { path, status } in &chosen.changes {
        text += &format!("  {status}  {path}\n");
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

fn blocked_error(blocked: &Blocked) -> CommandError {
    let refused = CommandError::refused(format!("nothing is committed: {blocked}"));
    match blocked {
        Blocked::Locked(lock) => refused.with_hint(format!(
            "wait for the other git; if none is running, remove `.git/{lock}`"
        )),
        Blocked::Failed(_) => refused.with_hint("settle that, then run the same command again"),
        Blocked::InProgress(_) | Blocked::Conflict(_) => refused,
    }
}
