//! What a command is given: where it runs, when, and how to print. Built once, passed down.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use fp_core::settings::{Settings, SettingsLayer};
use fp_host::config::{Config, SettingOrigin};
use fp_host::plan_folder::{PlanFolder, Plans};
use fp_host::repo::Repo;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Format, Output, Printer};

/// The surroundings of one command. What costs a read is read when it is first asked for, so that a hook
/// that has nothing to do reads nothing.
#[derive(Debug)]
pub(crate) struct Context {
    /// The working directory.
    pub(crate) cwd: PathBuf,
    /// How results are printed.
    pub(crate) format: Format,
    /// The same with the exports; only a command that has one is run with it.
    pub(crate) output: Output,
    /// Prints.
    pub(crate) printer: Printer,
    repo: OnceCell<Repo>,
    config: OnceCell<Config>,
    settings: OnceCell<Settings>,
}

impl Context {
    /// The context of this process; fails when the working directory is gone.
    pub(crate) fn new(output: Output) -> Result<Self, CommandError> {
        let cwd = std::env::current_dir().map_err(|e| {
            CommandError::failed(format!("the working directory can't be read: {e}"))
                .hint("change to a directory that exists")
        })?;
        Ok(Self::in_folder(cwd, output))
    }

    fn in_folder(cwd: PathBuf, output: Output) -> Self {
        Self {
            cwd,
            format: output.format(),
            output,
            printer: Printer,
            repo: OnceCell::new(),
            config: OnceCell::new(),
            settings: OnceCell::new(),
        }
    }

    /// This context in another working directory.
    pub(crate) fn at(&self, cwd: PathBuf) -> Self {
        Self::in_folder(cwd, self.output)
    }

    /// Prints a result in the form that was asked for, and is done.
    pub(crate) fn report(&self, json: &serde_json::Value, text: &str) -> CommandResult {
        match self.format {
            Format::Text => self.printer.data(text),
            Format::Json => self.printer.json(json)?,
        }
        Ok(Exit::Done)
    }

    /// The repository that the working directory is in.
    pub(crate) fn repo(&self) -> &Repo {
        self.repo.get_or_init(|| Repo::find(&self.cwd))
    }

    /// The layers of the configuration, without this command's flags.
    pub(crate) fn config(&self) -> Result<&Config, CommandError> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let env = |name: &str| self.env(name);
        let config = Config::load(&self.repo().config_file(), &env)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// The settings in force, without this command's flags.
    pub(crate) fn settings(&self) -> Result<&Settings, CommandError> {
        let config = self.config()?;
        Ok(self.settings.get_or_init(|| config.settings()))
    }

    /// The settings in force with what `layer` says, in its place among the others.
    pub(crate) fn settings_with(
        &self,
        origin: SettingOrigin,
        layer: SettingsLayer,
    ) -> Result<Settings, CommandError> {
        let mut config = self.config()?.clone();
        config.add(origin, layer);
        Ok(config.settings())
    }

    /// The settings in force for a plan, which keeps the flags that it was made with.
    pub(crate) fn settings_for(&self, folder: &PlanFolder) -> Result<Settings, CommandError> {
        self.settings_with(SettingOrigin::Plan, folder.settings()?)
    }

    /// The plans of the repository.
    pub(crate) fn plans(&self) -> Result<Plans, CommandError> {
        Ok(Plans::of(self.repo(), self.settings()?))
    }

    /// A path as messages name it: from the working directory or the repository where it is below one of them.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.cwd).or_else(|_| path.strip_prefix(&self.repo().root));
        below.unwrap_or(path).display().to_string()
    }

    /// The value of an environment variable, if it is set to something.
    pub(crate) fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The time of this command: `FP_NOW` (RFC 3339) where a test fixes it, else the clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.env("FP_NOW").and_then(|text| text.parse().ok()).unwrap_or_else(Timestamp::now)
    }

    /// The day of this command in UTC.
    pub(crate) fn today(&self) -> Date {
        self.now().to_zoned(TimeZone::UTC).date()
    }

    /// The client's session this runs in, if any.
    pub(crate) fn session(&self) -> Option<String> {
        self.env("CLAUDE_CODE_SESSION_ID")
    }

    /// Id of the client's process this runs in, if any.
    pub(crate) fn client(&self) -> Option<u32> {
        self.env("CLAUDE_PID").and_then(|id| id.parse().ok())
    }

    /// Whether somebody can be asked: not in a session that runs unattended.
    pub(crate) fn attended(&self) -> bool {
        self.env("CLAUDE_CODE_SESSION_ATTENDED").as_deref() != Some("0")
    }
}

/// Where this very program is. Fails where the system doesn't say.
pub(crate) fn this_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| {
        CommandError::failed(format!("the program fp can't find itself: {error}"))
            .hint("on Linux, /proc says where a program is: see to it that it is mounted")
    })
}
