//! The page, used in Chromium as a reader uses it: with the mouse, and with the keyboard alone.

use serde_json::Value;

use crate::export::chromium::{Tab, there_is_one};
use crate::export::sample::{self, HOSTILE};

/// The ids of the tasks whose rows are in the tree.
const SHOWN: &str = "[...document.querySelectorAll('#tree li:not([hidden]) .id')].map(e => e.textContent).join(' ')";
/// The id of the focused row.
const FOCUSED: &str =
    "document.activeElement.querySelector('.id')?.textContent ?? document.activeElement.id";
/// The title of the details pane.
const DETAIL: &str = "document.querySelector('#detail-title').textContent";

/// A tab with the page of `tree`; `None` if there is no browser.
fn opened(tree: &str) -> Option<Tab> {
    there_is_one().then(|| open(&sample::show(tree, "html")))
}

fn open(page: &str) -> Tab {
    let mut tab = Tab::new(1440, 900);
    tab.open(page);
    tab
}

/// Asserts that there were no errors, and no requests except for the page itself.
fn assert_quiet(tab: &mut Tab) {
    assert_eq!(tab.complaints(), Vec::<String>::new());
    assert_eq!(
        tab.requests(),
        1,
        "the page itself is the only thing that is asked for"
    );
}

#[test]
fn the_tree_is_read_with_the_keyboard() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    // The skip link is the first stop, and leads to the tree.
    tab.press("Tab");
    assert_eq!(tab.text("document.activeElement.className"), "skip");
    assert!(
        tab.eval("document.activeElement.getBoundingClientRect().left >= 0")
            .as_bool()
            .unwrap()
    );
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
    assert_eq!(
        tab.text("document.querySelector('[aria-selected=true] .id').textContent"),
        "2.1"
    );
    tab.press("Escape");
    assert_eq!(tab.text(DETAIL), "No task selected");
    let tabbable = tab.eval("document.querySelectorAll('#tree [tabindex=\"0\"]').length");
    assert_eq!(tabbable, 1, "one stop for the whole tree");
    assert_quiet(&mut tab);
}

#[test]
fn a_task_is_selected_from_the_start() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    assert_eq!(
        tab.text(DETAIL),
        "Write part 1 of The store",
        "the first of the critical path"
    );
    let mut tab = open(&sample::show_run("html"));
    assert_eq!(tab.text(DETAIL), "Write part 2", "the one that failed");
    let faded = "[...document.querySelectorAll('.node, #canvas path')].filter(e => getComputedStyle(e).opacity < 1).length";
    assert_eq!(tab.eval(faded), 0, "nothing is faint from the start");
    assert_eq!(
        tab.text("[...document.querySelectorAll('.phase')].map(e => e.textContent).join(', ')"),
        "running, 1 failed"
    );
    let legend = tab.text("document.querySelector('#graph-note').textContent");
    assert!(legend.ends_with("critical path"), "{legend}");
    assert_eq!(tab.eval("scrollY"), 0);
    assert_quiet(&mut tab);
    // Where the details would cover the page, they only appear on request.
    tab.size(400, 800);
    let shown = sample::show_run("html");
    tab.open(&shown);
    assert_eq!(tab.text(DETAIL), "No task selected");
}

/// A flat tree of two hundred tasks.
fn large() -> String {
    let mut tree = String::from("- [ID: root] Serve the accounts (Complexity: 8)\n");
    for id in 1..=200 {
        let after = if id > 4 {
            (id - 4).to_string()
        } else {
            "none".to_owned()
        };
        tree += &format!(
            "- [ID: {id}] Write part {id} (Complexity: 2)\n  - Acceptance:\n    - It works\n  - Dependencies: {after}\n  - Files: src/{id}.rs\n"
        );
    }
    tree
}

#[test]
fn two_hundred_tasks_fit() {
    let Some(mut tab) = opened(&large()) else {
        return;
    };
    for (width, height) in [(1440, 900), (1000, 800), (400, 800)] {
        tab.size(width, height);
        let below = tab.eval(
            "document.scrollingElement.scrollHeight - Math.max(innerHeight, scrollY + document.querySelector('footer').getBoundingClientRect().bottom)",
        );
        assert!(
            below.as_f64() < Some(30.0),
            "{width}: {below} px of nothing"
        );
    }
    tab.size(1440, 900);
    tab.click("#zoom-fit");
    let over = tab.eval(
        "(() => { const g = document.querySelector('#graph'); const r = g.getBoundingClientRect(); \
         const all = [...document.querySelectorAll('.node')].map(e => e.getBoundingClientRect()); \
         return [all.length, all.filter(n => n.right > r.right + 1 || n.bottom > r.bottom + 1).length, Math.min(...all.map(n => n.height))]; })()",
    );
    assert_eq!((&over[0], &over[1]), (&200.into(), &0.into()), "{over}");
    assert!(
        over[2].as_f64() > Some(8.0),
        "the boxes are too low to point at: {over}"
    );
    assert_quiet(&mut tab);
}

#[test]
fn rows_say_where_they_are() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    let told = tab.text(
        "[...document.querySelectorAll('#tree li')].slice(0, 4).map(e => ['role', 'aria-level', 'aria-posinset', 'aria-setsize', 'aria-expanded'].map(n => e.getAttribute(n)).join(' ')).join('; ')",
    );
    assert_eq!(
        told,
        "treeitem 1 1 1 true; treeitem 2 1 2 true; treeitem 3 1 6 ; treeitem 3 2 6 "
    );
    tab.click("#fold");
    assert_eq!(tab.text(SHOWN), "root 1 2");
    tab.click("#r1 .mark");
    assert_eq!(tab.text(SHOWN), "root 1 1.1 1.2 1.3 1.4 1.5 1.6 2");
    assert_eq!(
        tab.text("document.querySelector('#fold').textContent"),
        "Expand all"
    );
    tab.click("#r8 .mark");
    assert_eq!(
        tab.text("document.querySelector('#fold').textContent"),
        "Collapse all"
    );
    assert_quiet(&mut tab);
}

#[test]
fn states_and_words_filter() {
    if !there_is_one() {
        return;
    }
    let mut tab = open(&sample::show_run("html"));
    assert_eq!(tab.text(SHOWN), "root 1 2 3 4 5 6 7");
    let chips =
        tab.text("[...document.querySelectorAll('.chip')].map(e => e.dataset.state).join(' ')");
    assert_eq!(
        chips,
        "done verifying building ready waiting skipped failed"
    );
    tab.click(".chip.failed");
    assert_eq!(tab.text(SHOWN), "root 2");
    assert_eq!(
        tab.text("document.querySelector('#found').textContent"),
        "1 of 7 tasks"
    );
    assert_eq!(
        tab.eval("document.querySelectorAll('.node.faded').length"),
        6
    );
    tab.click(".chip.skipped");
    assert_eq!(tab.text(SHOWN), "root 2 3");
    // Selecting a filtered-out task in the graph still leaves the tree reachable by keyboard.
    tab.click("[data-task='1']");
    assert_eq!(tab.text(DETAIL), "Write part 1");
    assert_eq!(
        tab.eval("document.querySelector('#tree [tabindex=\"0\"]').hidden"),
        false
    );
    tab.press("Escape");
    assert_eq!(tab.text(SHOWN), "root 1 2 3 4 5 6 7");
    tab.press("/");
    "part 6".chars().for_each(|c| tab.press(&c.to_string()));
    assert_eq!(tab.text(SHOWN), "root 6");
    tab.press("Enter");
    assert_eq!(tab.text(FOCUSED), "6");
    assert_eq!(tab.text(DETAIL), "Write part 6");
    assert_quiet(&mut tab);
}

#[test]
fn details_say_why_a_task_starts_when_it_does() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    let mut why = |builders: u32, row: &str| {
        tab.click(&format!("[name=builders][value='{builders}']"));
        tab.click(&format!("#{row}"));
        tab.text("document.querySelector('.why').textContent")
    };
    assert_eq!(why(4, "r2"), "It waits for nothing: it can start at once.");
    assert_eq!(why(4, "r3"), "It waits for 1.1, done at minute 8.");
    assert_eq!(why(4, "r14"), "It waits for 1.6, done at minute 67.");
    // 2.1 frees four tasks at once, and the first builder takes the longest.
    assert_eq!(why(2, "r10"), "Every builder is busy until minute 20.");
    assert_eq!(why(2, "r11"), "It waits for 2.1, done at minute 17.");
    let all = tab.text("document.querySelector('#detail').textContent");
    for told in [
        "2.3",
        "From minute 17",
        "src/2/3.rs",
        "It is tested",
        "Keep it short",
        "Do NOT modify files outside",
        "cargo test",
        "2.1 Write part 1",
    ] {
        assert!(all.contains(told), "{told} is not in {all}");
    }
    assert_quiet(&mut tab);
}

#[test]
fn the_columns_follow_the_builders() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    let columns = |tab: &mut Tab| {
        tab.text(
            "[...document.querySelectorAll('.column h3')].map(e => e.firstChild.textContent.replace('From minute ', '')).join(' ')",
        )
    };
    assert_eq!(columns(&mut tab), "At once 8 17 20 25 41 47 55 67");
    tab.eval("document.querySelector('[name=builders]:checked').focus()");
    tab.press("ArrowLeft");
    assert_eq!(
        tab.text("document.querySelector('[name=builders]:checked').value"),
        "2"
    );
    assert_eq!(columns(&mut tab), "At once 8 17 20 32 40 48 54 62 74");
    tab.press("ArrowLeft");
    assert_eq!(
        columns(&mut tab),
        "At once 8 20 28 43 59 64 76 84 92 104 109"
    );
    let right = "[...document.querySelectorAll('.node')].every(e => e.offsetLeft >= 0)";
    assert!(tab.eval(right).as_bool().unwrap());
    assert_quiet(&mut tab);
}

#[test]
fn a_task_shows_what_it_waits_for_and_what_waits_for_it() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    let related = "[...document.querySelectorAll('.node.related')].map(e => e.querySelector('.id').textContent).sort().join(' ')";
    tab.click("[data-task='9']");
    assert_eq!(tab.text(DETAIL), "Write part 1 of The pages");
    assert_eq!(tab.text(related), "1.1 2.1 2.2 2.3 2.4 2.5");
    // Waiting for a parent means waiting for all of its leaves.
    tab.click("[data-task='7']");
    assert_eq!(tab.text(related), "1.1 1.2 1.3 1.4 1.5 1.6 2.6");
    for (key, expect) in [
        ("ArrowRight", "2.6"),
        ("ArrowLeft", "1.6"),
        ("Home", "1.1"),
        ("ArrowRight", "1.2"),
        ("ArrowDown", "2.1"),
    ] {
        tab.press(key);
        assert_eq!(tab.text(FOCUSED), expect, "after {key}");
    }
    assert_quiet(&mut tab);
}

#[test]
fn the_theme_is_the_readers_and_can_be_changed() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    let colour = "getComputedStyle(document.body).backgroundColor";
    tab.prefer("prefers-color-scheme", "light");
    let light = tab.text(colour);
    tab.click("#theme");
    let dark = tab.text(colour);
    assert_ne!(light, dark);
    assert_eq!(
        tab.text("document.querySelector('#theme').getAttribute('aria-label')"),
        "Switch to light"
    );
    tab.click("#theme");
    assert_eq!(tab.text(colour), light);
    tab.open(&sample::show(&sample::small(), "html"));
    tab.prefer("prefers-color-scheme", "dark");
    assert_eq!(tab.text(colour), dark);
    assert_quiet(&mut tab);
}

/// WCAG 2.2, 1.4.3: the number of texts whose contrast was checked, and those whose contrast is too low.
pub(crate) const FAINT: &str = r#"(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const behind = (e) => {
        for (; e; e = e.parentElement) {
            const colour = rgba(getComputedStyle(e).backgroundColor);
            if (colour[3] === 255) return colour;
            if (colour[3] > 0) throw new Error("half transparent: " + e.className);
        }
        throw new Error("nothing is behind it");
    };
    const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
    const found = [];
    let checked = 0;
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const e = walk.currentNode.parentElement;
        if (!walk.currentNode.textContent.trim() || ["SCRIPT", "STYLE"].includes(e.tagName) || !e.getClientRects().length) continue;
        const [a, b] = [light(rgba(getComputedStyle(e).color)), light(behind(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        checked++;
        if (ratio < 4.5) found.push(`${e.tagName}.${e.className} ${walk.currentNode.textContent}: ${ratio.toFixed(2)}`);
    }
    return [checked, found];
})()"#;

#[test]
fn texts_stand_out() {
    if !there_is_one() {
        return;
    }
    let mut tab = open(&sample::show_run("html"));
    tab.click("#r2");
    for theme in ["light", "dark"] {
        tab.prefer("prefers-color-scheme", theme);
        tab.eval("new Promise(done => setTimeout(done, 300))");
        let result = tab.eval(FAINT);
        assert!(
            result[0].as_u64().unwrap() > 60,
            "hardly any text was looked at"
        );
        assert_eq!(result[1], Value::Array(Vec::new()), "{theme}");
    }
}

#[test]
fn hostile_titles_are_text() {
    let Some(mut tab) = opened(&sample::hostile()) else {
        return;
    };
    assert!(
        tab.eval("window.pwned === undefined").as_bool().unwrap(),
        "a title was run"
    );
    assert_eq!(
        tab.eval("document.querySelectorAll('img, iframe, a:not(.skip)').length"),
        0
    );
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
    assert!(
        tab.eval("window.pwned === undefined").as_bool().unwrap(),
        "a title was run"
    );
    let direction = "getComputedStyle(document.querySelector('#r13 .title')).direction";
    assert_eq!(tab.text(direction), "rtl", "Hebrew reads from the right");
    assert_quiet(&mut tab);
}

#[test]
fn a_tree_that_is_not_valid_says_so() {
    let tree =
        "- [ID: root] Goal\n- [ID: 1] A\n  - Dependencies: 2\n- [ID: 2] B\n  - Dependencies: 1\n";
    let Some(mut tab) = opened(tree) else { return };
    let told = tab.text("document.querySelector('.problems').textContent");
    assert!(
        told.contains("not valid") && told.contains("dependency-cycle") && told.contains("line 3"),
        "{told}"
    );
    let instead = tab.text("document.querySelector('#graph').textContent");
    assert!(
        instead.contains("wait for each other") && instead.contains("1 → 2 → 1"),
        "{instead}"
    );
    tab.click("#r1");
    assert_eq!(tab.text(DETAIL), "A");
    assert_quiet(&mut tab);
    tab.open(&sample::show("Nothing here.\n", "html"));
    assert!(
        tab.text("document.body.textContent")
            .contains("There are no tasks in this tree")
    );
    assert!(
        tab.text("document.querySelector('.problems').textContent")
            .contains("empty-tree")
    );
    assert_quiet(&mut tab);
}

#[test]
fn it_fits_narrow_and_wide() {
    if !there_is_one() {
        return;
    }
    let mut tab = open(&sample::show_run("html"));
    for width in [320, 500, 800, 1180, 1440, 2560] {
        tab.size(width, 900);
        let over = tab.eval("document.scrollingElement.scrollWidth - innerWidth");
        assert!(over.as_i64().unwrap() <= 0, "{width}: {over} too wide");
    }
    tab.size(400, 800);
    tab.click("#r2");
    let sheet =
        tab.eval("document.querySelector('#detail').getBoundingClientRect().bottom - innerHeight");
    assert_eq!(sheet, 0, "the details lie at the bottom");
    tab.click("#detail .close");
    assert_eq!(tab.text(DETAIL), "No task selected");
    assert_quiet(&mut tab);
}

#[test]
fn it_can_be_printed_and_keeps_still() {
    let Some(mut tab) = opened(&sample::small()) else {
        return;
    };
    tab.prefer("prefers-reduced-motion", "reduce");
    assert_eq!(
        tab.text("getComputedStyle(document.querySelector('.node')).transitionDuration"),
        "0s"
    );
    tab.click("#fold");
    tab.call(
        "Emulation.setEmulatedMedia",
        serde_json::json!({"media": "print"}),
    );
    let printed = tab.eval(
        "[...document.querySelectorAll('#tree li')].every(e => e.getClientRects().length > 0)",
    );
    assert!(
        printed.as_bool().unwrap(),
        "what is folded away is printed as well"
    );
    assert_eq!(
        tab.eval("document.querySelector('.tools').getClientRects().length"),
        0
    );
    let pdf = tab.call(
        "Page.printToPDF",
        serde_json::json!({"printBackground": true}),
    );
    assert!(pdf["data"].as_str().unwrap().len() > 10_000);
    assert_quiet(&mut tab);
}
