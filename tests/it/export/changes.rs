//! What the page of a run says about each task: its changes beside its evidence, bounded and escaped, and how tasks are
//! found among many.

use serde_json::{Value, json};

use crate::common::Environment;
use crate::export::chromium::{Tab, there_is_one};
use crate::export::page::FAINT;
use crate::export::run_page::{CLIPPED, Log, assert_quiet};

/// The tree of all files as they are.
fn tree_of(environment: &Environment) -> String {
    environment.git(&["add", "--all"]);
    environment.git(&["write-tree"]).trim().to_owned()
}

/// Commits all files as they are.
fn commit_of(environment: &Environment) -> String {
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Add it"]);
    environment.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

fn one_task() -> Vec<(String, String)> {
    vec![("1".to_owned(), "Write the store".to_owned())]
}

/// A task whose first attempt is sent back. Its second adds `files`, which are committed.
fn committed(files: &[(&str, &[u8])]) -> (Environment, String) {
    let environment = Environment::new().repo();
    let mut log = Log::default();
    log.base = tree_of(&environment);
    environment.write("src/1.rs", "fn first_try() {}\n");
    log.tree = tree_of(&environment);
    let at = log.attempt("1", "builder-1", (10, 1), false, "it is slow");
    for (path, text) in files {
        environment.write(path, text);
    }
    log.commit = commit_of(&environment);
    log.attempt("1", "builder-1", (at + 10, 2), true, "it is fast");
    let page = log.page_in(&environment, &one_task());
    (environment, page)
}

fn lines(count: usize) -> Vec<u8> {
    (1..=count)
        .flat_map(|number| format!("line {number}\n").into_bytes())
        .collect()
}

#[test]
fn each_attempt_has_its_change() {
    let text = b"//! Keeps accounts.\n\nfn second_try() {}\n";
    let (_, page) = committed(&[("src/1.rs", text)]);
    let passed = page.find("Attempt 2 by").unwrap();
    let failed = page.find("Attempt 1 by").unwrap();
    assert!(passed < failed, "the newest comes first");
    let (second, first) = (&page[passed..failed], &page[failed..]);
    let head = "<code>src/1.rs</code> <span class=\"soft\">new</span> <span class=\"counts\"><ins>+3</ins> <del>−0</del>";
    assert!(second.contains(head), "{second}");
    let lines = "<pre tabindex=\"0\" dir=\"ltr\"><ins>    1 + //! Keeps accounts.\n    2 + \n    3 + fn second_try() {}\n</ins></pre>";
    assert!(second.contains(lines), "{second}");
    assert!(
        first.contains("<ins>    1 + fn first_try() {}\n</ins>"),
        "{first}"
    );
    assert!(!second.contains("first_try"), "{second}");
}

#[test]
fn a_large_change_shows_its_files_and_its_beginning() {
    let text = lines(300);
    let files = [
        ("src/1.rs", &*text),
        ("src/b.rs", &*text),
        ("src/c.rs", &*text),
    ];
    let (environment, page) = committed(&files);
    assert!(page.contains("  150 + line 150\n"));
    assert!(!page.contains("line 151\n"), "the change goes on");
    assert_eq!(page.matches("<ins>+300</ins>").count(), 3);
    let head = environment.git(&["rev-parse", "HEAD"]);
    let rest = format!(
        "750 lines left out here; all of it: <code>git show {}</code>",
        &head[..10]
    );
    assert!(page.contains(&rest), "{rest}");
    let (_, page) = committed(&[("src/1.rs", &lines(400))]);
    assert!(page.contains("  400 + line 400\n"), "400 lines are shown");
}

#[test]
fn the_changes_of_a_page_have_a_bound_together() {
    let environment = Environment::new().repo();
    let line = "<".repeat(399) + "\n";
    let mut log = Log::default();
    let mut tasks = Vec::new();
    for number in 1..=8_u64 {
        let id = number.to_string();
        environment.write(&format!("src/{id}.rs"), line.repeat(399));
        log.commit = commit_of(&environment);
        log.attempt(&id, "builder-1", (number * 200, 1), true, "fine");
        tasks.push((id, "Write it".to_owned()));
    }
    let page = log.page_in(&environment, &tasks);
    assert!(
        page.len() > 2_000_000 && page.len() < 3_200_000,
        "{}",
        page.len()
    );
    assert_eq!(page.matches("399 lines left out here").count(), 4);
}

#[test]
fn work_without_a_commit_is_shown_while_git_has_it() {
    let environment = Environment::new().repo();
    let mut log = Log::default();
    log.base = tree_of(&environment);
    environment.write("src/1.rs", "fn mine() {}\n");
    environment.write("src/2.rs", "fn second() {}\n");
    environment.write("src/other.rs", "fn of_another_task() {}\n");
    log.tree = tree_of(&environment);
    let (base, tree) = (log.base[..10].to_owned(), log.tree[..10].to_owned());
    log.attempt("1", "builder-1", (10, 1), false, "it is slow");
    // In a worktree the work begins at a commit.
    log.base = environment.git(&["rev-parse", "HEAD"]).trim().to_owned();
    log.attempt("2", "builder-2", (20, 1), false, "it is slow");
    log.tree = "0123456789".repeat(4);
    log.attempt("1", "builder-1", (200, 2), false, "it is slow");
    let tasks = [one_task(), vec![("2".to_owned(), "Write it".to_owned())]].concat();
    let page = log.page_in(&environment, &tasks);
    assert!(page.contains("fn mine() {}") && !page.contains("of_another_task"));
    assert!(page.matches("git here no longer has it").count() == 1);
    let lost =
        format!("git here no longer has it: <code>git diff {base} 0123456789 -- src/1.rs</code>");
    assert!(page.contains(&lost), "{lost}");
    assert!(
        page.contains("fn second() {}") && !page.contains(&tree),
        "all else is there"
    );
}

/// File names and lines that would be taken for something else wherever they are not escaped.
const HOSTILE: &[(&str, &[u8])] = &[
    (
        "src/</script><b>.rs",
        b"</script><script>window.pwned = 1</script>\n<!-- \n--> ]]> <img src=x onerror=pwned=1>\n",
    ),
    (
        "src/\"it's\" &amp; \\.rs",
        "let a = \"\u{202e}txet\u{2066}\";\u{200b}\u{1b}[31m\n".as_bytes(),
    ),
    ("src/nul.bin", b"\0\0PNG"),
    ("src/late-nul.rs", b"a\nb\rc\n"),
    ("src/dos.rs", b"one\r\ntwo\r\n"),
    ("src/unended.rs", b"no newline"),
    ("src/latin.rs", b"caf\xe9\n"),
    ("@@ -1 +1 @@", b"diff --git a/x b/x\n--- a/x\n+++ b/x\n"),
];

#[test]
fn hostile_changes_are_text() {
    let (_, page) = committed(HOSTILE);
    for hidden in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{1b}', '\0', '\r'] {
        assert!(!page.contains(hidden), "{hidden:?} is on the page");
    }
    for shown in [
        "&quot;&lt;U+202E&gt;txet&lt;U+2066&gt;&quot;;&lt;U+200B&gt;&lt;U+001B&gt;[31m",
        "<code>src/nul.bin</code> <span class=\"soft\">new, binary or large</span>",
        "    2 + b&lt;U+000D&gt;c\n",
        "<ins>    1 + one\n    2 + two\n</ins>",
        "    1 + caf\u{fffd}\n",
        "<code>@@ -1 +1 @@</code>",
        "    3 + +++ b/x\n",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let Some(mut tab) = opened(&page) else { return };
    tab.click("#fold");
    assert_eq!(tab.eval("window.pwned === undefined"), true);
    assert_eq!(
        tab.eval("document.querySelectorAll('img, script').length"),
        2
    );
    let files = tab.text("[...document.querySelectorAll('#t0 .try:first-of-type .diff code')].map(e => e.textContent).join('|')");
    for (path, _) in HOSTILE {
        let quoted = format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""));
        assert!(
            files.contains(path) || files.contains(&quoted),
            "{path}: {files}"
        );
    }
    for theme in ["light", "dark"] {
        tab.prefer("prefers-color-scheme", theme);
        assert_eq!(tab.eval(FAINT)[1], Value::Array(Vec::new()), "{theme}");
    }
    assert_quiet(&mut tab);
}

fn opened(page: &str) -> Option<Tab> {
    there_is_one().then(|| {
        let mut tab = Tab::new(1280, 900);
        tab.open(page);
        tab
    })
}

/// 200 tasks below 20 parents, or below none. Every tenth fails, and each has its commit and its costs.
fn many(parents: bool) -> String {
    let environment = Environment::new().repo();
    environment.write("src/7.3.rs", "fn only_here() {}\n");
    let commit = commit_of(&environment);
    let mut log = Log::default();
    let mut tasks = Vec::new();
    for number in 0..200_u64 {
        let id = match parents {
            true => format!("{}.{}", number / 10 + 1, number % 10 + 1),
            false => (number + 1).to_string(),
        };
        let builder = format!("builder-{}", number % 4 + 1);
        let (at, pass) = (number / 4 * 200 + 10, number % 10 != 9);
        if id == "7.3" {
            log.commit.clone_from(&commit);
        }
        let end = log.attempt(&id, &builder, (at, 1), pass, "seen in the diff");
        log.commit = Log::default().commit;
        if !pass {
            log.add(
                end + 1,
                json!([{ "failed": { "task": id, "reason": "given up" } }]),
            );
        }
        log.add(at + 60, json!([{ "agentSpent": { "name": builder, "cost": { "task": id, "iteration": 1, "role": "builder",
            "program": "claude", "turns": 1, "tokens": { "input": 1000, "cached": 0, "output": 10 }, "microUsd": 20_000, "seconds": 9 } } }]));
        log.add(
            at + 61,
            json!([{ "noted": { "note": { "kind": "GOTCHA", "text": "it is slow" } } }]),
        );
        tasks.push((id, format!("Write part-{number} of the store")));
    }
    log.page_in(&environment, &tasks)
}

const HEIGHT: &str = "document.scrollingElement.scrollHeight";
const SHOWN: &str = "[...document.querySelectorAll('.task')].filter(e => e.checkVisibility({contentVisibilityAuto: true})).map(e => e.querySelector('.id').textContent).join(' ')";

#[test]
fn many_tasks_are_quick_to_see() {
    for parents in [true, false] {
        let Some(mut tab) = there_is_one().then(|| Tab::new(1280, 900)) else {
            return;
        };
        let page = many(parents);
        let took = tab.open(&page);
        assert!(took.as_secs() < 1, "{took:?}");
        for width in [1280, 390] {
            tab.size(width, 900);
            let height = tab.eval(HEIGHT).as_u64().unwrap();
            println!("{width} wide, {height} high, {} bytes", page.len());
            assert!(height < 3000, "{height} at {width}");
            let over = tab.eval("document.scrollingElement.scrollWidth - innerWidth");
            assert!(over.as_i64().unwrap() <= 0, "{width}: {over} too wide");
        }
    }
}

#[test]
fn tasks_are_found_by_word_state_and_parent() {
    let Some(mut tab) = opened(&many(true)) else {
        return;
    };
    // A page that scrolls slowly moves away from a click.
    tab.prefer("prefers-reduced-motion", "reduce");
    assert_eq!(tab.text(SHOWN), "");
    let badges = "[...document.querySelectorAll('.group:first-of-type > summary .badge')].map(e => e.textContent).join(', ')";
    assert_eq!(tab.text(badges), "9 done, 1 failed");
    let find = |tab: &mut Tab, words: &str| {
        // The first clears the search, the second leaves it.
        tab.press("Escape");
        tab.press("Escape");
        tab.press("/");
        for letter in words.chars() {
            tab.press(&letter.to_string());
        }
        tab.text(SHOWN)
    };
    assert_eq!(find(&mut tab, "20.10"), "20.10");
    assert_eq!(find(&mut tab, "part-37 store"), "4.8");
    assert_eq!(find(&mut tab, "src/7.3.rs"), "7.3", "by file");
    assert_eq!(find(&mut tab, "only_here"), "7.3", "by what it changed");
    assert_eq!(
        tab.text("document.querySelector('#found').textContent"),
        "1 of 200 tasks"
    );
    tab.press("Enter");
    assert_eq!(
        tab.eval("document.querySelector('.task[open] .id').textContent"),
        "7.3"
    );
    tab.press("Escape");
    tab.click(".chip.failed");
    assert_eq!(tab.text(SHOWN).split(' ').count(), 20);
    tab.eval("document.querySelector('#parent').value = '2'; document.querySelector('#parent').dispatchEvent(new Event('change'))");
    assert_eq!(tab.text(SHOWN), "3.10");
    tab.press("Escape");
    assert_eq!(
        tab.text(SHOWN),
        "7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 7.9 7.10",
        "as before, but for what was opened"
    );
    assert_quiet(&mut tab);
}

#[test]
fn without_scripts_everything_is_there() {
    let (_, page) = committed(&[("src/1.rs", b"fn second_try() {}\n")]);
    let Some(mut tab) = there_is_one().then(|| Tab::new(1280, 900)) else {
        return;
    };
    tab.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    tab.open_still(&page);
    let text = tab.text(
        "document.querySelectorAll('details').forEach(e => e.open = true), document.body.innerText",
    );
    for told in [
        "The drawing needs JavaScript",
        "Where the time went",
        "1 sent back",
        "it is fast",
        "it is slow",
        "fn second_try() {}",
        "last line",
    ] {
        assert!(text.contains(told), "{told} is not in {text}");
    }
    let dead =
        "[...document.querySelectorAll('button, input')].filter(e => e.checkVisibility()).length";
    assert_eq!(tab.eval(dead), 0, "nothing that does nothing");
}

#[test]
fn on_paper_the_evidence_is_there() {
    let (_, page) = committed(&[("src/1.rs", &lines(90))]);
    let Some(mut tab) = opened(&page) else { return };
    tab.size(720, 1000);
    tab.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    tab.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let shown = "['.criteria .note', '.checks pre', '.diff ins', '#commits li'].map(e => document.querySelector(e).checkVisibility({contentVisibilityAuto: true}))";
    assert_eq!(
        tab.eval(shown),
        json!([true, true, true, true]),
        "though nothing is opened"
    );
    tab.eval("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(tab.eval(CLIPPED), json!([]));
    assert_quiet(&mut tab);
}
