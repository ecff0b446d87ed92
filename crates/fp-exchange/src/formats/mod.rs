//! The formats that can be read, with a file for each, and the detection of a folder's format.
//!
//! Reading is lenient: anything unreadable is reported and left out, and anything unknown is kept. Only a folder
//! without any task is an error.

mod boxes;
mod fractal_planner;
mod json;
mod task_master;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::iter::successors;

use fp_plan::hint::Hint;
use fp_plan::text::first_few;
use serde::Serialize;
use strum::VariantArray as _;
use thiserror::Error;

use crate::folder::{SourceFolder, folder_of};
use crate::portable::{ImportNotice, PortablePlan, TaskWork};
use crate::settle::sort_by_parents;

/// Maximum number of files or folders that an error names.
const MAX_LISTED: usize = 5;

/// A format that can be read.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum SourceFormat {
    TaskMaster,
    /// Numbered boxes, as OpenSpec, Kiro and Spec Kit write them.
    Boxes,
    FractalPlanner,
    Json,
}

/// The format that a folder was found to have, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecognisedSource {
    pub source: SourceFormat,
    pub because: String,
}

type ReadResult = Result<PortablePlan, ImportError>;

/// Returns the paths of the files that show that a folder has a format.
type PlanFiles = fn(&SourceFolder) -> Vec<&str>;

/// Reads the only plan in a folder, given the path of the subfolder that holds the plan.
type ReadPlan = fn(&SourceFolder, &str) -> ReadResult;

impl SourceFormat {
    /// How a person recognises this format, how to find its files, and its reader.
    fn reader(self) -> (&'static str, PlanFiles, ReadPlan) {
        match self {
            Self::TaskMaster => (
                "tasks.json with `dependencies` or `subtasks`",
                task_master::plan_files,
                task_master::read_plan,
            ),
            Self::Boxes => (
                "tasks.md with lines like `- [ ] 1.1` or `- [ ] T001`, as OpenSpec, Kiro and spec-kit write it",
                boxes::plan_files,
                boxes::read_plan,
            ),
            Self::FractalPlanner => (
                "tasks.md with lines like `- [ID: 1]`",
                fractal_planner::plan_files,
                fractal_planner::read_plan,
            ),
            Self::Json => (
                "a .json file with `schemaVersion`, `title` and `tasks`",
                json::plan_files,
                json::read_plan,
            ),
        }
    }
}

/// Why nothing can be imported.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ImportError {
    #[error("no format of a plan is recognised{}", .0.as_ref().map_or_else(|| ": there is no file of text to read".to_owned(), |files| format!(" in {files}")))]
    NotRecognised(Option<String>),
    #[error("it could be of several formats:{}", .0.iter().map(|found| format!("\n  {}, {}", found.source, found.because)).collect::<String>())]
    SeveralFormats(Vec<RecognisedSource>),
    #[error("there are several plans of {format} in it: {folders}")]
    SeveralPlans {
        format: SourceFormat,
        folders: String,
    },
    #[error("there is no task of {0} in it")]
    NoTask(SourceFormat),
    #[error("{0}")]
    Broken(ImportNotice),
    #[error("{0}")]
    Newer(ImportNotice),
}

impl ImportError {
    pub(crate) fn several_plans(format: SourceFormat, folders: &[&str]) -> Self {
        let folders: Vec<&str> = folders
            .iter()
            .map(|folder| if folder.is_empty() { "." } else { folder })
            .collect();
        Self::SeveralPlans {
            format,
            folders: first_few(&folders, MAX_LISTED),
        }
    }
}

impl Hint for ImportError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotRecognised(_) => {
                let signs = SourceFormat::VARIANTS
                    .iter()
                    .map(|format| format!("\n  {format}: {}", format.reader().0));
                let signs: String = signs.collect();
                format!(
                    "`/fp:plan --import PATH` in Claude Code makes a plan of any texts; `fp import` reads:{signs}"
                )
                .into()
            }
            Self::SeveralFormats(_) => "name the folder or the file of one of them".into(),
            Self::SeveralPlans { .. } => "name the folder of one of them".into(),
            Self::NoTask(format) => format!("it is known by {}", format.reader().0).into(),
            Self::Broken(_) => "correct that place, and import again".into(),
            Self::Newer(_) => "update fp: `fp --version` says what this one is".into(),
        })
    }
}

/// Recognises the format of `folder` by the content of its files.
///
/// # Errors
/// The folder matches no format, or several.
pub fn recognise_source(folder: &SourceFolder) -> Result<RecognisedSource, ImportError> {
    let recognised = |source: SourceFormat| {
        let because = format!("by {}", source.reader().1(folder).first()?);
        Some(RecognisedSource { source, because })
    };
    let mut found: Vec<RecognisedSource> = SourceFormat::VARIANTS
        .iter()
        .copied()
        .filter_map(recognised)
        .collect();
    match (found.len(), folder.broken().next()) {
        (0, Some((_, notice))) => Err(ImportError::Broken(notice.clone())),
        (0, None) => {
            let files: Vec<&str> = folder.paths().collect();
            Err(ImportError::NotRecognised(
                (!files.is_empty()).then(|| first_few(&files, MAX_LISTED)),
            ))
        }
        (1, _) => Ok(found.remove(0)),
        _ => Err(ImportError::SeveralFormats(found)),
    }
}

/// Reads `folder` as a plan of `format`, with notices of problems in its files.
///
/// # Errors
/// There is no task to import, or more than one plan.
pub fn read_source(format: SourceFormat, folder: &SourceFolder) -> ReadResult {
    let (_, files, read) = format.reader();
    let bases: BTreeSet<&str> = files(folder).into_iter().map(folder_of).collect();
    let base = match bases.iter().copied().collect::<Vec<_>>()[..] {
        [] => return Err(ImportError::NoTask(format)),
        [base] => base,
        ref several => return Err(ImportError::several_plans(format, several)),
    };
    let plan = read(folder, base)?;
    if plan
        .tasks
        .iter()
        .all(|task| task.work == TaskWork::Cancelled)
    {
        let broken = plan
            .notices
            .into_iter()
            .find(|notice| notice.file.is_some());
        return Err(broken.map_or(ImportError::NoTask(format), ImportError::Broken));
    }
    Ok(plan)
}

/// Gives each task its parent, and moves children directly after their parents. `above` holds the parent ids that the
/// source names; if `dotted` is true, any other task `A.1` becomes a child of `A`. A task that would be its own
/// ancestor gets no parent.
fn place_tasks(plan: &mut PortablePlan, above: Vec<Option<String>>, dotted: bool) {
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for (at, id) in ids.iter().enumerate() {
        positions.entry(id).or_insert(at);
    }
    for ((at, id), named) in ids.iter().enumerate().zip(above) {
        let prefix = id.rsplit_once('.').map(|(above, _)| above);
        let above = named.as_deref().or(prefix.filter(|_| dotted));
        let parent = above.and_then(|above| positions.get(above)).copied();
        if let (Some(above), None) = (&named, parent) {
            plan.add_notice(format!("{id} is a part of {above}, which is not there"));
        }
        let mut way = successors(parent, |&task| plan.tasks[task].parent);
        if way.any(|ancestor| ancestor == at) {
            let text = format!("{id} is a part of itself; it becomes a task without a parent");
            plan.add_notice(text);
        } else {
            plan.tasks[at].parent = parent;
        }
    }
    sort_by_parents(plan);
}

#[cfg(test)]
mod tests {
    use fp_plan::plan::FieldKind;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::portable::PortableTask;
    use crate::settle::fit_to_tree;

    fn folder(files: &[(&str, &str)]) -> SourceFolder {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn each_sign_is_that_of_one_format() {
        let check = |path: &str, text: &str, expect: SourceFormat| {
            assert_eq!(
                recognise_source(&folder(&[(path, text)])).map(|found| found.source),
                Ok(expect),
                "{text}"
            );
        };
        check(
            "tasks.json",
            r#"{"tasks": [{"id": 1, "title": "A", "dependencies": []}]}"#,
            SourceFormat::TaskMaster,
        );
        check(
            "tasks.json",
            r#"{"main": {"tasks": [{"id": 1, "subtasks": []}]}}"#,
            SourceFormat::TaskMaster,
        );
        check("tasks.md", "- [ ] T001 A\n", SourceFormat::Boxes);
        check("tasks.md", "## 1. A\n- [ ] 1.1 B\n", SourceFormat::Boxes);
        check(
            "tasks.md",
            "- [x] 1. A\n  - [ ]* 1.1 B\n",
            SourceFormat::Boxes,
        );
        check("tasks.md", "- [ID: 1] A\n", SourceFormat::FractalPlanner);
        check(
            "any.md",
            "## [1] A\n- Complexity: 2\n",
            SourceFormat::FractalPlanner,
        );
        assert!(
            recognise_source(&folder(&[(
                "CHANGELOG.md",
                "## [0.2.0] - 2026-01-01\n\n- More\n"
            )]))
            .is_err()
        );
        check(
            "plan.json",
            r#"{"schemaVersion": 1, "title": "A", "tasks": [{"id": "1", "title": "B", "dependencies": []}]}"#,
            SourceFormat::Json,
        );
    }

    #[test]
    fn files_of_a_plan_folder_are_no_plans_of_others() {
        let files = [
            ("tasks.md", "- [ID: root] R\n- [ID: 1] A\n"),
            (
                "plan.json",
                r#"{"schemaVersion": 1, "planId": "p", "goal": "g", "settings": {}}"#,
            ),
            (
                "import.json",
                r#"{"schemaVersion": 1, "from": "ccw", "path": "x", "tasks": {"1": {"id": "IMPL-1", "ext": {"depends_on": []}}}}"#,
            ),
            (
                "linear-mapping.json",
                r#"{"planId": "p", "tasks": {"1": {"linearIssueId": "i", "linearIdentifier": "T-1"}}}"#,
            ),
            (
                "progress.md",
                "## Completed Tasks\n- 1: A | Iterations: 1/3 | Commit: abc1234\n",
            ),
            (
                "events.jsonl",
                r#"{"schemaVersion":1,"seq":1,"at":"2026-01-01T00:00:00Z","events":["told"]}"#,
            ),
            (
                "evidence/task-1-verification.md",
                "# Verification Evidence: Task 1\n\nResult: PASS\n",
            ),
        ];
        let folder = folder(&files);
        assert_eq!(
            recognise_source(&folder).map(|found| found.source),
            Ok(SourceFormat::FractalPlanner)
        );
        let plan = read_source(SourceFormat::FractalPlanner, &folder).unwrap();
        assert_eq!(plan.notices, []);
        assert_eq!(
            plan.tasks[0].work,
            TaskWork::Done {
                commit: Some("abc1234".into())
            }
        );
    }

    #[test]
    fn reports_of_older_versions_say_what_is_done() {
        let files = [
            (
                "old/tasks.md",
                "- [ID: root] R\n- [ID: T1] A\n- [ID: T2] B\n- [ID: T3] C\n- [ID: T4] D\n",
            ),
            (
                "old/handoff.md",
                "## Completed Tasks\n- T1: A | Iterations: 1/3 | Commit: `ABCDEF0`\n## Failed Tasks\n- 2: B | Reason: no\n",
            ),
            ("old/evidence/task-T3-verification.md", "Result: PASS\n"),
            ("old/evidence/task-4-verification.md", "Result: FAIL\n"),
        ];
        let plan = read_source(SourceFormat::FractalPlanner, &folder(&files)).unwrap();
        let work: Vec<TaskWork> = plan.tasks.into_iter().map(|task| task.work).collect();
        let expected = [
            TaskWork::Done {
                commit: Some("abcdef0".into()),
            },
            TaskWork::Todo,
            TaskWork::Done { commit: None },
            TaskWork::Todo,
        ];
        assert_eq!(work, expected);
    }

    #[test]
    fn a_broken_file_is_named() {
        let error = recognise_source(&folder(&[("b.json", "{\n  x")])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b.json:2:3: not valid JSON: key must be a string"
        );
    }

    /// Names that mean something to some format.
    const NAMES: [&str; 14] = [
        "PLAN.md",
        "TASK-01.md",
        "TASK-01_result.md",
        "tasks.json",
        "tasks.csv",
        "task-analysis.json",
        ".task/IMPL-1.json",
        "plan.json",
        "TODO_LIST.md",
        "tasks.md",
        "issues.jsonl",
        "execution-state.json",
        "progress.md",
        "a/b.json",
    ];

    /// Keys and words that mean something to some format.
    const WORDS: [&str; 40] = [
        "id",
        "title",
        "tasks",
        "deps",
        "role",
        "status",
        "done",
        "description",
        "depends_on",
        "dependencies",
        "subtasks",
        "convergence",
        "criteria",
        "files",
        "path",
        "action",
        "flow_control",
        "target_files",
        "context",
        "requirements",
        "read_first",
        "task_ids",
        "task_count",
        "schemaVersion",
        "parent",
        "dependency_graph",
        "blockedBy",
        "capabilities",
        "meta",
        "test",
        "commands",
        "type",
        "parent-child",
        "depends_on_id",
        "1",
        "IMPL-1",
        "1.1",
        "T001",
        "work",
        "a:b:1",
    ];

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (0..5_i64).prop_map(Value::from),
            prop::sample::select(WORDS.to_vec()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            let key = prop::sample::select(WORDS.to_vec());
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..6).prop_map(|map| map
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()),
            ]
        })
    }

    fn file_text() -> impl Strategy<Value = String> {
        let lines = prop::sample::select(vec![
            "# WORK-01: A",
            "| TASK | Title | Depends on | Status |",
            "|---|---|---|---|",
            "| TASK-01 | A | TASK-02 | Done |",
            "### TASK-02: B",
            "- **Files**: `a`",
            "## Dependencies",
            "(none)",
            "없음",
            "```",
            "- [ ] T001 [P] A in a.rs",
            "- [x] T002",
            "- [ID: 1] A",
            "  - [ID: 1.1] B",
            "  - Dependencies: 1",
            "> Status: done",
            "Result: PASS",
            "- 1: A | Commit: abcdef0",
            "id,title,role,deps",
            "1,\"a",
            "a;b,c",
            "- [ ] IMPL-1: x",
            "",
            "\u{feff}",
            "## Files",
            "| a |",
            "|",
            "[](",
            "](",
            "\\|",
        ]);
        prop_oneof![
            json_value().prop_map(|value| value.to_string()),
            prop::collection::vec(json_value(), 0..4)
                .prop_map(|all| all.iter().map(|v| format!("{v}\n")).collect()),
            prop::collection::vec(lines, 0..20).prop_map(|lines| lines.join("\n")),
            any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn nothing_panics(files in prop::collection::vec((prop::sample::select(NAMES.to_vec()), file_text()), 0..5)) {
            let folder: SourceFolder = files.iter().map(|(path, text)| ((*path).to_owned(), text.clone())).collect();
            let _ = recognise_source(&folder);
            for &source in SourceFormat::VARIANTS {
                let Ok(mut plan) = read_source(source, &folder) else { continue };
                prop_assert!(!plan.tasks.is_empty());
                let above = plan.tasks.iter().enumerate().all(|(at, task)| task.parent.is_none_or(|parent| parent < at));
                prop_assert!(above, "parents stand before their children");
                fit_to_tree(&mut plan);
            }
        }
    }

    #[test]
    fn every_format_has_its_name() {
        for source in SourceFormat::VARIANTS {
            assert_eq!(json!(source), json!(source.into_str()));
        }
    }

    fn arranged(tasks: &[(&str, Option<&str>)]) -> (Vec<(String, Option<usize>)>, usize) {
        let task = |id: &str| PortableTask {
            id: id.into(),
            ..PortableTask::default()
        };
        let placed = tasks.iter().map(|(id, _)| task(id)).collect();
        let mut plan = PortablePlan {
            tasks: placed,
            ..PortablePlan::default()
        };
        place_tasks(
            &mut plan,
            tasks
                .iter()
                .map(|(_, above)| above.map(str::to_owned))
                .collect(),
            true,
        );
        (
            plan.tasks
                .into_iter()
                .map(|task| (task.id, task.parent))
                .collect(),
            plan.notices.len(),
        )
    }

    #[test]
    fn parents_come_first_and_loops_are_cut() {
        let check =
            |tasks: &[(&str, Option<&str>)], expect: &[(&str, Option<usize>)], said: usize| {
                let expect: Vec<_> = expect
                    .iter()
                    .map(|(id, parent)| ((*id).to_owned(), *parent))
                    .collect();
                assert_eq!(arranged(tasks), (expect, said), "{tasks:?}");
            };
        check(
            &[("a", None), ("b", Some("a"))],
            &[("a", None), ("b", Some(0))],
            0,
        );
        check(
            &[("c", Some("p")), ("d", None), ("p", None)],
            &[("d", None), ("p", None), ("c", Some(1))],
            0,
        );
        check(
            &[("a.1", None), ("a", None), ("b", Some("x"))],
            &[("a", None), ("a.1", Some(0)), ("b", None)],
            1,
        );
        check(&[("a", Some("a"))], &[("a", None)], 1);
        check(
            &[("a", Some("b")), ("b", Some("a"))],
            &[("b", None), ("a", Some(0))],
            1,
        );
    }

    /// The tasks that were read, each with its dependencies and, if done, a `+`; also the notices.
    fn told(format: SourceFormat, files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let mut plan = read_source(format, &folder(files)).unwrap();
        fit_to_tree(&mut plan);
        let task = |task: &PortableTask| {
            let waits: String = task
                .dependencies
                .iter()
                .flatten()
                .map(|id| format!(" {id}"))
                .collect();
            let done = if matches!(task.work, TaskWork::Done { .. }) {
                "+"
            } else {
                ""
            };
            format!("{}{done}{waits}", task.id)
        };
        let tasks = plan.tasks.iter().map(task).collect();
        (
            tasks,
            plan.notices.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn stories_wait_for_the_foundation_and_not_for_each_other() {
        let page = "## Phase 1: Setup\n- [x] T001 A\n## Phase 2: User Story 1\n- [ ] T002 B\n- [ ] T003 C\n\
            ## Phase 3: User Story 2\n- [ ] T004 D.swift in Lib/A/ (depends on T002)\n- [ ] no number\n\
            ## Phase 4: Polish\n- [ ] T005 E\n";
        let (tasks, said) = told(SourceFormat::Boxes, &[("tasks.md", page)]);
        assert_eq!(
            tasks,
            [
                "T001+",
                "T002 T001",
                "T003 T002",
                "T004 T001 T002",
                "T005 T003 T004"
            ]
        );
        assert_eq!(
            said[0],
            "tasks.md:8: it is no box with a number, and left out: - [ ] no number"
        );
        let plan = read_source(SourceFormat::Boxes, &folder(&[("tasks.md", page)])).unwrap();
        assert_eq!(
            plan.tasks[3].fields.items(FieldKind::Files)[0].text,
            "Lib/A/D.swift"
        );
    }
}
