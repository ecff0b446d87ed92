//! Describes every setting once, in the table below: type, default, range and meaning. The parser and `fp config` read
//! it, and a test compares the keys and defaults in the documentation with it.
//!
//! A layer (plugin options, user, project, plan, environment) sets some of the settings. Layers are applied to the
//! defaults in turn, key by key, so a layer that sets one key of a group keeps the others.

mod kind;

use std::collections::BTreeMap;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::text::is_invisible;
use SettingClass::{Open, Protected, Words};
use SettingKind::{Amount, Choice, Flag, Folder, Group, List, Map, Name, Text, Whole};
pub use kind::{SettingFault, SettingKind, SpendingLimit, closest_name};

/// A setting, or a group of settings.
#[derive(Debug, Clone)]
pub struct SettingRow {
    /// The setting's name in files.
    pub name: String,
    pub kind: SettingKind,
    pub class: SettingClass,
}

/// The values that a repository may set. Its settings file, or that of a plan in it, may come from a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingClass {
    /// Any value.
    Open,
    /// Only letters, blanks, `-` and parentheses, since the value names the language that agents are told to write in.
    Words,
    /// No value, since the setting loosens a check, or agents read it. On a group, this covers all of its settings.
    Protected,
}

macro_rules! settings {
    ($(
        $(#[$doc:meta])*
        $group:ident {$(
            $(#[doc = $about:literal])*
            $field:ident: $type:ty = $default:expr, $kind:expr, $class:ident;
        )*}
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $group {$(
            $(#[doc = $about])*
            pub $field: $type,
        )*}

        impl Default for $group {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $group {
            fn rows() -> Vec<SettingRow> {
                vec![$(SettingRow {
                    name: camel_case(stringify!($field)),
                    kind: $kind,
                    class: $class,
                },)*]
            }
        }
    )*};
}

settings! {
    /// All settings, with the values in force.
    Settings {
        /// Highest complexity (1–10) that a leaf may have.
        max_complexity: u32 = 8, Whole(1, 10), Open;
        /// How often a task is implemented (1–20) before it counts as failed.
        max_iterations: u32 = 3, Whole(1, 20), Open;
        /// How many builders (1–16) work at once.
        max_parallel_tasks: u32 = 1, Whole(1, 16), Open;
        /// True if planning ends after the research.
        research_only: bool = false, Flag, Open;
        /// True if the plan is approved without being shown for review.
        skip_plan_review: bool = false, Flag, Protected;
        /// True if a task that passed is left uncommitted.
        no_commit: bool = false, Flag, Protected;
        /// The folder of all plans, relative to the repository, with `/` between its parts.
        plans_dir: String = ".fractal-planner/plans".into(), Folder, Protected;
        /// Which ready task goes first.
        execution_order: ExecutionOrder = ExecutionOrder::DocumentOrder, Choice(ExecutionOrder::WORDS), Open;
        /// True if a task's `Verify` command has to fail before its work.
        test_first: bool = false, Flag, Open;
        /// Generated files that one task at a time may change, beside lock files.
        exclusive: Vec<String> = Vec::new(), List(&Text), Open;
        /// Where builders work: each in a git worktree of its own, or all in the checkout.
        isolation: Isolation = Isolation::Auto, Choice(Isolation::WORDS), Protected;
        /// The branch that gets what passed: one of the plan's own, or the one that is checked out.
        branch: BranchChoice = BranchChoice::Auto, Choice(BranchChoice::WORDS), Protected;
        /// True if `fp run` opens a pull request, a draft until the end, and keeps it up to date.
        pr: bool = false, Flag, Protected;
        /// The commits on a plan's own branch.
        commit: PlanCommits = PlanCommits::default(), Group(PlanCommits::rows), Open;
        /// The check of the comments that an edit adds.
        comment_checker: CommentChecker = CommentChecker::default(), Group(CommentChecker::rows), Open;
        /// Reminding a builder that stops in the middle of its task.
        nudge: Nudge = Nudge::default(), Group(Nudge::rows), Protected;
        /// Keeping a builder to its task's files.
        guard: Guard = Guard::default(), Group(Guard::rows), Protected;
        /// Mirroring the plan in Linear.
        linear: Linear = Linear::default(), Group(Linear::rows), Open;
        /// The mechanical checks of a submitted task.
        verify: Verify = Verify::default(), Group(Verify::rows), Protected;
        /// What the commands of a plan, and the agents of `fp run`, may do on this machine, where the system can enforce it.
        sandbox: Sandbox = Sandbox::default(), Group(Sandbox::rows), Protected;
        /// The lead of a run: the session itself, or `fp run` with a process for each agent.
        engine: Engine = Engine::Auto, Choice(Engine::WORDS), Protected;
        /// The programs and models that play the agents of `fp run`.
        agents: Agents = Agents::default(), Group(Agents::rows), Protected;
        /// The cost of a run's agents at which the user is asked.
        budget: Budget = Budget::default(), Group(Budget::rows), Protected;
        /// Telling the user that `fp run` has ended or waits for an answer.
        notify: Notify = Notify::default(), Group(Notify::rows), Protected;
        /// Sharing a plan with other machines.
        fleet: Fleet = Fleet::default(), Group(Fleet::rows), Protected;
        /// Language of interviews, reports and commits; absent where the user's own words decide.
        language: Option<String> = None, Name, Words;
    }

    /// The commits on a plan's own branch.
    PlanCommits {
        /// True if each names its task, and what was verified, in trailers.
        trailers: bool = true, Flag, Open;
    }

    /// The comment check after an edit.
    CommentChecker {
        /// True if edits are checked.
        enabled: bool = true, Flag, Open;
        /// How fp tells the model.
        mode: CommentMode = CommentMode::Warn, Choice(CommentMode::WORDS), Protected;
        /// Globs of files that are not checked.
        ignore: Vec<String> = Vec::new(), List(&Text), Open;
    }

    /// The confinement of a plan's commands.
    Sandbox {
        /// Whether commands write only to their folder, temporary folders and caches, and whether they have the network.
        mode: SandboxMode = SandboxMode::On, Choice(SandboxMode::WORDS), Protected;
        /// Files and folders beside these that they may write: absolute, or below `~/`.
        write: Vec<String> = Vec::new(), List(&Name), Protected;
    }

    /// The reminder of a builder that stops while it owns a task.
    Nudge {
        /// How often (0–20) for one iteration of a task.
        max_retries: u32 = 3, Whole(0, 20), Protected;
    }

    /// The guard of a task's file boundary.
    Guard {
        /// The answer to an edit outside the task's files.
        mode: GuardMode = GuardMode::Deny, Choice(GuardMode::WORDS), Protected;
        /// The answer when a builder asks for another file.
        extend: ExtensionPolicy = ExtensionPolicy::Ask, Choice(ExtensionPolicy::WORDS), Protected;
    }

    /// The mirror of a plan in Linear.
    Linear {
        /// True if the plan is mirrored.
        enabled: bool = false, Flag, Open;
        /// Name or key of the team that gets the issues.
        team: Option<String> = None, Name, Open;
        /// Name of the project that the issues belong to.
        project: Option<String> = None, Name, Open;
        /// The team's names for `pending`, `inProgress`, `review`, `completed` and `failed`; a missing one is found by its type.
        status_map: BTreeMap<String, String> = BTreeMap::new(), Map(&Name), Open;
    }

    /// The agents of a run.
    Agents {
        /// The program and model of builders.
        builder: AgentPlayer = AgentPlayer::default(), Group(AgentPlayer::rows), Protected;
        /// The program and model of verifiers.
        verifier: AgentPlayer = AgentPlayer::default(), Group(AgentPlayer::rows), Protected;
        /// Permission rules of Claude Code for what its processes may do beside their task, such as `Bash(npm ci)`.
        allow: Vec<String> = Vec::new(), List(&Text), Protected;
        /// Minutes (1–1440) of silence after which an agent is given up; one of `fp run` is ended and reminded first.
        silence_minutes: u32 = 30, Whole(1, 1440), Protected;
        /// Programs of your own, by name: `start` and `resume` are command lines as lists of words.
        programs: BTreeMap<String, OwnProgram> = BTreeMap::new(), Map(&Group(OwnProgram::rows)), Protected;
    }

    /// The program that plays a role.
    AgentPlayer {
        /// `claude`, `codex`, `opencode`, or a name in `agents.programs`.
        program: String = "claude".into(), Name, Protected;
        /// The model, by the program's own name for it; absent for the program's default.
        model: Option<String> = None, Name, Protected;
        /// How hard it thinks, by the program's own word.
        effort: Option<String> = None, Name, Protected;
    }

    /// A program of the user's own.
    OwnProgram {
        /// Its command line for a new agent.
        start: Vec<String> = Vec::new(), List(&Text), Protected;
        /// Its command line for an agent that goes on; `start` where it is absent.
        resume: Vec<String> = Vec::new(), List(&Text), Protected;
        /// Folders of its own that it writes to; with them it runs in the sandbox.
        writes: Vec<String> = Vec::new(), List(&Text), Protected;
    }

    /// Limits of what agents cost, in `USD` or `tokens`.
    Budget {
        /// Limit of a whole run, such as `20 USD`.
        run: Option<SpendingLimit> = None, Amount, Protected;
        /// Limit of one task, such as `500000 tokens`.
        task: Option<SpendingLimit> = None, Amount, Protected;
    }

    /// The command that tells the user.
    Notify {
        /// Its words; `{text}` stands for what happened.
        command: Vec<String> = Vec::new(), List(&Text), Protected;
    }

    /// A shared plan.
    Fleet {
        /// Minutes (1–1440) of silence after which another machine's tasks are taken back.
        lease_minutes: u32 = 15, Whole(1, 1440), Protected;
        /// Accept only entries that somebody signed whom git trusts.
        signed: bool = false, Flag, Protected;
    }

    /// The mechanical checks.
    Verify {
        /// Seconds (1–86400) that one command of a task may take.
        timeout_seconds: u32 = 600, Whole(1, 86_400), Protected;
        /// Where a task's commands run: in a checkout of fp's own, or where the task was done.
        place: CheckPlace = CheckPlace::Bench, Choice(CheckPlace::WORDS), Protected;
        /// Which tasks a verifier judges before their commit: each, those at risk, or none; with the last two, one judges the result as a whole.
        judge: JudgePolicy = JudgePolicy::Risk, Choice(JudgePolicy::WORDS), Protected;
    }
}

/// The name of a field in settings files.
fn camel_case(field: &str) -> String {
    let mut parts = field.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at(part.len().min(1));
        name + &initial.to_ascii_uppercase() + rest
    })
}

impl Settings {
    /// The defaults with `layers` applied in turn; the last one wins.
    pub fn from_layers<'l>(layers: impl IntoIterator<Item = &'l SettingsLayer>) -> Self {
        let mut all = Self::default().to_json();
        layers
            .into_iter()
            .for_each(|layer| put_over(&mut all, &layer.values));
        serde_json::from_value(all).expect("a layer has only values that the table takes")
    }

    fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("settings have text keys and plain values")
    }

    /// Every setting by its dotted key.
    pub fn by_key(&self) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        add_by_key("", self.to_json(), &mut found);
        found
    }
}

fn put_over(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                put_over(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above.clone(),
    }
}

/// Adds the settings in `value`, by dotted key below `prefix`.
fn add_by_key(prefix: &str, value: Value, found: &mut Vec<(String, Value)>) {
    let is_map = || row_of(prefix).is_some_and(|(row, _)| matches!(row.kind, Map(_)));
    match value {
        Value::Object(fields) if !is_map() => {
            for (name, value) in fields {
                let key = match prefix {
                    "" => name,
                    prefix => format!("{prefix}.{name}"),
                };
                add_by_key(&key, value, found);
            }
        }
        value => found.push((prefix.to_owned(), value)),
    }
}

/// The settings from one source, checked against the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SettingsLayer {
    values: Value,
}

impl Default for SettingsLayer {
    fn default() -> Self {
        Self { values: json!({}) }
    }
}

impl SettingsLayer {
    /// Reads the content of a settings file. `null` leaves a setting unchanged.
    ///
    /// # Errors
    /// The first key or value that the table doesn't accept.
    pub fn parse(value: &Value) -> Result<Self, SettingFault> {
        let values = Group(Settings::rows).taken_value("", value)?;
        Ok(Self { values })
    }

    /// Sets the value of the setting with the dotted `key`.
    ///
    /// # Errors
    /// There is no such setting, or the table doesn't accept the value.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> Result<(), SettingFault> {
        let value = kind_of(key)?.taken_value(key, &value.into())?;
        *at_key(&mut self.values, key) = value;
        Ok(())
    }

    /// The settings of this layer, by dotted key.
    pub fn by_key(&self) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        add_by_key("", self.values.clone(), &mut found);
        found
    }

    /// Splits a layer that comes from a repository into the settings that the repository may set, and the others.
    pub fn split(&self) -> (Self, Self) {
        let (mut taken, mut withheld) = (Self::default(), Self::default());
        for (key, value) in self.by_key() {
            let may_set = match class_of(&key) {
                Open => true,
                Words => value.as_str().is_some_and(is_words),
                Protected => false,
            };
            let layer = if may_set { &mut taken } else { &mut withheld };
            *at_key(&mut layer.values, &key) = value;
        }
        (taken, withheld)
    }
}

impl<'de> Deserialize<'de> for SettingsLayer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The slot for the dotted `key` in `fields`, created if it is missing.
fn at_key<'v>(fields: &'v mut Value, key: &str) -> &'v mut Value {
    key.split('.').fold(fields, |group, name| &mut group[name])
}

/// Removes the dotted `key` from `fields`.
fn take_out(fields: &mut Value, key: &str) -> Option<Value> {
    let fields = fields.as_object_mut()?;
    match key.split_once('.') {
        None => fields.remove(key),
        Some((name, rest)) => take_out(fields.get_mut(name)?, rest),
    }
}

/// Sets the dotted `key` in the content of a settings file; `None` removes it.
pub fn put_value(fields: &mut Value, key: &str, value: Option<&Value>) {
    match value {
        Some(value) => *at_key(fields, key) = value.clone(),
        None => drop(take_out(fields, key)),
    }
}

fn is_words(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphabetic() && !is_invisible(c) || matches!(c, ' ' | '-' | '(' | ')'))
}

/// The row of the setting or group of settings with the dotted `key`, and the strictest class among its own and those
/// of its groups.
fn row_of(key: &str) -> Option<(SettingRow, SettingClass)> {
    let (mut rows, mut class, mut found) = (Settings::rows(), Open, None);
    for name in key.split('.') {
        let row = rows.into_iter().find(|row| row.name == name)?;
        class = class.max(row.class);
        rows = if let Group(rows) = row.kind {
            rows()
        } else {
            Vec::new()
        };
        found = Some(row);
    }
    found.map(|row| (row, class))
}

/// The class of the setting with the dotted `key`.
pub fn class_of(key: &str) -> SettingClass {
    row_of(key).map_or(Protected, |(_, class)| class)
}

/// Finds the type of the setting with the dotted `key`.
///
/// # Errors
/// There is no such setting, or it is a group of settings.
pub fn kind_of(key: &str) -> Result<SettingKind, SettingFault> {
    let keys = || Settings::default().by_key().into_iter().map(|(key, _)| key);
    match row_of(key).map(|(row, _)| row.kind) {
        None => Err(SettingFault::unknown(key, keys())),
        Some(Group(_)) => {
            let within = format!("{key}.");
            let keys: Vec<_> = keys().filter(|other| other.starts_with(&within)).collect();
            Err(SettingFault {
                said: format!("`{key}` is a group of settings"),
                hint: format!("name one of them: {}", keys.join(", ")),
            })
        }
        Some(kind) => Ok(kind),
    }
}

/// Parses `text`, given on the command line, as a number for the setting `key`.
///
/// # Errors
/// A description of the values that the setting accepts, if `text` isn't one of them.
pub fn whole_number(key: &str, text: &str) -> Result<u32, String> {
    let kind = kind_of(key).map_err(|fault| fault.to_string())?;
    let number = text.parse::<u32>().ok();
    let number = number.filter(|number| kind.taken_value(key, &(*number).into()).is_ok());
    number.ok_or_else(|| format!("it has to be {}", kind.expected()))
}

impl ExecutionOrder {
    /// The sort key of a task by its composite signal and its complexity; smaller comes first.
    pub fn rank(self, composite: Option<u8>, complexity: u32) -> (i64, i64) {
        let (composite, complexity) = (i64::from(composite.unwrap_or(0)), i64::from(complexity));
        match self {
            Self::DocumentOrder => (0, 0),
            Self::RiskFirst => (-composite, -complexity),
            Self::EasyFirst => (composite, complexity),
        }
    }
}

macro_rules! choices {
    ($(
        $(#[$doc:meta])*
        $name:ident {$( $(#[$choice_doc:meta])* $choice:ident = $word:literal, )*}
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {$( $(#[$choice_doc])* #[serde(rename = $word)] $choice, )*}

        impl $name {
            const WORDS: &'static [&'static str] = &[$($word,)*];
        }
    )*};
}

choices! {
    /// The order among ready tasks.
    #[derive(Default)]
    ExecutionOrder {
        /// In the order of the plan.
        #[default]
        DocumentOrder = "document-order",
        /// Highest composite signal first, then highest complexity.
        RiskFirst = "risk-first",
        /// Lowest composite signal first, then lowest complexity.
        EasyFirst = "easy-first",
    }

    /// The leader of a run.
    Engine {
        /// `fp run` for several builders or more than two tasks, otherwise the session.
        Auto = "auto",
        /// The session in which the run was requested.
        Session = "session",
        /// `fp run`, with a process for each agent.
        Processes = "processes",
    }

    /// The place where a builder works.
    Isolation {
        /// In its own git worktree.
        Worktree = "worktree",
        /// In the user's checkout, together with the others.
        Shared = "shared",
        /// In a worktree if several builders work, otherwise in the checkout.
        Auto = "auto",
    }

    /// The branch that gets the commits of a run.
    BranchChoice {
        /// The plan's own for `fp run`, the one that is checked out for a session.
        Auto = "auto",
        /// The plan's own.
        Plan = "plan",
        /// The one that is checked out.
        Current = "current",
    }

    /// Where a task's commands run.
    CheckPlace {
        /// On a checkout of `fp`'s own, of exactly what would be committed.
        Bench = "bench",
        /// In the user's checkout, for tasks that are done there.
        Checkout = "checkout",
    }

    /// The submitted tasks that a verifier judges.
    #[derive(Default)]
    JudgePolicy {
        /// All of them.
        #[default]
        Each = "each",
        /// Those of some complexity or risk, and the result as a whole.
        Risk = "risk",
        /// Only the result as a whole.
        End = "end",
    }

    /// The confinement of commands.
    SandboxMode {
        /// They write only where they may.
        On = "on",
        /// They also have no network.
        NoNetwork = "no-network",
        /// They do what the user could.
        Off = "off",
    }

    /// How the comment check reports to the model.
    CommentMode {
        /// As additional context for the edit.
        Warn = "warn",
        /// As a reason to revise the edit.
        Block = "block",
    }

    /// The answer to a builder that asks for another file.
    ExtensionPolicy {
        /// Granted, unless a task that is being built lists the file.
        Allow = "allow",
        /// Granted, unless a task lists the file that isn't over: then the user is asked.
        Ask = "ask",
        /// Refused.
        Deny = "deny",
    }

    /// The response to a builder's edit outside its task's files.
    GuardMode {
        /// Refused, with advice on how to proceed.
        Deny = "deny",
        /// Allowed, with a warning to the builder.
        Warn = "warn",
        /// Allowed.
        Off = "off",
    }
}

#[cfg(test)]
mod tests;
