//! `fp export`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fp_core::exchange::export::{export, github_issues, portable};
use fp_core::exchange::{Folder, Target};
use fp_core::plan::Plan;
use fp_core::run::State;
use fp_host::export::{ExportError, Written, write_file, write_folder};
use fp_host::file::FileError;
use fp_host::plan::OpenPlan;
use serde_json::json;

use super::show;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Write a plan in the format of another system, with the state of each task
///
/// What the other format has no field for stands in it under the key `fp`, so that nothing is lost on the way back. A
/// tree need not be valid, but no two tasks may have the same id. An archived plan can be named as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
    /// The format.
    #[arg(long, value_name = "FORMAT")]
    to: To,
    /// The file to write, or for `ccw` the folder; else it is printed.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Replace what is there.
    #[arg(long, requires = "out")]
    force: bool,
}

/// What `--to` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum To {
    /// Claude-Code-Workflow, a folder.
    Ccw,
    /// Task Master's tasks.json.
    TaskMaster,
    /// Spec Kit's tasks.md.
    SpecKit,
    /// Beads' issues.jsonl.
    Beads,
    /// All that fp knows of the plan.
    Json,
    /// A table.
    Csv,
    /// A flowchart, as `fp show` has it.
    Mermaid,
    /// An array that scripts make issues of.
    GithubIssues,
}

impl To {
    /// The format between systems that it is; a drawing is none.
    fn target(self) -> Option<Target> {
        Some(match self {
            Self::Ccw => Target::Ccw,
            Self::TaskMaster => Target::TaskMaster,
            Self::SpecKit => Target::SpecKit,
            Self::Beads => Target::Beads,
            Self::Json => Target::Json,
            Self::Csv => Target::Csv,
            Self::GithubIssues => Target::GithubIssues,
            Self::Mermaid => return None,
        })
    }

    /// What its one file is called; `None` where it is a folder.
    fn file(self) -> Option<&'static str> {
        self.target().map_or(Some("plan.mmd"), Target::file)
    }

    fn name(self) -> &'static str {
        self.target().map_or("mermaid", Target::name)
    }
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open_or_archived(&args.plan)?;
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let tree = plan.tree().map_err(|error| match error.is_missing() {
        true => CommandError::failed(error).hint("write the task tree there, or plan again: /fp:plan"),
        false => error.into(),
    })?;
    let parsed = tree.parse();
    refuse_ambiguous(&plan, &parsed)?;
    let files = files(context, &plan, &parsed, &loaded.state, args.to)?;
    match args.out {
        Some(out) => {
            let out = context.cwd.join(out);
            let written = write(context, &out, &files, args.to, args.force)?;
            told(context, &plan, args.to, &out, &written)?;
        }
        None => print(context, &plan, args.to, &files)?,
    }
    Ok(Exit::Done)
}

/// Fails where there is nothing to export, or where nobody could tell which of two tasks is meant.
fn refuse_ambiguous(plan: &OpenPlan, tree: &Plan<'_>) -> Result<(), CommandError> {
    let validate = format!("`fp validate {}` shows what is wrong with it", plan.id());
    if tree.tasks.is_empty() {
        return Err(CommandError::refused(format!("{} has no task to export", plan.id())).hint(validate));
    }
    let mut seen = HashSet::new();
    match tree.tasks.iter().find(|task| !task.synthetic && !seen.insert(&task.id)) {
        Some(task) => {
            Err(CommandError::refused(format!("two tasks of {} have the id {}", plan.id(), task.id))
                .hint(validate))
        }
        None => Ok(()),
    }
}

fn files(
    context: &Context,
    plan: &OpenPlan,
    tree: &Plan<'_>,
    state: &State,
    to: To,
) -> Result<Folder, CommandError> {
    let goal = plan.goal_if_kept();
    let Some(target) = to.target() else {
        let chart = show::chart(context, tree, state, &plan.settings, goal);
        return Ok(to.file().map(|name| (name, chart)).into_iter().collect());
    };
    let origin = plan.origin()?;
    let whole = portable(tree, state, goal.as_deref(), origin.as_ref());
    if target == Target::GithubIssues {
        for task in github_issues::too_long(&whole) {
            context.printer.note(&format!("note: the text of {task} is longer than GitHub takes"));
        }
    }
    Ok(export(target, &whole, origin.as_ref().map(|origin| origin.from.as_str())))
}

fn write(
    context: &Context,
    path: &Path,
    files: &Folder,
    to: To,
    force: bool,
) -> Result<Written, CommandError> {
    let written = match to.file() {
        None => write_folder(path, files, force),
        Some(name) => write_file(path, files.text(name).unwrap_or_default(), force),
    };
    written.map_err(|error| match (&error, to.file()) {
        (ExportError::Exists { paths }, _) => {
            let others = match paths.len() {
                1 => String::new(),
                number => format!(", with {} more of the files", number - 1),
            };
            CommandError::refused(format!("{} is there already{others}", context.shown(&paths[0])))
                .hint("name another place, or add --force to replace what is there")
        }
        (ExportError::File(FileError::NotAFile { .. }), Some(name)) => CommandError::failed(&error)
            .hint(format!("name the file too, such as --out {}", context.shown(&path.join(name)))),
        _ => error.into(),
    })
}

fn print(context: &Context, plan: &OpenPlan, to: To, files: &Folder) -> Result<(), CommandError> {
    if context.format == Format::Json {
        let files = files.iter().map(|(path, text)| json!({ "path": path, "text": text }));
        let files: Vec<_> = files.collect();
        return context.printer.json(&json!({ "planId": plan.id(), "to": to.name(), "files": files }));
    }
    let Some(name) = to.file() else {
        return Err(CommandError::failed(format!(
            "{} is a folder of files, and can't be printed",
            to.name()
        ))
        .hint("name the folder with --out; with --format json all files are in one"));
    };
    context.printer.exact(files.text(name).unwrap_or_default());
    Ok(())
}

fn told(
    context: &Context,
    plan: &OpenPlan,
    to: To,
    out: &Path,
    written: &Written,
) -> Result<(), CommandError> {
    if context.format == Format::Json {
        let shown = |paths: &[PathBuf]| paths.iter().map(|path| context.shown(path)).collect::<Vec<_>>();
        return context.printer.json(&json!({
            "planId": plan.id(),
            "to": to.name(),
            "written": shown(&written.files),
            "replaced": shown(&written.replaced),
            "left": shown(&written.left),
        }));
    }
    let note = |text: String| context.printer.note(&format!("note: {text}"));
    match &written.files[..] {
        [file] => note(format!("written to {}", context.shown(file))),
        files => note(format!("{} files written to {}", files.len(), context.shown(out))),
    }
    for path in &written.replaced {
        note(format!("{} was replaced", context.shown(path)));
    }
    for path in &written.left {
        note(format!("{} is of another export, and was left alone", context.shown(path)));
    }
    Ok(())
}
