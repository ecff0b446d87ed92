//! Tests of the Markdown and JSON that ships: a mistake in it goes unnoticed in the client, so it has to be loud here.

mod checks;
mod command_line;
mod commands_page;
mod messages;
mod page;
mod words;

use fp_plan::settings::SettingKind;
use serde_json::{Value, json};

use self::checks::Outcome;
use self::page::{PageKind, Plugin};
use crate::assets;

type Check = fn(&Plugin) -> Outcome;

/// Each check with a page that it must reject, and the finding.
fn checks() -> Vec<(Check, &'static str, String, &'static str)> {
    let skill = "skills/a/SKILL.md";
    let agent = "agents/a.md";
    let front = |keys: &str| format!("---\n{keys}\n---\n");
    let ignored = "key String(\"hooks\") is ignored by the client";
    let how = "it does not say when to use it, in \"Use when\"";
    let whose = "the description is not for people";
    vec![
        (
            checks::commands,
            skill,
            "```\nfp no-such\n```".into(),
            "`fp no-such`: there is no such command",
        ),
        (
            checks::links,
            skill,
            "[b](references/b.md)".into(),
            "link to references/b.md",
        ),
        (
            checks::references,
            "README.md",
            "start `fp:nobody`".into(),
            "fp:nobody does not exist",
        ),
        (checks::keys, agent, front("name: a\nhooks: none"), ignored),
        (
            checks::tools,
            agent,
            front("tools: Read, Task"),
            "no tool \"Task\"",
        ),
        (
            checks::own_commands,
            skill,
            front("allowed-tools: Read, Bash(fp *)"),
            "allowed-tools has every command of fp",
        ),
        (
            checks::descriptions,
            agent,
            front("description: Spawns builders"),
            how,
        ),
        (
            checks::descriptions,
            skill,
            front("description: Use when a\nwhen_to_use: Use when a"),
            whose,
        ),
        (
            checks::budgets,
            agent,
            "word ".repeat(701),
            "701 words, of at most 700",
        ),
        (
            checks::placeholders,
            skill,
            "fp next $PLAN".into(),
            "$PLAN is not substituted here",
        ),
    ]
}

fn shipped() -> Plugin {
    let files = assets::plugin_files();
    Plugin::new(files.iter().map(|file| (file.path.as_str(), file.contents)))
}

fn json(path: &str) -> Value {
    let files = assets::plugin_files();
    let file = files.iter().find(|file| file.path == path).unwrap();
    serde_json::from_slice(file.contents).unwrap()
}

#[test]
fn what_ships_passes_every_check() {
    let plugin = shipped();
    let findings: Vec<_> = checks()
        .iter()
        .flat_map(|(check, ..)| check(&plugin).into_findings())
        .collect();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn every_check_finds_what_it_is_for() {
    for (check, path, text, objection) in checks() {
        let sample = Plugin::new([(path, text.as_bytes())]);
        assert_eq!(
            check(&sample).into_findings(),
            [format!("{path}: {objection}")]
        );
    }
}

#[test]
fn a_check_that_has_checked_nothing_fails() {
    let empty = Plugin::new([("README.md", b"nothing to see".as_slice())]);
    for (check, _, _, objection) in checks() {
        assert_eq!(
            check(&empty).into_findings(),
            ["nothing was checked"],
            "{objection}"
        );
    }
}

#[test]
fn the_finer_points_of_the_checks() {
    let check = |check: Check, path: &str, text: &str, expect: &[&str]| {
        let sample = Plugin::new([(path, text.as_bytes()), ("skills/a/references/b.md", b"")]);
        assert_eq!(check(&sample).findings, expect, "{text}");
    };
    let page = "skills/a/SKILL.md";
    check(
        checks::links,
        page,
        "[b](references/b.md#part) [c](https://example.com)",
        &[],
    );
    check(
        checks::links,
        page,
        "[b](../../../b.md)",
        &["skills/a/SKILL.md: link to ../../../b.md"],
    );
    check(
        checks::links,
        page,
        "${CLAUDE_PLUGIN_ROOT}/skills/a/references/b.md",
        &[],
    );
    let root = "skills/a/SKILL.md: path ${CLAUDE_PLUGIN_ROOT}/b.md";
    check(
        checks::links,
        page,
        "see ${CLAUDE_PLUGIN_ROOT}/b.md.",
        &[root],
    );
    check(checks::references, page, "`/fp:a`", &[]);
    check(
        checks::tools,
        page,
        "---\nallowed-tools: Bash(git log, x), Read\n---\n",
        &[],
    );
    let list = "skills/a/SKILL.md: allowed-tools is not a line of names";
    check(
        checks::tools,
        page,
        "---\nallowed-tools: [Read]\n---\n",
        &[list],
    );
    check(
        checks::keys,
        page,
        "no keys",
        &["skills/a/SKILL.md: no readable keys"],
    );
    check(
        checks::keys,
        page,
        "---\nname: b\n---\n",
        &["skills/a/SKILL.md: name \"b\" is not its own"],
    );
    check(
        checks::placeholders,
        page,
        "$ARGUMENTS ${CLAUDE_SKILL_DIR}",
        &[],
    );
    let one = "agents/a.md: $ARGUMENTS is not substituted here";
    check(
        checks::placeholders,
        "agents/a.md",
        "$ARGUMENTS ${CLAUDE_PLUGIN_ROOT}",
        &[one],
    );
    let long = format!(
        "---\nname: a\ndescription: Do it\nwhen_to_use: Use when {}\n---\n",
        "x".repeat(287)
    );
    check(
        checks::descriptions,
        page,
        &long,
        &["skills/a/SKILL.md: a description of 301 characters"],
    );
}

#[test]
fn the_manifest_agrees_with_the_program() {
    let manifest = json(".claude-plugin/plugin.json");
    assert_eq!(manifest["name"], "fp");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["license"], env!("CARGO_PKG_LICENSE"));
    assert_eq!(manifest["author"]["name"], env!("CARGO_PKG_AUTHORS"));
    let oldest = fp_host::agents::OLDEST_CLAUDE;
    assert_eq!(manifest["engines"]["claude-code"], format!(">={oldest}"));
}

/// Every option that the client asks for when the plugin is enabled must be a setting, with the same range and default.
#[test]
fn the_plugins_options_are_settings() {
    let manifest = json(".claude-plugin/plugin.json");
    let options = manifest["userConfig"].as_object().unwrap();
    let mut names: Vec<&str> = fp_host::config::PLUGIN_OPTIONS
        .iter()
        .map(|(option, _)| *option)
        .collect();
    names.sort_unstable();
    assert_eq!(options.keys().collect::<Vec<_>>(), names);
    for (option, setting) in fp_host::config::PLUGIN_OPTIONS {
        let said = &options[option];
        let (kind, min, max) = match fp_plan::settings::kind_of(setting).unwrap() {
            SettingKind::Flag => ("boolean", None, None),
            SettingKind::Whole(min, max) => ("number", Some(min), Some(max)),
            _ => ("string", None, None),
        };
        assert_eq!(
            (&said["type"], &said["min"], &said["max"]),
            (&json!(kind), &json!(min), &json!(max)),
            "{option}"
        );
        let defaults = serde_json::to_value(fp_plan::settings::Settings::default()).unwrap();
        let default = setting.split('.').fold(&defaults, |group, key| &group[key]);
        assert_eq!(&said["default"], default, "{option}");
    }
}

#[test]
fn the_published_marketplace_offers_this_plugin() {
    let text = include_str!("../../.claude-plugin/marketplace.json");
    let catalog: Value = serde_json::from_str(text).unwrap();
    let manifest = json(".claude-plugin/plugin.json");
    assert_eq!(catalog["name"], fp_host::claude::MARKETPLACE);
    assert_eq!(catalog["owner"], manifest["author"]);
    assert_eq!(catalog["plugins"].as_array().unwrap().len(), 1);
    let offer = &catalog["plugins"][0];
    for key in ["name", "description", "license"] {
        assert_eq!(offer[key], manifest[key], "{key}");
    }
    assert_eq!(offer["source"]["ref"], "dist");
}

#[test]
fn every_hook_calls_this_program_and_gives_up_soon() {
    let wiring = json("hooks/hooks.json");
    let mut events = Vec::new();
    for (event, groups) in wiring["hooks"].as_object().unwrap() {
        for hook in groups
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["hooks"].as_array().unwrap())
        {
            assert_eq!(hook["command"], "${CLAUDE_PLUGIN_ROOT}/bin/fp", "{event}");
            assert!(
                hook["timeout"].as_u64().is_some_and(|seconds| seconds <= 5),
                "{event}"
            );
            let words: Vec<_> = hook["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap())
                .collect();
            assert_eq!(
                command_line::mistake(&format!("fp {}", words.join(" ")), false),
                None
            );
            events.push(event.as_str());
        }
    }
    let every = [
        "PostToolUse",
        "PreCompact",
        "PreToolUse",
        "SessionStart",
        "Stop",
        "SubagentStop",
        "TeammateIdle",
        "UserPromptSubmit",
    ];
    assert_eq!(events, every);
    let matcher = |event: &str| {
        wiring["hooks"][event][0]["matcher"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        matcher("PreToolUse"),
        "Bash|Write|Edit|MultiEdit|NotebookEdit|CronCreate|ScheduleWakeup"
    );
    assert_eq!(
        matcher("PostToolUse"),
        "Write|Edit|MultiEdit|NotebookEdit|Agent|SendMessage|AskUserQuestion"
    );
}

#[test]
fn the_icon_is_a_square_picture() {
    let files = assets::plugin_files();
    let icon = files
        .iter()
        .find(|file| file.path == ".claude-plugin/icon.png")
        .unwrap()
        .contents;
    assert!(icon.starts_with(b"\x89PNG\r\n\x1a\n") && icon.ends_with(b"IEND\xaeB`\x82"));
    let side = |at: usize| u32::from_be_bytes(icon[at..at + 4].try_into().unwrap());
    assert_eq!(side(16), side(20));
    assert!((512..=1024).contains(&side(16)));
}

/// The figures for the pages of these kinds, as table rows, with a row for all of them.
fn figures(plugin: &Plugin, all: &str, kinds: &[PageKind]) -> String {
    let row =
        |name: &str, words: usize, tokens: usize| format!("| {name} | {words} | {tokens} |\n");
    let pages: Vec<_> = kinds
        .iter()
        .flat_map(|kind| plugin.of_kind(*kind))
        .collect();
    assert!(!pages.is_empty(), "{all}");
    let rows: String = pages
        .iter()
        .map(|page| row(&page.path, page.words(), page.tokens()))
        .collect();
    let sum = |of: fn(&page::Page) -> usize| pages.iter().map(|page| of(page)).sum();
    rows + &row(
        &format!("**{all}**"),
        sum(page::Page::words),
        sum(page::Page::tokens),
    )
}

#[test]
#[expect(clippy::print_stdout, reason = "its table is what it is run for")]
fn figures_of_every_page() {
    let plugin = shipped();
    let skills = figures(
        &plugin,
        "all skills",
        &[PageKind::Skill, PageKind::Reference],
    );
    let agents = figures(&plugin, "all agents", &[PageKind::Agent]);
    println!("| page | words | tokens, about |\n| --- | --- | --- |\n{skills}{agents}");
    let described = include_str!("../../docs/internals/prompts.md");
    assert!(
        described.contains(&(skills + &agents)),
        "docs/internals/prompts.md has other figures"
    );
}
