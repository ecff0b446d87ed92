//! Runs that end early, are killed, or wait for the user.

use rustix::process::Signal;

use super::*;

#[test]
fn killed_again_and_again_it_loses_nothing() {
    let environment = scene(6);
    fs::write(environment.beside("home/wait"), "0.3").unwrap();
    for kill in 0..10_u64 {
        let mut child = lead_in_background(&environment, &["-j", "3"]);
        std::thread::sleep(Duration::from_millis(150 + 170 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    fs::remove_file(environment.beside("home/wait")).unwrap();
    let output = lead(&environment, &["-j", "3"]);
    assert_eq!(output.code, 0, "{output}");
    expect_all_done(&environment, 6);
    let statuses = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    for task in statuses["tasks"].as_array().unwrap() {
        assert_eq!(task["iteration"], 1, "a kill used an iteration: {task}");
    }
    expect_nothing_left(&environment);
}

#[test]
fn a_lead_killed_at_any_moment_is_seen_to_be_gone_everywhere() {
    let environment = scene(40);
    fs::write(environment.beside("home/wait"), "0.2").unwrap();
    let status = || environment.done(&["status", PLAN]).stdout;
    for kill in 0..8_u64 {
        let mut child = lead_in_background(&environment, &["-j", "2"]);
        until("not led", || status().contains("(running)"));
        std::thread::sleep(Duration::from_millis(140 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        // A child process that it had just forked may still hold the lock for a moment.
        let end = Instant::now();
        while status().contains("(running)") {
            assert!(end.elapsed() < Duration::from_secs(1), "it still runs");
        }
        let said = status();
        assert!(said.contains("(interrupted)"), "{said}");
        for word in ["running", " left", "being built", "building", "verif"] {
            assert!(!said.contains(word), "{word}: {said}");
        }
    }
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut child = lead_in_background(&environment, &["-j", "2"]);
    let held = || {
        let held = environment.statuses().into_iter();
        held.filter(|(_, status)| status == "IMPLEMENTING")
            .map(|(task, _)| task)
            .next()
    };
    until("nothing is built", || {
        status().contains("(running)") && held().is_some()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let go_on = format!("fp run {PLAN} -j 2");
    for command in [
        &["status", PLAN][..],
        &["plans"],
        &[],
        &["statusline"],
        &["report", "--handoff", PLAN],
        &["report", PLAN],
        &["show", PLAN, "--format", "html"],
        &["report", PLAN, "--format", "html"],
        &["status", PLAN, "--format", "json"],
    ] {
        let output = environment.fp(command).stdout;
        assert!(output.contains("interrupted"), "{command:?}: {output}");
        let names = ["plans", "statusline", "show"];
        let is_told = !command.first().is_some_and(|name| names.contains(name));
        let is_told = is_told && !command.contains(&"json");
        assert!(!is_told || output.contains(&go_on), "{command:?}: {output}");
    }
    let why = environment.done(&["why", PLAN, &held().unwrap()]).stdout;
    assert!(why.contains("when the run was interrupted"), "{why}");
    assert!(why.contains(&go_on), "{why}");
    expect_nothing_left(&environment);
}

/// A git that holds the checkout's index lock and needs a second to release it after SIGTERM.
const SLOW_GIT: &str = r#"#!/bin/sh
PATH=${PATH#*:}
case " $* " in *" update-index --replace "*)
  lock=$(git rev-parse --git-dir)/index.lock
  if [ -z "$GIT_INDEX_FILE" ] && mkdir "$HOME/locked"; then
    trap '' TERM
    : >"$lock"
    : >"$HOME/locked/yes"
    for _ in 1 2 3 4 5; do sleep 0.2; done
    rm "$lock"
    exit 1
  fi
esac
exec git "$@"
"#;

#[test]
fn a_git_that_has_the_index_when_the_lead_is_killed_may_give_it_back() {
    let environment = scene(2);
    write_program(&environment.beside("bin/git"), SLOW_GIT);
    let mut child = lead_in_background(&environment, &[]);
    until("nothing is committed", || {
        environment.beside("home/locked/yes").exists()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    expect_all_done(&environment, 2);
    expect_nothing_left(&environment);
}

#[test]
fn a_lock_that_outlives_its_lead_for_a_moment_keeps_nobody_from_going_on() {
    let environment = scene(1);
    let lock =
        fs::File::create(environment.path(&format!(".fractal-planner/plans/{PLAN}/lead.lock")))
            .unwrap();
    lock.lock().unwrap();
    let mut child = lead_in_background(&environment, &[]);
    std::thread::sleep(Duration::from_millis(300));
    drop(lock);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    expect_all_done(&environment, 1);
}

#[test]
fn asked_to_end_it_lets_its_agents_finish() {
    let environment = scene(3);
    fs::write(environment.beside("home/wait"), "1").unwrap();
    let mut child = lead_in_background(&environment, &["-j", "1"]);
    until("nothing started", || {
        home_text(&environment, "agents.log").contains("builder")
    });
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let statuses = environment.statuses();
    assert_eq!(statuses[0].1, "AWAITING_VERIFICATION", "{statuses:?}");
    assert_eq!(statuses[1].1, "PENDING", "{statuses:?}");
    expect_nothing_left(&environment);
    assert_eq!(lead(&environment, &[]).code, 0);
    expect_all_done(&environment, 3);
}

#[test]
fn asked_to_end_it_starts_nothing_for_those_that_are_done() {
    let environment = scene(2);
    fs::write(
        environment.beside("home/first"),
        "[ \"$name\" = builder-2 ] && sleep 3\n",
    )
    .unwrap();
    fs::write(environment.beside("home/wait"), "1").unwrap();
    let mut child = lead_in_background(&environment, &["-j", "2"]);
    until("nothing started", || {
        home_text(&environment, "agents.log").contains("builder-2")
    });
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let agents = home_text(&environment, "agents.log");
    assert!(!agents.contains("verifier"), "{agents}");
}

#[test]
fn an_agent_that_is_slow_to_begin_is_started_once() {
    let environment = scene(2);
    fs::write(
        environment.beside("home/first"),
        "[ \"$name\" = builder-2 ] && sleep 3\n",
    )
    .unwrap();
    assert_eq!(lead(&environment, &["-j", "2"]).code, 0);
    let agents = home_text(&environment, "agents.log");
    assert_eq!(agents.matches("builder builder-2 ").count(), 1, "{agents}");
}

#[test]
fn asked_twice_it_ends_them_too() {
    let environment = scene(1);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut child = lead_in_background(&environment, &[]);
    until("nothing started", || {
        home_text(&environment, "agents.log").contains("builder")
    });
    until("not claimed", || {
        environment.statuses()[0].1 == "IMPLEMENTING"
    });
    signal(&child, Signal::TERM);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    expect_nothing_left(&environment);
    fs::remove_file(environment.beside("home/wait")).unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
}

#[test]
fn a_cancelled_run_ends_its_agents() {
    let environment = scene(2);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut child = lead_in_background(&environment, &[]);
    until("not claimed", || {
        environment.statuses()[0].1 == "IMPLEMENTING"
    });
    let begun = Instant::now();
    let cancelled = environment.done(&["cancel"]);
    assert_eq!(
        cancelled.stdout,
        format!("The run is cancelled; `fp run {PLAN}` goes on with what is left\n")
    );
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(
        begun.elapsed() < Duration::from_secs(25),
        "it waited for its agents"
    );
    expect_nothing_left(&environment);
    let home = environment.done(&[]);
    assert!(
        home.stdout.contains(&format!(
            "Next: fp run {PLAN}  (goes on where it was cancelled)"
        )),
        "{home}"
    );
}

#[test]
fn agents_that_end_at_once() {
    let environment = scene(2);
    fs::write(environment.beside("home/first"), "exit 0\n").unwrap();
    let asked = lead(&environment, &["--ask"]);
    assert_eq!(asked.code, 3, "{asked}");
    assert!(
        asked
            .stdout
            .contains("Tasks are ready, but builders end without taking one"),
        "{asked}"
    );
    assert!(
        asked
            .stdout
            .ends_with("Then go on: fp run sample-20261121 --ask\n"),
        "{asked}"
    );
    assert_eq!(home_text(&environment, "agents.log").lines().count(), 3);
    // Asks the same question again, without starting a builder first.
    assert_eq!(lead(&environment, &["--ask"]).code, 3);
    let unattended = lead(&environment, &["--unattended"]);
    assert_eq!(unattended.code, 1, "{unattended}");
    expect_nothing_left(&environment);
}

#[test]
fn an_answer_lets_it_go_on() {
    let environment = scene(1);
    fs::write(environment.beside("home/first"), "exit 0\n").unwrap();
    let asked = lead(&environment, &["--ask", "--format", "json"]);
    assert_eq!(asked.code, 3, "{asked}");
    let question = asked.json()["actions"][0]["question"]
        .as_str()
        .unwrap()
        .to_owned();
    let answer = environment.done(&["answer", PLAN, &question, "--option", "Retry"]);
    assert!(
        answer.stdout.contains("Next: fp run sample-20261121"),
        "{answer}"
    );
    fs::remove_file(environment.beside("home/first")).unwrap();
    assert_eq!(lead(&environment, &["--ask"]).code, 0);
}

#[test]
fn a_budget_ends_new_work_and_asks() {
    let environment = scene(4);
    let asked = lead(&environment, &["--budget", "2000 tokens", "--ask"]);
    assert_eq!(asked.code, 3, "{asked}");
    assert!(
        asked
            .stdout
            .contains("The budget of the run is 2000 tokens, and "),
        "{asked}"
    );
    assert!(
        asked
            .stdout
            .ends_with("Then go on: fp run sample-20261121 --budget '2000 tokens' --ask\n"),
        "{asked}"
    );
    let done = |environment: &Environment| {
        environment
            .statuses()
            .iter()
            .filter(|(_, status)| status == "COMPLETED")
            .count()
    };
    assert!((1..=2).contains(&done(&environment)));
    let question = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    // The next builder works beside the verifier, before either process says what it has cost.
    assert!(
        [2000, 3000, 4000]
            .map(Into::into)
            .contains(&question["cost"]["tokens"]["input"]),
        "{question}"
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Continue"]);
    // The run spends the same amount again, then asks again.
    let again = lead(&environment, &["--budget", "2000 tokens", "--ask"]);
    assert!(again.code == 3 && done(&environment) >= 2, "{again}");
    // Once the open question is answered, a run without a budget asks nothing.
    environment.done(&["answer", PLAN, "q2", "--option", "Continue"]);
    assert_eq!(lead(&environment, &[]).code, 0);
}

#[test]
fn a_run_whose_last_verdict_spends_its_budget_is_finished() {
    let environment = scene(1);
    let output = lead(&environment, &["--budget", "2000 tokens", "--unattended"]);
    assert_eq!(output.code, 0, "{output}");
    expect_all_done(&environment, 1);
}

#[test]
fn an_agent_that_claims_under_another_name_holds_nothing_up() {
    for builders in ["1", "2"] {
        let environment = scene(2);
        let first = "if [ \"$role\" = builder ] && mkdir \"$HOME/once\" 2>/dev/null; then\n  \
                     fp claim $plan --as builder-9 >/dev/null\n  exit 0\nfi\n";
        fs::write(environment.beside("home/first"), first).unwrap();
        let output = lead(&environment, &["-j", builders]);
        assert_eq!(output.code, 0, "{output}");
        expect_all_done(&environment, 2);
    }
}

/// True if a command of the run sleeps for ten minutes.
fn sleeps(environment: &Environment) -> bool {
    let lines = processes(environment)
        .into_iter()
        .map(|path| fs::read(path.join("cmdline")));
    lines.flatten().any(|line| line == b"sleep\x00600\0")
}

#[test]
fn what_the_last_agent_has_used_counts() {
    let environment = scene(1);
    // The last agent reports its usage a second after its verdict, and the run waits for nothing else.
    fs::write(
        environment.beside("home/first"),
        "echo() { sleep 1; command echo \"$@\"; }\n",
    )
    .unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
    let status = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    assert_eq!(
        status["cost"]["tokens"]["input"], 2000,
        "{}",
        status["cost"]
    );
}

#[test]
fn asked_twice_it_ends_the_last_checks_too() {
    let environment = scene(1);
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/context.md"),
        "# Context\n\n## CI Checks\n\n- `sleep 600`\n",
    );
    environment.done(&["approve", PLAN, "--yes"]);
    let mut child = lead_in_background(&environment, &[]);
    until("the checks don't run", || sleeps(&environment));
    for _ in 0..2 {
        signal(&child, Signal::TERM);
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    expect_nothing_left(&environment);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}

#[test]
fn it_goes_on_when_another_process_has_made_its_commit() {
    let environment = scene(1);
    let lock = environment.path(".fractal-planner/plans/commit.lock");
    let busy = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(lock)
        .unwrap();
    busy.lock().unwrap();
    let mut child = lead_in_background(&environment, &[]);
    let judged = || environment.done(&["log", PLAN]).stdout.contains("passed");
    until("no verdict", judged);
    std::thread::sleep(Duration::from_secs(1));
    drop(busy);
    until("it waits for ever", || {
        environment.statuses()[0].1 == "COMPLETED"
    });
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_a_killed_lead_has_left_running_is_ended_by_the_next() {
    let environment = scene(1);
    // The agent outlives its parent, whatever signal it gets when the parent dies.
    let first = "if mkdir \"$HOME/once\" 2>/dev/null; then\n  trap '' TERM HUP INT PIPE\n  setsid sleep 600 &\n  wait\nfi\n";
    fs::write(environment.beside("home/first"), first).unwrap();
    let mut child = lead_in_background(&environment, &[]);
    until("nothing sleeps", || sleeps(&environment));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
    expect_nothing_left(&environment);
}

#[test]
#[cfg(target_os = "linux")]
fn an_agents_process_that_drops_its_environment_is_ended() {
    let environment = scene(1);
    let first = "[ -e \"$HOME/pid\" ] || setsid env -i PATH=/usr/bin:/bin sh -c \
                 'echo $$ >\"$1\"; exec sleep 600' sh \"$HOME/pid\" >/dev/null 2>&1 &\n\
                 while ! [ -s \"$HOME/pid\" ]; do sleep 0.05; done\n";
    fs::write(environment.beside("home/first"), first).unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
    let id = home_text(&environment, "pid");
    let process = PathBuf::from("/proc").join(id.trim());
    assert!(!process.exists(), "{}", process.display());
}

#[test]
fn an_unattended_run_stops_at_its_budget() {
    let environment = scene(3);
    let output = lead(&environment, &["--budget", "0.01", "--unattended"]);
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains("(cancelled)"), "{output}");
    let used_up = "the budget of the run, 0.01 USD, is used up";
    assert!(
        output.stdout.contains(&format!("the run stops: {used_up}"))
            && !output.stdout.contains("cancelled by a rule"),
        "{output}"
    );
    let way_on = format!("note: {used_up}; a higher --budget goes on: fp run {PLAN} --budget");
    assert!(output.stderr.contains(&way_on), "{output}");
    // With a higher budget, the run continues.
    let output = environment.fp(&["run", "--yes", "--budget", "5 usd", "--unattended"]);
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn an_agent_that_does_everything_wrong() {
    let environment = scene(2);
    // The first agent starts a process that outlives it, ignores SIGTERM, and floods its output.
    let first = "if mkdir \"$HOME/once\" 2>/dev/null; then\n  trap '' TERM\n  setsid sleep 600 &\n  yes flood | head -c 20000000\n  \
                 yes '{' | head -c 20000000 | tr -d '\\n'\n  exit 7\nfi\n";
    fs::write(environment.beside("home/first"), first).unwrap();
    let output = lead(&environment, &[]);
    assert_eq!(output.code, 0, "{output}");
    // On a busy machine the flood takes so long that the agent doesn't count as having ended at once.
    assert!(
        output.stderr.contains("note: builder-1: own ended at once")
            || output
                .stdout
                .contains("builder-1 has ended without a result"),
        "{output}"
    );
    expect_all_done(&environment, 2);
    expect_nothing_left(&environment);
}

#[test]
fn the_reader_of_its_output_goes_away() {
    let environment = scene(2);
    fs::write(environment.beside("home/wait"), "600").unwrap();
    let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
    command
        .args(["run", PLAN, "--yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    until("nothing started", || {
        home_text(&environment, "agents.log").contains("builder")
    });
    drop(child.stdout.take());
    // The next line is written to a closed pipe.
    environment.done(&["note", PLAN, "add", "WARN: nobody reads this"]);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    expect_nothing_left(&environment);
}

#[test]
fn an_agent_does_only_what_its_role_does() {
    let environment = scene(1);
    let calls = [
        "verdict $plan 1 --pass '1: seen' --summary x",
        "approve $plan --yes",
        "answer $plan q1 --option Stop",
        "run $plan",
        "config set guard.mode off",
        "install",
    ];
    let first: String = calls
        .iter()
        .map(|call| format!("fp {call} 2>>\"$HOME/refused-$role\"\n"))
        .collect();
    fs::write(environment.beside("home/first"), first).unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
    let refused = |role: &str| home_text(&environment, &format!("refused-{role}"));
    for (role, plural, calls) in [("builder", "builders", 6), ("verifier", "verifiers", 5)] {
        let said = refused(role);
        let refusals = said
            .lines()
            .filter(|line| line.contains(&format!("is not for {plural}")))
            .count();
        assert_eq!(refusals, calls, "{said}");
    }
    expect_all_done(&environment, 1);
}

#[test]
fn a_command_that_tells_the_user() {
    let environment = scene(1);
    let file = environment.beside("home/told");
    let config = environment.beside("home/.config/fractal-planner/config.json");
    let text = fs::read_to_string(&config).unwrap();
    let notify = format!(
        r#"{{ "notify": {{ "command": ["cp", "/dev/null", "{}-{{text}}"] }},"#,
        file.display()
    );
    fs::write(&config, text.replacen('{', &notify, 1)).unwrap();
    assert_eq!(lead(&environment, &[]).code, 0);
    assert!(
        environment
            .beside("home/told-sample-20261121: 1 of 1 tasks done")
            .exists()
    );
    // An end with an error is also notified.
    let environment = scene(1);
    let config = environment.beside("home/.config/fractal-planner/config.json");
    let text = fs::read_to_string(&config)
        .unwrap()
        .replace("\"own\", \"{role}\"", "\"/nowhere\", \"{role}\"");
    let file = environment.beside("home/told");
    let notify = format!(
        r#"{{ "notify": {{ "command": ["cp", "/dev/null", "{}"] }},"#,
        file.display()
    );
    fs::write(&config, text.replacen('{', &notify, 1)).unwrap();
    assert_eq!(lead(&environment, &[]).code, 2);
    assert!(file.exists());
}

#[test]
fn a_session_gets_the_open_question_with_the_news_of_the_end() {
    let environment = scene(1);
    fs::write(environment.beside("home/first"), "exit 0\n").unwrap();
    let asked = lead(&environment, &["--ask"]);
    assert_eq!(asked.code, 3, "{asked}");
    let told = |status: u32| {
        let prompt = format!(
            "<task-notification>\n<status>failed</status>\n<summary>Background command \"Lead\" failed with exit code \
             {status}</summary>\n</task-notification>"
        );
        let event = serde_json::json!({ "session_id": "s1", "cwd": environment.path(""), "prompt": prompt });
        environment.hook("user-prompt-submit", event.to_string().as_bytes())
    };
    let context = told(3).json()["hookSpecificOutput"].clone();
    assert_eq!(context["hookEventName"], "UserPromptSubmit");
    assert_eq!(context["additionalContext"], asked.stdout);
    assert_eq!(told(1).stdout, "", "the report is in its output");
    // A lead that is running asks the question itself.
    let lock = environment.path(&format!(".fractal-planner/plans/{PLAN}/lead.lock"));
    let held = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock)
        .unwrap();
    held.lock().unwrap();
    assert_eq!(told(3).stdout, "");
    drop(held);
    let question = asked.stdout.split_whitespace().nth(1).unwrap();
    environment.done(&["answer", PLAN, question, "--option", "Retry"]);
    assert_eq!(told(3).stdout, "", "nothing is asked");
}

/// Makes agents with this role run `script` before their part of [`AGENT`]; a script that exits replaces that part.
fn instead_of(environment: &Environment, role: &str, script: &str) {
    let first = format!("if [ \"$role\" = {role} ]; then\n{script}\nfi\n");
    fs::write(environment.beside("home/first"), first).unwrap();
}

/// The text on one line, with HTML entities unescaped.
fn flat_text(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("&lt;", "<");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The output of the commands that tell a person about task 1.
fn told_of_task(environment: &Environment) -> [String; 4] {
    let page = environment.beside("home/report.html");
    environment.done(&["report", PLAN, "--out", page.to_str().unwrap()]);
    [
        environment.done(&["why", PLAN, "1"]).stdout,
        environment.done(&["status", PLAN]).stdout,
        environment.done(&["report", PLAN]).stdout,
        fs::read_to_string(page).unwrap(),
    ]
}

#[test]
fn a_program_that_fails_at_once_is_stopped_with_its_words() {
    for role in ["builder", "verifier"] {
        let environment = scene(1);
        let script = "[ $role = builder ] && fp claim $plan --as $name >/dev/null\necho 'boom: no credit left' >&2\nexit 1";
        instead_of(&environment, role, script);
        let output = lead(&environment, &[]);
        assert_eq!(output.code, 2, "{output}");
        for said in [
            "boom: no credit left; again in ",
            "error: own ended at once, with: boom: no credit left",
            "hint: nothing is lost: `fp run sample-20261121` goes on",
        ] {
            assert!(output.stderr.contains(said), "{said}: {output}");
        }
        let starts = home_text(&environment, "agents.log");
        let starts = starts.lines().filter(|line| line.starts_with(role));
        assert_eq!(starts.count(), 3);
        let why = environment.done(&["why", PLAN, "1"]).stdout;
        assert!(
            why.contains("its last words: \"boom: no credit left\""),
            "{why}"
        );
        let status = environment
            .done(&["status", PLAN, "--format", "json"])
            .json();
        assert_eq!(status["tasks"][0]["iteration"], 1, "no attempt is used");
        fs::remove_file(environment.beside("home/first")).unwrap();
        assert_eq!(lead(&environment, &[]).code, 0);
    }
}

#[test]
fn a_builder_that_hands_nothing_in_leaves_its_reasons() {
    let environment = scene(1);
    let script = "fp claim $plan --as $name --format json >\"$HOME/claim\" || exit 0\n\
        token=$(sed -n 's/^  \"claim\": \"\\(.*\\)\",*$/\\1/p' \"$HOME/claim\")\n\
        echo x >f2.txt\nfp submit $plan 1 --claim $token >/dev/null 2>&1\n\
        printf 'I give up \\033[31m<system-reminder>\\n'\nexit 0";
    instead_of(&environment, "builder", script);
    let output = lead(&environment, &["--unattended", "--max-iterations", "1"]);
    assert_eq!(output.code, 1, "{output}");
    for told in told_of_task(&environment) {
        let flat = flat_text(&told);
        let reason = "builder-1 handed nothing in, 4 times; refused: ";
        assert!(flat.contains(reason), "{told}");
        assert!(!told.contains('\x1b'), "{told}");
    }
    let [why, _, report, page] = told_of_task(&environment).map(|told| flat_text(&told));
    for told in [why, report, page] {
        for reason in ["f2.txt", r#"its last words: "I give up \"#] {
            assert!(told.contains(reason), "{reason}: {told}");
        }
    }
    let log = environment.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    assert_eq!(log.matches("submitRefused").count(), 1, "said once:\n{log}");
}

#[test]
fn a_verifier_that_gives_no_verdict_leaves_its_words() {
    let environment = scene(1);
    instead_of(
        &environment,
        "verifier",
        "sleep 0.1; echo 'I am too tired'; exit 0",
    );
    let output = lead(&environment, &["--unattended"]);
    assert_eq!(output.code, 1, "{output}");
    for told in told_of_task(&environment) {
        let flat = flat_text(&told);
        assert!(
            flat.contains("given up without a verdict; its last words: \"I am"),
            "{told}"
        );
    }
}

#[test]
fn the_end_shows_the_way_to_its_commits() {
    let environment = scene(2);
    let base = environment.git(&["rev-parse", "HEAD"]);
    let output = lead(&environment, &[]);
    let review = output
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("Review: git "));
    let review: Vec<&str> = review.unwrap().split(' ').collect();
    assert_eq!(review[..2], ["log", "-p"], "{output}");
    let found = environment.git(&["log", "--format=%H", review[2]]);
    assert_eq!(found.lines().count(), 2, "{output}");
    assert!(!found.contains(base.trim()), "{output}");
    assert!(
        output
            .stdout
            .ends_with(&format!("Report: fp report {PLAN} --out report.html\n")),
        "{output}"
    );
}
