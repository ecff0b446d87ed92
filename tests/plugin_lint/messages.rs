//! The commands mentioned in the program's own texts: help, errors, hints, notes.

use std::fs;
use std::path::Path;

use regex::Regex;

use super::command_line;

/// The program's source, file by file, without its tests; multi-line comments and strings are joined.
pub(super) fn sources() -> Vec<(String, String)> {
    let joined = Regex::new(r"\\\n\s*|\n\s*//[/!]? ?").expect("the pattern is valid");
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let source = fs::read_to_string(&path).unwrap();
                let source = source.split("#[cfg(test)]").next().unwrap_or_default();
                let source = joined.replace_all(source, " ").into_owned();
                sources.push((path.display().to_string(), source));
            }
        }
    }
    sources.sort();
    sources
}

#[test]
fn every_command_that_a_text_names_exists() {
    let shown = [r"`(fp [a-z-][^`]*)`", r#""(fp [a-z-][^"\\]*)""#];
    let shown = shown.map(|pattern| Regex::new(pattern).expect("the pattern is valid"));
    let (mut checked, mut mistakes) = (0, Vec::new());
    for (path, source) in sources() {
        for call in shown.iter().flat_map(|shown| shown.captures_iter(&source)) {
            checked += 1;
            let mistake = command_line::unknown_part(&call[1]);
            mistakes.extend(mistake.map(|mistake| format!("{path}: `{}`: {mistake}", &call[1])));
        }
    }
    assert!(checked > 100, "only {checked} were found");
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}
