//! How often files changed, by how many authors, and how often they were fixed: read from one `git log`.

use std::collections::{BTreeMap, HashMap, HashSet};

use fp_core::commit_style::is_fix;
use fp_host::git::{Git, GitError};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::measure::FileHistory;

/// The history of the files in the six months before `now`, by the paths that they have now. What couldn't be learnt is
/// said in `notes`.
pub(super) fn file_history(
    git: Result<&Git, &GitError>,
    now: Timestamp,
    notes: &mut Vec<String>,
) -> BTreeMap<String, FileHistory> {
    let since = now.to_zoned(TimeZone::UTC).saturating_sub(6.months()).timestamp();
    let log = git.map_err(ToString::to_string).and_then(|git| {
        let log = git.file_log(since).map_err(|error| error.to_string())?;
        Ok((log, git.shallow_commits()))
    });
    match log {
        Ok((log, shallow)) => {
            if !shallow.is_empty() {
                notes.push("the clone is shallow: gitRisk knows only the history that is here".to_owned());
            }
            counted_log(&log, &shallow)
        }
        Err(why) => {
            notes.push(format!("gitRisk is 1 everywhere, since there is no history: {why}"));
            BTreeMap::new()
        }
    }
}

/// Counts what [`Git::file_log`] printed, without the commits `left_out`. Every record is taken by its place alone, so
/// that no name and no message is mistaken for anything else.
fn counted_log(log: &[u8], left_out: &HashSet<Vec<u8>>) -> BTreeMap<String, FileHistory> {
    let mut records = log.split(|byte| *byte == 0);
    let mut files: BTreeMap<String, FileHistory> = BTreeMap::new();
    let mut authors: HashSet<(String, Vec<u8>)> = HashSet::new();
    // The present names of files that had others; a log goes back in time.
    let mut names: HashMap<String, String> = HashMap::new();
    let (mut counts, mut author, mut fixes) = (false, Vec::new(), false);
    while let Some(record) = records.next() {
        // Ids are in lower case, and a capital letter says what happened to a file.
        let Some(first) = record.trim_ascii_start().first() else { continue };
        let mut next = || records.next().unwrap_or_default();
        if !first.is_ascii_uppercase() {
            counts = !left_out.contains(record);
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
        if counts {
            let count = files.entry(path.clone()).or_default();
            count.commits += 1;
            count.authors += usize::from(authors.insert((path, author.clone())));
            count.fix_commits += usize::from(fixes);
        }
    }
    files
}
