use super::*;

#[test]
fn a_text_acts_on_nothing() {
    let check = |text: &str, expect: &str| assert_eq!(plain(text, CELL), expect);
    check("Fixes #12 and GH-3", "Fixes #<!-- -->12 and GH-<!-- -->3");
    check("ask @ana, not a@ b", "ask @<!-- -->ana, not a@ b");
    check(
        "closes https://github.com/a/b/issues/1",
        "closes https:<!-- -->//github.com/a/b/issues/1",
    );
    check("`@ana #1` stays", "`@ana #1` stays");
    check("a\n# b", "a # b");
    check("<img src=x>", "\\<img src=x>");
}
