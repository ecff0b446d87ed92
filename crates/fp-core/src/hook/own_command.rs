//! Which command lines are nothing but calls of this program, so that the client need not ask for them. What
//! is allowed is allowed for the whole line, so the line is read strictly: one character that a shell could give
//! a meaning, and the user's own rules decide.

/// Subcommands that change something beyond a plan, or that a person runs: their calls are not answered for.
const NOT_FOR_AGENTS: [&str; 8] =
    ["bundle", "commit", "demo", "hook", "import", "install", "uninstall", "update"];

/// Subcommands for whoever talks with the user.
const FOR_THE_LEAD: [&str; 3] = ["approve", "rollback", "task"];

/// Whether `line` is one call of `fp`, or several joined by `&&`, without substitution, redirection, pipe or
/// background. `by_agent` says that not the lead itself runs it: only a lead, who talks with the user, approves,
/// or takes back what is done.
#[must_use]
pub fn is_own(line: &str, by_agent: bool) -> bool {
    words(line)
        .is_some_and(|words| words.split(|word| *word == Word::And).all(|call| is_own_call(call, by_agent)))
}

/// The calls of `fp` that `line` is nothing but, each with its words; none where it is anything else.
#[must_use]
pub fn calls(line: &str) -> Vec<Vec<String>> {
    let words = words(line).unwrap_or_default();
    let calls: Vec<&[Word]> = words.split(|word| *word == Word::And).collect();
    if !calls.iter().all(|call| is_own_call(call, true)) {
        return Vec::new();
    }
    let text = |word: &Word| match word {
        Word::Text(text) => Some(text.clone()),
        Word::And => None,
    };
    calls.iter().map(|call| call.iter().filter_map(text).collect()).collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Word {
    Text(String),
    And,
}

fn is_own_call(call: &[Word], by_agent: bool) -> bool {
    let [Word::Text(program), Word::Text(subcommand), ..] = call else { return false };
    program == "fp"
        && subcommand.bytes().all(|b| b.is_ascii_lowercase())
        && !NOT_FOR_AGENTS.contains(&subcommand.as_str())
        && !(by_agent && FOR_THE_LEAD.contains(&subcommand.as_str()))
        && !(by_agent && decides_for_the_user(call))
        // What keeps agents to their tasks is among the settings.
        && !(subcommand == "config" && ["set", "unset", "edit"].iter().any(|word| has(call, word)))
        // A file of the caller's choice may be any that the user has, and a program may be any program.
        && !["--out", "--client"].iter().any(|option| names(call, option))
}

/// Whether the call makes a note of a run a spec, which every later task is held to, closes a debt, or begins a roadmap.
fn decides_for_the_user(call: &[Word]) -> bool {
    let has = |word| has(call, word);
    has("note") && has("promote") && has("--yes")
        || has("debt") && has("close")
        || has("roadmap") && has("new")
}

fn has(call: &[Word], wanted: &str) -> bool {
    call.iter().any(|word| matches!(word, Word::Text(text) if text == wanted))
}

/// Whether the call has this option, with its value in the same word or in the next one.
fn names(call: &[Word], option: &str) -> bool {
    let is_option =
        |text: &str| text.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    call.iter().any(|word| matches!(word, Word::Text(text) if is_option(text)))
}

/// The words of `line`; nothing where it has a character that means more than itself.
fn words(line: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut chars = line.trim_matches([' ', '\t']).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(current.take().map(Word::Text)),
            '&' => {
                chars.next_if_eq(&'&')?;
                words.extend(current.take().map(Word::Text));
                words.push(Word::And);
            }
            '\'' | '"' => current.get_or_insert_default().push_str(&quoted(&mut chars, c)?),
            // At the beginning of a word it is zsh's way to name a program.
            '=' => current.as_mut().filter(|word| !word.is_empty())?.push(c),
            c if is_plain(c) => current.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(current.map(Word::Text));
    Some(words)
}

/// The text up to the closing quote. Between double quotes some characters keep their meaning.
fn quoted(chars: &mut impl Iterator<Item = char>, quote: char) -> Option<String> {
    let mut text = String::new();
    for c in chars {
        match c {
            c if c == quote => return Some(text),
            '$' | '`' | '\\' | '!' if quote == '"' => return None,
            // A line end within quotes is text to a shell; a NUL is nothing that it could be given.
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
        let check = |line: &str, expect: &[&[&str]]| assert_eq!(calls(line), expect, "{line:?}");
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
