//! Which files are tests, by the conventions of each language, and which of them stand beside a file.

use crate::repo_path::RepoPath;

/// How test files are named in a language; `*` stands for anything. All in lower case.
struct Convention {
    extensions: &'static [&'static str],
    stems: &'static [&'static str],
}

const CONVENTIONS: [Convention; 12] = [
    // Rust
    Convention { extensions: &["rs"], stems: &["test", "tests", "*_test", "*_tests", "test_*"] },
    // JavaScript and TypeScript
    Convention {
        extensions: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        stems: &["test", "*.test", "*.spec", "*-test", "*-spec", "*_test", "*_spec", "*.cy", "*.e2e"],
    },
    // Python
    Convention { extensions: &["py"], stems: &["test_*", "*_test", "tests", "test", "conftest"] },
    // Go
    Convention { extensions: &["go"], stems: &["*_test"] },
    // Java, Kotlin, Scala, Groovy
    Convention {
        extensions: &["java", "kt", "scala", "groovy"],
        stems: &["*test", "*tests", "test*", "*it", "*spec", "*testcase"],
    },
    // C, C++ and Objective-C
    Convention {
        extensions: &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "m", "mm"],
        stems: &["test", "tests", "test_*", "*_test", "*_tests", "*_unittest", "*test", "*tests"],
    },
    // Ruby
    Convention { extensions: &["rb"], stems: &["*_spec", "*_test", "test_*", "*_helper"] },
    // PHP
    Convention { extensions: &["php", "phpt"], stems: &["*test", "*testcase", "*spec"] },
    // C#, F#
    Convention { extensions: &["cs", "fs"], stems: &["*test", "*tests", "*spec", "*specs"] },
    // Swift
    Convention { extensions: &["swift"], stems: &["*tests", "*test"] },
    // Shell
    Convention {
        extensions: &["sh", "bash", "zsh"],
        stems: &["test", "tests", "test_*", "test-*", "*_test", "*-test", "*.test"],
    },
    // Shell, whose extension says it
    Convention { extensions: &["bats", "t"], stems: &["*"] },
];

/// Names of folders that hold tests; `*` stands for anything.
const FOLDERS: [&str; 13] = [
    "tests",
    "test",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "t",
    "unittests",
    "androidtest",
    "integrationtest",
    "integration-tests",
    "*.tests",
    "*.test",
];

/// Folders in which test runners keep what a test has put out.
const SNAPSHOTS: [&str; 2] = ["snapshots", "__snapshots__"];

/// Whether a path is a test by name, or a source file in a folder of tests.
#[must_use]
pub fn is_test_file(path: &RepoPath) -> bool {
    is_test(&path.to_lossy().to_lowercase())
}

fn is_test(path: &str) -> bool {
    let (folder, name) = split(path);
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let Some(convention) = CONVENTIONS.iter().find(|c| c.extensions.contains(&extension)) else {
        return false;
    };
    convention.stems.iter().any(|pattern| matches(pattern, stem)) || folder.split('/').any(is_test_folder)
}

/// Whether `path` is a test that belongs to the file or folder `listed`: in the same folder, in the folder that
/// is named like the file, or in a folder of tests beside it or further up. Both are in lower case.
pub(super) fn is_test_beside(path: &str, listed: &str) -> bool {
    let (folder, name) = split(path);
    let (around, last) = split(folder);
    if name.ends_with(".snap") && SNAPSHOTS.contains(&last) {
        return stands_beside(around, listed);
    }
    is_test(path) && stands_beside(folder, listed)
}

/// Whether the name of the test `path` holds, as a word, the name of the file `listed`. Both are in lower case.
pub(super) fn is_named_like(path: &str, listed: &str) -> bool {
    let stem = |path: &str| {
        let name = split(path).1.to_owned();
        name.split_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned())
    };
    let (test, name) = (stem(path), stem(listed));
    let test = test.strip_suffix("tests").or(test.strip_suffix("test")).unwrap_or(&test);
    !name.is_empty() && (test == name || test.split(['_', '-', '.']).any(|word| word == name))
}

/// Whether tests in `folder` are those of `listed`.
fn stands_beside(folder: &str, listed: &str) -> bool {
    let own = listed.rsplit_once('.').map_or(listed, |(stem, _)| stem);
    if folder == split(listed).0 || folder == own {
        return true;
    }
    // The folder that the outermost folder of tests is in has to be above the listed file.
    let mut above = "";
    for (end, part) in parts(folder) {
        if is_test_folder(part) {
            return above.is_empty() || listed.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
        }
        above = &folder[..end];
    }
    false
}

/// The parts of a path with the position behind each.
fn parts(path: &str) -> impl Iterator<Item = (usize, &str)> {
    path.split('/').scan(0, |start, part| {
        let end = *start + part.len();
        *start = end + 1;
        Some((end, part))
    })
}

fn is_test_folder(name: &str) -> bool {
    FOLDERS.iter().any(|pattern| matches(pattern, name))
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether `text` is `pattern`, in which one `*` at the beginning or the end stands for at least one character,
/// and `*` alone for anything.
fn matches(pattern: &str, text: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(""), _) => true,
        (Some(end), _) => text.len() > end.len() && text.ends_with(end),
        (_, Some(start)) => text.len() > start.len() && text.starts_with(start),
        _ => text == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_every_language() {
        let check = |paths: &[&str], expect: bool| {
            for path in paths {
                assert_eq!(is_test_file(&(*path).into()), expect, "{path}");
            }
        };
        check(&["tests/cli.rs", "tests/common/mod.rs", "src/run/tests.rs", "src/run_test.rs"], true);
        check(&["src/a.test.ts", "src/a.spec.jsx", "src/__tests__/a.js", "cypress/e2e/a.cy.ts"], true);
        check(&["test_a.py", "pkg/tests/helpers.py", "pkg/a_test.py", "conftest.py"], true);
        check(&["a_test.go", "src/test/java/x/FooTest.java", "FooIT.java", "app/src/androidTest/A.kt"], true);
        check(&["tests/a.c", "test_a.cc", "a_unittest.cc", "spec/a_spec.rb", "spec/spec_helper.rb"], true);
        check(&["tests/FooTest.php", "Foo.Tests/Helper.cs", "FooTests.cs", "Tests/FooTests/A.swift"], true);
        check(&["test/a.bats", "t/basic.t", "test-install.sh"], true);
        check(
            &["src/main.rs", "src/latest.rs", "contest.py", "testing.md", "tests/data.json", "a.go"],
            false,
        );
        check(&["Makefile", "src/testament/a.ts", "attest/a.rb"], false);
    }

    #[test]
    fn tests_beside_a_file() {
        let check = |listed: &str, path: &str, expect: bool| {
            assert_eq!(
                is_test_beside(&path.to_lowercase(), &listed.to_lowercase()),
                expect,
                "{path} {listed}"
            );
        };
        check("src/a.rs", "tests/anything.rs", true);
        check("src/a.rs", "src/a/tests.rs", true);
        check("src/a.rs", "src/b/tests.rs", false);
        check("crates/x/src/a.rs", "crates/x/tests/a.rs", true);
        check("crates/x/src/a.rs", "tests/a.rs", true);
        check("src/a.rs", "crates/x/tests/a.rs", false);
        check("src/a.ts", "src/a.test.ts", true);
        check("src/a.ts", "src/__tests__/a.test.ts", true);
        check("src/a.ts", "lib/a.test.ts", false);
        check("src/main/java/x/Foo.java", "src/test/java/x/FooTest.java", true);
        check("lib/a/b.rb", "spec/a/b_spec.rb", true);
        check("Greeter/Greeter.cs", "Greeter.Tests/GreeterTests.cs", true);
        check("Sources/Foo/X.swift", "Tests/FooTests/XTests.swift", true);
        check("src/a.rs", "src/snapshots/a__works.snap", true);
        check("src/a.rs", "tests/snapshots/a__works.snap", true);
        check("src/a.rs", "docs/snapshots/a.snap", false);
        check("src/a.rs", "tests/a.rs.bak", false);
        check("src/a.rs", "src/helper.rs", false);
        check("src", "tests/a.rs", true);
    }
}
