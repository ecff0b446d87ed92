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
