//! Secrets don't travel: values of variables that are named like credentials, and words with the form of a token.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::FleetError;

/// Shortest value of a variable that is looked for; a shorter one would be in too many words.
const SHORTEST: usize = 8;
const INSTEAD: &str = "[redacted]";

/// Names of variables whose values are secrets.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(token|secret|passw(or)?d|api_?key|private_?key|access_?key|credential|_auth$|^auth_)",
    )
});

/// Tokens of hosts and services, and keys, by the form that they say they have.
static FORMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        \b(?:gh[pousr]_[A-Za-z0-9]{30,} | github_pat_[A-Za-z0-9_]{30,} | glpat-[A-Za-z0-9_-]{20,}
        | sk-[A-Za-z0-9_-]{20,} | xox[abprs]-[A-Za-z0-9-]{10,} | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{40,}
        | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{35} | lin_api_[A-Za-z0-9]{30,}
        | eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})
        | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----(?s:.*?)-----END\ [A-Z\ ]*PRIVATE\ KEY-----
        | (?P<url>://[^/\s:@]{1,100}:)[^/\s@]{3,200}@",
    )
});

#[expect(clippy::expect_used, reason = "the pattern is a constant")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// The values of this process's variables that are secrets.
static VALUES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let secret = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (value.len() >= SHORTEST && NAMED.is_match(&name)).then_some(value)
    });
    let mut values: Vec<String> = secret.collect();
    // As JSON writes them, too.
    let escaped = values.iter().filter_map(|value| {
        let quoted = serde_json::to_string(value).ok()?;
        Some(quoted[1..quoted.len() - 1].to_owned()).filter(|escaped| escaped != value)
    });
    let escaped: Vec<String> = escaped.collect();
    values.extend(escaped);
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
});

/// Takes the secrets out of each text in `value` by itself, so that it keeps its form.
pub(crate) fn redact(value: &mut Value) {
    match value {
        Value::String(text) => *text = redacted(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => fields.values_mut().for_each(redact),
        _ => {}
    }
}

/// The `text` of the plan's file `name` as it travels. Fails for a secret in `tasks.md`, which machines know by its hash.
pub(super) fn to_send(name: &str, text: String) -> Result<String, FleetError> {
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        let mut clean = value.clone();
        redact(&mut clean);
        return Ok(if clean == value {
            text
        } else {
            format!("{clean:#}\n")
        });
    }
    let clean = redacted(&text).into_owned();
    if name == "tasks.md" && clean != text {
        let same = text
            .lines()
            .zip(clean.lines())
            .take_while(|(line, clean)| line == clean)
            .count();
        return Err(FleetError::Secret(format!("{name}:{}", same + 1)));
    }
    Ok(clean)
}

/// `text` without secrets.
pub fn redacted(text: &str) -> Cow<'_, str> {
    without(text, &VALUES)
}

fn without<'t>(text: &'t str, values: &[String]) -> Cow<'t, str> {
    let mut text = FORMED.replace_all(text, |found: &regex::Captures<'_>| {
        match found.name("url") {
            Some(url) => format!("{}{INSTEAD}@", url.as_str()),
            None => INSTEAD.to_owned(),
        }
    });
    for value in values {
        if text.contains(value.as_str()) {
            text = text.replace(value.as_str(), INSTEAD).into();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_a_plan_stays_what_was_approved() {
        let sent = |name: &str, text: &str| {
            to_send(name, text.to_owned()).map_err(|error| error.to_string())
        };
        let urls = "{\"a\":\"see http://localhost:3000\",\"b\":\"root@db\"}";
        assert_eq!(sent("interview.json", urls), Ok(urls.to_owned()));
        let secret = "{\"a\":[\"http://u:hunter2@h/\"],\"n\":1}";
        let clean: Value = serde_json::from_str(&sent("plan.json", secret).unwrap()).unwrap();
        assert_eq!(
            clean,
            serde_json::json!({ "a": ["http://u:[redacted]@h/"], "n": 1 })
        );
        let text = "one\ncurl http://u:hunter2@h/\n";
        assert_eq!(
            sent("research.md", text).unwrap(),
            "one\ncurl http://u:[redacted]@h/\n"
        );
        assert!(
            sent("tasks.md", text)
                .unwrap_err()
                .starts_with("tasks.md:2 has what looks like a secret")
        );
    }

    #[test]
    fn secrets_by_their_form_and_by_the_name_of_their_variable() {
        let values = ["hunter2-and-more".to_owned()];
        let check = |text: &str, expect: &str| assert_eq!(without(text, &values), expect, "{text}");
        check(
            "nothing secret: sk-1, ghp_x, AKIA, eyJ",
            "nothing secret: sk-1, ghp_x, AKIA, eyJ",
        );
        check(&format!("a ghp_{} b", "a1".repeat(18)), "a [redacted] b");
        check(
            &format!("key sk-ant-api03-{}.", "x".repeat(40)),
            "key [redacted].",
        );
        check("AKIAABCDEFGHIJKLMNOP", "[redacted]");
        check(
            "say hunter2-and-more twice: hunter2-and-more",
            "say [redacted] twice: [redacted]",
        );
        check("https://ada:s3cret@host/x", "https://ada:[redacted]@host/x");
        check(
            "-----BEGIN RSA PRIVATE KEY-----\\nabc\\n-----END RSA PRIVATE KEY-----",
            "[redacted]",
        );
        check(
            "{\"a\":\"eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl\"}",
            "{\"a\":\"eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl\"}",
        );
        check(
            "{\"a\":\"eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJlLg\"}",
            "{\"a\":\"[redacted]\"}",
        );
        for (name, is_secret) in [
            ("GITHUB_TOKEN", true),
            ("ANTHROPIC_API_KEY", true),
            ("DB_PASSWORD", true),
            ("NPM_AUTH", true),
            ("KEYBOARD", false),
            ("PATH", false),
            ("GIT_AUTHOR_NAME", false),
        ] {
            assert_eq!(NAMED.is_match(name), is_secret, "{name}");
        }
    }
}
