//! Languages with `#` or `--`, and functional ones.

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
            ("<# block\n# x #>\n$a = 1 # yes", &["<# block\n# x #>", "# yes"]),
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
            ("\"\"\"\ndoc # x\n\"\"\"\ntype A # yes", &["\"\"\"\ndoc # x\n\"\"\"", "# yes"]),
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
            ("---@param x number\nlocal s = '-- no' -- yes", &["---@param x number", "-- yes"]),
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
            ("SELECT $$ -- no $$, $t$ /* no $$ */ $t$; -- yes", &["-- yes"]),
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
fn haskell() {
    check(
        "A.hs",
        &[
            ("-- add one\ninc x = x + 1\n", &["-- add one"]),
            ("f = a --> b -- yes", &["-- yes"]),
            ("x = a |-- b\ny = 1 -- yes", &["-- yes"]),
            ("{- a {- b -} c -} x = 1", &["{- a {- b -} c -}"]),
            ("x' = f' '\"' -- yes", &["-- yes"]),
            ("s = \"-- no \\\" {- no -}\" -- yes", &["-- yes"]),
            ("{-# LANGUAGE X #-}\nx = 1 -- | doc", &["{-# LANGUAGE X #-}", "-- | doc"]),
            ("------ ruler\nx = [sql| -- no |] -- yes", &["------ ruler", "-- yes"]),
            ("c = '\\'' -- yes", &["-- yes"]),
        ],
    );
}

#[test]
fn ocaml() {
    check(
        "a.ml",
        &[
            ("(* a (* b *) c *) let x = 1", &["(* a (* b *) c *)"]),
            ("(* \"*)\" *) let x = 1", &["(* \"*)\" *)"]),
            ("let f (x : 'a) = \"(* no *)\" (* yes *)", &["(* yes *)"]),
            ("let c = '\"' (* yes *)", &["(* yes *)"]),
            ("let s = {x|(* no |} *)|x} (* yes *)", &["(* yes *)"]),
            ("let x' = y' (* it's *)", &["(* it's *)"]),
            ("(** doc *) let c = '(' (* '\"' *)", &["(** doc *)", "(* '\"' *)"]),
        ],
    );
}

#[test]
fn f_sharp() {
    check(
        "a.fs",
        &[
            ("let x = 1 // yes", &["// yes"]),
            ("(* a (* b *) c *) let x = 1", &["(* a (* b *) c *)"]),
            ("let mul = (*) // yes", &["// yes"]),
            ("let s = \"\"\"// no \" \"\"\" // yes", &["// yes"]),
            ("let s = @\"C:\\\" // yes", &["// yes"]),
            ("let s = $\"{f \"// no\"}\" // yes", &["// yes"]),
            ("let f (x: 'a) = '\"' // yes", &["// yes"]),
        ],
    );
}

#[test]
fn erlang() {
    check(
        "a.erl",
        &[
            ("f() -> \"% no\". % yes", &["% yes"]),
            ("f() -> $%. % yes", &["% yes"]),
            ("f() -> '% no'. %% yes", &["%% yes"]),
            ("f() -> $\". % yes", &["% yes"]),
            ("f() -> $\\%, \"\\\"% no\". % yes", &["% yes"]),
            ("-define(X, \"a\n% no\"). % yes", &["% yes"]),
        ],
    );
}

#[test]
fn lisps() {
    check(
        "a.clj",
        &[
            ("(def s \"; no\") ; yes", &["; yes"]),
            ("(def c \\;) ; yes", &["; yes"]),
            ("(re-find #\"\\\";\" s) ;; yes", &[";; yes"]),
            ("#_(no) x ; yes", &["; yes"]),
            ("(def q \\\") ; yes", &["; yes"]),
            ("'(a b) ; it's", &["; it's"]),
        ],
    );
    check(
        "a.lisp",
        &[
            ("(f #\\;) ; yes", &["; yes"]),
            ("#| a #| b |# c |# x ; yes", &["#| a #| b |# c |#", "; yes"]),
            ("(f \"\\\"; no\") ; yes", &["; yes"]),
            ("(f '|a;b|) ; yes", &["; yes"]),
            ("(f 'a) ;;; yes", &[";;; yes"]),
            ("(f #\\\") ; yes", &["; yes"]),
        ],
    );
    check("a.el", &[("(f ?\\; ?\" 'b) ; yes", &["; yes"])]);
}
