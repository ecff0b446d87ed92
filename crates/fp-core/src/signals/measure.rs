//! From a tree and a survey of the repository to the signals of each leaf, with what they rest on.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::graph::{self, Links};
use super::imports::Found;
use super::listed::{Entry, Expansion};
use super::score::{ANOTHER_LOOK, Inputs, Signals};
use crate::plan::{Plan, Task};
use crate::test_files::Tests;

/// What a listed path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Presence {
    /// A file that was measured.
    File,
    /// Nothing yet.
    Missing,
    /// A folder in which nothing counts.
    Folder,
    /// It leads out of the repository, and was not looked at.
    Outside,
    /// A symbolic link, or something behind one, which is not followed.
    Link,
    /// A pipe, a device or the like, which is not read.
    Special,
    /// A file that can't be read.
    Unreadable,
}

/// What git knows of a file in the last six months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Commits that changed it.
    pub commits: u64,
    /// Their authors.
    pub authors: u64,
    /// Those commits that mend something, by their subject.
    pub fix_commits: u64,
}

/// What was found in the repository; gathered by whoever may read it.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// The regular files, sorted.
    pub paths: Vec<String>,
    /// What was found in source files, by position.
    pub sources: Vec<(usize, Found)>,
    /// The manifests, by position.
    pub manifests: Vec<(usize, String)>,
    /// The lines of listed files, by position; what is no text has none.
    pub lines: BTreeMap<usize, u64>,
    /// What listed paths are that are no files and have none below them.
    pub others: BTreeMap<String, Presence>,
    /// What git knows of the files, by path.
    pub history: BTreeMap<String, History>,
}

/// Where the test of a file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TestedBy {
    /// In another file.
    File(String),
    /// In the file.
    Inside,
    /// It is a test.
    Itself,
}

/// What was measured on one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileFacts {
    /// Its path, or what the task lists where that is no file.
    pub path: String,
    /// What it is.
    pub presence: Presence,
    /// Its lines.
    pub lines: u64,
    /// The files that import it.
    pub fan_in: Vec<String>,
    /// What it imports.
    pub fan_out: Vec<String>,
    /// What git knows of it, if it changed in the last six months.
    pub history: Option<History>,
    /// Where its test is, if it has one.
    pub tested_by: Option<TestedBy>,
}

/// The signals of one leaf.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskSignals {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The five integers.
    #[serde(flatten)]
    pub signals: Signals,
    /// What they are made of.
    #[serde(flatten)]
    pub inputs: Inputs,
}

impl TaskSignals {
    /// Whether somebody should look at the task again before it is built.
    #[must_use]
    pub fn deserves_another_look(&self) -> bool {
        self.signals.composite >= ANOTHER_LOOK
    }
}

/// All that was measured for a tree.
#[derive(Debug)]
pub struct Measured<'s> {
    survey: &'s Survey,
    /// The leaves in document order.
    pub tasks: Vec<TaskSignals>,
    facts: BTreeMap<usize, FileFacts>,
    expansion: Expansion,
}

/// The signals of the leaves of `plan`. A file counts once for a task, however often it is listed; a listed path
/// that is no file counts as one without lines, links or history.
#[must_use]
pub fn measure<'s>(plan: &Plan, survey: &'s Survey) -> Measured<'s> {
    let mut expansion = Expansion::default();
    let leaves: Vec<&Task> = plan.leaves().filter(|task| !task.broken).collect();
    let mut wanted = BTreeSet::new();
    for entry in leaves.iter().flat_map(|task| Entry::of(task)) {
        wanted.extend(expansion.of(&entry, &survey.paths));
    }
    let facts = facts(survey, &wanted);
    let mut measured = Measured { survey, tasks: Vec::new(), facts, expansion };
    measured.tasks = leaves.iter().map(|task| measured.task(task)).collect();
    measured
}

fn facts(survey: &Survey, wanted: &BTreeSet<usize>) -> BTreeMap<usize, FileFacts> {
    let mut links = graph::links(&survey.paths, &survey.sources, &survey.manifests, wanted);
    let tests = Tests::among(survey.paths.iter().map(String::as_str));
    let has_tests: BTreeSet<usize> =
        survey.sources.iter().filter(|(_, found)| found.has_tests).map(|(at, _)| *at).collect();
    let mut fact = |at: usize| {
        let path = &survey.paths[at];
        let Links { fan_in, fan_out } = links.remove(&at).unwrap_or_default();
        let tested_by = match () {
            () if crate::test_files::is_test_file(&path.as_str().into()) => Some(TestedBy::Itself),
            () if has_tests.contains(&at) => Some(TestedBy::Inside),
            () => tests.of(path).map(|test| TestedBy::File(test.to_owned())),
        };
        FileFacts {
            path: path.clone(),
            presence: Presence::File,
            lines: survey.lines.get(&at).copied().unwrap_or(0),
            fan_in,
            fan_out,
            history: survey.history.get(path).copied(),
            tested_by,
        }
    };
    wanted.iter().copied().zip(wanted.iter().copied().map(&mut fact)).collect()
}

impl Measured<'_> {
    /// What was measured on the files of `task`, in the order in which it lists them.
    pub fn files(&mut self, task: &Task) -> Vec<FileFacts> {
        let mut files = Vec::new();
        self.visit(task, |file| files.push(file.clone()));
        files
    }

    fn visit(&mut self, task: &Task, mut visit: impl FnMut(&FileFacts)) {
        let mut known = BTreeSet::new();
        for entry in Entry::of(task) {
            let covered = self.expansion.of(&entry, &self.survey.paths);
            for at in covered.iter().filter(|at| known.insert(**at)) {
                visit(&self.facts[at]);
            }
            if covered.is_empty() {
                visit(&self.absent(&entry));
            }
        }
    }

    fn absent(&self, entry: &Entry) -> FileFacts {
        let path = entry.as_str();
        let presence = match entry {
            Entry::Outside(_) => Presence::Outside,
            _ => self.survey.others.get(path).copied().unwrap_or(Presence::Missing),
        };
        let is_test = presence == Presence::Missing && crate::test_files::is_test_file(&path.into());
        FileFacts {
            path: path.to_owned(),
            presence,
            lines: 0,
            fan_in: Vec::new(),
            fan_out: Vec::new(),
            history: None,
            tested_by: is_test.then_some(TestedBy::Itself),
        }
    }

    fn task(&mut self, task: &Task) -> TaskSignals {
        let mut inputs = Inputs { tests_required: task.tests_required(), ..Inputs::default() };
        self.visit(task, |file| {
            inputs.files += 1;
            inputs.lines += file.lines;
            inputs.fan_in += file.fan_in.len() as u64;
            inputs.fan_out += file.fan_out.len() as u64;
            if let Some(history) = file.history {
                inputs.files_with_history += 1;
                inputs.commits += history.commits;
                inputs.authors += history.authors;
                inputs.fix_commits += history.fix_commits;
            }
            inputs.tested += u64::from(file.tested_by.is_some());
        });
        TaskSignals {
            id: task.id.to_string(),
            title: task.description.to_string(),
            signals: Signals::of(&inputs),
            inputs,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::parse;
    use crate::signals::imports::find;

    /// A survey of files with these contents.
    fn survey(files: &[(&str, &str)]) -> Survey {
        let mut files = files.to_vec();
        files.sort_unstable();
        let mut survey = Survey::default();
        for (at, (path, text)) in files.iter().enumerate() {
            survey.paths.push((*path).to_owned());
            survey.sources.push((at, find(path, text.as_bytes())));
            survey.lines.insert(at, text.lines().count() as u64);
            if crate::signals::resolve::is_manifest(path) {
                survey.manifests.push((at, (*text).to_owned()));
            }
        }
        survey
    }

    fn inputs(survey: &Survey, listed: &str) -> Inputs {
        let text = format!(
            "## Root\n- [ID: root] A (Complexity: 2)\n  - Files: {listed}\n  - Tests Required: yes\n"
        );
        let measured = measure(&parse(&text).0, survey);
        measured.tasks[0].inputs
    }

    #[test]
    fn importing_a_package_is_one_link_for_the_importer_and_one_for_each_of_its_files() {
        let survey = survey(&[
            ("go.mod", "module x\n"),
            ("main.go", "package main\nimport (\n\"x/store\"\n\"fmt\"\n)"),
            ("store/a.go", "package store"),
            ("store/b.go", "package store\nimport \"x/store\""),
            ("store/a_test.go", "package store_test\nimport \"x/store\""),
        ]);
        let check = |listed: &str, fan_in: u64, fan_out: u64| {
            let found = inputs(&survey, listed);
            assert_eq!((found.fan_in, found.fan_out), (fan_in, fan_out), "{listed}");
        };
        check("main.go", 0, 1);
        check("store/a.go", 2, 0);
        check("store/b.go", 2, 0);
        check("store/a_test.go", 0, 1);
    }

    #[test]
    fn sums_over_the_files_of_a_task() {
        let mut survey = survey(&[
            ("src/a.ts", "import './b'\nimport './b'\nimport './c'\n"),
            ("src/b.ts", "export const b = 1\n"),
            ("src/c.ts", "import './a'\nimport './b'\n"),
            ("src/b.test.ts", "import './b'\n"),
        ]);
        let history = History { commits: 3, authors: 2, fix_commits: 1 };
        survey.history.insert("src/a.ts".into(), history);
        survey.history.insert("src/c.ts".into(), history);
        let expect = Inputs {
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
        assert_eq!(more, Inputs { files: 7, tested: 3, ..expect });
    }

    proptest! {
        #[test]
        fn the_order_and_doubles_of_files_do_not_matter(
            order in Just(["src/a.ts", "src/b.ts", "src", "src/*.ts", "x.ts", "../y", "src/b.test.ts"]).prop_shuffle(),
            double in 0usize..7,
        ) {
            let survey = survey(&[("src/a.ts", "import './b'\n"), ("src/b.ts", "1\n"), ("src/b.test.ts", "")]);
            let listed = format!("{}, {}", order.join(", "), order[double]);
            let expect = Inputs { files: 5, lines: 2, fan_in: 1, fan_out: 1, tested: 2, tests_required: true, ..Inputs::default() };
            prop_assert_eq!(inputs(&survey, &listed), expect);
        }

        #[test]
        fn any_list_of_files_has_an_answer(listed in "[a-z./*?\\[\\]{}!~ ,\\\\-]{0,40}") {
            let survey = survey(&[("src/a.ts", "import './b'\n"), ("src/b.ts", "1\n")]);
            prop_assert!((1..=5).contains(&Signals::of(&inputs(&survey, &listed)).composite));
        }
    }
}
