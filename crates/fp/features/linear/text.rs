//! What is due in Linear, as text for the agent that makes the calls.

use fp_core::plan::id::PlanId;
use fp_core::text::visible_line;

use super::mapping::{FailedCall, GivenUpCall, LinearStage, MAX_ATTEMPTS};
use super::outbox::{IssueBatch, IssueCall, LinearOutbox};
use super::statuses::ResolvedStatuses;

pub(super) fn batch_text(batch: &IssueBatch, plan: &PlanId) -> String {
    let mut text = String::new();
    for issue in &batch.issues {
        text.push_str(&format!("{}\n  title:   {}\n", issue.key, visible_line(&issue.title)));
        let ids = [("team", &issue.team_id, &issue.team), ("project", &issue.project_id, &issue.project)];
        for (what, id, name) in ids {
            let name = || name.as_deref().map(visible_line);
            field(&mut text, what, id.as_ref().map(ToString::to_string).or_else(name));
        }
        field(&mut text, "parent", issue.parent_id.as_ref());
        field(&mut text, "status", issue.status_id.as_ref());
        field(&mut text, "marker", Some(&issue.marker));
        field(&mut text, "failed", issue.failure.as_ref().map(failure_text));
        block(&mut text, "description", &issue.description);
    }
    if let Some(issue) = batch.issues.first() {
        text.push_str(&format!("\nBefore each: {}\n", issue.before));
        text.push_str(&after_each(plan, " --id ISSUE --identifier NAME"));
    }
    text + &end(batch.issues.len(), batch.remaining, &batch.given_up, "No issue is to be created", plan)
}

pub(super) fn outbox_text(outbox: &LinearOutbox, plan: &PlanId) -> String {
    let mut text = String::new();
    let mut before_comment = None;
    for change in &outbox.changes {
        text.push_str(&format!("{}\n", change.key));
        let name = change.identifier.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        field(&mut text, "issue", Some(format!("{}{name}", change.issue_id)));
        field(&mut text, "failed", change.failure.as_ref().map(failure_text));
        match &change.call {
            IssueCall::Status { status_id, .. } => field(&mut text, "status", Some(status_id)),
            IssueCall::Comment { body, marker, before } => {
                before_comment = Some(*before);
                field(&mut text, "marker", Some(marker));
                block(&mut text, "comment", body);
            }
        }
    }
    if !outbox.changes.is_empty() {
        text.push('\n');
        if let Some(before) = before_comment {
            text.push_str(&format!("Before each comment: {before}\n"));
        }
        text.push_str(&after_each(plan, ""));
    }
    for stage in &outbox.unresolved {
        let stage = stage.word();
        text.push_str(&format!("The team has no status for {stage}: such issues stay where they are\n"));
    }
    text + &end(outbox.changes.len(), outbox.remaining, &outbox.given_up, "No call is due", plan)
}

pub(super) fn statuses_text(resolved: &ResolvedStatuses<'_>) -> String {
    let row = |stage: LinearStage| {
        let status = resolved.statuses.get(&stage)?;
        Some(format!("{:<11}  {}  ({})\n", stage.word(), visible_line(&status.name), status.id))
    };
    LinearStage::ALL.into_iter().filter_map(row).collect()
}

fn field(text: &mut String, name: &str, value: Option<impl ToString>) {
    if let Some(value) = value {
        text.push_str(&format!("  {:<8} {}\n", format!("{name}:"), value.to_string()));
    }
}

fn block(text: &mut String, name: &str, lines: &str) {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.push_str(&format!("  {name}:\n{}", lines.lines().map(line).collect::<String>()));
}

fn failure_text(failure: &FailedCall) -> String {
    format!("{} of {MAX_ATTEMPTS} times: {}", failure.attempts, visible_line(&failure.reason))
}

fn after_each(plan: &PlanId, options: &str) -> String {
    let ack = format!("fp linear ack {plan} KEY");
    format!("After each: {ack}{options}\n  or: {ack} --failed REASON\n")
}

fn end(given: usize, remaining: usize, given_up: &[GivenUpCall], nothing: &str, plan: &PlanId) -> String {
    let mut text = String::new();
    if given == 0 {
        text.push_str(&format!("{nothing}\n"));
    } else if remaining > 0 {
        text.push_str(&format!("{remaining} more when these are acknowledged\n"));
    }
    for GivenUpCall { key, reason } in given_up {
        text.push_str(&format!("Given up: {key}: {}\n", visible_line(reason)));
    }
    if !given_up.is_empty() {
        text.push_str(&format!("  fp linear retry {plan} tries again what was given up\n"));
    }
    text
}
