//! Defines the fields of a task in one table for the parser, the writer, the rules and the reports. To add a field, add
//! a variant and a row here.

/// A field of a task. The variants are in the order of [`FIELDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldKind {
    Complexity,
    Description,
    Split,
    Kind,
    Acceptance,
    Dependencies,
    After,
    Files,
    TestsRequired,
    Hints,
    References,
    Guardrails,
    Setup,
    TestCommands,
    Verify,
    Covers,
    Group,
    Risk,
    Priority,
}

/// The way a field's value is read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// A whole number, stored in the task itself.
    Number,
    /// Any Markdown.
    Prose,
    /// One line of text.
    Text,
    /// One shell command.
    Command,
    /// One of several words; each inner list has the canonical word first, then its synonyms.
    Choice(&'static [&'static [&'static str]]),
    /// A list of sentences, separated by `;`, or by `,` if there is no `;`.
    Criteria,
    /// A list of sentences, separated by `;`.
    Remarks,
    /// A list of `file:line - why`.
    References,
    /// A list of shell commands.
    Commands,
    /// A list of task ids.
    Ids,
    /// A list of paths.
    Paths,
    /// A list of names.
    Names,
}

impl FieldForm {
    pub fn is_list(self) -> bool {
        self.is_list_of_sentences() || self.is_list_of_words() || self == Self::Commands
    }

    /// True if the entries are sentences; text indented below an entry belongs to it.
    pub fn is_list_of_sentences(self) -> bool {
        matches!(self, Self::Criteria | Self::Remarks | Self::References)
    }

    /// True if the entries are words, written on one line.
    pub fn is_list_of_words(self) -> bool {
        matches!(self, Self::Ids | Self::Paths | Self::Names)
    }
}

struct FieldRow {
    kind: FieldKind,
    /// The label as it appears in a plan.
    label: &'static str,
    /// An accepted synonym.
    also: Option<&'static str>,
    form: FieldForm,
}

const fn field_row(kind: FieldKind, label: &'static str, form: FieldForm) -> FieldRow {
    FieldRow {
        kind,
        label,
        also: None,
        form,
    }
}

const YES_OR_NO: FieldForm = FieldForm::Choice(&[
    &["yes", "true", "y", "required"],
    &["no", "false", "n", "none"],
]);
/// Why a task has subtasks: they run at the same time, one context doesn't hold them, somebody has to look before it
/// goes on, or the user asked for it.
const SPLIT: FieldForm = FieldForm::Choice(&[&["parallel"], &["context"], &["gate"], &["asked"]]);
/// A contract defines the interfaces at which later leaves meet.
const KIND: FieldForm = FieldForm::Choice(&[&["contract"]]);
const LEVEL: FieldForm = FieldForm::Choice(&[&["low"], &["medium"], &["high"]]);

/// All fields in writing order.
const FIELDS: [FieldRow; 19] = [
    field_row(FieldKind::Complexity, "Complexity", FieldForm::Number),
    field_row(FieldKind::Description, "Description", FieldForm::Prose),
    field_row(FieldKind::Split, "Split", SPLIT),
    field_row(FieldKind::Kind, "Kind", KIND),
    FieldRow {
        also: Some("Acceptance Criteria"),
        ..field_row(FieldKind::Acceptance, "Acceptance", FieldForm::Criteria)
    },
    field_row(FieldKind::Dependencies, "Dependencies", FieldForm::Ids),
    field_row(FieldKind::After, "After", FieldForm::Ids),
    field_row(FieldKind::Files, "Files", FieldForm::Paths),
    field_row(FieldKind::TestsRequired, "Tests Required", YES_OR_NO),
    field_row(FieldKind::Hints, "Hints", FieldForm::Remarks),
    field_row(FieldKind::References, "References", FieldForm::References),
    field_row(FieldKind::Guardrails, "Guardrails", FieldForm::Remarks),
    field_row(FieldKind::Setup, "Setup", FieldForm::Commands),
    field_row(
        FieldKind::TestCommands,
        "Test Commands",
        FieldForm::Commands,
    ),
    field_row(FieldKind::Verify, "Verify", FieldForm::Command),
    field_row(FieldKind::Covers, "Covers", FieldForm::Names),
    field_row(FieldKind::Group, "Group", FieldForm::Text),
    field_row(FieldKind::Risk, "Risk", LEVEL),
    field_row(FieldKind::Priority, "Priority", FieldForm::Text),
];

impl FieldKind {
    /// All fields in writing order.
    pub const ALL: [Self; FIELDS.len()] = {
        let mut all = [Self::Complexity; FIELDS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = FIELDS[at].kind;
            at += 1;
        }
        all
    };

    /// The fields that name tasks to wait for: those that a task needs, and those that merely come before it.
    pub const ORDERING: [Self; 2] = [Self::Dependencies, Self::After];

    /// The label as it appears in a plan.
    pub fn label(self) -> &'static str {
        FIELDS[self as usize].label
    }

    /// The field's name in JSON: `testCommands` for `Test Commands`.
    pub fn key(self) -> String {
        let label = self.label().replace(' ', "");
        label[..1].to_ascii_lowercase() + &label[1..]
    }

    pub fn form(self) -> FieldForm {
        FIELDS[self as usize].form
    }

    /// Finds a field by its label, in any case and with `-` or `_` in place of blanks.
    pub fn from_label(label: &str) -> Option<Self> {
        let named = |row: &&FieldRow| {
            same_label(label, row.label) || row.also.is_some_and(|also| same_label(label, also))
        };
        FIELDS.iter().find(named).map(|row| row.kind)
    }
}

fn same_label(given: &str, label: &str) -> bool {
    given.len() == label.len()
        && given
            .bytes()
            .zip(label.bytes())
            .all(|(given, label)| match given {
                b'-' | b'_' => label == b' ',
                _ => given.eq_ignore_ascii_case(&label),
            })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let check = |label: &str, expect: Option<FieldKind>| {
            assert_eq!(FieldKind::from_label(label), expect, "{label:?}");
        };
        for (at, kind) in FieldKind::ALL.into_iter().enumerate() {
            check(kind.label(), Some(kind));
            assert_eq!(
                kind as usize, at,
                "the table is in the order of the variants"
            );
        }
        check("acceptance criteria", Some(FieldKind::Acceptance));
        check("tests_required", Some(FieldKind::TestsRequired));
        check("TEST-COMMANDS", Some(FieldKind::TestCommands));
        check("Tests", None);
        check("Filess", None);
        check("", None);
    }
}
