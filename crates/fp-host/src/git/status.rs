//! Most commands first ask for HEAD and the differences from it; one git process answers both.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use fp_plan::plan::path;
use fp_plan::repo_path::RepoPath;
use fp_run::run::approval;
use fp_run::verification::GitSurroundings;

use super::command::{GitCall, git_output};
use super::{Git, Oid, no_commit, records_of};
use crate::error::{HostError, HostResult};
use crate::file;
use crate::platform::os_string;

/// Size limit of the git files from which a commit hash is read, in bytes.
const HEAD_CAP: u64 = 4096;
const FILE_CAP: u64 = 8 * 1024 * 1024;

/// The state of a path in a [`WorkingTreeStatus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// Tracked and changed. Holds the two status letters of the porcelain format, with `.` for unchanged.
    Tracked {
        /// HEAD to index.
        staged: u8,
        /// Index to working tree.
        unstaged: u8,
        /// True for a submodule with uncommitted changes inside.
        dirty_submodule: bool,
    },
    Unmerged,
    /// Untracked and not ignored.
    Untracked,
    /// An untracked folder with its own repository.
    NestedRepository,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEntry {
    /// A rename yields two entries.
    pub path: RepoPath,
    pub state: EntryState,
}

impl StatusEntry {
    /// Git's letter for the path's difference from HEAD.
    pub(crate) fn letter(&self) -> char {
        match self.state {
            EntryState::Tracked {
                staged, unstaged, ..
            } => match (staged, unstaged) {
                (_, b'D') => 'D',
                (b'.', unstaged) => unstaged.into(),
                (staged, _) => staged.into(),
            },
            EntryState::Unmerged => 'U',
            EntryState::Untracked | EntryState::NestedRepository => 'A',
        }
    }

    /// True if the path has a staged change.
    pub fn is_staged(&self) -> bool {
        matches!(self.state, EntryState::Tracked { staged, .. } if staged != b'.')
    }
}

/// HEAD and the differences from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingTreeStatus {
    /// `None` in a repository without a commit.
    pub commit: Option<Oid>,
    /// `None` if HEAD is detached.
    pub branch: Option<String>,
    /// Every path that differs, without ignored ones; untracked folders are listed file by file.
    pub entries: Vec<StatusEntry>,
}

impl WorkingTreeStatus {
    /// True if `path` has a staged change.
    pub(super) fn has_staged(&self, path: &RepoPath) -> bool {
        let mut staged = self.entries.iter().filter(|entry| entry.is_staged());
        staged.any(|entry| entry.path == *path)
    }

    /// HEAD at the time of the status. Fails in a repository without a commit.
    pub fn head(&self) -> HostResult<&Oid> {
        self.commit.as_ref().ok_or_else(no_commit)
    }
}

/// An operation that the user began and git has not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    Merge,
    Rebase,
    #[strum(to_string = "git am")]
    Am,
    CherryPick,
    Revert,
    /// Doesn't block commits, but moves HEAD.
    Bisect,
}

/// The files that git keeps while an operation is unfinished.
const OPERATIONS: [(&str, Operation); 7] = [
    ("rebase-merge", Operation::Rebase),
    ("rebase-apply/applying", Operation::Am),
    ("rebase-apply", Operation::Rebase),
    ("MERGE_HEAD", Operation::Merge),
    ("CHERRY_PICK_HEAD", Operation::CherryPick),
    ("REVERT_HEAD", Operation::Revert),
    ("BISECT_LOG", Operation::Bisect),
];

impl Operation {
    /// Advice on how to end the operation.
    pub fn way_out(self) -> String {
        let name = self.to_string();
        let command = name.strip_prefix("git ").unwrap_or(&name);
        match self {
            Self::Bisect => "end it with `git bisect reset`".to_owned(),
            _ => {
                format!(
                    "finish it with `git {command} --continue`, or drop it with `git {command} --abort`"
                )
            }
        }
    }
}

impl Git {
    /// Asks git for HEAD. One process.
    ///
    /// # Errors
    /// The repository has no commit, or git fails.
    pub fn head(&self) -> HostResult<Oid> {
        self.commit_of_ref("HEAD")?.ok_or_else(no_commit)
    }

    /// The unfinished operation, recognised by the files that git keeps for it. Runs no process.
    pub fn operation(&self) -> Option<Operation> {
        let has = |name: &str| self.git_dir().join(name).exists();
        let found = OPERATIONS.iter().find(|(name, _)| has(name))?;
        Some(found.1)
    }

    /// The unfinished operation, if it blocks commits.
    pub(super) fn blocking_operation(&self) -> Option<Operation> {
        self.operation()
            .filter(|operation| *operation != Operation::Bisect)
    }

    /// Fails unless a run can commit to this working tree, whose state is `status`.
    pub fn expect_branch(&self, status: &WorkingTreeStatus) -> HostResult<()> {
        if let Some(operation) = self.blocking_operation() {
            let said = format!("a {operation} is in progress");
            return Err(HostError::failed(said).with_hint(operation.way_out()));
        }
        match &status.branch {
            Some(_) => Ok(()),
            None => Err(
                HostError::failed("HEAD is detached: no branch is checked out")
                    .with_hint("check out a branch with `git switch BRANCH`"),
            ),
        }
    }

    /// HEAD's hash from git's files, for comparison with a known one. `None` if the files don't hold it in plain text,
    /// as in a repository with packed refs. Runs no process.
    pub fn head_in_files(&self) -> Option<String> {
        let head = head_text(&self.git_dir().join("HEAD"))?;
        match head.strip_prefix("ref: ") {
            Some(name) if path::normal(name).is_ok() => head_text(&self.common_dir().join(name)),
            Some(_) => None,
            None => Some(head),
        }
    }

    /// The branch that HEAD is on, from git's files; `None` if it is detached. Runs no process.
    pub fn head_branch(&self) -> Option<String> {
        let head = head_text(&self.git_dir().join("HEAD"))?;
        let name = head.strip_prefix("ref: refs/heads/")?;
        Some(name.to_owned())
    }

    /// The differences from HEAD. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn status(&self) -> HostResult<WorkingTreeStatus> {
        self.call(STATUS).run()?.parsed(parse)
    }

    /// The differences from HEAD according to `index`, which isn't the user's index and caches file states. One
    /// process.
    pub(super) fn status_by(&self, index: &Path) -> HostResult<WorkingTreeStatus> {
        self.call_on(index, STATUS).run()?.parsed(parse)
    }
}

/// The text of `HEAD`, or of a branch, in git's folder.
pub(super) fn head_text(path: &Path) -> Option<String> {
    let text = file::read_text(path, HEAD_CAP).ok()?;
    Some(text.trim_end().to_owned())
}

const STATUS: &str =
    "status --porcelain=v2 --branch -z -uall --no-renames --ignore-submodules=none";

impl Git {
    /// The `files`, paths below the working tree, that git ignores. A tracked file never counts as ignored.
    /// One process, or none without files.
    ///
    /// # Errors
    /// Git fails.
    pub fn ignored(&self, files: &[&String]) -> HostResult<Vec<String>> {
        let files = files.iter().map(|file| file.as_bytes());
        let ignored = ignored_among(files, || self.call(CHECK_IGNORE))?;
        Ok(ignored.iter().map(ToString::to_string).collect())
    }
}

pub(super) const CHECK_IGNORE: &str = "check-ignore -z --stdin";

/// Those of `paths` that `call`, made for [`CHECK_IGNORE`], says git ignores. Runs nothing without paths.
pub(super) fn ignored_among<'p>(
    paths: impl Iterator<Item = &'p [u8]>,
    call: impl FnOnce() -> GitCall,
) -> HostResult<Vec<RepoPath>> {
    // This is the one command that can't take literal paths; a leading `./` makes them literal.
    let input: Vec<u8> = paths
        .flat_map(|path| [b"./", path, b"\0"].concat())
        .collect();
    if input.is_empty() {
        return Ok(Vec::new());
    }
    let call = call().env_remove("GIT_LITERAL_PATHSPECS");
    let finished = call.input(input).run()?;
    // Git exits with 1 if it ignores none of them.
    if finished.ended_with(1) {
        return Ok(Vec::new());
    }
    let output = finished.into_output()?;
    let names = records_of(&output).filter_map(|name| name.strip_prefix(b"./"));
    Ok(names.map(RepoPath::from_bytes).collect())
}

impl Git {
    /// The `files` whose changes git leaves out of the status because of a flag in the index. One process.
    ///
    /// # Errors
    /// Git fails.
    pub fn overlooked(&self, files: &[&RepoPath]) -> HostResult<HashSet<RepoPath>> {
        let output = self
            .call("ls-files -v -z")
            .paths(files.iter().copied())
            .output()?;
        // A lowercase letter means "assume unchanged", S means "skip worktree".
        let hidden = |record: &&[u8]| record[0].is_ascii_lowercase() || record[0] == b'S';
        let paths = records_of(&output)
            .filter(hidden)
            .filter_map(|record| record.get(2..));
        Ok(paths.map(RepoPath::from_bytes).collect())
    }
}

/// Parses porcelain v2 with `-z`.
fn parse(output: &[u8]) -> Option<WorkingTreeStatus> {
    let mut status = WorkingTreeStatus {
        commit: None,
        branch: None,
        entries: Vec::new(),
    };
    for record in records_of(output) {
        if let Some(header) = record.strip_prefix(b"# ") {
            let header = String::from_utf8_lossy(header);
            if let Some(oid) = header.strip_prefix("branch.oid ") {
                status.commit = oid.parse().ok();
            } else if let Some(name) = header.strip_prefix("branch.head ") {
                status.branch = (name != "(detached)").then(|| name.to_owned());
            }
        } else {
            status.entries.push(entry(record)?);
        }
    }
    Some(status)
}

fn entry(record: &[u8]) -> Option<StatusEntry> {
    let (path, state) = match record.first()? {
        b'1' => {
            let fields: Vec<&[u8]> = record.splitn(9, |&b| b == b' ').collect();
            let (&[staged, unstaged], submodule) = (*fields.get(1)?, *fields.get(2)?) else {
                return None;
            };
            let dirty_submodule =
                submodule.first() == Some(&b'S') && submodule.get(2..) != Some(b"..");
            (
                *fields.get(8)?,
                EntryState::Tracked {
                    staged,
                    unstaged,
                    dirty_submodule,
                },
            )
        }
        b'u' => (
            record.splitn(11, |&b| b == b' ').nth(10)?,
            EntryState::Unmerged,
        ),
        b'?' => {
            let path = record.strip_prefix(b"? ")?;
            match path.strip_suffix(b"/") {
                Some(folder) => (folder, EntryState::NestedRepository),
                None => (path, EntryState::Untracked),
            }
        }
        _ => return None,
    };
    Some(StatusEntry {
        path: RepoPath::from_bytes(path),
        state,
    })
}

/// Prefix of the settings that change during normal work. All others may affect how git sees files, what it runs, and
/// where it fetches from.
const OF_WORK: &str = "branch.";
const HOOKS_PATH: &str = "core.hookspath";
const EXCLUDES: &str = "core.excludesfile";
const ATTRIBUTES: &str = "core.attributesfile";
/// The settings that name a file or a folder.
const PLACES: [&str; 3] = [HOOKS_PATH, EXCLUDES, ATTRIBUTES];
const TOOL_FOLDERS: [&str; 4] = ["node_modules/.bin", "vendor/bin", ".venv/bin", "venv/bin"];
/// Number of hash digits to keep.
const KEPT: usize = 32;
/// Number of levels of folders and submodules in which to search for submodules.
const DEEPEST: u32 = 4;

impl Git {
    /// The surroundings of this working tree, except for its branch: all git settings in effect here, and the files
    /// that they name. One process.
    ///
    /// # Errors
    /// Git fails, or one of git's files can't be read.
    pub(crate) fn surroundings(&self) -> HostResult<GitSurroundings> {
        let list = self
            .call("config --list --show-origin -z --includes")
            .output()?;
        let (mut texts, mut places) = (BTreeMap::<String, String>::new(), HashMap::new());
        let mut records = list.split(|&b| b == 0);
        while let (Some(origin), Some(setting)) = (records.next(), records.next()) {
            let Some(file) = origin.strip_prefix(b"file:") else {
                continue;
            };
            let setting = String::from_utf8_lossy(setting);
            let (name, value) = setting.split_once('\n').unwrap_or((&setting, ""));
            if name != HOOKS_PATH && !name.starts_with(OF_WORK) {
                let file = self.shown_path(&self.worktree().join(os_string(file)));
                *texts.entry(file).or_default() += &format!("{setting}\0");
            }
            if let Some(known) = PLACES.iter().find(|known| **known == name) {
                places.insert(*known, self.worktree().join(from_home(value)));
            }
        }
        let texts = texts
            .into_iter()
            .map(|(file, text)| (file, hash(text.as_bytes())));
        let mut files: BTreeMap<String, String> = texts.collect();
        let failed = HostError::doing("read git's own files");
        self.add_named_files(&places, &mut files).map_err(failed)?;
        Ok(GitSurroundings {
            branch: None,
            files,
            tools: self.installed_tools().map_err(failed)?,
            checkout: match self.checkout_around() {
                Some(checkout) => checkout.uncommitted()?,
                None => BTreeMap::new(),
            },
        })
    }

    /// The programs in the folders that package managers put on the path.
    fn installed_tools(&self) -> io::Result<BTreeMap<String, String>> {
        let mut tools = BTreeMap::new();
        for folder in TOOL_FOLDERS {
            for tool in file::entries_in(&self.worktree().join(folder))? {
                let name = format!("{folder}/{}", tool.file_name().to_string_lossy());
                tools.insert(name, hash_of(&tool.path()));
            }
        }
        Ok(tools)
    }

    /// `path` for use as a key: relative to git's shared folder if it is inside that, otherwise unchanged.
    fn shown_path(&self, path: &Path) -> String {
        path.strip_prefix(self.common_dir())
            .unwrap_or(path)
            .to_string_lossy()
            .into_owned()
    }

    /// Adds the files that the settings in `places` name, git's default files, and the hooks.
    fn add_named_files(
        &self,
        places: &HashMap<&str, PathBuf>,
        files: &mut BTreeMap<String, String>,
    ) -> io::Result<()> {
        let of_user = |name: &str| {
            let chosen = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
            let chosen = chosen.filter(|path| path.is_absolute());
            let folder = chosen.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
            Some(folder.join("git").join(name))
        };
        let or_usual =
            |place: &str, usual: &str| places.get(place).cloned().or_else(|| of_user(usual));
        let named = [
            or_usual(EXCLUDES, "ignore"),
            or_usual(ATTRIBUTES, "attributes"),
        ];
        let own =
            ["info/exclude", "info/attributes"].map(|name| Some(self.common_dir().join(name)));
        for path in named.into_iter().chain(own).flatten() {
            if path.symlink_metadata().is_ok() {
                files.insert(self.shown_path(&path), hash_of(&path));
            }
        }
        let named = places.get(HOOKS_PATH);
        if let Some(hooks) = named {
            let place = hooks.as_os_str().as_encoded_bytes();
            files.insert("hooks folder".into(), hash(place));
        }
        let hooks = named
            .cloned()
            .unwrap_or_else(|| self.common_dir().join("hooks"));
        for hook in file::entries_in(&hooks)? {
            let name = hook.file_name().to_string_lossy().into_owned();
            // Follows links, since git would run their target.
            if !name.ends_with(".sample")
                && fs::metadata(hook.path()).is_ok_and(|found| found.is_file())
            {
                files.insert(format!("hooks/{name}"), hash_of(&hook.path()));
            }
        }
        self.add_submodules(&self.common_dir().join("modules"), DEEPEST, files)
    }

    /// Adds the submodules below `folder`: their HEAD, staged files, settings and hooks.
    fn add_submodules(
        &self,
        folder: &Path,
        depth: u32,
        files: &mut BTreeMap<String, String>,
    ) -> io::Result<()> {
        for entry in file::entries_in(folder)? {
            let path = entry.path();
            if !path.is_dir() || path.is_symlink() {
                continue;
            }
            // A submodule whose name contains slashes is stored in nested folders.
            let mut deeper = path.clone();
            if path.join("HEAD").is_file() {
                let hooks = file::entries_in(&path.join("hooks"))?.into_iter();
                let hooks = hooks.map(|hook| hook.path());
                let hooks = hooks.filter(|hook| hook.extension().is_none_or(|end| end != "sample"));
                let own = ["HEAD", "config"].map(|name| path.join(name));
                for file in own.into_iter().chain(hooks) {
                    files.insert(self.shown_path(&file), hash_of(&file));
                }
                // Only the entries are hashed: the index file itself changes with every `git status`.
                let staged =
                    git_output(&path, &["--git-dir=.", "ls-files", "--stage"]).unwrap_or_default();
                files.insert(
                    self.shown_path(&path.join("index")),
                    hash(staged.as_bytes()),
                );
                deeper.push("modules");
            }
            if depth > 0 {
                self.add_submodules(&deeper, depth - 1, files)?;
            }
        }
        Ok(())
    }

    /// The checkout whose plans folder contains this builder's worktree.
    fn checkout_around(&self) -> Option<Self> {
        let holds = |folder: &&Path| self.worktree().starts_with(folder.join(&self.plans_dir));
        let folder = self.worktree().ancestors().skip(1).find(holds)?;
        let git = Self::open_with(folder, &self.plans_dir).ok()?;
        (git.worktree() == folder).then_some(git)
    }
}

/// A hash of the file's content, or of its size if it is too large to read or isn't a file.
pub(super) fn hash_of(path: &Path) -> String {
    let size = || format!("{:?}", fs::metadata(path).map(|found| found.len()).ok());
    hash(&file::read_bytes(path, FILE_CAP).unwrap_or_else(|_| size().into_bytes()))
}

/// Expands `~/x` as git does.
fn from_home(value: &str) -> PathBuf {
    match (value.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => value.into(),
    }
}

pub(crate) fn hash(content: &[u8]) -> String {
    approval::hash(content)[..KEPT].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_porcelain_v2() {
        let check = |record: &str, expect: Option<(&str, EntryState)>| {
            let expect = expect.map(|(path, state)| StatusEntry {
                path: RepoPath::from_bytes(path),
                state,
            });
            assert_eq!(entry(record.as_bytes()), expect, "{record:?}");
        };
        let tracked = |staged, unstaged, dirty_submodule| EntryState::Tracked {
            staged,
            unstaged,
            dirty_submodule,
        };
        let ids =
            "1111111111111111111111111111111111111111 2222222222222222222222222222222222222222";
        check(
            &format!("1 .M N... 100644 100644 100644 {ids} a b\nc"),
            Some(("a b\nc", tracked(b'.', b'M', false))),
        );
        check(
            &format!("1 A. N... 000000 100644 100644 {ids} -x"),
            Some(("-x", tracked(b'A', b'.', false))),
        );
        check(
            &format!("1 .M S.M. 160000 160000 160000 {ids} sub"),
            Some(("sub", tracked(b'.', b'M', true))),
        );
        check(
            &format!("1 .M SC.. 160000 160000 160000 {ids} sub"),
            Some(("sub", tracked(b'.', b'M', false))),
        );
        check(
            "u UU N... 100644 100644 100644 100644 1 2 3 a b",
            Some(("a b", EntryState::Unmerged)),
        );
        check("? new file", Some(("new file", EntryState::Untracked)));
        check("? nested/", Some(("nested", EntryState::NestedRepository)));
        check("! ignored", None);
        check("1 .M", None);
    }

    #[test]
    fn a_record_that_is_not_understood_is_named() {
        assert_eq!(parse(b"# branch.head main\0x y\0"), None);
    }
}
