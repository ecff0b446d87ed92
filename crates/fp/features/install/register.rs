//! `fp install` and `fp update`.
//!
//! The client notes marketplaces and plugins in its settings files and lays the files out anew while it does. So what it
//! notes is put into the text as the user had it, together with the settings that the user wants.

use std::path::{Path, PathBuf};

use fp_host::claude::{MARKETPLACE, PERMISSIONS, PLUGIN, TEAMS};
use serde::Serialize;
use serde_json::{Value, json};
use similar::TextDiff;

use super::bundle::Bundle;
use super::client::InstalledPlugin;
use super::settings::{
    AddedEntries, ChangedSettings, ClientSettingsFile, InstallRecord, OfferOutcome, SettingsOffer,
    SettingsText, permissions_outcome, teams_outcome,
};
use super::{ClientArgs, InstallScope, Installation, plugin_id, same_folder};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input;

/// Install the plugin into Claude Code
///
/// Writes the plugin to your data folder and registers it through Claude Code's own commands. Offers permission rules
/// and agent teams, and adds them to Claude Code's settings only if you agree. Running it again changes only what is
/// missing; `fp uninstall` undoes all of it.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// For whom: you, everybody in this project, or you in this project.
    #[arg(long, value_enum, default_value = "user")]
    scope: InstallScope,
    /// Show what would happen, and do nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    offer: OfferArgs,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Debug, clap::Args)]
struct OfferArgs {
    /// Add permission rules and agent teams to the settings, without asking.
    #[arg(long)]
    yes: bool,
    /// Add the permission rules: for the command fp, and for edits in the folder of plans.
    #[arg(long, overrides_with = "no_permissions")]
    permissions: bool,
    /// Add no permission rules.
    #[arg(long)]
    no_permissions: bool,
    /// Switch agent teams on.
    #[arg(long, overrides_with = "no_teams")]
    teams: bool,
    /// Leave agent teams as they are.
    #[arg(long)]
    no_teams: bool,
}

impl OfferArgs {
    /// What the flags ask for; what they don't mention is not wanted.
    fn given(&self) -> SettingsOffer {
        SettingsOffer {
            permissions: (self.permissions || self.yes) && !self.no_permissions,
            teams: (self.teams || self.yes) && !self.no_teams,
        }
    }

    /// What `offer` leaves out, and no flag refuses.
    fn left_open(&self, prospect: &InstallProspect, offer: SettingsOffer) -> SettingsOffer {
        let (permissions, teams) = prospect.outcomes(offer);
        SettingsOffer {
            permissions: permissions == OfferOutcome::Declined && !self.no_permissions,
            teams: teams == OfferOutcome::Declined && !self.no_teams,
        }
    }
}

/// How to get what was neither wanted nor refused.
fn how_to_add(open: SettingsOffer, scope: InstallScope) -> Option<String> {
    let (what, flag) = match (open.permissions, open.teams) {
        (true, true) => ("permission rules and agent teams", "--yes"),
        (true, false) => ("permission rules", "--permissions"),
        (false, true) => ("agent teams", "--teams"),
        (false, false) => return None,
    };
    let scope = match scope {
        InstallScope::User => String::new(),
        other => format!(" --scope {}", other.name()),
    };
    Some(format!("To add {what}: fp install{scope} {flag}"))
}

pub(crate) fn run(args: InstallArgs, context: &Context) -> CommandResult {
    let installation = args.client.installation(context)?;
    let bundle = Bundle::of_this_program()?;
    let prospect = installation.look_ahead(&bundle, args.scope)?;
    let mut offer = args.offer.given();
    let (mut asked, mut backup, mut diff) = (SettingsOffer::default(), None, String::new());
    if args.dry_run {
        diff = prospect.files[0].diff(offer)?;
    } else {
        if input::can_ask(context) {
            asked = args.offer.left_open(&prospect, offer);
        }
        if asked != SettingsOffer::default() {
            prospect.files[0].text_with(offer)?;
            context.printer.note(&prospect.text(&installation, offer, asked, None, true));
            offer = ask(offer, asked, &prospect.files[0].file.path, context);
        }
        backup = installation.install(&bundle, &prospect, offer)?;
    }
    let text = prospect.text(&installation, offer, SettingsOffer::default(), backup.as_deref(), args.dry_run);
    let mut report = prospect.report(&installation, offer, backup.as_deref());
    report["dryRun"] = args.dry_run.into();
    context.report(&report, &(text + &diff))?;
    if asked == SettingsOffer::default() {
        let open = args.offer.left_open(&prospect, offer);
        how_to_add(open, args.scope).iter().for_each(|line| context.printer.note(line));
    }
    if !args.dry_run {
        context.printer.note("Start Claude Code in a repository and type: /fp:plan GOAL");
    }
    Ok(Exit::Done)
}

/// `offer` with the answers to the questions about what is `asked`, for the settings file `file`.
fn ask(mut offer: SettingsOffer, asked: SettingsOffer, file: &Path, context: &Context) -> SettingsOffer {
    let file = file.display();
    if asked.permissions {
        let rules = PERMISSIONS.join("\n  ");
        let question = format!(
            "With these permission rules Claude Code does not ask for each command\n\
             of fp and for each edit in the folder of plans:\n  {rules}\nAdd them to {file}?"
        );
        offer.permissions = input::agrees(&question, context);
    }
    if asked.teams {
        let question = format!(
            "With agent teams, which are experimental, you see each builder and can\n\
             talk to it:\n  {TEAMS}=1\nAdd it to {file}?"
        );
        offer.teams = input::agrees(&question, context);
    }
    context.printer.note("");
    offer
}

/// What happens to the marketplace or the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum InstallStep {
    /// It was there as it should be.
    Kept,
    /// It is new.
    Added,
    /// It was there in another version.
    Updated,
    /// It was there and switched off.
    Enabled,
}

/// What an installation would do, before anything is done.
#[derive(Debug)]
struct InstallProspect {
    scope: InstallScope,
    version: String,
    client_version: String,
    marketplace: InstallStep,
    plugin: InstallStep,
    /// The scope's file first, then the user's where it is another: there the client notes the marketplace.
    files: Vec<FileBefore>,
    record: InstallRecord,
}

/// A settings file as it was before the installation.
#[derive(Debug)]
struct FileBefore {
    file: ClientSettingsFile,
    contents: SettingsText,
}

/// A settings file that the installation may change.
#[derive(Debug)]
struct FileStep<'p> {
    before: &'p FileBefore,
    added: AddedEntries,
    /// Name of the copy, and whether it was made just now.
    backup: Option<(String, bool)>,
}

impl FileBefore {
    fn text(&self) -> &str {
        self.contents.text.as_deref().unwrap_or_default()
    }

    /// The text with the entries of `offer`.
    fn text_with(&self, offer: SettingsOffer) -> Result<String, CommandError> {
        let added = AddedEntries::due(&self.contents.value, offer);
        if added.is_empty() { Ok(self.text().to_owned()) } else { self.text_after(&added, &self.contents) }
    }

    /// The text with what the client says `now`, and what was `added` to that.
    fn text_after(&self, added: &AddedEntries, now: &SettingsText) -> Result<String, CommandError> {
        let mut target = now.value.clone();
        added.add_to(&mut target);
        let new = now.text.is_none().then_some("");
        let texts = [self.contents.text.as_deref(), now.text.as_deref(), new];
        self.file.edited(texts.into_iter().flatten(), &target)
    }

    fn diff(&self, offer: SettingsOffer) -> Result<String, CommandError> {
        let file = self.file.path.display().to_string();
        // Line ends stay as they are, so the difference doesn't show them.
        let (before, after) =
            (self.text().replace("\r\n", "\n"), self.text_with(offer)?.replace("\r\n", "\n"));
        let diff = TextDiff::from_lines(&before, &after).unified_diff().header(&file, &file).to_string();
        Ok(if diff.is_empty() { diff } else { format!("\n{diff}") })
    }
}

impl FileStep<'_> {
    /// Removes the copy, if it was made for this.
    fn forget(&self) {
        if let Some((name, true)) = &self.backup {
            drop(self.before.file.backup(name).map(std::fs::remove_file));
        }
    }
}

impl InstallProspect {
    /// What happens to the permission rules and to agent teams.
    fn outcomes(&self, offer: SettingsOffer) -> (OfferOutcome, OfferOutcome) {
        let settings = &self.files[0].contents.value;
        (permissions_outcome(settings, offer.permissions), teams_outcome(settings, offer.teams))
    }

    fn report(&self, installation: &Installation, offer: SettingsOffer, backup: Option<&Path>) -> Value {
        let (permissions, teams) = self.outcomes(offer);
        json!({
            "bundle": installation.folder,
            "version": self.version,
            "client": installation.client.path,
            "clientVersion": self.client_version,
            "marketplace": MARKETPLACE,
            "marketplaceChange": self.marketplace,
            "plugin": plugin_id(),
            "scope": self.scope,
            "pluginChange": self.plugin,
            "settings": {
                "file": self.files[0].file.path,
                "permissions": permissions,
                "teams": teams,
                "backup": backup,
            },
        })
    }

    /// The table of what was done or, in a `dry_run`, would be, but for what is `asked` first.
    fn text(
        &self,
        installation: &Installation,
        offer: SettingsOffer,
        asked: SettingsOffer,
        backup: Option<&Path>,
        dry_run: bool,
    ) -> String {
        let done = |word: &str| if dry_run { format!("would be {word}") } else { word.to_owned() };
        let there = || "already there".to_owned();
        let step = |step: InstallStep| match step {
            InstallStep::Kept => there(),
            InstallStep::Added => done("added"),
            InstallStep::Updated => done("updated"),
            InstallStep::Enabled => done("enabled"),
        };
        let entry = |outcome: OfferOutcome, asked: bool| match outcome {
            OfferOutcome::Kept => there(),
            OfferOutcome::Added => done("added"),
            OfferOutcome::Declined => if asked { "asked below" } else { "not added" }.to_owned(),
            OfferOutcome::Otherwise => "set otherwise, left so".to_owned(),
        };
        let (permissions, teams) = self.outcomes(offer);
        let (client, bundle) = (installation.client.path.display(), installation.folder.display());
        let mut lines = vec![
            format!("Claude Code  {client} ({})", self.client_version),
            format!("bundle       {bundle} (fp {}): {}", self.version, done("written")),
            format!("marketplace  {MARKETPLACE}: {}", step(self.marketplace)),
            format!("plugin       {}, scope {}: {}", plugin_id(), self.scope.name(), step(self.plugin)),
            format!("settings     {}", self.files[0].file.path.display()),
            format!("permissions  {}: {}", PERMISSIONS.join(", "), entry(permissions, asked.permissions)),
            format!("agent teams  {TEAMS}: {}", entry(teams, asked.teams)),
        ];
        lines.extend(backup.map(|path| format!("backup       {}", path.display())));
        lines.join("\n") + "\n"
    }
}

impl Installation {
    /// Looks at what there is, and writes nothing.
    fn look_ahead(&self, bundle: &Bundle<'_>, scope: InstallScope) -> Result<InstallProspect, CommandError> {
        let client_version = self.client.version()?.to_string();
        let version = bundle.version();
        let lacks_marketplace = self.lacks_marketplace()?;
        let plugin = self.step_due(&self.client.plugins()?, scope, &version)?;
        let mut paths = vec![self.settings_path(scope)?, self.settings_path(InstallScope::User)?];
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let file = ClientSettingsFile { path };
            files.push(FileBefore { contents: file.read()?, file });
        }
        let record = InstallRecord::load(&self.record_file())?;
        let marketplace = if lacks_marketplace { InstallStep::Added } else { InstallStep::Kept };
        Ok(InstallProspect { scope, version, client_version, marketplace, plugin, files, record })
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

    /// What has to happen for the plugin to be there in `scope`, enabled, in this version.
    fn step_due(
        &self,
        plugins: &[InstalledPlugin],
        scope: InstallScope,
        version: &str,
    ) -> Result<InstallStep, CommandError> {
        let prefix = format!("{PLUGIN}@");
        let foreign = |plugin: &&InstalledPlugin| plugin.id.starts_with(&prefix) && plugin.id != plugin_id();
        if let Some(InstalledPlugin { id, scope, .. }) =
            plugins.iter().filter(|plugin| plugin.enabled).find(foreign)
        {
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
            None => InstallStep::Added,
            Some(plugin) if !plugin.enabled => InstallStep::Enabled,
            Some(plugin) if plugin.version != version => InstallStep::Updated,
            Some(_) => InstallStep::Kept,
        })
    }

    /// Writes the bundle, registers it, and adds the settings of `offer`. The copy of the settings from before, if there
    /// is one.
    fn install(
        &self,
        bundle: &Bundle<'_>,
        prospect: &InstallProspect,
        offer: SettingsOffer,
    ) -> Result<Option<PathBuf>, CommandError> {
        let steps = self.prepare(prospect, offer)?;
        if let Err(error) = self.write_bundle(bundle).and_then(|()| self.register(prospect)) {
            steps.iter().for_each(FileStep::forget);
            return Err(error);
        }
        let mut record = prospect.record.clone();
        for step in &steps {
            self.finish(step, &mut record)?;
        }
        let file = &prospect.files[0].file;
        Ok(record.of_file(file).and_then(|changed| file.backup(changed.backup.as_deref()?)))
    }

    fn write_bundle(&self, bundle: &Bundle<'_>) -> Result<(), CommandError> {
        bundle.write(&self.folder).map_err(|error| error.hint("XDG_DATA_HOME chooses the folder on Linux"))
    }

    fn register(&self, prospect: &InstallProspect) -> Result<(), CommandError> {
        if prospect.marketplace == InstallStep::Added {
            self.add_marketplace()?;
        }
        let command = match prospect.plugin {
            InstallStep::Kept => return Ok(()),
            InstallStep::Updated => "update",
            InstallStep::Added | InstallStep::Enabled => "install",
        };
        self.run_for_plugin(command, prospect.scope.name(), self.project.as_deref())
    }

    /// Makes sure of the settings files that are going to change, and copies them.
    fn prepare<'p>(
        &self,
        prospect: &'p InstallProspect,
        offer: SettingsOffer,
    ) -> Result<Vec<FileStep<'p>>, CommandError> {
        let mut steps = Vec::new();
        for (place, before) in prospect.files.iter().enumerate() {
            let offer = if place == 0 { offer } else { SettingsOffer::default() };
            before.text_with(offer)?;
            let added = AddedEntries::due(&before.contents.value, offer);
            let enables = place == 0 && matches!(prospect.plugin, InstallStep::Added | InstallStep::Enabled);
            let users = place > 0 || prospect.scope == InstallScope::User;
            if enables || users && prospect.marketplace == InstallStep::Added || !added.is_empty() {
                before.file.check_writable()?;
                steps.push(FileStep { before, added, backup: None });
            }
        }
        for step in &mut steps {
            let known = prospect.record.of_file(&step.before.file);
            if let (None, Some(text)) = (known, &step.before.contents.text) {
                step.backup = Some(step.before.file.back_up(text)?);
            }
        }
        Ok(steps)
    }

    /// Brings a settings file to what it should be after the client's part, and notes that in `record` first.
    fn finish(&self, step: &FileStep<'_>, record: &mut InstallRecord) -> Result<(), CommandError> {
        let FileStep { before, added, backup } = step;
        let now = before.file.read()?;
        if now.text.is_none() && added.is_empty() {
            return Ok(());
        }
        let text = before.text_after(added, &now)?;
        if before.contents.text.as_ref() == Some(&text) {
            step.forget();
        } else {
            let backup = backup.as_ref().map(|(name, _)| name.clone());
            record.add(ChangedSettings { file: before.file.path.clone(), backup, added: added.clone() });
            record.save(&self.record_file())?;
        }
        if now.text.as_ref() == Some(&text) { Ok(()) } else { before.file.write(&text) }
    }
}

/// Bring what `fp install` installed to this version of fp, in every scope
///
/// Asks nothing, and leaves settings alone.
#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    client: ClientArgs,
}

pub(crate) fn update(args: UpdateArgs, context: &Context) -> CommandResult {
    let installation = args.client.installation(context)?;
    let bundle = Bundle::of_this_program()?;
    installation.client.version()?;
    let version = bundle.version();
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
    let mut lines = vec![format!("bundle       {} (fp {version}): written", folder.display())];
    let mut updated = Vec::new();
    for InstalledPlugin { scope, project_path: project, version: from, .. } in &plugins {
        let place = project.as_ref().map(|path| format!(" in {}", path.display())).unwrap_or_default();
        let done = if *from == version {
            format!("already {version}")
        } else {
            installation.run_for_plugin("update", scope, project.as_deref())?;
            format!("updated from {from} to {version}")
        };
        lines.push(format!("plugin       scope {scope}{place}: {done}"));
        updated.push(json!({ "scope": scope, "project": project, "from": from }));
    }
    let report = json!({ "bundle": folder, "version": version, "plugins": updated });
    context.report(&report, &(lines.join("\n") + "\n"))?;
    context.printer.note("Open sessions keep what they have loaded");
    Ok(Exit::Done)
}
