//! Finds the comments of a text, by the family of its language.
//!
//! One pass over the bytes, without a grammar: a lexer only has to know what is a comment, what is a text in which
//! nothing is one, and what code stands in the holes of such texts. Most languages are a table that the engine reads,
//! with a rule of their own for the rest. Nothing recurses, so no input is too deep.

mod cursor;
mod engine;
mod javascript;
mod lines;
mod markup;
mod shell;
mod syntax;
#[cfg(test)]
mod tests;
mod yaml;

use self::cursor::Cursor;
use self::markup::Flavour;
use self::syntax::{Syntax, c_like, dashes, functional, hashes, perl, ruby, styles};
use super::{Comment, Kind, Language};

/// All comments of `text`, in order, a `#!` line among them.
///
/// Any text is read; where it is broken, a comment or text that isn't closed goes on to the end, or to the end of its
/// line in languages in which it can't go on.
#[must_use]
pub fn comments(language: Language, text: &str) -> Vec<Comment<'_>> {
    let mut cursor = Cursor::new(text);
    if cursor.sees("#!") && !cursor.sees("#![") {
        cursor.take_line(Kind::Line);
    }
    match language {
        Language::JavaScript | Language::Tsx => javascript::script(&mut cursor, true),
        Language::TypeScript => javascript::script(&mut cursor, false),
        Language::Html => markup::lex(&mut cursor, Flavour::Html),
        Language::Xml => markup::lex(&mut cursor, Flavour::Xml),
        Language::Vue => markup::component(&mut cursor, Flavour::Html),
        Language::Svelte => markup::component(&mut cursor, Flavour::Svelte),
        Language::Astro => markup::lex(&mut cursor, Flavour::Astro),
        Language::Php => markup::php(&mut cursor),
        Language::Shell => shell::lex(&mut cursor, false),
        Language::Fish => shell::lex(&mut cursor, true),
        Language::Yaml => yaml::lex(&mut cursor),
        Language::Ini => lines::settings(&mut cursor, b"#;", true),
        Language::Properties => lines::settings(&mut cursor, b"#!", false),
        Language::Env => lines::environment(&mut cursor),
        Language::Dockerfile => lines::dockerfile(&mut cursor),
        Language::Makefile => lines::makefile(&mut cursor),
        Language::Batch => lines::batch(&mut cursor),
        Language::Vim => lines::vim(&mut cursor),
        Language::Tex => lines::tex(&mut cursor),
        other => {
            if let Some(syntax) = table(other) {
                engine::lex(&mut cursor, syntax);
            }
        }
    }
    cursor.finish()
}

/// The table of a language that has one.
fn table(language: Language) -> Option<&'static Syntax> {
    Some(match language {
        Language::Rust => &c_like::RUST,
        Language::C => &c_like::C,
        Language::CSharp => &c_like::CSHARP,
        Language::Java => &c_like::JAVA,
        Language::Kotlin => &c_like::KOTLIN,
        Language::Scala => &c_like::SCALA,
        Language::Groovy => &c_like::GROOVY,
        Language::Swift => &c_like::SWIFT,
        Language::Go => &c_like::GO,
        Language::Dart => &c_like::DART,
        Language::Zig => &c_like::ZIG,
        Language::Protobuf => &c_like::PROTOBUF,
        Language::Jsonc => &c_like::JSONC,
        Language::Hcl => &c_like::HCL,
        Language::Css => &styles::CSS,
        Language::Scss => &styles::SCSS,
        Language::Python => &hashes::PYTHON,
        Language::Ruby => &ruby::RUBY,
        Language::Perl => &perl::PERL,
        Language::R => &hashes::R,
        Language::Elixir => &hashes::ELIXIR,
        Language::Julia => &hashes::JULIA,
        Language::Nim => &hashes::NIM,
        Language::Nix => &hashes::NIX,
        Language::PowerShell => &hashes::POWERSHELL,
        Language::CMake => &hashes::CMAKE,
        Language::Toml => &hashes::TOML,
        Language::GraphQl => &hashes::GRAPHQL,
        Language::Conf => &hashes::PLAIN,
        Language::Lua => &dashes::LUA,
        Language::Sql => &dashes::SQL,
        Language::Haskell => &functional::HASKELL,
        Language::OCaml => &functional::OCAML,
        Language::FSharp => &functional::FSHARP,
        Language::Erlang => &functional::ERLANG,
        Language::Clojure => &functional::CLOJURE,
        Language::Lisp => &functional::LISP,
        _ => return None,
    })
}
