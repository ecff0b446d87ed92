// The report, and what the parts of the page share: which task is selected, and which are shown.
const report = JSON.parse(document.getElementById("report").textContent);
const tasks = report.tasks;
const byId = (id) => document.getElementById(id);

/** An element with text, which is never markup. */
function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Appends `text` with its code spans as such. */
function prose(into, text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0 || text.includes("``")) {
    into.append(text);
    return into;
  }
  parts.forEach((part, at) => into.append(at % 2 ? element("code", "", part) : part));
  return into;
}

/** Where a leaf is in the run, in the word that the tree has for it; empty before the approval. */
function stateOf(task) {
  if (!task.state) return "";
  const words = {
    PENDING: "waiting", IMPLEMENTING: "building", AWAITING_VERIFICATION: "verifying",
    COMPLETED: "done", FAILED: "failed", SKIPPED: "skipped",
  };
  return task.state.ready ? "ready" : words[task.state.status];
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

const view = { selected: null, states: new Set(), words: [] };

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

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function showTheme() {
  byId("theme").setAttribute("aria-pressed", String(isDark()));
}
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
showTheme();

for (const part of document.querySelectorAll(".progress i")) part.style.flexGrow = part.dataset.share;

