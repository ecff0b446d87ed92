//! The real client with its own home and a cleared environment, talking only to the stand-in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::client_binary;
use crate::headless::Headless;
use crate::process::{self, Mark};
use crate::stand_in::StandIn;
use crate::terminal::Terminal;

const KEY: &str = "made-up-key-for-loopback-only";

/// How the client treats a tool call that no rule allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permissions {
    /// Asks the user.
    Default,
    /// Allows everything.
    Bypassed,
}

/// The folder that holds the user's consents for the sample at `directory`, shared by terminal and client.
pub(crate) fn state_home(directory: &Path) -> PathBuf {
    directory.with_file_name("state")
}

/// A user of the client: a home and a working directory, which successive sessions may share.
pub(crate) struct Client<'a> {
    stand_in: &'a StandIn,
    home: TempDir,
    directory: PathBuf,
    plugin: Option<PathBuf>,
    permissions: Permissions,
    teams: bool,
    path: String,
    variables: Vec<(String, String)>,
}

/// The user's settings for `fp`: the session leads, and each task has a verifier.
const SETTINGS: &str = r#"{ "engine": "session", "verify": { "judge": "each" } }"#;
const FP_SETTINGS: &str = ".config/fractal-planner/config.json";

impl<'a> Client<'a> {
    /// A new user who has seen the first-run dialogs and trusts `directory`.
    pub(crate) fn new(stand_in: &'a StandIn, directory: &Path) -> Self {
        let directory = directory
            .canonicalize()
            .expect("the working directory exists");
        let beside = directory
            .parent()
            .expect("the working directory isn't the root");
        let home = TempDir::new_in(beside).expect("a temporary directory can be made");
        let state = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": [&KEY[KEY.len() - 20..]], "rejected": [] },
            "projects": { directory.to_string_lossy(): { "hasTrustDialogAccepted": true } },
        });
        let settings = json!({ "skipDangerousModePermissionPrompt": true });
        write(&home.path().join(".claude.json"), &state.to_string());
        write(
            &home.path().join(".claude/settings.json"),
            &settings.to_string(),
        );
        write(&home.path().join(FP_SETTINGS), SETTINGS);
        let path = client_binary::search_path();
        Self {
            stand_in,
            home,
            directory,
            plugin: None,
            permissions: Permissions::Bypassed,
            teams: false,
            path,
            variables: Vec::new(),
        }
    }

    /// Puts `fp`, `claude` and, if installed, `codex` on the PATH, and points Codex at the stand-in, like a user who
    /// lets `fp` start agents.
    pub(crate) fn with_agents(mut self) -> Self {
        let programs = [
            Some(PathBuf::from(env!("CARGO_BIN_EXE_fp"))),
            client_binary::find().ok().flatten(),
        ];
        let codex = client_binary::find_codex().ok().flatten();
        let programs: Vec<_> = programs.into_iter().chain([codex]).flatten().collect();
        let folders = programs
            .iter()
            .filter_map(|program| program.parent()?.to_str());
        self.path = folders
            .chain([self.path.as_str()])
            .collect::<Vec<_>>()
            .join(":");
        let settings = format!(
            "model_provider = \"stand-in\"\n[model_providers.stand-in]\nname = \"stand-in\"\nbase_url = \"{}/v1\"\n\
             wire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\nrequest_max_retries = 2\nstream_max_retries = 2\n",
            self.stand_in.url()
        );
        write(&self.home.path().join(".codex/config.toml"), &settings);
        self
    }

    /// Writes the user's configuration file for `fp`.
    pub(crate) fn with_configuration(self, text: &str) -> Self {
        write(&self.home.path().join(FP_SETTINGS), text);
        self
    }

    /// Shows the plan in the client's status line, as `fp doctor` suggests.
    pub(crate) fn with_status_line(self) -> Self {
        let command = format!("{} statusline", env!("CARGO_BIN_EXE_fp"));
        let settings = json!({
            "skipDangerousModePermissionPrompt": true,
            "statusLine": { "type": "command", "command": command },
        });
        write(
            &self.home.path().join(".claude/settings.json"),
            &settings.to_string(),
        );
        self
    }

    /// Adds a variable to the user's environment.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder in which `fp` records the user's consents.
    pub(crate) fn state(&self) -> PathBuf {
        state_home(&self.directory)
    }

    /// `fp` as the user would run it, ready to start; dropping the mark kills anything it leaves running.
    pub(crate) fn fp_command(&self, arguments: &[&str]) -> (Command, Mark) {
        let (mut command, mark) = self.agent_command(PathBuf::from(env!("CARGO_BIN_EXE_fp")));
        command.args(arguments);
        (command, mark)
    }

    /// Like `fp_command`, but for any `program`.
    pub(crate) fn agent_command(&self, program: PathBuf) -> (Command, Mark) {
        let mark = Mark::new();
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment(&mark))
            .current_dir(&self.directory);
        (command, mark)
    }

    /// Starts an agent process, whose output is read line by line as it arrives.
    pub(crate) fn headless(&self, command: Command, mark: Mark) -> Headless<'_> {
        Headless::start(self.stand_in, command, mark)
    }

    /// Loads the plugin in `directory` in every session.
    pub(crate) fn with_plugin(mut self, directory: &Path) -> Self {
        self.plugin = Some(directory.to_owned());
        self
    }

    /// Sets whether sessions ask for permission when no rule allows a tool call.
    pub(crate) fn with_permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Enables teammates, as a user would in the settings. They exist only in interactive sessions.
    pub(crate) fn with_teams(mut self) -> Self {
        self.teams = true;
        self
    }

    /// A headless session with one prompt; nobody is there to answer anything.
    pub(crate) fn print(&self, prompt: &str) -> Headless<'_> {
        let mut arguments = self.session_arguments();
        arguments.extend(
            ["-p", prompt, "--output-format", "stream-json", "--verbose"].map(OsString::from),
        );
        let (mut command, mark) = self.command(&arguments);
        command.stdin(Stdio::null());
        Headless::start(self.stand_in, command, mark)
    }

    /// A headless session whose user answers questions and grants every permission.
    pub(crate) fn converse(&self, prompt: &str) -> Headless<'_> {
        let mut arguments = self.session_arguments();
        let driven = [
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
        ];
        let asked = ["--verbose", "--permission-prompt-tool", "stdio"];
        arguments.extend(driven.iter().chain(&asked).map(OsString::from));
        let (mut command, mark) = self.command(&arguments);
        command.stdin(Stdio::piped());
        let session = Headless::start(self.stand_in, command, mark);
        session.say(prompt);
        session
    }

    /// An interactive session in a pseudo-terminal, ready for its first prompt.
    pub(crate) fn open(&self) -> Terminal<'_> {
        let mark = Mark::new();
        let environment = self.environment(&mark);
        Terminal::open(
            self.stand_in,
            &self.directory,
            self.session_arguments(),
            environment,
            mark,
        )
    }

    /// A client command that isn't a session, such as `plugin list`; ready to run, and killed with the mark.
    pub(crate) fn command(&self, arguments: &[impl AsRef<std::ffi::OsStr>]) -> (Command, Mark) {
        let (mut command, mark) = self.agent_command(client_binary::path());
        command.args(arguments);
        (command, mark)
    }

    /// Runs `fp` as the user does and returns its output.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub(crate) fn fp(&self, arguments: &[&str]) -> String {
        let (mut command, _mark) = self.fp_command(arguments);
        let output = command.output().expect("cargo has built fp");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "fp {arguments:?} failed with {}: {errors}",
            output.status
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The raw text of the user's client settings.
    pub(crate) fn settings_text(&self) -> String {
        std::fs::read_to_string(self.settings_file()).unwrap_or_default()
    }

    /// Writes the user's client settings.
    pub(crate) fn with_settings(self, text: &str) -> Self {
        write(&self.settings_file(), text);
        self
    }

    fn settings_file(&self) -> PathBuf {
        self.home.path().join(".claude/settings.json")
    }

    fn session_arguments(&self) -> Vec<OsString> {
        let mode = match self.permissions {
            Permissions::Default => "default",
            Permissions::Bypassed => "bypassPermissions",
        };
        let mut arguments = vec!["--permission-mode".into(), mode.into()];
        if let Some(plugin) = &self.plugin {
            arguments.extend(["--plugin-dir".into(), plugin.into()]);
        }
        arguments
    }

    fn environment(&self, mark: &Mark) -> Vec<(String, String)> {
        let home = self.home.path().to_string_lossy().into_owned();
        let state = state_home(&self.directory).to_string_lossy().into_owned();
        let url = self.stand_in.url();
        let teams = if self.teams { "1" } else { "0" };
        [
            ("HOME", home.as_str()),
            ("XDG_STATE_HOME", &state),
            ("PATH", &self.path),
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("ANTHROPIC_BASE_URL", &url),
            ("ANTHROPIC_API_KEY", KEY),
            ("OPENAI_API_KEY", KEY),
            ("CLAUDE_CODE_TMPDIR", &home),
            ("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", teams),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            // Lets the client run as root, in case the tests do.
            ("IS_SANDBOX", "1"),
            (process::VARIABLE, mark.value()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .chain(self.variables.iter().cloned())
        .collect()
    }
}

/// Writes a file for a test, and creates the directories above it.
pub(crate) fn write(path: &Path, content: &str) {
    let directory = path.parent().expect("a file has a directory");
    std::fs::create_dir_all(directory).expect("a temporary directory is writable");
    std::fs::write(path, content).expect("a temporary directory is writable");
}
