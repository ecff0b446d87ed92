//! Follows references: `src/a.rs:15` means the text that stood there when the plan was approved, wherever it stands now.

use serde::{Deserialize, Serialize};

use fp_plan::plan::path;

/// A reference to a line whose text the file had once, when the plan was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampedReference {
    /// The file, in normal form.
    pub path: String,
    /// The line that the reference names, from 1.
    pub line: u64,
    /// Hash of its text.
    pub hash: String,
}

/// The lines of a file that references name.
#[derive(Debug, Clone)]
pub struct ReferredFile {
    hashes: Vec<u64>,
}

impl ReferredFile {
    pub fn of(text: &str) -> Self {
        Self {
            hashes: text.lines().map(hash_of_line).collect(),
        }
    }

    /// The index of the only line with this hash.
    fn only(&self, wanted: u64) -> Option<usize> {
        let mut found = self
            .hashes
            .iter()
            .enumerate()
            .filter(|(_, hash)| **hash == wanted);
        let (at, _) = found.next()?;
        found.next().is_none().then_some(at)
    }

    /// Stamps a reference to `line` of this file at `path`. `None` if the line could not be found again.
    pub fn stamp(&self, path: &str, line: u64) -> Option<StampedReference> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        let hash = *self.hashes.get(at)?;
        let is_found = hash != hash_of_line("") && self.only(hash).is_some();
        is_found.then(|| StampedReference {
            path: path.to_owned(),
            line,
            hash: format!("{hash:016x}"),
        })
    }

    /// How many lines the text of `stamp` has moved down; `None` if it is neither in its place nor anywhere else alone.
    pub fn shift(&self, stamp: &StampedReference) -> Option<i64> {
        let wanted = u64::from_str_radix(&stamp.hash, 16).ok()?;
        let before = i64::try_from(stamp.line).ok()? - 1;
        if usize::try_from(before)
            .ok()
            .and_then(|at| self.hashes.get(at))
            == Some(&wanted)
        {
            return Some(0);
        }
        Some(i64::try_from(self.only(wanted)?).ok()? - before)
    }
}

/// FNV-1a of a line without the blanks around it. It finds lines and proves nothing, so it only has to be fast, and the
/// same in every version.
fn hash_of_line(line: &str) -> u64 {
    line.trim()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The reference `text` with the place that it has now: `src/a.rs:20, was 15 - why`. `file` reads the file at a path in
/// normal form, if there is one.
pub fn current_reference(
    text: &str,
    stamps: &[StampedReference],
    file: impl FnOnce(&str) -> Option<ReferredFile>,
) -> String {
    let Some(reference) = path::reference(text) else {
        return text.to_owned();
    };
    let Ok(path) = path::normal(reference.path) else {
        return text.to_owned();
    };
    let of_it =
        |stamp: &&StampedReference| stamp.path == path && Some(stamp.line) == reference.line;
    let Some(stamp) = stamps.iter().find(of_it) else {
        return text.to_owned();
    };
    let why = if reference.why.is_empty() {
        String::new()
    } else {
        format!(" - {}", reference.why)
    };
    match file(&path).and_then(|file| file.shift(stamp)) {
        Some(0) => text.to_owned(),
        Some(shift) => {
            let line = stamp.line.saturating_add_signed(shift);
            format!("{path}:{line}, was {}{why}", stamp.line)
        }
        None => format!(
            "{path}, no longer the text that was at line {}{why}",
            stamp.line
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "fn one() {\n}\n\nfn two() {\n    work();\n}\n";

    #[test]
    fn a_reference_is_followed_by_the_text_of_its_line() {
        let stamps: Vec<_> = [4]
            .iter()
            .filter_map(|line| ReferredFile::of(BEFORE).stamp("a.rs", *line))
            .collect();
        let check = |text: &str, now: &str, expect: &str| {
            assert_eq!(
                current_reference(text, &stamps, |_| Some(ReferredFile::of(now))),
                expect,
                "{now:?}"
            );
        };
        check("a.rs:4 - see `two`", BEFORE, "a.rs:4 - see `two`");
        check(
            "a.rs:4 - see `two`",
            &format!("\n\n{BEFORE}"),
            "a.rs:6, was 4 - see `two`",
        );
        check(
            "`./a.rs:4`",
            &BEFORE.replace("fn one() {\n", ""),
            "a.rs:3, was 4",
        );
        check("a.rs:4", &BEFORE.replace("    work", "\twork"), "a.rs:4");
        check(
            "a.rs:4 - x",
            &BEFORE.replace("two", "three"),
            "a.rs, no longer the text that was at line 4 - x",
        );
        let twice = format!("\n{BEFORE}{BEFORE}");
        check(
            "a.rs:4 - x",
            &twice,
            "a.rs, no longer the text that was at line 4 - x",
        );
        check("a.rs:1 - not stamped", "", "a.rs:1 - not stamped");
        assert_eq!(
            current_reference("a.rs:4", &stamps, |_| None),
            "a.rs, no longer the text that was at line 4"
        );
    }

    #[test]
    fn what_can_not_be_found_again_is_not_stamped() {
        let none = |text: &str, line: u64| {
            assert_eq!(ReferredFile::of(text).stamp("a", line), None, "{text:?}")
        };
        none("", 1);
        none("one\n", 0);
        none("one\n", 2);
        none("\n\n", 1);
        none("same\nsame\n", 1);
    }
}
