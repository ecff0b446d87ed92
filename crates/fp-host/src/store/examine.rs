//! The ledger as it lies on the disk, for whoever looks for what is wrong with it. This believes nothing, fixes
//! nothing, and takes no lock.

use std::fs::{self, OpenOptions};
use std::io::Read as _;

use fp_core::hint::Hint as _;
use fp_core::run::State;
use fp_core::run::event::Entry;

use super::snapshot;
use super::{SNAPSHOT, Store, StoreError, io_error, line, open, replay};

#[derive(Debug)]
pub struct ExaminedLedger {
    pub log: ExaminedLog,
    pub snapshot: ExaminedSnapshot,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExaminedLog {
    /// Its entries, as far as they could be read.
    pub entries: Vec<Entry>,
    /// What is wrong with the first line that is no entry, with its place, and what to do.
    pub fault: Option<(String, String)>,
    /// Bytes behind the last whole line.
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
    /// Reads the whole log and the snapshot. Fails where the log is there and can't be read.
    pub fn examine(&self) -> Result<ExaminedLedger, StoreError> {
        let path = self.log();
        let mut text = Vec::new();
        if let Some(mut file) = open(&path, OpenOptions::new().read(true))? {
            file.read_to_end(&mut text).map_err(io_error(&path))?;
        }
        let whole = line::whole(&text);
        let fault = replay(&path, &self.plan_id, &text[..whole]).err();
        let lines = text[..whole].split(|byte| *byte == b'\n');
        let entries: Vec<Entry> = lines.map_while(readable).flatten().collect();
        let log = ExaminedLog {
            entries,
            fault: fault.map(|fault| (fault.to_string(), fault.hint().unwrap_or_default().into_owned())),
            torn: (text.len() - whole) as u64,
        };
        Ok(ExaminedLedger { log, snapshot: self.snapshot() })
    }

    fn snapshot(&self) -> ExaminedSnapshot {
        let path = self.folder.join(SNAPSHOT);
        if fs::symlink_metadata(&path).is_err() {
            return ExaminedSnapshot::Missing;
        }
        snapshot::stored(&path, &self.plan_id)
            .map_or(ExaminedSnapshot::Unreadable, |(_, state)| ExaminedSnapshot::Read(Box::new(state)))
    }
}

/// The entry of a line, nothing for a blank one; `None` ends the reading.
fn readable(line: &[u8]) -> Option<Option<Entry>> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Some(None);
    }
    serde_json::from_slice(line).ok().map(Some)
}
