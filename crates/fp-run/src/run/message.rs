//! Composes the messages to agents: prompts for new agents, and messages that wake idle ones. Each names only the
//! command to run, whose output says the rest.

use super::state::{Asked, State, TaskState};
use fp_plan::plan::id::{AgentName, PlanId, TaskId};
use fp_plan::text::prompt_lines;

/// Maximum length of a quoted text from an agent or the user, in bytes; the claim has the full text.
const MAX_MESSAGE: usize = 8192;

/// The prompt of a new builder.
pub fn builder_prompt(plan: &PlanId, name: &AgentName) -> String {
    format!(
        "You are {name} of plan {plan}. Run `fp claim {plan} --as {name}` and go by what it prints."
    )
}

/// The prompt of a new verifier.
pub fn verifier_prompt(plan: &PlanId, name: &AgentName, task: &TaskState) -> String {
    let (id, iteration) = (&task.leaf.id, task.iteration);
    format!(
        "You are {name}. Verify task {id} of plan {plan}, iteration {iteration}: \
         run `fp verify {plan} {id}` and go by what it prints."
    )
}

/// The prompt of a verifier of the whole.
pub fn whole_prompt(plan: &PlanId, name: &AgentName) -> String {
    format!(
        "You are {name}. Judge the result of plan {plan} as a whole: run `fp verify {plan}` and go by what it prints."
    )
}

/// The message to an idle builder when tasks are ready.
pub fn work_offer(plan: &PlanId, name: &AgentName) -> String {
    format!("Tasks are ready: run `fp claim {plan} --as {name}`.")
}

/// The message to an idle builder whose last work on `task` didn't pass.
pub fn sent_back(plan: &PlanId, task: &TaskState, owner: &AgentName) -> String {
    let id = &task.leaf.id;
    format!(
        "Task {id} did not pass: run `fp claim {plan} --as {owner}` for what to mend, then submit again."
    )
}

/// The message to a builder whose task was given up or taken back.
pub fn lost_task(plan: &PlanId, task: &TaskId, owner: &AgentName) -> String {
    format!(
        "{owner}, task {task} of plan {plan} is not yours any more: leave it as it is and run \
         `fp claim {plan} --as {owner}`, which has another one or ends your work."
    )
}

/// The message to a builder that stopped while holding a task.
pub fn builder_nudge(plan: &PlanId, task: &TaskId, owner: &AgentName) -> String {
    format!(
        "{owner}, you hold task {task} of plan {plan} and have not handed it in. Run `fp claim {plan} --as {owner}` \
         for its payload, go on with it, and submit it when it is done."
    )
}

/// The message to a lead that stopped although something is due. The client shows it to the user as well.
pub fn lead_nudge(plan: &PlanId) -> String {
    format!(
        "The run of plan {plan} goes on: run `fp next {plan}`, do each action as it is printed, and repeat until one \
         ends your turn. Stop only if the user wants it to rest."
    )
}

/// The message to a lead that stopped while the run is deadlocked. The client shows it to the user as well.
pub fn lead_deadlock(plan: &PlanId) -> String {
    format!(
        "The run of plan {plan} can't go on by itself: run `fp next {plan}` and tell the user what its tasks wait for, \
         unless you have."
    )
}

/// The message to the idle `owner` of `task`: the answer it waits for, or that its work didn't pass. If it stopped
/// after hearing that, a plain nudge.
pub fn wake_up(state: &State, task: &TaskState, owner: &AgentName) -> String {
    let (plan, id) = (&state.plan_id, &task.leaf.id);
    let is_answered = |asked: &&Asked| Some(&asked.question.id) == task.answered.as_ref();
    if let Some(asked) = state.questions.iter().find(is_answered) {
        let answer = prompt_lines(&asked.answer.join(", "), MAX_MESSAGE);
        format!(
            "Your question about task {id} is answered: {answer}. Run `fp claim {plan} --as {owner}` and go on."
        )
    } else if task.feedback.is_some() && (task.resume_due || task.nudges == 0) {
        sent_back(plan, task, owner)
    } else {
        builder_nudge(plan, id, owner)
    }
}
