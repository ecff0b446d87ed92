//! The doctor of the setup: gathers the facts that `fp_core::doctor::setup` judges. Nothing is changed, every process
//! has a time limit, and each fault is a finding, so that all of them are seen at once.

mod client;
mod git;
mod hooks;
mod place;

use std::path::{Path, PathBuf};

use fp_core::doctor::Finding;
use fp_core::doctor::setup::{self, Fault};
use jiff::Timestamp;

use crate::config::Environment;
use crate::repo::Repo;

/// Where the setup is examined, and by which program.
pub struct Setup<'a> {
    /// The current folder.
    pub cwd: &'a Path,
    /// The repository that it is in.
    pub repo: &'a Repo,
    /// The environment.
    pub env: Environment<'a>,
    /// The client's program, instead of the one on PATH.
    pub client: Option<&'a Path>,
    /// The version of this program.
    pub version: &'a str,
    /// The plugin's `hooks.json`, as this program would write it.
    pub hooks: &'a [u8],
    /// The time.
    pub now: Timestamp,
}

/// Looks at all that the program works with, whether or not it is there.
#[must_use]
pub fn examine(setup: &Setup<'_>) -> Vec<Finding> {
    let client = client::Client::ask(setup);
    let plugin = client.plugin.as_ref().and_then(|plugin| plugin.as_ref().ok());
    let program = client.folder.as_deref().map(client::program);
    let files = client::settings(setup);
    let (wiring, answers) = hooks::examine(setup, client.folder.as_deref(), program.as_ref());
    let mut found = vec![
        setup::client(&client.found),
        setup::plugin(client.plugin.as_ref()),
        setup::program(program.as_ref(), plugin, setup.version),
        setup::hooks(&wiring, &answers, &files, plugin),
        setup::agent_teams((setup.env)(fp_core::client_settings::TEAMS).as_deref(), &files),
    ];
    found.extend(setup::permissions(&files));
    found.extend(git::examine(setup.cwd));
    found.push(place::repository(setup));
    found.extend(place::settings(setup));
    found.extend(place::leftovers(setup));
    found.push(place::disk(setup));
    found.iter_mut().for_each(|finding| shorten(finding, setup));
    found
}

/// Names the paths of `finding` as they are seen from the repository, or else from the home; those in its command so
/// that it holds in every folder.
fn shorten(finding: &mut Finding, setup: &Setup<'_>) {
    let home = (setup.env)(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from);
    let below = |folder: &Path| folder.join("").display().to_string();
    let repo = setup.repo.git_dir.as_ref().map(|_| (below(&setup.repo.root), ""));
    let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
    let home = home.map(|home| (below(&home), if cfg!(windows) { r"~\" } else { "~/" }));
    if let Some((from, to)) = &home {
        finding.command = finding.command.take().map(|command| command.replace(from, to));
    }
    for (from, to) in repo.into_iter().chain(home) {
        finding.detail = finding.detail.replace(&from, to);
    }
}

fn fault(message: impl std::fmt::Display, hint: Option<impl Into<String>>) -> Fault {
    Fault::new(message.to_string(), hint.map(Into::into))
}
