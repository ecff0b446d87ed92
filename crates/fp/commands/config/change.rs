//! `fp config set` and `fp config unset`.

use fp_host::config::{self, Origin};
use serde_json::{Value, json};

use super::Layer;
use super::show::shown;
use crate::context::Context;
use crate::error::{CommandResult, Exit};

#[derive(Debug, clap::Args)]
pub(super) struct SetArgs {
    /// The setting, such as nudge.maxRetries.
    key: String,
    /// Its value; a list is JSON or has commas, null is the same as unset.
    #[arg(allow_hyphen_values = true)]
    value: String,
    #[command(flatten)]
    layer: Layer,
}

#[derive(Debug, clap::Args)]
pub(super) struct UnsetArgs {
    /// The setting, such as nudge.maxRetries.
    key: String,
    #[command(flatten)]
    layer: Layer,
}

pub(super) fn set(args: &SetArgs, context: &Context) -> CommandResult {
    let value = config::parse_value(&args.key, &args.value)?;
    change(&args.key, value.as_ref(), &args.layer, context)
}

pub(super) fn unset(args: &UnsetArgs, context: &Context) -> CommandResult {
    change(&args.key, None, &args.layer, context)
}

fn change(key: &str, value: Option<&Value>, layer: &Layer, context: &Context) -> CommandResult {
    let file = layer.file(context)?;
    let changed = config::change(&file, key, value)?;
    let shown_file = context.shown(&file);
    let text = match (value, changed) {
        (Some(value), true) => format!("{key} is {} in {shown_file}\n", shown(value)),
        (Some(value), false) => format!("{key} was {} in {shown_file} already\n", shown(value)),
        (None, true) => format!("{key} is gone from {shown_file}\n"),
        (None, false) => format!("{key} is not in {shown_file}\n"),
    };
    let report = json!({ "key": key, "value": value, "file": file, "changed": changed });
    context.report(&report, &text)?;
    say_what_counts(key, layer.origin(), value, context)
}

/// Says so where the value in force is another one than what the file of `layer` now says.
fn say_what_counts(key: &str, layer: Origin, value: Option<&Value>, context: &Context) -> CommandResult {
    // That another file can't be read is no reason to complain of a change that was made.
    let Ok(config) = context.config() else { return Ok(Exit::Done) };
    let (in_force, origin) = config.explained().remove(key).expect("every setting is explained");
    if origin > layer || (value.is_none() && origin != Origin::Default) {
        context.printer.note(&format!("note: in force is {}, from {}", shown(&in_force), origin.name()));
    }
    Ok(Exit::Done)
}
