//! The programs of a bundle: this very one, or one for each of several platforms with a launcher in front of them.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
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
    /// As in [`std::env::consts`].
    system: &'static str,
    cpu: &'static str,
    /// The number of the processor in the header of a program.
    machine: u64,
}

const fn target(name: &'static str, system: &'static str, cpu: &'static str, machine: u64) -> BundleTarget {
    BundleTarget { name, system, cpu, machine }
}

/// The numbers are those of `elf.h` (EM_X86_64, EM_AARCH64), Apple's `mach/machine.h` (CPU_TYPE_X86_64,
/// CPU_TYPE_ARM64), and Microsoft's PE format (IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_ARM64).
pub(super) const TARGETS: [BundleTarget; 8] = [
    target("x86_64-unknown-linux-musl", "linux", "x86_64", 0x3e),
    target("x86_64-unknown-linux-gnu", "linux", "x86_64", 0x3e),
    target("aarch64-unknown-linux-musl", "linux", "aarch64", 0xb7),
    target("aarch64-unknown-linux-gnu", "linux", "aarch64", 0xb7),
    target("x86_64-apple-darwin", "macos", "x86_64", 0x0100_0007),
    target("aarch64-apple-darwin", "macos", "aarch64", 0x0100_000c),
    target("x86_64-pc-windows-msvc", "windows", "x86_64", 0x8664),
    target("aarch64-pc-windows-msvc", "windows", "aarch64", 0xaa64),
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
        (self.system, self.cpu) == (other.system, other.cpu)
    }

    /// Whether this process runs on such a machine.
    pub(super) fn is_here(self) -> bool {
        (self.system, self.cpu) == (std::env::consts::OS, std::env::consts::ARCH)
    }

    fn is_windows(self) -> bool {
        self.system == "windows"
    }

    /// Whether a file that begins with `start` is a program for this target.
    pub(super) fn fits(self, start: &[u8]) -> bool {
        platform_of(start) == Some((self.system, self.machine))
    }
}

/// How much of a file says what it is, in bytes. Compilers put the PE header within the first few hundred.
const START: u64 = 4096;

/// The system and the processor's number of a program that begins with `start`. ELF for any Unix counts as Linux's.
fn platform_of(start: &[u8]) -> Option<(&'static str, u64)> {
    if start.starts_with(b"\x7fELF") {
        return Some(("linux", little_endian(start, 18, 2)?));
    }
    if start.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]) {
        return Some(("macos", little_endian(start, 4, 4)?));
    }
    let header = usize::try_from(little_endian(start, 0x3c, 4)?).ok()?;
    let is_pe = start.starts_with(b"MZ") && start.get(header..)?.starts_with(b"PE\0\0");
    if is_pe { Some(("windows", little_endian(start, header + 4, 2)?)) } else { None }
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
                let message = format!("two programs are for the same machines: {first} and {target}");
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
                copy_program(path, &place)
                    .map_err(|error| error.hint("start fp by a path where it still is, and try again"))
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
                    copy_program(path, &bin.join(place))
                })
            }
        }
    }
}

fn copy_program(from: &Path, to: &Path) -> Result<(), CommandError> {
    write_file(to, b"")?;
    fs::copy(from, to).map(drop).map_err(|error| {
        let from = from.display();
        CommandError::failed(format!("{from} can't be copied into the bundle: {}", reason(&error)))
            .hint("see that the program is there and can be read, then run it again")
    })
}

impl TargetProgram {
    fn check(&self, version: &str) -> Result<(), CommandError> {
        let Self { target, path } = self;
        let mut start = Vec::new();
        File::open(path).and_then(|file| file.take(START).read_to_end(&mut start)).map_err(|error| {
            let (path, reason) = (path.display(), reason(&error));
            CommandError::failed(format!("the program for {target}, {path}, can't be read: {reason}"))
                .hint("name a program that is there and can be read")
        })?;
        let shown = path.display();
        if !target.fits(&start) {
            return Err(CommandError::failed(format!("{shown} is no program for {target}"))
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
