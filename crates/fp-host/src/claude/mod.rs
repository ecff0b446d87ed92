//! The names, paths and wire types that `fp` shares with the client.

pub mod hook;
pub mod transcript;

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use serde_json::Value;

use crate::file;
use crate::platform::HOME;

/// The name of the plugin, and of its folder in a bundle.
pub const PLUGIN: &str = "fp";
/// The marketplace that offers the plugin.
pub const MARKETPLACE: &str = "fractal-planner";
/// The permission rules that `fp install` offers: for plan pages and roadmaps, which agents write. For `fp` commands,
/// the hook decides by role.
pub const PERMISSIONS: [&str; 2] = [
    "Edit(.fractal-planner/plans/*/*.md)",
    "Edit(.fractal-planner/roadmaps/*.md)",
];
/// The environment variable that enables agent teams if it is `1`.
pub const TEAMS: &str = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS";

/// The folder of the client's own files according to `env`; `None` if `env` doesn't say.
pub fn client_home(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        env(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("CLAUDE_CONFIG_DIR").or_else(|| Some(absolute(HOME)?.join(".claude")))
}

/// Size limit of the client's own record, in bytes.
const MAX_RECORD: u64 = 64 * 1024 * 1024;

/// True if the user trusts `folder`, according to the client's own record.
pub fn is_trusted_folder(env: &dyn Fn(&str) -> Option<String>, folder: &Path) -> bool {
    let absolute = |name: &str| {
        env(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let Some(home) = absolute("CLAUDE_CONFIG_DIR").or_else(|| absolute(HOME)) else {
        return false;
    };
    let text = file::read_text(&home.join(".claude.json"), MAX_RECORD).unwrap_or_default();
    let record: Value = serde_json::from_str(&text).unwrap_or_default();
    let is_trusted = |name: &str| record["projects"][name]["hasTrustDialogAccepted"] == true;
    // Some versions of the client write paths with `/` on every system.
    folder
        .to_str()
        .is_some_and(|name| is_trusted(name) || is_trusted(&name.replace(MAIN_SEPARATOR, "/")))
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_folder_of_the_client_is_where_the_user_says() {
        let check = |variables: &[(&str, &str)], expect: Option<&str>| {
            let variable = |name: &str| {
                variables
                    .iter()
                    .find(|(found, _)| *found == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(
                client_home(&variable),
                expect.map(PathBuf::from),
                "{variables:?}"
            );
        };
        check(&[("HOME", "/h")], Some("/h/.claude"));
        check(&[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")], Some("/c"));
        check(
            &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "c")],
            Some("/h/.claude"),
        );
        check(&[], None);
    }
}
