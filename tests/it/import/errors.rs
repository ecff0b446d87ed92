//! Input that can't be imported, and the errors about it.

use std::fs;

use insta::assert_snapshot;

use super::lay_out;
use crate::common::Environment;

#[test]
fn nothing_that_is_known() {
    let environment = Environment::new().repo();
    assert_snapshot!(environment.fp(&["import", "nowhere"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/nowhere can't be read: no such file or directory
    hint: check the path
    ");
    environment.write("notes/a.md", "# Notes\n");
    environment.write("notes/b.txt", "text\n");
    assert_snapshot!(environment.fp(&["import", "notes"]), @r"
    exit status: 2
    --- stderr
    error: notes: no format of a plan is recognised in a.md, b.txt
    hint: `/fp:plan --import PATH` in Claude Code makes a plan of any texts; `fp import` reads:
      task-master: tasks.json with `dependencies` or `subtasks`
      boxes: tasks.md with lines like `- [ ] 1.1` or `- [ ] T001`, as OpenSpec, Kiro and spec-kit write it
      fractal-planner: tasks.md with lines like `- [ID: 1]`
      json: a .json file with `schemaVersion`, `title` and `tasks`
    ");
    environment.write("empty/b.rs", "text\n");
    let nothing = environment.fp(&["import", "empty"]);
    assert_eq!(nothing.code, 2);
    assert!(
        nothing.stderr.starts_with(
            "error: empty: no format of a plan is recognised: there is no file of text to read\nNot read:\n  \
             files of other kinds are not read: b.rs\n"
        ),
        "{nothing}"
    );
}

#[test]
fn several_formats_and_several_plans() {
    let environment = Environment::new().repo();
    lay_out(&environment, "task-master/flat", "both");
    lay_out(&environment, "boxes/spec-kit", "both");
    assert_snapshot!(environment.fp(&["import", "both"]), @r"
    exit status: 2
    --- stderr
    error: both: it could be of several formats:
      task-master, by tasks.json
      boxes, by tasks.md
    hint: name the folder or the file of one of them
    ");
    lay_out(&environment, "boxes/kiro", "works/one");
    lay_out(&environment, "boxes/open-spec", "works/two");
    assert_snapshot!(environment.fp(&["import", "works"]), @r"
    exit status: 2
    --- stderr
    error: works: there are several plans of boxes in it: one, two
    hint: name the folder of one of them
    ");
}

#[test]
fn files_that_can_not_be_read() {
    let environment = Environment::new().repo();
    environment.write(
        "tasks.json",
        "{\n  \"tasks\": [\n    { \"id\": 1,, }\n  ]\n}\n",
    );
    assert_snapshot!(environment.fp(&["import", "tasks.json"]), @r"
    exit status: 2
    --- stderr
    error: tasks.json:3:15: not valid JSON: key must be a string
    hint: correct that place, and import again
    ");
    environment.write(
        "newer.json",
        r#"{"schemaVersion": 2, "title": "T", "tasks": [{"id": "1", "title": "A"}]}"#,
    );
    assert_snapshot!(environment.fp(&["import", "newer.json"]), @r"
    exit status: 2
    --- stderr
    error: newer.json: written by a newer fp (version 2 of the format, this fp reads 1)
    hint: update fp: `fp --version` says what this one is
    ");
    environment.write("bytes.md", b"- [ ] T001 \xff\n");
    assert_snapshot!(environment.fp(&["import", "bytes.md"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/bytes.md:1:12: not UTF-8 text
    hint: save the file as UTF-8
    ");
    fs::create_dir(environment.path("many")).unwrap();
    for number in 0..=5_000 {
        fs::write(environment.path(&format!("many/{number}.md")), "").unwrap();
    }
    assert_snapshot!(environment.fp(&["import", "many"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/many has more than a plan: at most 5000 files are read
    hint: name the folder or the file of the plan itself
    ");
}

#[test]
fn what_was_not_read_is_named() {
    let environment = Environment::new().repo();
    environment.write("bytes/tasks.md", b"- [ ] T001 \xff\n");
    let refused = environment.fp(&["import", "bytes"]);
    let told =
        "file of text to read\nNot read:\n  tasks.md:1:12: not UTF-8 text; it is left out\nhint: ";
    assert!(
        refused.code == 2 && refused.stderr.contains(told),
        "{refused}"
    );
}

#[test]
#[cfg(unix)]
fn a_link_out_of_the_repository() {
    let environment = Environment::new().repo();
    let outside = environment.path("../outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("tasks.md"), "- [ ] T001 Add a.txt\n").unwrap();
    std::os::unix::fs::symlink(&outside, environment.path("specs")).unwrap();
    for path in ["specs", "specs/tasks.md"] {
        let refused = environment.fp(&["new", "--import", path]);
        assert_eq!(refused.code, 1, "{refused}");
        let told = format!(
            "error: {path} is a link that leads out of the repository\nhint: if that is the plan you mean"
        );
        assert!(refused.stderr.starts_with(&told), "{refused}");
    }
    environment.done(&["new", "--import", "../outside"]);
    fs::create_dir(environment.path("inside")).unwrap();
    fs::write(
        environment.path("inside/tasks.md"),
        "- [ ] T001 Add a.txt\n",
    )
    .unwrap();
    std::os::unix::fs::symlink("inside", environment.path("link")).unwrap();
    environment.done(&["new", "--import", "link"]);
}

#[test]
fn hostile_texts_come_out_as_texts() {
    let environment = Environment::new().repo();
    let hostile = "\u{1b}[31m\u{0}] (Complexity: 9)\n- [ID: 9] x\n## [8] y\n<!-- \n```\n$(touch ran) `touch ran`";
    let task = serde_json::json!({
        "id": "../../etc/passwd", "title": hostile, "description": hostile, "acceptance": [hostile, "none", ""],
        "files": [{ "path": "/etc/passwd" }, { "path": "~/x" }, { "path": "..\\x" }, { "path": hostile }],
        "dependencies": [hostile], "verify": hostile, "testCommands": [hostile], "hints": ["x".repeat(100_000)],
    });
    let plan = serde_json::json!({ "schemaVersion": 1, "title": hostile, "goal": hostile, "tasks": [task, { "id": "b", "title": "After it" }] });
    environment.write("hostile.json", plan.to_string());
    let output = environment.done(&["import", "hostile.json"]);
    assert!(!output.stdout.contains('\u{1b}'), "{output}");
    let said = environment
        .done(&["import", "hostile.json", "--dry-run", "--format", "json"])
        .json();
    assert_eq!(said["tasks"]["leaves"], 2, "{said}");
    assert!(said["validation"]["errors"].as_u64() >= Some(3), "{said}");
    assert!(!environment.path("ran").exists());
}
