//! Collects what is known about a goal before planning: the mode and steps that suit it, the interview's findings, and
//! the gaps.

pub mod answers;
pub mod clearance;
pub mod mode;
pub mod record;

pub use answers::Answers;
pub use clearance::Clearance;
pub use mode::{Mode, PlanningStep};
pub use record::Interview;

const MAX_WORDS: usize = 6;
const MAX_BYTES: usize = 40;

/// Forms a plan id from the first words of `goal`: lower-case ASCII joined by `-`, at most 6 words and 40 bytes.
/// Accents and articles are dropped. `plan` if no word is left.
pub fn slug(goal: &str) -> String {
    // A goal may be a whole document; its start is enough for an id.
    let mut plain = String::new();
    goal.chars()
        .take(2_000)
        .for_each(|c| push_plain(&mut plain, c));
    let words = plain
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !["a", "an", "the"].contains(word));
    let mut slug = String::new();
    for word in words.take(MAX_WORDS) {
        if slug.is_empty() {
            slug.push_str(&word[..word.len().min(MAX_BYTES)]);
        } else if slug.len() + 1 + word.len() <= MAX_BYTES {
            slug.push('-');
            slug.push_str(word);
        } else {
            break;
        }
    }
    if slug.is_empty() { "plan".into() } else { slug }
}

/// Accented letters of European languages, and the plain letters that replace them.
const ACCENTED: &str = "àáâãäåāăąçćčðďđèéêëēęěìíîïīįıłľñńňòóôõöøōőřśšşťþùúûüūůűýÿźżž";
const PLAIN: &str = "aaaaaaaaacccdddeeeeeeeiiiiiiillnnnoooooooorsssttuuuuuuuyyzzz";

/// Appends `c` in lower case, without its accent. Apostrophes vanish, which keeps "don't" one word.
fn push_plain(text: &mut String, c: char) {
    let lower = c.to_lowercase().next().unwrap_or(c);
    let plain = ACCENTED.chars().position(|accented| accented == lower);
    match lower {
        'æ' => text.push_str("ae"),
        'œ' => text.push_str("oe"),
        'ß' => text.push_str("ss"),
        '\'' | '’' => {}
        _ => text.push_str(plain.map_or(lower.encode_utf8(&mut [0; 4]), |at| &PLAIN[at..=at])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_plan::plan::id::PlanId;

    #[test]
    fn a_slug_says_what_the_goal_is_about() {
        let check = |goal: &str, expect: &str| {
            let slug = slug(goal);
            assert_eq!(slug, expect, "{goal:?}");
            assert!(
                PlanId::new(format!("{slug}-20261121-999")).is_ok(),
                "{slug:?} makes no id"
            );
        };
        check("Add JWT auth", "add-jwt-auth");
        check("add a greeting command", "add-greeting-command");
        check(
            "  Fix: \"login\" & don't (crash)\n\nmore",
            "fix-login-dont-crash-more",
        );
        check(
            "one two three four five six seven",
            "one-two-three-four-five-six",
        );
        check(
            "implement internationalization infrastructure",
            "implement-internationalization",
        );
        check(&"x".repeat(100_000), &"x".repeat(40));
        check("로그인 화면을 추가해 줘", "plan");
        check("JWT 인증을 추가", "jwt");
        check("Añadir función de búsqueda", "anadir-funcion-de-busqueda");
        check("Straße überprüfen", "strasse-uberprufen");
        check("../../etc/passwd", "etc-passwd");
        check("--weird", "weird");
        check("a", "plan");
        check("🎉", "plan");
        check("", "plan");
    }
    proptest::proptest! {
        #[test]
        fn a_slug_of_anything_begins_an_id(goal in r"\PC{0,80}|[a-zé' \n-]{0,120}") {
            let slug = slug(&goal);
            proptest::prop_assert!(slug.len() <= MAX_BYTES && !slug.ends_with('-'), "{:?}", slug);
            proptest::prop_assert!(PlanId::new(slug).is_ok());
        }
    }
}
