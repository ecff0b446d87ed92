//! `fp ci`: the workflow by which a host's runners plan an issue, and build it once somebody agrees.

use fp_host::file;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

const WORKFLOW: &str = include_str!("ci/github.yml");
const PATH: &str = ".github/workflows/fp.yml";

/// Write a workflow that plans labelled issues, and builds what somebody agrees to
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CiArgs {
    Github(GithubArgs),
}

/// Write .github/workflows/fp.yml
///
/// An issue with the label `fp` becomes a plan, which is shown in the issue. Somebody who may write to the repository
/// starts its run by a comment of the printed line; its end is a pull request.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct GithubArgs {
    /// Number of runners that build at the same time, at most 20
    #[arg(short = 'j', long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=20))]
    runners: u8,
}

pub(crate) fn run(args: CiArgs, context: &Context) -> CommandResult {
    let CiArgs::Github(GithubArgs { runners }) = args;
    let machines: Vec<String> = (1..=runners).map(|n| n.to_string()).collect();
    let text = WORKFLOW.replace("MACHINES", &machines.join(", "));
    let path = context.repo().root.join(PATH);
    let before = file::read_text_if_there(&path, file::TASKS_CAP)?;
    if before.is_some_and(|before| before != text) {
        let message = format!("there is another {PATH} already");
        return Err(CommandError::refused(message)
            .with_hint("remove it or rename it, then call this again"));
    }
    context.repo().make_folder(".github/workflows")?;
    file::atomic_write(&path, text.as_bytes())?;
    context.report(
        &json!({ "path": PATH, "runners": runners }),
        &format!(
            "Written: {PATH}\nOn GitHub it needs, once it is on the default branch:\n\
             - the label `fp`, for the issues to plan\n\
             - the secret ANTHROPIC_API_KEY, for the agents\n\
             - in Settings, Actions, General: the right of workflows to create pull requests\n"
        ),
    )
}
