//! Disks that can't be written to, in a mount namespace of their own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use insta::assert_snapshot;

use crate::bad_input::{plan_file, started, two_tasks};
use crate::common::plan::PLAN;
use crate::common::{Environment, Output};

/// The working folder on a disk of its own, visible only to processes started with `Disk::run`.
struct Disk<'a> {
    environment: &'a Environment,
    keeper: Child,
}

impl<'a> Disk<'a> {
    /// Runs the mount commands in `script`; `None` if mounting isn't allowed.
    fn mount(environment: &'a Environment, script: &str) -> Option<Self> {
        fs::create_dir(environment.beside("disk")).unwrap();
        let mut command = environment.command("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]);
        command.arg(format!("set -e; {script}; echo ready; exec sleep 600"));
        command
            .env("WORK", environment.path(""))
            .env("DISK", environment.beside("disk"));
        let mut keeper = command
            .current_dir("/")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let disk = Self {
            environment,
            keeper,
        };
        if line != "ready\n" {
            assert!(
                std::env::var_os("FP_REQUIRE_MOUNT").is_none(),
                "nothing can be mounted"
            );
            println!("skipped: nothing can be mounted here");
            return None;
        }
        Some(disk)
    }

    fn read_only(environment: &'a Environment) -> Option<Self> {
        Self::mount(
            environment,
            "mount --bind \"$WORK\" \"$WORK\"; mount -o remount,bind,ro \"$WORK\"",
        )
    }

    fn small(environment: &'a Environment) -> Option<Self> {
        Self::mount(
            environment,
            "mount -t tmpfs -o size=4m tmpfs \"$DISK\"; cp -a \"$WORK/.\" \"$DISK\"; mount --bind \"$DISK\" \"$WORK\"",
        )
    }

    /// Runs a program on the disk.
    fn run(&self, program: &str, args: &[&str]) -> Output {
        let mut command = self.environment.command("nsenter");
        command.args([
            "--user",
            "--preserve-credentials",
            "--mount",
            "--target",
            &self.keeper.id().to_string(),
        ]);
        // Within the namespace, the same path leads to another folder.
        command
            .args(["sh", "-c", "cd \"$0\" && exec \"$@\""])
            .arg(self.environment.path(""));
        let output = command.arg(program).args(args).output().unwrap();
        let text = |bytes: &[u8]| self.environment.shown(bytes);
        let code = output.status.code().unwrap_or(-1);
        Output {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            code,
        }
        .masked()
    }

    fn fp(&self, args: &[&str]) -> Output {
        self.run(env!("CARGO_BIN_EXE_fp"), args)
    }

    fn sh(&self, script: &str) -> String {
        self.run("sh", &["-c", script]).stdout
    }

    fn fill(&self) {
        let left = self.sh("head -c 8M /dev/zero > .git/filler; df --output=avail . | tail -1");
        assert_eq!(left.trim(), "0", "the disk is full");
    }

    fn make_room(&self) {
        self.sh("rm -f .git/filler");
    }

    fn read(&self, path: &str) -> String {
        self.sh(&format!("cat '{path}'"))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        drop(self.keeper.kill());
        drop(self.keeper.wait());
    }
}

#[test]
fn a_read_only_disk_can_be_read() {
    let environment = started();
    environment.build("builder-1", "a.txt", "about 1\n");
    let Some(disk) = Disk::read_only(&environment) else {
        return;
    };
    assert_eq!(
        disk.fp(&["status", PLAN]),
        environment.fp(&["status", PLAN])
    );
    assert_eq!(disk.fp(&["plans"]), environment.fp(&["plans"]));
    assert_snapshot!(disk.fp(&["next", PLAN]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/lock can't be used: read-only file system
    hint: the disk is mounted read-only: work on one that can be written
    ");
    assert_snapshot!(disk.fp(&["claim", PLAN, "--as", "builder-2"]), @r"
    exit status: 3
    --- stderr
    error: nothing is ready: 0 of 2 tasks are over; under way: 1 (verifying, builder-1)
    hint: end your turn: you are told when there is something
    ");
    assert_snapshot!(disk.fp(&["verdict", PLAN, "1", "--pass", "1: seen"]), @"
    exit status: 2
    --- stderr
    error: `git write-tree` ended with status 128: error: unable to create temporary file: Read-only file system
    fatal: git-write-tree: error building trees
    hint: the disk is mounted read-only: work on one that can be written
    ");
    assert_snapshot!(disk.fp(&["note", PLAN, "add", "UTIL: x"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/lock can't be used: read-only file system
    hint: the disk is mounted read-only: work on one that can be written
    ");
    assert_snapshot!(disk.fp(&["hook", "teammate-idle"]), @r"
    exit status: 0
    --- stderr
    fp hook teammate-idle: the event is not JSON: EOF while parsing a value at line 1 column 0
    ");
    drop(disk);
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit "),
        "nothing was lost"
    );
}

#[test]
fn an_approval_on_a_read_only_disk() {
    let environment = Environment::new().repo();
    environment.plan(&two_tasks());
    let Some(disk) = Disk::read_only(&environment) else {
        return;
    };
    assert_snapshot!(disk.fp(&["approve", PLAN, "--yes"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/lock can't be used: read-only file system
    hint: the disk is mounted read-only: work on one that can be written
    ");
    assert_snapshot!(disk.fp(&["validate", PLAN, "--fix"]), @r"
    exit status: 0
    --- stdout
    .fractal-planner/plans/sample-20261121/tasks.md: valid, 2 leaf tasks, 0 errors, 0 warnings
    ");
}

#[test]
fn on_a_full_disk_nothing_is_lost_and_with_room_the_run_goes_on() {
    let environment = Environment::new().repo();
    environment.plan(&two_tasks());
    let Some(disk) = Disk::small(&environment) else {
        return;
    };
    let log = || disk.read(&plan_file("events.jsonl"));
    // Runs a command on the full disk, then again after making room.
    let step = |args: &[&str]| {
        disk.fill();
        let before = log();
        let full = disk.fp(args);
        assert!(
            log().starts_with(&before),
            "{args:?}: what was written stays"
        );
        assert!(full.code == 0 || full.code == 2, "{args:?}: {full}");
        if full.code == 2 {
            assert!(
                full.stderr.contains("hint: the disk is full: make room"),
                "{args:?}: {full}"
            );
        }
        disk.make_room();
        let with_room = disk.fp(args);
        assert!(
            with_room.code == 0 || full.code == 0,
            "{args:?}: {with_room}"
        );
        (full, with_room)
    };
    assert_snapshot!(step(&["approve", PLAN, "--yes"]).0, @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl can't be used: no space left on device
    hint: the disk is full: make room and run the command again; nothing that was written is lost
    ");
    step(&["run", "start", PLAN, "--session", "s1"]);
    step(&["next", PLAN]);
    let (_, claim) = step(&["claim", PLAN, "--as", "builder-1", "--format", "json"]);
    assert_eq!(claim.json()["task"], "1");
    disk.sh("echo 'about 1' > a.txt");
    let submit = format!(
        "{fp} submit {PLAN} 1 --note 'UTIL: x' --claim $({fp} claim {PLAN} --as builder-1 --format json | sed -n 's/.*\"claim\": \"\\(.*\\)\",/\\1/p')",
        fp = env!("CARGO_BIN_EXE_fp")
    );
    disk.fill();
    assert_snapshot!(disk.run("sh", &["-c", &submit]), @r"
    exit status: 2
    --- stderr
    error: `git -c core.safecrlf=false update-index --add --remove --replace -z --stdin` ended with status 128: fatal: unable to write loose object file: No space left on device
    hint: the disk is full: make room and run the command again; nothing that was written is lost
    ");
    disk.make_room();
    assert_snapshot!(disk.run("sh", &["-c", &submit]), @r"
    exit status: 0
    --- stdout
    Task 1 handed in: 1 file changed
      a.txt
    End your turn now: a message tells you what is next.
    ");
    step(&["verify", PLAN, "1"]);
    disk.fill();
    assert_snapshot!(disk.fp(&["verdict", PLAN, "1", "--pass", "1: seen"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/evidence/task-1-verification.md can't be written: no space left on device
    hint: the disk is full: make room and run the command again; nothing that was written is lost
    ");
    disk.make_room();
    disk.fp(&["verdict", PLAN, "1", "--pass", "1: seen"]);
    assert_snapshot!(disk.fp(&["next", PLAN]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Tasks are ready: run `fp claim sample-20261121 --as builder-1`.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    assert_snapshot!(disk.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▰▰▰▰▰▱▱▱▱▱ 1 of 2 tasks done, 1 ready

      ● 2  ready      Write part 2
      ✓ 1  done       Write part 1  (1/3, [COMMIT])
    ");
    assert_snapshot!(disk.run("git", &["log", "--name-only", "--format=* %s"]).stdout, @r"
    * Write part 1

    a.txt
    * Start

    README.md
    ");
    assert_eq!(disk.run("git", &["status", "--short"]).stdout, "");
}

#[test]
fn an_entry_that_fits_only_in_part_is_taken_back() {
    let environment = Environment::new().repo();
    environment.plan(&two_tasks());
    environment.start(&[]);
    let Some(disk) = Disk::small(&environment) else {
        return;
    };
    let before = disk.read(&plan_file("events.jsonl"));
    disk.fill();
    // More than fits into the rest of the log's last block.
    let reason = "because ".repeat(1000);
    assert_snapshot!(disk.fp(&["cancel", PLAN, "1", "--reason", &reason]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl can't be used: no space left on device
    hint: the disk is full: make room and run the command again; nothing that was written is lost
    ");
    assert_eq!(disk.read(&plan_file("events.jsonl")), before);
    disk.make_room();
    assert_eq!(disk.fp(&["cancel", PLAN, "1", "--reason", &reason]).code, 0);
    assert_eq!(disk.fp(&["status", PLAN]).stderr, "", "no torn line");
}

#[test]
fn an_archive_on_another_disk() {
    let environment = Environment::new().repo();
    environment.plan(&two_tasks());
    fs::create_dir(environment.path(".fractal-planner/archive")).unwrap();
    let mount = "mount -t tmpfs tmpfs \"$WORK/.fractal-planner/archive\"";
    let Some(disk) = Disk::mount(&environment, mount) else {
        return;
    };
    assert_snapshot!(disk.fp(&["plans", "archive", PLAN]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/archive/sample-20261121 can't be written: invalid cross-device link
    hint: a folder is renamed into it, so both have to be on one disk
    ");
    assert!(
        environment.path(&plan_file("tasks.md")).exists(),
        "it is where it was"
    );
}

#[test]
fn without_the_folder_that_says_where_a_program_is() {
    let environment = Environment::new();
    let Some(disk) = Disk::mount(&environment, "mount -t tmpfs tmpfs /proc") else {
        return;
    };
    for args in [&["demo"][..], &["install", "--bundle", "bundle"]] {
        let output = disk.fp(args);
        insta::allow_duplicates! {
            assert_snapshot!(output, @"
            exit status: 2
            --- stderr
            error: the program fp can't find itself: no /proc/self/exe available. Is /proc mounted?
            hint: on Linux, mount /proc: it says where a program is
            ");
        }
    }
}
