//! Reads a spec from its page, and decides which work it applies to.

use std::path::{Path, PathBuf};

use fp_plan::plan::Task;
use fp_plan::text::{clipped, one_line, prompt_text};
use serde::{Deserialize, Serialize};

/// Longest title in characters; the rest is cut.
const MAX_TITLE: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spec {
    /// The path of the page below the specs folder, without `.md`, such as `errors` or `api/errors`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) title: String,
    pub(super) category: SpecCategory,
    /// An optional spec applies to work that mentions one of these words. Without keywords it applies to everything in
    /// its stage.
    pub(super) keywords: Vec<String>,
    pub(super) read_mode: SpecReadMode,
    /// The text after the frontmatter, with LF line endings and without surrounding empty lines.
    #[serde(skip)]
    pub(super) body: String,
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
    /// Applies to all work in the spec's stage.
    Required,
    /// Applies to work that matches one of the spec's keywords.
    #[default]
    Optional,
}

/// The frontmatter keys that are read here. Any others belong to other tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", expecting = "keys and their values")]
struct SpecFrontmatter {
    title: Option<String>,
    category: SpecCategory,
    keywords: Vec<String>,
    #[serde(alias = "readmode", alias = "read_mode", alias = "read-mode")]
    read_mode: SpecReadMode,
}

/// Reads the page at `path`. Without frontmatter it is an optional spec for every stage. Fails if the frontmatter isn't
/// YAML or has an invalid value: a silently lost rule is worse than no rule.
pub(super) fn parse_spec(name: &str, path: &Path, page: &str) -> Result<Spec, String> {
    let page = page.trim_start_matches('\u{feff}').replace("\r\n", "\n") + "\n";
    let (front, body) = match page.strip_prefix("---") {
        Some(rest) if rest.starts_with('\n') => rest
            .split_once("\n---\n")
            .ok_or("the frontmatter is never closed by a line `---`")?,
        _ => ("", &*page),
    };
    let front: Option<SpecFrontmatter> =
        serde_yaml::from_str(front).map_err(|error| error.to_string())?;
    let front = front.unwrap_or_default();
    let body = body.trim_start_matches('\n').trim_end().to_owned();
    let heading = body.lines().find(|line| line.starts_with('#'));
    let heading = heading.map(|line| line.trim_matches(['#', ' ']).replace(['*', '`'], ""));
    let file = name.rsplit('/').next().map(str::to_owned);
    let titles = [front.title, heading, file].into_iter().flatten();
    let mut titles = titles.map(|title| clipped(&one_line(&title), MAX_TITLE));
    Ok(Spec {
        title: titles.find(|title| !title.is_empty()).unwrap_or_default(),
        path: path.to_owned(),
        category: front.category,
        keywords: front.keywords,
        read_mode: front.read_mode,
        name: name.to_owned(),
        body,
    })
}

/// The specs that apply to work in `stages`, required ones first. An empty `stages` means all stages. Keywords are
/// looked up in `about`, which holds the work's goal, title and files.
pub(super) fn applicable_specs<'a>(
    specs: &'a [Spec],
    stages: &[SpecCategory],
    about: &str,
) -> Vec<&'a Spec> {
    let words = plain_words(about);
    let specs = specs.iter();
    let mut found: Vec<&Spec> = specs
        .filter(|spec| spec.applies_to(stages, &words))
        .collect();
    found.sort_by_key(|spec| (spec.read_mode, &spec.name));
    found
}

impl Spec {
    fn applies_to(&self, stages: &[SpecCategory], words: &str) -> bool {
        let is_general = stages.is_empty() || self.category == SpecCategory::General;
        let is_unconditional = self.read_mode == SpecReadMode::Required || self.keywords.is_empty();
        (is_general || stages.contains(&self.category))
            && (is_unconditional || self.keywords.iter().any(|word| are_among(words, word)))
    }
}

/// `text` in lower case, with single spaces around its words.
fn plain_words(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.fold(String::from(" "), |text, word| {
        text + &word.to_lowercase() + " "
    })
}

/// True if `keyword` occurs in `words` as whole words. A keyword that isn't ASCII may also be part of a word, since
/// scripts such as Hangul attach particles to words or have no spaces between them.
fn are_among(words: &str, keyword: &str) -> bool {
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

/// The line that refers to a spec without quoting it.
pub(super) fn named_line(spec: &Spec, path: &str) -> String {
    match spec.read_mode {
        SpecReadMode::Required => format!("- Read {path} before you begin: {}\n", spec.title),
        SpecReadMode::Optional => format!("- Where it helps, read {path}: {}\n", spec.title),
    }
}

/// The payload section for `specs`, which apply to the payload's task. `room` is in bytes, and `command` prints all the
/// specs.
///
/// A required spec is quoted in full, in a form that can't be mistaken for a section of the payload; if it doesn't fit,
/// only its title and path are given. If not even those fit, `command` replaces all of them. Only that last resort and
/// the heading can exceed the room.
pub(super) fn payload_section(specs: &[&Spec], room: usize, command: &str) -> String {
    const HEADING: &str = "\n## PROJECT SPECS\n";
    let named = |spec: &&Spec| named_line(spec, &spec.path.display().to_string());
    let mut lines: Vec<String> = specs.iter().map(named).collect();
    let fits = |lines: &[String]| HEADING.len() + lines.concat().len() <= room;
    let is_required = |spec: &&&Spec| spec.read_mode == SpecReadMode::Required;
    let required = specs.iter().take_while(is_required).count();
    if !fits(&lines[..required]) {
        return format!(
            "{HEADING}- Run `{command}` before you begin, and keep to what it prints\n"
        );
    }
    for (at, spec) in specs.iter().enumerate().take(required) {
        let body: String = prompt_text(&spec.body).lines().map(quoted_line).collect();
        let quoted = format!("{}, which every task keeps to:\n{body}", spec.title);
        let named = std::mem::replace(&mut lines[at], quoted);
        if !fits(&lines[..required]) {
            lines[at] = named;
        }
    }
    if !fits(&lines) {
        let more = specs.len() - required;
        lines.truncate(required);
        lines.push(format!("- ({more} more where they help: `{command}`)\n"));
        if !fits(&lines) {
            lines.pop();
        }
    }
    HEADING.to_owned() + &lines.concat()
}

/// A `line` from a page, marked so that it can't be mistaken for this program's own text.
pub(super) fn quoted_line(line: &str) -> String {
    format!("> {line}").trim_end().to_owned() + "\n"
}
