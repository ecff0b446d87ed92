//! The checks, one function each. Each counts the items that it checked, since a check of nothing proves nothing.

use regex::Regex;
use serde_yaml::Value;

use super::command_line;
use super::page::{Page, PageKind, Plugin};

/// The number of items that a check examined, and its findings.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) checked: usize,
    pub(super) findings: Vec<String>,
}

impl Outcome {
    /// Counts one item as checked, and records its problem, if any.
    fn look(&mut self, page: &Page, problem: Option<String>) {
        self.checked += 1;
        self.findings
            .extend(problem.map(|problem| format!("{}: {problem}", page.path)));
    }

    /// The findings; having checked nothing is a finding too.
    pub(super) fn into_findings(self) -> Vec<String> {
        if self.checked == 0 {
            vec!["nothing was checked".into()]
        } else {
            self.findings
        }
    }
}

/// Keys of a skill that the client reads; any other is silently ignored.
const SKILL_KEYS: &[&str] = &[
    "name",
    "description",
    "model",
    "allowed-tools",
    "disallowed-tools",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "effort",
    "shell",
    "when_to_use",
    "paths",
    "hooks",
    "context",
    "agent",
    "background",
    "metadata",
];

/// Keys that the client reads in an agent of a plugin.
const AGENT_KEYS: &[&str] = &[
    "name",
    "description",
    "tools",
    "disallowedTools",
    "model",
    "effort",
    "maxTurns",
    "skills",
    "isolation",
    "memory",
    "background",
    "color",
];

/// The client's tools. Some builds lack Grep and Glob, and use Bash for the same purpose.
const TOOLS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "ListAgents",
    "Monitor",
    "NotebookEdit",
    "Read",
    "SendMessage",
    "Skill",
    "TaskStop",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

const DESCRIPTION_LIMIT: usize = 300;
const SKILL_WORDS: usize = 900;
const AGENT_WORDS: usize = 700;
const ALL_SKILLS_WORDS: usize = 3_500;
/// The planner asks, records, writes and revises.
const PLANNER_WORDS: usize = 1_000;
const ALL_AGENTS_WORDS: usize = 4_000;
/// Maximum number of tokens that names and descriptions may take up in every context of the user's.
const ALWAYS_TOKENS: usize = 400;

/// Every command shown must be valid for this program.
pub(super) fn commands(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    for page in &plugin.pages {
        for code in &page.code {
            for line in command_line::calls(code) {
                let mistake = command_line::mistake(&line, code.block.is_none());
                outcome.look(page, mistake.map(|mistake| format!("`{line}`: {mistake}")));
            }
        }
    }
    outcome
}

/// Every link, and every path in the plugin's folder, must lead to a file of the plugin.
pub(super) fn links(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    let rooted = pattern(r"\$\{CLAUDE_PLUGIN_ROOT\}/([\w./-]+\w)");
    for page in &plugin.pages {
        for link in &page.links {
            let problem = (!resolves(plugin, page, link)).then(|| format!("link to {link}"));
            outcome.look(page, problem);
        }
        for found in rooted.captures_iter(&page.text) {
            let problem =
                (!plugin.files.contains(&found[1])).then(|| format!("path {}", &found[0]));
            outcome.look(page, problem);
        }
    }
    outcome
}

fn resolves(plugin: &Plugin, page: &Page, link: &str) -> bool {
    if link.starts_with("https://") {
        return true;
    }
    let file = link.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = page.path.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return false;
                }
            }
            part => parts.push(part),
        }
    }
    plugin.files.contains(&parts.join("/"))
}

/// Every `fp:agent` and `/fp:skill` that is named exists.
pub(super) fn references(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    let named = pattern(r"(/?)\bfp:([a-z][a-z-]*)");
    for page in &plugin.pages {
        for found in named.captures_iter(&page.text) {
            let name = &found[2];
            let folder = MENU_NAMES.iter().find(|(_, shown)| *shown == name);
            let file = match &found[1] {
                "/" => format!("skills/{}/SKILL.md", folder.map_or(name, |(it, _)| it)),
                _ => format!("agents/{name}.md"),
            };
            let problem =
                (!plugin.files.contains(&file)).then(|| format!("{} does not exist", &found[0]));
            outcome.look(page, problem);
        }
    }
    outcome
}

/// Skills whose name differs from their folder's name. The client's menu shows the name and sorts by its length; the
/// client accepts both.
const MENU_NAMES: [(&str, &str); 1] = [("implement", "build")];

/// Every key must be one that the client reads, and the name must be the one that the client uses.
pub(super) fn keys(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    for page in plugin.described() {
        let allowed = if page.kind == PageKind::Skill {
            SKILL_KEYS
        } else {
            AGENT_KEYS
        };
        let Some(keys) = &page.keys else {
            outcome.look(page, Some("no readable keys".into()));
            continue;
        };
        for key in keys.keys() {
            let known = key.as_str().is_some_and(|key| allowed.contains(&key));
            outcome.look(
                page,
                (!known).then(|| format!("key {key:?} is ignored by the client")),
            );
        }
        let name = page.key("name");
        let is_its_own = name == page.name() || MENU_NAMES.contains(&(page.name(), name));
        outcome.look(
            page,
            (!is_its_own).then(|| format!("name {name:?} is not its own")),
        );
    }
    outcome
}

/// Every tool that a page asks for exists.
pub(super) fn tools(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    for page in plugin.described() {
        for key in [
            "tools",
            "disallowedTools",
            "allowed-tools",
            "disallowed-tools",
        ] {
            let Some(value) = page.keys.as_ref().and_then(|keys| keys.get(key)) else {
                continue;
            };
            let Value::String(value) = value else {
                outcome.look(page, Some(format!("{key} is not a line of names")));
                continue;
            };
            for tool in names(value) {
                let problem = (!TOOLS.contains(&tool)).then(|| format!("no tool {tool:?}"));
                outcome.look(page, problem);
            }
        }
    }
    outcome
}

/// No skill may allow every command of fp: the hook allows commands by role, and leaves some for the user to decide.
pub(super) fn own_commands(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    for page in plugin.of_kind(PageKind::Skill) {
        let allowed = page.key("allowed-tools");
        let allows = ["Bash(fp *", "Bash(fp:*"]
            .iter()
            .any(|rule| allowed.contains(rule));
        outcome.look(
            page,
            allows.then(|| "allowed-tools has every command of fp".into()),
        );
    }
    outcome
}

/// The names in a list such as `Bash(git log, git diff), Read`.
fn names(list: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let outside = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    list.split(outside)
        .map(|tool| tool.split('(').next().unwrap_or_default().trim())
        .collect()
}

/// A skill's description tells people what it does, and `when_to_use` tells the model when to use it; an agent's
/// description says when. All must be brief.
pub(super) fn descriptions(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    for page in plugin.described() {
        let description = page.key("description");
        let when = page.key("when_to_use");
        let length = description.chars().count() + when.chars().count();
        let told = if page.kind == PageKind::Agent {
            description
        } else {
            when
        };
        let starts = told.starts_with("Use when ");
        outcome.look(
            page,
            (!starts).then(|| "it does not say when to use it, in \"Use when\"".into()),
        );
        let both = page.kind != PageKind::Agent
            && (description.is_empty() || description.starts_with("Use when"));
        outcome.look(
            page,
            both.then(|| "the description is not for people".into()),
        );
        let long =
            (length > DESCRIPTION_LIMIT).then(|| format!("a description of {length} characters"));
        outcome.look(page, long);
    }
    outcome
}

/// Pages must be short, since every word costs tokens whenever a page is read.
pub(super) fn budgets(plugin: &Plugin) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut skills, mut agents, mut always) = (0, 0, 0);
    for page in &plugin.pages {
        let (limit, total) = match page.kind {
            PageKind::Skill | PageKind::Reference => (SKILL_WORDS, &mut skills),
            PageKind::Agent if page.path == "agents/planner.md" => (PLANNER_WORDS, &mut agents),
            PageKind::Agent => (AGENT_WORDS, &mut agents),
            PageKind::Other => continue,
        };
        let words = page.words();
        *total += words;
        always += (page.key("name").len()
            + page.key("description").len()
            + page.key("when_to_use").len())
        .div_ceil(4);
        outcome.look(
            page,
            (words > limit).then(|| format!("{words} words, of at most {limit}")),
        );
    }
    let totals = [
        ("all skills: words", skills, ALL_SKILLS_WORDS),
        ("all agents: words", agents, ALL_AGENTS_WORDS),
        ("all names and descriptions: tokens", always, ALWAYS_TOKENS),
    ];
    for (what, found, limit) in totals {
        if found > limit {
            outcome
                .findings
                .push(format!("{what}: {found}, of at most {limit}"));
        }
    }
    outcome
}

/// A placeholder that the client does not substitute would be read as it stands.
pub(super) fn placeholders(plugin: &Plugin) -> Outcome {
    const SKILL: &[&str] = &[
        "ARGUMENTS",
        "CLAUDE_SESSION_ID",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PLUGIN_DATA",
        "CLAUDE_SKILL_DIR",
    ];
    let mut outcome = Outcome::default();
    let placeholder = pattern(r"\$\{?([A-Za-z_][A-Za-z0-9_]*|[0-9]+)\}?");
    for page in &plugin.pages {
        let substituted = match page.kind {
            PageKind::Skill => SKILL,
            PageKind::Agent => &["CLAUDE_PLUGIN_ROOT"],
            PageKind::Reference | PageKind::Other => &[],
        };
        for found in placeholder.captures_iter(&page.text) {
            let problem = (!substituted.contains(&&found[1]))
                .then(|| format!("{} is not substituted here", &found[0]));
            outcome.look(page, problem);
        }
    }
    outcome
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}
