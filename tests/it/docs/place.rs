//! The place in which the documentation's commands run: a repository with the tutorial's own sample plan, `fp` on the
//! PATH, and a `cargo` that runs `fp` for `cargo run --release -- …`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::plan::PLAN;
use crate::common::program::write_program;
use crate::common::{Environment, Output};
use crate::docs::page::Page;

/// Stands in for `cargo run`, which would rebuild the existing program, and for the tests of the sample plan.
const CARGO: &str = "#!/bin/sh
case \"$1 $2 $3\" in
  'run --release --') shift 3; exec fp \"$@\" ;;
  'test greeting ') exec test -e src/greeting.rs ;;
  'test --test greet') exec test -e tests/greet.rs ;;
  *) echo \"cargo $*: only cargo run --release -- is run here\" >&2; exit 64 ;;
esac
";

/// Mimics the parts of Claude Code that `fp run` uses: a builder appends a line to each file of its task, a verifier
/// passes everything.
const CLAUDE: &str = r#"#!/bin/sh
[ "$1" = --version ] && echo '2.1.329 (Claude Code)' && exit
prompt=$(cat)
line() { printf '%s\n' "$1" | grep -o "$2" | tail -n 1; }
case $* in
  *fp:builder*)
    payload=$($(line "$prompt" 'fp claim [^`]*')) || exit 0
    for file in $(printf '%s\n' "$payload" | sed -n 's/^- Files: //p' | tr -d ,); do
      mkdir -p "$(dirname "$file")" && echo '// more' >>"$file"
    done
    $(line "$payload" 'fp submit .* --claim [0-9a-f]*$') ;;
  *)
    sheet=$($(line "$prompt" 'fp verify [^`]*'))
    eval "$(printf '%s\n' "$sheet" | sed -n '/^fp verdict/,/^END/p' | sed '/^note/d; s/EVIDENCE/it does/; s/TEXT/all of it holds/')" ;;
esac >/dev/null
echo '{"type":"result","num_turns":9,"usage":{"input_tokens":2100,"cache_read_input_tokens":40500,"output_tokens":900},"total_cost_usd":0.06}'
"#;

/// Stands in for the program of a host, with an issue, and a pull request with a discussion once one is opened.
const GH: &str = r#"#!/bin/sh
url=https://github.com/team/greeter
case "$1 $2" in
  'pr list') [ -e "$HOME/opened" ] && echo "[{\"number\": 5, \"url\": \"$url/pull/5\", \"headRepositoryOwner\": {\"login\": \"team\"}}]" || echo '[]' ;;
  'pr create') cat >"$HOME/opened"; echo "$url/pull/5" ;;
  'pr merge') git push -q origin origin/fp/sample-20261121:refs/heads/main ;;
  'issue view') echo "{\"number\": 7, \"title\": \"Greet strangers\", \"body\": \"Say hello.\", \"url\": \"$url/issues/7\"}" ;;
  'api '*) [ -t 0 ] || cat >/dev/null; echo '{"data":{"repository":{"pullRequest":{"reviewThreads":{"nodes":[{"id":"t1","isResolved":false,"path":"src/greeting.rs","line":1,"comments":{"nodes":[{"body":"Greet everybody.","author":{"login":"ana"}}]}}]}}}}}' ;;
esac
"#;

/// A repository to run the documentation in.
pub(crate) struct Place(pub(crate) Environment);

impl Place {
    /// An empty folder with `fp` on the PATH.
    pub(crate) fn bare() -> Self {
        let environment = Environment::new();
        let bin = environment.beside("bin");
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_fp"), bin.join("fp")).unwrap();
        write_program(&bin.join("cargo"), CARGO);
        write_program(&bin.join("claude"), CLAUDE);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let search = std::iter::once(bin).chain(std::env::split_paths(&path));
        let search = std::env::join_paths(search).unwrap();
        Self(environment.env("PATH", search))
    }

    /// A repository with the tutorial's sample tree as its only plan, not yet approved.
    pub(crate) fn planned() -> Self {
        let Self(environment) = Self::bare();
        let place = Self(environment.repo());
        place.0.write("src/main.rs", "fn main() {}\n");
        place.0.git(&["add", "--all"]);
        place
            .0
            .git(&["commit", "--quiet", "--message", "Add a program"]);
        place.0.plan(&sample_tree());
        place
    }

    /// Like [`Self::planned`], approved, with a remote on a host, a stand-in for the host's program, and an issue and a
    /// discussion there.
    pub(crate) fn hosted() -> Self {
        let place = Self::planned();
        place.0.trust_place();
        place.0.done(&["approve", PLAN, "--yes"]);
        write_program(&place.0.beside("bin/gh"), GH);
        let remote = place.0.beside("remote.git").display().to_string();
        let url = "https://github.com/team/greeter.git";
        place
            .0
            .git(&["init", "-q", "--bare", "-b", "main", &remote]);
        place.0.git(&["remote", "add", "origin", url]);
        place
            .0
            .git(&["config", &format!("url.{remote}.insteadOf"), url]);
        place
    }

    /// Like [`Self::planned`], with the run started.
    pub(crate) fn started() -> Self {
        let place = Self::planned();
        place.0.start(&[]);
        place
    }

    /// Runs `script` in a shell that ends at the first failure.
    pub(crate) fn shell(&self, script: &str) -> Output {
        self.0.run("sh", &["-euc", script])
    }

    /// Parses `script` with a shell, without running it.
    pub(crate) fn understands(&self, script: &str) -> Output {
        self.0.run("sh", &["-nc", script])
    }

    /// Replaces the first `from` in the tree of the plan.
    pub(crate) fn edit_tree(&self, from: &str, to: &str) {
        let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
        let text = self.0.read(&path);
        assert!(text.contains(from), "{from:?} is not in the sample tree");
        self.0.write(&path, text.replacen(from, to, 1));
    }
}

/// The tutorial's sample tree.
pub(crate) fn sample_tree() -> String {
    let page = Page::read("docs/tutorial.md");
    let blocks = page.blocks("markdown");
    assert_eq!(blocks.len(), 1, "the tutorial has one sample tree");
    blocks[0].text.clone()
}
