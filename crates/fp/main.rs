//! `fp`: the command line of Fractal Planner. Parse, run, map to an exit code.

mod cli;
mod commands;
mod context;
mod demo;
mod error;
mod open;
mod printer;
mod render;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main().into()
}
