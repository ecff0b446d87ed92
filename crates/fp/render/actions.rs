//! The actions of `fp next` as text: what a lead does, in order.

use fp_core::plan::id::PlanId;
use fp_core::run::next::Action;

/// The actions as a numbered list.
pub(crate) fn text(plan: &PlanId, actions: &[Action]) -> String {
    let mut text = String::new();
    for (i, action) in actions.iter().enumerate() {
        text.push_str(&format!("{}. {}", i + 1, one(plan, action)));
    }
    text
}

fn one(plan: &PlanId, action: &Action) -> String {
    match action {
        Action::Spawn { name, agent, prompt } => start("spawn", name.as_str(), agent, prompt),
        Action::Verify { name, agent, prompt, .. } => start("verify", name.as_str(), agent, prompt),
        Action::Judge { task, prompt, .. } => format!("judge {task}\n{}", indented(prompt)),
        Action::Resume { name, message } => format!("resume {name}\n   message:\n{}", indented(message)),
        Action::Ask { question, text, header, options, .. } => {
            let mut ask = format!("ask {question}\n   question: {text}\n   header: {header}\n   options:\n");
            for option in options {
                ask.push_str(&format!("   - {}: {}\n", option.label, option.description));
            }
            ask + &format!("   then: fp answer {plan} {question} --option 'LABEL'\n")
        }
        Action::Wait { on } => format!(
            "wait for {}\n   End your turn. When one of them ends or goes idle: fp next {plan} --ended NAME\n   \
             The same for one that is not running at all.\n",
            on.join(", ")
        ),
        Action::Deadlock { chain } => {
            let mut dead = String::from("deadlock\n   Nothing can go on by itself:\n");
            for line in chain {
                dead.push_str(&format!("   - {line}\n"));
            }
            dead
        }
        Action::Finish { report } => format!("finish\n   The run is over. Show this report:\n\n{report}"),
    }
}

fn start(what: &str, name: &str, agent: &str, prompt: &str) -> String {
    format!(
        "{what} {name}\n   agent: {agent}\n   name and description: {name}\n   prompt:\n{}",
        indented(prompt)
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("     {line}\n")).collect()
}
