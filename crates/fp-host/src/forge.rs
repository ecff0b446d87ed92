//! The code host of a remote, by its own program: `gh` for GitHub. `fp` has no access of its own: what reaches the host
//! goes through the program that the user has logged in, with arguments and never through a shell.

use std::fmt::Display;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use fp_run::verification::CommandEnd;
use serde_json::Value;

use crate::error::{HostError, HostResult};
use crate::platform;
use crate::process::{Limits, run_to_end};

/// Limits on a call of the host's program.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    head: 4 * 1024 * 1024,
    tail: 0,
};
/// Asks for the discussions of a pull request. Its answer has at most 100 of them, with the first 20 comments of each.
const THREADS: &str = "query($owner:String!,$name:String!,$number:Int!){repository(owner:$owner,name:$name){pullRequest(number:$number){reviewThreads(first:100){nodes{id isResolved path line comments(first:20){nodes{body author{login}}}}}}}}";
/// Answers a discussion.
const REPLY: &str = "mutation($thread:ID!,$body:String!){addPullRequestReviewThreadReply(input:{pullRequestReviewThreadId:$thread,body:$body}){comment{id}}}";

/// A repository on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedRepo {
    pub host: String,
    /// `OWNER/NAME`; on GitLab there may be more parts.
    pub path: String,
}

impl HostedRepo {
    /// Reads the address of a remote; `None` for a folder, or an address with anything unusual in it.
    pub fn of_url(url: &str) -> Option<Self> {
        let rest = match url.split_once("://") {
            Some(("https" | "http" | "ssh" | "git", rest)) => rest.to_owned(),
            Some(_) => return None,
            // `git@host:owner/name`
            None => {
                let (host, path) = url.split_once(':')?;
                format!("{host}/{path}")
            }
        };
        let (place, path) = rest.split_once('/')?;
        let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
        let host = host.split(':').next().unwrap_or_default();
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_plain = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !text.is_empty() && !text.starts_with(['-', '.']) && text.chars().all(plain)
        };
        let is_repo = path.contains('/') && path.split('/').all(is_plain);
        (is_plain(host) && is_repo).then(|| Self {
            host: host.to_owned(),
            path: path.to_owned(),
        })
    }

    pub fn owner(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn is_gitlab(&self) -> bool {
        self.host.contains("gitlab")
    }

    /// The page on which a pull request from `head` into `base` is opened by hand.
    pub fn compare_url(&self, base: &str, head: &str) -> String {
        let Self { host, path } = self;
        match self.is_gitlab() {
            true => format!(
                "https://{host}/{path}/-/merge_requests/new?merge_request[source_branch]={head}&merge_request[target_branch]={base}"
            ),
            false => format!("https://{host}/{path}/compare/{base}...{head}?expand=1"),
        }
    }
}

/// A pull request that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest {
    pub number: u64,
    pub url: String,
    pub body: String,
    pub is_draft: bool,
}

/// An issue, as somebody wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostIssue {
    pub title: String,
    pub body: String,
    pub url: String,
}

/// A discussion of a pull request at a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewThread {
    pub id: String,
    pub path: String,
    pub line: Option<u64>,
    /// The comments, each with its author.
    pub comments: Vec<(String, String)>,
}

/// The text of a pull request, and its branches.
#[derive(Debug, Clone, Copy)]
pub struct RequestText<'r> {
    /// The branch with the commits; of a fork, with its owner and a colon in front.
    pub head: &'r str,
    pub base: &'r str,
    pub title: &'r str,
    pub body: &'r str,
    pub draft: bool,
}

/// A host's program, for one repository.
#[derive(Debug, Clone)]
pub struct Forge {
    program: PathBuf,
    repo: HostedRepo,
}

impl Forge {
    /// The program for the host of `repo`.
    ///
    /// # Errors
    /// It isn't installed, or the host is no GitHub.
    pub fn find(repo: HostedRepo) -> HostResult<Self> {
        let host = &repo.host;
        if repo.is_gitlab() {
            let said =
                format!("{host} is a GitLab, and only GitHub has a program that is called here");
            return Err(HostError::failed(said).with_hint("do that part by hand"));
        }
        let search = std::env::var_os("PATH").unwrap_or_default();
        let program = platform::find_program("gh", &search).ok_or_else(|| {
            HostError::failed(format!(
                "`gh` is not installed, and {host} is reached by it"
            ))
            .with_hint(format!(
                "install it, and log in: `gh auth login --hostname {host}`"
            ))
        })?;
        Ok(Self { program, repo })
    }

    /// The open pull request from the branch `head`. Anybody's fork may have a branch of that name, so its owner counts.
    ///
    /// # Errors
    /// The program fails.
    pub fn open_request(&self, head: &str) -> HostResult<Option<OpenRequest>> {
        let (owner, branch) = head.split_once(':').unwrap_or((self.repo.owner(), head));
        let fields = "number,url,body,isDraft,headRepositoryOwner";
        let found = self.json(&[
            "pr", "list", "--head", branch, "--state", "open", "--json", fields,
        ])?;
        let is_own = |request: &&Value| {
            text_at(request, "/headRepositoryOwner/login").eq_ignore_ascii_case(owner)
        };
        let found = found.as_array().ok_or_else(|| unexpected("no list"))?;
        let Some(open) = found.iter().find(is_own) else {
            return Ok(None);
        };
        let number = open["number"].as_u64();
        Ok(Some(OpenRequest {
            number: number.ok_or_else(|| unexpected("a pull request without a number"))?,
            url: text_at(open, "/url"),
            body: text_at(open, "/body"),
            is_draft: open["isDraft"] == true,
        }))
    }

    /// Opens a pull request; returns its address.
    ///
    /// # Errors
    /// The program fails.
    pub fn create(&self, text: RequestText<'_>) -> HostResult<String> {
        let mut args = vec!["pr", "create", "--head", text.head, "--base", text.base];
        args.extend(["--title", text.title, "--body-file", "-"]);
        args.extend(text.draft.then_some("--draft"));
        let said = self.call(&args, text.body)?;
        let mut words = said.split_whitespace().rev();
        let url = words.find(|word| word.starts_with("https://") || word.starts_with("http://"));
        Ok(url.unwrap_or_default().to_owned())
    }

    /// Gives the pull request `number` this title and body, and ends its being a draft if `ready`.
    ///
    /// # Errors
    /// The program fails.
    pub fn edit(&self, number: u64, text: RequestText<'_>, ready: bool) -> HostResult<()> {
        // `gh pr edit` reads more than it changes, which takes rights to projects.
        let pull = format!("repos/{}/pulls/{number}", self.repo.path);
        let title = format!("title={}", text.title);
        let args = ["api", "--hostname", &self.repo.host, "--method", "PATCH"];
        let fields = ["--raw-field", &title, "--field", "body=@-", "--silent"];
        self.run(&[&args[..], &[&pull], &fields].concat(), text.body)?;
        match ready {
            true => self
                .call(&["pr", "ready", &number.to_string()], "")
                .map(drop),
            false => Ok(()),
        }
    }

    /// The issue `number`.
    ///
    /// # Errors
    /// There is none, or the program fails.
    pub fn issue(&self, number: u64) -> HostResult<HostIssue> {
        let number = number.to_string();
        let issue = self.json(&["issue", "view", &number, "--json", "title,body,url"])?;
        if text_at(&issue, "/title").is_empty() {
            return Err(unexpected("an issue without a title"));
        }
        Ok(HostIssue {
            title: text_at(&issue, "/title"),
            body: text_at(&issue, "/body"),
            url: text_at(&issue, "/url"),
        })
    }

    /// The discussions of the pull request `number` that nobody has resolved.
    ///
    /// # Errors
    /// The program fails, or answers with something else.
    pub fn open_threads(&self, number: u64) -> HostResult<Vec<ReviewThread>> {
        let (query, number) = (format!("query={THREADS}"), format!("number={number}"));
        let (owner, name) = (
            format!("owner={}", self.repo.owner()),
            format!("name={}", self.repo.name()),
        );
        let answer = self.graphql(&["-f", &query, "-f", &owner, "-f", &name, "-F", &number])?;
        let nodes = answer.pointer("/data/repository/pullRequest/reviewThreads/nodes");
        let nodes = nodes.and_then(Value::as_array).ok_or_else(|| {
            HostError::failed(
                "the host has no such pull request, or said something else than its discussions",
            )
            .with_hint("see whether `gh pr view` shows it")
        })?;
        let open = nodes.iter().filter(|node| node["isResolved"] == false);
        let thread = |node: &Value| ReviewThread {
            id: text_at(node, "/id"),
            path: text_at(node, "/path"),
            line: node["line"].as_u64(),
            comments: node
                .pointer("/comments/nodes")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|comment| (text_at(comment, "/author/login"), text_at(comment, "/body")))
                .collect(),
        };
        Ok(open.map(thread).collect())
    }

    /// Answers the discussion `thread`.
    ///
    /// # Errors
    /// The program fails.
    pub fn reply(&self, thread: &str, body: &str) -> HostResult<()> {
        let (query, thread, body) = (
            format!("query={REPLY}"),
            format!("thread={thread}"),
            format!("body={body}"),
        );
        self.graphql(&["-f", &query, "-f", &thread, "-f", &body])
            .map(drop)
    }

    fn graphql(&self, args: &[&str]) -> HostResult<Value> {
        let head = ["api", "--hostname", &self.repo.host, "graphql"];
        serde_json::from_str(&self.run(&[&head, args].concat(), "")?).map_err(unexpected)
    }

    fn json(&self, args: &[&str]) -> HostResult<Value> {
        serde_json::from_str(&self.call(args, "")?).map_err(unexpected)
    }

    /// Calls the program for the repository.
    fn call(&self, args: &[&str], input: &str) -> HostResult<String> {
        let repo = format!("{}/{}", self.repo.host, self.repo.path);
        self.run(&[args, &["--repo", &repo]].concat(), input)
    }

    fn run(&self, args: &[&str], input: &str) -> HostResult<String> {
        let mut command = Command::new(&self.program);
        let command_line = args[..2.min(args.len())].join(" ");
        command.args(args);
        command.env("GH_PROMPT_DISABLED", "1").env("NO_COLOR", "1");
        let ended = run_to_end(command, input.as_bytes(), LIMITS);
        let ended = ended.map_err(HostError::doing("start `gh`"))?;
        match ended.end {
            CommandEnd::Exited(0) => Ok(ended.stdout.to_text()),
            CommandEnd::TimedOut(_) => {
                Err(HostError::failed("`gh` did not answer within a minute")
                    .with_hint("try again when the host can be reached"))
            }
            _ => Err(self.refusal(&command_line, &ended.stderr.to_text())),
        }
    }

    fn refusal(&self, command_line: &str, said: &str) -> HostError {
        let HostedRepo { host, path } = &self.repo;
        let lines = said.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).take(3).collect();
        let lower = said.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let hint = if has(&["rate limit"]) {
            "wait until the host answers again; nothing is lost".to_owned()
        } else if has(&["auth login", "bad credentials", "http 401", "gh_token"]) {
            format!("log in: `gh auth login --hostname {host}`")
        } else if has(&["http 403", "permission", "not accessible", "forbidden"]) {
            format!(
                "the login may not do that: `gh auth refresh --hostname {host} --scopes repo`, or ask whoever owns the repository"
            )
        } else {
            format!("`gh repo view {host}/{path}` shows whether the repository can be reached")
        };
        let told = fp_plan::text::visible_line(&lines.join("; "));
        HostError::failed(format!("`gh {command_line}` failed: {told}")).with_hint(hint)
    }
}

/// The text at `at` in an answer; empty if there is none.
fn text_at(answer: &Value, at: &str) -> String {
    let text = answer.pointer(at).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn unexpected(said: impl Display) -> HostError {
    HostError::failed(format!("`gh` answered with something unexpected: {said}"))
        .with_hint("update `gh`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |url: &str, expect: Option<(&str, &str)>| {
            let found = HostedRepo::of_url(url);
            let found = found
                .as_ref()
                .map(|repo| (repo.host.as_str(), repo.path.as_str()));
            assert_eq!(found, expect, "{url}");
        };
        let own = Some(("github.com", "a/b"));
        for url in [
            "git@github.com:a/b.git",
            "https://github.com/a/b",
            "https://user:secret@github.com/a/b.git",
            "ssh://git@github.com:22/a/b.git/",
        ] {
            check(url, own);
        }
        check(
            "https://gitlab.example.org/g/sub/p.git",
            Some(("gitlab.example.org", "g/sub/p")),
        );
        for url in [
            "/srv/repo.git",
            "../b",
            "file:///srv/b.git",
            "https://h/only",
            "git@h:-x/y",
            "https://h/a/b;c",
            "https://-h/a/b",
            "C:\\repo\\x",
        ] {
            check(url, None);
        }
    }
}
