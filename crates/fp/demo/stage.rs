//! The stage for the demonstration: a repository of its own, so that the user's work isn't touched, with this binary
//! and a printer.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fp_host::file::reason_of;
use fp_plan::text::visible_line;
use serde_json::Value;

use crate::context::this_program;
use crate::error::CommandError;
use crate::printer::{Printer, columns};
use crate::theme::Look;

/// The hint for a step that can't fail if git and this program are intact.
pub(super) const DOCTOR: &str = "`fp doctor` says what is wrong with this installation";

/// The repository of the demonstration.
pub(crate) struct DemoStage {
    folder: PathBuf,
    binary: PathBuf,
    printer: Printer,
}

impl DemoStage {
    /// Creates a repository with one commit in `folder`, which exists and is empty.
    pub(crate) fn set_up(folder: &Path) -> Result<Self, CommandError> {
        let binary = this_program()?;
        let stage = Self {
            folder: folder.to_owned(),
            binary,
            printer: Printer::default(),
        };
        stage.run_git(&["init", "--quiet", "--initial-branch=main"])?;
        for (key, value) in [
            ("user.name", "Fractal Planner demo"),
            ("user.email", "demo@localhost"),
            ("commit.gpgSign", "false"),
            ("core.autocrlf", "false"),
        ] {
            stage.run_git(&["config", key, value])?;
        }
        write(&folder.join("README.md"), "# A sample project\n")?;
        stage.run_git(&["add", "README.md"])?;
        stage.run_git(&[
            "commit",
            "--quiet",
            "--no-verify",
            "--message",
            "Add a README",
        ])?;
        Ok(stage)
    }

    /// A stage in `folder` that runs another program in place of this one.
    #[cfg(test)]
    #[allow(dead_code, reason = "its tests need Unix")]
    pub(super) fn in_folder(folder: &Path, binary: &Path) -> Self {
        let (folder, binary) = (folder.to_owned(), binary.to_owned());
        Self {
            folder,
            binary,
            printer: Printer::default(),
        }
    }

    /// Prints a progress line.
    pub(crate) fn print_line(&self, line: &str) {
        self.printer.styled(&format!("{line}\n"));
    }

    /// Prints the step `what`, taken by `who`.
    pub(crate) fn step(&self, who: &str, what: &str) {
        self.print_line(&format!(
            "{} {}",
            Look::Strong.paint(&format!("{who:<16}")),
            visible_line(what)
        ));
    }

    /// Prints a command's output, indented.
    pub(crate) fn print_indented(&self, text: &str) {
        text.lines()
            .for_each(|line| self.print_line(format!("  {line}").trim_end()));
        self.print_line("");
    }

    pub(crate) fn run_git(&self, args: &[&str]) -> Result<String, CommandError> {
        self.output(Path::new("git"), args, &[0])
            .map(|(text, _)| text)
    }

    pub(crate) fn fp(&self, args: &[&str]) -> Result<String, CommandError> {
        self.fp_allowing(args, &[0]).map(|(text, _)| text)
    }

    /// Runs this program; `allowed` are the accepted exit statuses. Returns output and status.
    pub(crate) fn fp_allowing(
        &self,
        args: &[&str],
        allowed: &[i32],
    ) -> Result<(String, i32), CommandError> {
        self.output(&self.binary, args, allowed)
    }

    /// Runs this program and parses the JSON that it prints; exit status 1, for findings, is fine.
    pub(crate) fn json(&self, args: &[&str]) -> Result<Value, CommandError> {
        let args = [args, &["--format", "json"]].concat();
        let (text, _) = self.fp_allowing(&args, &[0, 1])?;
        serde_json::from_str(&text).map_err(|e| {
            CommandError::failed(format!("`fp {}` printed no JSON: {e}", args.join(" ")))
                .with_hint(DOCTOR)
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a program and returns its output and exit status, which must be one of `allowed`.
    fn output(
        &self,
        program: &Path,
        args: &[&str],
        allowed: &[i32],
    ) -> Result<(String, i32), CommandError> {
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let shown = format!("`{name} {}`", args.join(" "));
        let mut command = Command::new(program);
        command.current_dir(&self.folder).args(args);
        // Consent given in the demonstration must not count as this machine's user's consent.
        command.env("XDG_STATE_HOME", self.folder.join(".git/state"));
        if args.first() == Some(&"status") {
            command
                .env("CLICOLOR_FORCE", "1")
                .env("COLUMNS", columns().saturating_sub(2).to_string());
        }
        for variable in [
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_SESSION_ATTENDED",
            "NUDGE_DISABLED",
        ] {
            command.env_remove(variable);
        }
        let answer = command.stdin(Stdio::null()).output().map_err(|error| {
            CommandError::failed(format!("{shown} can't be run: {}", reason_of(&error)))
                .with_hint(DOCTOR)
        })?;
        match answer.status.code() {
            Some(status) if allowed.contains(&status) => {
                let text = String::from_utf8_lossy(&answer.stdout).into_owned();
                Ok((text, status))
            }
            _ => {
                let said = String::from_utf8_lossy(&answer.stderr);
                let (status, said) = (answer.status, said.trim_end());
                Err(
                    CommandError::failed(format!("{shown} ended with {status}: {said}"))
                        .with_hint(DOCTOR),
                )
            }
        }
    }
}

/// Writes `text` to `path`, and creates the folders above it.
pub(super) fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|e| {
        CommandError::failed(format!("{} can't be made: {e}", folder.display()))
            .with_hint("set TMPDIR (TMP on Windows) to a writable folder")
    })?;
    Ok(fp_host::file::atomic_write(path, text.as_bytes())?)
}
