//! The client's settings files: what an installation offers to add to one, and how that is taken out again. The
//! format is the client's: plain JSON without comments, one object, a byte order mark allowed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The permission rules that an installation offers: the plugin's own command, for sessions whose hooks are
/// switched off, and the folder of plans, which agents write to.
pub const PERMISSIONS: [&str; 2] = ["Bash(fp *)", "Edit(.fractal-planner/**)"];

/// The variable in `env` that switches agent teams on when it is `1`.
pub const TEAMS: &str = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS";

const ON: &str = "1";

/// Places that an entry may need, inner ones first; the last three are those in which the client notes plugins, their
/// options and marketplaces, and which it leaves behind empty.
const PLACES: [&[&str]; 6] = [
    &["permissions", "allow"],
    &["permissions"],
    &["env"],
    &["enabledPlugins"],
    &["pluginConfigs"],
    &["extraKnownMarketplaces"],
];

/// The object that a settings file is.
pub type Fields = Map<String, Value>;

/// Why a settings file is none. The client then ignores all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// It is not JSON.
    #[error("not valid JSON: {detail}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong.
        detail: String,
    },
    /// Something in it is of another kind than the client reads there.
    #[error("{place} is not {expected}")]
    Kind {
        /// What is wrong, such as `permissions.allow`.
        place: &'static str,
        /// What should be there.
        expected: &'static str,
    },
}

impl SettingsError {
    /// The place as it follows a file's name: `:3:1`, or nothing.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Syntax { line, column, .. } => format!(":{line}:{column}"),
            Self::Kind { .. } => String::new(),
        }
    }
}

/// What of the offer somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Choice {
    /// The rules of [`PERMISSIONS`].
    pub permissions: bool,
    /// Agent teams switched on.
    pub teams: bool,
}

/// How a settings file stands to a part of the offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is not in it, or not all of it.
    Missing,
    /// It is in it.
    There,
    /// Something else is in its place, which is the user's own choice.
    Otherwise,
}

/// What was added to a settings file: all that is needed to take it out again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trace {
    /// Permission rules that were not in it before.
    pub permissions: Vec<String>,
    /// Whether agent teams were switched on in it.
    pub teams: bool,
    /// Objects and lists that were not in it before, such as `permissions.allow`.
    pub made: Vec<String>,
}

impl Trace {
    /// Whether no entry was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.permissions.is_empty() && !self.teams
    }

    /// Takes in what a later addition to the same file has added.
    pub fn extend(&mut self, later: Self) {
        self.permissions.extend(later.permissions);
        self.teams |= later.teams;
    }
}

/// Reads a settings file. A blank one is an empty object, as for the client.
///
/// # Errors
/// It is not JSON, or what is read here is of another kind than the client expects.
pub fn parse(text: &str) -> Result<Fields, SettingsError> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.trim().is_empty() {
        return Ok(Fields::new());
    }
    let value: Value = serde_json::from_str(body).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let detail = error.to_string().replace(&place, "");
        // Where the text ends with a line end, the parser says column 0 of the next line.
        SettingsError::Syntax { line: error.line(), column: error.column().max(1), detail }
    })?;
    let kind = |place, expected| SettingsError::Kind { place, expected };
    let Value::Object(fields) = value else { return Err(kind("the file", "an object")) };
    if fields.get("env").is_some_and(|env| !env.is_object()) {
        return Err(kind("`env`", "an object"));
    }
    if fields.get("permissions").is_some_and(|permissions| !permissions.is_object()) {
        return Err(kind("`permissions`", "an object"));
    }
    if at(&fields, &["permissions", "allow"]).is_some_and(|allow| !allow.is_array()) {
        return Err(kind("`permissions.allow`", "a list"));
    }
    Ok(fields)
}

/// How `fields` stand to the permission rules.
#[must_use]
pub fn permissions(fields: &Fields) -> Standing {
    if missing_rules(fields).next().is_none() { Standing::There } else { Standing::Missing }
}

/// How `fields` stand to agent teams.
#[must_use]
pub fn teams(fields: &Fields) -> Standing {
    match at(fields, &["env", TEAMS]) {
        None => Standing::Missing,
        Some(value) if value == ON || value == "true" => Standing::There,
        Some(_) => Standing::Otherwise,
    }
}

/// What `choice` would add to `fields`. What is there already is not touched, nor is another value.
#[must_use]
pub fn due(fields: &Fields, choice: Choice) -> Trace {
    Trace {
        permissions: if choice.permissions {
            missing_rules(fields).map(str::to_owned).collect()
        } else {
            vec![]
        },
        teams: choice.teams && teams(fields) == Standing::Missing,
        made: PLACES
            .iter()
            .filter(|place| at(fields, place).is_none())
            .map(|place| place.join("."))
            .collect(),
    }
}

/// Adds what `trace` says to `fields`, which [`parse`] has read.
pub fn add(fields: &mut Fields, trace: &Trace) {
    if !trace.permissions.is_empty() {
        let permissions = fields.entry("permissions").or_insert_with(|| Fields::new().into());
        let allow = permissions
            .as_object_mut()
            .map(|inner| inner.entry("allow").or_insert_with(|| vec![""; 0].into()));
        if let Some(list) = allow.and_then(Value::as_array_mut) {
            let new: Vec<Value> = trace.permissions.iter().map(|rule| rule.as_str().into()).collect();
            list.extend(new.into_iter().filter(|rule| !list.contains(rule)).collect::<Vec<_>>());
        }
    }
    if trace.teams {
        let env = fields.entry("env").or_insert_with(|| Fields::new().into());
        if let Some(env) = env.as_object_mut() {
            env.entry(TEAMS).or_insert_with(|| ON.into());
        }
    }
}

/// Takes out of `fields` what `trace` says was added, with the objects and lists that were made for it where they
/// are empty now. What somebody has changed since stays.
pub fn take_out(fields: &mut Fields, trace: &Trace) {
    if let Some(allow) = at_mut(fields, &["permissions", "allow"]).and_then(Value::as_array_mut) {
        for rule in &trace.permissions {
            if let Some(place) = allow.iter().position(|found| found == rule) {
                allow.remove(place);
            }
        }
    }
    if trace.teams
        && let Some(env) = fields.get_mut("env").and_then(Value::as_object_mut)
        && env.get(TEAMS).is_some_and(|value| value == ON)
    {
        env.remove(TEAMS);
    }
    for place in PLACES.iter().filter(|place| trace.made.contains(&place.join("."))) {
        let empty = match at(fields, place) {
            Some(Value::Object(inner)) => inner.is_empty(),
            Some(Value::Array(inner)) => inner.is_empty(),
            _ => false,
        };
        if let (true, Some((last, outer))) = (empty, place.split_last()) {
            match at_mut(fields, outer) {
                Some(Value::Object(outer)) => drop(outer.remove(*last)),
                _ => drop(fields.remove(*last)),
            }
        }
    }
}

fn missing_rules(fields: &Fields) -> impl Iterator<Item = &'static str> {
    let allow = at(fields, &["permissions", "allow"]).and_then(Value::as_array);
    PERMISSIONS
        .into_iter()
        .filter(move |rule| !allow.is_some_and(|allow| allow.iter().any(|found| found == rule)))
}

fn at<'f>(fields: &'f Fields, place: &[&str]) -> Option<&'f Value> {
    let (first, rest) = place.split_first()?;
    rest.iter().try_fold(fields.get(*first)?, |value, key| value.get(key))
}

fn at_mut<'f>(fields: &'f mut Fields, place: &[&str]) -> Option<&'f mut Value> {
    let (first, rest) = place.split_first()?;
    rest.iter().try_fold(fields.get_mut(*first)?, |value, key| value.get_mut(key))
}

#[cfg(test)]
mod tests;
