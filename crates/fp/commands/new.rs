//! `fp new`: creates a plan's folder and tells the skill how to plan its goal.

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args as _, FromArgMatches as _};
use fp_host::config::SettingOrigin;
use fp_host::git::Git;
use fp_host::plan_folder::{OfLayer, PlanRecord};
use fp_host::trust::{Consent, ConsentSource};
use fp_plan::hint::Hint as _;
use fp_plan::plan::id::PlanId;
use fp_plan::reading_language;
use fp_plan::settings::{self, Settings, SettingsLayer};
use fp_plan::setup::{SetupProposal, propose_setup};
use fp_plan::text::wrapped_within;
use fp_run::commit_style::{CommitHistory, SUBJECTS};
use fp_run::interview::{Mode, PlanningStep};
use fp_run::run::event::Decider;
use fp_run::run::notepad::NoteKind;
use fp_run::run::state::Status;
use serde::Serialize;
use serde_json::{Value, json};
use strum::VariantArray as _;

use super::review::{IssueGoal, issue_named, read_issue};
use crate::context::{Context, Known};
use crate::error::{CommandError, CommandResult};
use crate::features::exchange::import_to_complete;
use crate::features::roadmap::layer_to_plan;
use crate::features::specs::{PlanningSpecs, specs_for_planning};
use crate::input::read_standard_input;
use crate::printer::WIDTH;

/// Start a plan for a goal, and show how to plan it
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The goal, in your own words; `-` reads it from standard input; put `--` before it if it begins with
    /// a dash
    #[arg(required_unless_present_any = ["roadmap", "from_prompt", "path", "issue"], value_name = "GOAL")]
    goal: Vec<String>,
    /// Take the goal and the flags from the `/fp:plan` prompt that the user typed in this session
    #[arg(long, conflicts_with_all = ["goal", "roadmap", "path", "auto", "max_complexity", "research_only", "plan_only"])]
    from_prompt: bool,
    /// The roadmap whose due layer the plan implements; without a goal of yours, that layer's is used.
    #[arg(long, value_name = "ID")]
    roadmap: Option<String>,
    /// Plan from a folder or file instead: a plan of another system, or any texts
    #[arg(id = "path", long = "import", value_name = "PATH", conflicts_with_all = ["roadmap", "mode", "research_only"])]
    import: Option<PathBuf>,
    /// The issue whose text is the goal: its number, or its address. A goal of `#NUMBER` alone is the same.
    #[arg(long, value_name = "ISSUE", conflicts_with_all = ["goal", "roadmap", "path"])]
    issue: Option<String>,
    /// How much planning: `direct` for one task without open choices, `specified` for a goal that says what to build,
    /// `pipeline` where something has to be asked, `full` where something has to be researched; `pipeline` by default
    #[arg(long, value_parser = PossibleValuesParser::new(Mode::VARIANTS.iter().map(|mode| mode.into_str())).try_map(|name| name.parse::<Mode>()))]
    mode: Option<Mode>,
    /// Plan without questions: decide each one and record it as an assumption
    #[arg(long)]
    auto: bool,
    /// How many builders (1-16) the plan is made for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    builders: Option<u32>,
    /// Highest complexity (1-10) of a task in this plan
    #[arg(long, value_name = "N", value_parser = |text: &str| settings::whole_number("maxComplexity", text))]
    max_complexity: Option<u32>,
    /// Stop after the research, without a plan
    #[arg(long)]
    research_only: bool,
    /// A flag of version 0.2, which did nothing
    #[arg(long, hide = true)]
    plan_only: bool,
}

/// The information for the skill and the user.
struct NewPlan {
    record: PlanRecord,
    /// The goal, if it came from the prompt or from a roadmap layer.
    taken_goal: Option<String>,
    path: PathBuf,
    /// The report of the import that created the plan.
    import: Option<Value>,
    settings: Settings,
    interrupted: Vec<InterruptedPlan>,
    /// The latest notes about work for later, one line each.
    debts: Vec<String>,
    attended: bool,
    commit_style: Value,
    /// The language of texts for people, if known.
    language: Option<String>,
    specs: PlanningSpecs,
    /// The setup of a fresh checkout, by the project's files.
    setup: Vec<SetupProposal>,
    warnings: Vec<String>,
}

/// A plan with an unfinished run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InterruptedPlan {
    plan_id: PlanId,
    done: usize,
    total: usize,
}

/// Size limit of a goal from standard input, in bytes.
const GOAL_CAP: u64 = 1024 * 1024;
/// Maximum number of notes about work for later to show.
const MOST_DEBTS: usize = 10;
/// The flags that take a value.
const VALUED: [&str; 5] = [
    "--mode",
    "--max-complexity",
    "--builders",
    "--import",
    "--issue",
];
const NAME_THE_GOAL: &str = "name the goal: `fp new 'Add a greeting command'`";
/// The skill whose prompt contains a goal.
pub(crate) const PLAN_SKILL: &str = "/fp:plan";

impl NewArgs {
    /// The arguments in the prompt that the user typed in this session. Each prompt can be used once.
    fn from_prompt(context: &Context) -> Result<Self, CommandError> {
        let session = context.session();
        let take = |session: String| Ok(context.trust()?.take_prompt(&session)?);
        let prompt = session.map(take).transpose().map(Option::flatten);
        let prompt = prompt.and_then(|prompt| {
            prompt.ok_or_else(|| {
                let message = format!("no {PLAN_SKILL} prompt of this session is left to plan");
                CommandError::refused(message).with_hint(NAME_THE_GOAL)
            })
        })?;
        Self::in_prompt(&prompt).map_err(|error| {
            let error = error.to_string();
            let fault = error.strip_prefix("error: ").unwrap_or(&error);
            let fault = fault.lines().next().unwrap_or_default();
            CommandError::failed(format!("{PLAN_SKILL}: {fault}"))
                .with_hint(format!("{PLAN_SKILL} takes its flags before the goal"))
        })
    }

    /// Reads `prompt` as typed: flags first, then the goal, which may contain anything.
    fn in_prompt(prompt: &str) -> Result<Self, clap::Error> {
        let mut goal = prompt.trim().trim_start_matches(PLAN_SKILL).trim_start();
        let mut words = Vec::new();
        let mut wants_value = false;
        loop {
            // A value with spaces is quoted as in a shell.
            let quoted = ['"', '\'']
                .into_iter()
                .find_map(|quote| goal.strip_prefix(quote)?.split_once(quote));
            let plain = goal.split_once(char::is_whitespace).unwrap_or((goal, ""));
            let (word, rest) = quoted.filter(|_| wants_value).unwrap_or(plain);
            if goal.is_empty() || !wants_value && !word.starts_with("--") {
                break;
            }
            wants_value = !wants_value && VALUED.contains(&word);
            words.push(word);
            goal = rest.trim_start();
        }
        words.extend(["--", goal]);
        let command = Self::augment_args(clap::Command::new(PLAN_SKILL).no_binary_name(true));
        Self::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

pub(crate) fn create_plan(args: NewArgs, context: &Context) -> CommandResult {
    let is_typed = args.from_prompt;
    let args = match is_typed {
        true => {
            let typed = NewArgs::from_prompt(context)?;
            NewArgs {
                mode: typed.mode.or(args.mode),
                builders: typed.builders.or(args.builders),
                ..typed
            }
        }
        false => args,
    };
    let planned = PlanGoal::from_args(&args, context)?;
    let is_layer = planned.roadmap.is_some() || planned.issue.is_some();
    let flags = flags_of(&args);
    let settings = context.settings_with(SettingOrigin::Plan, flags.clone())?;
    let mut warnings: Vec<String> = git_warning(context).into_iter().collect();
    let (known, _) = context.own_plans(true)?;
    let interrupted = interrupted_plans(&known, &mut warnings, context);
    let by = match args.auto {
        true => Decider::Auto,
        false => Decider::User,
    };
    let (path, record, import) = match &args.import {
        Some(path) => {
            let (path, record, import) = import_to_complete(path, flags, by, context)?;
            (path, record, Some(import))
        }
        None => {
            let (mode, reason) = mode_of(&args, &settings);
            let (path, record) = new_folder(planned, mode, reason, flags, by, context)?;
            (path, record, None)
        }
    };
    if is_typed && args.auto {
        let plan = record.plan_id.clone();
        let trust = context.trust()?;
        trust.add(Consent::Auto { plan }, ConsentSource::Prompt, context.now())?;
    }
    let language = settings.language.as_deref();
    let report = NewPlan {
        commit_style: commit_style(language, context),
        language: reading_language::choose_language(language, &record.goal),
        specs: specs_for_planning(&record.goal, context, &mut warnings),
        setup: propose_setup(|file| context.repo().root.join(file).is_file()),
        taken_goal: (is_layer || is_typed).then(|| record.goal.clone()),
        path,
        import,
        settings,
        interrupted,
        debts: debts_of(&known),
        attended: context.attended(),
        warnings,
        record,
    };
    report
        .warnings
        .iter()
        .for_each(|warning| context.warn(warning));
    context.report(&report.json(), &report.to_text())
}

/// Makes the folder of a plan that isn't imported.
fn new_folder(
    planned: PlanGoal,
    mode: Mode,
    reason: &str,
    settings: SettingsLayer,
    by: Decider,
    context: &Context,
) -> Result<(PathBuf, PlanRecord), CommandError> {
    let folder = context.plans()?.create(&planned.name, context.today())?;
    let record = PlanRecord {
        plan_id: folder.id().clone(),
        goal: planned.goal,
        mode,
        mode_reason: reason.to_owned(),
        created_at: context.now(),
        by,
        settings,
        issue: planned.issue,
    };
    context.note_made(folder.id());
    if let Err(error) = folder.describe(&record, planned.roadmap.as_ref()) {
        // A folder without its goal isn't a plan, and this one is new and empty.
        drop(std::fs::remove_dir(folder.path()));
        return Err(error.into());
    }
    Ok((folder.path().to_owned(), record))
}

/// The goal of a new plan.
pub(crate) struct PlanGoal {
    /// The user's words, and the text of the roadmap layer.
    pub(crate) goal: String,
    /// The beginning of the plan's id.
    pub(crate) name: String,
    /// The roadmap layer that the plan implements.
    pub(crate) roadmap: Option<OfLayer>,
    /// The number of the issue that the goal comes from.
    pub(crate) issue: Option<u64>,
}

impl PlanGoal {
    /// Takes the goal from the arguments, or from the layer that they name. Fails if there is none.
    fn from_args(args: &NewArgs, context: &Context) -> Result<Self, CommandError> {
        let words = match args.goal.as_slice() {
            [dash] if dash == "-" => read_standard_input(GOAL_CAP)?.trim().to_owned(),
            words => words.join(" "),
        };
        if let Some(selector) = &args.roadmap {
            return layer_to_plan(selector, words, context);
        }
        let issue = args.issue.as_deref();
        let issue = issue.or_else(|| issue_named(&words).map(|_| words.as_str()));
        if let Some(named) = issue.filter(|_| args.import.is_none()) {
            let IssueGoal { goal, name, number } = read_issue(named, context)?;
            return Ok(Self {
                goal,
                name,
                roadmap: None,
                issue: Some(number),
            });
        }
        match (args.import.is_some(), words.trim().is_empty()) {
            (true, false) => Err(
                CommandError::failed("an imported plan has its goal already")
                    .with_hint("give the path and the flags alone"),
            ),
            (false, true) => {
                Err(CommandError::failed("the goal is empty").with_hint(NAME_THE_GOAL))
            }
            _ => Ok(Self {
                goal: words.clone(),
                name: words,
                roadmap: None,
                issue: None,
            }),
        }
    }
}

/// The settings that the flags give to this plan only.
fn flags_of(args: &NewArgs) -> SettingsLayer {
    let mut layer = SettingsLayer::default();
    let mut give = |key, value: Value| layer.set(key, value).expect("the table takes it");
    if let Some(most) = args.max_complexity {
        give("maxComplexity", most.into());
    }
    if let Some(builders) = args.builders {
        give("maxParallelTasks", builders.into());
    }
    if args.research_only {
        give("researchOnly", true.into());
    }
    layer
}

/// The mode and its reason.
fn mode_of(args: &NewArgs, settings: &Settings) -> (Mode, &'static str) {
    match args.mode {
        Some(Mode::Direct) if settings.research_only => (
            Mode::Pipeline,
            "research is asked for, of which direct mode has none",
        ),
        Some(mode) => (mode, "asked for with --mode"),
        None => (Mode::default(), "no --mode says otherwise"),
    }
}

/// The reason why a plan can't be implemented here, if any; it doesn't prevent planning.
fn git_warning(context: &Context) -> Option<String> {
    let git = Git::open(&context.repo().root);
    let error = git.and_then(|git| git.head()).err()?;
    let hint: String = error
        .hint()
        .iter()
        .map(|hint| format!("; {hint}"))
        .collect();
    Some(format!("every task becomes a commit, and {error}{hint}"))
}

/// Style and language of recent commit subjects, since task titles become subjects.
fn commit_style(language: Option<&str>, context: &Context) -> Value {
    let subjects = Git::open(&context.repo().root).and_then(|git| git.recent_subjects(SUBJECTS));
    let subjects = subjects.unwrap_or_default();
    let language = reading_language::choose_language(language, &subjects.join("\n"));
    let language = language.unwrap_or_else(|| "as in the last commits".to_owned());
    json!({ "style": CommitHistory::from_subjects(&subjects).style(), "language": language })
}

/// The notes about work for later in unarchived plans, newest first.
fn debts_of(known: &[Known]) -> Vec<String> {
    let active = known.iter().filter(|known| !known.archived);
    let mut states: Vec<_> = active
        .filter_map(|known| known.state.as_ref().ok())
        .collect();
    states.sort_by_key(|state| Reverse(state.last_at));
    let notes = states.iter().flat_map(|state| {
        let notes = state.notes.iter().rev();
        let debts = notes.filter(|note| note.kind == NoteKind::Debt && !note.ended);
        debts.map(|note| format!("{} {}", state.plan_id, note.notepad_line()))
    });
    notes.take(MOST_DEBTS).collect()
}

/// The plans with an unfinished run; one whose log can't be read becomes a warning.
fn interrupted_plans(
    known: &[Known],
    warnings: &mut Vec<String>,
    context: &Context,
) -> Vec<InterruptedPlan> {
    let mut interrupted = Vec::new();
    for Known { folder, state, .. } in known.iter().filter(|known| !known.archived) {
        match state {
            Ok(state) if state.is_running() && context.approved_here(state) => {
                interrupted.push(InterruptedPlan {
                    plan_id: folder.id().clone(),
                    done: state.count_in(Status::Completed),
                    total: state.tasks.len(),
                });
            }
            Ok(_) => {}
            Err(error) => warnings.push(format!("plan {}: {}", folder.id(), error.message)),
        }
    }
    interrupted
}

impl NewPlan {
    fn steps(&self) -> Vec<PlanningStep> {
        let steps = self.record.mode.steps(&self.settings);
        let Some(import) = &self.import else {
            return steps;
        };
        let is_due = |step: &PlanningStep| match step {
            PlanningStep::Interview | PlanningStep::Research | PlanningStep::Approach => false,
            PlanningStep::Decompose => import["validation"]["errors"] != 0,
            PlanningStep::Critique | PlanningStep::Review | PlanningStep::Approve => true,
        };
        steps.into_iter().filter(is_due).collect()
    }

    fn json(&self) -> Value {
        let Self {
            record, settings, ..
        } = self;
        json!({
            "planId": record.plan_id,
            "path": self.path,
            "goal": self.taken_goal,
            "import": self.import,
            "mode": { "name": record.mode, "reason": record.mode_reason },
            "steps": self.steps(),
            "config": {
                "maxComplexity": settings.max_complexity,
                "maxParallelTasks": settings.max_parallel_tasks,
                "researchOnly": settings.research_only,
                "linear": settings.linear.enabled,
                "skipPlanReview": settings.skip_plan_review,
                "language": settings.language,
            },
            "interruptedPlans": self.interrupted,
            "debts": self.debts,
            "attended": self.attended,
            "language": self.language.as_deref().map(reading_language::language_rule),
            "commitStyle": self.commit_style,
            "setup": self.setup,
            "specs": self.specs.json,
            "warnings": self.warnings,
        })
    }

    fn to_text(&self) -> String {
        let PlanRecord {
            plan_id: id,
            mode,
            mode_reason,
            ..
        } = &self.record;
        let steps: Vec<_> = self.steps().iter().map(|step| step.into_str()).collect();
        let mut text = format!(
            "Plan {id}\n  folder  {}\n  mode    {}: {mode_reason}\n  steps   {}\n",
            self.path.display(),
            mode.into_str(),
            steps.join(", ")
        );
        let import = self.import.as_ref();
        if let Some(items) = import
            .map(|import| &import["items"])
            .filter(|items| items.is_object())
        {
            text += &format!(
                "  items   {} that look like tasks, {} of them done; material.md has the texts\n",
                items["total"], items["done"]
            );
        }
        if let Some(language) = &self.language {
            text += &format!("  words   {language}\n");
        }
        for SetupProposal { file, commands } in &self.setup {
            text += &format!("  setup   {}, for what {file} names\n", commands.join("; "));
        }
        if !self.specs.text.is_empty() {
            text += &format!("\nWhat the project wants (`fp specs for {id}` prints it):\n");
        }
        text += &self.specs.text;
        text += "\nNext, by hand (`/fp:plan` in Claude Code does all of it):\n";
        if import.is_none() && *mode != Mode::Direct {
            text += &format!("  fp interview {id} --objective TEXT --requirement TEXT\n");
        }
        let has_tree = import.is_some_and(|import| !import["validation"].is_null());
        let verb = if has_tree { "complete" } else { "write" };
        text += &format!(
            "  {verb} tasks.md in the folder\n  fp validate {id}\n  fp schedule {id}\n  fp approve {id}\n"
        );
        if !self.debts.is_empty() {
            text += "\nNoted for later (ask what of it belongs to this goal):\n";
        }
        for line in self
            .debts
            .iter()
            .flat_map(|debt| wrapped_within(debt, WIDTH - 2, 2))
        {
            text += &format!("  {line}\n");
        }
        if !self.interrupted.is_empty() {
            text += "\nNot finished yet (`/fp:implement PLAN` goes on):\n";
        }
        for plan in &self.interrupted {
            text += &format!("  {}  {} of {} done\n", plan.plan_id, plan.done, plan.total);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_flags_first_and_then_the_users_words() {
        let read = |prompt: &str| NewArgs::in_prompt(prompt).unwrap();
        let check = |prompt: &str, goal: &str, auto: bool| {
            let args = read(prompt);
            assert_eq!(
                (args.goal.join(" ").as_str(), args.auto),
                (goal, auto),
                "{prompt}"
            );
        };
        check("/fp:plan add it's greeting", "add it's greeting", false);
        check("/fp:plan --auto add a greeting", "add a greeting", true);
        check(
            "/fp:plan  --auto  --mode full add\n- two `lines`\n- \"so\"",
            "add\n- two `lines`\n- \"so\"",
            true,
        );
        check(
            "/fp:plan make the program take --auto",
            "make the program take --auto",
            false,
        );
        check("/fp:plan $(touch x); 'a'", "$(touch x); 'a'", false);
        assert_eq!(
            read("/fp:plan --max-complexity 3 --plan-only x").max_complexity,
            Some(3)
        );
        assert_eq!(read("/fp:plan --mode direct x").mode, Some(Mode::Direct));
        assert!(NewArgs::in_prompt("/fp:plan --no-such-flag x").is_err());
        let path = |prompt: &str| read(prompt).import.unwrap();
        for quoted in ["\"old plans/a's.json\"", "'old plans/a\u{201d}s.json'"] {
            let prompt = format!("/fp:plan --import {quoted} --auto");
            assert_eq!(
                path(&prompt).display().to_string(),
                quoted[1..quoted.len() - 1],
                "{prompt}"
            );
            assert!(read(&prompt).goal.concat().is_empty(), "{prompt}");
        }
        assert_eq!(
            path("/fp:plan --import 'a b").display().to_string(),
            "'a",
            "the quote doesn't end"
        );
        check("/fp:plan --auto 'add it'", "'add it'", true);
    }
}
