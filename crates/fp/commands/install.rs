//! `fp install`.

mod choice;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use fp_core::client_settings::{Choice, PERMISSIONS, TEAMS};
use fp_host::claude::bundle::{Bundle, Programs};
use fp_host::claude::client::Client;
use fp_host::claude::install::{
    self, Change, EntryChange, InstallError, Installation, Installed, Preview, Scope,
};
use fp_host::claude::team;
use serde::Serialize;
use similar::TextDiff;

use crate::assets;
use crate::context::{Context, this_program};
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Install the plugin into Claude Code
///
/// Writes the plugin to your data folder and registers it through Claude Code's own commands. Permission rules and
/// agent teams are offered, and added to Claude Code's settings only where you say so. Running it again changes
/// only what is missing; `fp uninstall` undoes all of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For whom: you, everybody in this project, or you in this project.
    #[arg(long, value_enum, default_value = "user")]
    scope: ScopeName,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    choice: choice::Wishes,
    #[command(flatten)]
    client: ClientArgs,
}

/// Which client it is about.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct ClientArgs {
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
    /// Seconds that one command of Claude Code may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86400))]
    timeout: u64,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ScopeName {
    User,
    Project,
    Local,
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::User => Self::User,
            ScopeName::Project => Self::Project,
            ScopeName::Local => Self::Local,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    dry_run: bool,
    #[serde(flatten)]
    installed: Installed,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let installation = args.client.installation(context)?;
    let bundle = bundle()?;
    let prospect = installation.look_ahead(&bundle, args.scope.into())?;
    let asked = if args.dry_run { Choice::default() } else { args.choice.questions(&prospect, context) };
    let (installed, diff) = if args.dry_run {
        let (installed, preview) = installation.preview(&prospect, args.choice.decided())?;
        let diff = diff(&installed, &preview);
        (installed, diff)
    } else {
        let choice = args.choice.ask(asked, &installation, &prospect, context)?;
        (installation.install(&bundle, &prospect, choice)?, String::new())
    };
    let left = args.choice.left(&installed).filter(|_| asked == Choice::default());
    let report = Report { dry_run: args.dry_run, installed };
    match context.format {
        Format::Json => context.printer.json(&report)?,
        Format::Text => {
            context.printer.data(&(text(&report.installed, args.dry_run, Choice::default()) + &diff))
        }
    }
    left.into_iter().for_each(|line| context.printer.note(&line));
    if !args.dry_run {
        context.printer.note("Start Claude Code in a repository and type: /fp:plan GOAL");
    }
    Ok(Exit::Done)
}

impl ClientArgs {
    /// Whether a client was named.
    pub(super) fn is_named(&self) -> bool {
        self.client.is_some()
    }

    /// The installation that the environment speaks of.
    pub(super) fn installation(&self, context: &Context) -> Result<Installation, CommandError> {
        let (search, limit) = (env::var_os("PATH"), Duration::from_secs(self.timeout));
        let client = Client::find(self.client.as_deref(), search.as_deref(), limit);
        let repo = context.repo();
        Ok(Installation {
            client: client.map_err(InstallError::from)?,
            folder: bundle_folder()?,
            home: team::client_home(&|name| context.env(name)).ok_or_else(homeless)?,
            project: repo.git_dir.as_ref().map(|_| repo.worktree.clone()),
        })
    }
}

/// Where the bundle is, or goes.
pub(super) fn bundle_folder() -> Result<PathBuf, CommandError> {
    install::bundle_folder(|name| env::var_os(name)).ok_or_else(homeless)
}

fn homeless() -> CommandError {
    let variables = if cfg!(windows) { "USERPROFILE and LOCALAPPDATA" } else { "HOME" };
    CommandError::failed("nothing says where your home folder is").hint(format!("set {variables}"))
}

/// The plugin with this very program in it.
pub(super) fn bundle() -> Result<Bundle<'static>, CommandError> {
    Ok(Bundle { files: assets::plugin_files(), programs: Programs::One(this_program()?) })
}

fn diff(installed: &Installed, preview: &Preview) -> String {
    let file = installed.settings.file.display().to_string();
    // Line ends stay as they are, so they are no part of what is shown.
    let [before, after] = [&preview.before, &preview.after].map(|text| text.replace("\r\n", "\n"));
    let diff = TextDiff::from_lines(&before, &after);
    match diff.unified_diff().header(&file, &file).to_string() {
        diff if diff.is_empty() => diff,
        diff => format!("\n{diff}"),
    }
}

/// The table of what was done or, in a `dry_run`, would be, but for what is `asked` first.
fn text(installed: &Installed, dry_run: bool, asked: Choice) -> String {
    let done = |word: &str| if dry_run { format!("would be {word}") } else { word.to_owned() };
    let change = |change: Change| match change {
        Change::Kept => "already there".to_owned(),
        Change::Added => done("added"),
        Change::Updated => done("updated"),
        Change::Enabled => done("enabled"),
    };
    let entry = |change: EntryChange, asked: bool| match change {
        EntryChange::Declined if asked => "asked below".to_owned(),
        EntryChange::Kept => "already there".to_owned(),
        EntryChange::Added => done("added"),
        EntryChange::Declined => "not added".to_owned(),
        EntryChange::Otherwise => "set otherwise, left so".to_owned(),
    };
    let settings = &installed.settings;
    let mut lines = vec![
        format!("Claude Code  {} ({})", installed.client.display(), installed.client_version),
        format!(
            "bundle       {} (fp {}): {}",
            installed.bundle.display(),
            installed.version,
            done("written")
        ),
        format!("marketplace  {}: {}", installed.marketplace, change(installed.marketplace_change)),
        format!(
            "plugin       {}, scope {}: {}",
            installed.plugin,
            installed.scope.name(),
            change(installed.plugin_change)
        ),
        format!("settings     {}", settings.file.display()),
        format!(
            "permissions  {}: {}",
            PERMISSIONS.join(", "),
            entry(settings.permissions, asked.permissions)
        ),
        format!("agent teams  {TEAMS}: {}", entry(settings.teams, asked.teams)),
    ];
    lines.extend(settings.backup.as_ref().map(|path| format!("backup       {}", path.display())));
    lines.join("\n") + "\n"
}
