//! The graph, laid out by Graphviz.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};

use regex::Regex;

use crate::export::sample::{self, HOSTILE};

/// The SVG that Graphviz makes of a graph; `None` where there is no Graphviz.
fn drawn(graph: &str) -> Option<String> {
    let started = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut dot) = started else {
        assert!(env::var_os("FP_REQUIRE_GRAPHVIZ").is_none(), "graphviz is missing");
        println!("skipped: no graphviz");
        return None;
    };
    dot.stdin.take().unwrap().write_all(graph.as_bytes()).unwrap();
    let output = dot.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    let complaints: Vec<&str> =
        complaints.lines().filter(|line| !line.contains("font") && !line.contains("Pango")).collect();
    assert!(output.status.success() && complaints.is_empty(), "{complaints:?}\n{graph}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn count(svg: &str, class: &str) -> usize {
    svg.matches(&format!("class=\"{class}\"")).count()
}

#[test]
fn every_task_and_dependency_is_drawn() {
    let Some(svg) = drawn(&sample::show(&sample::small(), "dot")) else { return };
    assert_eq!((count(&svg, "node"), count(&svg, "cluster"), count(&svg, "edge")), (12, 3, 11));
}

#[test]
fn states_are_drawn() {
    let graph = sample::show_run("dot");
    for state in ["done", "FAILED", "skipped", "verifying", "building", "waiting", "ready"] {
        assert!(graph.contains(&format!("(2, {state})")), "{state}:\n{graph}");
    }
    let Some(svg) = drawn(&graph) else { return };
    assert_eq!(count(&svg, "node"), 7);
}

#[test]
fn hostile_titles_are_shown_as_they_are() {
    let Some(svg) = drawn(&sample::show(&sample::hostile(), "dot")) else { return };
    assert_eq!((count(&svg, "node"), count(&svg, "cluster")), (HOSTILE.len(), 1));
    let text = Regex::new(r"<text[^>]*>([^<]*)</text>").unwrap();
    let words: String =
        text.captures_iter(&svg).map(|found| unescaped(&found[1]).replace(char::is_whitespace, "")).collect();
    for title in HOSTILE {
        let title: String = title.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
        assert!(words.contains(&title), "{title} is not in {words}");
    }
}

/// SVG's text as it is read.
fn unescaped(text: &str) -> String {
    let number = Regex::new("&#(x?)([0-9a-fA-F]+);").unwrap();
    let text = number.replace_all(text, |found: &regex::Captures<'_>| {
        let radix = if found[1].is_empty() { 10 } else { 16 };
        char::from_u32(u32::from_str_radix(&found[2], radix).unwrap()).unwrap().to_string()
    });
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
