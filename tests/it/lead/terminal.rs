//! A run that somebody watches in a terminal.

use rustix::process::Signal;

use super::*;
use crate::watch::Terminal;

fn open(environment: &Environment, flags: &[&str]) -> Terminal {
    Terminal::shell(
        environment,
        &[&[env!("CARGO_BIN_EXE_fp"), "run", PLAN], flags].concat(),
    )
}

#[test]
fn it_asks_for_trust_and_answers_and_shows_the_report() {
    let environment = scene(3);
    fs::write(environment.beside("home/first"), "exit 0\n").unwrap();
    let mut terminal = open(&environment, &[]);
    terminal.wait_for("Do you trust it? [y/N]");
    terminal.press("y\n");
    terminal.wait_for("(waits for you)");
    terminal.wait_for("? Tasks are ready, but builders end without taking one. How should it");
    terminal.wait_for("    continue?\n");
    terminal.wait_for("      2 Stop: end the run; what is done stays");
    terminal.wait_for("1-2 answer, q stops, arrows scroll");
    fs::write(environment.beside("home/wait"), "2").unwrap();
    fs::remove_file(environment.beside("home/first")).unwrap();
    // There is no option 9.
    terminal.press("9");
    terminal.press("1");
    terminal.wait_for("builder-1  builds 1");
    terminal.wait_for(": starts");
    fs::write(environment.beside("home/wait"), "0").unwrap();
    terminal.wait_for("3 of 3 tasks done");
    terminal.wait_for("Cost: ");
    terminal.given_back("0");
    drop(terminal);
    assert!(
        environment
            .statuses()
            .iter()
            .all(|(_, status)| status == "COMPLETED")
    );
    expect_nothing_left(&environment);
}

#[test]
fn no_is_no() {
    let environment = scene(1);
    let mut terminal = open(&environment, &[]);
    terminal.wait_for("Do you trust it? [y/N]");
    terminal.press("n\n");
    terminal.wait_for("nothing was started");
    terminal.given_back("1");
    assert_eq!(home_text(&environment, "agents.log"), "");
}

#[test]
fn control_c_once_and_twice() {
    let environment = scene(2);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut terminal = open(&environment, &["--yes"]);
    terminal.wait_for("builder-1  builds 1");
    terminal.press("\u{3}");
    terminal.wait_for("ending: what runs may finish; once more ends it too");
    terminal.press("\u{3}");
    terminal.wait_for("note: stopped; nothing is lost: `fp run sample-20261121` goes on");
    terminal.given_back("1");
    drop(terminal);
    expect_nothing_left(&environment);
}

#[test]
fn q_asks_before_it_stops() {
    let environment = scene(2);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut terminal = open(&environment, &["--yes", "-j", "2"]);
    terminal.wait_for("builder-2  builds");
    terminal.press("q");
    terminal.wait_for("Stop the run? What runs may finish. y/n");
    terminal.press("n");
    terminal.wait_for("q stops the run, arrows scroll");
    assert!(!terminal.shown().contains("Stop the run?"));
    // While nothing is asked, `y` has no effect.
    terminal.press("y");
    terminal.press("qy");
    terminal.wait_for("ending: what runs may finish; once more ends it too");
    terminal.press("q");
    terminal.wait_for("End what still runs, too? y/n");
    terminal.press("y");
    let go_on = "`fp run sample-20261121 -j 2` goes on";
    terminal.wait_for(&format!("note: stopped; nothing is lost: {go_on}"));
    terminal.given_back("1");
    let status = environment.done(&["status", PLAN]).stdout;
    assert!(status.contains("(interrupted)"), "{status}");
    assert!(
        status.contains("\n  fp run sample-20261121 -j 2\n"),
        "{status}"
    );
    drop(terminal);
    expect_nothing_left(&environment);
}

#[test]
fn who_watches_sees_that_the_lead_is_gone() {
    let environment = scene(2);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut lead = lead_in_background(&environment, &[]);
    until("not claimed", || {
        environment.statuses()[0].1 == "IMPLEMENTING"
    });
    let view = [env!("CARGO_BIN_EXE_fp"), "status", "--watch", PLAN];
    let terminal = Terminal::shell(&environment, &view);
    terminal.wait_for("(running)");
    terminal.wait_for("builder-1  builds 1");
    lead.kill().unwrap();
    lead.wait().unwrap();
    terminal.wait_for("(interrupted)");
    terminal.wait_for("  fp run sample-20261121\n");
    terminal.wait_for("builder-1  last heard of: builds 1");
    let shown = terminal.shown();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(terminal.shown(), shown, "nothing counts");
    fs::remove_file(environment.beside("home/wait")).unwrap();
    assert_eq!(super::lead(&environment, &[]).code, 0);
    terminal.given_back("0");
    drop(terminal);
    expect_nothing_left(&environment);
}

#[test]
fn a_second_lead_watches() {
    let environment = scene(1);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut first = lead_in_background(&environment, &[]);
    until("not claimed", || {
        environment.statuses()[0].1 == "IMPLEMENTING"
    });
    let mut second = open(&environment, &["--yes"]);
    second.wait_for("builder-1  builds 1");
    second.press("q");
    second.given_back("0");
    assert!(
        first.try_wait().unwrap().is_none(),
        "to stop watching ends nothing"
    );
    first.kill().unwrap();
    first.wait().unwrap();
    drop(second);
    expect_nothing_left(&environment);
}

#[test]
fn a_terminal_that_closes() {
    let environment = scene(1);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let terminal = open(&environment, &["--yes"]);
    terminal.wait_for("builder-1  builds 1");
    terminal.signal(Signal::HUP);
    drop(terminal);
    expect_nothing_left(&environment);
    assert_eq!(environment.statuses()[0].1, "IMPLEMENTING");
}
