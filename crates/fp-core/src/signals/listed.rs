//! What the leaves of a tree list as their files: untrusted text, put into normal form once and then matched
//! against the paths that a walk meets. What leads out of the repository is never looked at.

use std::collections::{BTreeMap, BTreeSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::plan::Task;
use crate::plan::path::{is_above, normal};

/// One entry of a task's files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    /// A file, or a folder with all that is below it, in normal form.
    Path(String),
    /// A pattern such as `src/**/*.rs`, in normal form.
    Pattern(String),
    /// Something that leads out of the repository, as it was written.
    Outside(String),
}

impl Entry {
    /// What a task's text means. `*` and `?` make it a pattern, and nothing else does: brackets and braces are in
    /// the names of real files.
    #[must_use]
    pub fn new(text: &str) -> Self {
        match normal(text) {
            Err(_) => Self::Outside(text.to_owned()),
            Ok(path) if path.contains(['*', '?']) => Self::Pattern(path.into_owned()),
            Ok(path) => Self::Path(path.into_owned()),
        }
    }

    /// The text in the form in which it is compared.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Path(text) | Self::Pattern(text) | Self::Outside(text) => text,
        }
    }

    /// The entries of one task, each once, in their order.
    #[must_use]
    pub fn of(task: &Task) -> Vec<Self> {
        let mut known = BTreeSet::new();
        task.files().map(Self::new).filter(|entry| known.insert(entry.clone())).collect()
    }
}

/// The entries of all tasks, to ask of a path whether any of them lists it.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    paths: BTreeSet<String>,
    patterns: GlobSet,
}

impl Listed {
    /// All entries of `tasks`.
    #[must_use]
    pub fn new<'t>(tasks: impl IntoIterator<Item = &'t Task<'t>>) -> Self {
        Self::of(tasks.into_iter().flat_map(Entry::of))
    }

    /// These entries.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut paths = BTreeSet::new();
        let mut patterns = BTreeSet::new();
        for entry in entries {
            match entry {
                Entry::Path(path) => drop(paths.insert(path)),
                Entry::Pattern(pattern) => drop(patterns.insert(pattern)),
                Entry::Outside(_) => {}
            }
        }
        Self { paths, patterns: glob_set(patterns.iter().map(String::as_str)) }
    }

    /// The files and folders that are listed, in normal form; patterns are not among them.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether there is a pattern.
    #[must_use]
    pub fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Whether a task lists `path`, a folder above it, or a pattern that it fits.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        above.chain([path, "."]).any(|path| self.paths.contains(path)) || self.patterns.is_match(path)
    }
}

/// Of every entry the positions of the files that it covers.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    known: BTreeMap<Entry, Vec<usize>>,
}

impl Expansion {
    /// The files among `paths`, which are sorted, that `entry` covers. The answer is kept, since many tasks list the
    /// same.
    pub(super) fn of(&mut self, entry: &Entry, paths: &[String]) -> &[usize] {
        self.known.entry(entry.clone()).or_insert_with(|| match entry {
            Entry::Outside(_) => Vec::new(),
            Entry::Path(path) => covered(path, paths),
            Entry::Pattern(pattern) => {
                let set = glob_set([pattern.as_str()]);
                let start = crate::plan::path::literal_prefix(pattern);
                let fits =
                    |at: &usize| (start == "." || is_above(start, &paths[*at])) && set.is_match(&paths[*at]);
                (0..paths.len()).filter(fits).collect()
            }
        })
    }
}

fn covered(path: &str, paths: &[String]) -> Vec<usize> {
    if path == "." {
        return (0..paths.len()).collect();
    }
    if let Ok(at) = paths.binary_search_by(|known| known.as_str().cmp(path)) {
        return vec![at];
    }
    let folder = format!("{path}/");
    let start = paths.partition_point(|known| known.as_str() < folder.as_str());
    (start..paths.len()).take_while(|at| paths[*at].starts_with(&folder)).collect()
}

/// The patterns, in which only `*`, `**` and `?` stand for something else. One that can't be compiled fits nothing.
fn glob_set<'p>(patterns: impl IntoIterator<Item = &'p str>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let literal: String = pattern.chars().map(literal).collect();
        if let Ok(glob) = GlobBuilder::new(&literal).literal_separator(true).backslash_escape(false).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

fn literal(c: char) -> String {
    if matches!(c, '[' | ']' | '{' | '}') { format!("[{c}]") } else { c.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_means() {
        let check = |text: &str, expect: Entry| assert_eq!(Entry::new(text), expect, "{text:?}");
        check("./src//a.rs", Entry::Path("src/a.rs".into()));
        check("src/", Entry::Path("src".into()));
        check("app/[id]/page.tsx", Entry::Path("app/[id]/page.tsx".into()));
        check("src/**/*.rs", Entry::Pattern("src/**/*.rs".into()));
        check("$(touch x)", Entry::Path("$(touch x)".into()));
        check("--output=x", Entry::Path("--output=x".into()));
        check("/etc/passwd", Entry::Outside("/etc/passwd".into()));
        check("../../x", Entry::Outside("../../x".into()));
        check("~/.ssh/id", Entry::Outside("~/.ssh/id".into()));
        check("a\nb", Entry::Outside("a\nb".into()));
    }

    #[test]
    fn files_that_an_entry_covers() {
        let paths: Vec<String> = [
            "a.rs",
            "app/[id]/p.ts",
            "app/i/p.ts",
            "s!c/z.rs",
            "src/a.rs",
            "src/b/c.rs",
            "src/b/d.ts",
            "src2/e.rs",
        ]
        .map(str::to_owned)
        .into();
        let check = |text: &str, expect: &[&str]| {
            let entry = Entry::new(text);
            let mut expansion = Expansion::default();
            let found: Vec<&str> =
                expansion.of(&entry, &paths).iter().map(|at| paths[*at].as_str()).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("src", &["src/a.rs", "src/b/c.rs", "src/b/d.ts"]);
        check("src/a.rs", &["src/a.rs"]);
        check("src/**/*.rs", &["src/a.rs", "src/b/c.rs"]);
        check("src/*.rs", &["src/a.rs"]);
        check("*.rs", &["a.rs"]);
        check("app/[id]/*.ts", &["app/[id]/p.ts"]);
        check("app/{i,j}/?.ts", &[]);
        check("s!c/*.rs", &["s!c/z.rs"]);
        check("s!c/*.rs", &["s!c/z.rs"]);
        check("s**/a.rs", &["src/a.rs"]);
        check(
            ".",
            &[
                "a.rs",
                "app/[id]/p.ts",
                "app/i/p.ts",
                "s!c/z.rs",
                "src/a.rs",
                "src/b/c.rs",
                "src/b/d.ts",
                "src2/e.rs",
            ],
        );
        check("none", &[]);
        check("../src", &[]);
    }

    #[test]
    fn what_any_task_lists() {
        let text = "## Root\n- [ID: root] A (Complexity: 2)\n  - Files: src, *.md, a.rs (new), ../x\n";
        let (plan, _) = crate::plan::parse(text);
        let listed = Listed::new(plan.leaves());
        let check = |path: &str, expect: bool| assert_eq!(listed.covers(path), expect, "{path}");
        check("src/deep/b.rs", true);
        check("a.rs", true);
        check("README.md", true);
        check("docs/README.md", false);
        check("srcs/b.rs", false);
        check("x", false);
        assert_eq!(listed.paths().collect::<Vec<_>>(), ["a.rs", "src"]);
    }
}
