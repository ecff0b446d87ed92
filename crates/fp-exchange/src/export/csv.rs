//! `csv`: a row for each task, for spreadsheets.

use csv::WriterBuilder;
use serde_json::Value;

use super::parent_id;
use crate::portable::{PortableFile, PortablePlan};

/// The columns: fields of a task as JSON, and what belongs to its place and its state.
const COLUMNS: &str = "id title parent status dependencies files complexity priority risk group description acceptance \
                       testsRequired testCommands verify hints references guardrails covers commit reason after";

/// A row for each task, by RFC 4180.
pub fn csv_text(plan: &PortablePlan) -> String {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    writer
        .write_record(COLUMNS.split_whitespace())
        .expect("memory takes every row");
    for at in 0..plan.tasks.len() {
        let row = row_of(plan, at)
            .into_iter()
            .map(|cell| escape_formula(&cell));
        writer.write_record(row).expect("memory takes every row");
    }
    let bytes = writer.into_inner().expect("memory takes every row");
    String::from_utf8(bytes).expect("it is made of texts")
}

fn row_of(plan: &PortablePlan, at: usize) -> Vec<String> {
    let task = &plan.tasks[at];
    let said = serde_json::to_value(task).expect("a task is plain data");
    let cell = |column| match column {
        "parent" => parent_id(plan, at).unwrap_or_default().to_owned(),
        "status" | "commit" | "reason" => cell_of(&said["work"][column]),
        field => cell_of(&said[field]),
    };
    COLUMNS.split_whitespace().map(cell).collect()
}

/// A list has an entry a line, or `none`.
fn cell_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(required) => if *required { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(entries) if entries.is_empty() => "none".to_owned(),
        Value::Array(entries) => entries.iter().map(cell_of).collect::<Vec<_>>().join("\n"),
        Value::Object(_) => serde_json::from_value(value.clone())
            .map(|file: PortableFile| file.to_string())
            .unwrap_or_default(),
    }
}

/// Puts an apostrophe in front of what a spreadsheet would calculate, and of what begins with one, so that taking one
/// away gives back every cell.
fn escape_formula(cell: &str) -> String {
    let marked = cell.starts_with(['=', '+', '-', '@', '\'', '\t', '\r', '\n']);
    if marked {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}
