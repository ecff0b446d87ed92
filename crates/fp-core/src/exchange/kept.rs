//! What a format does not give back by itself, and how it comes back nevertheless.
//!
//! No exporter says which fields its format holds well enough. What was written is read again, and whatever an importer
//! would take for something else is kept beside, under one key. Whoever imports such a text has what is kept laid over
//! what the format's own fields say; but a field that says something else than an export would have it say was edited
//! since, and then it is the field that counts.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::{Map, Value};

use super::portable::{PortablePlan, PortableTask, TASK_FIELDS};
use super::rest::KEY;

/// The name of the task in the plan's own words.
const ID: &str = "id";
/// The id of its parent; nothing where it has none.
const PARENT: &str = "parent";
const EXT: &str = "ext";
const DEPENDENCIES: &str = "dependencies";
/// Tasks that the format has no place for, each with all that is said of it.
const PARENTS: &str = "parents";
/// The ids in their order, where that is another one than the format gives.
const ORDER: &str = "order";
/// The system that the plan came from, where it is the one that it was exported to.
const FROM: &str = "from";

/// Under this name what is kept of the whole stands with the first task, in a format that has nothing but tasks.
pub(crate) const PLAN: &str = "plan";

type Fields = Map<String, Value>;

/// What is kept beside the fields of a portable task.
const OTHERS: [&str; 5] = ["goal", PLAN, PARENTS, ORDER, FROM];

/// Whether `fields` is something that is kept, and nothing that another program calls the same.
pub(crate) fn is_kept(fields: &Fields) -> bool {
    fields.keys().map(String::as_str).all(|field| TASK_FIELDS.contains(&field) || OTHERS.contains(&field))
}

/// What is kept of a plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Kept {
    /// Of each task, by position; empty where the format says it all.
    pub(crate) tasks: Vec<Fields>,
    /// Of the whole.
    pub(crate) whole: Fields,
}

impl Kept {
    /// What is to be kept of `plan` where the format is read as `read`. `names` has what each task is called in the
    /// format; a task without a name has no place there.
    pub(crate) fn of(
        plan: &PortablePlan,
        names: &[Option<String>],
        read: &PortablePlan,
        from: Option<&str>,
    ) -> Self {
        let by_name = Places::of(read);
        let ids: HashMap<&str, &str> = plan
            .tasks
            .iter()
            .zip(names)
            .filter_map(|(task, name)| Some((name.as_deref()?, task.id.as_str())))
            .collect();
        let own = |name: &str| ids.get(name).copied().unwrap_or(name).to_owned();
        let mut kept = Self { tasks: vec![Map::new(); plan.tasks.len()], whole: Map::new() };
        let mut parents = Vec::new();
        for (at, task) in plan.tasks.iter().enumerate() {
            let parent =
                task.parent.and_then(|parent| plan.tasks.get(parent)).map(|parent| parent.id.clone());
            let Some(found) = names[at].as_deref().and_then(|name| by_name.find(name)) else {
                let mut fields = fields_of(task);
                fields.insert(ID.into(), task.id.clone().into());
                fields.extend(parent.map(|parent| (PARENT.to_owned(), parent.into())));
                fields.extend(
                    Some(&task.ext)
                        .filter(|ext| !ext.is_empty())
                        .map(|ext| (EXT.to_owned(), ext.clone().into())),
                );
                parents.push(Value::Object(fields));
                continue;
            };
            let found = &read.tasks[found];
            let rest = &mut kept.tasks[at];
            let waits = found.dependencies.as_ref().map(|names| names.iter().map(|name| own(name)).collect());
            rest.extend(differing(task, found, &task.dependencies, &waits));
            if names[at].as_deref() != Some(&task.id) {
                rest.insert(ID.into(), task.id.clone().into());
            }
            if parent != found.parent.and_then(|at| read.tasks.get(at)).map(|parent| own(&parent.id)) {
                rest.insert(PARENT.into(), parent.into());
            }
            if task.ext != found.ext {
                rest.insert(EXT.into(), task.ext.clone().into());
            }
        }
        differences(&whole_of(plan), &whole_of(read), &mut kept.whole);
        if plan.ext != read.ext {
            kept.whole.insert(EXT.into(), plan.ext.clone().into());
        }
        if !parents.is_empty() {
            kept.whole.insert(PARENTS.into(), parents.into());
        }
        kept.whole.extend(from.map(|from| (FROM.to_owned(), from.into())));
        kept.order(plan, names, read);
        kept
    }

    /// Keeps the order of the tasks, if it would be another one: that of those that are found, each behind what holds
    /// it and is not found.
    fn order(&mut self, plan: &PortablePlan, names: &[Option<String>], read: &PortablePlan) {
        let names = names.iter().enumerate().filter_map(|(at, name)| Some((name.as_deref()?, at)));
        let places: HashMap<&str, usize> = names.collect();
        let mut is_placed = vec![false; plan.tasks.len()];
        places.values().for_each(|&at| is_placed[at] = true);
        let mut order = Vec::with_capacity(plan.tasks.len());
        for at in read.tasks.iter().filter_map(|task| places.get(task.id.as_str()).copied()) {
            let mut above = Vec::new();
            let mut next = plan.tasks[at].parent;
            while let Some(parent) = next.filter(|&parent| is_placed.get(parent) == Some(&false)) {
                is_placed[parent] = true;
                above.push(parent);
                next = plan.tasks[parent].parent;
            }
            order.extend(above.into_iter().rev().chain([at]));
        }
        if !order.into_iter().eq(0..plan.tasks.len()) {
            let ids = plan.tasks.iter().map(|task| Value::from(task.id.as_str()));
            self.whole.insert(ORDER.into(), ids.collect::<Vec<_>>().into());
        }
    }

    /// What is kept of the task at this position; `None` where nothing is.
    pub(crate) fn task(&self, at: usize) -> Option<Value> {
        self.tasks.get(at).filter(|rest| !rest.is_empty()).map(|rest| Value::Object(rest.clone()))
    }

    /// What is kept of the whole; `None` where nothing is.
    pub(crate) fn whole(&self) -> Option<Value> {
        (!self.whole.is_empty()).then(|| Value::Object(self.whole.clone()))
    }
}

/// The first task with each id.
struct Places<'p>(HashMap<&'p str, usize>);

impl<'p> Places<'p> {
    fn of(plan: &'p PortablePlan) -> Self {
        let mut places = HashMap::new();
        for (at, task) in plan.tasks.iter().enumerate() {
            places.entry(task.id.as_str()).or_insert(at);
        }
        Self(places)
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.0.get(id).copied()
    }
}

/// What is said of a task beside its id, its place among the others, and what its source said.
fn fields_of(task: &PortableTask) -> Fields {
    let mut fields = serialised(task);
    for field in [ID, PARENT, EXT] {
        fields.remove(field);
    }
    fields
}

fn whole_of(plan: &PortablePlan) -> Fields {
    let bare = PortablePlan { title: plan.title.clone(), goal: plan.goal.clone(), ..PortablePlan::default() };
    let mut fields = serialised(&bare);
    fields.remove("tasks");
    fields
}

fn serialised(said: &impl Serialize) -> Fields {
    match serde_json::to_value(said) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The fields of `task` in which `other` says something else; `null` is for what only that one says. What each waits
/// for is given apart.
fn differing(
    task: &PortableTask,
    other: &PortableTask,
    waits: &Option<Vec<String>>,
    other_waits: &Option<Vec<String>>,
) -> Fields {
    let mut fields = Map::new();
    let mut insert = |name: &str, value| drop(fields.insert(name.to_owned(), value));
    macro_rules! compare {
        ($($field:ident $name:literal),*) => {$(
            if task.$field != other.$field {
                insert($name, serde_json::to_value(&task.$field).unwrap_or_default());
            }
        )*};
    }
    compare!(
        title "title", description "description", complexity "complexity", acceptance "acceptance", files "files",
        tests_required "testsRequired", hints "hints", references "references", guardrails "guardrails",
        test_commands "testCommands", verify "verify", covers "covers", group "group", risk "risk",
        priority "priority", work "work"
    );
    if waits != other_waits {
        insert(DEPENDENCIES, waits.clone().into());
    }
    fields
}

/// Names of the format become ids.
fn rename(fields: &mut Fields, own: impl Fn(&str) -> String) {
    let Some(Value::Array(names)) = fields.get_mut(DEPENDENCIES) else { return };
    for name in names {
        *name = name.as_str().map(&own).unwrap_or_default().into();
    }
}

/// Puts into `rest` what is `wanted` and not `said`; `null` is for what is said and not wanted.
fn differences(wanted: &Fields, said: &Fields, rest: &mut Fields) {
    for (field, value) in wanted.iter().filter(|(field, value)| said.get(*field) != Some(value)) {
        rest.insert(field.clone(), value.clone());
    }
    for field in said.keys().filter(|field| !wanted.contains_key(*field)) {
        rest.insert(field.clone(), Value::Null);
    }
}

/// A plan with what was kept laid over it, and where each of its tasks was found.
struct Laid {
    plan: PortablePlan,
    /// The position among those that were read; none for a task that was only kept.
    found: Vec<Option<usize>>,
}

fn laid_over(read: &PortablePlan, rests: &[Fields], whole: &Fields) -> Laid {
    let mut ids: HashMap<&str, &str> = HashMap::new();
    for (task, rest) in read.tasks.iter().zip(rests) {
        ids.entry(&task.id).or_insert_with(|| rest.get(ID).and_then(Value::as_str).unwrap_or(&task.id));
    }
    let own = |name: &str| ids.get(name).copied().unwrap_or(name).to_owned();
    let mut arranging = Arranging::new(whole);
    for (at, (task, rest)) in read.tasks.iter().zip(rests).enumerate() {
        let parent = match rest.get(PARENT) {
            Some(parent) => parent.as_str().map(str::to_owned),
            None => task.parent.and_then(|parent| read.tasks.get(parent)).map(|parent| own(&parent.id)),
        };
        arranging.put(with_rest(task, rest, own), parent, Some(at));
    }
    let mut laid = arranging.done(whole);
    let mut fields = whole_of(read);
    fields.extend(
        whole
            .iter()
            .filter(|(field, _)| ["title", "goal"].contains(&field.as_str()))
            .map(|(k, v)| (k.clone(), v.clone())),
    );
    laid.plan.title = fields.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
    laid.plan.goal = fields.get("goal").and_then(Value::as_str).map(str::to_owned);
    laid.plan.ext = whole.get(EXT).and_then(Value::as_object).unwrap_or(&read.ext).clone();
    laid
}

/// `task` with `rest` laid over it. A rest that is not what an export keeps stays in its `ext`.
fn with_rest(task: &PortableTask, rest: &Fields, own: impl Fn(&str) -> String) -> PortableTask {
    let mut fields = serialised(task);
    rename(&mut fields, own);
    let kept = rest.iter().filter(|(field, _)| *field != PARENT);
    fields.extend(kept.map(|(field, value)| (field.clone(), value.clone())));
    fields.retain(|_, value| !value.is_null());
    serde_json::from_value(Value::Object(fields)).unwrap_or_else(|_| {
        let mut task = task.clone();
        task.ext.insert(KEY.to_owned(), Value::Object(rest.clone()));
        task
    })
}

/// Tasks on their way to their places, parents first.
struct Arranging {
    tasks: Vec<(PortableTask, Option<String>, Option<usize>)>,
    places: HashMap<String, usize>,
    /// Tasks that were only kept, until one of their children comes.
    parents: BTreeMap<String, (PortableTask, Option<String>)>,
}

impl Arranging {
    fn new(whole: &Fields) -> Self {
        let kept =
            whole.get(PARENTS).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
        let kept = kept.filter_map(|fields| {
            let parent = fields.get(PARENT).and_then(Value::as_str).map(str::to_owned);
            let mut fields = fields.clone();
            fields.remove(PARENT);
            let task: PortableTask = serde_json::from_value(Value::Object(fields)).ok()?;
            Some((task.id.clone(), (task, parent)))
        });
        Self { tasks: Vec::new(), places: HashMap::new(), parents: kept.collect() }
    }

    fn put(&mut self, task: PortableTask, parent: Option<String>, found: Option<usize>) {
        let mut above = Vec::new();
        let mut next = parent.clone();
        while let Some((id, (task, parent))) = next.and_then(|id| self.parents.remove_entry(&id)) {
            next = parent.clone();
            above.push((id, task, parent));
        }
        for (_, task, parent) in above.into_iter().rev() {
            self.push(task, parent, None);
        }
        self.push(task, parent, found);
    }

    fn push(&mut self, task: PortableTask, parent: Option<String>, found: Option<usize>) {
        self.places.entry(task.id.clone()).or_insert(self.tasks.len());
        self.tasks.push((task, parent, found));
    }

    /// The tasks in the order that is kept, if that has parents first, else in the one that they came in.
    fn done(mut self, whole: &Fields) -> Laid {
        if let Some(Value::Array(order)) = whole.get(ORDER) {
            let rank: HashMap<&str, usize> =
                order.iter().enumerate().filter_map(|(at, id)| Some((id.as_str()?, at))).collect();
            self.tasks.sort_by_key(|(task, ..)| rank.get(task.id.as_str()).copied().unwrap_or(usize::MAX));
            self.places.clear();
            for (at, (task, ..)) in self.tasks.iter().enumerate() {
                self.places.entry(task.id.clone()).or_insert(at);
            }
        }
        let mut laid = Laid { plan: PortablePlan::default(), found: Vec::new() };
        for (at, (task, parent, found)) in self.tasks.into_iter().enumerate() {
            let parent =
                parent.and_then(|parent| self.places.get(&parent).copied()).filter(|&parent| parent < at);
            laid.plan.tasks.push(PortableTask { parent, ..task });
            laid.found.push(found);
        }
        laid
    }
}

/// The plan that was exported as what is `read`, where `rests` and `whole` were kept of it. `again` is how an export of
/// a plan is read, without what is kept; what differs from that was edited since, and counts.
pub(crate) fn restored(
    read: &PortablePlan,
    rests: &[Fields],
    whole: &Fields,
    again: impl FnOnce(&PortablePlan, Option<&str>) -> Option<(PortablePlan, Vec<Option<String>>)>,
) -> PortablePlan {
    let laid = laid_over(read, rests, whole);
    let Some((then, names)) = again(&laid.plan, whole.get(FROM).and_then(Value::as_str)) else {
        return laid.plan;
    };
    let places = Places::of(&then);
    let mut kept = rests.to_vec();
    let own_now = Own::new(read, rests);
    let own_then = Own::named(&names, &laid.plan);
    for (at, found) in laid.found.iter().enumerate() {
        let Some((found, then_at)) = found.zip(names[at].as_deref().and_then(|name| places.find(name)))
        else {
            continue;
        };
        let (now, before) = (&read.tasks[found], &then.tasks[then_at]);
        let waits = |task: &PortableTask, own: &Own<'_>| {
            task.dependencies.as_ref().map(|names| names.iter().map(|name| own.id(name)).collect())
        };
        let edited = differing(now, before, &waits(now, &own_now), &waits(before, &own_then));
        let rest = &mut kept[found];
        rest.retain(|field, _| !edited.contains_key(field));
        added(rest, &now.ext, &before.ext);
    }
    let mut whole = whole.clone();
    let (said, would) = (whole_of(read), whole_of(&then));
    whole.retain(|field, _| {
        !["title", "goal"].contains(&field.as_str()) || said.get(field) == would.get(field)
    });
    added(&mut whole, &read.ext, &then.ext);
    laid_over(read, &kept, &whole).plan
}

/// Puts what is said beside by now, and would not be by an export, to what was kept of that.
fn added(rest: &mut Fields, now: &Fields, then: &Fields) {
    if let Some(Value::Object(ext)) = rest.get_mut(EXT) {
        let new = now.iter().filter(|(key, value)| then.get(*key) != Some(value));
        ext.extend(new.map(|(key, value)| (key.clone(), value.clone())));
    }
}

/// The ids of tasks by their names in a format.
struct Own<'p>(HashMap<&'p str, &'p str>);

impl<'p> Own<'p> {
    fn new(read: &'p PortablePlan, rests: &'p [Fields]) -> Self {
        let ids = read.tasks.iter().zip(rests);
        Self(ids.filter_map(|(task, rest)| Some((task.id.as_str(), rest.get(ID)?.as_str()?))).collect())
    }

    fn named(names: &'p [Option<String>], plan: &'p PortablePlan) -> Self {
        let ids = names.iter().zip(&plan.tasks);
        Self(ids.filter_map(|(name, task)| Some((name.as_deref()?, task.id.as_str()))).collect())
    }

    fn id(&self, name: &str) -> String {
        self.0.get(name).copied().unwrap_or(name).to_owned()
    }
}
