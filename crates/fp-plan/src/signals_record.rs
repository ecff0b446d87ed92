//! Reads the part of `signals.json` that a run needs: the composite of each task.

use std::collections::HashMap;

use serde::Deserialize;

pub const SIGNALS_VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Composites {
    schema_version: u32,
    tasks: Vec<Composite>,
}

#[derive(Deserialize)]
struct Composite {
    id: String,
    composite: u8,
}

/// Reads each task's composite from `text`, a `signals.json`, by id. Values outside of 1 to 5 are clamped to that
/// range.
///
/// # Errors
/// The text is damaged, or was written by a newer version.
pub fn composites_in(text: &str) -> Result<HashMap<String, u8>, String> {
    let read: Composites = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("line {line}, column {column}: it is not what `fp signals` writes")
    })?;
    let version = read.schema_version;
    if version > SIGNALS_VERSION {
        return Err(format!(
            "its version is {version}, and this program knows {SIGNALS_VERSION}"
        ));
    }
    Ok(read
        .tasks
        .into_iter()
        .map(|task| (task.id, task.composite.clamp(1, 5)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composites_are_read_back() {
        let check = |text: &str, expect: Result<&[(&str, u8)], &str>| {
            let read = composites_in(text);
            let expect =
                expect.map(|pairs| pairs.iter().map(|(id, n)| ((*id).to_owned(), *n)).collect());
            assert_eq!(read, expect.map_err(str::to_owned), "{text}");
        };
        check(
            r#"{"schemaVersion":1,"tasks":[{"id":"1","composite":4,"more":[]},{"id":"2","composite":9}]}"#,
            Ok(&[("1", 4), ("2", 5)]),
        );
        check(r#"{"schemaVersion":1,"tasks":[]}"#, Ok(&[]));
        check(
            r#"{"schemaVersion":2,"tasks":[]}"#,
            Err("its version is 2, and this program knows 1"),
        );
        check(
            "{",
            Err("line 1, column 1: it is not what `fp signals` writes"),
        );
        check(
            r#"{"schemaVersion":1,"tasks":[{"id":"1","composite":"high"}]}"#,
            Err("line 1, column 56: it is not what `fp signals` writes"),
        );
    }
}
