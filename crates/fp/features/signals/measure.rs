//! Combines a tree and a survey of the repository into the signals of each leaf.
//!
//! The paths in a leaf are untrusted: they are normalised once and then matched against the paths of a walk.
//! Paths that lead out of the repository are never opened.

use std::collections::{BTreeMap, BTreeSet};

use fp_plan::plan::path::normal;
use fp_plan::plan::{Plan, Task};
use fp_run::test_files::{Tests, is_test_file};
use serde::Serialize;

use super::coupling::file_links;
use super::score::{SignalInputs, SignalValues};
use crate::commands::comments::plain_glob;

/// One entry of a task's files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ListedEntry {
    /// A file, or a folder with everything below it, in normal form.
    Path(String),
    /// A pattern such as `src/**/*.rs`, in normal form.
    Pattern(String),
    /// A path that leads out of the repository, as written.
    Outside(String),
}

impl ListedEntry {
    /// Only `*` and `?` make a pattern: brackets and braces occur in the names of real files.
    fn new(text: &str) -> Self {
        match normal(text) {
            Err(_) => Self::Outside(text.to_owned()),
            Ok(path) if path.contains(['*', '?']) => Self::Pattern(path.into_owned()),
            Ok(path) => Self::Path(path.into_owned()),
        }
    }

    /// The entries of `task` in their order, without duplicates.
    pub(super) fn all_of(task: &Task) -> Vec<Self> {
        let mut known = BTreeSet::new();
        task.files()
            .map(Self::new)
            .filter(|entry| known.insert(entry.clone()))
            .collect()
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Path(text) | Self::Pattern(text) | Self::Outside(text) => text,
        }
    }

    /// The positions of the files that it covers in the sorted `paths`.
    pub(super) fn covered(&self, paths: &[String]) -> Vec<usize> {
        match self {
            Self::Outside(_) => Vec::new(),
            Self::Path(path) if path == "." => (0..paths.len()).collect(),
            Self::Path(path) => match paths.binary_search(path) {
                Ok(at) => vec![at],
                Err(_) => {
                    let folder = format!("{path}/");
                    let start = paths.partition_point(|known| *known < folder);
                    (start..paths.len())
                        .take_while(|at| paths[*at].starts_with(&folder))
                        .collect()
                }
            },
            Self::Pattern(pattern) => {
                let Some(pattern) = plain_glob(pattern) else {
                    return Vec::new();
                };
                (0..paths.len())
                    .filter(|at| pattern.is_match(&paths[*at]))
                    .collect()
            }
        }
    }
}

/// The history of a file in the last six months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FileHistory {
    pub(super) commits: usize,
    pub(super) authors: usize,
    /// Commits that fix something, by their subject.
    pub(super) fix_commits: usize,
}

/// The results of a walk over the repository.
#[derive(Debug, Clone, Default)]
pub(super) struct RepositorySurvey {
    /// The regular files, sorted.
    pub(super) paths: Vec<String>,
    /// The imported words of source files, by position.
    pub(super) words: BTreeMap<usize, BTreeSet<String>>,
    /// The source files that have tests inside.
    pub(super) with_tests: BTreeSet<usize>,
    /// The line counts of listed files, by position; none for a binary file.
    pub(super) lines: BTreeMap<usize, usize>,
    /// The history of the files, by path.
    pub(super) history: BTreeMap<String, FileHistory>,
}

/// The signals of one leaf.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct TaskSignals {
    pub(super) id: String,
    pub(super) title: String,
    #[serde(flatten)]
    pub(super) values: SignalValues,
    #[serde(flatten)]
    pub(super) inputs: SignalInputs,
}

/// The signals of the leaves of `plan`, in document order.
pub(super) fn signals_of(plan: &Plan, survey: &RepositorySurvey) -> Vec<TaskSignals> {
    let RepositorySurvey {
        paths,
        words,
        with_tests,
        lines,
        history,
    } = survey;
    let leaves: Vec<(&Task, Vec<ListedEntry>)> = plan
        .leaves()
        .filter(|task| !task.broken)
        .map(|leaf| (leaf, ListedEntry::all_of(leaf)))
        .collect();
    let wanted = leaves
        .iter()
        .flat_map(|(_, entries)| entries)
        .flat_map(|entry| entry.covered(paths));
    let wanted: BTreeSet<usize> = wanted.collect();
    let links = file_links(paths, words, &wanted);
    let tests = Tests::among(paths.iter().map(String::as_str));
    let is_tested = |at: &usize| {
        let path = paths[*at].as_str();
        is_test_file(&path.into()) || with_tests.contains(at) || tests.of(path).is_some()
    };
    let tested: BTreeSet<usize> = wanted.into_iter().filter(is_tested).collect();
    let signals = leaves.into_iter().map(|(task, entries)| {
        let mut inputs = SignalInputs {
            tests_required: task.tests_required(),
            ..SignalInputs::default()
        };
        // A file counts once, however often it is listed.
        let mut known = BTreeSet::new();
        for entry in &entries {
            let covered = entry.covered(paths);
            if covered.is_empty() {
                // Not there yet, or nothing that may be read: a file without lines, links or history.
                inputs.files += 1;
                inputs.tested += usize::from(is_test_file(&entry.as_str().into()));
            }
            for at in covered.into_iter().filter(|at| known.insert(*at)) {
                inputs.files += 1;
                inputs.lines += lines.get(&at).copied().unwrap_or(0);
                inputs.fan_in += links[&at].fan_in.len();
                inputs.fan_out += links[&at].fan_out.len();
                if let Some(history) = history.get(&paths[at]) {
                    inputs.files_with_history += 1;
                    inputs.commits += history.commits;
                    inputs.authors += history.authors;
                    inputs.fix_commits += history.fix_commits;
                }
                inputs.tested += usize::from(tested.contains(&at));
            }
        }
        let (id, title) = (task.id.to_string(), task.description.to_string());
        TaskSignals {
            id,
            title,
            values: SignalValues::of(&inputs),
            inputs,
        }
    });
    signals.collect()
}

/// True if `text`, the content of a Rust file, has tests inside.
pub(super) fn has_tests_inside(text: &str) -> bool {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("#["))
        .any(|attribute| {
            let name = attribute.split(['(', ']', ' ']).next().unwrap_or("");
            let only_for_tests =
                name == "cfg" && attribute.contains("test") && !attribute.contains("not(");
            only_for_tests || name == "test" || name.ends_with("::test")
        })
}

#[cfg(test)]
mod tests {
    use fp_plan::plan::parse;
    use proptest::prelude::*;

    use super::*;
    use crate::features::signals::coupling::imported_words;

    /// A survey of files with these contents.
    fn survey(files: &[(&str, &str)]) -> RepositorySurvey {
        let mut files = files.to_vec();
        files.sort_unstable();
        let mut survey = RepositorySurvey::default();
        for (at, (path, text)) in files.iter().enumerate() {
            survey.paths.push((*path).to_owned());
            survey.words.insert(at, imported_words(text));
            survey.lines.insert(at, text.lines().count());
        }
        survey
    }

    fn inputs(survey: &RepositorySurvey, listed: &str) -> SignalInputs {
        let text = format!(
            "## Root\n- [ID: root] A (Complexity: 2)\n  - Files: {listed}\n  - Tests Required: yes\n"
        );
        let (plan, _) = parse(&text);
        signals_of(&plan, survey).remove(0).inputs
    }

    #[test]
    fn what_a_text_means() {
        let check = |text: &str, expect: ListedEntry| {
            assert_eq!(ListedEntry::new(text), expect, "{text:?}")
        };
        let path = |text: &str| ListedEntry::Path(text.into());
        let outside = |text: &str| ListedEntry::Outside(text.into());
        check("./src//a.rs", path("src/a.rs"));
        check("src/", path("src"));
        check("app/[id]/page.tsx", path("app/[id]/page.tsx"));
        check("src/**/*.rs", ListedEntry::Pattern("src/**/*.rs".into()));
        check("$(touch x)", path("$(touch x)"));
        check("--output=x", path("--output=x"));
        for text in ["/etc/passwd", "../../x", "~/.ssh/id", "a\nb"] {
            check(text, outside(text));
        }
    }

    #[test]
    fn files_that_an_entry_covers() {
        let all = [
            "a.rs",
            "app/[id]/p.ts",
            "app/i/p.ts",
            "s!c/z.rs",
            "src/a.rs",
            "src/b/c.rs",
            "src/b/d.ts",
            "src2/e.rs",
        ];
        let paths: Vec<String> = all.map(str::to_owned).into();
        let check = |text: &str, expect: &[&str]| {
            let covered = ListedEntry::new(text).covered(&paths);
            let found: Vec<&str> = covered.iter().map(|at| paths[*at].as_str()).collect();
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
        check("s**/a.rs", &["src/a.rs"]);
        check(".", &all);
        check("none", &[]);
        check("../src", &[]);
    }

    #[test]
    fn sums_over_the_files_of_a_task() {
        let mut survey = survey(&[
            ("src/a.ts", "import './b'\nimport './b'\nimport './c'\n"),
            ("src/b.ts", "export const b = 1\n"),
            ("src/c.ts", "import './a'\nimport './b'\n"),
            ("src/b.test.ts", "import './b'\n"),
        ]);
        let history = FileHistory {
            commits: 3,
            authors: 2,
            fix_commits: 1,
        };
        survey.history.insert("src/a.ts".into(), history);
        survey.history.insert("src/c.ts".into(), history);
        let expect = SignalInputs {
            files: 4,
            lines: 7,
            fan_in: 5,
            fan_out: 5,
            files_with_history: 2,
            commits: 6,
            authors: 4,
            fix_commits: 2,
            tested: 2,
            tests_required: true,
        };
        assert_eq!(inputs(&survey, "src"), expect);
        assert_eq!(inputs(&survey, "src/*.ts, src/a.ts, ./src/b.ts"), expect);
        let more = inputs(&survey, "src, new.ts, ../up, tests/new.test.ts");
        assert_eq!(
            more,
            SignalInputs {
                files: 7,
                tested: 3,
                ..expect
            }
        );
    }

    #[test]
    fn tests_inside() {
        let check = |text: &str, expect: bool| assert_eq!(has_tests_inside(text), expect, "{text}");
        check("#[cfg(test)]\nmod tests {}", true);
        check("#[test]\nfn a() {}", true);
        check("    #[tokio::test(flavor = \"x\")]\nasync fn a() {}", true);
        check("#[cfg(all(test, unix))] mod tests;", true);
        check("#[cfg(not(test))] fn a() {}", false);
        check("// #[test]\n\"#[test]\"", false);
        check("#[derive(test)] struct A;", false);
        check("#[path = \"test\"] mod a;", false);
    }

    proptest! {
        #[test]
        fn the_order_and_doubles_of_files_do_not_matter(
            order in Just(["src/a.ts", "src/b.ts", "src", "src/*.ts", "x.ts", "../y", "src/b.test.ts"]).prop_shuffle(),
            double in 0usize..7,
        ) {
            let survey = survey(&[("src/a.ts", "import './b'\n"), ("src/b.ts", "1\n"), ("src/b.test.ts", "")]);
            let listed = format!("{}, {}", order.join(", "), order[double]);
            let expect = SignalInputs {
                files: 5, lines: 2, fan_in: 1, fan_out: 1, tested: 2, tests_required: true, ..SignalInputs::default()
            };
            prop_assert_eq!(inputs(&survey, &listed), expect);
        }

        #[test]
        fn any_list_of_files_has_an_answer(listed in "[a-z./*?\\[\\]{}!~ ,\\\\-]{0,40}") {
            let survey = survey(&[("src/a.ts", "import './b'\n"), ("src/b.ts", "1\n")]);
            prop_assert!((1..=5).contains(&SignalValues::of(&inputs(&survey, &listed)).composite));
        }
    }
}
