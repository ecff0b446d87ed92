// The tree that a page is about, and which of its tasks are shown.
const report = JSON.parse(byId("report").textContent);
const tasks = report.tasks;
// Above this, what is off the screen is not laid out.
document.documentElement.classList.toggle("many", tasks.length > 300);

/** Where a leaf is in the run, in the word that the tree has for it; empty before the approval. */
function stateOf(task) {
  if (!task.state) return "";
  const words = {
    PENDING: "waiting", IMPLEMENTING: "building", AWAITING_VERIFICATION: "verifying",
    COMPLETED: "done", FAILED: "failed", SKIPPED: "skipped",
  };
  return task.state.halt ?? (task.state.ready ? "ready" : words[task.state.status]);
}

const state = tasks.map(stateOf);
const leaves = tasks.flatMap((task, number) => (task.leaf ? [number] : []));
/** Of each task the position behind its last descendant. */
const ends = tasks.map((_, number) => number + 1);
for (let number = tasks.length - 1; number > 0; number--) {
  const parent = tasks[number].parent;
  if (parent !== null) ends[parent] = Math.max(ends[parent], ends[number]);
}
/** What waits for each task, directly. */
const users = tasks.map(() => []);
tasks.forEach((task, number) => task.after.forEach((target) => users[target].push(number)));

/** The leaves of a task; of a leaf, itself. */
function leavesOf(number) {
  if (tasks[number].leaf) return [number];
  const found = [];
  for (let at = number + 1; at < ends[number]; at++) if (tasks[at].leaf) found.push(at);
  return found;
}

/** The leaves that wait for a leaf, itself or through one of its parents. */
function usersOf(number) {
  const found = [];
  for (let at = number; at !== null; at = tasks[at].parent) found.push(...users[at]);
  return found;
}

/** All leaves that a leaf waits for, directly or through others; with `step` = usersOf all that wait for it. */
function reach(number, step) {
  const seen = new Set();
  const open = [number];
  const expanded = new Set();
  while (open.length) {
    for (const next of step(open.pop())) {
      if (expanded.has(next)) continue;
      expanded.add(next);
      for (const leaf of leavesOf(next)) {
        if (!seen.has(leaf) && leaf !== number) {
          seen.add(leaf);
          open.push(leaf);
        }
      }
    }
  }
  return seen;
}
const before = (number) => reach(number, (leaf) => tasks[leaf].after);
const behind = (number) => reach(number, usersOf);

/** Whether the filter lets a task through. */
function passes(number) {
  const task = tasks[number];
  if (view.states.size && !(task.leaf && view.states.has(state[number]))) return false;
  return view.words.every((word) => haystack(number).includes(word));
}
const haystacks = [];
function haystack(number) {
  const task = tasks[number];
  haystacks[number] ??= [task.id, task.title, ...task.files, ...task.acceptance].join("\n").toLocaleLowerCase();
  return haystacks[number];
}
