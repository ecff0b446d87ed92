//! Linux: Landlock keeps a process, and all that it starts, from writing where it may not. Nobody can undo that.

use std::ffi::OsString;
use std::io;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, Scope, path_beneath_rules,
};

/// Devices that a program may write to. The user's terminals are not among them.
const DEVICES: [&str; 7] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];

/// The right to write, without requests to devices, which don't change a file.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V4)
}

/// True if this system can confine a command. The first version of Landlock can't: under it, no program could move or
/// link a file to another folder.
pub fn can_confine() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let ruleset = ruleset.handle_access(AccessFs::Refer);
    ruleset.and_then(Ruleset::create).is_ok()
}

/// True if this system can close the network to a command.
pub fn can_close_network() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4));
    ruleset.and_then(Ruleset::create).is_ok()
}

/// From now on this thread, and what it starts, writes to `writes` alone, makes folders also below `locks`,
/// and signals no process from before. Without `network`, it opens no TCP connection and no port, on a system that can refuse that.
pub(super) fn confine_thread(
    writes: &[OsString],
    locks: &[OsString],
    network: bool,
) -> io::Result<()> {
    let restricted = || {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::Refer)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(writing())?
            .scope(Scope::Signal)?;
        let ruleset = match network {
            true => ruleset,
            false => ruleset.handle_access(AccessNet::from_all(ABI::V4))?,
        };
        let devices = path_beneath_rules(DEVICES, AccessFs::WriteFile | AccessFs::Truncate);
        let folders = path_beneath_rules(locks, AccessFs::MakeDir);
        ruleset
            .create()?
            .add_rules(path_beneath_rules(writes, writing()))?
            .add_rules(folders)?
            .add_rules(devices)?
            .restrict_self()
    };
    restricted().map(drop).map_err(io::Error::other)
}
