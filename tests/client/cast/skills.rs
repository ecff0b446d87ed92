//! The lead of the simple skills, which run commands and show the output.

use super::Skill;
use super::walk::{Next, Walk};
use crate::request::{Block, Request, text};

/// The lead's next message or call; its last message is the output of the last command.
pub(super) fn reply(request: &Request, skill: &Skill) -> Vec<Block> {
    played(request, skill).unwrap_or_else(|next| next)
}

fn played(request: &Request, skill: &Skill) -> Result<Next, Next> {
    let mut walk = Walk::new(request, skill);
    let arguments = skill.arguments.as_str();
    let printed = match skill.name.as_str() {
        "status" => walk.run(format!("fp status {arguments}").trim_end())?,
        "handoff" => {
            walk.run(&format!(
                "fp note {arguments} add 'GOTCHA: the greeting is in capitals'"
            ))?;
            walk.run(&format!("fp report --handoff {arguments}"))?
        }
        "retry" => {
            walk.run(&format!("fp why {arguments}"))?;
            walk.run(&format!("fp retry {arguments}"))?
        }
        "commit" => {
            walk.try_run(&format!("fp commit {arguments}"))?;
            walk.run(&format!("git diff HEAD -- {arguments}"))?;
            walk.run(&format!(
                "fp commit {arguments} --message 'docs: say more about the sample'"
            ))?
        }
        other => panic!("nobody plays /fp:{other}"),
    };
    Ok(text(printed))
}
