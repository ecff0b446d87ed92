//! Checks a change from measured facts: whatever needs no judgement is decided here, before anybody judges, and never
//! on an agent's word.

mod boundary;
pub mod by_products;
pub mod change;
mod dependencies;
mod intent;
mod leftovers;
mod output_cut;
pub mod ownership;
mod test_cases;
mod test_setup;
mod weakened;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use boundary::Boundary;
use change::{Change, ChangeStatus, ChangedLines};
pub use test_setup::{check_counts, tests_ran};

use fp_plan::package_files::is_package_file;
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::task::Task;
use fp_plan::repo_path::RepoPath;
use fp_plan::test_settings::has_test_settings;
use fp_plan::text::{command_span, counted};

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// The check holds.
    Pass,
    /// The check fails, and the task can't pass.
    Fail,
    /// Worth knowing, but not decisive.
    Note,
    /// There is nothing to check.
    NotApplicable,
}

/// One mechanical check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The subject, such as `boundary`.
    pub name: String,
    pub verdict: CheckVerdict,
    /// The evidence for a pass, or the fault.
    pub detail: String,
}

impl CheckVerdict {
    fn fail_if(fails: bool) -> Self {
        if fails { Self::Fail } else { Self::Note }
    }
}

impl Check {
    fn new(name: &str, verdict: CheckVerdict, detail: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            verdict,
            detail: detail.into(),
        }
    }

    /// The fault, worded for people and builders: says if there was no output, and leaves out a command's duration and
    /// the hash of its output, which only serve as proof.
    pub fn told(&self) -> String {
        let Some(command) = self.command() else {
            return format!("Check {}: {}", self.name, self.detail);
        };
        let (command, (ended, output)) = (command_span(command), self.outcome());
        match output.is_empty() {
            true => format!("{command} failed: {ended}, no output"),
            false => format!("{command} failed: {ended}\n{output}"),
        }
    }

    /// The result on one line: how a command ended, and the last line that it printed.
    pub fn result(&self) -> String {
        let (ended, output) = self.outcome();
        match output.lines().rfind(|line| !line.trim().is_empty()) {
            Some(last) => format!("{ended}: {}", last.trim()),
            None => ended.to_owned(),
        }
    }

    /// How a command ended, without its duration and the hash of its output; and its output.
    fn outcome(&self) -> (&str, &str) {
        let (head, output) = self.detail.split_once('\n').unwrap_or((&self.detail, ""));
        let ended = head
            .split_once(" after ")
            .filter(|_| head.contains(", output sha256 "));
        (ended.map_or(head, |(ended, _)| ended), output)
    }

    pub fn fails(&self) -> bool {
        self.verdict == CheckVerdict::Fail
    }

    /// The command that the check runs, if any.
    pub fn command(&self) -> Option<&str> {
        self.name.strip_prefix(COMMAND_CHECK)
    }

    /// True if the check found traces of unfinished work but only mentioned them, without failing the task.
    pub fn lets_go(&self) -> bool {
        self.name == leftovers::NAME && self.verdict == CheckVerdict::Note
    }
}

/// The findings of a check: faults, which make it fail, and notes, which are only worth knowing.
#[derive(Debug, Default)]
struct Findings {
    faults: Vec<String>,
    notes: Vec<String>,
}

impl Findings {
    fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.notes.is_empty()
    }

    /// The list that the finding belongs to.
    fn list(&mut self, is_fault: bool) -> &mut Vec<String> {
        match is_fault {
            true => &mut self.faults,
            false => &mut self.notes,
        }
    }

    fn add_all(&mut self, more: Self) {
        self.faults.extend(more.faults);
        self.notes.extend(more.notes);
    }

    /// Turns the findings into the check `name`; without findings it passes with the detail `fine`.
    fn into_check(self, name: &str, fine: &str) -> Check {
        if !self.faults.is_empty() {
            Check::new(name, CheckVerdict::Fail, list(&self.faults))
        } else if !self.notes.is_empty() {
            Check::new(name, CheckVerdict::Note, list(&self.notes))
        } else {
            Check::new(name, CheckVerdict::Pass, fine)
        }
    }
}

/// Prefix of the names of checks that run a command.
pub const COMMAND_CHECK: &str = "command: ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// Exited with this status.
    Exited(i32),
    /// Killed by this signal.
    Signalled(i32),
    /// Stopped at its time limit, in seconds.
    TimedOut(u64),
}

/// One run of a task's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    pub line: String,
    /// `None` if the command could not be started.
    pub end: Option<CommandEnd>,
    pub duration: Duration,
    /// The output as text, cut to head and tail; or the reason why the command could not be started.
    pub output: String,
    /// SHA-256 of the whole output; empty if the command could not be started.
    pub sha256: String,
}

pub fn command_check_name(line: &str) -> String {
    format!("{COMMAND_CHECK}{line}")
}

/// Turns `run` into a check. Only the exit status counts.
pub fn command_check(run: &CommandRun) -> Check {
    let passes = run.end == Some(CommandEnd::Exited(0));
    let ended = match run.end {
        Some(CommandEnd::Exited(status)) => format!("exit status {status}"),
        Some(CommandEnd::Signalled(signal)) => format!("ended by signal {signal}"),
        Some(CommandEnd::TimedOut(seconds)) => format!("ended at its time limit of {seconds} s"),
        None => "could not be started".to_owned(),
    };
    let mut detail = format!("{ended} after {:.3} s", run.duration.as_secs_f64());
    if let Some(hash) = run.sha256.get(..16) {
        detail.push_str(&format!(", output sha256 {hash}…"));
    }
    let output = output_cut::cut_output(&run.output, passes);
    if !output.trim().is_empty() {
        detail.push_str(&format!("\n{output}"));
    }
    let verdict = if passes {
        CheckVerdict::Pass
    } else {
        CheckVerdict::Fail
    };
    Check::new(&command_check_name(&run.line), verdict, detail)
}

/// A placeholder for the check of the command `line`, which the user dropped.
pub fn dropped_check(line: &str) -> Check {
    let detail = "not run: by the user's choice it is no check of this task";
    Check::new(&command_check_name(line), CheckVerdict::Note, detail)
}

/// The limits of a task, and the text of the task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskScope {
    /// The files that the task may change: those it lists and those granted later.
    pub files: Vec<String>,
    /// Everything that the task asks for: title, description, acceptance, hints, kind.
    pub text: String,
    /// The other running tasks.
    pub others: Vec<OtherTask>,
    /// True if letter case makes no difference to the file system.
    pub ignores_case: bool,
}

impl TaskScope {
    /// The scope of `task`, with the `granted` files, while `others` are running.
    pub fn new(task: &Task, granted: &[String], others: Vec<OtherTask>) -> Self {
        let mut text = task.description.to_string();
        let description = task.fields.text(FieldKind::Description).into_iter();
        let wishes = description.chain(task.acceptance()).chain(task.hints());
        for wish in wishes.chain(task.fields.text(FieldKind::Kind)) {
            text.push_str(&format!("\n{wish}"));
        }
        let files = task.files().map(str::to_owned);
        Self {
            files: files.chain(granted.iter().cloned()).collect(),
            text,
            others,
            ignores_case: false,
        }
    }

    pub fn boundary(&self) -> Boundary {
        Boundary::new(&self.files).ignoring_case(self.ignores_case)
    }

    /// True if `path` belongs to another running task.
    pub fn is_of_another(&self, path: &RepoPath) -> bool {
        let others = self.others.iter().map(|task| self.boundary_of(task));
        others
            .into_iter()
            .any(|boundary| boundary.allows(path, || true))
    }

    fn boundary_of(&self, task: &OtherTask) -> Boundary {
        Boundary::new(&task.files).ignoring_case(self.ignores_case)
    }
}

/// A task that runs at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherTask {
    pub id: String,
    /// The files that the task may change, as listed.
    pub files: Vec<String>,
}

/// The measured facts of a task's change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeFacts {
    /// The task's own changes.
    pub changes: Vec<Change>,
    /// Changes by other running tasks in a shared working tree, each with the task's id.
    pub elsewhere: Vec<(Change, String)>,
    /// Lock files that a tool created and whose manifest is unrelated to the task.
    pub made_locks: Vec<RepoPath>,
    /// The lines of the changed files.
    pub lines: Vec<ChangedLines>,
    /// The texts of the changed files for which [`wants_text`] holds.
    pub texts: Vec<ChangedText>,
    /// Files for which [`wants_text`] holds, but which are too large to read.
    pub unread: Vec<RepoPath>,
    /// Listed files that exist but are ignored by git.
    pub ignored: Vec<String>,
    /// True if HEAD still contains the task's base commit.
    pub base_kept: bool,
    /// Commits since the base commit by anyone but `fp`: short id and subject.
    pub commits: Vec<String>,
    /// The surroundings of the working tree at the claim and now; `None` if the log doesn't record them.
    pub around: Option<(GitSurroundings, GitSurroundings)>,
}

/// The text of a changed file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedText {
    /// Its current path, or the old one of a deleted file.
    pub path: RepoPath,
    /// `None` for a new file. Invalid UTF-8 is replaced.
    pub before: Option<String>,
    /// `None` for a deleted file.
    pub after: Option<String>,
}

/// True if the checks need the whole text of a changed file: a manifest, a lock file, a test or test setup.
pub fn wants_text(change: &Change) -> bool {
    change.kind == change::FileKind::File
        && change.status != ChangeStatus::ModeChanged
        && change.ends().any(|path| {
            is_package_file(path) || weakened::is_of_interest(path) || sets_tests_up(path)
        })
}

fn sets_tests_up(path: &RepoPath) -> bool {
    has_test_settings(&path.to_lossy())
}

/// Fails a task whose commands were disturbed, by each other or by the programs that they test.
pub fn disturbed(faults: &[String]) -> Option<Check> {
    (!faults.is_empty()).then(|| Check::new("commands", CheckVerdict::Fail, list(faults)))
}

/// The checks of a submission, for which the folder of the builder is read.
pub fn check_submission(scope: &TaskScope, facts: &ChangeFacts) -> Vec<Check> {
    let around = check_history(facts).into_iter().chain(check_around(facts));
    let checks = [changed(scope, facts), boundary::check(scope, facts)];
    checks.into_iter().chain(around).collect()
}

/// The checks of a frozen change; `runs` holds the runs of the task's commands, in order.
pub fn check_change(scope: &TaskScope, facts: &ChangeFacts, runs: &[CommandRun]) -> Vec<Check> {
    let checks = [
        dependencies::check(scope, facts),
        leftovers::check(scope, facts),
        weakened::check(scope, facts),
    ];
    let ran = runs.iter().map(command_check);
    checks.into_iter().chain(ran).collect()
}

/// Updates `before`, earlier checks of the same tree, to git's own files as they are `now`, which were `began` at the
/// start of the run: a hook created in the meantime would run during the commit.
pub fn renewed(before: &[Check], began: &GitSurroundings, now: &GitSurroundings) -> Vec<Check> {
    match began.check_files(now) {
        Some(check) if !before.contains(&check) => {
            let old = before.iter().filter(|old| old.name != check.name);
            old.cloned().chain([check.clone()]).collect()
        }
        _ => before.to_vec(),
    }
}

/// Checks the surroundings, which no commit contains, except for the branch.
fn check_around(facts: &ChangeFacts) -> Vec<Check> {
    let around = facts.around.iter();
    let checks = around.flat_map(|(began, now)| {
        [
            began.check_files(now),
            began.check_tools(now, facts),
            began.check_checkout(now),
        ]
    });
    checks.flatten().collect()
}

/// The failures that running the task's commands couldn't fix, among checks for which `facts` has the data.
pub fn failed_at_hand(scope: &TaskScope, facts: &ChangeFacts) -> Vec<Check> {
    let checks = [
        changed(scope, facts),
        boundary::check(scope, facts),
        leftovers::check(scope, facts),
    ];
    checks.into_iter().filter(Check::fails).collect()
}

/// The changed paths that the task may not touch, each with its change.
pub fn outside<'f>(scope: &TaskScope, facts: &'f ChangeFacts) -> Vec<(&'f RepoPath, &'f Change)> {
    let boundary = scope.boundary();
    let changes = facts.changes.iter();
    let found = changes.filter_map(|change| Some((boundary::outside(change, &boundary)?, change)));
    found.collect()
}

/// Fails a task that lists files but changed nothing.
fn changed(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    let (verdict, detail) = match facts.changes.len() {
        0 if scope.files.is_empty() => {
            let detail = "the task lists no files".to_owned();
            (CheckVerdict::NotApplicable, detail)
        }
        0 => {
            let detail = "nothing differs from what was there when the task was claimed, but the task lists files";
            (CheckVerdict::Fail, detail.to_owned())
        }
        count => (
            CheckVerdict::Pass,
            format!("{} changed", counted(count, "file")),
        ),
    };
    Check::new("changes", verdict, detail)
}

/// Reports anything that happened to the history: `fp` itself commits only after the verdict.
fn check_history(facts: &ChangeFacts) -> Option<Check> {
    let around = facts.around.as_ref();
    let (verdict, detail) = if !facts.base_kept {
        let detail = "HEAD no longer contains the commit that the task began on: \
                      a branch was switched, or history rewritten";
        (CheckVerdict::Fail, detail.to_owned())
    } else if let Some(left) = around.and_then(|(began, now)| began.branch_left(now)) {
        (CheckVerdict::Fail, left)
    } else if facts.commits.is_empty() {
        return None;
    } else {
        let commits = facts.commits.join("; ");
        let detail = format!("committed since the task began, not by fp: {commits}");
        (CheckVerdict::Note, detail)
    };
    Some(Check::new("history", verdict, detail))
}

/// The surroundings of a working tree at one moment, which no commit contains: the branch, and the files in git's own
/// folder that decide what git shows and runs. A builder that edits these files could hide a change, or cause one
/// later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitSurroundings {
    /// `None` if HEAD is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The path of each file in git's folder that decides what git shows or runs, with a hash of its relevant content.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The path and hash of each program that a package manager has installed in the working tree and that commands may
    /// run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    /// The path of each uncommitted change in the user's checkout, with a hash of its content, if the checkout isn't
    /// the working tree itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checkout: BTreeMap<String, String>,
}

impl GitSurroundings {
    /// The surroundings to compare with later, for a task that was claimed in `self`: those at the `start` of the run,
    /// limited to what applies in a worktree if the builder has its `own_worktree`.
    pub fn since(mut self, start: Option<&Self>, own_worktree: bool) -> Self {
        let Some(start) = start else { return self };
        self.files.clone_from(&start.files);
        if own_worktree {
            self.files.remove("config.worktree");
            // Anything installed in the worktree later must match the checkout.
            for (path, hash) in &start.tools {
                if path.starts_with("node_modules/") {
                    self.tools
                        .entry(path.clone())
                        .or_insert_with(|| hash.clone());
                }
            }
        }
        self
    }

    /// True if a command that ran in these surroundings and left them as `now` changed something that a later command
    /// depends on. Installing programs and hooks is allowed, since package managers do that: the content of a commit is
    /// compared with what was verified.
    pub fn disturbed(&self, now: &Self) -> bool {
        let is_seen = |(path, _): &(&String, &String)| {
            !path.starts_with("hooks") && !path.starts_with("modules/")
        };
        let seen_before = self.files.iter().filter(is_seen);
        !seen_before.eq(now.files.iter().filter(is_seen)) || self.has_other_tools(now)
    }

    /// True if an installed program was replaced.
    fn has_other_tools(&self, now: &Self) -> bool {
        let is_other = |(path, hash)| now.tools.get(path).is_some_and(|now| now != hash);
        self.tools.iter().any(is_other)
    }

    /// Fails a task if an installed program was replaced while it was being built, unless the task's own change
    /// installs packages.
    fn check_tools(&self, now: &Self, facts: &ChangeFacts) -> Option<Check> {
        let installs = || {
            facts
                .changes
                .iter()
                .flat_map(Change::ends)
                .any(is_package_file)
        };
        let verdict = CheckVerdict::fail_if(self.has_other_tools(now) && !installs());
        let words = [None, Some("is new"), Some("was replaced")];
        let told = changed_hashes(&self.tools, &now.tools, words);
        changed_check("tools", verdict, "since the claim", &told)
    }

    /// Mentions uncommitted changes in the user's checkout without blaming a builder: the user may be working there.
    fn check_checkout(&self, now: &Self) -> Option<Check> {
        let gone = "has no uncommitted change any more";
        let words = [gone, "was changed", "was changed"].map(Some);
        let told = changed_hashes(&self.checkout, &now.checkout, words);
        let whose = "since the claim, in the user's checkout";
        changed_check("checkout", CheckVerdict::Note, whose, &told)
    }

    /// Reports changes to git's own files without failing the task, because the user may change them at any time, for
    /// example after a failed hook.
    fn check_files(&self, now: &Self) -> Option<Check> {
        let words = ["was taken away", "is new", "was changed"].map(Some);
        let told = changed_hashes(&self.files, &now.files, words);
        let whose = "since the claim, in git's own folder";
        changed_check("git", CheckVerdict::Note, whose, &told)
    }

    /// Reports if another branch is checked out `now`. A detached HEAD has no branch, as in a worktree or during the
    /// user's rebase.
    fn branch_left(&self, now: &Self) -> Option<String> {
        let (began, now) = self.branch.as_ref().zip(now.branch.as_ref())?;
        (began != now)
            .then(|| format!("branch {now} is checked out, the task began on {began}: switch back"))
    }
}

/// Describes the paths whose hashes differ, using `words` for gone, new and changed paths. Leaves out paths without a
/// word.
fn changed_hashes(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    words: [Option<&str>; 3],
) -> Vec<String> {
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let gone = gone.map(|path| (path, words[0]));
    let others = now
        .iter()
        .filter_map(|(path, hash)| match before.get(path) {
            None => Some((path, words[1])),
            Some(known) => (known != hash).then_some((path, words[2])),
        });
    let told = gone.chain(others);
    told.filter_map(|(path, word)| Some(format!("{path} {}", word?)))
        .collect()
}

fn changed_check(name: &str, verdict: CheckVerdict, whose: &str, told: &[String]) -> Option<Check> {
    (!told.is_empty()).then(|| Check::new(name, verdict, format!("{whose}: {}", list(told))))
}

/// Joins `items` on one line, ten of them at most.
pub fn list(items: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut text = items[..items.len().min(SHOWN)].join("; ");
    if items.len() > SHOWN {
        text.push_str(&format!("; and {} more", items.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests;
