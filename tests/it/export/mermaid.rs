//! The flowchart, drawn by Mermaid itself in Chromium.

use std::path::Path;
use std::{env, fs};

use serde_json::Value;

use crate::export::chromium::{Tab, there_is_one};
use crate::export::sample::{self, HOSTILE};

/// The version of Mermaid that `.ci/fetch-mermaid` fetches.
const VERSION: &str = include_str!("MERMAID_VERSION");

/// A tab with Mermaid in it; `None` where there is none.
fn mermaid() -> Option<Tab> {
    if !there_is_one() {
        return None;
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let path = target
        .join("mermaid")
        .join(VERSION.trim())
        .join("mermaid.min.js");
    let Ok(source) = fs::read_to_string(&path) else {
        assert!(
            env::var_os("FP_REQUIRE_MERMAID").is_none(),
            "mermaid is missing: run .ci/fetch-mermaid"
        );
        println!("skipped: no mermaid");
        return None;
    };
    let mut tab = Tab::new(1200, 800);
    tab.open("<!doctype html><title>Mermaid</title>");
    tab.eval(&format!(
        "{source}; mermaid.initialize({{startOnLoad: false}}); 0"
    ));
    Some(tab)
}

/// The labels of the boxes and of the frames in the drawing of `chart`, and how many arrows there are.
fn drawn(tab: &mut Tab, chart: &str) -> (Vec<String>, Vec<String>, u64) {
    let chart = serde_json::to_string(chart).unwrap();
    let found = tab.eval(&format!(
        "(async () => {{
            const {{ svg }} = await mermaid.render('drawing', {chart});
            const part = document.createElement('div');
            part.innerHTML = svg;
            const texts = (what) => [...part.querySelectorAll(what)].map((one) => one.textContent.replace(/\\s+/g, ' ').trim());
            return [texts('.node .nodeLabel'), texts('.cluster .nodeLabel'), part.querySelectorAll('.edgePaths path').length, part.querySelectorAll('script, img').length];
        }})()"
    ));
    assert_eq!(found[3], 0, "something was injected");
    let texts = |value: &Value| serde_json::from_value::<Vec<String>>(value.clone()).unwrap();
    (
        texts(&found[0]),
        texts(&found[1]),
        found[2].as_u64().unwrap(),
    )
}

#[test]
fn every_task_and_dependency_is_drawn() {
    let Some(mut tab) = mermaid() else { return };
    let (boxes, frames, arrows) = drawn(&mut tab, &sample::show(&sample::small(), "mermaid"));
    assert_eq!((boxes.len(), frames.len(), arrows), (12, 3, 11));
    assert!(
        boxes.contains(&"1.1 Write part 1 of The store (2)".to_owned()),
        "{boxes:?}"
    );
    assert!(frames.contains(&"2 The pages (6)".to_owned()), "{frames:?}");
}

#[test]
fn states_are_drawn() {
    let chart = sample::show_run("mermaid");
    for state in [
        "done",
        "failed",
        "skipped",
        "verifying",
        "building",
        "waiting",
        "ready",
    ] {
        assert!(
            chart
                .lines()
                .any(|line| line.starts_with("  class t") && line.contains(state)),
            "{state}:\n{chart}"
        );
    }
    let Some(mut tab) = mermaid() else { return };
    assert_eq!(drawn(&mut tab, &chart).0.len(), 7);
}

#[test]
fn hostile_titles_are_shown_as_they_are() {
    let Some(mut tab) = mermaid() else { return };
    let (boxes, _, arrows) = drawn(&mut tab, &sample::show(&sample::hostile(), "mermaid"));
    assert_eq!(
        (boxes.len(), arrows as usize),
        (HOSTILE.len(), HOSTILE.len() - 1)
    );
    for (number, title) in HOSTILE.iter().enumerate() {
        let expect = format!("{} {title} (2)", number + 1);
        let expect = expect.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(boxes.contains(&expect), "{expect} is not in {boxes:#?}");
    }
    assert!(
        tab.eval("window.pwned === undefined").as_bool().unwrap(),
        "a title was run"
    );
}
