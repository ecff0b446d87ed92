//! The client, the plugin as it has it, and what the user allows both.

use serde_json::Value;

use super::Fault;
use crate::client_settings::{PERMISSIONS, TEAMS};
use crate::doctor::Finding;

/// Installs the plugin, or brings it up to the version of the program that does.
const INSTALL: &str = "fp install";
/// Milliseconds that a hook may take before anybody notices.
pub const SLOW: u64 = 50;
/// The permission rules that spare the user questions, and what each is for.
const RULES: [(&str, &str); 2] = [
    (PERMISSIONS[1], "agents write plans"),
    (PERMISSIONS[0], "commands of fp are run where hooks are switched off"),
];
/// The client's scopes, from the one that has the least to say to the one that has the most.
const SCOPES: [&str; 3] = ["user", "project", "local"];

/// Whether there is a client: where it is and its version, or why not.
#[must_use]
pub fn client(found: &Result<(String, String), Fault>) -> Finding {
    match found {
        Ok((path, version)) => Finding::ok("client", format!("Claude Code {version} at {path}")),
        Err(fault) => fault.finding("client"),
    }
}

/// The marketplace that the plugin is registered from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfMarketplace {
    /// Where it is: a folder, a repository or an address.
    pub from: String,
    /// Whether it is the folder that `fp install` writes.
    pub ours: bool,
}

/// The plugin in one scope of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredPlugin {
    /// Its id, `plugin@marketplace`.
    pub id: String,
    /// `user`, `project` or `local`.
    pub scope: String,
    /// The version that the client has recorded.
    pub version: String,
    /// Whether the client loads it.
    pub enabled: bool,
    /// The project that it is for, where that is another one than this.
    pub elsewhere: Option<String>,
}

/// What the client says of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFacts<'a> {
    /// The plugin's own id.
    pub id: String,
    /// The version of this program.
    pub version: &'a str,
    /// All plugins of this name, whatever marketplace they are of.
    pub registered: Vec<RegisteredPlugin>,
    /// The marketplace of the plugin's own id, if the client knows it.
    pub marketplace: Option<OfMarketplace>,
}

impl PluginFacts<'_> {
    /// The command that writes the files of the plugin anew.
    fn renewed_by(&self) -> String {
        match &self.marketplace {
            Some(marketplace) if !marketplace.ours => format!("claude plugin update {}", self.id),
            _ => INSTALL.into(),
        }
    }
}

/// Whether the client loads the plugin, in this version; `None` where there is no client to say so.
#[must_use]
pub fn plugin(facts: Option<&Result<PluginFacts<'_>, Fault>>) -> Finding {
    let check = "plugin";
    let facts = match facts {
        Some(Ok(facts)) => facts,
        Some(Err(fault)) => return fault.finding(check),
        None => return Finding::warning(check, "not looked for: it is Claude Code that knows"),
    };
    let here = || facts.registered.iter().filter(|plugin| plugin.elsewhere.is_none());
    if let Some(other) = here().find(|plugin| plugin.id != facts.id && plugin.enabled) {
        let detail = format!("another plugin of this name is enabled: {}, scope {}", other.id, other.scope);
        let command = format!("claude plugin uninstall {} --scope {}", other.id, other.scope);
        return Finding::error(check, detail).mended_by(command);
    }
    let ours: Vec<&RegisteredPlugin> = here().filter(|plugin| plugin.id == facts.id).collect();
    if ours.is_empty() {
        let elsewhere: Vec<&str> =
            facts.registered.iter().filter_map(|plugin| plugin.elsewhere.as_deref()).collect();
        let detail = match elsewhere[..] {
            [] => "Claude Code does not have it".to_owned(),
            _ => format!("Claude Code has it in other projects only: {}", elsewhere.join(", ")),
        };
        return Finding::error(check, detail).mended_by(INSTALL);
    }
    let enabled: Vec<&RegisteredPlugin> = ours.iter().filter(|plugin| plugin.enabled).copied().collect();
    let scopes = |plugins: &[&RegisteredPlugin]| {
        let scopes: Vec<&str> = plugins.iter().map(|plugin| plugin.scope.as_str()).collect();
        format!("scope {}", scopes.join(" and "))
    };
    if enabled.is_empty() {
        let nearest = SCOPES.iter().rev().find(|scope| ours.iter().any(|plugin| plugin.scope == **scope));
        let command = format!(
            "claude plugin enable {} --scope {}",
            facts.id,
            nearest.unwrap_or(&ours[0].scope.as_str())
        );
        return Finding::error(check, format!("it is switched off, {}", scopes(&ours))).mended_by(command);
    }
    let from = facts.marketplace.as_ref().map(|market| format!(", from {}", market.from));
    let from = from.unwrap_or_default();
    if let Some(old) = enabled.iter().find(|plugin| plugin.version != facts.version) {
        let detail = format!(
            "Claude Code has version {}, scope {}{from}; this program is {}",
            old.version, old.scope, facts.version
        );
        return Finding::warning(check, detail).mended_by(facts.renewed_by());
    }
    Finding::ok(check, format!("{} {}, {}{from}", facts.id, facts.version, scopes(&enabled)))
}

/// What the plugin's program said to `--version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// There is no such file.
    Missing,
    /// It is not allowed to be run.
    NotExecutable,
    /// It could not be run, or not to its end.
    Failed(String),
    /// It said this.
    Said(String),
}

/// The program in the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFacts {
    /// Where it is.
    pub path: String,
    /// What it said.
    pub answered: Answered,
}

/// Whether the plugin's program is there and of `version`; `None` for facts where nobody knows a plugin's folder.
#[must_use]
pub fn program(facts: Option<&ProgramFacts>, plugin: Option<&PluginFacts<'_>>, version: &str) -> Finding {
    let renewed_by = plugin.map_or_else(|| INSTALL.to_owned(), PluginFacts::renewed_by);
    let Some(ProgramFacts { path, answered }) = facts else {
        let detail = "there is no data folder to look for it in: HOME is not set to a folder";
        return Finding::error("program", detail);
    };
    let wrong = |detail: String| Finding::error("program", detail).mended_by(renewed_by.clone());
    match answered {
        Answered::Missing => wrong(format!("{path} is not there")),
        Answered::NotExecutable => wrong(format!("{path} is not executable")),
        Answered::Failed(reason) => wrong(format!("{path} does not run: {reason}")),
        Answered::Said(said) if *said == format!("fp {version}") => {
            Finding::ok("program", format!("{path} answers as {said}"))
        }
        Answered::Said(said) => {
            let first: String = said.lines().next().unwrap_or_default().chars().take(60).collect();
            let detail = format!("{path} answers as {first:?}, not as fp {version}");
            Finding::warning("program", detail).mended_by(renewed_by.clone())
        }
    }
}

/// The plugin's `hooks.json`, held against the one that this program would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wiring {
    /// It says the same.
    Same,
    /// It says something else.
    Different,
    /// It can't be read.
    Unreadable(String),
    /// Nobody knows where the plugin is.
    NoPlugin,
}

/// What a hook did with a sample of its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookAnswer {
    /// The event, by the client's name.
    pub event: String,
    /// Milliseconds that it took.
    pub millis: u64,
    /// What is wrong with its answer.
    pub fault: Option<String>,
}

/// Whether the client is told to run the hooks as this version has it, and whether each answers in time. `files` are
/// the client's settings.
#[must_use]
pub fn hooks(
    wiring: &Wiring,
    answers: &[HookAnswer],
    files: &[ClientSettings],
    plugin: Option<&PluginFacts<'_>>,
) -> Finding {
    if let Some(file) = files.iter().find(|file| file.hooks_off) {
        let detail =
            format!("switched off by disableAllHooks in {}: nobody keeps builders to their task", file.file);
        return Finding::warning("hooks", detail);
    }
    let renewed_by = plugin.map_or_else(|| INSTALL.to_owned(), PluginFacts::renewed_by);
    let wrong = |detail: String| Finding::error("hooks", detail).mended_by(renewed_by.clone());
    match wiring {
        Wiring::Same => {}
        Wiring::Different => {
            return wrong("hooks.json of the plugin is not the one of this version".into());
        }
        Wiring::NoPlugin => return Finding::warning("hooks", "not tried, without a plugin"),
        Wiring::Unreadable(reason) => return wrong(format!("hooks.json of the plugin: {reason}")),
    }
    let failing = |answer: &HookAnswer| Some(format!("{} {}", answer.event, answer.fault.as_ref()?));
    let failing: Vec<String> = answers.iter().filter_map(failing).collect();
    if !failing.is_empty() {
        return wrong(format!("not every hook answers: {}", failing.join("; ")));
    }
    let Some(slowest) = answers.iter().max_by_key(|answer| answer.millis) else {
        return wrong("no hook was asked, since there is no program to answer".into());
    };
    let HookAnswer { event, millis, .. } = slowest;
    let count = answers.len();
    let detail = format!("{count} events are wired and answered, the slowest, {event}, in {millis} ms");
    if *millis > SLOW {
        return Finding::warning("hooks", format!("{detail}; more than {SLOW} ms are noticed"));
    }
    Finding::ok("hooks", detail)
}

/// What a file of the client's settings says that matters here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientSettings {
    /// The file.
    pub file: String,
    /// Permission rules that allow something.
    pub allow: Vec<String>,
    /// The variable that switches agent teams on, where it is set.
    pub teams: Option<String>,
    /// Whether it switches all hooks off.
    pub hooks_off: bool,
    /// What is wrong with the file, of which nothing else is known then.
    pub fault: Option<String>,
}

impl ClientSettings {
    /// Reads `text`, the content of `file`.
    #[must_use]
    pub fn parse(file: &str, text: &str) -> Self {
        let found = Self { file: file.to_owned(), ..Self::default() };
        let value: Value = match serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) {
            Ok(value) => value,
            Err(error) => return Self { fault: Some(format!("not JSON: {error}")), ..found },
        };
        let allow = value.pointer("/permissions/allow").and_then(Value::as_array).into_iter().flatten();
        let teams = value.get("env").and_then(|env| env.get(TEAMS));
        Self {
            allow: allow.filter_map(Value::as_str).map(str::to_owned).collect(),
            teams: teams.map(|teams| teams.as_str().map_or_else(|| teams.to_string(), str::to_owned)),
            hooks_off: value.get("disableAllHooks").and_then(Value::as_bool).unwrap_or(false),
            ..found
        }
    }
}

/// Whether builders are teammates, and what that means; `environment` is the variable of this process.
#[must_use]
pub fn agent_teams(environment: Option<&str>, files: &[ClientSettings]) -> Finding {
    let on = |value: &str| !matches!(value, "" | "0" | "false");
    let of_files = files.iter().rev().filter_map(|file| Some((file.teams.as_deref()?, file.file.as_str())));
    let said = environment.map(|value| (value, "the environment")).into_iter().chain(of_files).next();
    let detail = match said {
        Some((value, from)) if on(value) => {
            format!("on, by {from}: builders are teammates that you can watch and talk to")
        }
        _ => "off: builders run as background agents, and fp works the same".to_owned(),
    };
    Finding::ok("agent teams", detail)
}

/// Whether the rules are there that keep the client from asking about what a run does all the time.
#[must_use]
pub fn permissions(files: &[ClientSettings]) -> Vec<Finding> {
    let check = "permissions";
    let broken = files.iter().filter_map(|file| Some((&file.file, file.fault.as_ref()?)));
    let mut found: Vec<Finding> =
        broken.map(|(file, fault)| Finding::error(check, format!("{file}: {fault}"))).collect();
    let allowed = |rule: &str| files.iter().any(|file| file.allow.iter().any(|allowed| allowed == rule));
    let missing: Vec<String> = RULES
        .iter()
        .filter(|(rule, _)| !allowed(rule))
        .map(|(rule, what)| format!("no rule {rule}: Claude Code may ask when {what}"))
        .collect();
    found.push(match missing[..] {
        [] => Finding::ok(check, format!("{} and {} are allowed", RULES[0].0, RULES[1].0)),
        _ => Finding::warning(check, missing.join("; ")).mended_by(INSTALL),
    });
    found
}
