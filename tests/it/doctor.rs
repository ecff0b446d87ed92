//! `fp doctor`: reports what is wrong with the setup and how to fix it, and touches nothing else. A stand-in takes the
//! place of the client.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use regex::Regex;

use crate::common::program::write_program;
use crate::common::{Environment, Output};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const ALLOWED: &str = r#"{"permissions": {"allow": ["Edit(.fractal-planner/plans/*/*.md)", "Edit(.fractal-planner/roadmaps/*.md)"]}}"#;

/// A repository, and a home with a client that has the plugin installed.
struct Home(Environment);

impl Home {
    /// No repository, and the plugin isn't installed.
    fn bare() -> Self {
        Self::with(Environment::new())
    }

    fn with(place: Environment) -> Self {
        let bin = place.beside("home/bin");
        fs::create_dir(&bin).unwrap();
        let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/client/claude");
        symlink(stand_in, bin.join("claude")).unwrap();
        let search = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
        let home = Self(place.env("PATH", search).env("XDG_DATA_HOME", ""));
        home.client("version", "2.1.329 (Claude Code)\n");
        home.client("offers", VERSION);
        home
    }

    fn installed() -> Self {
        Self::install(Self::with(Environment::new().repo()))
    }

    fn install(home: Self) -> Self {
        home.0.done(&["install"]);
        home.write(".claude/settings.json", ALLOWED);
        home
    }

    fn env(self, name: &str, value: &str) -> Self {
        Self(self.0.env(name, value))
    }

    /// `path` in the home.
    fn path(&self, path: &str) -> PathBuf {
        self.0.beside("home").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// Writes a file that holds part of the stand-in client's state.
    fn client(&self, file: &str, text: &str) {
        self.write(&format!("bin/{file}"), text);
    }

    /// `path` in the bundle.
    fn bundle(&self, path: &str) -> PathBuf {
        let data = if cfg!(target_os = "macos") {
            "Library/Application Support"
        } else {
            ".local/share"
        };
        self.path(data).join("fractal-planner/bundle").join(path)
    }

    /// Every file in the home and the repository, except the one in which the client records its calls.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.0.beside("home"), self.0.path("")];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if !path.ends_with("bin/calls") {
                    found.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// The doctor's output, with everything that depends on the machine masked: times, free space, and versions.
    fn doctor(&self) -> Output {
        masked(&self.0.fp(&["doctor"]))
    }

    /// The lines about `check`.
    fn says(&self, check: &str) -> String {
        let output = self.doctor();
        let mut lines = output.stdout.lines().skip(1).peekable();
        let mut found = String::new();
        let is_of = |line: &str| {
            line.get(11..24)
                .is_some_and(|name| name.trim_end() == check)
        };
        while let Some(line) = lines.next() {
            if is_of(line) {
                found.push_str(line);
                found.push('\n');
                while let Some(line) = lines.next_if(|line| line.starts_with("            ")) {
                    found.push_str(line);
                    found.push('\n');
                }
            }
        }
        assert!(!found.is_empty(), "nothing about {check}: {output}");
        found
    }
}

fn masked(output: &Output) -> Output {
    let mask = |text: &str| {
        [
            (r"(git          )\d+\.[\w.-]+", "${1}GIT"),
            (r"(?m)^(.*sandbox  +).*$", "${1}SANDBOX"),
        ]
        .into_iter()
        .fold(text.replace(VERSION, "VERSION"), |text, (pattern, name)| {
            Regex::new(pattern)
                .unwrap()
                .replace_all(&text, name)
                .into_owned()
        })
    };
    Output {
        stdout: mask(&output.stdout),
        ..output.clone()
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_setup_in_which_all_is_well() {
    let home = Home::installed();
    let before = home.files();
    assert_snapshot!(home.doctor(), @r#"
    exit status: 0
    --- stdout
    Setup of fp VERSION
      ok       client       Claude Code 2.1.329 at ~/bin/claude
      ok       plugin       fp@fractal-planner VERSION, scope user, from
                            ~/.local/share/fractal-planner/bundle
      ok       hooks        wired, and their program starts as fp VERSION
      ok       permissions  Edit(.fractal-planner/plans/*/*.md) and
                            Edit(.fractal-planner/roadmaps/*.md) are allowed
      ok       git          GIT
      ok       identity     A Person <person@example.com>
      ok       repository   [ROOT]/work
      ok       sandbox      SANDBOX
      ok       settings     all can be read

    Everything looks good

    To [ROOT]/home/.claude/settings.json, if you want it:
    {
      "env": {
        "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"
      },
      "statusLine": {
        "command": "[ROOT]/home/.local/share/fractal-planner/bundle/fp/bin/fp statusline",
        "type": "command"
      }
    }
    "#);
    assert_eq!(before, home.files(), "nothing was to be changed");
    let report = home.0.fp(&["doctor", "--format", "json"]).json();
    assert_eq!(
        (&report["errors"], &report["warnings"]),
        (&0.into(), &0.into()),
        "{report:#}"
    );
    let checks = report["findings"].as_array().unwrap();
    let names: Vec<&str> = checks
        .iter()
        .map(|check| check["check"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "client",
            "plugin",
            "hooks",
            "permissions",
            "git",
            "identity",
            "repository",
            "sandbox",
            "settings"
        ]
    );
    assert!(
        checks.iter().all(|check| check["command"].is_null()),
        "{report:#}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_there() {
    let home = Home::bare().env("PATH", "/nowhere").env("HOME", "");
    assert_snapshot!(home.doctor(), @"
    exit status: 1
    --- stdout
    Setup of fp VERSION
      error    client       Claude Code is not installed here: there is no `claude`
                            on PATH; get it: npm install -g
                            @anthropic-ai/claude-code; `--client PATH` takes another
                            one
      warning  hooks        not tried: there is no plugin
      warning  permissions  no rule Edit(.fractal-planner/plans/*/*.md) and
                            Edit(.fractal-planner/roadmaps/*.md): Claude Code may
                            ask about each page that agents write
      error    git          git was not found on PATH; install git, or add its
                            folder to PATH
      warning  repository   the current folder is in none, and plans need one
                            → git init
      ok       sandbox      SANDBOX
      ok       settings     all can be read

    2 errors, 3 warnings
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn everything_is_wrong_at_once() {
    let home = Home::installed()
        .env("GIT_AUTHOR_NAME", "")
        .env("GIT_CONFIG_GLOBAL", "");
    home.client("version", "2.1.199 (Claude Code)");
    fs::set_permissions(home.bundle("fp/bin/fp"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(home.bundle("fp/hooks/hooks.json"), "{}").unwrap();
    home.write(".claude/settings.json", "{\n  \"env\": {},\n}");
    home.write(
        ".config/fractal-planner/config.json",
        "{\n  \"maxComplexity\": 12\n}",
    );
    home.0.write(".fractal-planner/config.json", "{");
    home.0.write(".git/index.lock", "");
    let before = home.files();
    assert_snapshot!(home.doctor(), @r#"
    exit status: 1
    --- stdout
    Setup of fp VERSION
      error    permissions  ~/.claude/settings.json: trailing comma at line 3 column
                            1; fix the file by hand, since Claude Code ignores all
                            of it as it is
      error    client       ~/bin/claude says that it is "2.1.199 (Claude Code)",
                            and claude 2.1.200 or newer is needed; update claude,
                            and see which one is first on PATH; `--client PATH`
                            takes another one
      error    hooks        the plugin's hooks.json is not the one of this version
                            → fp install
      warning  permissions  no rule Edit(.fractal-planner/plans/*/*.md) and
                            Edit(.fractal-planner/roadmaps/*.md): Claude Code may
                            ask about each page that agents write
      ok       git          GIT
      error    git          .git/index.lock keeps git from committing; if no git is
                            running, a killed one has left it: remove it
                            → rm [ROOT]/work/.git/index.lock
      error    identity     git does not know your name and address, and refuses to
                            commit
                            → git config --global user.name NAME; git config --global user.email ADDRESS
      ok       repository   [ROOT]/work
      ok       sandbox      SANDBOX
      error    settings     ~/.config/fractal-planner/config.json: maxComplexity:
                            expected a whole number from 1 to 10, found 12; `fp help
                            config` says what each setting takes

    6 errors, 1 warning

    To [ROOT]/home/.claude/settings.json, if you want it:
    {
      "env": {
        "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"
      },
      "permissions": {
        "allow": [
          "Edit(.fractal-planner/plans/*/*.md)",
          "Edit(.fractal-planner/roadmaps/*.md)"
        ]
      },
      "statusLine": {
        "command": "[ROOT]/home/.local/share/fractal-planner/bundle/fp/bin/fp statusline",
        "type": "command"
      }
    }
    "#);
    assert_eq!(before, home.files(), "nothing was to be changed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_rule_that_allows_every_command_is_told_with_its_file() {
    let home = Home::installed();
    home.write(
        ".claude/settings.json",
        &ALLOWED.replace('[', "[\"Bash(fp *)\", "),
    );
    home.0.write(
        ".claude/settings.local.json",
        r#"{"permissions": {"allow": ["Bash(fp:*)"]}}"#,
    );
    assert_snapshot!(home.says("permissions"), @"
    ok       permissions  Edit(.fractal-planner/plans/*/*.md) and
                          Edit(.fractal-planner/roadmaps/*.md) are allowed
    warning  permissions  ~/.claude/settings.json allows Bash(fp *): any agent can
                          approve plans and change settings; remove that
    warning  permissions  .claude/settings.local.json allows Bash(fp:*): any agent
                          can approve plans and change settings; remove that
    ");
}

#[test]
fn the_plugin_as_the_client_has_it() {
    let home = Home::installed();
    let check = |plugins: &str, expect: &str| {
        home.client("plugins.json", &plugins.replace("VERSION", VERSION));
        let said = home
            .says("plugin")
            .replace("                        ", " ")
            .replace('\n', "");
        let from = home
            .bundle("")
            .display()
            .to_string()
            .replace(home.path("").to_str().unwrap(), "~/");
        assert_eq!(
            said.replace(from.trim_end_matches('/'), "BUNDLE"),
            expect,
            "{plugins}"
        );
    };
    let there = r#""id":"fp@fractal-planner","version":"VERSION","enabled":true"#;
    let none = "  error    plugin       Claude Code does not have it here → fp install";
    check("[]", none);
    check(
        &format!(r#"[{{{there},"scope":"project","projectPath":"/other"}}]"#),
        none,
    );
    check(
        &format!(r#"[{{{there},"scope":"user"}},{{{there},"scope":"local"}}]"#),
        "  ok       plugin       fp@fractal-planner VERSION, scope local, from BUNDLE",
    );
    check(
        r#"[{"id":"fp@fractal-planner","version":"VERSION","scope":"local","enabled":false}]"#,
        "  error    plugin       it is switched off, scope local → claude plugin enable fp@fractal-planner --scope local",
    );
    // For each scope, the client reports the combined result; the nearest scope is the one that disables the plugin.
    let off = there.replace("true", "false");
    check(
        &format!(r#"[{{{off},"scope":"user"}},{{{off},"scope":"project"}}]"#),
        "  error    plugin       it is switched off, scope project \
         → claude plugin enable fp@fractal-planner --scope project",
    );
    check(
        r#"[{"id":"fp@fractal-planner","version":"0.1.0","scope":"user","enabled":true}]"#,
        "  warning  plugin       Claude Code has version 0.1.0, scope user, from BUNDLE; this program is VERSION → fp install",
    );
    check(
        "Plugins: none",
        "  error    plugin       `claude plugin list --json` gave an unexpected answer: expected value at line 1 \
         column 1; update Claude Code and fp to versions of about the same age",
    );
}

#[test]
fn a_plugin_from_elsewhere_is_looked_at_where_the_client_reads_it() {
    let home = Home::installed();
    fs::rename(home.bundle(""), home.path("elsewhere")).unwrap();
    home.client(
        "marketplaces.json",
        r#"[{"name":"fractal-planner","source":"github","repo":"o/r"}]"#,
    );
    let folder = home.path("elsewhere/fp");
    home.client(
        "plugins.json",
        &format!(
            r#"[{{"id":"fp@fractal-planner","version":"{VERSION}","scope":"user","enabled":true,"installPath":"{}"}}]"#,
            folder.display()
        ),
    );
    assert_eq!(
        home.says("plugin"),
        "  ok       plugin       fp@fractal-planner VERSION, scope user, from o/r\n"
    );
    assert_eq!(
        home.says("hooks"),
        "  ok       hooks        wired, and their program starts as fp VERSION\n"
    );
    fs::remove_file(folder.join("bin/fp")).unwrap();
    assert_snapshot!(home.says("hooks"), @"
    error    hooks        ~/elsewhere/fp/bin/fp can't be started: no such file or
                          directory
                          → claude plugin update fp@fractal-planner
    ");
}

/// Replaces the plugin's program with a script.
fn program(home: &Home, script: &str) {
    let path = home.bundle("fp/bin/fp");
    fs::remove_file(&path).unwrap();
    write_program(&path, format!("#!/bin/sh\n{script}\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_of_the_hooks_is_started() {
    let home = Home::installed();
    let check = |script: &str| {
        program(&home, script);
        home.says("hooks")
    };
    assert_snapshot!(check("exit 2"), @"
    error    hooks        ~/.local/share/fractal-planner/bundle/fp/bin/fp failed
                          with status 2
                          → fp install
    ");
    assert_snapshot!(check("echo fp 0.1.0"), @r#"
    error    hooks        ~/.local/share/fractal-planner/bundle/fp/bin/fp says "fp
                          0.1.0", and is not fp VERSION
                          → fp install
    "#);
    assert_snapshot!(check("kill -9 $$"), @"
    error    hooks        ~/.local/share/fractal-planner/bundle/fp/bin/fp was
                          killed by signal 9
                          → fp install
    ");
    home.write(".claude/settings.json", r#"{"disableAllHooks": true}"#);
    assert_snapshot!(check(""), @"
    warning  hooks        switched off by disableAllHooks in
                          ~/.claude/settings.json: nothing keeps builders to their
                          task
    ");
}

#[test]
fn a_client_that_hangs_is_given_up() {
    let home = Home::bare();
    let client = home.path("slow");
    write_program(&client, "#!/bin/sh\nsleep 60\n");
    let began = std::time::Instant::now();
    let output = home.0.fp(&["doctor", "--client", client.to_str().unwrap()]);
    assert!(began.elapsed().as_secs() < 40, "{output}");
    assert!(
        output.stdout.contains("claude 2.1.200 or newer"),
        "{output}"
    );
}

#[test]
fn files_that_cannot_be_read_are_told_and_stop_nothing() {
    let home = Home::installed();
    for folder in [
        ".claude/settings.json",
        ".config/fractal-planner/config.json",
    ] {
        drop(fs::remove_file(home.path(folder)));
        fs::create_dir_all(home.path(folder)).unwrap();
    }
    home.0
        .write(".fractal-planner/config.json", b"{\"language\": \"\xff\"}");
    assert!(
        home.says("permissions").starts_with(
            "  error    permissions  ~/.claude/settings.json is not a file; name a file"
        )
    );
    assert_snapshot!(home.says("settings"), @"
    error    settings     ~/.config/fractal-planner/config.json is not a file;
                          name a file, or move what is in its place out of the way
    ");
}

#[test]
fn an_option_of_the_plugin_that_does_not_fit_is_told() {
    let home = Home::installed();
    let options = r#"{"pluginConfigs": {"fp@fractal-planner": {"options": {"linear": 1}}}}"#;
    home.write(".claude/settings.json", options);
    assert_snapshot!(home.says("settings"), @"
    error    settings     ~/.claude/settings.json: fp@fractal-planner:
                          linear.enabled: expected a boolean, found 1; `fp help
                          config` says what each setting takes
    ");
}

#[test]
fn a_folder_of_a_linked_worktree_is_named_with_its_repository() {
    let home = Home::installed();
    home.0
        .git(&["worktree", "add", "--quiet", "--detach", "inner"]);
    home.0.write("inner/below/a.txt", "");
    home.client(
        "plugins.json",
        &format!(
            r#"[{{"id":"fp@fractal-planner","version":"{VERSION}","scope":"project","enabled":true,"projectPath":"{}"}}]"#,
            home.0.path("inner").display()
        ),
    );
    let said = home.0.fp_in("inner/below", &["doctor"]).stdout;
    assert!(said.contains("  ok       repository   inner\n"), "{said}");
    assert!(
        said.contains(&format!(
            "  ok       plugin       fp@fractal-planner {VERSION}, scope project, from"
        )),
        "{said}"
    );
}
