//! Checks that no payload is too long, and that each says how to submit and what was left out.

use std::fmt::Write as _;

use super::*;
use crate::run::notepad::NOTES_PER_PAYLOAD;
use crate::run::payload::{Around, MAX_PAYLOAD_BYTES, ROOM_FOR_SPECS, payload};
use crate::run::state::{Claim, TaskVerdict};
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::parse;
use fp_plan::plan::task::Item;

/// A number of items, and the length of each in characters.
#[derive(Debug, Clone, Copy, Default)]
struct Many {
    count: usize,
    chars: usize,
}

/// The contents of a payload, beyond the title, file and criterion that every task has.
#[derive(Debug, Clone, Default)]
struct Load {
    korean: bool,
    /// True if the project has specs, which use up the space reserved for them.
    specs: bool,
    title: usize,
    goal: usize,
    description: Many,
    criteria: Many,
    hints: Many,
    references: Many,
    guardrails: Many,
    files: Many,
    commands: Many,
    feedback: Many,
    notes: Many,
    direct: Many,
    distant: usize,
}

/// The lines from which a payload was made, by the noun that its notes about omitted lines use.
type Expected = Vec<(&'static str, Vec<String>)>;

/// A specs section that fills `room`, or just its heading if that is already longer.
fn specs(room: usize) -> String {
    let head = "\n## PROJECT SPECS\n- Run `fp specs for p 1` before you begin, and keep to what it prints\n";
    let line = "> Every function says what it takes.\n";
    head.to_owned() + &line.repeat(room.saturating_sub(head.len()) / line.len())
}

impl Load {
    /// A unique string of `chars` characters.
    fn text(&self, name: &str, number: usize, chars: usize) -> String {
        let filler = if self.korean {
            "가나다 라마 "
        } else {
            "some words "
        };
        let text: String = format!("{name} {number} ")
            .chars()
            .chain(filler.chars().cycle())
            .take(chars)
            .collect();
        format!("{} {name}{number}", text.trim()).trim().to_owned()
    }

    fn texts(&self, name: &str, many: Many) -> Vec<String> {
        (1..=many.count)
            .map(|number| self.text(name, number, many.chars))
            .collect()
    }

    fn state(&self) -> State {
        let direct = 2..2 + self.direct.count;
        let distant: Vec<usize> = (direct.end..direct.end + self.distant).collect();
        let mut leaves = vec![leaf(1, &direct.clone().collect::<Vec<_>>(), 1)];
        leaves.extend(direct.clone().map(|number| leaf(number, &distant, number)));
        leaves.extend(distant.iter().map(|number| leaf(*number, &[], *number)));
        leaves.push(leaf(999, &[], 999));
        let mut state = Machine::new(leaves, true).state;
        for number in direct {
            let task = state.task_mut(&id(&number.to_string())).unwrap();
            task.status = Status::Completed;
            let summary = self.text("summary", number, self.direct.chars);
            task.verdict = Some(TaskVerdict {
                pass: true,
                iteration: 1,
                judgements: Vec::new(),
                summary,
                reasons: Vec::new(),
            });
        }
        let notes = self.texts("note", self.notes).into_iter();
        state.notes = notes
            .map(|text| format!("GOTCHA: {text}").parse().unwrap())
            .collect();
        let feedback = self.texts("feedback", self.feedback).join("\n");
        let since = state.last_at.unwrap();
        let task = state.task_mut(&id("1")).unwrap();
        task.status = Status::Implementing;
        task.iteration = 1;
        task.feedback = (!feedback.is_empty()).then_some(feedback);
        task.claim = Some(Claim {
            owner: name("builder-1"),
            token: "0123456789abcdef".into(),
            since,
        });
        state
    }

    fn tree(&self) -> String {
        let mut text = format!(
            "## Root Task\n- [ID: root] Goal (Complexity: 5)\n\n### Subtasks\n- [ID: 1] {} (Complexity: 2)\n",
            self.text("title", 1, self.title)
        );
        let mut list = |label: &str, items: Vec<String>| {
            if !items.is_empty() {
                let _ = writeln!(text, "  - {label}:");
                items
                    .iter()
                    .for_each(|item| writeln!(text, "    - {item}").unwrap());
            }
        };
        list("Acceptance", self.texts("criterion", self.criteria));
        list("Files", self.paths());
        list("Hints", self.texts("hint", self.hints));
        list("References", self.texts("reference", self.references));
        list("Guardrails", self.texts("rail", self.guardrails));
        list("Test Commands", self.texts("command", self.commands));
        text
    }

    fn paths(&self) -> Vec<String> {
        let long = |number: usize| format!("src/{}/file{number}.rs", "a".repeat(self.files.chars));
        (1..=self.files.count).map(long).collect()
    }

    /// The payload, and the lines that it would contain if there were unlimited space.
    fn payload(&self) -> (String, Expected) {
        let (state, tree) = (self.state(), self.tree());
        let (plan, _) = parse(&tree);
        let mut leaf = plan
            .tasks
            .iter()
            .find(|task| task.id == "1")
            .unwrap()
            .clone();
        let description = self.texts("description", self.description);
        let item = |text: String| Item {
            text: text.into(),
            span: leaf.span,
            note: None,
        };
        *leaf.fields.slot(FieldKind::Description) =
            (!description.is_empty()).then(|| vec![item(description.join("\n"))].into());
        let goal = self.text("goal", 1, self.goal);
        let specs = if self.specs {
            specs(ROOM_FOR_SPECS)
        } else {
            String::new()
        };
        let around = Around {
            earlier: None,
            doubts: &[],
            language: Some("Korean"),
            goal: &goal,
            interview: None,
            tree: "/home/somebody/repository/.fractal-planner/plans/p/tasks.md",
            place: Some("/home/somebody/repository/.fractal-planner/plans/p/worktrees/builder-1"),
            conventions: Some("/home/somebody/repository/.fractal-planner/plans/p/context.md"),
            specs: &specs,
        };
        let task = state.task(&id("1")).unwrap();
        let text = payload(&state, task, &leaf, &around);
        let bullets = |name: &str, many: Many, head: &str| {
            self.texts(name, many)
                .iter()
                .map(|text| format!("- {head}{text}"))
                .collect::<Vec<_>>()
        };
        let criteria = self
            .texts("criterion", self.criteria)
            .into_iter()
            .enumerate();
        let notes = state.notes.iter().rev().take(NOTES_PER_PAYLOAD);
        let summary = |task: &super::super::state::TaskState| {
            let summary = &task.verdict.as_ref().unwrap().summary;
            let colon = if summary.is_empty() { "" } else { ": " };
            format!(
                "- Task {} did: task {} (){colon}{summary}",
                task.leaf.id, task.leaf.id
            )
        };
        let expected = vec![
            (
                "criteria",
                criteria
                    .map(|(i, text)| format!("{}. {text}", i + 1))
                    .collect(),
            ),
            ("hints", bullets("hint", self.hints, "")),
            ("references", bullets("reference", self.references, "Read ")),
            ("guardrails", bullets("rail", self.guardrails, "")),
            ("commands", bullets("command", self.commands, "Run: ")),
            (
                "lines of the feedback",
                self.texts("feedback", self.feedback),
            ),
            ("lines of the description", description),
            (
                "notes",
                notes
                    .map(|note| format!("- Note {}", note.notepad_line()))
                    .collect(),
            ),
            (
                "tasks before",
                state
                    .tasks
                    .iter()
                    .filter(|t| t.verdict.is_some())
                    .map(summary)
                    .collect(),
            ),
        ];
        (text, expected)
    }
}

/// The notes about what was left out, each without its second half, which says where to find the rest.
fn said(text: &str) -> Vec<&str> {
    let lines = text
        .lines()
        .map(|line| line.trim_start_matches("- ").trim_start_matches("> "));
    let said = lines.filter_map(|line| {
        line.strip_prefix('(')?
            .split_once(';')
            .map(|(said, _)| said)
    });
    said.filter(|said| said.contains("cut short") || said.contains("left out"))
        .collect()
}

/// The number of lines of `what` that the payload reports as left out or cut short.
fn missing(text: &str, what: &str) -> usize {
    let said = said(text);
    let Some(said) = said.iter().find_map(|said| said.strip_prefix(what)) else {
        return 0;
    };
    let numbers = said
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse::<usize>().ok());
    numbers.reduce(|a, b| a + b).unwrap_or(1)
}

fn check(load: &Load) {
    let (text, expected) = load.payload();
    assert!(
        text.len() <= MAX_PAYLOAD_BYTES,
        "{} bytes:\n{text}",
        text.len()
    );
    let tail = text.split_once("\n## HAND IN\n").expect("it hands in").1;
    let submit = "When it is done, run this and end your turn:\n\n    fp submit p 1 --claim 0123456789abcdef\n";
    assert!(tail.starts_with(submit), "{tail}");
    assert!(text.contains("- Do NOT add new dependencies\n"), "{text}");
    let lines: BTreeSet<&str> = text.lines().collect();
    for (what, all) in expected {
        let gone = all
            .iter()
            .filter(|line| !lines.contains(line.as_str()))
            .count();
        assert_eq!(missing(&text, what), gone, "{what}:\n{text}");
    }
    let is_whole = !text.contains("(cut to fit; task 1 as a whole is in /home/");
    assert!(!is_whole || said(&text).is_empty(), "{text}");
}

fn many(most: usize) -> impl Strategy<Value = Many> {
    let count = prop_oneof![3 => 0..4usize, 1 => 0..most];
    let chars = prop_oneof![4 => 0..120usize, 2 => 0..900usize, 1 => 0..12_000usize];
    (count, chars).prop_map(|(count, chars)| Many { count, chars })
}

fn load() -> impl Strategy<Value = Load> {
    let task = (
        many(40),
        many(60),
        many(300),
        many(60),
        many(40),
        many(400),
        many(30),
    );
    let run = (many(900), many(30), many(30), 0..40usize);
    let long = prop_oneof![3 => 5..80usize, 1 => 5..20_000usize];
    (any::<(bool, bool)>(), long.clone(), long, task, run).prop_map(
        |(is, title, goal, task, run)| {
            let (korean, specs) = is;
            let (description, criteria, hints, references, guardrails, files, commands) = task;
            let (feedback, notes, direct, distant) = run;
            let files = Many {
                chars: files.chars.min(200),
                ..files
            };
            Load {
                korean,
                specs,
                title,
                goal,
                description,
                criteria,
                hints,
                references,
                guardrails,
                files,
                commands,
                feedback,
                notes,
                direct,
                distant,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_payload_is_too_long_and_what_is_left_out_is_said(load in load()) {
        check(&load);
    }
}

#[test]
fn everything_at_once_is_cut_to_fit() {
    for korean in [false, true] {
        let huge = Many {
            count: 400,
            chars: 5000,
        };
        check(&Load {
            korean,
            specs: true,
            title: 20_000,
            goal: 20_000,
            description: huge,
            criteria: huge,
            hints: huge,
            references: huge,
            guardrails: huge,
            files: Many {
                count: 400,
                chars: 200,
            },
            commands: huge,
            feedback: huge,
            notes: huge,
            direct: Many {
                count: 100,
                chars: 5000,
            },
            distant: 100,
        });
    }
}

#[test]
fn what_helps_least_goes_first() {
    let small = Load {
        title: 10,
        goal: 10,
        criteria: Many {
            count: 3,
            chars: 60,
        },
        hints: Many {
            count: 3,
            chars: 60,
        },
        files: Many {
            count: 1,
            chars: 10,
        },
        notes: Many {
            count: 10,
            chars: 300,
        },
        direct: Many {
            count: 2,
            chars: 60,
        },
        ..Load::default()
    };
    let named = |said: &str| {
        let named = said.split_once(':').map_or(said, |(named, _)| named);
        named
            .trim_end_matches(" cut short")
            .trim_end_matches(" left out")
            .to_owned()
    };
    let check = |load: Load, expect: &[&str]| {
        let cut: Vec<String> = said(&load.payload().0).into_iter().map(named).collect();
        assert_eq!(cut, expect, "{load:?}");
    };
    let feedback = |count| Many { count, chars: 60 };
    check(small.clone(), &[]);
    check(
        Load {
            feedback: feedback(10),
            ..small.clone()
        },
        &[],
    );
    check(
        Load {
            feedback: feedback(60),
            ..small.clone()
        },
        &["files", "notes"],
    );
    let without = Load {
        notes: Many::default(),
        ..small
    };
    check(
        Load {
            hints: Many {
                count: 300,
                chars: 60,
            },
            ..without.clone()
        },
        &["hints", "files"],
    );
    check(
        Load {
            hints: Many {
                count: 2,
                chars: 9000,
            },
            ..without.clone()
        },
        &["hints", "files"],
    );
    check(
        Load {
            feedback: feedback(2000),
            ..without.clone()
        },
        &["files", "lines of the feedback"],
    );
    let files = Many {
        count: 400,
        chars: 20,
    };
    let rest = ["hints", "the boundary", "files", "tasks before"];
    check(
        Load {
            files,
            ..without.clone()
        },
        &rest,
    );
    let criteria = Many {
        count: 200,
        chars: 60,
    };
    check(
        Load {
            criteria,
            ..without
        },
        &["criteria", "hints", "files", "tasks before"],
    );
}

#[test]
fn of_a_long_feedback_head_and_tail_stay() {
    let feedback = Many {
        count: 2000,
        chars: 60,
    };
    let (text, _) = Load {
        title: 10,
        goal: 10,
        feedback,
        ..Load::default()
    }
    .payload();
    let feedback = text
        .split_once("Mend this first:\n")
        .unwrap()
        .1
        .split_once("\n\n## HAND IN")
        .unwrap()
        .0;
    let ends = |number: usize| {
        feedback
            .lines()
            .any(|line| line.ends_with(&format!(" feedback{number}")))
    };
    assert!(
        ends(1) && ends(20) && ends(1990) && ends(2000) && !ends(1000),
        "{feedback}"
    );
    assert!(
        feedback.contains("left out; `fp log p --task 1` has them)"),
        "{feedback}"
    );
}
