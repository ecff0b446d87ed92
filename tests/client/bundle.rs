//! The output of `fp install`, as judged by the client.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::client_binary;
use crate::request::{bash, call, text};
use crate::sample::Sample;
use crate::session::{Client, Permissions};
use crate::stand_in::StandIn;
use crate::tests;

tests![
    the_client_finds_nothing_wrong_with_the_plugin,
    the_client_installs_the_plugin_from_its_marketplace,
    fp_installs_and_uninstalls_itself,
    rules_that_fp_offers_hold,
    options_that_the_client_keeps_are_settings,
    a_bundle_of_several_platforms_works_through_its_launcher,
];

const INSTALLED: &str = "fp@fractal-planner";

/// The folder that `fp install --bundle` has written, once for all tests.
fn bundle() -> &'static Path {
    static BUNDLE: OnceLock<PathBuf> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("client-bundle");
        let path = folder
            .to_str()
            .expect("the target directory has a readable name");
        Sample::new().fp(&["install", "--bundle", path]);
        folder
    })
}

/// The plugin's folder in the bundle, for `--plugin-dir`.
pub(crate) fn plugin() -> PathBuf {
    bundle().join("fp")
}

/// Runs a client command that doesn't start a session.
fn run(client: &Client<'_>, arguments: &[&str]) -> Output {
    let (mut command, _mark) = client.command(arguments);
    command.output().expect("the client can be started")
}

fn succeed(client: &Client<'_>, arguments: &[&str]) -> String {
    let output = run(client, arguments);
    let (out, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{arguments:?} failed: {out}{errors}"
    );
    out.into_owned()
}

fn json_of(client: &Client<'_>, arguments: &[&str]) -> Value {
    let printed = succeed(client, arguments);
    serde_json::from_str(&printed)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {printed}"))
}

fn silent() -> StandIn {
    StandIn::start(|_| text("ok"))
}

/// The ids of the plugins that the client has installed.
fn installed(client: &Client<'_>) -> Vec<Value> {
    let listed = json_of(client, &["plugin", "list", "--json"]);
    let plugins = listed.as_array().expect("the client lists plugins");
    plugins.iter().map(|plugin| plugin["id"].clone()).collect()
}

fn the_client_finds_nothing_wrong_with_the_plugin() {
    let (sample, stand_in) = (Sample::new(), silent());
    let client = Client::new(&stand_in, sample.path());
    let plugin = plugin();
    let path = plugin
        .to_str()
        .expect("the target directory has a readable name");
    let report = json_of(
        &client,
        &[
            "plugin",
            "validate",
            path,
            "--strict",
            "--json",
            "--profile",
            "directory",
        ],
    );
    assert_eq!(report["success"], true, "{report:#}");
    for findings in [
        "/manifest/errors",
        "/manifest/warnings",
        "/contents",
        "/directory/findings",
    ] {
        assert_eq!(
            report.pointer(findings),
            Some(&json!([])),
            "{findings}: {report:#}"
        );
    }
    assert_eq!(report["directory"]["incomplete"], false, "{report:#}");
    for skill in ["fp:plan", "fp:implement", "fp:status", "fp:commit"] {
        let skills = report["provides"]["skills"]
            .as_array()
            .expect("it says what it has looked at");
        assert!(skills.contains(&json!(skill)), "{report:#}");
    }
    let marketplace = bundle()
        .to_str()
        .expect("the target directory has a readable name");
    let report = json_of(
        &client,
        &["plugin", "validate", marketplace, "--strict", "--json"],
    );
    assert_eq!(report["manifest"]["warnings"], json!([]), "{report:#}");
}

fn the_client_installs_the_plugin_from_its_marketplace() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|request| match request.turns() {
        0 => bash("fp --version"),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path());
    let marketplace = bundle()
        .to_str()
        .expect("the target directory has a readable name");
    succeed(&client, &["plugin", "marketplace", "add", marketplace]);
    succeed(&client, &["plugin", "install", INSTALLED]);
    assert_eq!(installed(&client), [INSTALLED]);

    assert_eq!(client.print("/fp:status").end().result(), "all done");
    let requests = stand_in.of_lead();
    assert!(
        requests[0].was_told("Show where a plan stands"),
        "{}",
        requests[0].summary()
    );
    assert_eq!(
        requests[1].last_result(),
        format!("fp {}", env!("CARGO_PKG_VERSION"))
    );

    succeed(&client, &["plugin", "uninstall", INSTALLED]);
    assert!(installed(&client).is_empty());
}

/// Settings without the empty objects that the client leaves behind after removing plugins.
fn without_empty(text: &str) -> Value {
    let mut settings: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(fields) = settings.as_object_mut() {
        fields.retain(|_, value| *value != json!({}));
    }
    settings
}

fn fp_installs_and_uninstalls_itself() {
    let (sample, stand_in) = (Sample::new(), silent());
    let client = Client::new(&stand_in, sample.path());
    let before = client.settings_text();
    let program = client_binary::path();
    let program = program.to_str().expect("the client has a readable path");

    client.fp(&["install", "--client", program]);
    assert_eq!(installed(&client), [INSTALLED]);
    client.fp(&["install", "--client", program]);
    assert_eq!(installed(&client), [INSTALLED], "twice is as good as once");

    client.fp(&["install", "--remove", "--client", program]);
    assert!(installed(&client).is_empty());
    assert_eq!(
        json_of(&client, &["plugin", "marketplace", "list", "--json"]),
        json!([])
    );
    assert_eq!(
        without_empty(&client.settings_text()),
        without_empty(&before)
    );
}

/// The result of calling `fp` in a session with hooks switched off: fp's answer, or the client's refusal.
fn answer_without_hooks(client: &Client<'_>, stand_in: &StandIn) -> String {
    assert_eq!(
        client.print("which plans are there?").end().result(),
        "all done"
    );
    stand_in
        .of_lead()
        .last()
        .expect("the session has asked")
        .last_result()
}

fn rules_that_fp_offers_hold() {
    let sample = Sample::new();
    let page = sample
        .path()
        .join(".fractal-planner/plans/greet-20261121/tasks.md");
    let written = page.clone();
    let stand_in = StandIn::start(move |request| match request.turns() {
        0 => call(
            "Write",
            json!({ "file_path": written, "content": "a page\n" }),
        ),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path()).with_permissions(Permissions::Default);
    let program = client_binary::path();
    let program = program.to_str().expect("the client has a readable path");
    let client = client.with_settings(r#"{"disableAllHooks": true}"#);
    answer_without_hooks(&client, &stand_in);
    assert!(!page.exists(), "nobody has allowed it");
    let (mut doctor, _mark) = client.fp_command(&["doctor", "--client", program, "--json"]);
    let said = doctor.output().expect("cargo has built fp").stdout;
    let said = String::from_utf8_lossy(&said);
    let mut report: Value = serde_json::from_str(&said).expect("it prints JSON");
    report["offered"]["disableAllHooks"] = true.into();
    let client = client.with_settings(&report["offered"].to_string());
    let answer = answer_without_hooks(&client, &stand_in);
    assert!(page.exists(), "{answer}");
}

fn options_that_the_client_keeps_are_settings() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|request| match request.turns() {
        0 => bash("fp config --json"),
        _ => text("all done"),
    });
    let client = Client::new(&stand_in, sample.path());
    let before = client.settings_text();
    let program = client_binary::path();
    let program = program.to_str().expect("the client has a readable path");
    client.fp(&["install", "--client", program]);
    succeed(
        &client,
        &[
            "plugin",
            "install",
            INSTALLED,
            "--config",
            "maxParallelTasks=3",
        ],
    );
    assert_eq!(
        client
            .print("how many builders work at once?")
            .end()
            .result(),
        "all done"
    );
    let told = stand_in.of_lead()[1].last_result();
    assert!(
        told.contains(r#""maxParallelTasks": "plugin""#)
            && told.contains(r#""maxParallelTasks": 3"#),
        "{told}"
    );
    client.fp(&["install", "--remove", "--client", program]);
    assert_eq!(
        without_empty(&client.settings_text()),
        without_empty(&before)
    );
}

fn a_bundle_of_several_platforms_works_through_its_launcher() {
    let sample = Sample::new();
    let stand_in = StandIn::start(|request| match request.turns() {
        0 => bash("fp --version"),
        _ => text("all done"),
    });
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    let out = folder.path().join("bundle");
    let target = folder.path().join("programs").join(this_platform());
    std::fs::create_dir_all(&target).expect("it can be made");
    let program = env!("CARGO_BIN_EXE_fp");
    std::fs::copy(program, target.join("fp")).expect("it can be copied");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("release/plugin");
    let mut command = Command::new(script);
    let status = command
        .arg(program)
        .arg(folder.path().join("programs"))
        .arg(&out)
        .status();
    assert!(status.expect("it can be started").success());
    let plugin = out.join("fp");
    let launcher = std::fs::read_to_string(plugin.join("bin/fp")).expect("the launcher is text");
    assert!(launcher.starts_with("#!/bin/sh"), "{launcher}");

    let client = Client::new(&stand_in, sample.path()).with_plugin(&plugin);
    assert_eq!(client.print("/fp:status").end().result(), "all done");
    let requests = stand_in.of_lead();
    assert!(
        requests[0].was_told("Show where a plan stands"),
        "{}",
        requests[0].summary()
    );
    assert_eq!(
        requests[1].last_result(),
        format!("fp {}", env!("CARGO_PKG_VERSION"))
    );
}

/// The target triple of this platform, among those that a bundle can hold.
fn this_platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "apple-darwin",
        "windows" => "pc-windows-msvc",
        _ => "unknown-linux-gnu",
    };
    format!("{}-{system}", std::env::consts::ARCH)
}
