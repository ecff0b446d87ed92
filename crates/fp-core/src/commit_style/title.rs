//! A title that a model wrote, made fit for one line of a commit message.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::repo_path::RepoPath;

/// What git takes for an instruction at the beginning of a subject.
const INSTRUCTIONS: [&str; 3] = ["fixup!", "squash!", "amend!"];
/// What it, a shell or Markdown takes for a comment, an option or a list there.
const SIGNS: [char; 5] = ['#', '-', '*', '>', ';'];

/// One line: blanks joined, invisible characters and a final full stop taken out, and nothing at the beginning that
/// git reads as a comment, an option, a separator or an instruction. May be empty.
pub(super) fn clean(title: &str) -> String {
    let visible: String =
        title.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_hidden(*c)).collect();
    let joined = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = joined.as_str();
    loop {
        let marks = rest.trim_start_matches(SIGNS).trim_start_matches(' ');
        let next = INSTRUCTIONS.iter().find_map(|word| marks.strip_prefix(word)).unwrap_or(marks);
        if next == rest {
            break;
        }
        rest = next;
    }
    let sentence = rest.strip_suffix('.').filter(|text| !text.ends_with('.')).unwrap_or(rest);
    sentence.trim_end().to_owned()
}

/// What a subject begins with, if git or a reader takes that for something else than a word.
pub(super) fn misread_start(subject: &str) -> Option<&str> {
    let sign = || subject.starts_with(SIGNS).then(|| &subject[..1]);
    INSTRUCTIONS.into_iter().find(|word| subject.starts_with(word)).or_else(sign)
}

/// Characters that show nothing, or turn the direction of what follows.
pub(super) fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// What is said where a title says nothing.
pub(super) fn from_files(files: &[RepoPath]) -> String {
    match files {
        [] => "Update".to_owned(),
        [file] => format!("Update {}", clean(&file.to_string())),
        [file, ..] => format!("Update {} and {} more", clean(&file.to_string()), files.len() - 1),
    }
}

/// The text with its first letter in lower case, unless the first word is a name or an abbreviation.
pub(super) fn lower_case(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let mut letters = word.chars();
    let first = letters.next();
    let plain = letters.clone().next().is_some() && letters.all(|c| c.is_lowercase() || c == '-');
    match first {
        Some(first) if plain && first.is_uppercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// The text up to where a title begins to tell more.
pub(super) fn first_clause(text: &str) -> &str {
    let ends = [
        ", ",
        "; ",
        ": ",
        " (",
        " and ",
        " with ",
        " so that ",
        " that ",
        " which ",
        " by ",
        " when ",
        " for ",
    ];
    let end = ends.iter().filter_map(|end| text.find(end)).filter(|end| *end > 0).min();
    &text[..end.unwrap_or(text.len())]
}

/// The text in at most `room` columns, and whether it had to be cut; that shows as an ellipsis.
pub(super) fn fit(text: &str, room: usize) -> (String, bool) {
    if text.width() <= room {
        return (text.to_owned(), false);
    }
    let mut width = 1;
    let mut end = 0;
    for (start, c) in text.char_indices() {
        width += c.width().unwrap_or(0);
        if width > room {
            break;
        }
        end = start + c.len_utf8();
    }
    // A word is left out as a whole, unless that would leave next to nothing.
    let whole = match text[..end].rfind(' ') {
        Some(blank) if !text[end..].starts_with(' ') && blank * 2 >= end => blank,
        _ => end,
    };
    (format!("{}…", text[..whole].trim_end_matches([' ', ',', ';', ':', '-'])), true)
}

/// The text in lines of at most `columns`, none of which git reads as a comment or a separator.
pub(super) fn wrap(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(if word.starts_with(['#', '-']) { format!(" {word}") } else { word.to_owned() }),
        }
    }
    lines.join("\n")
}
