//! What to look at and what to ask first, by intent.

use serde::Serialize;

use super::intent::Intent;

/// Where an interview begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Strategy {
    /// What to look at in the code, and to settle.
    pub focus_areas: &'static [&'static str],
    /// Questions that change what gets built, the most telling one first. They are to be made concrete with
    /// what the code shows.
    pub first_questions: &'static [&'static str],
    /// What research is to find out, in the code and in documentation, before a way to do it is chosen.
    pub research_prompts: &'static [&'static str],
}

/// The strategy for `intent`.
#[must_use]
pub fn strategy(intent: Intent) -> Strategy {
    match intent {
        Intent::Trivial => Strategy {
            focus_areas: &["the exact place of the change", "what else says or relies on the same thing"],
            first_questions: &["Is this the change you mean, here and nowhere else?"],
            research_prompts: &[
                "every place that has the same text or value, with file and line",
                "which tests and documents mention it",
            ],
        },
        Intent::Refactoring => Strategy {
            focus_areas: &[
                "the behaviour that must stay, and the tests that hold it",
                "who calls what is going to change",
                "public interfaces and stored data",
                "an order in which every step leaves the code working",
            ],
            first_questions: &[
                "What should be easier or better afterwards?",
                "What must stay: public interfaces, file formats, behaviour, performance?",
                "Are the present tests enough to rely on, or do tests come first?",
                "How far does it go: this module, its callers, everything like it?",
            ],
            research_prompts: &[
                "every caller of what is going to change, with file and line",
                "which tests run that code, and which behaviour none of them holds",
                "how the same thing is done well elsewhere in this repository",
                "what relies on the present form: stored data, configuration, other programs",
            ],
        },
        Intent::BuildFromScratch => Strategy {
            focus_areas: &[
                "who uses it, and the one thing it has to do well",
                "what the first version leaves out",
                "language, framework, storage and where it runs",
                "how it is tested from the first task on",
            ],
            first_questions: &[
                "Who uses it, and what can they do with the first version?",
                "What is left out of the first version on purpose?",
                "Which language, framework and storage, and where does it run?",
                "How do we see that it works: which tests, which demonstration?",
            ],
            research_prompts: &[
                "the usual layout of such a project in its language, and how it is tested",
                "two or three libraries for its hardest part, and what speaks against each",
                "the limits of the services and formats it talks to: quotas, sizes, errors",
                "what comparable programs found hard, by their issues and documentation",
            ],
        },
        Intent::MidSized => Strategy {
            focus_areas: &[
                "where the change goes, and how its neighbours do such things",
                "what is in and what is out",
                "errors, edge cases and existing data",
                "how such things are tested here",
            ],
            first_questions: &[
                "What can somebody do afterwards that they can't do now?",
                "What belongs to it, and what does expressly not?",
                "What happens with errors, empty input and data that is there already?",
                "How is it tested: new tests beside the present ones, or something else?",
            ],
            research_prompts: &[
                "the closest feature there is, from entry to tests, with file and line",
                "which functions, types and dependencies of the repository it can build on",
                "how its neighbours report errors, and what callers rely on",
                "what is documented of each library call it needs, in the version used here",
            ],
        },
        Intent::Architecture => Strategy {
            focus_areas: &[
                "the forces: load, data, teams, failure, cost",
                "the borders between the parts, and the contracts across them",
                "the way there from what exists, in steps that can be undone",
                "what would prove the decision wrong",
                "running it: deployment, monitoring, recovery",
            ],
            first_questions: &[
                "Which problem of today makes this necessary, and how is it measured?",
                "What must hold: load, latency, availability, consistency, cost?",
                "What is fixed: technologies, interfaces, teams, deadlines?",
                "How is it introduced: step by step beside the old one, or all at once?",
            ],
            research_prompts: &[
                "who calls whom across the borders in question today, with file and line",
                "today's figures, or where to measure them: load, sizes, latency, failures",
                "two or three known designs for it, with what each costs and when it fails",
                "what hinders going there step by step: shared data, ordering, versions",
                "what the technologies in question guarantee, by their own documentation",
            ],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intent_has_lines_that_fit_a_terminal() {
        for intent in Intent::ALL {
            let Strategy { focus_areas, first_questions, research_prompts } = strategy(intent);
            for lines in [focus_areas, first_questions, research_prompts] {
                assert!(!lines.is_empty(), "{intent:?}");
                let wide = lines.iter().find(|line| line.len() > 76);
                assert_eq!(wide, None, "{intent:?}");
            }
        }
    }
}
