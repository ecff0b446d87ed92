//! The programs that go into a bundle's `bin`: this very one, or one for each of several platforms with a
//! launcher in front of them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::target::{START, TARGETS, Target};
use super::{BundleError, PLUGIN, write_file};

/// What `bin/fp` is where there are several platforms.
///
/// It is a script for Unix, and for Git Bash, in which Claude Code runs commands on Windows. Hooks are started
/// there without a shell, which finds `bin/fp.exe` by the name `bin/fp`, and would refuse a `.cmd`. Nothing
/// chooses then, so `bin/fp.exe` is the program for x86_64, which Windows on ARM runs too.
const LAUNCHER: &str = include_str!("launcher");

/// The programs of a bundle.
#[derive(Debug, Clone)]
pub enum Programs {
    /// One, for the machine that the bundle is written on.
    One(PathBuf),
    /// One for each of several platforms.
    Each(Vec<Program>),
}

/// A program and what it was built for.
#[derive(Debug, Clone)]
pub struct Program {
    /// What it was built for.
    pub target: Target,
    /// Where it is.
    pub path: PathBuf,
}

impl Programs {
    /// Fails unless there is one program a platform, each is one for its platform, and those that run on this
    /// machine say that they are of this `version`.
    pub(super) fn check(&self, version: &str) -> Result<(), BundleError> {
        let Self::Each(programs) = self else { return Ok(()) };
        for (index, program) in programs.iter().enumerate() {
            let mut earlier = programs[..index].iter().map(|earlier| earlier.target);
            if let Some(first) = earlier.find(|first| first.is_same_platform(program.target)) {
                return Err(BundleError::SamePlatform { first, second: program.target });
            }
        }
        programs.iter().try_for_each(|program| program.check(version))
    }

    /// Writes them into the folder `bin`, which is made.
    pub(super) fn write(&self, bin: &Path) -> Result<(), BundleError> {
        match self {
            Self::One(path) => {
                let place = bin.join(format!("{PLUGIN}{}", std::env::consts::EXE_SUFFIX));
                copy(path, &place, |source| BundleError::Executable { path: path.clone(), source })
            }
            Self::Each(programs) => {
                write_file(&bin.join(PLUGIN), LAUNCHER.as_bytes())?;
                let found_by_windows = found_by_windows(programs);
                programs.iter().try_for_each(|program| {
                    let is_found = found_by_windows == Some(program.target);
                    let place = if is_found { format!("{PLUGIN}.exe") } else { program.target.place() };
                    copy(&program.path, &bin.join(place), |source| program.unreadable(source))
                })
            }
        }
    }
}

/// Whose program is `bin/fp.exe`: the one for x86_64, which [`TARGETS`] has first, where there is one.
fn found_by_windows(programs: &[Program]) -> Option<Target> {
    let mut windows = TARGETS.into_iter().filter(|target| target.is_windows());
    windows.find(|target| programs.iter().any(|program| program.target == *target))
}

fn copy(from: &Path, to: &Path, failed: impl FnOnce(io::Error) -> BundleError) -> Result<(), BundleError> {
    write_file(to, b"")?;
    fs::copy(from, to).map(drop).map_err(failed)
}

impl Program {
    fn check(&self, version: &str) -> Result<(), BundleError> {
        let start = start(&self.path).map_err(|source| self.unreadable(source))?;
        if let Some(found) = self.target.mismatch(&start) {
            return Err(BundleError::NotForTarget { path: self.path.clone(), target: self.target, found });
        }
        if !self.target.is_here() {
            return Ok(());
        }
        match answer(&self.path) {
            Some(answer) if answer != format!("{PLUGIN} {version}") => {
                Err(BundleError::OtherVersion { path: self.path.clone(), answer, version: version.into() })
            }
            _ => Ok(()),
        }
    }

    fn unreadable(&self, source: io::Error) -> BundleError {
        BundleError::Unreadable { target: self.target, path: self.path.clone(), source }
    }
}

/// The first bytes of a file.
fn start(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(START).read_to_end(&mut start)?;
    Ok(start)
}

/// The first line of what `--version` prints. `None` if the program can't be started: one that needs a system
/// library which this machine doesn't have is none the worse for it.
fn answer(path: &Path) -> Option<String> {
    // A name without a folder would be looked for on PATH.
    let path = fs::canonicalize(path).ok()?;
    let output = Command::new(path).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().next().unwrap_or_default().to_owned())
}
