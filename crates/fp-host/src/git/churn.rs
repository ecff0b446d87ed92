//! How often files changed, through how many hands, and how often to be mended: one `git log`, read as it comes.

use std::collections::{BTreeMap, HashMap, HashSet};

use fp_core::commit_style::is_fix;
use fp_core::signals::History;
use jiff::Timestamp;

use super::{Git, GitError};

/// Most pairs of files, in a commit, that are compared to find those that were renamed and changed.
const RENAMES: &str = "-l200";

/// What a log says of the files that somebody asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Churn {
    /// By the path that a file has now.
    pub files: BTreeMap<String, History>,
    /// Whether the repository has only the end of its history.
    pub is_shallow: bool,
}

impl Git {
    /// The history since `since` of the files that `wanted` says yes to, under the names that they had then. Merges
    /// don't count. Nothing in a repository without a commit. One process.
    ///
    /// # Errors
    /// A failing git.
    pub fn churn(&self, since: Timestamp, wanted: impl Fn(&str) -> bool) -> Result<Churn, GitError> {
        let grafts = self.grafts();
        let mut log = Log::new(&grafts, wanted);
        let since = format!("--since={since}");
        let options = ["--no-merges", "--name-status", "-M", RENAMES, "--format=%H%x00%aE%x00%s", &since];
        // A partial clone would ask the network for every file that was renamed.
        let call = self.log(&options, "HEAD").env("GIT_NO_LAZY_FETCH", "1");
        match call.records(|record| log.take(record)) {
            Err(GitError::Failed(failure)) if failure.stderr.contains("bad revision 'HEAD'") => {}
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        Ok(Churn { files: log.finish(), is_shallow: !grafts.is_empty() })
    }

    /// The commits whose parents a shallow clone doesn't have. To git they have no parent, and so bring every file.
    fn grafts(&self) -> HashSet<Vec<u8>> {
        let shallow = crate::file::read_bytes(&self.common_dir().join("shallow"), 16 * 1024 * 1024);
        let lines = shallow.unwrap_or_default();
        lines.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }
}

/// What is expected next. Every record is taken by its place alone, so that no name and no message is mistaken for
/// anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A commit's id, or what happened to a file.
    CommitOrStatus,
    Author,
    Subject,
    /// The path of a file.
    Path,
    /// The path that a file was renamed or copied from, then the one that it has since.
    From {
        renamed: bool,
    },
    To,
}

/// Commits, authors by number, and fixes.
#[derive(Default)]
struct Count {
    commits: u64,
    authors: HashSet<usize>,
    fix_commits: u64,
}

struct Log<'g, W> {
    wanted: W,
    grafts: &'g HashSet<Vec<u8>>,
    next: Next,
    /// The commit that is being read: whether it counts, its author and whether it mends something.
    counts: bool,
    author: usize,
    is_fix: bool,
    renamed_from: Option<String>,
    authors: HashMap<Vec<u8>, usize>,
    /// The present names of files that had others; a log goes back in time.
    names: HashMap<String, String>,
    files: HashMap<String, Count>,
}

impl<'g, W: Fn(&str) -> bool> Log<'g, W> {
    fn new(grafts: &'g HashSet<Vec<u8>>, wanted: W) -> Self {
        Self {
            wanted,
            grafts,
            next: Next::CommitOrStatus,
            counts: false,
            author: 0,
            is_fix: false,
            renamed_from: None,
            authors: HashMap::new(),
            names: HashMap::new(),
            files: HashMap::new(),
        }
    }

    fn take(&mut self, record: &[u8]) {
        self.next = match self.next {
            Next::CommitOrStatus => self.commit_or_status(record),
            Next::Author => {
                let number = self.authors.len();
                self.author = *self.authors.entry(record.to_ascii_lowercase()).or_insert(number);
                Next::Subject
            }
            Next::Subject => {
                self.is_fix = is_fix(&String::from_utf8_lossy(record));
                Next::CommitOrStatus
            }
            Next::Path => {
                let path = self.name(record);
                self.count(path);
                Next::CommitOrStatus
            }
            Next::From { renamed } => {
                self.renamed_from = renamed.then(|| String::from_utf8_lossy(record).into_owned());
                Next::To
            }
            Next::To => {
                let path = self.name(record);
                if let Some(old) = self.renamed_from.take() {
                    self.names.insert(old, path.clone());
                }
                self.count(path);
                Next::CommitOrStatus
            }
        };
    }

    /// Ids are in lower case, and what happened to a file is said by a capital letter.
    fn commit_or_status(&mut self, record: &[u8]) -> Next {
        match record.trim_ascii_start().first() {
            Some(b'R') => Next::From { renamed: true },
            Some(b'C') => Next::From { renamed: false },
            Some(letter) if letter.is_ascii_uppercase() => Next::Path,
            None => Next::CommitOrStatus,
            Some(_) => {
                self.counts = !self.grafts.contains(record);
                Next::Author
            }
        }
    }

    /// The name that the file `path` of an old commit has now.
    fn name(&self, path: &[u8]) -> String {
        let path = String::from_utf8_lossy(path);
        self.names.get(path.as_ref()).cloned().unwrap_or_else(|| path.into_owned())
    }

    fn count(&mut self, path: String) {
        if !self.counts || !(self.wanted)(&path) {
            return;
        }
        let count = self.files.entry(path).or_default();
        count.commits += 1;
        count.authors.insert(self.author);
        count.fix_commits += u64::from(self.is_fix);
    }

    fn finish(self) -> BTreeMap<String, History> {
        let history = |count: Count| History {
            commits: count.commits,
            authors: count.authors.len() as u64,
            fix_commits: count.fix_commits,
        };
        self.files.into_iter().map(|(path, count)| (path, history(count))).collect()
    }
}
