//! Laws that hold for any text, for the property tests beside this file and the targets in `fuzz/`. Each
//! function panics if its law is broken.

use fp_plan::diagnostic::{Diagnostic, Severity, Span};
use fp_plan::plan::{FieldForm, FormatError, Item, Plan, format, parse};
use fp_plan::rules::fix::fix_all;
use fp_plan::rules::{RuleFacts, check_plan};

/// Parsing any text yields a consistent tree without a panic, and every span in it covers the text that it stands for.
pub(crate) fn reading(text: &str) {
    let (plan, findings) = parse(text);
    for (index, task) in plan.tasks.iter().enumerate() {
        let depth = task.parent.map_or(0, |parent| plan.tasks[parent].depth + 1);
        assert!(
            task.parent.is_none_or(|parent| parent < index),
            "a parent comes first: {text:?}"
        );
        assert_eq!(task.depth, depth, "{text:?}");
        assert_eq!(
            task.parent.is_none(),
            plan.root == Some(index),
            "there is one root: {text:?}"
        );
        let children =
            (index + 1..plan.tasks.len()).filter(|&child| plan.tasks[child].parent == Some(index));
        assert!(
            children.eq(task.children.iter().copied()),
            "children come in order: {text:?}"
        );
        for span in [task.id_span, task.span, task.extent] {
            slice(text, span);
        }
        let fields = &task.fields;
        for (kind, field) in fields.given() {
            slice(text, field.span);
            let is_word = matches!(kind.form(), FieldForm::Choice(_));
            field
                .items
                .iter()
                .filter(|_| !is_word)
                .for_each(|item| stands(text, item));
        }
        let kept = fields
            .unknown
            .iter()
            .chain(&fields.duplicates)
            .map(|(_, item)| item);
        kept.chain(&task.notes).for_each(|item| stands(text, item));
    }
    assert_eq!(plan.root.is_some(), !plan.tasks.is_empty(), "{text:?}");
    assert!(
        plan.prose.is_sorted_by_key(|(before, _)| *before),
        "prose comes in order: {text:?}"
    );
    plan.prose.iter().for_each(|(_, item)| stands(text, item));
    for finding in &findings {
        assert_eq!(finding.rule, "syntax");
        slice(text, finding.span);
    }
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start..span.end)
        .unwrap_or_else(|| panic!("{span:?} is no part of {text:?}"))
}

/// Asserts that the item's span covers its text, except for whitespace and for a fence or comment left open.
fn stands(text: &str, item: &Item) {
    let squashed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = squashed(slice(text, item.span));
    let own = squashed(&item.text);
    let open = item.text.rsplit_once('\n').map(|(text, _)| squashed(text));
    let there = place.contains(&own) || open.is_some_and(|open| place.contains(&open));
    assert!(
        there,
        "{:?} doesn't stand in {place:?} of {text:?}",
        item.text
    );
}

/// Fixing terminates, needs only one pass, keeps the set of tasks, and doesn't add errors.
pub(crate) fn fixing(text: &str) {
    let facts = RuleFacts::default();
    let fixed = fix_all(text, &facts);
    assert_eq!(
        fix_all(&fixed.text, &facts).text,
        fixed.text,
        "once is enough: {text:?}"
    );
    let ((before, parsed), (after, parsed_after)) = (parse(text), parse(&fixed.text));
    if !parsed.is_empty() || has_lone_return(text) {
        // If lines can't be parsed, the set of tasks is unknown, and an edit next to such a line can make it parseable.
        return;
    }
    let titles = |plan: &Plan| -> Vec<_> {
        plan.tasks
            .iter()
            .map(|task| (task.description.to_string(), task.parent))
            .collect()
    };
    assert_eq!(
        titles(&after),
        titles(&before),
        "{text:?}\n{:?}",
        fixed.text
    );
    assert_eq!(parsed_after, [], "{text:?}\n{:?}", fixed.text);
    let errors = |plan: &Plan, parsed: &[Diagnostic]| {
        check_plan(plan, parsed, &facts)
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .count()
    };
    let (left, found) = (errors(&after, &parsed_after), errors(&before, &parsed));
    assert!(
        left <= found,
        "{found} errors became {left}: {text:?}\n{:?}",
        fixed.text
    );
}

/// True if there is a carriage return without a line feed, which the Markdown parser sometimes takes for a
/// line end and sometimes not.
fn has_lone_return(text: &str) -> bool {
    text.replace("\r\n", "\n").contains('\r')
}

/// Formatting keeps meaning and content, and formatting again changes nothing.
pub(crate) fn formatting(text: &str) {
    let formatted = match format(text) {
        Ok(formatted) => formatted,
        Err(error @ FormatError::Changed(_)) => {
            // Markdown ignores the second of two definitions of a link.
            assert!(
                has_lone_return(text) || text.matches("]:").count() > 1,
                "{error}: {text:?}"
            );
            return;
        }
        Err(FormatError::NoTask | FormatError::Unreadable(_)) => return,
    };
    assert_eq!(
        format(&formatted).as_ref(),
        Ok(&formatted),
        "once is enough: {text:?}"
    );
    let rules = |text: &str| {
        let (plan, parsed) = parse(text);
        let found = check_plan(&plan, &parsed, &RuleFacts::default());
        let mut found: Vec<_> = found
            .into_iter()
            .map(|found| (found.rule, found.task_id))
            .collect();
        found.sort();
        found
    };
    assert_eq!(
        rules(text),
        rules(&formatted),
        "the rules find something else: {text:?}"
    );
}
