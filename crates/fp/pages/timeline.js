// The builders in the course of time: a lane each, with what each does as bars.
const course = byId("course");
const told = byId("told");
const taskNumber = new Map(run.tasks.map(([id], number) => [id, number]));
const questions = new Map(run.questions);
let lanes = [];
let stretch = 1;

const DOES = {
  building: "building", asking: "waiting for you", waiting: "waiting",
  verifying: "verification", committing: "commit",
};
const ENDS = { passed: "passed", failed: "was sent back", released: "was taken back" };

function titled(id) {
  const number = taskNumber.get(id);
  return number === undefined ? id : `${id} ${run.tasks[number][1]}`;
}

/** What a bar is. */
function named(bar, lane) {
  if (bar.question !== null) return questions.get(bar.question) ?? bar.question;
  return `${titled(bar.task)}: ${DOES[bar.kind]}, attempt ${bar.nth} by ${bar.who ?? lane.name}`;
}

/** When it was, and what came of it. */
function barTexts(bar) {
  const [from, to] = [moment(bar.from), moment(bar.to)];
  const when = `${clock.format(from)} to ${clock.format(to)}, ${took(to - from)}${bar.open ? " so far" : ""}`;
  if (bar.question !== null) return [when, bar.open ? "not answered" : "settled"];
  const end = bar.open ? "goes on" : (ENDS[bar.outcome] ?? "is under way");
  return [when, bar.kind === "building" ? `the attempt ${end}` : ""];
}

/** Something on a lane that can be pointed at: what it is, and what else it says when it is. */
function item(className, at, task, what, more) {
  // A real button costs several times as much to lay out, and there may be ten thousand.
  const made = element("span", className);
  made.setAttribute("role", "button");
  made.setAttribute("aria-label", what);
  made.tabIndex = -1;
  return { made, at, task, what, more };
}

function barItem(bar, lane) {
  const outcome = bar.kind === "building" && !bar.open ? (bar.outcome ?? "") : "";
  const one = item(`bar ${bar.kind} ${outcome} ${bar.open ? "open" : ""}`, moment(bar.from), bar.task, named(bar, lane), () => barTexts(bar));
  const [left, right] = [place(moment(bar.from)), place(moment(bar.to))];
  one.width = right - left;
  one.label = bar.kind === "building" ? bar.task : "";
  one.left = left;
  if (one.label) {
    one.under = element("span", "under");
    one.under.style.left = `${left * 100}%`;
  }
  one.question = bar.question;
  one.made.style.left = `${left * 100}%`;
  one.made.style.width = `${one.width * 100}%`;
  return one;
}

/** A row of the drawing: who, and a track. */
function strip(className, name, about) {
  const made = element("div", `row ${className}`);
  const who = element("div", "who");
  who.append(element("bdi", "", name), element("small", "", about));
  const track = element("div", "track");
  made.append(who, track);
  return { made, track, items: [] };
}

/** What a row is for: a builder or you; or, by task, a task with what everybody did on it. */
function rowsToDraw() {
  if (!byTask) return run.lanes;
  const bars = run.lanes.flatMap((lane) => (lane.user ? [] : lane.bars.map((bar) => ({ ...bar, who: lane.name }))));
  return run.tasks
    .map(([id, title]) => ({ name: id, title, bars: bars.filter((bar) => bar.task === id) }))
    .filter((task) => task.bars.length);
}

function aboutLane(lane) {
  if (lane.title) return lane.title;
  if (lane.user) return `${lane.bars.length} question${lane.bars.length === 1 ? "" : "s"}`;
  const { building, verifying, committing, waiting, asking } = lane.millis;
  const all = building + verifying + committing + waiting + asking + lane.idle || 1;
  return `idle ${Math.round((lane.idle / all) * 100)} %`;
}

function laneRow(lane) {
  const about = aboutLane(lane);
  const one = strip(lane.user ? "lane user" : "lane", lane.user ? "You" : lane.name, about);
  one.made.setAttribute("role", "group");
  one.made.setAttribute("aria-label", `${lane.user ? "You" : lane.name}, ${about}`);
  one.items = lane.bars.map((bar) => barItem(bar, lane)).sort((a, b) => a.at - b.at);
  return one;
}

function axisRow() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return strip("axis", "Run", zone);
}

/** Pixels that the names of two moments need beside each other. */
const NAMES = 180;

/** Names the moments of the axis, and draws their lines through all lanes. */
function drawTicks(track, width) {
  track.querySelectorAll(".tick").forEach((old) => old.remove());
  let before = -Infinity;
  for (const { x, name, day: date } of ticks(width)) {
    // At the end a name stands before its moment, where the one before may have its own.
    const last = x > 0.97;
    if (last && (x - before) * width < NAMES) continue;
    before = x;
    const tick = element("span", last ? "tick last" : "tick");
    tick.style.left = `${x * 100}%`;
    tick.append(element("span", "", name));
    if (date) tick.append(element("b", "", date));
    track.append(tick);
  }
}

function drawCuts(track) {
  for (const part of parts.filter((one) => one.cut)) {
    const cut = element("span", "cut");
    cut.style.left = `${part.left * 100}%`;
    cut.style.width = `${(part.right - part.left) * 100}%`;
    cut.title = `A pause of ${took(part.to - part.from)}`;
    track.append(cut);
  }
}

let fitted = 0;
/** Names the bars that have room for it. */
function fitTexts() {
  const width = lanes[0].track.clientWidth;
  // A scroll bar that comes or goes changes no text.
  if (Math.abs(width - fitted) < 20) return;
  fitted = width;
  drawTicks(lanes[0].track, width);
  for (const { items } of lanes) {
    let free = 0;
    for (const it of items) {
      if (it.label) {
        const fits = it.width * width > 10 + it.label.length * 7;
        it.made.textContent = fits ? it.label : "";
        // What does not fit stands below, unless that of another bar is there.
        const x = it.left * width;
        it.under.textContent = fits || x < free ? "" : it.label;
        if (it.under.textContent) free = x + 8 + it.label.length * 6;
      }
    }
  }
}

function drawCourse() {
  lanes = [axisRow(), ...rowsToDraw().map(laneRow)];
  fitted = 0;
  const canvas = element("div", byTask ? "canvas by-task" : "canvas");
  canvas.append(...lanes.map((lane) => lane.made));
  course.replaceChildren(canvas);
  // Before the bars are on the page, to ask for its width is cheap.
  fitTexts();
  for (const lane of lanes) {
    drawCuts(lane.track);
    lane.track.append(...lane.items.flatMap((it) => (it.under ? [it.made, it.under] : [it.made])));
  }
  const first = lanes.find((lane, at) => at > 0 && lane.items.length) ?? lanes[0];
  if (first.items.length) first.items[0].made.tabIndex = 0;
  const cut = parts.filter((part) => part.cut).reduce((sum, part) => sum + part.to - part.from, 0);
  byId("course-note").textContent = cut ? `Pauses of ${took(cut)} are cut out` : "";
  resized.disconnect();
  resized.observe(lanes[0].track);
}
const resized = new ResizeObserver(() => fitTexts());
let byTask = false;
byId("by-task").addEventListener("click", () => {
  byTask = !byTask;
  byId("by-task").setAttribute("aria-pressed", String(byTask));
  drawCourse();
});

const known = new WeakMap();
/** The bar that an event is about, and its place among the others. */
function found(target) {
  const made = target.closest?.(".bar");
  if (!made) return null;
  if (!known.has(made)) lanes.forEach((lane, at) => lane.items.forEach((it, nth) => known.set(it.made, { it, at, nth })));
  return known.get(made);
}

/** Describes a bar; without one, tells how to find out. */
function tell(it) {
  course.querySelectorAll(".same").forEach((other) => other.classList.remove("same"));
  if (!it) {
    told.replaceChildren("Point at a bar, or go from one to the next with the arrow keys; Enter opens the task.");
    return;
  }
  const [when, more] = it.more();
  it.made.setAttribute("aria-label", [it.what, when, more].filter(Boolean).join(". "));
  const name = element("b", "", it.what);
  name.dir = "auto";
  const rest = element("span", "more", more.split("\n", 1)[0]);
  rest.dir = "auto";
  told.replaceChildren(name, element("span", "", when), rest);
  if (it.task === null) return;
  lanes.flatMap((lane) => lane.items).forEach((other) => other.made.classList.toggle("same", other.task === it.task));
}

/** Where an arrow leads: along the lane, or to what is nearest in time on the next lane that has anything. */
function neighbour(key, { it, at, nth }) {
  const lane = lanes[at].items;
  if (key === "ArrowRight") return lane[nth + 1];
  if (key === "ArrowLeft") return lane[nth - 1];
  if (key === "Home") return lane[0];
  if (key === "End") return lane[lane.length - 1];
  const by = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (!by) return undefined;
  for (let next = at + by; lanes[next]; next += by) {
    const items = lanes[next].items;
    if (items.length) return items.reduce((best, one) => (Math.abs(one.at - it.at) < Math.abs(best.at - it.at) ? one : best));
  }
  return undefined;
}

course.addEventListener("mouseover", (event) => {
  const hit = found(event.target);
  if (hit) tell(hit.it);
});
course.addEventListener("focusin", (event) => {
  const hit = found(event.target);
  if (!hit) return;
  course.querySelectorAll("[tabindex='0']").forEach((other) => (other.tabIndex = -1));
  hit.it.made.tabIndex = 0;
  tell(hit.it);
});
function open({ it }) {
  if (it.question) openQuestion(it.question);
  else if (it.task !== null) openTask(it.task);
}
course.addEventListener("click", (event) => {
  const hit = found(event.target);
  if (hit) open(hit);
});
course.addEventListener("keydown", (event) => {
  const hit = found(event.target);
  if (!hit || event.ctrlKey || event.metaKey || event.altKey) return;
  const opens = event.key === "Enter" || event.key === " ";
  if (opens || event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") event.preventDefault();
  if (opens) open(hit);
  else neighbour(event.key, hit)?.made.focus();
});

function stretchTo(to) {
  stretch = Math.min(64, Math.max(1, to));
  const middle = (course.scrollLeft + course.clientWidth / 2) / course.scrollWidth;
  course.style.setProperty("--stretch", stretch);
  course.scrollLeft = middle * course.scrollWidth - course.clientWidth / 2;
}
byId("time-in").addEventListener("click", () => stretchTo(stretch * 2));
byId("time-out").addEventListener("click", () => stretchTo(stretch / 2));
byId("time-fit").addEventListener("click", () => stretchTo(1));
