//! `fp`: the command line of Fractal Planner. Parses, runs, and maps the result to an exit code.

mod assets;
mod cli;
mod commands;
mod context;
mod demo;
mod error;
mod features;
mod input;
mod pace;
mod pages;
#[cfg(test)]
#[path = "../../tests/plugin_lint/mod.rs"]
mod plugin_lint;
mod printer;
mod source;
mod theme;

use std::process::ExitCode;

fn main() -> ExitCode {
    let supervised = fp_host::platform::supervise_process();
    let elsewhere = supervised.or_else(cli::made_by_lead);
    ExitCode::from(elsewhere.unwrap_or_else(|| cli::main().code()))
}
