//! uctm: `PLAN.md` with the list of tasks, `TASK-NN.md` for each, `TASK-NN_result.md` for each that is done. Labels are
//! English or Korean.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fp_plan::text::one_line;
use regex::Regex;

use super::{ReadResult, SourceFormat};
use crate::folder::{SourceFolder, folder_of, name_of};
use crate::page::{
    InCode, PageLine, PageSection, PageTable, label_and_value, list_entries, page_lines, plain_text,
    sections_of, tables_in,
};
use crate::portable::{ImportNotice, PortableFile, PortablePlan, PortableTask, TaskWork};
use crate::words::{
    bare_entry, commands_in, commit_in, entries_of, is_command, is_none, paths_in, pieces_of, portable_file,
    work_of,
};

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// `TASK-01.md`, `TASK-01_result.md`, `WORK-01-TASK-01.md`.
static FILE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:WORK-\d+[-_])?TASK-(\d+)(?:[-_](result|progress))?\.md$"));
static WORK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?im)^#\s+\**(WORK-\d+)\b[\s:—–-]*(.*)$"));
static HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:WORK-\d+[-_])?TASK-(\d+)\b[\s:—–.-]*(.*)$"));
static TASK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bTASK-(\d+)"));

/// What a heading, a label or the heading of a column is about.
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
        (Self::Dependencies, &["depend", "blocked", "의존", "종속", "선행"]),
        (
            Self::Acceptance,
            &["acceptance", "done when", "수용", "인수", "승인", "완료 조건", "완료 기준", "완료조건"],
        ),
        (Self::Verify, &["verif", "검증"]),
        (Self::Files, &["file", "파일"]),
        (Self::Status, &["status", "상태"]),
        (Self::Goal, &["scope", "범위", "goal", "objective", "overview", "목표", "개요"]),
        (Self::Commit, &["commit", "커밋"]),
        (Self::Priority, &["priority", "우선순위"]),
        (Self::Covers, &["requirement", "nfr", "요구사항"]),
        (Self::Group, &["phase", "단계"]),
        (Self::Title, &["title", "name", "제목", "이름", "description", "설명", "내용"]),
    ];

    fn new(label: &str) -> Self {
        let label = label.to_lowercase();
        let fits = |words: &[&str]| words.iter().any(|word| label.contains(word));
        Self::WORDS.into_iter().find(|(_, words)| fits(words)).map_or(Self::Other, |(found, _)| found)
    }
}

/// `TASK-07` for `7` and `007`: two digits at least.
fn canonical_id(number: &str) -> String {
    format!("TASK-{:0>2}", number.trim_start_matches('0'))
}

fn ids_named_in(text: &str) -> Vec<String> {
    TASK.captures_iter(text).map(|found| canonical_id(&found[1])).collect()
}

fn our_files(folder: &SourceFolder) -> impl Iterator<Item = &str> {
    let is_plan = |path: &str, text: &str| path.eq_ignore_ascii_case("PLAN.md") && WORK.is_match(text);
    let is_ours = move |path: &str, text: &str| is_plan(path, text) || FILE.is_match(path);
    folder.files_in("md").filter(move |(path, text)| is_ours(name_of(path), text)).map(|(path, _)| path)
}

pub(super) fn recognise(folder: &SourceFolder) -> Option<&str> {
    our_files(folder).next()
}

pub(super) fn read(folder: &SourceFolder) -> ReadResult {
    let base = folder.only(SourceFormat::Uctm, our_files(folder).map(folder_of))?;
    let mut reader = UctmReader::default();
    if let Some((path, text)) = folder.page(base, "PLAN.md") {
        reader.read_plan(path, text);
    }
    for (path, text) in folder.files_in("md").filter(|(path, _)| folder_of(path) == base) {
        let Some(found) = FILE.captures(name_of(path)) else {
            reader.plan.ext.insert(name_of(path).to_owned(), text.into());
            continue;
        };
        let id = canonical_id(&found[1]);
        match found.get(2).map(|kind| kind.as_str().to_lowercase()).as_deref() {
            Some("result") => reader.read_result(&id, text),
            Some(_) => reader.read_status_lines(&id, path, &page_lines(text)),
            None => reader.read_task_file(&id, path, text),
        }
        if let Some(entry) = reader.tasks.get_mut(&id) {
            entry.task.ext.insert(name_of(path).to_owned(), text.into());
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
    tasks: BTreeMap<String, UctmTask>,
    notices: Vec<ImportNotice>,
}

#[derive(Default)]
struct UctmTask {
    task: PortableTask,
    in_plan: bool,
    in_file: bool,
    /// Whether the plan has a heading for it.
    in_block: bool,
}

impl UctmReader {
    fn entry(&mut self, id: &str) -> &mut UctmTask {
        let entry = self.tasks.entry(id.to_owned()).or_default();
        entry.task.id = id.to_owned();
        entry
    }

    fn report(&mut self, path: &str, line: usize, text: String) {
        self.notices.push(ImportNotice::problem(text).in_file(path).at_line(line));
    }

    fn read_plan(&mut self, path: &str, text: &str) {
        for section in sections_of(text) {
            if let Some(found) = HEADING.captures(&section.heading).filter(|_| section.level > 1) {
                self.read_block(path, &canonical_id(&found[1]), &found[2], &section);
                continue;
            }
            self.read_tables(path, &section, true);
            match (section.level, WORK.captures(&format!("# {}", section.heading))) {
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
                let Some(id) = row.first().and_then(|cell| ids_named_in(cell).pop()) else { continue };
                let is_known = self.tasks.get(&id).is_some_and(|entry| entry.in_plan);
                match is_known && is_plan {
                    true => self.report(path, *line, format!("{id} is listed twice; the first one counts")),
                    false => self.read_row(&id, path, *line, &table, row, !is_known),
                }
            }
        }
    }

    fn read_row(
        &mut self,
        id: &str,
        path: &str,
        line: usize,
        table: &PageTable,
        row: &[String],
        is_new: bool,
    ) {
        let mut commit = None;
        self.entry(id).in_plan = true;
        for (heading, cell) in table.heading.iter().zip(row).skip(1) {
            let label = UctmLabel::new(heading);
            let text = Some(plain_text(cell)).filter(|text| !is_none(text));
            let task = &mut self.entry(id).task;
            match label {
                UctmLabel::Status => self.read_status(id, cell, path, line),
                UctmLabel::Commit => commit = Some(cell.trim_matches('`').to_lowercase()),
                _ if !is_new => {}
                UctmLabel::Title if task.title.is_empty() => task.title = text.unwrap_or_default(),
                UctmLabel::Dependencies => task.dependencies = Some(ids_named_in(cell)),
                UctmLabel::Priority => task.priority = text,
                UctmLabel::Covers => task.covers = text.map(|_| pieces_of(cell)),
                UctmLabel::Group => task.group = text,
                UctmLabel::Acceptance => task.acceptance = text.map(|text| vec![text]),
                UctmLabel::Goal
                | UctmLabel::Files
                | UctmLabel::Verify
                | UctmLabel::Title
                | UctmLabel::Other => {}
            }
        }
        self.set_commit(id, commit);
    }

    /// Reads a task within the plan: `### TASK-01: title` with a list of labels.
    fn read_block(&mut self, path: &str, id: &str, title: &str, section: &PageSection<'_>) {
        let entry = self.entry(id);
        if std::mem::replace(&mut entry.in_block, true) {
            let text = format!("{id} is listed twice; the first one counts");
            return self.report(path, section.line, text);
        }
        entry.in_plan = true;
        if !title.trim().is_empty() {
            entry.task.title = plain_text(title);
        }
        for part in labelled_parts(section) {
            self.read_section(id, path, &part);
        }
    }

    fn read_task_file(&mut self, id: &str, path: &str, text: &str) {
        if text.trim().is_empty() {
            return self.notices.push(ImportNotice::problem("the file is empty").in_file(path));
        }
        if std::mem::replace(&mut self.entry(id).in_file, true) {
            return self.report(path, 1, format!("{id} has a second file; the first one counts"));
        }
        for section in sections_of(text) {
            if section.level > 1 {
                self.read_section(id, path, &section);
                continue;
            }
            self.read_status_lines(id, path, &section.lines);
            let title = HEADING.captures(&section.heading).map(|found| plain_text(&found[2]));
            if let Some(title) = title.filter(|title| !title.is_empty()) {
                self.entry(id).task.title = title;
            }
        }
    }

    /// Reads lines such as `> Status: DONE`.
    fn read_status_lines(&mut self, id: &str, path: &str, lines: &[PageLine<'_>]) {
        for line in lines {
            let Some((label, value)) = label_and_value(line.text) else { continue };
            match UctmLabel::new(&label) {
                UctmLabel::Status => self.read_status(id, &value, path, line.number),
                UctmLabel::Dependencies => self.entry(id).task.dependencies = Some(ids_named_in(&value)),
                _ => {}
            }
        }
    }

    /// Reads what stands below a heading or a label.
    fn read_section(&mut self, id: &str, path: &str, section: &PageSection<'_>) {
        let text = section.text();
        let nothing = is_none(&plain_text(bare_entry(&text)));
        let task = &mut self.entry(id).task;
        match UctmLabel::new(&section.heading) {
            UctmLabel::Dependencies => self.read_dependencies(id, path, section, nothing),
            UctmLabel::Status => self.read_status(id, &text, path, section.line),
            UctmLabel::Goal => task.description = Some(text).filter(|_| !nothing),
            UctmLabel::Files => task.files = Some(files_in_section(section)),
            UctmLabel::Acceptance => {
                let listed = list_entries(&section.lines).into_iter().map(|entry| entry.text);
                let mut criteria: Vec<String> = listed.collect();
                if criteria.is_empty() {
                    criteria = entries_of(&text);
                }
                criteria.retain(|criterion| !is_none(criterion));
                task.acceptance = Some(criteria);
            }
            UctmLabel::Verify => {
                let bare = section.lines.iter().map(|line| bare_entry(line.text).trim().trim_matches('`'));
                let lines = section.code().unwrap_or_else(|| bare.filter(|line| is_command(line)).collect());
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

    fn read_dependencies(&mut self, id: &str, path: &str, section: &PageSection<'_>, nothing: bool) {
        let text = section.text();
        let found = ids_named_in(&text);
        if found.is_empty() && !nothing {
            let text = format!("{id} waits for something that is no id: {}", one_line(&text));
            return self.report(path, section.line, text);
        }
        let before = self.entry(id).task.dependencies.replace(found.clone()).unwrap_or_default();
        let missing: Vec<String> = before.into_iter().filter(|other| !found.contains(other)).collect();
        if !missing.is_empty() {
            let text =
                format!("PLAN.md has {id} wait for {} as well; its own file counts", missing.join(", "));
            self.report(path, section.line, text);
        }
    }

    fn read_status(&mut self, id: &str, status: &str, path: &str, line: usize) {
        let word = plain_text(status);
        match work_of(&word) {
            Some(work) => self.set_work(id, work),
            None if is_none(&word) => {}
            None => self.report(path, line, format!("{id} has an unknown status: {word}")),
        }
    }

    /// Later files know more, but what is done stays done.
    fn set_work(&mut self, id: &str, work: TaskWork) {
        let task = &mut self.entry(id).task;
        if !matches!(task.work, TaskWork::Done { .. }) {
            task.work = work;
        }
    }

    fn set_commit(&mut self, id: &str, hash: Option<String>) {
        let hash = hash.filter(|hash| hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit()));
        if let TaskWork::Done { commit } = &mut self.entry(id).task.work {
            *commit = commit.take().or(hash);
        }
    }

    /// A result means that the task is done, unless it says otherwise.
    fn read_result(&mut self, id: &str, text: &str) {
        let lines = page_lines(text);
        let mut labels = lines.iter().filter_map(|line| label_and_value(line.text));
        let status = labels.find(|(label, _)| UctmLabel::new(label) == UctmLabel::Status);
        match status.and_then(|(_, value)| work_of(&plain_text(&value))) {
            Some(work @ (TaskWork::Failed { .. } | TaskWork::Skipped | TaskWork::Cancelled)) => {
                self.entry(id).task.work = work;
            }
            _ => self.set_work(id, TaskWork::Done { commit: None }),
        }
        self.set_commit(id, commit_in(text));
    }

    fn finish(mut self) -> (PortablePlan, Vec<ImportNotice>) {
        let has_both = self.tasks.values().any(|entry| entry.in_file)
            && self.plan.ext.keys().any(|name| name.eq_ignore_ascii_case("PLAN.md"));
        let listed = |is: fn(&UctmTask) -> bool| -> Vec<&str> {
            self.tasks.values().filter(|entry| is(entry)).map(|entry| entry.task.id.as_str()).collect()
        };
        let mut differences = vec![(
            listed(|entry| !entry.in_plan && !entry.in_file),
            "no tasks and have a result or a progress",
        )];
        if has_both {
            differences.push((
                listed(|entry| entry.in_plan && !entry.in_file),
                "listed in PLAN.md and have no file",
            ));
            differences.push((
                listed(|entry| entry.in_file && !entry.in_plan),
                "not listed in PLAN.md and have a file",
            ));
        }
        for (ids, what) in differences.into_iter().filter(|(ids, _)| !ids.is_empty()) {
            self.notices.push(ImportNotice::problem(format!("these are {what}: {}", ids.join(", "))));
        }
        for (id, mut entry) in self.tasks.into_iter().filter(|(_, entry)| entry.in_plan || entry.in_file) {
            if entry.task.title.is_empty() {
                entry.task.title = id;
            }
            self.plan.tasks.push(entry.task);
        }
        (self.plan, self.notices)
    }
}

/// The entries of a list of labels as sections of their own.
fn labelled_parts<'t>(section: &PageSection<'t>) -> Vec<PageSection<'t>> {
    let mut parts: Vec<PageSection<'t>> = Vec::new();
    for line in &section.lines {
        let label = label_and_value(line.text).filter(|_| !line.text.starts_with([' ', '\t']));
        match (label, line.text.split_once([':', '：'])) {
            (Some((heading, _)), Some((_, value))) => {
                let text = value.trim().trim_start_matches("**").trim();
                let lines = vec![PageLine { text, ..*line }];
                parts.push(PageSection { level: section.level + 1, heading, line: line.number, lines });
            }
            _ => parts.iter_mut().next_back().into_iter().for_each(|part| part.lines.push(*line)),
        }
    }
    parts
}

/// The files that a section lists, in a table or line by line.
fn files_in_section(section: &PageSection<'_>) -> Vec<PortableFile> {
    let mut named: Vec<(String, String)> = Vec::new();
    for table in tables_in(&section.lines) {
        for (_, row) in &table.rows {
            let cell = |words: &[&str]| table.cell(row, |head| words.iter().any(|word| head.contains(word)));
            let path = cell(&["path", "file", "경로", "파일"]).or(row.first().map(String::as_str));
            let action = cell(&["action", "change", "작업", "동작", "액션", "유형"]);
            named.push((path.unwrap_or_default().to_owned(), action.unwrap_or_default().to_owned()));
        }
    }
    let lines =
        section.lines.iter().filter(|line| line.in_code == InCode::No && !line.text.trim().starts_with('|'));
    for line in lines {
        let bare = bare_entry(line.text);
        if bare.len() < line.text.len() || !paths_in(bare).is_empty() {
            // `src/a.rs` — CREATE
            let dash = [" — ", " – ", " - ", ": "].into_iter().find_map(|dash| bare.split_once(dash));
            let (paths, action) = dash.unwrap_or((bare, ""));
            named.extend(pieces_of(&plain_text(paths)).into_iter().map(|path| (path, action.to_owned())));
        }
    }
    let file =
        |(path, action): &(String, String)| portable_file(&plain_text(path), Some(&plain_text(action)), None);
    named.iter().filter_map(file).collect()
}
