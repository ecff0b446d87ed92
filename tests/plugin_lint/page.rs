//! The input of the checks: the shipped files by their path in the plugin, with the Markdown among them parsed.

use std::collections::BTreeSet;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Parser, Tag, TagEnd};
use serde_yaml::{Mapping, Value};

/// The plugin, or a broken sample of one.
pub(super) struct Plugin {
    pub(super) pages: Vec<Page>,
    /// The path of every file.
    pub(super) files: BTreeSet<String>,
}

/// Purpose of a Markdown file; each kind has its own keys, placeholders and budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Skill,
    Reference,
    Agent,
    Other,
}

/// A Markdown file.
pub(super) struct Page {
    pub(super) path: String,
    pub(super) kind: PageKind,
    pub(super) text: String,
    /// The front matter; `None` if there is none, or it isn't a YAML mapping.
    pub(super) keys: Option<Mapping>,
    pub(super) links: Vec<String>,
    pub(super) code: Vec<Code>,
}

/// A code span or block.
pub(super) struct Code {
    pub(super) text: String,
    /// The language of a block; `None` for a span.
    pub(super) block: Option<String>,
}

impl Plugin {
    pub(super) fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut plugin = Self {
            pages: Vec::new(),
            files: BTreeSet::new(),
        };
        for (path, contents) in files {
            plugin.files.insert(path.to_owned());
            if path.ends_with(".md") {
                let text = String::from_utf8(contents.to_vec()).expect("Markdown is UTF-8");
                plugin.pages.push(Page::new(path, text));
            }
        }
        plugin
    }

    pub(super) fn of_kind(&self, kind: PageKind) -> impl Iterator<Item = &Page> {
        self.pages.iter().filter(move |page| page.kind == kind)
    }

    /// Skills and agents: the pages whose keys the client reads.
    pub(super) fn described(&self) -> impl Iterator<Item = &Page> {
        self.pages
            .iter()
            .filter(|page| matches!(page.kind, PageKind::Skill | PageKind::Agent))
    }
}

impl Page {
    fn new(path: &str, text: String) -> Self {
        let (front, body) = split_front(&text);
        let keys = front.and_then(|front| serde_yaml::from_str(front).ok());
        let (links, code) = take_apart(body);
        Self {
            path: path.into(),
            kind: kind_of(path),
            keys,
            links,
            code,
            text,
        }
    }

    /// The value of a key, or an empty string if it isn't a string.
    pub(super) fn key(&self, name: &str) -> &str {
        self.keys
            .as_ref()
            .and_then(|keys| keys.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The client's name for the page: a skill's folder, or an agent's file.
    pub(super) fn name(&self) -> &str {
        let mut parts = self.path.trim_end_matches(".md").rsplit('/');
        let last = parts.next().unwrap_or_default();
        if self.kind == PageKind::Skill {
            parts.next().unwrap_or_default()
        } else {
            last
        }
    }

    pub(super) fn words(&self) -> usize {
        self.text.split_whitespace().count()
    }

    /// Approximate number of tokens that the page takes up.
    pub(super) fn tokens(&self) -> usize {
        self.text.chars().count().div_ceil(4)
    }
}

fn kind_of(path: &str) -> PageKind {
    match path.split('/').collect::<Vec<_>>()[..] {
        ["skills", _, "SKILL.md"] => PageKind::Skill,
        ["skills", ..] => PageKind::Reference,
        ["agents", _] => PageKind::Agent,
        _ => PageKind::Other,
    }
}

fn split_front(text: &str) -> (Option<&str>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else {
        return (None, text);
    };
    match rest.split_once("\n---\n") {
        Some((front, body)) => (Some(front), body),
        None => (None, text),
    }
}

fn take_apart(body: &str) -> (Vec<String>, Vec<Code>) {
    let (mut links, mut code) = (Vec::new(), Vec::new());
    let mut block = None;
    for event in Parser::new(body) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push(dest_url.into_string());
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language,
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                block = Some(Code {
                    text: String::new(),
                    block: Some(language.into_string()),
                });
            }
            Event::Text(text) => {
                if let Some(block) = &mut block {
                    block.text.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => code.extend(block.take()),
            Event::Code(text) => code.push(Code {
                text: text.into_string(),
                block: None,
            }),
            _ => {}
        }
    }
    (links, code)
}
