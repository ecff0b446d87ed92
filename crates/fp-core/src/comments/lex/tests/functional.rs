//! Haskell, OCaml, F#, Erlang and the Lisps.

use super::check;

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
