//! Checks that the programs' output is parsed, and that their command lines are right.

use std::ffi::OsStr;

use serde_json::json;

use super::*;

fn order<'a>(
    player: &'a AgentPlayer,
    name: &'a AgentName,
    session: Option<&'a str>,
) -> AgentOrder<'a> {
    AgentOrder {
        name,
        role: Role::Builder,
        task: None,
        checkout: Path::new("/work"),
        player,
        cwd: Path::new("/work/tree"),
        page: "# Builder\n",
        prompt: "Claim.",
        session,
        plugin: Path::new("/plugin"),
        search_path: OsStr::new("/plugin/bin"),
        writes: &[],
        confinement: None,
        allow: &[],
        needs_network: false,
        scratch: Path::new("/nowhere"),
    }
}

fn words(made: &AgentCommand) -> Vec<String> {
    made.command
        .get_args()
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

fn claude(line: &str) -> Vec<AgentNews> {
    AgentProgram::Claude(PathBuf::new()).parse_news(line)
}

fn codex(line: &str) -> Vec<AgentNews> {
    AgentProgram::Codex(PathBuf::new()).parse_news(line)
}

fn opencode(line: &str) -> Vec<AgentNews> {
    AgentProgram::OpenCode(PathBuf::new()).parse_news(line)
}

#[test]
fn lines_that_say_nothing() {
    for line in [
        "",
        " \n",
        "[1]",
        "null",
        "{\"type\":7}",
        "{\"type\":\"user\"}",
    ] {
        assert_eq!(
            (claude(line), codex(line), opencode(line)),
            (vec![], vec![], vec![]),
            "{line}"
        );
    }
}

#[test]
fn what_an_agent_says_itself() {
    let said = |words: &str| vec![AgentNews::Said(words.to_owned())];
    for line in ["{", " plain\n", "{\"type\":\"result\""] {
        assert_eq!(claude(line), said(line.trim()));
    }
    let long = claude(&"x".repeat(MAX_SAID * 2));
    assert_eq!(long, said(&format!("…{}", "x".repeat(MAX_SAID - 3))));
    assert_eq!(
        claude(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I stop"}]}}"#),
        said("I stop")
    );
    assert_eq!(
        codex(r#"{"type":"item.completed","item":{"type":"agent_message","text":"I stop"}}"#),
        said("I stop")
    );
    assert_eq!(
        opencode(r#"{"type":"text","part":{"text":"I stop"}}"#),
        said("I stop")
    );
}

#[test]
fn a_result_of_claude() {
    let line = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":3,"total_cost_usd":0.0185,
        "usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":2},
        "permission_denials":[{"tool_name":"Bash","tool_input":{"command":"npm\n ci"}},{"tool_name":"Write","tool_input":{"file_path":"/etc/x"}},{}]}"#;
    assert_eq!(
        claude(line),
        [
            AgentNews::Denied("Bash(npm ci)".into()),
            AgentNews::Denied("Write(/etc/x)".into()),
            AgentNews::Denied("?".into()),
            AgentNews::Spent {
                turns: 3,
                tokens: TokenUse {
                    input: 15,
                    cached: 7,
                    output: 2
                },
                micro_usd: None
            },
            AgentNews::SessionTotal {
                tokens: None,
                micro_usd: Some(18_500)
            },
        ]
    );
}

fn fault_of(news: &[AgentNews]) -> Option<&ServiceFault> {
    news.iter().find_map(|news| {
        if let AgentNews::Fault(fault) = news {
            Some(fault)
        } else {
            None
        }
    })
}

fn kind(fault: Option<&ServiceFault>) -> &'static str {
    match fault {
        Some(ServiceFault::Away(_)) => "away",
        Some(ServiceFault::Refused(_)) => "refused",
        Some(ServiceFault::SessionLost(_)) => "lost",
        Some(ServiceFault::Unknown(_)) => "unknown",
        None => "none",
    }
}

#[test]
fn faults_of_claude() {
    let cases = [
        (
            r#""api_error_status":529,"terminal_reason":"api_error","result":"Overloaded""#,
            "away",
        ),
        (
            r#""api_error_status":429,"terminal_reason":"api_error","result":"Slow down""#,
            "away",
        ),
        (
            r#""api_error_status":null,"terminal_reason":"api_error","result":"API Error: Connection refused""#,
            "away",
        ),
        (
            r#""api_error_status":422,"terminal_reason":"api_error","result":"Unprocessable""#,
            "unknown",
        ),
        (
            r#""api_error_status":413,"terminal_reason":"image_error","result":"Too large""#,
            "none",
        ),
        (
            r#""api_error_status":401,"terminal_reason":"api_error","result":"Invalid API key""#,
            "refused",
        ),
        (
            r#""api_error_status":400,"terminal_reason":"api_error","result":"Credit balance is too low""#,
            "refused",
        ),
        (
            r#""api_error_status":404,"terminal_reason":"api_error","result":"selected model""#,
            "refused",
        ),
        (
            r#""api_error_status":null,"terminal_reason":"api_error","result":"Not logged in · Please run /login""#,
            "refused",
        ),
        (
            r#""api_error_status":400,"terminal_reason":"api_error","result":"API Error: 400 messages""#,
            "lost",
        ),
        (
            r#""subtype":"error_during_execution","errors":["No conversation found with session ID: x"]"#,
            "lost",
        ),
        (
            r#""subtype":"error_max_turns","terminal_reason":"max_turns","result":null"#,
            "none",
        ),
        (r#""terminal_reason":"aborted_tools""#, "none"),
    ];
    for (line, expected) in cases {
        let news = claude(&format!(r#"{{"type":"result","is_error":true,{line}}}"#));
        assert_eq!(kind(fault_of(&news)), expected, "{line}");
    }
}

#[test]
fn what_claude_is_at() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","name":"Bash","input":{"command":"cargo\ttest \u001b[31m"}}]}}"#;
    let [AgentNews::Doing(doing), AgentNews::Said(_)] = &claude(line)[..] else {
        panic!()
    };
    assert!(
        doing.starts_with("Bash cargo test") && !doing.chars().any(char::is_control),
        "{doing:?}"
    );
    let line = r#"{"type":"assistant","message":{"id":"msg_1","content":[],"usage":{"input_tokens":3,"cache_creation_input_tokens":4,"cache_read_input_tokens":5,"output_tokens":1}}}"#;
    let tokens = TokenUse {
        input: 7,
        cached: 5,
        output: 1,
    };
    assert_eq!(
        claude(line),
        [AgentNews::Request {
            id: "msg_1".into(),
            tokens
        }]
    );
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":2,"error_status":529,"error":"overloaded"}"#;
    assert_eq!(
        claude(retry),
        [AgentNews::Waiting("overloaded, try 2".into())]
    );
}

#[test]
fn lines_of_codex() {
    assert_eq!(
        codex(r#"{"type":"thread.started","thread_id":"t1"}"#),
        [AgentNews::Session("t1".into())]
    );
    let usage = r#"{"type":"turn.completed","usage":{"input_tokens":40,"cached_input_tokens":30,"output_tokens":20}}"#;
    let total = Some(TokenUse {
        input: 10,
        cached: 30,
        output: 20,
    });
    assert_eq!(
        codex(usage)[1],
        AgentNews::SessionTotal {
            tokens: total,
            micro_usd: None
        }
    );
    let faults = [
        ("unexpected status 401 Unauthorized: x", "refused"),
        (
            "Quota exceeded. Check your plan and billing details.",
            "refused",
        ),
        ("Missing environment variable: OPENAI_API_KEY", "refused"),
        (
            "exceeded retry limit, last status: 429 Too Many Requests",
            "away",
        ),
        ("unexpected status 503 Service Unavailable: x", "away"),
        (
            "stream disconnected, url: http://127.0.0.1:40113/v1",
            "away",
        ),
        (
            "Selected model is at capacity. Please try a different model.",
            "away",
        ),
        ("You've hit your usage limit. Try again at 3:05 PM.", "away"),
        ("thread panicked", "unknown"),
        ("unexpected status 422 Unprocessable Entity: x", "unknown"),
    ];
    for (said, expected) in faults {
        let news = codex(&format!(
            r#"{{"type":"turn.failed","error":{{"message":"{said}"}}}}"#
        ));
        assert_eq!(kind(fault_of(&news)), expected, "{said}");
    }
}

#[test]
fn lines_of_opencode() {
    let line = r#"{"type":"step_finish","sessionID":"ses_1","part":{"tokens":{"input":5,"output":2,"reasoning":1,"cache":{"read":3,"write":4}},"cost":0.5}}"#;
    let tokens = TokenUse {
        input: 9,
        cached: 3,
        output: 3,
    };
    let spent = AgentNews::Spent {
        turns: 1,
        tokens,
        micro_usd: Some(500_000),
    };
    assert_eq!(opencode(line), [AgentNews::Session("ses_1".into()), spent]);
    let error =
        r#"{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":401}}}"#;
    assert_eq!(kind(fault_of(&opencode(error))), "refused");
    let faults = [
        (r#""statusCode":529"#, "away"),
        (r#""statusCode":422"#, "unknown"),
        ("", "unknown"),
    ];
    for (status, expected) in faults {
        let error =
            format!(r#"{{"type":"error","error":{{"name":"APIError","data":{{{status}}}}}}}"#);
        assert_eq!(kind(fault_of(&opencode(&error))), expected, "{status}");
    }
}

#[test]
fn an_id_of_a_conversation_is_new_each_time() {
    let (player, name) = (AgentPlayer::default(), AgentName::new("builder-1").unwrap());
    let made = || {
        claude::build_command(Path::new("claude"), &order(&player, &name, None))
            .session
            .unwrap()
    };
    let (one, two) = (made(), made());
    assert_ne!(one, two);
    let lengths: Vec<usize> = one.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{one}");
}

/// The variables that are set, with their values, and those that are removed.
fn variables(made: &AgentCommand) -> Vec<(String, Option<String>)> {
    let text = |text: &OsStr| text.to_string_lossy().into_owned();
    made.command
        .get_envs()
        .map(|(name, value)| (text(name), value.map(text)))
        .collect()
}

#[test]
fn what_claude_may_do() {
    let (player, name) = (AgentPlayer::default(), AgentName::new("builder-1").unwrap());
    let allow = ["Bash(sh tests/*)".to_owned()];
    let builder = AgentOrder {
        allow: &allow,
        ..order(&player, &name, Some("s-1"))
    };
    let made = claude::build_command(Path::new("claude"), &builder);
    let line = words(&made).join(" ");
    assert!(
        line.contains("--permission-mode acceptEdits --resume s-1 --allowedTools"),
        "{line}"
    );
    assert!(
        line.ends_with("--allowedTools Bash(sh tests/*) --strict-mcp-config"),
        "{line}"
    );
    for name in [
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_PID",
        "CLAUDE_CODE_ENTRYPOINT",
    ] {
        assert!(
            variables(&made).contains(&(name.to_owned(), None)),
            "{name}"
        );
    }
    let verifier = AgentOrder {
        role: Role::Verifier,
        ..order(&player, &name, None)
    };
    let line = words(&claude::build_command(Path::new("claude"), &verifier)).join(" ");
    assert!(
        line.contains("--agent fp:verifier") && line.contains("--permission-mode default"),
        "{line}"
    );
}

#[test]
fn what_codex_may_do() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_owned();
    let git = folder.path().join("git");
    std::fs::create_dir(&git).unwrap();
    std::fs::write(folder.path().join(".git"), "gitdir: git\n").unwrap();
    let (player, name) = (AgentPlayer::default(), AgentName::new("builder-1").unwrap());
    let writes = [there.clone(), folder.path().join("not-there")];
    let order = AgentOrder {
        writes: &writes,
        cwd: folder.path(),
        ..order(&player, &name, None)
    };
    let words = words(&codex::build_command(Path::new("codex"), &order, None));
    let line = words.join(" ");
    assert!(
        line.starts_with("exec --json --skip-git-repo-check -s workspace-write -c "),
        "{line}"
    );
    let roots = json!([there, git.canonicalize().unwrap()]);
    for setting in [
        "approval_policy=\"never\"".to_owned(),
        format!("sandbox_workspace_write.writable_roots={roots}"),
        "sandbox_workspace_write.network_access=false".to_owned(),
        "shell_environment_policy.inherit=\"all\"".to_owned(),
        "allow_login_shell=false".to_owned(),
        "features.multi_agent=false".to_owned(),
        "web_search=\"disabled\"".to_owned(),
        "project_doc_fallback_filenames=[\"CLAUDE.md\"]".to_owned(),
    ] {
        assert!(
            words
                .windows(2)
                .any(|pair| pair == ["-c", setting.as_str()]),
            "{setting}: {line}"
        );
    }
    let shared = AgentOrder {
        needs_network: true,
        ..order
    };
    let line = self::words(&codex::build_command(Path::new("codex"), &shared, None)).join(" ");
    assert!(
        line.contains("sandbox_workspace_write.network_access=true"),
        "{line}"
    );
    // Where the lead makes its calls, it needs neither.
    let calls = folder.path();
    let led = codex::build_command(Path::new("codex"), &shared, Some(calls));
    let line = self::words(&led).join(" ");
    let roots = format!("sandbox_workspace_write.writable_roots={} ", json!([calls]));
    assert!(line.contains(&roots), "{line}");
    assert!(
        line.contains("sandbox_workspace_write.network_access=false"),
        "{line}"
    );
}

/// The builder before it, in the same folder, can write the file that names git's folder.
#[cfg(unix)]
#[test]
fn codex_may_write_nothing_that_a_builder_has_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["git", "place", "private"] {
        std::fs::create_dir(path(name)).unwrap();
    }
    std::os::unix::fs::symlink(path("private"), path("git/way")).unwrap();
    let (player, name) = (AgentPlayer::default(), AgentName::new("builder-1").unwrap());
    let (writes, place) = ([path("git")], path("place"));
    for named in ["private", "git/way", "git/../private"] {
        let text = format!("gitdir: {}\n", path(named).display());
        std::fs::write(place.join(".git"), text).unwrap();
        let order = AgentOrder {
            writes: &writes,
            cwd: &place,
            ..order(&player, &name, None)
        };
        let line = words(&codex::build_command(Path::new("codex"), &order, None)).join(" ");
        let roots = format!("writable_roots={} ", json!(writes));
        assert!(line.contains(&roots), "{named}: {line}");
    }
}

#[test]
fn what_opencode_may_do() {
    let (player, name) = (AgentPlayer::default(), AgentName::new("builder-1").unwrap());
    let allow = ["Bash(sh tests/run.sh)".to_owned(), "WebFetch".to_owned()];
    let configured = |role: Role| {
        let order = AgentOrder {
            allow: &allow,
            role,
            ..order(&player, &name, None)
        };
        let variables = variables(&opencode::build_command(Path::new("opencode"), &order));
        let (_, text) = variables
            .into_iter()
            .find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT")
            .unwrap();
        serde_json::from_str::<Value>(&text.unwrap()).unwrap()
    };
    let builder = configured(Role::Builder);
    assert_eq!(
        builder["permission"],
        json!({
            "edit": "allow", "webfetch": "deny", "external_directory": "deny",
            "bash": {
                "*": "deny", "fp claim *": "allow", "fp submit *": "allow", "fp scope *": "allow",
                "fp clarify *": "allow", "fp note *": "allow", "sh tests/run.sh": "allow",
            },
        })
    );
    assert_eq!(builder["agent"]["fp"]["tools"]["task"], false);
    let verifier = configured(Role::Verifier)["permission"].clone();
    assert_eq!(
        (&verifier["edit"], &verifier["bash"]["*"]),
        (&json!("deny"), &json!("deny"))
    );
    let shell = &verifier["bash"];
    assert_eq!(
        (&shell["fp claim *"], &shell["fp verdict *"]),
        (&Value::Null, &json!("allow"))
    );
}

#[test]
fn a_conversation_that_goes_on_has_no_page() {
    let (player, name) = (AgentPlayer::default(), AgentName::new("builder-1").unwrap());
    let first = codex::build_command(Path::new("codex"), &order(&player, &name, None), None);
    assert!(
        first.input.starts_with("# Builder\n\n# Now\n\nClaim."),
        "{}",
        first.input
    );
    assert_eq!(words(&first).last().unwrap(), "-");
    let again = codex::build_command(Path::new("codex"), &order(&player, &name, Some("t1")), None);
    assert_eq!(again.input, "Claim.");
    assert_eq!(
        words(&again)[words(&again).len() - 3..],
        ["resume", "t1", "-"]
    );
}

#[test]
fn placeholders_of_an_own_program() {
    let folder = tempfile::tempdir().unwrap();
    let (player, name) = (
        AgentPlayer {
            model: Some("m".into()),
            ..AgentPlayer::default()
        },
        AgentName::new("builder-1").unwrap(),
    );
    let list = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let own = OwnProgram {
        start: list(&["p", "{role}", "{name}", "--at={cwd}", "{model}", "{prompt}"]),
        resume: list(&["p", "--again", "{session}"]),
        ..OwnProgram::default()
    };
    let order = AgentOrder {
        scratch: folder.path(),
        ..order(&player, &name, None)
    };
    let made = own::build_command(&own, &order).unwrap();
    let prompt = folder.path().join("builder-1.md");
    assert_eq!(
        words(&made),
        [
            "builder",
            "builder-1",
            "--at=/work/tree",
            "m",
            prompt.to_str().unwrap()
        ]
    );
    assert!(
        std::fs::read_to_string(&prompt)
            .unwrap()
            .starts_with("# Builder")
    );
    let again = own::build_command(
        &own,
        &AgentOrder {
            session: Some("s 1"),
            ..order
        },
    )
    .unwrap();
    assert_eq!(words(&again), ["--again", "s 1"]);
    assert_eq!(std::fs::read_to_string(&prompt).unwrap(), "Claim.");
}

#[test]
fn versions() {
    for (word, version) in [
        ("2.1.329", Some([2, 1, 329])),
        ("v1.0.0", Some([1, 0, 0])),
        ("0.1.0-alpha", Some([0, 1, 0])),
        ("2.1", None),
        ("(Claude", None),
        ("99999999999999999999.1.1", None),
    ] {
        assert_eq!(version_of(word), version, "{word}");
    }
}

/// An agent that is a shell script, in `folder`.
#[cfg(unix)]
fn script(folder: &Path, script: &str) -> RunningAgent {
    let start = ["sh", "-c", script].map(str::to_owned).to_vec();
    let program = AgentProgram::Own(OwnProgram {
        start,
        ..OwnProgram::default()
    });
    let (player, name) = (AgentPlayer::default(), AgentName::new("builder-1").unwrap());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let order = AgentOrder {
        cwd: folder,
        scratch: folder,
        search_path: &path,
        ..order(&player, &name, None)
    };
    let (sender, _) = std::sync::mpsc::sync_channel(9);
    RunningAgent::start(&program, &order, 1, sender).unwrap()
}

#[test]
fn whoever_changes_files_without_a_word_shows_signs_of_life() {
    let folder = tempfile::tempdir().unwrap();
    let change = |name: &str| {
        std::thread::sleep(Duration::from_millis(20));
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "more").unwrap();
    };
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    let mut signs = LifeSigns::at_start();
    assert!(!signs.has_worked(folder.path()), "nothing to compare with");
    assert!(!signs.has_worked(folder.path()));
    change("deep/er/file");
    assert!(signs.has_worked(folder.path()));
    change(".git/file");
    assert!(!signs.has_worked(folder.path()));
}

#[cfg(unix)]
#[test]
fn the_last_words_of_an_agent_are_bounded_and_end_with_its_complaint() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        "yes flood | head -c 100000; echo; echo 'I stop'; echo '{\"usage\":{}}'; echo boom >&2";
    let mut agent = script(folder.path(), line);
    while agent.try_wait().is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let words = agent.end_and_collect(Duration::ZERO);
    assert!(words.last.ends_with("\nI stop\nboom"), "{words:?}");
    assert!(words.last.len() <= MAX_SAID, "{words:?}");
    assert_eq!(words.complaint, "boom");
}
