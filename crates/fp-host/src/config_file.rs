//! People edit settings files by hand, so an error is reported with its position, and changing one setting leaves the
//! rest of the text alone.

use std::fs;
use std::path::Path;

use fp_plan::settings::{SettingKind, SettingsLayer, kind_of, put_value};
use fp_plan::text::json_fault;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;

use crate::error::{HostError, HostResult};
use crate::file;
use crate::platform;

/// Size limit of a settings file, in bytes.
const CAP: u64 = 1024 * 1024;
/// JSON without the extensions that the library knows.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads the layer in the file `path`; `None` if there is no such file.
///
/// # Errors
/// The file can't be read, or has an entry that isn't a setting.
pub fn read_layer(path: &Path) -> HostResult<Option<SettingsLayer>> {
    let text = file::read_text_if_there(path, CAP)?;
    text.map(|text| Ok(parse_layer(path, &text)?.1)).transpose()
}

/// Parses `text`, the content of `path`: as JSON, and as settings.
pub(crate) fn parse_layer(path: &Path, text: &str) -> HostResult<(Value, SettingsLayer)> {
    let value: Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|fault| {
            let (line, column, detail) = json_fault(&fault);
            let (path, detail) = (path.display(), detail.to_lowercase());
            HostError::failed(format_args!("{path}:{line}:{column}: not JSON: {detail}"))
                .with_hint("look for a missing or extra comma, quote or bracket just before it")
        })?;
    let layer = SettingsLayer::parse(&value)
        .map_err(|fault| HostError::worded(format_args!("{}: {fault}", path.display()), &fault))?;
    Ok((value, layer))
}

/// Parses `word` from the command line as a value of the setting `key`: text stays as it is, a list is JSON or
/// separated by commas, everything else is JSON. Returns `None` for `null`, which isn't a valid value.
///
/// # Errors
/// `key` isn't a setting.
pub fn parse_value(key: &str, word: &str) -> HostResult<Option<Value>> {
    let kind = kind_of(key)?;
    if word == "null" {
        return Ok(None);
    }
    let as_json = || serde_json::from_str(word).ok();
    Ok(Some(match kind {
        SettingKind::Text
        | SettingKind::Name
        | SettingKind::Folder
        | SettingKind::Choice(_)
        | SettingKind::Amount => word.into(),
        SettingKind::List(SettingKind::Text) => {
            let parts = || {
                word.split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
            };
            as_json()
                .filter(Value::is_array)
                .unwrap_or_else(|| parts().collect())
        }
        SettingKind::Flag
        | SettingKind::Whole(..)
        | SettingKind::Group(_)
        | SettingKind::List(_)
        | SettingKind::Map(_) => as_json().unwrap_or_else(|| word.into()),
    }))
}

/// Sets `key` to `value` in the file `path`, or removes it if `value` is `None`. Creates a missing file and
/// follows a link. Returns true if the file changed.
///
/// # Errors
/// `key` isn't a setting or can't have that value, the file is already invalid, or it can't be written. The file is
/// then unchanged.
pub fn change_setting(path: &Path, key: &str, value: Option<&Value>) -> HostResult<bool> {
    if let Some(value) = value {
        SettingsLayer::default().set(key, value.clone())?;
    }
    let old = match file::read_text_if_there(path, CAP)? {
        Some(text) => text,
        None if value.is_none() => return Ok(kind_of(key).map(|_| false)?),
        None => "{}\n".to_owned(),
    };
    let (before, _) = parse_layer(path, &old)?;
    let mut after = before.clone();
    put_value(&mut after, key, value);
    if after == before {
        // A setting of an earlier version can still be removed.
        return Ok(kind_of(key).map(|_| false)?);
    }
    let new = edit_in_place(&old, key, value, &after).ok_or_else(|| {
        HostError::failed(format_args!(
            "{}: it can't be edited in place",
            path.display()
        ))
        .with_hint("look for a key that is there twice, or edit it by hand")
    })?;
    let real = platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = real.parent() {
        fs::create_dir_all(folder).map_err(HostError::writing(path))?;
    }
    file::atomic_write(&real, new.as_bytes())?;
    Ok(true)
}

/// Edits `text` into the equivalent of `wanted`, which has `value` at `key`. The order, indentation, line endings and
/// spelling of everything else stay the same. Returns `None` if that can't be done in place, as with a repeated key.
fn edit_in_place(text: &str, key: &str, value: Option<&Value>, wanted: &Value) -> Option<String> {
    let body = text.trim_start_matches('\u{feff}');
    let mark = &text[..text.len() - body.len()];
    let root = CstRootNode::parse(body, &STRICT).ok()?;
    let mut object = root.object_value_or_create()?;
    let mut names: Vec<&str> = key.split('.').collect();
    let name = names.pop()?;
    for group in names {
        object = object.object_value_or_set(group);
    }
    match (object.get(name), value) {
        (Some(found), Some(value)) => found.set_value(input_of(value)),
        (Some(found), None) => found.remove(),
        (None, Some(value)) => drop(object.append(name, input_of(value))),
        (None, None) => {}
    }
    let changed = root.to_string();
    let said: Value = serde_json::from_str(&changed).ok()?;
    (said == *wanted).then(|| format!("{mark}{changed}"))
}

fn input_of(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input_of).collect()),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), input_of(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}
