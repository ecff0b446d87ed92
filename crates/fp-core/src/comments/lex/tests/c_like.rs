//! Languages with `//` and `/* */`.

use super::check;

#[test]
fn rust() {
    for (text, expected) in [
        (r##"const A: &str = r#"// no"#; // the a const"##, &["// the a const"][..]),
        ("fn f<'a>(x: &'a str) -> char { '\"' } // c", &["// c"]),
        ("/* a /* b */ c */ x", &["/* a /* b */ c */"]),
        ("let c = b'\\''; let d = '\\u{2F}'; // d", &["// d"]),
        ("let s = \"a \\\" // no\n// no\"; // yes", &["// yes"]),
        ("let s = br\"\\\"; // yes", &["// yes"]),
        ("'a: loop { break 'a; } // \"", &["// \""]),
        ("let é = 'é'; // x\r\n/// doc\r\n", &["// x", "/// doc"]),
        ("#!/usr/bin/env run\n#![allow(x)] // a", &["#!/usr/bin/env run", "// a"]),
        ("/* never closed", &["/* never closed"]),
        ("let r#type = 1; // a", &["// a"]),
    ] {
        check("a.rs", text, expected);
    }
}
