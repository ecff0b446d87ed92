//! What tasks are called in a format that can't have every id.

use std::collections::{HashMap, HashSet};

use super::family::Family;
use crate::exchange::portable::{PortablePlan, PortableTask};

/// Longest name that is made of an id, in bytes.
const MAX_BYTES: usize = 60;

/// The name of each task, and the way from an id to it.
pub(super) struct Names<'p> {
    of: Vec<String>,
    by_id: HashMap<&'p str, usize>,
}

impl<'p> Names<'p> {
    /// All different, in any case of letters. An id that `fits` is the name itself. Of any other one `made` makes a name of what is plain in it.
    pub(super) fn new(
        plan: &'p PortablePlan,
        fits: impl Fn(&str) -> bool,
        made: impl Fn(&str) -> String,
    ) -> Self {
        let mut names = Self::given(plan, vec![String::new(); plan.tasks.len()]);
        let mut all: HashSet<String> = HashSet::with_capacity(plan.tasks.len());
        let mut unnamed = Vec::new();
        for (at, task) in plan.tasks.iter().enumerate() {
            if fits(&task.id) && all.insert(task.id.to_lowercase()) {
                names.of[at].clone_from(&task.id);
            } else {
                unnamed.push(at);
            }
        }
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for at in unnamed {
            let base = made(&plain(&plan.tasks[at].id));
            let number = numbers.entry(base.to_lowercase()).or_insert(1);
            let mut name = base.clone();
            while *number > 1 || !all.insert(name.to_lowercase()) {
                *number += 1;
                name = format!("{base}-{number}");
                if all.insert(name.to_lowercase()) {
                    break;
                }
            }
            names.of[at] = name;
        }
        names
    }

    /// The names that `of` says, all different.
    pub(super) fn given(plan: &'p PortablePlan, of: Vec<String>) -> Self {
        let mut by_id = HashMap::new();
        for (at, task) in plan.tasks.iter().enumerate() {
            by_id.entry(task.id.as_str()).or_insert(at);
        }
        Self { of, by_id }
    }

    /// The name of the task at this position.
    pub(super) fn of(&self, at: usize) -> &str {
        &self.of[at]
    }

    /// The position of the task with this id.
    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The names of what `task` waits for. The id of a task that isn't there is its own name.
    pub(super) fn dependencies(&self, task: &PortableTask) -> Vec<String> {
        let ids = task.dependencies.iter().flatten();
        ids.map(|id| self.position(id).map_or(id, |at| &self.of[at]).clone()).collect()
    }

    /// The same for a format in which nobody can wait for a parent: its leaves stand for it, each once, and `task`
    /// itself, which is at the position `at`, is left out.
    pub(super) fn leaf_dependencies(
        &self,
        family: &Family<'_>,
        at: usize,
        task: &PortableTask,
    ) -> Vec<String> {
        let names = self.dependencies(task);
        let targets = || task.dependencies.iter().flatten().map(|id| self.position(id));
        if !targets().flatten().any(|target| family.is_parent(target)) {
            return names;
        }
        let mut seen = HashSet::from([self.of(at).to_owned()]);
        let all = targets().zip(names).flat_map(|(target, name)| match target {
            Some(target) => {
                family.leaves_below(target).iter().map(|&leaf| self.of(leaf).to_owned()).collect()
            }
            None => vec![name],
        });
        all.filter(|name| seen.insert(name.clone())).collect()
    }
}

/// The letters and digits of `id`, with `-` for each run of anything else and single dots left between them.
fn plain(id: &str) -> String {
    let mut plain = String::new();
    for c in id.chars() {
        if plain.len() >= MAX_BYTES {
            break;
        }
        match c {
            c if c.is_ascii_alphanumeric() => plain.push(c),
            '.' if plain.ends_with(|c: char| c.is_ascii_alphanumeric()) => plain.push('.'),
            _ if plain.is_empty() || plain.ends_with(['-', '.']) => {}
            _ => plain.push('-'),
        }
    }
    plain.truncate(plain.trim_end_matches(['-', '.']).len());
    if plain.is_empty() { "task".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ids: &[&str]) -> Vec<String> {
        let tasks = ids.iter().map(|id| PortableTask { id: (*id).to_owned(), ..PortableTask::default() });
        let plan = PortablePlan { tasks: tasks.collect(), ..PortablePlan::default() };
        let names = Names::new(&plan, |id| id.starts_with("X-"), |plain| format!("X-{plain}"));
        (0..ids.len()).map(|at| names.of(at).to_owned()).collect()
    }

    #[test]
    fn names_are_plain_and_all_different() {
        let check = |ids: &[&str], expect: &[&str]| assert_eq!(names(ids), expect, "{ids:?}");
        check(&["1", "1.2"], &["X-1", "X-1.2"]);
        check(&["X-1", "1", "1"], &["X-1", "X-1-2", "X-1-3"]);
        check(&["X-a", "X-A", "1"], &["X-a", "X-X-A", "X-1"]);
        check(
            &["../../etc/passwd", "", "한글", "가", "1..2."],
            &["X-etc-passwd", "X-task", "X-task-2", "X-task-3", "X-1.2"],
        );
    }
}
