//! The fields of the language: their labels, said once, for the parser, the writer and the rules.

/// A field of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldKind {
    /// `Complexity` of the heading dialect.
    Complexity,
    /// `Description` of the heading dialect.
    Description,
    /// `Acceptance`, also `Acceptance Criteria`.
    Acceptance,
    /// `Dependencies`.
    Dependencies,
    /// `Files`.
    Files,
    /// `Tests Required`.
    TestsRequired,
    /// `Hints`.
    Hints,
    /// `References`.
    References,
    /// `Guardrails`.
    Guardrails,
    /// `Test Commands`.
    TestCommands,
    /// `Verify`.
    Verify,
    /// `Covers`.
    Covers,
    /// `Group`.
    Group,
    /// `Risk`.
    Risk,
    /// `Priority`.
    Priority,
}

impl FieldKind {
    /// All fields in the order in which they are written.
    pub const ALL: [Self; 15] = [
        Self::Complexity,
        Self::Description,
        Self::Acceptance,
        Self::Dependencies,
        Self::Files,
        Self::TestsRequired,
        Self::Hints,
        Self::References,
        Self::Guardrails,
        Self::TestCommands,
        Self::Verify,
        Self::Covers,
        Self::Group,
        Self::Risk,
        Self::Priority,
    ];

    /// The label as it is written.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Complexity => "Complexity",
            Self::Description => "Description",
            Self::Acceptance => "Acceptance",
            Self::Dependencies => "Dependencies",
            Self::Files => "Files",
            Self::TestsRequired => "Tests Required",
            Self::Hints => "Hints",
            Self::References => "References",
            Self::Guardrails => "Guardrails",
            Self::TestCommands => "Test Commands",
            Self::Verify => "Verify",
            Self::Covers => "Covers",
            Self::Group => "Group",
            Self::Risk => "Risk",
            Self::Priority => "Priority",
        }
    }

    /// The field that `label` names, whatever its case and with `-` or `_` for a blank.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        if same_label(label, "Acceptance Criteria") {
            return Some(Self::Acceptance);
        }
        Self::ALL.into_iter().find(|kind| same_label(label, kind.label()))
    }
}

fn same_label(given: &str, label: &str) -> bool {
    given.len() == label.len()
        && given.bytes().zip(label.bytes()).all(|(given, label)| match given {
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
        for kind in FieldKind::ALL {
            check(kind.label(), Some(kind));
        }
        check("acceptance criteria", Some(FieldKind::Acceptance));
        check("tests_required", Some(FieldKind::TestsRequired));
        check("TEST-COMMANDS", Some(FieldKind::TestCommands));
        check("Tests", None);
        check("Filess", None);
        check("", None);
    }
}
