//! The setup that a fresh checkout of a project needs before the project's commands can run in it.

use serde::Serialize;

use crate::package_files::{is_manifest, is_package_file};
use crate::repo_path::RepoPath;

/// The commands that install what a file of a package manager names, inside the checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SetupProposal {
    /// The file, in the root of the repository.
    pub file: &'static str,
    pub commands: &'static [&'static str],
}

const fn proposal(file: &'static str, commands: &'static [&'static str]) -> SetupProposal {
    SetupProposal { file, commands }
}

const NODE: &[SetupProposal] = &[
    proposal("package-lock.json", &["npm ci"]),
    proposal("npm-shrinkwrap.json", &["npm ci"]),
    proposal("pnpm-lock.yaml", &["pnpm install --frozen-lockfile"]),
    // Only version 2 and later of Yarn have this file.
    proposal(".yarnrc.yml", &["yarn install --immutable"]),
    proposal("yarn.lock", &["yarn install --frozen-lockfile"]),
    proposal("bun.lock", &["bun install --frozen-lockfile"]),
    proposal("bun.lockb", &["bun install --frozen-lockfile"]),
];
const PYTHON: &[SetupProposal] = &[
    proposal("uv.lock", &["uv sync --locked"]),
    proposal("poetry.lock", &["poetry install"]),
    proposal("pdm.lock", &["pdm sync"]),
    proposal("Pipfile.lock", &["pipenv sync --dev"]),
    proposal(
        "requirements.txt",
        &[
            "python3 -m venv .venv",
            ".venv/bin/pip install -r requirements.txt",
        ],
    ),
    proposal(
        "pyproject.toml",
        &["python3 -m venv .venv", ".venv/bin/pip install -e ."],
    ),
];
const RUBY: &[SetupProposal] = &[proposal("Gemfile.lock", &["bundle install"])];
const PHP: &[SetupProposal] = &[proposal("composer.lock", &["composer install"])];
const ELIXIR: &[SetupProposal] = &[proposal("mix.lock", &["mix deps.get"])];
const DART: &[SetupProposal] = &[proposal(
    "pubspec.lock",
    &["dart pub get --enforce-lockfile"],
)];
/// The proposals for each language whose tools install nothing on their own; the first file that is there counts.
const LANGUAGES: [&[SetupProposal]; 6] = [NODE, PYTHON, RUBY, PHP, ELIXIR, DART];

impl SetupProposal {
    /// True if the project certainly installs packages: a manifest alone may name none.
    pub fn is_certain(self) -> bool {
        !is_manifest(self.file)
    }
}

/// The files that [`propose_setup`] looks for.
pub fn setup_files() -> impl Iterator<Item = &'static str> {
    let all = LANGUAGES.into_iter().flatten();
    all.map(|proposal| proposal.file)
}

/// The proposals for a repository whose root has the files that `has_file` says.
pub fn propose_setup(has_file: impl Fn(&str) -> bool) -> Vec<SetupProposal> {
    let first = |of: &'static [SetupProposal]| of.iter().find(|proposal| has_file(proposal.file));
    LANGUAGES.into_iter().filter_map(first).copied().collect()
}

/// True if the setup `commands` may read the file at `path`, so that its change calls for running them again.
pub fn is_setup_input(path: &RepoPath, commands: &[String]) -> bool {
    const OTHERS: &str = " .node-version .npmrc .nvmrc .python-version .ruby-version .tool-versions .yarnrc bunfig.toml \
        constraints.txt environment.yml mix.exs pnpm-workspace.yaml pubspec.yaml setup.cfg setup.py ";
    let path_text = path.to_lossy();
    let name = path_text.rsplit('/').next().unwrap_or_default();
    let is_it = |word: &str| {
        let word = word.trim_matches(['"', '\'']);
        word.strip_prefix("./").unwrap_or(word) == path_text
    };
    is_package_file(path)
        || setup_files().any(|file| file == name)
        || OTHERS.contains(&format!(" {name} "))
        || commands
            .iter()
            .any(|line| line.split_whitespace().any(is_it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_file_of_each_language_counts() {
        let check = |files: &[&str], expect: &[&str]| {
            let found = propose_setup(|file| files.contains(&file));
            let commands: Vec<&str> = found
                .iter()
                .flat_map(|found| found.commands)
                .copied()
                .collect();
            assert_eq!(commands, expect, "{files:?}");
        };
        check(&["Cargo.lock", "go.sum", "package.json"], &[]);
        check(
            &[
                "yarn.lock",
                "package-lock.json",
                "pyproject.toml",
                "uv.lock",
            ],
            &["npm ci", "uv sync --locked"],
        );
        check(&["yarn.lock", ".yarnrc.yml"], &["yarn install --immutable"]);
        check(
            &["requirements.txt", "pyproject.toml"],
            &[
                "python3 -m venv .venv",
                ".venv/bin/pip install -r requirements.txt",
            ],
        );
        let is_certain = |file| propose_setup(|there| there == file)[0].is_certain();
        assert!(is_certain("poetry.lock") && !is_certain("pyproject.toml"));
    }

    #[test]
    fn what_a_setup_reads() {
        let commands = ["npm ci".to_owned(), "sh './ci/install.sh'".to_owned()];
        let check = |path: &str, expect: bool| {
            assert_eq!(is_setup_input(&path.into(), &commands), expect, "{path}");
        };
        for path in [
            "package.json",
            "web/package-lock.json",
            "requirements/dev.txt",
            "requirements-dev.txt",
            "setup.py",
            "app/.npmrc",
            "Gemfile",
            "bun.lockb",
            "mix.lock",
            "ci/install.sh",
        ] {
            check(path, true);
        }
        for path in ["src/setup.rs", "install.sh", "README.md", "a.npmrc", ""] {
            check(path, false);
        }
    }
}
