//! What people type for a plan.

use fp_core::plan::id::PlanId;

use super::PlanError;

/// The id of `existing` that `selector` means: a number from 1, or a part of exactly one id.
pub(super) fn select(selector: &str, existing: Vec<PlanId>) -> Result<PlanId, PlanError> {
    let number = selector.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    if let Some(id) = number.and_then(|index| existing.get(index)) {
        return Ok(id.clone());
    }
    let part = selector.to_ascii_lowercase();
    let mut matching: Vec<(usize, PlanId)> = (1..)
        .zip(&existing)
        .filter(|(_, id)| id.as_str().to_ascii_lowercase().contains(&part))
        .map(|(number, id)| (number, id.clone()))
        .collect();
    match matching.len() {
        0 => Err(PlanError::NotFound { selector: selector.into(), existing }),
        1 => Ok(matching.remove(0).1),
        _ => Err(PlanError::Ambiguous { selector: selector.into(), candidates: matching }),
    }
}

/// What plans are sorted by: the date in the id, its words, and the number behind the date. Ids that have
/// no date come first.
pub(super) fn age(id: &PlanId) -> (&str, &str, u32) {
    let text = id.as_str();
    let is_date = |part: &str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit());
    let dated = |text| str::rsplit_once(text, '-').filter(|(_, date)| is_date(date));
    if let Some((words, date)) = dated(text) {
        return (date, words, 1);
    }
    let numbered =
        text.rsplit_once('-').and_then(|(rest, number)| Some((dated(rest)?, number.parse().ok()?)));
    match numbered {
        Some(((words, date), number)) => (date, words, number),
        None => ("", text, 1),
    }
}
