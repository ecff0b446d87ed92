//! What `fp commit` says: how a message has to be written here, what is in the way of one, what was committed.

use fp_core::commit_message::{History, Language, Style, style_of};
use fp_core::repo_path::RepoPath;
use fp_core::text::{fitted, one_line};
use fp_core::verification::change::ChangeStatus;
use fp_host::commit::Chosen;
use fp_host::git::FileStat;

/// Subjects that are shown as examples.
pub(crate) const EXAMPLES: usize = 5;
/// Of each style, where the style is explained.
const EXAMPLES_EACH: usize = 2;
/// Columns of a subject that is shown.
const SUBJECT: usize = 72;

/// How a message has to be written for these files.
pub(crate) fn guide(history: &History, subjects: &[String], chosen: &Chosen) -> String {
    let mut text = heading(history);
    for reason in history.reasons() {
        text.push_str(&format!("  {reason}\n"));
    }
    text.push_str("\nA subject is:\n");
    text.push_str(&list(&history.rules()));
    let examples = examples(subjects, |_| true, EXAMPLES);
    if !examples.is_empty() {
        text.push_str("\nThe last ones, as examples:\n");
        examples.iter().for_each(|subject| text.push_str(&format!("  {subject}\n")));
    }
    text.push_str(&files(chosen));
    text + "\nNext: the same command with --message 'SUBJECT'\n"
}

fn heading(history: &History) -> String {
    let language = if history.language() == Language::Korean { ", Korean" } else { "" };
    format!("Style: {}{language}\n", style_word(history.style()))
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  - {line}\n")).collect()
}

/// The newest subjects that tell something of the style, and fulfil `which`.
pub(crate) fn examples(subjects: &[String], which: impl Fn(Style) -> bool, count: usize) -> Vec<String> {
    let told = subjects.iter().filter(|subject| style_of(subject).is_some_and(&which));
    told.take(count).map(|subject| fitted(subject, SUBJECT)).collect()
}

/// How the style of the repository was found.
pub(crate) fn explanation(history: &History, subjects: &[String]) -> String {
    let mut text = heading(history);
    if history.subjects == 0 {
        return text + "There is no commit to take a style from, so any phrase will do.\n";
    }
    let aside = subjects.len() - history.subjects;
    text.push_str(&format!("From the last {} subjects", subjects.len()));
    if aside > 0 {
        text.push_str(&format!(", without {aside} that git made up"));
    }
    text.push_str(":\n\n");
    let plain = history.subjects - history.semantic - history.short;
    for (style, count, what) in [
        (Style::Semantic, history.semantic, "`type(scope): what`"),
        (Style::Short, history.short, "up to 3 words and 24 columns"),
        (Style::Plain, plain, "any other"),
    ] {
        let word = style_word(style);
        text.push_str(&format!("  {word:<8} {count:>2} of {:<2}  {what}\n", history.subjects));
        for subject in examples(subjects, |of| of == style, EXAMPLES_EACH) {
            text.push_str(&format!("                     {}\n", fitted(&subject, SUBJECT - 13)));
        }
    }
    text.push_str("\nThe style is SEMANTIC or SHORT where at least half are, SHORT from three\nsubjects on, else PLAIN.\n\n");
    for (what, count, whole) in [
        ("Korean", history.korean, history.subjects),
        ("with a scope", history.scoped, history.semantic),
        ("first word in lower case", history.lower_case, history.subjects),
        ("first word with a capital", history.upper_case, history.subjects),
        ("with a full stop", history.full_stops, history.subjects),
    ] {
        text.push_str(&format!("  {what:<25} {count:>2} of {whole}\n"));
    }
    text.push_str(
        "\nKorean is asked for where at least half are. From three subjects on, what nine\nof ten have, such as a scope \
         or a capital, is asked for, and what at most one of\nten has, such as a type or Korean, is refused.\n\nSo a \
         subject is:\n",
    );
    text + &list(&history.rules())
}

/// What would be committed.
pub(crate) fn preview(message: &str, chosen: &Chosen) -> String {
    let message: String =
        message.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect();
    format!("The message fits. Nothing is committed (--dry-run).\n\n{message}{}", files(chosen))
}

/// Why a message doesn't fit.
pub(crate) fn objections(objections: &[String], history: &History) -> String {
    format!(
        "Nothing is committed: the message does not fit.\n{}\nA subject is, here:\n{}",
        list(objections),
        list(&history.rules())
    )
}

/// What was committed.
pub(crate) fn made(
    hash: &str,
    subject: &str,
    files: &[RepoPath],
    by_hooks: &[&RepoPath],
    kept: &[RepoPath],
) -> String {
    let mut text = format!("Committed {hash}: {}\n", one_line(subject));
    for file in files {
        let by_hook = if by_hooks.contains(&file) { "  (by a hook)" } else { "" };
        text.push_str(&format!("  {file}{by_hook}\n"));
    }
    text + &still_staged(kept)
}

fn files(chosen: &Chosen) -> String {
    let sum = |of: fn(&FileStat) -> Option<u64>| chosen.stats.iter().filter_map(of).sum::<u64>();
    let (added, removed) = (sum(|stat| stat.added), sum(|stat| stat.removed));
    let count = match chosen.stats.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let mut text = format!("\n{count}, +{added} -{removed}:\n");
    let number =
        |sign: char, lines: Option<u64>| lines.map_or("-".to_owned(), |lines| format!("{sign}{lines}"));
    for FileStat { change, added, removed } in &chosen.stats {
        let (added, removed) = (number('+', *added), number('-', *removed));
        text.push_str(&format!("  {} {added:>5} {removed:>5}  {}\n", letter(&change.status), change.path));
    }
    text + &still_staged(&chosen.kept)
}

fn still_staged(kept: &[RepoPath]) -> String {
    if kept.is_empty() {
        return String::new();
    }
    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
    format!("Staged, and left so: {}\n", kept.join(", "))
}

fn letter(status: &ChangeStatus) -> char {
    match status {
        ChangeStatus::Added => 'A',
        ChangeStatus::Modified | ChangeStatus::ModeChanged => 'M',
        ChangeStatus::Deleted => 'D',
        ChangeStatus::Renamed { .. } => 'R',
        ChangeStatus::TypeChanged => 'T',
    }
}

fn style_word(style: Style) -> &'static str {
    match style {
        Style::Semantic => "SEMANTIC",
        Style::Plain => "PLAIN",
        Style::Short => "SHORT",
    }
}
