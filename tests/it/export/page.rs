//! The page, used in Chromium as a reader uses it: with the mouse, and with the keyboard alone.

use crate::export::chromium::{Tab, there_is_one};
use crate::export::sample::{self, HOSTILE};

/// The id of the row that has the focus.
const FOCUSED: &str = "document.activeElement.querySelector('.id')?.textContent ?? document.activeElement.id";
/// The title of the details.
const DETAIL: &str = "document.querySelector('#detail-title').textContent";

/// The page of a tree in a tab; `None` where there is no browser.
fn opened(tree: &str) -> Option<Tab> {
    there_is_one().then(|| open(&sample::show(tree, "html")))
}

fn open(page: &str) -> Tab {
    let mut tab = Tab::new(1440, 900);
    tab.open(page);
    tab
}

/// Nothing went wrong, and nothing left the page.
fn assert_quiet(tab: &mut Tab) {
    assert_eq!(tab.complaints(), Vec::<String>::new());
    assert_eq!(tab.requests(), 1, "the page itself is the only thing that is asked for");
}

#[test]
fn the_tree_is_read_with_the_keyboard() {
    let Some(mut tab) = opened(&sample::small()) else { return };
    // The skip link is the first stop, and leads to the tree.
    tab.press("Tab");
    assert_eq!(tab.text("document.activeElement.className"), "skip");
    assert!(tab.eval("document.activeElement.getBoundingClientRect().left >= 0").as_bool().unwrap());
    tab.eval("document.querySelector('#tree li').focus()");
    let mut press = |keys: &[&str], expect: &str| {
        keys.iter().for_each(|key| tab.press(key));
        assert_eq!(tab.text(FOCUSED), expect, "after {keys:?}");
    };
    press(&["ArrowDown", "ArrowDown"], "1.1");
    press(&["ArrowUp"], "1");
    press(&["ArrowLeft", "ArrowDown"], "2");
    press(&["ArrowUp", "ArrowRight", "ArrowRight"], "1.1");
    press(&["ArrowLeft"], "1");
    press(&["End"], "2.6");
    press(&["Home"], "root");
    press(&["2"], "2");
    press(&["/"], "search");
    press(&["Escape"], "2");
    press(&["ArrowDown", "Enter"], "2.1");
    assert_eq!(tab.text(DETAIL), "Write part 1 of The pages");
    assert_eq!(tab.text("document.querySelector('[aria-selected=true] .id').textContent"), "2.1");
    tab.press("Escape");
    assert_eq!(tab.text(DETAIL), "No task selected");
    let tabbable = tab.eval("document.querySelectorAll('#tree [tabindex=\"0\"]').length");
    assert_eq!(tabbable, 1, "one stop for the whole tree");
    assert_quiet(&mut tab);
}

#[test]
fn hostile_titles_are_text() {
    let Some(mut tab) = opened(&sample::hostile()) else { return };
    assert!(tab.eval("window.pwned === undefined").as_bool().unwrap(), "a title was run");
    assert_eq!(tab.eval("document.querySelectorAll('img, iframe, a:not(.skip)').length"), 0);
    assert_eq!(tab.eval("document.querySelectorAll('script').length"), 2);
    for (number, title) in HOSTILE.iter().enumerate() {
        let normal = |text: &str| text.split_whitespace().collect::<String>().replace('`', "");
        let title = normal(title);
        tab.click(&format!("#r{}", number + 1));
        for part in [
            DETAIL,
            "document.querySelector('#detail ol li').textContent",
            "document.querySelector('[aria-selected=true] .title').textContent",
            "document.querySelector('.node.picked .title').textContent",
        ] {
            assert_eq!(normal(&tab.text(part)), title, "{part}");
        }
    }
    assert!(tab.eval("window.pwned === undefined").as_bool().unwrap(), "a title was run");
    let direction = "getComputedStyle(document.querySelector('#r13 .title')).direction";
    assert_eq!(tab.text(direction), "rtl", "Hebrew reads from the right");
    assert_quiet(&mut tab);
}
