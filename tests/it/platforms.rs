//! Only the module `platform` of fp-host depends on the operating system.

use std::path::{Path, PathBuf};

use regex::Regex;

/// Collects the Rust files below `folder`, except tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

/// The lines of `text`, without its tests, that check for the operating system, or that obtain a path to which Windows
/// adds a prefix.
fn asks(text: &str) -> Vec<&str> {
    let asks =
        Regex::new(r"cfg(_attr)?!?\(.*\b(unix|windows|target_os|target_family)\b|\bcanonicalize\(")
            .unwrap();
    let tests = Regex::new(r"(?m)^#\[cfg\((all\()?test\b[^\n]*\nmod \w+ \{").unwrap();
    let end = tests.find(text).map_or(text.len(), |found| found.start());
    text[..end]
        .lines()
        .filter(|line| asks.is_match(line))
        .collect()
}

#[test]
fn one_module_asks_for_the_system() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut files = Vec::new();
    sources(&crates, &mut files);
    let (own, others): (Vec<_>, Vec<_>) = files
        .iter()
        .partition(|file| file.starts_with(crates.join("fp-host/src/platform")));
    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    assert!(
        own.iter().any(|file| !asks(&read(file)).is_empty()),
        "the search finds nothing where something is"
    );
    for file in others {
        let (name, text) = (file.strip_prefix(&crates).unwrap().display(), read(file));
        assert_eq!(
            asks(&text),
            Vec::<&str>::new(),
            "{name}: put it into fp-host/src/platform"
        );
    }
}
