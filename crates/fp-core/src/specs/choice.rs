//! The keys of the frontmatter that have a few values.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};

/// One of a few words, in any case.
pub trait Choice: Copy + 'static {
    /// All of them, each with the word that it is written as.
    const ALL: &'static [(Self, &'static str)];
}

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$of])* $variant),* }

        impl Choice for $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $word)),*];
        }

        impl $name {
            /// The word that it is written as.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(OneOf(PhantomData))
            }
        }
    };
}

choice! {
    /// Whose a spec is.
    Dimension {
        /// The project's.
        #[default]
        Specs = "specs",
        /// A person's own.
        Personal = "personal",
    }
}

choice! {
    /// The stage of the work that a spec is for.
    Category {
        /// All of them.
        #[default]
        General = "general",
        /// Finding out what there is.
        Exploration = "exploration",
        /// Breaking the goal down.
        Planning = "planning",
        /// Doing the tasks.
        Execution = "execution",
    }
}

choice! {
    /// Whether a spec has to be read.
    ReadMode {
        /// By everybody in its stage.
        Required = "required",
        /// Where it fits what the work is about.
        #[default]
        Optional = "optional",
    }
}

choice! {
    /// How important a spec is; the first is the most important.
    Priority {
        /// Before all others.
        Critical = "critical",
        /// Before most.
        High = "high",
        /// As most are.
        #[default]
        Medium = "medium",
        /// The first to be left out.
        Low = "low",
    }
}

/// What stands between an error and the word that was probably meant.
pub(super) const MEANT: &str = "; did you mean ";

/// Reads a [`Choice`]. The error is raised in here, where the parser knows the place of the value.
struct OneOf<C>(PhantomData<C>);

impl<C: Choice> Visitor<'_> for OneOf<C> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<C, E> {
        let found = C::ALL.iter().find(|(_, word)| word.eq_ignore_ascii_case(text.trim()));
        found.map(|(choice, _)| *choice).ok_or_else(|| {
            let words: Vec<String> = C::ALL.iter().map(|(_, word)| format!("`{word}`")).collect();
            let meant = closest::<C>(text).map(|word| format!("{MEANT}`{word}`?")).unwrap_or_default();
            let shown: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
            E::custom(format!("`{shown}` is none of {}{meant}", words.join(", ")))
        })
    }
}

/// The word that is nearly `text`.
fn closest<C: Choice>(text: &str) -> Option<&'static str> {
    let text: String = text.to_lowercase().chars().take(40).collect();
    let like = |word: &str| strsim::jaro_winkler(word, &text);
    let best = C::ALL.iter().map(|(_, word)| *word).max_by(|a, b| like(a).total_cmp(&like(b)))?;
    (like(best) > 0.8).then_some(best)
}
