//! The names, paths and wire types that `fp` shares with the client.

pub mod hook;

use std::path::PathBuf;

/// The plugin, and its folder in a bundle.
pub const PLUGIN: &str = "fp";
/// The marketplace that offers the plugin.
pub const MARKETPLACE: &str = "fractal-planner";
/// The permission rules that `fp install` offers: the pages of plans and the roadmaps, which agents write. The hook
/// answers for commands of fp, by role.
pub const PERMISSIONS: [&str; 2] =
    ["Edit(.fractal-planner/plans/*/*.md)", "Edit(.fractal-planner/roadmaps/*.md)"];
/// The variable that enables agent teams if it is `1`.
pub const TEAMS: &str = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS";

/// The folder of the client's own files according to `env`; `None` if `env` doesn't say.
pub fn client_home(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    home_on(std::env::consts::OS, env)
}

fn home_on(system: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = if system == "windows" { "USERPROFILE" } else { "HOME" };
    absolute("CLAUDE_CONFIG_DIR").or_else(|| Some(absolute(home)?.join(".claude")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_folder_of_the_client_is_where_the_system_has_it() {
        let check = |system: &str, variables: &[(&str, &str)], expect: Option<&str>| {
            let variable = |name: &str| {
                variables.iter().find(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(home_on(system, &variable), expect.map(PathBuf::from), "{system} {variables:?}");
        };
        check("linux", &[("HOME", "/h")], Some("/h/.claude"));
        check("macos", &[("HOME", "/h")], Some("/h/.claude"));
        check("windows", &[("HOME", "/h"), ("USERPROFILE", "/u")], Some("/u/.claude"));
        check("windows", &[("HOME", "/h")], None);
        check("linux", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")], Some("/c"));
        check("linux", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "c")], Some("/h/.claude"));
        check("linux", &[], None);
    }
}
