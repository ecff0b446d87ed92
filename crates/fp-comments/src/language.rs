//! The languages: how a file's name and first line tell its language, and which lexer reads it.

use self::SourceLanguage::*;
use crate::lex::Lexer::{self, Own, Table};
use crate::lex::markup::{self, MarkupFlavour};
use crate::lex::{c_like, functional, hashes, javascript, lines, perl, ruby, shell};

/// A language, or several that write comments in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceLanguage {
    /// Astro components.
    Astro,
    /// Windows' batch files.
    Batch,
    /// C, C++ and Objective-C.
    C,
    /// C#.
    CSharp,
    /// Clojure.
    Clojure,
    /// CMake.
    CMake,
    /// Settings with `#` where a word can begin, such as those of nginx.
    Conf,
    /// CSS.
    Css,
    /// Dart.
    Dart,
    /// Dockerfiles.
    Dockerfile,
    /// Elixir.
    Elixir,
    /// `.env` files.
    Env,
    /// Erlang.
    Erlang,
    /// F#.
    FSharp,
    /// Fish scripts.
    Fish,
    /// Go.
    Go,
    /// GraphQL.
    GraphQl,
    /// Groovy.
    Groovy,
    /// Haskell.
    Haskell,
    /// HashiCorp's language, as Terraform uses it.
    Hcl,
    /// HTML.
    Html,
    /// INI files and their kin: `.gitconfig`, `.editorconfig`, `setup.cfg`.
    Ini,
    /// Java.
    Java,
    /// JavaScript, with or without JSX.
    JavaScript,
    /// JSON with comments, and JSON5.
    Jsonc,
    /// Julia.
    Julia,
    /// Kotlin.
    Kotlin,
    /// Common Lisp, Emacs Lisp, Scheme and Racket.
    Lisp,
    /// Lua.
    Lua,
    /// Makefiles.
    Makefile,
    /// Nim.
    Nim,
    /// Nix.
    Nix,
    /// OCaml.
    OCaml,
    /// Perl.
    Perl,
    /// PHP.
    Php,
    /// PowerShell.
    PowerShell,
    /// Java's properties and systemd's units, with comments on lines of their own.
    Properties,
    /// Protocol buffers.
    Protobuf,
    /// Python, Starlark and Cython.
    Python,
    /// R.
    R,
    /// Ruby.
    Ruby,
    /// Rust.
    Rust,
    /// Scala.
    Scala,
    /// SCSS, Sass and Less.
    Scss,
    /// Scripts for bash, zsh and their relatives.
    Shell,
    /// SQL.
    Sql,
    /// Svelte components.
    Svelte,
    /// Swift.
    Swift,
    /// TeX and LaTeX.
    Tex,
    /// TOML.
    Toml,
    /// TypeScript with JSX.
    Tsx,
    /// TypeScript.
    TypeScript,
    /// Vim scripts.
    Vim,
    /// Vue components.
    Vue,
    /// XML and its dialects: SVG, plist, csproj.
    Xml,
    /// YAML.
    Yaml,
    /// Zig.
    Zig,
}

/// Every language in the order of the enum: what its files are known by, and its lexer. `*.rs` is an extension, `#!sh`
/// the name of an interpreter without its version, and any other word the whole name of a file; all in lower case.
#[rustfmt::skip]
pub(crate) static LANGUAGES: [(SourceLanguage, &str, Lexer); Zig as usize + 1] = [
    (Astro, "*.astro", Own(|c| markup::lex(c, MarkupFlavour::Astro))),
    (Batch, "*.bat *.cmd", Own(lines::batch)),
    (C, "*.c *.h *.cc *.cpp *.cxx *.c++ *.hh *.hpp *.hxx *.h++ *.inl *.ipp *.tpp *.ixx *.cppm *.m *.mm *.ino *.cu \
        *.cuh *.glsl *.vert *.frag *.hlsl *.metal", Table(&c_like::C)),
    (CSharp, "*.cs *.csx *.cake", Table(&c_like::CSHARP)),
    (Clojure, "*.clj *.cljs *.cljc *.edn #!bb #!clojure", Table(&functional::CLOJURE)),
    (CMake, "*.cmake cmakelists.txt", Table(&hashes::CMAKE)),
    (Conf, "*.conf *.nginx justfile .justfile", Table(&hashes::PLAIN)),
    (Css, "*.css *.pcss *.postcss", Table(&markup::CSS)),
    (Dart, "*.dart", Table(&c_like::DART)),
    (Dockerfile, "*.dockerfile *.containerfile dockerfile containerfile", Own(lines::dockerfile)),
    (Elixir, "*.ex *.exs #!elixir", Table(&hashes::ELIXIR)),
    (Env, "*.env .env .envrc .flaskenv", Own(|c| lines::words(c, false))),
    (Erlang, "*.erl *.hrl *.escript #!escript", Table(&functional::ERLANG)),
    (FSharp, "*.fs *.fsi *.fsx", Table(&functional::FSHARP)),
    (Fish, "*.fish #!fish", Own(|c| shell::lex(c, true))),
    (Go, "*.go", Table(&c_like::GO)),
    (GraphQl, "*.graphql *.graphqls *.gql", Table(&hashes::GRAPHQL)),
    (Groovy, "*.groovy *.gradle *.gvy jenkinsfile #!groovy", Table(&c_like::GROOVY)),
    (Haskell, "*.hs *.hsc *.hs-boot *.purs *.elm #!runhaskell #!runghc #!stack", Table(&functional::HASKELL)),
    (Hcl, "*.tf *.tfvars *.hcl *.nomad", Table(&c_like::HCL)),
    (Html, "*.html *.htm", Own(|c| markup::lex(c, MarkupFlavour::Html))),
    (Ini, "*.ini *.cfg *.inf *.editorconfig *.gitconfig .gitconfig .editorconfig .npmrc .gitmodules .pylintrc \
        .flake8 .coveragerc setup.cfg", Own(|c| lines::settings(c, b"#;", true))),
    (Java, "*.java", Table(&c_like::JAVA)),
    (JavaScript, "*.js *.jsx *.mjs *.cjs *.es6 #!node #!nodejs", Own(|c| javascript::script(c, true))),
    (Jsonc, "*.jsonc *.json5 tsconfig.json jsconfig.json .eslintrc .eslintrc.json .babelrc .swcrc devcontainer.json \
        .jshintrc", Table(&c_like::JSONC)),
    (Julia, "*.jl #!julia", Table(&hashes::JULIA)),
    (Kotlin, "*.kt *.kts #!kotlin", Table(&c_like::KOTLIN)),
    (Lisp, "*.lisp *.lsp *.el *.scm *.ss *.rkt #!racket #!guile #!sbcl", Table(&functional::LISP)),
    (Lua, "*.lua *.luau *.rockspec #!lua #!luajit", Table(&hashes::LUA)),
    (Makefile, "*.mk *.mak *.make makefile gnumakefile bsdmakefile makefile.am makefile.in #!make",
        Own(|c| lines::words(c, true))),
    (Nim, "*.nim *.nims *.nimble", Table(&hashes::NIM)),
    (Nix, "*.nix #!nix", Table(&hashes::NIX)),
    (OCaml, "*.ml *.mli #!ocaml", Table(&functional::OCAML)),
    (Perl, "*.pl *.pm *.t *.psgi #!perl", Table(&perl::PERL)),
    (Php, "*.php *.phtml *.php3 *.php4 *.php5 *.php7 *.phps *.phpt #!php", Own(markup::php)),
    (PowerShell, "*.ps1 *.psm1 *.psd1 #!pwsh #!powershell", Table(&hashes::POWERSHELL)),
    (Properties, "*.properties *.service *.socket *.timer *.desktop", Own(|c| lines::settings(c, b"#!", false))),
    (Protobuf, "*.proto", Table(&c_like::PROTOBUF)),
    (Python, "*.py *.pyi *.pyw *.pyx *.pxd *.bzl *.star build build.bazel workspace workspace.bazel module.bazel \
        sconstruct sconscript tiltfile snakefile wscript #!python #!pypy", Table(&hashes::PYTHON)),
    (R, "*.r *.rprofile .rprofile #!rscript", Table(&hashes::R)),
    (Ruby, "*.rb *.rake *.gemspec *.ru *.podspec *.jbuilder *.rbi *.cr rakefile gemfile guardfile capfile \
        vagrantfile podfile brewfile fastfile appfile berksfile thorfile .irbrc .pryrc dangerfile #!ruby #!jruby",
        Table(&ruby::RUBY)),
    (Rust, "*.rs *.ron", Table(&c_like::RUST)),
    (Scala, "*.scala *.sc *.sbt #!scala", Table(&c_like::SCALA)),
    (Scss, "*.scss *.sass *.less", Table(&markup::SCSS)),
    (Shell, "*.sh *.bash *.zsh *.ksh *.bats *.bashrc *.zshrc *.profile *.ebuild .bashrc .bash_profile .bash_login \
        .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc apkbuild pkgbuild #!sh \
        #!bash #!zsh #!dash #!ksh #!ash #!mksh #!bats", Own(|c| shell::lex(c, false))),
    (Sql, "*.sql *.ddl *.dml *.psql *.pgsql *.mysql", Table(&hashes::SQL)),
    (Svelte, "*.svelte", Own(|c| markup::component(c, MarkupFlavour::Svelte))),
    (Swift, "*.swift #!swift", Table(&c_like::SWIFT)),
    (Tex, "*.tex *.sty *.ltx", Own(lines::tex)),
    (Toml, "*.toml pipfile", Table(&hashes::TOML)),
    (Tsx, "*.tsx", Own(|c| javascript::script(c, true))),
    (TypeScript, "*.ts *.mts *.cts #!deno #!bun #!tsx #!ts-node", Own(|c| javascript::script(c, false))),
    (Vim, "*.vim *.vimrc .vimrc .gvimrc .exrc", Own(lines::vim)),
    (Vue, "*.vue", Own(|c| markup::component(c, MarkupFlavour::Html))),
    (Xml, "*.xml *.xsd *.xsl *.xslt *.svg *.xhtml *.plist *.csproj *.fsproj *.vbproj *.vcxproj *.props *.targets \
        *.xaml *.axaml *.resx *.nuspec *.config *.rss *.atom *.wsdl *.storyboard *.xib",
        Own(|c| markup::lex(c, MarkupFlavour::Xml))),
    (Yaml, "*.yml *.yaml .clang-format .clang-tidy .clangd", Own(lines::yaml)),
    (Zig, "*.zig *.zon", Table(&c_like::ZIG)),
];

impl SourceLanguage {
    /// The language of the file at `path`, whose first line is `first_line`; `None` for what is no code or unknown.
    ///
    /// The name decides. The first line counts only if the name says nothing, and only as `#!`.
    #[must_use]
    pub fn of(path: &str, first_line: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
        let named = known_by(|word| word == name).or_else(|| variant(&name));
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let hidden = name.starts_with('.') && !name[1..].contains('.');
        named.or_else(|| with_extension(extension?)).or_else(|| {
            let unnamed = extension.is_none() || hidden;
            if unnamed { interpreted(first_line) } else { None }
        })
    }

    pub(crate) fn lexer(self) -> &'static Lexer {
        &LANGUAGES[self as usize].2
    }
}

/// The first language of the table with a word that fits.
fn known_by(fits: impl Fn(&str) -> bool) -> Option<SourceLanguage> {
    let (language, ..) = LANGUAGES.iter().find(|(_, words, _)| words.split(' ').any(&fits))?;
    Some(*language)
}

fn with_extension(extension: &str) -> Option<SourceLanguage> {
    known_by(|word| word.strip_prefix("*.") == Some(extension))
}

/// The language of a name that says more than its kind: `Dockerfile.dev`, `.env.local`, `tsconfig.build.json`.
fn variant(name: &str) -> Option<SourceLanguage> {
    let (head, tail) = name.split_once('.')?;
    match head {
        "dockerfile" | "containerfile" if tail != "md" => Some(Dockerfile),
        "makefile" | "jenkinsfile" if !tail.contains('.') && with_extension(tail).is_none() => {
            known_by(|word| word == head)
        }
        "" if tail.starts_with("env.") => Some(Env),
        "tsconfig" | "jsconfig" if tail.ends_with("json") => Some(Jsonc),
        _ => None,
    }
}

/// The language of the interpreter that a first line names.
fn interpreted(first_line: &str) -> Option<SourceLanguage> {
    let line = first_line.trim_start_matches('\u{feff}').strip_prefix("#!")?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_ascii_lowercase();
    known_by(|word| word.strip_prefix("#!") == Some(&program))
}
