//! Parses shell commands just far enough to tell one command from two, and to find the program that each command
//! starts.

/// Programs that start a new command after a comma, even if the line begins with another program.
const RUNNERS: [&str; 40] = [
    "bash", "bats", "bun", "bundle", "cargo", "cmake", "composer", "ctest", "deno", "dotnet",
    "eslint", "flake8", "flutter", "go", "gradle", "jest", "make", "mvn", "mypy", "node", "npm",
    "npx", "phpunit", "pnpm", "poetry", "pylint", "pyright", "pytest", "python", "python3", "rake",
    "rspec", "ruff", "sh", "swift", "tox", "tsc", "uv", "vitest", "yarn",
];

/// Words that a shell handles itself, without a program of that name.
const BUILTINS: [&str; 37] = [
    ".", ":", "[", "[[", "alias", "builtin", "call", "case", "cd", "command", "copy", "del", "dir",
    "echo", "eval", "exec", "exit", "export", "false", "for", "function", "if", "popd", "printf",
    "pushd", "read", "set", "shopt", "source", "test", "time", "trap", "true", "type", "ulimit",
    "until", "while",
];

pub(crate) fn is_builtin(word: &str) -> bool {
    BUILTINS.contains(&word)
}

/// The first word of `command` after assignments, `!` and opening brackets. `None` if only a shell can determine it.
pub(crate) fn program_of(command: &str) -> Option<&str> {
    let plain = |word: &str| {
        word.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_./+:[".contains(&b))
    };
    let words = command
        .split_whitespace()
        .map(|word| word.trim_start_matches(['(', '{']));
    for word in words.filter(|word| !matches!(*word, "" | "!")) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if name.len() == word.len() {
            let word = word.trim_end_matches([')', '}', ';']);
            return (plain(word) && !word.is_empty()).then_some(word);
        }
        // A quoted value may contain blanks and so continue in the next word.
        if !plain(name)
            || !value
                .chars()
                .all(|c| c.is_alphanumeric() || "-_./+:,%@".contains(c))
        {
            return None;
        }
    }
    None
}

/// Splits `line` at each comma that definitely starts a new command.
pub(crate) fn certain_commands(line: &str) -> Vec<&str> {
    let first = program_of(line);
    let mut start = 0;
    let mut commands = Vec::new();
    for comma in plain_commas(line) {
        let next = program_of(&line[comma + 1..]);
        if first.is_some() && next.is_some_and(|next| starts_command(first, next)) {
            commands.push(&line[start..comma]);
            start = comma + 1;
        }
    }
    commands.push(&line[start..]);
    commands
}

/// True if `word`, following a comma, definitely starts a command in a line that starts with the program `first`.
pub(crate) fn starts_command(first: Option<&str>, word: &str) -> bool {
    first == Some(word) || RUNNERS.contains(&word)
}

/// The programs named right after the commas in `command`.
pub(crate) fn words_behind_commas(command: &str) -> impl Iterator<Item = &str> {
    plain_commas(command)
        .into_iter()
        .filter_map(|comma| program_of(&command[comma + 1..]))
}

/// The positions of commas that are followed by a blank and outside of quotes, brackets, comments and here-documents;
/// none if that isn't certain.
fn plain_commas(command: &str) -> Vec<usize> {
    let bytes = command.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    let mut commas = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let blank = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_whitespace);
        let quote = open.last().copied().filter(|open| b"'\"`".contains(open));
        match bytes[at] {
            b'\\' if quote != Some(b'\'') => at += 1,
            byte if quote == Some(byte) => drop(open.pop()),
            _ if quote.is_some() => {}
            byte @ (b'\'' | b'"' | b'`' | b'(' | b'[' | b'{') => open.push(byte),
            b')' | b']' | b'}' => drop(open.pop()),
            b'#' if at > 0 && blank(at - 1) => break,
            b'<' if bytes.get(at + 1) == Some(&b'<') => return Vec::new(),
            b',' if open.is_empty() && blank(at + 1) => commas.push(at),
            _ => {}
        }
        at += 1;
    }
    if open.is_empty() { commas } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(line: &str) -> Vec<&str> {
        certain_commands(line).into_iter().map(str::trim).collect()
    }

    #[test]
    fn commands_between_commas() {
        let check = |line: &str, expect: &[&str]| assert_eq!(pieces(line), expect, "{line}");
        check(
            "cargo test --test a, cargo test --doc B",
            &["cargo test --test a", "cargo test --doc B"],
        );
        check(
            "ruff check ., pytest -q, mypy src",
            &["ruff check .", "pytest -q", "mypy src"],
        );
        check("bin/check a, bin/check b", &["bin/check a", "bin/check b"]);
        check(
            "A=1 cargo test, A=2 cargo test",
            &["A=1 cargo test", "A=2 cargo test"],
        );
        check("cd a && x, cd b && x", &["cd a && x", "cd b && x"]);
        check(
            "cargo test a, b, cargo test c",
            &["cargo test a, b", "cargo test c"],
        );
        check("pytest \"a\", pytest 'b'", &["pytest \"a\"", "pytest 'b'"]);
    }

    #[test]
    fn commas_inside_one_command() {
        for line in [
            "cargo test --features rayon,serde",
            "cargo test --features rayon,cargo",
            "pytest -k 'a, pytest b'",
            "pytest -k'a, pytest b'",
            "python -c \"import a, python, b\"",
            "printf 'x, printf y'",
            "printf \"it's, printf\"",
            "printf x\\, printf",
            "sh -c 'echo \"a\", sh b'",
            "python - <<EOF, python",
            "cargo test # not this, cargo bench",
            "echo `date, echo`",
            "echo $(date, echo)",
            "node -e [1, node]",
            "echo 'a, echo b",
            "echo (a, echo b",
            "cp {a, cp}",
            "echo \"\\\", echo\"",
            "$RUN a, $RUN b",
        ] {
            assert_eq!(pieces(line), [line]);
        }
    }

    #[test]
    fn the_program_is_the_first_word_of_a_command() {
        let check =
            |line: &str, expect: Option<&str>| assert_eq!(program_of(line), expect, "{line}");
        check("cargo test", Some("cargo"));
        check("  FOO=1 BAR=a/b cargo test", Some("cargo"));
        check("! grep -q x y", Some("grep"));
        check("!  (cd a && b)", Some("cd"));
        check("( ( x ) )", Some("x"));
        check("(true)", Some("true"));
        check("{ cargo test; }", Some("cargo"));
        check("./gradlew test", Some("./gradlew"));
        check("[ -f a ]", Some("["));
        check("cmake --build=x", Some("cmake"));
        check("FOO=\"a b\" cargo test", None);
        check("FOO=$(x) cargo test", None);
        check("\"my program\" a", None);
        check("$CARGO test", None);
        check("FOO=1", None);
        check("# nothing", None);
        check("", None);
    }

    proptest! {
        /// Splitting loses no word, and quoted text stays in one piece.
        #[test]
        fn no_word_is_lost(words in prop::collection::vec("(cargo|go|a|b,|'x, cargo y'|\"x, go y\"|k=v|,|\\(|\\))", 1..12)) {
            let line = words.join(" ");
            let commands = certain_commands(&line);
            prop_assert_eq!(commands.join(","), line.clone());
            for quoted in ["'x, cargo y'", "\"x, go y\""] {
                let kept: usize = commands.iter().map(|command| command.matches(quoted).count()).sum();
                prop_assert_eq!(kept, line.matches(quoted).count());
            }
        }
    }
}
