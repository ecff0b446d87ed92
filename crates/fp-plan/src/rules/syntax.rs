//! `syntax`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "syntax",
    severity: Severity::Error,
    finds: "A line that starts like a task and isn't one",
    why: "Such a line would silently be no part of the plan. The finding says what is wrong with it: a colon or \
          bracket that is missing, an indentation that makes it text or code, a fence that is never closed.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID 2] Printer (Complexity: 2)",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)",
    check: Check::Parser,
};
