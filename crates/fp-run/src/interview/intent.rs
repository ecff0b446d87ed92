//! Guesses what kind of work a goal is and how much planning it needs, because both decide the steps of planning and
//! the first questions. A table of words makes the guess, for people at a terminal and as a start; a model that has
//! read the goal corrects it with `--intent` and `--mode`.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::regex;
use fp_plan::settings::Settings;

/// Kinds of work.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Intent {
    /// One obvious change.
    Trivial,
    /// The same behaviour, better code.
    Refactoring,
    /// Something new that stands by itself.
    BuildFromScratch,
    /// A feature or a fix.
    MidSized,
    /// The way the parts work together.
    Architecture,
}

/// Ways to plan, from the least planning to the most.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Mode {
    /// One task, planned on the spot.
    Direct,
    /// The goal says already what to build, so nothing is researched and no approach is chosen.
    Specified,
    /// One area of the code, a handful of tasks.
    Pipeline,
    /// Several areas, or something new.
    Full,
}

/// One step of planning, in the words of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum PlanningStep {
    PreAnalysis,
    Interview,
    Research,
    Approach,
    Decompose,
    Critique,
    Review,
    Approve,
}

/// The hint that a word of a goal gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GoalSign {
    Kind(Intent),
    /// It touches the whole code base.
    Everywhere,
    /// It takes several plans.
    InSteps,
}

use GoalSign::{Everywhere, InSteps, Kind};

/// Words, and prefixes marked with `*`. Of the `Kind` rows, the first with a word of the goal decides.
const SIGNS: &[(GoalSign, &str)] = &[
    (
        Kind(Intent::Trivial),
        "typo, typos, misspell*, spelling, whitespace, one liner, copyright year",
    ),
    (
        Kind(Intent::Trivial),
        "readme, changelog, wording, bump, 오타, 맞춤법, 띄어쓰기, 문구, 주석",
    ),
    (
        Kind(Intent::BuildFromScratch),
        "from scratch, greenfield, scaffold*, new project, new app, build a",
    ),
    (
        Kind(Intent::BuildFromScratch),
        "build an, create an app, create a game, create a website",
    ),
    (
        Kind(Intent::BuildFromScratch),
        "write a program, 처음부터, 새 프로젝트, 신규 프로젝트",
    ),
    (
        Kind(Intent::BuildFromScratch),
        "프로젝트를 만들, 앱을 만들, 서비스를 만들, 사이트를 만들",
    ),
    (
        Kind(Intent::Architecture),
        "architect*, rearchitect*, microservice*, monolith*, distributed",
    ),
    (
        Kind(Intent::Architecture),
        "event driven, event sourcing, multi tenan*, multitenan*, sharding",
    ),
    (
        Kind(Intent::Architecture),
        "high availability, plugin system, system design, 아키텍처, 마이크로서비스",
    ),
    (
        Kind(Intent::Architecture),
        "모놀리스, 멀티테넌, 시스템 설계",
    ),
    (
        Kind(Intent::Refactoring),
        "refactor*, restructur*, reorgani*, rewrite, clean up, cleanup, tidy",
    ),
    (
        Kind(Intent::Refactoring),
        "simplif*, decoupl*, deduplicat*, moderni*, rename, migrate, replace",
    ),
    (
        Kind(Intent::Refactoring),
        "dead code, tech debt, 리팩터, 리팩토, 코드 정리, 재구성, 재작성, 이름 변경",
    ),
    (
        Kind(Intent::Refactoring),
        "마이그레이션, 중복 제거, 기술 부채",
    ),
    (
        Everywhere,
        "entire codebase, whole codebase, across the codebase, across all, everywhere",
    ),
    (Everywhere, "every module, 전체, 모든 모듈"),
    (
        InSteps,
        "roadmap, milestone*, phase 1, phase one, first phase, in phases, in stages, 로드맵, 단계별",
    ),
];

/// Maximum words of a trivial goal.
const TRIVIAL_WORDS: usize = 20;
/// List items from which a goal gets full planning, and from which it may be several plans.
const MANY_ITEMS: usize = 5;
const TOO_MANY_ITEMS: usize = 10;
/// Words and code names that a specification has at least.
const SPECIFIED_WORDS: usize = 20;
const SPECIFIED_NAMES: usize = 3;
/// Maximum number of characters read: a goal tells its subject at the start.
const LOOKED_AT: usize = 20_000;

/// The kind and size of work that the words of a goal suggest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalReading {
    pub intent: Intent,
    pub mode: Mode,
    /// The reason for the mode, as a clause.
    pub mode_reason: String,
    /// The reason why the goal may be more than one plan, as a clause.
    pub several_plans: Option<String>,
}

impl GoalReading {
    /// Reads `goal`, whose kind of work may be `known`.
    pub fn of_goal(goal: &str, known: Option<Intent>) -> Self {
        let start: String = goal.chars().take(LOOKED_AT).collect();
        let words = start.to_lowercase();
        let words: Vec<&str> = words
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let (text, items) = (
            format!(" {} ", words.join(" ")),
            ITEM.find_iter(goal).count(),
        );
        let is_short = words.len() <= TRIVIAL_WORDS && items < 2;
        let found = |(sign, phrases): &(GoalSign, &'static str)| {
            let phrase = phrases
                .split(", ")
                .find(|phrase| has_phrase(&text, phrase))?;
            let counts = is_short || *sign != Kind(Intent::Trivial);
            counts.then_some((*sign, phrase.trim_end_matches('*')))
        };
        let signs: Vec<(GoalSign, &str)> = SIGNS.iter().filter_map(found).collect();
        let phrase_of = |wanted| {
            signs
                .iter()
                .find(|(sign, _)| *sign == wanted)
                .map(|(_, phrase)| *phrase)
        };
        let kind = signs.iter().find_map(|(sign, phrase)| match sign {
            Kind(intent) => Some((*intent, format!(" (\"{phrase}\")"))),
            Everywhere | InSteps => None,
        });
        let (intent, because) = match known {
            Some(intent) => (intent, String::new()),
            None => kind.unwrap_or((Intent::MidSized, String::new())),
        };
        let names = code_names(goal);
        let asks = goal.split_whitespace().any(|word| word.ends_with('?'));
        let is_specified =
            words.len() >= SPECIFIED_WORDS && names >= items.max(SPECIFIED_NAMES) && !asks;
        let listed = format!("it lists {items} things to do");
        let (mode, mode_reason) = match (intent, phrase_of(Everywhere)) {
            (Intent::Trivial, _) => (
                Mode::Direct,
                format!("a change that one task holds{because}"),
            ),
            (Intent::BuildFromScratch, _) => (
                Mode::Full,
                format!("something new that stands by itself{because}"),
            ),
            (Intent::Architecture, _) => (
                Mode::Full,
                format!("a decision about how the parts work together{because}"),
            ),
            (_, Some(phrase)) => (
                Mode::Full,
                format!("it reaches through the whole code base (\"{phrase}\")"),
            ),
            _ if is_specified => (
                Mode::Specified,
                format!("it says what to build, by {names} names of code"),
            ),
            _ if items >= MANY_ITEMS => (Mode::Full, listed.clone()),
            (Intent::Refactoring, _) => (Mode::Pipeline, format!("a refactoring{because}")),
            (Intent::MidSized, _) => (Mode::Pipeline, format!("a feature or a fix{because}")),
        };
        let several_plans = match phrase_of(InSteps) {
            Some(phrase) => Some(format!("it comes in steps (\"{phrase}\")")),
            None => (items >= TOO_MANY_ITEMS).then_some(listed),
        };
        Self {
            intent,
            mode,
            mode_reason,
            several_plans,
        }
    }
}

/// True if `text` has `phrase` as whole words, or, with a final `*`, as a prefix of a word. A phrase in a script that
/// glues particles to words matches anywhere.
fn has_phrase(text: &str, phrase: &str) -> bool {
    match phrase.strip_suffix('*') {
        _ if !phrase.is_ascii() => text.contains(phrase),
        Some(start) => text.contains(&format!(" {start}")),
        None => text.contains(&format!(" {phrase} ")),
    }
}

/// The starts of list entries.
static ITEM: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^\s*(?:[-*•]|[0-9]+[.)]) "));

/// Counts the different words of `goal` that name code: paths, flags, calls, and words with marks or capitals inside.
fn code_names(goal: &str) -> usize {
    let is_name = |word: &&str| {
        let inside = word.trim_matches(|c: char| !c.is_alphanumeric());
        let has_mark = inside.contains(['_', '(', '/', '=']) || inside.contains("::");
        let has_dot = inside.split('.').filter(|part| part.len() > 1).count() > 1;
        let has_capital = inside
            .chars()
            .skip_while(|c| c.is_uppercase())
            .any(char::is_uppercase);
        word.starts_with("--")
            || word.starts_with('`')
            || word.contains("()")
            || has_mark
            || has_dot
            || has_capital
    };
    goal.split_whitespace()
        .filter(is_name)
        .collect::<HashSet<_>>()
        .len()
}

impl Mode {
    /// The steps for planning work of the kind `intent` in this mode, in order, minus those that `settings` skip. In
    /// direct mode the single question of the interview shows the task and serves as the approval, so there is no
    /// review.
    pub fn steps(self, intent: Intent, settings: &Settings) -> Vec<PlanningStep> {
        let planned = self != Self::Direct;
        let explored = matches!(self, Self::Pipeline | Self::Full);
        let whole = !settings.research_only;
        let analysed = explored
            && intent != Intent::Trivial
            && (intent != Intent::MidSized || self == Self::Full);
        let steps = [
            (PlanningStep::PreAnalysis, settings.pre_analysis && analysed),
            (PlanningStep::Interview, true),
            (PlanningStep::Research, explored || settings.research_only),
            (PlanningStep::Approach, explored && whole),
            (PlanningStep::Decompose, whole),
            (PlanningStep::Critique, planned && whole),
            (
                PlanningStep::Review,
                planned && whole && !settings.skip_plan_review,
            ),
            (PlanningStep::Approve, whole),
        ];
        steps
            .into_iter()
            .filter(|(_, due)| *due)
            .map(|(step, _)| step)
            .collect()
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn intents_by_their_words() {
        use Intent::{Architecture, BuildFromScratch, MidSized, Refactoring, Trivial};
        let check = |goal: &str, intent: Intent, because: Option<&str>| {
            let found = GoalReading::of_goal(goal, None);
            assert_eq!(found.intent, intent, "{goal:?}");
            let because = because.map_or_else(String::new, |word| format!(" (\"{word}\")"));
            assert!(found.mode_reason.ends_with(&because), "{goal:?}: {found:?}");
            assert_eq!(
                found.mode_reason.contains('"'),
                !because.is_empty(),
                "{goal:?}: {found:?}"
            );
            let known = GoalReading::of_goal(goal, Some(intent));
            assert_eq!((known.intent, known.mode), (intent, found.mode), "{goal:?}");
            assert!(!known.mode_reason.contains('"'), "{goal:?}: {known:?}");
        };
        check("Fix a typo in the architecture page", Trivial, Some("typo"));
        check("Update the README", Trivial, Some("readme"));
        check("bump the version to 2.0.1", Trivial, Some("bump"));
        check("로그인 버튼 문구를 수정해 줘", Trivial, Some("문구"));
        check("오타 수정", Trivial, Some("오타"));
        check("Add color themes to the editor", MidSized, None);
        check("add a greeting command", MidSized, None);
        check("fix the crash when the list is empty", MidSized, None);
        check("make the app faster", MidSized, None);
        check("사용자 프로필 화면을 추가해 줘", MidSized, None);
        check("Añadir búsqueda", MidSized, None);
        check("🎉", MidSized, None);
        check("Refactor the payment module", Refactoring, Some("refactor"));
        check(
            "clean up the helpers in src/util",
            Refactoring,
            Some("clean up"),
        );
        check("Replace moment with date-fns", Refactoring, Some("replace"));
        check("결제 모듈 리팩터링", Refactoring, Some("리팩터"));
        check("Build a todo app", BuildFromScratch, Some("build a"));
        check(
            "write an API for orders, from scratch",
            BuildFromScratch,
            Some("from scratch"),
        );
        check("Scaffold the frontend", BuildFromScratch, Some("scaffold"));
        check("날씨 앱을 만들어 줘", BuildFromScratch, Some("앱을 만들"));
        check(
            "Split the monolith into services",
            Architecture,
            Some("monolith"),
        );
        check(
            "design an event-driven order flow",
            Architecture,
            Some("event driven"),
        );
        check(
            "마이크로서비스로 전환",
            Architecture,
            Some("마이크로서비스"),
        );
    }

    #[test]
    fn much_is_never_trivial() {
        let intent = |goal: &str| GoalReading::of_goal(goal, None).intent;
        let long = format!("Fix the typo, {}", "and then another thing, ".repeat(10));
        assert_eq!(intent(&long), Intent::MidSized);
        assert_eq!(intent("Fix:\n- a typo\n- the login"), Intent::MidSized);
        assert_eq!(intent(&"word ".repeat(1_000_000)), Intent::MidSized);
    }

    #[test]
    fn items_of_a_list_are_counted() {
        let check = |goal: &str, expect: usize| {
            assert_eq!(ITEM.find_iter(goal).count(), expect, "{goal:?}")
        };
        check("one line - with a dash", 0);
        check("Do:\n- a\n* b\n  • c\n1. d\n12) e\n3.5 is a number\n-x", 5);
    }

    #[test]
    fn a_mode_comes_with_its_reason() {
        let check = |goal: &str, name: Mode, reason: &str| {
            let found = GoalReading::of_goal(goal, None);
            assert_eq!(
                (found.mode, found.mode_reason.as_str()),
                (name, reason),
                "{goal:?}"
            );
        };
        check(
            "Fix a typo",
            Mode::Direct,
            "a change that one task holds (\"typo\")",
        );
        check(
            "add a greeting command",
            Mode::Pipeline,
            "a feature or a fix",
        );
        check(
            "Refactor the parser",
            Mode::Pipeline,
            "a refactoring (\"refactor\")",
        );
        check(
            "Refactor error handling across the codebase",
            Mode::Full,
            "it reaches through the whole code base (\"across the codebase\")",
        );
        check(
            "Build a todo app",
            Mode::Full,
            "something new that stands by itself (\"build a\")",
        );
        check(
            "Split the monolith",
            Mode::Full,
            "a decision about how the parts work together (\"monolith\")",
        );
        check(
            "Todo:\n- a\n- b\n- c\n- d\n- e",
            Mode::Full,
            "it lists 5 things to do",
        );
    }

    #[test]
    fn a_goal_that_names_what_to_build_is_a_specification() {
        let check = |goal: &str, expect: Mode| {
            assert_eq!(GoalReading::of_goal(goal, None).mode, expect, "{goal:?}");
        };
        let points = "Make these additions to src/words.py, each with a test in tests/test_words.py:\n\
             - `count_words(text)` returns how many words a text has\n\
             - `longest_word(text)` returns the first of the longest, or None\n\
             - a row for each in docs/api.rst\n\
             Don't change anything else.";
        check(points, Mode::Specified);
        let many = format!(
            "{points}{}",
            "\n- `more_words(text)` in src/more.py raises ValueError".repeat(8)
        );
        check(&many, Mode::Full);
        let each = (1..9).map(|number| format!("\n- `words_{number}(text)` raises ValueError"));
        check(
            &format!("{points}{}", each.collect::<String>()),
            Mode::Specified,
        );
        check(
            &format!("{points} Or should it be in words_more.py?"),
            Mode::Pipeline,
        );
        check(&format!("{points} Do so across the codebase."), Mode::Full);
        check(
            "Fix the crash in src/a.py, src/b.py and src/c.py",
            Mode::Pipeline,
        );
        check(
            &"make the app faster and nicer for everybody ".repeat(9),
            Mode::Pipeline,
        );
        check(&format!("Refactor: {points}"), Mode::Specified);
        check(&format!("Build a todo app. {points}"), Mode::Full);
    }

    #[test]
    fn some_goals_are_several_plans() {
        let check = |goal: &str, expect: Option<&str>| {
            assert_eq!(
                GoalReading::of_goal(goal, None).several_plans.as_deref(),
                expect,
                "{goal:?}"
            );
        };
        check("Add a greeting command", None);
        check("Build a todo app with a page and an API", None);
        check(
            "A roadmap for accounts",
            Some("it comes in steps (\"roadmap\")"),
        );
        check(
            "Rework billing, phase 1: invoices",
            Some("it comes in steps (\"phase 1\")"),
        );
        check(
            "결제를 단계별로 개편",
            Some("it comes in steps (\"단계별\")"),
        );
        check(&format!("Do:{}", "\n- a".repeat(9)), None);
        check(
            &format!("Do:{}", "\n- a".repeat(10)),
            Some("it lists 10 things to do"),
        );
    }

    #[test]
    fn steps_follow_from_mode_intent_and_settings() {
        use Intent::{Architecture, BuildFromScratch, MidSized, Refactoring, Trivial};
        use Mode::{Direct, Full, Pipeline, Specified};
        const GATED: &str = "interview research approach decompose critique review approve";
        let check = |mode: Mode, intents: &[Intent], change: fn(&mut Settings), expect: &str| {
            let mut settings = Settings::default();
            change(&mut settings);
            for &intent in intents {
                let steps: Vec<_> = mode
                    .steps(intent, &settings)
                    .into_iter()
                    .map(|step| step.into_str())
                    .collect();
                assert_eq!(steps.join(" "), expect, "{mode:?} {intent:?}");
                let wire = serde_json::to_value(mode.steps(intent, &settings)).unwrap();
                assert_eq!(wire, serde_json::json!(steps));
            }
        };
        let all = Intent::VARIANTS;
        check(Direct, all, |_| {}, "interview decompose approve");
        check(
            Specified,
            all,
            |_| {},
            "interview decompose critique review approve",
        );
        check(
            Specified,
            all,
            |s| s.research_only = true,
            "interview research",
        );
        check(
            Direct,
            all,
            |s| s.skip_plan_review = true,
            "interview decompose approve",
        );
        check(
            Direct,
            all,
            |s| s.research_only = true,
            "interview research",
        );
        let large = [Refactoring, BuildFromScratch, Architecture];
        let analysed = format!("pre-analysis {GATED}");
        check(Pipeline, &large, |_| {}, &analysed);
        check(Full, &large, |_| {}, &analysed);
        check(Pipeline, &[Trivial, MidSized], |_| {}, GATED);
        check(Full, &[Trivial], |_| {}, GATED);
        check(Full, &[MidSized], |_| {}, &analysed);
        check(Full, all, |s| s.pre_analysis = false, GATED);
        check(
            Pipeline,
            &[MidSized],
            |s| s.skip_plan_review = true,
            "interview research approach decompose critique approve",
        );
        check(
            Full,
            &large,
            |s| s.research_only = true,
            "pre-analysis interview research",
        );
        check(
            Pipeline,
            &[MidSized],
            |s| s.research_only = true,
            "interview research",
        );
        check(Pipeline, &[MidSized], |s| s.plan_only = true, GATED);
    }
}
