//! The changes of each attempt, as the page of a run shows it: within a bound for each change and for all of them, with
//! the command that shows the rest. Every line may come from a stranger.

use std::collections::{BTreeMap, HashMap};

use fp_host::git::{FilePatch, Git, Oid, PatchLine};
use fp_plan::text::{clipped, shell_quoted, shown_command};
use fp_run::report::run_page::{RunPage, RunTask};
use fp_run::verification::change::Change;
use serde::Serialize;

use super::escaped_text;

/// A change of more lines shows only its beginning.
const MOST_CHANGED: usize = 400;
/// Number of lines that the beginning of a large change has.
const BEGINNING: usize = 150;
/// Maximum number of files listed for a change.
const MOST_FILES: usize = 60;
/// Maximum length of a line, in characters.
const LONGEST_LINE: usize = 400;
/// Maximum size of the lines of all changes on a page, in bytes.
const MOST_BYTES: usize = 3_000_000;
/// A command names the files of a change up to this length.
const LONG_COMMAND: usize = 200;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageChange {
    /// Shows the whole change.
    command: String,
    /// True if git no longer has it.
    lost: bool,
    files: Vec<PageFile>,
    more_files: usize,
    added: usize,
    removed: usize,
    /// Number of lines that the page leaves out.
    left_out: usize,
}

#[derive(Serialize)]
struct PageFile {
    path: String,
    words: String,
    added: usize,
    removed: usize,
    /// Runs of lines of one kind, each with the element for it.
    runs: Vec<(&'static str, String)>,
}

/// A change that may be shown.
struct Wanted<'r> {
    /// As git names it.
    id: String,
    command: String,
    /// The files that count, unless all do.
    files: Option<&'r [Change]>,
}

/// The changes of the attempts by `TASK-ATTEMPT`, both counted from 0. A task done without an attempt has its commit's.
pub(crate) fn changes_of(run: &RunPage<'_>, git: Option<&Git>) -> BTreeMap<String, PageChange> {
    let mut wanted = Vec::new();
    for (number, task) in run.tasks.iter().enumerate() {
        let last = task.tries.len().saturating_sub(1);
        wanted.extend((0..=last).filter_map(|nth| {
            let place = format!("{number}-{nth}");
            Some((nth < last, place, wanted_of(task, nth, nth == last)?))
        }));
    }
    let ids: Vec<String> = wanted.iter().map(|(.., one)| one.id.clone()).collect();
    let patches = git.and_then(|git| git.patches(&ids).ok());
    let patches = patches.unwrap_or_default();
    // The final work gets room before what was sent back.
    wanted.sort_by_key(|(is_older, ..)| *is_older);
    let mut room = MOST_BYTES;
    let mut shown = |one: Wanted<'_>| one.shown(&patches, &mut room);
    let wanted = wanted.into_iter();
    wanted.map(|(_, place, one)| (place, shown(one))).collect()
}

fn wanted_of(task: &RunTask, nth: usize, is_last: bool) -> Option<Wanted<'_>> {
    if let Some(commit) = task.line.commit.as_ref().filter(|_| is_last) {
        let commit: Oid = commit.parse().ok()?;
        return Some(Wanted {
            command: format!("git show {}", commit.short()),
            id: commit.to_string(),
            files: None,
        });
    }
    let work = &task.tries.get(nth)?.work;
    let (base, tree): (Oid, Oid) = (work.base.parse().ok()?, work.tree.parse().ok()?);
    let paths = work.changes.iter().flat_map(Change::ends);
    let paths = paths.map(|path| format!(" {}", shell_quoted(&path.to_string())));
    let paths = Some(paths.collect::<String>()).filter(|paths| paths.len() <= LONG_COMMAND);
    let paths = paths.map_or_else(String::new, |paths| format!(" --{paths}"));
    let command = format!("git diff {} {}{paths}", base.short(), tree.short());
    Some(Wanted {
        id: format!("{base} {tree}"),
        command: shown_command(&command),
        files: Some(&work.changes),
    })
}

impl Wanted<'_> {
    /// The change as it is shown, with at most `room` bytes of lines, which it takes.
    fn shown(self, patches: &HashMap<String, Vec<FilePatch>>, room: &mut usize) -> PageChange {
        let found = patches.get(&self.id);
        let counts = |file: &&FilePatch| {
            let is_of = |change: &Change| change.ends().any(|path| *path == file.path);
            self.files.is_none_or(|files| files.iter().any(is_of))
        };
        let files: Vec<&FilePatch> = found.into_iter().flatten().filter(counts).collect();
        let mut change = PageChange {
            lost: found.is_none(),
            files: Vec::new(),
            more_files: files.len().saturating_sub(MOST_FILES),
            added: files.iter().map(|file| file.added).sum(),
            removed: files.iter().map(|file| file.removed).sum(),
            left_out: 0,
            command: self.command,
        };
        let is_large = change.added + change.removed > MOST_CHANGED;
        let mut most = if is_large { BEGINNING } else { usize::MAX };
        for (nth, file) in files.iter().enumerate() {
            let mut count = most.min(file.lines.len());
            let mut runs = runs_of(file, count);
            let size = runs.iter().map(|(_, text)| escaped_text(text).len()).sum();
            match room.checked_sub(size) {
                Some(left) if nth < MOST_FILES => *room = left,
                _ => (count, runs) = (0, Vec::new()),
            }
            most -= count;
            change.left_out += file.lines.len() - count + file.left_out;
            if nth < MOST_FILES {
                change.files.push(PageFile {
                    path: shown_command(&file.path.to_string()),
                    words: shown_command(&file.words.join(", ")),
                    added: file.added,
                    removed: file.removed,
                    runs,
                });
            }
        }
        change
    }
}

/// The first `count` lines of `file`, without a carriage return that ends every line.
fn runs_of(file: &FilePatch, count: usize) -> Vec<(&'static str, String)> {
    let ends = |line: &PatchLine| line.sign == b'@' || line.text.ends_with('\r');
    let is_crlf = file.lines.iter().all(ends);
    let shown = |line: &PatchLine| {
        let number = line.number.to_string();
        let number = if line.number > 0 { &number } else { "" };
        let sign = char::from(line.sign);
        let text = line.text.strip_suffix('\r').filter(|_| is_crlf);
        let text = clipped(text.unwrap_or(&line.text), LONGEST_LINE);
        format!("{number:>5} {sign} {}\n", shown_command(&text))
    };
    let run = |run: &[PatchLine]| {
        let element = match run[0].sign {
            b'+' => "ins",
            b'-' => "del",
            b'@' => "b",
            _ => "span",
        };
        (element, run.iter().map(shown).collect())
    };
    let lines = &file.lines[..count];
    lines
        .chunk_by(|line, next| line.sign == next.sign)
        .map(run)
        .collect()
}
