//! `fp config`: shows and changes settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fp_host::config::{self, SettingOrigin, consent_to};
use fp_host::config_file::{change_setting, parse_value};
use fp_host::trust::{ConsentSource, TrustStore};
use fp_plan::settings::{self, SettingsLayer};
use fp_plan::text::{fitted, shown_command};
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;
use crate::theme::Look;

/// Line width, in columns.
const WIDTH: usize = 80;

/// Show or change settings
///
/// Without a command, it shows every setting with its current value and the source of that value.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// Set a setting in a file; everything else in the file stays as it is
    Set {
        /// The setting, such as nudge.maxRetries.
        key: String,
        /// Its value. A list is JSON or separated by commas; null is the same as unset.
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[command(flatten)]
        file: WhichFile,
    },
    /// Remove a setting from a file, so that the next lower source applies
    Unset {
        /// The setting, such as nudge.maxRetries.
        key: String,
        #[command(flatten)]
        file: WhichFile,
    },
    /// Accept the settings of the project's file that need your consent, as they are now
    ///
    /// Shows them and asks. If one of them changes, all are ignored again.
    Trust {
        /// Accept them without asking.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, clap::Args)]
struct WhichFile {
    /// Use your own file instead of the project's.
    #[arg(long)]
    user: bool,
}

impl WhichFile {
    /// The path of the settings file, which need not exist.
    fn path(&self, context: &Context) -> Result<PathBuf, CommandError> {
        if !self.user {
            return Ok(context.repo().config_file());
        }
        config::user_file(&|name| context.env(name)).ok_or_else(|| {
            CommandError::failed("there is no home to keep your settings in")
                .with_hint("set HOME or XDG_CONFIG_HOME to a folder")
        })
    }
}

pub(crate) fn run(args: ConfigArgs, context: &Context) -> CommandResult {
    match args.command {
        None => show(context),
        Some(ConfigCommand::Set { key, value, file }) => {
            change(&key, parse_value(&key, &value)?.as_ref(), &file, context)
        }
        Some(ConfigCommand::Unset { key, file }) => change(&key, None, &file, context),
        Some(ConfigCommand::Trust { yes }) => trust(yes, context),
    }
}

fn show(context: &Context) -> CommandResult {
    let config = context.config()?;
    let explained = config.explained();
    let ignored: BTreeMap<String, Value> = config.ignored.by_key().into_iter().collect();
    let user = config::user_file(&|name| context.env(name));
    let client = config::client_file(&|name| context.env(name));
    let project = context.repo().config_file();
    let origins: Map<String, Value> = explained
        .iter()
        .map(|(key, (_, origin))| (key.clone(), origin.into_str().into()))
        .collect();
    let report = json!({
        "settings": context.settings()?, "ignored": ignored, "origins": origins,
        "files": { "plugin": client, "user": user, "project": project },
    });
    context.styled_report(&report, &table(&explained, &ignored))?;
    if context.is_json() {
        return Ok(Exit::Done);
    }
    if !ignored.is_empty() {
        context.printer.print_note(&ignored_note(&project, context));
    }
    for (whose, path) in [("user:", user.as_ref()), ("project:", Some(&project))] {
        if let Some(path) = path {
            let remark = if path.exists() { "" } else { " (not there)" };
            context
                .printer
                .print_note(&format!("{whose:<8} {}{remark}", path.display()));
        }
    }
    Ok(Exit::Done)
}

fn in_force(key: &str, config: &config::Config) -> (Value, SettingOrigin) {
    let found = config.explained().remove(key);
    found.expect("every setting is explained")
}

/// A value as shown to people: strings without quotes, `-` for none.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.escape_debug().to_string(),
        Value::Array(entries) if entries.is_empty() => "none".into(),
        Value::Array(entries) => entries.iter().map(as_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn ignored_value(ignored: &SettingsLayer, key: &str) -> Option<Value> {
    let mut ignored = ignored.by_key().into_iter();
    ignored
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
}

fn ignored_note(project: &Path, context: &Context) -> String {
    let shown_file = context.display_path(project);
    format!("note: what {shown_file} sets is ignored here until you accept it: `fp config trust`")
}

fn table(
    explained: &BTreeMap<String, (Value, SettingOrigin)>,
    ignored: &BTreeMap<String, Value>,
) -> String {
    let key_width = explained.keys().map(|key| key.width()).max().unwrap_or(0);
    let mut text = String::new();
    for (key, (value, origin)) in explained {
        let look = match origin {
            SettingOrigin::Default => Look::Faint,
            _ => Look::Plain,
        };
        let line = format!(
            "{key:key_width$}  {:7}  {}",
            origin.into_str(),
            as_text(value)
        );
        text.push_str(&(look.paint(&fitted(line.trim_end(), WIDTH)) + "\n"));
        if let Some(value) = ignored.get(key) {
            let remark = format!(
                "{:key_width$}  project  ignored here: {}",
                "",
                as_text(value)
            );
            text.push_str(&(fitted(&remark, WIDTH) + "\n"));
        }
    }
    text
}

fn change(key: &str, value: Option<&Value>, which: &WhichFile, context: &Context) -> CommandResult {
    let file = which.path(context)?;
    let changed = change_setting(&file, key, value)?;
    let shown_file = context.display_path(&file);
    let text = match value {
        Some(value) => format!("{key} is {} in {shown_file}\n", as_text(value)),
        None if changed => format!("{key} is no longer in {shown_file}\n"),
        None => format!("{key} was not in {shown_file}\n"),
    };
    let report = json!({ "key": key, "value": value, "file": file, "changed": changed });
    context.report(&report, &text)?;
    // The change succeeded, so a fault in another settings file doesn't matter here.
    let (Ok(config), Ok(_)) = (context.config(), settings::kind_of(key)) else {
        return Ok(Exit::Done);
    };
    if !which.user && ignored_value(&config.ignored, key).is_some() {
        context.printer.print_note(&format!(
            "{}, or set it with `--user`",
            ignored_note(&file, context)
        ));
    }
    let (found, origin) = in_force(key, config);
    if value.is_none_or(|value| *value != found) && origin != SettingOrigin::Default {
        context.printer.print_note(&format!(
            "note: in force is {}, from {}",
            as_text(&found),
            origin.into_str()
        ));
    }
    Ok(Exit::Done)
}

fn trust(yes: bool, context: &Context) -> CommandResult {
    let ignored = &context.config()?.ignored;
    let settings = ignored.by_key();
    let file = context.display_path(&context.repo().config_file());
    if settings.is_empty() {
        return context.report(
            &json!({ "accepted": ignored }),
            &format!("{file} sets nothing that is ignored here\n"),
        );
    }
    let list: String = settings
        .iter()
        .map(|(key, value)| format!("  {key}  {}\n", shown_command(&as_text(value))))
        .collect();
    if !yes {
        if !input::can_ask(context) {
            return Err(CommandError::refused(format!("{file} is accepted by you only, at a terminal"))
                .with_hint(
                    "`fp config` shows what is ignored; a script that you wrote may accept it with `--yes`",
                ));
        }
        context.printer.print_note(&format!(
            "{file} sets these, which loosen a check or reach a model:\n{list}"
        ));
        if !input::agrees("Accept them here, as they are now?", context) {
            return Err(
                CommandError::refused(format!("nothing of {file} was accepted")).with_hint(
                    "put what you want of it into your own file: `fp config set KEY VALUE --user`",
                ),
            );
        }
    }
    let how = if yes {
        ConsentSource::Flag
    } else {
        ConsentSource::Terminal
    };
    let store = TrustStore::of_user(&|name| context.env(name), context.repo())?;
    store.add(consent_to(ignored), how, context.now())?;
    context.report(
        &json!({ "accepted": ignored }),
        &format!("Accepted from {file}:\n{list}"),
    )
}
