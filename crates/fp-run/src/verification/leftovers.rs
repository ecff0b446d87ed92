//! Finds the traces of unfinished work, in added lines only: earlier lines aren't part of the change, and a moved line
//! isn't new.
//!
//! In prose (Markdown and similar formats) a TODO is a topic or a list, so it is mentioned without failing the task;
//! conflict markers fail everywhere. In code, `TODO` and `FIXME` fail in a comment, or if they look like one (`TODO:`,
//! `TODO(name)`); a bare word, such as a constant of that name, is only mentioned. A call that only serves debugging
//! fails in source files.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use super::{ChangeFacts, Check, CheckVerdict, Findings, TaskScope, intent};
use crate::regex;
use crate::test_files::is_test_file;
use fp_plan::language::Language;
use fp_plan::repo_path::RepoPath;
use fp_plan::text::one_line;

/// Name of the check.
pub(super) const NAME: &str = "leftovers";

const PROSE: &str = ".md .mdx .markdown .rst .adoc .org .txt .html";

static MARKER: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:<{7}|>{7}|\|{7})(?:\s|$)"));
static TODO: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:TODO|FIXME)\b"));
static TODO_COMMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x)
        (?: // | \# | /\* | ^\s*\* | -- | ;; | <!-- | ^\s*% | ^\s*; | "{3} | '{3} | \{- | ^\s*(?i:rem)\b | ^\s*' )
        .* \b(?:TODO|FIXME)\b
        | \b(?:TODO|FIXME) (?: :(?:[^:]|$) | \( )
    "#,
    )
});
static UNFINISHED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(?:todo|unimplemented)!\s*[(\[{;]|(?i)\bnot\s+(?:yet\s+)?implemented\b")
});
/// Calls that only serve debugging, by language; `SAYS` stands for the start of a message that announces debugging
/// output.
const DEBUGGING: [(Language, &str); 10] = [
    (
        Language::Python,
        r"^\s*(?:import|from)\s+(?:ipdb|pdb|pudb)\b|\b(?:ipdb|pdb|pudb)\.set_trace\(|(?:^|[;:])\s*breakpoint\(\)|\bprint\(\s*f?SAYS",
    ),
    (
        Language::JavaScript,
        r"(?:^|[;{])\s*debugger\s*(?:;|$)|\bconsole\.(?:log|error)\(\s*SAYS",
    ),
    (
        Language::Rust,
        r"(?:^|[\s(=;{,&])dbg!\(|\be?println!\(\s*SAYS",
    ),
    (
        Language::Ruby,
        r"\bbinding\.(?:pry|irb)\b|^\s*byebug\s*$|^\s*puts\s*\(?\s*SAYS",
    ),
    (Language::Php, r"^\s*(?:var_dump|dd)\("),
    (
        Language::Jvm,
        r"\bSystem\.(?:out|err)\.println\(\s*SAYS|^\s*println\(\s*SAYS",
    ),
    (Language::Go, r"\bfmt\.Print(?:ln|f)?\(\s*SAYS"),
    (
        Language::CSharp,
        r"\bDebugger\.(?:Break|Launch)\(|\bConsole\.WriteLine\(\s*SAYS",
    ),
    (
        Language::C,
        r"\bprintf\(\s*SAYS|^\s*fprintf\(stderr,\s*SAYS",
    ),
    (Language::Swift, r"^\s*print\(\s*SAYS"),
];
const SAYS: &str = r#"["'`](?:DEBUG\b|debug[:"'`])"#;

static DEBUGGING_CALLS: [OnceLock<Regex>; DEBUGGING.len()] =
    [const { OnceLock::new() }; DEBUGGING.len()];
static HTTP_STATUS: LazyLock<Regex> = LazyLock::new(|| regex(r"\b501\b"));
static ABSTRACT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\bNotImplemented(?:Error|Exception)\b|\bUnsupportedOperationException\b")
});

/// How seriously a line is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Nothing,
    Told,
    Fails,
}

pub(super) fn check(scope: &TaskScope, facts: &ChangeFacts) -> Check {
    if facts.lines.iter().all(|file| file.added.is_empty()) {
        return Check::new(NAME, CheckVerdict::NotApplicable, "no line was added");
    }
    // A task about TODOs may write them, and a contract consists of stubs.
    let is_about = |words| intent::mentions(&scope.text, words);
    let mut moved: HashMap<&str, usize> = HashMap::new();
    for line in facts.lines.iter().flat_map(|file| &file.removed) {
        *moved.entry(line.text.trim()).or_default() += 1;
    }
    let mut found = Findings::default();
    for file in &facts.lines {
        let kind = FileText::of(&file.path);
        let is_test = is_test_file(&file.path);
        let is_meant = |text: &str| {
            // A test may wait for another task's part.
            let waits = is_test && text.to_lowercase().contains("skip");
            TODO.is_match(text) && is_about(&intent::TODO)
                || kind.debugs(text) && is_about(&intent::DEBUG)
                || UNFINISHED.is_match(text) && (waits || is_about(&intent::STUBS))
        };
        for line in &file.added {
            let weight = match kind.weigh_line(&line.text) {
                Weight::Fails if is_meant(&line.text) => Weight::Told,
                weight => weight,
            };
            if weight == Weight::Nothing || was_there(&mut moved, line.text.trim()) {
                continue;
            }
            let shown: String = one_line(&line.text).chars().take(80).collect();
            let place = format!("{}:{}: {shown}", file.path, line.number);
            found.list(weight == Weight::Fails).push(place);
        }
    }
    found.into_check(NAME, "none in the added lines")
}

/// The kind of text in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileText {
    Prose,
    Code(Option<Language>),
}

impl FileText {
    fn of(path: &RepoPath) -> Self {
        let name = path.to_lossy().to_lowercase();
        match PROSE.split(' ').any(|extension| name.ends_with(extension)) {
            true => Self::Prose,
            false => Self::Code(Language::from_path(&name)),
        }
    }

    fn weigh_line(self, text: &str) -> Weight {
        let is_code = self != Self::Prose;
        let unfinished = UNFINISHED.is_match(text) && !HTTP_STATUS.is_match(text);
        let fails = unfinished || TODO_COMMENT.is_match(text) || self.debugs(text);
        if MARKER.is_match(text) || is_code && fails {
            Weight::Fails
        } else if unfinished || TODO.is_match(text) || is_code && ABSTRACT.is_match(text) {
            Weight::Told
        } else {
            Weight::Nothing
        }
    }

    /// True if `line` contains a debugging call outside of comments and strings.
    fn debugs(self, line: &str) -> bool {
        let known = DEBUGGING.iter().zip(&DEBUGGING_CALLS);
        let mut known = known.filter(|((language, _), _)| self == Self::Code(Some(*language)));
        let calls = known.next().map(|((_, calls), compiled)| {
            compiled.get_or_init(|| regex(&calls.replace("SAYS", SAYS)))
        });
        calls
            .and_then(|calls| calls.find(line))
            .is_some_and(|call| {
                let before = &line[..call.start()];
                let closed = |quote: char| before.matches(quote).count().is_multiple_of(2);
                ['"', '\'', '`'].into_iter().all(closed)
                    && !["//", "/*", "#", " * "].iter().any(|c| before.contains(c))
            })
    }
}

fn was_there(moved: &mut HashMap<&str, usize>, text: &str) -> bool {
    match moved.get_mut(text) {
        Some(count @ 1..) => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_code() {
        let check = |text: &str, expect: Weight| {
            assert_eq!(FileText::Code(None).weigh_line(text), expect, "{text}")
        };
        check("    // TODO handle errors", Weight::Fails);
        check("x = 1  # FIXME: wrong", Weight::Fails);
        check(" * TODO explain", Weight::Fails);
        check("<!-- TODO -->", Weight::Fails);
        check("-- TODO index", Weight::Fails);
        check("    TODO: the rest of the docstring", Weight::Fails);
        check("raise ValueError('TODO(me)')", Weight::Fails);
        check("    todo!()", Weight::Fails);
        check("    unimplemented!(\"later\")", Weight::Fails);
        check("panic(\"Not implemented\")", Weight::Fails);
        check("throw new Error('not yet implemented')", Weight::Fails);
        check("<<<<<<< HEAD", Weight::Fails);
        check(">>>>>>> branch", Weight::Fails);
        check("||||||| base", Weight::Fails);
        check("Status::TODO => 1,", Weight::Told);
        check("enum S { TODO, DONE }", Weight::Told);
        check("    TODO the rest of a docstring", Weight::Told);
        check("raise NotImplementedError", Weight::Told);
        check("// see TODOS.md or todo.txt", Weight::Nothing);
        check("let todo = TodoList::new();", Weight::Nothing);
        check("NOT_IMPLEMENTED = 501  # Not Implemented", Weight::Nothing);
        check("=======", Weight::Nothing);
        check("std::cout <<<<<<< x", Weight::Nothing);
        check("it is not an implemented thing", Weight::Nothing);
    }

    #[test]
    fn debugging_calls() {
        let check = |path: &str, text: &str, expect: Weight| {
            assert_eq!(
                FileText::of(&path.into()).weigh_line(text),
                expect,
                "{path}: {text}"
            );
        };
        for (path, text) in [
            ("a.py", "import pdb"),
            ("a.py", "    import ipdb; ipdb.set_trace()"),
            ("a.py", "    if x: breakpoint()"),
            ("a.py", "print('DEBUG', x)"),
            ("a.py", "print(f\"debug: {x}\")"),
            ("a.ts", "  debugger;"),
            ("a.js", "console.log('DEBUG', x);"),
            ("a.rs", "    let x = dbg!(f(1));"),
            ("a.rs", "println!(\"DEBUG {x}\");"),
            ("a.rb", "  binding.pry"),
            ("a.rb", "byebug"),
            ("a.php", "var_dump($x);"),
            ("A.java", "System.out.println(\"DEBUG \" + x);"),
            ("a.go", "\tfmt.Println(\"DEBUG\", x)"),
            ("A.cs", "Debugger.Break();"),
            ("a.c", "  printf(\"DEBUG %d\", x);"),
            ("A.swift", "print(\"DEBUG\", x)"),
        ] {
            check(path, text, Weight::Fails);
        }
        for (path, text) in [
            ("docs/a.md", "breakpoint()"),
            ("a.txt", "import pdb"),
            ("a.py", "# breakpoint()"),
            ("a.py", "help = 'call breakpoint() there'"),
            ("a.py", "set_breakpoint()"),
            ("a.py", "import pdbx"),
            ("a.py", "print('done')"),
            ("a.py", "print('debugging is on')"),
            ("a.ts", "const debugger_ = 1;"),
            ("a.ts", "console.log(result);"),
            ("a.rs", "// dbg!(x)"),
            ("a.rs", "let banned = \"dbg!(\";"),
            ("a.rs", "println!(\"done\");"),
            ("a.php", "$query->dd();"),
            ("a.sh", "breakpoint()"),
            ("a.go", "log.Debug(\"DEBUG\")"),
        ] {
            check(path, text, Weight::Nothing);
        }
    }

    #[test]
    fn lines_of_prose() {
        let check = |text: &str, expect: Weight| {
            assert_eq!(FileText::Prose.weigh_line(text), expect, "{text}")
        };
        check("- TODO: write the second chapter", Weight::Told);
        check("Windows is not implemented", Weight::Told);
        check("<<<<<<< HEAD", Weight::Fails);
        check("A list of what is left", Weight::Nothing);
    }
}
