//! `fp bundle`, `fp install` and `fp uninstall`, against a stand-in for the client that records its calls.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Environment, Output};
use insta::assert_snapshot;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An environment with a client installed.
struct Home(Environment);

impl Home {
    fn new() -> Self {
        let place = Environment::new();
        let bin = place.beside("bin");
        fs::create_dir(&bin).unwrap();
        let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/client/claude");
        symlink(stand_in, bin.join("claude")).unwrap();
        let search = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
        let data = place.beside("data");
        let home = Self(place.env("PATH", search).env("XDG_DATA_HOME", data));
        home.client("version", "2.1.329 (Claude Code)\n");
        home.client("offers", VERSION);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.beside(name)
    }

    /// Writes a file that holds part of the stand-in client's state.
    fn client(&self, file: &str, text: &str) {
        fs::write(self.path("bin").join(file), text).unwrap();
    }

    /// The changes requested from the client since the last call.
    fn calls(&self) -> String {
        let file = self.path("bin/calls");
        let calls = fs::read_to_string(&file).unwrap_or_default();
        drop(fs::remove_file(file));
        let reads = [
            "--version",
            "plugin marketplace list --json",
            "plugin list --json",
        ];
        let changes = calls
            .lines()
            .filter(|call| !reads.contains(call))
            .map(|call| format!("{call}\n"));
        changes
            .collect::<String>()
            .replace(self.path("").to_str().unwrap(), "[ROOT]/")
    }

    /// The output of `fp`, with its version replaced by `VERSION`.
    fn fp(&self, arguments: &[&str]) -> Output {
        let output = self.0.fp(arguments);
        Output {
            stdout: output.stdout.replace(VERSION, "VERSION"),
            ..output
        }
    }

    /// The names in a folder, sorted.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// The data folder on this system, relative to the environment.
const DATA: &str = if cfg!(target_os = "macos") {
    "home/Library/Application Support"
} else {
    "data"
};

#[test]
fn a_bundle_is_complete_and_runs() {
    let home = Home::new();
    assert_snapshot!(home.fp(&["install", "--bundle", "out"]), @"
    exit status: 0
    --- stdout
    plugin       out/fp (fp VERSION)
    marketplace  out
    ");
    assert_eq!(home.names("work/out"), [".claude-plugin", "fp"]);
    assert_eq!(
        home.names("work/out/fp"),
        [
            ".claude-plugin",
            "README.md",
            "agents",
            "bin",
            "hooks",
            "skills"
        ]
    );
    let program = home.path("work/out/fp/bin/fp");
    let output = Command::new(program).arg("--version").output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("fp {VERSION}\n")
    );
}

#[test]
fn a_bundle_is_not_written_over_a_project() {
    let home = Home::new();
    fs::write(home.path("work/main.rs"), "mine").unwrap();
    assert_snapshot!(home.fp(&["install", "--bundle", "."]), @"
    exit status: 2
    --- stderr
    error: . is not a bundle of fp: it has `main.rs`
    hint: choose an empty folder, or one that `fp install --bundle` has written
    ");
    assert_eq!(home.names("work"), ["main.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn install_registers_a_bundle_once_and_uninstall_undoes_it() {
    let home = Home::new();
    let said = home.fp(&["install"]);
    assert_snapshot!(said, @"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle
    plugin       fp@fractal-planner VERSION, scope user
    --- stderr
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    assert_snapshot!(home.calls(), @"
    plugin marketplace add [ROOT]/data/fractal-planner/bundle
    plugin install fp@fractal-planner --scope user
    ");
    assert_eq!(home.fp(&["install"]).stdout, said.stdout);
    assert_eq!(home.calls(), "");
    assert_snapshot!(home.fp(&["install", "--remove"]), @"
    exit status: 0
    --- stdout
    plugin       scope user: removed
    marketplace  removed
    bundle       [ROOT]/data/fractal-planner/bundle: removed
    ");
    assert_snapshot!(home.calls(), @"
    plugin uninstall fp@fractal-planner --scope user
    plugin marketplace remove fractal-planner
    ");
    assert_eq!(home.names("data"), Vec::<String>::new());
    assert_snapshot!(home.fp(&["install", "--remove"]), @"
    exit status: 0
    --- stdout
    nothing is installed
    ");
    assert_eq!(home.calls(), "");
}

#[test]
fn an_older_or_disabled_plugin_is_brought_up() {
    let home = Home::new();
    home.fp(&["install"]);
    home.calls();
    let check = |plugin: &str, call: &str| {
        home.client("plugins.json", plugin);
        home.fp(&["install"]);
        assert_eq!(home.calls(), call);
    };
    check(
        r#"[{"id":"fp@fractal-planner","version":"0.1.0","scope":"user","enabled":true}]"#,
        "plugin update fp@fractal-planner --scope user\n",
    );
    check(
        &format!(
            r#"[{{"id":"fp@fractal-planner","version":"{VERSION}","scope":"user","enabled":false}}]"#
        ),
        "plugin install fp@fractal-planner --scope user\n",
    );
    // An installation in another project doesn't count.
    check(
        r#"[{"id":"fp@fractal-planner","version":"0.2.0","scope":"local","enabled":true,"projectPath":"/other"}]"#,
        "plugin install fp@fractal-planner --scope user\n",
    );
    // A disabled plugin of the same name from elsewhere doesn't interfere.
    check(
        r#"[{"id":"fp@other","version":"1.0.0","scope":"user","enabled":false}]"#,
        "plugin install fp@fractal-planner --scope user\n",
    );
}

#[test]
fn a_project_that_is_gone_does_not_stop_an_uninstallation() {
    let home = Home::new();
    home.fp(&["install"]);
    home.client(
        "plugins.json",
        r#"[{"id":"fp@fractal-planner","version":"0.2.0","scope":"project","enabled":true,"projectPath":"/gone/away"}]"#,
    );
    home.calls();
    assert!(
        home.fp(&["install", "--remove"])
            .stdout
            .starts_with("marketplace  removed\n")
    );
    assert_eq!(home.calls(), "plugin marketplace remove fractal-planner\n");
}

#[test]
fn each_reason_not_to_install_says_what_to_do() {
    let home = Home::new();
    let refused = |arguments: &[&str]| {
        let said = home.fp(arguments);
        assert_eq!(
            (home.calls().as_str(), home.names(DATA)),
            ("", vec![]),
            "{said}"
        );
        said
    };
    home.client(
        "marketplaces.json",
        r#"[{"name":"fractal-planner","source":"github","repo":"o/r"}]"#,
    );
    assert_snapshot!(refused(&["install"]), @"
    exit status: 2
    --- stderr
    error: the client has another marketplace named `fractal-planner`, from o/r
    hint: `claude plugin marketplace remove fractal-planner` removes it with its plugins; then run this again
    ");
    home.client(
        "marketplaces.json",
        r#"[{"name":"other","source":"github","repo":"o/r"}]"#,
    );
    home.client(
        "plugins.json",
        r#"[{"id":"fp@other","version":"9.0.0","scope":"local","enabled":true}]"#,
    );
    assert_snapshot!(refused(&["install"]), @"
    exit status: 2
    --- stderr
    error: the client has another plugin named `fp`: fp@other, scope local
    hint: run `claude plugin uninstall fp@other --scope local`, then this again
    ");
    home.client("plugins.json", "Plugins: none");
    assert_snapshot!(refused(&["install"]), @"
    exit status: 2
    --- stderr
    error: `claude plugin list --json` gave an unexpected answer: expected value at line 1 column 1
    hint: update Claude Code and fp to versions of about the same age
    ");
    home.client("version", "2.1.199 (Claude Code)");
    assert_snapshot!(refused(&["install"]), @r#"
    exit status: 2
    --- stderr
    error: [ROOT]/bin/claude says that it is "2.1.199 (Claude Code)", and claude 2.1.200 or newer is needed
    hint: update claude, and see which one is first on PATH
    hint: `--client PATH` takes another one
    "#);
    home.client("version", "claude the cat 1.0");
    assert_snapshot!(refused(&["install"]), @r#"
    exit status: 2
    --- stderr
    error: [ROOT]/bin/claude says that it is "claude the cat 1.0", and claude 2.1.200 or newer is needed
    hint: update claude, and see which one is first on PATH
    hint: `--client PATH` takes another one
    "#);
    assert_snapshot!(refused(&["install", "--client", "nowhere/claude"]), @"
    exit status: 2
    --- stderr
    error: claude can't be started: No such file or directory (os error 2)
    hint: see whether it runs by itself in a terminal
    hint: `--client PATH` takes another one
    ");
    fs::remove_file(home.path("bin/claude")).unwrap();
    assert_snapshot!(refused(&["install"]), @"
    exit status: 2
    --- stderr
    error: Claude Code is not installed here: there is no `claude` on PATH
    hint: get it: npm install -g @anthropic-ai/claude-code
    hint: `--client PATH` takes another one
    ");
}

#[test]
fn what_is_from_elsewhere_is_not_uninstalled() {
    let home = Home::new();
    home.client(
        "marketplaces.json",
        r#"[{"name":"fractal-planner","source":"github","repo":"o/r"}]"#,
    );
    home.client(
        "plugins.json",
        r#"[{"id":"fp@fractal-planner","version":"9.0.0","scope":"user","enabled":true}]"#,
    );
    assert_eq!(
        home.fp(&["install", "--remove"]).stdout,
        "nothing is installed\n"
    );
    assert_eq!(home.calls(), "");
}

#[test]
fn a_refusal_of_the_client_is_passed_on_and_can_be_repeated() {
    let home = Home::new();
    home.client("refuses", "marketplace add");
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 2
    --- stderr
    error: `claude plugin marketplace add [ROOT]/data/fractal-planner/bundle` failed with status 1: Failed: marketplace add is not to be
    hint: run `claude plugin marketplace add [ROOT]/data/fractal-planner/bundle` yourself to see all that it says
    ");
    fs::remove_file(home.path("bin/refuses")).unwrap();
    assert_eq!(home.fp(&["install"]).code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_data_folder_that_cannot_be_written_is_named() {
    let home = Home::new();
    fs::write(home.path("data"), "a file").unwrap();
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/data/fractal-planner/bundle can't be written: not a directory
    hint: a file stands where a folder of that path should be: move it out of the way
    hint: XDG_DATA_HOME chooses the folder on Linux
    ");
    assert_eq!(home.calls(), "");
}

#[test]
fn without_client_and_bundle_there_is_nothing_to_uninstall() {
    let home = Home::new();
    home.fp(&["install"]);
    fs::remove_file(home.path("bin/claude")).unwrap();
    let said = home.fp(&["install", "--remove"]);
    assert!(
        said.stderr
            .starts_with("error: Claude Code is not installed here"),
        "{said}"
    );
    fs::remove_dir_all(home.path(DATA)).unwrap();
    assert_eq!(
        home.fp(&["install", "--remove"]).stdout,
        "nothing is installed\n"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn every_scope_is_updated_and_uninstalled() {
    let home = Home::new();
    home.fp(&["install"]);
    let project = home.path("work").display().to_string();
    let plugins = format!(
        r#"[{{"id":"fp@fractal-planner","version":"0.1.0","scope":"user","enabled":true}},
        {{"id":"fp@fractal-planner","version":"{VERSION}","scope":"project","projectPath":"{project}"}},
        {{"id":"fp@fractal-planner","version":"0.1.0","scope":"local","projectPath":"{project}"}},
        {{"id":"fp@fractal-planner","version":"0.1.0","scope":"local","projectPath":"/gone/away"}},
        {{"id":"fp@other","version":"0.1.0","scope":"user"}}]"#
    );
    home.client("plugins.json", &plugins);
    home.calls();
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle
    plugin       fp@fractal-planner VERSION, scope user
    plugin       updated, scope local in [ROOT]/work
    --- stderr
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    assert_snapshot!(home.calls(), @"
    plugin update fp@fractal-planner --scope user
    plugin update fp@fractal-planner --scope local
    ");
    home.client("plugins.json", &plugins);
    let said = home.fp(&["install", "--remove"]);
    assert!(
        said.stdout
            .contains("plugin       scope project in [ROOT]/work: removed\n"),
        "{said}"
    );
}
