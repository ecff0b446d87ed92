//! `signals.json`: the signals of a plan's leaves as they were last measured, for commands that order tasks or give
//! them iterations.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::measure::TaskSignals;

/// Version of `signals.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record<'m> {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The leaves in document order.
    pub tasks: &'m [TaskSignals],
    /// What could not be measured, and why.
    pub notes: &'m [String],
}

/// Why the text is no `signals.json`.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is damaged, or something else.
    #[error("line {}, column {}: it is not what `fp signals` writes", .0.line(), .0.column())]
    Damaged(#[from] serde_json::Error),
    /// A newer program has written it.
    #[error("its version is {0}, and this program knows {SCHEMA_VERSION}")]
    Newer(u32),
}

impl Record<'_> {
    /// The composite of each task that `text`, a `signals.json`, has one of, by id; one that is not from 1 to 5 is
    /// taken for the nearest that is.
    ///
    /// # Errors
    /// A text that is damaged, or of a newer version.
    pub fn composites(text: &str) -> Result<HashMap<String, u8>, RecordError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Read {
            schema_version: u32,
            tasks: Vec<Task>,
        }
        #[derive(Deserialize)]
        struct Task {
            id: String,
            composite: u8,
        }
        let read: Read = serde_json::from_str(text)?;
        if read.schema_version > SCHEMA_VERSION {
            return Err(RecordError::Newer(read.schema_version));
        }
        Ok(read.tasks.into_iter().map(|task| (task.id, task.composite.clamp(1, 5))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composites_are_read_back() {
        let check = |text: &str, expect: Result<&[(&str, u8)], &str>| {
            let read = Record::composites(text).map_err(|error| error.to_string());
            let expect = expect.map(|pairs| pairs.iter().map(|(id, n)| ((*id).to_owned(), *n)).collect());
            assert_eq!(read, expect.map_err(str::to_owned), "{text}");
        };
        check(
            r#"{"schemaVersion":1,"tasks":[{"id":"1","composite":4,"more":[]},{"id":"2","composite":9}]}"#,
            Ok(&[("1", 4), ("2", 5)]),
        );
        check(r#"{"schemaVersion":1,"tasks":[]}"#, Ok(&[]));
        check(r#"{"schemaVersion":2,"tasks":[]}"#, Err("its version is 2, and this program knows 1"));
        check("{", Err("line 1, column 1: it is not what `fp signals` writes"));
        check(
            r#"{"schemaVersion":1,"tasks":[{"id":"1","composite":"high"}]}"#,
            Err("line 1, column 56: it is not what `fp signals` writes"),
        );
    }
}
