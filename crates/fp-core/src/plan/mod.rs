//! The task tree as a language: Markdown in, tasks with spans out.

pub mod id;
pub mod task;
