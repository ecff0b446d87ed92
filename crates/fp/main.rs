//! `fp`: the command line of Fractal Planner. Parse, run, map to an exit code.

mod assets;
mod cli;
mod commands;
mod context;
mod debts;
mod demo;
mod error;
mod input;
#[cfg(test)]
mod plugin_lint;
mod printer;
mod progress;
mod render;
mod roadmap;
mod source;
mod specs;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main().into()
}
