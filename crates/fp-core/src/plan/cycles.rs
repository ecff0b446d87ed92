//! The elementary cycles of a plan's leaves, each once, cut off where there are too many to be of use.

use std::collections::{HashMap, HashSet};

use super::graph::Graph;
use super::index::Index;
use super::natural;
use super::task::{Plan, TaskIndex};

/// Most cycles that are looked for.
const MAX_CYCLES: usize = 1000;
/// Most edges that are followed while looking, so that a dense tangle ends as well.
const MAX_STEPS: usize = 20_000_000;
/// Up to so many edges between leaves, a dependency on a parent is taken apart into its leaves.
const MAX_EXPANDED: usize = 200_000;

/// The cycles of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cycles {
    /// Each as the leaves on its way, the one with the smallest id first, sorted by ids.
    pub paths: Vec<Vec<TaskIndex>>,
    /// Whether there are, or may be, more.
    pub more: bool,
}

/// Finds the cycles.
#[must_use]
pub fn find(plan: &Plan, index: &Index<'_>, graph: &Graph) -> Cycles {
    let all: Vec<usize> = (0..graph.len()).collect();
    let mut steps = 0;
    let tangles = components(&all, |task| graph.waits_for(task), &mut steps);
    let mut search = Search { steps: 0, seen: HashSet::new(), cycles: Cycles::default() };
    for tangle in tangles {
        search.tangle(plan, index, graph, tangle);
    }
    let mut cycles = search.cycles;
    let rank = |path: &[TaskIndex], at: usize| path.get(at).map(|&task| &*plan.tasks[task].id);
    cycles.paths.sort_by(|a, b| {
        let ids = (0..a.len().max(b.len())).map(|at| (rank(a, at), rank(b, at)));
        let orders = ids.map(|(a, b)| match (a, b) {
            (Some(a), Some(b)) => natural::compare(a, b),
            (a, b) => a.cmp(&b),
        });
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(a.cmp(b))
    });
    cycles
}

struct Search {
    steps: usize,
    seen: HashSet<Vec<TaskIndex>>,
    cycles: Cycles,
}

impl Search {
    /// Finds the cycles within tasks that all reach each other.
    fn tangle(&mut self, plan: &Plan, index: &Index<'_>, graph: &Graph, mut tangle: Vec<TaskIndex>) {
        tangle.sort_by(|&a, &b| natural::compare(&plan.tasks[a].id, &plan.tasks[b].id).then(a.cmp(&b)));
        let local = Local::new(plan, index, graph, &tangle);
        let nodes: Vec<usize> = (0..local.edges.len()).collect();
        let mut work = components(&nodes, |node| local.edges[node].as_slice(), &mut self.steps);
        while let Some(mut component) = work.pop() {
            if self.is_spent() {
                self.cycles.more = true;
                return;
            }
            component.sort_unstable();
            self.circuits(&local, &component);
            let rest = &component[1..];
            let inside: HashSet<usize> = rest.iter().copied().collect();
            let edges = |node: usize| {
                local.edges[node].iter().copied().filter(|next| inside.contains(next)).collect::<Vec<_>>()
            };
            let kept: HashMap<usize, Vec<usize>> = rest.iter().map(|&node| (node, edges(node))).collect();
            work.extend(components(rest, |node| kept[&node].as_slice(), &mut self.steps));
        }
    }

    fn is_spent(&self) -> bool {
        self.cycles.paths.len() >= MAX_CYCLES || self.steps >= MAX_STEPS
    }

    /// All cycles through the smallest node of a component: Johnson's circuits, without recursion.
    fn circuits(&mut self, local: &Local, component: &[usize]) {
        let start = component[0];
        let inside: HashSet<usize> = component.iter().copied().collect();
        let mut blocked: HashSet<usize> = HashSet::from([start]);
        let mut waiting: HashMap<usize, Vec<usize>> = HashMap::new();
        // Per level: the node, its next edge, and whether a cycle was found behind it.
        let mut way: Vec<(usize, usize, bool)> = vec![(start, 0, false)];
        while let Some(top) = way.len().checked_sub(1) {
            let (node, edge, _) = way[top];
            if self.is_spent() {
                self.cycles.more = true;
                return;
            }
            let Some(&next) = local.edges[node].get(edge) else {
                let (node, _, found) = way[top];
                way.pop();
                if found {
                    unblock(node, &mut blocked, &mut waiting);
                    if let Some(above) = way.last_mut() {
                        above.2 = true;
                    }
                } else {
                    for next in local.edges[node].iter().filter(|next| inside.contains(next)) {
                        let list = waiting.entry(*next).or_default();
                        if !list.contains(&node) {
                            list.push(node);
                        }
                    }
                }
                continue;
            };
            way[top].1 += 1;
            self.steps += 1;
            if next == start {
                way[top].2 = true;
                self.keep(local, &way);
            } else if inside.contains(&next) && blocked.insert(next) {
                way.push((next, 0, false));
            }
        }
    }

    fn keep(&mut self, local: &Local, way: &[(usize, usize, bool)]) {
        self.steps += way.len();
        let path: Vec<TaskIndex> =
            way.iter().filter_map(|&(node, ..)| local.leaf[node].then_some(local.tasks[node])).collect();
        if path.len() > 1 && self.seen.insert(path.clone()) {
            self.cycles.paths.push(path);
        }
    }
}

fn unblock(node: usize, blocked: &mut HashSet<usize>, waiting: &mut HashMap<usize, Vec<usize>>) {
    let mut work = vec![node];
    while let Some(node) = work.pop() {
        if blocked.remove(&node) {
            work.extend(waiting.remove(&node).into_iter().flatten());
        }
    }
}

/// The edges within one tangle, by position in the order of ids.
struct Local {
    tasks: Vec<TaskIndex>,
    leaf: Vec<bool>,
    edges: Vec<Vec<usize>>,
}

impl Local {
    fn new(plan: &Plan, index: &Index<'_>, graph: &Graph, tangle: &[TaskIndex]) -> Self {
        let leaves: Vec<TaskIndex> =
            tangle.iter().copied().filter(|&task| plan.tasks[task].is_leaf()).collect();
        let expanded = |task: TaskIndex| {
            graph.waits_for(task).iter().map(|&target| index.leaves_of(target).len()).sum::<usize>()
        };
        let size: usize = leaves.iter().map(|&leaf| expanded(leaf)).sum();
        // Leaves come first where parents stay, so that each cycle still begins with its smallest leaf.
        let tasks: Vec<TaskIndex> = if size <= MAX_EXPANDED {
            leaves
        } else {
            let parents = tangle.iter().copied().filter(|&task| !plan.tasks[task].is_leaf());
            leaves.into_iter().chain(parents).collect()
        };
        let place: HashMap<TaskIndex, usize> =
            tasks.iter().enumerate().map(|(at, &task)| (task, at)).collect();
        let targets = |task: TaskIndex| -> Vec<usize> {
            let direct = graph.waits_for(task).iter();
            let mut found: Vec<usize> = if size <= MAX_EXPANDED {
                direct
                    .flat_map(|&target| index.leaves_of(target))
                    .filter_map(|target| place.get(target).copied())
                    .collect()
            } else {
                direct.filter_map(|target| place.get(target).copied()).collect()
            };
            found.sort_unstable();
            found.dedup();
            found.retain(|&target| tasks[target] != task);
            found
        };
        let edges = tasks.iter().map(|&task| targets(task)).collect();
        let leaf = tasks.iter().map(|&task| plan.tasks[task].is_leaf()).collect();
        Self { tasks, leaf, edges }
    }
}

/// The sets of at least two nodes that all reach each other (Tarjan's, without recursion).
fn components<'e>(
    nodes: &[usize],
    edges: impl Fn(usize) -> &'e [usize],
    steps: &mut usize,
) -> Vec<Vec<usize>> {
    let mut state = Tarjan::default();
    let mut found = Vec::new();
    for &root in nodes {
        if state.number.contains_key(&root) {
            continue;
        }
        state.enter(root);
        let mut way = vec![(root, 0)];
        while let Some((node, edge)) = way.last_mut() {
            *steps += 1;
            let node = *node;
            if let Some(&next) = edges(node).get(*edge) {
                *edge += 1;
                if !state.number.contains_key(&next) {
                    state.enter(next);
                    way.push((next, 0));
                } else if state.on_stack.contains(&next) {
                    state.lower(node, state.number[&next]);
                }
                continue;
            }
            way.pop();
            if let Some(&(above, _)) = way.last() {
                state.lower(above, state.low[&node]);
            }
            if state.low[&node] == state.number[&node] {
                found.extend(Some(state.leave(node)).filter(|component| component.len() > 1));
            }
        }
    }
    found
}

#[derive(Default)]
struct Tarjan {
    number: HashMap<usize, usize>,
    low: HashMap<usize, usize>,
    stack: Vec<usize>,
    on_stack: HashSet<usize>,
}

impl Tarjan {
    fn enter(&mut self, node: usize) {
        let number = self.number.len();
        self.number.insert(node, number);
        self.low.insert(node, number);
        self.stack.push(node);
        self.on_stack.insert(node);
    }

    fn lower(&mut self, node: usize, to: usize) {
        let low = self.low.get_mut(&node).expect("a node on the way was entered");
        *low = to.min(*low);
    }

    fn leave(&mut self, node: usize) -> Vec<usize> {
        let at =
            self.stack.iter().rposition(|&other| other == node).expect("a node on the way is on the stack");
        let component = self.stack.split_off(at);
        for node in &component {
            self.on_stack.remove(node);
        }
        component
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    fn cycles(text: &str) -> (Vec<String>, bool) {
        let (plan, _) = parse(text);
        let index = Index::new(&plan);
        let Cycles { paths, more } = find(&plan, &index, &Graph::new(&plan, &index));
        let ids = |path: Vec<TaskIndex>| {
            path.iter().map(|&task| plan.tasks[task].id.clone()).collect::<Vec<_>>().join(" ")
        };
        (paths.into_iter().map(ids).collect(), more)
    }

    /// A flat tree where task `n` waits for what stands at place `n`, from 1.
    fn flat(dependencies: &[&str]) -> String {
        let lines = dependencies
            .iter()
            .zip(1..)
            .map(|(list, id)| format!("- [ID: {id}] T\n  - Dependencies: {list}\n"));
        std::iter::once("- [ID: root] R\n".to_owned()).chain(lines).collect()
    }

    #[test]
    fn each_cycle_once_smallest_id_first() {
        let check = |text: &str, expect: &[&str]| {
            let expect: Vec<String> = expect.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(cycles(text), (expect, false), "{text}");
        };
        check("", &[]);
        check(&flat(&["none", "1", "1, 2"]), &[]);
        check(&flat(&["2", "1"]), &["1 2"]);
        check(&flat(&["3", "1", "2"]), &["1 3 2"]);
        check(&flat(&["2, 3", "1", "1"]), &["1 2", "1 3"]);
        check(&flat(&["2, 3", "1, 3", "1, 2"]), &["1 2", "1 2 3", "1 3", "1 3 2", "2 3"]);
        check(&flat(&["2, 2", "1"]), &["1 2"]);
        check(&flat(&["1", "3", "2"]), &["2 3"]);
        check(&flat(&["none", "10", "none", "none", "none", "none", "none", "none", "none", "2"]), &["2 10"]);
    }

    #[test]
    fn a_dependency_on_a_parent_is_one_on_its_leaves() {
        let text = |first: &str, second: &str| {
            format!(
                "- [ID: root] R\n- [ID: 1] A\n  - [ID: 1.1] B\n    - Dependencies: {first}\n  - [ID: 1.2] C\n- [ID: 2] D\n  - [ID: 2.1] E\n    - Dependencies: {second}\n  - [ID: 2.2] F\n"
            )
        };
        let check = |first: &str, second: &str, expect: &[&str]| {
            assert_eq!(cycles(&text(first, second)).0, expect, "{first} {second}")
        };
        check("2", "none", &[]);
        check("2", "1.2", &[]);
        check("1", "none", &[]);
        check("2", "1.1", &["1.1 2.1"]);
        check("2", "1", &["1.1 2.1"]);
        check("2, 2.1", "1", &["1.1 2.1"]);
    }

    #[test]
    fn many_cycles_are_cut_off() {
        let pairs: Vec<String> =
            (1..=2400).map(|id| if id % 2 == 1 { id + 1 } else { id - 1 }.to_string()).collect();
        let (paths, more) = cycles(&flat(&pairs.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!((paths.len(), more), (1000, true));
        let all = (1..=60).map(|id| id.to_string()).collect::<Vec<_>>().join(", ");
        let (paths, more) = cycles(&flat(&[all.as_str(); 60]));
        assert_eq!((paths.len(), more), (1000, true));
        let ring: Vec<String> = (1..=5_000).map(|id| (id % 5_000 + 1).to_string()).collect();
        let (paths, more) = cycles(&flat(&ring.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!((paths.len(), paths[0].split(' ').count(), more), (1, 5_000, false));
    }
}
