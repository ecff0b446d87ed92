//! The passes of `fp validate --fix` over the tree of a plan. They are counted in its log, so that they end.

use fp_core::diagnostic::Diagnostic;
use fp_core::run::approval;
use fp_core::run::planning::{PASSES, Planning, Seen};
use fp_host::plan::OpenPlan;
use fp_host::store::StoreError;
use serde::Serialize;

use crate::context::Context;

/// A pass that left errors.
#[derive(Debug, Serialize)]
pub(super) struct Pass {
    /// Which one it is since the tree was last valid.
    number: u32,
    /// How many there are at most.
    of: u32,
    /// Whether it would have been one more; then nothing is fixed.
    over: bool,
}

/// What there is to count in a tree with this text, in which this was found.
pub(super) fn seen(text: &str, found: &[Diagnostic], strict: bool) -> Seen {
    let failing = || found.iter().filter(|diagnostic| diagnostic.fails(strict));
    let errors = failing().count();
    Seen {
        tree_hash: approval::hash(text.as_bytes()),
        errors,
        warnings: found.len() - errors,
        failing: failing().map(|diagnostic| diagnostic.rule.to_owned()).collect(),
    }
}

/// The pass that would be one too many, said so; nothing where there is one left. A log that can't be read is for
/// [`count`] to speak of.
pub(super) fn over(plan: &OpenPlan, seen: &Seen, context: &Context) -> Option<Pass> {
    let state = plan.load().ok()?.state;
    if state.is_running() || !state.planning.is_over(seen) {
        return None;
    }
    let Planning { passes, failing, .. } = &state.planning;
    let always = match failing.iter().map(String::as_str).collect::<Vec<_>>() {
        rules if rules.is_empty() => String::new(),
        rules => format!(" (in each of them: {})", rules.join(", ")),
    };
    context.printer.note(&format!(
        "note: {PASSES} passes have not made this tree valid, and nothing more is fixed; stop and tell the user what \
         keeps failing{always}"
    ));
    Some(Pass { number: *passes, of: PASSES, over: true })
}

/// Counts a pass, and says which one it is where it left errors. The tree of a run that is on is not planned any more,
/// and a pass that can't be written down is said to be none: what was found counts more.
pub(super) fn count(plan: &OpenPlan, seen: Seen, context: &Context) -> Option<Pass> {
    let failed = seen.errors > 0;
    let passes = counted(plan, seen, context).unwrap_or_else(|error| {
        context.printer.note(&format!("note: this pass is not counted: {error}"));
        None
    });
    let number = passes.filter(|_| failed)?;
    context.printer.note(&format!("note: pass {number} of {PASSES}"));
    Some(Pass { number, of: PASSES, over: false })
}

/// How many passes there are with this one; nothing where it is not counted.
fn counted(plan: &OpenPlan, seen: Seen, context: &Context) -> Result<Option<u32>, StoreError> {
    let state = plan.load()?.state;
    if state.is_running() {
        return Ok(None);
    }
    if state.planning.count(&seen).is_none() {
        return Ok(Some(state.planning.passes));
    }
    let mut ledger = plan.lock()?;
    context.notices(ledger.notices());
    let event = ledger.state().planning.count(&seen).filter(|_| !ledger.state().is_running());
    ledger.append(event.into_iter().collect(), context.now())?;
    Ok(Some(ledger.state().planning.passes))
}
