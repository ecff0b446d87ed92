//! Combines a tree and a survey of the repository into the signals of each leaf.
//!
//! The paths in a leaf are untrusted: they are normalised once and then matched against the paths of a walk.
//! Paths that lead out of the repository are never opened.

use std::collections::{BTreeMap, BTreeSet};

use fp_plan::plan::path::normal;
use fp_plan::plan::{Plan, Task};
use fp_run::test_files::{Tests, is_test_file};
use serde::Serialize;

use super::coupling::{FileLinks, file_links};
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
        task.files().map(Self::new).filter(|entry| known.insert(entry.clone())).collect()
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
                    (start..paths.len()).take_while(|at| paths[*at].starts_with(&folder)).collect()
                }
            },
            Self::Pattern(pattern) => {
                let Some(pattern) = plain_glob(pattern) else { return Vec::new() };
                (0..paths.len()).filter(|at| pattern.is_match(&paths[*at])).collect()
            }
        }
    }
}

/// The kind of a listed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FilePresence {
    File,
    #[default]
    Missing,
    /// It leads out of the repository, is a link, behind one or no regular file, or can't be read.
    NotRead,
}

/// The history of a file in the last six months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
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
    /// The listed paths that exist but are not read.
    pub(super) unread: BTreeSet<String>,
    /// The history of the files, by path.
    pub(super) history: BTreeMap<String, FileHistory>,
}

/// The place of a file's test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TestOfFile {
    /// In another file.
    File(String),
    Inside,
    /// It is a test.
    Itself,
}

/// The measurements of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MeasuredFile {
    /// Its path, or the task's entry if that is no file.
    pub(super) path: String,
    pub(super) presence: FilePresence,
    pub(super) lines: usize,
    #[serde(flatten)]
    pub(super) links: FileLinks,
    pub(super) history: Option<FileHistory>,
    pub(super) tested_by: Option<TestOfFile>,
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

/// All measurements for a tree.
#[derive(Debug)]
pub(super) struct MeasuredTree<'s> {
    survey: &'s RepositorySurvey,
    files: BTreeMap<usize, MeasuredFile>,
}

impl<'s> MeasuredTree<'s> {
    pub(super) fn new(plan: &Plan, survey: &'s RepositorySurvey) -> Self {
        let entries = plan.leaves().flat_map(ListedEntry::all_of).collect::<BTreeSet<_>>();
        let wanted = entries.iter().flat_map(|entry| entry.covered(&survey.paths)).collect();
        let mut links = file_links(&survey.paths, &survey.words, &wanted);
        let tests = Tests::among(survey.paths.iter().map(String::as_str));
        let measured = |at: usize| {
            let path = &survey.paths[at];
            let tested_by = if is_test_file(&path.as_str().into()) {
                Some(TestOfFile::Itself)
            } else if survey.with_tests.contains(&at) {
                Some(TestOfFile::Inside)
            } else {
                tests.of(path).map(|test| TestOfFile::File(test.to_owned()))
            };
            let file = MeasuredFile {
                path: path.clone(),
                presence: match survey.unread.contains(path) {
                    true => FilePresence::NotRead,
                    false => FilePresence::File,
                },
                lines: survey.lines.get(&at).copied().unwrap_or(0),
                links: links.remove(&at).unwrap_or_default(),
                history: survey.history.get(path).copied(),
                tested_by,
            };
            (at, file)
        };
        Self { survey, files: wanted.iter().copied().map(measured).collect() }
    }

    /// The files of `task` in the order of its list. A file counts once, however often it is listed; a listed
    /// path that is no file counts as one without lines, links or history.
    pub(super) fn files_of(&self, task: &Task) -> Vec<MeasuredFile> {
        let mut known = BTreeSet::new();
        let mut files = Vec::new();
        for entry in ListedEntry::all_of(task) {
            let covered = entry.covered(&self.survey.paths);
            if covered.is_empty() {
                files.push(self.absent(&entry));
            }
            files.extend(covered.iter().filter(|at| known.insert(**at)).map(|at| self.files[at].clone()));
        }
        files
    }

    fn absent(&self, entry: &ListedEntry) -> MeasuredFile {
        let path = entry.as_str();
        let is_unread = matches!(entry, ListedEntry::Outside(_)) || self.survey.unread.contains(path);
        let presence = if is_unread { FilePresence::NotRead } else { FilePresence::Missing };
        let is_test = presence == FilePresence::Missing && is_test_file(&path.into());
        let tested_by = is_test.then_some(TestOfFile::Itself);
        MeasuredFile { path: path.to_owned(), presence, tested_by, ..MeasuredFile::default() }
    }

    pub(super) fn signals_of(&self, task: &Task) -> TaskSignals {
        let mut inputs = SignalInputs { tests_required: task.tests_required(), ..SignalInputs::default() };
        for file in self.files_of(task) {
            inputs.files += 1;
            inputs.lines += file.lines;
            inputs.fan_in += file.links.fan_in.len();
            inputs.fan_out += file.links.fan_out.len();
            if let Some(history) = file.history {
                inputs.files_with_history += 1;
                inputs.commits += history.commits;
                inputs.authors += history.authors;
                inputs.fix_commits += history.fix_commits;
            }
            inputs.tested += usize::from(file.tested_by.is_some());
        }
        let (id, title) = (task.id.to_string(), task.description.to_string());
        TaskSignals { id, title, values: SignalValues::of(&inputs), inputs }
    }
}

/// True if `text`, the content of a Rust file, has tests inside.
pub(super) fn has_tests_inside(text: &str) -> bool {
    text.lines().filter_map(|line| line.trim().strip_prefix("#[")).any(|attribute| {
        let name = attribute.split(['(', ']', ' ']).next().unwrap_or("");
        let only_for_tests = name == "cfg" && attribute.contains("test") && !attribute.contains("not(");
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
        let leaf = plan.leaves().next().unwrap();
        MeasuredTree::new(&plan, survey).signals_of(leaf).inputs
    }

    #[test]
    fn what_a_text_means() {
        let check = |text: &str, expect: ListedEntry| assert_eq!(ListedEntry::new(text), expect, "{text:?}");
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
        let history = FileHistory { commits: 3, authors: 2, fix_commits: 1 };
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
        assert_eq!(more, SignalInputs { files: 7, tested: 3, ..expect });
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
