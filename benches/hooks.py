"""Measures whole processes of hooks and of the status line for hooks.sh: `hooks.py FP ROUNDS`. Everybody takes turns in
each round, and before each process the plan is put back as it was, so that a hook that writes to the log always finds
the same."""

import copy
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EVENTS = f"{HERE}/../tests/fixtures/events"
PLAN = "sample-20261121"
COMPARISON = f"{HERE}/comparison-hook.sh"
STATE = ["events.jsonl", "execution-state.json"]

LEAF = """- [ID: {n}] Write part {n} (Complexity: 2)
  - Acceptance:
    - `src/part-{n}.rs` has a line about {n}
  - Dependencies: none
  - Files: {file}
  - Tests Required: no
  - Hints:
    - One line
    - A newline at its end
  - Guardrails:
    - Do NOT modify files outside: {file}
    - Do NOT add new dependencies
  - Test Commands: none
"""

# Each hook: the recorded event, the state of the plan that it finds, and whether the script does the same.
HOOKS = {
    "pre-tool-use, a command": ("interactive-pre-tool-use-bash-main", "held", False),
    "pre-tool-use, an edit": ("interactive-pre-tool-use-edit-builder", "held", False),
    "post-tool-use, an edit": ("interactive-post-tool-use-edit-builder", "held", True),
    "post-tool-use, of 1 MB": ("interactive-post-tool-use-edit-builder", "held", True),
    "teammate-idle, nudges": ("interactive-teammate-idle-builder", "held", True),
    "subagent-stop": ("interactive-subagent-stop-builder", "held", True),
    "session-start": ("interactive-session-start-compact", "held", False),
    "pre-compact": ("interactive-pre-compact", "held", False),
    "stop, something is due": ("interactive-stop", "started", False),
    "stop, a builder works": ("interactive-stop", "held", False),
    "an unknown event": ("interactive-user-prompt-submit", "held", False),
    "the status line": (None, "held", False),
}
# The folders that the hooks run in, and how many tasks their plan has.
PLACES = {"no plan": 0, "2 tasks": 2, "1,000 tasks": 1000}


def environment(home):
    return {
        "HOME": home,
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": "A Person",
        "GIT_AUTHOR_EMAIL": "person@example.com",
        "GIT_COMMITTER_NAME": "A Person",
        "GIT_COMMITTER_EMAIL": "person@example.com",
    }


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Place:
    """A repository with a plan of so many tasks, the first of which is about the file that is edited."""

    def __init__(self, folder, tasks, fp, env):
        self.folder, self.env, self.has_plan = folder, env, tasks > 0
        self.plan = f"{folder}/.fractal-planner/plans/{PLAN}"
        write(f"{folder}/README.md", "# Sample\n")
        self.run("git", "init", "--quiet")
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--message", "Start")
        if not self.has_plan:
            return
        write(f"{folder}/.fractal-planner/plans/.gitignore", "*\n")
        file = "src/greet.rs, src/large.rs"
        leaves = [LEAF.format(n=n, file=file if n == 1 else f"src/part-{n}.rs") for n in range(1, tasks + 1)]
        head = "## Root Task\n- [ID: root] Sample goal (Complexity: 5)\n\n### Subtasks\n"
        write(f"{self.plan}/tasks.md", head + "".join(leaves))
        self.run(fp, "approve", PLAN, "--yes")
        self.run(fp, "start", PLAN, "--session", "s1")
        self.save("started")
        self.run(fp, "next", PLAN)
        self.run(fp, "claim", PLAN, "--as", "builder-1")
        self.save("held")

    def run(self, *command):
        subprocess.run(command, cwd=self.folder, env=self.env, stdout=subprocess.DEVNULL, check=True)

    def save(self, state):
        os.makedirs(f"{self.folder}-{state}")
        for name in STATE:
            shutil.copy2(f"{self.plan}/{name}", f"{self.folder}-{state}/{name}")

    def restore(self, state):
        if self.has_plan:
            for name in STATE:
                # The snapshot is believed as long as the log has the time that it was taken at.
                shutil.copy2(f"{self.folder}-{state}/{name}", f"{self.plan}/{name}")


def event_of(name, hook, folder):
    """The recorded event as sent by session s1 in `folder`; the file that it edits is written as the edit left it. The
    status line gets no event, only the place."""
    if name is None:
        return {"workspace": {"project_dir": folder}}
    with open(f"{EVENTS}/{name}.json", encoding="utf-8") as file:
        event = json.loads(file.read().replace("/home/dev/shop", folder))
    event["session_id"] = "s1"
    if "command" in event.get("tool_input", {}):
        event["tool_input"]["command"] = f"fp status {PLAN} && fp next {PLAN}"
    if "tool_response" not in event:
        return event
    response = event["tool_response"]
    if hook.endswith("1 MB"):
        event = copy.deepcopy(event)
        response = event["tool_response"]
        line = "/// Adds up to {n}.\npub fn part_{n}(name: &str) -> String {{\n    let text = \"// {n}\"; // {n}\n}}\n"
        parts = [line.format(n=n) for n in range(12500)]
        parts.insert(6000, response["originalFile"])
        response["originalFile"] = "".join(parts)
        # Four lines a part stand before it.
        response["structuredPatch"][0].update(oldStart=24001, newStart=24001)
        path = f"{folder}/src/large.rs"
        response["filePath"] = event["tool_input"]["file_path"] = path
    edited = response["originalFile"].replace(response["oldString"], response["newString"])
    write(response["filePath"], edited)
    return event


def timed(command, stdin, folder, env, out):
    """The wall time in ms of a process that has to succeed; what it prints goes to `out`."""
    os.chdir(folder)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, env, file_actions=actions)
    _, status = os.waitpid(child, 0)
    wall = time.perf_counter() - start
    assert os.waitstatus_to_exitcode(status) == 0, command
    return wall * 1e3


def main():
    fp, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as base:
        base = os.path.realpath(base)
        os.makedirs(f"{base}/home")
        env = environment(f"{base}/home")
        places = {name: Place(f"{base}/{tasks}", tasks, fp, env) for name, tasks in PLACES.items()}
        times, replies = {}, {}

        def measure(key, command, stdin, folder):
            times.setdefault(key, []).append(timed(command, stdin, folder, env, f"{base}/out"))
            replies[key] = os.path.getsize(f"{base}/out") > 0

        inputs = {}
        for hook, (event, _, _) in HOOKS.items():
            for place, at in places.items():
                inputs[hook, place] = f"{base}/{len(inputs)}.json"
                write(inputs[hook, place], json.dumps(event_of(event, hook, at.folder)))
        for _ in range(rounds):
            measure("/bin/true", ["/bin/true"], "/dev/null", base)
            measure("fp --version", [fp, "--version"], "/dev/null", base)
            for hook, (event, state, compared) in HOOKS.items():
                name = "tomorrow" if hook == "an unknown event" else hook.split(",")[0]
                command = [fp, "hook", name] if event else [fp, "statusline"]
                for place, at in places.items():
                    at.restore(state)
                    measure((hook, place), command, inputs[hook, place], at.folder)
                    if compared and place == "2 tasks":
                        at.restore(state)
                        measure((hook, "script"), [COMPARISON, name], inputs[hook, place], at.folder)
        report(times, replies, rounds, os.path.getsize(fp))


def report(times, replies, rounds, size):
    median = {key: statistics.median(values) for key, values in times.items()}
    nothing, version = median["/bin/true"], median["fp --version"]
    print(f"whole processes, wall time in ms, median of {rounds}; * replies")
    print(f"/bin/true {nothing:.2f}, fp --version {version:.2f}; the program has {size / 1e6:.1f} MB")
    print(f"{'':24}" + "".join(f"{place:>12}" for place in PLACES) + "    script   in times of (2 tasks)")
    print(f"{'':24}{'':36}{'':10}   true version script")
    for hook in HOOKS:
        of = [f"{median[hook, place]:10.2f}{'*' if replies[hook, place] else ' '} " for place in PLACES]
        small, script = median[hook, "2 tasks"], median.get((hook, "script"))
        compared = f"{small / script:6.2f}x" if script else f"{'-':>7}"
        shown = f"{script:10.2f}" if script else f"{'-':>10}"
        print(f"{hook:24}{''.join(of)}{shown} {small / nothing:5.1f}x {small / version:6.1f}x{compared}")


main()
