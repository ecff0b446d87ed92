//! `fp commit`.

use std::path::PathBuf;

use fp_core::commit_message::check::{Objection, check};
use fp_core::commit_message::{History, SUBJECTS};
use fp_core::repo_path::RepoPath;
use fp_host::commit::{ChoiceError, Chosen, choose};
use fp_host::git::{Blocked, Git, Outcome};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::commit;

/// Changed files that the hint lists where none was named.
const LISTED: usize = 20;

/// Commit the named files, or what is staged, with a message in the repository's own style
///
/// Without a message it says how one has to be written here, and ends with 1. A message that does not fit is refused
/// with the reasons, and nothing is committed. What else is staged stays staged.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The files, each by its own name; without one, what is staged.
    files: Vec<PathBuf>,
    /// The message: a subject, and below a blank line a body where there is more to say.
    #[arg(long, short, value_name = "MESSAGE", allow_hyphen_values = true)]
    message: Option<String>,
    /// Say how the style was found, by numbers and examples, and commit nothing.
    #[arg(long, conflicts_with_all = ["files", "message", "dry_run"])]
    explain: bool,
    /// Say what would be committed, check the message, and commit nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let git = Git::open(&context.cwd)?;
    let subjects = git.recent_subjects(SUBJECTS)?;
    let history = History::of(&subjects).in_language(context.settings()?.language.as_deref());
    if args.explain {
        let json = json!({ "style": style(&history), "subjects": subjects });
        return context.report(&json, &commit::explanation(&history, &subjects));
    }
    if let Some(blocked) = git.commit_obstacle()? {
        return Err(refused(&blocked));
    }
    let chosen = choose(&git, &context.cwd, &args.files).map_err(nothing_chosen)?;
    let Some(message) = args.message.map(|message| message.replace("\r\n", "\n")) else {
        let examples = commit::examples(&subjects, |_| true, commit::EXAMPLES);
        let mut json = json!({ "style": style(&history), "rules": history.rules(), "examples": examples });
        told_of(&mut json, &chosen);
        context.report(&json, &commit::guide(&history, &subjects, &chosen))?;
        return Ok(if args.dry_run { Exit::Done } else { Exit::Findings });
    };
    let objections = check(&history, &message);
    if !objections.is_empty() {
        return objected(&objections, &history, context);
    }
    let message = message.trim();
    if args.dry_run {
        let mut json = json!({ "message": message });
        told_of(&mut json, &chosen);
        return context.report(&json, &commit::preview(message, &chosen));
    }
    made(&git, &chosen, message, context)
}

fn style(history: &History) -> Value {
    json!({
        "style": history.style(), "language": history.language_name(), "reasons": history.reasons(), "counts": history,
    })
}

fn told_of(json: &mut Value, chosen: &Chosen) {
    json["files"] = json!(chosen.stats);
    json["kept"] = json!(chosen.kept);
}

fn objected(objections: &[Objection], history: &History, context: &Context) -> CommandResult {
    let objections: Vec<String> = objections.iter().map(ToString::to_string).collect();
    match context.format {
        Format::Text => context.printer.data(&commit::objections(&objections, history)),
        Format::Json => context.printer.json(&json!({
            "objections": objections, "style": style(history), "rules": history.rules(),
        }))?,
    }
    Ok(Exit::Findings)
}

fn made(git: &Git, chosen: &Chosen, message: &str, context: &Context) -> CommandResult {
    let hash = match chosen.commit(git, message)? {
        Outcome::Committed { hash } => hash,
        Outcome::NothingToCommit => {
            return Err(CommandError::refused(
                "there is nothing to commit: the files are as in the last commit",
            ));
        }
        Outcome::Blocked(blocked) => return Err(refused(&blocked)),
    };
    // Hooks may have changed both.
    let made = git.last_commit()?.filter(|commit| commit.hash == hash);
    let (subject, files) = match made {
        Some(commit) => (commit.subject, commit.files),
        None => (message.lines().next().unwrap_or_default().to_owned(), chosen.files()),
    };
    let by_hooks: Vec<&RepoPath> = files.iter().filter(|file| !chosen.files().contains(file)).collect();
    let json = json!({
        "commit": hash, "subject": subject, "files": files, "byHooks": by_hooks, "kept": chosen.kept,
    });
    context.report(&json, &commit::made(hash.short(), &subject, &files, &by_hooks, &chosen.kept))
}

fn refused(blocked: &Blocked) -> CommandError {
    let refused = CommandError::refused(format!("nothing is committed: {blocked}"));
    match blocked {
        Blocked::HookFailed { .. } => {
            refused.hint("mend what the hook found, and run the same command again")
        }
        Blocked::SigningFailed { .. } => refused.hint(
            "make the key of `user.signingkey` available, or turn `commit.gpgsign` off for this repository",
        ),
        Blocked::IndexLocked => {
            refused.hint("wait for the other git; where none is running, remove `.git/index.lock`")
        }
        _ => refused,
    }
}

fn nothing_chosen(error: ChoiceError) -> CommandError {
    let refused = CommandError::refused(&error);
    match error {
        ChoiceError::Git(error) => error.into(),
        ChoiceError::Unfit(_) => refused.hint("nothing is committed; `git status` shows what has changed"),
        ChoiceError::NothingNamed(changed) => {
            let mut shown: Vec<String> = changed.iter().take(LISTED).map(ToString::to_string).collect();
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
