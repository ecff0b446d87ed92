#!/usr/bin/env python3
"""Leads a run of sleeping agents with `fp run`, and prints its wall time beside that of an ideal schedule, in which
nothing but the builders' sleep takes time; the memory of `fp run` at its start and its end, and the part of a core that it used;
the processor time of everything, git included, for a task; and the seconds that each tenth of the tasks took, which
shows what grows with the run.

    benches/lead.py FP TASKS BUILDERS SECONDS [PART] [even]

The builder of a task of complexity C, from 1 to 4, sleeps C times SECONDS, which may be 0; with `even`, every C is 1.
Its verifier sleeps PART of that, which is 0 unless given.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ledger import LEAF

PLAN = "sample-20261121"

AGENT = """#!/bin/sh
plan=sample-20261121
if [ "$1" = builder ]; then
  claim=$(fp claim $plan --as "$2" --format json) || exit 0
  task=$(printf '%s\\n' "$claim" | sed -n 's/^  "task": "\\(.*\\)",*$/\\1/p')
  token=$(printf '%s\\n' "$claim" | sed -n 's/^  "claim": "\\(.*\\)",*$/\\1/p')
  sleep "$(sed -n "${task}p" "$HOME/seconds")"
  echo "a line about $task" >"part-$task.txt"
  fp submit $plan "$task" --claim "$token"
else
  task=$(sed -n 's/.*Verify task \\([0-9.]*\\) of.*/\\1/p' "$3")
  fp verify $plan "$task"
  sleep "$(sed -n "${task}p" "$HOME/verifying")"
  fp verdict $plan "$task" --pass '1: part has its line' --summary 'it has its line'
fi
"""


EVEN = sys.argv[-1] == "even"


def complexity(task):
    return 1 if EVEN else 1 + task % 4


def ideal(tasks, builders, seconds):
    """The wall time below which no schedule can be: all sleep, shared out evenly."""
    return sum(complexity(task) for task in tasks) * seconds / builders


def measured(pid):
    """Resident memory in MB and processor seconds of a process alone."""
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return int(stat[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6, (int(stat[11]) + int(stat[12])) / ticks


def used():
    """Processor seconds of all processes that were started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    fp, tasks, builders, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    more = [word for word in sys.argv[5:] if word != "even"]
    part = float(more[0]) if more else 0
    fp = os.path.abspath(fp)
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        settings = home / ".config/fractal-planner"
        settings.mkdir(parents=True)
        work.mkdir()
        agent = home / "agent"
        agent.write_text(AGENT)
        agent.chmod(0o755)
        numbers = range(1, tasks + 1)
        for file, factor in [("seconds", seconds), ("verifying", seconds * part)]:
            (home / file).write_text("".join(f"{complexity(n) * factor}\n" for n in numbers))
        player = {"program": "sleeper"}
        program = {"start": [str(agent), "{role}", "{name}", "{prompt}"]}
        (settings / "config.json").write_text(
            json.dumps({"agents": {"builder": player, "verifier": player, "programs": {"sleeper": program}}})
        )
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{f"GIT_{who}_{what}": "person@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }

        def run(*command):
            subprocess.run(command, cwd=work, env=environment, check=True, stdout=subprocess.DEVNULL)

        run("git", "init", "--quiet", "--initial-branch", "main")
        (work / "README.md").write_text("# Sample\n")
        run("git", "add", "--all")
        run("git", "commit", "--quiet", "--message", "Start")
        plan = work / ".fractal-planner/plans" / PLAN
        plan.mkdir(parents=True)
        (plan.parent / ".gitignore").write_text("*\n")
        head = "## Root Task\n- [ID: root] Sample goal (Complexity: 5)\n\n### Subtasks\n"
        (plan / "tasks.md").write_text(head + "".join(LEAF.format(n=n, complexity=complexity(n)) for n in numbers))
        run(fp, "approve", PLAN, "--yes")

        start, before = time.time(), used()
        begun = time.monotonic()
        command = [fp, "run", PLAN, "--yes", "-j", str(builders)]
        process = subprocess.Popen(command, cwd=work, env=environment, stdout=subprocess.DEVNULL)
        first = last = None
        while process.poll() is None:
            try:
                last = measured(process.pid)
            except (FileNotFoundError, IndexError):
                break
            if first is None and time.monotonic() - begun > 2:
                first = last
            time.sleep(0.2)
        wall = time.monotonic() - begun
        assert process.wait() == 0, process.returncode
        best = ideal(numbers, builders, seconds)
        ratio = f", ideal {best:.1f} s, ratio {wall / best:.3f}" if best else ""
        print(f"{tasks} tasks, {builders} builders: {wall:.1f} s{ratio}")
        if first and last:
            print(f"memory {first[0]:.1f} MB to {last[0]:.1f} MB; {100 * last[1] / wall:.2f} % of a core")
        print(f"processor time of everything: {1000 * (used() - before) / tasks:.0f} ms a task")
        log = ["git", "log", "--reverse", "--format=%ct"]
        times = subprocess.run(log, cwd=work, env=environment, check=True, capture_output=True, text=True).stdout
        times = [int(line) - start for line in times.split()][1:]
        tenths = [times[tasks * part // 10 - 1] for part in range(1, 11)] if tasks >= 10 else []
        print("seconds for each tenth:", *(round(b - a) for a, b in zip([0, *tenths], tenths)))


main()
