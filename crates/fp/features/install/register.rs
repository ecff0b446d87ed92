//! `fp install` and `fp update`.
//!
//! The client notes marketplaces and plugins in its settings files and lays the files out anew while it does. So its
//! notes are put into the text as the user had it, together with the settings that the user wants.

use std::path::{Path, PathBuf};

use fp_host::claude::{MARKETPLACE, PERMISSIONS, PLUGIN, TEAMS};
use serde_json::{Value, json};
use similar::TextDiff;

use super::bundle::Bundle;
use super::client::InstalledPlugin;
use super::settings::{ClientSettingsFile, InstallRecord, SettingsOffer};
use super::{ClientArgs, InstallChange, InstallScope, Installation, VERSION, plugin_id, same_folder};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;

/// Install the plugin into Claude Code
///
/// Writes the plugin to your data folder and registers it through Claude Code's own commands. Asks whether to add
/// permission rules and agent teams to Claude Code's settings. Running it again adds only what is missing; `fp
/// uninstall` undoes all of it.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// Who gets the plugin: you, everybody in this project, or you in this project.
    #[arg(long, value_enum, default_value = "user")]
    scope: InstallScope,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Add both the permission rules and agent teams to the settings, without asking.
    #[arg(long)]
    yes: bool,
    /// Add only the permission rules: for the command fp, and for edits in the folder of plans.
    #[arg(long)]
    permissions: bool,
    /// Only switch agent teams on.
    #[arg(long)]
    teams: bool,
    #[command(flatten)]
    client: ClientArgs,
}

pub(crate) fn run(args: InstallArgs, context: &Context) -> CommandResult {
    let InstallArgs { scope, dry_run, yes, .. } = args;
    let installation = args.client.installation(context)?;
    let bundle = Bundle::of_this_program()?;
    let prospect = installation.look_ahead(scope)?;
    let settings = &prospect.files[0];
    let mut offer = SettingsOffer { permissions: args.permissions || yes, teams: args.teams || yes };
    let asks = offer == SettingsOffer::default() && !dry_run && input::can_ask(context);
    if asks {
        offer = ask(settings, context);
    }
    let (mut backup, mut diff) = (None, String::new());
    if dry_run {
        diff = diff_of(settings, offer)?;
    } else {
        backup = installation.install(&bundle, &prospect, offer)?;
    }
    let (mut report, text) = prospect.report(&installation, offer, backup.as_deref(), dry_run);
    report["dryRun"] = dry_run.into();
    context.report(&report, &(text + &diff))?;
    let (permissions, teams) = offer.changes(&settings.value);
    let flags = [(permissions, " --permissions"), (teams, " --teams")];
    let flags = flags.into_iter().filter(|(change, _)| *change == InstallChange::Declined);
    let flags: String = flags.map(|(_, flag)| flag).collect();
    if !asks && !flags.is_empty() {
        let scope = scope.name();
        context.printer.note(&format!("To add the rest: fp install --scope {scope}{flags}"));
    }
    if !dry_run {
        context.printer.note("Start Claude Code in a repository and type: /fp:plan GOAL");
    }
    Ok(Exit::Done)
}

/// Asks for each setting that `settings` doesn't have.
fn ask(settings: &ClientSettingsFile, context: &Context) -> SettingsOffer {
    let file = settings.path.display();
    let (permissions, teams) = SettingsOffer::default().changes(&settings.value);
    let agrees = |change: InstallChange, question: &str| {
        change == InstallChange::Declined && input::agrees(&format!("{question}\nAdd to {file}?"), context)
    };
    let rules = PERMISSIONS.join("\n  ");
    let rules = format!(
        "With these permission rules Claude Code does not ask about each edit of a\n\
         plan's pages and of roadmaps:\n  {rules}"
    );
    let variable = format!(
        "With agent teams, which are experimental, you can watch each builder and\n\
         talk to it:\n  {TEAMS}=1"
    );
    let offer = SettingsOffer { permissions: agrees(permissions, &rules), teams: agrees(teams, &variable) };
    context.printer.note("");
    offer
}

/// The difference that `offer` makes to the text of `settings`.
fn diff_of(settings: &ClientSettingsFile, offer: SettingsOffer) -> Result<String, CommandError> {
    let mut wanted = settings.value.clone();
    if offer.add_to(&mut wanted).is_empty() {
        return Ok(String::new());
    }
    let file = settings.path.display().to_string();
    // Line ends stay as they are, so the difference doesn't show them.
    let before = settings.text.as_deref().unwrap_or_default().replace("\r\n", "\n");
    let after = settings.edited(&wanted)?.replace("\r\n", "\n");
    Ok(format!("\n{}", TextDiff::from_lines(&before, &after).unified_diff().header(&file, &file)))
}

/// The changes that an installation would make, before any of them.
#[derive(Debug)]
struct InstallProspect {
    scope: InstallScope,
    client_version: String,
    marketplace: InstallChange,
    plugin: InstallChange,
    /// The scope's file first. The user's is the last: there the client notes the marketplace.
    files: Vec<ClientSettingsFile>,
}

impl InstallProspect {
    /// The report, as JSON and as a table.
    fn report(
        &self,
        installation: &Installation,
        offer: SettingsOffer,
        backup: Option<&Path>,
        dry_run: bool,
    ) -> (Value, String) {
        let file = &self.files[0];
        let (permissions, teams) = offer.changes(&file.value);
        let report = json!({
            "bundle": installation.folder,
            "version": VERSION,
            "client": installation.client.path,
            "clientVersion": self.client_version,
            "marketplace": MARKETPLACE,
            "marketplaceChange": self.marketplace,
            "plugin": plugin_id(),
            "scope": self.scope,
            "pluginChange": self.plugin,
            "settings": { "file": file.path, "permissions": permissions, "teams": teams, "backup": backup },
        });
        let done = |word: &str| if dry_run { format!("would be {word}") } else { word.to_owned() };
        let words = |change: InstallChange| match change {
            InstallChange::Kept => "already there".to_owned(),
            InstallChange::Added => done("added"),
            InstallChange::Updated => done("updated"),
            InstallChange::Enabled => done("enabled"),
            InstallChange::Declined => "not added".to_owned(),
            InstallChange::Otherwise => "set to something else, left as it is".to_owned(),
        };
        let (client, bundle) = (installation.client.path.display(), installation.folder.display());
        let mut lines = vec![
            format!("Claude Code  {client} ({})", self.client_version),
            format!("bundle       {bundle} (fp {VERSION}): {}", done("written")),
            format!("marketplace  {MARKETPLACE}: {}", words(self.marketplace)),
            format!("plugin       {}, scope {}: {}", plugin_id(), self.scope.name(), words(self.plugin)),
            format!("settings     {}", file.path.display()),
            format!("permissions  {}: {}", PERMISSIONS.join(", "), words(permissions)),
            format!("agent teams  {TEAMS}: {}", words(teams)),
        ];
        lines.extend(backup.map(|path| format!("backup       {}", path.display())));
        (report, lines.join("\n") + "\n")
    }
}

impl Installation {
    /// Finds out what an installation would change. Writes nothing.
    fn look_ahead(&self, scope: InstallScope) -> Result<InstallProspect, CommandError> {
        let client_version = self.client.version()?;
        let marketplace = if self.lacks_marketplace()? { InstallChange::Added } else { InstallChange::Kept };
        let plugin = self.plugin_change(scope)?;
        let mut paths = vec![self.settings_path(scope)?, self.settings_path(InstallScope::User)?];
        paths.dedup();
        let files = paths.into_iter().map(ClientSettingsFile::read).collect::<Result<_, _>>()?;
        Ok(InstallProspect { scope, client_version, marketplace, plugin, files })
    }

    fn settings_path(&self, scope: InstallScope) -> Result<PathBuf, CommandError> {
        let name = match scope {
            InstallScope::User => return Ok(self.home.join("settings.json")),
            InstallScope::Project => "settings.json",
            InstallScope::Local => "settings.local.json",
        };
        let project = self.project.as_ref().ok_or_else(|| {
            CommandError::failed("there is no git repository here, and so no project to install into")
                .hint("change to the repository, or install for yourself: `fp install`")
        })?;
        Ok(project.join(".claude").join(name))
    }

    /// The change that brings the plugin into `scope`, enabled, in this version.
    fn plugin_change(&self, scope: InstallScope) -> Result<InstallChange, CommandError> {
        let plugins = self.client.plugins()?;
        let prefix = format!("{PLUGIN}@");
        let is_foreign = |plugin: &&InstalledPlugin| {
            plugin.enabled && plugin.id.starts_with(&prefix) && plugin.id != plugin_id()
        };
        if let Some(InstalledPlugin { id, scope, .. }) = plugins.iter().find(is_foreign) {
            let message = format!("the client has another plugin named `{PLUGIN}`: {id}, scope {scope}");
            return Err(CommandError::failed(message)
                .hint(format!("run `claude plugin uninstall {id} --scope {scope}`, then this again")));
        }
        let is_here =
            |path: &PathBuf| self.project.as_ref().is_some_and(|project| same_folder(path, project));
        let here = plugins.iter().find(|plugin| {
            plugin.id == plugin_id()
                && plugin.scope == scope.name()
                && plugin.project_path.as_ref().is_none_or(is_here)
        });
        Ok(match here {
            None => InstallChange::Added,
            Some(plugin) if !plugin.enabled => InstallChange::Enabled,
            Some(plugin) if plugin.version != VERSION => InstallChange::Updated,
            Some(_) => InstallChange::Kept,
        })
    }

    /// Writes the bundle, registers it, and adds the settings of `offer`. Returns the copy of the settings from before
    /// the first installation.
    ///
    /// An installation that is interrupted has its copies and its record, so that the next one continues and `fp
    /// uninstall` restores.
    fn install(
        &self,
        bundle: &Bundle<'_>,
        prospect: &InstallProspect,
        offer: SettingsOffer,
    ) -> Result<Option<PathBuf>, CommandError> {
        let enables = matches!(prospect.plugin, InstallChange::Added | InstallChange::Enabled);
        let adds_marketplace = prospect.marketplace == InstallChange::Added;
        let record_file = self.record_file();
        let mut record = InstallRecord::load(&record_file)?;
        let mut changing = Vec::new();
        for (place, file) in prospect.files.iter().enumerate() {
            let offer = if place == 0 { offer } else { SettingsOffer::default() };
            let is_users = place + 1 == prospect.files.len();
            let mut wanted = file.value.clone();
            let added = offer.add_to(&mut wanted);
            if enables && place == 0 || adds_marketplace && is_users || !added.is_empty() {
                file.check_writable()?;
                file.edited(&wanted)?;
                changing.push((file, offer, added));
            }
        }
        for (file, _, added) in &changing {
            record.add(file, added.clone())?;
        }
        self.write_bundle(bundle)?;
        if !changing.is_empty() {
            record.save(&record_file)?;
        }
        self.register(prospect)?;
        for (before, offer, _) in changing {
            let now = ClientSettingsFile::read(before.path.clone())?;
            let mut wanted = now.value.clone();
            offer.add_to(&mut wanted);
            if before.text.is_some() {
                now.write(&before.edited(&wanted)?)?;
            } else if wanted != now.value {
                now.write(&now.edited(&wanted)?)?;
            }
        }
        Ok(record.backup_of(&prospect.files[0].path))
    }

    fn write_bundle(&self, bundle: &Bundle<'_>) -> Result<(), CommandError> {
        bundle.write(&self.folder).map_err(|error| error.hint("XDG_DATA_HOME chooses the folder on Linux"))
    }

    fn register(&self, prospect: &InstallProspect) -> Result<(), CommandError> {
        if prospect.marketplace == InstallChange::Added {
            self.add_marketplace()?;
        }
        let command = match prospect.plugin {
            InstallChange::Added | InstallChange::Enabled => "install",
            InstallChange::Updated => "update",
            InstallChange::Kept | InstallChange::Declined | InstallChange::Otherwise => return Ok(()),
        };
        self.run_for_plugin(command, prospect.scope.name(), self.project.as_deref())
    }
}

/// Update the installed plugin to this version of fp, in every scope
///
/// Leaves settings alone.
#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    client: ClientArgs,
}

pub(crate) fn update(args: UpdateArgs, context: &Context) -> CommandResult {
    let installation = args.client.installation(context)?;
    let bundle = Bundle::of_this_program()?;
    installation.client.version()?;
    let lacks_marketplace = installation.lacks_marketplace()?;
    let plugins = installation.installed()?;
    if plugins.is_empty() {
        return Err(CommandError::refused("the plugin is not installed in Claude Code")
            .hint("`fp install` installs it"));
    }
    installation.write_bundle(&bundle)?;
    if lacks_marketplace {
        installation.add_marketplace()?;
    }
    let folder = &installation.folder;
    let mut lines = vec![format!("bundle       {} (fp {VERSION}): written", folder.display())];
    let mut updated = Vec::new();
    for plugin in &plugins {
        let InstalledPlugin { scope, project_path: project, version: from, .. } = plugin;
        let done = if from == VERSION {
            format!("already {VERSION}")
        } else {
            installation.run_for_plugin("update", scope, project.as_deref())?;
            format!("updated from {from} to {VERSION}")
        };
        lines.push(format!("plugin       {}: {done}", plugin.place()));
        updated.push(json!({ "scope": scope, "project": project, "from": from }));
    }
    let report = json!({ "bundle": folder, "version": VERSION, "plugins": updated });
    context.report(&report, &(lines.join("\n") + "\n"))?;
    context.printer.note("Sessions that are open keep the version they have loaded");
    Ok(Exit::Done)
}
