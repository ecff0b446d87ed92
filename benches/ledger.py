#!/usr/bin/env python3
"""Prints what a claim, a submit without tests, a `next` and a `status` cost as whole processes on a plan of 1,000 tasks,
with short logs and with long ones, in a repository of 1,000 files. Beside them, what git alone takes to look at that
repository. Several programs, such as one from before a change, take turns.

    benches/ledger.py ROUNDS FP...
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PLAN = "sample-20261121"
TASKS = 1000
AT = "2026-11-21T09:00:00Z"
EVENTS = [0, 10000]

ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A Person",
    "GIT_AUTHOR_EMAIL": "person@example.com",
    "GIT_COMMITTER_NAME": "A Person",
    "GIT_COMMITTER_EMAIL": "person@example.com",
}

LEAF = """- [ID: {n}] Write part {n} (Complexity: {complexity})
  - Acceptance:
    - `part-{n}.txt` has a line about {n}
  - Dependencies: none
  - Files: part-{n}.txt
  - Tests Required: no
  - Hints:
    - One line
    - A newline at its end
  - Guardrails:
    - Do NOT modify files outside: part-{n}.txt
    - Do NOT add new dependencies
  - Test Commands: none
"""


def run(folder, *command):
    """Runs a command that has to succeed: its output, wall time and processor time in ms, its children's with it."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        out.seek(0)
        return out.read().decode(), wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def repository(folder, fp):
    for number in range(1000):
        path = f"{folder}/src/part{number % 40}"
        os.makedirs(path, exist_ok=True)
        with open(f"{path}/file{number}.txt", "w") as file:
            file.write(f"line of {number}\n" * 40)
    plan = f"{folder}/.fractal-planner/plans/{PLAN}"
    os.makedirs(plan)
    with open(f"{folder}/.fractal-planner/plans/.gitignore", "w") as file:
        file.write("*\n")
    with open(f"{plan}/tasks.md", "w") as file:
        file.write("## Root Task\n- [ID: root] Sample goal (Complexity: 5)\n\n### Subtasks\n")
        file.writelines(LEAF.format(n=number + 1, complexity=2) for number in range(TASKS))
    run(folder, "git", "init", "--quiet")
    run(folder, "git", "add", "--all")
    run(folder, "git", "commit", "--quiet", "--message", "Start")
    # Of younger files the kept index can't tell whether they changed since, and reads them again.
    time.sleep(2.1)
    run(folder, fp, "approve", PLAN, "--yes")
    run(folder, fp, "run", "start", PLAN, "--session", "s1", "--no-commit", "--max-iterations", "20")


def history(folder, events):
    """Appends about so many events, of tasks that were all done in the end, and returns how many."""
    head = run(folder, "git", "rev-parse", "HEAD")[0].strip()
    tree = run(folder, "git", "rev-parse", "HEAD^{tree}")[0].strip()
    path = f"{folder}/.fractal-planner/plans/{PLAN}/events.jsonl"
    with open(path) as log:
        first = sum(1 for _ in log)
    iterations = max(1, events // (TASKS - 100) // 4)
    done = min(TASKS - 100, events // 5)
    seq = first
    with open(path, "a") as log:

        def write(kind, **fields):
            nonlocal seq
            seq += 1
            entry = {"schemaVersion": 1, "seq": seq, "at": AT, "events": [{kind: fields}]}
            log.write(json.dumps(entry, separators=(",", ":")) + "\n")

        for number in range(1, done + 1):
            task = str(number)
            files = [{"path": f"part-{number}.txt", "status": "added", "kind": "file"}]
            names = ["changes", "boundary", "dependencies", "leftovers", "tests"]
            checks = [{"name": name, "verdict": "pass", "detail": "nothing was found"} for name in names]
            token = "0123456789abcdef"
            base = {"tree": tree, "head": head}
            write("claimed", task=task, owner="builder-1", token=token, iteration=1, base=base)
            for turn in range(1, iterations + 1):
                last = turn == iterations
                judged = [{"criterion": 1, "pass": last, "evidence": f"part-{number}.txt:1 says so"}]
                write("submitted", task=task, owner="builder-1", tree=tree, files=files)
                write("verified", task=task, iteration=turn, tree=tree, files=files, checks=checks)
                write("judged", task=task, iteration=turn, **{"pass": last}, judgements=judged, summary="seen")
                if not last:
                    write("sentBack", task=task, iteration=turn + 1, token=token, feedback="the line is missing")
            write("completed", task=task, commit=head)
    return seq


def measure(folder, fp, times):
    def timed(name, *command):
        output, wall, processor = run(folder, *command)
        times.setdefault(name, []).append((wall, processor))
        return output

    timed("git status", "git", "status", "--porcelain")
    timed("fp --version", fp, "--version")
    timed("status", fp, "status", PLAN)
    claim = json.loads(timed("claim", fp, "claim", PLAN, "--as", "builder-1", "--format", "json"))
    task = claim["task"]
    with open(f"{folder}/part-{task}.txt", "w") as file:
        file.write("a line\n")
    timed("submit", fp, "submit", PLAN, task, "--claim", claim["claim"])
    timed("next", fp, "next", PLAN)
    os.remove(f"{folder}/part-{task}.txt")
    run(folder, fp, "fail", PLAN, task, "--reason", "measured")


def main():
    rounds, programs = int(sys.argv[1]), [os.path.abspath(path) for path in sys.argv[2:]]
    for events in EVENTS:
        with tempfile.TemporaryDirectory() as base:
            folders = [f"{base}/{number}" for number in range(len(programs))]
            for folder, fp in zip(folders, programs):
                os.mkdir(folder)
                repository(folder, fp)
                entries = history(folder, events)
                run(folder, fp, "note", PLAN, "add", "UTIL: the snapshot is made anew")
            times = [{} for _ in programs]
            for _ in range(rounds):
                for folder, fp, of in zip(folders, programs, times):
                    measure(folder, fp, of)
            print(f"{entries} entries: wall and processor time in ms, median")
            for name in times[0]:
                columns = [
                    f"{statistics.median(wall for wall, _ in of[name]):8.1f} {statistics.median(cpu for _, cpu in of[name]):7.1f}"
                    for of in times
                ]
                print(f"  {name:14}" + "".join(columns))


if __name__ == "__main__":
    main()
