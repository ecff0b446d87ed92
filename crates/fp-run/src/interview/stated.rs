//! Tells which requirements repeat the goal: those are stated, whoever recorded them.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::Interview;
use super::answers::{text_of, wording};
use crate::regex;
use crate::run::event::Decider;

impl Interview {
    /// Makes the requirements that `goal` states, sentence by sentence, the user's.
    pub fn confirm_stated(&mut self, goal: &str) {
        let stated: HashSet<String> = sentences(goal).into_iter().collect();
        let requirements = self
            .document
            .get_mut("requirements")
            .and_then(Value::as_array_mut);
        for entry in requirements.into_iter().flatten() {
            let said = text_of(entry).map(sentences).unwrap_or_default();
            if let Value::Object(fields) = entry
                && !said.is_empty()
                && said.iter().all(|sentence| stated.contains(sentence))
            {
                fields.insert("by".into(), json!(Decider::User));
            }
        }
    }
}

/// The beginning of a list item, a heading or a quotation.
static ITEM: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(?:[-*+•>]|#+|\(?\d+[.)])\s"));

/// The sentences of `text` in lower case, without the punctuation at their ends. A list item ends one, a mere line end
/// doesn't. Where it isn't certain that a sentence ends, it goes on: half of one may say the opposite.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for line in text.lines() {
        let item = ITEM.find(line);
        if line.trim().is_empty() || item.is_some() {
            sentences.push(String::new());
        }
        for word in line[item.map_or(0, |item| item.end())..].split_whitespace() {
            let last = sentences.last_mut().expect("there is a first one");
            if last.ends_with(['.', '!', '?']) && word.starts_with(|c: char| !c.is_lowercase()) {
                sentences.push(word.to_owned());
            } else {
                last.push_str(&format!(" {word}"));
            }
        }
    }
    let bare = sentences
        .iter()
        .map(|sentence| wording(sentence.trim_end_matches(['.', '!', '?', ';', ','])));
    bare.filter(|sentence| !sentence.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_sentences_of_the_goal_are_stated() {
        let goal = "Change `greet`. It takes a NAME,\nand prints it!\n\n1. Exit with 2 without a NAME;\n- Do not\n  add a \
                    flag, e.g. print it twice\n(3) `--loud` prints capitals. See README. Never print\n2 lines of text";
        let check = |text: &str, expect: bool| {
            let document = json!({ "requirements": [{ "id": "R1", "text": text, "by": "auto" }] });
            let mut interview = Interview::parse(&document.to_string()).unwrap();
            interview.confirm_stated(goal);
            assert_eq!(interview.requirements()[0].by == "user", expect, "{text}");
        };
        check("It takes a NAME, and prints it", true);
        check("exit with 2  without a NAME", true);
        check("`--loud` prints capitals.", true);
        check("Change `greet`. See README", true);
        check("Do not add a flag, e.g. print it twice", true);
        check("add a flag, e.g. print it twice", false);
        check("print it twice", false);
        check("It takes a NAME", false);
        check("It takes a NAME, and prints it in colour", false);
        check("...", false);
        check("lines of text", false);
    }
}
