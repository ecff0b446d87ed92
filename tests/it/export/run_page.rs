//! The page of a run, used in Chromium as a reader uses it: with the mouse, and with the keyboard alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::Environment;
use crate::common::plan::PLAN;
use crate::export::chromium::{Tab, there_is_one};
use crate::export::page::FAINT;
use crate::export::sample::HOSTILE;

/// The focused element, as a screen reader announces it.
const FOCUSED: &str =
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent";
/// The text shown for the bar under the pointer.
const TOLD: &str =
    "[...document.querySelector('#told').children].map(e => e.textContent).join(' | ')";

/// The entries of a log, each with its time in seconds after the start of the run.
pub(super) struct Log {
    entries: Vec<(u64, Value)>,
    /// The trees before and after the next attempt, and the commit that comes of it.
    pub(super) base: String,
    pub(super) tree: String,
    pub(super) commit: String,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            base: "a".to_owned(),
            tree: "a".to_owned(),
            commit: "c0ffee1".repeat(6)[..40].to_owned(),
        }
    }
}

impl Log {
    pub(super) fn add(&mut self, seconds: u64, events: Value) {
        self.entries.push((seconds, events));
    }

    /// Adds one attempt, from its claim to its verdict. Returns its end, in seconds after the start of the run.
    pub(super) fn attempt(
        &mut self,
        task: &str,
        owner: &str,
        (from, iteration): (u64, u32),
        pass: bool,
        evidence: &str,
    ) -> u64 {
        let files =
            json!([{ "path": format!("src/{task}.rs"), "status": "added", "kind": "file" }]);
        let reasons = if pass { vec![] } else { vec![evidence] };
        let begins = if iteration == 1 {
            json!({ "claimed": { "task": task, "owner": owner, "token": "t", "iteration": 1,
                "base": { "tree": self.base, "head": "b" } } })
        } else {
            json!({ "resumed": { "task": task, "owner": owner } })
        };
        let verifier = format!("verifier-{}-i{iteration}", task.replace('.', "-"));
        self.add(from, json!([begins]));
        self.add(
            from + 60,
            json!([{ "submitted": { "task": task, "owner": owner, "tree": self.tree, "files": files } }]),
        );
        self.add(
            from + 70,
            json!([{ "dispatched": { "dispatch": "verify", "name": verifier, "task": task } }]),
        );
        let output = format!(
            "exit status {} after 1.200 s\n{evidence}\nlast line",
            u8::from(!pass)
        );
        let checks = json!([{ "name": "command: cargo test", "verdict": if pass { "pass" } else { "fail" }, "detail": output }]);
        self.add(from + 80, json!([{ "verified": { "task": task, "iteration": iteration, "tree": "a", "files": files, "checks": checks } }]));
        let judged = json!({ "judged": { "task": task, "iteration": iteration, "pass": pass, "summary": evidence,
            "reasons": reasons, "judgements": [{ "criterion": 1, "pass": pass, "evidence": evidence }] } });
        let end = if pass {
            json!({ "completed": { "task": task, "commit": self.commit } })
        } else {
            json!({ "sentBack": { "task": task, "iteration": iteration + 1, "token": "u", "feedback": evidence } })
        };
        self.add(from + 100, json!([judged, end]));
        from + 100
    }

    /// The page of the run with this log.
    fn page(self, tasks: &[(String, String)]) -> String {
        self.page_in(&Environment::new().repo(), tasks)
    }

    /// The page of the run with this log in a repository. A task `PARENT.NUMBER` is below its parent.
    pub(super) fn page_in(
        mut self,
        environment: &Environment,
        tasks: &[(String, String)],
    ) -> String {
        let mut tree = String::from("- [ID: root] Serve the accounts (Complexity: 5)\n");
        let (mut leaves, mut parents) = (Vec::new(), BTreeSet::new());
        for (id, title) in tasks {
            let parent = id.split_once('.').map(|(parent, _)| parent);
            if let Some(parent) = parent.filter(|parent| parents.insert(*parent)) {
                let _ = writeln!(tree, "- [ID: {parent}] Part {parent} (Complexity: 6)");
            }
            let indent = if parent.is_some() { "  " } else { "" };
            let _ = writeln!(
                tree,
                "{indent}- [ID: {id}] {title} (Complexity: 2)\n{indent}  - Acceptance:\n{indent}    - {title}\n\
                 {indent}  - Dependencies: none\n{indent}  - Files: src/{id}.rs"
            );
            leaves.push(json!({ "id": id, "title": title, "hash": id, "complexity": 2 }));
        }
        let start = json!([
            { "approved": { "treeHash": "h", "leaves": leaves, "by": "user" } },
            { "runStarted": { "builders": 3, "maxIterations": 3, "noCommit": false } },
        ]);
        self.add(0, start);
        self.entries.sort_by_key(|(seconds, _)| *seconds);
        let begin: jiff::Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
        let mut log = String::new();
        for (number, (seconds, events)) in self.entries.iter().enumerate() {
            let at = begin + std::time::Duration::from_secs(*seconds);
            let entry =
                json!({ "schemaVersion": 1, "seq": number + 1, "at": at, "events": events });
            let _ = writeln!(log, "{entry}");
        }
        environment.plan(&tree);
        environment.write(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"), log);
        environment
            .done(&["report", PLAN, "--format", "html"])
            .stdout
    }
}

/// Three tasks and two builders: 1 passes at its second attempt, the builder of 2 asks a question, 3 is under way after
/// a pause overnight.
fn small() -> String {
    let titles = ["Write the store", "Write the page", "Write the tests"];
    let tasks: Vec<(String, String)> = titles
        .iter()
        .zip(1..)
        .map(|(title, id)| (id.to_string(), (*title).to_owned()))
        .collect();
    let mut log = Log::default();
    let at = log.attempt("1", "builder-1", (10, 1), false, "`cargo test` fails");
    log.attempt("1", "builder-1", (at + 10, 2), true, "all tests pass");
    log.add(
        15,
        json!([{ "claimed": { "task": "2", "owner": "builder-2", "token": "t", "iteration": 1,
        "base": { "tree": "a", "head": "b" } } }]),
    );
    log.add(
        40,
        json!([{ "asked": { "question": { "id": "q1", "topic": { "about": "clarify", "task": "2" },
        "text": "Which colour?", "header": "Task 2", "options": [] } } }]),
    );
    log.add(
        130,
        json!([{ "answered": { "question": "q1", "options": ["Blue"], "by": "user" } }]),
    );
    log.add(
        140,
        json!([{ "nudged": { "task": "2", "owner": "builder-2" } }]),
    );
    log.add(
        141,
        json!([{ "resumed": { "task": "2", "owner": "builder-2" } }]),
    );
    log.add(
        200,
        json!([{ "released": { "task": "2", "reason": "it is late", "iteration": 1 } }]),
    );
    log.add(
        40_000,
        json!([{ "claimed": { "task": "3", "owner": "builder-2", "token": "t", "iteration": 1,
        "base": { "tree": "a", "head": "b" } } }]),
    );
    log.add(40_100, json!(["told"]));
    log.page(&tasks)
}

fn opened(page: fn() -> String) -> Option<Tab> {
    there_is_one().then(|| {
        let mut tab = Tab::new(1400, 900);
        tab.open(&page());
        tab
    })
}

/// Asserts that there were no errors, and no requests except for the page itself.
pub(super) fn assert_quiet(tab: &mut Tab) {
    assert_eq!(tab.complaints(), Vec::<String>::new());
    assert_eq!(
        tab.requests(),
        1,
        "the page itself is the only thing that is asked for"
    );
}

#[test]
fn a_lane_a_builder_with_its_bars_in_order() {
    let Some(mut tab) = opened(small) else { return };
    let lanes = tab
        .text("[...document.querySelectorAll('.lane .who bdi')].map(e => e.textContent).join(' ')");
    assert_eq!(lanes, "builder-1 builder-2 You");
    let kinds = |lane: u32| {
        format!(
            "[...document.querySelectorAll('.lane')][{lane}].querySelectorAll('.bar').values().map(e => \
             e.className.split(' ').filter(c => c && c !== 'bar').join('-')).toArray().join(' ')"
        )
    };
    assert_eq!(
        tab.text(&kinds(0)),
        "building-failed waiting verifying waiting building-passed waiting verifying"
    );
    assert_eq!(
        tab.text(&kinds(1)),
        "building-released asking waiting building-released building-open"
    );
    assert_eq!(tab.text(&kinds(2)), "asking");
    let apart = "[...document.querySelectorAll('.lane')].every(lane => { const all = [...lane.querySelectorAll('.bar')]\
        .map(e => e.getBoundingClientRect()); return all.every((r, at) => !at || r.left >= all[at - 1].right - 3.5); })";
    assert!(
        tab.eval(apart).as_bool().unwrap(),
        "bars of a lane lie over each other"
    );
    // The night is cut out, so that what came after it is wide enough to be seen.
    assert_eq!(
        tab.eval("document.querySelectorAll('.axis .cut').length"),
        1
    );
    let widths = tab.eval(
        "[...document.querySelectorAll('.lane:nth-child(3) .building')].map(e => e.clientWidth)",
    );
    assert!(
        widths
            .as_array()
            .unwrap()
            .iter()
            .all(|width| width.as_u64().unwrap() > 20),
        "{widths}"
    );
    assert!(
        tab.text("document.querySelector('#course-note').textContent")
            .contains("cut out")
    );
    let named = tab.text("document.querySelector('#course .building').textContent");
    assert_eq!(named, "1", "a bar with room for it has its task's id");
    assert_quiet(&mut tab);
}

#[test]
fn the_course_is_read_with_the_keyboard() {
    let Some(mut tab) = opened(small) else { return };
    let stops = tab.eval("document.querySelectorAll('#course [tabindex=\"0\"]').length");
    assert_eq!(stops, 1, "one stop for the whole drawing");
    tab.eval("document.querySelector('#course [tabindex=\"0\"]').focus()");
    let focused = |tab: &mut Tab| tab.text(FOCUSED);
    assert!(
        focused(&mut tab).starts_with("1 Write the store: building, attempt 1 by builder-1"),
        "{}",
        focused(&mut tab)
    );
    let told = tab.text(TOLD);
    assert!(
        told.contains("1 min 0 s") && told.ends_with("the attempt was sent back"),
        "{told}"
    );
    for (key, expect) in [
        ("ArrowRight", "1 Write the store: waiting"),
        ("ArrowRight", "1 Write the store: verification"),
        ("ArrowRight", "1 Write the store: waiting, attempt 2"),
        ("End", "1 Write the store: verification, attempt 2"),
        ("Home", "1 Write the store: building, attempt 1"),
        ("ArrowDown", "2 Write the page: building, attempt 1"),
        ("ArrowRight", "2 Write the page: waiting for you"),
        ("ArrowDown", "Which colour?"),
    ] {
        tab.press(key);
        let now = focused(&mut tab);
        assert!(now.starts_with(expect), "after {key}: {now}");
    }
    tab.press("Enter");
    assert!(
        focused(&mut tab).contains("Blue"),
        "the question is gone to"
    );
    tab.eval("document.querySelector('#course .building.failed').focus()");
    tab.press("Enter");
    assert_eq!(tab.eval("document.querySelector('#t0').open"), true);
    assert_eq!(tab.text("document.activeElement.tagName"), "SUMMARY");
    assert_quiet(&mut tab);
}

#[test]
fn a_task_has_its_evidence_behind_one_click() {
    let Some(mut tab) = opened(small) else { return };
    tab.click("#t0 > summary");
    let text = tab.text("document.querySelector('#t0 .tries').innerText");
    for told in [
        "Attempt 2 by builder-1 passed",
        "all tests pass",
        "Attempt 1 by builder-1 did not pass",
        "cargo test fails",
        "src/1.rs",
        "verifier-1-i1",
    ] {
        assert!(text.contains(told), "{told} is not in {text}");
    }
    assert!(
        !text.contains("last line"),
        "an output is behind another click"
    );
    tab.click("#t0 .output summary");
    assert!(
        tab.text("document.querySelector('#t0 pre').innerText")
            .contains("last line")
    );
    assert!(
        !tab.text("document.querySelector('#t0 time').textContent")
            .contains("UTC"),
        "times are the reader's own"
    );
    tab.click("#fold");
    assert_eq!(
        tab.eval("document.querySelectorAll('.task[open]').length"),
        3
    );
    assert_eq!(
        tab.text("document.querySelector('#fold').textContent"),
        "Close all"
    );
    tab.click("#fold");
    assert_eq!(
        tab.eval("document.querySelectorAll('.task[open]').length"),
        0
    );
    assert_quiet(&mut tab);
}

/// The first task passes at its second attempt; the second asks a question and waits for the answer.
fn asking() -> String {
    let mut log = Log::default();
    let at = log.attempt("1", "builder-1", (10, 1), false, "`cargo test` fails");
    log.attempt("1", "builder-1", (at + 10, 2), true, "all tests pass");
    log.add(
        15,
        json!([{ "claimed": { "task": "2", "owner": "builder-2", "token": "t", "iteration": 1,
        "base": { "tree": "a", "head": "b" } } }]),
    );
    log.add(
        40,
        json!([{ "asked": { "question": { "id": "q1", "topic": { "about": "clarify", "task": "2" },
        "text": "Which `colour`?", "header": "Task 2",
        "options": [{ "label": "Don't mind", "description": "" }] } } }]),
    );
    log.add(40_000, json!(["told"]));
    log.page(&[
        ("1".to_owned(), "Write the store".to_owned()),
        ("2".to_owned(), "Write the page".to_owned()),
    ])
}

#[test]
fn the_first_screen_says_what_came_out_and_what_needs_the_user() {
    let Some(mut tab) = opened(asking) else {
        return;
    };
    let story = tab.text("document.querySelector('.story').textContent");
    assert_eq!(
        story,
        "1 of 2 tasks built, verified and committed by 3 builders in 3 min 40 s of work. Verification sent 1 of 3 \
         attempts back before they reached your branch."
    );
    let when = tab.text("document.querySelector('.when').textContent");
    assert!(
        when.ends_with(", with 11 h 3 min of pauses, which count nowhere below"),
        "{when}"
    );
    let needs = tab
        .text("document.querySelector('.needs li').innerText")
        .replace('\n', " ");
    assert!(needs.contains("Which colour?"), "{needs}");
    assert_eq!(
        tab.text("document.querySelector('.needs li > code').textContent"),
        format!("fp answer {PLAN} q1 --option 'Don'\\''t mind'")
    );
    let wide =
        "[...document.querySelectorAll('.tiles > div')].map(e => e.getBoundingClientRect().top)";
    let tops = tab.eval(wide);
    let tops = tops.as_array().unwrap();
    assert!(
        tops.len() >= 3 && tops.iter().all(|top| *top == tops[0]),
        "the tiles wrap: {tops:?}"
    );
    let idle = tab.text(
        "[...document.querySelectorAll('.lane .who small')].map(e => e.textContent).join(' ')",
    );
    assert_eq!(idle, "idle 5 % idle 7 % 1 question");
    assert!(
        tab.text("document.querySelector('footer').textContent")
            .contains(env!("CARGO_PKG_VERSION"))
    );
    assert_quiet(&mut tab);
}

#[test]
fn the_timeline_has_a_row_for_each_task_on_demand() {
    let Some(mut tab) = opened(small) else { return };
    tab.click("#by-task");
    let rows =
        tab.text("[...document.querySelectorAll('.lane .who')].map(e => e.innerText).join(' | ')");
    assert_eq!(
        rows.replace('\n', " "),
        "1 Write the store | 2 Write the page | 3 Write the tests"
    );
    assert_eq!(
        tab.eval("document.querySelectorAll('.lane:nth-child(2) .bar').length"),
        7
    );
    tab.click("#by-task");
    assert_eq!(tab.eval("document.querySelectorAll('.lane').length"), 3);
    assert_quiet(&mut tab);
}

/// A bar too short for its id shows the id below it, and no two ids overlap.
#[test]
fn short_bars_have_their_ids_below() {
    let page = || {
        let ids: Vec<String> = (1..=40).map(|id| format!("{id}.{id}")).collect();
        let mut log = Log::default();
        let mut at = 0;
        for id in &ids {
            at = log.attempt(id, "builder-1", (at + 5, 1), true, "fine");
        }
        log.page(
            &ids.into_iter()
                .map(|id| (id, "Write it".to_owned()))
                .collect::<Vec<_>>(),
        )
    };
    let Some(mut tab) = opened(page) else { return };
    let below = tab.eval(
        "(() => { const all = [...document.querySelectorAll('.under')].filter(e => e.textContent).map(e => e.getBoundingClientRect()); \
         return [all.length, all.filter((r, at) => at && r.left < all[at - 1].right).length]; })()",
    );
    assert!(below[0].as_u64() > Some(9), "{below}");
    assert_eq!(below[1], 0, "two ids lie over each other");
    assert_quiet(&mut tab);
}

/// A screenshot of the whole page is complete.
#[test]
fn nothing_is_left_out_of_a_page_of_some_hundred_tasks() {
    let Some(mut tab) = opened(small) else { return };
    let left_out = "[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).contentVisibility !== 'visible').length";
    assert_eq!(tab.eval(left_out), 0);
}

#[test]
fn the_drawing_can_be_stretched() {
    let Some(mut tab) = opened(small) else { return };
    let width = "document.querySelector('.lane .building').getBoundingClientRect().width";
    let before = tab.eval(width).as_f64().unwrap();
    tab.click("#time-in");
    let after = tab.eval(width).as_f64().unwrap();
    assert!(after > 1.8 * before, "{before} to {after}");
    tab.click("#time-fit");
    assert_eq!(tab.eval(width).as_f64().unwrap(), before);
    assert_quiet(&mut tab);
}

#[test]
fn texts_stand_out_in_both_themes() {
    let Some(mut tab) = opened(small) else { return };
    tab.click("#t0 > summary");
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
    let colour = "getComputedStyle(document.body).backgroundColor";
    let dark = tab.text(colour);
    tab.click("#theme");
    assert_ne!(tab.text(colour), dark);
}

#[test]
fn it_fits_narrow_and_wide_and_on_paper() {
    let Some(mut tab) = opened(small) else { return };
    tab.click("#fold");
    for width in [320, 400, 800, 1400, 2560] {
        tab.size(width, 900);
        let over = tab.eval("document.scrollingElement.scrollWidth - innerWidth");
        assert!(over.as_i64().unwrap() <= 0, "{width}: {over} too wide");
    }
    let pdf = tab.call("Page.printToPDF", json!({"printBackground": true}));
    assert!(pdf["data"].as_str().unwrap().len() > 10_000);
    assert_quiet(&mut tab);
}

/// Forty agents that report their costs, and a question longer than two lines.
fn costly() -> String {
    let mut log = Log::default();
    for number in 0..20 {
        for (role, seconds) in [("builder", 5), ("verifier", 95)] {
            log.add(number * 200 + seconds, json!([{ "agentSpent": { "name": format!("{role}-1"), "cost": {
                "task": "1", "iteration": number + 1, "role": role, "program": "claude", "model": "some-model", "turns": 3,
                "tokens": { "input": 1000, "cached": 40_000, "output": 200 }, "microUsd": 34_500, "seconds": 60 } } }]));
        }
        log.attempt(
            "1",
            "builder-1",
            (number * 200, 1),
            number == 19,
            &"evidence ".repeat(40),
        );
    }
    log.add(5000, json!([{ "asked": { "question": { "id": "q1", "topic": { "about": "taskFailed", "task": "1" },
        "text": "Which one? ".repeat(100), "header": "Task 1", "options": [] } } }]));
    log.page(&[("1".to_owned(), "Write the store".to_owned())])
}

/// Elements whose text is clipped, except inside the drawings.
pub(super) const CLIPPED: &str = "[...document.querySelectorAll('body *:not(.hidden, .skip)')].filter(e => e.getClientRects().length \
     && !e.closest('#course, svg') && getComputedStyle(e).overflow !== 'visible' \
     && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)).map(e => `${e.tagName}#${e.id}.${e.className}`)";

#[test]
fn on_paper_everything_is_open_and_nothing_is_cut() {
    let Some(mut tab) = opened(costly) else {
        return;
    };
    let cells = tab.text("[...document.querySelectorAll('#cost tr:nth-child(-n + 3)')].map(e => [...e.children].map(c => c.textContent).join(' | ')).join('\\n')");
    assert_snapshot!(cells, @"
    Task | Attempt | Role | Model | Tokens | USD
    1 | 1 | builder | claude some-model | 41k | 0.04
    1 | 1 | verifier | claude some-model | 41k | 0.04
    ");
    // A step for each of forty reports, and the end.
    let steps = "document.querySelector('.cost path').getAttribute('d').split('H').length - 1";
    assert_eq!(tab.eval(steps), 41);
    let facts = tab.text("document.querySelector('.task .facts').textContent");
    assert!(
        facts.starts_with("19 sent back 1 asked") && facts.contains("$1.38"),
        "{facts}"
    );
    let closed = "document.querySelectorAll('details:not([open])').length";
    assert_ne!(tab.eval(closed), 0);
    // As the browser does when it prints.
    tab.size(720, 1000);
    tab.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    tab.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(tab.eval(closed), 0);
    assert_eq!(tab.eval(CLIPPED), json!([]));
    let over = tab.eval("document.scrollingElement.scrollWidth - innerWidth");
    assert!(over.as_i64().unwrap() <= 0, "{over} too wide");
    tab.eval("dispatchEvent(new Event('afterprint'))");
    assert_ne!(tab.eval(closed), 0);
    assert_quiet(&mut tab);
}

/// A run whose end falls on a labelled tick at the very end of the axis.
fn even() -> String {
    let mut log = Log::default();
    log.attempt("1", "builder-1", (10, 1), false, "`cargo test` fails");
    assert_eq!(
        log.attempt("1", "builder-1", (500, 2), true, "all tests pass"),
        600
    );
    log.page(&[("1".to_owned(), "Write the store".to_owned())])
}

#[test]
fn no_two_moments_of_the_axis_are_written_over_each_other() {
    let Some(mut tab) = opened(even) else { return };
    for width in (700..1500).step_by(50) {
        tab.size(width, 900);
        let seen = tab.eval(
            "new Promise((seen) => setTimeout(() => {
                const names = [...document.querySelectorAll('.axis .tick > span')].map((e) => e.getBoundingClientRect());
                seen([names.length, names.filter((one, i) => i && one.left < names[i - 1].right).length]);
            }, 100))",
        );
        assert!(seen[0].as_u64() > Some(1), "{width}: {seen}");
        assert_eq!(seen[1], 0, "at {width} pixels");
    }
}

#[test]
fn hostile_texts_are_text() {
    let page = || {
        let tasks: Vec<(String, String)> = HOSTILE
            .iter()
            .zip(1..)
            .map(|(title, id)| (id.to_string(), (*title).to_owned()))
            .collect();
        let mut log = Log::default();
        for (number, (id, title)) in (0..).zip(&tasks) {
            let at = log.attempt(id, "builder-1", (number * 300, 1), false, title);
            log.attempt(id, "builder-1", (at + 10, 2), true, title);
            log.add(
                number * 300 + 5,
                json!([{ "noted": { "note": { "kind": "GOTCHA", "text": title } } }]),
            );
            log.add(number * 300 + 6, json!([{ "asked": { "question": { "id": format!("q{number}"),
                "topic": { "about": "taskFailed", "task": id }, "text": title, "header": title, "options": [] } } }]));
            log.add(number * 300 + 7, json!([{ "answered": { "question": format!("q{number}"), "options": [title], "by": "user" } }]));
        }
        log.page(&tasks)
    };
    let Some(mut tab) = opened(page) else { return };
    tab.click("#fold");
    tab.eval("document.querySelectorAll('.output').forEach(e => e.open = true)");
    tab.eval("document.querySelectorAll('.bar, .mark').forEach(e => e.focus())");
    assert!(
        tab.eval("window.pwned === undefined").as_bool().unwrap(),
        "a text was run"
    );
    assert_eq!(
        tab.eval("document.querySelectorAll('img, iframe, a:not(.skip)').length"),
        0
    );
    assert_eq!(tab.eval("document.querySelectorAll('script').length"), 2);
    let normal = |text: &str| text.split_whitespace().collect::<String>().replace('`', "");
    for (number, title) in HOSTILE.iter().enumerate() {
        let title = normal(title);
        for part in [
            format!("document.querySelector('#t{number} .title').textContent"),
            format!("document.querySelector('#t{number} .criteria .note').textContent"),
            format!("document.querySelector('#t{number} .feedback').textContent"),
            format!("document.querySelector('#decisions-{number} .note').textContent"),
        ] {
            assert_eq!(normal(&tab.text(&part)), title, "{part}");
        }
        let output = normal(&tab.text(&format!(
            "document.querySelector('#t{number} pre').textContent"
        )));
        assert!(output.contains(&title), "{output}");
    }
    assert_quiet(&mut tab);
}

#[test]
fn a_run_without_builders_says_so() {
    let page = || Log::default().page(&[("1".to_owned(), "Write the store".to_owned())]);
    let Some(mut tab) = opened(page) else { return };
    assert_eq!(
        tab.text("document.querySelector('#course').textContent"),
        "No builder has taken a task yet."
    );
    assert_eq!(
        tab.eval(
            "document.querySelectorAll('.course .zoom button').values().some(e => e.offsetParent)"
        ),
        false
    );
    assert_quiet(&mut tab);
}
