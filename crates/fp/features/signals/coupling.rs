//! Finds which files use each other, in any language: looks the words of import statements up among the names
//! of all files. A name refers to the nearest file that has it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use fp_plan::language::Language;

/// Words that begin an import in some language; some continue after an underscore.
const IMPORTS: [&str; 7] = [
    "use", "import", "from", "using", "require", "include", "load",
];
/// Calls that import.
const CALLS: [&str; 2] = ["require(", "import("];
/// Most lines of one import.
const MOST_LINES: usize = 100;
/// Stems that say nothing about a file: its folder names it.
const USELESS: [&str; 5] = ["mod", "index", "main", "lib", "__init__"];

/// The words of the imports in `text`: names, dotted names and paths.
pub(super) fn imported_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let (mut lines_left, mut open_brackets) = (0, 0);
    // Few files import by a call, and looking for one in every line takes longest.
    let has_calls = CALLS.iter().any(|call| text.contains(call));
    for line in text.lines().map(str::trim) {
        if lines_left == 0 {
            if !begins_import(line, has_calls) {
                continue;
            }
            (lines_left, open_brackets) = (MOST_LINES, 0);
        }
        let line = line.replace("::", ".").replace('\\', ".");
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let found = line
            .split(|c| !is_word(c))
            .map(|word| word.trim_end_matches(['.', '/']));
        words.extend(
            found
                .filter(|word| !word.is_empty() && !IMPORTS.contains(word))
                .map(named),
        );
        open_brackets += count(&line, ['(', '{', '[']) - count(&line, [')', '}', ']']);
        lines_left -= 1;
        if open_brackets <= 0 || line.ends_with(';') {
            lines_left = 0;
        }
    }
    words
}

fn begins_import(line: &str, has_calls: bool) -> bool {
    let mut rest = line.trim_start_matches(['#', '@']);
    if let Some(public) = rest.strip_prefix("pub") {
        rest = public.trim_start();
        if let Some((_, behind)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            rest = behind.trim_start();
        }
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let is_import = |word: &str| {
        let behind = |import: &&str| word.strip_prefix(*import);
        IMPORTS
            .iter()
            .filter_map(behind)
            .any(|behind| behind.is_empty() || behind.starts_with('_'))
    };
    match &rest[..end] {
        // A module with a body is no import.
        "mod" => line.ends_with(';'),
        "export" => line.contains(" from "),
        word => is_import(word) || has_calls && CALLS.iter().any(|call| line.contains(call)),
    }
}

fn count(line: &str, brackets: [char; 3]) -> isize {
    line.matches(brackets).count().cast_signed()
}

/// A name in the form for comparison: a hyphen in a folder's name is an underscore in code.
fn named(word: &str) -> String {
    word.replace('-', "_")
}

/// The files that import a file, and the files and folders that it imports, each sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FileLinks {
    pub(super) fan_in: Vec<String>,
    pub(super) fan_out: Vec<String>,
}

/// The links of the files `wanted`, which are positions in the sorted `paths`. `words` are the imported words
/// of the source files.
pub(super) fn file_links(
    paths: &[String],
    words: &BTreeMap<usize, BTreeSet<String>>,
    wanted: &BTreeSet<usize>,
) -> BTreeMap<usize, FileLinks> {
    let names = NamedPaths::new(paths);
    let mut links: BTreeMap<usize, FileLinks> = wanted
        .iter()
        .map(|at| (*at, FileLinks::default()))
        .collect();
    for (from, words) in words {
        let path = paths[*from].as_str();
        let targets: BTreeSet<&str> = words
            .iter()
            .flat_map(|word| names.meant(path, word))
            .collect();
        for target in &targets {
            for at in &names.files[target] {
                if let Some(link) = links.get_mut(at) {
                    link.fan_in.push(path.to_owned());
                }
            }
        }
        if let Some(link) = links.get_mut(from) {
            link.fan_out = targets.into_iter().map(str::to_owned).collect();
        }
    }
    links
}

/// The possible targets of names: files, and folders, which stand for the source files directly in them.
struct NamedPaths<'p> {
    /// Files by their whole name; for each language, files by their stem, and folders by their name and a
    /// slash.
    named: HashMap<String, BTreeSet<(Option<Language>, &'p str)>>,
    /// The positions of the files that a path stands for.
    files: HashMap<&'p str, BTreeSet<usize>>,
}

impl<'p> NamedPaths<'p> {
    fn new(paths: &'p [String]) -> Self {
        let mut all = Self {
            named: HashMap::new(),
            files: HashMap::new(),
        };
        for (at, path) in paths.iter().enumerate() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let mut add = |name: &str, language, path| {
                all.named
                    .entry(named(name))
                    .or_default()
                    .insert((language, path));
                all.files.entry(path).or_default().insert(at);
            };
            add(name, None, path.as_str());
            let Some(language) = Language::of(path) else {
                continue;
            };
            let mut above = folder
                .rsplit('/')
                .filter(|part| !matches!(*part, "src" | "lib"));
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let stem = if USELESS.contains(&stem) {
                above.next().unwrap_or("")
            } else {
                stem
            };
            add(stem, Some(language), path);
            add(
                &format!("{}/", folder.rsplit('/').next().unwrap_or("")),
                Some(language),
                folder,
            );
        }
        all
    }

    /// The files and folders that `word` refers to in an import of the file `from`: by the last part of a
    /// path, else by the whole word or each of its parts. A folder counts only at the end, and only if no
    /// file has the name.
    fn meant(&self, from: &str, word: &str) -> Vec<&'p str> {
        let find = |name: &str| self.nearest(from, name);
        let folder = |name: &str| self.nearest(from, &format!("{name}/"));
        if let Some((_, end)) = word.rsplit_once('/') {
            // With the extension of another language it is another file.
            let stem = end
                .rsplit_once('.')
                .filter(|_| Language::of(end) == Language::of(from));
            let by_stem = || find(stem.map_or(end, |(stem, _)| stem));
            return find(end)
                .or_else(by_stem)
                .or_else(|| folder(end))
                .flatten()
                .into_iter()
                .collect();
        }
        if let Some(path) = find(word) {
            return path.into_iter().collect();
        }
        let parts: Vec<&str> = word.split('.').filter(|part| !part.is_empty()).collect();
        let last = parts
            .last()
            .filter(|last| find(last).is_none())
            .and_then(|last| folder(last));
        parts
            .iter()
            .filter_map(|part| find(part))
            .chain(last)
            .flatten()
            .collect()
    }

    /// The path called `name` that shares most folders with `from`, other than itself and its folder;
    /// `Some(None)` if several tie.
    fn nearest(&self, from: &str, name: &str) -> Option<Option<&'p str>> {
        let (around, _) = from.rsplit_once('/').unwrap_or(("", from));
        let language = Language::of(from);
        let fits = |(of, path): &&(Option<Language>, &str)| {
            (of.is_none() || *of == language) && *path != from && *path != around
        };
        let shared = |path: &str| {
            let same = path
                .split('/')
                .zip(around.split('/'))
                .take_while(|(a, b)| a == b);
            same.count().min(path.matches('/').count())
        };
        let known = self.named.get(name)?.iter().filter(fits);
        let mut ranked: Vec<(usize, &str)> = known.map(|(_, path)| (shared(path), *path)).collect();
        ranked.sort_unstable_by_key(|(shared, _)| Reverse(*shared));
        match ranked[..] {
            [] => None,
            [(most, _), (next, _), ..] if most == next => Some(None),
            [(_, path), ..] => Some(Some(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_imports() {
        let check = |text: &str, expect: &str| {
            let words: Vec<String> = imported_words(text).into_iter().collect();
            assert_eq!(words.join(" "), expect, "{text:?}");
        };
        check(
            "pub(crate) mod a;\nmod b { use c; }\nmod tests {\n",
            "a crate mod pub",
        );
        check(
            "use crate::{\n    a_b,\n    c::D,\n};\nlet plan = 1;",
            "a_b c.D crate",
        );
        check(
            "import {\n  x,\n} from './my-part/foo.service'\nconst y = x",
            "./my_part/foo.service x",
        );
        check(
            "const a = require('../a.js');\nawait import(`b`)",
            "../a.js a await b const",
        );
        check(
            "export * from './a'\nexport function f() {\n  b()\n}",
            "./a export",
        );
        check(
            "import (\n\t\"x/store\"\n\t_ \"fmt\"\n)\nfunc main() {",
            "_ fmt x/store",
        );
        check("from .pkg.mod import (\n    a,\n)\nprint(b)", ".pkg.mod a");
        check("#include \"dir/a.h\"\nint b;", "dir/a.h");
        check(
            "using A.B;\n// use crate::d\n * from the start\nuser = 1",
            "A.B",
        );
        check("require_relative '../a'", "../a require_relative");
    }

    /// The links of `wanted` among files with these texts.
    fn links(files: &[(&str, &str)], wanted: &str) -> (String, String) {
        let mut files = files.to_vec();
        files.sort_unstable();
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let words = files
            .iter()
            .enumerate()
            .map(|(at, (_, text))| (at, imported_words(text)))
            .collect();
        let at = paths.iter().position(|path| path == wanted).unwrap();
        let links = file_links(&paths, &words, &[at].into())
            .remove(&at)
            .unwrap();
        (links.fan_in.join(" "), links.fan_out.join(" "))
    }

    #[test]
    fn a_name_means_the_nearest_file() {
        let check = |files: &[(&str, &str)], wanted: &str, fan_in: &str, fan_out: &str| {
            assert_eq!(
                links(files, wanted),
                (fan_in.to_owned(), fan_out.to_owned()),
                "{wanted}"
            );
        };
        let rust = [
            ("a/src/error.rs", ""),
            ("a/src/lib.rs", "mod error;\nmod run;"),
            (
                "a/src/run/mod.rs",
                "use super::error::E;\nuse crate::run::X;",
            ),
            ("b/src/error.rs", ""),
            ("b/src/main.rs", "mod error;\nuse a::run;"),
            ("b/run.py", "import error"),
            ("tests/error.rs", "use b::error;"),
        ];
        check(&rust, "a/src/error.rs", "a/src/lib.rs a/src/run/mod.rs", "");
        check(
            &rust,
            "a/src/run/mod.rs",
            "a/src/lib.rs b/src/main.rs",
            "a/src/error.rs",
        );
        check(&rust, "b/src/error.rs", "b/src/main.rs", "");
        // Two files called error are equally near.
        check(&rust, "tests/error.rs", "", "b/src/main.rs");
        let web = [
            ("web/foo-bar/index.ts", "export * from './user.service'"),
            (
                "web/foo-bar/user.service.ts",
                "import data from './data.json'\nimport './user.css'",
            ),
            ("web/foo-bar/user.ts", ""),
            ("web/foo-bar/data.json", "{}"),
            (
                "web/app.tsx",
                "import { a } from './foo-bar'\nimport b from '@x/web'",
            ),
        ];
        check(
            &web,
            "web/foo-bar/user.service.ts",
            "web/foo-bar/index.ts",
            "web/foo-bar/data.json",
        );
        check(
            &web,
            "web/foo-bar/index.ts",
            "web/app.tsx",
            "web/foo-bar/user.service.ts",
        );
        check(&web, "web/foo-bar/user.ts", "", "");
    }

    #[test]
    fn a_package_is_one_link_for_the_importer_and_one_for_each_of_its_files() {
        let go = [
            ("main.go", "package main\nimport (\n\"x/store\"\n\"fmt\"\n)"),
            ("store/a.go", "package store"),
            ("store/b.go", "package store\nimport \"x/store\""),
            ("docs/store/a.md", "import store"),
        ];
        assert_eq!(links(&go, "main.go"), (String::new(), "store".to_owned()));
        assert_eq!(
            links(&go, "store/b.go"),
            ("main.go".to_owned(), String::new())
        );
    }
}
