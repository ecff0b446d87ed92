//! The law for permitted command lines, tested with real shells: they run only `fp`, with exactly the words that were
//! judged.

use std::process::{Command, Stdio};

use fp_run::hook::own_command::{Caller, LineJudgement, judge_line};

pub(crate) const SHELLS: [&str; 3] = ["bash", "dash", "zsh"];

/// Makes `fp` print the number of its arguments and then each word, followed by NUL, instead of doing anything.
const PROGRAM: &str = "fp() { printf '%s\\0' \"$#\" fp \"$@\"; }\n";

/// True if `line` is permitted. Panics if one of `shells` runs anything other than the judged words.
pub(crate) fn permitted(line: &str, shells: &[&str]) -> bool {
    let LineJudgement::Own(calls) = judge_line(line, Caller::Lead) else {
        return false;
    };
    let told = |call: &Vec<String>| [&[(call.len() - 1).to_string()], &call[..]].concat();
    let expected: Vec<String> = calls.iter().flat_map(told).collect();
    for shell in shells {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "").unwrap();
        // The client also passes the line to `eval`.
        let output = Command::new(which(shell))
            .args(["-c", &format!("{PROGRAM}eval \"$1\""), "shell", line])
            .current_dir(folder.path())
            .env_clear()
            .envs([("PATH", "/nowhere"), ("LC_ALL", "C.UTF-8")])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let words: Vec<&str> = printed.split_terminator('\0').collect();
        let names = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        assert_eq!(words, expected, "{shell}: {line:?}");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{shell}: {line:?}: {output:?}"
        );
        assert_eq!(names.collect::<Vec<_>>(), ["a"], "{shell}: {line:?}");
    }
    true
}

/// The path of the shell `name`, or just `name` if it isn't installed.
pub(crate) fn which(name: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    found.unwrap_or_else(|| name.into())
}
