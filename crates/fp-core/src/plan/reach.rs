//! Whether one task waits for another, directly or not, for many pairs at once.
//!
//! Most questions are answered by a short look backwards. The rest are answered together, 64 at a time, by
//! one pass over the graph that carries a bit for each, so that no plan makes this quadratic.

use super::graph::Graph;
use super::task::TaskIndex;

/// How many tasks a short look visits.
const SHORT: usize = 64;

/// A question: does `later` wait for `earlier`?
pub type Pair = (TaskIndex, TaskIndex);

/// Answers, for every pair `(earlier, later)`, whether `later` waits for `earlier`. `order` has every task
/// behind what it waits for.
#[must_use]
pub fn waits(graph: &Graph, order: &[TaskIndex], pairs: &[Pair]) -> Vec<bool> {
    let mut place = vec![usize::MAX; graph.len()];
    for (at, &task) in order.iter().enumerate() {
        place[task] = at;
    }
    let mut look = Look { graph, place: &place, seen: vec![0; graph.len()], turn: 0 };
    let mut answers: Vec<Option<bool>> = pairs.iter().map(|&pair| look.short(pair)).collect();
    let open: Vec<usize> = (0..pairs.len()).filter(|&at| answers[at].is_none()).collect();
    let mut bits = vec![0_u64; graph.len()];
    for chunk in open.chunks(64) {
        let sources: Vec<TaskIndex> = chunk.iter().map(|&at| pairs[at].0).collect();
        let first = sources.iter().map(|&task| place[task]).min().unwrap_or(0);
        let last = chunk.iter().map(|&at| place[pairs[at].1]).max().unwrap_or(0);
        bits.fill(0);
        for (bit, &source) in sources.iter().enumerate() {
            bits[source] |= 1 << bit;
        }
        for &task in order.get(first..=last).unwrap_or_default() {
            let behind = graph.waits_for(task).iter().fold(0, |all, &target| all | bits[target]);
            bits[task] |= behind;
        }
        for (bit, &at) in chunk.iter().enumerate() {
            answers[at] = Some(bits[pairs[at].1] & (1 << bit) != 0);
        }
    }
    answers.into_iter().map(|answer| answer.unwrap_or(false)).collect()
}

struct Look<'g> {
    graph: &'g Graph,
    place: &'g [usize],
    seen: Vec<u32>,
    turn: u32,
}

impl Look<'_> {
    /// The answer, if few tasks have to be visited for it.
    fn short(&mut self, (earlier, later): Pair) -> Option<bool> {
        self.turn += 1;
        let mut work = vec![later];
        let mut visited = 0;
        while let Some(task) = work.pop() {
            for &target in self.graph.waits_for(task) {
                if target == earlier {
                    return Some(true);
                }
                // What comes before `earlier` in the order can't wait for it.
                if self.place[target] > self.place[earlier] && self.seen[target] != self.turn {
                    self.seen[target] = self.turn;
                    work.push(target);
                }
                visited += 1;
                if visited > SHORT {
                    return None;
                }
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Index, parse};

    #[test]
    fn near_and_far() {
        let chain: String = (1..=500)
            .map(|id| {
                format!(
                    "- [ID: {id}] T\n  - Dependencies: {}\n",
                    if id == 1 { "none".to_owned() } else { (id - 1).to_string() }
                )
            })
            .collect();
        let text = format!("- [ID: root] R\n{chain}- [ID: 501] Alone\n");
        let (plan, _) = parse(&text);
        let graph = Graph::new(&plan, &Index::new(&plan));
        let order = graph.order(|_| 0);
        let pairs = [(1, 2), (1, 500), (2, 500), (499, 500), (500, 501), (1, 501)];
        assert_eq!(waits(&graph, &order, &pairs), [true, true, true, true, false, false]);
        let many: Vec<Pair> =
            (1..=400).map(|task| (task, 500)).chain((1..=400).map(|task| (task, 501))).collect();
        let answers = waits(&graph, &order, &many);
        assert!(answers[..400].iter().all(|answer| *answer) && answers[400..].iter().all(|answer| !answer));
    }
}
