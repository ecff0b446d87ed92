"""The duties of the comment check and of the nudge as a script does them: read the event, look at the text or at the
ledger, print the reply. It knows a comment by its first characters on a line, and of the ledger what it needs."""

import glob
import json
import os
import re
import sys

COMMENT = re.compile(r"^\s*(//|#|--|/\*|\*)\s*(.*)$")


def comments(text):
    return [found.group(0).strip() for line in text.splitlines() if (found := COMMENT.match(line))]


def after_edit(event):
    response = event.get("tool_response") or {}
    before = set(comments(response.get("originalFile") or ""))
    with open(event["tool_input"]["file_path"], encoding="utf-8") as file:
        added = [comment for comment in comments(file.read()) if comment not in before]
    if added:
        context = "Comments were added: justify or remove them.\n" + "\n".join(added)
        output = {"hookEventName": "PostToolUse", "additionalContext": context}
        print(json.dumps({"hookSpecificOutput": output}))


def agent_stops(event):
    name = event.get("teammate_name") or event.get("agent_type")
    for path in glob.glob(os.path.join(event["cwd"], ".fractal-planner/plans/*/execution-state.json")):
        with open(path, encoding="utf-8") as file:
            state = json.load(file)
        for task in state["state"]["tasks"]:
            claim = task.get("claim") or {}
            if task["status"] == "IMPLEMENTING" and claim.get("owner") == name:
                reason = f"{name}, you hold task {task['leaf']['id']}: go on with it and submit it."
                print(json.dumps({"decision": "block", "reason": reason}))
                return


event = json.load(sys.stdin)
if sys.argv[1] == "post-tool-use":
    after_edit(event)
else:
    agent_stops(event)
