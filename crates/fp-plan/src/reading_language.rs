//! Determines the language for texts that people read: questions, reports, task titles, commit messages. Texts that
//! programs read stay as they are, so the rule mentions both.

/// The language to write in: the `configured` one, or else that of `words`, the user's own words, if their script
/// determines it. `None` if it doesn't, as with Latin letters; the reader of the words has to tell then.
pub fn choose_language(configured: Option<&str>, words: &str) -> Option<String> {
    configured
        .map(|name| name.trim().to_owned())
        .or_else(|| by_script(words).map(str::to_owned))
}

/// Guesses the language by script. Code and names use Latin letters in every language, so a fifth of the letters is
/// enough.
fn by_script(words: &str) -> Option<&'static str> {
    let letters = words.chars().filter(|c| c.is_alphabetic()).count();
    let count = |is: fn(char) -> bool| words.chars().filter(|c| is(*c)).count();
    let (hangul, kana, han) = (count(is_hangul), count(is_kana), count(is_han));
    let is_much = |of_it: usize| of_it > 0 && of_it * 5 >= letters;
    if is_much(hangul) {
        Some("Korean")
    } else if kana > 0 && is_much(kana + han) {
        Some("Japanese")
    } else {
        is_much(han).then_some("Chinese")
    }
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{2ffff}')
}

/// The language rule for the agent that leads the planning.
pub fn language_rule(language: &str) -> String {
    format!(
        "{language}: questions, reports, titles of tasks and their criteria. Ids, names of fields, commands and code \
         stay as they are. Say so in each agent's prompt."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_words() {
        let check = |configured: Option<&str>, words: &str, expect: Option<&str>| {
            assert_eq!(
                choose_language(configured, words).as_deref(),
                expect,
                "{configured:?} {words:?}"
            );
        };
        check(None, "", None);
        check(None, "Add a greeting command", None);
        check(None, "Añade un saludo", None);
        check(None, "Добавь приветствие", None);
        check(None, "인사 명령을 추가해 줘", Some("Korean"));
        check(None, "auth.rs의 토큰 만료를 고쳐 줘", Some("Korean"));
        check(None, "挨拶のコマンドを追加して", Some("Japanese"));
        check(None, "添加一个问候命令", Some("Chinese"));
        check(
            None,
            "Rename the label 한글 in settings.rs to its English name everywhere",
            None,
        );
        check(Some("German"), "인사 명령을 추가해 줘", Some("German"));
        check(Some(" 한국어 "), "Add", Some("한국어"));
    }
}
