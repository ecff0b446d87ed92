//! The trust store records what this machine's user has consented to. It is outside every repository, so that a clone
//! can't bring its own consent.
//!
//! One line of JSON per consent, only ever appended. Only the user can access the file.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fp_plan::plan::id::PlanId;
use fp_run::run::consent::AgreedContent;
use fp_run::run::{State, approval};
use fp_run::verification::CommandRun;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::claude::hook::was_scheduled;
use crate::config::Environment;
use crate::error::{HostError, HostResult};
use crate::file;
use crate::git::Git;
use crate::platform::{self, FOLDER_VARIABLES, UserFolder, make_private_folder, private_file};
use crate::process::{self, Confinement, Limits};
use crate::repo::Repo;

mod key;

pub(crate) use self::key::MachineKey;

const SCHEMA_VERSION: u32 = 1;
/// Size limit of the store in bytes: enough for about 100,000 consents.
const STORE_CAP: u64 = 64 * 1024 * 1024;
/// Size limit of a stored prompt note, in bytes.
const PROMPT_CAP: u64 = 1024 * 1024;

/// The folder of approved contents.
const AGREED: &str = "agreed";
/// The folder of prompts.
const PROMPTS: &str = "prompts";

/// The folders whose repository this process has found to have a first commit, with that commit.
static CHECKED: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());

/// How the user agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConsentSource {
    /// By the answer to a question in the client.
    Question,
    /// By a prompt typed into the client.
    Prompt,
    /// By an answer at a terminal.
    Terminal,
    /// By a flag on the command line.
    Flag,
    /// By running the command, whose only purpose is consent.
    Command,
}

/// The subject of a consent, identified by its content's hash where it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Consent {
    /// The approved leaves of a plan, with their commands. Only the last approval of a plan counts.
    Plan {
        plan: PlanId,
        tree: String,
        /// The code of the log entry that records the approval; it covers the log up to that entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The plan was created on this machine.
    Made { plan: PlanId },
    /// The plan is made from a prompt that asks for no review.
    Auto { plan: PlanId },
    /// Agents may start as processes in the repository, where they pick up its settings, hooks and instructions.
    Agents,
    /// The protected settings in a project's file.
    Settings { hash: String },
    /// This clone's membership in a shared plan.
    Part { plan: PlanId, hash: String },
}

impl Consent {
    /// The plan that the consent is about, if any.
    fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::Plan { plan, .. }
            | Self::Made { plan }
            | Self::Auto { plan }
            | Self::Part { plan, .. } => Some(plan),
            Self::Agents | Self::Settings { .. } => None,
        }
    }

    /// True if this satisfies `wanted`. If `wanted` has no entry code, any code will do.
    fn covers(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (
                Self::Plan { plan, tree, .. },
                Self::Plan {
                    plan: wanted,
                    tree: wanted_tree,
                    code: None,
                },
            ) => plan == wanted && tree == wanted_tree,
            _ => self == wanted,
        }
    }

    /// True if this is an approval of the plan `wanted`.
    fn approves_plan(&self, wanted: &PlanId) -> bool {
        matches!(self, Self::Plan { plan, .. } if plan == wanted)
    }
}

/// The user's consent to the approval in `state`.
pub fn consent_of(state: &State) -> Consent {
    Consent::Plan {
        plan: state.plan_id.clone(),
        tree: approval::consent_hash(state),
        code: state
            .approval
            .as_ref()
            .and_then(|approval| approval.code.clone()),
    }
}

/// The consent that `state` needs to continue. In a shared plan it has no entry code, since the log is the remote's and
/// another machine may repeat an approval.
fn consent_needed(state: &State) -> Consent {
    let mut needed = consent_of(state);
    if let Consent::Plan { code, .. } = &mut needed
        && state.is_shared()
    {
        *code = None;
    }
    needed
}

/// Proof that the user of this machine agreed to a state's approval, so that its commands may run.
#[derive(Debug, Clone, Copy)]
pub struct AgreedCommands<'p> {
    /// Files and folders that they may write, where the system can enforce that.
    pub confinement: Option<&'p Confinement>,
}

impl AgreedCommands<'_> {
    /// Runs `lines`, which are commands from the approved state. This is the only way to run a plan's commands.
    pub(crate) fn run<'l>(
        self,
        lines: impl IntoIterator<Item = &'l str>,
        directory: &Path,
        limits: Limits,
    ) -> Vec<CommandRun> {
        process::run_commands(lines, directory, limits, self.confinement)
    }
}

/// Identifies a repository on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RepositoryIdentity {
    /// The git directory that the repository's worktrees share; without git, the repository's folder.
    path: PathBuf,
    /// The repository's first commit, which distinguishes it from another repository put in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TrustLine {
    schema_version: u32,
    at: Timestamp,
    how: ConsentSource,
    repository: RepositoryIdentity,
    consent: Consent,
}

/// The error for `state` if its log has entries that this machine didn't write; `None` if it has none.
pub(crate) fn foreign_entry(state: &State) -> Option<HostError> {
    let (seq, plan) = (state.foreign?, &state.plan_id);
    let said = format!("entry {seq} in the log of {plan} was not written by fp on this machine");
    Some(HostError::refused(said).with_hint(format_args!(
        "put its events.jsonl back as it was, or run `fp approve {plan}`, which keeps that log aside and \
         begins a new one with the tree alone; of a shared plan, `fp fleet --leave` and `fp join` take it anew"
    )))
}

fn other_log(plan: &PlanId) -> HostError {
    HostError::refused(format_args!("the log of {plan} is not the one that you approved last"))
        .with_hint(format_args!(
            "put its events.jsonl back if you have it, or look at it with `fp show {plan}`, then run `fp approve {plan}`"
        ))
}

fn approved_elsewhere(plan: &PlanId) -> HostError {
    HostError::refused(format_args!(
        "{plan} was approved elsewhere: by somebody else, on another machine or in another folder"
    ))
    .with_hint(format_args!(
        "look at it with `fp show {plan}`, then run `fp approve {plan}`"
    ))
}

/// The part of the user's trust store that concerns one repository.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
    /// The repository's path, as in its identity.
    repository: PathBuf,
    worktree: PathBuf,
}

impl TrustStore {
    /// The store of the user with this environment. Reads nothing yet.
    ///
    /// # Errors
    /// The environment names no home folder.
    pub fn of_user(env: Environment<'_>, repo: &Repo) -> HostResult<Self> {
        Ok(Self {
            folder: trust_folder(env)?,
            repository: repo.git_dir.clone().unwrap_or_else(|| repo.root.clone()),
            worktree: repo.worktree.clone(),
        })
    }

    /// The trust store of the user running this process.
    pub(crate) fn of_process(repo: &Repo) -> HostResult<Self> {
        Self::of_user(&process_variable, repo)
    }

    /// The store's folder, which belongs to the user alone.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn store_file(&self) -> PathBuf {
        self.folder.join("trust.jsonl")
    }

    /// True if the user agreed to `consent` in a repository at this path, which may have been replaced since. Doesn't
    /// read the repository. Ignores unreadable lines.
    pub fn knows(&self, consent: &Consent) -> HostResult<bool> {
        Ok(self
            .lines_with(consent)?
            .iter()
            .any(|line| line.consent.covers(consent)))
    }

    /// True if the user agreed to `consent` in this very repository, and not in another that was at the same path.
    pub fn trusts(&self, consent: &Consent) -> HostResult<bool> {
        self.has_here(consent, |known| known.covers(consent))
    }

    /// True if a candidate line for `consent` is about this very repository and its consent passes `fits`.
    fn has_here(&self, consent: &Consent, fits: impl Fn(&Consent) -> bool) -> HostResult<bool> {
        for line in self.lines_with(consent)? {
            if fits(&line.consent) && self.is_this(&line.repository)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_this(&self, repository: &RepositoryIdentity) -> HostResult<bool> {
        match &repository.root {
            Some(root) => {
                let known = (self.worktree.clone(), root.clone());
                let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
                let is_this =
                    checked.contains(&known) || Git::open(&self.worktree)?.has_commit(root)?;
                if is_this {
                    checked.insert(known);
                }
                Ok(is_this)
            }
            None => Ok(true),
        }
    }

    /// True if the user agreed to the approval in `state`, and this machine wrote its log.
    pub fn approves(&self, state: &State) -> HostResult<bool> {
        Ok(state.foreign.is_none() && self.trusts(&consent_needed(state))?)
    }

    /// Like [`TrustStore::approves`], but doesn't read the repository.
    pub fn knows_approval(&self, state: &State) -> HostResult<bool> {
        Ok(state.foreign.is_none() && self.knows(&consent_needed(state))?)
    }

    /// Fails unless the user agreed to the approval in `state`, and this machine wrote its log.
    pub fn expect_approval(&self, state: &State) -> HostResult<()> {
        if self.approves(state)? {
            return Ok(());
        }
        // Without a usable key, no entry counts as this machine's, so report that first.
        MachineKey::read(&self.folder)?;
        let plan = &state.plan_id;
        let is_approved = match self.last_approval(plan)? {
            Some(last) => self.is_this(&last.repository)?,
            None => false,
        };
        Err(match foreign_entry(state) {
            Some(foreign) if is_approved => foreign,
            None if is_approved && !state.is_shared() => other_log(plan),
            Some(_) | None => approved_elsewhere(plan),
        })
    }

    /// The plans of this repository that were made or approved on this machine.
    pub fn own_plans(&self) -> HostResult<BTreeSet<PlanId>> {
        let lines = self.read_lines()?.into_iter();
        Ok(lines
            .filter_map(|line| line.consent.plan().cloned())
            .collect())
    }

    fn last_approval(&self, plan: &PlanId) -> HostResult<Option<TrustLine>> {
        let mut lines = self.read_lines()?.into_iter();
        Ok(lines.find(|line| line.consent.approves_plan(plan)))
    }

    /// True if the user asked for `plan` without a review, and it hasn't been approved since.
    pub fn asked_for_no_review(&self, plan: &PlanId) -> HostResult<bool> {
        let auto = Consent::Auto { plan: plan.clone() };
        let mut known = self.read_lines()?.into_iter().map(|line| line.consent);
        let last = known.find(|consent| consent.approves_plan(plan) || *consent == auto);
        Ok(last.as_ref() == Some(&auto) && self.trusts(&auto)?)
    }

    /// The candidate lines for `consent`: for a plan only its last approval, otherwise all lines.
    fn lines_with(&self, consent: &Consent) -> HostResult<Vec<TrustLine>> {
        match consent {
            Consent::Plan { plan, .. } => Ok(self.last_approval(plan)?.into_iter().collect()),
            _ => self.read_lines(),
        }
    }

    /// The lines about the repository at this path, newest first.
    fn read_lines(&self) -> HostResult<Vec<TrustLine>> {
        let path = self.store_file();
        let Some(text) = file::read_text_if_there(&path, STORE_CAP)? else {
            return Ok(Vec::new());
        };
        refuse_if_exposed(&path)?;
        let lines = text
            .lines()
            .rev()
            .filter_map(|line| serde_json::from_str::<TrustLine>(line).ok());
        Ok(lines
            .filter(|line| line.repository.path == self.repository)
            .collect())
    }

    /// The repository's current identity.
    fn identity(&self) -> HostResult<RepositoryIdentity> {
        let root = match self.repository == self.worktree {
            true => None,
            false => Git::open(&self.worktree)?.first_commit()?,
        };
        Ok(RepositoryIdentity {
            path: self.repository.clone(),
            root,
        })
    }

    /// Records that the user agreed to `consent`. Recording it again changes nothing, unless it uses up a prompt.
    pub fn add(&self, consent: Consent, how: ConsentSource, at: Timestamp) -> HostResult<()> {
        if how != ConsentSource::Prompt && self.has_here(&consent, |known| *known == consent)? {
            return Ok(());
        }
        let line = TrustLine {
            schema_version: SCHEMA_VERSION,
            at,
            how,
            repository: self.identity()?,
            consent,
        };
        let path = self.store_file();
        let failed = HostError::writing(&path);
        let mut line = serde_json::to_string(&line).map_err(|error| failed(error.into()))?;
        let before = file::read_text_if_there(&path, STORE_CAP)?.unwrap_or_default();
        if !before.is_empty() && !before.ends_with('\n') {
            // The previous line was torn.
            line.insert(0, '\n');
        }
        line.push('\n');
        make_private_folder(&self.folder).map_err(failed)?;
        let mut file = private_file().append(true).open(&path).map_err(failed)?;
        // A single write, so that two concurrent commands leave two complete lines.
        file.write_all(line.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(failed)
    }

    /// Stores the approved content of `plan`, and replaces the previous one.
    pub fn keep_agreed(&self, plan: &PlanId, content: AgreedContent) -> HostResult<()> {
        let note = AgreedNote {
            repository: self.identity()?,
            content,
        };
        self.write_note(&self.agreed_file(plan), &note)
    }

    /// Writes `note` to `path`, which is in a folder of the store.
    fn write_note(&self, path: &Path, note: &impl Serialize) -> HostResult<()> {
        let failed = HostError::writing(path);
        let text = serde_json::to_vec(note).map_err(|error| failed(error.into()))?;
        make_private_folder(path.parent().unwrap_or(&self.folder)).map_err(failed)?;
        file::write_private(path, &text)
    }

    /// The content of `plan` that the user last agreed to in this repository.
    pub fn last_agreed(&self, plan: &PlanId) -> HostResult<Option<AgreedContent>> {
        let Some(text) = file::read_text_if_there(&self.agreed_file(plan), STORE_CAP)? else {
            return Ok(None);
        };
        refuse_if_exposed(&self.folder.join(AGREED))?;
        let is_here = self.last_approval(plan)?.is_some();
        let here = self.identity()?;
        let note: Option<AgreedNote> = serde_json::from_str(&text).ok();
        let note = note.filter(|note| is_here && note.repository == here);
        Ok(note.map(|note| note.content))
    }

    fn agreed_file(&self, plan: &PlanId) -> PathBuf {
        let place = format!("{}\n{plan}", self.repository.display());
        let name = approval::hash(place.as_bytes());
        self.folder.join(AGREED).join(name).with_extension("json")
    }

    /// Stores the prompt that the user typed in this session, replacing an earlier one.
    ///
    /// # Errors
    /// The session's id can't be used as a file name, or writing to disk fails.
    pub fn keep_prompt(
        &self,
        session: &str,
        prompt: &str,
        transcript: Option<&Path>,
    ) -> HostResult<()> {
        let note = PromptNote {
            repository: self.repository.clone(),
            prompt: prompt.to_owned(),
            transcript: transcript.map(Path::to_owned),
        };
        self.write_note(&self.prompt_file(session)?, &note)
    }

    /// Takes the prompt stored for `session` in this repository out of the store, so that it counts only once.
    pub fn take_prompt(&self, session: &str) -> HostResult<Option<String>> {
        let path = self.prompt_file(session)?;
        let Some(text) = file::read_text_if_there(&path, PROMPT_CAP)? else {
            return Ok(None);
        };
        refuse_if_exposed(&path)?;
        let note: Option<PromptNote> = serde_json::from_str(&text).ok();
        let Some(note) = note.filter(|note| note.repository == self.repository) else {
            return Ok(None);
        };
        fs::remove_file(&path).map_err(HostError::writing(&path))?;
        // By now the client's transcript shows if nobody typed the prompt.
        let is_typed = !note
            .transcript
            .is_some_and(|record| was_scheduled(&record, &note.prompt));
        Ok(is_typed.then_some(note.prompt))
    }

    fn prompt_file(&self, session: &str) -> HostResult<PathBuf> {
        let is_plain = session.len() <= 100
            && session.starts_with(|c: char| c.is_ascii_alphanumeric())
            && session
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let path = self
            .folder
            .join(PROMPTS)
            .join(session)
            .with_extension("json");
        match is_plain {
            true => Ok(path),
            false => Err(HostError::reading(&path)(
                io::ErrorKind::InvalidInput.into(),
            )),
        }
    }
}

/// The content that the user agreed to, and its repository.
#[derive(Serialize, Deserialize)]
struct AgreedNote {
    repository: RepositoryIdentity,
    content: AgreedContent,
}

/// A prompt and its repository.
#[derive(Serialize, Deserialize)]
struct PromptNote {
    /// The repository's path, as in its identity.
    repository: PathBuf,
    prompt: String,
    /// The client's transcript of the conversation.
    transcript: Option<PathBuf>,
}

/// The folder of the trust store and of this machine's key.
///
/// # Errors
/// The environment names no home folder.
pub(crate) fn trust_folder(env: Environment<'_>) -> HostResult<PathBuf> {
    state_folder_on(std::env::consts::OS, env).ok_or_else(|| {
        HostError::failed("there is no folder for your approvals").with_hint(format_args!(
            "set {FOLDER_VARIABLES}, or XDG_STATE_HOME to a folder of yours"
        ))
    })
}

/// The value of an environment variable of this process, if it is set and not empty.
pub(crate) fn process_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The folder of the user's state on `system`, named as in [`std::env::consts::OS`]; `None` without a home folder.
fn state_folder_on(system: &str, env: Environment<'_>) -> Option<PathBuf> {
    let chosen = env("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let base = chosen.or_else(|| UserFolder::State.path_on(system, env))?;
    Some(base.join("fractal-planner"))
}

/// Refuses a file that others can write to, since its lines may not be the user's.
fn refuse_if_exposed(path: &Path) -> HostResult<()> {
    let metadata = fs::metadata(path).map_err(HostError::reading(path))?;
    if !platform::is_exposed(&metadata) {
        return Ok(());
    }
    let path = path.display();
    Err(
        HostError::failed(format_args!("{path} can be changed by other users")).with_hint(
            format_args!("look at what is in it, then remove that right: chmod go-w {path}"),
        ),
    )
}

#[cfg(test)]
mod tests;
