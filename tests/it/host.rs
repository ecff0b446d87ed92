//! Side effects tested without running the program: git, processes, files.

mod changes;
mod git_commit;
mod git_measure;
mod process;
mod repository;
