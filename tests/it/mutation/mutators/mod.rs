//! The mutators: each breaks a base in one way, for one rule, at every place where that is possible.

mod fields;
mod graph;
mod heads;
mod paths;
mod words;

use fp_plan::plan::Task;

use crate::mutation::base::{Base, Mutant};

type Mutator = fn(&Base) -> Vec<Mutant>;

/// All mutators.
pub(crate) const ALL: &[Mutator] = &[
    fields::dropped_fields,
    fields::emptied_fields,
    fields::unreadable_tests_required,
    fields::no_test_command,
    fields::no_setup,
    fields::several_commands,
    fields::hidden_characters,
    fields::unknown_programs,
    fields::complexity,
    graph::ids_of_others,
    graph::malformed_ids,
    graph::swapped_ids,
    graph::unknown_dependencies,
    graph::cycles,
    graph::dependencies_on_itself,
    graph::dependencies_on_ancestors,
    paths::escaping_paths,
    paths::shared_files,
    paths::missing_files,
    paths::stale_references,
    words::vague_criteria,
    fields::boilerplate,
    words::foreign_names,
    graph::mouthfuls,
    fields::many_hints,
    words::uncovered_requirements,
    fields::unknown_fields,
    fields::fields_given_twice,
    fields::fields_of_parents,
    heads::no_tree,
    heads::broken_heads,
    heads::open_fences,
];

/// The mutants that `each` makes of each leaf.
fn of_leaves<'b>(base: &'b Base, each: impl Fn(&'b Task) -> Vec<Mutant>) -> Vec<Mutant> {
    base.leaves().flat_map(each).collect()
}

/// The tasks that have subtasks and a line in the text.
fn parents(base: &Base) -> impl Iterator<Item = &Task<'_>> {
    base.plan
        .tasks
        .iter()
        .filter(|task| !task.is_leaf() && !task.synthetic)
}
