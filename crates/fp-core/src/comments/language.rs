//! Which language a file is written in, by its name and its first line.

/// A language, or several whose comments are found in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
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
    /// Settings with `#` where a word can begin, as nginx and many others have them.
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
    /// Terraform's and other HashiCorp tools' language.
    Hcl,
    /// HTML.
    Html,
    /// INI files and the like.
    Ini,
    /// Java.
    Java,
    /// JavaScript, with elements in it or without.
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
    /// Java's properties, and other settings with comments in lines of their own.
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
    /// Scripts for bash, zsh and other shells of that family.
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
    /// TypeScript with elements in it.
    Tsx,
    /// TypeScript.
    TypeScript,
    /// Vim scripts.
    Vim,
    /// Vue components.
    Vue,
    /// XML and what is made of it.
    Xml,
    /// YAML.
    Yaml,
    /// Zig.
    Zig,
}

/// The extensions of each language, in lower case.
const EXTENSIONS: &[(Language, &str)] = &[
    (Language::Astro, "astro"),
    (Language::Batch, "bat cmd"),
    (
        Language::C,
        "c h cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp ixx cppm m mm ino cu cuh glsl vert frag hlsl metal",
    ),
    (Language::CSharp, "cs csx cake"),
    (Language::Clojure, "clj cljs cljc edn"),
    (Language::CMake, "cmake"),
    (Language::Conf, "conf nginx"),
    (Language::Css, "css pcss postcss"),
    (Language::Dart, "dart"),
    (Language::Dockerfile, "dockerfile containerfile"),
    (Language::Elixir, "ex exs"),
    (Language::Env, "env"),
    (Language::Erlang, "erl hrl escript"),
    (Language::FSharp, "fs fsi fsx"),
    (Language::Fish, "fish"),
    (Language::Go, "go"),
    (Language::GraphQl, "graphql graphqls gql"),
    (Language::Groovy, "groovy gradle gvy"),
    (Language::Haskell, "hs hsc hs-boot purs elm"),
    (Language::Hcl, "tf tfvars hcl nomad"),
    (Language::Html, "html htm"),
    (Language::Ini, "ini cfg inf editorconfig gitconfig"),
    (Language::Java, "java"),
    (Language::JavaScript, "js jsx mjs cjs es6"),
    (Language::Jsonc, "jsonc json5"),
    (Language::Julia, "jl"),
    (Language::Kotlin, "kt kts"),
    (Language::Lisp, "lisp lsp el scm ss rkt"),
    (Language::Lua, "lua luau rockspec"),
    (Language::Makefile, "mk mak make"),
    (Language::Nim, "nim nims nimble"),
    (Language::Nix, "nix"),
    (Language::OCaml, "ml mli"),
    (Language::Perl, "pl pm t psgi"),
    (Language::Php, "php phtml php3 php4 php5 php7 phps phpt"),
    (Language::PowerShell, "ps1 psm1 psd1"),
    (Language::Properties, "properties service socket timer desktop"),
    (Language::Protobuf, "proto"),
    (Language::Python, "py pyi pyw pyx pxd bzl star"),
    (Language::R, "r rprofile"),
    (Language::Ruby, "rb rake gemspec ru podspec jbuilder rbi cr"),
    (Language::Rust, "rs ron"),
    (Language::Scala, "scala sc sbt"),
    (Language::Scss, "scss sass less"),
    (Language::Shell, "sh bash zsh ksh bats bashrc zshrc profile ebuild"),
    (Language::Sql, "sql ddl dml psql pgsql mysql"),
    (Language::Svelte, "svelte"),
    (Language::Swift, "swift"),
    (Language::Tex, "tex sty ltx"),
    (Language::Toml, "toml"),
    (Language::Tsx, "tsx"),
    (Language::TypeScript, "ts mts cts"),
    (Language::Vim, "vim vimrc"),
    (Language::Vue, "vue"),
    (
        Language::Xml,
        "xml xsd xsl xslt svg xhtml plist csproj fsproj vbproj vcxproj props targets xaml axaml resx nuspec config rss atom wsdl storyboard xib",
    ),
    (Language::Yaml, "yml yaml"),
    (Language::Zig, "zig zon"),
];

/// Files known by their whole name, in lower case.
const NAMES: &[(Language, &str)] = &[
    (Language::CMake, "cmakelists.txt"),
    (Language::Conf, "justfile .justfile"),
    (Language::Dockerfile, "dockerfile containerfile"),
    (Language::Env, ".env .envrc .flaskenv"),
    (Language::Groovy, "jenkinsfile"),
    (Language::Ini, ".gitconfig .editorconfig .npmrc .gitmodules .pylintrc .flake8 .coveragerc setup.cfg"),
    (
        Language::Jsonc,
        "tsconfig.json jsconfig.json .eslintrc .eslintrc.json .babelrc .swcrc devcontainer.json .jshintrc",
    ),
    (Language::Makefile, "makefile gnumakefile bsdmakefile makefile.am makefile.in"),
    (
        Language::Python,
        "build build.bazel workspace workspace.bazel module.bazel sconstruct sconscript tiltfile snakefile wscript",
    ),
    (Language::R, ".rprofile"),
    (
        Language::Ruby,
        "rakefile gemfile guardfile capfile vagrantfile podfile brewfile fastfile appfile berksfile thorfile .irbrc .pryrc dangerfile",
    ),
    (
        Language::Shell,
        ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc apkbuild pkgbuild",
    ),
    (Language::Toml, "pipfile"),
    (Language::Vim, ".vimrc .gvimrc .exrc"),
    (Language::Yaml, ".clang-format .clang-tidy .clangd"),
];

/// What the name of an interpreter begins with, the longer names first.
const INTERPRETERS: &[(Language, &str)] = &[
    (Language::Python, "python pypy"),
    (Language::JavaScript, "node nodejs"),
    (Language::TypeScript, "deno bun tsx ts-node"),
    (Language::Ruby, "ruby jruby"),
    (Language::Perl, "perl"),
    (Language::Php, "php"),
    (Language::Lua, "lua luajit"),
    (Language::R, "rscript"),
    (Language::Julia, "julia"),
    (Language::Elixir, "elixir"),
    (Language::Erlang, "escript"),
    (Language::Groovy, "groovy"),
    (Language::Kotlin, "kotlin"),
    (Language::Scala, "scala"),
    (Language::Swift, "swift"),
    (Language::Haskell, "runhaskell runghc stack"),
    (Language::OCaml, "ocaml"),
    (Language::Clojure, "bb clojure"),
    (Language::Lisp, "racket guile sbcl"),
    (Language::PowerShell, "pwsh powershell"),
    (Language::Makefile, "make"),
    (Language::Fish, "fish"),
    (Language::Nix, "nix"),
    (Language::Shell, "sh bash zsh dash ksh ash mksh bats"),
];

impl Language {
    /// The language of the file at `path`, whose first line is `first_line`; `None` for what is no code or unknown.
    ///
    /// The name decides; the first line counts if the name says nothing, and only as `#!`.
    #[must_use]
    pub fn of(path: &str, first_line: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
        let named = find(NAMES, &name).or_else(|| variant(&name));
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let hidden = name.starts_with('.') && !name[1..].contains('.');
        named.or_else(|| find(EXTENSIONS, extension?)).or_else(|| {
            let unnamed = extension.is_none() || hidden;
            if unnamed { interpreted(first_line) } else { None }
        })
    }
}

/// The language beside which `word` stands in a table.
fn find(table: &[(Language, &str)], word: &str) -> Option<Language> {
    let (language, _) = table.iter().find(|(_, words)| words.split(' ').any(|other| other == word))?;
    Some(*language)
}

/// The language of a name that says more than its kind: `Dockerfile.dev`, `.env.local`, `tsconfig.build.json`.
fn variant(name: &str) -> Option<Language> {
    let (head, tail) = name.split_once('.')?;
    match head {
        "dockerfile" | "containerfile" if tail != "md" => Some(Language::Dockerfile),
        "makefile" | "jenkinsfile" if !tail.contains('.') && find(EXTENSIONS, tail).is_none() => {
            find(NAMES, head)
        }
        "" if tail.starts_with("env.") => Some(Language::Env),
        "tsconfig" | "jsconfig" if tail.ends_with("json") => Some(Language::Jsonc),
        _ => None,
    }
}

/// The language of the interpreter that a first line names.
fn interpreted(first_line: &str) -> Option<Language> {
    let line = first_line.trim_start_matches('\u{feff}').strip_prefix("#!")?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_ascii_lowercase();
    find(INTERPRETERS, &program)
}
