//! YAML, and files that are read line by line.

use super::check;

#[test]
fn yaml() {
    check(
        "a.yml",
        &[
            ("a: b # yes\n# and\n", &["# yes", "# and"]),
            ("a: http://x/#b\nc: d#e\n", &[]),
            ("run: |\n  # no\n  x\n\n  # no\n# yes\nb: c", &["# yes"]),
            ("- run: >-\n    # no\n  # yes\n- a", &["# yes"]),
            ("a: \"# no\" # yes\nb: 'it''s # no' # and", &["# yes", "# and"]),
            ("a: it's # yes\nb: don't # and", &["# yes", "# and"]),
            ("a: | # yes\n  # no\nb: c", &["# yes"]),
            ("a: [b, \"# no\", 'c # no'] # yes", &["# yes"]),
            ("a: \"x\n  # no\n  y\" # yes", &["# yes"]),
            ("a: |2\n   # no\n b: c # yes", &["# yes"]),
            ("- |\n  # no\n- b # yes", &["# yes"]),
            ("a: b | c\n# yes", &["# yes"]),
            ("a: &x !t |\n  # no\nb: c # yes", &["# yes"]),
            ("--- # yes\na: {b: c} # and", &["# yes", "# and"]),
            ("a:\n  - b: |\n      x\n    # yes\n    c: d", &["# yes"]),
            ("a:\r\n  run: |\r\n    # no\r\n  # yes\r\n", &["# yes"]),
            ("a: |\n\n    # no\n  # yes\nb:", &["# yes"]),
        ],
    );
}

#[test]
fn settings() {
    check(
        "a.ini",
        &[
            ("; a\n# b\n[c]\nd = e\n", &["; a", "# b"]),
            ("url = http://x/#b;c\n", &[]),
            ("a = b ; yes\nc = \"d ; no\"\n", &["; yes"]),
            ("a = 'b ; no' ; yes\n", &["; yes"]),
            ("color = #fff\n", &[]),
            ("  ; indented\n", &["; indented"]),
            ("a = # no\r\nb = c # yes\r\n", &["# yes"]),
        ],
    );
    check("a.properties", &[("! a\n# b\nc = d # no\n", &["! a", "# b"]), ("a.b=c!d", &[])]);
    check(
        ".env",
        &[("A=b#c # yes\nD=\"e # no\" # and\n", &["# yes", "# and"]), ("# a\nB='# no'\nC=x@#y\n", &["# a"])],
    );
    check(".gitconfig", &[("[a]\n\tb = c # yes\n; and", &["# yes", "; and"])]);
    check(
        "a.conf",
        &[("listen 80; # yes\nx \"# no\" a#b;\n", &["# yes"]), ("# a\nb '#';# c", &["# a", "# c"])],
    );
}

#[test]
fn dockerfile() {
    check(
        "Dockerfile",
        &[
            ("# a\nFROM b:c # no\n", &["# a"]),
            ("RUN a && \\\n  # yes\n  b\n", &["# yes"]),
            ("RUN <<EOF\n# no\nEOF\n# yes", &["# yes"]),
            ("COPY <<-\"X\" /a\n\t# no\n\tX\n# yes", &["# yes"]),
            ("# syntax=docker/dockerfile:1\nFROM a", &["# syntax=docker/dockerfile:1"]),
            ("ENV A=\"#b\"\r\n# c\r\n", &["# c"]),
        ],
    );
}

#[test]
fn makefile() {
    check(
        "Makefile",
        &[
            ("# a\nX = b # yes\n", &["# a", "# yes"]),
            ("a:\n\techo '# no' # yes\n", &["# yes"]),
            ("X = a\\#b\n", &[]),
            ("# goes \\\n on\nX = 1", &["# goes \\\n on"]),
            ("a:\n\t@echo \"it's # no\" a#b\n", &[]),
            ("a:\n\t@# yes\n", &["# yes"]),
            ("a: b ## yes\n\t# and\n", &["## yes", "# and"]),
        ],
    );
}

#[test]
fn batch_vim_tex() {
    check(
        "a.bat",
        &[
            ("REM a\r\n@rem b\r\n:: c\r\n:label\r\necho REM\r\n", &["REM a", "@rem b", ":: c"]),
            ("remove.exe x\n", &[]),
        ],
    );
    check(".vimrc", &[("\" a\nset x=\"b\"\n  \" c\n", &["\" a", "\" c"])]);
    check(
        "a.tex",
        &[
            ("a 50\\% b % yes\n", &["% yes"]),
            ("\\verb|% no| % yes", &["% yes"]),
            ("\\begin{verbatim}\n% no\n\\end{verbatim}\n% yes", &["% yes"]),
            ("\\url{a%20b} % yes", &["% yes"]),
            ("a \\\\% yes", &["% yes"]),
        ],
    );
}
