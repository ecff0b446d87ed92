//! One line of the log, read and checked.

use std::path::Path;

use fp_core::run::event::{Entry, LOG_VERSION};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::StoreError;

/// The entry on line `number` (from 1) of the log at `path`, whose sequence number has to be `due`; `None` for an
/// empty line. Fails on what is no entry, on a gap, and on an entry of a newer version.
pub(super) fn entry(path: &Path, number: usize, line: &[u8], due: u64) -> Result<Option<Entry>, StoreError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let wrong = |detail: String| StoreError::Line { path: path.to_owned(), line: number, detail };
    let newer = |version: u32| StoreError::Newer { path: path.to_owned(), line: number, version };
    let entry: Entry = match serde_json::from_slice(line) {
        Ok(entry) => entry,
        Err(error) => {
            return Err(match version(line).filter(|version| *version > LOG_VERSION) {
                Some(version) => newer(version),
                None => wrong(error.to_string()),
            });
        }
    };
    if entry.schema_version > LOG_VERSION {
        return Err(newer(entry.schema_version));
    }
    if entry.seq != due {
        return Err(wrong(format!("seq {} where {due} is due", entry.seq)));
    }
    Ok(Some(entry))
}

/// How many bytes at the beginning of `text` are whole lines. The last one may lack its end, as it does where an editor
/// took that away: no part of an entry is JSON by itself, so what is JSON was not torn off.
pub(crate) fn whole(text: &[u8]) -> usize {
    let ended = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    match serde_json::from_slice::<IgnoredAny>(&text[ended..]) {
        Ok(_) => text.len(),
        Err(_) => ended,
    }
}

/// The version of a line, whatever else is in it.
pub(crate) fn version(line: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        schema_version: u32,
    }
    serde_json::from_slice::<Version>(line).ok().map(|found| found.schema_version)
}
