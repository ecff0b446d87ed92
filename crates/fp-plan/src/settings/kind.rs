//! Defines the kinds of setting values: how each is read, and how errors describe it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::SettingRow;
use crate::hint::Hint;
use crate::text::fitted;

/// Maximum length of a name, in characters.
const LONGEST: usize = 100;

/// The type of a setting's value.
#[derive(Debug, Clone, Copy)]
pub enum SettingKind {
    Flag,
    /// A whole number within both limits.
    Whole(u32, u32),
    Text,
    /// A non-empty line of at most [`LONGEST`] characters.
    Name,
    /// A folder inside the repository: relative, without `..`, and not git's own.
    Folder,
    Choice(&'static [&'static str]),
    /// A [`SpendingLimit`].
    Amount,
    Group(fn() -> Vec<SettingRow>),
    List(&'static SettingKind),
    /// Values keyed by names that the user chooses.
    Map(&'static SettingKind),
}

/// An amount that may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SpendingLimit {
    /// In millionths of a US dollar.
    MicroUsd(u64),
    Tokens(u64),
}

impl SpendingLimit {
    /// The limit that allows this much more than `spent`, which is in the same unit.
    pub fn on_top_of(self, spent: Self) -> Self {
        match (self, spent) {
            (Self::MicroUsd(more), Self::MicroUsd(spent)) => {
                Self::MicroUsd(spent.saturating_add(more))
            }
            (Self::Tokens(more), Self::Tokens(spent)) => Self::Tokens(spent.saturating_add(more)),
            (Self::MicroUsd(_), Self::Tokens(_)) | (Self::Tokens(_), Self::MicroUsd(_)) => self,
        }
    }
}

impl FromStr for SpendingLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = text.trim().rsplit_once(' ').unwrap_or((text.trim(), "USD"));
        let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
        let amount = || {
            let mut digits = whole.bytes().chain(fraction.bytes());
            let is_number = fraction.len() <= 6 && digits.all(|byte| byte.is_ascii_digit());
            let whole: u64 = whole.parse().ok().filter(|_| is_number)?;
            let micro: u64 = format!("{fraction:0<6}").parse().ok()?;
            match unit.to_ascii_lowercase().as_str() {
                "usd" => Some(Self::MicroUsd(
                    whole.checked_mul(1_000_000)?.checked_add(micro)?,
                )),
                "tokens" if fraction.is_empty() => Some(Self::Tokens(whole)),
                _ => None,
            }
        };
        amount()
            .filter(|limit| !matches!(limit, Self::MicroUsd(0) | Self::Tokens(0)))
            .ok_or_else(|| format!("{text:?} is no amount such as \"20 USD\" or \"500000 tokens\""))
    }
}

impl TryFrom<String> for SpendingLimit {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SpendingLimit> for String {
    fn from(limit: SpendingLimit) -> Self {
        limit.to_string()
    }
}

impl fmt::Display for SpendingLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MicroUsd(micro) => {
                let (whole, cents) = (micro / 1_000_000, micro % 1_000_000);
                let fraction = format!("{cents:06}");
                let fraction = fraction.trim_end_matches('0');
                match fraction.len() {
                    0 => write!(f, "{whole} USD"),
                    _ => write!(f, "{whole}.{fraction:0<2} USD"),
                }
            }
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
        }
    }
}

/// A key or a value that the table of settings doesn't accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub struct SettingFault {
    pub said: String,
    pub hint: String,
}

impl Hint for SettingFault {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(self.hint.as_str().into())
    }
}

impl SettingFault {
    /// The fault for a `key` that isn't among the `known` settings.
    pub(super) fn unknown(key: &str, known: impl Iterator<Item = String>) -> Self {
        Self {
            said: format!("there is no setting `{key}`"),
            hint: closest_name(key, known)
                .map_or("`fp config` lists every setting".into(), did_you_mean),
        }
    }

    /// The fault for a value that the setting `key` can't have.
    fn of_value(key: &str, detail: &str) -> Self {
        let key = if key.is_empty() { "the file" } else { key };
        Self {
            said: format!("{key}: {detail}"),
            hint: "`fp help config` says what each setting takes".into(),
        }
    }
}

fn did_you_mean(name: String) -> String {
    format!("did you mean `{name}`?")
}

/// The name in `known` that `name` probably stands for.
pub fn closest_name(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let like = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.max_by(|a, b| like(a).total_cmp(&like(b)))?;
    (like(&best) > 0.8).then_some(best)
}

impl SettingKind {
    /// Checks `value` of the setting `key`, and converts it to its stored form.
    pub(super) fn taken_value(self, key: &str, value: &Value) -> Result<Value, SettingFault> {
        let text = value.as_str();
        let taken = match (self, value) {
            (Self::Group(rows), Value::Object(fields)) => return taken_group(&rows(), key, fields),
            (Self::List(kind), Value::Array(list)) => {
                let entries = list.iter().enumerate();
                let taken = entries
                    .map(|(index, entry)| kind.taken_value(&format!("{key}[{index}]"), entry));
                return taken.collect();
            }
            (Self::Map(kind), Value::Object(fields)) => {
                let taken = fields.iter().map(|(name, value)| {
                    let taken = kind.taken_value(&format!("{key}.{name}"), value)?;
                    Ok((name.clone(), taken))
                });
                return taken.collect();
            }
            (Self::Group(_) | Self::List(_) | Self::Map(_), _) => None,
            (Self::Amount, _) => {
                let limit = text.map(str::parse::<SpendingLimit>).transpose();
                let limit = limit.map_err(|detail| SettingFault::of_value(key, &detail))?;
                limit.map(|limit| limit.to_string().into())
            }
            (Self::Choice(words), _) => match text {
                Some(word) if !words.contains(&word) => return Err(no_choice(key, word, words)),
                word => word.map(Value::from),
            },
            (Self::Flag, _) => value.as_bool().map(Value::from),
            // In JSON, 3.0 equals 3.
            (Self::Whole(min, max), _) => {
                let number = value.as_f64();
                let whole = (min..=max).find(|whole| Some(f64::from(*whole)) == number);
                whole.map(Value::from)
            }
            (Self::Text, _) => text.map(Value::from),
            (Self::Name, _) => text.and_then(valid_name).map(Value::from),
            (Self::Folder, _) => text.and_then(valid_folder).map(Value::from),
        };
        taken.ok_or_else(|| {
            let found = fitted(&value.to_string(), 60);
            let detail = format!("expected {}, found {found}", self.expected());
            SettingFault::of_value(key, &detail)
        })
    }

    pub(super) fn expected(self) -> String {
        match self {
            Self::Flag => "a boolean".into(),
            Self::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Self::Text | Self::Choice(_) | Self::Amount => "a string".into(),
            Self::Name => format!("a name of one line and at most {LONGEST} characters"),
            Self::Folder => {
                "the path of a folder inside the repository, such as \".fractal-planner/plans\""
                    .into()
            }
            Self::List(_) => "a list".into(),
            Self::Group(_) => "an object of settings".into(),
            Self::Map(_) => "an object with names of your own".into(),
        }
    }
}

fn taken_group(
    rows: &[SettingRow],
    key: &str,
    fields: &Map<String, Value>,
) -> Result<Value, SettingFault> {
    let prefix = match key {
        "" => String::new(),
        key => format!("{key}."),
    };
    let mut taken = Map::new();
    for (name, value) in fields {
        // Editors look here for the file's schema; it isn't a setting.
        if value.is_null() || name == "$schema" && key.is_empty() {
            continue;
        }
        let full = format!("{prefix}{name}");
        let Some(row) = rows.iter().find(|row| row.name == *name) else {
            let known = rows.iter().map(|row| format!("{prefix}{}", row.name));
            return Err(SettingFault::unknown(&full, known));
        };
        taken.insert(name.clone(), row.kind.taken_value(&full, value)?);
    }
    Ok(taken.into())
}

fn no_choice(key: &str, word: &str, words: &[&str]) -> SettingFault {
    let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    let fault = SettingFault::of_value(key, &format!("`{word}` is none of {}", listed.join(", ")));
    let meant = closest_name(word, words.iter().map(|word| (*word).to_owned()));
    SettingFault {
        hint: meant.map_or(fault.hint, did_you_mean),
        ..fault
    }
}

/// Returns `text` trimmed, or `None` if the result isn't a valid name.
fn valid_name(text: &str) -> Option<&str> {
    let text = text.trim();
    let one_line = !text.chars().any(char::is_control);
    (!text.is_empty() && one_line && text.chars().count() <= LONGEST).then_some(text)
}

/// Returns `path` without a leading `./` and a trailing `/`, or `None` if the result isn't a folder inside the
/// repository.
fn valid_folder(path: &str) -> Option<String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let plain = |part: &str| {
        !part.is_empty()
            && ![".", "..", "~"].contains(&part)
            && !part.eq_ignore_ascii_case(".git")
            && !part
                .chars()
                .any(|c| c.is_control() || matches!(c, '\\' | ':'))
    };
    path.split('/').all(plain).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, SettingsLayer};
    use super::*;

    #[test]
    fn amounts() {
        for (text, amount) in [
            ("20 USD", Some("20 USD")),
            ("20", Some("20 USD")),
            (" 0.5 usd ", Some("0.50 USD")),
            ("0.000001 USD", Some("0.000001 USD")),
            ("500000 tokens", Some("500000 tokens")),
            (
                "18446744073709551615 tokens",
                Some("18446744073709551615 tokens"),
            ),
            ("", None),
            ("0", None),
            ("0 tokens", None),
            ("-5 USD", None),
            ("1.5 tokens", None),
            ("1e3", None),
            ("20 EUR", None),
            ("18446744073709551615", None),
            ("0.0000001 USD", None),
            ("1.2.3", None),
        ] {
            let parsed = text.parse::<SpendingLimit>();
            assert_eq!(
                parsed.as_ref().ok().map(ToString::to_string).as_deref(),
                amount,
                "{text:?}"
            );
            if let Ok(limit) = parsed {
                assert_eq!(limit.to_string().parse(), Ok(limit));
            }
        }
    }

    #[test]
    fn lists_of_groups_and_groups_by_name() {
        let layer = |text: &str| SettingsLayer::parse(&serde_json::from_str(text).unwrap());
        let taken =
            layer(r#"{ "agents": { "programs": { "mine": { "start": ["mine", "{prompt}"] } } } }"#);
        let settings = Settings::from_layers([&taken.unwrap()]);
        assert_eq!(settings.agents.programs["mine"].start, ["mine", "{prompt}"]);
        assert_eq!(
            settings.agents.programs["mine"].resume,
            Vec::<String>::new()
        );
        for (text, fault) in [
            (
                r#"{ "agents": { "programs": { "mine": { "start": ["mine", 1] } } } }"#,
                "agents.programs.mine.start[1]: expected a string, found 1",
            ),
            (
                r#"{ "agents": { "programs": { "mine": { "star": [] } } } }"#,
                "there is no setting `agents.programs.mine.star`",
            ),
            (
                r#"{ "agents": { "programs": [] } }"#,
                "agents.programs: expected an object with names of your own, found []",
            ),
            (
                r#"{ "budget": { "run": "much" } }"#,
                "budget.run: \"much\" is no amount such as \"20 USD\" or \"500000 tokens\"",
            ),
        ] {
            assert_eq!(layer(text).unwrap_err().to_string(), fault);
        }
    }
}
