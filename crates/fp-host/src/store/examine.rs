//! The ledger as it lies on the disk, for whoever looks for what is wrong with it: nothing is believed, nothing is
//! mended, and no lock is taken.

use std::fs::{self, OpenOptions};
use std::io::Read as _;

use fp_core::doctor::{LogFacts, SnapshotFacts};
use fp_core::hint::Hint as _;
use fp_core::run::event::Entry;

use super::snapshot::{self, LogMark};
use super::{SNAPSHOT, Store, StoreError, io_error, line, open, replay};

/// A ledger that was looked at.
#[derive(Debug)]
pub struct Examined {
    /// What was read of the log.
    pub log: LogFacts,
    /// What was read of the snapshot.
    pub snapshot: SnapshotFacts,
}

impl Store {
    /// Reads the whole log and the snapshot. Fails where the log is there and can't be read.
    pub fn examine(&self) -> Result<Examined, StoreError> {
        let path = self.log();
        let mut text = Vec::new();
        let mut mark = LogMark::default();
        if let Some(mut file) = open(&path, OpenOptions::new().read(true))? {
            mark = LogMark::of(&file).map_err(io_error(&path))?;
            file.read_to_end(&mut text).map_err(io_error(&path))?;
        }
        let whole = line::whole(&text);
        let fault = replay(&path, &self.plan_id, &text[..whole]).err();
        let lines = text[..whole].split(|byte| *byte == b'\n');
        let entries: Vec<Entry> = lines.map_while(readable).flatten().collect();
        let log = LogFacts {
            entries,
            fault: fault.map(|fault| (fault.to_string(), fault.hint().unwrap_or_default().into_owned())),
            torn: (text.len() - whole) as u64,
        };
        Ok(Examined { log, snapshot: self.snapshot(mark) })
    }

    fn snapshot(&self, mark: LogMark) -> SnapshotFacts {
        let path = self.folder.join(SNAPSHOT);
        if fs::symlink_metadata(&path).is_err() {
            return SnapshotFacts::Missing;
        }
        match snapshot::stored(&path, &self.plan_id) {
            Some((taken_at, state)) => {
                SnapshotFacts::Read { state: Box::new(state), current: taken_at == mark }
            }
            None => SnapshotFacts::Unreadable,
        }
    }
}

/// The entry of a line, nothing for a blank one; `None` ends the reading.
fn readable(line: &[u8]) -> Option<Option<Entry>> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Some(None);
    }
    serde_json::from_slice(line).ok().map(Some)
}
