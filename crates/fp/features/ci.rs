//! `fp ci`: the workflow by which a host's runners plan an issue, and build it once somebody agrees.

use fp_host::file;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

const WORKFLOW: &str = include_str!("ci/github.yml");
const TOLD: &str = include_str!("ci/github.txt");
const FOLDER: &str = ".github/workflows";

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
    if context.repo().git_dir.is_none() {
        return Err(
            CommandError::failed("the current folder is in no repository").with_hint("git init"),
        );
    }
    let machines: Vec<String> = (1..=runners).map(|n| n.to_string()).collect();
    let text = WORKFLOW.replace("MACHINES", &machines.join(", "));
    let text = text.replace("VERSION", env!("CARGO_PKG_VERSION"));
    let path = context.repo().make_folder(FOLDER)?.join("fp.yml");
    let before = file::read_text_if_there(&path, file::TASKS_CAP)?;
    if before.is_some_and(|before| before != text) {
        return Err(
            CommandError::refused(format!("there is another {FOLDER}/fp.yml already")).with_hint(
                format!("remove it, or move it out of {FOLDER}, then call this again"),
            ),
        );
    }
    file::atomic_write(&path, text.as_bytes())?;
    context.report(&json!({ "path": path, "runners": runners }), TOLD)
}
