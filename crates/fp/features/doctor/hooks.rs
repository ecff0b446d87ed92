//! The plugin's hooks: their wiring, compared with this program's, and whether the program that answers them starts.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fp_host::file;
use serde_json::Value;

use super::{DoctorFinding, VERSION};
use crate::assets;
use crate::features::install::bundle::program_in;
use crate::features::install::program::run_program;
use crate::features::install::settings::ClientSettingsFile;

/// Time that the client gives a hook.
const LIMIT: Duration = Duration::from_secs(5);
/// Largest `hooks.json` that is read.
const CAP: u64 = 1024 * 1024;

/// The hooks of the plugin in `folder`. `files` are the client's settings.
pub(super) fn hooks(
    files: &[ClientSettingsFile],
    folder: Option<&Path>,
    renewed_by: &str,
) -> DoctorFinding {
    let check = "hooks";
    if let Some(file) = files
        .iter()
        .find(|file| file.value["disableAllHooks"] == true)
    {
        let path = file.path.display();
        let detail = format!(
            "switched off by disableAllHooks in {path}: nothing keeps builders to their task"
        );
        return DoctorFinding::warning(check, detail);
    }
    let Some(folder) = folder else {
        return DoctorFinding::warning(check, "not tried: there is no plugin");
    };
    let wrong = |detail: String| DoctorFinding::error(check, detail).fixed_by(renewed_by);
    let wanted = assets::plugin_file("hooks/hooks.json").expect("the plugin has hooks");
    let wanted: Value = serde_json::from_slice(wanted).expect("and they are JSON");
    let wired = file::read_text(&folder.join("hooks").join("hooks.json"), CAP).ok();
    if wired
        .and_then(|text| serde_json::from_str(&text).ok())
        .as_ref()
        != Some(&wanted)
    {
        return wrong("the plugin's hooks.json is not the one of this version".into());
    }
    let program = program_in(folder);
    let mut command = Command::new(&program);
    command.arg("--version");
    match run_program(command, b"", LIMIT).map(|answer| answer.stdout.to_text()) {
        Ok(said) if said.trim_end() == format!("fp {VERSION}") => DoctorFinding::ok(
            check,
            format!("wired, and their program starts as fp {VERSION}"),
        ),
        Ok(said) => {
            let said: String = said.trim().chars().take(60).collect();
            wrong(format!(
                "{} says {said:?}, and is not fp {VERSION}",
                program.display()
            ))
        }
        Err(fault) => wrong(format!("{} {fault}", program.display())),
    }
}
