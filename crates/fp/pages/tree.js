// The tree: which rows are open and shown, and its keys (WAI-ARIA Authoring Practices, tree view).
const tree = byId("tree");
const rows = [...tree.children];
const closed = new Set();
let current = 0;

/** Shows the rows that pass the filter, with their parents, and of the rest what is not folded away. */
function showRows() {
  const filtering = isFiltering();
  const shown = new Array(rows.length).fill(!filtering);
  if (filtering) {
    for (let number = rows.length - 1; number >= 0; number--) {
      if (passes(number)) shown[number] = true;
      const parent = tasks[number].parent;
      if (shown[number] && parent !== null) shown[parent] = true;
    }
  }
  let found = 0;
  for (let number = 0, until = 0; number < rows.length; number++) {
    const folded = !filtering && number < until;
    rows[number].hidden = folded || !shown[number];
    if (!tasks[number].leaf) {
      const open = filtering || !closed.has(number);
      rows[number].setAttribute("aria-expanded", String(open));
      if (!open && number >= until) until = ends[number];
    } else if (filtering && passes(number)) found++;
  }
  byId("fold").textContent = closed.size ? "Expand all" : "Collapse all";
  byId("found").textContent = filtering ? `${found} of ${leaves.length} tasks` : "";
  if (rows.length && rows[current].hidden) {
    const next = rows.findIndex((row) => !row.hidden);
    if (next >= 0) makeCurrent(next, false);
  }
}

function makeCurrent(number, focus) {
  rows[current].tabIndex = -1;
  current = number;
  rows[current].tabIndex = 0;
  if (focus) rows[current].focus();
}

function step(from, by) {
  for (let at = from + by; at >= 0 && at < rows.length; at += by) if (!rows[at].hidden) return at;
  return from;
}

function fold(number, close) {
  if (tasks[number].leaf) return;
  if (close) closed.add(number);
  else closed.delete(number);
  showRows();
}

/** Opens all above a task, so that its row is there. */
function reveal(number) {
  let changed = false;
  for (let at = tasks[number].parent; at !== null; at = tasks[at].parent) changed = closed.delete(at) || changed;
  if (changed) showRows();
}

const numberOf = (target) => {
  const row = target.closest?.("[role=treeitem]");
  return row ? Number(row.id.slice(1)) : null;
};

tree.addEventListener("click", (event) => {
  const number = numberOf(event.target);
  if (number === null) return;
  makeCurrent(number, true);
  if (event.target.classList.contains("mark")) fold(number, !closed.has(number));
  else select(number);
});
tree.addEventListener("dblclick", (event) => {
  const number = numberOf(event.target);
  if (number !== null) fold(number, !closed.has(number));
});
tree.addEventListener("focusin", (event) => {
  const number = numberOf(event.target);
  if (number !== null && number !== current) makeCurrent(number, false);
});
tree.addEventListener("mouseover", (event) => {
  const number = numberOf(event.target);
  if (number !== null && tasks[number].leaf) trace(number);
});
tree.addEventListener("mouseleave", () => trace(view.selected));

let typed = "";
let typedAt = 0;
/** The next row whose id or title begins with what was typed within a second. */
function typeAhead(key) {
  typed = Date.now() - typedAt < 1000 ? typed + key : key;
  typedAt = Date.now();
  const begins = (number) =>
    [tasks[number].id, tasks[number].title].some((text) => text.toLocaleLowerCase().startsWith(typed));
  const from = typed.length > 1 ? current : current + 1;
  for (let at = 0; at < rows.length; at++) {
    const number = (from + at) % rows.length;
    if (!rows[number].hidden && begins(number)) return makeCurrent(number, true);
  }
}

tree.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !rows.length) return;
  const open = rows[current].getAttribute("aria-expanded") === "true";
  const actions = {
    ArrowDown: () => makeCurrent(step(current, 1), true),
    ArrowUp: () => makeCurrent(step(current, -1), true),
    Home: () => makeCurrent(step(-1, 1), true),
    End: () => makeCurrent(step(rows.length, -1), true),
    ArrowRight: () => {
      if (tasks[current].leaf) return;
      if (open) makeCurrent(step(current, 1), true);
      else fold(current, false);
    },
    ArrowLeft: () => {
      if (open) fold(current, true);
      else if (tasks[current].parent !== null) makeCurrent(tasks[current].parent, true);
    },
    Enter: () => select(current),
    " ": () => select(current),
    "*": () => {
      const siblings = tasks[current].parent === null ? [current] : tasks[tasks[current].parent].children;
      siblings.forEach((number) => closed.delete(number));
      showRows();
    },
  };
  if (actions[event.key]) {
    actions[event.key]();
    event.preventDefault();
  } else if (event.key.length === 1 && event.key !== "/") {
    typeAhead(event.key.toLocaleLowerCase());
  }
});

byId("fold").addEventListener("click", () => {
  const opening = closed.size > 0;
  closed.clear();
  // The root stays open: below it are the parts that a folded tree is about.
  if (!opening) tasks.forEach((task, number) => !task.leaf && number > 0 && closed.add(number));
  showRows();
});

function filter() {
  showRows();
  fade();
}

