//! What the benchmarks are measured against and with: writes trees, and reads one with nothing but
//! `pulldown-cmark`, which is as fast as a program on top of it could be.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program of its own"
)]

use std::process::ExitCode;

use pulldown_cmark::{Options, Parser};

mod trees;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["tree", shape, leaves] => match (trees::Shape::named(shape), leaves.parse()) {
            (Some(shape), Ok(leaves)) => print!("{}", trees::tree(shape, leaves)),
            _ => return usage(),
        },
        ["events", file] => match std::fs::read_to_string(file) {
            Ok(text) => println!("{} events", events(&text)),
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::FAILURE;
            }
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: yardstick tree plan|chain|shared LEAVES | events FILE");
    ExitCode::FAILURE
}

/// Number of events of `text`, each with its offsets.
fn events(text: &str) -> usize {
    Parser::new_ext(text, Options::empty())
        .into_offset_iter()
        .map(|(_, range)| usize::from(range.end > 0))
        .sum()
}
