//! Finds the comments of a text in any common language. A file's name and first line determine its language.
//!
//! The text is read in one pass, without a grammar: a lexer only has to know the comments, the literals that can hide
//! comment marks, and the code embedded in such literals. Most languages are a table for a shared engine, plus a
//! language-specific rule for anything that the table can't express. Nothing recurses, so deep nesting can't overflow
//! the stack.

mod c_like;
mod cursor;
mod engine;
mod hashes;
mod javascript;
mod lines;
mod markup;
mod ruby;
mod shell;
#[cfg(test)]
mod tests;

use self::SourceLexer::{Own, Table};
use self::cursor::CommentCursor;
use self::engine::{Syntax, lex_code};
use self::markup::{MarkupFlavour, lex_component, lex_markup, lex_php};
use crate::{CommentKind, SourceComment};

/// A language, or several that write comments in the same way.
pub struct SourceLanguage {
    /// Its name.
    pub name: &'static str,
    /// The names of its files, in lower case. `*.rs` stands for an extension, `#!sh` for an interpreter without its
    /// version, and any other word for a whole file name.
    files: &'static str,
    lexer: SourceLexer,
}

/// How to find the comments of a language.
enum SourceLexer {
    /// By the engine, from a table.
    Table(&'static Syntax),
    /// By language-specific code.
    Own(fn(&mut CommentCursor<'_>)),
}

/// All comments of `text` in order, including a `#!` line.
///
/// Never fails. An unclosed comment or literal extends to the end, or to the end of its line if the language
/// says so.
#[must_use]
pub fn comments_in<'t>(language: &SourceLanguage, text: &'t str) -> Vec<SourceComment<'t>> {
    let mut cursor = CommentCursor::at_start_of(text);
    if cursor.sees("#!") && !cursor.sees("#![") {
        cursor.take_line(CommentKind::Line);
    }
    match language.lexer {
        Table(syntax) => lex_code(&mut cursor, syntax),
        Own(lex) => lex(&mut cursor),
    }
    cursor.into_comments()
}

const fn language(name: &'static str, files: &'static str, lexer: SourceLexer) -> SourceLanguage {
    SourceLanguage { name, files, lexer }
}

/// Every language; the first one that matches a name wins.
#[rustfmt::skip]
pub(crate) static LANGUAGES: &[SourceLanguage] = &[
    language("Astro", "*.astro", Own(|c| lex_markup(c, MarkupFlavour::Astro))),
    language("C", "*.c *.h *.cc *.cpp *.cxx *.c++ *.hh *.hpp *.hxx *.h++ *.inl *.ipp *.tpp *.ixx *.cppm *.m *.mm *.ino *.cu \
        *.cuh *.glsl *.vert *.frag *.hlsl *.metal", Table(&c_like::C)),
    language("CSharp", "*.cs *.csx *.cake", Table(&c_like::CSHARP)),
    language("CMake", "*.cmake cmakelists.txt", Table(&hashes::CMAKE)),
    language("Conf", "*.conf *.nginx justfile .justfile", Table(&hashes::CONF)),
    language("Css", "*.css *.pcss *.postcss", Table(&markup::CSS)),
    language("Dart", "*.dart", Table(&c_like::DART)),
    language("Dockerfile", "*.dockerfile *.containerfile dockerfile containerfile", Table(&lines::DOCKERFILE)),
    language("Elixir", "*.ex *.exs #!elixir", Table(&hashes::ELIXIR)),
    language("Env", "*.env .env .envrc .flaskenv", Table(&hashes::ENV)),
    language("Fish", "*.fish #!fish", Table(&shell::FISH)),
    language("Go", "*.go", Table(&c_like::GO)),
    language("GraphQl", "*.graphql *.graphqls *.gql", Table(&hashes::GRAPHQL)),
    language("Groovy", "*.groovy *.gradle *.gvy jenkinsfile #!groovy", Table(&c_like::GROOVY)),
    language("Hcl", "*.tf *.tfvars *.hcl *.nomad", Table(&c_like::HCL)),
    language("Html", "*.html *.htm", Own(|c| lex_markup(c, MarkupFlavour::Html))),
    language("Ini", "*.ini *.cfg *.inf *.editorconfig *.gitconfig .gitconfig .editorconfig .npmrc .gitmodules .pylintrc \
        .flake8 .coveragerc setup.cfg", Table(&hashes::INI)),
    language("Java", "*.java", Table(&c_like::JAVA)),
    language("JavaScript", "*.js *.jsx *.mjs *.cjs *.es6 #!node #!nodejs", Table(&javascript::JAVASCRIPT)),
    language("Jsonc", "*.jsonc *.json5 tsconfig.json jsconfig.json .eslintrc .eslintrc.json .babelrc .swcrc devcontainer.json \
        .jshintrc", Table(&c_like::JSONC)),
    language("Julia", "*.jl #!julia", Table(&hashes::JULIA)),
    language("Kotlin", "*.kt *.kts #!kotlin", Table(&c_like::KOTLIN)),
    language("Lua", "*.lua *.luau *.rockspec #!lua #!luajit", Table(&hashes::LUA)),
    language("Makefile", "*.mk *.mak *.make makefile gnumakefile bsdmakefile makefile.am makefile.in #!make",
        Table(&hashes::MAKEFILE)),
    language("Nim", "*.nim *.nims *.nimble", Table(&hashes::NIM)),
    language("Nix", "*.nix #!nix", Table(&hashes::NIX)),
    language("Php", "*.php *.phtml *.php3 *.php4 *.php5 *.php7 *.phps *.phpt #!php", Own(lex_php)),
    language("PowerShell", "*.ps1 *.psm1 *.psd1 #!pwsh #!powershell", Table(&hashes::POWERSHELL)),
    language("Properties", "*.properties *.service *.socket *.timer *.desktop", Table(&hashes::PROPERTIES)),
    language("Protobuf", "*.proto", Table(&c_like::PROTOBUF)),
    language("Python", "*.py *.pyi *.pyw *.pyx *.pxd *.bzl *.star build build.bazel workspace workspace.bazel module.bazel \
        sconstruct sconscript tiltfile snakefile wscript #!python #!pypy", Table(&hashes::PYTHON)),
    language("R", "*.r *.rprofile .rprofile #!rscript", Table(&hashes::R)),
    language("Ruby", "*.rb *.rake *.gemspec *.ru *.podspec *.jbuilder *.rbi *.cr rakefile gemfile guardfile capfile \
        vagrantfile podfile brewfile fastfile appfile berksfile thorfile .irbrc .pryrc dangerfile #!ruby #!jruby",
        Table(&ruby::RUBY)),
    language("Rust", "*.rs *.ron", Table(&c_like::RUST)),
    language("Scala", "*.scala *.sc *.sbt #!scala", Table(&c_like::SCALA)),
    language("Scss", "*.scss *.sass *.less", Table(&markup::SCSS)),
    language("Shell", "*.sh *.bash *.zsh *.ksh *.bats *.bashrc *.zshrc *.profile *.ebuild .bashrc .bash_profile .bash_login \
        .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc apkbuild pkgbuild #!sh \
        #!bash #!zsh #!dash #!ksh #!ash #!mksh #!bats", Table(&shell::SHELL)),
    language("Sql", "*.sql *.ddl *.dml *.psql *.pgsql *.mysql", Table(&hashes::SQL)),
    language("Svelte", "*.svelte", Own(|c| lex_component(c, MarkupFlavour::Svelte))),
    language("Swift", "*.swift #!swift", Table(&c_like::SWIFT)),
    language("Toml", "*.toml pipfile", Table(&hashes::TOML)),
    language("Tsx", "*.tsx", Table(&javascript::JAVASCRIPT)),
    language("TypeScript", "*.ts *.mts *.cts #!deno #!bun #!tsx #!ts-node", Table(&javascript::TYPESCRIPT)),
    language("Vue", "*.vue", Own(|c| lex_component(c, MarkupFlavour::Html))),
    language("Xml", "*.xml *.xsd *.xsl *.xslt *.svg *.xhtml *.plist *.csproj *.fsproj *.vbproj *.vcxproj *.props *.targets \
        *.xaml *.axaml *.resx *.nuspec *.config *.rss *.atom *.wsdl *.storyboard *.xib",
        Own(|c| lex_markup(c, MarkupFlavour::Xml))),
    language("Yaml", "*.yml *.yaml .clang-format .clang-tidy .clangd", Own(lines::lex_yaml)),
    language("Zig", "*.zig *.zon", Table(&c_like::ZIG)),
];

impl SourceLanguage {
    /// The language of the file at `path`, whose first line is `first_line`; `None` if it isn't code or is unknown.
    ///
    /// The name decides. The first line counts only if the name has no extension, and only if the line begins with
    /// `#!`.
    #[must_use]
    pub fn for_file(path: &str, first_line: &str) -> Option<&'static Self> {
        let name = path.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
        let named = known_by(|word| word == name).or_else(|| variant(&name));
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let hidden = name.starts_with('.') && !name[1..].contains('.');
        named.or_else(|| with_extension(extension?)).or_else(|| {
            let unnamed = extension.is_none() || hidden;
            unnamed.then(|| interpreted(first_line)).flatten()
        })
    }
}

/// The first language in the table with an entry in `files` that `fits` accepts.
fn known_by(fits: impl Fn(&str) -> bool) -> Option<&'static SourceLanguage> {
    LANGUAGES
        .iter()
        .find(|language| language.files.split(' ').any(&fits))
}

fn with_extension(extension: &str) -> Option<&'static SourceLanguage> {
    known_by(|word| word.strip_prefix("*.") == Some(extension))
}

/// The language of a file name with an extra part: `Dockerfile.dev`, `.env.local`, `tsconfig.build.json`.
fn variant(name: &str) -> Option<&'static SourceLanguage> {
    let (head, tail) = name.split_once('.')?;
    match head {
        "dockerfile" | "containerfile" if tail != "md" => known_by(|word| word == "dockerfile"),
        "makefile" | "jenkinsfile" if !tail.contains('.') && with_extension(tail).is_none() => {
            known_by(|word| word == head)
        }
        "" if tail.starts_with("env.") => known_by(|word| word == ".env"),
        "tsconfig" | "jsconfig" if tail.ends_with("json") => {
            known_by(|word| word == "tsconfig.json")
        }
        _ => None,
    }
}

/// The language of the interpreter that the first line names.
fn interpreted(first_line: &str) -> Option<&'static SourceLanguage> {
    let line = first_line
        .trim_start_matches('\u{feff}')
        .strip_prefix("#!")?;
    let mut words = line
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    let program =
        words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    let program = program
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
        .to_ascii_lowercase();
    known_by(|word| word.strip_prefix("#!") == Some(&program))
}
