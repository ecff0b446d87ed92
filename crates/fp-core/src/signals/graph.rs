//! Who imports whom, for the files that somebody asked about.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Found;
use super::resolve::{Index, Target};

/// What hangs on a file, and on what it hangs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Links {
    /// The files that import it, or a package that it is in, sorted.
    pub(super) fan_in: Vec<String>,
    /// The files and packages of the repository that it imports, sorted.
    pub(super) fan_out: Vec<String>,
}

/// The links of the files `wanted`. `sources` are the files that were read; all are positions among `paths`.
pub(super) fn links(
    paths: &[String],
    sources: &[(usize, Found)],
    manifests: &[(usize, String)],
    wanted: &BTreeSet<usize>,
) -> BTreeMap<usize, Links> {
    let index = Index::new(paths, sources, manifests);
    // The files that ask for each target, and what each wanted file asks for.
    let mut users: BTreeMap<Target, BTreeSet<usize>> = BTreeMap::new();
    let mut used: BTreeMap<usize, BTreeSet<Target>> = BTreeMap::new();
    let own = |from: usize, target: Target| match target {
        Target::File(at) => at == from,
        Target::Group(at) => index.groups()[at].members.binary_search(&from).is_ok(),
    };
    for (from, found) in sources {
        let mut targets: BTreeSet<Target> =
            found.imports.iter().filter_map(|import| index.resolve(*from, import)).collect();
        targets.retain(|target| !own(*from, *target));
        for target in &targets {
            users.entry(*target).or_default().insert(*from);
        }
        if wanted.contains(from) {
            used.insert(*from, targets);
        }
    }
    let groups = groups_of(&index, wanted);
    let link = |at: usize| {
        let through = groups.get(&at).into_iter().flatten().map(|group| Target::Group(*group));
        let importers: BTreeSet<usize> = std::iter::once(Target::File(at))
            .chain(through)
            .filter_map(|target| users.get(&target))
            .flatten()
            .copied()
            .filter(|user| *user != at)
            .collect();
        let names = |target: &Target| match target {
            Target::File(at) => paths[*at].clone(),
            Target::Group(at) => index.groups()[*at].name.clone(),
        };
        let mut fan_out: Vec<String> = used.get(&at).into_iter().flatten().map(names).collect();
        fan_out.sort_unstable();
        Links { fan_in: importers.into_iter().map(|at| paths[at].clone()).collect(), fan_out }
    };
    wanted.iter().map(|at| (*at, link(*at))).collect()
}

fn groups_of(index: &Index<'_>, wanted: &BTreeSet<usize>) -> BTreeMap<usize, Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, group) in index.groups().iter().enumerate() {
        for member in group.members.iter().filter(|member| wanted.contains(member)) {
            groups.entry(*member).or_default().push(number);
        }
    }
    groups
}
