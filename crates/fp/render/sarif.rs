//! Findings as SARIF 2.1.0, the form that code scanning reads. Results are made one by one while they are
//! written. The same findings give the same bytes, whatever the machine.

use std::collections::HashMap;
use std::fmt::Write as _;

use fp_core::diagnostic::{Diagnostic, Severity, Span, TextFix};
use fp_core::plan::Lines;
use fp_core::rules::{RULES, Rule};
use fp_core::run::approval::hash;
use serde::{Serialize, Serializer};

use crate::commands::explain as rule;

/// Where the program comes from.
const HOME: &str = "https://github.com/fractal-planner/fractal-planner";
/// The schema that the log follows.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What paths are relative to: whoever reads the log knows where the repository is.
const ROOT: &str = "%SRCROOT%";

/// A whole log: one run over one file.
#[derive(Debug, Serialize)]
pub(crate) struct Log<'p> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'p>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'p> {
    tool: Tool,
    artifacts: [ArtifactEntry; 1],
    column_kind: &'static str,
    newline_sequences: [&'static str; 3],
    results: Results<'p>,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    full_name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Message,
    full_description: Message,
    help: Message,
    default_configuration: Configuration,
}

#[derive(Debug, Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Debug, Serialize)]
struct Message {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactEntry {
    location: ArtifactLocation,
    mime_type: &'static str,
    encoding: &'static str,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
    index: usize,
}

/// The findings; as JSON a list of [`Found`].
#[derive(Debug)]
struct Results<'p> {
    artifact: ArtifactLocation,
    lines: &'p Lines<'p>,
    found: &'p [Diagnostic],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Found<'r> {
    rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Message,
    locations: [Location<'r>; 1],
    partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<[Change<'r>; 1]>,
}

#[derive(Debug, Serialize)]
struct Fingerprints {
    /// The number in the name changes with what goes into it.
    #[serde(rename = "taskFinding/v1")]
    task_finding: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'r> {
    physical_location: PhysicalLocation<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_locations: Option<[TaskLocation<'r>; 1]>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'r> {
    artifact_location: &'r ArtifactLocation,
    region: Region,
}

#[derive(Debug, Serialize)]
struct TaskLocation<'r> {
    name: &'r str,
    kind: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'r> {
    description: Message,
    artifact_changes: [ArtifactChange<'r>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange<'r> {
    artifact_location: &'r ArtifactLocation,
    replacements: Vec<Replacement<'r>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'r> {
    deleted_region: Region,
    inserted_content: Content<'r>,
}

#[derive(Debug, Serialize)]
struct Content<'r> {
    text: &'r str,
}

/// Where the file is that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Artifact {
    /// In the repository, with `/` between the parts of its path.
    Inside(String),
    /// Elsewhere, by its absolute path.
    Outside(String),
}

impl<'p> Log<'p> {
    /// The log of what was found in `artifact`, whose text has these `lines`.
    pub(crate) fn new(artifact: &Artifact, lines: &'p Lines<'p>, found: &'p [Diagnostic]) -> Self {
        let location = location(artifact);
        let entry =
            ArtifactEntry { location: location.clone(), mime_type: "text/markdown", encoding: "UTF-8" };
        Self {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [Run {
                tool: Tool { driver: driver() },
                artifacts: [entry],
                column_kind: "unicodeCodePoints",
                newline_sequences: ["\r\n", "\n", "\r"],
                results: Results { artifact: location, lines, found },
            }],
        }
    }
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut given = HashMap::new();
        serializer.collect_seq(self.found.iter().map(|found| self.result(found, &mut given)))
    }
}

impl Results<'_> {
    fn result<'r>(&'r self, found: &'r Diagnostic, given: &mut HashMap<u64, usize>) -> Found<'r> {
        let text = match &found.hint {
            Some(hint) => format!("{}\nhint: {hint}", found.detail),
            None => found.detail.clone(),
        };
        let task = TaskLocation { name: &found.task_id, kind: "task" };
        Found {
            rule_id: found.rule,
            rule_index: RULES.iter().position(|rule| rule.id == found.rule),
            level: level(found.severity),
            message: message(text),
            locations: [Location {
                physical_location: PhysicalLocation {
                    artifact_location: &self.artifact,
                    region: self.region(found.span),
                },
                logical_locations: (!found.task_id.is_empty()).then_some([task]),
            }],
            partial_fingerprints: Fingerprints { task_finding: fingerprint(found, given) },
            fixes: self.change(found).map(|change| [change]),
        }
    }

    fn change<'r>(&'r self, found: &'r Diagnostic) -> Option<Change<'r>> {
        let first = found.fixes.first()?;
        let replacement = |fix: &'r TextFix| Replacement {
            deleted_region: self.region(fix.span),
            inserted_content: Content { text: &fix.replacement },
        };
        Some(Change {
            description: message(first.title.clone()),
            artifact_changes: [ArtifactChange {
                artifact_location: &self.artifact,
                replacements: found.fixes.iter().map(replacement).collect(),
            }],
        })
    }

    fn region(&self, span: Span) -> Region {
        let (start, end) = self.lines.range(span);
        Region {
            start_line: start.line,
            start_column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

/// What stays the same when the finding moves to another line: the rule, the task and what is said, and, for those
/// that agree in all of it, how many came before.
fn fingerprint(found: &Diagnostic, given: &mut HashMap<u64, usize>) -> String {
    let whole = hash(format!("{}\n{}\n{}", found.rule, found.task_id, found.detail).as_bytes());
    let key = u64::from_str_radix(&whole[..16], 16).expect("a hash is hexadecimal digits");
    let count = given.entry(key).or_default();
    *count += 1;
    format!("{key:016x}:{count}")
}

fn driver() -> Driver {
    Driver {
        name: "fp",
        full_name: "Fractal Planner",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: HOME,
        rules: RULES.iter().map(|rule| descriptor(rule)).collect(),
    }
}

fn descriptor(rule: &Rule) -> Descriptor {
    Descriptor {
        id: rule.id,
        short_description: message(rule.finds.to_owned()),
        full_description: message(rule.why.to_owned()),
        help: Message { text: rule::page(rule), markdown: Some(rule::markdown(rule)) },
        default_configuration: Configuration { level: level(rule.severity) },
    }
}

fn message(text: String) -> Message {
    Message { text, markdown: None }
}

fn level(severity: Severity) -> &'static str {
    // The words of SARIF are ours.
    rule::severity(severity)
}

fn location(artifact: &Artifact) -> ArtifactLocation {
    let (uri, uri_base_id) = match artifact {
        Artifact::Inside(path) => (encoded(path), Some(ROOT)),
        Artifact::Outside(path) => {
            let slash = if path.starts_with('/') { "" } else { "/" };
            (format!("file://{slash}{}", encoded(&path.replace('\\', "/"))), None)
        }
    };
    ArtifactLocation { uri, uri_base_id, index: 0 }
}

/// A path as part of a URI: every byte but the unreserved ones of RFC 3986 and `/` as `%XX`.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            byte => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_encoded() {
        let uri = |artifact: Artifact| location(&artifact).uri;
        let inside = |path: &str| uri(Artifact::Inside(path.to_owned()));
        assert_eq!(inside("plans/tasks.md"), "plans/tasks.md");
        assert_eq!(inside("my plan/äß 한.md"), "my%20plan/%C3%A4%C3%9F%20%ED%95%9C.md");
        assert_eq!(inside("a:b?#%.md"), "a%3Ab%3F%23%25.md");
        assert_eq!(uri(Artifact::Outside("/tmp/a b.md".to_owned())), "file:///tmp/a%20b.md");
        assert_eq!(uri(Artifact::Outside("C:\\a\\b.md".to_owned())), "file:///C%3A/a/b.md");
    }
}
