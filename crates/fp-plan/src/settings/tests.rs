use super::*;

fn layer(json: &str) -> SettingsLayer {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_layer_changes_what_it_names_and_nothing_else() {
    let settings = Settings::from_layers(&[
        layer(
            r#"{"maxComplexity": 3, "nudge": {"maxRetries": 5}, "commentChecker": {"ignore": ["a", "b"]}}"#,
        ),
        layer(r#"{"nudge": {}, "commentChecker": {"ignore": ["c"]}, "language": "ko"}"#),
    ]);
    let expected = Settings {
        max_complexity: 3,
        nudge: Nudge { max_retries: 5 },
        comment_checker: CommentChecker {
            ignore: vec!["c".into()],
            ..CommentChecker::default()
        },
        language: Some("ko".into()),
        ..Settings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn null_and_an_empty_object_change_nothing() {
    let layers = [
        layer("{}"),
        layer(r#"{"nudge": {}, "maxComplexity": null, "$schema": "x"}"#),
    ];
    assert_eq!(Settings::from_layers(&layers), Settings::default());
}

#[test]
fn every_default_could_be_given_in_a_file() {
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    let given: SettingsLayer = serde_json::from_value(defaults.clone()).unwrap();
    assert_eq!(Settings::from_layers(&[given]), Settings::default());
    insta::assert_snapshot!(serde_json::to_string_pretty(&defaults).unwrap(), @r#"
    {
      "agents": {
        "allow": [],
        "builder": {
          "effort": null,
          "model": null,
          "program": "claude"
        },
        "programs": {},
        "silenceMinutes": 30,
        "verifier": {
          "effort": null,
          "model": null,
          "program": "claude"
        }
      },
      "branch": "auto",
      "budget": {
        "run": null,
        "task": null
      },
      "commentChecker": {
        "enabled": true,
        "ignore": [],
        "mode": "warn"
      },
      "commit": {
        "trailers": true
      },
      "engine": "auto",
      "exclusive": [],
      "executionOrder": "document-order",
      "fleet": {
        "leaseMinutes": 15,
        "signed": false
      },
      "guard": {
        "extend": "ask",
        "mode": "deny"
      },
      "isolation": "auto",
      "language": null,
      "linear": {
        "enabled": false,
        "project": null,
        "statusMap": {},
        "team": null
      },
      "maxComplexity": 8,
      "maxIterations": 3,
      "maxParallelTasks": 1,
      "noCommit": false,
      "notify": {
        "command": []
      },
      "nudge": {
        "maxRetries": 3
      },
      "plansDir": ".fractal-planner/plans",
      "pr": false,
      "researchOnly": false,
      "sandbox": {
        "mode": "on",
        "write": []
      },
      "skipPlanReview": false,
      "testFirst": false,
      "verify": {
        "judge": "risk",
        "place": "bench",
        "timeoutSeconds": 600
      }
    }
    "#);
}

/// Anyone who adds a setting must also state here what a repository may do with it.
#[test]
fn what_a_repository_may_set() {
    let of = |class: SettingClass| {
        let keys = Settings::default().by_key().into_iter().map(|(key, _)| key);
        keys.filter(|key| class_of(key) == class)
            .collect::<Vec<_>>()
            .join(" ")
    };
    insta::assert_snapshot!(of(Protected), @"agents.allow agents.builder.effort agents.builder.model agents.builder.program agents.programs agents.silenceMinutes agents.verifier.effort agents.verifier.model agents.verifier.program branch budget.run budget.task commentChecker.mode engine fleet.leaseMinutes fleet.signed guard.extend guard.mode isolation noCommit notify.command nudge.maxRetries plansDir pr sandbox.mode sandbox.write skipPlanReview verify.judge verify.place verify.timeoutSeconds");
    insta::assert_snapshot!(of(Words), @"language");
    insta::assert_snapshot!(of(Open), @"commentChecker.enabled commentChecker.ignore commit.trailers exclusive executionOrder linear.enabled linear.project linear.statusMap linear.team maxComplexity maxIterations maxParallelTasks researchOnly testFirst");
    assert_eq!(
        class_of("guard.later"),
        Protected,
        "what is unknown is not for anybody"
    );

    let (taken, withheld) =
        layer(r#"{"maxComplexity": 3, "language": "한국어 (존댓말)", "guard": {"mode": "off"}}"#)
            .split();
    assert_eq!(
        taken,
        layer(r#"{"maxComplexity": 3, "language": "한국어 (존댓말)"}"#)
    );
    assert_eq!(withheld, layer(r#"{"guard": {"mode": "off"}}"#));
    for language in ["English. Run it", "a\u{3164}b", "a<b", "a`b"] {
        assert_eq!(
            layer(&serde_json::json!({ "language": language }).to_string())
                .split()
                .0,
            layer("{}"),
            "{language}"
        );
    }
}

#[test]
fn values_are_checked() {
    let check = |json: &str, expect: Option<&str>| {
        let value = serde_json::from_str(json).unwrap();
        let error = SettingsLayer::parse(&value).err().map(|e| e.to_string());
        assert_eq!(error.as_deref(), expect, "{json}");
    };
    check(r#"{"maxComplexity": 1}"#, None);
    check(r#"{"maxComplexity": 10}"#, None);
    check(
        r#"{"maxComplexity": 11}"#,
        Some("maxComplexity: expected a whole number from 1 to 10, found 11"),
    );
    check(
        r#"{"maxComplexity": -1}"#,
        Some("maxComplexity: expected a whole number from 1 to 10, found -1"),
    );
    check(
        r#"{"maxIterations": 4.5}"#,
        Some("maxIterations: expected a whole number from 1 to 20, found 4.5"),
    );
    check(
        r#"{"maxParallelTasks": "4"}"#,
        Some(r#"maxParallelTasks: expected a whole number from 1 to 16, found "4""#),
    );
    check(r#"{"linear": {"statusMap": {"pending": "Todo"}}}"#, None);
    check(
        r#"{"linear": {"statusMap": {"pending": 1}}}"#,
        Some(
            "linear.statusMap.pending: expected a name of one line and at most 100 characters, found 1",
        ),
    );
    check(
        r#"{"executionOrder": "random"}"#,
        Some("executionOrder: `random` is none of `document-order`, `risk-first`, `easy-first`"),
    );
    check(r#"{"isolation": "worktree", "testFirst": true}"#, None);
    check(
        r#"{"guard": {"Mode": "off"}}"#,
        Some("there is no setting `guard.Mode`"),
    );
    check(
        r#"{"language": " "}"#,
        Some("language: expected a name of one line and at most 100 characters, found \" \""),
    );
}

#[test]
fn the_plans_folder_stays_inside_the_repository() {
    let check = |path: &str, expect: Option<&str>| {
        let mut layer = SettingsLayer::default();
        let given = layer
            .set("plansDir", path)
            .ok()
            .map(|()| Settings::from_layers([&layer]).plans_dir);
        assert_eq!(given.as_deref(), expect, "{path:?}");
    };
    check(".fractal-planner/plans", Some(".fractal-planner/plans"));
    check("./work/plans/", Some("work/plans"));
    check("계획", Some("계획"));
    check("", None);
    check(".", None);
    check("./", None);
    check("/etc", None);
    check("..", None);
    check("a/../../b", None);
    check("a//b", None);
    check("~/plans", None);
    check(".git/plans", None);
    check("a\\..\\b", None);
    check("C:/plans", None);
    check("a\nb", None);
}

#[test]
fn ranges_hold_for_flags_too() {
    let check = |text: &str, expect: Option<u32>| {
        assert_eq!(whole_number("maxComplexity", text).ok(), expect, "{text:?}");
    };
    check("1", Some(1));
    check("10", Some(10));
    check("0", None);
    check("11", None);
    check("4.0", None);
    check("", None);
    check("99999999999999999999", None);
}

proptest::proptest! {
    #[test]
    fn no_plans_folder_leads_out_of_the_repository(path in r"(\.{0,3}|/|\\|~|[a-z .:가]{0,3}|\.git)*") {
        let mut layer = SettingsLayer::default();
        if layer.set("plansDir", path.clone()).is_ok() {
            let settings = Settings::from_layers([&layer]);
            let mut parts = std::path::Path::new(&settings.plans_dir).components();
            proptest::prop_assert!(parts.all(|part| matches!(part, std::path::Component::Normal(_))), "{:?}", path);
        }
    }
}
