//! Which specs apply to a piece of work, and how much of them fits.

use pulldown_cmark::{Event, Parser, Tag};
use serde::Serialize;

use super::front::one_line;
use super::{Category, ReadMode, Spec};
use crate::word_forms::SpacedWords;

/// How a spec is handed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "as", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Form {
    /// As its whole text.
    Whole {
        /// The text.
        text: String,
    },
    /// Without its last sections.
    Part {
        /// The text.
        text: String,
        /// Headings of what is missing.
        left_out: Vec<String>,
    },
    /// By its path, to be read: it is required, and too long.
    Named,
    /// Not at all, for lack of room.
    LeftOut,
    /// Not at all: it does not apply.
    Out,
}

/// A spec and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chosen<'a> {
    /// The spec.
    #[serde(flatten)]
    pub spec: &'a Spec,
    /// How it is handed on.
    #[serde(flatten)]
    pub form: Form,
    /// Why it applies or doesn't.
    pub why: String,
}

/// The specs that apply in one of `stages` (in all of them where none is named), each with why, the most important
/// first: required ones, then by priority, then by name. `about` is goal, title and files of the work, in which keywords
/// are looked for.
#[must_use]
pub fn applicable<'a>(specs: &'a [Spec], stages: &[Category], about: &str) -> Vec<(&'a Spec, String)> {
    judged(specs, stages, about).into_iter().filter_map(|(spec, why)| Some((spec, why.ok()?))).collect()
}

/// All specs with what becomes of each, for `budget` characters: first those that apply, as [`applicable`] has them,
/// then the others.
///
/// Required ones are whole, or where there is no room for that, named. Of the optional ones whole sections are left
/// out from the end of the least important on. So no more than the budget is handed on as text, and nothing required
/// is missing.
#[must_use]
pub fn select<'a>(specs: &'a [Spec], stages: &[Category], about: &str, budget: usize) -> Vec<Chosen<'a>> {
    let (mut room, mut full) = (budget, false);
    let mut apply = Vec::new();
    let mut rest = Vec::new();
    for (spec, why) in judged(specs, stages, about) {
        match why {
            Ok(why) => {
                let form = fit(spec, room, full);
                match &form {
                    Form::Whole { text } | Form::Part { text, .. } => room -= text.chars().count(),
                    _ => {}
                }
                // What is less important is not handed on in the place of what is more.
                full |= spec.read_mode == ReadMode::Optional && !matches!(form, Form::Whole { .. });
                apply.push(Chosen { spec, form, why });
            }
            Err(why) => rest.push(Chosen { spec, form: Form::Out, why }),
        }
    }
    apply.append(&mut rest);
    apply
}

fn judged<'a>(
    specs: &'a [Spec],
    stages: &[Category],
    about: &str,
) -> Vec<(&'a Spec, Result<String, String>)> {
    let words = SpacedWords::new(about);
    let mut ordered: Vec<&Spec> = specs.iter().collect();
    ordered.sort_by_key(|spec| (spec.read_mode, spec.priority, &spec.name));
    ordered.into_iter().map(|spec| (spec, applies(spec, stages, &words))).collect()
}

/// Why `spec` applies, or why it doesn't.
fn applies(spec: &Spec, stages: &[Category], words: &SpacedWords) -> Result<String, String> {
    let category = spec.category;
    let in_stage = stages.is_empty() || category == Category::General || stages.contains(&category);
    if !in_stage {
        return Err(format!("it is for {}", category.word()));
    }
    if spec.read_mode == ReadMode::Required {
        return Ok("required".to_owned());
    }
    if spec.keywords.is_empty() {
        return Ok("no keywords, so for everything".to_owned());
    }
    match spec.keywords.iter().find(|keyword| words.mention(keyword)) {
        Some(keyword) => Ok(format!("keyword `{keyword}`")),
        None => Err(format!("none of its keywords occurs: {}", spec.keywords.join(", "))),
    }
}

fn fit(spec: &Spec, room: usize, full: bool) -> Form {
    let whole = block(spec, &spec.body);
    let fits = |text: &str| text.chars().count() <= room;
    match spec.read_mode {
        _ if !full && fits(&whole) => return Form::Whole { text: whole },
        ReadMode::Required => return Form::Named,
        ReadMode::Optional if full => return Form::LeftOut,
        ReadMode::Optional => {}
    }
    let sections = sections(&spec.body);
    let end = spec.body.char_indices().nth(room).map_or(spec.body.len(), |(at, _)| at);
    let kept = (0..sections.len())
        .rev()
        .filter(|&count| (1..=end).contains(&sections[count].start))
        .map(|count| (count, block(spec, &spec.body[..sections[count].start])))
        .find(|(_, text)| fits(text));
    kept.map_or(Form::LeftOut, |(count, text)| Form::Part {
        text,
        left_out: sections[count..].iter().map(|section| section.heading.clone()).collect(),
    })
}

/// `body` of `spec` below a heading that names the spec.
fn block(spec: &Spec, body: &str) -> String {
    let Spec { name, title, read_mode, .. } = spec;
    format!("# Spec {name}: {title} ({})\n\n{}\n\n", read_mode.word(), body.trim_end())
}

/// A heading and all up to the next one.
struct Section {
    start: usize,
    heading: String,
}

fn sections(body: &str) -> Vec<Section> {
    let at_line = |start: usize| body[..start].chars().next_back().is_none_or(|before| before == '\n');
    let starts = Parser::new(body).into_offset_iter().filter_map(|(event, range)| match event {
        Event::Start(Tag::Heading { .. }) if at_line(range.start) => Some(range),
        _ => None,
    });
    let heading =
        |text: &str| one_line(text.lines().next().unwrap_or_default().trim_matches(['#', ' ', '\t']));
    starts.map(|range| Section { start: range.start, heading: heading(&body[range]) }).collect()
}
