//! Finds test cases, and the code that switches them off, in a test file. It works by line and convention, without
//! parsing: whatever it misses, it misses on both sides of a change.

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
    /// Everything up to the next test case, without its own first line and without blanks.
    pub(super) body: String,
    /// Its own first line and the lines indented below it, trimmed, without blank ones and comments.
    pub(super) lines: Vec<String>,
    indent: usize,
}

/// The position of the code that switches a test off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwitchPlace {
    /// In front of the test case.
    Before,
    /// On its line.
    On,
    /// Inside it.
    Inside,
    /// Anywhere; it switches off all others.
    Elsewhere,
}

/// How tests are written in a language.
struct TestSyntax {
    language: Language,
    /// A test case whose first group with a match is its name.
    case: &'static str,
    /// A line that makes the next function one.
    mark: &'static str,
    /// A function, whose first group with a match is its name.
    function: &'static str,
    /// The words that switch tests off.
    off: &'static [(&'static str, SwitchPlace)],
    /// The words that look at a result.
    assertion: &'static str,
}

/// A pattern that matches nothing.
const NONE: &str = r"[^\s\S]";

const SYNTAXES: [TestSyntax; 11] = [
    TestSyntax {
        language: Language::Rust,
        case: NONE,
        mark: r"^\s*#\[\s*(?:[\w:]+::)?(?:test|rstest|test_case|test_matrix|quickcheck|wasm_bindgen_test)\b",
        function: r"\bfn\s+(\w+)",
        off: &[
            (r"^\s*#\[\s*ignore\b", SwitchPlace::Before),
            (r"#\[\s*cfg_attr\(.*\bignore\b", SwitchPlace::Before),
        ],
        assertion: r"\b(?:debug_)?assert\w*!|\bassert_\w+!|\.expect_err\(|\bpanic!",
    },
    TestSyntax {
        language: Language::JavaScript,
        case: r#"(?:^|[\s;({])(?:x?it|x?test|fit|specify|xspecify)(?:\.\w+)*(?:\([^'"`]*\))?\s*\(\s*(?:'([^']*)'|"([^"]*)"|`([^`]*)`)"#,
        mark: NONE,
        function: NONE,
        off: &[
            (
                r"\b(?:it|test|specify)\.(?:skip|todo|fixme|failing)\b|\bx(?:it|test|specify)\s*\(",
                SwitchPlace::On,
            ),
            (
                r"\b(?:describe|context|suite)\.skip\b|\bxdescribe\s*\(|\bxcontext\s*\(",
                SwitchPlace::Elsewhere,
            ),
            (
                r"\b(?:it|test|describe|context|suite|specify)\.only\b|\bf(?:it|describe)\s*\(",
                SwitchPlace::Elsewhere,
            ),
            (r"\bthis\.skip\(\)|\bt\.skip\(", SwitchPlace::Inside),
        ],
        assertion: r"\bexpect\s*\(|\bassert\b|\.should\b|\bt\.(?:is|deepEqual|true|equal)\(",
    },
    TestSyntax {
        language: Language::Python,
        case: r"^\s*(?:async\s+)?def\s+(test\w*)\s*\(",
        mark: NONE,
        function: NONE,
        off: &[
            (
                r"@(?:pytest\.)?mark\.(?:skip|skipif|xfail)\b|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b",
                SwitchPlace::Before,
            ),
            (
                r"\bself\.skipTest\(|\bpytest\.(?:skip|xfail)\(|\bunittest\.SkipTest\b",
                SwitchPlace::Inside,
            ),
            (
                r"^\s*pytestmark\s*=.*\bskip|^\s*__test__\s*=\s*False|\bcollect_ignore\b",
                SwitchPlace::Elsewhere,
            ),
        ],
        assertion: r"^\s*assert\b|\bself\.assert\w+\(|\bpytest\.raises\(",
    },
    TestSyntax {
        language: Language::Go,
        case: r#"^func\s+((?:Test|Fuzz|Example|Benchmark)\w*)\s*\(|\bt\.Run\(\s*"([^"]*)""#,
        mark: NONE,
        function: NONE,
        off: &[(r"\b[tb]\.(?:Skip|Skipf|SkipNow)\(", SwitchPlace::Inside)],
        assertion: r"\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require)\.\w+\(",
    },
    TestSyntax {
        language: Language::Jvm,
        case: r#"^\s*(?:test|it|should)\s*\(\s*"([^"]*)"|^\s*def\s+"([^"]*)""#,
        mark: r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b",
        function: r"(?:\bvoid|\bfun|>|\bdef)\s+(`[^`]+`|\w+)\s*\(",
        off: &[
            (
                r"@(?:Disabled\w*|Ignore|Ignored|PendingFeature)\b|@Test\(.*\benabled\s*=\s*false",
                SwitchPlace::Before,
            ),
            (r"\bassume(?:True|False|That)\s*\(", SwitchPlace::Inside),
        ],
        assertion: r"\bassert\w*\s*[({]|\bverify\s*\(|\bshould\w*\b|\bexpect\w*\s*\(",
    },
    TestSyntax {
        language: Language::C,
        case: r#"^\s*(?:TYPED_)?TEST(?:_[FP])?\s*\(\s*([^)]*?)\s*\)|^\s*(?:TEST_CASE|SCENARIO|SECTION)\s*\(\s*"([^"]*)"|^\s*BOOST_(?:AUTO|FIXTURE)_TEST_CASE\s*\(\s*(\w+)|^\s*(?:static\s+)?(?:void|int|bool)\s+(test_?\w+)\s*\("#,
        mark: NONE,
        function: NONE,
        off: &[
            (
                r"\bGTEST_SKIP\s*\(|\bTEST_IGNORE\w*\s*\(|\bSKIP\s*\(",
                SwitchPlace::Inside,
            ),
            (r"\bDISABLED_\w+", SwitchPlace::On),
            (r"^\s*#\s*if\s+0\b", SwitchPlace::Before),
        ],
        assertion: r"\b(?:ASSERT|EXPECT|REQUIRE|CHECK|TEST_ASSERT|BOOST_(?:CHECK|REQUIRE|TEST))\w*\s*\(|\bassert\s*\(",
    },
    TestSyntax {
        language: Language::Ruby,
        case: r#"^\s*(?:x?it|specify|xspecify|scenario|xscenario|fit|test|example)\s*\(?\s*(?:'([^']*)'|"([^"]*)")|^\s*def\s+(test_\w+)"#,
        mark: NONE,
        function: NONE,
        off: &[
            (
                r"^\s*x(?:it|specify|scenario)\b|\bskip:\s*(?:true|['\x22])|\bpending:\s*(?:true|['\x22])",
                SwitchPlace::On,
            ),
            (r"^\s*(?:skip|pending)\b", SwitchPlace::Inside),
            (
                r"^\s*x(?:describe|context)\b|\bfocus:\s*true|^\s*f(?:it|describe|context)\b",
                SwitchPlace::Elsewhere,
            ),
        ],
        assertion: r"\bexpect\b|\bassert\w*|\bmust_\w+|\.should\b|\brefute\w*",
    },
    TestSyntax {
        language: Language::Php,
        case: r#"\bfunction\s+(test\w*)\s*\(|^\s*(?:it|test)\s*\(\s*(?:'([^']*)'|"([^"]*)")"#,
        mark: r"#\[\s*Test\b|@test\b",
        function: r"\bfunction\s+(\w+)\s*\(",
        off: &[
            (
                r"\bmarkTest(?:Skipped|Incomplete)\s*\(|->(?:skip|todo)\s*\(",
                SwitchPlace::Inside,
            ),
            (r"->only\s*\(", SwitchPlace::Elsewhere),
        ],
        assertion: r"\bassert\w*\s*\(|\bexpect\w*\s*\(",
    },
    TestSyntax {
        language: Language::CSharp,
        case: NONE,
        mark: r"\[\s*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|Property)\b",
        function: r"(?:\bvoid|\bTask(?:<\w+>)?|\bValueTask|\blet)\s+(``[^`]+``|\w+)\s*\(",
        off: &[
            (
                r"\[\s*(?:Ignore|Explicit)\b|\bSkip\s*=\s*",
                SwitchPlace::Before,
            ),
            (r"\bAssert\.(?:Ignore|Inconclusive)\(", SwitchPlace::Inside),
        ],
        assertion: r"\bAssert\.\w+|\.Should\w*\(|\bExpect\(",
    },
    TestSyntax {
        language: Language::Swift,
        case: r"\bfunc\s+(test\w*)\s*\(",
        mark: r"@Test\b",
        function: r"\bfunc\s+(`[^`]+`|\w+)\s*\(",
        off: &[
            (r"\bXCTSkip\w*", SwitchPlace::Inside),
            (r"@Test\(.*\.disabled\(", SwitchPlace::Before),
        ],
        assertion: r"\bXCTAssert\w*\(|#expect\(|#require\(|\bXCTFail\(",
    },
    TestSyntax {
        language: Language::Shell,
        case: r#"^\s*@test\s+(?:'([^']*)'|"([^"]*)")|^\s*(?:function\s+)?((?:test|it)_?\w+)\s*\(\s*\)"#,
        mark: NONE,
        function: NONE,
        off: &[(r"^\s*(?:skip|startSkipping)\b", SwitchPlace::Inside)],
        assertion: r"\bassert\w*|^\s*\[\[?\s|\brefute\w*|^\s*test\s",
    },
];

static PATTERNS: LazyLock<HashMap<&str, Regex>> = LazyLock::new(|| {
    let of_syntax = |syntax: &TestSyntax| {
        let off = syntax.off.iter().map(|(pattern, _)| *pattern);
        off.chain([syntax.case, syntax.mark, syntax.function, syntax.assertion])
            .collect::<Vec<_>>()
    };
    let regex = |pattern| {
        (
            pattern,
            Regex::new(pattern).expect("the pattern is a constant"),
        )
    };
    SYNTAXES.iter().flat_map(of_syntax).map(regex).collect()
});

fn syntax(path: &str) -> Option<&'static TestSyntax> {
    let language = match Language::of(path)? {
        Language::TestScript => Language::Shell,
        language => language,
    };
    SYNTAXES.iter().find(|syntax| syntax.language == language)
}

/// The test cases in `text`. `path` is the file's name in lower case.
pub(super) fn test_cases(path: &str, text: &str) -> Vec<TestCase> {
    let Some(syntax) = syntax(path) else {
        return Vec::new();
    };
    let mut cases: Vec<TestCase> = Vec::new();
    let mut marked = false;
    // The test cases that the line may belong to, from the outermost.
    let mut open: Vec<usize> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        marked |= PATTERNS[syntax.mark].is_match(line);
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        if code.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#')) {
            open.retain(|case| cases[*case].indent < indent);
        }
        let function = || {
            if marked {
                name(syntax.function, line)
            } else {
                None
            }
        };
        if let Some(name) = name(syntax.case, line).or_else(function) {
            marked = false;
            open.push(cases.len());
            cases.push(TestCase {
                name,
                line: index + 1,
                body: String::new(),
                lines: Vec::new(),
                indent,
            });
        } else if let Some(case) = cases.last_mut() {
            case.body
                .extend(line.chars().filter(|c| !c.is_whitespace()));
        }
        if !code.is_empty()
            && !["//", "/*", "# "]
                .iter()
                .any(|comment| code.starts_with(comment))
        {
            open.iter()
                .for_each(|case| cases[*case].lines.push(code.to_owned()));
        }
    }
    cases
}

fn name(pattern: &str, line: &str) -> Option<String> {
    let found = PATTERNS[pattern].captures(line)?;
    found
        .iter()
        .skip(1)
        .flatten()
        .next()
        .map(|name| name.as_str().to_owned())
}

/// The position from which a line of such a file switches tests off, if it does.
pub(super) fn switches_off(path: &str, line: &str) -> Option<SwitchPlace> {
    syntax(path)?
        .off
        .iter()
        .find(|(pattern, _)| PATTERNS[*pattern].is_match(line))
        .map(|(_, place)| *place)
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

/// True if a line of such a file checks a result, or calls a function that by its name does.
pub(super) fn is_check(path: &str, line: &str) -> bool {
    let asserts = || syntax(path).is_some_and(|syntax| PATTERNS[syntax.assertion].is_match(line));
    !CONSTANT.is_match(line) && (HELPER.is_match(line) || asserts())
}

/// True if a line does nothing for a test: it only closes or ends something, or asserts a constant.
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
