//! The platforms that a bundle can have programs for, and how a program for each begins.

use std::fmt;

/// What a program is built for: a target of the Rust compiler's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    name: &'static str,
    system: System,
    cpu: Cpu,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Linux,
    MacOs,
    Windows,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cpu {
    X86_64,
    Aarch64,
}

/// Every target that there can be a program for.
pub const TARGETS: [Target; 8] = [
    Target::new("x86_64-unknown-linux-musl", System::Linux, Cpu::X86_64),
    Target::new("x86_64-unknown-linux-gnu", System::Linux, Cpu::X86_64),
    Target::new("aarch64-unknown-linux-musl", System::Linux, Cpu::Aarch64),
    Target::new("aarch64-unknown-linux-gnu", System::Linux, Cpu::Aarch64),
    Target::new("x86_64-apple-darwin", System::MacOs, Cpu::X86_64),
    Target::new("aarch64-apple-darwin", System::MacOs, Cpu::Aarch64),
    Target::new("x86_64-pc-windows-msvc", System::Windows, Cpu::X86_64),
    Target::new("aarch64-pc-windows-msvc", System::Windows, Cpu::Aarch64),
];

impl Target {
    const fn new(name: &'static str, system: System, cpu: Cpu) -> Self {
        Self { name, system, cpu }
    }

    /// The target that the Rust compiler calls by this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Whether a program for `other` runs on the same machines, which need only one of them.
    #[must_use]
    pub fn is_same_platform(self, other: Self) -> bool {
        (self.system, self.cpu) == (other.system, other.cpu)
    }

    /// Whether this process runs on such a machine.
    pub(super) fn is_here(self) -> bool {
        use std::env::consts::{ARCH, OS};
        let system = match self.system {
            System::Linux => "linux",
            System::MacOs => "macos",
            System::Windows => "windows",
        };
        (system, self.cpu.to_string().as_str()) == (OS, ARCH)
    }

    /// The path of its program in the plugin's `bin`.
    pub(super) fn place(self) -> String {
        let suffix = if self.is_windows() { ".exe" } else { "" };
        format!("{}/fp{suffix}", self.name)
    }

    /// Whether it is for Windows.
    pub(super) fn is_windows(self) -> bool {
        self.system == System::Windows
    }

    /// What a file that begins with `start` is instead of a program for this target; `None` if it is one.
    pub(super) fn mismatch(self, start: &[u8]) -> Option<String> {
        match kind(start) {
            Some(kind) if kind == (self.system, Some(self.cpu)) => None,
            Some((system, Some(cpu))) => Some(format!("it is one for {system} on {cpu}")),
            Some((system, None)) => Some(format!("it is one for {system} on another processor")),
            None => Some("it begins as none does".into()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linux => "Linux",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
        })
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        })
    }
}

/// How much of a file says what it is, in bytes. Compilers put the PE header within the first few hundred.
pub(super) const START: u64 = 4096;

/// What a program that begins with `start` is for. ELF for any Unix is taken for Linux's.
///
/// The numbers are those of `elf.h` (EM_X86_64, EM_AARCH64), Apple's `mach/machine.h` (CPU_TYPE_X86_64,
/// CPU_TYPE_ARM64), and Microsoft's PE format (IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_ARM64).
fn kind(start: &[u8]) -> Option<(System, Option<Cpu>)> {
    if start.starts_with(b"\x7fELF") {
        let cpu = cpu_of(number(start, 18, 2)?, 0x3e, 0xb7);
        return Some((System::Linux, cpu));
    }
    if start.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]) {
        let cpu = cpu_of(number(start, 4, 4)?, 0x0100_0007, 0x0100_000c);
        return Some((System::MacOs, cpu));
    }
    if start.starts_with(b"MZ") {
        let header = usize::try_from(number(start, 0x3c, 4)?).ok()?;
        if !start.get(header..)?.starts_with(b"PE\0\0") {
            return None;
        }
        let cpu = cpu_of(number(start, header + 4, 2)?, 0x8664, 0xaa64);
        return Some((System::Windows, cpu));
    }
    None
}

fn cpu_of(number: u64, x86_64: u64, aarch64: u64) -> Option<Cpu> {
    match number {
        _ if number == x86_64 => Some(Cpu::X86_64),
        _ if number == aarch64 => Some(Cpu::Aarch64),
        _ => None,
    }
}

/// The little-endian number in `length` bytes from `offset`.
fn number(bytes: &[u8], offset: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(offset..)?.get(..length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(machine: u8) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(64, 0);
        bytes[18] = machine;
        bytes
    }

    fn pe(machine: [u8; 2]) -> Vec<u8> {
        let mut bytes = b"MZ".to_vec();
        bytes.resize(0x80, 0);
        bytes[0x3c] = 0x80;
        bytes.extend(b"PE\0\0");
        bytes.extend(machine);
        bytes
    }

    fn samples() -> [(&'static str, Vec<u8>); 6] {
        let mach_o = |cpu| [&[0xcf, 0xfa, 0xed, 0xfe, cpu, 0, 0, 1][..], &[0; 24]].concat();
        [
            ("x86_64-unknown-linux-musl", elf(0x3e)),
            ("aarch64-unknown-linux-gnu", elf(0xb7)),
            ("x86_64-apple-darwin", mach_o(0x07)),
            ("aarch64-apple-darwin", mach_o(0x0c)),
            ("x86_64-pc-windows-msvc", pe([0x64, 0x86])),
            ("aarch64-pc-windows-msvc", pe([0x64, 0xaa])),
        ]
    }

    #[test]
    fn a_program_is_for_its_own_platform_and_no_other() {
        for (target, bytes) in samples() {
            let own = Target::named(target).unwrap();
            for target in TARGETS {
                let fits = target.mismatch(&bytes).is_none();
                assert_eq!(fits, target.is_same_platform(own), "a program for {own} as one for {target}");
            }
        }
    }

    #[test]
    fn what_it_is_instead_is_said() {
        let check = |bytes: &[u8], expect: &str| {
            let target = Target::named("x86_64-unknown-linux-gnu").unwrap();
            assert_eq!(target.mismatch(bytes).as_deref(), Some(expect));
        };
        check(&elf(0xb7), "it is one for Linux on aarch64");
        check(&elf(0x03), "it is one for Linux on another processor");
        check(&pe([0x64, 0x86]), "it is one for Windows on x86_64");
        check(b"#!/bin/sh\n", "it begins as none does");
        check(b"", "it begins as none does");
    }

    #[test]
    fn a_start_that_was_cut_off_anywhere_is_none_or_the_same() {
        for (target, bytes) in samples() {
            let target = Target::named(target).unwrap();
            for length in 0..bytes.len() {
                let found = target.mismatch(&bytes[..length]);
                assert!(found.is_none_or(|found| found == "it begins as none does"), "{target}: {length}");
            }
        }
    }

    #[test]
    fn this_machine_is_one_of_them_at_most() {
        let here = TARGETS.into_iter().filter(|target| target.is_here()).count();
        assert!(here <= 2, "{here}");
        assert!(!cfg!(all(target_os = "linux", target_arch = "x86_64")) || here == 2);
    }

    #[test]
    fn a_header_behind_the_start_is_none() {
        let mut bytes = pe([0x64, 0x86]);
        bytes[0x3c..0x40].copy_from_slice(&[0xff; 4]);
        assert_eq!(kind(&bytes), None);
    }
}
