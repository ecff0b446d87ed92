//! `fp new`.

mod wanted;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_core::commit_style::{CommitHistory, SUBJECTS};
use fp_core::debt::{Debt, Offer, offer};
use fp_core::interview::intent::{Classified, classify};
use fp_core::interview::mode::{propose, several_plans};
use fp_core::interview::{Intent, Mode, Proposal, Step, Strategy, strategy};
use fp_core::plan::id::{PlanId, TaskId};
use fp_core::reading_language;
use fp_core::run::event::Decider;
use fp_core::run::state::Status;
use fp_core::settings::{PartialSettings, Ranged, Settings};
use fp_core::specs::{Category, ReadMode, Spec, applicable};
use fp_host::config::Origin;
use fp_host::debts::Read;
use fp_host::git::{Git, GitError};
use fp_host::plan_folder::PlanRecord;
use fp_host::specs::Specs;
use serde::Serialize;
use serde_json::json;

use self::wanted::Wanted;
use crate::context::Context;
use crate::context::Known;
use crate::debts;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;
use crate::render::debts as render;
use crate::specs;

/// Make a plan folder for a goal and say how to plan it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is to be done, in your own words; put `--` before it if it begins with a dash
    #[arg(required_unless_present = "roadmap", value_name = "GOAL")]
    goal: Vec<String>,
    /// The roadmap whose next layer the plan makes, with that layer's goal where you give none.
    #[arg(long, value_name = "ID")]
    roadmap: Option<String>,
    /// The layer of it, where several are due.
    #[arg(long, value_name = "LAYER", requires = "roadmap")]
    layer: Option<TaskId>,
    /// How much planning; proposed from the goal where it is left out
    #[arg(long, value_parser = PossibleValuesParser::new(Mode::ALL.map(Mode::name)).try_map(|mode| mode.parse::<Mode>()))]
    mode: Option<Mode>,
    /// What kind of work it is; read off the goal's words where it is left out
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Intent::ALL.map(Intent::name)).try_map(|name| name.parse::<Intent>()))]
    intent: Option<Intent>,
    /// Plan without questions: what would be asked is decided and recorded as an assumption
    #[arg(long)]
    auto: bool,
    /// Highest complexity (1-10) of a task in this plan
    #[arg(long, value_name = "N")]
    max_complexity: Option<Ranged<1, 10>>,
    /// End with the research, without a plan
    #[arg(long)]
    research_only: bool,
    /// End with the plan, without offering to run it
    #[arg(long)]
    plan_only: bool,
}

/// What the skill and the user are told.
struct Report {
    record: PlanRecord,
    path: PathBuf,
    settings: Settings,
    strategy: Strategy,
    interrupted: Vec<Interrupted>,
    debts: Vec<Debt>,
    attended: bool,
    history: CommitHistory,
    /// What people read is written in it, where that is known.
    language: Option<String>,
    specs: Vec<SpecLine>,
    /// Why the goal may be several plans.
    several: Option<String>,
    warnings: Vec<String>,
}

/// A spec that applies to finding out and planning.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecLine {
    title: String,
    path: PathBuf,
    read_mode: ReadMode,
    category: Category,
}

/// A plan whose run is not over.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Interrupted {
    plan_id: PlanId,
    done: usize,
    total: usize,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let Wanted { words, goal, name, roadmap, warning } = Wanted::read(&args, context)?;
    let flags = flags(&args);
    let settings = context.settings_with(Origin::Plan, flags.clone())?;
    let mut warnings: Vec<String> = git_warning(context).into_iter().chain(warning).collect();
    let known = context.known_plans()?;
    let interrupted = interrupted(&known, &mut warnings);
    let debts = debts(&known, context, &mut warnings)?;

    let (intent, proposal) = kind_and_mode(&words, &args);
    let proposal = if settings.research_only { proposal.for_research() } else { proposal };
    let folder = context.plans()?.create(&name, context.today())?;
    let record = PlanRecord {
        plan_id: folder.id().clone(),
        goal,
        intent,
        mode: proposal.name,
        mode_reason: proposal.reason,
        created_at: context.now(),
        by: if args.auto { Decider::Auto } else { Decider::User },
        settings: flags,
    };
    if let Err(error) = folder.describe_for(&record, roadmap.as_ref()) {
        // A folder without its goal is no plan; it is ours and empty.
        drop(std::fs::remove_dir(folder.path()));
        return Err(error.into());
    }
    let report = Report {
        history: history(context).in_language(settings.language.as_deref()),
        language: reading_language::of(settings.language.as_deref(), &record.goal),
        specs: specs(&record.goal, context, &mut warnings),
        several: if roadmap.is_none() { several_plans(&words) } else { None },
        path: folder.path().to_owned(),
        settings,
        strategy: strategy(intent),
        interrupted,
        debts,
        attended: context.attended(),
        warnings,
        record,
    };
    for warning in &report.warnings {
        context.printer.note(&format!("warning: {warning}"));
    }
    match context.format {
        Format::Json => context.printer.json(&report.json())?,
        Format::Text => context.printer.data(&report.text(context)),
    }
    Ok(Exit::Done)
}

/// The settings that are given for this plan alone.
fn flags(args: &Args) -> PartialSettings {
    PartialSettings {
        max_complexity: args.max_complexity,
        research_only: args.research_only.then_some(true),
        plan_only: args.plan_only.then_some(true),
        ..PartialSettings::default()
    }
}

/// What kind of work the goal is and how much planning it gets, as asked for or else as its words say.
fn kind_and_mode(goal: &str, args: &Args) -> (Intent, Proposal) {
    let classified =
        args.intent.map_or_else(|| classify(goal), |intent| Classified { intent, because: None });
    let proposal = match (args.mode, propose(goal, &classified)) {
        (Some(name), _) => Proposal { name, reason: "asked for with --mode".into() },
        (None, Proposal { name, reason }) if args.intent.is_some() => {
            Proposal { name, reason: format!("{reason} (asked for with --intent)") }
        }
        (None, proposal) => proposal,
    };
    (classified.intent, proposal)
}

/// What will keep a plan from being implemented here, though it can be made.
fn git_warning(context: &Context) -> Option<String> {
    let repo = context.repo();
    let found = match repo.git_dir {
        Some(_) => Git::open(&repo.root).and_then(|git| git.head()),
        None => Err(GitError::NotARepository(repo.root.clone())),
    };
    let missing = match found {
        Ok(_) => return None,
        Err(GitError::NotARepository(_)) => {
            "there is no git repository here; run `git init` and commit".to_owned()
        }
        Err(GitError::NoCommit) => "the repository has no commit yet; make one".to_owned(),
        Err(GitError::NotInstalled) => "git was not found on PATH; install it".to_owned(),
        Err(error) => return Some(error.to_string()),
    };
    Some(format!("{missing} before the plan is implemented, since every task becomes a commit"))
}

/// The specs that apply to planning for this goal; those that can't be read become warnings.
fn specs(goal: &str, context: &Context, warnings: &mut Vec<String>) -> Vec<SpecLine> {
    let found = Specs::load(context.repo());
    warnings.extend(specs::warnings(&found));
    let stages = [Category::Exploration, Category::Planning];
    let line = |spec: &Spec| SpecLine {
        title: spec.title.clone(),
        path: found.path(spec),
        read_mode: spec.read_mode,
        category: spec.category,
    };
    applicable(&found.specs, &stages, goal).into_iter().map(|(spec, _)| line(spec)).collect()
}

/// The recent subjects: titles of tasks become subjects, so they are best written in the same language.
fn history(context: &Context) -> CommitHistory {
    let subjects = Git::open(&context.repo().root).and_then(|git| git.recent_subjects(SUBJECTS));
    CommitHistory::of(&subjects.unwrap_or_default())
}

/// The plans whose run is not over; one whose log can't be read becomes a warning.
fn interrupted(known: &[Known], warnings: &mut Vec<String>) -> Vec<Interrupted> {
    let mut interrupted = Vec::new();
    for Known { folder, state, .. } in known.iter().filter(|known| !known.archived) {
        match state {
            Ok(state) if state.is_running() => {
                let (done, total) = (state.count(Status::Completed), state.tasks.len());
                interrupted.push(Interrupted { plan_id: folder.id().clone(), done, total });
            }
            Ok(_) => {}
            Err(error) => warnings.push(format!("plan {}: {}", folder.id(), error.message)),
        }
    }
    interrupted
}

/// What is left to be done some day; nothing but a warning where its log can't be read.
fn debts(known: &[Known], context: &Context, warnings: &mut Vec<String>) -> Result<Vec<Debt>, CommandError> {
    let read = debts::log(context)?.read().unwrap_or_else(|error| {
        warnings.push(error.to_string());
        Read::default()
    });
    warnings.extend(read.notices);
    Ok(debts::of(&read.entries, known))
}

impl Report {
    fn steps(&self) -> Vec<Step> {
        self.record.mode.steps(self.record.intent, &self.settings)
    }

    fn json(&self) -> serde_json::Value {
        let Self { record, settings, .. } = self;
        let Offer { debts, more } = offer(&self.debts, &record.goal);
        json!({
            "planId": record.plan_id,
            "path": self.path,
            "goal": record.goal,
            "intent": record.intent,
            "mode": { "name": record.mode, "reason": record.mode_reason },
            "steps": self.steps(),
            "strategy": self.strategy,
            "config": {
                "maxComplexity": settings.max_complexity,
                "maxParallelTasks": settings.max_parallel_tasks,
                "preAnalysis": settings.pre_analysis,
                "researchOnly": settings.research_only,
                "planOnly": settings.plan_only,
                "linear": settings.linear.enabled,
                "skipPlanReview": settings.skip_plan_review,
                "language": settings.language,
            },
            "interruptedPlans": self.interrupted,
            "debts": debts.iter().map(|debt| offered(debt)).collect::<Vec<_>>(),
            "moreDebts": more,
            "severalPlans": self.several,
            "attended": self.attended,
            "language": self.language.as_deref().map(reading_language::rule),
            "commitStyle": { "style": self.history.style(), "language": self.history.language_name() },
            "specs": self.specs,
            "warnings": self.warnings,
        })
    }

    fn text(&self, context: &Context) -> String {
        let Self { record, .. } = self;
        let id = &record.plan_id;
        let steps: Vec<_> = self.steps().into_iter().map(Step::name).collect();
        let mut text = format!("Plan {id}\n  folder  {}\n", self.path.display());
        text += &format!("  intent  {}\n", record.intent.name());
        text += &format!("  mode    {}: {}\n", record.mode.name(), record.mode_reason);
        text += &format!("  steps   {}\n", steps.join(", "));
        if let Some(language) = &self.language {
            text += &format!("  words   {language}\n");
        }
        if let Some(why) = &self.several {
            text += &format!("  or      several plans, since {why}: fp roadmap new GOAL\n");
        }
        text += "\nLook at:\n";
        text += &bullets(self.strategy.focus_areas);
        text += "\nAsk first:\n";
        text += &bullets(self.strategy.first_questions);
        if self.steps().contains(&Step::Research) {
            text += "\nFind out:\n";
            text += &bullets(self.strategy.research_prompts);
        }
        if !self.specs.is_empty() {
            text += &format!("\nWhat the project wants (`fp specs for {id}` prints it):\n");
        }
        for SpecLine { title, path, read_mode, .. } in &self.specs {
            text += &format!("  {:<8}  {}: {title}\n", read_mode.word(), context.shown(path));
        }
        text += "\nNext, by hand (`/fp:plan` in Claude Code does all of it):\n";
        text += &format!("  fp interview {id} --objective TEXT --requirement TEXT\n");
        text += "  write tasks.md in the folder\n";
        text += &format!("  fp validate {id}\n  fp plan {id}\n  fp approve {id}\n");
        let Offer { debts, more } = offer(&self.debts, &record.goal);
        text += &render::offer(&debts, more, id.as_str());
        if !self.interrupted.is_empty() {
            text += "\nNot finished yet (`/fp:implement PLAN` goes on):\n";
            for plan in &self.interrupted {
                text += &format!("  {}  {} of {} done\n", plan.plan_id, plan.done, plan.total);
            }
        }
        text
    }
}

/// A debt as the skill is told of it.
fn offered(debt: &Debt) -> serde_json::Value {
    let Debt { id, text, files, from, .. } = debt;
    json!({ "id": id, "text": text, "files": files, "from": from })
}

fn bullets(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("  - {line}\n")).collect()
}
