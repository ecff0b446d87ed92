//! `fp config edit`.

use std::process::Command;

use fp_host::config;
use serde_json::json;

use super::Layer;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

#[derive(Debug, clap::Args)]
pub(super) struct EditArgs {
    #[command(flatten)]
    layer: Layer,
}

pub(super) fn run(args: &EditArgs, context: &Context) -> CommandResult {
    let file = args.layer.file(context)?;
    let shown = context.shown(&file);
    let editor = context.env("VISUAL").or_else(|| context.env("EDITOR")).unwrap_or_default();
    let words = words(&editor);
    let Some((program, arguments)) = words.split_first() else {
        return Err(CommandError::failed("no editor is set")
            .hint(format!("set VISUAL or EDITOR, or open {shown} yourself")));
    };
    config::create(&file)?;
    let status = Command::new(program).args(arguments).arg(&file).status();
    let status = status.map_err(|error| {
        CommandError::failed(format!("the editor `{program}` can't be started: {error}"))
            .hint("VISUAL, or else EDITOR, has to name a program")
    })?;
    if !status.success() {
        return Err(CommandError::failed(format!("the editor ended with {status}"))
            .hint(format!("{shown} is as the editor left it")));
    }
    config::read_layer(&file).map_err(|error| {
        CommandError::from(error).hint("the file is kept as you wrote it; run this again to go on")
    })?;
    context.report(&json!({ "file": file }), &format!("{shown} is valid\n"))
}

/// The words of a command line, which no shell sees: blanks divide them, quotes hold them together.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quote, mut within) = (None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                if !within {
                    words.push(String::new());
                }
                within = true;
            }
            (None, c) if c.is_whitespace() => within = false,
            (_, c) => {
                if !within {
                    words.push(String::new());
                }
                within = true;
                words.last_mut().expect("a word was begun").push(c);
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn an_editor_is_a_program_and_its_arguments() {
        let check = |line: &str, expect: &[&str]| assert_eq!(words(line), expect, "{line:?}");
        check("", &[]);
        check("  ", &[]);
        check("vi", &["vi"]);
        check(" code  --wait ", &["code", "--wait"]);
        check(r#""C:\Program Files\Editor\editor.exe" -n"#, &[r"C:\Program Files\Editor\editor.exe", "-n"]);
        check(r#"emacsclient -a """#, &["emacsclient", "-a", ""]);
        check("'/opt/my editor'/run", &["/opt/my editor/run"]);
        check("vi; touch x && $(touch y)", &["vi;", "touch", "x", "&&", "$(touch", "y)"]);
    }
}
