// The rest of the page: its tasks, from wherever they are chosen or found, and times in the reader's own zone.
function showTimes(within) {
  let shown = "";
  for (const made of within.querySelectorAll("time:not([title])")) {
    made.title = made.textContent;
    const at = Date.parse(made.dateTime);
    const today = day.format(at);
    const time = (within.matches("header") ? minutes : clock).format(at);
    made.textContent = within.matches(".task") || today === shown ? time : `${today}, ${time}`;
    if (within.matches("header")) shown = today;
  }
}
document.querySelectorAll("header, .list").forEach(showTimes);
const groups = [...document.querySelectorAll(".group")];
const rows = [...document.querySelectorAll(".task")];
rows.forEach((made) => made.addEventListener("toggle", () => showTimes(made), { once: true }));

function goTo(made, focus) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (let at = made; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  focus.focus({ preventScroll: true });
  made.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

function openTask(id) {
  const made = byId(`t${taskNumber.get(id)}`);
  if (!made) return;
  if (made.hidden) clearFilter();
  goTo(made, made.querySelector("summary"));
}

function openQuestion(id) {
  const number = run.questions.findIndex(([one]) => one === id);
  const made = byId(`decisions-${number}`);
  goTo(made, made);
}

const haystacks = new Map();
/** Whether the filter lets a task's row through. Its words may be anywhere in what the page has about the task. */
function passes(row) {
  if (view.states.size && ![...view.states].some((state) => row.classList.contains(state))) return false;
  if (!haystacks.has(row)) haystacks.set(row, row.textContent.toLocaleLowerCase());
  return view.words.every((word) => haystacks.get(row).includes(word));
}

/** Shows what passes the filter; until it is cleared, in groups that are open. */
let openBefore = null;
function filter() {
  const filtering = isFiltering();
  if (filtering) openBefore ??= groups.map((group) => group.open);
  let found = 0;
  groups.forEach((group, at) => {
    const of = [...group.querySelectorAll(".task")];
    const isShown = view.parent === "" || view.parent === String(at);
    of.forEach((row) => (row.hidden = !isShown || !passes(row)));
    const count = of.filter((row) => !row.hidden).length;
    group.hidden = filtering && count === 0;
    group.open = filtering || (openBefore?.[at] ?? group.open) || group.querySelector(".task[open]") !== null;
    found += count;
  });
  if (!filtering) openBefore = null;
  byId("found").textContent = filtering ? `${found} of ${rows.length} tasks` : "";
}

const foldButton = byId("fold");
const allOpen = () => rows.length > 0 && [...groups, ...rows].every((made) => made.open);
function nameFold() {
  foldButton.textContent = allOpen() ? "Close all" : "Open all";
}
foldButton.addEventListener("click", () => {
  const open = !allOpen();
  if (open) groups.forEach((made) => (made.open = true));
  rows.forEach((made) => (made.open = open));
  nameFold();
});
document.addEventListener("toggle", nameFold, true);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.type === "search") {
    // It would close what now has the focus.
    event.preventDefault();
    const first = rows.find((row) => !row.hidden);
    if (first) goTo(first, first.querySelector("summary"));
  } else if (event.key === "Escape") {
    if (isFiltering()) clearFilter();
    else if (event.target.type === "search") event.target.blur();
    tell(null);
  }
});
// On paper nothing can be opened.
let opened = [];
addEventListener("beforeprint", () => {
  rows.forEach(showTimes);
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((made) => (made.open = true));
});
addEventListener("afterprint", () => opened.forEach((made) => (made.open = false)));

tell(null);
if (run.lanes.length) {
  drawCourse();
} else {
  course.replaceChildren(element("p", "empty", run.from === null ? "The run has not started." : "No builder has taken a task yet."));
  document.querySelector(".course .zoom").hidden = true;
  told.hidden = true;
}
