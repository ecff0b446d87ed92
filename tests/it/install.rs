//! `fp bundle`, `fp install` and `fp uninstall`, against a stand-in for the client that records its calls.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::plan::{leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A place with a client in it.
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

    /// Sets a part of the client's state.
    fn client(&self, file: &str, text: &str) {
        fs::write(self.path("bin").join(file), text).unwrap();
    }

    /// What the client was asked to change since the last time.
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

    /// What `fp` said, with its version as `VERSION`.
    fn fp(&self, arguments: &[&str]) -> Output {
        let output = self.0.fp(arguments);
        Output {
            stdout: output.stdout.replace(VERSION, "VERSION"),
            ..output
        }
    }

    /// Writes a settings file of the client's, below the home.
    fn settings(&self, text: &str) {
        fs::create_dir_all(self.path("home/.claude")).unwrap();
        fs::write(self.path(SETTINGS), text).unwrap();
    }

    /// The text of a file.
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
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

/// The user's settings of the client.
const SETTINGS: &str = "home/.claude/settings.json";

/// The data folder on this system, below the home.
const DATA: &str = if cfg!(target_os = "macos") {
    "home/Library/Application Support"
} else {
    "data"
};

#[test]
fn a_bundle_is_complete_and_runs() {
    let home = Home::new();
    assert_snapshot!(home.fp(&["bundle", "--out", "out"]), @"
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
            "settings.schema.json",
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
    assert_snapshot!(home.fp(&["bundle", "--out", "."]), @"
    exit status: 2
    --- stderr
    error: . is not a bundle of fp: it has `main.rs`
    hint: choose an empty folder, or one that `fp bundle` has written
    ");
    assert_eq!(home.names("work"), ["main.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn install_registers_a_bundle_once_and_uninstall_undoes_it() {
    let home = Home::new();
    assert_snapshot!(home.fp(&["install", "--dry-run"]), @"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): would be written
    marketplace  fractal-planner: would be added
    plugin       fp@fractal-planner, scope user: would be added
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): not added
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: not added
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: not added
    --- stderr
    To add the rest: fp install --permissions --teams --statusline
    ");
    assert_eq!((home.calls().as_str(), home.names("data")), ("", vec![]));
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): written
    marketplace  fractal-planner: added
    plugin       fp@fractal-planner, scope user: added
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): not added
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: not added
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: not added
    --- stderr
    To add the rest: fp install --permissions --teams --statusline
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    assert_snapshot!(home.calls(), @"
    plugin marketplace add [ROOT]/data/fractal-planner/bundle
    plugin install fp@fractal-planner --scope user
    ");
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): written
    marketplace  fractal-planner: already there
    plugin       fp@fractal-planner, scope user: already there
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): not added
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: not added
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: not added
    --- stderr
    To add the rest: fp install --permissions --teams --statusline
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    assert_eq!(home.calls(), "");
    assert_snapshot!(home.fp(&["uninstall"]), @"
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
    assert_snapshot!(home.fp(&["uninstall"]), @"
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
    let check = |plugin: &str, call: &str, says: &str| {
        home.client("plugins.json", plugin);
        let said = home.fp(&["install"]);
        assert_eq!(home.calls(), call);
        assert!(said.stdout.contains(says), "{said}");
    };
    check(
        r#"[{"id":"fp@fractal-planner","version":"0.1.0","scope":"user","enabled":true}]"#,
        "plugin update fp@fractal-planner --scope user\n",
        "scope user: updated",
    );
    check(
        &format!(
            r#"[{{"id":"fp@fractal-planner","version":"{VERSION}","scope":"user","enabled":false}}]"#
        ),
        "plugin install fp@fractal-planner --scope user\n",
        "scope user: enabled",
    );
    // Elsewhere is not here.
    check(
        r#"[{"id":"fp@fractal-planner","version":"0.2.0","scope":"local","enabled":true,"projectPath":"/other"}]"#,
        "plugin install fp@fractal-planner --scope user\n",
        "scope user: added",
    );
    // Another plugin of that name that is switched off is in nobody's way.
    check(
        r#"[{"id":"fp@other","version":"1.0.0","scope":"user","enabled":false}]"#,
        "plugin install fp@fractal-planner --scope user\n",
        "scope user: added",
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
        home.fp(&["uninstall"])
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
    assert_snapshot!(refused(&["install"]), @"
    exit status: 2
    --- stderr
    error: Claude Code 2.1.199 at [ROOT]/bin/claude is too old: the plugin needs 2.1.200 or newer
    hint: run `claude update`, then this again
    ");
    home.client("version", "claude the cat 1.0");
    assert_snapshot!(refused(&["install"]), @r#"
    exit status: 2
    --- stderr
    error: [ROOT]/bin/claude is not Claude Code: `--version` says "claude the cat 1.0"
    hint: say where Claude Code is with `--client PATH`
    "#);
    assert_snapshot!(refused(&["install", "--client", "nowhere/claude"]), @"
    exit status: 2
    --- stderr
    error: nowhere/claude is not a program
    hint: say where Claude Code is with `--client PATH`
    ");
    fs::remove_file(home.path("bin/claude")).unwrap();
    assert_snapshot!(refused(&["install"]), @"
    exit status: 2
    --- stderr
    error: Claude Code is not installed here: there is no `claude` on PATH
    hint: install Claude Code, or say where it is with `--client PATH`
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
    assert_eq!(home.fp(&["uninstall"]).stdout, "nothing is installed\n");
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

#[test]
fn an_interrupted_installation_has_the_settings_from_before_it() {
    let home = Home::new();
    home.settings(MINE);
    home.client("noted", NOTED);
    // The client has laid the file out anew, and nothing else was done.
    home.client("refuses", "plugin install");
    assert_eq!(home.fp(&["install", "--yes"]).code, 2);
    home.settings(NOTED);
    fs::remove_file(home.path("bin/refuses")).unwrap();
    let said = home.fp(&["install", "--yes"]);
    assert!(
        said.stdout
            .contains("backup       [ROOT]/home/.claude/settings.json.fp-backup\n"),
        "{said}"
    );
    assert!(
        home.text(SETTINGS)
            .contains("Edit(.fractal-planner/plans/*/*.md)")
    );
    home.client(
        "forgotten",
        &NOTED.replace("{\n    \"fp@fractal-planner\": true\n  }", "{}"),
    );
    home.fp(&["uninstall"]);
    assert_eq!(
        (
            home.text(SETTINGS).as_str(),
            home.names("home/.claude").len()
        ),
        (MINE, 1)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_data_folder_that_cannot_be_written_is_named() {
    let home = Home::new();
    fs::write(home.path("data"), "a file").unwrap();
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/data/fractal-planner/installed.json can't be read: not a directory
    hint: a file stands where a folder of that path should be: move it out of the way
    ");
    assert_eq!(home.calls(), "");
}

#[test]
fn without_client_and_bundle_there_is_nothing_to_uninstall() {
    let home = Home::new();
    home.fp(&["install"]);
    fs::remove_file(home.path("bin/claude")).unwrap();
    let said = home.fp(&["uninstall"]);
    assert!(
        said.stderr
            .starts_with("error: Claude Code is not installed here"),
        "{said}"
    );
    fs::remove_dir_all(home.path(DATA)).unwrap();
    assert_eq!(home.fp(&["uninstall"]).stdout, "nothing is installed\n");
}

/// Settings as a person keeps them: an order, an indentation and line ends of its own.
const MINE: &str = "{\r\n\t\"model\": \"opus\",\r\n\t\"permissions\": {\"allow\": [\"Bash(make *)\"]},\r\n\t\"hooks\": {}\r\n}";

/// What the client makes of them.
const NOTED: &str = r#"{
  "model": "opus",
  "permissions": {
    "allow": [
      "Bash(make *)"
    ]
  },
  "hooks": {},
  "enabledPlugins": {
    "fp@fractal-planner": true
  }
}
"#;

#[cfg(target_os = "linux")]
#[test]
fn settings_that_are_wanted_are_shown_added_and_taken_out_again() {
    let home = Home::new();
    home.settings(MINE);
    assert_snapshot!(home.fp(&["install", "--yes", "--dry-run"]), @r#"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): would be written
    marketplace  fractal-planner: would be added
    plugin       fp@fractal-planner, scope user: would be added
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): would be added
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: would be added
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: would be added

    --- [ROOT]/home/.claude/settings.json
    +++ [ROOT]/home/.claude/settings.json
    @@ -1,5 +1,12 @@
     {
     	"model": "opus",
    -	"permissions": {"allow": ["Bash(make *)"]},
    -	"hooks": {}
    +	"permissions": {"allow": ["Bash(make *)", "Edit(.fractal-planner/plans/*/*.md)", "Edit(.fractal-planner/roadmaps/*.md)"]},
    +	"hooks": {},
    +	"env": {
    +		"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"
    +	},
    +	"statusLine": {
    +		"command": "[ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline",
    +		"type": "command"
    +	}
     }
    \ No newline at end of file
    "#);
    assert_eq!(
        (home.text(SETTINGS).as_str(), home.names("home/.claude")),
        (MINE, vec!["settings.json".into()])
    );
    home.client("noted", NOTED);
    home.client(
        "forgotten",
        &NOTED.replace("{\n    \"fp@fractal-planner\": true\n  }", "{}"),
    );
    assert_snapshot!(home.fp(&["install", "--yes"]), @"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): written
    marketplace  fractal-planner: added
    plugin       fp@fractal-planner, scope user: added
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): added
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: added
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: added
    backup       [ROOT]/home/.claude/settings.json.fp-backup
    --- stderr
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    let there = concat!(
        "{\r\n\t\"model\": \"opus\",\r\n",
        "\t\"permissions\": {\"allow\": [\"Bash(make *)\", \"Edit(.fractal-planner/plans/*/*.md)\", \"Edit(.fractal-planner/roadmaps/*.md)\"]},\r\n",
        "\t\"hooks\": {},\r\n",
        "\t\"enabledPlugins\": {\r\n\t\t\"fp@fractal-planner\": true\r\n\t},\r\n",
        "\t\"env\": {\r\n\t\t\"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS\": \"1\"\r\n\t},\r\n",
        "\t\"statusLine\": {\r\n\t\t\"command\": \"[ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline\",\r\n",
        "\t\t\"type\": \"command\"\r\n\t}\r\n}"
    );
    let there = there.replace(
        "[ROOT]",
        home.path("").to_str().unwrap().trim_end_matches('/'),
    );
    assert_eq!(home.text(SETTINGS), there);
    assert_eq!(home.text("home/.claude/settings.json.fp-backup"), MINE);
    assert_snapshot!(home.fp(&["install", "--yes"]), @"
    exit status: 0
    --- stdout
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): written
    marketplace  fractal-planner: already there
    plugin       fp@fractal-planner, scope user: already there
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): already there
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: already there
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: already there
    backup       [ROOT]/home/.claude/settings.json.fp-backup
    --- stderr
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    assert_eq!(home.text(SETTINGS), there);
    assert_snapshot!(home.fp(&["uninstall", "--dry-run"]), @"
    exit status: 0
    --- stdout
    plugin       scope user: would be removed
    marketplace  would be removed
    settings     [ROOT]/home/.claude/settings.json: what fp had added would be removed
    bundle       [ROOT]/data/fractal-planner/bundle: would be removed
    ");
    assert_eq!(home.text(SETTINGS), there);
    assert_snapshot!(home.fp(&["uninstall"]), @"
    exit status: 0
    --- stdout
    plugin       scope user: removed
    marketplace  removed
    settings     [ROOT]/home/.claude/settings.json: as before the installation
    bundle       [ROOT]/data/fractal-planner/bundle: removed
    ");
    assert_eq!(home.text(SETTINGS), MINE);
    assert_eq!(home.names("home/.claude"), ["settings.json"]);
    assert_eq!(home.names("data"), Vec::<String>::new());
}

#[test]
fn a_part_of_the_settings_can_be_chosen_and_the_other_one_later() {
    let home = Home::new();
    let check = |arguments: &[&str], permissions: &str, teams: &str| {
        let json = home
            .fp(&[&["install", "--format", "json"], arguments].concat())
            .json();
        let settings = &json["settings"];
        assert_eq!(
            (&settings["permissions"], &settings["teams"]),
            (&permissions.into(), &teams.into()),
            "{arguments:?}"
        );
        assert_eq!(settings["file"], format!("[ROOT]/{SETTINGS}"));
        settings["backup"].clone()
    };
    check(&[], "declined", "declined");
    assert!(!home.path(SETTINGS).exists());
    check(&["--permissions"], "added", "declined");
    assert_eq!(
        home.text(SETTINGS),
        "{\n  \"permissions\": {\n    \"allow\": [\"Edit(.fractal-planner/plans/*/*.md)\", \"Edit(.fractal-planner/roadmaps/*.md)\"]\n  }\n}\n"
    );
    check(&["--teams"], "kept", "added");
    assert_eq!(
        check(&["--yes"], "kept", "kept"),
        serde_json::Value::Null,
        "there was no file to copy"
    );
    let said = home.fp(&["uninstall"]);
    assert!(
        said.stdout
            .contains("settings.json: removed, as there was none before\n"),
        "{said}"
    );
    assert!(!home.path(SETTINGS).exists(), "and there is none now");
    home.settings(r#"{"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0"}}"#);
    check(&["--yes"], "added", "otherwise");
    assert!(
        home.text(SETTINGS)
            .contains(r#""CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "0""#)
    );
}

/// The status line of the user stays the last line, with the plan above it where there is one.
#[test]
fn a_status_line_is_put_above_the_one_that_is_there() {
    let home = Home::new();
    let mine = r#"{"statusLine": {"type": "command", "command": "read -r a; echo \"mine: $a\"; exit 3 # mine", "padding": 2}}"#;
    home.settings(mine);
    let shown = home.fp(&["install", "--statusline", "--dry-run"]);
    assert!(shown.stdout.contains("statusline; printf %s"), "{shown}");
    assert_eq!(home.text(SETTINGS), mine);
    home.fp(&["install", "--statusline"]);
    let line = |home: &Home| {
        let settings: serde_json::Value = serde_json::from_str(&home.text(SETTINGS)).unwrap();
        assert_eq!(settings["statusLine"]["padding"], 2);
        let script = format!(
            "printf '{{\"a\": 1}}\n' | sh -c '{}'",
            settings["statusLine"]["command"].as_str().unwrap()
        );
        let said = home.0.run("sh", &["-c", &script]);
        assert_eq!((said.code, said.stderr.as_str()), (3, ""), "{said}");
        said.stdout
    };
    assert_eq!(line(&home), "mine: {\"a\": 1}\n");
    let home = Home(home.0.repo());
    home.0.plan(&tree(&[leaf("1", "none", "a.txt")]));
    home.0.start(&[]);
    assert_eq!(line(&home), "fp 0/1 ▱▱▱▱▱▱▱▱ running\nmine: {\"a\": 1}\n");
    let again = home.text(SETTINGS);
    assert!(
        home.fp(&["install", "--statusline"])
            .stdout
            .contains("statusline: already there")
    );
    assert_eq!(home.text(SETTINGS), again);
    home.fp(&["uninstall"]);
    assert_eq!(
        (
            home.text(SETTINGS).as_str(),
            home.names("home/.claude").len()
        ),
        (mine, 1)
    );
}

/// The record counts, not the rules that are offered now.
#[test]
fn rules_that_an_older_version_added_are_taken_out() {
    let home = Home::new();
    home.settings(MINE);
    home.fp(&["install", "--permissions"]);
    for file in [SETTINGS, &format!("{DATA}/fractal-planner/installed.json")] {
        let text = home
            .text(file)
            .replace("Edit(.fractal-planner/plans/*/*.md)", "Bash(fp *)");
        fs::write(
            home.path(file),
            text.replace(
                "Edit(.fractal-planner/roadmaps/*.md)",
                "Edit(.fractal-planner/**)",
            ),
        )
        .unwrap();
    }
    assert!(
        home.text(SETTINGS)
            .contains(r#""Bash(fp *)", "Edit(.fractal-planner/**)"]"#)
    );
    home.fp(&["uninstall"]);
    assert_eq!(home.text(SETTINGS), MINE);
}

#[test]
fn what_was_changed_since_stays() {
    let home = Home::new();
    home.settings(MINE);
    home.fp(&["install", "--yes"]);
    let since = home
        .text(SETTINGS)
        .replace("opus", "haiku")
        .replace("Bash(make *)", "Bash(just *)");
    home.settings(&since);
    let said = home.fp(&["uninstall"]);
    assert!(
        said.stdout
            .contains("settings.json: without what fp had added\nbackup       [ROOT]/home"),
        "{said}"
    );
    assert_eq!(
        home.text(SETTINGS),
        MINE.replace("opus", "haiku")
            .replace("Bash(make *)", "Bash(just *)")
    );
    assert_eq!(home.text("home/.claude/settings.json.fp-backup"), MINE);
    // A copy of something else is not written over.
    home.fp(&["install", "--permissions"]);
    assert_eq!(home.text("home/.claude/settings.json.fp-backup"), MINE);
    assert!(
        home.text("home/.claude/settings.json.fp-backup.2")
            .contains("haiku")
    );
}

#[test]
fn settings_that_are_a_link_stay_one_and_stay_private() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    fs::create_dir_all(home.path("home/.claude")).unwrap();
    fs::create_dir(home.path("dotfiles")).unwrap();
    let (link, target) = (home.path(SETTINGS), home.path("dotfiles/claude.json"));
    fs::write(&target, MINE).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&target, &link).unwrap();
    home.fp(&["install", "--yes"]);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(
        home.text("dotfiles/claude.json")
            .contains("Edit(.fractal-planner/plans/*/*.md)")
    );
    for file in [&target, &home.path("home/.claude/settings.json.fp-backup")] {
        assert_eq!(
            fs::metadata(file).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    home.fp(&["uninstall"]);
    assert_eq!(
        (
            home.text("dotfiles/claude.json").as_str(),
            home.names("dotfiles").len()
        ),
        (MINE, 1)
    );
    assert!(link.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn settings_that_cannot_be_used_stop_the_installation_before_it_begins() {
    let home = Home::new();
    let refused = |text: &str| {
        home.settings(text);
        let said = home.fp(&["install", "--yes"]);
        assert_eq!(
            (home.calls().as_str(), home.names(DATA)),
            ("", vec![]),
            "{said}"
        );
        assert_eq!(
            (
                home.text(SETTINGS).as_str(),
                home.names("home/.claude").len()
            ),
            (text, 1)
        );
        said
    };
    assert_snapshot!(refused("{\n  \"model\": \"opus\",\n  // mine\n}"), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json:3:3: not valid JSON: key must be a string
    hint: fix the file by hand, since Claude Code ignores all of it as it is; then run this again
    ");
    assert_snapshot!(refused("{\"permissions\": {\"allow\": \"Bash\"}}"), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json: `permissions.allow` is not a list
    hint: fix the file by hand, since Claude Code ignores all of it as it is; then run this again
    ");
    assert_snapshot!(refused("{\"env\": {}, \"env\": {}}"), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json has a key twice
    hint: keep one of the two, then run this again
    ");
    home.settings("{}");
    let mut permissions = fs::metadata(home.path(SETTINGS)).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(home.path(SETTINGS), permissions).unwrap();
    assert_snapshot!(home.fp(&["install", "--yes"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json can't be written: permission denied
    hint: check who owns the file and its folder, and their permissions
    ");
    assert_eq!((home.calls().as_str(), home.names(DATA)), ("", vec![]));
    fs::remove_dir_all(home.path("home/.claude")).unwrap();
    fs::create_dir(home.path("home/.claude")).unwrap();
    symlink("/nowhere/settings.json", home.path(SETTINGS)).unwrap();
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json can't be read: no such file or directory
    hint: check the path
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn settings_that_broke_since_stop_an_uninstallation_until_they_are_mended() {
    let home = Home::new();
    home.settings(MINE);
    home.fp(&["install", "--yes"]);
    let there = home.text(SETTINGS);
    home.settings(&there[..there.len() - 1]);
    home.calls();
    assert_snapshot!(home.fp(&["uninstall"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json:12:1: not valid JSON: EOF while parsing an object
    hint: fix the file by hand, since Claude Code ignores all of it as it is; then run this again
    ");
    assert_eq!(home.calls(), "");
    home.settings(&there);
    assert_eq!(home.fp(&["uninstall"]).code, 0);
    assert_eq!(home.text(SETTINGS), MINE);
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_takes_nothing_leaves_everything_as_it_was() {
    let home = Home::new();
    home.settings(MINE);
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" install --yes";
    assert_snapshot!(home.0.run("sh", &["-c", script, env!("CARGO_BIN_EXE_fp")]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/home/.claude/settings.json.fp-backup can't be written: file too large
    hint: the limit on the size of files is reached: `ulimit -f` says what it is
    ");
    assert_eq!(
        (
            home.text(SETTINGS).as_str(),
            home.names("home/.claude").len()
        ),
        (MINE, 1)
    );
    assert_eq!(home.names("data"), Vec::<String>::new());
}

#[test]
fn the_folder_of_settings_is_the_clients_own() {
    let mut home = Home::new();
    let chosen = home.path("chosen");
    home.0 = home.0.env("CLAUDE_CONFIG_DIR", chosen);
    let said = home.fp(&["install", "--teams"]);
    assert!(
        said.stdout
            .contains("settings     [ROOT]/chosen/settings.json\n"),
        "{said}"
    );
    assert!(home.text("chosen/settings.json").contains("AGENT_TEAMS"));
    assert!(!home.path("home/.claude").exists());
    home.0 = home.0.env("CLAUDE_CONFIG_DIR", "").env("HOME", "");
    assert_snapshot!(home.fp(&["install"]), @"
    exit status: 2
    --- stderr
    error: nothing says where your home folder is
    hint: set HOME
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_broken_record_is_named_before_anything_is_done() {
    let home = Home::new();
    home.fp(&["install", "--yes"]);
    home.calls();
    fs::write(
        home.path("data/fractal-planner/installed.json"),
        "{\"schemaVersion\": 2, \"settings\": []}",
    )
    .unwrap();
    for command in ["install", "uninstall"] {
        insta::allow_duplicates! { assert_snapshot!(home.fp(&[command]), @"
        exit status: 2
        --- stderr
        error: [ROOT]/data/fractal-planner/installed.json is not a record of an installation: its format is 2, and this fp knows 1
        hint: remove the file and run this again; you then have to remove by hand what fp added to settings
        ") }
        assert_eq!(home.calls(), "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_scope_is_updated_and_uninstalled() {
    let home = Home::new();
    home.fp(&["install"]);
    home.settings(MINE);
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
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): written
    marketplace  fractal-planner: already there
    plugin       fp@fractal-planner, scope user: updated
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): not added
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: not added
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: not added
    plugin       scope local in [ROOT]/work: updated from 0.1.0
    --- stderr
    To add the rest: fp install --permissions --teams --statusline
    Sessions that are open keep the version they have loaded
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    assert_snapshot!(home.calls(), @"
    plugin update fp@fractal-planner --scope user
    plugin update fp@fractal-planner --scope local
    ");
    assert_eq!(home.text(SETTINGS), MINE);
    home.client("plugins.json", &plugins);
    let said = home.fp(&["uninstall"]);
    assert!(
        said.stdout
            .contains("plugin       scope project in [ROOT]/work: removed\n"),
        "{said}"
    );
}

/// The output of `fp` in a terminal where `answers` are typed.
fn in_a_terminal(home: &Home, arguments: &[&str], answers: &str) -> String {
    let plain = home.0.command("fp");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fp"));
    command.args(arguments);
    command.cwd(home.path("work"));
    command.env_clear();
    for (name, value) in plain
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)))
    {
        command.env(name, value);
    }
    let pty = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    pty.master
        .take_writer()
        .unwrap()
        .write_all(answers.as_bytes())
        .unwrap();
    let mut shown = Vec::new();
    // Linux ends a terminal that nobody has open any more with an error.
    drop(
        pty.master
            .try_clone_reader()
            .unwrap()
            .read_to_end(&mut shown),
    );
    assert!(child.wait().unwrap().success());
    home.0
        .shown(&shown)
        .replace("\r\n", "\n")
        .replace(VERSION, "VERSION")
}

#[cfg(target_os = "linux")]
#[test]
fn in_a_terminal_each_setting_is_asked_for() {
    let home = Home::new();
    let shown = in_a_terminal(&home, &["install"], "y\n\n\n");
    assert_snapshot!(&shown[shown.find("With these").unwrap()..], @"
    With these permission rules Claude Code does not ask about each edit of a
    plan's pages and of roadmaps:
      Edit(.fractal-planner/plans/*/*.md)
      Edit(.fractal-planner/roadmaps/*.md)
    Add to [ROOT]/home/.claude/settings.json? [y/N] With agent teams, which are experimental, you can watch each builder and
    talk to it:
      CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1
    Add to [ROOT]/home/.claude/settings.json? [y/N] With this status line Claude Code shows how far a plan is, above the status
    line that you have:
      [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline
    Add to [ROOT]/home/.claude/settings.json? [y/N] 
    Claude Code  [ROOT]/bin/claude (2.1.329)
    bundle       [ROOT]/data/fractal-planner/bundle (fp VERSION): written
    marketplace  fractal-planner: added
    plugin       fp@fractal-planner, scope user: added
    settings     [ROOT]/home/.claude/settings.json
    permissions  Edit(.fractal-planner/plans/*/*.md), Edit(.fractal-planner/roadmaps/*.md): added
    agent teams  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: not added
    status line  [ROOT]/data/fractal-planner/bundle/fp/bin/fp statusline: not added
    Start Claude Code in a repository and type: /fp:plan GOAL
    ");
    assert!(
        home.text(SETTINGS)
            .contains("Edit(.fractal-planner/plans/*/*.md)")
    );
    assert!(!home.text(SETTINGS).contains("TEAMS"));
    // A flag answers for all of them.
    let shown = in_a_terminal(&home, &["install", "--permissions"], "");
    assert!(!shown.contains("[y/N]"), "{shown}");
}
