//! Which layers come before which.

use super::Roadmap;

/// The layers by their places on the page, and what each waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Of each layer, the places of those that have to be done before it.
    pub before: Vec<Vec<usize>>,
    /// Of each layer, its wave, from 1: layers of one wave don't wait for each other. `None` in a cycle, and behind
    /// one.
    pub waves: Vec<Option<usize>>,
}

impl Order {
    /// The order of a roadmap. A layer that doesn't say what it depends on waits for the one before it; an id that no
    /// layer has is left out.
    #[must_use]
    pub fn new(roadmap: &Roadmap<'_>) -> Self {
        let place = |id: &str| roadmap.layers.iter().position(|layer| layer.id == id);
        let before: Vec<Vec<usize>> = roadmap
            .layers
            .iter()
            .enumerate()
            .map(|(at, layer)| match &layer.depends_on {
                Some(ids) => ids.iter().filter_map(|id| place(&id.text)).collect(),
                None => at.checked_sub(1).into_iter().collect(),
            })
            .collect();
        let waves = waves(&before);
        Self { before, waves }
    }

    /// The layers that have to be done before the one at `at`, directly or not.
    #[must_use]
    pub fn all_before(&self, at: usize) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), self.before[at].clone());
        while let Some(next) = open.pop() {
            if !found.contains(&next) {
                found.push(next);
                open.extend(&self.before[next]);
            }
        }
        found
    }

    /// The cycles, each as the layers on its way from the first of them on the page; of those that share a layer,
    /// one.
    #[must_use]
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let mut met: Vec<usize> = Vec::new();
        let mut cycles = Vec::new();
        for start in (0..self.before.len()).filter(|at| self.waves[*at].is_none()) {
            let mut way: Vec<usize> = Vec::new();
            let mut at = start;
            // Whoever has no wave waits for somebody that has none.
            while !met.contains(&at) {
                met.push(at);
                way.push(at);
                match self.before[at].iter().find(|next| self.waves[**next].is_none()) {
                    Some(next) => at = *next,
                    None => break,
                }
            }
            if let Some(first) = way.iter().position(|layer| *layer == at) {
                let mut cycle = way.split_off(first);
                let smallest =
                    cycle.iter().enumerate().min_by_key(|(_, layer)| **layer).map_or(0, |(i, _)| i);
                cycle.rotate_left(smallest);
                cycles.push(cycle);
            }
        }
        cycles
    }
}

fn waves(before: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut waves: Vec<Option<usize>> = vec![None; before.len()];
    loop {
        let mut moved = false;
        for at in 0..before.len() {
            let known: Option<Vec<usize>> = before[at].iter().map(|layer| waves[*layer]).collect();
            if let (None, Some(known)) = (waves[at], known) {
                waves[at] = Some(known.into_iter().max().unwrap_or(0) + 1);
                moved = true;
            }
        }
        if !moved {
            return waves;
        }
    }
}
