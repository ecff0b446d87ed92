//! Languages with `//` and `/* */`, style sheets, and markup.

use super::check;

#[test]
fn rust() {
    check(
        "a.rs",
        &[
            (
                r##"const A: &str = r#"// no"#; // the a const"##,
                &["// the a const"],
            ),
            ("fn f<'a>(x: &'a str) -> char { '\"' } // c", &["// c"]),
            ("/* a /* b */ c */ x", &["/* a /* b */ c */"]),
            ("let c = b'\\''; let d = '\\u{2F}'; // d", &["// d"]),
            ("let s = \"a \\\" // no\n// no\"; // yes", &["// yes"]),
            ("let s = br\"\\\"; // yes", &["// yes"]),
            ("'a: loop { break 'a; } // \"", &["// \""]),
            ("let é = 'é'; // x\r\n/// doc\r\n", &["// x", "/// doc"]),
            (
                "#!/usr/bin/env run\n#![allow(x)] // a",
                &["#!/usr/bin/env run", "// a"],
            ),
            ("/* never closed", &["/* never closed"]),
            ("let r#type = 1; // a", &["// a"]),
            ("let s = r##\"a\"# // no\"##;", &[]),
            ("for '/' in \"\" {} // a", &["// a"]),
        ],
    );
}

#[test]
fn c_and_cpp() {
    check(
        "a.cpp",
        &[
            (
                "auto s = R\"x(// no )\" )x\"; int n = 1'000'000; // n",
                &["// n"],
            ),
            ("char *s = \"a\\\r\n// no\"; // s", &["// s"]),
            ("#include <a//b>\n#include \"c//d\" // e", &["// e"]),
            (
                "#define URL \"http://x/*y\"\nchar c = '\"'; char *s = \"// no\";",
                &[],
            ),
            ("// goes \\\non\nint x; // y", &["// goes \\\non", "// y"]),
            ("char c = u8'/'; auto d = L'\\''; // e", &["// e"]),
            (
                "int x = 0xFF'FF; /* b */ char q = '\\\\'; // c",
                &["/* b */", "// c"],
            ),
            ("int x = a /* one */ / b; // two", &["/* one */", "// two"]),
            ("const char *s = \"open\nint y; // z", &["// z"]),
            (
                "auto s = u8R\"(\n// no\n)\"; auto t = LR\"(\")\"; // t",
                &["// t"],
            ),
            ("#error don't do this\nint x; // x", &["// x"]),
            ("const char *s = \"a \\\n// no\"; // yes", &["// yes"]),
            ("x = \"\\\\\"; // a\r\n// b\r\n", &["// a", "// b"]),
        ],
    );
    check(
        "a.m",
        &[(
            "NSString *s = @\"// no\"; // yes\n#import <a/b.h>",
            &["// yes"],
        )],
    );
}

#[test]
fn c_sharp() {
    check(
        "a.cs",
        &[
            ("var s = @\"C:\\\"; // path", &["// path"]),
            ("var s = @\"a \"\"// no\"\" \"; // yes", &["// yes"]),
            (
                "var s = $\"{x:dd//MM} {d[\"// no\"]}\"; // yes",
                &["// yes"],
            ),
            ("var s = $\"{{ // no }}\"; // yes", &["// yes"]),
            ("var s = \"\"\"\n  \"// no\"\n  \"\"\"; // yes", &["// yes"]),
            ("var s = $@\"{x}\\\"; // yes", &["// yes"]),
            (
                "var s = $$\"\"\"{{x}} // no \"\"\"; char c = '\"'; // yes",
                &["// yes"],
            ),
            ("#region don't // no\nint @class; // yes", &["// yes"]),
            ("var s = \"unclosed\nint y; // z", &["// z"]),
            ("#if DEBUG // a\n#endif", &["// a"]),
        ],
    );
}

#[test]
fn java() {
    check(
        "A.java",
        &[
            (
                "String s = \"\"\"\n  // no \\\"\"\" /* no */\n  \"\"\"; // yes",
                &["// yes"],
            ),
            ("char c = '\"'; // a", &["// a"]),
            ("/* a /* b */ int c; // d", &["/* a /* b */", "// d"]),
            ("String s = \"http://x\"; /** doc */", &["/** doc */"]),
            ("char c = '\\''; String s = \"\\\\\"; // a", &["// a"]),
            ("String s = \"\"; // a", &["// a"]),
        ],
    );
}

#[test]
fn kotlin() {
    check(
        "a.kt",
        &[
            ("val s = \"\"\"a\\\"\"\" // yes", &["// yes"]),
            ("val s = \"${f(\"// no\")} // no\" // yes", &["// yes"]),
            ("/* a /* b */ c */ val x = 1", &["/* a /* b */ c */"]),
            (
                "val s = \"\"\"\n ${g(\"\"\"// no\"\"\")} // no\n\"\"\" // yes",
                &["// yes"],
            ),
            ("val c = '\"' // yes", &["// yes"]),
            ("val s = \"\"\"\"quoted\"\"\"\" // yes", &["// yes"]),
            ("val s = \"\\${ // no\" // yes", &["// yes"]),
            ("val s = \"${list.map { it }}\" // yes", &["// yes"]),
        ],
    );
}

#[test]
fn scala() {
    check(
        "a.scala",
        &[
            ("val s = s\"${f(\"// no\")}\" // yes", &["// yes"]),
            ("val c = '\"'; val y = 'sym // yes", &["// yes"]),
            ("val s = \"\"\"// no\\\"\"\" // yes", &["// yes"]),
            ("/* a /* b */ c */", &["/* a /* b */ c */"]),
            (
                "val s = s\"\"\"${x.get(\"// no\")} // no\"\"\" // yes",
                &["// yes"],
            ),
            ("val s = \"${ // no\" // yes", &["// yes"]),
        ],
    );
}

#[test]
fn swift() {
    check(
        "a.swift",
        &[
            ("let s = #\"a \" // no \\\"# // yes", &["// yes"]),
            ("let s = \"\\(f(\"// no\")) // no\" // yes", &["// yes"]),
            (
                "let s = \"\"\"\n// no \"quoted\"\n\"\"\" // yes",
                &["// yes"],
            ),
            ("/* a /* b */ c */ let x = 1", &["/* a /* b */ c */"]),
            ("let s = ##\"\"\"\n\"# // no\n\"\"\"## // yes", &["// yes"]),
            ("#if DEBUG // a\n#endif", &["// a"]),
            ("let r = #/http:\\/\\/x \" /# // yes", &["// yes"]),
        ],
    );
}

#[test]
fn go() {
    check(
        "a.go",
        &[
            ("s := `// no\n\\` // yes", &["// yes"]),
            ("r := '\"'; q := '`'; t := '\\'' // yes", &["// yes"]),
            ("s := \"\\\"// no\" /* b */ // yes", &["/* b */", "// yes"]),
            ("s := \"open\nx := 1 // yes", &["// yes"]),
            ("//go:build linux\npackage a", &["//go:build linux"]),
            ("x := a / b // c / d", &["// c / d"]),
        ],
    );
}

#[test]
fn dart() {
    check(
        "a.dart",
        &[
            ("var s = r'\\'; // yes", &["// yes"]),
            ("var s = '${f('// no')} // no'; // yes", &["// yes"]),
            ("var s = '''\n// no 'q'\n'''; // yes", &["// yes"]),
            ("var s = r\"\"\"// no\\\"\"\"; // yes", &["// yes"]),
            ("/* a /* b */ c */ var bar = 1;", &["/* a /* b */ c */"]),
            (
                "var s = \"it's // no\"; var er = 'x'; /// doc",
                &["/// doc"],
            ),
        ],
    );
}

#[test]
fn groovy() {
    check(
        "a.gradle",
        &[
            ("def s = '''\n// no\n''' // yes", &["// yes"]),
            ("def s = \"${f(\"// no\")}\" // yes", &["// yes"]),
            ("def r = /http:\\/\\/x/ // yes", &["// yes"]),
            ("def x = a / b // yes", &["// yes"]),
            ("def s = $/ // no /$ // yes", &["// yes"]),
            ("url 'http://x' /* yes */", &["/* yes */"]),
        ],
    );
}

#[test]
fn zig_protobuf_json_terraform() {
    check(
        "a.zig",
        &[
            (
                "const s =\n    \\\\// no \"\n    \\\\ more\n; // yes",
                &["// yes"],
            ),
            ("const c = '\"'; // yes", &["// yes"]),
            ("const s = \"// no\"; //! top", &["//! top"]),
            ("const d = a / b; // c", &["// c"]),
            ("const c = '\\''; const e = '\\u{1f}'; // f", &["// f"]),
            ("const p: *u8 = x.*; // y /* z", &["// y /* z"]),
        ],
    );
    check(
        "a.proto",
        &[
            ("string s = 1 [default = \"// no\"]; // yes", &["// yes"]),
            ("option x = '/* no */'; /* yes */", &["/* yes */"]),
            (
                "syntax = \"proto3\"; /** doc */ // b",
                &["/** doc */", "// b"],
            ),
            ("x = \"\\\"// no\"; // yes", &["// yes"]),
            ("x = 'it\\'s // no'; // yes", &["// yes"]),
            ("/* a\n b */ message A {}", &["/* a\n b */"]),
        ],
    );
    check(
        "tsconfig.json",
        &[
            ("{\n  // strict\n  \"strict\": true\n}", &["// strict"]),
            ("{\"url\": \"http://x/*\"} /* a */", &["/* a */"]),
            ("{\"a\": \"\\\"// no\"}", &[]),
        ],
    );
    check(
        "main.tf",
        &[
            ("a = \"# no // no\" # yes", &["# yes"]),
            ("a = \"${f(\"# no\")}\" // yes", &["// yes"]),
            ("a = <<-EOT\n  # no\n  EOT\n# yes", &["# yes"]),
            ("a = <<EOF\n// no\nEOF\nb = 1 /* yes */", &["/* yes */"]),
            ("a = \"$${x} # no\" # yes", &["# yes"]),
            ("a = \"\\\" # no\" # yes", &["# yes"]),
        ],
    );
}

#[test]
fn styles() {
    check(
        "a.css",
        &[
            (
                ".a { color: red; /* make it red */ }",
                &["/* make it red */"],
            ),
            (
                "a { background: url(http://x/*.png); } /* yes */",
                &["/* yes */"],
            ),
            ("a::before { content: \"/* no */\"; }", &[]),
            (
                "a::before { content: '\\'/* no */'; } /* yes */",
                &["/* yes */"],
            ),
            ("a { b: c } // not one", &[]),
            ("a { b: url( \"x\" ) } /* yes */", &["/* yes */"]),
            ("a { content: \"open\n} /* yes */", &["/* yes */"]),
        ],
    );
    check(
        "a.scss",
        &[
            ("// make it red\n.a { color: red; }", &["// make it red"]),
            ("@import url(//fonts.com/css); // yes", &["// yes"]),
            ("$u: \"http://x\"; // yes", &["// yes"]),
            (
                ".a-#{$b} { c: d } /* yes */ // and",
                &["/* yes */", "// and"],
            ),
            ("$a: 'it\\'s // no'; // yes", &["// yes"]),
            ("a { b: URL(http://x) } // yes", &["// yes"]),
        ],
    );
    check(
        "a.less",
        &[
            ("@a: ~\"// no\"; // yes", &["// yes"]),
            (".m() when (a) {} // b", &["// b"]),
        ],
    );
}

#[test]
fn html() {
    check(
        "a.html",
        &[
            (
                "<body>\n  <!-- the main heading -->\n  <h1>Hi</h1>\n</body>",
                &["<!-- the main heading -->"],
            ),
            (
                "<p>use // and # and /* here */</p>\n<a href=\"http://x\">a</a>",
                &[],
            ),
            (
                "<script>\n// js\nvar a = '<!-- no -->';\n</script><!-- yes -->",
                &["// js", "<!-- yes -->"],
            ),
            ("<style>/* css */ a { b: url(//x) }</style>", &["/* css */"]),
            ("<a title=\"<!-- no -->\">it's</a> <!-- yes", &["<!-- yes"]),
            (
                "<script type=\"application/json\">{\"a\": \"// no\"} // no</script>",
                &[],
            ),
            ("<SCRIPT>// a\n</SCRIPT> // no", &["// a"]),
            (
                "<textarea><!-- no --></textarea><!-- yes -->",
                &["<!-- yes -->"],
            ),
            ("a < b <!-- yes --> c > d", &["<!-- yes -->"]),
            (
                "<!DOCTYPE html>\n<br/><!--[if IE]> x <![endif]-->",
                &["<!--[if IE]> x <![endif]-->"],
            ),
            ("<script src=\"x\"></script>\n// no", &[]),
        ],
    );
}

#[test]
fn xml() {
    check(
        "a.svg",
        &[
            ("<?xml version=\"1.0\"?><!-- yes --><a/>", &["<!-- yes -->"]),
            (
                "<a><![CDATA[ <!-- no --> ]]></a><!-- yes -->",
                &["<!-- yes -->"],
            ),
            ("<a b='<!-- no -->'/>", &[]),
            ("<style>// no</style>", &[]),
            ("<a>// no # no</a>", &[]),
            ("<!-- a\n b --><c>-->", &["<!-- a\n b -->"]),
        ],
    );
}

#[test]
fn components() {
    check(
        "A.vue",
        &[
            (
                "<template><p>hi // no</p></template>\n<script>\n// export default\nexport default {}\n</script>\n",
                &["// export default"],
            ),
            (
                "<script lang=\"ts\">\nconst x = <any>y; // yes\n</script>",
                &["// yes"],
            ),
            ("<style lang=\"scss\">\n// yes\n</style>", &["// yes"]),
            ("<style>\n// no\n/* yes */</style>", &["/* yes */"]),
            (
                "<template>\n<!-- yes -->\n<a :b=\"c > d\" /></template>",
                &["<!-- yes -->"],
            ),
            (
                "<template lang=\"pug\">\np it's // no\n</template>\n<script>// yes\n</script>",
                &["// yes"],
            ),
            ("// a fragment\nconst a = 1", &["// a fragment"]),
        ],
    );
    check(
        "A.svelte",
        &[
            (
                "<script>\n  // yes\n</script>\n{#if a}\n<p>// no</p>\n{/if}{/each}",
                &["// yes"],
            ),
            ("<p>{a /* yes */} // no</p>", &["/* yes */"]),
            (
                "<b on:c={() => a > '//'}>// no</b>\n<!-- yes -->",
                &["<!-- yes -->"],
            ),
            ("{#each [\"<!-- no -->\"] as x}{x}{/each}", &[]),
            ("<style>/* yes */</style>", &["/* yes */"]),
            ("{@html '<!-- no -->'} <!-- yes -->", &["<!-- yes -->"]),
        ],
    );
    check(
        "A.astro",
        &[
            (
                "---\n// yes\nconst a = 1;\n---\n<p>// no</p>{a && <b>// no</b>}<!-- and -->",
                &["// yes", "<!-- and -->"],
            ),
            ("<p>{/* yes */}</p>", &["/* yes */"]),
        ],
    );
}
