//! Adds tasks that mend what the verdict on the whole found, once the user, or a rule, has chosen that. They have the
//! files and commands of the tasks that made it, so nothing new may run.

use std::collections::BTreeSet;

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_host::trust::ConsentSource;
use fp_plan::edit::{LeafPlace, with_leaf};
use fp_plan::markdown;
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::{Plan, Task, parse};
use fp_plan::text::{clipped, one_line};
use fp_run::run::State;
use fp_run::run::event::{Decider, Judgement};
use fp_run::run::judging::{MOST_REPAIRS, REPAIR};
use fp_run::run::question::Topic;

use super::approve::Proposal;
use super::verify::whole_criteria;
use crate::context::Context;
use crate::error::CommandError;

/// Maximum length of a requirement in a title, and of what the verifier saw, in characters.
const MAX_TITLE: usize = 60;
const MAX_SEEN: usize = 800;

/// Adds the tasks and approves them, if they are wanted.
///
/// # Errors
/// The tree was edited since its approval, or can't take them.
pub(super) fn add_repairs(plan: &OpenPlan, context: &Context) -> Result<(), CommandError> {
    let state = plan.load()?.state;
    if !state.wants_repairs() {
        return Ok(());
    }
    let refused = |said: String| {
        let id = plan.id();
        CommandError::refused(format!(
            "what the last verdict found can't be planned: {said}"
        ))
        .with_hint(format!(
            "add the tasks with `fp task add {id} …`, then `fp approve {id}`"
        ))
    };
    let tree = context.tree(plan)?;
    let approved: BTreeSet<&str> = state
        .tasks
        .iter()
        .map(|task| task.leaf.id.as_str())
        .collect();
    let parsed = tree.parse();
    let others = parsed.leaves().filter(|leaf| !approved.contains(&*leaf.id));
    let others: Vec<&str> = others.map(|leaf| &*leaf.id).collect();
    if !tree.edited(&state).is_empty() || others.iter().any(|id| !id.starts_with(REPAIR)) {
        return Err(refused("tasks.md was edited since its approval".to_owned()));
    }
    let text = match others.is_empty() {
        true => with_repairs(&tree.text, &state, &whole_criteria(plan)).map_err(refused)?,
        // A killed call has written them.
        false => tree.text.clone(),
    };
    let (after, _) = parse(&text);
    let proposal = Proposal::new(plan, &text, &after, context)?;
    let known = Proposal::new(plan, &tree.text, &parsed, context)?;
    if !proposal.all_commands().is_subset(&known.all_commands()) {
        return Err(refused("they would run other commands".to_owned()));
    }
    file::atomic_write(&plan.folder.file("tasks.md"), text.as_bytes())?;
    let asked = state.questions.iter().rev();
    let mut answered = asked.filter(|asked| asked.question.topic == Topic::WholeFailed);
    let how = match answered.next().map(|asked| asked.by) {
        Some(Decider::User) => ConsentSource::Question,
        _ => ConsentSource::Prompt,
    };
    proposal.approve(how, context)?;
    Ok(())
}

/// The tree `text` with a task for each failed judgement, up to the limit.
fn with_repairs(text: &str, state: &State, criteria: &[String]) -> Result<String, String> {
    let (tree, _) = parse(text);
    let verdict = state.whole_verdict.iter();
    let failed = verdict.flat_map(|verdict| &verdict.judgements);
    let failed = failed.filter(|judged| !judged.pass).take(MOST_REPAIRS);
    let leaves = (1..).zip(failed).map(|(number, judged)| {
        let at = judged.criterion.checked_sub(1);
        let criterion = at.and_then(|at| criteria.get(at));
        repair_text(number, judged, criterion.map_or("", String::as_str), &tree)
    });
    with_leaves(text, leaves)
}

/// The tree `text` with `leaves` at its top.
pub(super) fn with_leaves(
    text: &str,
    leaves: impl Iterator<Item = String>,
) -> Result<String, String> {
    let (tree, _) = parse(text);
    let root = tree.root.map(|root| &tree.tasks[root]);
    let root = root.filter(|root| !root.synthetic);
    let mut text = text.to_owned();
    for leaf in leaves {
        text = match root {
            Some(root) => {
                with_leaf(&text, LeafPlace::Below(&root.id), &leaf)
                    .map_err(|error| error.to_string())?
                    .text
            }
            None => format!("{}\n{leaf}", text.trim_end()),
        };
    }
    Ok(text)
}

/// The text of a task that mends what `judged` found.
fn repair_text(number: usize, judged: &Judgement, criterion: &str, tree: &Plan<'_>) -> String {
    let requirement = criterion.split(':').next().unwrap_or_default();
    let covers = |leaf: &&Task<'_>| {
        let mut covered = leaf.fields.items(FieldKind::Covers).iter();
        covered.any(|item| item.text.eq_ignore_ascii_case(requirement))
    };
    let mut makers: Vec<&Task<'_>> = tree.leaves().filter(covers).collect();
    let is_covered = !makers.is_empty();
    if !is_covered {
        makers = tree.leaves().collect();
    }
    let files: BTreeSet<&str> = makers.iter().flat_map(|maker| maker.files()).collect();
    let seen = clipped(&one_line(&judged.evidence), MAX_SEEN);
    let mend = MendText {
        id: format!("{REPAIR}{number}"),
        title: format!(
            "Mend what misses {}",
            clipped(&one_line(criterion), MAX_TITLE)
        ),
        acceptance: vec![
            format!("It holds that {criterion}"),
            format!("What a verifier saw no longer happens: {seen}"),
        ],
        files: files.into_iter().map(str::to_owned).collect(),
        hint: "Look first for what the tests of the plan don't have".to_owned(),
    };
    let text = mend.to_leaf(&makers);
    match is_covered {
        true => format!("{text}  - Covers: {requirement}\n"),
        false => text,
    }
}

/// A task that mends something, in texts of models or strangers.
pub(super) struct MendText {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) acceptance: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) hint: String,
}

impl MendText {
    /// The task in the form of `tasks.md`, with the commands of `makers`, so that nothing new runs.
    pub(super) fn to_leaf(&self, makers: &[&Task<'_>]) -> String {
        let line = |text: &str| markdown::inline(&one_line(text));
        let items = self.acceptance.iter();
        let acceptance: String = items
            .map(|item| format!("    - {}\n", line(item)))
            .collect();
        let tests = if makers.iter().any(|maker| maker.tests_required()) {
            "yes"
        } else {
            "no"
        };
        let mut text = format!(
            "- [ID: {}] {} (Complexity: 4)\n  - Acceptance:\n{acceptance}  - Files: {}\n  \
             - Tests Required: {tests}\n  - Hints:\n    - {}\n  - Risk: high\n",
            self.id,
            line(&self.title),
            self.files.join(", "),
            line(&self.hint),
        );
        let commands = makers.iter().flat_map(|maker| maker.test_commands());
        let commands: BTreeSet<&str> = commands.collect();
        if !commands.is_empty() {
            text += "  - Test Commands:\n";
        }
        text.extend(commands.iter().map(|command| format!("    - {command}\n")));
        text
    }
}
