//! Where each format has what is kept beside its own fields, and how a plan is read with it.

use serde_json::{Map, Value};

use super::export::written_as;
use super::import::{Source, as_read};
use super::kept::{self, PLAN};
use super::portable::PortablePlan;
use super::rest::KEY;

type Fields = Map<String, Value>;

/// `plan`, which was read from `source`, as it was when it was exported, and edited since. One that was never exported
/// stays as it is.
pub(crate) fn given_back(source: Source, mut plan: PortablePlan) -> PortablePlan {
    let (rests, whole) = taken(source, &mut plan);
    if whole.is_empty() && rests.iter().all(Map::is_empty) {
        return plan;
    }
    kept::restored(&plan, &rests, &whole, |plan, from| {
        let written = written_as(source, plan, from)?;
        let (mut read, _) = as_read(source, &written.folder).ok()?;
        taken(source, &mut read);
        Some((read, written.names))
    })
}

/// Takes from `plan` what is kept of each task, and of the whole.
fn taken(source: Source, plan: &mut PortablePlan) -> (Vec<Fields>, Fields) {
    let mut rests: Vec<Fields> =
        plan.tasks.iter_mut().map(|task| take(&mut task.ext, &[KEY]).unwrap_or_default()).collect();
    let whole = match source {
        Source::Ccw | Source::SpecKit => take(&mut plan.ext, &[KEY]),
        Source::TaskMaster => {
            let tagged = take(&mut plan.ext, &["tags", "master", KEY]);
            tagged.or_else(|| take(&mut plan.ext, &[KEY]))
        }
        Source::Beads => rests.iter_mut().find_map(|rest| match rest.remove(PLAN)? {
            Value::Object(whole) => Some(whole),
            _ => None,
        }),
        Source::Uctm | Source::Maestro | Source::FractalPlanner | Source::Json => None,
    };
    (rests, whole.unwrap_or_default())
}

/// Takes what stands at the end of `path`, if that is what an export keeps. Objects on the way to it that have nothing
/// else are gone as well, as they are where nothing was kept.
fn take(fields: &mut Fields, path: &[&str]) -> Option<Fields> {
    let (key, rest) = path.split_first()?;
    let Value::Object(inner) = fields.get_mut(*key)? else { return None };
    if rest.is_empty() {
        let ours = kept::is_kept(inner).then(|| std::mem::take(inner));
        return ours.inspect(|_| drop(fields.remove(*key)));
    }
    let taken = take(inner, rest)?;
    if inner.is_empty() {
        fields.remove(*key);
    }
    Some(taken)
}
