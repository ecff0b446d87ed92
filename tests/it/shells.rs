//! Real shells run exactly the commands that the permission parser saw.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

mod law;

/// The shells of this machine.
fn shells() -> Vec<&'static str> {
    let (found, missing): (Vec<_>, Vec<_>) = law::SHELLS
        .into_iter()
        .partition(|name| law::which(name).is_file());
    if !missing.is_empty() {
        assert!(
            std::env::var_os("FP_REQUIRE_SHELLS").is_none(),
            "not installed: {missing:?}"
        );
        println!("skipped: not installed: {missing:?}");
    }
    found
}

#[test]
fn lines_with_a_trap() {
    let shells = shells();
    let check = |line: &str| assert!(law::permitted(line, &shells), "{line:?}");
    check("fp next p --ended=builder-1");
    check("\tfp status p && fp next p ");
    check("fp note p add 'a\nb' \"c\nd\"");
    check("fp note p add 'a'\"b\"c ''\"\"");
    check("fp note p add '$(x) `y` !! \\ # * ~ {a,b} \u{1}' \"' # ; | & < > ( ) * ~ {a,b}\"");
    check("fp note p add 'é한\u{a0}\u{85}' \"\u{2028}\"");
    check("fp note p add % @ + , : / . -- - +x @a %1 %% ,, a=b a:b a/=b");
    check("fp note p add a,b /a/../b -- -a=b");
    check("fp note p add 'don'\\''t; `touch q`' a\\'b \\''; touch q'");
    check("fp note \\\n  p add \\\n\t'a' b\\\nc");
}

/// A call with words of all kinds, including some that must never reach a shell.
fn any_line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z0-9./:,+@%=_-]{1,6}",
        2 => "'[^']{0,8}'",
        2 => "\"[^\"$`\\\\!]{0,8}\"",
        1 => "[ -~]{1,3}",
        1 => "\\PC{1,3}",
        1 => "[\\t\\r\\n\u{b}\u{c}\u{0}-\u{1f}]",
        1 => Just("&& fp status".to_owned()),
        1 => prop_oneof![Just("\\'"), Just("\\\n")].prop_map(str::to_owned),
    ];
    let glue = prop_oneof![6 => Just(" "), 2 => Just(""), 1 => Just("\t")];
    let words = prop::collection::vec((glue, word), 0..6);
    words.prop_map(|words| {
        words
            .into_iter()
            .fold("fp status".to_owned(), |line, (glue, word)| {
                line + glue + &word
            })
    })
}

#[test]
fn a_permitted_line_runs_this_program_alone() {
    let shells = shells();
    let (mut permitted, mut runner) = (0, proptest::test_runner::TestRunner::deterministic());
    for _ in 0..1500 {
        let line = any_line().new_tree(&mut runner).unwrap().current();
        permitted += u32::from(law::permitted(&line, &shells));
    }
    assert!(permitted > 100, "only {permitted} lines were permitted");
}
