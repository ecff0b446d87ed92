//! `fp config show` and `fp config get`.

use fp_core::text::fitted;
use fp_host::config::{self, Origin};
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::remark;
use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;

/// Columns of a line.
const WIDTH: usize = 80;

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Say for every setting where its value comes from.
    #[arg(long)]
    origin: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct GetArgs {
    /// The setting, such as nudge.maxRetries.
    key: String,
    /// Say where the value comes from.
    #[arg(long)]
    origin: bool,
}

pub(super) fn show(args: &ShowArgs, context: &Context) -> CommandResult {
    let explained = context.config()?.explained();
    let user = config::user_file(&|name| context.env(name));
    let client = config::client_file(&|name| context.env(name));
    let project = context.repo().config_file();
    match context.format {
        Format::Json => {
            let mut report = json!({ "settings": context.settings()? });
            if args.origin {
                let origins: Map<String, Value> =
                    explained.iter().map(|(key, (_, origin))| (key.clone(), origin.name().into())).collect();
                report["origins"] = origins.into();
                report["files"] = json!({ "plugin": client, "user": user, "project": project });
            }
            context.printer.json(&report)?;
        }
        Format::Text => {
            let has_options = explained.values().any(|(_, origin)| *origin == Origin::Plugin);
            let rows: Vec<Row> = explained
                .into_iter()
                .map(|(key, (value, origin))| Row { key, value: shown(&value), origin })
                .collect();
            context.printer.data(&table(&rows, args.origin));
            if args.origin {
                if let Some(client) = client.filter(|_| has_options) {
                    context.printer.note(&format!("plugin:  {}", client.display()));
                }
                if let Some(user) = user {
                    context.printer.note(&format!("user:    {}{}", user.display(), remark(&user)));
                }
                context.printer.note(&format!("project: {}{}", project.display(), remark(&project)));
            }
        }
    }
    Ok(Exit::Done)
}

pub(super) fn get(args: &GetArgs, context: &Context) -> CommandResult {
    config::is_known(&args.key)?;
    let mut explained = context.config()?.explained();
    let (value, origin) = explained.remove(&args.key).expect("every setting is explained");
    match context.format {
        Format::Json => {
            context.printer.json(&json!({ "key": args.key, "value": value, "origin": origin.name() }))?;
        }
        Format::Text => {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let origin = if args.origin { format!("{}  ", origin.name()) } else { String::new() };
            context.printer.data(&format!("{origin}{value}\n"));
        }
    }
    Ok(Exit::Done)
}

struct Row {
    key: String,
    value: String,
    origin: Origin,
}

/// A value as one would say it: text without quotes, `-` for none.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.escape_debug().to_string(),
        Value::Array(entries) if entries.is_empty() => "none".into(),
        Value::Array(entries) => entries.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn table(rows: &[Row], with_origin: bool) -> String {
    let key_width = rows.iter().map(|row| row.key.width()).max().unwrap_or(0);
    let origin_width =
        if with_origin { rows.iter().map(|row| row.origin.name().len()).max().unwrap_or(0) } else { 0 };
    let room = WIDTH - key_width - origin_width - 4;
    let mut text = String::new();
    for row in rows {
        let value = fitted(&row.value, room);
        let line = if with_origin {
            format!("{:key_width$}  {:origin_width$}  {value}", row.key, row.origin.name())
        } else {
            format!("{:key_width$}  {value}", row.key)
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
