//! Recognises command lines that only call this program, to spare the user the client's permission prompts. A
//! permission covers the whole line, so the line is read strictly: a single character that a shell could interpret
//! leaves the decision to the user's own rules.

use fp_plan::plan::id::AgentName;

use super::{BUILDER, VERIFIER};
use crate::run::state::Role;

/// The caller of a command line, according to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The main session, which talks with the user.
    Lead,
    Builder,
    Verifier,
    /// An agent that helps to plan.
    Planner,
    /// An agent that mirrors a plan in a tracker.
    Tracker,
    /// An agent that doesn't belong to this plugin.
    Stranger,
}

impl Caller {
    /// Determines the caller from the type and id of its agent. A teammate's type is its name.
    pub fn from_agent(agent_type: Option<&str>, agent_id: Option<&str>) -> Self {
        match agent_type {
            Some(BUILDER) => Self::Builder,
            Some(VERIFIER) => Self::Verifier,
            Some("fp:linear-sync") => Self::Tracker,
            Some(plugin) if plugin.starts_with("fp:") => Self::Planner,
            Some(name) if agent_id.is_some() && AgentName::is_of_builder(name) => Self::Builder,
            Some(name) if agent_id.is_some() && name.starts_with("verifier-") => Self::Verifier,
            _ if agent_id.is_some() => Self::Stranger,
            _ => Self::Lead,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Lead => "the lead",
            Self::Builder => "builders",
            Self::Verifier => "verifiers",
            Self::Planner => "planning agents",
            Self::Tracker => "the tracker's agent",
            Self::Stranger => "other agents",
        }
    }
}

const EVERYBODY: &[Caller] = &[
    Caller::Lead,
    Caller::Builder,
    Caller::Verifier,
    Caller::Planner,
    Caller::Tracker,
    Caller::Stranger,
];

/// The only calls that the user needn't be asked about, one per line: the command and its action, `*` for any word in
/// between and `.` where nothing may follow, then its flags, with a `=` if they take a value. Any other call gives
/// consent, spends, loosens a check, or reads or writes wherever its caller says.
const ALLOWED: [(&[Caller], &str); 6] = [
    (
        EVERYBODY,
        "
        config .
        doctor .
        export
        fleet
        log --task=
        note * add --task=
        note * end
        note * list --for=
        plans . --all --archived
        report --markdown
        roadmap show
        show
        specs for --stage=
        specs list --strict
        status -a --all --ready -w --watch
        validate --all --explain= --fix --max-complexity= --strict
        why --evidence
        ",
    ),
    (
        &[Caller::Lead, Caller::Builder],
        "
        claim --as=
        clarify --as= --option= --question=
        scope extend --claim= --reason=
        submit --claim= --note=
        ",
    ),
    (
        &[Caller::Lead, Caller::Verifier],
        "
        verify
        verdict --fail= --from= --iteration= --note= --pass= --summary= --tree=
        ",
    ),
    (
        &[Caller::Lead, Caller::Planner],
        "
        critique record --fail= --pass= --warn=
        critique show
        interview --alternative= --approach= --assume= --by= --decision= --exclude= --goal-lines= --include= --objective= --open= --requirement= --tests= --withdraw=
        plan --order= --parallel=
        schedule --order= --parallel=
        signals
        validate --check --fmt
        ",
    ),
    (&[Caller::Lead, Caller::Tracker], "linear"),
    (
        &[Caller::Lead],
        "
        approve
        cancel --reason=
        new --auto --builders= --from-prompt --intent= --max-complexity= --mode= --plan-only --research-only --roadmap=
        next --ended=
        plans archive
        plans restore
        report --handoff
        retry --undo
        roadmap new
        run --allow-dirty --ask -j= --builders= --max-iterations= --no-commit
        start --allow-dirty --attended --branch= --builders= --here --max-iterations= --no-commit --session=
        task --after= --before= --file= --under=
        ",
    ),
];
/// Flags that every command takes. `-C` isn't one of them, since another folder may be another repository.
const ANYWHERE: [&str; 6] = ["--format=", "--help", "-h", "--json", "-q", "--quiet"];
/// Calls that state the user's words or agreement, some only with a certain flag. Hooks record each answer where the
/// user gives it, so no agent has to repeat it.
const OF_THE_USER: [(&str, Option<&str>); 4] = [
    ("answer", None),
    ("fleet", Some("--leave")),
    ("join", None),
    ("share", None),
];

/// The lines of [`ALLOWED`], each with its callers.
fn allowed_calls() -> impl Iterator<Item = (&'static [Caller], &'static str)> {
    let lines = |(of, lines): (&'static [Caller], &'static str)| {
        lines.trim().lines().map(move |line| (of, line.trim()))
    };
    ALLOWED.into_iter().flat_map(lines)
}

/// True if `allowed`, a line of [`ALLOWED`], covers a call with these `arguments`.
fn covers_call(allowed: &str, arguments: &[String]) -> bool {
    let (flags, wanted): (Vec<&str>, Vec<&str>) = allowed
        .split(' ')
        .chain(ANYWHERE)
        .partition(|word| word.starts_with('-'));
    if arguments.first().map(String::as_str) != wanted.first().copied() {
        return false;
    }
    let mut named = Vec::new();
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(word) = arguments.next() {
        if word == "--" {
            named.extend(arguments.by_ref());
        } else if !word.starts_with('-') {
            named.push(word);
        } else {
            let (flag, has_value) = match word.split_once('=') {
                Some((flag, _)) => (flag, true),
                None => (word, false),
            };
            match flags
                .iter()
                .find(|known| known.trim_end_matches('=') == flag)
            {
                Some(known) if known.ends_with('=') && !has_value => drop(arguments.next()),
                Some(_) => {}
                None => return false,
            }
        }
    }
    let mut named = named.into_iter();
    wanted.iter().all(|wanted| match *wanted {
        "*" => named.next().is_some(),
        "." => named.next().is_none(),
        word => named.next() == Some(word),
    })
}

/// Programs that start no other program, except with [`RUNNING_FLAGS`].
const OF_TEXT: &[&str] = &[
    "cat", "cd", "cut", "diff", "echo", "egrep", "fgrep", "gh", "git", "grep", "head", "jq", "ls",
    "mkdir", "printf", "rg", "sed", "sort", "tail", "tee", "touch", "tr", "uniq", "wc",
];
/// Arguments that make some of the [`OF_TEXT`] programs start another program.
const RUNNING_FLAGS: &str = "--pre --compress-program --exec --open-files-in-pager --ext-diff -O alias extension \
                             --hostname-bin";
/// Git subcommands that treat their arguments as text.
const OF_GIT: &[&str] = &[
    "add", "blame", "branch", "commit", "diff", "grep", "log", "shortlog", "show", "stash",
    "status", "tag",
];
/// The judgement on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineJudgement {
    /// The line consists only of calls to this program that the caller may make. Holds the words of each call.
    Own(Vec<Vec<String>>),
    /// The line contains a call meant for another role. Holds the reason for refusing it.
    NotYours(String),
    /// The user's own rules decide.
    Unknown,
}

/// Judges `line`, which `caller` is about to run. Only a single call or several joined by `&&`, without substitution,
/// redirection, pipe or background job, can be [`LineJudgement::Own`].
pub fn judge_line(line: &str, caller: Caller) -> LineJudgement {
    let is_own = |call: &Vec<String>| call.first().is_some_and(|program| program == "fp");
    let written = call_with_text(line);
    let own = shell_calls(written.unwrap_or(line), false).filter(|calls| calls.iter().all(is_own));
    let own = own.filter(|calls| written.is_none() || calls.iter().all(|call| reads_verdict(call)));
    let called = match &own {
        Some(calls) => calls.iter().map(|call| call[1..].to_vec()).collect(),
        None => {
            let text = without_quoted_document(line);
            calls_among(&text).unwrap_or_else(|| calls_named_in(&text))
        }
    };
    let refused = called
        .iter()
        .find_map(|arguments| not_of(caller, arguments));
    match (refused, own) {
        (Some(reason), _) => LineJudgement::NotYours(reason),
        (None, Some(calls)) if called.iter().all(|call| is_harmless(call, caller)) => {
            LineJudgement::Own(calls)
        }
        _ => LineJudgement::Unknown,
    }
}

/// The beginning of `line` if all that follows is its standard input, a text that a shell leaves alone: `<<'END'`, the
/// text, and `END` on the last line.
fn call_with_text(line: &str) -> Option<&str> {
    let (call, rest) = line.split_once(" <<'")?;
    let (end, text) = rest.split_once("'\n")?;
    let is_word = !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut lines = text.split('\n').skip_while(|line| *line != end);
    let is_ended = lines.next().is_some() && lines.all(|line| line.trim_matches(' ').is_empty());
    (is_word && is_ended && !text.contains('\0')).then_some(call)
}

/// True if `call` reads a verdict from its standard input.
fn reads_verdict(call: &[String]) -> bool {
    call.get(1).is_some_and(|word| word == "verdict")
        && call.windows(2).any(|two| two == ["--from", "-"])
}

/// The arguments of each call to this program in `line`. A call that merely appears as text in another program's
/// arguments doesn't count. `None` if the line can't be read or may run something else.
fn calls_among(line: &str) -> Option<Vec<Vec<String>>> {
    let mut calls = shell_calls(line, true)?;
    let is_ours = |call: &Vec<String>| call.first().is_some_and(|word| is_this_program(word));
    let only_reads = |call: &Vec<String>| match call.split_first() {
        Some((program, words)) => is_ours(call) || only_reads_words(program, words),
        None => true,
    };
    let is_readable = calls.iter().all(only_reads);
    calls.retain(is_ours);
    is_readable.then(|| calls.iter().map(|call| call[1..].to_vec()).collect())
}

/// True if `program` never runs anything taken from its arguments, `words`, or from its input.
fn only_reads_words(program: &str, words: &[String]) -> bool {
    let is_running_flag = |word: &String| {
        let flag = word.split('=').next().unwrap_or_default();
        RUNNING_FLAGS.split(' ').any(|running| running == flag) || word.starts_with("-O")
    };
    let reads = match program {
        "sed" => words.iter().all(|word| only_edits(word)),
        "git" => words.first().is_some_and(|word| OF_GIT.contains(&&**word)),
        _ => OF_TEXT.contains(&program),
    };
    reads && !words.iter().any(is_running_flag)
}

/// True if `word`, an argument of `sed`, isn't a script, or is one that only searches or replaces and runs nothing.
fn only_edits(word: &str) -> bool {
    let is_end = |end: &str, of: &str| end.chars().all(|c| c.is_ascii_digit() || of.contains(c));
    let parts: Vec<&str> = word.split('/').collect();
    match *parts.as_slice() {
        ["", _, end] => is_end(end, "pdq$,"),
        ["s", _, _, end] => is_end(end, "gip"),
        _ => !word.contains(char::is_whitespace),
    }
}

/// Returns `line` with its first heredoc as a single quoted word, since that is often a commit message or a file's
/// text. Only done if the delimiter is quoted, so that a shell leaves the text alone, and if nothing before the heredoc
/// could change its meaning.
fn without_quoted_document(line: &str) -> String {
    let replaced = || {
        let (before, rest) = line.split_once("<<'")?;
        let (end, rest) = rest.split_once("'\n")?;
        let is_word = end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let (body, after) = rest.split_once(&format!("\n{end}")).filter(|_| is_word)?;
        let after = after
            .strip_prefix('\n')
            .or((after.is_empty()).then_some(after))?;
        let message = before
            .strip_suffix("\"$(cat ")
            .zip(after.trim_start().strip_prefix(")\""));
        let (before, after) = message.unwrap_or((before, after));
        let is_plain =
            !before.ends_with('<') && !before.contains(['\'', '"', '#', '\\', '`', '$', '(']);
        let text = body.replace('\'', "");
        is_plain.then(|| format!("{before}'{text}'\n{after}"))
    };
    replaced().unwrap_or_else(|| line.to_owned())
}

/// The reason why a call with these `arguments` isn't for an agent in this `role` that `fp run` runs as a process; the
/// agent's program may have no hooks.
pub fn refuse_process(role: Role, arguments: Vec<String>) -> Option<String> {
    let caller = match role {
        Role::Builder => Caller::Builder,
        Role::Verifier => Caller::Verifier,
    };
    // The client calls `fp hook` for its agents.
    if arguments.first().is_some_and(|word| word == "hook") {
        return None;
    }
    let subcommand = &arguments[subcommand_at(&arguments)?];
    let is_refused = !is_harmless(&arguments, caller);
    let of_others = || {
        let names_file = arguments.iter().any(|word| word.starts_with("--from"));
        let way = ["", ": give the text on standard input, `--from -`"][usize::from(names_file)];
        let whose = caller.name();
        is_refused.then(|| format!("`fp {subcommand}` in this form is not for {whose}{way}"))
    };
    not_of(caller, &arguments).or_else(of_others)
}

/// Splits `cd FOLDER && REST` if the folder is an absolute path that a shell takes literally.
pub fn behind_cd(line: &str) -> Option<(&str, &str)> {
    let (folder, rest) = line
        .trim_start_matches(' ')
        .strip_prefix("cd ")?
        .split_once("&&")?;
    let folder = folder.trim_matches(' ');
    let quoted = ['"', '\'']
        .iter()
        .find_map(|q| folder.strip_prefix(*q)?.strip_suffix(*q));
    let is_meant = |c: char| is_plain(c) || c == ' ' && quoted.is_some();
    let folder = quoted.unwrap_or(folder);
    (folder.starts_with('/') && folder.chars().all(is_meant)).then_some((folder, rest))
}

/// The arguments after each mention of this program in `text`, with quotes removed.
fn calls_named_in(text: &str) -> Vec<Vec<String>> {
    let bare = text.replace(['\'', '"', '\\'], "");
    let is_start =
        |word: &str| is_this_program(word) || word.starts_with('-') && word.ends_with("fp");
    let mut calls = Vec::new();
    for part in bare.split([';', '&', '|']) {
        let words = part.split(|c: char| c.is_whitespace() || "()`$<>{}=!".contains(c));
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
        let words: Vec<String> = words.collect();
        let starts = (0..words.len()).filter(|at| is_start(&words[*at]));
        calls.extend(starts.map(|at| words[at + 1..].to_vec()));
    }
    calls
}

fn is_this_program(word: &str) -> bool {
    matches!(word.rsplit(['/', '\\']).next(), Some("fp" | "fp.exe"))
}

/// The command in a call's `arguments`.
pub fn called(arguments: &[String]) -> Option<&String> {
    arguments.get(subcommand_at(arguments)?)
}

/// The position of the command in `arguments`.
fn subcommand_at(arguments: &[String]) -> Option<usize> {
    // In a cluster of short flags, the value of `-C` is the rest of the cluster or, if nothing is left, the next word.
    let takes_next = |word: &str| !word.starts_with("--") && word.find('C') == Some(word.len() - 1);
    let mut at = 0;
    loop {
        at += match arguments.get(at)?.as_str() {
            "--format" => 2,
            flag if flag.starts_with('-') && takes_next(flag) => 2,
            flag if flag.starts_with('-') => 1,
            _ => return Some(at),
        }
    }
}

/// The reason why the call with these `arguments` isn't for `caller`, an agent of this plugin. No agent may call
/// `hook`.
fn not_of(caller: Caller, arguments: &[String]) -> Option<String> {
    let subcommand = arguments[subcommand_at(arguments)?].as_str();
    if subcommand == "hook" {
        return Some(
            "`fp hook` is for the client to call: what it says of the user has to be true.".into(),
        );
    }
    if matches!(caller, Caller::Lead | Caller::Stranger) {
        return None;
    }
    let of_command = |(_, line): &(_, &str)| line.split(' ').next() == Some(subcommand);
    let lines: Vec<(&[Caller], &str)> = allowed_calls().filter(of_command).collect();
    // True if the word is reserved for the user, or if the command allows it to other callers but not to this one.
    let is_of_others = |wanted: &str, flag: Option<&str>| {
        let is_it = |word: &str| word.trim_end_matches('=') == wanted;
        let has_it = lines.iter().filter(|(_, line)| line.split(' ').any(is_it));
        let callers: Vec<&[Caller]> = has_it.map(|(of, _)| *of).collect();
        let is_own = callers.iter().any(|of| of.contains(&caller));
        OF_THE_USER.contains(&(subcommand, flag)) || !callers.is_empty() && !is_own
    };
    let named = if is_of_others(subcommand, None) {
        subcommand.to_owned()
    } else {
        let flags = arguments.iter().filter(|word| word.starts_with('-'));
        let mut flags = flags.filter_map(|word| word.split('=').next());
        let flag = flags.find(|flag| is_of_others(flag, Some(flag)))?;
        format!("{subcommand} {flag}")
    };
    Some(format!(
        "`fp {named}` is not for {}: end your turn, and the lead continues.",
        caller.name()
    ))
}

fn is_harmless(arguments: &[String], caller: Caller) -> bool {
    let has = |wanted: fn(&str) -> bool| arguments.iter().any(|word| wanted(word));
    let is_command = |name: &str| arguments.first().is_some_and(|word| word == name);
    // A file that the caller chooses could be any of the user's files.
    let edits_any_file = has(|word| word.starts_with("--fix") || word == "--fmt")
        && (caller == Caller::Stranger || has(|word| word.to_ascii_lowercase().contains(".md")));
    let is_file = |two: &[String]| two[0] == "--from" && two[1] != "-";
    let reads_any_file =
        has(|word| word.starts_with("--from=")) || arguments.windows(2).any(is_file);
    // Only the lead talks with the user.
    let speaks_for_user = caller != Caller::Lead
        && is_command("interview")
        && has(|word| matches!(word, "user" | "--by=user"));
    !edits_any_file
        && !reads_any_file
        && !speaks_for_user
        && allowed_calls().any(|(of, line)| of.contains(&caller) && covers_call(line, arguments))
}

/// Splits `line` into calls and words; `None` if a character has a special meaning. With `joins`, which is for finding
/// calls and never for allowing them, pipes, semicolons and line ends also separate calls, redirected files are words,
/// and any other character that can't start a program stands for itself.
fn shell_calls(line: &str, joins: bool) -> Option<Vec<Vec<String>>> {
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
            '|' | ';' | '\n' if joins => {
                call.extend(word.take());
                calls.push(std::mem::take(&mut call));
            }
            '>' | '<' if joins => {
                // If a redirection comes first, the program is the word after the file.
                let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
                if call.is_empty() && word.as_ref().is_none_or(is_number) {
                    return None;
                }
                chars.next_if_eq(&'>');
                chars.next_if_eq(&'&');
                if matches!(chars.peek(), Some('(' | '<')) {
                    return None;
                }
                call.extend(word.take());
            }
            '\'' | '"' => word
                .get_or_insert_default()
                .push_str(&quoted(&mut chars, c, joins)?),
            // An apostrophe between quoted strings, or a line continuation.
            '\\' => match chars.next()? {
                '\'' => word.get_or_insert_default().push('\''),
                '\n' => {}
                c if joins => word.get_or_insert_default().push(c),
                _ => return None,
            },
            '=' if joins => word.get_or_insert_default().push(c),
            // zsh expands a `=` at the start of a word to the path of a program and, with some settings, also one after
            // a colon or another `=`.
            '=' => word
                .as_mut()
                .filter(|word| !word.is_empty() && !word.ends_with([':', '=']))?
                .push(c),
            c if is_plain(c) => word.get_or_insert_default().push(c),
            // A comment may hide quotes.
            '#' if word.is_none() => return None,
            c if joins && !"$`()\r\0".contains(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    call.extend(word);
    calls.push(call);
    Some(calls)
}

/// Reads up to the closing quote; `None` if a character keeps its special meaning between double quotes.
fn quoted(chars: &mut impl Iterator<Item = char>, quote: char, escapes: bool) -> Option<String> {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Some(text),
            '\\' if quote == '"' && escapes => text.extend(chars.next().filter(|c| *c != '\n')),
            '!' if escapes => text.push(c),
            '$' | '`' | '\\' | '!' if quote == '"' => return None,
            // Line ends within quotes are plain text to a shell; NUL can't be part of an argument.
            '\0' => return None,
            c => text.push(c),
        }
    }
    None
}

fn is_plain(c: char) -> bool {
    // Some shells treat a non-ASCII letter as a blank.
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | ',' | '+' | '@' | '%')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_own(line: &str, caller: Caller) -> bool {
        matches!(judge_line(line, caller), LineJudgement::Own(_))
    }

    #[test]
    fn only_plain_calls_are_own() {
        let check =
            |line: &str, expect: bool| assert_eq!(is_own(line, Caller::Lead), expect, "{line:?}");
        check("fp next p", true);
        check("  fp next p --ended builder-1  ", true);
        check("fp status p && fp next p", true);
        check(
            "fp verdict p 1.2 --pass '1: a; rm -rf / $(x) `y`' --summary \"it's fine; | & <>\"",
            true,
        );
        check("fp status p --json -q", true);
        check("fp status p -C /elsewhere", false);
        check("fp status p -qC/elsewhere", false);
        check("fp -C /elsewhere status p", false);
        check("fp note p add 'GOTCHA: 한글 & more'", true);
        check("fp submit p 1 --note 'WARN: a\nb'", true);
        check("fp next p --ended=builder-1", true);
        check("fp next =ls", false);
        check("fp next x==ls", false);
        check("fp next a=:=ls", false);
        check("fp next à--out", false);
        check("fp next 'à'", true);
        check("fp config", true);
        check("fp config get guard.mode", false);
        check("fp config set guard.mode off", false);
        check("fp config --format json 'set' guard.mode off", false);
        check("fp config unset guard.mode --user", false);
        check("fp doctor", true);
        check("fp doctor --client ./x", false);
        check("fp doctor --client=./x", false);
        check(
            "fp run p --ask -j 3 --max-iterations 2 --no-commit --allow-dirty",
            true,
        );
        check("fp run p --yes", false);
        check("fp run p --budget=500", false);
        check("fp run p --agent mine", false);
        check("fp run p --unattended", false);
        check("fp start p --here --attended", true);
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
        check(r"fp new --mode direct 'don'\''t; `stop` $now'", true);
        check("fp submit p 1 \\\n  --claim t \\\n  --note 'WARN: a'", true);
        check("fp next \\\n=ls", false);
        check("fp next p &\\\n& touch q", false);
        check("fp next p \\\n\ntouch q", false);
        check("fp next p \\\r\ntouch q", false);
        check(r"fp next \'; touch q", false);
        check(r"fp next \''; touch q'", true);
        check(r"fp next p \", false);
        check("fp next p # rest", false);
        check("X=1 fp next p", false);
        check("/usr/bin/fp next p", false);
        check("./fp next p", false);
        check("fpx next p", false);
        check("fp hook stop", false);
        check("fp install", false);
        check("fp import /etc --from json", false);
        check("fp new --import /etc", false);
        check("fp new --import=/etc", false);
        check("fp --help", false);
        check("fp next !!", false);
        check("fp next (a)", false);
        check(
            "fp critique record p --pass 1,2 --fail '1.2 criteria: \"a\" is met by $(anything)'",
            true,
        );
        check("fp report p --markdown", true);
        check("fp report p --out /home/me/.profile --force", false);
        check("fp show p --format=html --out=x", false);
        check("fp export p", true);
        check("fp export p --to csv", false);
    }

    #[test]
    fn a_verdict_may_come_as_a_text() {
        const CALL: &str = "fp verdict p 1 --iteration 1 --tree 0123456789 --from - <<'END'\n";
        let check = |line: &str, expect: bool| {
            assert_eq!(is_own(line, Caller::Verifier), expect, "{line:?}");
        };
        let text = "pass 1: it's `so` $(x) \"y\" | & ; > <<'E'\n  END\nEND of it\n";
        check(&format!("{CALL}{text}END"), true);
        check(&format!("{CALL}END\n \n"), true);
        check(&format!("{CALL}{text}"), false);
        check(&format!("{CALL}{text}END\ntouch q"), false);
        check(&format!("{CALL}x\nEND\nEND"), false);
        check(&format!("{CALL}x\0\nEND"), false);
        check(&format!("{}x\nEND", CALL.replace('\'', "\"")), false);
        check(&format!("{}x\nEND", CALL.replace('\'', "")), false);
        check(&format!("{}x\nEND", CALL.replace("<<", "<<-")), false);
        check(&format!("{}x\nEND", CALL.replace("--from - ", "")), false);
        check(
            &format!("{}x\nEND", CALL.replace("<<'END'", "<<'END' > q")),
            false,
        );
        check(
            &format!("{}x\nEND", CALL.replace("--iteration 1", "$(touch q)")),
            false,
        );
        check(
            &format!("{}x\nEND", CALL.replace("--iteration 1", "&& touch q")),
            false,
        );
        check(
            &format!("{}x\nEND", CALL.replace("--iteration 1", "--note 'a")),
            false,
        );
        check("fp verify p 1 <<'END'\nx\nEND", false);
        check("fp verdict p 1 --from -", true);
        check("fp verdict p 1 --from /home/me/.ssh/id", false);
        check("fp verdict p 1 --from=x", false);
        check("fp verdict p 1 --from - --from x", false);
        let of_builder = judge_line(&format!("{CALL}{text}END"), Caller::Builder);
        assert!(
            matches!(of_builder, LineJudgement::NotYours(_)),
            "{of_builder:?}"
        );
    }

    #[test]
    fn a_form_that_is_refused_is_told_from_a_command_that_is() {
        let told = |line: &str| {
            let words = line.split(' ').map(str::to_owned).collect();
            refuse_process(Role::Verifier, words).unwrap()
        };
        assert_eq!(
            told("verdict p 1 --from x"),
            "`fp verdict` in this form is not for verifiers: give the text on standard input, `--from -`"
        );
        assert_eq!(
            told("show p --out x"),
            "`fp show` in this form is not for verifiers"
        );
        assert_eq!(
            told("approve p"),
            "`fp approve` is not for verifiers: end your turn, and the lead continues."
        );
    }

    #[test]
    fn a_process_calls_only_what_is_its_own() {
        let refuses = |line: &str| {
            let words = line.split(' ').filter(|word| !word.is_empty());
            refuse_process(Role::Builder, words.map(str::to_owned).collect()).is_some()
        };
        for line in ["", "hook stop", "claim p --as builder-1", "status p --json"] {
            assert!(!refuses(line), "{line}");
        }
        for line in [
            "approve p",
            "--json approve p",
            "-C hook approve p",
            "-CC approve hook",
            "-qC hook approve p",
            "-qCapprove claim p",
            "claim p -C /elsewhere",
            "-q hook stop",
        ] {
            assert!(refuses(line), "{line}");
        }
    }

    #[test]
    fn a_folder_to_be_in_is_split_off() {
        let check = |line: &str, expect: Option<(&str, &str)>| {
            assert_eq!(behind_cd(line), expect, "{line:?}")
        };
        check("cd /a/b && fp next p", Some(("/a/b", " fp next p")));
        check(
            " cd '/a b' && fp x && touch q",
            Some(("/a b", " fp x && touch q")),
        );
        check("cd \"/a b\"&&fp x", Some(("/a b", "fp x")));
        for line in [
            "fp next p",
            "cd a && fp x",
            "cd && fp x",
            "cd - && fp x",
            "cd /a /b && fp x",
            "cd /a; touch q && fp x",
            "cd /$(touch q) && fp x",
            "cd \"/$(touch q)\" && fp x",
            "cd \"/a\" \"/b\" && fp x",
            "cd /a\n&& fp x",
            "cd /a > b && fp x",
            "cd /a || fp x",
            "cd /a",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn each_role_has_its_commands() {
        use Caller::{Builder, Lead, Planner, Stranger, Tracker, Verifier};
        let check = |line: &str, own: &[Caller], denied: &[Caller]| {
            for caller in [Lead, Builder, Verifier, Planner, Tracker, Stranger] {
                let judgement = judge_line(line, caller);
                assert_eq!(
                    matches!(judgement, LineJudgement::Own(_)),
                    own.contains(&caller),
                    "{line} {caller:?}"
                );
                let is_denied = matches!(judgement, LineJudgement::NotYours(_));
                assert_eq!(
                    is_denied,
                    denied.contains(&caller),
                    "{line} {caller:?}: {judgement:?}"
                );
            }
        };
        let everybody = [Lead, Builder, Verifier, Planner, Tracker, Stranger];
        let agents = [Builder, Verifier, Planner, Tracker];
        for line in [
            "fp status p",
            "fp status p --ready",
            "fp why p 1 --evidence",
            "fp validate --explain=missing-files",
            "fp note p add 'GOTCHA: x'",
            "fp specs for p 1",
            "fp validate p",
            "fp config",
        ] {
            check(line, &everybody, &[]);
        }
        for line in [
            "fp next p",
            "fp start p",
            "fp retry p 1 --undo",
            "fp retry p 1",
            "fp cancel p 1 --reason 'no'",
            "fp report p --handoff",
            "fp new --from-prompt",
            "fp task revise p 1",
        ] {
            check(line, &[Lead], &agents);
        }
        for line in [
            "fp claim p --as builder-1",
            "fp submit p 1 --claim t",
            "fp scope extend p 1 a --claim t",
        ] {
            check(line, &[Lead, Builder], &[Verifier, Planner, Tracker]);
        }
        for line in ["fp verify p 1", "fp verdict p 1 --pass '1: a'"] {
            check(line, &[Lead, Verifier], &[Builder, Planner, Tracker]);
        }
        for line in [
            "fp critique record p --pass 1",
            "fp interview p --by auto --open 'Q'",
            "fp validate p --fmt",
        ] {
            check(line, &[Lead, Planner], &[Builder, Verifier, Tracker]);
        }
        for line in ["fp share p", "fp fleet p --leave"] {
            check(line, &[], &agents);
        }
        check(
            "fp linear p 1 ENG-1",
            &[Lead, Tracker],
            &[Builder, Verifier, Planner],
        );
        check(
            "fp interview p --by user --objective X",
            &[Lead],
            &[Builder, Verifier, Tracker],
        );
        check(
            "fp status p && fp verdict p 1 --pass '1: a'",
            &[Lead, Verifier],
            &[Builder, Planner, Tracker],
        );
    }

    #[test]
    fn a_call_for_another_role_can_not_be_hidden() {
        for line in [
            "env fp verdict p 1",
            "A=b command fp verdict p 1",
            "/usr/bin/fp verdict p 1",
            "fp --format json verdict p 1",
            "fp --format=json verdict p 1",
            "f''p verdict p 1",
            "true; fp verdict p 1",
            "true|fp verdict p 1",
            "sh -c 'fp verdict p 1'",
            "echo $(fp verdict p 1)",
            "fp verdict p 1 --pass \"1: $x\"",
            "cd x\nfp answer p q1 --option Allow",
            "\\fp verdict p 1 > /dev/null",
            "fp hook post-tool-use < /tmp/x.json",
            "sh -c 'fp hook stop'",
            "env fp hook stop",
            "/path/fp hook stop",
            "xargs fp hook stop",
            "echo 'fp hook stop' | sh",
            "echo stop | xargs fp hook",
            "grep x file; fp hook stop",
            "grep x file\nfp hook stop",
            "grep $(fp hook stop) file",
            "grep \"$(fp hook stop)\" file",
            "grep x <(fp hook stop)",
            "PATH=/tmp grep 'fp hook stop'",
            "echo 'fp hook stop' > x && sh x",
            "grep x & fp hook stop",
            "find . -exec fp hook stop +",
            "python3.12 -c \"import os; os.system('fp hook stop')\"",
            "bash <<'EOF'\nfp hook stop\nEOF",
            "cat <<EOF\n$(fp hook stop)\nEOF",
            "git -c alias.x='!fp hook stop' x",
            "git grep -O'fp hook stop' x",
            "git bisect run fp hook stop",
            "git rebase -x 'fp hook stop' main",
            "rg --pre 'fp hook stop' x",
            "sed 's/a/fp hook stop/e' x",
            "sed -n '/a/e fp hook stop' x",
            "chpst -u me fp hook stop",
            "chpst sh -c 'true; fp hook stop'",
            "unknown 'nohup fp hook stop'",
            "{ fp hook stop; }",
            "! fp hook stop",
            "if fp hook stop; then ls; fi",
            "git commit -m 'fp hook' && echo 'fp hook stop' | sh",
            "fp\\\n hook stop",
            "f\\p hook stop",
            "true # <<'EOF'\nfp hook stop\nEOF",
            "cat <<<'EOF'\nfp hook stop\nEOF",
            "echo \"<<'EOF'\n\"; fp hook stop\nEOF",
            "cat <<'EOF'\nx\nEOF\nfp hook stop",
            "git status # it's\nfp hook stop # it's",
            "> grep fp hook stop",
            "2> grep fp hook stop",
            "if true; then sh -c 'chpst fp hook stop'; fi",
            "alias x='fp hook stop'; x",
            "fp fleet p --leave; true",
            "unknown fp fleet p --leave",
            "true | fp validate p --fmt",
            "fp report --handoff $PLAN",
        ] {
            assert!(
                matches!(
                    judge_line(line, Caller::Builder),
                    LineJudgement::NotYours(_)
                ),
                "{line}"
            );
            let of_others = judge_line(line, Caller::Stranger);
            assert_eq!(
                of_others == LineJudgement::Unknown,
                !line.contains("hook"),
                "{line}"
            );
        }
        for line in [
            "cd x && fp submit p 1 --claim t",
            "fp status p | head",
            "cargo test fp",
            "grep fp src/a.rs",
            "ls fp/next",
            "grep \"fp hook\" file",
            "git commit -m 'Explain the fp hook events'",
            "git commit -am 'fp hook now asks' && git log --grep='fp hook'",
            "git commit -m \"$(cat <<'EOF'\nIt's fp hook; `fp hook stop`\n\nfp hook\nEOF\n)\"",
            "cat > notes.md <<'EOF'\nfp hook stop\nEOF",
            "grep -rn 'fp hook' docs | sort | uniq -c 2>&1",
            "rg 'fp hook' .",
            "sed -n '/fp hook/p' README.md",
            "gh issue create --title 'fp hook is slow' --body \"see fp hook\\n\"",
            "echo 'see fp hook' >> notes.md",
            "grep -rn 'fp verdict\\|fp answer' src/*.rs | head -3; ls",
            "cd docs && echo 'fp hook' fp answer p q1 || cat fp next",
        ] {
            assert_eq!(
                judge_line(line, Caller::Builder),
                LineJudgement::Unknown,
                "{line}"
            );
        }
    }

    #[test]
    fn no_agent_speaks_for_the_user() {
        for line in [
            "fp approve p --yes",
            "fp --format json approve p",
            "fp approve --yes=true p",
            "fp answer p q1 --option Allow",
            "fp config trust",
            "fp config set guard.mode off",
            "fp validate --fmt CLAUDE.md",
            "fp validate CLAUDE.md --fmt",
            "fp validate ./docs/CLAUDE.MD --fix",
            "fp doctor --client ./x",
            "fp report p --out x",
        ] {
            for caller in [
                Caller::Lead,
                Caller::Builder,
                Caller::Verifier,
                Caller::Planner,
                Caller::Stranger,
            ] {
                assert!(!is_own(line, caller), "{line} {caller:?}");
            }
        }
        assert!(is_own("fp approve p", Caller::Lead));
        assert!(
            is_own("fp validate p --fix", Caller::Planner)
                && !is_own("fp validate p --fix", Caller::Stranger)
        );
    }

    #[test]
    fn what_decides_for_later_work_is_the_leads() {
        for line in [
            "fp roadmap new 'Accounts for everybody'",
            "fp plans archive p",
        ] {
            assert!(is_own(line, Caller::Lead), "{line}");
            for caller in [Caller::Builder, Caller::Planner, Caller::Stranger] {
                assert!(!is_own(line, caller), "{line} {caller:?}");
            }
        }
    }

    #[test]
    fn callers_are_told_by_type_and_id() {
        let check = |kind: Option<&str>, id: Option<&str>, expect| {
            assert_eq!(Caller::from_agent(kind, id), expect, "{kind:?} {id:?}");
        };
        check(None, None, Caller::Lead);
        check(Some("my-agent"), None, Caller::Lead);
        check(None, Some("a1"), Caller::Stranger);
        check(Some("general-purpose"), Some("a1"), Caller::Stranger);
        check(Some("fp:builder"), Some("a1"), Caller::Builder);
        check(Some("fp:builder"), None, Caller::Builder);
        check(Some("builder-2"), Some("a1"), Caller::Builder);
        check(Some("verifier-1.2-i1"), Some("a1"), Caller::Verifier);
        check(Some("fp:verifier"), Some("a1"), Caller::Verifier);
        check(Some("fp:critic"), Some("a1"), Caller::Planner);
        check(Some("fp:linear-sync"), Some("a1"), Caller::Tracker);
    }

    #[test]
    fn the_calls_of_a_line() {
        let check = |line: &str, expect: &[&[&str]]| {
            let calls = match judge_line(line, Caller::Builder) {
                LineJudgement::Own(calls) => calls,
                _ => Vec::new(),
            };
            assert_eq!(calls, expect, "{line:?}");
        };
        check(
            "fp claim p --as builder-1",
            &[&["fp", "claim", "p", "--as", "builder-1"]],
        );
        check(
            "fp status p && fp note p add 'a b'",
            &[&["fp", "status", "p"], &["fp", "note", "p", "add", "a b"]],
        );
        check("fp claim p --as builder-1 && touch q", &[]);
        check("fp claim p --as builder-1; touch q", &[]);
        check("echo fp claim p --as builder-1", &[]);
        check("", &[]);
    }

    proptest! {
        /// Outside single quotes, an allowed line has no character that a shell could interpret.
        #[test]
        fn nothing_with_a_meaning_gets_through(line in "fp [a-z]{1,6}[ !#-~]{0,30}") {
            if is_own(&line, Caller::Lead) {
                let outside: String = line.split('\'').step_by(2).collect();
                let meaning = "$`;|<>&()\\*?{}[]~#!^";
                let found = outside.replace("&&", "").contains(|c| meaning.contains(c));
                prop_assert!(!found, "{}", line);
            }
        }
    }
}
