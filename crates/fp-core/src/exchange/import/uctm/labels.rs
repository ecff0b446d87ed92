//! The labels of uctm in English and in Korean, and the tasks that a text names.

use std::sync::LazyLock;

use regex::Regex;

/// What a heading or a label speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Goal,
    Dependencies,
    Scope,
    Files,
    Acceptance,
    Verify,
    Status,
    Work,
    Other,
}

impl About {
    /// What `label` speaks of.
    pub(super) fn of(label: &str) -> Self {
        let label = label.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| label.contains(word));
        match () {
            () if has(&["depend", "blocked by", "의존", "종속", "선행"]) => Self::Dependencies,
            () if has(&[
                "acceptance",
                "done when",
                "수용",
                "인수",
                "승인",
                "완료 조건",
                "완료 기준",
                "완료조건",
            ]) =>
            {
                Self::Acceptance
            }
            () if has(&["verif", "검증"]) => Self::Verify,
            () if has(&["scope", "범위"]) => Self::Scope,
            () if has(&["file", "파일"]) => Self::Files,
            () if has(&["status", "상태"]) => Self::Status,
            () if has(&["goal", "objective", "overview", "목표", "개요"]) => Self::Goal,
            () if label == "work" || label == "작업" => Self::Work,
            () => Self::Other,
        }
    }
}

static TASK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bTASK-(\d+)").expect("the pattern is valid"));

/// `TASK-07` for `7` and `007`: two digits at least.
pub(super) fn canonical(number: &str) -> String {
    let digits = number.trim_start_matches('0');
    format!("TASK-{digits:0>2}")
}

/// The ids that a text lists.
pub(super) fn listed(text: &str) -> Vec<String> {
    TASK.captures_iter(text).map(|found| canonical(&found[1])).collect()
}

/// Whether a text says more than which ids it lists.
pub(super) fn says_more(text: &str) -> bool {
    TASK.replace_all(text, "").chars().any(char::is_alphabetic)
}

/// Accepts headings of columns that have one of `words` in them.
pub(super) fn is(words: &'static [&'static str]) -> impl Fn(&str) -> bool {
    move |heading| words.iter().any(|word| heading.contains(word))
}
