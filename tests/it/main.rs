//! All tests that use the program from outside, one module per subject. They share one test binary, since each
//! additional one would have to be linked.
#![allow(clippy::unwrap_used, reason = "a test ends at its first surprise")]
#![allow(clippy::print_stdout, reason = "figures, and what was skipped")]
#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        unused_imports,
        reason = "some tests need Linux, others Unix"
    )
)]

#[path = "../common/mod.rs"]
mod common;

mod archive;
#[cfg(unix)]
mod bad_input;
#[cfg(unix)]
mod bundle;
#[cfg(unix)]
mod cheats;
#[cfg(unix)]
mod ci;
#[cfg(unix)]
mod clearance;
#[cfg(unix)]
mod comments;
#[cfg(unix)]
mod commit;
mod config;
mod critique;
#[cfg(unix)]
mod demo;
#[cfg(unix)]
mod docs;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod drift;
mod end_checks;
mod errors;
mod evidence;
#[cfg(unix)]
mod explain;
#[cfg(unix)]
mod export;
mod export_formats;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod fleet;
mod fmt;
#[cfg(unix)]
mod golden;
#[cfg(unix)]
mod handoff;
#[cfg(unix)]
mod help;
#[cfg(unix)]
mod hook;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod import;
#[cfg(unix)]
mod inquiry;
#[cfg(unix)]
mod install;
mod interview;
#[cfg(unix)]
mod judged;
#[cfg(unix)]
mod lead;
mod linear;
#[cfg(unix)]
mod log;
#[cfg(unix)]
#[cfg(unix)]
mod mutation;
mod new;
#[cfg(unix)]
mod pace;
mod payload;
mod plan;
mod plan_selector;
mod planning_cost;
mod platforms;
mod properties;
#[cfg(unix)]
mod race;
#[cfg(unix)]
mod reading_language;
#[cfg(unix)]
mod ready;
#[cfg(unix)]
mod release;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod review;
#[cfg(unix)]
mod roadmap;
#[cfg(unix)]
mod rollback;
#[cfg(unix)]
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod scheduling;
mod setup;
#[cfg(unix)]
mod shells;
mod show;
#[cfg(unix)]
mod shown;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod specs;
#[cfg(unix)]
mod statusline;
mod task;
mod task_tree;
#[cfg(unix)]
mod tdd;
#[cfg(unix)]
mod trial;
#[cfg(unix)]
mod trust;
#[cfg(unix)]
mod trust_settings;
#[cfg(unix)]
mod validate;
#[cfg(unix)]
mod watch;
#[cfg(unix)]
mod why;
#[cfg(unix)]
mod worktree;
