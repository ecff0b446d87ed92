//! Side effects tested without running the program: git, processes, files.

mod changes;
#[cfg(target_os = "linux")]
mod confinement;
mod git_commit;
mod git_measure;
mod process;
mod repository;
