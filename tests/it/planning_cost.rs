//! The cost of getting from a goal to its approval: agents, rounds with the user, calls of `fp`, and characters that
//! the lead and its agents read. The tests follow the skill's steps, with made-up model output.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::Environment;

/// The header of the table in `docs/internals/prompts.md` that this test checks.
const TABLE: &str =
    "| goal | mode | agents | rounds | calls of fp | pages and output | files of the plan |";

struct Cost {
    environment: Environment,
    plan: String,
    agents: usize,
    rounds: usize,
    calls: usize,
    /// Characters in the pages of skills and agents, and in the output of `fp`.
    read: usize,
    /// Number of characters that agents read from the plan's files.
    files: usize,
}

impl Cost {
    /// Counts a page of the plugin as read.
    fn page(&mut self, path: &str) {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        self.read += std::fs::read_to_string(page).unwrap().chars().count();
    }

    fn agent(&mut self, name: &str) {
        self.agents += 1;
        self.page(&format!("agents/{name}.md"));
    }

    /// Runs `fp`, replacing the argument `PLAN` with the plan's id.
    fn fp(&mut self, args: &[&str]) -> String {
        let args: Vec<&str> = args
            .iter()
            .map(|arg| if *arg == "PLAN" { &*self.plan } else { arg })
            .collect();
        let output = self.environment.fp(&args);
        assert!(output.code < 2, "{args:?}\n{output}");
        self.calls += 1;
        self.read += output.stdout.chars().count() + output.stderr.chars().count();
        output.stdout
    }

    fn file(&mut self, name: &str) {
        let file = format!(".fractal-planner/plans/{}/{name}", self.plan);
        self.files += self.environment.read(&file).chars().count();
    }

    /// The cost of planning a goal of `points` points in `mode`, up to its approval.
    fn of(points: usize, mode: &str) -> Self {
        let environment = Environment::new().repo();
        let mut cost = Self {
            environment,
            plan: String::new(),
            agents: 0,
            rounds: 0,
            calls: 0,
            read: 0,
            files: 0,
        };
        cost.page("skills/plan/SKILL.md");
        let goal = goal(points);
        let new = ["new", "--format", "json", "--mode", mode, "--", &goal];
        let new: serde_json::Value = serde_json::from_str(&cost.fp(&new)).unwrap();
        cost.plan = new["planId"].as_str().unwrap().to_owned();
        let steps = new["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step.as_str().unwrap());
        for step in steps {
            cost.step(step, new["mode"]["name"].as_str().unwrap(), points);
        }
        cost
    }

    fn step(&mut self, step: &str, mode: &str, points: usize) {
        let requirements: Vec<String> = (1..=points).map(point).collect();
        let mut record = vec![
            "interview",
            "PLAN",
            "--objective",
            "The functions are there, each with a test",
        ];
        requirements
            .iter()
            .for_each(|text| record.extend(["--requirement", text]));
        record.extend([
            "--include",
            "src/words.py",
            "--exclude",
            "other modules",
            "--tests",
            "pytest, by function",
        ]);
        match step {
            "interview" => {
                self.agent("planner");
                self.fp(&["specs", "for", "PLAN"]);
                self.fp(&[&record[..], &["--by", "auto"]].concat());
                if mode != "specified" {
                    self.rounds += 1;
                    let confirmed = ["--by", "user", "--decision", "Which encoding?|UTF-8"];
                    self.fp(&[&record[..4], &record[record.len() - 6..], &confirmed].concat());
                }
                let check = self.fp(&["interview", "check", "PLAN"]);
                assert!(check.contains(": clear\n"), "{check}");
            }
            "research" => {
                self.agent("researcher");
                self.file("interview.md");
            }
            "approach" => {
                self.rounds += 1;
                self.fp(&[
                    "interview",
                    "PLAN",
                    "--by",
                    "user",
                    "--approach",
                    "a loop",
                    "--alternative",
                    "re|slow",
                ]);
            }
            "decompose" => {
                if mode == "direct" {
                    self.page("skills/plan/references/direct.md");
                }
                self.environment.write(
                    &format!(".fractal-planner/plans/{}/tasks.md", self.plan),
                    tree(points),
                );
                let found = self.fp(&["validate", "PLAN", "--fix"]);
                assert!(found.contains(" 0 warnings"), "{found}");
                if points >= 10 {
                    self.fp(&["signals", "PLAN"]);
                }
            }
            "critique" => {
                self.agent("critic");
                self.file("interview.md");
                self.file("tasks.md");
                self.fp(&["specs", "for", "PLAN"]);
                let leaves: Vec<String> = (1..=points).map(id).collect();
                self.fp(&["critique", "record", "PLAN", "--pass", &leaves.join(",")]);
            }
            "review" => {
                self.fp(&["plan", "PLAN"]);
                self.fp(&["show", "PLAN"]);
            }
            "approve" => {
                if mode == "direct" {
                    self.fp(&["plan", "PLAN"]);
                }
                self.fp(&["approve", "PLAN"]);
            }
            other => panic!("nobody plays the step {other}"),
        }
    }

    fn row(&self, goal: &str, mode: &str) -> String {
        let hundreds = |characters: usize| characters.div_ceil(100) * 100;
        let Self {
            agents,
            rounds,
            calls,
            ..
        } = self;
        let (read, files) = (hundreds(self.read), hundreds(self.files));
        format!("| {goal} | `{mode}` | {agents} | {rounds} | {calls} | {read} | {files} |")
    }
}

fn point(number: usize) -> String {
    format!(
        "`count_{number}(text)` in src/words.py returns how many words of {number} letters a text has, 0 for none"
    )
}

/// A goal written as a specification.
fn goal(points: usize) -> String {
    let points = (1..=points).fold(String::new(), |text, number| {
        text + &format!("- {}\n", point(number))
    });
    format!(
        "Add to src/words.py, each with a test in tests/test_words.py:\n\n{points}\nDon't change anything else."
    )
}

/// The id of a leaf; each group has at most five leaves.
fn id(number: usize) -> String {
    format!("{}.{}", number.div_ceil(5), (number - 1) % 5 + 1)
}

fn tree(points: usize) -> String {
    let mut text = String::from(
        "# Task Decomposition\n\n## Root Task\n- [ID: root] Count words (Complexity: 7)\n\n",
    );
    for number in 1..=points {
        if points > 1 && number % 5 == 1 {
            let _ = writeln!(
                text,
                "- [ID: {}] Words of some lengths (Complexity: 5)",
                number.div_ceil(5)
            );
        }
        let indent = if points > 1 { "  " } else { "" };
        let leaf = format!(
            "- [ID: {}] Count the words of {number} letters (Complexity: 2)\n  - Acceptance:\n    \
             - {}\n    - `count_{number}(\"\")` returns 0\n  - Dependencies: none\n  - Files: src/words_{number}.py (new), \
             tests/test_words_{number}.py (new)\n  - Tests Required: yes\n  - Hints:\n    - Follow `count_all`\n    \
             - A word is what `split` returns\n  - References:\n    - README.md:1 - what the package is for\n  - Test Commands: pytest tests/test_words_{number}.py\n  \
             - Covers: R{number}\n",
            if points > 1 { id(number) } else { "1".into() },
            point(number)
        );
        leaf.lines().for_each(|line| {
            let _ = writeln!(text, "{indent}{line}");
        });
    }
    text
}

#[test]
fn the_way_to_an_approval_costs_what_the_table_says() {
    let rows: Vec<String> = [
        ("1 task", 1, "direct"),
        ("1 task", 1, "specified"),
        ("7 tasks", 7, "specified"),
        ("7 tasks", 7, "pipeline"),
        ("20 tasks", 20, "specified"),
        ("20 tasks", 20, "full"),
    ]
    .into_iter()
    .map(|(goal, points, mode)| {
        let cost = Cost::of(points, mode);
        if mode == "specified" {
            assert!(cost.rounds <= 1 && cost.agents <= 3, "{goal}");
            assert!(
                points > 7 || cost.read + cost.files <= 30_000,
                "{goal}: {} and {}",
                cost.read,
                cost.files
            );
        }
        cost.row(goal, mode)
    })
    .collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/internals/prompts.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split_once(TABLE).expect("the page has the table").1;
    let told: Vec<&str> = table
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(
        told,
        rows,
        "the figures of docs/internals/prompts.md are now:\n{}",
        rows.join("\n")
    );
}
