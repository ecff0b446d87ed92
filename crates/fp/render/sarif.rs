//! Findings as SARIF 2.1.0, the form that code scanning reads. Results are made one by one while they are
//! written. The same findings give the same bytes, whatever the machine.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;

use fp_core::diagnostic::{Diagnostic, Fix, Severity};
use fp_core::plan::Lines;
use fp_core::report::validation::Place;
use fp_core::rules::{RULES, Rule};
use fp_core::run::approval::hash;
use serde::ser::{Serialize, Serializer};
use serde_json::{Value, json};

use super::rule;

/// Where the program comes from.
const HOME: &str = "https://github.com/fractal-planner/fractal-planner";
/// The schema that the log follows.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// What paths are relative to: whoever reads the log knows where the repository is.
const ROOT: &str = "%SRCROOT%";
/// Name of the fingerprint; its number changes with what goes into it.
const FINGERPRINT: &str = "taskFinding/v1";

/// A whole log: one run over one file.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Log<'p> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'p>; 1],
}

#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'p> {
    tool: Value,
    artifacts: [Value; 1],
    column_kind: &'static str,
    newline_sequences: [&'static str; 3],
    results: Results<'p>,
}

#[derive(Debug)]
struct Results<'p> {
    artifact: Value,
    lines: &'p Lines<'p>,
    found: &'p [Diagnostic],
    /// How often each fingerprint was given.
    given: RefCell<HashMap<String, usize>>,
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
        Self {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [Run {
                tool: tool(),
                artifacts: [
                    json!({ "location": location, "encoding": "UTF-8", "mimeType": "text/markdown" }),
                ],
                column_kind: "unicodeCodePoints",
                newline_sequences: ["\r\n", "\n", "\r"],
                results: Results { artifact: location, lines, found, given: RefCell::default() },
            }],
        }
    }
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.given.borrow_mut().clear();
        serializer.collect_seq(self.found.iter().map(|found| self.result(found)))
    }
}

impl Results<'_> {
    fn result(&self, found: &Diagnostic) -> Value {
        let mut location = json!({
            "physicalLocation": {
                "artifactLocation": self.artifact,
                "region": region(Place::new(found.span, self.lines)),
            },
        });
        if !found.task_id.is_empty() {
            location["logicalLocations"] = json!([{ "name": found.task_id, "kind": "task" }]);
        }
        let text = match &found.hint {
            Some(hint) => format!("{}\nhint: {hint}", found.detail),
            None => found.detail.clone(),
        };
        let mut result = json!({
            "ruleId": found.rule,
            "level": level(found.severity),
            "message": { "text": text },
            "locations": [location],
            "partialFingerprints": { FINGERPRINT: self.fingerprint(found) },
        });
        if let Some(index) = RULES.iter().position(|rule| rule.id == found.rule) {
            result["ruleIndex"] = index.into();
        }
        if let Some(first) = found.fixes.first() {
            result["fixes"] = json!([{
                "description": { "text": first.title },
                "artifactChanges": [{
                    "artifactLocation": self.artifact,
                    "replacements": found.fixes.iter().map(|fix| self.replacement(fix)).collect::<Vec<_>>(),
                }],
            }]);
        }
        result
    }

    fn replacement(&self, fix: &Fix) -> Value {
        json!({
            "deletedRegion": region(Place::new(fix.span, self.lines)),
            "insertedContent": { "text": fix.replacement },
        })
    }

    /// What stays the same when the finding moves to another line: the rule, the task and what is said, and, for
    /// those that agree in all of it, how many came before.
    fn fingerprint(&self, found: &Diagnostic) -> String {
        let whole = hash(format!("{}\n{}\n{}", found.rule, found.task_id, found.detail).as_bytes());
        let key = whole[..32].to_owned();
        let mut given = self.given.borrow_mut();
        let count = given.entry(key.clone()).or_default();
        *count += 1;
        format!("{key}:{count}")
    }
}

fn tool() -> Value {
    json!({
        "driver": {
            "name": "fp",
            "fullName": "Fractal Planner",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": HOME,
            "rules": RULES.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
        },
    })
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.finds },
        "fullDescription": { "text": rule.why },
        "help": { "text": rule::page(rule), "markdown": rule::markdown(rule) },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn level(severity: Severity) -> &'static str {
    // The words of SARIF are ours.
    rule::severity(severity)
}

fn region(place: Place) -> Value {
    json!({
        "startLine": place.line, "startColumn": place.column,
        "endLine": place.end_line, "endColumn": place.end_column,
    })
}

fn location(artifact: &Artifact) -> Value {
    match artifact {
        Artifact::Inside(path) => json!({ "uri": encoded(path), "uriBaseId": ROOT, "index": 0 }),
        Artifact::Outside(path) => {
            let slash = if path.starts_with('/') { "" } else { "/" };
            json!({ "uri": format!("file://{slash}{}", encoded(&path.replace('\\', "/"))), "index": 0 })
        }
    }
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
        let uri = |artifact: Artifact| location(&artifact)["uri"].as_str().unwrap_or_default().to_owned();
        let inside = |path: &str| uri(Artifact::Inside(path.to_owned()));
        assert_eq!(inside("plans/tasks.md"), "plans/tasks.md");
        assert_eq!(inside("my plan/äß 한.md"), "my%20plan/%C3%A4%C3%9F%20%ED%95%9C.md");
        assert_eq!(inside("a:b?#%.md"), "a%3Ab%3F%23%25.md");
        assert_eq!(uri(Artifact::Outside("/tmp/a b.md".to_owned())), "file:///tmp/a%20b.md");
        assert_eq!(uri(Artifact::Outside("C:\\a\\b.md".to_owned())), "file:///C%3A/a/b.md");
    }
}
