//! What `fp run` judges by default: checks beside the builders' work, and the result as a whole.

use super::*;

/// A verifier of the whole that does what the file `whole` says: it passes, or fails every requirement. Of a task it
/// passes what the checks passed.
const JUDGE: &str = r#"
if [ "$role" = builder ]; then
  claim=$(fp claim $plan --as "$name" --format json) || exit 0
  task=$(printf '%s\n' "$claim" | sed -n 's/^  "task": "\(.*\)",*$/\1/p')
  token=$(printf '%s\n' "$claim" | sed -n 's/^  "claim": "\(.*\)",*$/\1/p')
  case $task in
    repair*) [ "$(cat "$HOME/whole")" = mended ] && echo "a line of a repair" >>part-1.txt ;;
    *) echo "a line about $task" >"part-$task.txt" ;;
  esac
  fp submit $plan "$task" --claim "$token" --note 'WARN: as it was written'
  exit 0
fi
task=$(printf '%s\n' "$prompt" | sed -n 's/.*Verify task \([0-9a-z.]*\) of.*/\1/p')
fp verify $plan $task >/dev/null
case "$task $(cat "$HOME/whole")" in
  " pass") fp verdict $plan --pass '1: both parts have their lines' ;;
  " "*) fp verdict $plan --fail '1: part-1.txt has one line, where two were wanted' ;;
  *mended) fp verdict $plan "$task" --pass '1,2: part-1.txt has two lines' ;;
  *) fp verdict $plan "$task" --fail '1: nothing was mended' --fail '2: nothing was mended' ;;
esac
"#;

/// Two tasks without risk, and a verifier of the whole with this opinion.
fn by_risk(whole: &str) -> Environment {
    let environment = scene(2);
    let config = environment.beside("home/.config/fractal-planner/config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("\"each\"", "\"risk\"")).unwrap();
    let agent = format!("plan={PLAN}\necho \"$role $name\" >>\"$HOME/agents.log\"\n{JUDGE}");
    fs::write(environment.beside("home/agent"), agent).unwrap();
    fs::write(environment.beside("home/whole"), whole).unwrap();
    environment
}

fn verifiers(environment: &Environment) -> Vec<String> {
    let log = home_text(environment, "agents.log");
    let started = log
        .lines()
        .filter_map(|line| line.strip_prefix("verifier "));
    started.map(str::to_owned).collect()
}

#[test]
fn checks_pass_tasks_and_one_verifier_the_whole() {
    let environment = by_risk("pass");
    let output = lead(&environment, &["-j", "2"]);
    assert_eq!(output.code, 0, "{output}");
    expect_all_done(&environment, 2);
    assert_eq!(verifiers(&environment), ["verifier-end-1"]);
    let status = environment.done(&["status", PLAN]).stdout;
    assert!(status.contains("passed: the result as a whole"), "{status}");
    assert!(
        status.contains("only checked, without a verifier: 1, 2"),
        "{status}"
    );
    expect_nothing_left(&environment);
}

#[test]
fn what_the_whole_misses_is_mended_once() {
    let environment = by_risk("mended");
    let output = lead(&environment, &["-j", "2"]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(
        verifiers(&environment),
        ["verifier-end-1", "verifier-repair1-i1"]
    );
    let status = environment.done(&["status", PLAN]).stdout;
    assert!(status.contains("3 of 3 tasks done"), "{status}");
    expect_nothing_left(&environment);
}

#[test]
fn repairs_that_fail_end_with_the_run() {
    let environment = by_risk("never");
    let output = lead(&environment, &["-j", "2", "--max-iterations", "2"]);
    assert_eq!(output.code, 1, "{output}");
    let status = environment.done(&["status", PLAN]).stdout;
    assert!(
        status.contains("2 of 3 tasks done, 1 failed"),
        "{status}\n{output}"
    );
    assert!(status.contains("failed: the result as a whole"), "{status}");
    expect_nothing_left(&environment);
}

#[test]
fn a_stopped_lead_leaves_no_check_behind() {
    let environment = by_risk("pass");
    let tree = tree(&[
        Leaf {
            id: "1",
            after: "none",
            file: "part-1.txt",
            test: "sh wait.sh",
        },
        Leaf {
            id: "2",
            after: "1",
            file: "part-2.txt",
            test: "grep -q line part-2.txt",
        },
    ]);
    environment.plan(&tree);
    let wait = "[ -e part-1.txt ] || exit 1\ntouch \"$TMPDIR/begun\" 2>/dev/null; sleep 600\n";
    environment.write("wait.sh", wait);
    environment.git(&["add", "wait.sh"]);
    environment.git(&["commit", "--quiet", "--message", "Wait"]);
    environment.done(&["approve", PLAN, "--yes"]);
    let mut child = lead_in_background(&environment, &["-j", "1"]);
    until("no check runs", || {
        processes(&environment).iter().any(|process| {
            fs::read(process.join("cmdline")).is_ok_and(|line| line.starts_with(b"sleep\x00600"))
        })
    });
    // The first lets what runs finish, the second ends it too.
    signal(&child, rustix::process::Signal::INT);
    std::thread::sleep(Duration::from_millis(600));
    signal(&child, rustix::process::Signal::INT);
    child.wait().unwrap();
    expect_nothing_left(&environment);
}

#[test]
fn a_tree_without_a_root_is_mended_too() {
    let environment = by_risk("mended");
    let file = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let rooted = environment.read(&file);
    let bare: String = rooted
        .lines()
        .filter(|line| !line.contains("[ID: root]"))
        .map(|line| format!("{line}\n"))
        .collect();
    environment.write(&file, &bare);
    let valid = environment.fp(&["validate", PLAN]);
    assert_eq!(valid.code, 0, "{valid}");
    environment.done(&["approve", PLAN, "--yes"]);
    let output = lead(&environment, &["-j", "2"]);
    assert_eq!(output.code, 0, "{output}");
    let status = environment.done(&["status", PLAN]).stdout;
    assert!(status.contains("3 of 3 tasks done"), "{status}");
}
