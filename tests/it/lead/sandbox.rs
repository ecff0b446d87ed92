//! What an agent in the sandbox reaches: its folder, and through the lead the calls of its role.

use std::fs;

use fp_host::platform::can_confine;

use super::{AGENT, expect_all_done, home_text, lead, scene, settings};
use crate::common::Environment;
use crate::common::plan::PLAN;

/// Tries each line of the file `tries`, and notes which of them work.
const TRIES: &str = r#"
top=$(git rev-parse --path-format=absolute --git-common-dir)/..
plan_dir=$top/.fractal-planner/plans/sample-20261121
if [ ! -e "$HOME/log/tried" ]; then
  echo >"$HOME/log/tried"
  while read -r line; do (eval "$line") >/dev/null 2>&1 </dev/null && echo "works: $line" >>"$HOME/log/done"; done <"$HOME/tries"
fi
"#;

/// A scene of `tasks` whose agents, played by `program`, try what the file `tries` says and write to `~/log` alone.
fn narrow_scene(tasks: usize, program: &str) -> Environment {
    let environment = scene(tasks);
    settings(&environment, program, "");
    let home = environment.beside("home");
    fs::create_dir(home.join("log")).unwrap();
    let config = home.join(".config/fractal-planner/config.json");
    let narrow = fs::read_to_string(&config).unwrap();
    fs::write(&config, narrow.replace("~/\"", "~/log\"")).unwrap();
    let agent = AGENT.replace("$HOME/agents.log", "$HOME/log/agents.log");
    fs::write(home.join("agent"), format!("{TRIES}{agent}")).unwrap();
    environment
}

/// Its login and its conversations, and nothing that a later session takes for the user's wishes.
#[test]
fn what_claude_code_keeps_for_itself() {
    if !can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let environment = narrow_scene(1, "claude");
    let own = environment.beside("home/.claude");
    fs::create_dir_all(own.join("skills")).unwrap();
    for file in [".credentials.json", "settings.json", "CLAUDE.md"] {
        fs::write(own.join(file), "{}").unwrap();
    }
    let tries = [
        "echo new >~/.claude/.credentials.json",
        "mkdir ~/.claude/.oauth_refresh.lock",
        "mkdir ~/.claude/projects/this && echo said >~/.claude/projects/this/x.jsonl",
        "echo bad >~/.claude/settings.json",
        "echo bad >~/.claude/settings.local.json",
        "echo bad >>~/.claude/CLAUDE.md",
        "echo bad >~/.claude/skills/bad.md",
        "mv ~/.claude/settings.json ~/.claude/projects/",
        "mv -T ~/.claude/skills ~/.claude/other",
        "mkdir ~/.claude/todos/evil && echo bad >~/.claude/todos/evil/it && mv -T ~/.claude/todos/evil ~/.claude/evil",
        "mv -T ~/.claude/todos ~/.claude/more",
        "echo bad >~/.claude.json",
        "mkdir ~/bad",
    ];
    let home = environment.beside("home");
    fs::write(home.join("tries"), tries.join("\n") + "\n").unwrap();
    let ran = lead(&environment, &[]);
    assert_eq!(ran.code, 0, "{ran}");
    expect_all_done(&environment, 1);
    let done = home_text(&environment, "log/done");
    let expected: Vec<String> = tries[..3].iter().map(|it| format!("works: {it}")).collect();
    assert_eq!(done.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_agent_reaches_its_folder_and_its_own_calls() {
    if !can_confine() {
        println!("skipped: this system confines nothing");
        return;
    }
    let environment = narrow_scene(2, "own");
    let home = environment.beside("home");
    fs::write(home.join(".profile"), "as it was\n").unwrap();
    let other = environment.beside("other").display().to_string();
    environment.git(&["init", "--quiet", &other]);
    let ask = |call: &str| {
        format!(
            "printf '%s' '{call}' >\"$FP_BROKER/x1\"; echo x1 >\"$FP_BROKER/bell\"; \
             until [ -e \"$FP_BROKER/x1.answer\" ]; do sleep 0.01; done; \
             grep -q '\"status\":0' \"$FP_BROKER/x1.answer\"; e=$?; rm \"$FP_BROKER\"/x1*; exit $e"
        )
    };
    let call = |arguments: &str, cwd: &str, input: &str| {
        ask(&format!(
            r#"{{"arguments":{arguments},"cwd":"{cwd}","input":"{input}"}}"#
        ))
    };
    let here = environment.path("").display().to_string();
    let tries = [
        // What it may.
        "echo fine >own && rm own".to_owned(),
        "fp status".to_owned(),
        format!("fp note {PLAN} add 'WARN: a note'"),
        call(&format!(r#"["note","{PLAN}","list"]"#), &here, ""),
        // What it may not.
        "echo bad >>\"$HOME/.profile\"".to_owned(),
        "echo bad >\"$top/.git/bad\"".to_owned(),
        "git config a.b c".to_owned(),
        "echo bad >\"$top/part-1.txt\"".to_owned(),
        "echo bad >>\"$plan_dir/events.jsonl\"".to_owned(),
        "mv \"$plan_dir/tasks.md\" \"$plan_dir/gone\"".to_owned(),
        format!("env -u FP_BROKER fp note {PLAN} add 'WARN: past the lead'"),
        format!("env -u FP_AGENT_ROLE fp approve {PLAN} --yes"),
        format!("env -u FP_AGENT_ROLE fp verdict {PLAN} 1 --pass '1: x' --summary x"),
        call(&format!(r#"["approve","{PLAN}","--yes"]"#), &here, ""),
        call(&format!(r#"["cancel","{PLAN}"]"#), &here, ""),
        call(
            &format!(r#"["verdict","{PLAN}","1","--pass","1: x","--summary","x"]"#),
            &here,
            "",
        ),
        call(r#"["hook","user-prompt-submit"]"#, &here, "{}"),
        call(
            r#"["hook","stop"]"#,
            &here,
            &format!(r#"{{\"cwd\":\"{other}\"}}"#),
        ),
        "mkfifo \"$FP_BROKER/p1\"; echo p1 >\"$FP_BROKER/bell\"; \
         until [ -e \"$FP_BROKER/p1.answer\" ]; do sleep 0.01; done; \
         grep -q '\"status\":0' \"$FP_BROKER/p1.answer\""
            .to_owned(),
        format!("fp claim {PLAN} 2 --as builder-2"),
        "(head -c 100000000 /dev/zero; echo) >\"$FP_BROKER/bell\"; false".to_owned(),
        call(&format!(r#"["note","{PLAN}","list"]"#), &other, ""),
        call(
            &format!(r#"["-C","{other}","note","{PLAN}","list"]"#),
            &here,
            "",
        ),
        ask("no call"),
    ];
    fs::write(home.join("tries"), tries.join("\n") + "\n").unwrap();

    let ran = lead(&environment, &["-j", "1"]);
    assert_eq!(ran.code, 0, "{ran}");
    expect_all_done(&environment, 2);
    let done = home_text(&environment, "log/done");
    let expected: Vec<String> = tries[..4].iter().map(|it| format!("works: {it}")).collect();
    assert_eq!(done.lines().collect::<Vec<_>>(), expected);
    assert_eq!(home_text(&environment, ".profile"), "as it was\n");
    let left = fs::read_dir(home.join(".local/state/fractal-planner")).unwrap();
    let left = left.flatten().map(|entry| entry.file_name());
    assert!(
        !left
            .into_iter()
            .any(|name| name.to_string_lossy().contains("fp-run")),
        "the folder of the calls is gone"
    );
}

/// What a builder does to hand in another's task, and a verifier to judge another one than its own.
const MEDDLE: &str = r#"
log=$HOME/../work/.fractal-planner/plans/sample-20261121/events.jsonl
if [ "$name" = builder-1 ] && [ ! -e "$HOME/log/meddled" ]; then
  echo >"$HOME/log/meddled"
  for _ in $(seq 600); do
    claimed=$(grep -o '"task":"[0-9]*","owner":"builder-2","token":"[0-9a-f]*"' "$log") && break
    sleep 0.05
  done
  of=$(printf '%s' "$claimed" | sed -n '1s/.*"task":"\([0-9]*\)".*/\1/p')
  token=$(printf '%s' "$claimed" | sed -n '1s/.*"token":"\([0-9a-f]*\)".*/\1/p')
  fp scope extend sample-20261121 "$of" other.txt --claim "$token" --reason 'to meddle' 2>>"$HOME/log/told"
  fp submit sample-20261121 "$of" --claim "$token" 2>>"$HOME/log/told" && echo "submitted $of" >>"$HOME/log/done"
fi
if [ "$role" = verifier ]; then
  (echo bad >bad || mv .git other) 2>>"$HOME/log/denied" && echo "wrote on the bench" >>"$HOME/log/done"
  for other in 1 2; do
    case $prompt in *"task $other of"*) continue ;; esac
    fp verdict sample-20261121 "$other" --pass '1: x' --summary x 2>>"$HOME/log/told" && echo "judged $other" >>"$HOME/log/done"
  done
fi
"#;

#[test]
fn agents_leave_each_others_tasks_alone() {
    let environment = narrow_scene(2, "own");
    let home = environment.beside("home");
    fs::write(home.join("tries"), "").unwrap();
    fs::write(home.join("first"), MEDDLE).unwrap();
    fs::write(home.join("wait"), "2").unwrap();
    let ran = lead(&environment, &["-j", "2"]);
    assert_eq!(ran.code, 0, "{ran}");
    expect_all_done(&environment, 2);
    let told = home_text(&environment, "log/told");
    assert_eq!(home_text(&environment, "log/done"), "", "{told}");
    let denied = home_text(&environment, "log/denied");
    assert_eq!(denied.matches("Permission denied").count(), 4, "{denied}");
    assert_eq!(told.matches("is not yours").count(), 4, "{told}");
}
