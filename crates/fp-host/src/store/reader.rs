//! Reads a log that other processes write, from the beginning and as it grows, without a lock.

use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use fp_run::run::State;
use fp_run::run::event::{Entry, SHARED_LOG_VERSION};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{LOG, Loaded, Replayed, Store, readable_key};
use crate::error::{HostError, HostResult};
use crate::file::{open_marked, open_own, read_all};

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

/// The lines added to the log since the last read.
#[derive(Debug, Default)]
pub struct Portion {
    /// The complete lines, as they are in the log, without line endings.
    pub lines: Vec<LogLine>,
    /// Bytes after the last complete line, which is either still being written or torn.
    pub torn: u64,
    /// True if the log was truncated or replaced since the last read. `lines` then starts over at the first line.
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
    fn log_text(&self) -> HostResult<Vec<u8>> {
        let path = self.log_file();
        match open_marked(&path)? {
            Some((file, _)) => read_all(file, &path),
            None => Ok(Vec::new()),
        }
    }

    /// The log as it is now, for a report that needs more than its state. Fails as [`Store::load`] does.
    pub fn past(&self) -> HostResult<Past> {
        let Loaded {
            notices, waiting, ..
        } = self.load()?;
        let Replayed {
            mut state,
            mut entries,
            ..
        } = self.replay(&self.log_text()?, readable_key().as_ref())?;
        waiting.entries.iter().for_each(|entry| state.apply(entry));
        entries.extend(waiting.entries);
        Ok(Past {
            state,
            entries,
            notices,
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
    /// Reads the lines added since the last read; the first call reads all of them. Fails, and returns no lines, if the
    /// log can't be read or a line isn't an entry.
    pub fn more(&mut self) -> HostResult<Portion> {
        let Some(mut file) = open_own(&self.path, OpenOptions::new().read(true))? else {
            return Ok(Portion::default());
        };
        let length = file.metadata().map_err(HostError::using(&self.path))?.len();
        let anew = length < self.at;
        if anew {
            (self.at, self.lines, self.seq, self.unended) = (0, 0, 0, false);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.at))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(HostError::using(&self.path))?;
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

    fn take(&mut self, whole: &[u8]) -> HostResult<Vec<LogLine>> {
        let mut found = Vec::new();
        let (mut number, mut seq) = (self.lines, self.seq);
        for text in whole.split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            if let Some(entry) = line_entry(&self.path, number, text.trim_ascii_end(), seq + 1)? {
                seq += 1;
                // The line was parsed as JSON, so it is UTF-8.
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

/// The entry on line `number` (from 1) of the log at `path`, whose sequence number must be `due`; `None` for an empty
/// line. Fails on an invalid line, on a gap, and on an entry of a newer version.
pub(super) fn line_entry(
    path: &Path,
    number: usize,
    line: &[u8],
    due: u64,
) -> HostResult<Option<Entry>> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let newer = |version: u32| {
        HostError::failed(format_args!(
            "{}:{number}: written by a newer fp (log version {version}, this fp reads {SHARED_LOG_VERSION})",
            path.display()
        ))
        .with_hint("update fp: `fp --version` says what this one is")
    };
    let entry: Entry = match serde_json::from_slice(line) {
        Ok(entry) => entry,
        Err(error) => {
            return Err(
                match line_version(line).filter(|version| *version > SHARED_LOG_VERSION) {
                    Some(version) => newer(version),
                    None => wrong_line(path, number, &error),
                },
            );
        }
    };
    if entry.schema_version > SHARED_LOG_VERSION {
        return Err(newer(entry.schema_version));
    }
    if entry.seq != due {
        return Err(wrong_line(
            path,
            number,
            &format_args!("seq {} where {due} is due", entry.seq),
        ));
    }
    Ok(Some(entry))
}

/// The error for the invalid line `number`, from 1, of the file at `path`.
pub(super) fn wrong_line(path: &Path, number: usize, detail: &dyn std::fmt::Display) -> HostError {
    let path = path.display();
    HostError::failed(format_args!(
        "{path}:{number}: not an entry of this log: {detail}"
    ))
    .with_hint(format_args!(
        "mend or remove line {number} of {path}: every line is one JSON object, numbered by `seq`"
    ))
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

/// The version of a line, regardless of its other fields.
pub(crate) fn line_version(line: &[u8]) -> Option<u32> {
    let version = serde_json::from_slice::<Value>(line)
        .ok()?
        .get("schemaVersion")?
        .as_u64()?;
    u32::try_from(version).ok()
}
