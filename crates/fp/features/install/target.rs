//! The programs of a bundle for several platforms, and the launcher in front of them.

use std::path::PathBuf;

use fp_host::claude::PLUGIN;

use super::VERSION;
use super::program::said_version;
use crate::error::CommandError;

/// `bin/fp` of a bundle for several platforms.
///
/// It is a script for Unix, and for Git Bash, in which Claude Code runs commands on Windows. Hooks are started
/// there without a shell, which finds `bin/fp.exe` by the name `bin/fp`, and would refuse a `.cmd`. Nothing
/// chooses then, so `bin/fp.exe` is the program for x86_64, which Windows on ARM runs too.
pub(super) const LAUNCHER: &str = include_str!("launcher");

/// The platforms that the launcher knows, by the Rust compiler's names. Windows on x86_64 is before Windows on ARM.
pub(super) const TARGETS: [&str; 8] = [
    "x86_64-unknown-linux-musl",
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
];

/// A program and the target that it was built for, which is one of [`TARGETS`].
#[derive(Debug, Clone)]
pub(super) struct TargetProgram {
    pub(super) target: String,
    pub(super) path: PathBuf,
}

impl TargetProgram {
    /// Reads `TARGET=PATH`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (target, path) = text.split_once('=').ok_or("expected TARGET=PATH")?;
        if !TARGETS.contains(&target) {
            return Err(format!("{target:?} is not a target; choose from {}", TARGETS.join(", ")));
        }
        Ok(Self { target: target.into(), path: path.into() })
    }

    fn is_for_windows(&self) -> bool {
        self.target.contains("windows")
    }

    fn is_for_this_machine(&self) -> bool {
        let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
        self.target.starts_with(std::env::consts::ARCH) && self.target.contains(system)
    }

    /// Fails if it runs on this machine and reports another version than this one.
    fn check(&self) -> Result<(), CommandError> {
        // One that can't be started may need a system library that this machine doesn't have.
        match self.is_for_this_machine().then(|| said_version(&self.path)) {
            Some(Ok(said)) if said != format!("{PLUGIN} {VERSION}") => {
                let path = self.path.display();
                Err(CommandError::failed(format!("{path} is not fp {VERSION}: `--version` says {said:?}"))
                    .hint("build it from the same sources as the fp that writes the bundle"))
            }
            _ => Ok(()),
        }
    }
}

/// The place of each of `programs` below `bin`, where the launcher looks for it.
pub(super) fn places_of(programs: &[TargetProgram]) -> Result<Vec<(String, PathBuf)>, CommandError> {
    let of_windows = programs.iter().filter(|program| program.is_for_windows());
    let of_hooks = of_windows.min_by_key(|program| TARGETS.iter().position(|name| *name == program.target));
    let of_hooks = of_hooks.map(|program| &program.target);
    let mut places = Vec::new();
    for program in programs {
        program.check()?;
        let TargetProgram { target, path } = program;
        let place = match program.is_for_windows() {
            true if of_hooks == Some(target) => format!("{PLUGIN}.exe"),
            true => format!("{target}/{PLUGIN}.exe"),
            false => format!("{target}/{PLUGIN}"),
        };
        places.push((place, path.clone()));
    }
    Ok(places)
}
