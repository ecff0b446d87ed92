#!/usr/bin/env python3
"""What a plan costs that several machines share, on bare repositories of this machine.

    benches/fleet.py ledger FP CLONES PROCESSES ENTRIES
    benches/fleet.py wait FP MACHINES TASKS SECONDS

`ledger` has CLONES with PROCESSES each write ENTRIES in order, all at once: first by a naive script (fetch, reset, append a
line, add, commit, push with a lease; again at once if another was faster), then by `fp` (a claim and its release are two
entries). It prints both throughputs and their ratio.

`wait` has MACHINES with one builder each do TASKS that take SECONDS, and prints which part of their time they wait: what
`fp claim` and `fp verdict` take beyond what they take in a plan that nobody shares.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PLAN = "sample-20261121"

LEAF = """- [ID: {n}] Write part {n} (Complexity: 2)
  - Acceptance:
    - `part-{n}.txt` has a line about {n}
  - Dependencies: none
  - Files: part-{n}.txt
  - Tests Required: no
  - Hints:
    - One line
  - Guardrails:
    - Do NOT modify files outside: part-{n}.txt
    - Do NOT add new dependencies
  - Test Commands: none
"""


class Machine:
    """A clone with a home of its own."""

    def __init__(self, base, name, remote):
        self.name, self.home, self.work = name, Path(base, name, "home"), Path(base, name, "work")
        self.home.mkdir(parents=True)
        who = {f"GIT_{role}_{what}": "person@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_TERMINAL_PROMPT": "0",
            **who,
        }
        self.work.mkdir()
        self.run("git", "clone", "--quiet", str(remote), ".")

    def call(self, *command):
        return subprocess.run(command, cwd=self.work, env=self.environment, capture_output=True, text=True)

    def run(self, *command):
        done = self.call(*command)
        assert done.returncode == 0, (self.name, command, done.stdout, done.stderr)
        return done.stdout

    def plan(self, fp, tasks):
        folder = self.work / ".fractal-planner/plans" / PLAN
        folder.mkdir(parents=True)
        (folder.parent / ".gitignore").write_text("*\n")
        head = "## Root Task\n- [ID: root] Sample goal (Complexity: 5)\n\n### Subtasks\n"
        (folder / "tasks.md").write_text(head + "".join(LEAF.format(n=n + 1) for n in range(tasks)))
        self.run(fp, "approve", PLAN, "--yes")

    def start(self, fp, builders):
        self.run(fp, "start", PLAN, "--here", "--builders", str(builders), "--session", self.name)

    def claim(self, fp, owner):
        """The task and its token; `None` if nothing is ready, also where others were faster all the time."""
        done = self.call(fp, "claim", PLAN, "--as", owner, "--format", "json")
        if done.returncode != 0:
            assert done.returncode in (1, 3), (owner, done.stdout, done.stderr)
            return None
        claim = json.loads(done.stdout)
        return claim["task"], claim["claim"], Path(claim["worktree"])


def remote_of(base):
    remote = Path(base, "shared.git")
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch", "main", remote], check=True)
    first = Machine(base, "first", remote)
    (first.work / "README.md").write_text("# Sample\n")
    first.run("git", "checkout", "--quiet", "-B", "main")
    first.run("git", "add", "--all")
    first.run("git", "commit", "--quiet", "--message", "Start")
    first.run("git", "push", "--quiet", "origin", "main", "main:refs/heads/ledger")
    return remote


def fleet(base, remote, fp, machines, builders, tasks):
    """Machines that share a plan, all of them started."""
    first = Machine(base, "m1", remote)
    first.plan(fp, tasks)
    shared = json.loads(first.run(fp, "share", PLAN, "--as", "m1", "--format", "json"))
    first.start(fp, builders)
    members = [first]
    for number in range(2, machines + 1):
        member = Machine(base, f"m{number}", remote)
        member.run(fp, "join", PLAN, "--as", member.name, "--yes", shared["hash"])
        member.start(fp, builders)
        members.append(member)
    return members


def all_at_once(work, items):
    """Runs `work` on each item in a thread of its own; the wall time, and what each returned."""
    results = [None] * len(items)

    def one(number, item):
        results[number] = work(item)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(items)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in results, "a thread has failed"
    return time.monotonic() - begun, results


def naive_entry(clone, text):
    """Appends one line to the ledger; the tries that it took."""
    tries = 0
    while True:
        tries += 1
        clone.run("git", "fetch", "--quiet", "origin", "+ledger:refs/remotes/origin/ledger")
        clone.run("git", "reset", "--quiet", "--hard", "origin/ledger")
        old = clone.run("git", "rev-parse", "HEAD").strip()
        with open(clone.work / "ledger", "a") as ledger:
            ledger.write(text + "\n")
        clone.run("git", "add", "ledger")
        clone.run("git", "commit", "--quiet", "--message", text)
        lease = f"--force-with-lease=refs/heads/ledger:{old}"
        if clone.call("git", "push", "--quiet", lease, "origin", "HEAD:refs/heads/ledger").returncode == 0:
            return tries


def ledger(fp, clones, processes, entries):
    writers = clones * processes
    each = max(1, entries // writers)
    with tempfile.TemporaryDirectory() as base:
        remote = remote_of(base)
        # A clone for each process: the naive script has no lock within a clone.
        own = [Machine(base, f"n{number}", remote) for number in range(writers)]
        work = lambda clone: sum(naive_entry(clone, f"{clone.name} {turn}") for turn in range(each))
        wall, tries = all_at_once(work, own)
        lines = own[0].run("git", "ls-remote", "origin", "ledger") and subprocess.run(
            ["git", "-C", remote, "show", "ledger:ledger"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        assert len(set(lines)) == each * writers, "a line was lost"
        naive = each * writers / wall
        print(f"naive: {each * writers} entries in {wall:.1f} s, {naive:.2f} a second, {sum(tries)} tries")

    with tempfile.TemporaryDirectory() as base:
        remote = remote_of(base)
        members = fleet(base, remote, fp, clones, processes, writers)

        def work(builder):
            member, number = builder
            written = 0
            while written < each:
                claim = member.claim(fp, f"{member.name}-builder-{number}")
                if claim is not None:
                    released = member.call(fp, "release", PLAN, claim[0])
                    assert released.returncode == 0, released.stderr
                    written += 2
            return written

        builders = [(member, number) for member in members for number in range(1, processes + 1)]
        wall, written = all_at_once(work, builders)
        ours = sum(written) / wall
        print(f"fp: {sum(written)} entries in {wall:.1f} s, {ours:.2f} a second")
        print(f"ratio {ours / naive:.2f}")


def timed(times, member, *command):
    begun = time.monotonic()
    member.run(*command)
    times.append(time.monotonic() - begun)


def build(fp, member, owner, seconds, times):
    """Does one task that takes so long; False if none is ready."""
    begun = time.monotonic()
    claim = member.claim(fp, owner)
    if claim is None:
        return False
    times.append(time.monotonic() - begun)
    task, token, place = claim
    time.sleep(seconds)
    (place / f"part-{task}.txt").write_text(f"a line about {task}\n")
    member.run(fp, "submit", PLAN, task, "--claim", token)
    timed(times, member, fp, "verdict", PLAN, task, "--pass", "1: it has its line", "--summary", "fine")
    return True


def wait(fp, machines, tasks, seconds):
    with tempfile.TemporaryDirectory() as base:
        # The same commands in as many clones at once, none of which knows of the others.
        remote = remote_of(base)
        alone = [Machine(base, f"a{number}", remote) for number in range(machines)]
        for member in alone:
            member.plan(fp, tasks // machines)
            member.start(fp, 2)

        def by_itself(member):
            times = []
            while build(fp, member, "builder-1", seconds, times):
                pass
            return times

        _, own = all_at_once(by_itself, alone)
    with tempfile.TemporaryDirectory() as base:
        remote = remote_of(base)
        members = fleet(base, remote, fp, machines, 2, tasks)

        def together(member):
            times = []
            while build(fp, member, f"{member.name}-builder-1", seconds, times):
                pass
            return times

        wall, shared = all_at_once(together, members)
    per_task = lambda lists: sum(map(sum, lists)) / sum(len(times) / 2 for times in lists)
    extra = max(0.0, per_task(shared) - per_task(own))
    print(f"{machines} machines, {tasks} tasks of {seconds} s in {wall:.1f} s")
    print(f"claim and verdict: {per_task(shared):.2f} s a task, {per_task(own):.2f} s in plans that nobody shares")
    print(f"waiting for the ledger: {100 * extra / (extra + seconds):.1f} % of their time; {100 * extra / (extra + 60):.1f} % with tasks of a minute")


def main():
    what, fp, *numbers = sys.argv[1:]
    fp = os.path.abspath(fp)
    if what == "ledger":
        ledger(fp, *map(int, numbers))
    else:
        machines, tasks, seconds = numbers
        wait(fp, int(machines), int(tasks), float(seconds))


main()
