//! `fp import`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_exchange::{
    DoneBefore, ImportError, ImportNotice, PlanDraft, PortablePlan, RecognisedSource, SourceFolder,
    SourceFormat, read_source, recognise_source, settle,
};
use fp_host::facts;
use fp_host::file::{self, FileError};
use fp_host::git::Git;
use fp_host::plan::TASKS;
use fp_host::plan_folder::{PlanFolder, PlanRecord};
use fp_host::store::Store;
use fp_plan::diagnostic::Severity;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::plan::parse;
use fp_plan::rules::check;
use fp_plan::settings::SettingsLayer;
use fp_plan::text::{counted, wrapped};
use fp_run::interview::GoalReading;
use fp_run::interview::{Interview, Mode};
use fp_run::run::event::{Decider, Event, ImportedTask};
use fp_run::run::notepad;
use serde_json::{Value, json};

use super::gather::gather_texts;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::features::linear::mapping_moved_to;
use crate::printer::Format;

/// The record of where a plan came from, in its folder.
const ORIGIN: &str = "import.json";
/// What builders noted, in the plan's folder.
const NOTEPAD: &str = "notepad.md";
/// Files that come along with a plan of fractal-planner, beside the evidence.
const ALONG: [&str; 5] = ["interview.md", "research.md", "context.md", "pre-analysis.md", "analysis.md"];
/// The largest plan of the mode that has one area of the code.
const PIPELINE: usize = 5;
/// Most notices that the text shows below one heading.
const SHOWN: usize = 20;

/// Make a plan of what another system has planned
///
/// Reports what it found, and what is wrong with it, before it writes anything. Commands of an imported plan run only
/// once it is approved.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The plan's folder, or its file; it may lie outside the repository
    path: PathBuf,
    /// The format; recognised by what the files say where left out
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(SourceFormat::ALL.map(SourceFormat::name)).try_map(|name| name.parse::<SourceFormat>()))]
    from: Option<SourceFormat>,
    /// Show the report and the tree, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// What was read, and what will be written.
struct Import {
    recognised: RecognisedSource,
    /// What was named, as it is known later.
    path: String,
    plan: PortablePlan,
    draft: PlanDraft,
    notices: Vec<ImportNotice>,
    /// With the commits that the repository has.
    done: Vec<DoneBefore>,
    /// The record of the interview, where it comes along.
    interview: Option<Interview>,
}

pub(crate) fn run(args: ImportArgs, context: &Context) -> CommandResult {
    let path = context.cwd.join(&args.path);
    let (folder, mut notices) = gather_texts(&path)?;
    let failed =
        |error: ImportError| CommandError::worded(located(&error, &args.path, path.is_dir()), &error);
    let recognised = match args.from {
        Some(source) => RecognisedSource { source, because: "as --from says".into() },
        None => recognise_source(&folder).map_err(failed)?,
    };
    let (plan, found) = read_source(recognised.source, &folder).map_err(failed)?;
    notices.extend(found);
    let import = Import::new(recognised, plan, notices, &path, &folder, context);
    let report = ImportReport::new(&import, context)?;
    if context.format == Format::Text {
        context.printer.data(&report.text());
    }
    let written = match args.dry_run {
        true => None,
        false => Some(import.write(&folder, context)?),
    };
    match context.format {
        Format::Text => context.printer.data(&report.end(written.as_ref(), context)),
        Format::Json => context.printer.json(&report.json(written.as_ref()))?,
    }
    Ok(Exit::Done)
}

/// An error with its place, as the user would name it.
fn located(error: &ImportError, path: &Path, is_folder: bool) -> String {
    let shown = |file: &str| if is_folder { path.join(file) } else { path.to_owned() }.display().to_string();
    match error {
        ImportError::Broken(notice) => {
            let file = notice.file.as_deref().map(shown);
            ImportNotice { file, ..notice.clone() }.to_string()
        }
        ImportError::Newer { file, version } => {
            ImportError::Newer { file: shown(file), version: *version }.to_string()
        }
        error => format!("{}: {error}", path.display()),
    }
}

/// The path from the repository where it is inside, else from the root of the disk.
fn origin_path(path: &Path, context: &Context) -> String {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let below = real.strip_prefix(&context.repo().root).map(Path::to_owned);
    match below {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => real.to_string_lossy().into_owned(),
    }
}

impl Import {
    fn new(
        recognised: RecognisedSource,
        mut plan: PortablePlan,
        mut notices: Vec<ImportNotice>,
        path: &Path,
        folder: &SourceFolder,
        context: &Context,
    ) -> Self {
        if plan.title.trim().is_empty() {
            plan.title = named_after(path);
        }
        notices.extend(settle(&mut plan));
        let draft = PlanDraft::new(&plan);
        notices.extend(draft.notices.iter().cloned());
        let (done, unproven) = prove_done(draft.done(&plan), context);
        notices.extend(unproven);
        let mut interview = None;
        if let Some(text) =
            folder.text("interview.json").filter(|_| recognised.source == SourceFormat::FractalPlanner)
        {
            match Interview::parse(text) {
                Ok(found) => interview = Some(found),
                Err(error) => {
                    let text = format!("{error}; it does not come along");
                    notices.push(ImportNotice::problem(text).in_file("interview.json"));
                }
            }
        }
        Self { recognised, path: origin_path(path, context), plan, draft, notices, done, interview }
    }

    fn write(&self, folder: &SourceFolder, context: &Context) -> Result<PlanFolder, CommandError> {
        let Self { plan, .. } = self;
        let goal =
            plan.goal.clone().filter(|goal| !goal.trim().is_empty()).unwrap_or_else(|| plan.title.clone());
        let into = context.plans()?.create(&plan.title, context.today())?;
        let (mode, mode_reason) = self.mode();
        let record = PlanRecord {
            plan_id: into.id().clone(),
            intent: GoalReading::of_goal(&goal).intent,
            goal,
            mode,
            mode_reason,
            created_at: context.now(),
            by: Decider::User,
            settings: SettingsLayer::default(),
        };
        let written = self.fill(&into, &record, folder, context);
        if written.is_err() {
            // It was made for this plan, and nobody else has put anything into it.
            drop(fs::remove_dir_all(into.path()));
        }
        written.map(|()| into)
    }

    /// Writes the plan's files. `tasks.md` is the last: what ends the import before leaves a folder without a tree,
    /// and nothing takes that for a plan.
    fn fill(
        &self,
        into: &PlanFolder,
        record: &PlanRecord,
        folder: &SourceFolder,
        context: &Context,
    ) -> Result<(), CommandError> {
        into.describe(record, None)?;
        let from = self.recognised.source.name();
        let origin = self.draft.origin(&self.plan, from, &self.path, context.now());
        let origin = serde_json::to_string_pretty(&origin).expect("it has text keys and plain values") + "\n";
        let mut texts = vec![(ORIGIN.to_owned(), origin)];
        texts.extend(self.texts_along(folder, into.id()));
        for (path, text) in texts {
            let path = into.path().join(path);
            let above = path.parent().unwrap_or(into.path());
            fs::create_dir_all(above)
                .map_err(|source| FileError::Write { path: above.to_owned(), source })?;
            file::atomic_write(&path, text.as_bytes())?;
        }
        let events = self.events(folder);
        if !events.is_empty() {
            let store = Store::new(into.path().to_owned(), into.id().clone());
            let mut ledger = store.lock(Duration::ZERO)?;
            ledger.append(events, context.now())?;
            if !ledger.state().notes.is_empty() {
                file::atomic_write(&into.file(NOTEPAD), notepad::render(ledger.state()).as_bytes())?;
            }
        }
        Ok(file::atomic_write(&into.file(TASKS), self.draft.text.as_bytes())?)
    }

    /// How much planning a plan of so many leaves would have had, and why.
    fn mode(&self) -> (Mode, String) {
        let leaves = parse(&self.draft.text).0.leaves().count();
        let mode = match leaves {
            0 | 1 => Mode::Direct,
            2..=PIPELINE => Mode::Pipeline,
            _ => Mode::Full,
        };
        (mode, format!("imported with {}", counted(leaves, "task")))
    }

    /// What happened before: the work that was done, and what its builders noted.
    fn events(&self, folder: &SourceFolder) -> Vec<Event> {
        let tasks = self.done.iter().filter_map(|done| {
            let task = TaskId::new(done.id.as_str()).ok()?;
            Some(ImportedTask { task, title: done.title.clone(), commit: done.commit.clone() })
        });
        let tasks: Vec<ImportedTask> = tasks.collect();
        let from = self.recognised.source.name().to_owned();
        let done = (!tasks.is_empty()).then_some(Event::Imported { from, tasks });
        let is_ours = self.recognised.source == SourceFormat::FractalPlanner && self.keeps_ids();
        let notepad = folder.text("notepad.md").filter(|_| is_ours).map(notepad::read).unwrap_or_default();
        done.into_iter().chain(notepad.into_iter().map(|note| Event::Noted { note })).collect()
    }

    /// Whether each task has the id that it had.
    fn keeps_ids(&self) -> bool {
        self.plan.tasks.iter().zip(&self.draft.ids).all(|(task, id)| task.id == *id)
    }

    /// What comes along from a folder of fractal-planner.
    fn texts_along(&self, folder: &SourceFolder, plan: &PlanId) -> Vec<(String, String)> {
        if self.recognised.source != SourceFormat::FractalPlanner {
            return Vec::new();
        }
        let mut texts: Vec<(String, String)> = Vec::new();
        let mut take = |path: &str, text: &str| texts.push((path.to_owned(), text.to_owned()));
        if self.interview.is_some() {
            folder.text("interview.json").iter().for_each(|text| take("interview.json", text));
        }
        for name in ALONG {
            folder.text(name).iter().for_each(|text| take(name, text));
        }
        // They speak of tasks by id.
        if !self.keeps_ids() {
            return texts;
        }
        if let Some(mapping) =
            folder.text("linear-mapping.json").and_then(|text| mapping_moved_to(text, plan))
        {
            take("linear-mapping.json", &mapping);
        }
        for id in &self.draft.ids {
            let path = format!("evidence/task-{id}-verification.md");
            folder.text(&path).iter().for_each(|text| take(&path, text));
        }
        texts
    }
}

/// A title for a plan without one: after the file or the nearest folder whose name says something.
fn named_after(path: &Path) -> String {
    const SAY_NOTHING: [&str; 8] =
        ["beads", "issues", "plan", "specs", "task", "taskmaster", "tasks", "works"];
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut names = real.ancestors().filter_map(|above| {
        let name = Path::new(above.file_name()?.to_str()?.trim_start_matches('.')).file_stem()?;
        name.to_str().filter(|name| !SAY_NOTHING.contains(&name.to_lowercase().as_str()))
    });
    names.next().map_or_else(String::new, |name| format!("Plan from {name}"))
}

/// What is done, each with its commit if the repository has it, and a notice for each commit that it doesn't have.
fn prove_done(done: Vec<DoneBefore>, context: &Context) -> (Vec<DoneBefore>, Vec<ImportNotice>) {
    let done = done
        .into_iter()
        .map(|done| DoneBefore { commit: done.commit.map(|hash| hash.trim().to_lowercase()), ..done });
    let done: Vec<DoneBefore> = done.collect();
    let named: BTreeSet<String> = done.iter().filter_map(|done| done.commit.clone()).collect();
    let git = Git::open(&context.repo().root);
    let known = git.and_then(|git| git.behind_head(&named)).unwrap_or_default();
    let mut notices = Vec::new();
    let with_commit = |done: DoneBefore| {
        let found = done.commit.as_ref().and_then(|commit| known.get(commit));
        if let (Some(commit), None) = (&done.commit, found) {
            let text =
                format!("task {} names the commit {commit}, which is not in the history here", done.id);
            notices.push(ImportNotice::problem(text));
        }
        DoneBefore { commit: found.map(ToString::to_string), ..done }
    };
    (done.into_iter().map(with_commit).collect(), notices)
}

/// What the user is told.
struct ImportReport<'i> {
    import: &'i Import,
    errors: usize,
    warnings: usize,
    /// How often each rule finds something in the tree.
    by_rule: BTreeMap<&'static str, usize>,
    leaves: usize,
}

impl<'i> ImportReport<'i> {
    fn new(import: &'i Import, context: &Context) -> Result<Self, CommandError> {
        let (tree, parsed) = parse(&import.draft.text);
        let max = context.settings()?.max_complexity;
        let facts = facts::gather(&context.repo().root, &tree, max, import.interview.as_ref());
        let findings = check(&tree, &parsed, &facts);
        let mut by_rule = BTreeMap::new();
        findings.iter().for_each(|finding| *by_rule.entry(finding.rule).or_default() += 1);
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let leaves = tree.leaves().count();
        Ok(Self { import, errors, warnings: findings.len() - errors, by_rule, leaves })
    }

    fn proven(&self) -> usize {
        self.import.done.iter().filter(|done| done.commit.is_some()).count()
    }

    fn notices(&self, problems: bool) -> Vec<&ImportNotice> {
        self.import.notices.iter().filter(|notice| notice.is_problem == problems).collect()
    }

    fn json(&self, written: Option<&PlanFolder>) -> Value {
        let Self { import, errors, warnings, by_rule, leaves } = self;
        let mut json = json!({
            "from": import.recognised.source,
            "because": import.recognised.because,
            "path": import.path,
            "title": import.plan.title,
            "tasks": {
                "total": import.plan.tasks.len(),
                "leaves": leaves,
                "done": import.done.len(),
                "proven": self.proven(),
                "todo": leaves - import.done.len(),
            },
            "problems": self.notices(true),
            "notes": self.notices(false),
            "validation": { "errors": errors, "warnings": warnings, "byRule": by_rule },
            "planId": written.map(PlanFolder::id),
        });
        match written {
            Some(folder) => {
                let (mode, reason) = import.mode();
                json["folder"] = json!(folder.path());
                json["mode"] = json!({ "name": mode, "reason": reason });
            }
            None => json["tree"] = json!(import.draft.text),
        }
        json
    }

    /// What was found, before anything is written.
    fn text(&self) -> String {
        let Self { import, leaves, .. } = self;
        let recognised = &import.recognised;
        let leaves = if *leaves == 1 { "1 leaf".to_owned() } else { format!("{leaves} leaves") };
        let mut text = format!("{}: {} ({})\n", import.path, recognised.source, recognised.because);
        text += &format!("  title  {}\n", import.plan.title);
        text += &format!("  tasks  {}, of which {leaves}\n", import.plan.tasks.len());
        text += &format!("  work   {}\n", self.work());
        text += &listed("Problems of the source", &self.notices(true));
        text += &listed("Worth knowing", &self.notices(false));
        text + &self.validation()
    }

    fn work(&self) -> String {
        let done = self.import.done.len();
        let proven =
            if done > 0 { format!(" ({} proven by a commit)", self.proven()) } else { String::new() };
        format!("{done} done{proven}, {} to do", self.leaves - done)
    }

    fn validation(&self) -> String {
        if self.by_rule.is_empty() {
            return "\nThe tree is valid as it is\n".to_owned();
        }
        let (errors, warnings) = (counted(self.errors, "error"), counted(self.warnings, "warning"));
        let rules: Vec<String> = self.by_rule.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        let lines = wrapped(&rules.join(", "), 78).into_iter().map(|line| format!("  {line}\n"));
        format!("\nWhat the tree still lacks ({errors}, {warnings}):\n{}", lines.collect::<String>())
    }

    /// What was written, or would be.
    fn end(&self, written: Option<&PlanFolder>, context: &Context) -> String {
        let Some(folder) = written else {
            return format!(
                "\nNothing is written (--dry-run). tasks.md would be:\n\n{}",
                self.import.draft.text
            );
        };
        let (mode, reason) = self.import.mode();
        let id = folder.id();
        let mut text = format!("\nPlan {id}\n  folder  {}\n", context.shown(folder.path()));
        text += &format!("  mode    {}: {reason}\n\nNext:\n", mode.into_str());
        if self.errors > 0 {
            text += &format!("  fp validate {id} --fix\n");
            text += "  ask Claude Code to have fp:decomposer complete the tree by what is left\n";
        }
        text += &format!("  fp approve {id}\n");
        let path = &self.import.path;
        if self.import.recognised.source == SourceFormat::FractalPlanner && path.contains("plans/") {
            text += &format!("The plan that it was imported from is still there: {path}\n");
        }
        text
    }
}

fn listed(heading: &str, notices: &[&ImportNotice]) -> String {
    if notices.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{heading}:\n");
    for notice in notices.iter().take(SHOWN) {
        text += &format!("  {notice}\n");
    }
    if notices.len() > SHOWN {
        text += &format!("  … and {} more, which --format json has\n", notices.len() - SHOWN);
    }
    text
}
