//! What kind of work a goal asks for, read off its words. A proposal only: the interview may find otherwise.

use serde::{Deserialize, Serialize};

use super::words::Words;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intent {
    /// A change that one look is enough for.
    Trivial,
    /// Another form of what is there, with the same behaviour.
    Refactoring,
    /// Something new that stands by itself.
    BuildFromScratch,
    /// A feature or a fix within what is there.
    MidSized,
    /// A decision about how parts of a system work together.
    Architecture,
}

/// A text that names no intent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an intent is one of trivial, refactoring, build-from-scratch, mid-sized, architecture")]
pub struct UnknownIntent;

impl std::str::FromStr for Intent {
    type Err = UnknownIntent;
    fn from_str(text: &str) -> Result<Self, UnknownIntent> {
        Self::ALL.into_iter().find(|intent| intent.name() == text).ok_or(UnknownIntent)
    }
}

impl Intent {
    /// All intents, in the order in which they are named above.
    pub const ALL: [Self; 5] =
        [Self::Trivial, Self::Refactoring, Self::BuildFromScratch, Self::MidSized, Self::Architecture];

    /// Its wire name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trivial => "trivial",
            Self::Refactoring => "refactoring",
            Self::BuildFromScratch => "build-from-scratch",
            Self::MidSized => "mid-sized",
            Self::Architecture => "architecture",
        }
    }
}

/// An intent, and the words that gave it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classified {
    /// The intent.
    pub intent: Intent,
    /// The phrase of the goal that decided; `None` where nothing did.
    pub because: Option<&'static str>,
}

/// Longest goal, in words, that can be trivial: who needs more words wants more.
const TRIVIAL_WORDS: usize = 20;

/// Small, whatever is to be done about them.
const SMALL: &[&str] = &[
    "typo",
    "typos",
    "misspelling",
    "misspelled",
    "spelling",
    "whitespace",
    "one liner",
    "copyright year",
    "오타",
    "맞춤법",
    "띄어쓰기",
];

/// Small, if all that is asked for is to change them ([`TWEAKS`]).
const SMALL_THINGS: &[&str] = &[
    "readme",
    "changelog",
    "gitignore",
    "license",
    "licence",
    "comment",
    "comments",
    "docstring",
    "log message",
    "error message",
    "wording",
    "label",
    "tooltip",
    "placeholder",
    "color",
    "colour",
    "font size",
    "icon",
    "version",
    "version number",
    "constant",
    "default value",
    "timeout",
    "unused import",
    "unused imports",
    "unused variable",
    "lint warning*",
    "주석",
    "문구",
    "색상",
    "색깔",
    "글꼴",
    "아이콘",
    "라벨",
    "버전",
    "기본값",
    "상수",
    "변수 이름",
    "변수명",
];

const TWEAKS: &[&str] = &[
    "fix", "correct", "change", "update", "adjust", "tweak", "edit", "reword", "remove", "delete", "drop",
    "bump", "set", "increase", "decrease", "raise", "lower", "고쳐", "고치", "수정", "변경", "바꿔", "바꾸",
    "교체", "삭제", "지워", "올려", "올리", "낮춰",
];

/// With one of these a goal wants more than a tweak.
const ADDITIONS: &[&str] =
    &["add", "implement*", "support", "build", "create", "introduce", "추가", "구현", "지원", "만들"];

const ARCHITECTURE: &[&str] = &[
    "architecture",
    "architectural",
    "architect",
    "rearchitect",
    "re architect",
    "microservice*",
    "micro service*",
    "monolith*",
    "distributed",
    "event driven",
    "event sourcing",
    "cqrs",
    "multi tenan*",
    "multitenan*",
    "multi region",
    "high availability",
    "scalability",
    "sharding",
    "service mesh",
    "message bus",
    "message queue",
    "plugin system",
    "system design",
    "design a system",
    "data pipeline",
    "disaster recovery",
    "아키텍처",
    "아키텍쳐",
    "마이크로서비스",
    "모놀리스",
    "분산 시스템",
    "분산 처리",
    "이벤트 기반",
    "멀티테넌",
    "멀티 테넌",
    "시스템 설계",
    "시스템을 설계",
    "확장성",
    "고가용성",
    "메시지 큐",
];

const REFACTORING: &[&str] = &[
    "refactor*",
    "restructur*",
    "reorganize",
    "reorganise",
    "rewrite",
    "clean up",
    "cleanup",
    "tidy",
    "simplif*",
    "decouple",
    "decoupling",
    "deduplicat*",
    "modulari*",
    "moderni*",
    "rename",
    "migrate",
    "split up",
    "dead code",
    "technical debt",
    "tech debt",
    "리팩터",
    "리팩토",
    "리펙토",
    "구조 개선",
    "코드 정리",
    "정리해",
    "재구성",
    "재작성",
    "이름을 바꿔",
    "이름 변경",
    "마이그레이션",
    "분리해",
    "중복 제거",
    "기술 부채",
];

/// Refactoring as a goal's first word; elsewhere they are as often what a feature does.
const REFACTORING_VERBS: &[&str] =
    &["replace", "convert", "extract", "port", "move", "split", "merge", "inline", "unify"];

const FROM_SCRATCH: &[&str] = &[
    "from scratch",
    "from the ground up",
    "greenfield",
    "new project",
    "new app",
    "new application",
    "new website",
    "new repository",
    "new library",
    "bootstrap a",
    "scaffold*",
    "처음부터",
    "새 프로젝트",
    "새로운 프로젝트",
    "신규 프로젝트",
    "새 앱",
    "새로운 앱",
    "신규 서비스",
    "프로젝트를 만들",
    "앱을 만들",
    "서비스를 만들",
    "웹사이트를 만들",
    "사이트를 만들",
    "게임을 만들",
    "라이브러리를 만들",
];

const MAKING: &[&str] = &["build", "create", "make", "develop", "write"];

/// What, when it is made, stands by itself.
const WHOLE_THINGS: &[&str] = &[
    "app",
    "application",
    "website",
    "site",
    "service",
    "server",
    "game",
    "library",
    "framework",
    "platform",
    "bot",
    "chatbot",
    "cli",
    "tool",
    "compiler",
    "interpreter",
    "clone",
    "mvp",
    "prototype",
    "blog",
    "api",
    "sdk",
    "extension",
];

/// What kind of work `goal` asks for, and why. A goal that gives nothing away is mid-sized.
#[must_use]
pub fn classify(goal: &str) -> Classified {
    let words = Words::new(goal);
    let short = words.count() <= TRIVIAL_WORDS && list_items(goal) < 2;
    let only_a_tweak = short && words.first(TWEAKS).is_some() && words.first(ADDITIONS).is_none();
    let rules = [
        (Intent::Trivial, words.first(SMALL).filter(|_| short)),
        (Intent::BuildFromScratch, words.first(FROM_SCRATCH)),
        (Intent::BuildFromScratch, words.made(MAKING, WHOLE_THINGS)),
        (Intent::Trivial, words.first(SMALL_THINGS).filter(|_| only_a_tweak)),
        (Intent::Architecture, words.first(ARCHITECTURE)),
        (Intent::Refactoring, words.first(REFACTORING)),
        (Intent::Refactoring, words.begins_with(REFACTORING_VERBS)),
    ];
    let found = rules.into_iter().find_map(|(intent, because)| because.map(|because| (intent, because)));
    match found {
        Some((intent, because)) => Classified { intent, because: Some(because) },
        None => Classified { intent: Intent::MidSized, because: None },
    }
}

/// How many lines of `goal` are items of a list.
pub(super) fn list_items(goal: &str) -> usize {
    let is_item = |line: &&str| {
        let line = line.trim_start();
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        line.starts_with("- ")
            || line.starts_with("* ")
            || line.starts_with("• ")
            || (numbered.len() < line.len() && (numbered.starts_with(". ") || numbered.starts_with(") ")))
    };
    goal.lines().filter(is_item).count()
}

#[cfg(test)]
mod tests;
