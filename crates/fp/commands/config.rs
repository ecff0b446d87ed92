//! `fp config`: shows the settings in force and changes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fp_host::config::{self, SettingOrigin, consent_to};
use fp_host::config_file::{ConfigError, change_setting, parse_value};
use fp_host::trust::{ConsentSource, TrustStore};
use fp_plan::settings::{self, SettingsLayer};
use fp_plan::text::{fitted, shown_command};
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;
use crate::theme::Look;

/// Columns of a line.
const WIDTH: usize = 80;

/// Show or change settings
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,
    #[command(flatten)]
    show: ShowArgs,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// Show every setting with the value in force
    Show(ShowArgs),
    /// Print one setting's value in force
    Get {
        /// The setting, such as nudge.maxRetries.
        key: String,
    },
    /// Set a setting in a file; everything else in the file stays as it is
    Set {
        /// The setting, such as nudge.maxRetries.
        key: String,
        /// Its value. A list is JSON or has commas; null is the same as unset.
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[command(flatten)]
        file: WhichFile,
    },
    /// Take a setting out of a file, so that the value below it counts
    Unset {
        /// The setting, such as nudge.maxRetries.
        key: String,
        #[command(flatten)]
        file: WhichFile,
    },
    /// Print the JSON Schema of the files, for editors
    Schema,
    /// Accept the settings of the project's file that need your consent, as they are now
    ///
    /// Shows them and asks. After a change of one of them they are ignored again.
    Trust {
        /// Accept them without asking.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Show where each value comes from.
    #[arg(long)]
    origin: bool,
}

#[derive(Debug, clap::Args)]
#[group(id = "layer", multiple = false)]
struct WhichFile {
    /// Your own file.
    #[arg(long)]
    user: bool,
    /// The project's file, which is the default.
    #[arg(long)]
    project: bool,
}

impl WhichFile {
    fn origin(&self) -> SettingOrigin {
        if self.user {
            SettingOrigin::User
        } else {
            SettingOrigin::Project
        }
    }

    /// The path of the file, which need not exist.
    fn path(&self, context: &Context) -> Result<PathBuf, CommandError> {
        if !self.user {
            return Ok(context.repo().config_file());
        }
        config::user_file(&|name| context.env(name)).ok_or_else(|| {
            CommandError::failed("there is no home to keep your settings in")
                .hint("set HOME or XDG_CONFIG_HOME to a folder, or use `--project`")
        })
    }
}

pub(crate) fn run(args: ConfigArgs, context: &Context) -> CommandResult {
    match args.command.unwrap_or(ConfigCommand::Show(args.show)) {
        ConfigCommand::Show(args) => show(args.origin, context),
        ConfigCommand::Get { key } => get(&key, context),
        ConfigCommand::Set { key, value, file } => {
            change(&key, parse_value(&key, &value)?.as_ref(), &file, context)
        }
        ConfigCommand::Unset { key, file } => change(&key, None, &file, context),
        ConfigCommand::Schema => {
            // Ignores `--format`: only programs read it.
            context.printer.document(&settings::schema())?;
            Ok(Exit::Done)
        }
        ConfigCommand::Trust { yes } => trust(yes, context),
    }
}

fn show(with_origin: bool, context: &Context) -> CommandResult {
    let config = context.config()?;
    let explained = config.explained();
    let ignored: BTreeMap<String, Value> = config.ignored.by_key().into_iter().collect();
    let user = config::user_file(&|name| context.env(name));
    let client = config::client_file(&|name| context.env(name));
    let project = context.repo().config_file();
    match context.is_json() {
        true => {
            let mut report = json!({ "settings": context.settings()?, "ignored": ignored });
            if with_origin {
                let origins: Map<String, Value> = explained
                    .iter()
                    .map(|(key, (_, origin))| (key.clone(), origin.into_str().into()))
                    .collect();
                report["origins"] = origins.into();
                report["files"] = json!({ "plugin": client, "user": user, "project": project });
            }
            context.printer.json(&report)?;
        }
        false => {
            let has_options = explained
                .values()
                .any(|(_, origin)| *origin == SettingOrigin::Plugin);
            context
                .printer
                .styled(&table(&explained, &ignored, with_origin));
            if !ignored.is_empty() {
                context.printer.note(&ignored_note(&project, context));
            }
            if with_origin {
                if let Some(client) = client.filter(|_| has_options) {
                    context
                        .printer
                        .note(&format!("plugin:  {}", client.display()));
                }
                let note = |whose: &str, path: &Path| {
                    let remark = if path.exists() { "" } else { " (not there)" };
                    context
                        .printer
                        .note(&format!("{whose:<8} {}{remark}", path.display()));
                };
                user.iter().for_each(|path| note("user:", path));
                note("project:", &project);
            }
        }
    }
    Ok(Exit::Done)
}

fn get(key: &str, context: &Context) -> CommandResult {
    settings::kind_of(key).map_err(ConfigError::from)?;
    let (value, origin) = context
        .config()?
        .explained()
        .remove(key)
        .expect("every setting is explained");
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let ignored = ignored_value(&context.config()?.ignored, key);
    if ignored.is_some() {
        context
            .printer
            .note(&ignored_note(&context.repo().config_file(), context));
    }
    let mut report = json!({ "key": key, "value": value, "origin": origin.into_str() });
    if let Some(ignored) = ignored {
        report["ignored"] = ignored;
    }
    context.report(&report, &format!("{text}\n"))
}

/// A value for people: text without quotes, `-` for none.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.escape_debug().to_string(),
        Value::Array(entries) if entries.is_empty() => "none".into(),
        Value::Array(entries) => entries.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn ignored_value(ignored: &SettingsLayer, key: &str) -> Option<Value> {
    ignored
        .by_key()
        .into_iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
}

fn ignored_note(project: &Path, context: &Context) -> String {
    let shown_file = context.shown(project);
    format!("note: what {shown_file} sets is ignored here until you accept it: `fp config trust`")
}

fn table(
    explained: &BTreeMap<String, (Value, SettingOrigin)>,
    ignored: &BTreeMap<String, Value>,
    with_origin: bool,
) -> String {
    let key_width = explained.keys().map(|key| key.width()).max().unwrap_or(0);
    let mut text = String::new();
    for (key, (value, origin)) in explained {
        let is_default = *origin == SettingOrigin::Default;
        let origin = if with_origin {
            format!("{:7}  ", origin.into_str())
        } else {
            String::new()
        };
        let value = fitted(&shown(value), WIDTH - key_width - origin.len() - 2);
        let look = if is_default { Look::Faint } else { Look::Plain };
        text.push_str(
            &(look.paint(format!("{key:key_width$}  {origin}{value}").trim_end()) + "\n"),
        );
        if let Some(value) = ignored.get(key) {
            let origin = if with_origin { "project  " } else { "" };
            let remark = format!("{:key_width$}  {origin}ignored here: {}", "", shown(value));
            text.push_str(&fitted(&remark, WIDTH));
            text.push('\n');
        }
    }
    text
}

fn change(key: &str, value: Option<&Value>, which: &WhichFile, context: &Context) -> CommandResult {
    let file = which.path(context)?;
    let changed = change_setting(&file, key, value)?;
    let shown_file = context.shown(&file);
    let text = match (value, changed) {
        (Some(value), true) => format!("{key} is {} in {shown_file}\n", shown(value)),
        (Some(value), false) => format!("{key} was {} in {shown_file} already\n", shown(value)),
        (None, true) => format!("Unset {key} in {shown_file}\n"),
        (None, false) => format!("{key} is not in {shown_file}\n"),
    };
    let report = json!({ "key": key, "value": value, "file": file, "changed": changed });
    context.report(&report, &text)?;
    // The change succeeded, so a fault in another file doesn't matter here.
    let Ok(config) = context.config() else {
        return Ok(Exit::Done);
    };
    if !which.user && ignored_value(&config.ignored, key).is_some() {
        context.printer.note(&format!(
            "{}, or set it with `--user`",
            ignored_note(&file, context)
        ));
    }
    let (in_force, origin) = config
        .explained()
        .remove(key)
        .expect("every setting is explained");
    if origin > which.origin() || (value.is_none() && origin != SettingOrigin::Default) {
        context.printer.note(&format!(
            "note: in force is {}, from {}",
            shown(&in_force),
            origin.into_str()
        ));
    }
    Ok(Exit::Done)
}

fn trust(yes: bool, context: &Context) -> CommandResult {
    let ignored = &context.config()?.ignored;
    let settings = ignored.by_key();
    let file = context.shown(&context.repo().config_file());
    if settings.is_empty() {
        return context.report(
            &json!({ "accepted": ignored }),
            &format!("{file} sets nothing that is ignored here\n"),
        );
    }
    let list: String = settings
        .iter()
        .map(|(key, value)| format!("  {key}  {}\n", shown_command(&shown(value))))
        .collect();
    if !yes {
        if !input::can_ask(context) {
            return Err(CommandError::refused(format!("{file} is accepted by you only, at a terminal"))
                .hint(
                    "`fp config` shows what is ignored; a script that you wrote may accept it with `--yes`",
                ));
        }
        context.printer.note(&format!(
            "{file} sets these, which loosen a check or reach a model:\n{list}"
        ));
        if !input::agrees("Accept them here, as they are now?", context) {
            return Err(
                CommandError::refused(format!("nothing of {file} was accepted")).hint(
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
