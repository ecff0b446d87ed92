//! The nudge for plans of fractal-planner 0.1, whose builders are teammates of a team `fp-impl-…` and whose tasks are
//! the client's own: one file a task, and one beside the team that counts the nudges. Nothing else of 0.1 is acted on.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Reply;
use crate::plan::id::{AgentName, PlanId, TaskId};

/// What the name of a team of 0.1 begins with; its plan's id is the rest.
const TEAM: &str = "fp-impl-";
/// What the name of a builder begins with; a team has a tracker and a committer as well.
const BUILDER: &str = "builder-";

/// A builder of a team of 0.1. Both names are safe as a component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Builder {
    /// Its team.
    pub team: String,
    /// Its name, which its tasks have as their owner.
    pub name: AgentName,
}

impl Builder {
    /// The builder `name` of `team`; `None` for another team's teammate, for one that is no builder, and for names
    /// that are none.
    #[must_use]
    pub fn new(team: &str, name: &str) -> Option<Self> {
        PlanId::new(team.strip_prefix(TEAM)?).ok()?;
        let name = AgentName::new(name).ok().filter(|name| name.as_str().starts_with(BUILDER))?;
        Some(Self { team: team.to_owned(), name })
    }
}

/// Whether a team of this name is one of 0.1, be the rest of the name what it may.
#[must_use]
pub fn is_team(name: &str) -> bool {
    name.starts_with(TEAM)
}

/// One of the client's own tasks, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeTask {
    id: TaskId,
    owner: String,
    plan_task: Option<TaskId>,
    is_implementing: bool,
}

impl NativeTask {
    /// Reads a task file; `None` for one that is torn, is no task, or is not in progress.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let task: Value = serde_json::from_str(text).ok()?;
        if task.get("status")?.as_str()? != "in_progress" {
            return None;
        }
        let metadata = task.get("metadata");
        let of_plan = |name: &str| metadata.and_then(|fields| fields.get(name)).and_then(Value::as_str);
        Some(Self {
            id: TaskId::new(text_or_number(task.get("id")?)?).ok()?,
            owner: task.get("owner")?.as_str()?.to_owned(),
            plan_task: of_plan("planTaskId").and_then(|id| TaskId::new(id).ok()),
            is_implementing: of_plan("fpStatus").is_none_or(|status| status == "IMPLEMENTING"),
        })
    }
}

fn text_or_number(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()))
}

/// How often a builder was nudged about a task: `nudge-{builder}.json` of its team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nudges {
    retries: u32,
    task: TaskId,
}

impl Nudges {
    /// Reads the file; `None` for one that is torn or something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let count: Value = serde_json::from_str(text).ok()?;
        Some(Self {
            retries: u32::try_from(count.get("retries")?.as_u64()?).unwrap_or(u32::MAX),
            task: TaskId::new(text_or_number(count.get("taskId")?)?).ok()?,
        })
    }

    /// The file's text, where the last nudge is of `now`.
    #[must_use]
    pub fn text(&self, now: Timestamp) -> String {
        json!({ "retries": self.retries, "lastRetryAt": now.to_string(), "taskId": self.task.as_str() })
            .to_string()
    }
}

/// What becomes of the file that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// It stays as it is.
    Stays,
    /// It is removed: what it counts is over.
    IsOver,
    /// It is written, before the reply is given.
    Becomes(Nudges),
}

/// Nudges a builder of 0.1 that goes idle with a task that it implements, `max` times a task. The count begins anew
/// with another task, and when the builder has handed its task in.
#[must_use]
pub fn goes_idle(
    builder: &Builder,
    tasks: &[NativeTask],
    before: Option<Nudges>,
    max: u32,
) -> (Count, Reply) {
    let own = tasks.iter().filter(|task| task.owner == builder.name.as_str());
    let Some(task) = own.filter(|task| task.is_implementing).min_by_key(|task| &task.id) else {
        return (if before.is_some() { Count::IsOver } else { Count::Stays }, Reply::Silent);
    };
    let retries = before.filter(|count| count.task == task.id).map_or(0, |count| count.retries);
    if retries >= max {
        return (Count::Stays, Reply::Silent);
    }
    let count = Nudges { retries: retries + 1, task: task.id.clone() };
    (Count::Becomes(count), Reply::Continue(message(builder, task)))
}

fn message(builder: &Builder, task: &NativeTask) -> String {
    let (Builder { team, name }, id) = (builder, &task.id);
    let of_plan = task.plan_task.as_ref().map(|id| format!(", {id} of its plan,")).unwrap_or_default();
    format!(
        "{name}, you own task {id}{of_plan} of team {team}, it is in progress and you have not handed it in. Read it \
         again with TaskGet and go on with it; when it is done, set its fpStatus to AWAITING_VERIFICATION and tell the \
         lead."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, owner: &str, status: &str, metadata: &str) -> String {
        format!(
            r#"{{"id": {id}, "subject": "x", "owner": "{owner}", "status": "{status}", "metadata": {metadata}}}"#
        )
    }

    fn decide(tasks: &[String], before: Option<&str>, max: u32) -> (Count, Reply) {
        let builder = Builder::new("fp-impl-p", "builder-1").unwrap();
        let tasks: Vec<NativeTask> = tasks.iter().filter_map(|text| NativeTask::parse(text)).collect();
        goes_idle(&builder, &tasks, before.and_then(Nudges::parse), max)
    }

    #[test]
    fn names_are_a_teams_and_a_builders_and_never_a_path() {
        let check = |team: &str, name: &str, expect: bool| {
            assert_eq!(Builder::new(team, name).is_some(), expect, "{team:?} {name:?}");
        };
        check("fp-impl-add-login-20260220", "builder-1", true);
        check("fp-impl-p", "builder-12", true);
        check("fp-impl-p", "tracker", false);
        check("fp-impl-p", "committer-1", false);
        check("session-4086f10a", "builder-1", false);
        check("fp-impl-", "builder-1", false);
        check("fp-impl-../x", "builder-1", false);
        check("fp-impl-..", "builder-1", false);
        check("../fp-impl-p", "builder-1", false);
        check("fp-impl-p", "builder-/../../x", false);
        check("fp-impl-p\0", "builder-1", false);
    }

    #[test]
    fn a_builder_is_nudged_about_what_it_implements() {
        let check = |tasks: &[String], before: Option<&str>, expect: (Count, bool)| {
            let (count, reply) = decide(tasks, before, 3);
            assert_eq!((count, reply != Reply::Silent), expect, "{tasks:?} {before:?}");
        };
        let nudged =
            |retries: u32, task: &str| Count::Becomes(Nudges { retries, task: TaskId::new(task).unwrap() });
        let one = |retries: u32| format!(r#"{{"retries": {retries}, "taskId": "5"}}"#);
        let held = task("\"5\"", "builder-1", "in_progress", r#"{"fpStatus": "IMPLEMENTING"}"#);
        let held = &[held][..];
        check(held, None, (nudged(1, "5"), true));
        check(held, Some(&one(2)), (nudged(3, "5"), true));
        check(held, Some(&one(3)), (Count::Stays, false));
        check(held, Some(r#"{"retries": 3, "taskId": "4"}"#), (nudged(1, "5"), true));
        check(held, Some(r#"{"retr"#), (nudged(1, "5"), true));
        check(held, Some(r#"{"retries": 99999999999, "taskId": 5}"#), (Count::Stays, false));
        check(&[task("5", "builder-1", "in_progress", "null")], None, (nudged(1, "5"), true));

        let waits = task("\"5\"", "builder-1", "in_progress", r#"{"fpStatus": "AWAITING_VERIFICATION"}"#);
        check(std::slice::from_ref(&waits), None, (Count::Stays, false));
        check(&[waits], Some(&one(2)), (Count::IsOver, false));
        check(&[], Some(&one(2)), (Count::IsOver, false));
        for silent in [
            task("\"5\"", "builder-2", "in_progress", "{}"),
            task("\"5\"", "builder-1", "pending", "{}"),
            task("\"5\"", "builder-1", "completed", r#"{"fpStatus": "FAILED"}"#),
            task("\"../5\"", "builder-1", "in_progress", "{}"),
            held[0][..40].to_owned(),
            "[]".to_owned(),
            r#"{"status": "in_progress"}"#.to_owned(),
        ] {
            check(&[silent], None, (Count::Stays, false));
        }
        assert_eq!(decide(held, None, 0).1, Reply::Silent);
    }

    #[test]
    fn the_count_is_written_as_0_1_wrote_it() {
        let (count, reply) =
            decide(&[task("5", "builder-1", "in_progress", r#"{"planTaskId": "1.2"}"#)], None, 3);
        let Count::Becomes(count) = count else { panic!("{count:?}") };
        let text = count.text("2026-02-20T12:00:00Z".parse().unwrap());
        assert_eq!(text, r#"{"lastRetryAt":"2026-02-20T12:00:00Z","retries":1,"taskId":"5"}"#);
        assert_eq!(Nudges::parse(&text), Some(count));
        let Reply::Continue(said) = reply else { panic!("{reply:?}") };
        assert_eq!(
            said,
            "builder-1, you own task 5, 1.2 of its plan, of team fp-impl-p, it is in progress and you have not handed \
             it in. Read it again with TaskGet and go on with it; when it is done, set its fpStatus to \
             AWAITING_VERIFICATION and tell the lead."
        );
    }
}
