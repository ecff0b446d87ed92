//! Finds test cases, and the code that switches them off, in a test file. It works by line and convention, without
//! parsing: whatever it misses, it misses both before and after a change.

use std::collections::HashMap;
use std::sync::LazyLock;

use fp_plan::language::Language;
use regex::Regex;

use crate::regex;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestCase {
    /// As in the source.
    pub(super) name: String,
    /// From 1.
    pub(super) line: usize,
    /// The text between the test's first line and the next test case, without whitespace.
    pub(super) body: String,
    /// The test's first line and the lines indented below it, trimmed, without blank lines and comments.
    pub(super) lines: Vec<String>,
    indent: usize,
}

/// The position of the code that switches a test off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwitchPlace {
    /// In front of the test case.
    Before,
    /// On the test case's line.
    On,
    /// Inside the test case.
    Inside,
    /// Anywhere; it switches off all other tests.
    Elsewhere,
}

/// The patterns that recognise a language's tests.
struct TestSyntax {
    language: Language,
    /// A test case; its name is the first capture group that matched.
    case: &'static str,
    /// A line that makes the next function a test case.
    mark: &'static str,
    /// A function; its name is the first capture group that matched.
    function: &'static str,
    /// Code that switches a test off, by its position: see [`SwitchPlace`].
    before: &'static str,
    on: &'static str,
    inside: &'static str,
    elsewhere: &'static str,
    /// Code that checks a result.
    assertion: &'static str,
}

/// A pattern that matches nothing.
const NONE: &str = r"[^\s\S]";

/// The defaults, for everything that a language doesn't override.
const PLAIN: TestSyntax = TestSyntax {
    language: Language::TestScript,
    case: NONE,
    mark: NONE,
    function: NONE,
    before: NONE,
    on: NONE,
    inside: NONE,
    elsewhere: NONE,
    assertion: NONE,
};

const SYNTAXES: [TestSyntax; 11] = [
    TestSyntax {
        language: Language::Rust,
        mark: r"^\s*#\[\s*(?:[\w:]+::)?(?:test|rstest|test_case|test_matrix|quickcheck|wasm_bindgen_test)\b",
        function: r"\bfn\s+(\w+)",
        before: r"^\s*#\[\s*ignore\b|#\[\s*cfg_attr\(.*\bignore\b",
        assertion: r"\b(?:debug_)?assert\w*!|\bassert_\w+!|\.expect_err\(|\bpanic!",
        ..PLAIN
    },
    TestSyntax {
        language: Language::JavaScript,
        case: r#"(?:^|[\s;({])(?:x?it|x?test|fit|specify|xspecify)(?:\.\w+)*(?:\([^'"`]*\))?\s*\(\s*(?:'([^']*)'|"([^"]*)"|`([^`]*)`)"#,
        on: r"\b(?:it|test|specify)\.(?:skip|todo|fixme|failing)\b|\bx(?:it|test|specify)\s*\(",
        inside: r"\bthis\.skip\(\)|\bt\.skip\(",
        elsewhere: r"\b(?:describe|context|suite)\.skip\b|\bxdescribe\s*\(|\bxcontext\s*\(|\b(?:it|test|describe|context|suite|specify)\.only\b|\bf(?:it|describe)\s*\(",
        assertion: r"\bexpect\s*\(|\bassert\b|\.should\b|\bt\.(?:is|deepEqual|true|equal)\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::Python,
        case: r"^\s*(?:async\s+)?def\s+(test\w*)\s*\(",
        before: r"@(?:pytest\.)?mark\.(?:skip|skipif|xfail)\b|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b",
        inside: r"\bself\.skipTest\(|\bpytest\.(?:skip|xfail)\(|\bunittest\.SkipTest\b",
        elsewhere: r"^\s*pytestmark\s*=.*\bskip|^\s*__test__\s*=\s*False|\bcollect_ignore\b",
        assertion: r"^\s*assert\b|\bself\.assert\w+\(|\bpytest\.raises\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::Go,
        case: r#"^func\s+((?:Test|Fuzz|Example|Benchmark)\w*)\s*\(|\bt\.Run\(\s*"([^"]*)""#,
        inside: r"\b[tb]\.(?:Skip|Skipf|SkipNow)\(",
        assertion: r"\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require)\.\w+\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::Jvm,
        case: r#"^\s*(?:test|it|should)\s*\(\s*"([^"]*)"|^\s*def\s+"([^"]*)""#,
        mark: r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b",
        function: r"(?:\bvoid|\bfun|>|\bdef)\s+(`[^`]+`|\w+)\s*\(",
        before: r"@(?:Disabled\w*|Ignore|Ignored|PendingFeature)\b|@Test\(.*\benabled\s*=\s*false",
        inside: r"\bassume(?:True|False|That)\s*\(",
        assertion: r"\bassert\w*\s*[({]|\bverify\s*\(|\bshould\w*\b|\bexpect\w*\s*\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::C,
        case: r#"^\s*(?:TYPED_)?TEST(?:_[FP])?\s*\(\s*([^)]*?)\s*\)|^\s*(?:TEST_CASE|SCENARIO|SECTION)\s*\(\s*"([^"]*)"|^\s*BOOST_(?:AUTO|FIXTURE)_TEST_CASE\s*\(\s*(\w+)|^\s*(?:static\s+)?(?:void|int|bool)\s+(test_?\w+)\s*\("#,
        before: r"^\s*#\s*if\s+0\b",
        on: r"\bDISABLED_\w+",
        inside: r"\bGTEST_SKIP\s*\(|\bTEST_IGNORE\w*\s*\(|\bSKIP\s*\(",
        assertion: r"\b(?:ASSERT|EXPECT|REQUIRE|CHECK|TEST_ASSERT|BOOST_(?:CHECK|REQUIRE|TEST))\w*\s*\(|\bassert\s*\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::Ruby,
        case: r#"^\s*(?:x?it|specify|xspecify|scenario|xscenario|fit|test|example)\s*\(?\s*(?:'([^']*)'|"([^"]*)")|^\s*def\s+(test_\w+)"#,
        on: r"^\s*x(?:it|specify|scenario)\b|\bskip:\s*(?:true|['\x22])|\bpending:\s*(?:true|['\x22])",
        inside: r"^\s*(?:skip|pending)\b",
        elsewhere: r"^\s*x(?:describe|context)\b|\bfocus:\s*true|^\s*f(?:it|describe|context)\b",
        assertion: r"\bexpect\b|\bassert\w*|\bmust_\w+|\.should\b|\brefute\w*",
        ..PLAIN
    },
    TestSyntax {
        language: Language::Php,
        case: r#"\bfunction\s+(test\w*)\s*\(|^\s*(?:it|test)\s*\(\s*(?:'([^']*)'|"([^"]*)")"#,
        mark: r"#\[\s*Test\b|@test\b",
        function: r"\bfunction\s+(\w+)\s*\(",
        inside: r"\bmarkTest(?:Skipped|Incomplete)\s*\(|->(?:skip|todo)\s*\(",
        elsewhere: r"->only\s*\(",
        assertion: r"\bassert\w*\s*\(|\bexpect\w*\s*\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::CSharp,
        mark: r"\[\s*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|Property)\b",
        function: r"(?:\bvoid|\bTask(?:<\w+>)?|\bValueTask|\blet)\s+(``[^`]+``|\w+)\s*\(",
        before: r"\[\s*(?:Ignore|Explicit)\b|\bSkip\s*=\s*",
        inside: r"\bAssert\.(?:Ignore|Inconclusive)\(",
        assertion: r"\bAssert\.\w+|\.Should\w*\(|\bExpect\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::Swift,
        case: r"\bfunc\s+(test\w*)\s*\(",
        mark: r"@Test\b",
        function: r"\bfunc\s+(`[^`]+`|\w+)\s*\(",
        before: r"@Test\(.*\.disabled\(",
        inside: r"\bXCTSkip\w*",
        assertion: r"\bXCTAssert\w*\(|#expect\(|#require\(|\bXCTFail\(",
        ..PLAIN
    },
    TestSyntax {
        language: Language::Shell,
        case: r#"^\s*@test\s+(?:'([^']*)'|"([^"]*)")|^\s*(?:function\s+)?((?:test|it)_?\w+)\s*\(\s*\)"#,
        inside: r"^\s*(?:skip|startSkipping)\b",
        assertion: r"\bassert\w*|^\s*\[\[?\s|\brefute\w*|^\s*test\s",
        ..PLAIN
    },
];

static PATTERNS: LazyLock<HashMap<&str, Regex>> = LazyLock::new(|| {
    let of_syntax = |syntax: &TestSyntax| {
        let parts = [syntax.case, syntax.mark, syntax.function, syntax.assertion];
        let switches = syntax.switches().map(|(pattern, _)| pattern);
        parts.into_iter().chain(switches)
    };
    let patterns = SYNTAXES.iter().flat_map(of_syntax);
    patterns.map(|pattern| (pattern, regex(pattern))).collect()
});

impl TestSyntax {
    /// The patterns, those that switch off the most tests first.
    fn switches(&self) -> [(&'static str, SwitchPlace); 4] {
        [
            (self.elsewhere, SwitchPlace::Elsewhere),
            (self.before, SwitchPlace::Before),
            (self.on, SwitchPlace::On),
            (self.inside, SwitchPlace::Inside),
        ]
    }
}

fn syntax_of(path: &str) -> Option<&'static TestSyntax> {
    let language = match Language::from_path(path)? {
        Language::TestScript => Language::Shell,
        language => language,
    };
    SYNTAXES.iter().find(|syntax| syntax.language == language)
}

/// The test cases in `text`. `path` is the file's name in lower case.
pub(super) fn test_cases(path: &str, text: &str) -> Vec<TestCase> {
    let Some(syntax) = syntax_of(path) else {
        return Vec::new();
    };
    let mut cases: Vec<TestCase> = Vec::new();
    let mut marked = false;
    // The test cases that the line may belong to, outermost first.
    let mut open: Vec<usize> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        marked |= PATTERNS[syntax.mark].is_match(line);
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        if code.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#')) {
            open.retain(|case| cases[*case].indent < indent);
        }
        let function = marked.then_some(syntax.function);
        let function = function.and_then(|function| name_by(function, line));
        if let Some(name) = name_by(syntax.case, line).or(function) {
            marked = false;
            open.push(cases.len());
            cases.push(TestCase {
                name,
                line: number,
                body: String::new(),
                lines: Vec::new(),
                indent,
            });
        } else if let Some(case) = cases.last_mut() {
            case.body
                .extend(line.chars().filter(|c| !c.is_whitespace()));
        }
        if !code.is_empty() && !COMMENTS.iter().any(|comment| code.starts_with(comment)) {
            open.iter()
                .for_each(|case| cases[*case].lines.push(code.to_owned()));
        }
    }
    cases
}

const COMMENTS: [&str; 3] = ["//", "/*", "# "];

fn name_by(pattern: &str, line: &str) -> Option<String> {
    let found = PATTERNS[pattern].captures(line)?;
    let name = found.iter().skip(1).flatten().next()?;
    Some(name.as_str().to_owned())
}

/// The position of a line of the file `path` relative to the tests that it switches off; `None` if it switches off
/// none.
pub(super) fn switches_off(path: &str, line: &str) -> Option<SwitchPlace> {
    let mut switches = syntax_of(path)?.switches().into_iter();
    let found = switches.find(|(pattern, _)| PATTERNS[pattern].is_match(line));
    found.map(|(_, place)| place)
}

static HELPER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:\b|_)(?:assert|check|expect|verify)\w*!?\s*\("));
static CONSTANT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?xi)
        (?: \b(?:XCT)?assert\w*!? | \bAssert\.\w+ | \bexpect\w* | \bt\.\w+ ) \s*[(\s]\s*
        (?: true | 1\s*==\s*1 | 1\s*,\s*1 | true\s*,\s*true ) \s* (?: ,\s*["'][^"']*["']\s* )? (?: \) | ; | $ )"#,
    )
});

/// True if this line of the file `path` checks a result, or calls a function whose name suggests that it does.
pub(super) fn is_check(path: &str, line: &str) -> bool {
    let asserts =
        || syntax_of(path).is_some_and(|syntax| PATTERNS[syntax.assertion].is_match(line));
    !CONSTANT.is_match(line) && (HELPER.is_match(line) || asserts())
}

/// True if a line contributes nothing to a test: it only closes or ends something, or asserts a constant.
pub(super) fn is_idle(line: &str) -> bool {
    let bare = line.trim_end_matches(';');
    !bare.contains(char::is_alphanumeric)
        || matches!(bare, "pass" | "end" | "return")
        || CONSTANT.is_match(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_cases_of_every_language() {
        let check = |path: &str, text: &str, expect: &[&str]| {
            let names: Vec<String> = test_cases(path, text)
                .into_iter()
                .map(|case| case.name)
                .collect();
            assert_eq!(names, expect, "{path}: {text}");
        };
        check(
            "a.rs",
            "#[test]\n#[ignore]\nfn one() {}\nfn helper() {}\n#[tokio::test]\nasync fn two() {}",
            &["one", "two"],
        );
        check(
            "a.ts",
            "it('adds', () => {});\n  test.skip(\"subs\", f)\nxit(`muls`)\ntest.each([1])('n %d')\nsubmit('x')",
            &["adds", "subs", "muls", "n %d"],
        );
        check(
            "a.py",
            "def test_a():\n  pass\nclass T:\n  async def test_b(self):\ndef helper():",
            &["test_a", "test_b"],
        );
        check(
            "a.go",
            "func TestA(t *testing.T) {\n\tt.Run(\"sub\", f)\n}\nfunc helper() {}",
            &["TestA", "sub"],
        );
        check(
            "A.kt",
            "@Test\nfun `does it`() {}\nfun helper() {}",
            &["`does it`"],
        );
        check(
            "A.java",
            "@ParameterizedTest\n@ValueSource\nvoid works(int x) {}",
            &["works"],
        );
        check(
            "a.cc",
            "TEST_F(A, B) {\n}\nTEST_CASE(\"c\") {}\nvoid test_d(void) {",
            &["A, B", "c", "test_d"],
        );
        check(
            "a.rb",
            "it 'x' do\nend\ndef test_y\nend\nitem 'z'",
            &["x", "test_y"],
        );
        check(
            "a.php",
            "public function testA() {}\n#[Test]\npublic function b() {}\nit('c', fn);",
            &["testA", "b", "c"],
        );
        check(
            "a.cs",
            "[Fact]\npublic async Task Works() {}\npublic void Helper() {}",
            &["Works"],
        );
        check(
            "a.swift",
            "func testA() {}\n@Test func b() {}\nfunc c() {}",
            &["testA", "b"],
        );
        check(
            "a.bats",
            "@test \"runs\" {\n}\ntest_it() {",
            &["runs", "test_it"],
        );
        check("a.txt", "#[test]\nfn one() {}", &[]);
    }

    #[test]
    fn what_switches_tests_off() {
        let check = |path: &str, line: &str, expect: Option<SwitchPlace>| {
            assert_eq!(switches_off(path, line), expect, "{path}: {line}");
        };
        check(
            "a.rs",
            "    #[ignore = \"slow\"]",
            Some(SwitchPlace::Before),
        );
        check("a.rs", "    let ignore = 1;", None);
        check("a.ts", "it.skip('a', f)", Some(SwitchPlace::On));
        check("a.ts", "xit('a', f)", Some(SwitchPlace::On));
        check(
            "a.ts",
            "describe.only('a', f)",
            Some(SwitchPlace::Elsewhere),
        );
        check("a.ts", "exit(1)", None);
        check(
            "a.py",
            "@pytest.mark.skip(reason='x')",
            Some(SwitchPlace::Before),
        );
        check("a.py", "    self.skipTest('x')", Some(SwitchPlace::Inside));
        check("a.go", "\tt.Skip(\"x\")", Some(SwitchPlace::Inside));
        check("A.java", "@Disabled", Some(SwitchPlace::Before));
        check("a.cc", "TEST(A, DISABLED_b) {", Some(SwitchPlace::On));
        check("a.rb", "  xit 'a' do", Some(SwitchPlace::On));
        check(
            "a.php",
            "$this->markTestSkipped('x');",
            Some(SwitchPlace::Inside),
        );
        check("a.cs", "[Fact(Skip = \"x\")]", Some(SwitchPlace::Before));
        check("a.swift", "throw XCTSkip(\"x\")", Some(SwitchPlace::Inside));
        check("a.bats", "  skip 'later'", Some(SwitchPlace::Inside));
    }
}
