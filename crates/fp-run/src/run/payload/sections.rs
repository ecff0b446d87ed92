//! Fills the sections of a payload, and decides how far each part may be cut.

use std::collections::HashSet;

use super::{Around, Cut, LeftOut, PayloadPart, Rank, Section, short};
use crate::run::notepad;
use crate::run::question::said;
use crate::run::state::{State, TaskState};
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::id::TaskId;
use fp_plan::plan::task::Task;
use fp_plan::text::{prompt_path, prompt_text, shell_quoted, shown_command};

/// Maximum quotation of the goal, in characters.
const MAX_GOAL_CHARS: usize = 600;
/// Lines of a list that outrank the parts cut after it.
const WORTH_HAVING: usize = 5;
/// The same for feedback, and the number of lines that always stay.
const FEEDBACK_LINES: (usize, usize) = (12, 6);

/// Heading of the background, which helps but asks for nothing.
pub(super) const CONTEXT: &str = "\n## CONTEXT\n";

/// The sections in reading order.
pub(super) fn all(
    state: &State,
    task: &TaskState,
    leaf: &Task<'_>,
    around: &Around<'_>,
) -> [Section; 9] {
    let section = |heading, parts| Section { heading, parts };
    [
        section("The user's goal, in their words:\n", goal(leaf, around)),
        section("\n## TASK\n", title(task, leaf)),
        section("\n## EXPECTED OUTCOME\n", vec![criteria(leaf)]),
        section("\n## MUST DO\n", must_do(leaf, around)),
        section("\n## MUST NOT DO\n", must_not_do(task, leaf)),
        section(
            "",
            vec![PayloadPart::fixed(
                "",
                around.specs.lines().map(str::to_owned).collect(),
            )],
        ),
        section(CONTEXT, context(state, task, leaf, around)),
        section("\n## VERIFICATION\n", verification(task, leaf)),
        section("\n", hand_in(state, task)),
    ]
}

/// The note above a cut payload: where to find the whole task.
pub(super) fn whole(task: &TaskState, around: &Around<'_>) -> PayloadPart {
    let (id, tree) = (&task.leaf.id, around.tree);
    PayloadPart::fixed(
        "",
        vec![format!("(cut to fit; task {id} as a whole is in {tree})")],
    )
}

/// Drops the last lines of a list, and all of them if necessary.
fn list(rank: Rank, what: &'static str, whole: impl Into<String>) -> Cut {
    Cut {
        rank,
        what,
        left_out: LeftOut::Last,
        least: WORTH_HAVING,
        floor: 0,
        whole: whole.into(),
    }
}

/// Drops the oldest lines of something said during the run.
fn latest(rank: Rank, what: &'static str, whole: impl Into<String>) -> Cut {
    Cut {
        left_out: LeftOut::First,
        least: WORTH_HAVING / 2,
        ..list(rank, what, whole)
    }
}

/// Keeps at least one line of an indispensable text.
fn essential(rank: Rank, what: &'static str, whole: impl Into<String>) -> Cut {
    Cut {
        floor: 1,
        ..list(rank, what, whole)
    }
}

const IN_TREE: &str = "read it in the file named above";
const BEFORE_YOU_BEGIN: &str = "read the rest in the file named above before you begin";

/// A short goal as a whole, or else the first sentence of it, and what the interview says about this task's part.
fn goal(leaf: &Task<'_>, around: &Around<'_>) -> Vec<PayloadPart> {
    // A file that every role may read, unlike the output of a command.
    let interview = match around.interview {
        Some(_) => around.tree.replacen("tasks.md", "interview.md", 1),
        None => around.tree.replacen("tasks.md", "plan.json", 1),
    };
    let in_interview = format!("{interview} has them");
    let is_short = around.goal.chars().count() <= MAX_GOAL_CHARS;
    let goal = if is_short {
        around.goal
    } else {
        first_sentence(around.goal)
    };
    let lines = prompt_text(goal).lines().map(str::to_owned).collect();
    let cut = essential(Rank::Goal, "lines of the goal", in_interview.as_str());
    let mut parts = vec![PayloadPart::new("> ", lines, cut)];
    if !is_short {
        parts.push(PayloadPart::fixed(
            "",
            vec![format!("(its first sentence; {interview} has the whole)")],
        ));
    }
    let Some(said) = around.interview else {
        return parts;
    };
    let covers = |id: &str| {
        leaf.fields
            .items(FieldKind::Covers)
            .iter()
            .any(|item| item.text.eq_ignore_ascii_case(id))
    };
    let covered = said
        .requirements
        .iter()
        .filter(|requirement| covers(&requirement.id));
    let covered = covered
        .map(|requirement| format!("This task covers {}: {}", requirement.id, requirement.text));
    let approach = said
        .approach
        .as_ref()
        .map(|approach| format!("Approach: {approach}"));
    let decisions = said.decisions.iter().filter(|decided| {
        let mut named = said.requirements_named_in(decided).peekable();
        named.peek().is_none() || named.any(covers)
    });
    let decided = decisions.map(|decided| match decided.question.is_empty() {
        true => format!("Decided: {}", decided.answer),
        false => format!("Decided: {} {}", decided.question, decided.answer),
    });
    let excluded = said
        .scope_exclusions
        .iter()
        .map(|said| format!("Out of scope: {}", said.text));
    parts.extend([
        PayloadPart::new(
            "- ",
            covered.collect(),
            essential(Rank::Goal, "requirements", in_interview.as_str()),
        ),
        PayloadPart::new(
            "- ",
            approach.into_iter().chain(decided).collect(),
            list(Rank::Decisions, "decisions", in_interview.as_str()),
        ),
        PayloadPart::new(
            "- ",
            excluded.collect(),
            list(Rank::Guardrails, "exclusions", in_interview),
        ),
    ]);
    parts
}

/// The first sentence of `text`, or its first line if that ends earlier.
fn first_sentence(text: &str) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let end = [". ", "! ", "? "]
        .iter()
        .filter_map(|end| line.find(end))
        .min();
    &line[..end.map_or(line.len(), |end| end + 1)]
}

fn title(task: &TaskState, leaf: &Task<'_>) -> Vec<PayloadPart> {
    let title = format!(
        "{} (task {}, iteration {})",
        leaf.description, task.leaf.id, task.iteration
    );
    let cut = essential(Rank::Title, "the title", BEFORE_YOU_BEGIN);
    let description = leaf.fields.text(FieldKind::Description).unwrap_or_default();
    let lines = prompt_text(description)
        .lines()
        .map(str::to_owned)
        .collect();
    let description = list(Rank::Description, "lines of the description", IN_TREE);
    vec![
        PayloadPart::new("", vec![title], cut),
        PayloadPart::new("", lines, description),
    ]
}

fn criteria(leaf: &Task<'_>) -> PayloadPart {
    let criteria = leaf
        .acceptance()
        .enumerate()
        .map(|(i, text)| format!("{}. {text}", i + 1))
        .collect();
    PayloadPart::new(
        "",
        criteria,
        essential(Rank::Criteria, "criteria", BEFORE_YOU_BEGIN),
    )
}

fn must_do(leaf: &Task<'_>, around: &Around<'_>) -> Vec<PayloadPart> {
    let place = around.place.map(|place| {
        format!(
            "Work in {place}, your own checkout: `cd` there first, and edit nowhere else. The task's paths are \
             relative to it"
        )
    });
    let earlier = around.earlier.map(str::to_owned);
    let language = around
        .language
        .map(|language| format!("Write notes, questions and messages in {language}"));
    let hints = leaf.hints().map(str::to_owned).collect();
    let references = leaf.references().map(reference).collect();
    vec![
        PayloadPart::fixed(
            "- ",
            place.into_iter().chain(earlier).chain(language).collect(),
        ),
        PayloadPart::new("- ", hints, list(Rank::Hints, "hints", IN_TREE)),
        PayloadPart::new(
            "- ",
            references,
            list(Rank::References, "references", IN_TREE),
        ),
    ]
}

/// Turns `src/a.rs:15 - structure to follow` into an instruction.
fn reference(text: &str) -> String {
    match text.split_once(" - ").or_else(|| text.split_once(" — ")) {
        Some((place, why)) => format!("Read {} — {}", place.trim(), why.trim()),
        None => format!("Read {text}"),
    }
}

/// The three rules of every task, then the task's own, without repeats.
fn must_not_do(task: &TaskState, leaf: &Task<'_>) -> Vec<PayloadPart> {
    let granted: String = task
        .granted
        .iter()
        .map(|granted| format!(", {}", prompt_path(&granted.path)))
        .collect();
    let boundary = format!(
        "Do NOT modify files outside: {}{granted} (new test files beside them are fine)",
        files(leaf)
    );
    let cut = essential(Rank::Boundary, "the boundary", BEFORE_YOU_BEGIN);
    let baseline = vec![
        "Do NOT add new dependencies".to_owned(),
        "Do NOT refactor existing code beyond the task scope".to_owned(),
    ];
    let known = |rail: &str| {
        let rail = rail.to_lowercase();
        [
            "do not modify files outside",
            "do not add new dependencies",
            "do not refactor existing code beyond",
        ]
        .iter()
        .any(|base| rail.starts_with(base))
    };
    let own = leaf
        .guardrails()
        .filter(|rail| !known(rail))
        .map(str::to_owned)
        .collect();
    vec![
        PayloadPart::new("- ", vec![boundary], cut),
        PayloadPart::fixed("- ", baseline),
        PayloadPart::new(
            "- ",
            own,
            list(Rank::Guardrails, "guardrails", BEFORE_YOU_BEGIN),
        ),
    ]
}

fn files(leaf: &Task<'_>) -> String {
    let files: Vec<&str> = leaf.files().collect();
    if files.is_empty() {
        "none".to_owned()
    } else {
        files.join(", ")
    }
}

fn context(
    state: &State,
    task: &TaskState,
    leaf: &Task<'_>,
    around: &Around<'_>,
) -> Vec<PayloadPart> {
    let (plan, id) = (&state.plan_id, &task.leaf.id);
    let files = vec![format!("Files: {}", files(leaf))];
    let log = format!("`fp log {plan} --task {id}` has them");
    let granted = task.granted.iter();
    let granted = granted.map(|file| {
        format!(
            "Granted beyond them: {} ({})",
            prompt_path(&file.path),
            said(&file.reason)
        )
    });
    let asked = state
        .questions
        .iter()
        .filter(|a| a.question.topic.is_inquiry() && !a.answer.is_empty());
    let answers = asked
        .filter(|a| a.question.topic.task() == Some(id))
        .map(|a| {
            format!(
                "You asked: {} — the answer: {}",
                said(&a.question.text),
                said(&a.answer.join(", "))
            )
        });
    let required = if leaf.tests_required() { "yes" } else { "no" };
    let mut fixed = vec![format!("Tests Required: {required}")];
    fixed.extend(
        around
            .conventions
            .map(|path| format!("Conventions and commands of this code base: {path}")),
    );
    let (direct, distant) = dependencies(state, task);
    let notes = notepad::relevant(state, id)
        .into_iter()
        .map(|note| format!("Note {}", note.line()));
    let direct_cut = list(
        Rank::Direct,
        "tasks before",
        format!("`fp why {plan} TASK --evidence` has each"),
    );
    let distant_cut = list(
        Rank::Distant,
        "tasks further back",
        format!("`fp show {plan}` has them"),
    );
    let distant_cut = Cut {
        least: 0,
        ..distant_cut
    };
    let notes_cut = latest(
        Rank::Notes,
        "notes",
        format!("`fp note {plan} list --for {id}` has them"),
    );
    let mut parts = vec![
        PayloadPart::new(
            "- ",
            files,
            Cut {
                least: 0,
                ..list(Rank::Twice, "files", "they are the boundary above")
            },
        ),
        PayloadPart::new(
            "- ",
            granted.collect(),
            latest(Rank::Answers, "granted files", log.as_str()),
        ),
        PayloadPart::new(
            "- ",
            answers.collect(),
            latest(Rank::Answers, "answers", log),
        ),
        PayloadPart::fixed("- ", fixed),
    ];
    parts.extend([
        PayloadPart::new(
            "- ",
            direct.clone(),
            Cut {
                least: direct.len(),
                ..direct_cut
            },
        ),
        PayloadPart::new("- ", distant, distant_cut),
        PayloadPart::new("- ", notes.collect(), notes_cut),
    ]);
    parts
}

/// The work this task builds on: direct dependencies in full, and one line for each dependency behind them.
fn dependencies(state: &State, task: &TaskState) -> (Vec<String>, Vec<String>) {
    let direct: Vec<&TaskState> = task
        .leaf
        .dependencies
        .iter()
        .filter_map(|id| state.task(id))
        .collect();
    let mut seen: HashSet<&TaskId> = task.leaf.dependencies.iter().collect();
    let behind = direct
        .iter()
        .flat_map(|t| &t.leaf.dependencies)
        .filter(|id| seen.insert(id))
        .filter_map(|id| state.task(id));
    let full = direct.iter().map(|t| {
        let files: Vec<String> = t.changed().iter().map(|f| f.path.to_string()).collect();
        let summary = t
            .verdict
            .as_ref()
            .map(|v| v.summary.as_str())
            .filter(|summary| !summary.is_empty());
        let summary = summary.map_or_else(String::new, |summary| format!(": {}", said(summary)));
        let commit = t
            .commit
            .as_ref()
            .map_or_else(String::new, |c| format!(", commit {}", short(c)));
        if t.imported {
            return format!(
                "Task {} was done before the plan was imported: {}{commit}",
                t.leaf.id, t.leaf.title
            );
        }
        format!(
            "Task {} did: {} ({}{commit}){summary}",
            t.leaf.id,
            t.leaf.title,
            files.join(", ")
        )
    });
    let lines = behind.map(|t| format!("Before that, task {}: {}", t.leaf.id, t.leaf.title));
    (full.collect(), lines.collect())
}

/// The commands that check the task, without those that the user dropped.
fn commands<'a>(task: &TaskState, leaf: &'a Task<'_>) -> impl Iterator<Item = &'a str> {
    leaf.test_commands()
        .chain(leaf.verify())
        .filter(|command| !task.dropped.contains(*command))
}

fn verification(task: &TaskState, leaf: &Task<'_>) -> Vec<PayloadPart> {
    let commands: Vec<String> = commands(task, leaf)
        .map(|command| format!("Run: {}", shown_command(command)))
        .collect();
    let none = commands
        .is_empty()
        .then(|| "Test Commands: none".to_owned());
    vec![
        PayloadPart::new("- ", commands, list(Rank::Commands, "commands", IN_TREE)),
        PayloadPart::fixed("- ", none.into_iter().collect()),
    ]
}

/// The feedback to act on, if any, and the command to submit with.
fn hand_in(state: &State, task: &TaskState) -> Vec<PayloadPart> {
    let (plan, id) = (&state.plan_id, &task.leaf.id);
    let (owner, token) = task
        .claim
        .as_ref()
        .map_or(("", ""), |c| (c.owner.as_str(), c.token.as_str()));
    // Another machine may have given it.
    let token = shell_quoted(&said(token));
    let fixed = |text: String| PayloadPart::fixed("", vec![text]);
    let mut parts = Vec::new();
    if let Some(feedback) = &task.feedback {
        let cut = Cut {
            rank: Rank::Feedback,
            what: "lines of the feedback",
            left_out: LeftOut::Middle,
            least: FEEDBACK_LINES.0,
            floor: FEEDBACK_LINES.1,
            whole: format!("`fp log {plan} --task {id}` has them"),
        };
        parts.push(fixed(
            "## FEEDBACK\nThe iteration before did not pass. Mend this first:".to_owned(),
        ));
        // Output of a command must not pass for a section, not even behind what nobody sees.
        let is_heading = |line: &str| {
            line.trim_start_matches(|c: char| !c.is_ascii_graphic())
                .starts_with('#')
        };
        let line = |line: &str| format!("{}{line}", if is_heading(line) { "    " } else { "" });
        parts.push(PayloadPart::new(
            "",
            prompt_text(feedback).lines().map(line).collect(),
            cut,
        ));
        parts.push(fixed(String::new()));
    }
    parts.push(fixed(format!(
        "## HAND IN\nWhen it is done, run this and end your turn:\n\n    fp submit {plan} {id} --claim {token}\n\n\
         Add --note 'GOTCHA: …' (or PATTERN, UTIL, WARN) for what the next builder should know, 'DEBT: …' for work outside your task.\n\n\
         A file beyond these can't be done without: `fp scope extend {plan} {id} PATH --claim {token} --reason '…'`."
    )));
    if task.may_clarify() {
        parts.push(fixed(format!(
            "What only the user can decide, once: `fp clarify {plan} {id} --as {owner} --question '…' \
             --option 'A|what it means' --option 'B|…'`."
        )));
    }
    parts
}
