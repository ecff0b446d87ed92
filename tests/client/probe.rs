//! A throw-away plugin, to find out how the client treats plugins.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::write_program;
use crate::session::write;

/// The hook's message when it wants an agent to continue.
pub(crate) const FEEDBACK: &str = "Go on, says the hook";

/// A plugin called `probe`: the skill `/probe:hello`, the agent `probe:worker`, the command `probe-tool`, and hooks on
/// SubagentStop and TeammateIdle that record their input.
pub(crate) struct Probe {
    directory: TempDir,
}

impl Probe {
    /// A plugin whose hook on the event `nagging` makes the agent continue the first time.
    pub(crate) fn nagging(nagging: &str) -> Self {
        let probe = Self {
            directory: TempDir::new().expect("a temporary directory can be made"),
        };
        let manifest =
            json!({ "name": "probe", "version": "0.0.1", "author": { "name": "probe" } });
        probe.write(".claude-plugin/plugin.json", &manifest.to_string());
        probe.write("skills/hello/SKILL.md", SKILL);
        probe.write("agents/worker.md", AGENT);
        probe.write("hooks/hooks.json", &hooks().to_string());
        probe.write_program(
            "bin/probe-tool",
            "#!/bin/sh\necho \"the tool ran with $*\"\n",
        );
        let hook = HOOK
            .replace("DIRECTORY", &probe.directory.path().to_string_lossy())
            .replace("NAGGING", nagging)
            .replace("REASON", FEEDBACK);
        probe.write_program("bin/probe-hook", &hook);
        probe
    }

    /// A plugin whose hooks only record.
    pub(crate) fn silent() -> Self {
        Self::nagging("none")
    }

    /// The plugin's folder.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The input that the hooks got, oldest first.
    pub(crate) fn hook_events(&self) -> Vec<Value> {
        let text =
            std::fs::read_to_string(self.directory.path().join("events.jsonl")).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_str(line).expect("the client sends hooks JSON"))
            .collect()
    }

    fn write(&self, path: &str, content: &str) {
        write(&self.directory.path().join(path), content);
    }

    fn write_program(&self, path: &str, content: &str) {
        write_program(&self.directory.path().join(path), content);
    }
}

fn hooks() -> Value {
    let hook = |event: &str| {
        let command = json!({
            "type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/probe-hook", "args": [event], "timeout": 5
        });
        json!([{ "hooks": [command] }])
    };
    json!({ "hooks": { "SubagentStop": hook("SubagentStop"), "TeammateIdle": hook("TeammateIdle") } })
}

const SKILL: &str = "\
---
name: hello
description: Use when the client is probed.
argument-hint: \"[who]\"
---

Greet $ARGUMENTS in session ${CLAUDE_SESSION_ID}, from ${CLAUDE_PLUGIN_ROOT}.
";

const AGENT: &str = "\
---
name: worker
description: Use when the client is probed.
tools: Bash, Read, Write
---

The worker of the probe works from ${CLAUDE_PLUGIN_ROOT}.
";

const HOOK: &str = "\
#!/bin/sh
{ cat; echo; } >> 'DIRECTORY/events.jsonl'
if [ \"$1\" = 'NAGGING' ] && mkdir 'DIRECTORY/nagged' 2>/dev/null; then
  echo '{\"decision\":\"block\",\"reason\":\"REASON\"}'
fi
";
