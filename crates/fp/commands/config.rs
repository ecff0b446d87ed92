//! `fp config`.

mod change;
mod edit;
mod show;

use std::path::{Path, PathBuf};

use fp_core::settings;
use fp_host::config::{self, Origin};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// Show the configuration, or change it
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    show: show::ShowArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show every setting with the value in force
    Show(show::ShowArgs),
    /// Print the value in force of one setting
    Get(show::GetArgs),
    /// Set a setting in a file, of which everything else stays as it is
    Set(change::SetArgs),
    /// Take a setting out of a file, so that what lies below it counts
    Unset(change::UnsetArgs),
    /// Print the JSON Schema of the files, for editors
    Schema,
    /// Open a file in your editor, and check it afterwards
    Edit(edit::EditArgs),
}

/// Which file a command is about.
#[derive(Debug, clap::Args)]
#[group(id = "layer", multiple = false)]
struct Layer {
    /// Your own file.
    #[arg(long)]
    user: bool,
    /// The project's file, which is the default.
    #[arg(long)]
    project: bool,
}

impl Layer {
    fn origin(&self) -> Origin {
        if self.user { Origin::User } else { Origin::Project }
    }

    /// Where the file is, whether or not it is there.
    fn file(&self, context: &Context) -> Result<PathBuf, CommandError> {
        if !self.user {
            return Ok(context.repo().config_file());
        }
        config::user_file(&|name| context.env(name)).ok_or_else(|| {
            CommandError::failed("there is no home to keep your settings in")
                .hint("set HOME or XDG_CONFIG_HOME to a folder, or use `--project`")
        })
    }
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    match args.command {
        None => show::show(&args.show, context),
        Some(Command::Show(args)) => show::show(&args, context),
        Some(Command::Get(args)) => show::get(&args, context),
        Some(Command::Set(args)) => change::set(&args, context),
        Some(Command::Unset(args)) => change::unset(&args, context),
        Some(Command::Schema) => schema(context),
        Some(Command::Edit(args)) => edit::run(&args, context),
    }
}

/// The schema itself in either form: whoever reads it is a program.
fn schema(context: &Context) -> CommandResult {
    context.printer.document(&settings::schema())?;
    Ok(Exit::Done)
}

/// Whether the file `path` is there, as a remark behind its name.
fn remark(path: &Path) -> &'static str {
    if path.exists() { "" } else { " (not there)" }
}
