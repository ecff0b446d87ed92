//! `fp import`.

mod report;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_core::diagnostic::Diagnostic;
use fp_core::exchange::check::settle;
use fp_core::exchange::draft::{Done, Draft};
use fp_core::exchange::{
    Folder, ImportError, Kind, Notice, PortablePlan, Recognised, Source, read, recognise,
};
use fp_core::interview::{GoalReading, Interview, Mode};
use fp_core::linear::Mapping;
use fp_core::plan::id::{PlanId, TaskId};
use fp_core::plan::parse;
use fp_core::rules::check;
use fp_core::run::event::{Decider, Event, ImportedTask};
use fp_core::run::notepad;
use fp_core::settings::PartialSettings;
use fp_host::facts;
use fp_host::git::Git;
use fp_host::import::{self, Content};
use fp_host::plan_folder::{PlanFolder, PlanRecord};

use self::report::{Findings, Report, Written};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Files that come along with a plan of fractal-planner, beside the evidence.
const ALONG: [&str; 5] = ["interview.md", "research.md", "context.md", "pre-analysis.md", "analysis.md"];
/// The largest plan of the mode that has one area of the code.
const PIPELINE: usize = 5;

/// Make a plan of what another system has planned
///
/// Says what was found, and what is wrong with it, before anything is written. Commands of an imported plan run once it
/// is approved, and not before.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan's folder, or its file; it may lie outside the repository
    path: PathBuf,
    /// The format; recognised by what the files say where left out
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(Source::ALL.map(Source::name)).try_map(|name| name.parse::<Source>()))]
    from: Option<Source>,
    /// Show the report and the tree, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// What was read, and what will be written of it.
struct Import {
    recognised: Recognised,
    plan: PortablePlan,
    draft: Draft,
    notices: Vec<Notice>,
    /// What is done, with the commits that the repository has.
    done: Vec<Done>,
    /// The record of the interview, where it comes along.
    interview: Option<Interview>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let path = context.cwd.join(&args.path);
    let gathered = import::gather(&path)?;
    let failed = |error: ImportError| CommandError::worded(placed(&error, &args.path, path.is_dir()), &error);
    let recognised = match args.from {
        Some(source) => Recognised { source, because: "as --from says".into() },
        None => recognise(&gathered.folder).map_err(failed)?,
    };
    let (plan, mut notices) = read(recognised.source, &gathered.folder).map_err(failed)?;
    notices.splice(0..0, gathered.notices);
    let import = Import::new(recognised, plan, notices, &path, &gathered.folder, context);
    let findings = import.findings(context)?;
    let named = origin_path(&path, context);
    let earlier = import::earlier(&context.plans()?, import.recognised.source.name(), &named)?;
    let report = Report { path: &named, import: &import, findings, earlier, dry_run: args.dry_run };
    if context.format == Format::Text {
        context.printer.data(&report.text());
    }
    let written = match args.dry_run {
        true => None,
        false => Some(import.write(&named, &gathered.folder, context)?),
    };
    match context.format {
        Format::Text => context.printer.data(&report.end(written.as_ref(), context)),
        Format::Json => context.printer.json(&report.json(written.as_ref()))?,
    }
    Ok(Exit::Done)
}

/// An error with the place that it is about, as the user would name it.
fn placed(error: &ImportError, path: &Path, is_folder: bool) -> String {
    let shown = |file: &str| if is_folder { path.join(file) } else { path.to_owned() }.display().to_string();
    match error {
        ImportError::Broken(notice) => {
            let file = notice.file.as_deref().map(shown);
            Notice { file, ..notice.clone() }.to_string()
        }
        ImportError::Newer { file, version } => {
            ImportError::Newer { file: shown(file), version: *version }.to_string()
        }
        error => format!("{}: {error}", path.display()),
    }
}

/// What an import is known by later: its path from the repository where it is inside, else from the root of the disk.
fn origin_path(path: &Path, context: &Context) -> String {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let below = real.strip_prefix(&context.repo().root).map(Path::to_owned);
    match below {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => real.to_string_lossy().into_owned(),
    }
}

impl Import {
    fn new(
        recognised: Recognised,
        mut plan: PortablePlan,
        mut notices: Vec<Notice>,
        path: &Path,
        folder: &Folder,
        context: &Context,
    ) -> Self {
        if plan.title.trim().is_empty() {
            plan.title = named_after(path);
        }
        notices.extend(settle(&mut plan));
        let draft = Draft::of(&plan);
        notices.extend(draft.notices.iter().cloned());
        let (done, unproven) = proven(draft.done(&plan), context);
        notices.extend(unproven);
        let mut interview = None;
        if let Some(text) =
            folder.text("interview.json").filter(|_| recognised.source == Source::FractalPlanner)
        {
            match Interview::parse(text) {
                Ok(found) => interview = Some(found),
                Err(error) => {
                    let text = format!("{error}; it does not come along");
                    notices.push(Notice::new(Kind::Broken, text).in_file("interview.json"));
                }
            }
        }
        Self { recognised, plan, draft, notices, done, interview }
    }

    /// What validation will find in the tree.
    fn findings(&self, context: &Context) -> Result<Findings, CommandError> {
        let (tree, parsed) = parse(&self.draft.text);
        let max = context.settings()?.max_complexity;
        let facts = facts::gather(&context.repo().root, &tree, max, self.interview.as_ref());
        let found: Vec<Diagnostic> = check(&tree, &parsed, &facts);
        Ok(Findings::of(&found, tree.leaves().count()))
    }

    fn write(&self, named: &str, folder: &Folder, context: &Context) -> Result<Written, CommandError> {
        let Self { recognised, plan, draft, .. } = self;
        let goal =
            plan.goal.clone().filter(|goal| !goal.trim().is_empty()).unwrap_or_else(|| plan.title.clone());
        let into = context.plans()?.create(&plan.title, context.today())?;
        let (mode, mode_reason) = mode(parse(&draft.text).0.leaves().count());
        let record = PlanRecord {
            plan_id: into.id().clone(),
            intent: GoalReading::of_goal(&goal).intent,
            goal,
            mode,
            mode_reason,
            created_at: context.now(),
            by: Decider::User,
            settings: PartialSettings::default(),
        };
        let origin = draft.origin(plan, recognised.source.name(), named, context.now());
        let content = Content {
            origin: &origin,
            tasks: &draft.text,
            texts: self.texts(folder, into.id()),
            events: self.events(folder),
        };
        import::write(&into, &record, content, context.now())?;
        Ok(Written::new(&into, &record))
    }

    /// What happened before: the work that was done, and what its builders noted.
    fn events(&self, folder: &Folder) -> Vec<Event> {
        let tasks = self.done.iter().filter_map(|done| {
            let task = TaskId::new(done.id.as_str()).ok()?;
            Some(ImportedTask { task, title: done.title.clone(), commit: done.commit.clone() })
        });
        let tasks: Vec<ImportedTask> = tasks.collect();
        let from = self.recognised.source.name().to_owned();
        let done = (!tasks.is_empty()).then_some(Event::Imported { from, tasks });
        let is_ours = self.recognised.source == Source::FractalPlanner && self.keeps_ids();
        let notepad = folder.text("notepad.md").filter(|_| is_ours).map(notepad::read).unwrap_or_default();
        done.into_iter().chain(notepad.into_iter().map(|note| Event::Noted { note })).collect()
    }

    /// Whether each task has the id that it had.
    fn keeps_ids(&self) -> bool {
        self.plan.tasks.iter().zip(&self.draft.ids).all(|(task, id)| task.id == *id)
    }

    /// What comes along from a folder of fractal-planner.
    fn texts(&self, folder: &Folder, plan: &PlanId) -> Vec<(String, String)> {
        if self.recognised.source != Source::FractalPlanner {
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
        if let Some(mapping) = folder.text("linear-mapping.json").and_then(|text| moved(text, plan)) {
            take("linear-mapping.json", &mapping);
        }
        for id in &self.draft.ids {
            let path = format!("evidence/task-{id}-verification.md");
            folder.text(&path).iter().for_each(|text| take(&path, text));
        }
        texts
    }
}

/// The record of a mirror in Linear, for the plan `id`; `None` where it can't be read.
fn moved(text: &str, id: &PlanId) -> Option<String> {
    let mut mapping: Mapping = serde_json::from_str(text).ok()?;
    mapping.plan_id = id.clone();
    let text = serde_json::to_string_pretty(&mapping).ok()?;
    Some(text + "\n")
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

/// What is done, each with its commit if the repository has it; and what is to be said of those that it has not.
fn proven(done: Vec<Done>, context: &Context) -> (Vec<Done>, Vec<Notice>) {
    let done = done
        .into_iter()
        .map(|done| Done { commit: done.commit.map(|hash| hash.trim().to_lowercase()), ..done });
    let done: Vec<Done> = done.collect();
    let named: BTreeSet<String> = done.iter().filter_map(|done| done.commit.clone()).collect();
    let git = Git::open(&context.repo().root);
    let known = git.and_then(|git| git.behind_head(&named)).unwrap_or_default();
    let mut notices = Vec::new();
    let with_commit = |done: Done| {
        let found = done.commit.as_ref().and_then(|commit| known.get(commit));
        if let (Some(commit), None) = (&done.commit, found) {
            let text =
                format!("task {} names the commit {commit}, which is not in the history here", done.id);
            notices.push(Notice::new(Kind::Contradiction, text).about(&done.id));
        }
        Done { commit: found.map(ToString::to_string), ..done }
    };
    (done.into_iter().map(with_commit).collect(), notices)
}

/// How much planning a plan of so many leaves would have had.
fn mode(leaves: usize) -> (Mode, String) {
    let count = format!("imported with {leaves} {}", if leaves == 1 { "task" } else { "tasks" });
    match leaves {
        0 | 1 => (Mode::Direct, count),
        2..=PIPELINE => (Mode::Pipeline, count),
        _ => (Mode::Full, count),
    }
}

impl Written {
    fn new(folder: &PlanFolder, record: &PlanRecord) -> Self {
        Self {
            plan_id: folder.id().clone(),
            path: folder.path().to_owned(),
            mode: record.mode,
            why: record.mode_reason.clone(),
        }
    }
}
