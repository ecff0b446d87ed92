//! What is to be sent to Linear, as text.

use fp_core::linear::{Batch, Call, Failure, GivenUp, Outbox, Resolved, Stage};
use fp_core::plan::id::PlanId;
use fp_core::text::one_line;

/// The issues to be created.
pub(crate) fn batch(batch: &Batch, plan: &PlanId) -> String {
    let mut text = String::new();
    for issue in &batch.issues {
        text.push_str(&format!("{}\n  title:   {}\n", issue.key, one_line(&issue.title)));
        let ids = [("team", &issue.team_id, &issue.team), ("project", &issue.project_id, &issue.project)];
        for (what, id, name) in ids {
            let id = id.as_ref().map(ToString::to_string);
            field(&mut text, what, id.or_else(|| name.as_deref().map(one_line)));
        }
        field(&mut text, "parent", issue.parent_id.as_ref().map(ToString::to_string));
        field(&mut text, "status", issue.status_id.as_ref().map(ToString::to_string));
        field(&mut text, "marker", Some(issue.marker.clone()));
        field(&mut text, "failed", issue.failure.as_ref().map(failure));
        text.push_str("  description:\n");
        text.push_str(&indented(&issue.description));
    }
    if let Some(issue) = batch.issues.first() {
        text.push_str(&format!("\nBefore each: {}\n", issue.before));
        text.push_str(&format!(
            "After each: fp linear ack {plan} KEY --id ISSUE --identifier NAME\n  or: fp linear ack {plan} KEY --failed \
             REASON\n"
        ));
    }
    text + &end(batch.issues.len(), batch.remaining, &batch.given_up, "issue is to be created", plan)
}

/// The calls to be made.
pub(crate) fn outbox(outbox: &Outbox, plan: &PlanId) -> String {
    let mut text = String::new();
    let mut before = None;
    for change in &outbox.changes {
        text.push_str(&format!("{}\n", change.key));
        let name = change.identifier.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        field(&mut text, "issue", Some(format!("{}{name}", change.issue_id)));
        field(&mut text, "failed", change.failure.as_ref().map(failure));
        match &change.call {
            Call::Status { status_id, .. } => field(&mut text, "status", Some(status_id.to_string())),
            Call::Comment { body, marker, before: rule } => {
                before = Some(*rule);
                field(&mut text, "marker", Some(marker.clone()));
                text.push_str("  comment:\n");
                text.push_str(&indented(body));
            }
        }
    }
    if let Some(before) = before {
        text.push_str(&format!("\nBefore each comment: {before}\n"));
    }
    if !outbox.changes.is_empty() {
        text.push_str(&format!(
            "{}After each: fp linear ack {plan} KEY\n  or: fp linear ack {plan} KEY --failed REASON\n",
            if before.is_some() { "" } else { "\n" }
        ));
    }
    for stage in &outbox.unresolved {
        text.push_str(&format!(
            "The team has no status for {}: such issues stay where they are\n",
            stage.word()
        ));
    }
    text + &end(outbox.changes.len(), outbox.remaining, &outbox.given_up, "call is due", plan)
}

/// What each stage is in the team.
pub(crate) fn statuses(resolved: &Resolved) -> String {
    let row = |stage: &Stage| {
        let id = resolved.statuses.get(stage)?;
        let name = resolved.names.get(stage).map_or("", String::as_str);
        Some(format!("{:<11}  {}  ({id})\n", stage.word(), one_line(name)))
    };
    Stage::ALL.iter().filter_map(row).collect()
}

fn field(text: &mut String, name: &str, value: Option<String>) {
    if let Some(value) = value {
        text.push_str(&format!("  {:<8} {value}\n", format!("{name}:")));
    }
}

fn failure(failure: &Failure) -> String {
    format!("{} of {} times: {}", failure.attempts, fp_core::linear::MAX_ATTEMPTS, one_line(&failure.reason))
}

fn indented(block: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    block.lines().map(line).collect()
}

fn end(given: usize, remaining: usize, given_up: &[GivenUp], nothing: &str, plan: &PlanId) -> String {
    let mut text = String::new();
    if given == 0 {
        text.push_str(&format!("No {nothing}\n"));
    } else if remaining > 0 {
        text.push_str(&format!("{remaining} more when these are acknowledged\n"));
    }
    for GivenUp { key, reason } in given_up {
        text.push_str(&format!("Given up: {key}: {}\n", one_line(reason)));
    }
    if !given_up.is_empty() {
        text.push_str(&format!("  fp linear retry {plan} tries again what was given up\n"));
    }
    text
}
