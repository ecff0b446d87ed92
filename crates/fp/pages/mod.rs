//! Pages that people can open anywhere and pass on: they need no network, no framework and no other file. The
//! text is in the page itself; the browser makes the drawings from the report beside it.
//!
//! A stranger may have written the plan's texts. They are escaped in the page, and its policy lets no script
//! run except the page's own, identified by its hash.

macro_rules! put {
    ($page:expr, $($format:tt)*) => {{
        use std::fmt::Write as _;
        write!($page, $($format)*).expect("writing to a string can't fail")
    }};
}

pub(crate) mod mermaid;
pub(crate) mod plan;
pub(crate) mod run;

use std::borrow::Cow;

use fp_run::report::status::TaskCounts;
use fp_run::report::tree::TreeReport;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

const GRAPH: &str = r#"<section class="pane graph" aria-labelledby="graph-title">
<div class="head"><h2 id="graph-title">Waves</h2><p id="graph-note"></p>
<div class="zoom" role="group" aria-label="Zoom">
<button type="button" id="zoom-out" aria-label="Smaller">−</button>
<button type="button" id="zoom-fit">Fit</button>
<button type="button" id="zoom-in" aria-label="Larger">+</button>
</div></div>
<div id="graph" role="group" aria-label="Tasks by wave"><p class="empty">The drawing needs JavaScript.</p></div>
</section>
"#;

/// Switches between light and dark; the script names what it does.
const THEME: &str = r#"<button type="button" id="theme" aria-label="Switch theme"></button>"#;

/// A shared picture of the page says where it is from.
fn footer(page: &mut String) {
    let (version, home) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY"));
    let home = home.trim_start_matches("https://");
    put!(
        page,
        "<footer><b>Fractal Planner</b> {version} <span>{home}</span></footer>\n"
    );
}

fn head(title: &str, style: &str, script: &str, more: &str) -> String {
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">{more}
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{}</title>
<style>{style}</style>
</head>
"#,
        hash(style),
        hash(script),
        escaped(title)
    )
}

/// Embeds the script's data under the id that it looks for.
fn data(page: &mut String, id: &str, data: &impl Serialize) {
    let data = serde_json::to_string(data).expect("a report is made of texts and numbers");
    put!(
        page,
        "<script type=\"application/json\" id=\"{id}\">{}</script>\n",
        embedded(&data)
    );
}

fn end(page: &mut String, script: &str) {
    put!(
        page,
        "<script type=\"module\">{script}</script>\n</body>\n</html>\n"
    );
}

/// The hash by which the policy identifies a script or a style.
fn hash(source: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(source.as_bytes())))
}

/// Stands beside the word for the run: a run that is over may have failed.
fn failed_badge(page: &mut String, counts: &TaskCounts) {
    if counts.failed > 0 {
        let failed = counts.failed;
        put!(page, r#" <span class="phase bad">{failed} failed</span>"#);
    }
}

/// The number of leaves in each state, as a bar.
fn progress(page: &mut String, report: &TreeReport<'_>) {
    let Some(counts) = &report.counts else { return };
    let (done, all) = (counts.completed, counts.total);
    put!(
        page,
        r#"<div class="progress" role="img" aria-label="{done} of {all} tasks done">"#
    );
    for (name, count) in states(report) {
        // A style attribute would need a hole in the policy, so the script sets the width.
        put!(page, r#"<i class="{name}" data-share="{count}"></i>"#);
    }
    page.push_str("</div>\n");
}

/// The states that occur, in the order of a task's life, each with its number of leaves.
fn states(report: &TreeReport<'_>) -> Vec<(String, usize)> {
    let order = [
        "done",
        "verifying",
        "building",
        "asking",
        "stopped",
        "ready",
        "waiting",
        "skipped",
        "failed",
    ];
    let of = |name: &str| {
        report
            .tasks
            .iter()
            .filter_map(|task| task.state.as_ref())
            .filter(|run| run.state_word() == name)
            .count()
    };
    order
        .iter()
        .map(|name| (name.to_lowercase(), of(name)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Text with its code spans marked up.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) || text.contains("``") {
        return escaped(text).into_owned();
    }
    let tagged = parts.iter().enumerate().map(|(at, part)| {
        if at % 2 == 1 {
            format!("<code>{}</code>", escaped(part))
        } else {
            escaped(part).into_owned()
        }
    });
    tagged.collect()
}

/// Escapes `text` for an element or a quoted attribute. Replaces characters that are not allowed in a page.
fn escaped(text: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'') || is_forbidden(c);
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_forbidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// True for control characters other than white space.
fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Escapes JSON for a script element: characters that could end the element, begin a comment, or end a line
/// of JavaScript become their numbers. All of these occur in strings only.
fn embedded(json: &str) -> String {
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

/// RFC 4648.
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
            escaped("a <b> & \"c\" 'd'"),
            "a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;"
        );
        assert_eq!(escaped("한국어 עברית"), "한국어 עברית");
        assert_eq!(escaped("a\u{1b}[31m\0"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(
            embedded("{\"a\":\"</script><!--&\u{2028}\"}"),
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
