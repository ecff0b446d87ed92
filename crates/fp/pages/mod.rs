//! Pages that people can open anywhere and pass on: they need no network, no framework and no other file. Templates put
//! the text into the page itself, so that it can be read without scripts; the browser draws the diagrams from the
//! embedded report.
//!
//! A stranger may have written the plan's texts. Templates escape them, and the page's policy lets no script run except the
//! page's own, identified by its hash.

mod change;
pub(crate) mod plan;
pub(crate) mod run;

use std::sync::LazyLock;

use fp_plan::text::{counted, shown_command};
use fp_run::report::took;
use fp_run::report::tree::TreeReport;
use fp_run::run::payload::short;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A page, along with the data for the frame that all pages share.
#[derive(Serialize)]
struct HtmlPage<'p, T> {
    /// The template of the page.
    template: &'static str,
    goal: &'p str,
    kind: &'static str,
    style: &'static str,
    script: &'static str,
    /// The script's data: the id of each data element on the page, and its JSON.
    data: Vec<(&'static str, String)>,
    page: T,
}

impl<T: Serialize> HtmlPage<'_, T> {
    fn render(&self) -> String {
        let template = TEMPLATES.get_template("page.html");
        let page = template.and_then(|template| template.render(Serde(self)));
        page.expect("the templates name what the pages have, which tests hold")
    }
}

fn json_of(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("a report is made of texts and numbers")
}

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    // Tests catch an undefined name; in production it renders as nothing.
    templates.set_undefined_behavior(match cfg!(debug_assertions) {
        true => UndefinedBehavior::SemiStrict,
        false => UndefinedBehavior::Lenient,
    });
    let mut syntax = SyntaxConfig::builder();
    let syntax = syntax
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    templates.set_syntax(syntax.expect("these are the default marks"));
    templates.set_formatter(|out, _, value| {
        let text = value.to_string();
        let shown = if value.is_safe() {
            text
        } else {
            escaped_text(&text)
        };
        Ok(out.write_str(&shown)?)
    });
    let home = env!("CARGO_PKG_REPOSITORY").trim_start_matches("https://");
    templates.add_global("home", home);
    templates.add_global("version", env!("CARGO_PKG_VERSION"));
    templates.add_filter("counted", |count: usize, what: &str| counted(count, what));
    templates.add_filter("embedded", |json: &str| {
        Value::from_safe_string(embedded_json(json))
    });
    templates.add_filter("hash", policy_hash);
    templates.add_filter("prose", |text: &str| {
        Value::from_safe_string(prose_of(text))
    });
    templates.add_filter("short", |hash: &str| short(hash).to_owned());
    templates.add_filter("shown_command", |command: &str| shown_command(command));
    templates.add_filter("took", took);
    for (name, source) in [
        ("page.html", include_str!("page.html")),
        ("parts.html", include_str!("parts.html")),
        ("plan.html", include_str!("plan.html")),
        ("run.html", include_str!("run.html")),
    ] {
        let added = templates.add_template(name, source);
        added.expect("the templates are well-formed, which tests hold");
    }
    templates
});

/// The hash by which the policy identifies a script or a style.
fn policy_hash(source: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(source.as_bytes())))
}

/// The states of tasks, in the order of a task's life.
const STATES: &str = "done verifying building asking stopped ready waiting skipped failed";

/// The states that occur, each with the number of leaves in it.
fn states_of(report: &TreeReport<'_>) -> Vec<(&'static str, usize)> {
    let runs = report.tasks.iter().filter_map(|task| task.state.as_ref());
    counted_states(runs.map(|run| run.state_word()))
}

fn counted_states<'s>(states: impl Iterator<Item = &'s str>) -> Vec<(&'static str, usize)> {
    let found: Vec<&str> = states.collect();
    let count = |state| found.iter().filter(|one| **one == state).count();
    let counts = STATES.split(' ').map(|state| (state, count(state)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Text with its code spans marked up.
fn prose_of(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) || text.contains("``") {
        return escaped_text(text);
    }
    let tagged = parts.iter().enumerate().map(|(at, part)| match at % 2 {
        1 => format!("<code>{}</code>", escaped_text(part)),
        _ => escaped_text(part),
    });
    tagged.collect()
}

/// Escapes `text` for an element or a quoted attribute. Replaces characters that are not allowed in a page.
fn escaped_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes JSON for a script element: characters that could end the element, begin a comment, or end a line of
/// JavaScript become numeric escapes. They all occur in strings only.
fn embedded_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 32);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            c => out.push(c),
        }
    }
    out
}

/// Encodes as in RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let bits = chunk
            .iter()
            .fold(0_usize, |bits, &byte| bits << 8 | usize::from(byte))
            << (8 * (3 - chunk.len()));
        let length = chunk.len();
        (0..4).map(move |at| {
            if at > length {
                '='
            } else {
                char::from(DIGITS[bits >> (18 - 6 * at) & 63])
            }
        })
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_nothing() {
        assert_eq!(
            escaped_text("a <b> & \"c\" 'd'"),
            "a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;"
        );
        assert_eq!(escaped_text("한국어 עברית"), "한국어 עברית");
        assert_eq!(escaped_text("a\u{1b}[31m\0"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(
            embedded_json("{\"a\":\"</script><!--&\u{2028}\"}"),
            "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\"}"
        );
    }

    #[test]
    fn base64_of_the_standard() {
        for (bytes, expect) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expect);
        }
    }
}
