//! Reads what many changes did to their files, for pages that show it. One process reads them all.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use fp_plan::repo_path::RepoPath;

use super::Git;
use super::diff::{header_path, hunk_of};
use crate::error::HostResult;

/// Number of lines kept of a file.
const MOST_LINES: usize = 1000;

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilePatch {
    pub path: RepoPath,
    /// The change of the file as a whole, in git's words.
    pub words: Vec<String>,
    pub added: usize,
    pub removed: usize,
    pub lines: Vec<PatchLine>,
    /// Number of lines that aren't kept.
    pub left_out: usize,
}

/// A line of a patch, which may hold anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchLine {
    /// A blank, `+`, `-`, or `@` for the beginning of a hunk, whose text says what it is in.
    pub sign: u8,
    /// In the new file; 0 for a line that isn't there.
    pub number: usize,
    pub text: String,
}

impl Git {
    /// The patches of `wanted`, each a commit's id, or with a blank between them the ids of a commit or tree and of the
    /// tree that came of it. Has none for what git has lost, and no lines of files above 1 MB. Two processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn patches(&self, wanted: &[String]) -> HostResult<HashMap<String, Vec<FilePatch>>> {
        // `diff-tree` compares only trees with trees.
        let ends = wanted.iter().map(|id| match id.split_once(' ') {
            Some((base, _)) => format!("{base}^{{tree}}\n"),
            None => format!("{id}\n"),
        });
        let call = self.call("cat-file --batch-check=%(objectname)");
        let ends = call.input(ends.collect::<String>().into_bytes()).output()?;
        let ends = String::from_utf8_lossy(&ends);
        let there = ends
            .lines()
            .zip(wanted)
            .filter(|(end, _)| !end.ends_with(" missing"));
        let lines = there.map(|(end, id)| match id.split_once(' ') {
            Some((_, tree)) => (format!("{end} {tree}"), id),
            None => (end.to_owned(), id),
        });
        let lines: Vec<(String, &String)> = lines.collect();
        let call = self.call(
            "-c core.bigFileThreshold=1m -c diff.suppressBlankEmpty=false diff-tree --stdin --root -r -M -p -U3 \
             --inter-hunk-context=0 --no-color --no-ext-diff --no-textconv --submodule=short \
             --src-prefix=a/ --dst-prefix=b/",
        );
        let input: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
        // A file that is lost ends git; what came before it counts.
        let found = patches_in(&call.input(input.into_bytes()).run()?.stdout, &lines);
        let of_id = |(line, id): (String, &String)| Some((id.clone(), found.get(&line)?.clone()));
        Ok(lines.into_iter().filter_map(of_id).collect())
    }
}

/// The patches in `output` by the lines that stand before them.
fn patches_in(output: &[u8], lines: &[(String, &String)]) -> HashMap<String, Vec<FilePatch>> {
    let begins: HashSet<&[u8]> = lines.iter().map(|(line, _)| line.as_bytes()).collect();
    let mut found: HashMap<String, Vec<FilePatch>> = HashMap::new();
    let (mut now, mut old, mut new) = (String::new(), 0..0, 0..0);
    for line in output.split(|&b| b == b'\n') {
        let is_in_hunk = !old.is_empty() || !new.is_empty();
        if !is_in_hunk && begins.contains(line) {
            now = String::from_utf8_lossy(line).into_owned();
            found.insert(now.clone(), Vec::new());
        }
        let Some(files) = found.get_mut(&now) else {
            continue;
        };
        match (line.strip_prefix(b"diff --git "), files.last_mut()) {
            (Some(both), _) if !is_in_hunk => {
                // In `a/path b/path`. Of a renamed file this is nonsense, which later lines replace.
                let second = both.get(both.len() / 2 + 1..).unwrap_or_default();
                let path = header_path(second, b"b/").unwrap_or_default();
                files.push(FilePatch {
                    path,
                    ..FilePatch::default()
                });
            }
            (_, Some(file)) => file.take_line(line, &mut old, &mut new),
            (_, None) => {}
        }
    }
    found
}

/// How the lines begin that say what happened to a file as a whole.
const WORDS: [&str; 4] = ["new ", "deleted ", "old mode ", "rename from "];

impl FilePatch {
    /// Takes in a line. `old` and `new` are the lines of both files that the hunk still has.
    fn take_line(&mut self, line: &[u8], old: &mut Range<usize>, new: &mut Range<usize>) {
        let rest = line.get(1..).unwrap_or_default();
        match line.first() {
            Some(b'-') if old.next().is_some() => {
                self.removed += 1;
                self.keep_line(b'-', 0, rest);
            }
            Some(sign @ (b'+' | b' ')) if !(*new).is_empty() => {
                match sign {
                    b'+' => self.added += 1,
                    _ => drop(old.next()),
                }
                self.keep_line(*sign, new.next().unwrap_or(0), rest);
            }
            Some(b'@') => {
                (*old, *new) = hunk_of(line).unwrap_or((0..0, 0..0));
                let within = rest.windows(3).position(|part| part == b"@@ ");
                let within = within.map_or(&[][..], |at| &rest[at + 3..]);
                // A first hunk in nothing begins where the file does.
                if !within.is_empty() || !self.lines.is_empty() {
                    self.keep_line(b'@', 0, within);
                }
            }
            _ => {
                let text = String::from_utf8_lossy(line);
                if WORDS.iter().any(|words| text.starts_with(words)) {
                    self.words
                        .push(text.trim_end_matches(" file mode 100644").into());
                } else if text.starts_with("Binary files ") {
                    self.words.push("binary or large".into());
                } else if let Some(path) = line.strip_prefix(b"rename to ") {
                    self.path = RepoPath::from_quotable(path);
                }
            }
        }
    }

    fn keep_line(&mut self, sign: u8, number: usize, text: &[u8]) {
        if self.lines.len() == MOST_LINES {
            self.left_out += 1;
            return;
        }
        let text = String::from_utf8_lossy(text).into_owned();
        self.lines.push(PatchLine { sign, number, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(output: &str) -> HashMap<String, Vec<FilePatch>> {
        let id = String::new();
        let lines = [("c1".to_owned(), &id), ("t1 t2".to_owned(), &id)];
        patches_in(output.as_bytes(), &lines)
    }

    fn shown(output: &str, id: &str) -> Vec<String> {
        let found = found_in(output);
        let line = |line: &PatchLine| {
            let sign = char::from(line.sign);
            format!("{sign}{}:{}", line.number, line.text)
        };
        let file = |file: &FilePatch| {
            let lines: Vec<String> = file.lines.iter().map(line).collect();
            format!(
                "{} {:?} +{} -{} {}",
                file.path,
                file.words,
                file.added,
                file.removed,
                lines.join(" ")
            )
        };
        found[id].iter().map(file).collect()
    }

    #[test]
    fn each_change_has_its_files() {
        let output = "c1\ndiff --git a/x y b/x y\nindex 1..2 100644\n--- a/x y\t\n+++ b/x y\t\n@@ -4,3 +4,3 @@ fn f\n \
                      same\n-old\n+new\n \n\\ No newline at end of file\n\
                      diff --git \"a/q\\\"\\n\" \"b/q\\\"\\n\"\nnew file mode 100644\nBinary files /dev/null and \"b/q\" differ\n\
                      t1 t2\ndiff --git a/from here b/to\nsimilarity index 100%\nrename from from here\nrename to to\n\
                      diff --git a/run b/run\nold mode 100644\nnew mode 100755\n";
        assert_eq!(
            shown(output, "c1"),
            [
                "x y [] +1 -1 @0:fn f  4:same -0:old +5:new  6:",
                "\"q\\\"\\n\" [\"new\", \"binary or large\"] +0 -0 "
            ]
        );
        assert_eq!(
            shown(output, "t1 t2"),
            [
                "to [\"rename from from here\"] +0 -0 ",
                "run [\"old mode 100644\", \"new mode 100755\"] +0 -0 "
            ]
        );
    }

    #[test]
    fn a_line_of_a_file_begins_nothing() {
        let output = "c1\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,5 @@\n-t1 t2\n-diff --git a/y b/y\n\
                      +c1\n+diff --git a/y b/y\n+@@ -9 +9 @@\n+rename to z\n+\n";
        assert_eq!(shown(output, "c1").len(), 1);
        assert!(shown(output, "c1")[0].starts_with("x [] +5 -2 "));
        assert_eq!(found_in(output).len(), 1);
    }

    #[test]
    fn lines_beyond_the_bound_are_counted() {
        let lines = "+x\n".repeat(1500);
        let output = format!("c1\ndiff --git a/x b/x\n@@ -0,0 +1,1500 @@\n{lines}");
        let found = found_in(&output);
        let file = &found["c1"][0];
        assert_eq!(
            (file.added, file.lines.len(), file.left_out),
            (1500, 1000, 500)
        );
    }
}
