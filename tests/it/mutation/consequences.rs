//! Findings that breaking one task may cause on other tasks, each with the reason why it is no false alarm.

/// The broken rule, the rule that reports the finding elsewhere, and why that is right.
pub(crate) const ALL: &[(&str, &str, &str)] = &[
    (
        "duplicate-id",
        "unknown-dependency",
        "the id that others wait for is gone",
    ),
    (
        "duplicate-id",
        "file-conflict",
        "what kept two tasks apart was a dependency on the id that is gone",
    ),
    (
        "ancestor-dependency",
        "file-conflict",
        "the order of two tasks is gone, and either may be told to wait",
    ),
    (
        "missing-files",
        "unknown-program",
        "the script that others run is a file that no task creates any more",
    ),
    (
        "path-escape",
        "unknown-program",
        "the script that others run is a file that no task creates any more",
    ),
    (
        "unknown-field",
        "unknown-program",
        "the script that others run is a file that no task creates any more",
    ),
    (
        "file-conflict",
        "file-conflict",
        "the folder that one task now lists has the files of others",
    ),
    (
        "syntax",
        "fragmentation",
        "what ran beside a chain is no task any more, and one agent could do the chain",
    ),
    (
        "syntax",
        "unknown-dependency",
        "a line without its id leaves those who wait for it without one",
    ),
];

/// The index in [`ALL`] of a finding and its cause, if the finding is allowed.
pub(crate) fn place((cause, found): (&str, &str)) -> Option<usize> {
    ALL.iter()
        .position(|(of, follows, _)| *of == cause && *follows == found)
}
