//! Defines the kinds of setting values, and keeps the parser, the error messages and the JSON Schema in step for each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::SettingRow;

/// Unicode white space.
const BLANK: &str = r"\u0009-\u000d \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";
/// Maximum length of a name, in characters.
const LONGEST: usize = 100;

/// The type of a setting's value.
#[derive(Debug, Clone, Copy)]
pub enum SettingKind {
    Flag,
    /// A whole number within both limits.
    Whole(u32, u32),
    /// A number within both limits.
    Number(u32, u32),
    Text,
    /// A non-empty line of at most [`LONGEST`] characters.
    Name,
    /// A folder inside the repository: relative, without `..`, and not git's own.
    Folder,
    Texts,
    Choice(&'static [&'static str]),
    /// A [`SpendingLimit`].
    Amount,
    Group(fn() -> Vec<SettingRow>),
    /// A list of groups.
    Rows(fn() -> Vec<SettingRow>),
    /// Groups by names of the user's choice.
    Named(fn() -> Vec<SettingRow>),
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
    /// As much as this beyond `spent`, which is in the same unit.
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
        let unknown = || format!("{text:?} is no amount such as \"20 USD\" or \"500000 tokens\"");
        let (number, unit) = text.trim().rsplit_once(' ').unwrap_or((text.trim(), "USD"));
        let parts = number.trim().split_once('.').unwrap_or((number.trim(), ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if parts.0.is_empty() || !digits(parts.0) || !digits(parts.1) || parts.1.len() > 6 {
            return Err(unknown());
        }
        let whole: u64 = parts.0.parse().map_err(|_| unknown())?;
        match unit.to_ascii_lowercase().as_str() {
            "usd" => {
                let fraction: u64 = format!("{:0<6}", parts.1).parse().map_err(|_| unknown())?;
                let micro = whole
                    .checked_mul(1_000_000)
                    .and_then(|micro| micro.checked_add(fraction));
                micro
                    .filter(|micro| *micro > 0)
                    .map(Self::MicroUsd)
                    .ok_or_else(unknown)
            }
            "tokens" if parts.1.is_empty() && whole > 0 => Ok(Self::Tokens(whole)),
            _ => Err(unknown()),
        }
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
pub enum SettingFault {
    #[error("there is no setting `{}`", dotted(path))]
    Unknown {
        path: Vec<String>,
        meant: Option<String>,
    },
    #[error("`{key}` is a group of settings")]
    Group { key: String, keys: Vec<String> },
    #[error("{}: {detail}", dotted(path))]
    Value {
        path: Vec<String>,
        detail: String,
        meant: Option<String>,
    },
}

impl SettingFault {
    /// The keys and indexes, such as `[0]`, that lead to the fault.
    pub fn path(&self) -> &[String] {
        match self {
            Self::Unknown { path, .. } | Self::Value { path, .. } => path,
            Self::Group { .. } => &[],
        }
    }

    /// Moves the fault to `at`, for a file that has the setting at another path.
    pub fn found_at(mut self, at: Vec<String>) -> Self {
        match &mut self {
            Self::Unknown { path, .. } | Self::Value { path, .. } => *path = at,
            Self::Group { .. } => {}
        }
        self
    }
}

fn dotted(path: &[String]) -> String {
    let mut key = String::new();
    for part in path {
        if !key.is_empty() && !part.starts_with('[') {
            key.push('.');
        }
        key.push_str(part);
    }
    if key.is_empty() {
        "the file".into()
    } else {
        key
    }
}

/// The name in `known` that `name` probably stands for.
pub fn closest_name(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let like = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.max_by(|a, b| like(a).total_cmp(&like(b)))?;
    (like(&best) > 0.8).then_some(best)
}

impl SettingKind {
    /// Checks `value`, found at `path`, and converts it to its stored form.
    pub(super) fn taken(
        self,
        value: &Value,
        path: &mut Vec<String>,
    ) -> Result<Value, SettingFault> {
        let text = || value.as_str();
        let taken = match self {
            Self::Group(rows) => return taken_group(&rows(), value, path),
            Self::Rows(rows) => return taken_list(Self::Group(rows), value, path),
            Self::Named(rows) => return taken_named(Self::Group(rows), value, path),
            Self::Texts => return taken_list(Self::Text, value, path),
            Self::Amount => match text().map(str::parse::<SpendingLimit>) {
                Some(Err(detail)) => {
                    return Err(SettingFault::Value {
                        path: path.clone(),
                        detail,
                        meant: None,
                    });
                }
                limit => limit
                    .and_then(Result::ok)
                    .map(|limit| limit.to_string().into()),
            },
            Self::Choice(words) => match text() {
                Some(word) if !words.contains(&word) => return Err(no_choice(word, words, path)),
                word => word.map(Value::from),
            },
            Self::Flag => value.as_bool().map(Value::from),
            // In JSON and its schemas, 3.0 equals 3.
            Self::Whole(min, max) => value
                .as_f64()
                .and_then(|number| (min..=max).find(|whole| f64::from(*whole) == number))
                .map(Value::from),
            Self::Number(min, max) => value
                .as_f64()
                .filter(|number| (f64::from(min)..=f64::from(max)).contains(number))
                .map(Value::from),
            Self::Text => text().map(Value::from),
            Self::Name => text().and_then(name).map(Value::from),
            Self::Folder => text().and_then(folder).map(Value::from),
        };
        taken.ok_or_else(|| wrong(path, &self.expected(), value))
    }

    pub(super) fn expected(self) -> String {
        match self {
            Self::Flag => "a boolean".into(),
            Self::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Self::Number(min, max) => format!("a number from {min} to {max}"),
            Self::Text | Self::Choice(_) | Self::Amount => "a string".into(),
            Self::Name => format!("a name of one line and at most {LONGEST} characters"),
            Self::Folder => {
                "the path of a folder inside the repository, such as \".fractal-planner/plans\""
                    .into()
            }
            Self::Texts | Self::Rows(_) => "a list".into(),
            Self::Group(_) => "an object of settings".into(),
            Self::Named(_) => "an object with names of your own".into(),
        }
    }

    pub(super) fn schema(self) -> Value {
        match self {
            Self::Flag => json!({ "type": "boolean" }),
            Self::Whole(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Self::Number(min, max) => json!({ "type": "number", "minimum": min, "maximum": max }),
            Self::Text => json!({ "type": "string" }),
            Self::Name => {
                // The first and last characters between the surrounding blanks must not be blanks.
                let edge = format!("[^{BLANK}{CONTROL}]");
                let within = LONGEST - 2;
                let pattern =
                    format!("^[{BLANK}]*{edge}([^{CONTROL}]{{0,{within}}}{edge})?[{BLANK}]*$");
                json!({ "type": "string", "pattern": pattern })
            }
            Self::Folder => {
                let part = format!(r"(?!(\.|\.\.|~|\.[gG][iI][tT])(/|$))[^/\\:{CONTROL}]+");
                json!({ "type": "string", "pattern": format!("^(\\./)?{part}(/{part})*/?$") })
            }
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Choice(words) => json!({ "type": "string", "enum": words }),
            Self::Amount => {
                let (usd, tokens) = (
                    r"0*[0-9]{1,12}(\.[0-9]{0,6})?( *[uU][sS][dD])?",
                    "0*[0-9]{1,18} *[tT][oO][kK][eE][nN][sS]",
                );
                json!({ "type": "string", "pattern": format!("^ *({usd}|{tokens}) *$") })
            }
            Self::Rows(rows) => json!({ "type": "array", "items": Self::Group(rows).schema() }),
            Self::Named(rows) => {
                json!({ "type": "object", "additionalProperties": Self::Group(rows).schema() })
            }
            Self::Group(rows) => {
                let properties: Map<String, Value> = rows()
                    .into_iter()
                    .map(|row| {
                        let mut schema = row.kind.schema();
                        schema["description"] = row.about.into();
                        allow_null(&mut schema);
                        (row.name, schema)
                    })
                    .collect();
                json!({ "type": "object", "additionalProperties": false, "properties": properties })
            }
        }
    }
}

/// In a file, `null` leaves a setting unchanged.
fn allow_null(schema: &mut Value) {
    schema["type"] = json!([schema["type"].take(), "null"]);
    if let Some(choices) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        choices.push(Value::Null);
    }
}

fn taken_group(
    rows: &[SettingRow],
    value: &Value,
    path: &mut Vec<String>,
) -> Result<Value, SettingFault> {
    let fields = value
        .as_object()
        .ok_or_else(|| wrong(path, &SettingKind::Group(Vec::new).expected(), value))?;
    let mut taken = Map::new();
    for (key, value) in fields {
        // Editors look for the file's schema here; it isn't a setting.
        let kind = if key == "$schema" && path.is_empty() {
            Some(SettingKind::Text)
        } else {
            rows.iter().find(|row| row.name == *key).map(|row| row.kind)
        };
        let Some(kind) = kind else {
            return Err(no_setting(key, rows, path));
        };
        if value.is_null() {
            continue;
        }
        path.push(key.clone());
        let value = kind.taken(value, path)?;
        path.pop();
        if key != "$schema" {
            taken.insert(key.clone(), value);
        }
    }
    Ok(taken.into())
}

fn taken_list(
    kind: SettingKind,
    value: &Value,
    path: &mut Vec<String>,
) -> Result<Value, SettingFault> {
    let list = value
        .as_array()
        .ok_or_else(|| wrong(path, &SettingKind::Texts.expected(), value))?;
    let mut taken = Vec::with_capacity(list.len());
    for (index, entry) in list.iter().enumerate() {
        path.push(format!("[{index}]"));
        taken.push(kind.taken(entry, path)?);
        path.pop();
    }
    Ok(taken.into())
}

fn taken_named(
    kind: SettingKind,
    value: &Value,
    path: &mut Vec<String>,
) -> Result<Value, SettingFault> {
    let fields = value
        .as_object()
        .ok_or_else(|| wrong(path, &SettingKind::Named(Vec::new).expected(), value))?;
    let mut taken = Map::new();
    for (key, value) in fields {
        path.push(key.clone());
        taken.insert(key.clone(), kind.taken(value, path)?);
        path.pop();
    }
    Ok(taken.into())
}

fn no_setting(key: &str, rows: &[SettingRow], path: &[String]) -> SettingFault {
    let full = |name: &str| [path, &[name.to_owned()]].concat();
    let meant =
        closest_name(key, rows.iter().map(|row| row.name.clone())).map(|name| dotted(&full(&name)));
    SettingFault::Unknown {
        path: full(key),
        meant,
    }
}

fn no_choice(word: &str, words: &[&str], path: &[String]) -> SettingFault {
    let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    SettingFault::Value {
        path: path.to_owned(),
        detail: format!("`{word}` is none of {}", listed.join(", ")),
        meant: closest_name(word, words.iter().map(|word| (*word).to_owned())),
    }
}

fn wrong(path: &[String], expected: &str, value: &Value) -> SettingFault {
    let found = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("boolean `{value}`"),
        Value::Number(value) if value.is_f64() => format!("floating point `{value}`"),
        Value::Number(value) => format!("integer `{value}`"),
        Value::String(text) => format!("string {text:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    let detail = format!("expected {expected}, found {found}");
    SettingFault::Value {
        path: path.to_owned(),
        detail,
        meant: None,
    }
}

/// Trims `text`, if the result is a valid name.
fn name(text: &str) -> Option<&str> {
    let text = text.trim();
    let one_line = !text.chars().any(char::is_control);
    (!text.is_empty() && one_line && text.chars().count() <= LONGEST).then_some(text)
}

/// Strips a leading `./` and a trailing `/`, if the result is a folder inside the repository.
fn folder(path: &str) -> Option<String> {
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
        let taken = layer(
            r#"{ "agents": { "byComplexity": [{ "upTo": 2, "model": "small" }],
                 "programs": { "mine": { "start": ["mine", "{prompt}"] } } } }"#,
        );
        let settings = Settings::from_layers([&taken.unwrap()]);
        assert_eq!(settings.agents.by_complexity[0].model, "small");
        assert_eq!(settings.agents.programs["mine"].start, ["mine", "{prompt}"]);
        assert_eq!(
            settings.agents.programs["mine"].resume,
            Vec::<String>::new()
        );
        for (text, fault) in [
            (
                r#"{ "agents": { "byComplexity": [{ "upTo": 11 }] } }"#,
                "agents.byComplexity[0].upTo: expected a whole number from 1 to 10, found integer `11`",
            ),
            (
                r#"{ "agents": { "programs": { "mine": { "star": [] } } } }"#,
                "there is no setting `agents.programs.mine.star`",
            ),
            (
                r#"{ "agents": { "programs": [] } }"#,
                "agents.programs: expected an object with names of your own, found a list",
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
