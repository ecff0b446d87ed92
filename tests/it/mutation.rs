//! Mutation tests for the linter: the good fixtures, broken in every way that a rule covers, at every possible place.
//! The rule must find the mutant on the broken task, no rule may report an untouched task, and the fixer must repair
//! what it can and leave everything else alone.

mod base;
mod consequences;
mod mutators;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use base::{At, Base, Mutant};
use fp_plan::diagnostic::Diagnostic;
use fp_plan::plan::{FieldKind, Lines, Plan, parse};
use fp_plan::rules::fix::{apply_fixes, fix_all};
use fp_plan::rules::{RULES, check_plan, find_rule};

/// Minimum share of mutants that must be found.
const FOUND: f64 = 0.95;

fn mutants(base: &Base) -> Vec<Mutant> {
    mutators::ALL
        .iter()
        .flat_map(|mutator| mutator(base))
        .filter(|mutant| mutant.text != base.text)
        .collect()
}

/// A mutant and its findings.
struct Examined {
    base: String,
    mutant: Mutant,
    found: Vec<Diagnostic>,
}

static EXAMINED: LazyLock<Vec<Examined>> = LazyLock::new(|| {
    let examined = |base: &Base| -> Vec<Examined> {
        let examine = |mutant: Mutant| Examined {
            base: base.name.clone(),
            found: base.found(&mutant.text),
            mutant,
        };
        mutants(base).into_iter().map(examine).collect()
    };
    Base::all().iter().flat_map(examined).collect()
});

fn is_found(mutant: &Mutant, found: &[Diagnostic]) -> bool {
    let lines = Lines::new(&mutant.text);
    found
        .iter()
        .filter(|diagnostic| diagnostic.rule == mutant.rule)
        .any(|diagnostic| match &mutant.at {
            At::Task(id) => diagnostic.task_id == *id,
            At::OneOf(ids) => ids.contains(&diagnostic.task_id),
            At::Line(line) => lines.position(diagnostic.span.start).line == *line,
            At::Anywhere => true,
        })
}

#[test]
fn mutants_are_found_where_they_are() {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut misses = Vec::new();
    for Examined {
        base,
        mutant,
        found,
    } in EXAMINED.iter()
    {
        let count = counts.entry(mutant.rule).or_default();
        count.0 += 1;
        if is_found(mutant, found) {
            count.1 += 1;
        } else {
            misses.push(format!("{} in {base}: {}", mutant.rule, mutant.what));
        }
    }
    let (all, found) = counts
        .values()
        .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("{found} of {all} mutants were found");
    for (rule, (all, found)) in &counts {
        println!("  {rule}: {found} of {all}");
    }
    misses.iter().for_each(|miss| println!("not found: {miss}"));
    assert!(all >= 300, "only {all} mutants");
    assert!(
        found as f64 >= FOUND * all as f64,
        "{found} of {all} mutants were found"
    );
    let rules: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(
        counts.keys().copied().collect::<BTreeSet<&str>>(),
        rules,
        "rules with mutants"
    );
    for (rule, (all, found)) in counts {
        assert!(
            found * 2 > all,
            "{rule}: {found} of {all} mutants were found"
        );
    }
}

#[test]
fn nothing_is_found_before_they_are_broken() {
    for base in Base::all() {
        assert_eq!(base.found(base.text), [], "{}", base.name);
    }
}

#[test]
fn nothing_is_said_of_tasks_that_were_not_touched() {
    let mut used = BTreeSet::new();
    let mut unfounded = BTreeMap::new();
    for Examined {
        base,
        mutant,
        found,
    } in EXAMINED.iter()
    {
        for diagnostic in found {
            let id = &diagnostic.task_id;
            let meant =
                matches!(&mutant.at, At::Task(at) if at == id) && diagnostic.rule == mutant.rule;
            if meant || mutant.touched.contains(id) {
                continue;
            }
            let pair = (mutant.rule, diagnostic.rule);
            match consequences::place(pair) {
                Some(place) => drop(used.insert(place)),
                None => drop(unfounded.entry(pair).or_insert_with(|| {
                    format!(
                        "{base}, {}: {id}: {}\n{}",
                        mutant.what, diagnostic.detail, mutant.text
                    )
                })),
            }
        }
    }
    assert!(unfounded.is_empty(), "{unfounded:#?}");
    let all: BTreeSet<usize> = (0..consequences::ALL.len()).collect();
    assert_eq!(used, all, "consequences that never follow");
}

/// The field that the fix for this rule writes.
fn written(rule: &str) -> Option<FieldKind> {
    match rule {
        "ancestor-dependency" => Some(FieldKind::Dependencies),
        "boilerplate" => Some(FieldKind::Guardrails),
        "file-conflict" => Some(FieldKind::After),
        _ => None,
    }
}

/// The lines of `text`, except those of the field `kind` of the task `id`, or of all tasks.
fn others<'t>(text: &'t str, plan: &Plan, id: Option<&str>, kind: FieldKind) -> Vec<&'t str> {
    let lines = Lines::new(text);
    let tasks = plan
        .tasks
        .iter()
        .filter(|task| id.is_none_or(|id| task.id == id));
    let own = tasks
        .filter_map(|task| base::field(task, kind))
        .map(|span| {
            let (first, last) = lines.range(span);
            first.line..=last.line
        });
    let own: Vec<_> = own.collect();
    let kept = (1..=lines.position(text.len()).line)
        .filter(|line| !own.iter().any(|own| own.contains(line)));
    kept.map(|line| lines.line_text(line)).collect()
}

#[test]
fn fixes_resolve_and_leave_the_rest_alone() {
    let mut fixed_mutants = BTreeMap::new();
    for base in Base::all() {
        let with_fix =
            |mutant: &Mutant| find_rule(mutant.rule).is_some_and(|rule| rule.fix.is_some());
        for mutant in mutants(&base).into_iter().filter(with_fix) {
            let text = base::commented(&mutant.text);
            let found = base.found(&text);
            let fixable = |diagnostic: &&Diagnostic| {
                diagnostic.rule == mutant.rule && !diagnostic.fixes.is_empty()
            };
            if !found.iter().any(|diagnostic| fixable(&diagnostic)) {
                continue;
            }
            let place = format!("{} in {}: {}\n{text}", mutant.rule, base.name, mutant.what);
            *fixed_mutants.entry(mutant.rule).or_insert(0) += 1;
            let (plan, _) = parse(&text);
            let facts = base.facts(&plan);
            let fixed = fix_all(&text, &facts);
            let after = base.found(&fixed.text);
            assert!(
                !after.iter().any(|diagnostic| fixable(&diagnostic)),
                "{place}\n--- fixed\n{}",
                fixed.text
            );
            assert_eq!(fix_all(&fixed.text, &facts).text, fixed.text, "{place}");
            let kept = |text: &str| text.matches("<!-- kept").count();
            assert!(
                kept(&text) > 0 && kept(&text) == kept(&fixed.text),
                "{place}\n--- fixed\n{}",
                fixed.text
            );
            // Applying just one fix of this rule must already change the text.
            let one: Vec<Diagnostic> = found.iter().filter(fixable).take(1).cloned().collect();
            let (text_after, _) = apply_fixes(&text, &one);
            let (plan_after, parsed) = parse(&text_after);
            let left = check_plan(&plan_after, &parsed, &facts)
                .iter()
                .filter(|d| d.rule == mutant.rule)
                .count();
            assert!(
                left < found.iter().filter(|d| d.rule == mutant.rule).count(),
                "{place}\n--- fixed\n{text_after}"
            );
            match written(mutant.rule) {
                Some(kind) => {
                    let id = (one[0].fixes.len() == 1).then_some(&*one[0].task_id);
                    assert_eq!(
                        others(&text_after, &plan_after, id, kind),
                        others(&text, &plan, id, kind),
                        "{place}\n--- fixed\n{text_after}"
                    );
                }
                None => assert_eq!(
                    base::without_ids(&text_after, &plan_after),
                    base::without_ids(&text, &plan),
                    "{place}\n--- fixed\n{text_after}"
                ),
            }
        }
    }
    println!("fixed: {fixed_mutants:?}");
    let fixable: BTreeSet<&str> = RULES
        .iter()
        .filter(|rule| rule.fix.is_some())
        .map(|rule| rule.id)
        .collect();
    assert_eq!(
        fixed_mutants.keys().copied().collect::<BTreeSet<&str>>(),
        fixable,
        "rules with fixed mutants"
    );
}
