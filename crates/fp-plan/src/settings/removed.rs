//! Handles settings from earlier versions. If a file still has one, the setting is ignored, and the user is told what
//! replaces it.

use serde_json::Value;

use super::at_key;
use super::kind::SettingFault;

/// A setting of an earlier version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedSetting {
    /// The key of the setting or, if its whole group was removed, of the group.
    pub key: &'static str,
    /// Its replacement.
    pub instead: &'static str,
}

/// Each removed setting, followed by a colon and its replacement.
const REMOVED: &str = "\
agents.builder.args: name a program of your own in `agents.programs`
agents.verifier.args: name a program of your own in `agents.programs`
commentChecker.customPrompt: set the variable COMMENT_CHECKER_PROMPT
dispatchTimeoutMinutes: set `agents.silenceMinutes`
executionModel: set `testFirst` for `tdd`; `maxParallelTasks` says how many tasks run at once
fleet.branch: a shared plan's commits are on `fp/PLAN`
fleet.ref: a shared plan's log is at `refs/fp/PLAN`
iterationScaling: set `maxIterations`
lockTimeoutSeconds: another call of fp is waited for ten seconds
nudge.enabled: set `nudge.maxRetries` to 0 for `false`
permissionMode: agents work in your session's mode
planOnly: `/fp:plan` ends with the plan where you say so
preAnalysis: choose how much planning there is with `--mode`";

fn removed_settings() -> impl Iterator<Item = RemovedSetting> {
    let lines = REMOVED.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(key, instead)| RemovedSetting { key, instead })
}

/// Takes the removed settings out of the content of a settings file, and carries two of their values over to the
/// settings that replace them.
pub(super) fn take_removed(fields: &mut Value) -> Vec<RemovedSetting> {
    let mut found = Vec::new();
    for removed in removed_settings() {
        let Some(old) = take_out(fields, removed.key) else {
            continue;
        };
        match removed.key {
            "executionModel" if old == "tdd" => *at_key(fields, "testFirst") = true.into(),
            "nudge.enabled" if old == false && fields.pointer("/nudge/maxRetries").is_none() => {
                *at_key(fields, "nudge.maxRetries") = 0.into();
            }
            _ => {}
        }
        found.push(removed);
    }
    found
}

/// The fault for a dotted `key` that used to be a setting; `None` if it never was one.
pub(super) fn fault_of(key: &str) -> Option<SettingFault> {
    let is_in = |group: &str| {
        key.strip_prefix(group)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let removed = removed_settings().find(|removed| is_in(removed.key))?;
    Some(SettingFault {
        said: format!("`{key}` is no setting any more"),
        hint: removed.instead.into(),
    })
}

/// Removes the dotted `key` from `fields`.
pub(super) fn take_out(fields: &mut Value, key: &str) -> Option<Value> {
    let fields = fields.as_object_mut()?;
    match key.split_once('.') {
        None => fields.remove(key),
        Some((name, rest)) => take_out(fields.get_mut(name)?, rest),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Settings, SettingsLayer, kind_of};
    use super::*;

    #[test]
    fn no_removed_setting_is_one() {
        for removed in removed_settings() {
            let fault = kind_of(removed.key).unwrap_err();
            assert_eq!(
                fault.said,
                format!("`{}` is no setting any more", removed.key)
            );
        }
        assert!(
            kind_of("iterationScaling.base")
                .unwrap_err()
                .said
                .contains("no setting any more")
        );
        assert!(
            kind_of("planOnlyx")
                .unwrap_err()
                .said
                .contains("there is no setting")
        );
    }

    #[test]
    fn a_file_of_an_earlier_version_is_read() {
        let file = json!({
            "planOnly": true, "nudge": { "enabled": false }, "executionModel": "tdd", "maxIterations": 5,
            "iterationScaling": { "enabled": true, "base": 2.5 }, "agents": { "builder": { "args": ["-x"] } },
        });
        let layer = SettingsLayer::parse(&file).unwrap();
        let told: Vec<&str> = layer.removed.iter().map(|removed| removed.key).collect();
        assert_eq!(
            told,
            [
                "agents.builder.args",
                "executionModel",
                "iterationScaling",
                "nudge.enabled",
                "planOnly"
            ]
        );
        let settings = Settings::from_layers([&layer]);
        assert!(settings.test_first);
        assert_eq!(
            (settings.nudge.max_retries, settings.max_iterations),
            (0, 5)
        );
        assert_eq!(layer.split().0.removed, layer.removed);
    }

    #[test]
    fn a_removed_setting_gives_way_to_its_replacement() {
        let retries = |nudge: Value| {
            let layer = SettingsLayer::parse(&json!({ "nudge": nudge })).unwrap();
            Settings::from_layers([&layer]).nudge.max_retries
        };
        assert_eq!(retries(json!({ "enabled": false })), 0);
        assert_eq!(retries(json!({ "enabled": false, "maxRetries": 4 })), 4);
    }
}
