//! Patterns of directives, as the tables write them. `*` stands for anything, also nothing; `&` for one word, which
//! is not empty; a backslash takes its meaning from the sign behind it. A pattern without a capital fits either case, one with a capital its own only.

/// Whether `pattern` fits the whole of `text`.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let exact = pattern.bytes().any(|b| b.is_ascii_uppercase());
    fits_bytes(pattern.as_bytes(), text.as_bytes(), exact)
}

/// The byte that a text has to begin with, in lower case; `None` where any will do.
pub(super) fn first_byte(pattern: &str) -> Option<u8> {
    pattern.bytes().next().filter(|b| !matches!(b, b'*' | b'&')).map(|b| b.to_ascii_lowercase())
}

/// Goes back to the last star only, so that a text costs at most its length times that of the pattern.
fn fits_bytes(pattern: &[u8], text: &[u8], exact: bool) -> bool {
    let same = |p: u8, t: u8| if exact { p == t } else { p == t.to_ascii_lowercase() };
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    loop {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some(b'&') => {
                let word = text[t..].iter().take_while(|b| !b.is_ascii_whitespace()).count();
                let ending = pattern.get(p + 1).copied().filter(|b| !matches!(b, b' ' | b'*' | b'&'));
                // A word ends where the sign behind it begins.
                let end = match ending {
                    Some(sign) => text[t..t + word].iter().rposition(|b| same(sign, *b)).unwrap_or(0),
                    None => word,
                };
                if end > 0 {
                    p += 1;
                    t += end;
                    continue;
                }
            }
            Some(b'\\') if pattern.get(p + 1).is_some_and(|sign| text.get(t) == Some(sign)) => {
                p += 2;
                t += 1;
                continue;
            }
            Some(&sign) if text.get(t).is_some_and(|&b| same(sign, b)) => {
                p += 1;
                t += 1;
                continue;
            }
            None if t == text.len() => return true,
            _ => {}
        }
        let Some((at, from)) = star else { return false };
        if from >= text.len() {
            return false;
        }
        star = Some((at, from + 1));
        (p, t) = (at + 1, from + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits() {
        let check = |pattern: &str, yes: &[&str], no: &[&str]| {
            yes.iter().for_each(|text| assert!(fits(pattern, text), "{pattern} {text}"));
            no.iter().for_each(|text| assert!(!fits(pattern, text), "{pattern} {text}"));
        };
        check("noqa", &["noqa", "NOQA"], &["noqa is off", "no"]);
        check("noqa:*", &["noqa: E501", "noqa:"], &["noqa"]);
        check("MARK:*", &["MARK: - Views"], &["mark: it"]);
        check("*NOSONAR*", &["x NOSONAR y", "NOSONAR"], &["nosonar"]);
        check("ignore: &", &["ignore: unused"], &["ignore: this is bad", "ignore: "]);
        check("name: & :&", &["name: Get :one"], &["name: of the user"]);
        check("eslint &: *", &["eslint no-x: \"error\""], &["eslint is configured elsewhere"]);
        check("a*b*c", &["abc", "a--b-b--c"], &["ab", "a-c-b"]);
        check("/\\*!*", &["/*! x */"], &["// x!"]);
        check("*", &["", "x"], &[]);
        check("", &[""], &["x"]);
        check("V&", &["V501"], &["V", "V 5"]);
    }

    #[test]
    fn hostile_texts_are_quick() {
        let text = "a".repeat(100_000);
        assert!(!fits("*aaab", &text));
    }
}
