//! Fills the sections of a payload.

use super::{Around, PayloadPart, Rank, Section, short};
use crate::run::notepad;
use crate::run::question::safe_line;
use crate::run::state::{State, TaskState};
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::task::Task;
use fp_plan::rules::boilerplate::{BASELINE, repeats_baseline};
use fp_plan::text::{prompt_path, prompt_text, shell_quoted, shown_command};

/// Maximum length of the quoted goal, in characters, and of that of a plan with one task.
const MAX_GOAL_CHARS: [usize; 2] = [600, 4000];

const IN_TREE: &str = "read it in the file named above";
const BEFORE_YOU_BEGIN: &str = "read the rest in the file named above before you begin";

/// The sections in reading order.
pub(super) fn all_sections(
    state: &State,
    task: &TaskState,
    leaf: &Task<'_>,
    around: &Around<'_>,
) -> [Section; 9] {
    let sections = [
        (
            "The user's goal, in their words:\n",
            goal_parts(task, leaf, around, state.tasks.len() == 1),
        ),
        ("\n## TASK\n", title_parts(task, leaf)),
        (
            "\n## EXPECTED OUTCOME\n",
            vec![criteria_part(leaf), doubts_part(around)],
        ),
        ("\n## MUST DO\n", must_do(state, task, leaf, around)),
        ("\n## MUST NOT DO\n", must_not_do(task, leaf)),
        ("", vec![PayloadPart::fixed("", around.specs.lines())]),
        // Helpful background that asks for nothing to be done.
        ("\n## CONTEXT\n", context_parts(state, task, leaf, around)),
        ("\n## VERIFICATION\n", check_parts(task, leaf)),
        ("\n", hand_in(state, task)),
    ];
    sections.map(|(heading, parts)| Section { heading, parts })
}

/// The note above a cut payload: where to find the whole task.
pub(super) fn where_whole(task: &TaskState, around: &Around<'_>) -> PayloadPart {
    let (id, tree) = (&task.leaf.id, around.tree);
    let line = format!("(cut to fit; task {id} as a whole is in {tree})");
    PayloadPart::fixed("", [line])
}

fn safe_lines(text: &str) -> Vec<String> {
    prompt_text(text).lines().map(str::to_owned).collect()
}

/// The goal in full if it's short, or else its first sentence, and the interview's statements that concern this task.
/// A task that is the `whole` of the plan gets a longer goal in full, too, and a contract every requirement.
fn goal_parts(
    task: &TaskState,
    leaf: &Task<'_>,
    around: &Around<'_>,
    whole: bool,
) -> Vec<PayloadPart> {
    // Refers to a file rather than a command, because every role may read it.
    let file = match around.interview {
        Some(_) => around.tree.replacen("tasks.md", "interview.md", 1),
        None => around.tree.replacen("tasks.md", "plan.json", 1),
    };
    let most = MAX_GOAL_CHARS[usize::from(whole)];
    let is_long = around.goal.chars().count() > most;
    let whole = format!("{file} has them");
    let quoted = match is_long {
        true => first_sentence(around.goal),
        false => around.goal,
    };
    let goal = PayloadPart::new(
        "> ",
        safe_lines(quoted),
        Rank::Goal,
        "lines of the goal",
        &whole,
    );
    let cut = is_long.then(|| format!("(its first sentence; {file} has the whole)"));
    let mut parts = vec![goal, PayloadPart::fixed("", cut)];
    let Some(said) = around.interview else {
        return parts;
    };
    let covered: Vec<&str> = leaf
        .fields
        .items(FieldKind::Covers)
        .iter()
        .map(|item| &*item.text)
        .collect();
    let covers = |id: &str| {
        covered
            .iter()
            .any(|covered| covered.eq_ignore_ascii_case(id))
    };
    let requirements = said
        .requirements
        .iter()
        .filter(|requirement| task.leaf.contract || covers(&requirement.id));
    let requirements = requirements.map(|said| {
        let id = &said.id;
        match (covers(id), quoted.contains(&said.text)) {
            (true, true) => format!("This task covers {id}, as quoted"),
            (true, false) => format!("This task covers {id}: {}", said.text),
            (false, _) => format!("A later task covers {id}: {}", said.text),
        }
    });
    let decisions = said.settled(covers);
    let excluded = said
        .scope_exclusions
        .iter()
        .map(|said| format!("Out of scope: {}", said.text));
    parts.extend([
        PayloadPart::new("- ", requirements, Rank::Goal, "requirements", &whole),
        PayloadPart::new("- ", decisions, Rank::Decisions, "decisions", &whole),
        PayloadPart::new("- ", excluded, Rank::Guardrails, "exclusions", &whole),
    ]);
    parts
}

/// The first sentence of `text`, or its first line if that ends earlier.
fn first_sentence(text: &str) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let ends = [". ", "! ", "? "].iter().filter_map(|end| line.find(end));
    &line[..ends.min().map_or(line.len(), |end| end + 1)]
}

fn title_parts(task: &TaskState, leaf: &Task<'_>) -> Vec<PayloadPart> {
    let (id, iteration) = (&task.leaf.id, task.iteration);
    let title = format!("{} (task {id}, iteration {iteration})", leaf.description);
    let description = leaf.fields.text(FieldKind::Description).unwrap_or_default();
    let lines = safe_lines(description);
    vec![
        PayloadPart::new("", [title], Rank::Title, "the title", BEFORE_YOU_BEGIN),
        PayloadPart::new(
            "",
            lines,
            Rank::Description,
            "lines of the description",
            IN_TREE,
        ),
    ]
}

fn criteria_part(leaf: &Task<'_>) -> PayloadPart {
    let criteria = leaf
        .acceptance()
        .enumerate()
        .map(|(at, text)| format!("{}. {text}", at + 1));
    PayloadPart::new("", criteria, Rank::Criteria, "criteria", BEFORE_YOU_BEGIN)
}

fn doubts_part(around: &Around<'_>) -> PayloadPart {
    let told = |doubt: &String| {
        format!("Not a criterion, but heed it where it is right: a critic's doubt, {doubt}")
    };
    let doubts = around.doubts.iter().map(told);
    let whole = around.tree.replacen("tasks.md", "critique.md", 1) + " has them";
    PayloadPart::new("- ", doubts, Rank::Hints, "doubts", &whole)
}

fn must_do(
    state: &State,
    task: &TaskState,
    leaf: &Task<'_>,
    around: &Around<'_>,
) -> Vec<PayloadPart> {
    let contracts = task
        .leaf
        .dependencies
        .iter()
        .filter_map(|id| state.task(id));
    let contracts = contracts
        .filter(|before| before.leaf.contract)
        .map(|before| {
            let files = before.leaf.files.iter();
            let files = files.filter(|file| !task.leaf.files.contains(file));
            let files: Vec<&str> = files.map(AsRef::as_ref).collect();
            format!(
                "Build to the contract of task {}: the signatures and documentation that it put into your files and {} are fixed",
                before.leaf.id,
                files.join(", ")
            )
        });
    let place = around.place.map(|place| {
        format!(
            "Work in {place}, your own checkout: `cd` there first, and edit nowhere else. The task's paths are \
             relative to it"
        )
    });
    let language = around.language;
    let language = language.map(|name| format!("Write notes, questions and messages in {name}"));
    let references = leaf.references().map(reading_order);
    vec![
        PayloadPart::fixed("- ", contracts),
        PayloadPart::fixed("- ", place),
        PayloadPart::fixed("- ", around.earlier),
        PayloadPart::fixed("- ", language),
        PayloadPart::new("- ", leaf.hints(), Rank::Hints, "hints", IN_TREE),
        PayloadPart::new("- ", references, Rank::References, "references", IN_TREE),
    ]
}

/// Turns `src/a.rs:15 - structure to follow` into an instruction to read it.
fn reading_order(reference: &str) -> String {
    let parts = reference
        .split_once(" - ")
        .or_else(|| reference.split_once(" — "));
    match parts {
        Some((place, why)) => format!("Read {} — {}", place.trim(), why.trim()),
        None => format!("Read {reference}"),
    }
}

/// The three rules that apply to every task, then the task's own, without duplicates.
fn must_not_do(task: &TaskState, leaf: &Task<'_>) -> Vec<PayloadPart> {
    let granted = task.granted.iter();
    let granted: String = granted
        .map(|file| format!(", {}", prompt_path(&file.path)))
        .collect();
    let boundary = format!(
        "Do NOT modify files outside: {}{granted} (new files beside them that are named as tests are fine)",
        files_listed(leaf)
    );
    let own = leaf.guardrails().filter(|rail| !repeats_baseline(rail));
    vec![
        PayloadPart::new(
            "- ",
            [boundary],
            Rank::Boundary,
            "the boundary",
            BEFORE_YOU_BEGIN,
        ),
        PayloadPart::fixed("- ", BASELINE),
        PayloadPart::new("- ", own, Rank::Guardrails, "guardrails", BEFORE_YOU_BEGIN),
    ]
}

fn files_listed(leaf: &Task<'_>) -> String {
    let files: Vec<&str> = leaf.files().collect();
    match files.is_empty() {
        true => "none".to_owned(),
        false => files.join(", "),
    }
}

fn context_parts(
    state: &State,
    task: &TaskState,
    leaf: &Task<'_>,
    around: &Around<'_>,
) -> Vec<PayloadPart> {
    let (plan, id) = (&state.plan_id, &task.leaf.id);
    let files = format!("Files: {}", files_listed(leaf));
    let granted = task.granted.iter().map(|file| {
        let (path, reason) = (prompt_path(&file.path), safe_line(&file.reason));
        format!("Granted beyond them: {path} ({reason})")
    });
    let answers = state.questions.iter().filter(|asked| {
        let topic = &asked.question.topic;
        topic.is_inquiry() && topic.task() == Some(id) && !asked.is_open()
    });
    let answers = answers.map(|asked| {
        let (text, answer) = (
            safe_line(&asked.question.text),
            safe_line(&asked.answer.join(", ")),
        );
        format!("You asked: {text} — the answer: {answer}")
    });
    let required = if leaf.tests_required() { "yes" } else { "no" };
    let conventions = around.conventions;
    let conventions =
        conventions.map(|path| format!("Conventions and commands of this code base: {path}"));
    let needed = task.leaf.dependencies.iter();
    let direct = needed.filter_map(|id| state.task(id)).map(work_of);
    let notes = notepad::relevant_notes(state, id).into_iter();
    let notes = notes.map(|note| format!("Note {}", note.notepad_line()));
    let above = "they are the boundary above";
    let in_log = format!("`fp log {plan} --task {id}` has them");
    let in_evidence = format!("`fp why {plan} TASK --evidence` has each");
    let in_notes = format!("`fp note {plan} list --for {id}` has them");
    vec![
        PayloadPart::new("- ", [files], Rank::Twice, "files", above),
        PayloadPart::new("- ", granted, Rank::Answers, "granted files", &in_log),
        PayloadPart::new("- ", answers, Rank::Answers, "answers", &in_log),
        PayloadPart::fixed("- ", [format!("Tests Required: {required}")]),
        PayloadPart::fixed("- ", conventions),
        PayloadPart::new("- ", direct, Rank::Direct, "tasks before", &in_evidence),
        PayloadPart::new("- ", notes, Rank::Notes, "notes", &in_notes),
    ]
}

fn work_of(task: &TaskState) -> String {
    let (id, title) = (&task.leaf.id, &task.leaf.title);
    let commit = task
        .commit
        .iter()
        .map(|commit| format!(", commit {}", short(commit)));
    let commit: String = commit.collect();
    if task.imported {
        return format!("Task {id} was done before the plan was imported: {title}{commit}");
    }
    let files: Vec<String> = task
        .measured_changes()
        .iter()
        .map(|file| file.path.to_string())
        .collect();
    let summary = task.verdict.as_ref().map_or("", |verdict| &verdict.summary);
    let summary = match summary {
        "" => String::new(),
        summary => format!(": {}", safe_line(summary)),
    };
    format!(
        "Task {id} did: {title} ({}{commit}){summary}",
        files.join(", ")
    )
}

/// The commands that check the task, without those that the user dropped.
fn check_parts(task: &TaskState, leaf: &Task<'_>) -> Vec<PayloadPart> {
    let commands = leaf.test_commands().chain(leaf.verify());
    let commands = commands.filter(|command| !task.dropped.contains(*command));
    let commands: Vec<String> = commands
        .map(|command| format!("Run: {}", shown_command(command)))
        .collect();
    let none = commands.is_empty().then_some("Test Commands: none");
    vec![
        PayloadPart::new("- ", commands, Rank::Commands, "commands", IN_TREE),
        PayloadPart::fixed("- ", none),
    ]
}

/// The feedback to act on, if any, and the command for submitting.
fn hand_in(state: &State, task: &TaskState) -> Vec<PayloadPart> {
    let (plan, id) = (&state.plan_id, &task.leaf.id);
    let claim = task.claim.as_ref();
    let (owner, token) = claim.map_or(("", ""), |claim| (claim.owner.as_str(), &*claim.token));
    // The token may come from another machine, so it isn't trusted.
    let token = shell_quoted(&safe_line(token));
    let mut parts = Vec::new();
    if let Some(feedback) = &task.feedback {
        // Command output must not look like a heading, not even after invisible characters.
        let is_heading = |line: &str| {
            line.trim_start_matches(|c: char| !c.is_ascii_graphic())
                .starts_with('#')
        };
        let lines = safe_lines(feedback).into_iter();
        let lines = lines.map(|line| match is_heading(&line) {
            true => format!("    {line}"),
            false => line,
        });
        let head = "## FEEDBACK\nThe iteration before did not pass. Mend this first:";
        let whole = format!("`fp log {plan} --task {id}` has them");
        parts.extend([
            PayloadPart::fixed("", [head]),
            PayloadPart::new("", lines, Rank::Feedback, "lines of the feedback", &whole),
            PayloadPart::fixed("", [""]),
        ]);
    }
    let submit = format!(
        "## HAND IN\nWhen it is done, run this and end your turn:\n\n    fp submit {plan} {id} --claim {token}\n\n\
         Add --note 'GOTCHA(PATH): …' (or PATTERN, UTIL, WARN) for what whoever touches PATH should know, 'DEBT(PATH): …' for a defect outside your task.\n\n\
         A file beyond these can't be done without: `fp scope extend {plan} {id} PATH --claim {token} --reason '…'`."
    );
    let clarify = format!(
        "What only the user can decide, once: `fp clarify {plan} {id} --as {owner} --question '…' \
         --option 'A|what it means' --option 'B|…'`."
    );
    let clarify = task.may_clarify().then_some(clarify);
    parts.push(PayloadPart::fixed("", [submit].into_iter().chain(clarify)));
    parts
}
