//! `fp import`.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use fp_exchange::{
    ImportError, ImportNotice, Material, PlanDraft, RecognisedSource, SourceFolder, SourceFormat,
    read_source, recognise_source,
};
use fp_host::facts;
use fp_host::file;
use fp_host::git::Git;
use fp_host::plan::TASKS;
use fp_host::plan_folder::{PlanFolder, PlanRecord};
use fp_host::platform;
use fp_host::store::Store;
use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::parse;
use fp_plan::rules::check_plan;
use fp_plan::settings::SettingsLayer;
use fp_plan::text::{counted, shell_quoted};
use fp_run::interview::Mode;
use fp_run::run::event::{Decider, Event, ImportedTask};
use serde_json::{Value, json};

use super::gather::gather_texts;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// The file in a plan's folder that records where the plan came from.
pub(crate) const ORIGIN: &str = "import.json";
/// The texts of a plan in an unknown format, for the decomposer.
const MATERIAL: &str = "material.md";
/// Pages of a plan of fractal-planner that planners and builders read, and so come along.
const ALONG: [&str; 5] = [
    "interview.md",
    "research.md",
    "context.md",
    "pre-analysis.md",
    "analysis.md",
];
/// Maximum number of tasks for pipeline mode, which suits one area of the code.
const PIPELINE: usize = 5;
/// Maximum number of notices to print under one heading.
const SHOWN: usize = 20;

/// Import a plan from another system
///
/// The format is recognised from the files. Commands of an imported plan run only after you approve it.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The plan's folder or file; it may be outside of the repository
    path: PathBuf,
    /// Show the report and the tree, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// A plan that has been read from its source, but not yet written.
struct Import {
    recognised: RecognisedSource,
    /// The imported path, relative to the repository if it is inside.
    path: String,
    draft: PlanDraft,
    /// The finished leaves, each with its commit if the repository has it.
    done: Vec<ImportedTask>,
    /// Number of errors in the tree.
    errors: usize,
    leaves: usize,
}

pub(crate) fn run(args: ImportArgs, context: &Context) -> CommandResult {
    let source = ImportSource::gather(&args.path, context)?;
    let recognised = recognise_source(&source.folder).map_err(|error| source.failure(&error))?;
    let import = Import::from_source(recognised, &source, context)?;
    let written = match args.dry_run {
        true => None,
        false => {
            let settings = SettingsLayer::default();
            let (written, _) = import.write(&source.folder, settings, Decider::User, context)?;
            Some(written)
        }
    };
    let written = written.as_ref();
    let text = import.to_text(written, context);
    context.report(&import.json(written), &text)
}

/// Fails if `path` is in the repository, but a link on it leads outside: the link's author, not the user, chose that
/// target.
fn refuse_leading_out(given: &Path, path: &Path, context: &Context) -> Result<(), CommandError> {
    let root = &context.repo().root;
    let goes_up = given.components().any(|part| part == Component::ParentDir);
    if goes_up || !path.starts_with(root) {
        return Ok(());
    }
    let (Ok(real), Ok(root)) = (platform::real_path(path), platform::real_path(root)) else {
        return Ok(());
    };
    if real.starts_with(root) {
        return Ok(());
    }
    let given = given.display();
    let message = format!("{given} is a link that leads out of the repository");
    let place = real.display();
    Err(CommandError::refused(message).with_hint(format!(
        "if that is the plan you mean, name the place itself: {place}"
    )))
}

/// The path relative to the repository if it is inside, else absolute.
fn origin_path(path: &Path, context: &Context) -> String {
    let real = platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    match real.strip_prefix(&context.repo().root) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => real.to_string_lossy().into_owned(),
    }
}

/// Imports the plan at `path` for agents to complete. If the format is unknown, passes the plan's texts on unchanged.
/// Returns the path of the new folder, its record, and the report of the import.
pub(crate) fn import_to_complete(
    path: &Path,
    settings: SettingsLayer,
    by: Decider,
    context: &Context,
) -> Result<(PathBuf, PlanRecord, Value), CommandError> {
    let source = ImportSource::gather(path, context)?;
    let recognised = match recognise_source(&source.folder) {
        Err(ImportError::NotRecognised(Some(_))) => None,
        Err(ImportError::Broken(_)) if !source.folder.is_broken() => None,
        found => Some(found.map_err(|error| source.failure(&error))?),
    };
    let Some(recognised) = recognised else {
        return source.hand_over(settings, by, context);
    };
    let import = Import::from_source(recognised, &source, context)?;
    let (folder, record) = import.write(&source.folder, settings, by, context)?;
    let report = import.json(Some(&folder));
    Ok((folder.path().to_owned(), record, report))
}

/// The files at the path that the user gave.
struct ImportSource {
    given: PathBuf,
    path: PathBuf,
    folder: SourceFolder,
    unread: Vec<ImportNotice>,
}

impl ImportSource {
    fn gather(given: &Path, context: &Context) -> Result<Self, CommandError> {
        let path = context.cwd.join(given);
        refuse_leading_out(given, &path, context)?;
        let (folder, unread) = gather_texts(&path)?;
        Ok(Self {
            given: given.to_owned(),
            path,
            folder,
            unread,
        })
    }

    /// Converts `error`, naming the file at fault by the path that the user gave.
    fn failure(&self, error: &ImportError) -> CommandError {
        let given = self.given.display();
        let said = match error {
            ImportError::Broken(notice) | ImportError::Newer(notice) => {
                let file = notice.file.as_ref().filter(|_| self.path.is_dir());
                let file = file.map_or(self.given.clone(), |file| self.given.join(file));
                let notice = notice.clone();
                notice.in_file(&file.display().to_string()).to_string()
            }
            error => format!("{given}: {error}"),
        };
        let not_read = notice_list("Not read", &self.unread);
        CommandError::with_message(said + not_read.trim_end(), error)
    }

    /// Creates a plan without a tree. The texts become its material, along with a list of everything in them that looks
    /// like a task.
    fn hand_over(
        mut self,
        settings: SettingsLayer,
        by: Decider,
        context: &Context,
    ) -> Result<(PathBuf, PlanRecord, Value), CommandError> {
        let material = Material::from_folder(&self.folder);
        let goal = material.title.unwrap_or_else(|| named_after(&self.path));
        let all = material.items.len();
        let open = material.items.iter().filter(|item| !item.done).count();
        let path = origin_path(&self.path, context);
        let origin = json!({
            "schemaVersion": 1,
            "from": "material",
            "path": path,
            "importedAt": context.now(),
            "items": material.items,
        });
        let plan = NewPlan {
            title: &goal,
            goal: &goal,
            mode: if open > PIPELINE {
                Mode::Full
            } else {
                Mode::Pipeline
            },
            mode_reason: format!("made of {} of another plan", counted(open, "open item")),
            imported: None,
            tree: None,
        };
        let texts = vec![(MATERIAL, material.text), (ORIGIN, format!("{origin:#}\n"))];
        let (folder, record) = plan.write(settings, by, context, texts)?;
        self.unread.extend(material.notices);
        let report = json!({
            "from": "material",
            "path": path,
            "title": record.goal,
            "items": { "total": all, "done": all - open },
            "problems": self.unread,
            "planId": folder.id(),
        });
        Ok((folder.path().to_owned(), record, report))
    }
}

/// A plan to create from another one.
struct NewPlan<'p> {
    title: &'p str,
    goal: &'p str,
    mode: Mode,
    mode_reason: String,
    /// The work that is already done.
    imported: Option<Event>,
    tree: Option<&'p str>,
}

impl NewPlan<'_> {
    /// Creates the plan, together with the other files in `texts`. If anything can't be written, removes the whole
    /// plan.
    fn write(
        self,
        settings: SettingsLayer,
        by: Decider,
        context: &Context,
        texts: Vec<(&'static str, String)>,
    ) -> Result<(PlanFolder, PlanRecord), CommandError> {
        let into = context.plans()?.create(self.title, context.today())?;
        context.note_made(into.id());
        let record = PlanRecord {
            plan_id: into.id().clone(),
            goal: self.goal.to_owned(),
            mode: self.mode,
            mode_reason: self.mode_reason.clone(),
            created_at: context.now(),
            by,
            settings,
            issue: None,
        };
        let written = self.fill(&into, &record, texts, context);
        if written.is_err() {
            // The folder was created for this plan, so nobody else has written to it.
            drop(fs::remove_dir_all(into.path()));
        }
        written.map(|()| (into, record))
    }

    /// Writes the plan's files, the record and the tree last, since the folder isn't a plan without them.
    fn fill(
        self,
        into: &PlanFolder,
        record: &PlanRecord,
        texts: Vec<(&'static str, String)>,
        context: &Context,
    ) -> Result<(), CommandError> {
        for (name, text) in texts {
            file::atomic_write(&into.file(name), text.as_bytes())?;
        }
        if let Some(imported) = self.imported {
            let store = Store::new(into.path().to_owned(), into.id().clone());
            let mut store = store.lock(Duration::ZERO)?;
            store.append(vec![imported], context.now())?;
        }
        into.describe(record, None)?;
        if let Some(tree) = self.tree {
            file::atomic_write(&into.file(TASKS), tree.as_bytes())?;
        }
        Ok(())
    }
}

impl Import {
    fn from_source(
        recognised: RecognisedSource,
        source: &ImportSource,
        context: &Context,
    ) -> Result<Self, CommandError> {
        let folder = &source.folder;
        let mut plan =
            read_source(recognised.source, folder).map_err(|error| source.failure(&error))?;
        plan.notices.extend(source.unread.iter().cloned());
        if plan.title.trim().is_empty() {
            plan.title = named_after(&source.path);
        }
        let mut draft = PlanDraft::new(plan);
        let done = prove_done(&mut draft, context);
        let (tree, parsed) = parse(&draft.text);
        let max = context.settings()?.max_complexity;
        let programs = std::env::var_os("PATH").unwrap_or_default();
        let root = &context.repo().root;
        let mut facts = facts::gather(root, &tree, max, None, &programs);
        let titles = done
            .iter()
            .map(|done| (done.task.to_string(), done.title.clone()));
        facts.done = titles.collect();
        let findings = check_plan(&tree, &parsed, &facts);
        let is_error = |finding: &&Diagnostic| finding.severity == Severity::Error;
        let errors = findings.iter().filter(is_error).count();
        let leaves = tree.leaves().count();
        Ok(Self {
            recognised,
            path: origin_path(&source.path, context),
            draft,
            done,
            errors,
            leaves,
        })
    }

    fn write(
        &self,
        folder: &SourceFolder,
        settings: SettingsLayer,
        by: Decider,
        context: &Context,
    ) -> Result<(PlanFolder, PlanRecord), CommandError> {
        let from = self.recognised.source;
        let plan = &self.draft.plan;
        let goal = plan.goal.as_deref().filter(|goal| !goal.trim().is_empty());
        let (mode, mode_reason) = self.mode();
        let new = NewPlan {
            title: &plan.title,
            goal: goal.unwrap_or(&plan.title),
            mode,
            mode_reason,
            imported: (!self.done.is_empty()).then(|| Event::Imported {
                from: from.into_str().to_owned(),
                tasks: self.done.clone(),
            }),
            tree: Some(&self.draft.text),
        };
        let origin = self.draft.origin(from, &self.path, context.now());
        let ours = from == SourceFormat::FractalPlanner;
        let along = ALONG.into_iter().filter(|_| ours);
        let along = along.filter_map(|page| Some((page, folder.file_text(page)?.to_owned())));
        let texts = along.chain([(ORIGIN, origin)]).collect();
        new.write(settings, by, context, texts)
    }

    /// The mode that fits a plan of this size, and the reason.
    fn mode(&self) -> (Mode, String) {
        let mode = match self.leaves {
            0 | 1 => Mode::Direct,
            2..=PIPELINE => Mode::Pipeline,
            _ => Mode::Full,
        };
        let tasks = counted(self.leaves, "task");
        (mode, format!("imported with {tasks}"))
    }

    fn proven(&self) -> usize {
        self.done
            .iter()
            .filter(|done| done.commit.is_some())
            .count()
    }

    fn json(&self, written: Option<&PlanFolder>) -> Value {
        let PlanDraft { plan, text, .. } = &self.draft;
        let mut json = json!({
            "from": self.recognised.source,
            "path": self.path,
            "title": plan.title,
            "tasks": {
                "total": plan.tasks.len(),
                "leaves": self.leaves,
                "done": self.done.len(),
                "proven": self.proven(),
                "todo": self.leaves - self.done.len(),
            },
            "problems": plan.notices,
            "validation": { "errors": self.errors },
            "planId": written.map(PlanFolder::id),
        });
        if written.is_none() {
            json["tree"] = json!(text);
        }
        json
    }

    /// The report for people: the findings, and the written plan or the tree that would be written.
    fn to_text(&self, written: Option<&PlanFolder>, context: &Context) -> String {
        let RecognisedSource { source, because } = &self.recognised;
        let (path, plan, done) = (&self.path, &self.draft.plan, self.done.len());
        let mut text = format!(
            "{path}: {source} ({because})\n  title  {}\n  tasks  {}, {} of them leaves\n  work   {done} done ({} proven \
             by a commit), {} to do\n",
            plan.title,
            plan.tasks.len(),
            self.leaves,
            self.proven(),
            self.leaves - done
        );
        text += &notice_list("Worth knowing", &plan.notices);
        text += &match self.errors {
            0 => "\nThe tree is valid as it is\n".to_owned(),
            errors => format!("\nThe tree has {}\n", counted(errors, "error")),
        };
        let Some(folder) = written else {
            let tree = &self.draft.text;
            return text + "\nNothing is written (--dry-run). tasks.md would be:\n\n" + tree;
        };
        let (id, shown) = (folder.id(), context.display_path(folder.path()));
        text += &format!("\nPlan {id}\n  folder  {shown}\n\nNext:\n");
        if self.errors > 0 {
            let path = shell_quoted(path);
            text += &format!(
                "  fp validate {id} --fix\n  in Claude Code, `/fp:plan --import {path}` imports it anew and completes it\n"
            );
        }
        text + &format!("  fp approve {id}\n")
    }
}

/// A title for a plan without one, from the file or the nearest folder with a meaningful name.
fn named_after(path: &Path) -> String {
    const SAY_NOTHING: &str = "beads issues plan specs task taskmaster tasks works";
    let real = platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    let mut names = real.ancestors().filter_map(|above| {
        let name = Path::new(above.file_name()?.to_str()?.trim_start_matches('.')).file_stem()?;
        name.to_str().filter(|name| {
            SAY_NOTHING
                .split(' ')
                .all(|word| !word.eq_ignore_ascii_case(name))
        })
    });
    names
        .next()
        .map_or_else(String::new, |name| format!("Plan from {name}"))
}

/// The finished leaves, each with its commit if the repository has it; reports a missing commit.
fn prove_done(draft: &mut PlanDraft, context: &Context) -> Vec<ImportedTask> {
    let done = draft.done().into_iter().map(|(task, title, commit)| {
        let commit = commit.map(|hash| hash.trim().to_lowercase());
        ImportedTask {
            task,
            title,
            commit,
        }
    });
    let mut done: Vec<ImportedTask> = done.collect();
    let git = Git::open(&context.repo().root).ok();
    for done in &mut done {
        let Some(commit) = done.commit.take() else {
            continue;
        };
        let known = git.as_ref().and_then(|git| git.behind_head(&commit).ok()?);
        done.commit = known.map(|commit| commit.to_string());
        if done.commit.is_none() {
            let text = format!(
                "task {} names the commit {commit}, which is not in the history here",
                done.task
            );
            draft.plan.notices.push(ImportNotice::new(text));
        }
    }
    done
}

fn notice_list(heading: &str, notices: &[ImportNotice]) -> String {
    if notices.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{heading}:\n");
    for notice in notices.iter().take(SHOWN) {
        text += &format!("  {notice}\n");
    }
    if notices.len() > SHOWN {
        text += &format!(
            "  … and {} more, which --format json has\n",
            notices.len() - SHOWN
        );
    }
    text
}
