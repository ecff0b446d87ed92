//! What `fp show` and `fp report` export, held against the programs that read it: the pages in Chromium, the
//! flowchart in Mermaid.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test ends at its first surprise")]
#![allow(clippy::print_stdout, reason = "figures, and what was skipped")]

mod chromium;
#[path = "../common/mod.rs"]
mod common;
mod mermaid;
mod page;
mod run_page;
mod sample;
