//! The conventions for test files in each language, in one place: which files are tests, and which tests belong to a
//! given file.

use fp_plan::language::Language;
use fp_plan::repo_path::RepoPath;

/// Name patterns of test files by language, in lower case; `*` stands for anything.
const CONVENTIONS: [(Language, &str); 12] = [
    (Language::Rust, "test tests *_test *_tests test_*"),
    (
        Language::JavaScript,
        "test *.test *.spec *-test *-spec *_test *_spec *.cy *.e2e",
    ),
    (Language::Python, "test_* *_test tests test conftest"),
    (Language::Go, "*_test"),
    (Language::Jvm, "*test *tests test* *it *spec *testcase"),
    (
        Language::C,
        "test tests test_* *_test *_tests *_unittest *test *tests",
    ),
    (Language::Ruby, "*_spec *_test test_* *_helper"),
    (Language::Php, "*test *testcase *spec"),
    (Language::CSharp, "*test *tests *spec *specs"),
    (Language::Swift, "*tests *test"),
    (
        Language::Shell,
        "test tests test_* test-* *_test *-test *.test",
    ),
    (Language::TestScript, "*"),
];

/// Names of folders that hold tests; `*` stands for anything.
const FOLDERS: &str = "tests test __tests__ spec specs e2e t unittests androidtest integrationtest \
                       integration-tests *.tests *.test";

/// Folders in which test runners keep recorded output.
const SNAPSHOTS: [&str; 2] = ["snapshots", "__snapshots__"];

/// Languages whose test runners recognise tests by file name only; any other file in a test folder is loaded by tests,
/// or by the runner itself.
const BY_NAME_ALONE: [Language; 2] = [Language::Python, Language::Ruby];

/// Parts of the names of setup files and folders that runners load around the tests, and of stand-ins that tests load
/// for the code under test.
const AROUND_TESTS: &str = "setup teardown conftest bootstrap fixture helper mock support";

/// True if `path` is named like a test, or is a source file in a test folder.
pub fn is_test_file(path: &RepoPath) -> bool {
    is_test(&path.to_lossy().to_lowercase())
}

fn is_test(path: &str) -> bool {
    let (folder, name) = split_name(path);
    let Some((stem, _)) = name.rsplit_once('.') else {
        return false;
    };
    Language::from_path(name).is_some_and(|language| {
        let is_named = patterns_of(language).any(|pattern| matches_pattern(pattern, stem));
        is_named || folder.split('/').any(is_test_folder)
    })
}

/// True if `path`, a test file in lower case, holds only tests: either it is named like a test, or it is in a folder
/// where every file is a test and its path doesn't mark it as setup, helper or fixture.
fn holds_only_tests(path: &str) -> bool {
    let Some(language) = Language::from_path(path) else {
        return false;
    };
    let name = split_name(path).1;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_around = |part: &str| AROUND_TESTS.split(' ').any(|around| part.contains(around));
    // `test_helper` is named like a test, too.
    let is_named = patterns_of(language).any(|pattern| {
        let is_of_tests = pattern != "*" && !is_around(pattern);
        is_of_tests
            && matches_pattern(pattern, stem)
            && !wild_part(pattern, stem).starts_with("helper")
    });
    let mut in_tests = path.split('/').skip_while(|part| !is_test_folder(part));
    is_named || !BY_NAME_ALONE.contains(&language) && !in_tests.any(is_around)
}

/// True if the test at `test` can belong to the source file `listed`, because they share a language. A `listed` path
/// without a language, such as a folder, can have tests in any.
fn is_same_language(test: &str, listed: &str) -> bool {
    match (Language::from_path(test), Language::from_path(listed)) {
        (Some(Language::TestScript), Some(listed)) => listed == Language::Shell,
        (test, Some(listed)) => test == Some(listed),
        (_, None) => true,
    }
}

fn patterns_of(language: Language) -> impl Iterator<Item = &'static str> {
    let of_language = CONVENTIONS.iter().filter(move |(of, _)| *of == language);
    of_language.flat_map(|(_, patterns)| patterns.split(' '))
}

/// The text that the `*` of `pattern` matched in `text`, without adjacent separators.
fn wild_part<'t>(pattern: &str, text: &'t str) -> &'t str {
    let part = match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => text.strip_suffix(end),
        (_, Some(start)) => text.strip_prefix(start),
        _ => None,
    };
    part.unwrap_or(text).trim_matches(['_', '-', '.'])
}

/// True if `path` holds only tests of the file or folder `listed`. Such a file is in the same language, and it is in
/// the same folder, in a folder named after the file, or in a test folder beside it or further up. Test setup and
/// helpers don't count, because they decide what other tests report. Both paths must be in lower case.
pub(crate) fn is_test_beside(path: &str, listed: &str) -> bool {
    let (folder, name) = split_name(path);
    let (around, last) = split_name(folder);
    if name.ends_with(".snap") && SNAPSHOTS.contains(&last) {
        return stands_beside(around, listed);
    }
    is_test(path)
        && holds_only_tests(path)
        && is_same_language(path, listed)
        && stands_beside(folder, listed)
}

/// True if `folder` is one where tests of `listed` belong.
fn stands_beside(folder: &str, listed: &str) -> bool {
    let own = listed.rsplit_once('.').map_or(listed, |(stem, _)| stem);
    if folder == split_name(listed).0 || folder == own {
        return true;
    }
    // The folder that contains the outermost test folder must be above the listed file.
    let parts: Vec<&str> = folder.split('/').collect();
    let outermost = parts.iter().position(|part| is_test_folder(part));
    outermost.is_some_and(|at| {
        let above: String = parts[..at].iter().map(|part| format!("{part}/")).collect();
        listed.starts_with(&above)
    })
}

fn is_test_folder(name: &str) -> bool {
    let mut patterns = FOLDERS.split(' ');
    patterns.any(|pattern| matches_pattern(pattern, name))
}

/// Splits `path` into its folder and its name.
fn split_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Matches `text` against `pattern`. One `*` at its start or end stands for at least one character; `*` alone matches
/// anything.
fn matches_pattern(pattern: &str, text: &str) -> bool {
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
        check(
            &[
                "tests/cli.rs",
                "tests/common/mod.rs",
                "src/run/tests.rs",
                "src/run_test.rs",
            ],
            true,
        );
        check(
            &[
                "src/a.test.ts",
                "src/a.spec.jsx",
                "src/__tests__/a.js",
                "cypress/e2e/a.cy.ts",
            ],
            true,
        );
        check(
            &[
                "test_a.py",
                "pkg/tests/helpers.py",
                "pkg/a_test.py",
                "conftest.py",
            ],
            true,
        );
        check(
            &[
                "a_test.go",
                "src/test/java/x/FooTest.java",
                "FooIT.java",
                "app/src/androidTest/A.kt",
            ],
            true,
        );
        check(
            &[
                "tests/a.c",
                "test_a.cc",
                "a_unittest.cc",
                "spec/a_spec.rb",
                "spec/spec_helper.rb",
            ],
            true,
        );
        check(
            &[
                "tests/FooTest.php",
                "Foo.Tests/Helper.cs",
                "FooTests.cs",
                "Tests/FooTests/A.swift",
            ],
            true,
        );
        check(&["test/a.bats", "t/basic.t", "test-install.sh"], true);
        check(
            &[
                "src/main.rs",
                "src/latest.rs",
                "contest.py",
                "testing.md",
                "tests/data.json",
                "a.go",
            ],
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
        check(
            "src/main/java/x/Foo.java",
            "src/test/java/x/FooTest.java",
            true,
        );
        check("lib/a/b.rb", "spec/a/b_spec.rb", true);
        check("Greeter/Greeter.cs", "Greeter.Tests/GreeterTests.cs", true);
        check("Sources/Foo/X.swift", "Tests/FooTests/XTests.swift", true);
        check("src/a.rs", "src/snapshots/a__works.snap", true);
        check("src/a.rs", "tests/snapshots/a__works.snap", true);
        check("src/a.rs", "docs/snapshots/a.snap", false);
        check("src/a.rs", "tests/a.rs.bak", false);
        check("src/a.rs", "src/helper.rs", false);
        for around in [
            "tests/conftest.py",
            "conftest.py",
            "tests/__init__.py",
            "tests/json.py",
            "tests/helpers.py",
        ] {
            check("src/a.py", around, false);
            check("src/a.rs", around, false);
        }
        check("src/a.py", "tests/test_a.py", true);
        check("src/a.py", "tests/test_setup.py", true);
        check("src/a.rs", "tests/test_a.py", false);
        check("src/a.rs", "tests/a.sh", false);
        check("a.sh", "tests/a.bats", true);
        check("src/a.ts", "src/setupTests.ts", false);
        check("src/a.ts", "test/setup.js", false);
        check("src/a.ts", "test/setup.test.js", true);
        check("src/a.ts", "src/__tests__/__mocks__/fs.js", false);
        check("lib/a.rb", "spec/spec_helper.rb", false);
        check("lib/a.rb", "spec/support/x.rb", false);
        check("lib/a.rb", "test/test_helper.rb", false);
        check("x-support/src/a.rs", "x-support/tests/b.rs", true);
        check("src/A.php", "tests/bootstrap.php", false);
        check("src/A.php", "tests/ATest.php", true);
        check("README.md", "tests/test_a.py", true);
        check("src", "tests/a.rs", true);
    }
}
