//! Makes the pictures of the README and of docs/pages.md: a run of sixteen tasks by three scripted builders, recorded in a terminal, and the
//! pages of its plan and of the run. The program is the real one. A scripted builder works for seconds, so the times in
//! the log are stretched before the page of the run is written.

mod recording;
mod sample;

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use recording::Recording;

/// One second of a scripted agent stands for this many seconds of a model.
const STRETCH: f64 = 90.0;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let fp = std::env::current_exe()?
        .ancestors()
        .nth(2)
        .ok_or("no folder of programs")?
        .join("fp");
    let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    let scratch = tempfile::tempdir()?;
    let stage = sample::Stage::new(&fp, scratch.path())?;

    let planned = out.join("plan.png");
    let page = scratch.path().join("plan.html");
    stage.fp(&["approve", "--yes"])?;
    let recording = Recording::of(&stage, &["run", "-j", "3", "--yes"], (84, 24))?;
    fs::write(out.join("run.svg"), recording.svg())?;

    stretch(&stage.log()?)?;
    stage.fp(&["show", "--format", "html", "--out", &page.to_string_lossy()])?;
    capture(&page, &planned, (1280, 800))?;
    let page = scratch.path().join("report.html");
    stage.fp(&["report", "--out", &page.to_string_lossy()])?;
    capture(&page, &out.join("report.png"), (1280, 900))?;
    // The task whose first attempt compares signatures byte by byte.
    let change = scratch.path().join("change.html");
    fs::write(&change, only_task(&fs::read_to_string(&page)?, 4)?)?;
    capture(&change, &out.join("change.png"), (1280, 560))?;
    if std::env::var_os("FP_KEEP").is_some() {
        writeln!(std::io::stdout(), "kept in {}", scratch.keep().display())?;
    }
    Ok(())
}

/// Stretches the times of a log, from its first entry on.
fn stretch(log: &Path) -> Outcome<()> {
    let mut first: Option<jiff::Timestamp> = None;
    let mut stretched = String::new();
    for line in fs::read_to_string(log)?.lines() {
        let mut entry: serde_json::Value = serde_json::from_str(line)?;
        let at: jiff::Timestamp = entry["at"]
            .as_str()
            .ok_or("an entry without a time")?
            .parse()?;
        let first = *first.get_or_insert(at);
        let later = at.duration_since(first).as_secs_f64() * STRETCH;
        let begin: jiff::Timestamp = "2026-11-23T09:12:00Z".parse()?;
        let at = begin + jiff::SignedDuration::from_secs_f64(later);
        entry["at"] = at.to_string().into();
        stretched.push_str(&entry.to_string());
        stretched.push('\n');
    }
    fs::write(log, stretched)?;
    // The snapshot of the log has the old times.
    let snapshot = log.with_file_name("execution-state.json");
    if snapshot.exists() {
        fs::remove_file(snapshot)?;
    }
    Ok(())
}

/// The page of a run with nothing but one task, which is open.
fn only_task(page: &str, number: usize) -> Outcome<String> {
    let missing = || format!("the page has no task {number}");
    let (head, body) = page.split_once("<body>").ok_or_else(missing)?;
    let (class, rest) = body
        .split_once(&format!("\" id=\"t{number}\">"))
        .ok_or_else(missing)?;
    let (_, class) = class.rsplit_once("class=\"").ok_or_else(missing)?;
    let end = rest.find("<details class=\"task").ok_or_else(missing)?;
    let task = rest.get(..end).ok_or_else(missing)?;
    Ok(format!(
        "{head}<body><main><section class=\"pane tasks\"><details class=\"{class}\" open>{task}</section></main></body></html>"
    ))
}

/// Captures the top of a page.
fn capture(page: &Path, picture: &Path, (width, height): (u32, u32)) -> Outcome<()> {
    let status = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-dark-mode",
        ])
        .args([
            "--blink-settings=preferredColorScheme=0",
            "--force-device-scale-factor=1.5",
        ])
        .args(["--virtual-time-budget=3000", "--timezone=UTC"])
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .env("TZ", "UTC")
        .output()?;
    if !status.status.success() || !picture.exists() {
        return Err(format!("chromium: {}", String::from_utf8_lossy(&status.stderr)).into());
    }
    Ok(())
}
