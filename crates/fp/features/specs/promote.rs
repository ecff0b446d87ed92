//! `fp note PLAN promote`: a note of a run becomes a rule of the project.

use std::sync::Arc;
use std::time::Duration;

use fp_host::plan::OpenPlan;
use fp_host::store::acquire;
use fp_plan::markdown;
use fp_run::run::State;
use fp_run::run::event::Note;
use fp_run::run::notepad::NoteKind;
use jiff::civil::Date;
use serde::Serialize;

use super::disk::{load_specs, write_page};
use super::model::SpecName;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// The spec for notes where none is named.
const DEFAULT_SPEC: &str = "learnt";
/// A note from this many tasks or plans is more than chance.
const ENOUGH: usize = 2;

/// Make a note a spec, which every later task gets
///
/// Without --yes it only shows the text, its file, and the tasks and plans that learnt the note: one may be chance. A note
/// that is already in a spec is not written again.
#[derive(Debug, clap::Args)]
pub(crate) struct PromoteArgs {
    /// The note: its number in `fp note PLAN list`, or its text.
    note: String,
    /// The spec to append it to.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_SPEC)]
    spec: SpecName,
    /// Write it; for after the user has said yes.
    #[arg(long)]
    yes: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromoteReport {
    note: String,
    /// The tasks and plans.
    learnt_in: Vec<String>,
    /// The file.
    spec: String,
    /// The file is not there yet.
    new: bool,
    /// The text to append; empty where a spec has the note already.
    addition: String,
    written: bool,
}

pub(crate) fn promote_note(
    args: &PromoteArgs,
    plan: &OpenPlan,
    context: &Context,
) -> CommandResult {
    let own = plan.load()?.state;
    let note = find_note(&own.notes, &args.note).filter(|note| !plain_text(&note.text).is_empty());
    let note = note.ok_or_else(|| {
        CommandError::failed(format!("{} has no such note", plan.id()))
            .hint(format!("`fp note {} list` numbers them", plan.id()))
    })?;
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let runs: Vec<Arc<State>> = known
        .into_iter()
        .filter_map(|known| known.state.ok())
        .collect();
    let learnt_in = sightings(&runs, note);
    // Two processes must not write the same note.
    let lock = plan.folder.path().with_file_name("specs.lock");
    let patience = Duration::from_secs(plan.settings.lock_timeout_seconds.into());
    let _lock = if args.yes {
        Some(acquire(&lock, patience)?)
    } else {
        None
    };
    let specs = load_specs(context.repo());
    let known = specs.specs.iter().find(|spec| has_note(&spec.body, note));
    let page = specs.find(&args.spec)?.map(|spec| &*spec.page);
    let title = if args.spec.as_str() == DEFAULT_SPEC {
        "What was learnt"
    } else {
        args.spec.file()
    };
    let report = PromoteReport {
        note: note.line(),
        spec: context.shown(&specs.path(known.map_or(&args.spec, |spec| &spec.name))),
        addition: match known {
            Some(_) => String::new(),
            None => addition(page, title, note, &learnt_in, context.today()),
        },
        new: page.is_none() && known.is_none(),
        learnt_in: learnt_in.clone(),
        written: args.yes && known.is_none(),
    };
    if report.written {
        refuse_under_way(&runs)?;
        write_page(
            &plan.repo,
            &args.spec,
            &(page.unwrap_or_default().to_owned() + &report.addition),
        )?;
    }
    context.report(&serde_json::json!(report), &report.text())?;
    let chance = known.is_none() && !args.yes && learnt_in.len() < ENOUGH;
    Ok(if chance { Exit::Findings } else { Exit::Done })
}

/// Fails while somebody builds a task in the checkout: a new line in a spec would count as its change.
fn refuse_under_way(runs: &[Arc<State>]) -> Result<(), CommandError> {
    let building = |run: &Arc<State>| {
        let task = run.running().find(|task| task.worktree().is_none())?;
        Some(format!(
            "task {} of {} is being built in this checkout",
            task.leaf.id, run.plan_id
        ))
    };
    match runs.iter().find_map(building) {
        Some(what) => Err(CommandError::refused(format!(
            "{what}, and this would count as its change"
        ))
        .hint("promote it when the run is over")),
        None => Ok(()),
    }
}

/// `text` without what two notes may write differently: case, spaces, Markdown and the punctuation around words. Operators
/// stay, since `a < b` is not `a > b`.
fn plain_text(text: &str) -> String {
    let plain = text.replace(['\\', '`'], "").to_lowercase();
    let around = [
        '.', ',', ';', ':', '!', '?', '\'', '"', '(', ')', '[', ']', '*', '_',
    ];
    let words = plain
        .split_whitespace()
        .map(|word| word.trim_matches(around))
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn kind_and_text(note: &Note) -> String {
    format!("{}: {}", note.kind.into_str(), note.text)
}

/// The note with this number, from 1, or with this text, with or without its kind.
fn find_note<'a>(notes: &'a [Note], wanted: &str) -> Option<&'a Note> {
    if let Ok(number) = wanted.trim().parse::<usize>() {
        return notes.get(number.checked_sub(1)?);
    }
    let wanted = plain_text(wanted);
    notes
        .iter()
        .find(|note| plain_text(&note.text) == wanted || plain_text(&kind_and_text(note)) == wanted)
}

/// The tasks and plans whose notes say the same as `note`, each once.
fn sightings(runs: &[Arc<State>], note: &Note) -> Vec<String> {
    let wanted = plain_text(&note.text);
    let mut found = Vec::new();
    for run in runs {
        for same in run
            .notes
            .iter()
            .filter(|other| plain_text(&other.text) == wanted)
        {
            let sighting = match &same.task {
                Some(task) => format!("task {task} of {}", run.plan_id),
                None => run.plan_id.to_string(),
            };
            if !found.contains(&sighting) {
                found.push(sighting);
            }
        }
    }
    found
}

/// True if a line of `page` says the same as `note`, under any kind.
fn has_note(page: &str, note: &Note) -> bool {
    let wanted = plain_text(&note.text);
    let kinds = [
        NoteKind::Pattern,
        NoteKind::Gotcha,
        NoteKind::Util,
        NoteKind::Warn,
    ];
    let kinds = kinds.map(|kind| plain_text(kind.into_str()) + " ");
    page.lines()
        .map(|line| plain_text(line.trim_start().trim_start_matches("- ")))
        .any(|line| {
            let mut bare = kinds
                .iter()
                .filter_map(|kind| line.strip_prefix(kind.as_str()));
            line == wanted || bare.any(|line| line == wanted)
        })
}

/// The text that adds `note` at the end of `page`. A new page begins with frontmatter.
fn addition(page: Option<&str>, title: &str, note: &Note, found: &[String], today: Date) -> String {
    let mut text = match page {
        Some(page) if page.is_empty() || page.ends_with('\n') => String::new(),
        Some(_) => "\n".to_owned(),
        None => {
            let title = serde_json::Value::from(title);
            format!("---\ntitle: {title}\ncategory: execution\nreadMode: optional\n---\n\n")
        }
    };
    let said = markdown::inline(&kind_and_text(note));
    text += &format!(
        "- {said}\n  - learnt in {}; kept on {today}\n",
        found.join(", ")
    );
    let crlf = page.is_some_and(|page| page.contains("\r\n"));
    if crlf {
        text.replace('\n', "\r\n")
    } else {
        text
    }
}

impl PromoteReport {
    fn text(&self) -> String {
        let Self {
            note,
            learnt_in,
            spec,
            addition,
            written,
            new,
        } = self;
        let mut text = format!("{note}\nLearnt in {}\n", learnt_in.join(", "));
        if addition.is_empty() {
            return text + &format!("{spec} already has it\n");
        }
        if *written {
            return text + &format!("Written to {spec}; commit it when you like\n");
        }
        if learnt_in.len() < ENOUGH {
            text += "Learnt in one place only, which may be chance\n";
        }
        text += &match new {
            true => format!("Would create {spec}:\n\n"),
            false => format!("Would append to {spec}:\n\n"),
        };
        for line in addition.trim_start().lines() {
            text += format!("  {line}").trim_end();
            text.push('\n');
        }
        text + "\nNext: ask the user, and after a yes run this command again with --yes\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_known_by_what_it_says() {
        let check = |note: &str, page: &str, expect: bool| {
            let note = Note::parse(note, None).unwrap();
            assert_eq!(has_note(page, &note), expect, "{note:?} in {page:?}");
        };
        check(
            "WARN: `a.txt` ends with a newline",
            "# A\n\n- GOTCHA: A.txt ends  with a newline.\n",
            true,
        );
        check(
            "WARN: a.txt ends with a newline",
            "a.txt ends with a newline",
            true,
        );
        check(
            "WARN: a.txt ends with a newline",
            "- a.txt ends with a newline, too",
            false,
        );
        check("UTIL: 인증은 `auth()`", "- UTIL: 인증은 auth()", true);
        check("GOTCHA: a < b", "- GOTCHA: a \\< b", true);
        check("GOTCHA: a < b", "- GOTCHA: a > b", false);
        check("GOTCHA: a == b", "- a != b", false);
        check("GOTCHA: x", "", false);
    }

    proptest::proptest! {
        #[test]
        fn what_was_added_is_there(text in "[a-zA-Z한 `*_.,:!<>\\\\\\[\\]#&|=-]{1,40}", page in "([a-z#-]{0,4}\n?){0,4}") {
            let note = Note::parse(&format!("WARN: {text}"), None);
            // A note without a word is not promoted.
            if let Some(note) = note.ok().filter(|note| !plain_text(&note.text).is_empty()) {
                let added = addition(Some(&page), "", &note, &[], Date::constant(2026, 11, 21));
                proptest::prop_assert!(has_note(&(page.clone() + &added), &note), "{}", page + &added);
            }
        }
    }
}
