//! `fp ci`: prints a workflow by which machines of a host take part in a shared plan.

use fp_run::run::approval;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

const GITHUB: &str = include_str!("ci-github.yml");

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
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum CiAgent {
    #[default]
    Claude,
    Codex,
}

impl CiAgent {
    /// Its name, its npm package, the variable with its key, and the usual name of that secret.
    fn words(self) -> [(&'static str, &'static str); 4] {
        let [agent, package, key, secret] = match self {
            Self::Claude => [
                "claude",
                "@anthropic-ai/claude-code",
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_API_KEY",
            ],
            Self::Codex => ["codex", "@openai/codex", "CODEX_API_KEY", "OPENAI_API_KEY"],
        };
        [
            ("AGENT", agent),
            ("PACKAGE", package),
            ("KEY", key),
            ("SECRET", secret),
        ]
    }
}

pub(crate) fn run(args: CiArgs, context: &Context) -> CommandResult {
    let CiArgs::Github(args) = args;
    let plan = context.open_to_read(args.plan.as_deref())?;
    let (id, state) = (plan.id(), plan.load()?.state);
    let Some(member) = plan.store.membership()? else {
        return Err(CommandError::refused(format!(
            "{id} is not shared, and runners meet at a git remote"
        ))
        .hint(format!("fp share {id}")));
    };
    let machines: Vec<u32> = (1..=args.runners).collect();
    let values = [
        ("NAME", quoted(&format!("fp {id}"))),
        ("PLAN", quoted(id.as_str())),
        ("HASH", quoted(&approval::consent_hash(&state))),
        ("LOG_REF", quoted(&member.place.log_ref)),
        ("BRANCH", quoted(&member.place.branch)),
        ("MACHINES", format!("{machines:?}")),
        ("BUILDERS", args.builders.to_string()),
        (
            "FP",
            concat!("fractal-planner@", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
    ];
    let words = args
        .agent
        .words()
        .map(|(place, word)| (place, word.to_owned()));
    let value_of = |place: &str| words.iter().chain(&values).find(|(name, _)| *name == place);
    let mut text = String::new();
    for (number, part) in GITHUB.split("@@").enumerate() {
        let value = value_of(part).filter(|_| number % 2 == 1);
        text.push_str(value.map_or(part, |(_, value)| value));
    }
    context.report(&json!({ "planId": id, "workflow": text }), &text)
}

/// `text` as a string of YAML in which GitHub finds no expression but one that stands for `${{`.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace("${{", "${{ '${{' }}")
}
