//! The text of a file before and after an edit, from what the client says of it. Newer clients send the whole file
//! before the edit; older ones nothing but the edit, which is a fragment that starts and ends anywhere.

/// One replacement of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement<'e> {
    /// What was there.
    pub old: &'e str,
    /// What is there now.
    pub new: &'e str,
    /// Whether it was replaced wherever it was, and not only where it came first.
    pub everywhere: bool,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<'e> {
    /// The file was written as a whole.
    Written(&'e str),
    /// Parts of it were replaced, one after the other.
    Replaced(Vec<Replacement<'e>>),
}

/// What the client says of the file before the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Original<'e> {
    /// Its text; that of a new file is empty.
    Known(&'e str),
    /// Nothing.
    Unknown,
}

/// One run of lines of a patch: ` ` before a line that stays, `-` before one that went, `+` before one that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'e> {
    /// Number of its first line in the text before, from 1.
    pub old_start: usize,
    /// Its lines, each with its sign.
    pub lines: Vec<&'e str>,
}

/// An edit of a file, as the client tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit<'e> {
    /// What was done.
    pub action: Action<'e>,
    /// The file before.
    pub original: Original<'e>,
    /// What changed, as lines; empty where the client does not say.
    pub patch: Vec<Hunk<'e>>,
    /// Whether the user changed the edit before it was made, so that only the patch knows what was done.
    pub changed_by_user: bool,
}

/// A text before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// Before the edit.
    pub before: String,
    /// After it.
    pub after: String,
    /// Whether these are parts of a file only, cut anywhere.
    pub fragments: bool,
}

impl Edit<'_> {
    /// The texts that the edit lies between. `on_disk` reads the file as it is now, and is asked only where the client
    /// says too little.
    #[must_use]
    pub fn texts(&self, on_disk: impl FnOnce() -> Option<String>) -> Texts {
        let whole =
            |before: &str, after: String| Texts { before: before.to_owned(), after, fragments: false };
        match (&self.action, self.original) {
            (Action::Written(content), Original::Known(before)) => whole(before, (*content).to_owned()),
            (Action::Written(content), Original::Unknown) => {
                let before = self.unpatched(content).unwrap_or_default();
                Texts { before, after: (*content).to_owned(), fragments: false }
            }
            (Action::Replaced(replacements), Original::Known(before)) => {
                let done = if self.changed_by_user { None } else { replaced(before, replacements) };
                match done.or_else(|| self.patched(before)).or_else(on_disk) {
                    Some(after) => whole(before, after),
                    None => fragments(replacements),
                }
            }
            (Action::Replaced(replacements), Original::Unknown) => {
                let whole = on_disk().and_then(|after| {
                    let before = undone(&after, replacements)?;
                    Some(Texts { before, after, fragments: false })
                });
                whole.unwrap_or_else(|| fragments(replacements))
            }
        }
    }

    /// `before` with the patch applied; `None` where there is none or it does not fit.
    fn patched(&self, before: &str) -> Option<String> {
        self.turned(before, '-', '+', |hunk, _| hunk.old_start)
    }

    /// What `after` was before the patch.
    fn unpatched(&self, after: &str) -> Option<String> {
        // Lines that came and went in the hunks above move those below.
        let place = |hunk: &Hunk<'_>, moved: isize| hunk.old_start.saturating_add_signed(moved);
        self.turned(after, '+', '-', place)
    }

    /// `text` with the lines that begin with `from` replaced by those that begin with `to`.
    fn turned(
        &self,
        text: &str,
        from: char,
        to: char,
        place: impl Fn(&Hunk<'_>, isize) -> usize,
    ) -> Option<String> {
        if self.patch.is_empty() {
            return None;
        }
        let mut lines = text.split_inclusive('\n').enumerate().peekable();
        let mut turned = String::with_capacity(text.len());
        let mut moved = 0;
        for hunk in &self.patch {
            let start = place(hunk, moved).saturating_sub(1);
            while let Some((_, line)) = lines.next_if(|(at, _)| *at < start) {
                turned.push_str(line);
            }
            for line in &hunk.lines {
                let sign = line.chars().next()?;
                let said = line.get(sign.len_utf8()..)?;
                if sign == from || sign == ' ' {
                    let (_, there) = lines.next()?;
                    if there.trim() != said.trim() {
                        return None;
                    }
                    if sign == ' ' {
                        turned.push_str(there);
                    }
                } else if sign == to {
                    turned.push_str(said);
                    turned.push('\n');
                }
                moved += isize::from(sign == '+') - isize::from(sign == '-');
            }
        }
        turned.extend(lines.map(|(_, line)| line));
        Some(turned)
    }
}

/// `text` after the replacements; `None` where one of them finds nothing to replace.
fn replaced(text: &str, replacements: &[Replacement<'_>]) -> Option<String> {
    let mut text = text.to_owned();
    for &Replacement { old, new, everywhere } in replacements {
        if old.is_empty() {
            // A file that was empty, or was not there.
            text = if text.is_empty() { new.to_owned() } else { return None };
        } else if !text.contains(old) {
            return None;
        } else if everywhere {
            text = text.replace(old, new);
        } else {
            text = text.replacen(old, new, 1);
        }
    }
    Some(text)
}

/// `text` before the replacements that led to it; `None` where the trace of one of them is not in it.
fn undone(text: &str, replacements: &[Replacement<'_>]) -> Option<String> {
    let mut text = text.to_owned();
    for &Replacement { old, new, everywhere } in replacements.iter().rev() {
        if new.is_empty() {
            // What was taken out adds nothing, wherever that was.
            continue;
        }
        if !text.contains(new) {
            return None;
        }
        text = if everywhere { text.replace(new, old) } else { text.replacen(new, old, 1) };
    }
    Some(text)
}

fn fragments(replacements: &[Replacement<'_>]) -> Texts {
    let join =
        |part: fn(&Replacement<'_>) -> String| replacements.iter().map(part).collect::<Vec<_>>().join("\n");
    Texts { before: join(|r| r.old.to_owned()), after: join(|r| r.new.to_owned()), fragments: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit<'e>(old: &'e str, new: &'e str, original: Original<'e>) -> Edit<'e> {
        let action = Action::Replaced(vec![Replacement { old, new, everywhere: false }]);
        Edit { action, original, patch: Vec::new(), changed_by_user: false }
    }

    fn texts(edit: &Edit<'_>, disk: Option<&str>) -> (String, String, bool) {
        let texts = edit.texts(|| disk.map(str::to_owned));
        (texts.before, texts.after, texts.fragments)
    }

    fn expect(before: &str, after: &str, fragments: bool) -> (String, String, bool) {
        (before.to_owned(), after.to_owned(), fragments)
    }

    #[test]
    fn the_whole_file_where_the_client_sends_it() {
        let known = Original::Known("a\nb\na\n");
        assert_eq!(texts(&edit("a", "x", known), None), expect("a\nb\na\n", "x\nb\na\n", false));
        let everywhere = Action::Replaced(vec![Replacement { old: "a", new: "x", everywhere: true }]);
        let edit = Edit { action: everywhere, ..edit("", "", known) };
        assert_eq!(texts(&edit, None), expect("a\nb\na\n", "x\nb\nx\n", false));
        let two = ["a", "x"].map(|old| Replacement { old, new: "y", everywhere: false });
        let edit = Edit { action: Action::Replaced(two.into()), ..edit };
        assert_eq!(
            texts(&edit, Some("disk")),
            expect("a\nb\na\n", "disk", false),
            "the second finds nothing"
        );
        let written = Edit { action: Action::Written("new"), original: Original::Known(""), ..edit };
        assert_eq!(texts(&written, None), expect("", "new", false));
    }

    #[test]
    fn the_patch_where_the_edit_does_not_fit() {
        let patch = vec![
            Hunk { old_start: 1, lines: vec!["-a", "+// x", "+a2"] },
            Hunk { old_start: 3, lines: vec![" c", "-d", "+e"] },
        ];
        let known = Edit { patch: patch.clone(), ..edit("“a”", "x", Original::Known("a\nb\n\tc\nd\n")) };
        assert_eq!(texts(&known, None), expect("a\nb\n\tc\nd\n", "// x\na2\nb\n\tc\ne\n", false));
        let other = Edit { original: Original::Known("z\n"), ..known };
        assert_eq!(texts(&other, None), expect("“a”", "x", true));
        let changed = Edit {
            patch: patch.clone(),
            changed_by_user: true,
            ..edit("a", "q", Original::Known("a\nb\nc\nd\n"))
        };
        assert_eq!(texts(&changed, None).1, "// x\na2\nb\nc\ne\n");
        let written = Edit {
            action: Action::Written("// x\na2\nb\nc\ne\n"),
            original: Original::Unknown,
            patch,
            changed_by_user: false,
        };
        assert_eq!(texts(&written, None).0, "a\nb\nc\nd\n");
    }

    #[test]
    fn the_disk_and_then_the_fragment_where_the_client_is_old() {
        let old = edit("a", "// x\na", Original::Unknown);
        assert_eq!(texts(&old, Some("b\n// x\na\n")), expect("b\na\n", "b\n// x\na\n", false));
        assert_eq!(texts(&old, Some("b\n")), expect("a", "// x\na", true));
        assert_eq!(texts(&old, None), expect("a", "// x\na", true));
        let gone = edit("// x\n", "", Original::Unknown);
        assert_eq!(texts(&gone, Some("a\n")), expect("a\n", "a\n", false));
    }
}
