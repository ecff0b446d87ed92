"""Measures whole processes for compare.sh: medians of ROUNDS rounds, the contenders taking turns in each round."""

import os
import statistics
import subprocess
import sys
import time

PLAN = "bench-20261121"


def cost(command, folder):
    """Wall and processor time in milliseconds and peak memory in bytes of one process, which has to succeed."""
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    wall = (time.perf_counter() - started) * 1000
    if status != 0:
        sys.exit(f"{' '.join(command)} in {folder} failed")
    unit = 1 if sys.platform == "darwin" else 1024
    return wall, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss * unit


def medians(commands, folder, rounds):
    """The medians of each command, in the order given."""
    runs = [[] for _ in commands]
    for _ in range(rounds):
        for command, of in zip(commands, runs):
            of.append(cost(command, folder))
    return [tuple(statistics.median(column) for column in zip(*of)) for of in runs]


def plan(binary, folder, shape, leaves):
    """A plan of its own repository; gives the folder and the size of its tree in bytes."""
    root = os.path.join(folder, f"{shape}{leaves}")
    of_plan = os.path.join(root, ".fractal-planner", "plans", PLAN)
    os.makedirs(of_plan)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    path = os.path.join(of_plan, "tasks.md")
    with open(path, "wb") as out:
        subprocess.run([f"{binary}/examples/yardstick", "tree", shape, str(leaves)], stdout=out, check=True)
    return root, os.path.getsize(path)


def main():
    binary, folder, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    fp, yardstick = f"{binary}/fp", f"{binary}/examples/yardstick"
    tree = os.path.join(".fractal-planner", "plans", PLAN, "tasks.md")
    commands = {
        "events": [yardstick, "events", tree],
        "validate": [fp, "validate", PLAN],
        "plan": [fp, "plan", PLAN],
        "fmt": [fp, "fmt", PLAN, "--check"],
    }
    print("wall time in ms, and how many times that of the events; memory of validate, in times of the tree")
    print(f"{'tree':<14}{'MB':>6}" + "".join(f"{name:>14}" for name in commands) + f"{'memory':>8}")
    for shape, leaves in [("plan", 1000), ("plan", 10000), ("plan", 100000), ("chain", 100000), ("shared", 100000)]:
        root, size = plan(binary, folder, shape, leaves)
        found = medians(list(commands.values()), root, rounds if leaves < 100000 else min(rounds, 3))
        events = found[0][0]
        cells = "".join(f"{wall:>8.0f} {wall / events:>4.1f}x" for wall, _, _ in found[1:])
        print(f"{shape + ' ' + str(leaves):<14}{size / 1e6:>6.1f}{events:>14.1f}{cells}{found[1][2] / size:>7.1f}x")
    (signals,) = medians([[fp, "signals", PLAN]], os.path.join(folder, "repository"), rounds)
    print(f"signals, 100 leaves, 5,000 files, 2,000 commits: {signals[0]:.0f} ms")


main()
