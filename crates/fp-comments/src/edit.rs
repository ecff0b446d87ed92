//! The text of a file before and after an edit, from what an editor says of it. Editors that send the whole file before
//! the edit are believed; from others there is only the edit, and the file on disk.

/// One replacement of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextReplacement<'e> {
    /// The text to replace; empty for a file that was empty.
    pub old: &'e str,
    /// The text that stands there now.
    pub new: &'e str,
    /// Whether it replaces every occurrence, or the first alone.
    pub everywhere: bool,
}

/// The change itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditAction<'e> {
    /// The file was written as a whole.
    Written(&'e str),
    /// Parts of it were replaced, one after the other.
    Replaced(Vec<TextReplacement<'e>>),
}

/// An edit of a file that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit<'e> {
    /// The change itself.
    pub action: EditAction<'e>,
    /// The file before the edit, empty for a new file; `None` where the editor doesn't say.
    pub original: Option<&'e str>,
    /// Whether the user changed the edit before it was made, so that only the disk has the result.
    pub changed_by_user: bool,
}

/// A text before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditTexts {
    /// Before the edit.
    pub before: String,
    /// After it.
    pub after: String,
    /// Whether both are only parts of a file, cut anywhere.
    pub fragments: bool,
}

impl FileEdit<'_> {
    /// The texts before and after the edit. `on_disk` reads the file as it is now, and is called only where the editor
    /// says too little.
    #[must_use]
    pub fn texts(&self, on_disk: impl FnOnce() -> Option<String>) -> EditTexts {
        let whole = |before: String, after: String| EditTexts { before, after, fragments: false };
        match (&self.action, self.original) {
            (EditAction::Written(content), original) => {
                whole(original.unwrap_or_default().to_owned(), (*content).to_owned())
            }
            (EditAction::Replaced(replacements), Some(before)) => {
                let done = if self.changed_by_user { None } else { replaced(before, replacements) };
                match done.or_else(on_disk) {
                    Some(after) => whole(before.to_owned(), after),
                    None => fragments(replacements),
                }
            }
            (EditAction::Replaced(replacements), None) => {
                let found = on_disk().and_then(|after| Some(whole(undone(&after, replacements)?, after)));
                found.unwrap_or_else(|| fragments(replacements))
            }
        }
    }
}

/// `text` after the replacements; `None` where one of them finds nothing to replace.
fn replaced(text: &str, replacements: &[TextReplacement<'_>]) -> Option<String> {
    let mut text = text.to_owned();
    for &TextReplacement { old, new, everywhere } in replacements {
        if old.is_empty() {
            text = if text.is_empty() { new.to_owned() } else { return None };
        } else if !text.contains(old) {
            return None;
        } else {
            text = if everywhere { text.replace(old, new) } else { text.replacen(old, new, 1) };
        }
    }
    Some(text)
}

/// `text` before the replacements that led to it; `None` where it has no trace of one of them.
fn undone(text: &str, replacements: &[TextReplacement<'_>]) -> Option<String> {
    let mut text = text.to_owned();
    for &TextReplacement { old, new, everywhere } in replacements.iter().rev() {
        if new.is_empty() {
            // A deletion adds no comment, wherever it was.
            continue;
        }
        if !text.contains(new) {
            return None;
        }
        text = if everywhere { text.replace(new, old) } else { text.replacen(new, old, 1) };
    }
    Some(text)
}

fn fragments(replacements: &[TextReplacement<'_>]) -> EditTexts {
    let before: Vec<&str> = replacements.iter().map(|replacement| replacement.old).collect();
    let after: Vec<&str> = replacements.iter().map(|replacement| replacement.new).collect();
    EditTexts { before: before.join("\n"), after: after.join("\n"), fragments: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit<'e>(old: &'e str, new: &'e str, original: Option<&'e str>) -> FileEdit<'e> {
        let action = EditAction::Replaced(vec![TextReplacement { old, new, everywhere: false }]);
        FileEdit { action, original, changed_by_user: false }
    }

    fn texts(edit: &FileEdit<'_>, disk: Option<&str>) -> (String, String, bool) {
        let texts = edit.texts(|| disk.map(str::to_owned));
        (texts.before, texts.after, texts.fragments)
    }

    fn expect(before: &str, after: &str, fragments: bool) -> (String, String, bool) {
        (before.to_owned(), after.to_owned(), fragments)
    }

    #[test]
    fn the_whole_file_where_the_client_sends_it() {
        let known = Some("a\nb\na\n");
        assert_eq!(texts(&edit("a", "x", known), None), expect("a\nb\na\n", "x\nb\na\n", false));
        let everywhere = EditAction::Replaced(vec![TextReplacement { old: "a", new: "x", everywhere: true }]);
        let edit = FileEdit { action: everywhere, ..edit("", "", known) };
        assert_eq!(texts(&edit, None), expect("a\nb\na\n", "x\nb\nx\n", false));
        let two = ["a", "x"].map(|old| TextReplacement { old, new: "y", everywhere: false });
        let edit = FileEdit { action: EditAction::Replaced(two.into()), ..edit };
        assert_eq!(
            texts(&edit, Some("disk")),
            expect("a\nb\na\n", "disk", false),
            "the second finds nothing"
        );
        let written = FileEdit { action: EditAction::Written("new"), original: Some(""), ..edit };
        assert_eq!(texts(&written, None), expect("", "new", false));
    }

    #[test]
    fn the_disk_where_the_edit_does_not_fit() {
        let quotes = edit("“a”", "x", Some("\"a\"\nb\n"));
        assert_eq!(texts(&quotes, Some("x\nb\n")), expect("\"a\"\nb\n", "x\nb\n", false));
        assert_eq!(texts(&quotes, None), expect("“a”", "x", true));
        let changed = FileEdit { changed_by_user: true, ..edit("a", "q", Some("a\nb\n")) };
        assert_eq!(texts(&changed, Some("// x\na2\nb\n")), expect("a\nb\n", "// x\na2\nb\n", false));
    }

    #[test]
    fn the_disk_and_then_the_fragment_where_the_client_is_old() {
        let old = edit("a", "// x\na", None);
        assert_eq!(texts(&old, Some("b\n// x\na\n")), expect("b\na\n", "b\n// x\na\n", false));
        assert_eq!(texts(&old, Some("b\n")), expect("a", "// x\na", true));
        assert_eq!(texts(&old, None), expect("a", "// x\na", true));
        let gone = edit("// x\n", "", None);
        assert_eq!(texts(&gone, Some("a\n")), expect("a\n", "a\n", false));
    }
}
