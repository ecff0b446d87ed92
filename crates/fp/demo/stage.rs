//! Where the demonstration plays: a repository of its own, this very binary, and a place to say what happens.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::context::this_program;
use crate::error::CommandError;
use crate::printer::Printer;

/// What to do about a step that can't fail where git and this program are whole.
pub(super) const DOCTOR: &str = "`fp doctor` says what is wrong with this installation";

/// The repository that the demonstration works in.
pub(crate) struct DemoStage {
    folder: PathBuf,
    binary: PathBuf,
    printer: Printer,
}

impl DemoStage {
    /// Makes a repository with one commit in `folder`, which exists and is empty.
    pub(crate) fn set_up(folder: &Path) -> Result<Self, CommandError> {
        let binary = this_program()?;
        let stage = Self { folder: folder.to_owned(), binary, printer: Printer };
        stage.git(&["init", "--quiet", "--initial-branch=main"])?;
        for (key, value) in [
            ("user.name", "Fractal Planner demo"),
            ("user.email", "demo@localhost"),
            ("commit.gpgSign", "false"),
            ("core.autocrlf", "false"),
        ] {
            stage.git(&["config", key, value])?;
        }
        write(&folder.join("README.md"), "# A sample project\n")?;
        stage.git(&["add", "README.md"])?;
        stage.git(&["commit", "--quiet", "--no-verify", "--message", "Add a README"])?;
        Ok(stage)
    }

    /// A stage in `folder` as it is, with another program in the place of this one.
    #[cfg(test)]
    pub(super) fn with(folder: &Path, binary: &Path) -> Self {
        let (folder, binary) = (folder.to_owned(), binary.to_owned());
        Self { folder, binary, printer: Printer }
    }

    /// Says a line about what is going on.
    pub(crate) fn say(&self, line: &str) {
        self.printer.data(&format!("{line}\n"));
    }

    /// Says what `who` does.
    pub(crate) fn step(&self, who: &str, what: &str) {
        self.say(&format!("{who:<16} {what}"));
    }

    /// Shows the output of a command.
    pub(crate) fn show(&self, text: &str) {
        text.lines().for_each(|line| self.say(format!("  {line}").trim_end()));
        self.say("");
    }

    /// Runs git. Fails when it fails.
    pub(crate) fn git(&self, args: &[&str]) -> Result<String, CommandError> {
        let mut git = Command::new("git");
        git.current_dir(&self.folder).args(args);
        output(&mut git, "git", args, &[0]).map(|(text, _)| text)
    }

    /// Runs this program. Fails when it fails.
    pub(crate) fn fp(&self, args: &[&str]) -> Result<String, CommandError> {
        self.fp_allowing(args, &[0]).map(|(text, _)| text)
    }

    /// Runs this program; `allowed` are the exit statuses that are fine. Returns output and status.
    pub(crate) fn fp_allowing(&self, args: &[&str], allowed: &[i32]) -> Result<(String, i32), CommandError> {
        output(&mut self.command(args), "fp", args, allowed)
    }

    /// Runs this program and reads the JSON that it prints; finding something is fine.
    pub(crate) fn json(&self, args: &[&str]) -> Result<Value, CommandError> {
        let args = [args, &["--format", "json"]].concat();
        let (text, _) = self.fp_allowing(&args, &[0, 1])?;
        serde_json::from_str(&text).map_err(|e| {
            CommandError::failed(format!("`fp {}` printed no JSON: {e}", args.join(" "))).hint(DOCTOR)
        })
    }

    /// Sends `event` to a hook, and returns what it answers.
    pub(crate) fn hook(&self, name: &str, event: &Value) -> Result<String, CommandError> {
        use std::io::Write as _;
        let failed = |e: std::io::Error| {
            CommandError::failed(format!("`fp hook {name}` can't be run: {e}")).hint(DOCTOR)
        };
        let mut child = self
            .command(&["hook", name])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .map_err(failed)?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(event.to_string().as_bytes()).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The repository.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.folder).args(args);
        for variable in ["CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SESSION_ATTENDED", "NUDGE_DISABLED"] {
            command.env_remove(variable);
        }
        command
    }
}

/// Writes `text` to `path`, with the folders above it.
pub(super) fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|e| {
        CommandError::failed(format!("{} can't be made: {e}", folder.display()))
            .hint("choose another place with --dir")
    })?;
    Ok(fp_host::file::atomic_write(path, text.as_bytes())?)
}

fn output(
    command: &mut Command,
    name: &str,
    args: &[&str],
    allowed: &[i32],
) -> Result<(String, i32), CommandError> {
    let shown = format!("`{name} {}`", args.join(" "));
    let Output { status, stdout, stderr } =
        command.stdin(std::process::Stdio::null()).output().map_err(|e| {
            CommandError::failed(format!("{shown} can't be run: {e}")).hint("the demo needs git on the PATH")
        })?;
    match status.code() {
        Some(code) if allowed.contains(&code) => Ok((String::from_utf8_lossy(&stdout).into_owned(), code)),
        _ => Err(CommandError::failed(format!(
            "{shown} ended with {status}: {}",
            String::from_utf8_lossy(&stderr).trim_end()
        ))
        .hint(DOCTOR)),
    }
}
