//! The programs of a bundle: this very one, or one for each of several platforms with a launcher in front of them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fp_host::claude::PLUGIN;
use fp_host::file::reason;

use super::bundle::write_file;
use crate::error::CommandError;

/// What `bin/fp` is where there are several platforms.
///
/// It is a script for Unix, and for Git Bash, in which Claude Code runs commands on Windows. Hooks are started
/// there without a shell, which finds `bin/fp.exe` by the name `bin/fp`, and would refuse a `.cmd`. Nothing
/// chooses then, so `bin/fp.exe` is the program for x86_64, which Windows on ARM runs too.
pub(super) const LAUNCHER: &str = include_str!("launcher");

/// A platform that the Rust compiler builds programs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BundleTarget {
    pub(super) name: &'static str,
    platform: (&'static str, &'static str),
}

const LINUX: &str = "Linux";
const MACOS: &str = "macOS";
const WINDOWS: &str = "Windows";
/// As in [`std::env::consts::ARCH`].
const X86_64: &str = "x86_64";
const AARCH64: &str = "aarch64";

pub(super) const TARGETS: [BundleTarget; 8] = [
    BundleTarget { name: "x86_64-unknown-linux-musl", platform: (LINUX, X86_64) },
    BundleTarget { name: "x86_64-unknown-linux-gnu", platform: (LINUX, X86_64) },
    BundleTarget { name: "aarch64-unknown-linux-musl", platform: (LINUX, AARCH64) },
    BundleTarget { name: "aarch64-unknown-linux-gnu", platform: (LINUX, AARCH64) },
    BundleTarget { name: "x86_64-apple-darwin", platform: (MACOS, X86_64) },
    BundleTarget { name: "aarch64-apple-darwin", platform: (MACOS, AARCH64) },
    BundleTarget { name: "x86_64-pc-windows-msvc", platform: (WINDOWS, X86_64) },
    BundleTarget { name: "aarch64-pc-windows-msvc", platform: (WINDOWS, AARCH64) },
];

impl fmt::Display for BundleTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl BundleTarget {
    pub(super) fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Whether a program for `other` runs on the same machines, which need only one of them.
    pub(super) fn is_same_platform(self, other: Self) -> bool {
        self.platform == other.platform
    }

    /// Whether this process runs on such a machine.
    pub(super) fn is_here(self) -> bool {
        let (system, cpu) = self.platform;
        (system.to_lowercase().as_str(), cpu) == (std::env::consts::OS, std::env::consts::ARCH)
    }

    fn is_windows(self) -> bool {
        self.platform.0 == WINDOWS
    }

    /// What a file that begins with `start` is instead of a program for this target; `None` if it is one.
    pub(super) fn mismatch(self, start: &[u8]) -> Option<String> {
        match platform_of(start) {
            Some((system, Some(cpu))) if (system, cpu) == self.platform => None,
            Some((system, cpu)) => {
                Some(format!("it is one for {system} on {}", cpu.unwrap_or("another processor")))
            }
            None => Some("it begins as none does".into()),
        }
    }
}

/// How much of a file says what it is, in bytes. Compilers put the PE header within the first few hundred.
const START: u64 = 4096;

/// What a program that begins with `start` is for. ELF for any Unix counts as Linux's.
///
/// The numbers are those of `elf.h` (EM_X86_64, EM_AARCH64), Apple's `mach/machine.h` (CPU_TYPE_X86_64,
/// CPU_TYPE_ARM64), and Microsoft's PE format (IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_ARM64).
pub(super) fn platform_of(start: &[u8]) -> Option<(&'static str, Option<&'static str>)> {
    let (system, number, [x86_64, aarch64]) = if start.starts_with(b"\x7fELF") {
        (LINUX, little_endian(start, 18, 2)?, [0x3e, 0xb7])
    } else if start.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]) {
        (MACOS, little_endian(start, 4, 4)?, [0x0100_0007, 0x0100_000c])
    } else if start.starts_with(b"MZ") {
        let header = usize::try_from(little_endian(start, 0x3c, 4)?).ok()?;
        if !start.get(header..)?.starts_with(b"PE\0\0") {
            return None;
        }
        (WINDOWS, little_endian(start, header + 4, 2)?, [0x8664, 0xaa64])
    } else {
        return None;
    };
    let cpus = [(x86_64, X86_64), (aarch64, AARCH64)];
    Some((system, cpus.into_iter().find(|(other, _)| *other == number).map(|(_, cpu)| cpu)))
}

/// The number in `length` bytes from `offset`.
fn little_endian(bytes: &[u8], offset: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(offset..)?.get(..length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The programs of a bundle.
#[derive(Debug, Clone)]
pub(super) enum BundlePrograms {
    /// One, for the machine that the bundle is written on.
    One(PathBuf),
    /// One for each of several platforms.
    Each(Vec<TargetProgram>),
}

/// A program and what it was built for.
#[derive(Debug, Clone)]
pub(super) struct TargetProgram {
    pub(super) target: BundleTarget,
    pub(super) path: PathBuf,
}

impl BundlePrograms {
    /// Fails unless there is one program a platform, each is one for its platform, and those that run on this
    /// machine say that they are of this `version`.
    pub(super) fn check(&self, version: &str) -> Result<(), CommandError> {
        let Self::Each(programs) = self else { return Ok(()) };
        for (index, TargetProgram { target, .. }) in programs.iter().enumerate() {
            let mut earlier = programs[..index].iter().map(|earlier| earlier.target);
            if let Some(first) = earlier.find(|first| first.is_same_platform(*target)) {
                let message = if first == *target {
                    format!("there are two programs for {first}")
                } else {
                    format!("{first} and {target} are for the same machines")
                };
                return Err(CommandError::failed(message).hint("name one of them"));
            }
        }
        programs.iter().try_for_each(|program| program.check(version))
    }

    /// Writes them into the folder `bin`.
    pub(super) fn write(&self, bin: &Path) -> Result<(), CommandError> {
        match self {
            Self::One(path) => {
                let place = bin.join(format!("{PLUGIN}{}", std::env::consts::EXE_SUFFIX));
                copy_program(path, &place, |source| {
                    let path = path.display();
                    CommandError::failed(format!(
                        "{path} can't be copied into the bundle: {}",
                        reason(&source)
                    ))
                    .hint("start fp by a path where it still is, and try again")
                })
            }
            Self::Each(programs) => {
                write_file(&bin.join(PLUGIN), LAUNCHER.as_bytes())?;
                // TARGETS has Windows on x86_64 before Windows on ARM.
                let mut windows = TARGETS.into_iter().filter(|target| target.is_windows());
                let found_first = windows.find(|target| programs.iter().any(|p| p.target == *target));
                programs.iter().try_for_each(|program| {
                    let TargetProgram { target, path } = program;
                    let place = match target.is_windows() {
                        true if found_first == Some(*target) => format!("{PLUGIN}.exe"),
                        true => format!("{target}/{PLUGIN}.exe"),
                        false => format!("{target}/{PLUGIN}"),
                    };
                    copy_program(path, &bin.join(place), |source| program.unreadable(&source))
                })
            }
        }
    }
}

fn copy_program(
    from: &Path,
    to: &Path,
    failed: impl FnOnce(io::Error) -> CommandError,
) -> Result<(), CommandError> {
    write_file(to, b"")?;
    fs::copy(from, to).map(drop).map_err(failed)
}

impl TargetProgram {
    fn check(&self, version: &str) -> Result<(), CommandError> {
        let Self { target, path } = self;
        let mut start = Vec::new();
        File::open(path)
            .and_then(|file| file.take(START).read_to_end(&mut start))
            .map_err(|source| self.unreadable(&source))?;
        let shown = path.display();
        if let Some(found) = target.mismatch(&start) {
            return Err(CommandError::failed(format!("{shown} is no program for {target}: {found}"))
                .hint(format!("build it with `cargo build --release --target {target}`")));
        }
        match target.is_here().then(|| said_version(path)).flatten() {
            Some(said) if said != format!("{PLUGIN} {version}") => {
                Err(CommandError::failed(format!("{shown} is not fp {version}: `--version` says {said:?}"))
                    .hint("build it from the same sources as the fp that writes the bundle"))
            }
            _ => Ok(()),
        }
    }

    fn unreadable(&self, source: &io::Error) -> CommandError {
        let Self { target, path } = self;
        let reason = reason(source);
        CommandError::failed(format!("the program for {target}, {}, can't be read: {reason}", path.display()))
            .hint("name a program that is there and can be read")
    }
}

/// The first line of what `--version` prints. `None` if the program can't be started: one that needs a system
/// library which this machine doesn't have is none the worse for it.
fn said_version(path: &Path) -> Option<String> {
    // A name without a folder would be looked for on PATH.
    let path = fs::canonicalize(path).ok()?;
    let output = Command::new(path).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().next().unwrap_or_default().to_owned())
}
