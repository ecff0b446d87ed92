//! All rules, in the order in which they are listed.

pub(super) use super::missing_file::created_files;
use super::{
    Rule, ancestor_dependency, circular_acceptance, dependency_cycle, duplicate_field, duplicate_id,
    empty_tree, file_conflict, hint_count, malformed_id, missing_acceptance, missing_complexity,
    missing_file, missing_file_boundary, missing_files, missing_guardrails, missing_hints,
    missing_test_command, missing_tests_required, over_complexity, parent_fields, path_escape, scope_leak,
    self_dependency, stale_reference, subtask_count, syntax, uncovered_requirement, unknown_dependency,
    unknown_field, vague_acceptance,
};

/// All rules.
pub static RULES: &[&Rule] = &[
    &over_complexity::RULE,
    &missing_complexity::RULE,
    &missing_acceptance::RULE,
    &missing_files::RULE,
    &missing_tests_required::RULE,
    &missing_hints::RULE,
    &missing_guardrails::RULE,
    &subtask_count::RULE,
    &duplicate_id::RULE,
    &malformed_id::RULE,
    &unknown_dependency::RULE,
    &dependency_cycle::RULE,
    &self_dependency::RULE,
    &ancestor_dependency::RULE,
    &empty_tree::RULE,
    &syntax::RULE,
    &path_escape::RULE,
    &file_conflict::RULE,
    &missing_file::RULE,
    &stale_reference::RULE,
    &vague_acceptance::RULE,
    &circular_acceptance::RULE,
    &missing_test_command::RULE,
    &missing_file_boundary::RULE,
    &hint_count::RULE,
    &uncovered_requirement::RULE,
    &scope_leak::RULE,
    &unknown_field::RULE,
    &duplicate_field::RULE,
    &parent_fields::RULE,
];
