// The leaves from left to right: a column a minute in which some start, a box a leaf, a curve a dependency.
const WIDTH = 188, HEIGHT = 60, ACROSS = 64, DOWN = 14, TOP = 40, SIDE = 20;
const graph = byId("graph");
let boxes = new Map(), columnOf = new Map(), row = new Map(), places = new Map();
let columns = [], starts = [], edges = [], lit = null, size = { width: 0, height: 0 }, scale = 1;

/** The leaves that a dependency on a task is drawn from: of a parent with many, some of those that start last. */
function sources(target) {
  const found = leavesOf(target);
  if (found.length <= 12) return found;
  const last = found.reduce((start, leaf) => Math.max(start, places.get(leaf).start), 0);
  return found.filter((leaf) => places.get(leaf).start === last).slice(0, 12);
}

/** Dependencies that others imply are left out, as long as that is cheap to know. */
function reduced(pairs) {
  if (leaves.length > 2000) return pairs;
  const words = (leaves.length >> 5) + 1;
  const place = new Map(leaves.map((leaf, at) => [leaf, at]));
  const above = new Map();
  const into = new Map(leaves.map((leaf) => [leaf, []]));
  pairs.forEach(([from, to]) => into.get(to).push(from));
  const order = [...leaves].sort((a, b) => columnOf.get(a) - columnOf.get(b));
  for (const leaf of order) {
    const bits = new Uint32Array(words);
    for (const from of into.get(leaf)) {
      above.get(from).forEach((word, at) => (bits[at] |= word));
      bits[place.get(from) >> 5] |= 1 << (place.get(from) & 31);
    }
    above.set(leaf, bits);
  }
  const implied = (from, to) =>
    into.get(to).some((other) => other !== from && (above.get(other)[place.get(from) >> 5] >>> (place.get(from) & 31)) & 1);
  return pairs.filter(([from, to]) => !implied(from, to));
}

const path = new Set();
{
  const onPath = new Map();
  tasks.forEach((task, number) => task.critical && onPath.set(task.id, number));
  const way = report.criticalPath.tasks.map((id) => onPath.get(id));
  for (let at = 1; at < way.length; at++) path.add(`${way[at - 1]} ${way[at]}`);
}

/** What is said of a minute from the beginning. */
const since = (minute) => (minute ? `From minute ${minute}` : "At once");

/** Puts every leaf in the column of its start and, within it, near what it waits for. */
function arrange(schedule) {
  places = new Map(leaves.map((leaf, at) => [leaf, schedule.places[at]]));
  starts = [...new Set(schedule.places.map((place) => place.start))].sort((a, b) => a - b);
  const columnAt = new Map(starts.map((start, at) => [start, at]));
  columnOf = new Map(leaves.map((leaf) => [leaf, columnAt.get(places.get(leaf).start)]));
  const pairs = [];
  const drawnFrom = new Map();
  for (const leaf of leaves) {
    for (const target of tasks[leaf].after) if (!drawnFrom.has(target)) drawnFrom.set(target, sources(target));
    for (const from of new Set(tasks[leaf].after.flatMap((target) => drawnFrom.get(target)))) pairs.push([from, leaf]);
  }
  edges = reduced(pairs);
  columns = starts.map(() => []);
  leaves.forEach((leaf) => columns[columnOf.get(leaf)].push(leaf));
  const into = new Map();
  leaves.forEach((leaf) => into.set(leaf, []));
  edges.forEach(([from, to]) => into.get(to).push(from));
  row = new Map();
  for (const column of columns) {
    const middle = (leaf, at) => {
      const from = into.get(leaf).map((other) => row.get(other));
      return from.length ? from.reduce((sum, y) => sum + y, 0) / from.length : at;
    };
    const wanted = new Map(column.map((leaf, at) => [leaf, middle(leaf, at)]));
    column.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
    column.forEach((leaf, at) => row.set(leaf, at));
  }
  const tallest = Math.max(1, ...columns.map((column) => column.length));
  size = {
    width: SIDE * 2 + columns.length * (WIDTH + ACROSS) - ACROSS,
    height: TOP + tallest * (HEIGHT + DOWN),
  };
}

const left = (number) => SIDE + columnOf.get(number) * (WIDTH + ACROSS);
const middle = (number) => TOP + row.get(number) * (HEIGHT + DOWN) + HEIGHT / 2;

/** A curve that passes the columns in between through the gaps between their boxes. */
function curve(from, to) {
  let x = left(from) + WIDTH, y = middle(from);
  const end = [left(to), middle(to)];
  let text = `M${x} ${y}`;
  const bend = (toX, toY) => {
    const half = (x + toX) / 2;
    text += `C${half} ${y} ${half} ${toY} ${toX} ${toY}`;
    [x, y] = [toX, toY];
  };
  const first = columnOf.get(from), last = columnOf.get(to);
  if (last - first > 40) {
    bend(...end);
    return text;
  }
  for (let column = first + 1; column < last; column++) {
    const start = SIDE + column * (WIDTH + ACROSS);
    const straight = y + ((end[1] - y) * (start + WIDTH / 2 - x)) / (end[0] - x);
    const gap = Math.round((straight - TOP + DOWN / 2) / (HEIGHT + DOWN));
    const free = columns[column].length;
    const at = straight > TOP + free * (HEIGHT + DOWN) ? straight : TOP + Math.min(Math.max(gap, 0), free) * (HEIGHT + DOWN) - DOWN / 2;
    bend(start, at);
    text += `H${start + WIDTH}`;
    x = start + WIDTH;
  }
  bend(...end);
  return text;
}

const SVG = "http://www.w3.org/2000/svg";
function line(svg, className, text) {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("class", className);
  made.setAttribute("d", text);
  svg.append(made);
  return made;
}

function box(number) {
  const task = tasks[number];
  const made = element("button", `node ${state[number]}${task.critical ? " critical" : ""}`);
  made.type = "button";
  made.tabIndex = -1;
  made.dataset.task = number;
  made.style.top = `${TOP + row.get(number) * (HEIGHT + DOWN)}px`;
  const id = element("bdi", "id", task.id);
  const title = prose(element("span", "title"), task.title);
  title.dir = "auto";
  made.title = `${task.id} ${task.title}`;
  made.append(id, element("span", task.complexity ? `cx c${Math.min(task.complexity, 10)}` : "", task.complexity ?? ""), title);
  const words = [task.id, task.title, task.complexity ? `complexity ${task.complexity}` : "", state[number], task.critical ? "critical path" : ""];
  made.setAttribute("aria-label", words.filter(Boolean).join(", "));
  return made;
}

function draw() {
  const chosen = document.querySelector("[name=builders]:checked");
  const schedule = report.schedules.find((one) => one.builders === Number(chosen?.value)) ?? report.schedules[0];
  const builders = schedule.builders;
  arrange(schedule);
  const space = element("div");
  space.id = "space";
  const canvas = element("div");
  canvas.id = "canvas";
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.height}px`;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", size.width);
  svg.setAttribute("height", size.height);
  svg.setAttribute("aria-hidden", "true");
  canvas.append(svg);
  const plain = columns.map(() => ""), critical = columns.map(() => "");
  edges.forEach(([from, to]) => ((path.has(`${from} ${to}`) ? critical : plain)[columnOf.get(to)] += curve(from, to)));
  plain.forEach((text) => text && line(svg, "", text));
  critical.forEach((text) => text && line(svg, "critical", text));
  lit = line(svg, "lit", "");
  boxes = new Map();
  columns.forEach((column, at) => {
    const part = element("div", "column");
    part.style.left = `${SIDE + at * (WIDTH + ACROSS)}px`;
    part.style.width = `${WIDTH}px`;
    part.style.height = `${size.height}px`;
    const title = element("h3", "", since(starts[at]));
    title.append(element("small", "", `${column.length} task${column.length === 1 ? "" : "s"}`));
    part.append(title);
    column.forEach((number) => {
      const made = box(number);
      boxes.set(number, made);
      part.append(made);
    });
    canvas.append(part);
  });
  space.append(canvas);
  graph.replaceChildren(space);
  byId("graph-note").textContent =
    `When each could start with ${builders} builder${builders === 1 ? "" : "s"}, from left to right`;
  if (report.criticalPath.tasks.length) byId("graph-note").append(element("i", "way"), "critical path");
  const firstBox = boxes.get(columns[0]?.[0]);
  if (firstBox) firstBox.tabIndex = 0;
  zoom(scale);
  fade();
  trace(view.selected);
}

/** Below this, the texts can't be read: the boxes are only coloured, and as high as there is room. */
const TINY = 0.45;
function zoom(to) {
  scale = Math.min(1.5, Math.max(SMALLEST, to));
  const space = byId("space");
  if (!space) return;
  const tall = scale < TINY ? Math.min(scale * 4, Math.max(scale, graph.clientHeight / size.height)) : scale;
  byId("canvas").style.transform = scale === 1 ? "" : `scale(${scale}, ${tall})`;
  space.style.width = `${size.width * scale}px`;
  space.style.height = `${size.height * tall}px`;
  graph.classList.toggle("tiny", scale < TINY);
}
/** Even a thousand tasks in a row fit. */
const SMALLEST = 0.01;
const fitting = () => Math.min(1, Math.max(SMALLEST, graph.clientWidth / size.width));
byId("zoom-in").addEventListener("click", () => zoom(scale * 1.25));
byId("zoom-out").addEventListener("click", () => zoom(scale / 1.25));
byId("zoom-fit").addEventListener("click", () => zoom(scale === fitting() ? 1 : fitting()));

/** Makes faint what the filter does not let through. */
function fade() {
  const filtering = isFiltering();
  boxes.forEach((made, number) => made.classList.toggle("faded", filtering && !passes(number)));
}

/** Shows what a leaf waits for and what waits for it. */
function trace(number) {
  // What is selected stays so for long, so that the rest of it is not made faint.
  graph.classList.toggle("tracing", number !== view.selected && boxes.has(number));
  boxes.forEach((made) => {
    made.classList.remove("related", "picked");
    made.removeAttribute("aria-current");
  });
  const picked = boxes.get(view.selected);
  picked?.classList.add("picked");
  picked?.setAttribute("aria-current", "true");
  if (!lit) return;
  if (number === null || !boxes.has(number)) return lit.setAttribute("d", "");
  const above = before(number).add(number), below = behind(number).add(number);
  [...above, ...below].forEach((other) => boxes.get(other)?.classList.add("related"));
  const within = edges.filter(([a, b]) => (above.has(a) && above.has(b)) || (below.has(a) && below.has(b)));
  lit.setAttribute("d", within.slice(0, 4000).map(([a, b]) => curve(a, b)).join(""));
}

const taskOf = (target) => {
  const found = target.closest?.(".node");
  return found ? Number(found.dataset.task) : null;
};
graph.addEventListener("mouseover", (event) => {
  const number = taskOf(event.target);
  if (number !== null) trace(number);
});
graph.addEventListener("mouseout", (event) => {
  if (taskOf(event.target) !== null && !event.relatedTarget?.closest?.(".node")) trace(view.selected);
});
graph.addEventListener("focusin", (event) => {
  const number = taskOf(event.target);
  if (number === null) return;
  graph.querySelectorAll(".node[tabindex='0']").forEach((other) => (other.tabIndex = -1));
  boxes.get(number).tabIndex = 0;
  trace(number);
});
graph.addEventListener("focusout", () => trace(view.selected));
graph.addEventListener("click", (event) => {
  const number = taskOf(event.target);
  if (number !== null) select(number);
});
graph.addEventListener("keydown", (event) => {
  const number = taskOf(event.target);
  if (number === null || event.ctrlKey || event.metaKey || event.altKey) return;
  const column = columnOf.get(number), at = row.get(number);
  const near = (other) => other && other[Math.min(at, other.length - 1)];
  const next = {
    ArrowDown: columns[column][at + 1], ArrowUp: columns[column][at - 1],
    ArrowRight: near(columns[column + 1]), ArrowLeft: near(columns[column - 1]),
    Home: near(columns[0]), End: near(columns[columns.length - 1]),
  };
  if (!(event.key in next)) return;
  event.preventDefault();
  if (next[event.key] !== undefined) boxes.get(next[event.key]).focus();
});
for (const choice of document.querySelectorAll("[name=builders]")) {
  choice.addEventListener("change", () => {
    draw();
    showDetail();
  });
}
let drawnAt = 1;
addEventListener("beforeprint", () => {
  drawnAt = scale;
  zoom(700 / size.width);
});
addEventListener("afterprint", () => zoom(drawnAt));

/** Draws the tasks, or says why it can't. */
function drawIfPossible() {
  if (report.schedules[0]?.places.length) {
    draw();
  } else {
    const none = element("div", "empty");
    if (tasks.length) {
      none.append(element("p", "", "There is no order in which these tasks could run. Some wait for each other:"));
      none.append(list("ul", report.problems.filter((one) => one.rule === "dependency-cycle").map((one) => one.detail)));
    } else {
      none.append("There is nothing to draw.");
    }
    graph.replaceChildren(none);
    document.querySelector(".zoom").hidden = true;
  }
}
