//! uctm: `PLAN.md` with the list of tasks, `TASK-NN.md` with each, `TASK-NN_result.md` for each that is done.
//! Labels are English or Korean.

mod files;
mod labels;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use self::files::{files, of_line};
use self::labels::{About, canonical, is, listed, says_more};
use super::documents::{Documents, folder_of, name_of, only};
use super::markdown::{self, Section, entries, has_prose, labelled, plain, sections, tables};
use super::words::{self, is_none, one_line};
use super::{Found, Source};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// `TASK-01.md`, `TASK-01_result.md`, `WORK-01-TASK-01.md`.
static FILE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:WORK-\d+[-_])?TASK-(\d+)(?:[-_](result|progress))?\.md$"));
static WORK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?im)^#\s+\**(WORK-\d+)\b[\s:—–-]*(.*)$"));
static HEAD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:WORK-\d+[-_])?TASK-(\d+)\b[\s:—–.-]*(.*)$"));

fn is_plan(path: &str, text: &str) -> bool {
    name_of(path).eq_ignore_ascii_case("PLAN.md") && WORK.is_match(text)
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let mut files = documents.files_in("md");
    files.find_map(|(path, text)| match () {
        () if is_plan(path, text) => Some(format!("{path} begins with `# WORK-`")),
        () if FILE.is_match(name_of(path)) => Some(format!("there is {path}")),
        () => None,
    })
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let is_ours = |path: &str, text: &str| is_plan(path, text) || FILE.is_match(name_of(path));
    let folders =
        documents.files_in("md").filter(|(path, text)| is_ours(path, text)).map(|(path, _)| folder_of(path));
    let folder = only(Source::Uctm, folders)?;
    let mut reading = Reading::default();
    if let Some((path, text)) = documents.text(folder, "PLAN.md") {
        reading.plan_file(path, text);
    }
    let in_folder = |(path, _): &(&str, &str)| folder_of(path) == folder;
    for (path, text) in documents.files_in("md").filter(in_folder) {
        let Some(found) = FILE.captures(name_of(path)) else { continue };
        let id = canonical(&found[1]);
        match found.get(2).map(|kind| kind.as_str().to_lowercase()).as_deref() {
            Some("result") => reading.result(&id, path, text),
            Some(_) => reading.progress(&id, path, text),
            None => reading.task_file(&id, path, text),
        }
    }
    if let Some((_, text)) = documents.text(folder, "PROGRESS.md") {
        reading.progress_table(text);
    }
    if let Some((_, text)) = documents.text(folder, "Requirement.md") {
        reading.plan.ext.insert("Requirement.md".into(), text.into());
    }
    Ok(reading.finish())
}

/// What is read so far.
#[derive(Default)]
struct Reading {
    plan: PortablePlan,
    tasks: BTreeMap<String, Part>,
    notices: Vec<Notice>,
    has_plan: bool,
}

/// What is known of a task, by its file and by the plan.
#[derive(Default)]
struct Part {
    task: PortableTask,
    in_plan: bool,
    in_file: bool,
    sections: Map<String, Value>,
}

impl Reading {
    fn part(&mut self, id: &str) -> &mut Part {
        let part = self.tasks.entry(id.to_owned()).or_default();
        part.task.id = id.to_owned();
        part
    }

    fn plan_file(&mut self, path: &str, text: &str) {
        self.has_plan = true;
        let mut header = Map::new();
        let mut kept = Map::new();
        for section in sections(text) {
            if let Some(found) = HEAD.captures(&section.heading).filter(|_| section.level > 1) {
                self.block(path, &canonical(&found[1]), &found[2], &section);
                continue;
            }
            if let Some(found) =
                WORK.captures(&format!("# {}", section.heading)).filter(|_| section.level == 1)
            {
                self.plan.title = plain(&found[2]);
                self.plan.ext.insert("work".into(), found[1].to_uppercase().into());
            }
            let has_rows = self.rows(path, &section);
            let quoted = section.lines.iter().filter(|line| line.text.trim_start().starts_with('>'));
            header.extend(
                quoted.filter_map(|line| labelled(line.text)).map(|(label, value)| (label, value.into())),
            );
            let about = About::of(&section.heading);
            if section.level > 1 && about == About::Goal {
                self.plan.goal = Some(section.text()).filter(|goal| !goal.is_empty());
            } else if section.level > 1 && !has_rows && !section.text().is_empty() {
                kept.insert(section.heading.clone(), section.text().into());
            }
        }
        for (name, map) in [("header", header), ("sections", kept)] {
            if !map.is_empty() {
                self.plan.ext.insert(name.into(), Value::Object(map));
            }
        }
    }

    /// The rows of tables in which tasks are listed.
    fn rows(&mut self, path: &str, section: &Section<'_>) -> bool {
        let mut found = false;
        for table in tables(&section.lines) {
            for (line, row) in &table.rows {
                let Some(id) = row.first().and_then(|cell| listed(cell).pop()) else { continue };
                found = true;
                if self.tasks.get(&id).is_some_and(|part| part.in_plan) {
                    self.duplicate(&id, path, *line);
                    continue;
                }
                let part = self.part(&id);
                part.in_plan = true;
                let title =
                    table.cell(row, is(&["title", "name", "제목", "이름", "description", "설명", "내용"]));
                if let Some(title) = title.map(plain).filter(|title| !title.is_empty()) {
                    part.task.title = title;
                }
                if let Some(text) = table.cell(row, is(&["depend", "blocked", "의존", "종속", "선행"]))
                {
                    part.task.dependencies = Some(listed(text));
                }
                if let Some(status) = table.cell(row, is(&["status", "상태"])) {
                    self.status(&id, status, path, *line);
                }
                if let Some(commit) = table.cell(row, is(&["commit", "커밋"])) {
                    self.commit(&id, commit.trim_matches('`'));
                }
            }
        }
        found
    }

    fn duplicate(&mut self, id: &str, path: &str, line: usize) {
        let notice = Notice::new(Kind::DuplicateId, format!("{id} is listed twice; the first one counts"));
        self.notices.push(notice.in_file(path).at_line(line).about(id));
    }

    /// A task within the plan: `### TASK-01: title` and its labels.
    fn block(&mut self, path: &str, id: &str, title: &str, section: &Section<'_>) {
        if self.tasks.get(id).is_some_and(|part| part.in_plan && !part.sections.is_empty()) {
            return self.duplicate(id, path, section.line);
        }
        let part = self.part(id);
        part.in_plan = true;
        if !title.trim().is_empty() {
            part.task.title = plain(title);
        }
        part.sections.insert("PLAN.md".into(), section.text().into());
        let mut under: Option<(About, usize, Vec<String>)> = None;
        for entry in entries(&section.lines) {
            match labelled(&entry.text).filter(|_| entry.indent == 0) {
                Some((label, value)) => {
                    self.say(id, path, under.take());
                    under = Some((About::of(&label), entry.line, vec![value]));
                }
                None => under.iter_mut().for_each(|(.., values)| values.push(entry.text.clone())),
            }
        }
        self.say(id, path, under);
    }

    /// Takes what stands under a label: its own line, and the list below it.
    fn say(&mut self, id: &str, path: &str, said: Option<(About, usize, Vec<String>)>) {
        let Some((about, line, mut values)) = said else { return };
        values.retain(|value| !is_none(value));
        let task = &mut self.part(id).task;
        match about {
            About::Dependencies => {
                task.dependencies = Some(values.iter().flat_map(|value| listed(value)).collect())
            }
            About::Scope | About::Goal => task.description = words::paragraphs([values.join("\n")]),
            About::Files => task.files = Some(values.iter().flat_map(|value| of_line(value)).collect()),
            About::Acceptance => task.acceptance = Some(values),
            About::Verify => {
                task.test_commands =
                    Some(words::commands(values.iter().map(|value| value.trim_matches('`'))));
            }
            About::Status => self.status(id, &values.join(" "), path, line),
            About::Work | About::Other => {}
        }
    }

    fn task_file(&mut self, id: &str, path: &str, text: &str) {
        if self.tasks.get(id).is_some_and(|part| part.in_file) {
            return self.duplicate(id, path, 1);
        }
        let all = sections(text);
        if all.len() == 1 && all[0].text().is_empty() {
            let notice = Notice::new(Kind::Broken, "the file is empty");
            self.notices.push(notice.in_file(path).about(id));
            return;
        }
        self.part(id).in_file = true;
        for section in all {
            if let Some(found) = HEAD.captures(&section.heading).filter(|_| section.level == 1) {
                let title = plain(&found[2]);
                if !title.is_empty() {
                    self.part(id).task.title = title;
                }
            }
            for line in section.lines.iter().filter(|_| section.level < 2) {
                let Some((label, value)) = labelled(line.text) else { continue };
                match About::of(&label) {
                    About::Status => self.status(id, &value, path, line.number),
                    About::Dependencies => self.part(id).task.dependencies = Some(listed(&value)),
                    _ => drop(self.part(id).sections.insert(label, value.into())),
                }
            }
            if section.level > 1 {
                self.section(id, path, &section);
            }
        }
    }

    fn section(&mut self, id: &str, path: &str, section: &Section<'_>) {
        let text = section.text();
        let nothing = is_none(&plain(words::bare_entry(&text)));
        let mut keeps = has_prose(&section.lines) && !nothing;
        match About::of(&section.heading) {
            About::Dependencies => {
                self.dependencies(id, path, section, nothing);
                keeps = says_more(&text) && !nothing;
            }
            About::Scope | About::Goal => {
                self.part(id).task.description = Some(text.clone()).filter(|_| !nothing);
                keeps = false;
            }
            About::Files => {
                self.part(id).task.files = Some(files(section));
                keeps |= !tables(&section.lines).is_empty();
            }
            About::Acceptance => {
                let mut criteria: Vec<String> =
                    entries(&section.lines).into_iter().map(|entry| entry.text).collect();
                if criteria.is_empty() {
                    criteria = words::entries(&text);
                }
                criteria.retain(|criterion| !is_none(criterion));
                self.part(id).task.acceptance =
                    Some(criteria.iter().map(|text| without_emphasis(text)).collect());
            }
            About::Verify => {
                // Beside code, or without any, there may be sentences.
                let is_command = |line: &&str| section.has_code() || words::is_command(line);
                let lines = section.code().into_iter().filter(is_command).filter(|line| !is_none(line));
                let commands = words::commands(lines);
                self.part(id).task.test_commands = Some(commands).filter(|all| nothing || !all.is_empty());
            }
            About::Status => self.status(id, &text, path, section.line),
            About::Work | About::Other => keeps = !text.is_empty(),
        }
        if keeps {
            self.part(id).sections.insert(section.heading.clone(), text.into());
        }
    }

    fn dependencies(&mut self, id: &str, path: &str, section: &Section<'_>, nothing: bool) {
        let text = section.text();
        let found = listed(&text);
        if found.is_empty() && !nothing {
            let text = format!("what {id} waits for is not said by id: {}", one_line(&text));
            let notice = Notice::new(Kind::UnknownValue, text);
            self.notices.push(notice.in_file(path).at_line(section.line).about(id));
            return;
        }
        let task = &mut self.part(id).task;
        let before = task.dependencies.replace(found.clone()).unwrap_or_default();
        let missing: Vec<String> = before.into_iter().filter(|other| !found.contains(other)).collect();
        if !missing.is_empty() {
            let text =
                format!("PLAN.md has {id} wait for {} as well; its own file counts", missing.join(", "));
            self.notices
                .push(Notice::new(Kind::Contradiction, text).in_file(path).at_line(section.line).about(id));
        }
    }

    fn status(&mut self, id: &str, status: &str, path: &str, line: usize) {
        let Some(work) = words::work(&plain(status)) else {
            if !is_none(status) {
                let text = format!("{id} has a status that means nothing here: {}", plain(status));
                self.notices
                    .push(Notice::new(Kind::UnknownValue, text).in_file(path).at_line(line).about(id));
            }
            return;
        };
        self.work(id, work);
    }

    /// Later files know more, but whether something is done is said once.
    fn work(&mut self, id: &str, work: Work) {
        let task = &mut self.part(id).task;
        if !matches!(task.work, Work::Done { .. }) {
            task.work = work;
        }
    }

    fn commit(&mut self, id: &str, hash: &str) {
        let is_hash = hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        if let Work::Done { commit } = &mut self.part(id).task.work
            && is_hash
        {
            commit.get_or_insert_with(|| hash.to_lowercase());
        }
    }

    /// A result means that the task is done, unless it says otherwise.
    fn result(&mut self, id: &str, path: &str, text: &str) {
        let said =
            markdown::lines(text).iter().filter_map(|line| labelled(line.text)).find_map(|(label, value)| {
                (About::of(&label) == About::Status).then(|| words::work(&plain(&value)))
            });
        match said.flatten() {
            Some(work @ (Work::Failed { .. } | Work::Skipped)) => {
                self.part(id).task.work = work;
            }
            _ => self.work(id, Work::Done { commit: None }),
        }
        if let Some(hash) = words::commit(text) {
            self.commit(id, &hash);
        }
        self.part(id).sections.insert(name_of(path).to_owned(), text.into());
    }

    fn progress(&mut self, id: &str, path: &str, text: &str) {
        for line in markdown::lines(text) {
            match labelled(line.text) {
                Some((label, value)) if About::of(&label) == About::Status => {
                    self.status(id, &value, path, line.number);
                }
                _ => {}
            }
        }
    }

    fn progress_table(&mut self, text: &str) {
        for section in sections(text) {
            for (_, row) in tables(&section.lines).into_iter().flat_map(|table| table.rows) {
                let id =
                    row.first().and_then(|cell| listed(cell).pop()).filter(|id| self.tasks.contains_key(id));
                let Some(id) = id else { continue };
                // The second cell is the title.
                for cell in row.iter().skip(2) {
                    words::work(&plain(cell)).into_iter().for_each(|work| self.work(&id, work));
                    self.commit(&id, cell.trim_matches('`'));
                }
            }
        }
    }

    fn finish(mut self) -> (PortablePlan, Vec<Notice>) {
        let has_files = self.tasks.values().any(|part| part.in_file);
        let only_in = |of: fn(&Part) -> bool| -> Vec<String> {
            self.tasks.iter().filter(|(_, part)| of(part)).map(|(id, _)| id.clone()).collect()
        };
        if has_files && self.has_plan {
            let without_file = only_in(|part| part.in_plan && !part.in_file);
            let unlisted = only_in(|part| part.in_file && !part.in_plan);
            for (ids, what) in [
                (without_file, "are listed in PLAN.md and have no file"),
                (unlisted, "have a file and are not listed in PLAN.md"),
            ] {
                if !ids.is_empty() {
                    let notice =
                        Notice::new(Kind::CountMismatch, format!("these {what}: {}", ids.join(", ")));
                    self.notices.push(Notice { tasks: ids, ..notice });
                }
            }
        }
        for (id, mut part) in self.tasks {
            if !part.in_plan && !part.in_file {
                let text = format!("{id} has a result or a progress, and no task");
                self.notices.push(Notice::new(Kind::CountMismatch, text).about(&id));
                continue;
            }
            if part.task.title.is_empty() {
                part.task.title = id;
            }
            if !part.sections.is_empty() {
                part.task.ext.insert("sections".into(), Value::Object(part.sections));
            }
            self.plan.tasks.push(part.task);
        }
        (self.plan, self.notices)
    }
}

/// A criterion without the marks of emphasis around all of it.
fn without_emphasis(text: &str) -> String {
    let bare = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    bare.filter(|bare| !bare.contains("**")).unwrap_or(text).to_owned()
}
