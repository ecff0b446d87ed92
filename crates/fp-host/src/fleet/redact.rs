//! Removes secrets before anything is shared: values of variables and settings that are named like credentials, and
//! words that look like tokens.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex};
use serde_json::Value;

use super::secret_found;
use crate::error::HostResult;

/// Minimum length of a variable's value to search for; a shorter one would occur in too many words.
const SHORTEST: usize = 8;
const INSTEAD: &str = "[redacted]";

/// Names of variables whose values are secrets.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(token|secret|passw(or)?d|api_?key|private_?key|access_?key|credential|_auth$|^auth_)",
    )
});

/// A pattern for secrets, with a set of words; every matching text contains at least one of the words.
struct SecretForm {
    words: Vec<&'static str>,
    pattern: &'static str,
    regex: OnceLock<Regex>,
}

static FORMS: LazyLock<Vec<SecretForm>> = LazyLock::new(|| {
    let lines = include_str!("secrets.tsv").lines();
    let forms = lines.filter(|line| !line.starts_with('#'));
    forms
        .filter_map(|line| line.split_once('\t'))
        .map(|(words, pattern)| SecretForm {
            words: words.split('|').collect(),
            pattern,
            regex: OnceLock::new(),
        })
        .collect()
});

/// The value of a setting that is named like a credential, as in `password=…`.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?xi) (?: (?: passw(?:or)?d | passphrase | _pass | secret | token | credentials? | (?:api|access|private|auth|signing|encryption)[_-]?key )
        (?: [_-]? (?:key|base|value|hash) )? ["']? \s* (?: := | => | = | : ) \s*
        | -- (?: passw(?:or)?d | secret | token | api-key ) \s+ ) ["']? ([[:word:]+/=.~!@\#%^&*\x{80}-\x{10FFFF}-]{10,})"#,
    )
});
/// Minimum entropy of a credential's value, in bits per character; ordinary words have less.
const RANDOM: f64 = 3.3;

#[expect(clippy::expect_used, reason = "the pattern is a constant")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// The secrets among the values of this process's environment variables.
static VALUES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let secret = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (value.len() >= SHORTEST && NAMED.is_match(&name)).then_some(value)
    });
    let mut values: Vec<String> = secret.collect();
    // Includes each value in its JSON-escaped form too.
    let escaped = values.iter().filter_map(|value| {
        let quoted = serde_json::to_string(value).ok()?;
        Some(quoted[1..quoted.len() - 1].to_owned()).filter(|escaped| escaped != value)
    });
    let escaped: Vec<String> = escaped.collect();
    values.extend(escaped);
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
});

/// Removes the secrets from each text in `value` separately, so that its structure stays.
pub(crate) fn redact(value: &mut Value) {
    match value {
        Value::String(text) => *text = redacted(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => fields.values_mut().for_each(redact),
        _ => {}
    }
}

/// The `text` of the plan's file `name` in the form that is shared. Fails on a secret in `tasks.md`, because that
/// file's hash must be the same everywhere.
pub(super) fn to_send(name: &str, text: String) -> HostResult<String> {
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
        return Err(secret_found(&format!("{name}:{}", same + 1)));
    }
    Ok(clean)
}

/// `text` without secrets.
pub fn redacted(text: &str) -> Cow<'_, str> {
    redact_values(text, &VALUES)
}

fn redact_values<'t>(text: &'t str, values: &[String]) -> Cow<'t, str> {
    let lower = text.to_ascii_lowercase();
    let mut text = Cow::Borrowed(text);
    let mut replace = |regex: &Regex, is_secret: fn(&str) -> bool| {
        let clean = match regex.replace_all(&text, |found: &Captures<'_>| {
            let (all, secret) = (&found[0], found.get(1).or(found.get(0)));
            match secret.filter(|secret| is_secret(secret.as_str())) {
                Some(secret) => all.replace(secret.as_str(), INSTEAD),
                None => all.to_owned(),
            }
        }) {
            Cow::Borrowed(_) => return,
            Cow::Owned(clean) => clean,
        };
        text = clean.into();
    };
    for form in FORMS.iter() {
        if form.words.iter().any(|word| lower.contains(word)) {
            replace(form.regex.get_or_init(|| pattern(form.pattern)), |_| true);
        }
    }
    replace(&ASSIGNED, is_random);
    for value in values {
        if text.contains(value.as_str()) {
            text = text.replace(value.as_str(), INSTEAD).into();
        }
    }
    text
}

/// True if `value` looks random: it mixes letters and digits, and isn't a name such as `page2_token`.
fn is_random(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.as_bytes().iter().any(kind);
    let is_word = |part: &str| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        part.len() - word.len() <= 2 && word.chars().all(char::is_alphabetic)
    };
    let is_mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    is_mixed && !value.split(['_', '-', '.', '/']).all(is_word) && entropy(value) >= RANDOM
}

/// The entropy of `text`, in bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let parts = counts.iter().filter(|count| **count > 0);
    let parts = parts.map(|count| f64::from(*count) / text.len() as f64);
    -parts.map(|part| part * part.log2()).sum::<f64>()
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
        let check =
            |text: &str, expect: &str| assert_eq!(redact_values(text, &values), expect, "{text}");
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
        // Split in two, so that no secret scanner mistakes them for real ones.
        for (start, rest) in [
            ("sk_live", "_51H8xYzAbCdEfGhIjKlMnOp9"),
            (
                "SG",
                ".ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5cr1A",
            ),
            ("hf", "_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3k"),
            (
                "dop",
                "_v1_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
            ),
            ("glpat", "-aB3dE5gH7jK9mN1pQ3sT"),
            ("xoxb", "-123456789012-abcdefGHIJKL"),
            ("AIza", "SyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v"),
            ("1234567890:AA", "EhBP0av28Jh0eHqWnmxkz3rS5tU7vW9xY"),
            ("dckr", "_pat_aB3dE5gH7jK9mN1pQ3sT5vX7z"),
            ("tskey", "-auth-kAbCdEfGH1CNTRL-a1b2c3d4e5f6"),
            (
                "rubygems",
                "_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071",
            ),
            ("hvs", ".CAESIJa1b2c3d4e5f6a7b8c9d0"),
            ("shpat", "_0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
            ("npm", "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----",
                " b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
            ),
        ] {
            check(&format!("n {start}{rest} end"), "n [redacted] end");
        }
        check("password=Zq8vT3xW9k2LmN4p", "password=[redacted]");
        check("DB_PASS=Zq8vT3xW9k2LmN4p", "DB_PASS=[redacted]");
        check("--password Zq8vT3xW9k2LmN4p x", "--password [redacted] x");
        check("API_KEY: '0123456789abcdef0123'", "API_KEY: '[redacted]'");
        check(
            "Authorization: Bearer abc.def-ghi123",
            "Authorization: Bearer [redacted]",
        );
        check("redis://:s3cret-3@host/1", "redis://:[redacted]@host/1");
        check("password=Zq8vTä3xW9k2", "password=[redacted]");
        let long = "Zq8vT3xW9k2LmN4p".repeat(20);
        check(&format!("password={long} x"), "password=[redacted] x");
        for plain in [
            "commit 9484c7771f0b2a3c4d5e6f708192a3b4c5d6e7f8 and 123e4567-e89b-12d3-a456-426614174000",
            "<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQ\">",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "integrity sha512-GOOD/aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3k==",
            "password: string, token = parse_token(line), secret=page2_token3, `token: Option<String>`",
            "the task-description-of-the-first-leaf and key-value",
            "see http://localhost:3000/a and https://host:8080/x@y",
            "a password of at least 12 characters",
            "is -----BEGIN RSA PRIVATE KEY----- a header?",
        ] {
            check(plain, plain);
        }
        for form in FORMS.iter() {
            assert!(!pattern(form.pattern).is_match("") && !form.words.contains(&""));
        }
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

    /// Every verdict compiles this pattern.
    #[test]
    fn the_pattern_for_all_texts_is_small() {
        let built = regex::RegexBuilder::new(ASSIGNED.as_str())
            .size_limit(1 << 19)
            .build();
        assert!(built.is_ok(), "{built:?}");
    }
}
