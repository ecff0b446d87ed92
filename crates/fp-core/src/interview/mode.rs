//! How much planning a goal deserves: proposed with its reason, so that the user can disagree.

use serde::{Deserialize, Serialize};

use super::intent::{Classified, Intent, list_items};
use super::words::Words;
use crate::settings::Settings;

/// A way to plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One task, planned on the spot.
    Direct,
    /// One area of the code, a handful of tasks.
    Pipeline,
    /// Several areas, or something new.
    Full,
}

/// One step of planning, in the words of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Look for hidden complexity, risks and ambiguities before anybody is asked.
    PreAnalysis,
    /// Ask the user what the code can't tell.
    Interview,
    /// Find out what the interview left open.
    Research,
    /// Put two or three ways to do it before the user.
    Approach,
    /// Make the tree.
    Decompose,
    /// Have the tree criticised.
    Critique,
    /// Show the tree and ask.
    Review,
    /// Record the approval.
    Approve,
}

/// A mode with the reason for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The mode.
    pub name: Mode,
    /// Why, as a clause without a full stop.
    pub reason: String,
}

/// How many points a goal lists before it counts as more than a pipeline.
const MANY_ITEMS: usize = 5;

/// Areas of a code base, and the words that point to them.
const AREAS: &[(&str, &[&str])] = &[
    (
        "interface",
        &[
            "frontend",
            "front end",
            "ui",
            "page",
            "screen",
            "button",
            "form",
            "css",
            "component",
            "modal",
            "프론트엔드",
            "화면",
            "페이지",
            "버튼",
        ],
    ),
    (
        "server",
        &["backend", "back end", "server", "api", "endpoint*", "webhook*", "백엔드", "서버", "엔드포인트"],
    ),
    (
        "data",
        &[
            "database",
            "schema",
            "table",
            "sql",
            "postgres*",
            "mysql",
            "sqlite",
            "migration",
            "데이터베이스",
            "스키마",
            "테이블",
        ],
    ),
    (
        "operations",
        &[
            "ci",
            "docker*",
            "deploy*",
            "kubernetes",
            "k8s",
            "terraform",
            "helm",
            "monitoring",
            "배포",
            "도커",
            "모니터링",
        ],
    ),
    ("mobile", &["ios", "android", "mobile app", "모바일"]),
];

const EVERYWHERE: &[&str] = &[
    "entire codebase",
    "whole codebase",
    "entire project",
    "whole project",
    "across the codebase",
    "across all",
    "everywhere",
    "every module",
    "all modules",
    "전체",
    "모든 모듈",
    "프로젝트 전반",
];

/// The mode that suits `goal`, which is `classified` already.
#[must_use]
pub fn propose(goal: &str, classified: &Classified) -> Proposal {
    let quoted = classified.because.map(|phrase| format!(" (\"{phrase}\")")).unwrap_or_default();
    let full = |reason: String| Proposal { name: Mode::Full, reason };
    match classified.intent {
        Intent::Trivial => {
            return Proposal { name: Mode::Direct, reason: format!("a change that one task holds{quoted}") };
        }
        Intent::BuildFromScratch => return full(format!("something new that stands by itself{quoted}")),
        Intent::Architecture => return full(format!("a decision about how the parts work together{quoted}")),
        Intent::Refactoring | Intent::MidSized => {}
    }
    let words = Words::new(goal);
    let areas = areas(&words);
    if areas.len() >= 2 {
        return full(format!("it touches several areas: {}", areas.join(", ")));
    }
    if let Some(phrase) = words.first(EVERYWHERE) {
        return full(format!("it reaches through the whole code base (\"{phrase}\")"));
    }
    let items = list_items(goal);
    if items >= MANY_ITEMS {
        return full(format!("it lists {items} things to do"));
    }
    let what = if classified.intent == Intent::Refactoring { "a refactoring" } else { "a feature or a fix" };
    Proposal { name: Mode::Pipeline, reason: format!("{what} within one area of the code{quoted}") }
}

/// Words of goals that are reached in several steps, each of use by itself.
const IN_STEPS: &[&str] = &[
    "roadmap",
    "milestone*",
    "phase 1",
    "phase one",
    "first phase",
    "in phases",
    "in stages",
    "in several steps",
    "로드맵",
    "단계별",
    "마일스톤",
];
/// How many points a goal lists before it is more than one plan.
const TOO_MANY_ITEMS: usize = 10;
/// How many areas it touches then.
const TOO_MANY_AREAS: usize = 4;

/// Why `goal` may be more than one plan, as a clause; nothing where it doesn't look so.
#[must_use]
pub fn several_plans(goal: &str) -> Option<String> {
    let words = Words::new(goal);
    if let Some(phrase) = words.first(IN_STEPS) {
        return Some(format!("it comes in steps (\"{phrase}\")"));
    }
    let items = list_items(goal);
    if items >= TOO_MANY_ITEMS {
        return Some(format!("it lists {items} things to do"));
    }
    let areas = areas(&words);
    (areas.len() >= TOO_MANY_AREAS).then(|| format!("it touches {}", areas.join(", ")))
}

fn areas(words: &Words) -> Vec<&'static str> {
    AREAS.iter().filter(|(_, signs)| words.first(signs).is_some()).map(|(area, _)| *area).collect()
}

/// A text that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a mode is one of direct, pipeline, full")]
pub struct UnknownMode;

impl std::str::FromStr for Mode {
    type Err = UnknownMode;
    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == text).ok_or(UnknownMode)
    }
}

impl Proposal {
    /// The same for a goal that ends with its research: direct mode has nobody who would do it.
    #[must_use]
    pub fn for_research(self) -> Self {
        match self.name {
            Mode::Direct => Self {
                name: Mode::Pipeline,
                reason: "research is asked for, of which direct mode has none".into(),
            },
            Mode::Pipeline | Mode::Full => self,
        }
    }
}

impl Mode {
    /// All modes, from the least planning to the most.
    pub const ALL: [Self; 3] = [Self::Direct, Self::Pipeline, Self::Full];

    /// Its wire name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Pipeline => "pipeline",
            Self::Full => "full",
        }
    }

    /// The steps of planning work of the kind `intent` in this mode, in order, as `settings` cut them short. In
    /// direct mode the interview's one question shows the task and is the approval, so nothing is reviewed.
    #[must_use]
    pub fn steps(self, intent: Intent, settings: &Settings) -> Vec<Step> {
        let planned = self != Self::Direct;
        let whole = !settings.research_only;
        let steps = [
            (Step::PreAnalysis, settings.pre_analysis && self.profits_from_analysis(intent)),
            (Step::Interview, true),
            (Step::Research, planned || settings.research_only),
            (Step::Approach, planned && whole),
            (Step::Decompose, whole),
            (Step::Critique, planned && whole),
            (Step::Review, planned && whole && !settings.skip_plan_review),
            (Step::Approve, whole),
        ];
        steps.into_iter().filter(|(_, due)| *due).map(|(step, _)| step).collect()
    }

    fn profits_from_analysis(self, intent: Intent) -> bool {
        match intent {
            Intent::Trivial => false,
            Intent::MidSized => self == Self::Full,
            Intent::Refactoring | Intent::BuildFromScratch | Intent::Architecture => self != Self::Direct,
        }
    }
}

impl Step {
    /// Its wire name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PreAnalysis => "pre-analysis",
            Self::Interview => "interview",
            Self::Research => "research",
            Self::Approach => "approach",
            Self::Decompose => "decompose",
            Self::Critique => "critique",
            Self::Review => "review",
            Self::Approve => "approve",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::intent::classify;
    use super::*;

    #[test]
    fn no_other_mode() {
        let error = "fast".parse::<Mode>().unwrap_err();
        assert_eq!(error.to_string(), "a mode is one of direct, pipeline, full");
    }

    #[test]
    fn a_mode_comes_with_its_reason() {
        let check = |goal: &str, name: Mode, reason: &str| {
            let expect = Proposal { name, reason: reason.into() };
            assert_eq!(propose(goal, &classify(goal)), expect, "{goal:?}");
        };
        check("Fix a typo", Mode::Direct, "a change that one task holds (\"typo\")");
        check("add a greeting command", Mode::Pipeline, "a feature or a fix within one area of the code");
        check(
            "Refactor the parser",
            Mode::Pipeline,
            "a refactoring within one area of the code (\"refactor\")",
        );
        check(
            "Refactor error handling across the codebase",
            Mode::Full,
            "it reaches through the whole code base (\"across the codebase\")",
        );
        check("Build a todo app", Mode::Full, "something new that stands by itself (\"app\")");
        check(
            "Split the monolith",
            Mode::Full,
            "a decision about how the parts work together (\"monolith\")",
        );
        check(
            "Add a settings page and an API endpoint that stores it in the database",
            Mode::Full,
            "it touches several areas: interface, server, data",
        );
        check("화면과 서버에 알림 추가", Mode::Full, "it touches several areas: interface, server");
        check("Todo:\n- a\n- b\n- c\n- d\n- e", Mode::Full, "it lists 5 things to do");
    }

    #[test]
    fn some_goals_are_several_plans() {
        let check = |goal: &str, expect: Option<&str>| {
            assert_eq!(several_plans(goal).as_deref(), expect, "{goal:?}");
        };
        check("Add a greeting command", None);
        check("Build a todo app with a page and an API", None);
        check("A roadmap for accounts", Some("it comes in steps (\"roadmap\")"));
        check("Rework billing, phase 1: invoices", Some("it comes in steps (\"phase 1\")"));
        check("결제를 단계별로 개편", Some("it comes in steps (\"단계별\")"));
        check(&format!("Do:{}", "\n- a".repeat(9)), None);
        check(&format!("Do:{}", "\n- a".repeat(10)), Some("it lists 10 things to do"));
        check(
            "A page, an API, a database table and docker for it",
            Some("it touches interface, server, data, operations"),
        );
    }

    #[test]
    fn steps_follow_from_mode_intent_and_settings() {
        use Intent::{Architecture, BuildFromScratch, MidSized, Refactoring, Trivial};
        use Mode::{Direct, Full, Pipeline};
        const GATED: &str = "interview research approach decompose critique review approve";
        let check = |mode: Mode, intents: &[Intent], change: fn(&mut Settings), expect: &str| {
            let mut settings = Settings::default();
            change(&mut settings);
            for &intent in intents {
                let steps: Vec<_> = mode.steps(intent, &settings).into_iter().map(Step::name).collect();
                assert_eq!(steps.join(" "), expect, "{mode:?} {intent:?}");
                let wire = serde_json::to_value(mode.steps(intent, &settings)).unwrap();
                assert_eq!(wire, serde_json::json!(steps));
            }
        };
        let all = Intent::ALL;
        check(Direct, &all, |_| {}, "interview decompose approve");
        check(Direct, &all, |s| s.skip_plan_review = true, "interview decompose approve");
        check(Direct, &all, |s| s.research_only = true, "interview research");
        let large = [Refactoring, BuildFromScratch, Architecture];
        let analysed = format!("pre-analysis {GATED}");
        check(Pipeline, &large, |_| {}, &analysed);
        check(Full, &large, |_| {}, &analysed);
        check(Pipeline, &[Trivial, MidSized], |_| {}, GATED);
        check(Full, &[Trivial], |_| {}, GATED);
        check(Full, &[MidSized], |_| {}, &analysed);
        check(Full, &all, |s| s.pre_analysis = false, GATED);
        check(
            Pipeline,
            &[MidSized],
            |s| s.skip_plan_review = true,
            "interview research approach decompose critique approve",
        );
        check(Full, &large, |s| s.research_only = true, "pre-analysis interview research");
        check(Pipeline, &[MidSized], |s| s.research_only = true, "interview research");
        check(Pipeline, &[MidSized], |s| s.plan_only = true, GATED);
    }
}
