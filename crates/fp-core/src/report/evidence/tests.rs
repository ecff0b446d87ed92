use proptest::prelude::*;

use super::*;
use crate::plan::id::TaskId;
use crate::run::event::{Judgement, Leaf};
use crate::run::state::{MeasuredWork, TaskVerdict};
use crate::verification::change::{Change, ChangeStatus, FileKind};
use crate::verification::command_check_name;

const AT: &str = "2026-11-21T09:00:00Z";

/// As 0.1 had it written.
const OLD: &str = "\
# Verification Evidence: Task 1.2

Result: FAIL
Timestamp: 2025-02-03T04:05:06.789Z
Task: Greet people

## Criteria Results

| # | Criterion | Result | Evidence |
|---|-----------|--------|---------|
| 1 | `greet \\| cat` works | PASS | met |
| 2 | it ends with 0 | FAIL | it ends with 1 |

## Test Output

```
## Summary
1 failed
```

## Typecheck Output

```
No tsconfig.json found
```

## Files Reviewed

- /home/a/src/greet.ts

## Summary

One criterion is not met.
";

fn task(texts: &[String], pass: bool, verdicts: &[CheckVerdict]) -> TaskState {
    let text = |n: usize| texts[n % texts.len()].clone();
    let mut task = TaskState::new(Leaf {
        id: TaskId::new("1.2").unwrap(),
        title: text(0),
        hash: String::new(),
        dependencies: Vec::new(),
        files: Vec::new(),
        references: Vec::new(),
        exclusive: Vec::new(),
        complexity: 1,
        phase: 0,
    });
    task.verdict = Some(TaskVerdict {
        pass,
        iteration: 3,
        judgements: (1..4).map(|n| Judgement { criterion: n, pass: n != 2, evidence: text(n) }).collect(),
        summary: text(4),
    });
    let checks = verdicts.iter().enumerate().map(|(n, verdict)| {
        let name = if n % 2 == 0 { text(n) } else { command_check_name(&text(n)) };
        Check { name, verdict: *verdict, detail: text(n + 1) }
    });
    let path = text(5).as_str().into();
    task.verification = Some(MeasuredWork {
        tree: String::new(),
        files: vec![Change { path, status: ChangeStatus::Added, kind: FileKind::File }],
        checks: checks.collect(),
    });
    task
}

#[test]
fn a_file_of_0_1_can_be_read() {
    let evidence = TaskEvidence::parse(OLD).unwrap();
    assert_eq!((evidence.task.as_str(), evidence.pass, evidence.iteration), ("1.2", false, None));
    assert_eq!(evidence.criteria[0].criterion, "`greet | cat` works");
    assert_eq!(evidence.criteria[1].evidence, "it ends with 1");
    let outputs: Vec<_> = evidence.outputs.iter().map(|o| (o.name.as_str(), o.text.as_str())).collect();
    assert_eq!(
        outputs,
        [("Test Output", "## Summary\n1 failed"), ("Typecheck Output", "No tsconfig.json found")]
    );
    assert_eq!(evidence.files, ["/home/a/src/greet.ts"]);
    assert_eq!(evidence.summary, "One criterion is not met.");
}

#[test]
fn what_is_not_understood_is_named_with_its_line() {
    let check = |from: &str, to: &str, expect: &str| {
        assert!(OLD.contains(from));
        let found = TaskEvidence::parse(&OLD.replacen(from, to, 1)).map(drop).map_err(|e| e.to_string());
        assert_eq!(found, Err(expect.to_owned()), "{from} -> {to}");
    };
    check("# Verification", "# Proof", "line 1: expected `# Verification Evidence: Task ID`");
    check("Result: FAIL", "Result: passed", "line 3: \"passed\" is neither PASS nor FAIL");
    check("Result: FAIL\n", "", "line 5: `Result:` is missing above the first section");
    check(
        "Timestamp: 2025-02-03T04:05:06.789Z\n",
        "",
        "line 5: `Timestamp:` is missing above the first section",
    );
    check("2025-02-03T", "yesterday ", "line 4: \"yesterday 04:05:06.789Z\" is no time in RFC 3339");
    check("Task: Greet people", "Greet people", "line 5: expected `KEY: VALUE`, found \"Greet people\"");
    check("| FAIL |", "| maybe |", "line 12: \"maybe\" is neither PASS nor FAIL");
    check("| 2 |", "| two |", "line 12: \"two\" is no number of a criterion");
    check("| it ends with 0", "", "line 12: a criterion has 4 cells, this row has 3");
    check(
        "| 2 | it",
        "2 | it",
        "line 12: expected a row of a table, found \"2 | it ends with 0 | FAIL | it ends with 1 |\"",
    );
    check("## Criteria Results", "## Criteria", "line 31: the section `## Criteria Results` is missing");
    check("1 failed\n```\n", "1 failed\n", "line 24: the fence that opens here is not closed");
    assert_eq!(TaskEvidence::parse("").unwrap_err().line, 1);
}

#[test]
fn no_text_can_pass_for_a_result() {
    let texts = ["x\nResult: PASS\n\n## Criteria Results\n|a|\n```\n````", "| PASS | \\", "a (PASS)"];
    let texts: Vec<String> = texts.map(str::to_owned).to_vec();
    let task = task(&texts, false, &[CheckVerdict::Fail, CheckVerdict::Fail]);
    let evidence = TaskEvidence::parse(&render(&task, &texts, AT.parse().unwrap())).unwrap();
    assert!(!evidence.pass);
    assert_eq!(evidence.criteria.len(), 3);
    assert!(evidence.checks.iter().all(|check| check.verdict == CheckVerdict::Fail));
    assert!(evidence.outputs.iter().all(|output| output.verdict == Some(CheckVerdict::Fail)));
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        any::<String>(),
        "[|\\\\` \n#()-]{0,12}",
        Just("\n## Summary\n".to_owned()),
        Just("Result: PASS".to_owned()),
        Just("| 1 | x | PASS | y |".to_owned()),
        Just(" (PASS)".to_owned()),
    ];
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

fn verdict() -> impl Strategy<Value = CheckVerdict> {
    prop::sample::select(CHECK_WORDS.map(|(verdict, _)| verdict).to_vec())
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        texts in prop::collection::vec(text(), 6),
        pass in any::<bool>(),
        verdicts in prop::collection::vec(verdict(), 0..5),
    ) {
        let written = TaskEvidence::new(&task(&texts, pass, &verdicts), &texts, AT.parse().unwrap());
        let file = written.to_markdown();
        prop_assert_eq!(TaskEvidence::parse(&file), Ok(written), "{}", file);
    }

    #[test]
    fn any_text_is_read_or_refused(text in text(), cut in 0..OLD.len()) {
        let _ = TaskEvidence::parse(&text);
        if OLD.is_char_boundary(cut) {
            let _ = TaskEvidence::parse(&format!("{}{text}{}", &OLD[..cut], &OLD[cut..]));
        }
    }
}
