//! `fp install`.
//!
//! The client notes marketplaces and plugins in its settings files and lays the files out anew while it does. So its
//! notes are put into the text as the user had it, together with the settings that the user wants.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fp_host::claude::{MARKETPLACE, PERMISSIONS, PLUGIN, TEAMS};
use serde_json::{Value, json};
use similar::TextDiff;

use super::bundle::Bundle;
use super::client::InstalledPlugin;
use super::settings::{self, ClientSettingsFile, InstallRecord, SettingsOffer, add_wanted};
use super::{ClientArgs, InstallChange, Installation, USER, VERSION, plugin_id};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;

/// Install the plugin into Claude Code
///
/// Writes the plugin to your data folder and registers it through Claude Code's own commands. Asks whether to add
/// permission rules, agent teams and a status line to Claude Code's settings. Running it again adds only what is
/// missing, and updates the plugin in every scope; `fp uninstall` undoes all of it.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Add the permission rules, agent teams and the status line to the settings, without asking.
    #[arg(long)]
    yes: bool,
    /// Add only the permission rules: for the command fp, and for edits in the folder of plans.
    #[arg(long)]
    permissions: bool,
    /// Only switch agent teams on.
    #[arg(long)]
    teams: bool,
    /// Only show the plan in the status line, above one that is there already.
    #[arg(long)]
    statusline: bool,
    #[command(flatten)]
    client: ClientArgs,
}

pub(crate) fn run(args: InstallArgs, context: &Context) -> CommandResult {
    let InstallArgs { dry_run, yes, .. } = args;
    let installation = args.client.installation(context)?;
    let bundle = Bundle::of_this_program()?;
    let prospect = installation.look_ahead()?;
    let flags = [args.permissions, args.teams, args.statusline];
    let mut offers: Vec<_> = settings::offers(&installation.folder)
        .into_iter()
        .zip(flags.map(|flag| flag || yes))
        .collect();
    let asks = !flags.contains(&true) && !yes && !dry_run && input::can_ask(context);
    if asks {
        ask(&mut offers, &prospect.settings, context);
    }
    let (mut backup, mut diff) = (None, String::new());
    if dry_run {
        diff = diff_of(&prospect.settings, &offers)?;
    } else {
        backup = installation.install(&bundle, &prospect, &offers)?;
    }
    let (mut report, text) = prospect.report(&installation, &offers, backup.as_deref(), dry_run);
    report["dryRun"] = dry_run.into();
    context.report(&report, &(text + &diff))?;
    let declined = offers.iter().filter(|(offer, is_wanted)| {
        offer.change(&prospect.settings.value, *is_wanted) == InstallChange::Declined
    });
    let flags: String = declined
        .map(|(offer, _)| format!(" --{}", offer.name()))
        .collect();
    if !asks && !flags.is_empty() {
        context
            .printer
            .note(&format!("To add the rest: fp install{flags}"));
    }
    if !dry_run {
        if !prospect.outdated.is_empty() || prospect.plugin == InstallChange::Updated {
            context
                .printer
                .note("Sessions that are open keep the version they have loaded");
        }
        context
            .printer
            .note("Start Claude Code in a repository and type: /fp:plan GOAL");
    }
    Ok(Exit::Done)
}

/// Asks for each of the `offers` that `settings` doesn't have.
fn ask(offers: &mut [(SettingsOffer, bool)], settings: &ClientSettingsFile, context: &Context) {
    let file = settings.path.display();
    for (offer, is_wanted) in offers {
        let question = match offer {
            SettingsOffer::Permissions => format!(
                "With these permission rules Claude Code does not ask about each edit of a\n\
                 plan's pages and of roadmaps:\n  {}",
                PERMISSIONS.join("\n  ")
            ),
            SettingsOffer::Teams => format!(
                "With agent teams, which are experimental, you can watch each builder and\n\
                 talk to it:\n  {TEAMS}=1"
            ),
            SettingsOffer::StatusLine(command) => format!(
                "With this status line Claude Code shows how far a plan is, above the status\n\
                 line that you have:\n  {command}"
            ),
        };
        *is_wanted = offer.change(&settings.value, false) == InstallChange::Declined
            && input::agrees(&format!("{question}\nAdd to {file}?"), context);
    }
    context.printer.note("");
}

/// The difference that `offers` make to the text of `settings`.
fn diff_of(
    settings: &ClientSettingsFile,
    offers: &[(SettingsOffer, bool)],
) -> Result<String, CommandError> {
    let mut wanted = settings.value.clone();
    if add_wanted(offers, &mut wanted).is_empty() {
        return Ok(String::new());
    }
    let file = settings.path.display().to_string();
    // Line ends stay as they are, so the difference doesn't show them.
    let before = settings
        .text
        .as_deref()
        .unwrap_or_default()
        .replace("\r\n", "\n");
    let after = settings.edited(&wanted)?.replace("\r\n", "\n");
    Ok(format!(
        "\n{}",
        TextDiff::from_lines(&before, &after)
            .unified_diff()
            .header(&file, &file)
    ))
}

/// The changes that an installation would make, before any of them.
#[derive(Debug)]
struct InstallProspect {
    client_version: String,
    marketplace: InstallChange,
    plugin: InstallChange,
    /// The plugin in other scopes, in another version.
    outdated: Vec<InstalledPlugin>,
    settings: ClientSettingsFile,
}

impl InstallProspect {
    /// The report, as JSON and as a table.
    fn report(
        &self,
        installation: &Installation,
        offers: &[(SettingsOffer, bool)],
        backup: Option<&Path>,
        dry_run: bool,
    ) -> (Value, String) {
        let file = &self.settings;
        let changes: Vec<_> = offers
            .iter()
            .map(|(offer, is_wanted)| (offer, offer.change(&file.value, *is_wanted)))
            .collect();
        let mut report = json!({
            "bundle": installation.folder,
            "version": VERSION,
            "client": installation.client.path,
            "clientVersion": self.client_version,
            "marketplace": MARKETPLACE,
            "marketplaceChange": self.marketplace,
            "plugin": plugin_id(),
            "scope": USER,
            "pluginChange": self.plugin,
            "outdated": self.outdated.iter().map(InstalledPlugin::report).collect::<Vec<_>>(),
            "settings": { "file": file.path, "backup": backup },
        });
        for (offer, change) in &changes {
            report["settings"][offer.name()] = json!(change);
        }
        let done = |word: &str| {
            if dry_run {
                format!("would be {word}")
            } else {
                word.to_owned()
            }
        };
        let words = |change: InstallChange| match change {
            InstallChange::Kept => "already there".to_owned(),
            InstallChange::Added => done("added"),
            InstallChange::Updated => done("updated"),
            InstallChange::Enabled => done("enabled"),
            InstallChange::Declined => "not added".to_owned(),
            InstallChange::Otherwise => "set to something else, left as it is".to_owned(),
        };
        let (client, bundle) = (
            installation.client.path.display(),
            installation.folder.display(),
        );
        let mut lines = vec![
            format!("Claude Code  {client} ({})", self.client_version),
            format!("bundle       {bundle} (fp {VERSION}): {}", done("written")),
            format!("marketplace  {MARKETPLACE}: {}", words(self.marketplace)),
            format!(
                "plugin       {}, scope {USER}: {}",
                plugin_id(),
                words(self.plugin)
            ),
            format!("settings     {}", file.path.display()),
        ];
        lines.extend(changes.iter().map(|(offer, change)| {
            let setting = match offer {
                SettingsOffer::Permissions => format!("permissions  {}", PERMISSIONS.join(", ")),
                SettingsOffer::Teams => format!("agent teams  {TEAMS}"),
                SettingsOffer::StatusLine(command) => format!("status line  {command}"),
            };
            format!("{setting}: {}", words(*change))
        }));
        lines.extend(self.outdated.iter().map(|plugin| {
            format!(
                "plugin       {}: {} from {}",
                plugin.place(),
                done("updated"),
                plugin.version
            )
        }));
        lines.extend(backup.map(|path| format!("backup       {}", path.display())));
        (report, lines.join("\n") + "\n")
    }
}

impl Installation {
    /// Finds out what an installation would change. Writes nothing.
    fn look_ahead(&self) -> Result<InstallProspect, CommandError> {
        let client_version = self.client.version()?;
        let marketplace = if self.lacks_marketplace()? {
            InstallChange::Added
        } else {
            InstallChange::Kept
        };
        self.check_name()?;
        let (here, mut outdated): (Vec<_>, Vec<_>) = self
            .client
            .installed(|project| project.is_dir())?
            .into_iter()
            .partition(|plugin| plugin.scope == USER);
        outdated.retain(|plugin| plugin.version != VERSION);
        let plugin = match here.first() {
            None => InstallChange::Added,
            Some(plugin) if !plugin.enabled => InstallChange::Enabled,
            Some(plugin) if plugin.version != VERSION => InstallChange::Updated,
            Some(_) => InstallChange::Kept,
        };
        let settings = ClientSettingsFile::read(self.home.join("settings.json"))?;
        Ok(InstallProspect {
            client_version,
            marketplace,
            plugin,
            outdated,
            settings,
        })
    }

    /// Fails where another plugin of this name is enabled.
    fn check_name(&self) -> Result<(), CommandError> {
        let prefix = format!("{PLUGIN}@");
        let is_foreign = |plugin: &InstalledPlugin| {
            plugin.enabled && plugin.id.starts_with(&prefix) && plugin.id != plugin_id()
        };
        let Some(InstalledPlugin { id, scope, .. }) =
            self.client.plugins()?.into_iter().find(is_foreign)
        else {
            return Ok(());
        };
        let message =
            format!("the client has another plugin named `{PLUGIN}`: {id}, scope {scope}");
        Err(CommandError::failed(message).hint(format!(
            "run `claude plugin uninstall {id} --scope {scope}`, then this again"
        )))
    }

    /// Writes the bundle, registers it, and adds the settings that are wanted of `offers`. Returns the copy of the settings from before
    /// the first installation.
    ///
    /// An installation that is interrupted has its copies and its record, so that the next one continues and `fp
    /// uninstall` restores.
    fn install(
        &self,
        bundle: &Bundle<'_>,
        prospect: &InstallProspect,
        offers: &[(SettingsOffer, bool)],
    ) -> Result<Option<PathBuf>, CommandError> {
        let before = &prospect.settings;
        let mut wanted = before.value.clone();
        let added = add_wanted(offers, &mut wanted);
        let changes_settings = prospect.marketplace == InstallChange::Added
            || matches!(
                prospect.plugin,
                InstallChange::Added | InstallChange::Enabled
            )
            || !added.is_empty();
        let record_file = self.record_file();
        let mut record = InstallRecord::load(&record_file)?;
        if changes_settings {
            before.check_writable()?;
            before.edited(&wanted)?;
            record.add(before, added)?;
        }
        bundle
            .write(&self.folder)
            .map_err(|error| error.hint("XDG_DATA_HOME chooses the folder on Linux"))?;
        if changes_settings {
            record.save(&record_file)?;
        }
        self.register(prospect)?;
        if changes_settings {
            let now = ClientSettingsFile::read(before.path.clone())?;
            let mut wanted = now.value.clone();
            add_wanted(offers, &mut wanted);
            if before.text.is_some() {
                now.write(&before.edited(&wanted)?)?;
            } else if wanted != now.value {
                now.write(&now.edited(&wanted)?)?;
            }
        }
        Ok(record.backup_of(&before.path))
    }

    fn register(&self, prospect: &InstallProspect) -> Result<(), CommandError> {
        if prospect.marketplace == InstallChange::Added {
            let words = ["plugin", "marketplace", "add"].map(OsStr::new);
            self.client
                .run(&[&words[..], &[self.folder.as_os_str()]].concat(), None)?;
        }
        match prospect.plugin {
            InstallChange::Added | InstallChange::Enabled => {
                self.run_for_plugin("install", USER, None)?
            }
            InstallChange::Updated => self.run_for_plugin("update", USER, None)?,
            InstallChange::Kept | InstallChange::Declined | InstallChange::Otherwise => {}
        }
        for plugin in &prospect.outdated {
            self.run_for_plugin("update", &plugin.scope, plugin.project_path.as_deref())?;
        }
        Ok(())
    }
}
