//! `fp verdict`: records a verifier's judgement, and commits the task if it passed.

use std::path::PathBuf;

use fp_host::run::commit::Settled;
use fp_host::run::verify::{RecordedVerdict, VerifierVerdict, judge};
use fp_host::run::whole::judge_whole;
use fp_plan::plan::id::TaskId;
use fp_run::run::event::{Judgement, Note};
use fp_run::run::state::{State, Status};
use fp_run::run::verdict::VerifierOpinion;
use serde_json::json;

use super::verify::whole_criteria;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::input::Input;

/// Words that only assert that a criterion is met, without evidence.
const NO_EVIDENCE: [&str; 14] = [
    "checked", "done", "fine", "good", "lgtm", "met", "ok", "pass", "passed", "passes", "read",
    "true", "verified", "yes",
];

/// Size limit of a written verdict, in bytes.
const VERDICT_CAP: u64 = 256 * 1024;
/// Number of digits that name a tree.
const FEWEST_DIGITS: usize = 10;
const MOST_DIGITS: usize = 64;

/// Record the verdict on a submitted task; commit it if it passed
#[derive(Debug, clap::Args)]
pub(crate) struct VerdictArgs {
    /// The plan.
    pub(crate) plan: String,
    /// The task; without it, the verdict is on the result as a whole.
    pub(crate) task: Option<TaskId>,
    /// The attempt that was judged.
    #[arg(long, value_name = "N")]
    iteration: Option<u32>,
    /// A criterion that is met: `NUMBER: evidence`; several: `1,3: evidence`.
    #[arg(long, value_name = "N: EVIDENCE")]
    pass: Vec<String>,
    /// A criterion that is not met: `NUMBER: reason`.
    #[arg(long, value_name = "N: REASON")]
    fail: Vec<String>,
    /// One or two sentences on the task as a whole.
    #[arg(long, default_value = "")]
    summary: String,
    /// An observation outside of the criteria: `KIND: text`, with PATTERN, GOTCHA, UTIL, WARN or DEBT.
    #[arg(long, value_name = "NOTE")]
    note: Vec<Note>,
    /// The judged tree, as `fp verify` names it: at least ten digits of its id.
    #[arg(long, value_name = "TREE", value_parser = tree_prefix)]
    tree: Option<String>,
    /// A file with the verdict, `-` for standard input: lines `pass N: EVIDENCE`, `fail N: REASON`, `summary: TEXT` and
    /// `note: KIND: TEXT`; a line that begins with none of them continues the one before
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pass", "fail", "summary", "note"])]
    from: Option<PathBuf>,
}

pub(crate) fn run(args: VerdictArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    match &args.task {
        Some(task) => context.expect_own_task(plan.load()?.state.expect_task(task)?)?,
        None => context.expect_own_whole()?,
    }
    let (mut opinion, notes) = match &args.from {
        Some(path) => {
            let Input { name, text } = Input::read(path, VERDICT_CAP, context)?;
            written_verdict(&text, &name)?
        }
        None => {
            let passed = args.pass.iter().map(|text| judgements(text, true));
            let failed = args.fail.iter().map(|text| judgements(text, false));
            let judged: Vec<Vec<Judgement>> = passed.chain(failed).collect::<Result<_, _>>()?;
            let opinion = VerifierOpinion {
                judgements: judged.concat(),
                summary: args.summary,
                tree: None,
            };
            (opinion, args.note)
        }
    };
    let Some(task) = args.task else {
        let pass = judge_whole(&plan, opinion, &notes, &whole_criteria(&plan), || {
            context.now()
        })?;
        let how = match pass {
            true => "it passed",
            false => "it did not pass, and the user is asked",
        };
        return context.report(
            &json!({ "task": null, "pass": pass }),
            &format!("The verdict on the whole is recorded: {how}\n"),
        );
    };
    // Without a name, it is about the tree that was verified last.
    let verified = |state: &State| {
        let verified = state.task(&task)?.verification.as_ref()?;
        Some(verified.tree.clone())
    };
    opinion.tree = match args.tree {
        Some(tree) => Some(tree),
        None => verified(&plan.load()?.state),
    };
    let verdict = VerifierVerdict {
        task,
        iteration: args.iteration,
        opinion,
        notes,
    };
    let recorded = judge(&plan, &verdict, || context.now())?;
    if let Some(error) = &recorded.delayed {
        context.printer.print_note(&format!(
            "note: {error}: the verdict is recorded, and its commit follows"
        ));
    }
    report(context, &plan.load()?.state, &verdict.task, &recorded)
}

/// Parses the beginning of a tree's id.
fn tree_prefix(text: &str) -> Result<String, String> {
    let is_prefix = (FEWEST_DIGITS..=MOST_DIGITS).contains(&text.len())
        && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match is_prefix {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!(
            "write the id that `fp verify` prints, at least {FEWEST_DIGITS} digits of it"
        )),
    }
}

/// The beginning of an entry of a written verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerdictWord {
    Pass,
    Fail,
    Summary,
    Note,
}

/// The entry that begins on `line`, with the text behind its first word.
fn entry_of(line: &str) -> Option<(VerdictWord, &str)> {
    let line = line.trim_start();
    let (word, rest) = line.split_at(line.find([' ', ':'])?);
    let is_numbered = || rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    Some(match word.to_ascii_lowercase().as_str() {
        "pass" if is_numbered() => (VerdictWord::Pass, rest),
        "fail" if is_numbered() => (VerdictWord::Fail, rest),
        "summary" => (VerdictWord::Summary, rest.trim_start().strip_prefix(':')?),
        "note" => (VerdictWord::Note, rest.trim_start().strip_prefix(':')?),
        _ => return None,
    })
}

/// Reads a verdict of lines that begin with a word; the other lines continue the one before. `name` is its source.
fn written_verdict(text: &str, name: &str) -> Result<(VerifierOpinion, Vec<Note>), CommandError> {
    let mut entries: Vec<(usize, VerdictWord, String)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        match (entry_of(line), entries.last_mut()) {
            (Some((word, rest)), _) => entries.push((number, word, rest.trim().to_owned())),
            (None, Some((.., text))) => *text += &format!("\n{line}"),
            (None, None) if line.trim().is_empty() => {}
            (None, None) => {
                let message = format!("{name}, line {number}: no verdict begins like this");
                return Err(CommandError::failed(message).with_hint(
                    "write lines `pass 1: EVIDENCE`, `fail 2: REASON`, `summary: TEXT`, `note: KIND: TEXT`",
                ));
            }
        }
    }
    let (mut opinion, mut notes) = (VerifierOpinion::default(), Vec::new());
    for (number, word, text) in entries {
        let at = |error: CommandError| CommandError {
            message: format!("{name}, line {number}: {}", error.message),
            ..error
        };
        let text = text.trim();
        match word {
            VerdictWord::Pass => opinion
                .judgements
                .extend(judgements(text, true).map_err(at)?),
            VerdictWord::Fail => opinion
                .judgements
                .extend(judgements(text, false).map_err(at)?),
            VerdictWord::Summary if opinion.summary.is_empty() => {
                text.clone_into(&mut opinion.summary)
            }
            VerdictWord::Summary => {
                return Err(at(CommandError::failed("the summary is given twice")
                    .with_hint("write one line that begins with `summary:`")));
            }
            VerdictWord::Note => {
                let note = text.parse().map_err(|error| {
                    at(CommandError::failed(error).with_hint("write `note: KIND: text`"))
                })?;
                notes.push(note);
            }
        }
    }
    Ok((opinion, notes))
}

/// Reads `NUMBERS: evidence`, where the numbers of several criteria are separated by commas.
fn judgements(text: &str, pass: bool) -> Result<Vec<Judgement>, CommandError> {
    let wrong = || {
        CommandError::failed(format!("{text:?} is no judgement")).with_hint(
            "write the number of the criterion, or several as in 1,3, a colon and the evidence: '1: tests/a.sh shows it'",
        )
    };
    let (numbers, evidence) = text.split_once(':').ok_or_else(wrong)?;
    let criteria = numbers
        .split(',')
        .map(|number| number.trim().parse().map_err(|_| wrong()));
    let criteria: Vec<usize> = criteria.collect::<Result<_, _>>()?;
    let evidence = evidence.trim();
    if evidence.is_empty() {
        return Err(wrong());
    }
    if pass && shows_nothing(evidence) {
        return Err(CommandError::failed(format!(
            "{evidence:?} is no evidence for criterion {}",
            numbers.trim()
        ))
        .with_hint(
            "say what shows it: FILE:LINE and what is there, or a command and what it printed",
        ));
    }
    let judged = criteria.into_iter().map(|criterion| Judgement {
        criterion,
        pass,
        evidence: evidence.to_owned(),
    });
    Ok(judged.collect())
}

fn shows_nothing(evidence: &str) -> bool {
    let word = evidence.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    word.is_empty() || NO_EVIDENCE.contains(&word.to_lowercase().as_str())
}

fn report(
    context: &Context,
    state: &State,
    id: &TaskId,
    recorded: &RecordedVerdict,
) -> CommandResult {
    let RecordedVerdict {
        evidence, settled, ..
    } = recorded;
    let task = state.expect_task(id)?;
    let pass = task.verdict.as_ref().is_some_and(|v| v.pass);
    let blocked = settled.iter().find_map(|s| match s {
        Settled::Blocked(blocked, reason) if blocked == id => Some(reason.as_str()),
        _ => None,
    });
    let conflict = settled.iter().find_map(|s| match s {
        Settled::Conflict(back, feedback) if back == id => Some(feedback.as_str()),
        _ => None,
    });
    let next = format!("it goes back, attempt {}", task.iteration);
    let how = match (pass, task.status, &task.commit) {
        (true, Status::Completed, Some(commit)) => format!("passed: commit {commit}"),
        (true, Status::Completed, None) => {
            format!(
                "passed, without a commit: {}",
                task.note.as_deref().unwrap_or("none was made")
            )
        }
        (true, Status::Implementing, _) => format!("passed, and can't be committed: {next}"),
        (true, Status::Failed, _) => {
            "passed, and can't be committed, and that was its last attempt".to_owned()
        }
        (true, ..) => {
            let why = blocked
                .map(|blocked| format!(": {blocked}"))
                .unwrap_or_default();
            format!("passed, its commit is due{why}")
        }
        (false, Status::Implementing, _) => format!("did not pass: {next}"),
        (false, Status::AwaitingVerification, _) => {
            "did not pass by its commands: the user is asked".to_owned()
        }
        (false, ..) => "did not pass, and that was its last attempt".to_owned(),
    };
    let judged = match pass {
        true => task.measured(),
        false => task.failed.as_ref(),
    };
    let json = json!({
        "task": id, "pass": pass, "status": task.status, "iteration": task.iteration, "commit": task.commit,
        "note": task.note, "blocked": blocked, "conflict": conflict, "evidence": evidence,
        "tree": judged.map(|judged| &judged.tree),
    });
    context.report(&json, &format!("Task {id} {how}\nEvidence: {evidence}\n"))
}
