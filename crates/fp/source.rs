//! Lets commands that read a task tree accept either a plan or any Markdown file.

use std::path::{Path, PathBuf};

use fp_host::facts;
use fp_host::file::{self, TASKS_CAP};
use fp_host::plan::OpenPlan;
use fp_plan::diagnostic::{Diagnostic, Severity};
use fp_plan::plan::id::TaskId;
use fp_plan::plan::{Plan, parse};
use fp_plan::rules::{RuleFacts, check_plan};
use fp_plan::text::{counted, shell_quoted};
use fp_run::interview::Interview;

use crate::context::{Context, tree_error};
use crate::error::CommandError;
use crate::features::exchange::ORIGIN;

/// Size limit of `interview.json`, in bytes.
const INTERVIEW_CAP: u64 = 16 * 1024 * 1024;

/// The source of a task tree.
#[derive(Debug)]
pub(crate) struct PlanSource {
    /// The source's name in messages.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The plan that the tree belongs to, if any.
    pub(crate) plan: Option<OpenPlan>,
    root: PathBuf,
    max_complexity: u32,
}

impl PlanSource {
    /// Opens the tree that `argument` names: a value that ends in `.md` is a file, any other is a plan; without a
    /// value, it is the only active plan.
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
        Self::of_plan(context, context.open(argument)?)
    }

    /// Like `open`, but for reading: without `argument`, it may be the plan whose log changed last.
    pub(crate) fn open_to_read(
        context: &Context,
        argument: Option<&str>,
    ) -> Result<Self, CommandError> {
        match argument.filter(|a| is_markdown(a)) {
            Some(_) => Self::open(context, argument),
            None => Self::of_plan(context, context.open_to_read(argument)?),
        }
    }

    fn of_plan(context: &Context, plan: OpenPlan) -> Result<Self, CommandError> {
        let root = context.repo().root.clone();
        let path = plan.tasks_file();
        let name = path
            .strip_prefix(&root)
            .unwrap_or(&path)
            .display()
            .to_string();
        Ok(Self {
            name,
            path,
            root,
            max_complexity: plan.settings.max_complexity,
            plan: Some(plan),
        })
    }

    pub(crate) fn read_text(&self) -> Result<String, CommandError> {
        file::read_text(&self.path, TASKS_CAP).map_err(|error| match &self.plan {
            Some(plan) => tree_error(plan, error),
            None => error.into(),
        })
    }

    /// The argument that names this source on a command line, quoted for a shell if necessary.
    pub(crate) fn argument(&self) -> String {
        let name = self
            .plan
            .as_ref()
            .map_or(self.name.as_str(), |plan| plan.id().as_str());
        shell_quoted(name)
    }

    /// The facts about `plan`, the tree in this source, that the rules need.
    pub(crate) fn facts(&self, plan: &Plan) -> Result<RuleFacts, CommandError> {
        let interview = interview_at(&self.path.with_file_name("interview.json"))?;
        let programs = std::env::var_os("PATH").unwrap_or_default();
        let mut facts = facts::gather(
            &self.root,
            plan,
            self.max_complexity,
            interview.as_ref(),
            &programs,
        );
        // Only an import's log says which work was already done; other logs aren't read, to save time. An
        // unreadable log must not prevent corrections of the tree.
        let imported = self
            .plan
            .as_ref()
            .filter(|plan| plan.folder.file(ORIGIN).exists());
        if let Some(Ok(loaded)) = imported.map(OpenPlan::load) {
            let imported = loaded.state.imported.iter();
            facts.done = imported
                .map(|(id, done)| (id.to_string(), done.title.clone()))
                .collect();
        }
        Ok(facts)
    }

    /// Parses the tree in `text`. Fails unless it is valid.
    pub(crate) fn valid_tree<'t>(&self, text: &'t str) -> Result<Plan<'t>, CommandError> {
        let (plan, problems) = parse(text);
        self.refuse_invalid(&plan, &problems)?;
        Ok(plan)
    }

    /// Fails unless `plan`, the tree in this source, is valid; `problems` are the parser's findings.
    pub(crate) fn refuse_invalid(
        &self,
        plan: &Plan,
        problems: &[Diagnostic],
    ) -> Result<(), CommandError> {
        let found = check_plan(plan, problems, &self.facts(plan)?);
        let errors = found
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .count();
        if errors > 0 {
            let what = counted(errors, "error");
            return Err(CommandError::refused(format!(
                "{} is not valid: it has {what}",
                self.name
            ))
            .with_hint(format!("`fp validate {}` shows them", self.argument())));
        }
        Ok(())
    }

    /// True if the tree remains valid when `id`, which was done before the import, is to be done again.
    pub(crate) fn is_valid_anew(&self, id: &TaskId) -> Result<bool, CommandError> {
        let text = self.read_text()?;
        let (plan, problems) = parse(&text);
        let mut facts = self.facts(&plan)?;
        facts.done.remove(id.as_str());
        Ok(check_plan(&plan, &problems, &facts)
            .iter()
            .all(|found| found.severity != Severity::Error))
    }

    /// The plan that the tree belongs to. Fails if the source is a file without a plan.
    pub(crate) fn plan(&self) -> Result<&OpenPlan, CommandError> {
        self.plan.as_ref().ok_or_else(|| {
            CommandError::failed(format!("{} is a file, and a plan is needed", self.name))
                .with_hint("name the plan: `fp plans` lists them")
        })
    }

    /// Writes `text` to the file. Fails during the plan's run, and also for a link, which may lead to somebody else's
    /// file.
    pub(crate) fn write(&self, text: &str) -> Result<(), CommandError> {
        self.refuse_running()?;
        if self.path.is_symlink() {
            return Err(CommandError::refused(format!(
                "{} is unchanged: it is a symbolic link",
                self.name
            ))
            .with_hint("name the file that it leads to"));
        }
        Ok(file::atomic_write(&self.path, text.as_bytes())?)
    }

    /// Fails during the plan's run, when its tree must not change.
    pub(crate) fn refuse_running(&self) -> Result<(), CommandError> {
        let Some(plan) = &self.plan else {
            return Ok(());
        };
        if plan.load()?.state.is_running() {
            let message = format!("the run of {} is on: its tree is not changed", plan.id());
            return Err(CommandError::refused(message)
                .with_hint("`fp task` edits one task; `fp cancel` ends the run"));
        }
        Ok(())
    }
}

fn is_markdown(argument: &str) -> bool {
    Path::new(argument)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

/// The interview recorded in the file `path`, if the file exists.
pub(crate) fn interview_at(path: &Path) -> Result<Option<Interview>, CommandError> {
    let Some(text) = file::read_text_if_there(path, INTERVIEW_CAP)? else {
        return Ok(None);
    };
    let failed = |error| CommandError::with_message(format!("{}:{error}", path.display()), &error);
    Interview::parse(&text).map(Some).map_err(failed)
}
