//! Moves objects between a repository and a store that is outside of it, and brings a checkout to a tree of the store.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fp_plan::repo_path::RepoPath;

use super::commit::nul_ended;
use super::merge::NOBODY;
use super::status::{CHECK_IGNORE, ignored_among};
use super::tree::INDEX;
use super::{Git, Oid, records_of};
use crate::error::HostResult;

impl Git {
    /// Makes an empty store at `folder`, with ids as long as `like`.
    pub(crate) fn make_store(folder: &Path, like: &Oid) -> HostResult<()> {
        let mut git = Self::of_store(folder.to_owned(), folder.to_owned());
        git.env.clear();
        let format = match like.as_str().len() {
            40 => "--object-format=sha1",
            _ => "--object-format=sha256",
        };
        git.call("init --quiet --bare --template=")
            .arg(format)
            .output()
            .map(drop)
    }

    /// The store at `git_dir`, with the working tree `worktree`, which has no say in where the store is.
    pub(crate) fn of_store(git_dir: PathBuf, worktree: PathBuf) -> Self {
        // The user's own settings are about the user's repositories: hooks, ignore rules, filters.
        let env: [(&str, &OsStr); 4] = [
            ("GIT_DIR", git_dir.as_os_str()),
            ("GIT_WORK_TREE", worktree.as_os_str()),
            ("GIT_CONFIG_GLOBAL", OsStr::new("/dev/null")),
            ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
        ];
        let env = env.map(|(name, value)| (name.into(), value.into()));
        Self {
            env: env.to_vec(),
            common_dir: git_dir.clone(),
            plans_dir: String::new(),
            commit_lock: None,
            worktree,
            git_dir,
        }
    }

    /// For each of `objects`, true if it is here. One process.
    pub(crate) fn has_objects<const N: usize>(&self, objects: [&Oid; N]) -> HostResult<[bool; N]> {
        let lines: String = objects.iter().map(|object| format!("{object}\n")).collect();
        let call = self.call("cat-file --batch-check=%(objectname)");
        let output = call.input(lines.into_bytes()).output()?;
        let output = String::from_utf8_lossy(&output);
        let mut found = output.lines();
        Ok(objects.map(|object| found.next() == Some(object.as_str())))
    }

    /// The tree of `commit`. One process.
    pub(crate) fn tree_of_commit(&self, commit: &Oid) -> HostResult<Oid> {
        let call = self.call("rev-parse --verify --end-of-options");
        call.arg(format!("{commit}^{{tree}}")).oid()
    }

    /// Copies `tree`, without what is in the trees `known`, to the repository of `to`, which computes the names of all
    /// objects and compares them with those that it has. Two processes.
    pub(crate) fn send_objects(&self, tree: &Oid, known: &[&Oid], to: &Self) -> HostResult<()> {
        let mut wanted = format!("{tree}\n");
        known
            .iter()
            .for_each(|known| wanted += &format!("^{known}\n"));
        let pack = self.call("pack-objects --revs --stdout -q --window=0");
        let unpack = to.call("index-pack --stdin");
        pack.input(wanted.into_bytes()).run_into(unpack)
    }

    /// The files and folders of `tree` that are other ones in `base`, one id a line, and `tree` itself. Submodules are
    /// left out. One process.
    pub(crate) fn objects_changed(&self, base: &Oid, tree: &Oid) -> HostResult<String> {
        let call = self.call("diff-tree -r -t --no-renames --raw --no-abbrev -z");
        let output = call.arg(base.as_str()).arg(tree.as_str()).output()?;
        let mut objects = format!("{tree}\n");
        for record in records_of(&output) {
            // `:OLD-MODE NEW-MODE OLD-ID NEW-ID STATUS`; every other record is a path.
            let record = String::from_utf8_lossy(record);
            let words: Vec<&str> = record.split(' ').collect();
            if let [old, new, _, id, _] = words[..]
                && old.starts_with(':')
                && !["000000", "160000"].contains(&new)
            {
                objects += id;
                objects.push('\n');
            }
        }
        Ok(objects)
    }

    /// The output of `git cat-file --batch` for `objects`, one id a line. One process.
    pub(crate) fn contents_of(&self, objects: &str) -> HostResult<Vec<u8>> {
        let call = self.call("cat-file --batch");
        call.input(objects.as_bytes().to_vec()).output()
    }

    /// A commit of `tree` alone, always the same for the same tree. One process.
    pub(crate) fn lone_commit(&self, tree: &Oid) -> HostResult<Oid> {
        let call = self.call("commit-tree -m bench").arg(tree.as_str());
        let dates = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "@0 +0000"));
        let named = NOBODY.iter().chain(&dates);
        named
            .fold(call, |call, (name, value)| call.env(name, value))
            .oid()
    }

    /// Writes the files that differ between the working tree and `tree`, and deletes those that `index` has and `tree`
    /// doesn't have. Untracked files stay. One process.
    pub(crate) fn bring_to(&self, index: &Path, tree: &Oid) -> HostResult<()> {
        let call = self.locked(self.call_on(index, "read-tree --reset -u"))?;
        let finished = call.arg(tree.as_str()).run()?;
        match finished.failed_with(&["unable to read"]) {
            Some(failure) => Err(failure.clone().into_missing(tree)),
            None => finished.into_output().map(drop),
        }
    }

    /// The paths in `index`. One process.
    pub(crate) fn paths_by(&self, index: &Path) -> HostResult<Vec<RepoPath>> {
        let output = self.call_on(index, "ls-files -z").output()?;
        Ok(records_of(&output).map(RepoPath::from_bytes).collect())
    }

    /// The paths in `index` at which the working tree differs, and those that are only in the working tree, without
    /// ignored ones. One process.
    pub(crate) fn changed_by(&self, index: &Path) -> HostResult<(Vec<RepoPath>, Vec<RepoPath>)> {
        let list = "ls-files -z -t --modified --others --exclude-standard";
        let output = self.call_on(index, list).output()?;
        // Each record is a letter, a blank and the path.
        let (new, changed): (Vec<_>, Vec<_>) =
            records_of(&output).partition(|record| record.starts_with(b"?"));
        let paths = |records: Vec<&[u8]>| {
            let paths = records.into_iter().filter_map(|record| record.get(2..));
            paths.map(RepoPath::from_bytes).collect()
        };
        Ok((paths(changed), paths(new)))
    }

    /// The submodules in `index`, each with its commit. One process, or none without a file that names them.
    pub(crate) fn submodules(&self, index: &Path) -> HostResult<Vec<(RepoPath, Oid)>> {
        if !self.worktree().join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let entries = self.entries(index)?.into_iter();
        let found = entries.filter_map(|(entry, path)| {
            let id = entry.strip_prefix("160000 ")?.split(' ').next()?;
            Some((path, id.parse().ok()?))
        });
        Ok(found.collect())
    }

    /// The entries of `index`: the mode, the id and the stage, then the path. One process.
    pub(crate) fn entries(&self, index: &Path) -> HostResult<Vec<(String, RepoPath)>> {
        let output = self.call_on(index, "ls-files -z --stage").output()?;
        let entries = records_of(&output).filter_map(|record| {
            let (entry, path) = record.split_at(record.iter().position(|&byte| byte == b'\t')?);
            let entry = String::from_utf8_lossy(entry).into_owned();
            Some((entry, RepoPath::from_bytes(&path[1..])))
        });
        Ok(entries.collect())
    }

    /// The tree of `index` with `paths` as the working tree has them. Leaves `index` alone. Three processes.
    pub(crate) fn tree_by(&self, index: &Path, paths: &[RepoPath]) -> HostResult<Oid> {
        let folder = super::temporary_folder()?;
        let copy = folder.path().join(INDEX);
        super::tree::copy_index(index, &copy)?;
        let call = self.call_on(&copy, "update-index --add --remove --replace -z --stdin");
        call.input(nul_ended(paths)).output()?;
        self.tree_of(&copy)
    }

    /// Those of `paths`, which aren't in `index`, that git ignores. One process, or none without paths.
    pub(crate) fn ignored_by(
        &self,
        index: &Path,
        paths: &[&RepoPath],
    ) -> HostResult<Vec<RepoPath>> {
        let paths = paths.iter().map(|path| path.as_bytes());
        ignored_among(paths, || self.call_on(index, CHECK_IGNORE))
    }
}
