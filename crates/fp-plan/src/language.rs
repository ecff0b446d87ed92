//! Maps file extensions to languages, for every part of the program that treats languages differently.

/// A language, or a family of languages whose files import each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Rust,
    /// JavaScript and TypeScript, also inside Vue and Svelte components.
    JavaScript,
    Python,
    Go,
    /// Java, Kotlin, Scala and Groovy.
    Jvm,
    /// C, C++ and Objective-C.
    C,
    Ruby,
    Php,
    /// C# and F#.
    CSharp,
    Swift,
    Shell,
    /// Scripts whose extension marks them as tests.
    TestScript,
}

/// The extensions of each language, in lower case.
const EXTENSIONS: [(Language, &str); 12] = [
    (Language::Rust, "rs"),
    (
        Language::JavaScript,
        "js jsx mjs cjs ts tsx mts cts vue svelte",
    ),
    (Language::Python, "py pyi"),
    (Language::Go, "go"),
    (Language::Jvm, "java kt kts scala groovy"),
    (Language::C, "c cc cpp cxx h hh hpp hxx m mm"),
    (Language::Ruby, "rb"),
    (Language::Php, "php phpt"),
    (Language::CSharp, "cs fs"),
    (Language::Swift, "swift"),
    (Language::Shell, "sh bash zsh"),
    (Language::TestScript, "bats t"),
];

impl Language {
    /// Finds the language of the file `path` by its extension, in any case.
    pub fn from_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        let is_known = |extensions: &str| extensions.split(' ').any(|known| known == extension);
        let mut languages = EXTENSIONS.iter();
        let found = languages.find(|(_, extensions)| is_known(extensions));
        found.map(|(language, _)| *language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_by_the_extension() {
        let check = |path: &str, expect| assert_eq!(Language::from_path(path), expect, "{path}");
        check("src/a.rs", Some(Language::Rust));
        check("a.TSX", Some(Language::JavaScript));
        check("a.d.ts", Some(Language::JavaScript));
        check("include/a.h", Some(Language::C));
        check("rs", None);
        check("src.rs/README", None);
        check(".rs", Some(Language::Rust));
        check("", None);
    }
}
