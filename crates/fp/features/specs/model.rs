//! A spec as its page has it, and the work that it applies to.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fp_host::file::FileError;
use fp_plan::hint::Hint as _;
use fp_plan::plan::Task;
use fp_plan::text::{clipped, one_line, prompt_text, visible_line};
use serde::{Deserialize, Serialize};

use crate::error::CommandError;

/// Longest title in characters; the rest is cut.
const MAX_TITLE: usize = 120;
/// Longest name in characters.
const MAX_NAME: usize = 120;

/// Name of a spec: its file below the folder of specs, without `.md`, such as `errors` or `api/errors`. It becomes part of
/// a path, so it is one or two plain names. Text with `.md` is read as well.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct SpecName(String);

pub(super) const NAME_RULE: &str = "a spec's name is a file's name without .md, at most one folder down: no control \
                                    characters, no \\ and :, no dot at its beginning, at most 120 characters";

impl SpecName {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The name without its folder.
    pub(super) fn file(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

impl FromStr for SpecName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |part: &str| {
            let foreign =
                |c: char| c.is_control() || matches!(c, '\\' | ':' | '\u{2028}' | '\u{2029}');
            !part.is_empty()
                && !part.starts_with('.')
                && part.trim() == part
                && !part.contains(foreign)
        };
        let text = text.strip_suffix(".md").unwrap_or(text);
        let fits = text.chars().count() <= MAX_NAME && text.split('/').count() <= 2;
        (fits && text.split('/').all(is_plain))
            .then(|| Self(text.to_owned()))
            .ok_or(NAME_RULE)
    }
}

impl fmt::Display for SpecName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spec {
    pub(super) name: SpecName,
    pub(super) title: String,
    pub(super) category: SpecCategory,
    /// An optional spec applies to work that has one of these words. Without keywords it applies to its whole stage.
    pub(super) keywords: Vec<String>,
    pub(super) read_mode: SpecReadMode,
    pub(super) priority: SpecPriority,
    /// The text after the frontmatter, with line feeds alone and no empty lines around it.
    #[serde(skip)]
    pub(super) body: String,
    /// The whole page as it is.
    #[serde(skip)]
    pub(super) page: String,
}

/// The stage of work that a spec is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum SpecCategory {
    #[default]
    #[value(skip)]
    General,
    Exploration,
    Planning,
    Execution,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SpecReadMode {
    /// For all work in its stage.
    Required,
    /// For work that one of its keywords fits.
    #[default]
    Optional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SpecPriority {
    Critical,
    High,
    #[default]
    Medium,
    Low,
}

/// A page that can't be read.
#[derive(Debug, Serialize)]
pub(super) struct SpecFault {
    pub(super) path: PathBuf,
    pub(super) message: String,
    hint: String,
}

impl SpecFault {
    pub(super) fn new(path: &Path, message: impl ToString, hint: &str) -> Self {
        Self {
            path: path.to_owned(),
            message: message.to_string(),
            hint: hint.to_owned(),
        }
    }

    fn at(path: &Path, (line, column): (usize, usize), detail: &str, hint: &str) -> Self {
        Self::new(
            path,
            format!("{}:{line}:{column}: {detail}", path.display()),
            hint,
        )
    }

    pub(super) fn line(&self) -> String {
        visible_line(&format!("{} ({})", self.message, self.hint))
    }
}

impl From<FileError> for SpecFault {
    fn from(error: FileError) -> Self {
        Self::new(
            error.path(),
            &error,
            error.hint().as_deref().unwrap_or("look at the file"),
        )
    }
}

impl From<&SpecFault> for CommandError {
    fn from(fault: &SpecFault) -> Self {
        Self::failed(&fault.message).hint(&fault.hint)
    }
}

/// The known keys. Others belong to other tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", expecting = "keys and their values")]
struct SpecFrontmatter {
    title: Option<String>,
    category: SpecCategory,
    keywords: Vec<String>,
    #[serde(alias = "readmode", alias = "read_mode", alias = "read-mode")]
    read_mode: SpecReadMode,
    priority: SpecPriority,
}

/// Reads the page at `path`. A page without frontmatter is an optional spec for every stage. Fails where the frontmatter is
/// no YAML or has a wrong value: a rule that silently gets lost is worse than no rule.
pub(super) fn parse_spec(name: SpecName, path: &Path, page: String) -> Result<Spec, SpecFault> {
    let text = page.strip_prefix('\u{feff}').unwrap_or(&page);
    let (front, body) = split_frontmatter(text).ok_or_else(|| {
        let hint = "put a line `---` after its last key, or an empty line before the first `---` if it is no frontmatter";
        SpecFault::at(path, (1, 1), "the frontmatter is never closed", hint)
    })?;
    let front = read_frontmatter(front, path)?;
    let body = body.replace("\r\n", "\n");
    let body = body.trim_start_matches('\n').trim_end().to_owned();
    let titles = [
        front.title,
        first_heading(&body),
        Some(name.file().to_owned()),
    ];
    let mut titles = titles
        .into_iter()
        .flatten()
        .map(|title| clipped(&one_line(&title), MAX_TITLE));
    Ok(Spec {
        title: titles.find(|title| !title.is_empty()).unwrap_or_default(),
        category: front.category,
        keywords: front.keywords,
        read_mode: front.read_mode,
        priority: front.priority,
        name,
        body,
        page,
    })
}

/// The text between the first line, if that is `---`, and the next such line; and the rest. `None` where there is no next
/// one.
fn split_frontmatter(text: &str) -> Option<(&str, &str)> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Some(("", text));
    };
    let mut at = first.len();
    for line in lines {
        if is_fence(line) {
            return Some((&text[first.len()..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn read_frontmatter(front: &str, path: &Path) -> Result<SpecFrontmatter, SpecFault> {
    let read: Result<Option<SpecFrontmatter>, _> = serde_yaml::from_str(front);
    read.map(Option::unwrap_or_default).map_err(|error| {
        let (line, column) = error
            .location()
            .map_or((1, 1), |place| (place.line(), place.column()));
        // The fence before it is a line of the file. YAML also ends a line at a lone carriage return.
        let line = line.min(front.lines().count() + 1) + 1;
        let whole = error
            .to_string()
            .replace("unknown variant", "unknown value");
        let detail = whole.split(" at line ").next().unwrap_or(&whole);
        SpecFault::at(
            path,
            (line, column),
            detail,
            "correct it, or leave the key out for its default",
        )
    })
}

/// The text of the first heading that begins with `#`.
fn first_heading(body: &str) -> Option<String> {
    let heading = body.lines().find(|line| line.starts_with('#'))?;
    Some(heading.trim_matches(['#', ' ']).replace(['*', '`'], ""))
}

/// The specs that apply to work in `stages`, the most important first. No stages means all of them. `about` has the goal,
/// title and files of the work, in which keywords are looked for.
pub(super) fn applicable_specs<'a>(
    specs: &'a [Spec],
    stages: &[SpecCategory],
    about: &str,
) -> Vec<&'a Spec> {
    let words = plain_words(about);
    let mut found: Vec<&Spec> = specs
        .iter()
        .filter(|spec| spec.applies(stages, &words))
        .collect();
    found.sort_by_key(|spec| (spec.read_mode, spec.priority, &spec.name));
    found
}

impl Spec {
    fn applies(&self, stages: &[SpecCategory], words: &str) -> bool {
        let is_of_stage = stages.is_empty()
            || self.category == SpecCategory::General
            || stages.contains(&self.category);
        is_of_stage
            && (self.read_mode == SpecReadMode::Required
                || self.keywords.is_empty()
                || self.keywords.iter().any(|keyword| mentions(words, keyword)))
    }
}

/// `text` in lower case, its words between single spaces.
fn plain_words(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.fold(String::from(" "), |text, word| {
        text + &word.to_lowercase() + " "
    })
}

/// True if `keyword` occurs as whole words. Outside of ASCII it may also be part of a word, since scripts such as Hangul
/// attach particles to words or have no spaces between them.
fn mentions(words: &str, keyword: &str) -> bool {
    let keyword = plain_words(keyword);
    match keyword.trim() {
        "" => false,
        _ if keyword.is_ascii() => words.contains(&keyword),
        part => words.contains(part),
    }
}

/// The title and files of a task.
pub(super) fn work_of_task(leaf: &Task) -> String {
    let files: Vec<&str> = leaf.files().collect();
    format!("\n{}\n{}\n", leaf.description, files.join("\n"))
}

/// The line for a spec whose text is left out.
pub(super) fn named_line(spec: &Spec, path: &str) -> String {
    match spec.read_mode {
        SpecReadMode::Required => format!("- Read {path} before you begin: {}\n", spec.title),
        SpecReadMode::Optional => format!("- Where it helps, read {path}: {}\n", spec.title),
    }
}

/// The section of a payload with `specs`, which apply to its task. `room` is in bytes, and `command` prints all of them.
///
/// A required spec is quoted whole, so that none of its lines passes for a section of the payload. One that doesn't fit is
/// named with its path, and where not even the paths fit, `command` replaces all. Optional ones have a line each. Only
/// that last resort and the heading can exceed the room.
pub(super) fn payload_section(
    specs: &[&Spec],
    room: usize,
    path: impl Fn(&Spec) -> String,
    command: &str,
) -> String {
    let (required, optional): (Vec<&Spec>, Vec<&Spec>) = specs
        .iter()
        .partition(|spec| spec.read_mode == SpecReadMode::Required);
    let mut text = String::from("\n## PROJECT SPECS\n");
    let named: Vec<String> = required
        .iter()
        .map(|spec| named_line(spec, &path(spec)))
        .collect();
    let mut reserved: usize = named.iter().map(String::len).sum();
    if text.len() + reserved > room {
        return text + &format!("- Run `{command}` before you begin, and keep to what it prints\n");
    }
    for (spec, line) in required.iter().zip(named) {
        reserved -= line.len();
        let quoted = quoted_spec(spec);
        text += if text.len() + quoted.len() + reserved <= room {
            &quoted
        } else {
            &line
        };
    }
    for (at, spec) in optional.iter().enumerate() {
        let line = named_line(spec, &path(spec));
        let rest = format!(
            "- ({} more where they help: `{command}`)\n",
            optional.len() - at
        );
        let is_last = at + 1 == optional.len();
        if text.len() + line.len() + if is_last { 0 } else { rest.len() } > room {
            return if text.len() + rest.len() > room {
                text
            } else {
                text + &rest
            };
        }
        text += &line;
    }
    text
}

fn quoted_spec(spec: &Spec) -> String {
    let body = prompt_text(&spec.body);
    let quoted: String = body.lines().map(quoted_line).collect();
    format!("{}, which every task keeps to:\n{quoted}", spec.title)
}

/// `line` of a page, so that it can't pass for one of this program.
pub(super) fn quoted_line(line: &str) -> String {
    format!("> {}", line.trim_end()).trim_end().to_owned() + "\n"
}
