//! `fp signals` measures the size and risk of each task from its files, so that planning and runs order tasks by more
//! than a model's guess.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use fp_host::file::{self, read_stranger};
use fp_host::git::Git;
use fp_host::platform;
use fp_plan::plan::path::normal;
use fp_plan::plan::{Task, parse};
use fp_plan::signals_record::SIGNALS_VERSION;
use fp_plan::text::{fitted, wrapped};
use fp_run::commit_style::is_fix;
use jiff::ToSpan as _;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;
use crate::source::PlanSource;

/// Maximum number of bytes to read from a file; the rest doesn't count.
const CAP: u64 = 8 * 1024 * 1024;
/// Number of files that a folder or a pattern counts as, since the real number isn't known yet.
const MANY_FILES: usize = 5;
/// For each size band but the last: the maximum number of files, and an exclusive upper bound of lines.
const FILE_SCOPE: [(usize, usize); 4] = [(1, 100), (2, 300), (3, 600), (4, 1000)];
/// Exclusive upper bound of each risk band but the last.
const GIT_RISK: [usize; 4] = [1, 2, 4, 7];
/// Lowest composite at which a task deserves a closer look.
const ANOTHER_LOOK: u8 = 4;

/// Measure the size and risk of each task, and write signals.json
#[derive(Debug, clap::Args)]
pub(crate) struct SignalsArgs {
    /// The plan, or a path to a tree; defaults to the only active plan.
    plan: Option<String>,
}

/// The signals of one task, each from 1 (harmless) to 5, and the underlying sums.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskSignals {
    id: String,
    title: String,
    file_scope: u8,
    git_risk: u8,
    composite: u8,
    files: usize,
    lines: usize,
    /// Number of files that changed in the last six months. The next three fields are totals over these files.
    files_with_history: usize,
    commits: usize,
    authors: usize,
    fix_commits: usize,
}

/// Counts of the commits that changed a file.
#[derive(Debug, Default)]
struct FileHistory {
    commits: usize,
    fix_commits: usize,
    authors: HashSet<Vec<u8>>,
}

pub(crate) fn run(args: SignalsArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open(context, args.plan.as_deref())?;
    let text = source.read_text()?;
    let (tree, _) = parse(&text);
    if tree.leaves().all(|task| task.broken) {
        return Err(
            CommandError::refused(format!("{} has no task", source.name))
                .with_hint("`fp validate` says what is wrong with it"),
        );
    }
    let root = &context.repo().worktree;
    let history = recent_history(root, context);
    let leaves = tree.leaves().filter(|task| !task.broken);
    let tasks: Vec<TaskSignals> = leaves
        .map(|leaf| TaskSignals::for_leaf(leaf, root, &history))
        .collect();
    let record = json!({ "schemaVersion": SIGNALS_VERSION, "tasks": tasks });
    if let Some(plan) = &source.plan {
        file::atomic_write(&plan.signals_file(), format!("{record:#}\n").as_bytes())?;
    }
    context.report(&record, &table_of(&tasks))
}

/// The history of the files in the last six months, by their current paths; empty without git.
fn recent_history(root: &Path, context: &Context) -> BTreeMap<String, FileHistory> {
    let now = context.now().to_zoned(TimeZone::UTC);
    let since = now.saturating_sub(6.months()).timestamp();
    match Git::open(root).and_then(|git| git.file_log(since)) {
        Ok(log) => counted_log(&log),
        Err(why) => {
            let note = format!("note: gitRisk is 1 everywhere, since there is no history: {why}");
            context.printer.print_note(&note);
            BTreeMap::new()
        }
    }
}

/// Tallies the output of [`Git::file_log`]. Tells records apart by position alone, so that no name or message is
/// mistaken for a field.
fn counted_log(log: &[u8]) -> BTreeMap<String, FileHistory> {
    let mut records = log.split(|byte| *byte == 0);
    let mut files: BTreeMap<String, FileHistory> = BTreeMap::new();
    // Maps older names of renamed files to their current names; the log runs backwards in time.
    let mut names: HashMap<String, String> = HashMap::new();
    let (mut author, mut fixes) = (Vec::new(), false);
    while let Some(record) = records.next() {
        // A record that starts with a capital letter is a change of that kind; commit ids are in lower case.
        let Some(first) = record.trim_ascii_start().first() else {
            continue;
        };
        let mut next = || records.next().unwrap_or_default();
        if !first.is_ascii_uppercase() {
            author = next().to_ascii_lowercase();
            fixes = is_fix(&String::from_utf8_lossy(next()));
            continue;
        }
        let old = matches!(first, b'R' | b'C').then(&mut next);
        let path = String::from_utf8_lossy(next()).into_owned();
        let path = names.get(&path).cloned().unwrap_or(path);
        if let Some(old) = old.filter(|_| *first == b'R') {
            names.insert(String::from_utf8_lossy(old).into_owned(), path.clone());
        }
        let history = files.entry(path).or_default();
        history.commits += 1;
        history.fix_commits += usize::from(fixes);
        history.authors.insert(author.clone());
    }
    files
}

impl TaskSignals {
    fn for_leaf(leaf: &Task, root: &Path, history: &BTreeMap<String, FileHistory>) -> Self {
        let mut signals = Self {
            id: leaf.id.to_string(),
            title: leaf.description.to_string(),
            ..Self::default()
        };
        // The paths come from a model: one that leads out of the repository counts as a file without lines or history.
        let listed: HashSet<_> = leaf
            .files()
            .map(|text| normal(text).map_err(|_| text))
            .collect();
        for path in &listed {
            let Ok(path) = path else {
                signals.files += 1;
                continue;
            };
            let place = root.join(&**path);
            let is_many = path.contains(['*', '?']) || place.is_dir();
            signals.files += if is_many { MANY_FILES } else { 1 };
            if !is_many && is_without_links(root, path) {
                let bytes = read_stranger(&place, CAP).unwrap_or_default();
                let is_text = !bytes.contains(&0);
                signals.lines += if is_text {
                    bytes.split_inclusive(|byte| *byte == b'\n').count()
                } else {
                    0
                };
            }
            let folder = format!("{path}/");
            let is_listed = |file: &str| file == path || *path == "." || file.starts_with(&folder);
            for (_, history) in history.iter().filter(|(file, _)| is_listed(file)) {
                signals.files_with_history += 1;
                signals.commits += history.commits;
                signals.authors += history.authors.len();
                signals.fix_commits += history.fix_commits;
            }
        }
        signals.file_scope = match signals.files {
            0 => 1,
            _ => band_of(FILE_SCOPE, |(files, lines)| {
                signals.files <= files && signals.lines < lines
            }),
        };
        // The average over the files with history of commits / 10 + authors / 3 + fixes / 2. Uses integers, so that a
        // boundary value falls on the same side on every machine.
        let risk = 3 * signals.commits + 10 * signals.authors + 15 * signals.fix_commits;
        signals.git_risk = match signals.files_with_history {
            0 => 1,
            files => band_of(GIT_RISK, |most| risk < most * 30 * files),
        };
        signals.composite = (signals.file_scope + signals.git_risk).div_ceil(2);
        signals
    }
}

/// True if there is no link on the way from `root` to `path`, which is normalized.
fn is_without_links(root: &Path, path: &str) -> bool {
    let real = |path: &Path| platform::real_path(path).ok();
    real(&root.join(path))
        .is_some_and(|found| real(root).is_some_and(|root| found == root.join(path)))
}

/// The number, from 1, of the first band that fits, or 5 if none does.
fn band_of<T: Copy>(bands: [T; 4], fits: impl Fn(T) -> bool) -> u8 {
    let found = (1..=4).zip(bands).find(|(_, limit)| fits(*limit));
    found.map_or(5, |(number, _)| number)
}

fn table_of(tasks: &[TaskSignals]) -> String {
    let mut text = "Scope  Git  Composite  Task\n".to_owned();
    for task in tasks {
        let (scope, risk, composite) = (task.file_scope, task.git_risk, task.composite);
        let row = format!(
            "{scope:>5}  {risk:>3}  {composite:>9}  {} {}",
            task.id, task.title
        );
        text += &format!("{}\n", fitted(&row, WIDTH));
    }
    let risky = tasks
        .iter()
        .filter(|task| task.composite >= ANOTHER_LOOK)
        .map(|task| &*task.id);
    let risky: Vec<&str> = risky.collect();
    if !risky.is_empty() {
        let worth = format!("Worth another look: {}", risky.join(", "));
        text += &format!("\n{}\n", wrapped(&worth, WIDTH - 2).join("\n  "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_end_where_the_page_says() {
        let scope = |files: usize, lines: usize| {
            band_of(FILE_SCOPE, |(most, below)| files <= most && lines < below)
        };
        assert_eq!([scope(1, 99), scope(1, 100), scope(2, 299)], [1, 2, 2]);
        assert_eq!([scope(3, 0), scope(4, 999), scope(4, 1000)], [3, 4, 5]);
        assert_eq!(scope(MANY_FILES, 0), 5);
    }
}
