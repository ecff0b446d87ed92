//! A live view follows a log that others write: this reads it from the beginning, and further as it grows,
//! without a lock.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use fp_plan::hint::Hint as _;
use fp_run::run::State;
use fp_run::run::event::{Entry, SHARED_LOG_VERSION};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::snapshot;
use super::{LOG, MachineKey, SNAPSHOT, Store, StoreError, io_error, open, readable_key, torn_off};

/// A position in a log: everything before it has been read.
#[derive(Debug)]
pub struct LogReader {
    path: PathBuf,
    at: u64,
    lines: usize,
    seq: u64,
    /// True if the last line read lacked its newline.
    unended: bool,
}

/// The growth of the log since the last read.
#[derive(Debug, Default)]
pub struct Portion {
    /// The whole lines, each as it is in the log, without its line end.
    pub lines: Vec<LogLine>,
    /// Bytes after the last whole line: it is being written right now, or is torn.
    pub torn: u64,
    /// True if the log was truncated or replaced since the last read. `lines` then starts over from the
    /// first.
    pub anew: bool,
}

#[derive(Debug)]
pub struct LogLine {
    /// The line as written.
    pub text: String,
    pub entry: Entry,
}

/// A whole log and its state.
#[derive(Debug)]
pub struct Past {
    pub state: State,
    /// Oldest first.
    pub entries: Vec<Entry>,
    /// Notices for the user, such as a torn last line.
    pub notices: Vec<String>,
}

impl Store {
    /// The log as it is now, for a report that needs more than its state. Fails as [`Store::load`] does.
    pub fn past(&self) -> Result<Past, StoreError> {
        let mut reader = self.reader();
        let portion = reader.more()?;
        let mut entries: Vec<Entry> = portion.lines.into_iter().map(|line| line.entry).collect();
        entries.extend(self.load()?.waiting.entries);
        let mut state = self.empty_state();
        entries.iter().for_each(|entry| state.apply(entry));
        let torn = (portion.torn > 0).then(|| torn_off(&reader.path, portion.torn));
        Ok(Past {
            state,
            entries,
            notices: torn.into_iter().collect(),
        })
    }

    /// A reader at the beginning of the log, which need not exist yet.
    pub fn reader(&self) -> LogReader {
        LogReader {
            path: self.folder().join(LOG),
            at: 0,
            lines: 0,
            seq: 0,
            unended: false,
        }
    }
}

impl LogReader {
    /// Reads the lines added since the last read, at first all of them. Fails if the log can't be read or a
    /// line is no entry, and then returns none of the lines.
    pub fn more(&mut self) -> Result<Portion, StoreError> {
        let Some(mut file) = open(&self.path, OpenOptions::new().read(true))? else {
            return Ok(Portion::default());
        };
        let length = file.metadata().map_err(io_error(&self.path))?.len();
        let anew = length < self.at;
        if anew {
            (self.at, self.lines, self.seq, self.unended) = (0, 0, 0, false);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.at))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(io_error(&self.path))?;
        if self.unended && bytes.first() == Some(&b'\n') {
            bytes.remove(0);
            (self.at, self.unended) = (self.at + 1, false);
        }
        let whole = whole_lines(&bytes);
        let lines = self.take(&bytes[..whole])?;
        Ok(Portion {
            lines,
            torn: (bytes.len() - whole) as u64,
            anew,
        })
    }

    fn take(&mut self, whole: &[u8]) -> Result<Vec<LogLine>, StoreError> {
        let mut found = Vec::new();
        let (mut number, mut seq) = (self.lines, self.seq);
        for text in whole.split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            if let Some(entry) = line_entry(&self.path, number, text.trim_ascii_end(), seq + 1)? {
                seq += 1;
                // It was parsed as JSON, so it is UTF-8.
                found.push(LogLine {
                    text: String::from_utf8_lossy(text.trim_ascii()).into_owned(),
                    entry,
                });
            }
        }
        (self.lines, self.seq) = (number, seq);
        self.at += whole.len() as u64;
        self.unended = whole.last().map_or(self.unended, |last| *last != b'\n');
        Ok(found)
    }
}

/// The entry on line `number` (from 1) of the log at `path`, whose sequence number must be `due`; `None` for
/// an empty line. Fails on a line that is no entry, on a gap, and on an entry of a newer version.
pub(super) fn line_entry(
    path: &Path,
    number: usize,
    line: &[u8],
    due: u64,
) -> Result<Option<Entry>, StoreError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let wrong = |detail: String| StoreError::Line {
        path: path.to_owned(),
        line: number,
        detail,
    };
    let newer = |version: u32| StoreError::Newer {
        path: path.to_owned(),
        line: number,
        version,
    };
    let entry: Entry = match serde_json::from_slice(line) {
        Ok(entry) => entry,
        Err(error) => {
            return Err(
                match line_version(line).filter(|version| *version > SHARED_LOG_VERSION) {
                    Some(version) => newer(version),
                    None => wrong(error.to_string()),
                },
            );
        }
    };
    if entry.schema_version > SHARED_LOG_VERSION {
        return Err(newer(entry.schema_version));
    }
    if entry.seq != due {
        return Err(wrong(format!("seq {} where {due} is due", entry.seq)));
    }
    Ok(Some(entry))
}

/// Length of the whole lines of `text` in bytes. The last line may lack its newline, since editors remove it:
/// no prefix of an entry is valid JSON, so a valid line is not torn.
pub(crate) fn whole_lines(text: &[u8]) -> usize {
    let ended = text
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    match serde_json::from_slice::<IgnoredAny>(&text[ended..]) {
        Ok(_) => text.len(),
        Err(_) => ended,
    }
}

/// The version of a line, whatever else it has.
pub(crate) fn line_version(line: &[u8]) -> Option<u32> {
    let version = serde_json::from_slice::<Value>(line)
        .ok()?
        .get("schemaVersion")?
        .as_u64()?;
    u32::try_from(version).ok()
}

#[derive(Debug)]
pub struct ExaminedLedger {
    pub log: ExaminedLog,
    pub snapshot: ExaminedSnapshot,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExaminedLog {
    /// The entries that could be read.
    pub entries: Vec<Entry>,
    /// The fault of the first line that is no entry, with its place, and the remedy.
    pub fault: Option<(String, String)>,
    /// The first entry that this machine did not write.
    pub foreign: Option<u64>,
    /// Bytes after the last whole line.
    pub torn: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExaminedSnapshot {
    Missing,
    /// It is damaged, of another plan or of another version.
    Unreadable,
    Read(Box<State>),
}

impl Store {
    /// Reads the whole log and the snapshot. Fails if the log exists and can't be read.
    pub fn examine(&self) -> Result<ExaminedLedger, StoreError> {
        let path = self.log();
        let mut text = Vec::new();
        if let Some(mut file) = open(&path, OpenOptions::new().read(true))? {
            file.read_to_end(&mut text).map_err(io_error(&path))?;
        }
        let whole = whole_lines(&text);
        let key = readable_key();
        let (foreign, fault) = match self.replay(&text[..whole], key.as_ref()) {
            Ok(replayed) => (replayed.state.foreign, None),
            Err(fault) => (None, Some(fault)),
        };
        let lines = text[..whole]
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty());
        let entries: Vec<Entry> = lines
            .map_while(|line| serde_json::from_slice(line).ok())
            .collect();
        let log = ExaminedLog {
            entries,
            fault: fault.map(|fault| {
                (
                    fault.to_string(),
                    fault.hint().unwrap_or_default().into_owned(),
                )
            }),
            foreign,
            torn: (text.len() - whole) as u64,
        };
        Ok(ExaminedLedger {
            log,
            snapshot: self.snapshot(key.as_ref()),
        })
    }

    fn snapshot(&self, key: Option<&MachineKey>) -> ExaminedSnapshot {
        let path = self.folder.join(SNAPSHOT);
        if fs::symlink_metadata(&path).is_err() {
            return ExaminedSnapshot::Missing;
        }
        snapshot::stored(&path, &self.plan_id, key)
            .map_or(ExaminedSnapshot::Unreadable, |(_, _, state)| {
                ExaminedSnapshot::Read(Box::new(state))
            })
    }
}
