//! Reads the parts of `signals.json` that a run needs: the composite of each task, and the iterations that follow from
//! it.

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

/// Reads each task's composite from `text`, a `signals.json`, by id. Values out of range become the nearest from 1 to
/// 5.
///
/// # Errors
/// The text is damaged, or of a newer version.
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

/// The iterations of a task: `max(maxIterations, round(base + factor × composite))`.
pub fn scaled_iterations(max_iterations: u32, base: f64, factor: f64, composite: u8) -> u32 {
    let scaled = (base + factor * f64::from(composite))
        .round()
        .clamp(0.0, f64::from(u32::MAX));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is clamped to the range"
    )]
    let scaled = scaled as u32;
    max_iterations.max(scaled)
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

    #[test]
    fn iterations_grow_with_the_composite() {
        let check = |base: f64, factor: f64, composite: u8, expect: u32| {
            assert_eq!(
                scaled_iterations(3, base, factor, composite),
                expect,
                "{base} {factor} {composite}"
            );
        };
        check(2.0, 0.5, 1, 3);
        check(2.0, 0.5, 3, 4);
        check(2.0, 0.5, 5, 5);
        check(0.0, 0.0, 5, 3);
        check(20.0, 10.0, 5, 70);
        check(f64::NAN, 1.0, 5, 3);
    }
}
