//! A task tree that a command reads: that of a plan, or any Markdown file.

use std::path::{Path, PathBuf};

use fp_host::facts;
use fp_host::file::{self, TASKS_CAP};
use fp_host::plan::OpenPlan;
use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::{Plan, parse};
use fp_plan::rules::{RuleFacts, check};
use fp_plan::text::shell_quoted;
use fp_run::interview::Interview;

use crate::context::Context;
use crate::error::CommandError;

/// Largest `interview.json` that is read, in bytes.
const INTERVIEW_CAP: u64 = 16 * 1024 * 1024;

/// Where a tree comes from.
#[derive(Debug)]
pub(crate) struct PlanSource {
    /// What it is called in messages.
    pub(crate) name: String,
    /// Its file.
    pub(crate) path: PathBuf,
    /// Its plan, where it belongs to one.
    pub(crate) plan: Option<OpenPlan>,
    root: PathBuf,
    max_complexity: u32,
}

impl PlanSource {
    /// What `argument` means: a value that ends in `.md` is a file, every other one a plan, and none the only
    /// active plan.
    pub(crate) fn open(context: &Context, argument: Option<&str>) -> Result<Self, CommandError> {
        let root = context.repo().root.clone();
        if let Some(path) = argument.filter(|a| is_markdown(a)) {
            return Ok(Self {
                name: path.to_owned(),
                path: context.cwd.join(path),
                plan: None,
                root,
                max_complexity: context.settings()?.max_complexity,
            });
        }
        let plan = context.open(argument)?;
        let path = plan.tasks_file();
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        Ok(Self { name, path, root, max_complexity: plan.settings.max_complexity, plan: Some(plan) })
    }

    /// Its text.
    pub(crate) fn text(&self) -> Result<String, CommandError> {
        file::read_text(&self.path, TASKS_CAP).map_err(|error| {
            let missing = error.is_missing();
            let error = CommandError::from(error);
            match &self.plan {
                Some(plan) if missing => CommandError {
                    hints: vec![format!(
                        "write the task tree there, or plan again: /fp:plan; the plan is {}",
                        plan.id()
                    )],
                    ..error
                },
                _ => error,
            }
        })
    }

    /// What names it on a command line, quoted for a shell where it has to be.
    pub(crate) fn argument(&self) -> String {
        let name = self.plan.as_ref().map_or(self.name.as_str(), |plan| plan.id().as_str());
        shell_quoted(name)
    }

    /// What the rules need to know about `plan`, the tree in it.
    pub(crate) fn facts(&self, plan: &Plan) -> Result<RuleFacts, CommandError> {
        let path = self.path.with_file_name("interview.json");
        let interview = match file::read_text_if_there(&path, INTERVIEW_CAP)? {
            None => None,
            Some(text) => Some(
                Interview::parse(&text)
                    .map_err(|error| CommandError::worded(format!("{}: {error}", path.display()), &error))?,
            ),
        };
        Ok(facts::gather(&self.root, plan, self.max_complexity, interview.as_ref()))
    }

    /// The tree in its `text`. Fails when that is not valid.
    pub(crate) fn valid_tree<'t>(&self, text: &'t str) -> Result<Plan<'t>, CommandError> {
        let (plan, problems) = parse(text);
        self.refuse_invalid(&plan, &problems)?;
        Ok(plan)
    }

    /// Fails where `plan`, its tree, is not valid; `problems` is what the parser found in it.
    pub(crate) fn refuse_invalid(&self, plan: &Plan, problems: &[Diagnostic]) -> Result<(), CommandError> {
        let found = check(plan, problems, &self.facts(plan)?);
        let errors = found.iter().filter(|d| d.severity == Severity::Error).count();
        if errors > 0 {
            let what = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
            return Err(CommandError::refused(format!("{} is not valid: it has {what}", self.name))
                .hint(format!("`fp validate {}` shows them", self.argument())));
        }
        Ok(())
    }

    /// The plan it belongs to. Fails for a mere file.
    pub(crate) fn plan(&self) -> Result<&OpenPlan, CommandError> {
        self.plan.as_ref().ok_or_else(|| {
            CommandError::failed(format!("{} is a file, and a plan is needed", self.name))
                .hint("name the plan: `fp plans` lists them")
        })
    }

    /// Fails while the plan's run is on: its tree does not change under it.
    pub(crate) fn refuse_running(&self) -> Result<(), CommandError> {
        let Some(plan) = &self.plan else { return Ok(()) };
        if plan.load()?.state.is_running() {
            return Err(CommandError::refused(format!(
                "the run of {} is on: its tree is not changed",
                plan.id()
            ))
            .hint("`fp task` adds or revises one task; `fp cancel` ends the run"));
        }
        Ok(())
    }
}

fn is_markdown(argument: &str) -> bool {
    Path::new(argument).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}
