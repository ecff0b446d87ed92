//! uctm: `PLAN.md` with the list of tasks, `TASK-NN.md` for each, `TASK-NN_result.md` for each that is done. Labels are
//! English or Korean.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use fp_plan::text::one_line;
use regex::Regex;

use super::ReadResult;
use crate::folder::{SourceFolder, folder_of, name_of};
use crate::page::{
    PageLine, PageSection, label_and_value, page_lines, plain_text, sections_of, tables_in,
};
use crate::portable::{PortableFile, PortablePlan, PortableTask, TaskWork};
use crate::words::{
    bare_entry, commands_in, commit_in, entries_of, is_command, is_entry, is_none, paths_in,
    pattern, pieces_of, portable_file, work_of,
};

/// `TASK-01.md`, `TASK-01_result.md`, `WORK-01-TASK-01.md`.
static FILE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:WORK-\d+[-_])?TASK-(\d+)(?:[-_](result|progress))?\.md$"));
static WORK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?im)^#\s+\**(WORK-\d+)\b[\s:—–-]*(.*)$"));
static HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:WORK-\d+[-_])?TASK-(\d+)\b[\s:—–.-]*(.*)$"));
static TASK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bTASK-(\d+)"));

/// The subject of a heading, a label or a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UctmLabel {
    Goal,
    Dependencies,
    Files,
    Acceptance,
    Verify,
    Status,
    Title,
    Commit,
    Priority,
    Covers,
    Group,
    Other,
}

impl UctmLabel {
    /// The words that a label has in it, the first one that fits counting.
    const WORDS: [(Self, &[&str]); 11] = [
        (
            Self::Dependencies,
            &["depend", "blocked", "의존", "종속", "선행"],
        ),
        (
            Self::Acceptance,
            &[
                "acceptance",
                "done when",
                "수용",
                "인수",
                "승인",
                "완료 조건",
                "완료 기준",
                "완료조건",
            ],
        ),
        (Self::Verify, &["verif", "검증"]),
        (Self::Files, &["file", "파일"]),
        (Self::Status, &["status", "상태"]),
        (
            Self::Goal,
            &[
                "scope",
                "범위",
                "goal",
                "objective",
                "overview",
                "목표",
                "개요",
            ],
        ),
        (Self::Commit, &["commit", "커밋"]),
        (Self::Priority, &["priority", "우선순위"]),
        (Self::Covers, &["requirement", "nfr", "요구사항"]),
        (Self::Group, &["phase", "단계"]),
        (
            Self::Title,
            &[
                "title",
                "name",
                "제목",
                "이름",
                "description",
                "설명",
                "내용",
            ],
        ),
    ];

    fn new(label: &str) -> Self {
        let label = label.to_lowercase();
        let fits = |words: &[&str]| words.iter().any(|word| label.contains(word));
        Self::WORDS
            .into_iter()
            .find(|(_, words)| fits(words))
            .map_or(Self::Other, |(found, _)| found)
    }
}

/// `TASK-07` for `7` and `007`: two digits at least.
fn canonical_id(number: &str) -> String {
    format!("TASK-{:0>2}", number.trim_start_matches('0'))
}

fn ids_named_in(text: &str) -> Vec<String> {
    TASK.captures_iter(text)
        .map(|found| canonical_id(&found[1]))
        .collect()
}

pub(super) fn files(folder: &SourceFolder) -> Vec<&str> {
    let is_plan =
        |path: &str, text: &str| path.eq_ignore_ascii_case("PLAN.md") && WORK.is_match(text);
    let is_ours = |path: &str, text: &str| is_plan(path, text) || FILE.is_match(path);
    let ours = folder
        .files_in("md")
        .filter(|(path, text)| is_ours(name_of(path), text));
    ours.map(|(path, _)| path).collect()
}

pub(super) fn read(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut reader = UctmReader::default();
    if let Some((path, text)) = folder.page(base, "PLAN.md") {
        reader.read_plan(path, text);
    }
    for (path, text) in folder
        .files_in("md")
        .filter(|(path, _)| folder_of(path) == base)
    {
        let Some(found) = FILE.captures(name_of(path)) else {
            reader
                .plan
                .ext
                .insert(name_of(path).to_owned(), text.into());
            continue;
        };
        let id = canonical_id(&found[1]);
        match found
            .get(2)
            .map(|kind| kind.as_str().to_lowercase())
            .as_deref()
        {
            Some("result") => reader.read_result(&id, text),
            Some(_) => reader.read_labels(&id, path, &page_lines(text)),
            None => reader.read_task_file(&id, path, text),
        }
        if let Some(task) = reader.tasks.get_mut(&id) {
            task.ext.insert(name_of(path).to_owned(), text.into());
        }
    }
    if let Some((path, text)) = folder.page(base, "PROGRESS.md") {
        for section in sections_of(text) {
            reader.read_tables(path, &section, false);
        }
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct UctmReader {
    plan: PortablePlan,
    tasks: BTreeMap<String, PortableTask>,
    /// The ids that PLAN.md lists.
    listed: BTreeSet<String>,
    /// The ids that have a file.
    filed: BTreeSet<String>,
    /// The first commit that is named for a task.
    commits: BTreeMap<String, String>,
}

impl UctmReader {
    fn task(&mut self, id: &str) -> &mut PortableTask {
        let task = self.tasks.entry(id.to_owned()).or_default();
        task.id = id.to_owned();
        task
    }

    fn read_plan(&mut self, path: &str, text: &str) {
        let mut blocks = BTreeSet::new();
        for section in sections_of(text) {
            if let Some(found) = HEADING
                .captures(&section.heading)
                .filter(|_| section.level > 1)
            {
                let id = canonical_id(&found[1]);
                if blocks.insert(id.clone()) {
                    self.read_block(path, &id, &found[2], &section);
                } else {
                    let text = format!("{id} is listed twice; the first one counts");
                    self.plan.problem_at(path, section.line, text);
                }
                continue;
            }
            self.read_tables(path, &section, true);
            match (
                section.level,
                WORK.captures(&format!("# {}", section.heading)),
            ) {
                (1, Some(found)) => self.plan.title = plain_text(&found[2]),
                (2.., _) if UctmLabel::new(&section.heading) == UctmLabel::Goal => {
                    self.plan.goal = Some(section.text()).filter(|goal| !goal.is_empty());
                }
                _ => {}
            }
        }
    }

    /// Reads the rows of tables that list tasks. `is_plan` says that a second row of one id is a fault.
    fn read_tables(&mut self, path: &str, section: &PageSection<'_>, is_plan: bool) {
        for table in tables_in(&section.lines) {
            for (line, row) in &table.rows {
                let Some(id) = row.first().and_then(|cell| ids_named_in(cell).pop()) else {
                    continue;
                };
                let is_new = self.listed.insert(id.clone());
                if is_plan && !is_new {
                    let text = format!("{id} is listed twice; the first one counts");
                    self.plan.problem_at(path, *line, text);
                    continue;
                }
                for (heading, cell) in table.heading.iter().zip(row).skip(1) {
                    self.read_cell(&id, path, *line, (heading, cell), is_new);
                }
            }
        }
    }

    /// Reads a cell and the heading of its column. A task that is known takes its state alone from it.
    fn read_cell(&mut self, id: &str, path: &str, line: usize, cell: (&str, &str), is_new: bool) {
        let (heading, cell) = cell;
        let text = Some(plain_text(cell)).filter(|text| !is_none(text));
        let task = self.task(id);
        match UctmLabel::new(heading) {
            UctmLabel::Status => self.read_status(id, cell, path, line),
            UctmLabel::Commit => self.add_commit(id, Some(cell.trim_matches('`').to_lowercase())),
            _ if !is_new => {}
            UctmLabel::Title if task.title.is_empty() => task.title = text.unwrap_or_default(),
            UctmLabel::Covers => task.covers = text.map(|_| pieces_of(cell)),
            UctmLabel::Group => task.group = text,
            UctmLabel::Dependencies => task.dependencies = Some(ids_named_in(cell)),
            _ if text.is_none() => {}
            _ => {
                let lines = vec![PageLine {
                    number: line,
                    text: cell,
                    in_code: false,
                    is_fence: false,
                }];
                self.read_part(
                    id,
                    path,
                    &PageSection {
                        level: 0,
                        heading: heading.to_owned(),
                        line,
                        lines,
                    },
                );
            }
        }
    }

    /// Reads a task within the plan: `### TASK-01: title` with a list of labels.
    fn read_block(&mut self, path: &str, id: &str, title: &str, section: &PageSection<'_>) {
        self.listed.insert(id.to_owned());
        let task = self.task(id);
        if !title.trim().is_empty() {
            task.title = plain_text(title);
        }
        let mut parts: Vec<PageSection<'_>> = Vec::new();
        for line in &section.lines {
            match labelled_part(line).filter(|_| !line.is_indented()) {
                Some(part) => parts.push(part),
                None => parts
                    .iter_mut()
                    .next_back()
                    .into_iter()
                    .for_each(|part| part.lines.push(*line)),
            }
        }
        for part in parts {
            self.read_part(id, path, &part);
        }
    }

    fn read_task_file(&mut self, id: &str, path: &str, text: &str) {
        if text.trim().is_empty() {
            return self.plan.problem_in(path, "the file is empty");
        }
        self.task(id);
        if !self.filed.insert(id.to_owned()) {
            let text = format!("{id} has a second file; the first one counts");
            return self.plan.problem_at(path, 1, text);
        }
        for section in sections_of(text) {
            if section.level > 1 {
                self.read_part(id, path, &section);
                continue;
            }
            self.read_labels(id, path, &section.lines);
            let title = HEADING
                .captures(&section.heading)
                .map(|found| plain_text(&found[2]));
            if let Some(title) = title.filter(|title| !title.is_empty()) {
                self.task(id).title = title;
            }
        }
    }

    /// Reads lines such as `> Status: DONE`.
    fn read_labels(&mut self, id: &str, path: &str, lines: &[PageLine<'_>]) {
        for part in lines.iter().filter_map(labelled_part) {
            if matches!(
                UctmLabel::new(&part.heading),
                UctmLabel::Status | UctmLabel::Dependencies
            ) {
                self.read_part(id, path, &part);
            }
        }
    }

    /// Reads the text below a heading or behind a label.
    fn read_part(&mut self, id: &str, path: &str, part: &PageSection<'_>) {
        let text = part.text();
        let nothing = is_none(&plain_text(bare_entry(&text)));
        let task = self.task(id);
        match UctmLabel::new(&part.heading) {
            UctmLabel::Dependencies => self.read_dependencies(id, path, part, nothing),
            UctmLabel::Status => self.read_status(id, &text, path, part.line),
            UctmLabel::Goal => task.description = Some(text).filter(|_| !nothing),
            UctmLabel::Files => task.files = Some(files_in_section(part)),
            UctmLabel::Acceptance => {
                // What stands above the list is about it.
                let lines = part.lines.iter().map(|line| line.text);
                let listed: Vec<&str> = lines.skip_while(|line| !is_entry(line)).collect();
                task.acceptance = Some(entries_of(&if listed.is_empty() {
                    text
                } else {
                    listed.join("\n")
                }));
            }
            UctmLabel::Verify => {
                let bare = part
                    .lines
                    .iter()
                    .map(|line| bare_entry(line.text).trim().trim_matches('`'));
                let lines = part
                    .code()
                    .unwrap_or_else(|| bare.filter(|line| is_command(line)).collect());
                let commands = commands_in(lines.into_iter().filter(|line| !is_none(line)));
                task.test_commands = Some(commands).filter(|all| nothing || !all.is_empty());
            }
            UctmLabel::Priority => task.priority = Some(plain_text(&text)).filter(|_| !nothing),
            UctmLabel::Title
            | UctmLabel::Commit
            | UctmLabel::Covers
            | UctmLabel::Group
            | UctmLabel::Other => {}
        }
    }

    fn read_dependencies(&mut self, id: &str, path: &str, part: &PageSection<'_>, nothing: bool) {
        let text = part.text();
        let found = ids_named_in(&text);
        if found.is_empty() && !nothing {
            let text = format!(
                "{id} waits for something that is no id: {}",
                one_line(&text)
            );
            return self.plan.problem_at(path, part.line, text);
        }
        let before = self
            .task(id)
            .dependencies
            .replace(found.clone())
            .unwrap_or_default();
        let missing: Vec<String> = before
            .into_iter()
            .filter(|other| !found.contains(other))
            .collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let text = format!("PLAN.md has {id} wait for {missing} as well; its own file counts");
            self.plan.problem_at(path, part.line, text);
        }
    }

    /// Later files know more, but what is done stays done.
    fn read_status(&mut self, id: &str, status: &str, path: &str, line: usize) {
        let word = plain_text(status);
        let task = self.task(id);
        match work_of(&word) {
            Some(_) if matches!(task.work, TaskWork::Done { .. }) => {}
            Some(work) => task.work = work,
            None if is_none(&word) => {}
            None => self
                .plan
                .problem_at(path, line, format!("{id} has an unknown status: {word}")),
        }
    }

    fn add_commit(&mut self, id: &str, hash: Option<String>) {
        let hash =
            hash.filter(|hash| hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit()));
        if let Some(hash) = hash {
            self.commits.entry(id.to_owned()).or_insert(hash);
        }
    }

    /// A result means that the task is done, unless it says otherwise.
    fn read_result(&mut self, id: &str, text: &str) {
        let lines = page_lines(text);
        let mut labels = lines.iter().filter_map(labelled_part);
        let status = labels.find(|part| UctmLabel::new(&part.heading) == UctmLabel::Status);
        let task = self.task(id);
        match status.and_then(|part| work_of(&plain_text(&part.text()))) {
            Some(work @ (TaskWork::Failed { .. } | TaskWork::Skipped | TaskWork::Cancelled)) => {
                task.work = work
            }
            _ => task.work = TaskWork::Done { commit: None },
        }
        self.add_commit(id, commit_in(text));
    }

    fn finish(mut self) -> PortablePlan {
        let Self {
            plan,
            tasks,
            listed,
            filed,
            commits,
        } = &mut self;
        let known = listed.union(filed).cloned().collect();
        let has_both = !filed.is_empty()
            && plan
                .ext
                .keys()
                .any(|name| name.eq_ignore_ascii_case("PLAN.md"));
        let mut differences = vec![(
            tasks.keys().cloned().collect(),
            &known,
            "no tasks and have a result or a progress",
        )];
        if has_both {
            differences.push((listed.clone(), filed, "listed in PLAN.md and have no file"));
            differences.push((
                filed.clone(),
                listed,
                "not listed in PLAN.md and have a file",
            ));
        }
        for (ids, others, what) in differences {
            let ids: Vec<&str> = ids.difference(others).map(String::as_str).collect();
            if !ids.is_empty() {
                plan.problem(format!("these are {what}: {}", ids.join(", ")));
            }
        }
        for (id, mut task) in std::mem::take(tasks)
            .into_iter()
            .filter(|(id, _)| known.contains(id))
        {
            if let TaskWork::Done { commit } = &mut task.work {
                *commit = commits.remove(&id);
            }
            if task.title.is_empty() {
                task.title = id;
            }
            plan.tasks.push(task);
        }
        self.plan
    }
}

/// A line such as `- **Label**: value` as a section of its own.
fn labelled_part<'t>(line: &PageLine<'t>) -> Option<PageSection<'t>> {
    let (heading, text) = label_and_value(line.text)?;
    let lines = vec![PageLine { text, ..*line }];
    Some(PageSection {
        level: 0,
        heading,
        line: line.number,
        lines,
    })
}

/// The files that a section lists, in a table or line by line.
fn files_in_section(section: &PageSection<'_>) -> Vec<PortableFile> {
    let mut named: Vec<(String, String)> = Vec::new();
    for table in tables_in(&section.lines) {
        for (_, row) in &table.rows {
            let cell = |words: &[&str]| {
                table.cell(row, |head| words.iter().any(|word| head.contains(word)))
            };
            let path = cell(&["path", "file", "경로", "파일"]).or(row.first().map(String::as_str));
            let action = cell(&["action", "change", "작업", "동작", "액션", "유형"]);
            named.push((
                path.unwrap_or_default().to_owned(),
                action.unwrap_or_default().to_owned(),
            ));
        }
    }
    let lines = section
        .lines
        .iter()
        .filter(|line| !line.in_code && !line.text.trim().starts_with('|'));
    for line in lines {
        let bare = bare_entry(line.text);
        if bare.len() < line.text.len() || !paths_in(bare).is_empty() {
            // `src/a.rs` — CREATE
            let dash = [" — ", " – ", " - ", ": "]
                .into_iter()
                .find_map(|dash| bare.split_once(dash));
            let (paths, action) = dash.unwrap_or((bare, ""));
            named.extend(
                pieces_of(&plain_text(paths))
                    .into_iter()
                    .map(|path| (path, action.to_owned())),
            );
        }
    }
    let file = |(path, action): &(String, String)| {
        portable_file(&plain_text(path), Some(&plain_text(action)), None)
    };
    named.iter().filter_map(file).collect()
}
