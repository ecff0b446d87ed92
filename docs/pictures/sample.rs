//! The stage: a repository, a plan of sixteen tasks, and agents that need no model.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Outcome;

const GOAL: &str = "Relay webhooks to subscribers, with retries and a dashboard";

struct Leaf {
    id: &'static str,
    title: &'static str,
    complexity: u8,
    after: &'static str,
    file: &'static str,
    criteria: [&'static str; 2],
}

const fn leaf(
    id: &'static str,
    title: &'static str,
    complexity: u8,
    after: &'static str,
    file: &'static str,
    criteria: [&'static str; 2],
) -> Leaf {
    Leaf {
        id,
        title,
        complexity,
        after,
        file,
        criteria,
    }
}

const PARENTS: [(&str, &str); 5] = [
    ("1", "Store"),
    ("2", "Intake"),
    ("3", "Delivery"),
    ("4", "Dashboard"),
    ("5", "Operations"),
];

#[rustfmt::skip]
const LEAVES: [Leaf; 16] = [
    leaf("1.1", "Model subscribers and events", 2, "none", "relay/model.py", ["A subscriber has a URL, a secret and a state", "An event has an id and a payload of at most 256 KB"]),
    leaf("1.2", "Write events to an append-only log", 3, "1.1", "relay/log.py", ["An event that was accepted is on disk", "A torn last line is dropped on start"]),
    leaf("1.3", "Keep subscribers in SQLite", 2, "1.1", "relay/subscribers.py", ["Subscribers survive a restart", "A duplicate URL is refused"]),
    leaf("2.1", "Accept events over HTTP", 3, "1.1", "relay/intake.py", ["`POST /events` answers 202 with the event's id", "A payload above the limit answers 413"]),
    leaf("2.2", "Check HMAC signatures", 3, "2.1", "relay/signature.py", ["A wrong signature answers 401", "Signatures are compared in constant time"]),
    leaf("2.3", "Limit the rate of each sender", 2, "2.1", "relay/rate.py", ["The 101st event within a minute answers 429", "`Retry-After` says when to try again"]),
    leaf("3.1", "Queue deliveries per subscriber", 3, "1.2", "relay/queue.py", ["A slow subscriber delays no other", "The order within a subscriber is kept"]),
    leaf("3.2", "Deliver with a timeout", 2, "3.1", "relay/deliver.py", ["A delivery takes 10 s at most", "Only 2xx counts as delivered"]),
    leaf("3.3", "Retry with growing pauses", 3, "3.2", "relay/retry.py", ["Pauses double from 1 s to 1 h", "Jitter keeps retries of many events apart"]),
    leaf("3.4", "Park what keeps failing", 2, "3.3", "relay/parked.py", ["An event is parked after 24 h", "A parked event can be delivered again"]),
    leaf("4.1", "Serve deliveries as JSON", 2, "3.1", "relay/api.py", ["`GET /deliveries` pages by 100", "A filter by state is applied in the query"]),
    leaf("4.2", "Show deliveries on a page", 2, "4.1", "relay/page.py", ["The page lists the last 100 deliveries", "It works without JavaScript"]),
    leaf("4.3", "Redeliver from the page", 2, "4.2, 3.4", "relay/redeliver.py", ["A click queues the event again", "The form has a token against forgery"]),
    leaf("5.1", "Expose metrics", 2, "3.2", "relay/metrics.py", ["`/metrics` has deliveries by state", "Latency is a histogram"]),
    leaf("5.2", "Shut down without losing events", 3, "3.3", "relay/shutdown.py", ["SIGTERM ends deliveries at work within 10 s", "No accepted event is lost"]),
    leaf("5.3", "Rotate secrets without downtime", 3, "2.2", "relay/rotate.py", ["Both secrets are valid for an hour", "The old secret is refused after that"]),
];

/// `agent ROLE PROMPT NAME`: does what a model would, after a while. Some tasks fail their first attempt, one all of them.
const AGENT: &str = r#"#!/bin/sh
line() { printf '%s\n' "$1" | grep -o "$2" | tail -n 1; }
prompt=$(cat "$2")
if [ "$1" = builder ]; then
  payload=$($(line "$prompt" 'fp claim [^`]*')) || exit 0
  file=$(printf '%s\n' "$payload" | sed -n 's/^- Files: //p' | head -n 1 | sed 's/ .*//')
  size=$(printf '%s\n' "$file" | wc -c)
  sleep "$((size % 4 + 1)).$((size * 7 % 10))"
  mkdir -p "$(dirname "$file")"
  name=$(basename "$file" .py) number=$(cat "$file" 2>/dev/null | grep -c '^def ')
  [ -e "$file" ] || echo 'from dataclasses import dataclass' >"$file"
  cat >>"$file" <<END

@dataclass
class Step$number:
    event: str
    attempts: int = 0

def ${name}_$number(step):
    """Take one event on, or say why not."""
    if step.event == "":
        raise ValueError("an event needs an id")
    return step.attempts < $size
END
  $(printf '%s\n' "$payload" | grep -o 'fp submit .* --claim [0-9a-f]*$') >/dev/null
  echo "{\"usage\": {\"input_tokens\": $((size * 900)), \"cache_read_input_tokens\": $((size * 9000)), \"output_tokens\": $((size * 160))}, \"cost_usd\": 0.$((size + 9))}"
else
  sheet=$($(line "$prompt" 'fp verify [^`]*'))
  sleep "1.$(printf '%s' "$sheet" | wc -c | tail -c 2 | head -c 1)"
  first='the test of this criterion passes, and asserts what it says' second='read in the diff, and covered by a test'
  flag=--pass
  case $3 in
    verifier-2-2-i1) flag=--fail second='`relay/signature.py:12` compares byte by byte and stops at the first difference' ;;
    verifier-3-3-i1) flag=--fail second='`relay/retry.py:27` adds no jitter: a thousand events retry in the same second' ;;
    verifier-5-3-i*) flag=--fail second='the old secret still works after two hours: `relay/rotate.py:33` takes minutes for seconds' ;;
  esac
  eval "$(line "$sheet" 'fp verdict .* --iteration [0-9]*')" --pass '"1: $first"' "$flag" '"2: $second"' \
    --summary "'Judged by the diff and its tests.'" >/dev/null
  echo '{"usage": {"input_tokens": 9000, "cache_read_input_tokens": 70000, "output_tokens": 1500}, "cost_usd": 0.07}'
fi
"#;

pub(crate) struct Stage {
    fp: PathBuf,
    root: PathBuf,
}

impl Stage {
    pub(crate) fn new(fp: &Path, root: &Path) -> Outcome<Self> {
        let stage = Self {
            fp: fp.to_owned(),
            root: root.to_owned(),
        };
        let repository = stage.repository();
        fs::create_dir_all(repository.join("tests"))?;
        fs::create_dir_all(root.join("home/.config/fractal-planner"))?;
        fs::write(repository.join("README.md"), "# Relay\n")?;
        fs::write(
            repository.join("tests/run.sh"),
            "grep -q def \"relay/$1.py\" && echo '4 passed'\n",
        )?;
        let agent = root.join("agent");
        fs::write(&agent, AGENT)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
        }
        let start = [&*agent.to_string_lossy(), "{role}", "{prompt}", "{name}"];
        let settings = serde_json::json!({ "verify": { "judge": "each" }, "agents": {
            "builder": { "program": "scripted" }, "verifier": { "program": "scripted" },
            "programs": { "scripted": { "start": start } },
        } });
        fs::write(
            root.join("home/.config/fractal-planner/config.json"),
            settings.to_string(),
        )?;
        for words in [
            &["init", "--quiet", "--initial-branch", "main"][..],
            &["config", "user.name", "Ada"],
            &["config", "user.email", "ada@example.org"],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "Begin"],
        ] {
            stage.run("git", words)?;
        }
        stage.fp(&["new", GOAL])?;
        fs::write(stage.plan()?.join("tasks.md"), tree())?;
        stage.fp(&["validate"])?;
        Ok(stage)
    }

    pub(crate) fn program(&self) -> &Path {
        &self.fp
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.join("relay")
    }

    pub(crate) fn variables(&self) -> [(&'static str, OsString); 4] {
        let home = self.root.join("home");
        let folder = self.fp.parent().unwrap_or(&self.root).to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)));
        [
            ("HOME", home.clone().into()),
            ("XDG_CONFIG_HOME", home.join(".config").into()),
            ("XDG_STATE_HOME", home.join("state").into()),
            ("PATH", path.unwrap_or_default()),
        ]
    }

    /// The log of the plan.
    pub(crate) fn log(&self) -> Outcome<PathBuf> {
        Ok(self.plan()?.join("events.jsonl"))
    }

    /// True if nothing was written to the log for so long.
    pub(crate) fn is_quiet_for(&self, time: Duration) -> Outcome<bool> {
        let changed = fs::metadata(self.log()?)?.modified()?;
        Ok(changed.elapsed().unwrap_or_default() > time)
    }

    pub(crate) fn fp(&self, words: &[&str]) -> Outcome<String> {
        self.run(&self.fp.to_string_lossy(), words)
    }

    fn plan(&self) -> Outcome<PathBuf> {
        let plans = fs::read_dir(self.repository().join(".fractal-planner/plans"))?;
        let folder = plans
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.is_dir());
        Ok(folder.ok_or("there is no plan")?)
    }

    fn run(&self, program: &str, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(self.repository())
            .envs(self.variables());
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(text);
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{program} {}: {text}{errors}", words.join(" ")).into())
    }
}

fn tree() -> String {
    let mut text = format!(
        "# Task Decomposition\n\n## Root Task\n- [ID: root] {GOAL} (Complexity: 8)\n\n### Subtasks\n"
    );
    for (parent, title) in PARENTS {
        let _ = writeln!(text, "- [ID: {parent}] {title} (Complexity: 6)");
        for leaf in LEAVES.iter().filter(|leaf| leaf.id.starts_with(parent)) {
            let Leaf {
                id,
                title,
                complexity,
                after,
                file,
                criteria: [first, second],
            } = leaf;
            let name = file.trim_start_matches("relay/").trim_end_matches(".py");
            let _ = write!(
                text,
                "  - [ID: {id}] {title} (Complexity: {complexity})\n    - Acceptance:\n      - {first}\n      - {second}\n    \
                 - Dependencies: {after}\n    - Files: {file} (new)\n    - Tests Required: no\n    - Hints:\n      \
                 - Keep it to the standard library\n    - Test Commands: sh tests/run.sh {name}\n"
            );
        }
    }
    text
}
