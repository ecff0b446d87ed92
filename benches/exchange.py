#!/usr/bin/env python3
"""Prints what it takes to import a plan of 1,000 tasks and to export it in each format, as whole processes, beside
what it takes to validate it.

    benches/exchange.py ROUNDS FP
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TASKS = 1000
FORMATS = ["json", "csv", "mermaid", "markdown", "github"]


def source(folder):
    """A plan of CCW: a file for each task, which waits for the seventh before it."""
    ids = [f"TASK-{number:04}" for number in range(1, TASKS + 1)]
    (folder / ".task").mkdir(parents=True)
    for number, name in enumerate(ids):
        task = {
            "id": name,
            "title": f"Do part {number}",
            "depends_on": ids[number - 7 : number - 6] if number >= 7 else [],
            "convergence": {"criteria": [f"part {number} prints {number}"], "verification": "true"},
            "files": [{"path": f"src/part_{number}.rs", "action": "create", "change": "all of it"}],
            "priority": "high",
        }
        (folder / ".task" / f"{name}.json").write_text(json.dumps(task))
    (folder / "plan.json").write_text(json.dumps({"summary": "Many parts", "task_ids": ids, "task_count": TASKS}))


def main(rounds, fp):
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        home, work = base / "home", base / "work"
        home.mkdir()
        work.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        run = lambda *words: subprocess.run(words, cwd=work, env=environment, capture_output=True)
        median = lambda *words: statistics.median(timed(run, words) for _ in range(rounds))
        source(base / "source")
        run("git", "init", "--quiet")
        assert run(fp, "import", str(base / "source")).returncode == 0
        yardstick = median(fp, "validate", "1")
        rows = [("validate", yardstick)]
        rows.append(("import --dry-run", median(fp, "import", str(base / "source"), "--dry-run")))
        for form in FORMATS:
            rows.append((f"export --to {form}", median(fp, "export", "1", "--to", form)))
        print(f"{TASKS:,} tasks, whole processes, wall time in ms, median of {rounds}")
        for what, took in rows:
            print(f"{what:<26}{took:>8.1f}{took / yardstick:>7.1f}x")


def timed(run, words):
    start = time.perf_counter()
    run(*words)
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main(int(sys.argv[1]), os.path.abspath(sys.argv[2]))
