//! People keep settings in JSON files, so an edit happens in place: order, indentation, line ends and
//! spelling of everything else stay.

use std::collections::{BTreeMap, BTreeSet};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// JSON without the extensions that the library knows.
pub(crate) const STRICT: ParseOptions = ParseOptions {
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

/// Returns `text`, edited to say `target`; `None` if that can't be done in place, as with a repeated key.
pub fn rewrite(text: &str, target: &Value) -> Option<String> {
    let (mark, body) = text.split_at(if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    });
    let root = CstRootNode::parse(body, &STRICT).ok()?;
    bring(&root.object_value_or_create()?, target.as_object()?)?;
    let changed = format!("{mark}{root}");
    // Catches anything that the edit got wrong.
    let said: Value = serde_json::from_str(&changed[mark.len()..]).ok()?;
    (said == *target).then_some(changed)
}

/// `None` for a repeated key: the file doesn't say which of the two counts.
fn bring(object: &CstObject, target: &Map<String, Value>) -> Option<()> {
    let mut names = BTreeSet::new();
    for property in object.properties() {
        let name = property.decoded_name()?;
        match target.get(&name) {
            None => property.remove(),
            Some(wanted) if property.to_serde_value().as_ref() == Some(wanted) => {}
            Some(wanted) => match (wanted, property.object_value(), property.array_value()) {
                (Value::Object(wanted), Some(inner), _) => bring(&inner, wanted)?,
                (Value::Array(entries), _, Some(list)) => {
                    if !bring_list(&list, entries) {
                        property.set_value(input(wanted));
                    }
                }
                _ => property.set_value(input(wanted)),
            },
        }
        names.insert(name).then_some(())?;
    }
    let new: BTreeMap<_, _> = target
        .iter()
        .filter(|(name, _)| !names.contains(*name))
        .collect();
    for (name, value) in new {
        object.append(name, input(value));
    }
    Some(())
}

/// Removes and appends elements; true if that was enough, which it isn't for another order.
fn bring_list(list: &CstArray, target: &[Value]) -> bool {
    let mut missing = target.to_vec();
    for element in list.elements() {
        let value = element.to_serde_value();
        match missing
            .iter()
            .position(|wanted| Some(wanted) == value.as_ref())
        {
            Some(place) => drop(missing.remove(place)),
            None => element.remove(),
        }
    }
    for value in &missing {
        list.append(input(value));
    }
    list.elements()
        .iter()
        .map(|element| element.to_serde_value())
        .eq(target.iter().cloned().map(Some))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}
