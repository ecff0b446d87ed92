//! Limits what a command of a plan may write; it may read everything. The system enforces that where it has Landlock.

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::LazyLock;

use regex::Regex;

use crate::platform::{self, HOME, SHARED_TEMPORARY, UserFolder, can_confine, find_program};

/// The caches that package managers and build tools keep outside of a project. Each line has the program, its variable
/// for the folder or `-`, the folder's usual place below [`HOME`], and what may be written in it, or else all of it. A
/// name that ends with `/` is a folder's. What git's hooks or the user's shell run, or read settings from, isn't here.
const CACHES: &str = "\
cargo CARGO_HOME .cargo registry/ git/ .package-cache .package-cache-mutate .global-cache
npm npm_config_cache .npm _cacache/ _logs/
yarn YARN_CACHE_FOLDER .cache/yarn
yarn YARN_GLOBAL_FOLDER .yarn/berry cache/ metadata/ index/
pnpm - .local/share/pnpm store/
pnpm - .cache/pnpm
npm - .cache/node-gyp
cypress CYPRESS_CACHE_FOLDER .cache/Cypress
bun BUN_INSTALL_CACHE_DIR .bun/install/cache
deno DENO_DIR .cache/deno
playwright PLAYWRIGHT_BROWSERS_PATH .cache/ms-playwright
pip PIP_CACHE_DIR .cache/pip
uv UV_CACHE_DIR .cache/uv
poetry POETRY_CACHE_DIR .cache/pypoetry
- MPLCONFIGDIR .cache/matplotlib
go GOCACHE .cache/go-build
go GOMODCACHE go/pkg/mod
go GOPATH go pkg/
golangci-lint GOLANGCI_LINT_CACHE .cache/golangci-lint
gradle GRADLE_USER_HOME .gradle caches/ daemon/ native/ wrapper/ workers/ notifications/ .tmp/
mvn - .m2/repository
mvn - .m2/wrapper
sbt COURSIER_CACHE .cache/coursier
sbt - .ivy2/cache
dotnet NUGET_PACKAGES .nuget/packages
composer COMPOSER_CACHE_DIR .cache/composer
bundle - .bundle/cache
dart PUB_CACHE .pub-cache hosted/ git/
mix HEX_HOME .hex
rebar3 - .cache/rebar3
cabal - .cabal/packages
zig ZIG_GLOBAL_CACHE_DIR .cache/zig
bazel - .cache/bazel
ccache CCACHE_DIR .cache/ccache
sccache SCCACHE_DIR .cache/sccache";

/// Files and folders that a command may write beside its own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    pub(crate) writes: Vec<PathBuf>,
    /// Folders below which it may make folders. It may not remove them: who may do both may also rename.
    pub(crate) locks: Vec<PathBuf>,
    /// False if it may open no TCP connection, and no port.
    pub(crate) network: bool,
    /// Folders that no rule should open.
    closed: Vec<PathBuf>,
}

/// Words of programs to which the system refuses a file.
static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)permission denied|operation not permitted|read-only file system|\b(?:EACCES|EPERM|EROFS)\b",
    )
    .expect("it is valid")
});
/// An absolute path in a message.
static PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?:^|[\s'"`(=])(/[^\s'"`,;:()]+)"#).expect("it is valid"));

impl Confinement {
    /// The confinement of commands in this environment, which may also write to `more`. Temporary folders that hold one
    /// of the folders in `closed` stay closed; a folder of each command's own takes their place. `None` where the system
    /// can't confine a command.
    pub fn new(
        env: impl Fn(&str) -> Option<PathBuf>,
        more: impl IntoIterator<Item = PathBuf>,
        network: bool,
        closed: &[PathBuf],
    ) -> Option<Self> {
        if !can_confine() {
            return None;
        }
        let real = |path: &Path| platform::real_path(path).unwrap_or_else(|_| path.to_owned());
        let home = env(HOME);
        let mut closed: Vec<PathBuf> = closed.iter().chain(&home).map(|path| real(path)).collect();
        let of_user = [UserFolder::Data, UserFolder::State, UserFolder::Cache];
        let of_user = of_user.map(|folder| folder.path_on(std::env::consts::OS, &env));
        let of_user = of_user
            .into_iter()
            .chain([env("XDG_CONFIG_HOME")])
            .flatten();
        closed.extend(of_user.map(|path| real(&path)));
        let shared = SHARED_TEMPORARY.iter().map(PathBuf::from);
        let shared = shared.chain([std::env::temp_dir()]).map(|path| real(&path));
        let shared = shared.filter(|folder| !closed.iter().any(|path| path.starts_with(folder)));
        let mut writes: Vec<PathBuf> = shared.collect();
        writes.extend(caches(&env, home.as_deref()));
        writes.extend(more);
        // A rule follows links, and a command may put one in place of what is in a folder that it may write to.
        let all = writes.clone();
        writes.retain(|path| {
            !path
                .ancestors()
                .skip(1)
                .any(|it| all.iter().any(|open| open == it))
        });
        Some(Self {
            writes,
            locks: Vec::new(),
            network,
            closed,
        })
    }

    /// True if the `output` of a command that failed reads as if it was kept from writing a file; with the folder that a
    /// rule would have to open, if the output names one and it holds nothing of the user's that has to stay closed.
    pub(crate) fn refused_in(&self, output: &str) -> Option<Option<PathBuf>> {
        let mut lines = output
            .lines()
            .filter(|line| REFUSED.is_match(line))
            .peekable();
        lines.peek()?;
        let paths =
            lines.filter_map(|line| Some(PathBuf::from(PATH.captures(line)?.get(1)?.as_str())));
        let folder = |path: PathBuf| {
            path.ancestors()
                .skip(1)
                .find(|it| it.is_dir())
                .map(Path::to_owned)
        };
        let is_free = |folder: &PathBuf| {
            let real = platform::real_path(folder).unwrap_or_else(|_| folder.clone());
            let is_open = self.writes.iter().any(|open| real.starts_with(open));
            !is_open && !self.closed.iter().any(|closed| closed.starts_with(&real))
        };
        Some(paths.filter_map(folder).find(is_free))
    }

    /// Adds `folder` to what may be written.
    pub(crate) fn with(&self, folder: &Path) -> Self {
        let mut with = self.clone();
        with.writes.push(folder.to_owned());
        with
    }
}

/// The path that the user's settings mean by `path`: absolute, or below the home folder.
pub(crate) fn user_path(path: &str) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(PathBuf::from(std::env::var_os(HOME)?).join(rest)),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

/// The caches that exist. Makes those of installed programs first, as the programs would.
fn caches(env: &impl Fn(&str) -> Option<PathBuf>, home: Option<&Path>) -> Vec<PathBuf> {
    let search = env("PATH").unwrap_or_default();
    let mut found = Vec::new();
    for line in CACHES.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (program, variable, usual) = (word(), word(), word());
        let own = env(variable).filter(|path| path.is_absolute());
        let usual = || Some(in_home(home?, usual, env));
        let Some(folder) = own.or_else(usual) else {
            continue;
        };
        let parts: Vec<&str> = words.collect();
        let parts = if parts.is_empty() { vec!["/"] } else { parts };
        for part in parts {
            let path = folder.join(part.trim_end_matches('/'));
            let is_missing = part.ends_with('/') && !path.exists();
            if is_missing && find_program(program, search.as_os_str()).is_some() {
                // Without it, the program says so itself.
                drop(fs::create_dir_all(&path));
            }
            found.push(path);
        }
    }
    found.retain(|path| path.exists());
    found
}

/// The folder `usual` below `home`, with `XDG_CACHE_HOME` in place of `.cache`.
fn in_home(home: &Path, usual: &str, env: &impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    let caches = UserFolder::Cache.path_on(std::env::consts::OS, env);
    match (usual.strip_prefix(".cache/"), caches) {
        (Some(rest), Some(caches)) => caches.join(rest),
        (Some(_) | None, _) => home.join(usual),
    }
}
