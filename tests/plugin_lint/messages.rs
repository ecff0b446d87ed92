//! The commands that the program's own texts name: help, errors, hints, notes.

use std::fs;
use std::path::Path;

use regex::Regex;

use super::command_line;

/// The calls of `fp` in the texts of the source below `folder`, each with its file.
fn calls_below(folder: &Path, calls: &mut Vec<(String, String)>) {
    let shown = [r"`(fp [a-z-][^`]*)`", r#""(fp [a-z-][^"\\]*)""#];
    let shown = shown.map(|pattern| Regex::new(pattern).expect("the pattern is valid"));
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
    entries.sort_by_key(fs::DirEntry::path);
    for path in entries.into_iter().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "tests" {
                calls_below(&path, calls);
            }
            continue;
        }
        if !name.ends_with(".rs") || name == "tests.rs" {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        // A comment, or a text that goes on in the next line.
        let joined = Regex::new(r"\\\n\s*|\n\s*//[/!]? ?").expect("the pattern is valid");
        let source = joined.replace_all(source, " ");
        for found in shown
            .iter()
            .flat_map(|pattern| pattern.captures_iter(&source))
        {
            calls.push((path.display().to_string(), found[1].to_owned()));
        }
    }
}

#[test]
fn every_command_that_a_text_names_exists() {
    let mut calls = Vec::new();
    calls_below(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"),
        &mut calls,
    );
    assert!(calls.len() > 100, "hardly any was found: {calls:?}");
    let mistakes: Vec<_> = calls
        .iter()
        .filter_map(|(file, call)| {
            let mistake = command_line::unknown_part(call)?;
            Some(format!("{file}: `{call}`: {mistake}"))
        })
        .collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}
