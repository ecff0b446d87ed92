//! Agents as separate processes: what `fp` assumes about Claude Code and Codex when it starts them outside a session.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bundle::plugin;
use crate::client_binary;
use crate::headless::Headless;
use crate::request::{Request, bash, call, text};
use crate::sample::Sample;
use crate::session::Client;
use crate::stand_in::{Fault, StandIn};
use crate::{tests, wait};

/// A client program that runs agents.
#[derive(Clone, Copy)]
pub(crate) enum Program {
    /// Claude Code, with the plugin's agents.
    Claude,
    /// Codex, with the role's page in its prompt.
    Codex,
}

impl Program {
    /// Starts a builder process in `sample` with the prompt `prompt`; `further` are additional flags.
    pub(crate) fn start<'a>(
        self,
        client: &'a Client<'a>,
        sample: &Sample,
        prompt: &str,
        further: &[&str],
    ) -> Headless<'a> {
        let (mut command, mark) = client.agent_command(match self {
            Self::Claude => client_binary::path(),
            Self::Codex => client_binary::codex_path(),
        });
        match self {
            Self::Claude => {
                command
                    .args(["-p", prompt, "--output-format", "stream-json", "--verbose"])
                    .args(further);
                let agent = ["--agent", "fp:builder", "--permission-mode", "acceptEdits"];
                command.args(agent).arg("--strict-mcp-config");
                command.arg("--plugin-dir").arg(plugin());
            }
            Self::Codex => {
                let state = client.state();
                let scratch = state.join("scratch");
                std::fs::create_dir_all(&scratch).expect("the folder of the sample is writable");
                command.env("TMPDIR", scratch);
                let roots = [
                    sample.path().join(".git"),
                    sample.path().join(".fractal-planner"),
                    state,
                ];
                // If one of these folders is missing, Codex doesn't run any command.
                let roots: Vec<_> = roots.into_iter().filter(|root| root.is_dir()).collect();
                let roots = json!(roots);
                let roots = format!("sandbox_workspace_write.writable_roots={roots}");
                command.args(["exec", "--json", "-s", "workspace-write", "-c", &roots]);
                // The sample is below `/tmp`, which is writable by default.
                command.args(["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
                // A login shell sets a PATH of its own.
                command
                    .args(["-c", "allow_login_shell=false"])
                    .args(further);
                let page = include_str!("../../agents/builder.md");
                let page = page.splitn(3, "---\n").last().unwrap_or(page);
                command.arg(format!("{page}\n# Now\n\n{prompt}"));
            }
        }
        command.stdin(std::process::Stdio::null());
        client.headless(command, mark)
    }
}

tests![
    a_refused_call_is_named_at_once_and_at_the_end,
    an_overload_is_told_and_outlived,
    a_refused_key_ends_with_its_status,
    a_cut_answer_is_asked_for_again,
    a_process_goes_on_with_its_session,
    a_terminated_process_ends_its_command,
    a_killed_process_leaves_its_command_running,
    a_process_ends_while_its_service_says_nothing,
];

/// The tests that need Codex.
pub(crate) const CODEX_TESTS: &[(&str, fn())] = &[
    (
        "agents::codex_names_what_it_has_used_and_changed",
        codex_names_what_it_has_used_and_changed,
    ),
    (
        "agents::codex_outlives_a_cut_and_ends_at_a_refused_key",
        codex_outlives_a_cut_and_ends_at_a_refused_key,
    ),
];

/// The prompt that the model is started with in these tests.
const PROMPT: &str = "You are builder-1 of plan probe.";

fn of_type<'a>(events: &'a [Value], kind: &str, subtype: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| {
            event["type"] == kind && (subtype.is_empty() || event["subtype"] == subtype)
        })
        .collect()
}

fn a_refused_call_is_named_at_once_and_at_the_end() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|request| match request.turns() {
        0 => bash("npm ci"),
        1 => bash("sh tests/run.sh"),
        2 => call("Write", json!({ "file_path": "made", "content": "here" })),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let rule = ["--allowedTools", "Bash(sh tests/run.sh)"];
    let ended = Program::Claude.start(&client, &sample, PROMPT, &rule).end();

    assert_eq!(ended.result(), "all done");
    assert_eq!(sample.read("made"), "here");
    assert_eq!(
        stand_in.requests()[2].last_result(),
        "ok tests/hello_test.sh"
    );
    assert_eq!(
        of_type(&ended.events, "system", "permission_denied").len(),
        1
    );
    let result = of_type(&ended.events, "result", "")[0];
    assert_eq!(
        result["permission_denials"].as_array().map(Vec::len),
        Some(1),
        "{result:#}"
    );
    assert_eq!(
        result["permission_denials"][0]["tool_input"]["command"],
        "npm ci"
    );
}

fn an_overload_is_told_and_outlived() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|_| text("all done"));
    stand_in.fail(2, Fault::Status(529), |request| {
        request.speaker.is("builder-1")
    });
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let ended = Program::Claude.start(&client, &sample, PROMPT, &[]).end();

    assert_eq!(ended.result(), "all done");
    let retries = of_type(&ended.events, "system", "api_retry");
    assert_eq!(retries.len(), 2, "{retries:?}");
    assert_eq!(
        (&retries[0]["error_status"], &retries[0]["error"]),
        (&json!(529), &json!("overloaded"))
    );
}

fn a_refused_key_ends_with_its_status() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|_| text("all done"));
    stand_in.fail(usize::MAX, Fault::Status(403), |_| true);
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let ended = Program::Claude.start(&client, &sample, PROMPT, &[]).fail();

    let result = of_type(&ended.events, "result", "")[0];
    assert_eq!(result["is_error"], true);
    assert_eq!(
        (&result["api_error_status"], &result["terminal_reason"]),
        (&json!(403), &json!("api_error"))
    );
}

fn a_cut_answer_is_asked_for_again() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|_| text("all done"));
    stand_in.fail(1, Fault::Cut(300), |_| true);
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let ended = Program::Claude.start(&client, &sample, PROMPT, &[]).end();

    assert_eq!(ended.result(), "all done");
    assert_eq!(stand_in.requests().len(), 2, "{}", stand_in.summary());
}

fn a_process_goes_on_with_its_session() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|request: &Request| text(format!("turn {}", request.turns())));
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let first = Program::Claude.start(&client, &sample, PROMPT, &[]).end();
    let session = first.events[0]["session_id"]
        .as_str()
        .expect("the first event names it");
    let again = Program::Claude
        .start(&client, &sample, "Go on.", &["--resume", session])
        .end();

    assert_eq!((first.result(), again.result()), ("turn 0", "turn 1"));
    let cost = |events: &[Value], key: &str| {
        of_type(events, "result", "")[0][key]
            .as_f64()
            .expect("a cost")
    };
    let usage =
        |events: &[Value]| of_type(events, "result", "")[0]["usage"]["input_tokens"].clone();
    assert_eq!(
        usage(&first.events),
        usage(&again.events),
        "usage is of the process"
    );
    let [one, two] = [&first.events, &again.events].map(|events| cost(events, "total_cost_usd"));
    assert!(
        two > 1.9 * one,
        "the cost is of the session: {one} and {two}"
    );
}

/// Time limit for a command to end.
const SOON: Duration = Duration::from_secs(5);

/// True if a builder's running command survives when `signal` ends the builder.
fn outlives(signal: &str) -> bool {
    let sample = Sample::new();
    sample.write("wait.sh", "echo $$ > number\nwhile :; do sleep 1; done\n");
    let stand_in = StandIn::start(|_| bash("sh wait.sh"));
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let rule = ["--allowedTools", "Bash(sh wait.sh)"];
    let session = Program::Claude.start(&client, &sample, PROMPT, &rule);
    session.wait_until("a command that runs", || {
        sample.read("number").ends_with('\n')
    });
    let command = Path::new("/proc").join(sample.read("number").trim());
    let mut runs = command.exists();
    assert!(runs, "it runs before the signal");
    let ended = session.signal(signal, || {
        runs = wait::poll(SOON, || (!command.exists()).then_some(())).is_none()
    });
    assert!(
        of_type(&ended.events, "result", "").is_empty(),
        "it has no time for a result"
    );
    runs
}

fn a_terminated_process_ends_its_command() {
    assert!(!outlives("TERM"));
}

/// So whoever kills an agent must also end the commands that it started.
fn a_killed_process_leaves_its_command_running() {
    assert!(outlives("KILL"));
}

fn a_process_ends_while_its_service_says_nothing() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|_| text("all done"));
    stand_in.fail(1, Fault::Hang, |_| true);
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let session = Program::Claude.start(&client, &sample, PROMPT, &[]);
    session.wait_until("a request", || !stand_in.requests().is_empty());
    let ended = session.signal("TERM", || ());
    assert!(
        of_type(&ended.events, "result", "").is_empty(),
        "{:?}",
        ended.events
    );
}

fn codex_names_what_it_has_used_and_changed() {
    let sample = Sample::for_codex();
    let path = sample.path().join("made");
    let stand_in = StandIn::start(move |request| match request.turns() {
        0 => bash("echo it works; exit 3"),
        1 => call("Write", json!({ "file_path": path, "content": "here\n" })),
        2 => bash("cat made; fp --version; sleep 0.5; echo out > ../outside"),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let ended = Program::Codex.start(&client, &sample, PROMPT, &[]).end();

    let items: Vec<_> = of_type(&ended.events, "item.completed", "")
        .into_iter()
        .map(|event| &event["item"])
        .collect();
    let first = (&items[0]["type"], &items[0]["exit_code"]);
    assert_eq!(
        first,
        (&json!("command_execution"), &json!(3)),
        "{}",
        items[0]
    );
    assert_eq!(items[1]["type"], "file_change");
    assert!(
        items[1]["changes"][0]["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("/made")),
        "{}",
        items[1]
    );
    // Codex may not list an item for this command, so its request is read.
    let printed = stand_in
        .requests()
        .last()
        .expect("it was asked")
        .last_result();
    let version = format!("here\nfp {}\n", env!("CARGO_PKG_VERSION"));
    assert!(
        printed.contains(&version) && printed.contains("Read-only file system"),
        "{printed}"
    );
    assert_eq!(items.last().expect("a last item")["text"], "all done");
    let thread = &of_type(&ended.events, "thread.started", "")[0]["thread_id"];
    assert!(thread.is_string());
    let usage = &of_type(&ended.events, "turn.completed", "")[0]["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"]),
        (&json!(40), &json!(20))
    );
}

fn codex_outlives_a_cut_and_ends_at_a_refused_key() {
    let sample = Sample::for_codex();
    let stand_in = StandIn::start(|_| text("all done"));
    stand_in.fail(1, Fault::Cut(50), |_| true);
    let client = Client::new(&stand_in, sample.path()).with_agents();
    let ended = Program::Codex.start(&client, &sample, PROMPT, &[]).end();
    assert_eq!(
        of_type(&ended.events, "error", "").len(),
        1,
        "{:?}",
        ended.events
    );

    stand_in.fail(usize::MAX, Fault::Status(401), |_| true);
    let ended = Program::Codex.start(&client, &sample, PROMPT, &[]).fail();
    let failed = of_type(&ended.events, "turn.failed", "")[0];
    let message = failed["error"]["message"].as_str().expect("it says why");
    assert!(
        message.starts_with("unexpected status 401 Unauthorized"),
        "{message}"
    );
}
