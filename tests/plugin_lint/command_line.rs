//! Checks that this program would accept the commands shown on a page.

use clap::error::ErrorKind;
use clap::{Command, CommandFactory};

use super::page::Code;
use crate::cli::Cli;

/// The lines of `code` that call `fp`.
pub(super) fn calls(code: &Code) -> Vec<String> {
    match code.block.as_deref() {
        None => vec![code.text.replace('\n', " ")],
        Some("" | "sh" | "bash" | "console") => {
            let joined = code.text.replace("\\\n", " ");
            joined
                .lines()
                .map(|line| line.trim().trim_start_matches("$ "))
                .map(|line| line.split(" <<'").next().unwrap_or(line).to_owned())
                .collect()
        }
        Some(_) => Vec::new(),
    }
    .into_iter()
    .filter(|line| line == "fp" || line.starts_with("fp "))
    .collect()
}

/// The mistake in the call `line`, if any. A span may also mention a command by its bare name.
pub(super) fn mistake(line: &str, may_be_a_mention: bool) -> Option<String> {
    let Some(words) = split(line) else {
        return Some("a quote is not closed".into());
    };
    let tree = Cli::command();
    let command = follow(&tree, &words[1..]);
    let Some((_, rest)) = command else {
        return Some("there is no such command".into());
    };
    if may_be_a_mention && rest.is_empty() {
        return None;
    }
    match Cli::command().try_get_matches_from(words) {
        Ok(_) => None,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            None
        }
        Err(error) => Some(error.to_string().lines().next().unwrap_or_default().into()),
    }
}

/// The part of the call `line` that doesn't exist, if any: its command or one of its flags. The call may be incomplete.
pub(super) fn unknown_part(line: &str) -> Option<String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let mut tree = Cli::command();
    tree.build();
    let Some((command, rest)) = follow(&tree, &words[1..]) else {
        return Some("there is no such command".into());
    };
    // A subcommand may come after the plan, as in `fp note PLAN add`.
    let inner = rest.iter().find_map(|word| command.find_subcommand(word));
    let command = inner.unwrap_or(command);
    let flags = rest.iter().filter_map(|word| word.strip_prefix("--"));
    let names = flags.map(|flag| {
        flag.split(|c: char| !c.is_ascii_lowercase() && c != '-')
            .next()
    });
    let has = |name: &str| {
        let mut known = command.get_arguments().filter_map(clap::Arg::get_long);
        name.is_empty() || name == "help" || name == "version" || known.any(|long| long == name)
    };
    let unknown = names.flatten().find(|name| !has(name))?;
    Some(format!("there is no --{unknown}"))
}

/// The innermost command that `words` name, and the words after its name; `None` if the first word is neither a command
/// nor a flag.
fn follow<'a, 'w>(tree: &'a Command, words: &'w [String]) -> Option<(&'a Command, &'w [String])> {
    let Some(first) = words.first() else {
        return Some((tree, words));
    };
    if let Some(inner) = tree.find_subcommand(first) {
        return follow(inner, &words[1..]);
    }
    let names_a_command = tree.get_name() == "fp" && !first.starts_with('-');
    (!names_a_command).then_some((tree, words))
}

/// Splits `line` like a shell, replacing placeholders with values; `None` if a quote is left open.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote, mut quoted) = (String::new(), None, false);
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => (quote, quoted) = (Some(c), true),
            (None, ' ') => {
                if quoted || !word.is_empty() {
                    words.push(if quoted {
                        word.clone()
                    } else {
                        value_for(&word)
                    });
                }
                word.clear();
                quoted = false;
            }
            (_, c) => word.push(c),
        }
    }
    quote.is_none().then_some(words)
}

fn value_for(word: &str) -> String {
    match word {
        "PLAN" => "add-greeting-20261121",
        "TASK" => "1.2",
        "N" => "2",
        "TREE" => "0123456789ab",
        other => other,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_where_a_shell_would_be() {
        let check = |text: &str, block: Option<&str>, expect: &[&str]| {
            let code = Code {
                text: text.into(),
                block: block.map(Into::into),
            };
            assert_eq!(calls(&code), expect);
        };
        check("fp next PLAN", None, &["fp next PLAN"]);
        check("fp next\nPLAN", None, &["fp next PLAN"]);
        check("fpx next", None, &[]);
        check(
            "# why\nfp schedule A\ncargo test\n  $ fp \\\n  plans\n",
            Some("sh"),
            &["fp schedule A", "fp    plans"],
        );
        check("fp next", Some("rust"), &[]);
    }

    #[test]
    fn words_are_split_as_in_a_shell() {
        let check = |line: &str, expect: Option<&[&str]>| {
            let words = split(line);
            assert_eq!(
                words
                    .as_ref()
                    .map(|words| words.iter().map(String::as_str).collect()),
                expect.map(<[_]>::to_vec)
            );
        };
        check(
            "fp verify PLAN TASK",
            Some(&["fp", "verify", "add-greeting-20261121", "1.2"]),
        );
        check(
            "fp a 'b PLAN' \"c'd\"  ''",
            Some(&["fp", "a", "b PLAN", "c'd", ""]),
        );
        check("fp 'a", None);
    }

    #[test]
    fn a_call_is_judged_by_the_real_command_line() {
        let check = |line: &str, mention: bool, expect: Option<&str>| {
            assert_eq!(mistake(line, mention).as_deref(), expect, "{line}");
        };
        check("fp install --bundle DIR", false, None);
        check("fp --version", false, None);
        check("fp why", true, None);
        check(
            "fp why",
            false,
            Some("error: the following required arguments were not provided:"),
        );
        check(
            "fp install --to DIR",
            true,
            Some("error: unexpected argument '--to' found"),
        );
        check("fp bungle", true, Some("there is no such command"));
        check(
            "fp install --bundle 'DIR",
            false,
            Some("a quote is not closed"),
        );
    }
}
