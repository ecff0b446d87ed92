// The rest of the page: its tasks, from wherever they are chosen, and times in the reader's own zone.
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
const rows = [...document.querySelectorAll(".task")];
rows.forEach((made) => made.addEventListener("toggle", () => showTimes(made), { once: true }));

function goTo(made, focus) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  focus.focus({ preventScroll: true });
  made.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
}

function openTask(id) {
  const made = rows[taskNumber.get(id)];
  if (!made) return;
  made.open = true;
  goTo(made, made.querySelector("summary"));
}

function openQuestion(id) {
  const number = run.questions.findIndex(([one]) => one === id);
  const made = byId(`decisions-${number}`);
  goTo(made, made);
}

/** What the drawing of the schedule calls when a task is chosen. */
function select(number) {
  view.selected = number;
  trace(number);
  if (number !== null) openTask(tasks[number].id);
}

const foldButton = byId("fold");
const allOpen = () => rows.length > 0 && rows.every((made) => made.open);
function nameFold() {
  foldButton.textContent = allOpen() ? "Close all" : "Open all";
}
foldButton.addEventListener("click", () => {
  const open = !allOpen();
  rows.forEach((made) => (made.open = open));
  nameFold();
});
document.addEventListener("toggle", nameFold, true);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  view.selected = null;
  trace(null);
  tell(null);
});
// On paper nothing can be opened.
let opened = [];
addEventListener("beforeprint", () => {
  rows.forEach(showTimes);
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((made) => (made.open = true));
});
addEventListener("afterprint", () => opened.forEach((made) => (made.open = false)));

drawIfPossible();
tell(null);
if (run.lanes.length) {
  drawCourse();
} else {
  course.replaceChildren(element("p", "empty", run.from === null ? "The run has not started." : "No builder has taken a task yet."));
  document.querySelector(".course .zoom").hidden = true;
  told.hidden = true;
}
