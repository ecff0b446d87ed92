//! `fp bundle`.

use std::path::PathBuf;

use fp_host::claude::bundle::{Bundle, PLUGIN};
use serde::Serialize;

use crate::assets;
use crate::context::{Context, this_program};
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Write the plugin and a marketplace for it
///
/// DIR gets `fp/`, a complete plugin with this very program in it, and a marketplace that offers it, for
/// `claude plugin marketplace add DIR` or `claude --plugin-dir DIR/fp`. `fp install` does both at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to write: a new or empty one, or an earlier bundle, which is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    marketplace: PathBuf,
    plugin: PathBuf,
    version: String,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let bundle = Bundle { files: assets::plugin_files(), executable: this_program()? };
    let out = args.out;
    bundle
        .write(&out)
        .and_then(|()| bundle.version())
        .map_err(|error| CommandError::failed(&error).hint(error.hint()))
        .and_then(|version| report(context, Written { plugin: out.join(PLUGIN), marketplace: out, version }))
}

fn report(context: &Context, written: Written) -> CommandResult {
    match context.format {
        Format::Json => context.printer.json(&written)?,
        Format::Text => context.printer.data(&format!(
            "plugin       {} ({PLUGIN} {})\nmarketplace  {}\n",
            written.plugin.display(),
            written.version,
            written.marketplace.display(),
        )),
    }
    Ok(Exit::Done)
}
