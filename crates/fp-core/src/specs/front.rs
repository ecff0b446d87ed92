//! Reading a spec: frontmatter between two lines `---`, then Markdown. What is missing has a default; what is wrong
//! is an error with its place, since a rule that is silently not one is worse than none.

use std::fmt;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::choice::MEANT;
use super::{Category, Dimension, Priority, ReadMode, Spec, SpecName};

/// Longest frontmatter in bytes.
const MAX_FRONT: usize = 64 * 1024;

/// Longest title in characters; what is longer is cut.
const MAX_TITLE: usize = 120;

/// What is wrong with the frontmatter of a spec, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {detail}")]
pub struct SpecFault {
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub detail: String,
    /// What to do about it.
    pub hint: String,
}

/// The keys that are known. Others are for other tools, and left alone.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "keys and their values")]
struct Front {
    title: Option<String>,
    dimension: Option<Dimension>,
    category: Option<Category>,
    keywords: Option<Keywords>,
    #[serde(alias = "readmode", alias = "read_mode", alias = "read-mode")]
    read_mode: Option<ReadMode>,
    priority: Option<Priority>,
}

/// The spec `name` whose file has this text. A file without frontmatter is an optional, general one.
///
/// Fails where there is frontmatter and it is no YAML, or a key has a value that it can't have.
pub fn parse(name: SpecName, text: &str) -> Result<Spec, SpecFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (front, body) = split(text)?;
    let front = front.map(read).transpose()?.unwrap_or_default();
    let body = body.replace("\r\n", "\n");
    let body = body.trim_start_matches('\n').trim_end().to_owned();
    let given = front.title.map(|title| one_line(&title)).filter(|title| !title.is_empty());
    let title = given.or_else(|| first_heading(&body)).unwrap_or_else(|| one_line(name.file()));
    Ok(Spec {
        title,
        dimension: front.dimension.unwrap_or_default(),
        category: front.category.unwrap_or_default(),
        keywords: front.keywords.map(|keywords| keywords.0).unwrap_or_default(),
        read_mode: front.read_mode.unwrap_or_default(),
        priority: front.priority.unwrap_or_default(),
        name,
        body,
    })
}

/// What stands between the first line, if that is `---`, and the next such line; and what follows.
fn split(text: &str) -> Result<(Option<&str>, &str), SpecFault> {
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return Ok((None, text)) };
    let fault = |detail: &str, hint: &str| SpecFault {
        line: 1,
        column: 1,
        detail: detail.to_owned(),
        hint: hint.to_owned(),
    };
    let mut at = first.len();
    for line in lines {
        if is_fence(line) {
            return Ok((Some(&text[first.len()..at]), &text[at + line.len()..]));
        }
        at += line.len();
        if at > MAX_FRONT {
            return Err(fault("the frontmatter is too long", "at most 64 KiB, ended by a line `---`"));
        }
    }
    Err(fault(
        "the frontmatter is never closed",
        "put a line `---` behind its last key, or an empty line before the first `---` if it is no frontmatter",
    ))
}

fn read(front: &str) -> Result<Front, SpecFault> {
    let read: Result<Option<Front>, _> = serde_yaml::from_str(front);
    read.map(Option::unwrap_or_default).map_err(|error| {
        let place = error.location();
        let whole = error.to_string();
        let detail = whole.split(" at line ").next().unwrap_or(&whole);
        let (detail, hint) = match detail.rsplit_once(MEANT) {
            Some((detail, meant)) => (detail.to_owned(), format!("did you mean {meant}")),
            None => (expected_and_found(detail), "correct it, or leave the key out for its default".into()),
        };
        SpecFault {
            // The fence before it is a line of the file.
            line: place.as_ref().map_or(1, serde_yaml::Location::line) + 1,
            column: place.as_ref().map_or(1, serde_yaml::Location::column),
            detail,
            hint,
        }
    })
}

/// Turns serde's "invalid type: A, expected B" around, and into YAML's words.
fn expected_and_found(detail: &str) -> String {
    let Some((key, types)) = detail.split_once("invalid type: ") else { return detail.to_owned() };
    match types.split_once(", expected ") {
        Some((found, expected)) => {
            let found = match found {
                "sequence" => "a list",
                "map" => "keys and values",
                other => other,
            };
            format!("{key}expected {expected}, found {found}")
        }
        None => detail.to_owned(),
    }
}

/// `text` on one line, without control characters, cut to the length of a title.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect()
}

fn first_heading(body: &str) -> Option<String> {
    let mut events =
        Parser::new(body).skip_while(|event| !matches!(event, Event::Start(Tag::Heading { .. })));
    events.next()?;
    let mut title = String::new();
    for event in events {
        match event {
            Event::End(TagEnd::Heading(_)) => break,
            Event::Text(text) | Event::Code(text) => title.push_str(&text),
            Event::SoftBreak | Event::HardBreak => title.push(' '),
            _ => {}
        }
    }
    Some(one_line(&title)).filter(|title| !title.is_empty())
}

/// A list of words, or words with commas between them.
#[derive(Debug)]
struct Keywords(Vec<String>);

impl<'de> Deserialize<'de> for Keywords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeywordsVisitor).map(Self)
    }
}

struct KeywordsVisitor;

impl<'de> Visitor<'de> for KeywordsVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of words")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<String>, E> {
        text.split(',').filter_map(|word| keyword(word).transpose()).collect()
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Vec<String>, E> {
        Ok(vec![number.to_string()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
        let mut words = Vec::new();
        while let Some(Keyword(word)) = list.next_element()? {
            words.extend(word);
        }
        Ok(words)
    }
}

/// One of the list; nothing where it is empty.
struct Keyword(Option<String>);

impl<'de> Deserialize<'de> for Keyword {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeywordVisitor).map(Self)
    }
}

struct KeywordVisitor;

impl Visitor<'_> for KeywordVisitor {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<String>, E> {
        keyword(text)
    }
}

/// `text` as a keyword. One without a letter or a digit would never be found, so it is an error.
fn keyword<E: Error>(text: &str) -> Result<Option<String>, E> {
    let word = one_line(text);
    match word.is_empty() || word.contains(char::is_alphanumeric) {
        true => Ok(Some(word).filter(|word| !word.is_empty())),
        false => Err(E::custom(format!("`{word}` has no letter and no digit"))),
    }
}
