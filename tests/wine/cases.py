"""Plays fp.exe under Wine, case by case: cases.py PLACE [NAME…]. `run` builds what it needs in PLACE."""

import getpass
import json
import os
import pty
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path(sys.argv[1]).resolve()
WORK = PLACE / "work"
PROFILE = PLACE / "prefix/drive_c/users" / getpass.getuser()
ROAMING, LOCAL = (PROFILE / "AppData" / name / "fractal-planner" for name in ["Roaming", "Local"])
PLAN = "sample-20261121"
CASES = []


def case(function):
    CASES.append(function)
    return function


def windows(path):
    """The system's path as Wine's programs have it."""
    return "Z:" + str(path).replace("/", "\\")


ENVIRONMENT = {
    "WINEPREFIX": str(PLACE / "prefix"),
    "WINEDEBUG": "-all",
    "WINEPATH": windows(PLACE / "bin"),
    "HANDOVER": str(ROOT / "tests/wine"),
    "PATH": f"{PLACE}/client:{os.environ['PATH']}",
    "HOME": str(WORK / "home"),
    "GIT_CONFIG_GLOBAL": str(WORK / "home/gitconfig"),
    # Else it puts entries for its programs into menus.
    "WINEDLLOVERRIDES": "winemenubuilder.exe=d",
    "COMPUTERNAME": "WINEBOX",
    "LC_ALL": "C.UTF-8",
}


def start(program, *args, cwd=WORK / "repo", terminal=subprocess.PIPE, **environment):
    return subprocess.Popen(
        ["wine", str(PLACE / "bin" / program), *args],
        cwd=cwd,
        env={**ENVIRONMENT, **environment},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )


def run(program, *args, given="", code=0, **options):
    """What the program prints; of a failure, what it says."""
    process = start(program, *args, **options)
    out, err = process.communicate(given.encode(), timeout=600)
    said = f"{program} {' '.join(args)}: {process.returncode}\n{out.decode()}\n{err.decode()}"
    assert process.returncode == code, said
    return out.decode() if code == 0 else out.decode() + err.decode()


def fp(*args, **options):
    return run("fp.exe", *args, **options)


def git(*args):
    return subprocess.run(["git", *args], cwd=WORK / "repo", env={**os.environ, **ENVIRONMENT}, check=True, capture_output=True)


def write(name, text):
    path = WORK / "repo" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def tree(*tests):
    """A tree with one task a test command, each with a file of its own."""
    text = "## Root Task\n- [ID: root] Sample goal (Complexity: 5)\n\n### Subtasks\n"
    for number, test in enumerate(tests, 1):
        text += f"""- [ID: {number}] Write part {number} (Complexity: 2)
  - Acceptance:
    - `{number}.txt` has a line about {number}
  - Dependencies: none
  - Files: {number}.txt
  - Tests Required: no
  - Hints:
    - One line
    - A newline at its end
  - Guardrails:
    - Do NOT modify files outside: {number}.txt
    - Do NOT add new dependencies
  - Test Commands: {test}
"""
    return text


def approve(*tests, end="\n"):
    write(".fractal-planner/plans/.gitignore", "*\n")
    write(f".fractal-planner/plans/{PLAN}/tasks.md", tree(*tests).replace("\n", end))
    fp("approve", PLAN, "--yes")


def plan(*tests, **options):
    approve(*tests, **options)
    fp("run", "start", PLAN, "--session", "s1")


def claim(owner="builder-1", **options):
    return json.loads(fp("claim", PLAN, "--as", owner, "--format", "json", **options))


def grows(path):
    size = path.stat().st_size
    time.sleep(1)
    return path.stat().st_size > size


def until(condition, seconds=30):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, "it took too long"
        time.sleep(0.05)


def unix_ids(*words):
    """The processes of the system with these words in their command lines."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_text()
        except OSError:
            continue
        if all(word in line for word in words) and "python" not in line:
            found.append(int(folder.name))
    return found


def kill(process, *words):
    """Kills what `process` has started, which has these words in its command line."""
    for found in unix_ids(*words):
        os.kill(found, 9)
    process.wait()


@case
def says_its_version_and_help():
    assert fp("--version").startswith("fp 0.")
    assert "Usage: fp validate" in fp("validate", "--help")
    assert "path-escape" in fp("explain", "path-escape")


@case
def errors_have_the_form_of_other_systems():
    said = fp("validate", "none.md", code=2)
    assert "none.md can't be read: " in said and said.endswith("hint: check the path\n") and "os error" not in said, said


@case
def lines_may_end_as_on_windows():
    for name, end in [("unix.md", "\n"), ("dos.md", "\r\n")]:
        write(name, tree("none", "cargo test").replace("\n", end))
    plain = fp("validate", "unix.md").replace("unix.md", "X")
    assert fp("validate", "dos.md").replace("dos.md", "X") == plain
    write("a.rs", "fn a() {\r\n    // increment i by one\r\n    i += 1;\r\n}\r\n")
    assert "increment i" in fp("comments", "check", "a.rs", code=1)


@case
def hooks_end_well_whatever_comes():
    assert fp("hook", "no-such-event", given="{}") == ""
    assert fp("hook", "stop", given="nonsense") == ""
    path = windows(WORK / "repo/b.rs")
    write("b.rs", "// increment i by one\ni += 1;\n")
    edit = {"file_path": path, "old_string": "i += 1;\n", "new_string": "// increment i by one\ni += 1;\n"}
    event = {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit, "cwd": windows(WORK / "repo")}
    assert "increment i" in fp("hook", "post-tool-use", given=json.dumps(event))


@case
def settings_lie_in_the_profile():
    fp("config", "set", "maxComplexity", "3", "--user")
    assert "3" in (ROAMING / "config.json").read_text()
    assert fp("config", "get", "maxComplexity") == "3\n"


@case
def one_folder_has_many_names():
    write("deep/x.md", "")
    here = windows(WORK / "repo")
    for name in [here, here.lower(), here.replace("\\", "/"), "\\\\?\\" + here, here + "\\deep\\..", "."]:
        said = json.loads(fp("-C", name, "doctor", "--json", code=1))
        assert "\\\\?\\" not in json.dumps(said, ensure_ascii=False).replace("\\\\", "\\"), (name, said)


@case
def names_that_no_system_shares_are_refused():
    for name in ["C:\\x\\a.rs", "\\\\server\\share\\a.rs", "src\\a.rs", "c:a.rs"]:
        write("names.md", tree("none").replace("Files: 1.txt", f"Files: {name}"))
        assert "error[path-escape]" in fp("validate", "names.md", code=1), name


@case
def names_that_windows_lacks_are_refused():
    for name in ["con.txt", "NUL", "src/Aux.d.rs", "lpt1", "con/a.txt", "a.txt.", "a./b.txt", "a.rs:stream", "a|b"]:
        write("names.md", tree("none").replace("Files: 1.txt", f"Files: `{name}`"))
        assert "is no name that Windows allows" in fp("validate", "names.md", code=1), name
    for name in ["console.txt", "com10", "lpt.txt", "src/.aux", "w?.txt", "*/a b.txt"]:
        write("names.md", tree("none").replace("Files: 1.txt", f"Files: `{name}`"))
        fp("validate", "names.md")


@case
def a_folder_of_a_share_is_read():
    share = PLACE / "prefix/dosdevices/unc/host/share"
    share.parent.mkdir(parents=True, exist_ok=True)
    share.unlink(missing_ok=True)
    share.symlink_to(WORK)
    write("tree.md", tree("none"))
    for name in ["\\\\host\\share\\repo", "//host/share/repo", "\\\\?\\UNC\\host\\share\\repo"]:
        assert "valid" in fp("-C", name, "validate", "tree.md")
        fp("-C", name, "config", "set", "maxComplexity", "3")
        assert "3" in (WORK / "repo/.fractal-planner/config.json").read_text()
        (WORK / "repo/.fractal-planner/config.json").unlink()


@case
def a_repository_may_be_on_a_mapped_drive():
    drive = PLACE / "prefix/dosdevices/x:"
    drive.unlink(missing_ok=True)
    drive.symlink_to(WORK)
    write(f".fractal-planner/plans/{PLAN}/tasks.md", tree("grep -q about 1.txt"))
    on_drive = ["-C", "X:\\repo"]
    fp(*on_drive, "approve", PLAN, "--yes")
    fp(*on_drive, "run", "start", PLAN, "--session", "s1")
    got = json.loads(fp(*on_drive, "claim", PLAN, "--as", "builder-1", "--format", "json"))
    write("1.txt", "about 1\n")
    fp(*on_drive, "submit", PLAN, "1", "--claim", got["claim"])
    assert "passed: commit" in fp(*on_drive, "verdict", PLAN, "1", "--pass", "1: seen", "--summary", "fine")
    fp(*on_drive, "status", PLAN)
    drive.unlink()


@case
def a_profile_that_takes_no_files_is_said():
    for folder in [ROAMING, LOCAL]:
        folder.write_text("a file")
    write(f".fractal-planner/plans/{PLAN}/tasks.md", tree("none"))
    for command in [["config", "set", "maxComplexity", "3", "--user"], ["approve", PLAN, "--yes"]]:
        said = fp(*command, code=2)
        assert "can't be written: " in said and "hint: a file stands where a folder" in said, said
    assert "was approved elsewhere" in fp("start", PLAN, "--here", "--session", "s1", code=1)
    assert "0 of 1 tasks done" in fp("status", PLAN)
    assert fp("hook", "stop", given="{}") == ""
    for folder in [ROAMING, LOCAL]:
        folder.unlink()


@case
def text_is_utf_8_in_pipes_and_has_colours_where_they_are_wanted():
    title = "Größe – 한글 ✓"
    write("names.md", tree("none").replace("Write part 1", title).replace("Files: 1.txt", "Files: ../ü.rs"))
    assert "`../ü.rs` is outside" in fp("validate", "names.md", code=1)
    write(f".fractal-planner/plans/{PLAN}/tasks.md", tree("none").replace("Write part 1", title))
    said = fp("approve", PLAN, "--yes") + fp("status", PLAN) + fp("show", PLAN)
    assert title in said and "▱" in said and "\x1b" not in said
    assert title in json.dumps(json.loads(fp("status", PLAN, "--format", "json")), ensure_ascii=False)
    for variables in [{}, {"NO_COLOR": "1"}]:
        terminal, inner = pty.openpty()
        process = start("fp.exe", "status", PLAN, terminal=inner, **variables)
        until(lambda: process.poll() is not None)
        assert (b"\x1b[1m" in os.read(terminal, 65536)) == (not variables), variables


@case
def a_path_may_be_long():
    name = "/".join(["a" * 60] * 5)
    write(name + "/tree.md", tree("none"))
    assert "valid" in fp("validate", name.replace("/", "\\") + "\\tree.md")


@case
def a_file_in_use_is_replaced_when_it_is_free():
    fp("config", "set", "maxComplexity", "3", "--user")
    file = ROAMING / "config.json"
    held = start("other.exe", "hold", windows(file), "1000")
    assert held.stdout.readline().strip() == b"held"
    begun = time.time()
    fp("config", "set", "maxComplexity", "5", "--user")
    assert "5" in file.read_text() and [path.name for path in file.parent.iterdir()] == ["config.json"]
    held.communicate()
    print(f"  after {time.time() - begun:.1f} s")


@case
def a_plan_with_lines_of_windows_runs_to_its_commits():
    plan("test -f 1.txt", "grep -q 'about  2' 2.txt", end="\r\n")
    for number, text in [("1", "about 1\n"), ("2", "about  2\n")]:
        got = claim()
        assert got["task"] == number and "\\\\?\\" not in json.dumps(got)
        write(f"{number}.txt", text)
        fp("submit", PLAN, number, "--claim", got["claim"])
        assert "passed" in fp("verdict", PLAN, number, "--pass", "1: seen", "--summary", "fine")
    assert "finish" in fp("next", PLAN)
    log = git("log", "--format=%s").stdout.decode().splitlines()
    assert log == ["Write part 2", "Write part 1", "Start the project"], log
    assert git("status", "--short").stdout == b""
    trusted = (LOCAL / "trust.jsonl").read_text()
    assert PLAN in trusted and "\\\\?\\" not in trusted.replace("\\\\", "\\")
    fp("status", PLAN)


@case
def commands_at_once_make_one_log():
    fp("config", "set", "isolation", "shared", "--user")
    plan("none", "none", "none", "none", "none", "none")
    claims = [start("fp.exe", "claim", PLAN, "--as", f"builder-{n}", "--format", "json") for n in range(1, 7)]
    got = [process.communicate() for process in claims]
    tasks = [json.loads(out)["task"] for (out, _), process in zip(got, claims) if process.returncode == 0]
    assert len(tasks) == len(set(tasks)) and tasks, got
    log = (WORK / f"repo/.fractal-planner/plans/{PLAN}/events.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in log] == list(range(1, len(log) + 1))
    fp("status", PLAN)


def slow_check(seconds):
    """Submits a task whose check has a child, and takes a minute if it may; returns the file that the child writes."""
    fp("config", "set", "verify.timeoutSeconds", str(seconds), "--user")
    ticks = WORK / "ticks"
    ticks.write_bytes(b"")
    plan(f"cmd /c other child {windows(ticks)}")
    got = claim()
    write("1.txt", "about 1\n")
    fp("submit", PLAN, "1", "--claim", got["claim"])
    return ticks


@case
def a_command_over_its_time_ends_with_its_children():
    ticks = slow_check(3)
    before = ticks.stat().st_size
    fp("verify", PLAN, "1", code=1)
    assert ticks.stat().st_size > before
    assert not grows(ticks)


@case
def a_command_ends_with_fp_when_that_is_killed_and_its_lock_is_free():
    ticks = slow_check(10)
    before = ticks.stat().st_size
    verify = start("fp.exe", "verify", PLAN, "1")
    until(lambda: ticks.stat().st_size > before)
    kill(verify, "fp.exe", "verify")
    time.sleep(1)
    assert not grows(ticks)
    fp("status", PLAN)

# An agent of the user's own, as npm installs one. Before it hands in, a builder does what `first.cmd` in its folder
# of temporary files says.
AGENT = f"""@echo off
echo %1 %2 %cd%>>%TEMP%\\agents.log
if %1==verifier goto verify
fp claim {PLAN} --as %2 --format json >%TEMP%\\%2.json 2>>%TEMP%\\%2.log
if errorlevel 1 exit /b 0
for /f "tokens=1,2 delims=:, " %%a in (%TEMP%\\%2.json) do (
  if %%a=="task" set task=%%~b
  if %%a=="claim" set claim=%%~b
)
if exist %TEMP%\\first.cmd call %TEMP%\\first.cmd
>%task%.txt echo about %task%
fp submit {PLAN} %task% --claim %claim%
exit /b
:verify
for /f "tokens=4,6" %%a in (%3) do if %%a==Verify set task=%%b
fp verify {PLAN} %task%
fp verdict {PLAN} %task% --pass "1: seen" --summary fine
"""


def lead(*args, **options):
    return fp("run", PLAN, "--yes", "--unattended", *args, **options)


def agents():
    """Has a script play all agents."""
    (PLACE / "bin/own.cmd").write_bytes(AGENT.replace("\n", "\r\n").encode())
    player = {"program": "own"}
    own = {"start": ["own", "{role}", "{name}", "{prompt}"]}
    ROAMING.mkdir(parents=True)
    settings = {"agents": {"builder": player, "verifier": player, "programs": {"own": own}}}
    (PLACE / "bin/told.cmd").write_bytes(b"@echo %1>%TEMP%\\told.txt\r\n")
    settings["notify"] = {"command": ["told", "{text}"]}
    (ROAMING / "config.json").write_text(json.dumps(settings))


def expect_led(tasks):
    """The run is over: a commit for each task, at its first attempt."""
    log = git("log", "--format=%s").stdout.decode().splitlines()
    assert sorted(log) == ["Start the project", *(f"Write part {n}" for n in range(1, tasks + 1))], log
    found = json.loads(fp("status", PLAN, "--format", "json"))["tasks"]
    assert all(task["iteration"] == 1 for task in found), found
    assert git("status", "--short").stdout == b""


@case
def a_run_is_led_to_its_commits():
    agents()
    approve("grep -q about 1.txt", "grep -q about 2.txt", "grep -q about 3.txt")
    assert "3 of 3 tasks done" in lead("-j", "2")
    expect_led(3)
    assert PLAN in (WORK / "temp/told.txt").read_text()


@case
def a_run_whose_lead_is_killed_goes_on():
    agents()
    approve("grep -q about 1.txt", "grep -q about 2.txt")
    ticks, before = WORK / "temp/ticks", WORK / "temp/first.cmd"
    before.write_text(f"other child {windows(ticks)}")
    first = start("fp.exe", "run", PLAN, "--yes", "--unattended")
    until(lambda: ticks.exists() and ticks.stat().st_size > 0)
    kill(first, "fp.exe", "run")
    assert not grows(ticks) and not unix_ids("own.cmd")
    before.unlink()
    for seconds in [2, 4]:
        again = start("fp.exe", "run", PLAN, "--yes", "--unattended")
        time.sleep(seconds)
        kill(again, "fp.exe", "run")
    lead()
    expect_led(2)
    assert not unix_ids("fp.exe") and not unix_ids("own.cmd")


@case
def asked_to_end_a_run_lets_its_agents_finish():
    agents()
    approve("grep -q about 1.txt", "grep -q about 2.txt")
    sign = windows(WORK / "temp/sign")
    (WORK / "temp/first.cmd").write_text(f">{sign} echo begun\nother hold {windows(WORK)} 3000")
    process = start("other.exe", "press", sign, f"fp run {PLAN} --yes --unattended", terminal=pty.openpty()[1])
    until(lambda: process.poll() is not None)
    tasks = json.loads(fp("status", PLAN, "--format", "json"))["tasks"]
    assert process.returncode == 1
    assert [task["status"] for task in tasks] == ["AWAITING_VERIFICATION", "PENDING"], tasks
    lead()
    expect_led(2)


def build(got, owner, cwd):
    """Builds the task that `owner` has claimed in `cwd`, and has it judged."""
    task = got["task"]
    (cwd / f".fractal-planner/plans/{PLAN}/worktrees/{owner}/{task}.txt").write_text(f"about {task}\n")
    fp("submit", PLAN, task, "--claim", got["claim"], cwd=cwd)
    assert "passed" in fp("verdict", PLAN, task, "--pass", "1: seen", "--summary", "fine", cwd=cwd)


@case
def two_clones_build_one_plan():
    repo, other = WORK / "repo", WORK / "other"
    git("init", "--quiet", "--bare", "--initial-branch=main", str(WORK / "shared.git"))
    git("remote", "add", "origin", str(WORK / "shared.git"))
    git("push", "--quiet", "origin", "main")
    git("clone", "--quiet", str(WORK / "shared.git"), str(other))
    approve("grep -q about 1.txt", "grep -q about 2.txt", "grep -q about 3.txt")
    shared = json.loads(fp("share", PLAN, "--as", "desktop", "--format", "json"))
    fp("join", PLAN, "--as", "laptop", "--remote", "origin", "--yes", shared["hash"], cwd=other)
    for cwd in [repo, other]:
        fp("start", PLAN, "--here", "--session", cwd.name, cwd=cwd)
    held = claim("desktop-builder-1")
    assert "desktop           builds 1;" in fp("fleet", PLAN, cwd=other)
    for task in ["2", "3"]:
        got = claim("laptop-builder-1", cwd=other)
        assert got["task"] == task
        build(got, "laptop-builder-1", other)
    build(held, "desktop-builder-1", repo)
    git("fetch", "--quiet")
    log = git("log", "--format=%s", f"origin/fp/{PLAN}").stdout.decode().splitlines()
    assert log == ["Write part 1", "Write part 3", "Write part 2", "Start the project"], log
    for cwd in [other, repo]:
        fp("next", PLAN, cwd=cwd)
    for cwd in [repo, other]:
        assert "3 of 3 tasks done" in fp("status", PLAN, cwd=cwd)


@case
def install_and_uninstall_call_the_client():
    client = PLACE / "client"
    shutil.rmtree(client, ignore_errors=True)
    client.mkdir()
    shutil.copy(ROOT / "tests/fixtures/client/claude", client)
    (client / "version").write_text("2.1.329 (Claude Code)\n")
    (client / "offers").write_text(fp("--version").split()[1])
    fp("install")
    bundle = LOCAL / "bundle"
    assert (bundle / "fp/bin/fp.exe").is_file(), list(bundle.rglob("bin/*"))
    assert "C:\\" in (client / "calls").read_text()
    fp("install", "--remove")
    assert not bundle.exists()
    shutil.rmtree(client)


@case
def the_demonstration_plays():
    said = fp("demo")
    assert "3 of 5 tasks done, 1 failed, 1 skipped" in said and "▰▰▰▰▰▱▱▱▱" in said


def main():
    if not (PLACE / "prefix").exists():
        subprocess.run(["wine", "wineboot", "-i"], env={**os.environ, **ENVIRONMENT}, capture_output=True, check=True)
        for name in ["TEMP", "TMP"]:
            arguments = ["reg", "add", "HKCU\\Environment", "/f", "/v", name, "/d", windows(WORK / "temp")]
            subprocess.run(["wine", *arguments], env={**os.environ, **ENVIRONMENT}, capture_output=True, check=True)
    # While it runs, Wine needn't start for each program.
    runs = start("other.exe", "hold", "Z:\\", "3600000", cwd=PLACE)
    runs.stdout.readline()
    failed = 0
    chosen = [function for function in CASES if not sys.argv[2:] or function.__name__ in sys.argv[2:]]
    for function in chosen:
        for folder in [WORK, ROAMING, LOCAL, PROFILE / ".claude"]:
            shutil.rmtree(folder, ignore_errors=True)
        for folder in ["repo", "home", "temp"]:
            (WORK / folder).mkdir(parents=True)
        git("init", "--quiet", "--initial-branch=main")
        git("config", "--global", "user.name", "A")
        git("config", "--global", "user.email", "a@example.org")
        git("commit", "--quiet", "--allow-empty", "--message", "Start the project")
        begun = time.time()
        try:
            function()
            print(f"ok {function.__name__} ({time.time() - begun:.1f} s)", flush=True)
        except Exception as error:
            failed += 1
            line = traceback.extract_tb(error.__traceback__)[1].lineno
            print(f"FAILED {function.__name__}, line {line}: {type(error).__name__}: {error}", flush=True)
    for process in unix_ids("other.exe", "3600000"):
        os.kill(process, 9)
    runs.communicate()
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


sys.exit(main())
