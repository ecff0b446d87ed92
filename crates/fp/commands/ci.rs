//! `fp ci`: writes a workflow by which machines of a host take part in a shared plan.

use std::fs;
use std::path::{Path, PathBuf};

use fp_host::file::{self, FileError};
use fp_host::platform;
use fp_run::run::approval;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

const GITHUB: &str = include_str!("ci-github.yml");
/// First line of every workflow that may be replaced.
const OWN: &str = "# Written by `fp ci github`, which replaces it.";
/// Size limit of a workflow, in bytes.
const WORKFLOW_CAP: u64 = 1024 * 1024;

/// Have machines of a host take part in a shared plan
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CiArgs {
    Github(GithubArgs),
}

/// Print a GitHub workflow whose runners join the plan and run it
#[derive(Debug, clap::Args)]
pub(crate) struct GithubArgs {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// How many builders work at once on each runner.
    #[arg(short = 'j', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    builders: u32,
    /// How many runners take part.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=50))]
    runners: u32,
    /// The program that plays all agents.
    #[arg(long, value_enum, default_value_t)]
    agent: CiAgent,
    /// Write it to `.github/workflows/fp-PLAN.yml` of this repository.
    #[arg(long)]
    write: bool,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum CiAgent {
    #[default]
    Claude,
    Codex,
}

impl CiAgent {
    /// Its name, its npm package, the variable that it reads its key from, and the usual name of that as a secret.
    fn words(self) -> [(&'static str, &'static str); 4] {
        let [agent, package, key, secret] = match self {
            Self::Claude => ["claude", "@anthropic-ai/claude-code", "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"],
            Self::Codex => ["codex", "@openai/codex", "CODEX_API_KEY", "OPENAI_API_KEY"],
        };
        [("AGENT", agent), ("PACKAGE", package), ("KEY", key), ("SECRET", secret)]
    }
}

pub(crate) fn run(args: CiArgs, context: &Context) -> CommandResult {
    let CiArgs::Github(args) = args;
    let plan = context.open_to_read(args.plan.as_deref())?;
    let (id, state) = (plan.id(), plan.load()?.state);
    let Some(member) = plan.store.membership()? else {
        return Err(CommandError::refused(format!("{id} is not shared, and runners meet at a git remote"))
            .hint(format!("fp share {id}")));
    };
    let machines: Vec<u32> = (1..=args.runners).collect();
    let values = [
        ("OWN", OWN.to_owned()),
        ("NAME", quoted(&format!("fp {id}"))),
        ("PLAN", quoted(id.as_str())),
        ("HASH", quoted(&approval::consent_hash(&state))),
        ("LOG_REF", quoted(&member.place.log_ref)),
        ("BRANCH", quoted(&member.place.branch)),
        ("MACHINES", format!("{machines:?}")),
        ("BUILDERS", args.builders.to_string()),
        ("FP", concat!("fractal-planner@", env!("CARGO_PKG_VERSION")).to_owned()),
    ];
    let words = args.agent.words().map(|(place, word)| (place, word.to_owned()));
    let value_of = |place: &str| words.iter().chain(&values).find(|(name, _)| *name == place);
    let mut text = String::new();
    for (number, part) in GITHUB.split("@@").enumerate() {
        let value = value_of(part).filter(|_| number % 2 == 1);
        text.push_str(value.map_or(part, |(_, value)| value));
    }
    let name = format!("fp-{id}.yml");
    let path = if args.write { Some(write(&context.repo().root, &name, &text)?) } else { None };
    let shown = path.as_deref().map(|path| context.shown(path));
    let said = match &shown {
        Some(path) => format!("Written: {path}\nNext: commit it to the default branch, and start it there\n"),
        None => text.clone(),
    };
    context.report(&json!({ "planId": id, "path": shown, "workflow": text }), &said)
}

/// `text` as a string of YAML in which GitHub finds no expression but one that stands for `${{`.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace("${{", "${{ '${{' }}")
}

/// Writes a workflow of the repository, but over none that somebody else wrote.
fn write(root: &Path, name: &str, text: &str) -> Result<PathBuf, CommandError> {
    let folder = root.join(".github/workflows");
    let path = folder.join(name);
    let failed = |source| FileError::Write { path: folder.clone(), source };
    fs::create_dir_all(&folder).map_err(failed)?;
    let is_within =
        platform::real_path(&folder).map_err(failed)?.starts_with(platform::real_path(root).map_err(failed)?);
    let found = file::read_text_if_there(&path, WORKFLOW_CAP)?;
    if !is_within || found.is_some_and(|found| !found.starts_with(OWN)) {
        let what = if is_within { "is not a workflow of `fp ci`" } else { "is outside the repository" };
        return Err(CommandError::refused(format!("{} {what}, and is left alone", path.display()))
            .hint("without --write the workflow is printed"));
    }
    file::atomic_write(&path, text.as_bytes())?;
    Ok(path)
}
