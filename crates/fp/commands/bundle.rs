//! `fp bundle`.

use std::path::PathBuf;

use fp_host::claude::bundle::{Bundle, PLUGIN, Program, Programs, TARGETS, Target};
use serde::Serialize;

use crate::assets;
use crate::context::{Context, this_program};
use crate::error::{CommandResult, Exit};
use crate::printer::Format;

/// Write the plugin and a marketplace for it
///
/// DIR gets `fp/`, a complete plugin with this very program in it, and a marketplace that offers it, for
/// `claude plugin marketplace add DIR` or `claude --plugin-dir DIR/fp`. `fp install` does both at once.
///
/// With --binary it is a plugin for several platforms, and `bin/fp` starts the program for the machine it is on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to write: a new or empty one, or an earlier bundle, which is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The program for a platform, instead of this one: once for each. TARGET is what the Rust compiler calls
    /// it. One that runs on this machine is asked for its version, which has to be this one's.
    #[arg(long, value_name = "TARGET=PATH", value_parser = program)]
    binary: Vec<Program>,
}

fn program(text: &str) -> Result<Program, String> {
    let (target, path) = text.split_once('=').ok_or("it has no `=`")?;
    let target = Target::named(target).ok_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|target| target.name()).collect();
        format!("there is no target {target:?}; there are {}", known.join(", "))
    })?;
    Ok(Program { target, path: path.into() })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    marketplace: PathBuf,
    plugin: PathBuf,
    version: String,
    /// None where the only program is the one that wrote the bundle.
    platforms: Vec<&'static str>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let platforms = args.binary.iter().map(|program| program.target.name()).collect();
    let programs =
        if args.binary.is_empty() { Programs::One(this_program()?) } else { Programs::Each(args.binary) };
    let bundle = Bundle { files: assets::plugin_files(), programs };
    let out = args.out;
    bundle.write(&out)?;
    let version = bundle.version()?;
    report(context, &Written { plugin: out.join(PLUGIN), marketplace: out, version, platforms })
}

fn report(context: &Context, written: &Written) -> CommandResult {
    match context.format {
        Format::Json => context.printer.json(written)?,
        Format::Text => context.printer.data(&text(written)),
    }
    Ok(Exit::Done)
}

fn text(written: &Written) -> String {
    let mut text = format!(
        "plugin       {} ({PLUGIN} {})\nmarketplace  {}\n",
        written.plugin.display(),
        written.version,
        written.marketplace.display(),
    );
    for (index, platform) in written.platforms.iter().enumerate() {
        let label = if index == 0 { "platforms" } else { "" };
        text += &format!("{label:<13}{platform}\n");
    }
    text
}
