//! Languages with `#` or `--`, JavaScript and TypeScript, PHP and Ruby.

use super::check;

#[test]
fn python() {
    check(
        "a.py",
        &[
            ("s = f\"{x!r:#>10} # {d['#']}\"\n", &[]),
            ("p = re.compile(r'\\'#\\d+')\n", &[]),
            ("s = f\"{d[\"#\"]} # no\" # yes", &["# yes"]),
            ("s = \"\"\"\n# no \"q\"\n\"\"\" # yes", &["# yes"]),
            ("s = 'it\\'s # no' # yes", &["# yes"]),
            ("s = f'{{# no}} {x}' # yes", &["# yes"]),
            ("s = f\"\"\"\n{x}\n# no {y:>{w}}\n\"\"\" # yes", &["# yes"]),
            ("s = rb'''# no''' + u\"# no\" # yes", &["# yes"]),
            ("s = \"open\nx = 1 # yes", &["# yes"]),
            (
                "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\nx = 1",
                &["#!/usr/bin/env python3", "# -*- coding: utf-8 -*-"],
            ),
            ("x = f\"{a:{'#'}>10}\" # yes", &["# yes"]),
            ("x = {'a': 1} # {yes}", &["# {yes}"]),
        ],
    );
}

#[test]
fn r() {
    check(
        "a.R",
        &[
            ("x <- r\"(a \" # no)\" # yes", &["# yes"]),
            ("x <- r\"---(# no)--\" )---\" # yes", &["# yes"]),
            ("x <- \"a \\\" # no\" # yes", &["# yes"]),
            ("`a # b` <- 1 # yes", &["# yes"]),
            ("x <- a %in% b # yes", &["# yes"]),
            ("x <- a %#% b # yes", &["# yes"]),
            ("#' Doc\nf <- function() '# no' # yes", &["#' Doc", "# yes"]),
            ("x <- 10 %% 3 # yes", &["# yes"]),
        ],
    );
}

#[test]
fn elixir() {
    check(
        "a.ex",
        &[
            ("x = \"#{f(\"# no\")} # no\" # yes", &["# yes"]),
            ("@doc \"\"\"\n# no\n\"\"\"\n# yes", &["# yes"]),
            ("x = ~r/# no/ # yes", &["# yes"]),
            ("x = ?# # yes", &["# yes"]),
            ("x = ~S(# no #{) # yes", &["# yes"]),
            ("x = ~s\"\"\"\n# no\n\"\"\" # yes", &["# yes"]),
            ("x = ~w[# no]a # yes", &["# yes"]),
            ("x = valid?(y) # yes", &["# yes"]),
            ("x = '# no' # yes", &["# yes"]),
        ],
    );
}

#[test]
fn julia_nim_nix() {
    check(
        "a.jl",
        &[
            ("x = a' # yes '", &["# yes '"]),
            ("#= a #= b =# c =# x = 1", &["#= a #= b =# c =#"]),
            ("x = '#' # yes", &["# yes"]),
            ("s = \"$(f(\"# no\")) # no\" # yes", &["# yes"]),
            ("\"\"\"\n# no\n\"\"\"\nf(x) = x # yes", &["# yes"]),
            ("c = `echo # no` # yes", &["# yes"]),
            ("x = a[1]' * b.' # yes", &["# yes"]),
        ],
    );
    check(
        "a.nim",
        &[
            ("#[ a #[ b ]# c ]# let x = 1", &["#[ a #[ b ]# c ]#"]),
            ("let s = \"\"\"\n# no\n\"\"\" # yes", &["# yes"]),
            ("let c = '#' # yes", &["# yes"]),
            ("let s = r\"\\\" # yes", &["# yes"]),
            ("let n = 1'i8 # it's", &["# it's"]),
            ("let s = \"\\\" # no\" ## doc", &["## doc"]),
        ],
    );
    check(
        "a.nix",
        &[
            ("{ a = ''\n  # no\n  '' ; } # yes", &["# yes"]),
            ("{ a = ''it'''s # no ''${x} ''; } # yes", &["# yes"]),
            ("{ a = \"${f \"# no\"} # no\"; } # yes", &["# yes"]),
            ("/* a */ { u = https://x/y; } # yes", &["/* a */", "# yes"]),
            ("{ a = \"\\\" # no\"; } # yes", &["# yes"]),
            ("{ a = b' # yes\n; }", &["# yes"]),
        ],
    );
}

#[test]
fn powershell() {
    check(
        "a.ps1",
        &[
            (
                "<# block\n# x #>\n$a = 1 # yes",
                &["<# block\n# x #>", "# yes"],
            ),
            ("$s = @\"\n# no \"q\"\n\"@\n# yes", &["# yes"]),
            ("$s = @'\n# no\n'@ # yes", &["# yes"]),
            ("$s = \"a `\" # no\" # yes", &["# yes"]),
            ("$s = \"$(f \"# no\") # no\" # yes", &["# yes"]),
            ("$s = 'it''s # no' # yes", &["# yes"]),
            ("$s = \"a \"\"# no\"\" \" # yes", &["# yes"]),
            ("echo a#b c`#d # yes", &["# yes"]),
        ],
    );
}

#[test]
fn toml_graphql_cmake() {
    check(
        "a.toml",
        &[
            ("a = \"# no\" # yes", &["# yes"]),
            ("a = '\\' # yes", &["# yes"]),
            ("a = \"\"\"\n# no\n\"\"\" # yes", &["# yes"]),
            ("a = '''\n# no \\''' # yes", &["# yes"]),
            ("a = \"\"\"x\"\"\"\" # yes", &["# yes"]),
            ("a = \"\\\" # no\"\n[b] # yes", &["# yes"]),
        ],
    );
    check(
        "a.graphql",
        &[
            (
                "\"\"\"\ndoc # x\n\"\"\"\ntype A # yes",
                &["\"\"\"\ndoc # x\n\"\"\"", "# yes"],
            ),
            ("\"doc # no\" type A { b: C } # yes", &["# yes"]),
            ("query { a(b: \"#\") } # yes", &["# yes"]),
            ("query { a(b: \"\\\"#\") } # yes", &["# yes"]),
            ("type A { # yes\n}", &["# yes"]),
            ("#import \"x\"\nquery", &["#import \"x\""]),
        ],
    );
    check(
        "CMakeLists.txt",
        &[
            ("set(A \"# no\") # yes", &["# yes"]),
            ("#[[ block\n ]] set(B) # yes", &["#[[ block\n ]]", "# yes"]),
            ("#[==[ a ]] b ]==] x", &["#[==[ a ]] b ]==]"]),
            ("set(A [=[ # no ]=]) # yes", &["# yes"]),
            ("set(A \\# b) # yes", &["# yes"]),
            ("set(A \"a\n# no\\\"\") # yes", &["# yes"]),
        ],
    );
}

#[test]
fn lua() {
    check(
        "a.lua",
        &[
            ("x = [==[ -- no ]] ]==] -- yes", &["-- yes"]),
            ("--[[ a\nb ]] x = 1 -- yes", &["--[[ a\nb ]]", "-- yes"]),
            ("--[=[ a ]] b ]=] x", &["--[=[ a ]] b ]=]"]),
            ("x = \"\\\" -- no\" -- yes", &["-- yes"]),
            ("x = a[b[1]] -- yes", &["-- yes"]),
            (
                "---@param x number\nlocal s = '-- no' -- yes",
                &["---@param x number", "-- yes"],
            ),
            ("--[ a line\nx = 1", &["--[ a line"]),
        ],
    );
}

#[test]
fn sql() {
    check(
        "a.sql",
        &[
            ("SELECT 'it''s -- no' -- yes", &["-- yes"]),
            (
                "SELECT $$ -- no $$, $t$ /* no $$ */ $t$; -- yes",
                &["-- yes"],
            ),
            ("SELECT \"a--b\", `c--d`, [e]; -- yes", &["-- yes"]),
            ("SELECT 'it\\'s -- no' -- yes", &["-- yes"]),
            ("SELECT 'C:\\', 1 -- yes", &["-- yes"]),
            ("/* a\nb */ SELECT 1; # no\n# yes", &["/* a\nb */", "# yes"]),
            ("SELECT E'\\'-- no' -- yes", &["-- yes"]),
            ("SELECT a #> '{b}', $1 -- yes", &["-- yes"]),
            ("SELECT [a--b], x[1] -- yes", &["-- yes"]),
            ("SELECT ARRAY[1, -- yes\n2]", &["-- yes"]),
            ("-- don't\nSELECT 1", &["-- don't"]),
        ],
    );
}

#[test]
fn javascript() {
    check(
        "a.js",
        &[
            ("const y = x / 2; '/'; // half /", &["// half /"]),
            ("const y = (a + b) / 2; // the mean /", &["// the mean /"]),
            ("const r = /[/\"]\\/\\/'/g; // yes", &["// yes"]),
            (
                "const s = `a ${b + `// no ${c /* in */}`} // no`; // yes",
                &["/* in */", "// yes"],
            ),
            ("x = a++ / b; y = \"/ // no\"; // yes", &["// yes"]),
            ("if (x) /\"/.test(y); // yes", &["// yes"]),
            ("return /'/; // yes", &["// yes"]),
            ("const s = 'open\nf(); // yes", &["// yes"]),
            ("const π = \"é//ü🎉\"; // é", &["// é"]),
            ("x = {a: 1} / 2; // yes", &["// yes"]),
            ("`unclosed ${ '`' // yes\n", &["// yes"]),
            ("a.return / b; '/' // yes", &["// yes"]),
            (
                "f(/* one */ /x/, /* two */ 1 / 2)",
                &["/* one */", "/* two */"],
            ),
            ("const s = \"a \\\n// no\"; // yes", &["// yes"]),
            ("x = a /* b */ / c; '/'; // yes", &["/* b */", "// yes"]),
            ("xs.map(x => /\\/\\*/.test(x)) // yes", &["// yes"]),
            ("if (a < b) { c } // yes", &["// yes"]),
        ],
    );
}

#[test]
fn elements_in_scripts() {
    check(
        "a.tsx",
        &[
            (
                "export const A = () => <p>see http://x.y // not, it's text /* nor this */</p>;",
                &[],
            ),
            (
                "const a = <p>{/* yes */}it's</p>; // and",
                &["/* yes */", "// and"],
            ),
            (
                "return <a href=\"http://x\" b={c /* yes */}>'</a>; // and",
                &["/* yes */", "// and"],
            ),
            ("const f = <T,>(x: T) => x; // it's", &["// it's"]),
            ("const f = <T extends U>(x: T) => x; // yes", &["// yes"]),
            (
                "return <>\n  // no\n  <b/>\n  // no\n</>; // yes",
                &["// yes"],
            ),
            ("const x = a < b && c > d; // yes", &["// yes"]),
            (
                "const a = <L<string> b='//no' // yes\n c />; // and",
                &["// yes", "// and"],
            ),
            (
                "x ? <b>// no</b> : <i>{y ? <u>// no</u> : z /* yes */}</i> // and",
                &["/* yes */", "// and"],
            ),
            ("type F = <T>(x: T) => void; // yes", &["// yes"]),
            ("const m = new Map<string, number>(); // yes", &["// yes"]),
            ("const a = <p>{`// no`} {'// no'} // no</p>", &[]),
        ],
    );
    check(
        "a.jsx",
        &[("<div>\n  {/* a */}\n  // no\n</div>", &["/* a */"])],
    );
}

#[test]
fn typescript() {
    check(
        "a.ts",
        &[
            ("const x = <any>y; // yes", &["// yes"]),
            ("const f = <T>(x: T): x is T => true; // yes", &["// yes"]),
            ("const v = a! / b; // yes '", &["// yes '"]),
            ("type T = `a/${string}//no`; // yes", &["// yes"]),
            (
                "const m: Map<string, Array<number>> = z; /** doc */",
                &["/** doc */"],
            ),
            (
                "/// <reference types=\"x\" />\nlet a = b as c; // d",
                &["/// <reference types=\"x\" />", "// d"],
            ),
        ],
    );
}

#[test]
fn php() {
    check(
        "a.php",
        &[
            ("<?php\n// set x to one\n$x = 1;\n", &["// set x to one"]),
            (
                "<p>// no # no</p><?php // yes ?><p>// no</p><!-- html -->",
                &["// yes ", "<!-- html -->"],
            ),
            ("<?php\n$s = <<<EOT\n// no\n  EOT; // yes", &["// yes"]),
            ("<?php\n$s = <<<'X'\n# no\nX;\n# yes", &["# yes"]),
            ("<?php #[Attr('x')]\n$s = 'it\\'s # no'; # yes", &["# yes"]),
            (
                "<?php $s = \"{$a[\"// no\"]} // no\"; /* yes */",
                &["/* yes */"],
            ),
            (
                "<script>// js\n</script><?= $x // php\n?> # no",
                &["// js", "// php"],
            ),
            ("// a fragment\n$x = 'http://y';", &["// a fragment"]),
            ("@if (x)\n<p>it's # no</p>\n@endif // no", &[]),
            ("<?php\n/** doc */\nfunction f() {}", &["/** doc */"]),
        ],
    );
}

#[test]
fn ruby() {
    check(
        "a.rb",
        &[
            ("x = \"#{y} # no\" # yes", &["# yes"]),
            ("x = %q(a (# no) b) # yes", &["# yes"]),
            ("x = %w[# no] # yes", &["# yes"]),
            ("x = y =~ /#\"/ # yes", &["# yes"]),
            ("s = <<~EOS\n  # no\n  #{x}\nEOS\n# yes", &["# yes"]),
            (
                "=begin\nblock # x\n=end\ny # yes",
                &["=begin\nblock # x\n=end", "# yes"],
            ),
            ("x = ?# # yes", &["# yes"]),
            ("# yes\n__END__\n# no", &["# yes"]),
            (
                "f(<<-A, <<-B) # yes\n  # no\n  A\n# no\n  B\n# and",
                &["# yes", "# and"],
            ),
            ("x = a / b # c / d", &["# c / d"]),
            ("puts /# no/ # yes", &["# yes"]),
            ("x = %r{/#no} # yes", &["# yes"]),
            ("x = \"#{h[\"# no\"]}\" # yes", &["# yes"]),
            ("a << B # yes\n# and", &["# yes", "# and"]),
            ("x = y % 3 # yes", &["# yes"]),
            ("x = `echo # no` # yes", &["# yes"]),
            ("x ? 'a' : 'b' # yes", &["# yes"]),
            ("class << self # yes\nend", &["# yes"]),
        ],
    );
}

#[test]
fn bourne() {
    check(
        "a.sh",
        &[
            (
                "set -e\n# build the project\nmake build\n",
                &["# build the project"],
            ),
            ("echo $# ${#x} ${x#y} ${x# y} a#b # yes", &["# yes"]),
            ("cat <<EOF # yes\n# no\nEOF\n# and", &["# yes", "# and"]),
            ("cat <<-'EOF'\n\t# no $(\n\tEOF\n# yes", &["# yes"]),
            (
                "x=\"$(f \"a # no\" # yes\n) # no\" # and",
                &["# yes", "# and"],
            ),
            ("echo 'it # no' \"# no\" \\# no # yes", &["# yes"]),
            ("echo $'it\\'s # no' # yes", &["# yes"]),
            ("x=$((1 << 2)) # yes\ny=1 # and", &["# yes", "# and"]),
            ("((x <<= 1)) # yes\n# and", &["# yes", "# and"]),
            ("cat <<< \"# no\" # yes", &["# yes"]),
            ("cat <<A <<B\n# no\nA\n# no\nB\n# yes", &["# yes"]),
            (
                "x=$(case $y in a) b;; # one\nesac) # two",
                &["# one", "# two"],
            ),
            ("x=`f # yes` # and", &["# yes", "# and"]),
            ("echo \"${x:-\"# no\"}\" # yes", &["# yes"]),
            ("echo \"${x:-it's}\" # yes", &["# yes"]),
            ("f() { :; } # yes\n(cd a;# and\n)", &["# yes", "# and"]),
            ("echo \"multi\n# no\n\" # yes", &["# yes"]),
            ("#!/bin/sh\r\n# a\r\nb\r\n", &["#!/bin/sh", "# a"]),
            ("echo a \\\n  # yes\n", &["# yes"]),
            ("echo $(( 16#ff + $# )) # yes", &["# yes"]),
        ],
    );
    check(
        "a.zsh",
        &[
            ("ls *(#qN) (#i)x # yes", &["# yes"]),
            ("x=${(s:#:)y} # yes", &["# yes"]),
        ],
    );
}

#[test]
fn fish() {
    check(
        "a.fish",
        &[
            ("echo 'it\\'s # no' # yes", &["# yes"]),
            ("set x (f a#b) # yes", &["# yes"]),
            ("echo \"# no $x\" # yes", &["# yes"]),
            ("echo \\# no # yes", &["# yes"]),
            ("echo \"$(f \"# no\")\" # yes", &["# yes"]),
            ("echo $((f) # yes\n)", &["# yes"]),
            ("if true # yes\nend", &["# yes"]),
        ],
    );
}

#[test]
fn yaml() {
    check(
        "a.yml",
        &[
            ("a: b # yes\n# and\n", &["# yes", "# and"]),
            ("a: http://x/#b\nc: d#e\n", &[]),
            ("run: |\n  # no\n  x\n\n  # no\n# yes\nb: c", &["# yes"]),
            ("- run: >-\n    # no\n  # yes\n- a", &["# yes"]),
            (
                "a: \"# no\" # yes\nb: 'it''s # no' # and",
                &["# yes", "# and"],
            ),
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
            ("\"a\": |\n\"b\": c # yes", &["# yes"]),
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
    check(
        "a.properties",
        &[
            ("! a\n# b\nc = d # no\n", &["! a", "# b"]),
            ("a.b=c!d", &[]),
        ],
    );
    check(
        ".env",
        &[
            ("A=b#c # yes\nD=\"e # no\" # and\n", &["# yes", "# and"]),
            ("# a\nB='# no'\nC=x@#y\n", &["# a"]),
        ],
    );
    check(
        ".gitconfig",
        &[("[a]\n\tb = c # yes\n; and", &["# yes", "; and"])],
    );
    check(
        "a.conf",
        &[
            ("listen 80; # yes\nx \"# no\" a#b;\n", &["# yes"]),
            ("# a\nb '#';# c", &["# a", "# c"]),
        ],
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
            (
                "# syntax=docker/dockerfile:1\nFROM a",
                &["# syntax=docker/dockerfile:1"],
            ),
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
