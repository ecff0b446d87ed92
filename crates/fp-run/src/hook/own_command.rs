//! Recognises command lines that only call this program, to spare the user the client's questions. A permission covers
//! the whole line, so the line is read strictly: a single character that a shell could interpret leaves the decision to
//! the user's own rules.

/// Subcommands for people, or with effects beyond a plan: never allowed automatically.
const NOT_FOR_AGENTS: [&str; 8] =
    ["bundle", "commit", "demo", "hook", "import", "install", "uninstall", "update"];

/// Subcommands for an agent that talks with the user.
const FOR_THE_LEAD: [&str; 3] = ["approve", "rollback", "task"];

/// Returns the words of each `fp` call in `line`, a single call or several joined by `&&`, without substitution,
/// redirection, pipe or background. `None` for anything else. `by_agent` means that the caller isn't the lead: only a
/// lead, who talks with the user, may approve or undo finished work.
pub fn own_calls(line: &str, by_agent: bool) -> Option<Vec<Vec<String>>> {
    shell_calls(line).filter(|calls| calls.iter().all(|call| is_own_call(call, by_agent)))
}

fn is_own_call(call: &[String], by_agent: bool) -> bool {
    let [program, subcommand, ..] = call else { return false };
    let has = |wanted: &str| call.iter().any(|word| word == wanted);
    // A promoted note is a spec that every later task must meet.
    let decides_for_the_user = has("note") && has("promote") && has("--yes")
        || has("debt") && has("close")
        || has("roadmap") && has("new");
    // Settings keep agents to their tasks.
    let changes_settings = subcommand == "config" && ["set", "unset", "edit"].into_iter().any(has);
    // A path chosen by the caller may be any of the user's files, and `--client` may name any program.
    let names_file = call.iter().any(|word| matches!(word.split('=').next(), Some("--out" | "--client")));
    program == "fp"
        && subcommand.bytes().all(|b| b.is_ascii_lowercase())
        && !NOT_FOR_AGENTS.contains(&subcommand.as_str())
        && !(by_agent && (FOR_THE_LEAD.contains(&subcommand.as_str()) || decides_for_the_user))
        && !changes_settings
        && !names_file
}

/// Splits `line` into calls and words; `None` if a character means more than itself.
fn shell_calls(line: &str) -> Option<Vec<Vec<String>>> {
    let (mut calls, mut call) = (Vec::new(), Vec::new());
    let mut word: Option<String> = None;
    let mut chars = line.trim_matches([' ', '\t']).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => call.extend(word.take()),
            '&' => {
                chars.next_if_eq(&'&')?;
                call.extend(word.take());
                calls.push(std::mem::take(&mut call));
            }
            '\'' | '"' => word.get_or_insert_default().push_str(&quoted(&mut chars, c)?),
            // At the start of a word, zsh expands it to the path of a program.
            '=' => word.as_mut().filter(|word| !word.is_empty())?.push(c),
            c if is_plain(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    call.extend(word);
    calls.push(call);
    Some(calls)
}

/// The text up to the closing quote. Some characters keep their meaning between double quotes.
fn quoted(chars: &mut impl Iterator<Item = char>, quote: char) -> Option<String> {
    let mut text = String::new();
    for c in chars {
        match c {
            c if c == quote => return Some(text),
            '$' | '`' | '\\' | '!' if quote == '"' => return None,
            // Line ends within quotes are plain text to a shell; NUL can't be part of an argument.
            '\0' => return None,
            c => text.push(c),
        }
    }
    None
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | ',' | '+' | '@' | '%')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_own(line: &str, by_agent: bool) -> bool {
        own_calls(line, by_agent).is_some()
    }

    #[test]
    fn only_plain_calls_are_own() {
        let check = |line: &str, expect: bool| assert_eq!(is_own(line, false), expect, "{line:?}");
        check("fp next p", true);
        check("  fp next p --ended builder-1  ", true);
        check("fp status p && fp next p", true);
        check("fp verdict p 1.2 --pass '1: a; rm -rf / $(x) `y`' --summary \"it's fine; | & <>\"", true);
        check("fp note p add 'GOTCHA: 한글 & more'", true);
        check("fp submit p 1 --note 'WARN: a\nb'", true);
        check("fp next p --ended=builder-1", true);
        check("fp next =ls", false);
        check("fp config", true);
        check("fp config get guard.mode --origin", true);
        check("fp config schema", true);
        check("fp config set guard.mode off", false);
        check("fp config --format json 'set' guard.mode off", false);
        check("fp config unset guard.mode --user", false);
        check("fp config edit", false);
        check("fp doctor", true);
        check("fp doctor --client ./x", false);
        check("fp doctor --client=./x", false);
        check("fp commit a.txt -m 'Do it'", false);
        check("fp", false);
        check("", false);
        check("fp next p; touch q", false);
        check("fp next p & touch q", false);
        check("fp next p && touch q", false);
        check("touch q && fp next p", false);
        check("fp next p &&", false);
        check("&& fp next p", false);
        check("fp next p || touch q", false);
        check("fp next p | sh", false);
        check("fp next p > out", false);
        check("fp next < in", false);
        check("fp next $(touch q)", false);
        check("fp next `touch q`", false);
        check("fp next \"$(touch q)\"", false);
        check("fp next \"a\\\"; touch q\"", false);
        check("fp next $HOME", false);
        check("fp next p\ntouch q", false);
        check("fp next p\rtouch q", false);
        check("fp next {a,b}", false);
        check("fp next *", false);
        check("fp next ~", false);
        check("fp next 'open", false);
        check("fp next \"open", false);
        check("fp next \\; touch q", false);
        check("fp next p # rest", false);
        check("X=1 fp next p", false);
        check("/usr/bin/fp next p", false);
        check("./fp next p", false);
        check("fpx next p", false);
        check("fp hook stop", false);
        check("fp install", false);
        check("fp import /etc --from json", false);
        check("fp update", false);
        check("fp --help", false);
        check("fp next !!", false);
        check("fp next (a)", false);
        check("fp critique record p --pass 1,2 --fail '1.2 criteria: \"a\" is met by $(anything)'", true);
        check("fp critique record p --file /tmp/critique.json", true);
        check("fp critique record p --file - < critique.json", false);
        check("fp report p --markdown", true);
        check("fp report p --out /home/me/.profile --force", false);
        check("fp show p --format=html --out=x", false);
        check("fp export p --to csv", true);
        check("fp export p --to ccw --out . --force", false);
    }

    #[test]
    fn only_the_lead_approves_and_takes_back() {
        for line in ["fp approve p", "fp rollback p 1", "fp task revise p 1 --file x.md"] {
            assert!(is_own(line, false), "{line}");
            assert!(!is_own(line, true), "{line}");
        }
        assert!(is_own("fp claim p --as builder-1", true));
        assert!(is_own("fp critique record p --pass 1", true));
    }

    #[test]
    fn specs_are_for_everybody_to_read_and_for_the_lead_to_write() {
        for line in ["fp specs list", "fp specs show api/errors", "fp specs for p 1 --budget 2000 --explain"]
        {
            assert!(is_own(line, false) && is_own(line, true), "{line}");
        }
        assert!(is_own("fp note p promote 3", true));
        assert!(is_own("fp note p promote 3 --yes", false));
        assert!(!is_own("fp note p promote 3 --yes", true));
        assert!(!is_own("fp --format json note p promote 'a b' --spec x --yes", true));
        assert!(!is_own("fp note --format json p promote 'a b' --spec x --yes", true));
    }

    #[test]
    fn debts_are_noted_by_everybody_and_closed_by_the_lead() {
        for line in ["fp debt add 'Refresh tokens' --plan p --task 1", "fp debt list --all"] {
            assert!(is_own(line, false) && is_own(line, true), "{line}");
        }
        for line in
            ["fp debt close D1", "fp --format json debt close D1 --drop", "fp debt --format json close D1"]
        {
            assert!(!is_own(line, true), "{line}");
        }
        assert!(is_own("fp debt close D1 --plan p", false));
    }

    #[test]
    fn roadmaps_are_begun_by_the_lead() {
        for line in ["fp roadmap check a", "fp roadmap show", "fp roadmap next a", "fp new --roadmap a"] {
            assert!(is_own(line, false) && is_own(line, true), "{line}");
        }
        assert!(is_own("fp roadmap new 'Accounts for everybody'", false));
        assert!(!is_own("fp roadmap new 'Accounts for everybody'", true));
    }

    #[test]
    fn the_calls_of_a_line() {
        let check = |line: &str, expect: &[&[&str]]| {
            assert_eq!(own_calls(line, true).unwrap_or_default(), expect, "{line:?}")
        };
        check("fp claim p --as builder-1", &[&["fp", "claim", "p", "--as", "builder-1"]]);
        check(
            "fp status p && fp note p add 'a b'",
            &[&["fp", "status", "p"], &["fp", "note", "p", "add", "a b"]],
        );
        check("fp claim p --as builder-1 && touch q", &[]);
        check("fp claim p --as builder-1; touch q", &[]);
        check("echo fp claim p --as builder-1", &[]);
        check("fp approve p", &[]);
        check("", &[]);
    }

    proptest! {
        /// Outside single quotes, what is allowed has no character that a shell could give a meaning.
        #[test]
        fn nothing_with_a_meaning_gets_through(line in "fp [a-z]{1,6}[ !#-~]{0,30}") {
            if is_own(&line, false) {
                let outside: String = line.split('\'').step_by(2).collect();
                let meaning = "$`;|<>&()\\*?{}[]~#!^";
                let found = outside.replace("&&", "").contains(|c| meaning.contains(c));
                prop_assert!(!found, "{}", line);
            }
        }
    }
}
