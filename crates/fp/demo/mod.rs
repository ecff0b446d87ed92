//! The demonstration takes a sample goal from plan to commits through the commands that the skills use, with scripted
//! agents in place of models. Newcomers run it first, and it shows that an installation works.

mod agents;
mod stage;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::CommandError;
use agents::{build_task, judge_task};
use stage::DOCTOR;
pub(crate) use stage::DemoStage;

const GOAL: &str = "Add a greeting command";
const TASKS: &str = include_str!("tasks.md");

/// Maximum number of calls to `fp next`; a run that needs more is stuck.
const MAX_TURNS: usize = 60;

/// Plays the demonstration on `stage`, and returns the path of the run's page. Fails if a command fails
/// unexpectedly.
pub(crate) fn play(stage: &DemoStage) -> Result<PathBuf, CommandError> {
    let (plan, folder) = plan(stage)?;
    stage.fp(&[
        "start",
        &plan,
        "--here",
        "--builders",
        "2",
        "--max-iterations",
        "2",
    ])?;
    lead(stage, &plan)?;
    stage.print_line("");
    stage.print_indented(&stage.fp(&["status", &plan])?);
    stage.print_line("Commits, oldest first, each with its own task's files:");
    let log = ["log", "--reverse", "--name-only", "--format=@%h  %s"];
    let told = stage.run_git(&log)?;
    let line = |commit: &str| commit.trim().replace("\n\n", "  (").replace('\n', ", ") + ")\n";
    stage.print_indented(&told.split('@').skip(1).map(line).collect::<String>());
    // The page goes into the plan's folder, which git ignores.
    let page = folder.join("report.html");
    stage.fp(&["report", &plan, "--out", &page.to_string_lossy()])?;
    Ok(page)
}

/// Creates and approves the plan; returns its id and folder.
fn plan(stage: &DemoStage) -> Result<(String, PathBuf), CommandError> {
    let made = stage.json(&["new", GOAL, "--auto"])?;
    let (Some(plan), Some(folder)) = (made["planId"].as_str(), made["path"].as_str()) else {
        return Err(
            CommandError::failed("`fp new` did not say where the plan is").with_hint(DOCTOR),
        );
    };
    stage.step("planner", &format!("plans {GOAL:?} as {plan}"));
    let answers = [
        ("--by", "auto"),
        ("--objective", "A command that greets and says goodbye"),
        ("--requirement", "It greets by name"),
        ("--requirement", "It says goodbye by name"),
        ("--assume", "Texts are enough for a demonstration"),
    ];
    let answers = answers.iter().flat_map(|(flag, text)| [*flag, *text]);
    stage.fp(&["interview", plan]
        .into_iter()
        .chain(answers)
        .collect::<Vec<_>>())?;
    fp_host::file::atomic_write(&Path::new(folder).join("tasks.md"), TASKS.as_bytes())?;
    let checked = stage.json(&["validate", plan])?;
    stage.step(
        "planner",
        &format!(
            "breaks it into {} tasks, and they are valid",
            checked["totalLeafTasks"]
        ),
    );
    stage.fp(&["plan", plan])?;
    stage.print_indented(&stage.fp(&["show", plan])?);
    stage.fp(&["approve", plan, "--yes"])?;
    stage.step("user", "approves the plan");
    Ok((plan.to_owned(), folder.into()))
}

/// Plays the lead of a session: carries out the actions that `fp next` lists until it lists `finish`.
fn lead(stage: &DemoStage, plan: &str) -> Result<(), CommandError> {
    let mut ended: Vec<String> = Vec::new();
    for _ in 0..MAX_TURNS {
        let mut next = vec!["next", plan];
        ended
            .iter()
            .for_each(|name| next.extend(["--ended", name.as_str()]));
        let answer = stage.json(&next)?;
        ended.clear();
        let actions = answer["actions"].as_array().cloned().unwrap_or_default();
        for action in &actions {
            let name = action["name"].as_str().unwrap_or_default();
            match action["action"].as_str().unwrap_or_default() {
                "spawn" | "resume" => {
                    build_task(stage, plan, name)?;
                    ended.push(name.to_owned());
                }
                "verify" => {
                    judge_task(
                        stage,
                        plan,
                        name,
                        action["task"].as_str().unwrap_or_default(),
                    )?;
                    ended.push(name.to_owned());
                }
                "ask" => answer_question(stage, plan, action)?,
                "finish" => return Ok(()),
                _ => {}
            }
        }
    }
    Err(CommandError::failed(format!(
        "the run did not end within {MAX_TURNS} answers of `fp next`"
    ))
    .with_hint("`fp demo --keep` keeps the repository, and `fp log` in it says what happened"))
}

fn answer_question(stage: &DemoStage, plan: &str, action: &Value) -> Result<(), CommandError> {
    let question = action["question"].as_str().unwrap_or_default();
    let option = action["options"][0]["label"].as_str().unwrap_or_default();
    let text = action["text"]
        .as_str()
        .and_then(|t| t.split(':').next())
        .unwrap_or_default();
    stage.step(
        "user",
        &format!("is asked: {text}. How should it continue?"),
    );
    stage.step("user", &format!("answers: {option}"));
    stage.fp(&["answer", plan, question, "--option", option])?;
    Ok(())
}

#[cfg(test)]
mod tests;
