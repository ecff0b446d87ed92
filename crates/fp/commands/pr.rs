//! `fp pr`: pushes the branch of a plan with the evidence for its commits, and opens or updates the pull request.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use fp_host::error::{HostError, HostResult};
use fp_host::forge::{Forge, HostedRepo, OpenRequest, RequestText};
use fp_host::git::{Git, Pushed};
use fp_host::plan::OpenPlan;
use fp_host::run::evidence::note_evidence;
use fp_plan::hint::Hint as _;
use fp_plan::text::shell_quoted;
use fp_run::report::pull_request::{PullRequestText, pull_request};
use fp_run::run::State;
use serde_json::json;

use super::fleet::remote_or_only;
use super::report::with_run_page;
use super::review::answer_reviews;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Push the branch of a plan, and open or update its pull request
///
/// The text is for a reviewer: what was asked and built, what to look at first, how it was verified. `gh`, as you
/// have logged it in, opens it; without it the text is printed, with the address to open it at. What people
/// write around the text stays when it is updated.
#[derive(Debug, clap::Args)]
pub(crate) struct PrArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    #[command(flatten)]
    wish: PrWish,
    /// Only print title and text.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PrWish {
    /// The remote to push to; defaults to the only one, or to `origin`. With a remote `upstream`, the pull request is made there.
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
    /// The branch to merge into; defaults to the one that the run began on.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Open it as a draft; it stays one until `fp pr` is called without this.
    #[arg(long)]
    pub(crate) draft: bool,
}

/// Marks the part of a body that `fp` writes.
const MARKS: [&str; 2] = ["<!-- fp: written by `fp pr` -->", "<!-- fp: end -->"];

/// The place of a pull request.
pub(super) struct PrPlace {
    pub(super) branch: String,
    base: String,
}

pub(crate) fn open_pull_request(args: PrArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let state = context.state(&plan)?;
    let git = plan.git()?;
    let place = place_of(&plan, &state, &args.wish, &git)?;
    let text = text_of(&plan, &state, context)?;
    if args.dry_run {
        let PullRequestText { title, body } = &text;
        let json = json!({ "planId": plan.id(), "title": title, "body": body, "head": place.branch, "base": place.base });
        return context.report(&json, &format!("{title}\n\n{body}"));
    }
    match publish(&plan, &args.wish, context) {
        Ok(url) => {
            let json = json!({ "planId": plan.id(), "branch": place.branch, "base": place.base, "url": url });
            context.report(&json, &format!("Pull request: {url}\n"))
        }
        Err(NotOpened::Pushed { reason, page }) => {
            let text = format!("{}\n\n{}", text.title, text.body);
            context.printer.data(&text);
            let said = format!(
                "{} is pushed, and no pull request is open for it: {reason}",
                place.branch
            );
            let page = page.unwrap_or_else(|| "the place where you review".to_owned());
            Err(CommandError::refused(said)
                .with_hint(format!("open it with the text above at {page}")))
        }
        Err(NotOpened::Failed(error)) => Err(error),
    }
}

/// The reason why there is no pull request.
pub(crate) enum NotOpened {
    /// The branch is pushed, and the host can't be reached by a program. `page` is where the user can open it.
    Pushed {
        reason: String,
        page: Option<String>,
    },
    Failed(CommandError),
}

impl<E: Into<CommandError>> From<E> for NotOpened {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Pushes the branch of `plan` and its notes, and opens or updates the pull request. Returns its address.
pub(crate) fn publish(
    plan: &OpenPlan,
    wish: &PrWish,
    context: &Context,
) -> Result<String, NotOpened> {
    let (state, git) = (plan.load()?.state, plan.git()?);
    // Another's log could name any branch of this repository.
    plan.agreed_commands(&state)?;
    let PrPlace { branch, base } = place_of(plan, &state, wish, &git)?;
    if !state.tasks.iter().any(|task| task.commit.is_some()) {
        return Err(
            CommandError::refused(format!("nothing is committed to {branch} yet"))
                .with_hint(state.lead_command())
                .into(),
        );
    }
    let remote = remote_or_only(wish.remote.as_deref(), &git)?;
    let noted = git.noted_commits()?;
    let is_noted = |commit: &String| noted.contains(commit);
    for task in &state.tasks {
        if !task.commit.as_ref().is_none_or(is_noted) {
            // A commit that was squashed or removed has no place for a note.
            let _ = note_evidence(plan, &state, task, &git);
        }
    }
    // The machines of a shared plan push its branch themselves, and this one need not have it.
    if !state.is_shared() {
        expect_pushed(git.push_branch(&remote, &branch)?, &remote, &branch)?;
    }
    let unsent = match git.push_notes(&remote) {
        Ok(Pushed::Done) => None,
        Ok(Pushed::Overtaken) => Some("others push theirs".to_owned()),
        Ok(Pushed::Refused(said)) => Some(said),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = unsent {
        context.warn(format_args!(
            "the notes with the evidence are not pushed: {why}"
        ));
    }
    let Some(hosted) = Hosted::of_remote(&git, &remote)? else {
        let reason = format!("{remote} is no repository of a host");
        return Err(NotOpened::Pushed { reason, page: None });
    };
    let (repo, head) = (hosted.repo.clone(), hosted.head(&branch));
    let page = repo.compare_url(&base, &head);
    let not_opened = |error: HostError| NotOpened::Pushed {
        reason: in_one(&error),
        page: Some(page.clone()),
    };
    let forge = Forge::find(repo).map_err(not_opened)?;
    let text = text_of(plan, &state, context)?;
    let open = forge.open_request(&head).map_err(not_opened)?;
    let before = open.as_ref().map_or("", |open| &*open.body);
    let body = with_part(before, &text.body);
    let request = RequestText {
        head: &head,
        base: &base,
        title: &text.title,
        body: &body,
        draft: wish.draft,
    };
    let Some(OpenRequest {
        number,
        url,
        is_draft,
        ..
    }) = open
    else {
        return forge.create(request).map_err(not_opened);
    };
    let ready = is_draft && !wish.draft;
    forge.edit(number, request, ready).map_err(not_opened)?;
    answer_reviews(plan, &state, (&forge, number))?;
    Ok(url)
}

/// The repository on a host that pull requests and issues of a repository are in.
pub(super) struct Hosted {
    pub(super) repo: HostedRepo,
    /// The owner of the fork that is pushed to, if that is another repository.
    fork: Option<String>,
}

impl Hosted {
    /// The repository behind the remote `upstream`, if there is one, or else behind `remote`; `None` if that is no
    /// repository of a host.
    pub(super) fn of_remote(git: &Git, remote: &str) -> HostResult<Option<Self>> {
        let repo_of = |remote: &str| {
            let addresses = git.addresses_of(remote)?;
            HostResult::Ok(addresses.iter().find_map(|url| HostedRepo::of_url(url)))
        };
        let own = repo_of(remote)?;
        let has_upstream = git.remotes()?.iter().any(|name| name == "upstream");
        let upstream = match has_upstream && remote != "upstream" {
            true => repo_of("upstream")?,
            false => None,
        };
        Ok(match (own, upstream) {
            (Some(own), Some(upstream)) => Some(Self {
                fork: Some(own.owner().to_owned()),
                repo: upstream,
            }),
            (own, _) => own.map(|repo| Self { repo, fork: None }),
        })
    }

    /// The repository of the only remote, or of `origin`.
    pub(super) fn of_repository(git: &Git) -> Result<Self, CommandError> {
        let remote = remote_or_only(None, git)?;
        Self::of_remote(git, &remote)?.ok_or_else(|| {
            CommandError::failed(format!("{remote} is no repository of a host"))
                .with_hint("`git remote -v` shows the addresses")
        })
    }

    /// The branch `name` as the host's program calls it.
    pub(super) fn head(&self, name: &str) -> String {
        match &self.fork {
            Some(owner) => format!("{owner}:{name}"),
            None => name.to_owned(),
        }
    }
}

/// Keeps the pull request of a run up to date, beside the run, with one call at a time.
#[derive(Default)]
pub(super) struct PrKeeper {
    /// Number of commits when it was last published.
    commits: usize,
    call: Option<JoinHandle<Result<String, NotOpened>>>,
}

impl PrKeeper {
    /// Publishes what `state` has committed since, as a draft.
    pub(super) fn follow(&mut self, plan: &Arc<OpenPlan>, state: &State, context: &Context) {
        let made = state.tasks.iter().filter(|task| task.commit.is_some());
        let commits = made.count();
        if commits <= self.commits || state.terms().branch.is_none() {
            return;
        }
        if self.call.as_ref().is_some_and(|call| !call.is_finished()) {
            return;
        }
        self.commits = commits;
        let (plan, context) = (Arc::clone(plan), context.without_notes());
        let wish = PrWish {
            draft: true,
            ..PrWish::default()
        };
        self.call = Some(thread::spawn(move || publish(&plan, &wish, &context)));
    }

    /// Publishes the end of the run, which makes a draft ready. Returns what to tell the user.
    pub(super) fn end(self, plan: &OpenPlan, context: &Context) -> Option<String> {
        // Its result is of no use: the same is tried again.
        let _ = self.call?.join();
        let wish = PrWish::default();
        let again = format!("`fp pr {}` tries again", plan.id());
        Some(match publish(plan, &wish, context) {
            Ok(url) => format!("pull request: {url}"),
            Err(NotOpened::Pushed { reason, .. }) => {
                format!("the branch is pushed, and no pull request is open: {reason}; {again}")
            }
            Err(NotOpened::Failed(error)) => {
                format!("there is no pull request: {}; {again}", error.message)
            }
        })
    }
}

fn in_one(error: &HostError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// Fails unless the host has the branch.
fn expect_pushed(pushed: Pushed, remote: &str, branch: &str) -> Result<(), CommandError> {
    let quoted = shell_quoted(branch);
    match pushed {
        Pushed::Done => Ok(()),
        Pushed::Overtaken => Err(CommandError::refused(format!(
            "{branch} on {remote} has commits that this repository does not have: somebody pushed to it, or it was rewritten"
        ))
        .with_hint(format!(
            "git fetch {0} {quoted} shows them as FETCH_HEAD; merge them into {branch}, or push over them with git push --force-with-lease {0} {quoted}",
            shell_quoted(remote)
        ))),
        Pushed::Refused(said) => Err(CommandError::refused(format!(
            "{remote} does not take {branch}: {}",
            fp_plan::text::visible_line(&said)
        ))
        .with_hint("a branch may be protected, or the login may not push: the host's rules say so; nothing is lost")),
    }
}

pub(super) fn place_of(
    plan: &OpenPlan,
    state: &State,
    wish: &PrWish,
    git: &Git,
) -> Result<PrPlace, CommandError> {
    let own = state.terms().branch.as_ref();
    let shared = plan.store.membership()?.map(|member| member.place.branch);
    let Some(branch) = own.map(|own| own.name.clone()).or(shared) else {
        return Err(CommandError::refused(format!(
            "{} has no branch of its own: its commits are on the branch that was checked out",
            plan.id()
        ))
        .with_hint(
            "push that branch yourself; `fp run --branch` gives the next plan one of its own",
        ));
    };
    let from = own.and_then(|own| own.from.clone());
    let base = wish.base.clone().or(from);
    let base = base.unwrap_or_else(|| "main".to_owned());
    if base.starts_with('-') || !git.is_branch_name(&base)? {
        let said = format!("{base:?} can't be the name of a branch");
        return Err(CommandError::failed(said).with_hint("name the branch to merge into"));
    }
    Ok(PrPlace { branch, base })
}

fn text_of(
    plan: &OpenPlan,
    state: &State,
    context: &Context,
) -> Result<PullRequestText, CommandError> {
    let closes = plan.folder.record().ok().and_then(|record| record.issue);
    with_run_page(plan, context, |_, page| {
        Ok(pull_request(&page, state, closes))
    })
}

/// `before` with the part that `fp` writes replaced by `text`, or with it in front.
fn with_part(before: &str, text: &str) -> String {
    let part = format!("{}\n{text}{}", MARKS[0], MARKS[1]);
    let old = before.find(MARKS[0]).zip(before.find(MARKS[1]));
    match old.filter(|(from, to)| from < to) {
        Some((from, to)) => [&before[..from], &part, &before[to + MARKS[1].len()..]].concat(),
        None if before.trim().is_empty() => part,
        None => format!("{part}\n\n{before}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_stays() {
        let first = with_part("", "one\n");
        assert_eq!(
            with_part(&format!("{first}\n\nMine"), "two\n"),
            with_part("", "two\n") + "\n\nMine"
        );
        assert!(with_part("Template", "one\n").ends_with("\n\nTemplate"));
        let broken = format!("{} and {}", MARKS[1], MARKS[0]);
        assert!(with_part(&broken, "one\n").ends_with(&broken));
    }
}
