//! The lead of `/fp:plan`, which carries out each step as the skill describes it.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::walk::{Next, Question, Walk};
use super::{Done, Skill, printed_question, quoted};
use crate::request::{Block, Request, call, text};

/// The lead's question in the first round of the interview.
pub(crate) const INTERVIEW: &str = "What does the greeting look like?";
/// The lead's question in the second round.
pub(crate) const TESTING: &str = "Is a shell test beside the others enough?";
/// The ambiguity that the planner finds in mode `full`; the lead asks about it in the first round.
pub(crate) const AMBIGUITY: &str = "Does a greeting need a name?";
/// The lead's question at the approach gate.
pub(crate) const APPROACH: &str = "Which way shall it be done?";
/// The beginning of the question that `fp approve` prints.
pub(crate) const REVIEW: &str = "Approve the plan ";
/// The lead's question when there is a roadmap.
pub(crate) const ROADMAP: &str = "Shall the first layer be planned?";
/// The lead's last message when the plan is approved.
pub(crate) const PLANNED: &str = "The plan is approved.";
/// The lead's last message when only research was asked for.
pub(crate) const RESEARCHED: &str = "This is what was found.";
/// The lead's last message when the user stops.
pub(crate) const STOPPED: &str = "The plan stays as it is, unapproved.";
/// The lead's message when it can't ask and wasn't told to proceed without asking.
pub(crate) const UNCONFIRMED: &str = "Nobody can confirm this here.";

const FIRST_ROUND: Question = Question {
    text: INTERVIEW,
    header: "Greeting",
    options: &["Hello, Ada", "HELLO, ADA"],
};
const SECOND_ROUND: Question = Question {
    text: TESTING,
    header: "Tests",
    options: &["It is", "More"],
};
const OF_THE_PLANNER: Question = Question {
    text: AMBIGUITY,
    header: "Name",
    options: &["It does", "No"],
};
const GATE: Question = Question {
    text: APPROACH,
    header: "Approach",
    options: &["A script of its own", "A flag of bin/hello"],
};
const AT_THE_MAP: Question = Question {
    text: ROADMAP,
    header: "Roadmap",
    options: &["Go on", "Change", "Stop"],
};

/// The layers of every roadmap.
const LAYERS: &str = "\
## [1] A greeting by name
- Goal: `bin/greet` greets a person by name
- Done when:
  - `bin/greet Ada` prints a line with `ADA` in it

## [2] A goodbye
- Goal: `bin/greet --bye` says goodbye
- Done when:
  - `bin/greet --bye Ada` prints `BYE`
";

/// The additional wish of a user who changes the plan.
pub(crate) const WISH: &str = "The goodbye is loud";

/// The scripted behaviour during planning.
#[derive(Default)]
pub(crate) struct Planner {
    /// The drafts of `tasks.md` for each revision, of which `fp validate` refuses all but the last.
    pub(super) drafts: Vec<Vec<String>>,
    /// The flags of `fp critique record`, by round.
    pub(super) critiques: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct New {
    plan_id: String,
    path: String,
    /// Present only if the goal comes from a roadmap layer or a typed prompt.
    goal: Option<String>,
    mode: Value,
    config: Value,
    steps: Vec<String>,
}

impl New {
    fn goal(&self) -> &str {
        self.goal.as_deref().expect("the lead knows the goal")
    }
}

/// The lead's knowledge while it plans.
struct Planning<'a> {
    walk: Walk<'a>,
    new: New,
    auto: bool,
    revision: usize,
    rounds: usize,
    /// What the planner does.
    stage: &'static str,
}

impl Planner {
    /// Makes whoever writes `tasks.md` write `draft` next, after `fp validate` has refused the previous one.
    pub(crate) fn drafting(mut self, draft: &str) -> Self {
        if self.drafts.is_empty() {
            self.drafts.push(Vec::new());
        }
        self.drafts
            .last_mut()
            .expect("it is there")
            .push(draft.to_owned());
        self
    }

    /// Makes whoever is asked to revise the tree write `draft`.
    pub(crate) fn revising(mut self, draft: &str) -> Self {
        self.drafts.push(vec![draft.to_owned()]);
        self
    }

    /// Makes the critic of the next round record `flags`; in rounds without given flags, every leaf passes.
    pub(crate) fn criticising(mut self, flags: &str) -> Self {
        self.critiques.push(flags.to_owned());
        self
    }

    /// The lead's next message or tool call.
    pub(super) fn reply(&self, request: &Request, skill: &Skill) -> Vec<Block> {
        match self.plan(request, skill) {
            Ok(planned) => planned,
            Err(next) => next,
        }
    }

    fn plan(&self, request: &Request, skill: &Skill) -> Result<Next, Next> {
        let (flags, goal) = flags_and_goal(&skill.arguments);
        let mut walk = Walk::new(request, skill);
        let printed = match flags.strip_prefix("--roadmap") {
            Some(flags) => first_layer(&mut walk, goal, flags)?,
            None => {
                let mode = if goal.contains("typo") {
                    "direct"
                } else {
                    "pipeline"
                };
                walk.run(&format!("fp new --from-prompt --mode {mode} --format json"))?
            }
        };
        let mut new: New = serde_json::from_str(printed)
            .unwrap_or_else(|error| panic!("`fp new` printed no plan: {error}: {printed}"));
        new.goal.get_or_insert_with(|| goal.to_owned());
        let auto = flags.contains("--auto");
        let mut planning = Planning {
            walk,
            new,
            auto,
            revision: 0,
            rounds: 0,
            stage: "interview",
        };
        for step in planning.new.steps.clone() {
            self.step(&mut planning, &step)?;
        }
        let plan = &planning.new.plan_id;
        let approved = planning.new.steps.iter().any(|step| step == "approve");
        Ok(text(if approved {
            format!("{PLANNED} /fp:implement {plan}")
        } else {
            RESEARCHED.to_owned()
        }))
    }

    fn step(&self, planning: &mut Planning<'_>, step: &str) -> Result<(), Next> {
        let direct = planning.new.mode["name"] == "direct";
        match step {
            "interview" => planning.interview(),
            "research" => planning.agents(&["researcher"]).map(drop),
            "approach" => planning.approach(),
            "decompose" if direct => self.write(planning),
            "decompose" => planning.decompose(),
            "critique" => planning.critique(),
            "review" => planning.review(),
            "approve" => self.approve(planning, direct),
            other => panic!("the skill has no section for the step {other:?}"),
        }
    }

    fn write(&self, planning: &mut Planning<'_>) -> Result<(), Next> {
        let file = Path::new(&planning.new.path).join("tasks.md");
        let draft = self
            .drafts
            .first()
            .and_then(|drafts| drafts.last())
            .expect("a planner has a draft");
        planning.walk.take(call(
            "Write",
            json!({ "file_path": file, "content": draft }),
        ))?;
        planning.fp("validate", "--fix").map(drop)
    }

    fn approve(&self, planning: &mut Planning<'_>, direct: bool) -> Result<(), Next> {
        if !planning.new.steps.iter().any(|step| step == "review") {
            planning.fp("plan", "")?;
        }
        loop {
            match planning.consent()?.as_str() {
                APPROVE => break,
                "Discuss" => {}
                "Change" if direct => {
                    self.write(planning)?;
                    planning.fp("plan", "")?;
                }
                "Change" => {
                    planning.fp(
                        "interview",
                        &format!("--by user --requirement {}", quoted(WISH)),
                    )?;
                    planning.revision += 1;
                    planning.decompose()?;
                    planning.review()?;
                }
                _ => return Err(text(STOPPED)),
            }
        }
        match planning.new.config["linear"] == true {
            true => planning.agents(&["linear-sync"]).map(drop),
            false => Ok(()),
        }
    }
}

/// The answer that approves the plan.
const APPROVE: &str = "Approve";

/// Creates a roadmap for the goal, then a plan for its first layer; returns the output of `fp new`.
fn first_layer<'a>(walk: &mut Walk<'a>, goal: &str, flags: &str) -> Result<&'a str, Next> {
    #[derive(Deserialize)]
    struct Roadmap {
        roadmap: String,
        path: String,
    }
    let printed = walk.run(&format!("fp roadmap new --format json {}", quoted(goal)))?;
    let Roadmap { roadmap, path } = serde_json::from_str(printed)
        .unwrap_or_else(|error| panic!("no roadmap: {error}: {printed}"));
    let page = walk
        .take(call("Read", json!({ "file_path": path })))?
        .result;
    assert!(page.contains(goal), "the page has the goal: {page}");
    let written = format!("# Roadmap\n\n> {goal}\n\n{LAYERS}");
    walk.take(call(
        "Write",
        json!({ "file_path": path, "content": written }),
    ))?;
    let shown = walk.run(&format!("fp roadmap show {roadmap}"))?;
    walk.ask(&[AT_THE_MAP])?;
    let (_, next) = shown.split_once("next: ").expect("it prints the command");
    let command = next.lines().next().expect("a line");
    walk.run(&format!("{command} --format json{flags}"))
}

impl<'a> Planning<'a> {
    /// Runs a command on the plan, with `rest` after the plan's id.
    fn fp(&mut self, command: &str, rest: &str) -> Result<&'a str, Next> {
        let line = format!("fp {command} {} {rest}", self.new.plan_id);
        self.walk.run(line.trim_end())
    }

    fn by(&self) -> &'static str {
        if self.auto { "--by auto" } else { "--by user" }
    }

    fn interview(&mut self) -> Result<(), Next> {
        self.stage = "interview";
        self.agents(&["planner"])?;
        let by = self.by();
        let known = "--objective 'A command that greets a person by name' --include 'bin/greet' \
                     --exclude 'other languages' --requirement '`bin/greet` prints a greeting'";
        if self.auto {
            let assumed = "--tests 'A shell test' --assume 'The greeting is Hello, Ada'";
            self.fp("interview", &format!("{by} {known} {assumed}"))?;
            return self.fp("interview check", "").map(drop);
        }
        if !self.walk.offers("AskUserQuestion") {
            return Err(text(format!(
                "{UNCONFIRMED} {INTERVIEW} `/fp:plan --auto {}`",
                self.new.goal()
            )));
        }
        let mut round = vec![FIRST_ROUND];
        if self.new.mode["name"] == "full" {
            round.push(OF_THE_PLANNER);
        }
        self.round(&round, known)?;
        let check = format!("fp interview check {}", self.new.plan_id);
        if self.walk.try_run(&check)?.failed {
            self.round(&[SECOND_ROUND], "--tests 'A shell test'")?;
            self.walk.run(&check)?;
        }
        Ok(())
    }

    /// Asks the questions, and records the answers together with what is `known`.
    fn round(&mut self, questions: &[Question], known: &str) -> Result<(), Next> {
        let answers = self.walk.ask(questions)?;
        let decision = |(question, answer): (&Question, String)| {
            format!(
                " --decision {}",
                quoted(&format!("{}|{answer}", question.text))
            )
        };
        let decisions: String = questions.iter().zip(answers).map(decision).collect();
        let by = self.by();
        self.fp("interview", &format!("{by} {known}{decisions}"))
            .map(drop)
    }

    fn approach(&mut self) -> Result<(), Next> {
        let chosen = if self.auto {
            GATE.options[0].to_owned()
        } else {
            self.walk.ask(&[GATE])?.remove(0)
        };
        let other = GATE
            .options
            .iter()
            .find(|option| **option != chosen)
            .expect("there are two");
        let (chosen, other) = (
            quoted(&chosen),
            quoted(&format!("{other}|it would do two things")),
        );
        let by = self.by();
        self.fp(
            "interview",
            &format!("{by} --approach {chosen} --alternative {other}"),
        )
        .map(drop)
    }

    fn decompose(&mut self) -> Result<(), Next> {
        self.stage = "decompose";
        self.agents(&["planner"]).map(drop)
    }

    fn critique(&mut self) -> Result<(), Next> {
        loop {
            self.rounds += 1;
            let report = self.agents(&["critic"])?;
            if !report.contains("next: revise") {
                return Ok(());
            }
            self.revision += 1;
            self.decompose()?;
        }
    }

    fn review(&mut self) -> Result<(), Next> {
        self.fp("plan", "")?;
        self.fp("show", "").map(drop)
    }

    /// The user's answer to the question that `fp approve` prints. If the user's prompt already counts as consent, `fp
    /// approve` doesn't ask.
    fn consent(&mut self) -> Result<String, Next> {
        let line = format!("fp approve {}", self.new.plan_id);
        let Done { result, failed, .. } = *self.walk.try_run(&line)?;
        if !failed {
            return Ok(APPROVE.to_owned());
        }
        let question = printed_question(result);
        if !self.walk.offers("AskUserQuestion") {
            return Err(text(format!(
                "{UNCONFIRMED} {} `{line}`",
                question["question"]
            )));
        }
        let (answer, told) = self.walk.ask_as_printed(&question)?;
        let recorded = "is approved by the user, and that is recorded";
        assert_eq!(
            answer == APPROVE,
            told.contains(recorded),
            "{answer}: {told}"
        );
        Ok(answer)
    }

    /// Starts the agents of these roles together, and returns their reports.
    fn agents(&mut self, roles: &[&str]) -> Result<String, Next> {
        let prompt = |role: &str| {
            let New { plan_id, path, .. } = &self.new;
            format!(
                "Goal: {}\nPlan: {plan_id}\nFolder: {path}\nRole: {role}\nRevision: {}\nRound: {}\nStage: {}\nMode: {}",
                self.new.goal(),
                self.revision,
                self.rounds,
                self.stage,
                self.new.mode["name"]
            )
        };
        let input = |role: &&str| {
            json!({
                "description": role, "subagent_type": format!("fp:{role}"), "prompt": prompt(role),
                "run_in_background": false,
            })
        };
        let inputs = roles.iter().map(input).collect();
        self.walk.agents(inputs)
    }
}

/// Splits what the user typed into the flags and the goal after them.
fn flags_and_goal(arguments: &str) -> (String, &str) {
    let (mut flags, mut goal) = (Vec::new(), arguments.trim());
    while goal.starts_with("--") || matches!(flags.last(), Some(&"--mode" | &"--max-complexity")) {
        let (flag, rest) = goal.split_once(char::is_whitespace).unwrap_or((goal, ""));
        flags.push(flag);
        goal = rest.trim_start();
    }
    (flags.join(" "), goal)
}
