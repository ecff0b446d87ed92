// The selected task in full; without one, what there is to know of the whole.
const detail = byId("detail");

function part(title, ...content) {
  const made = element("section");
  made.append(element("h3", "", title), ...content);
  return made;
}

function link(number) {
  const made = prose(element("button", "task"), `${tasks[number].id} ${tasks[number].title}`);
  made.type = "button";
  made.dir = "auto";
  made.addEventListener("click", () => {
    select(number);
    detail.focus();
  });
  return made;
}

/** Tasks to go to; of very many the first. */
function links(numbers) {
  const made = element("ul", "links");
  numbers.slice(0, 60).forEach((number) => {
    const item = element("li");
    item.append(link(number));
    made.append(item);
  });
  if (numbers.length > 60) made.append(element("li", "", `and ${numbers.length - 60} more`));
  return made;
}

function why(number) {
  const { start, delay } = places.get(number);
  const made = element("p", "why");
  const ids = (delay?.on ?? []).join(", ");
  if (!delay) made.append("It waits for nothing: it can start at once.");
  else if (delay.cause === "dependency") made.append(`It waits for ${ids}, done at minute ${start}.`);
  else if (delay.cause === "file") prose(made, `Its file \`${delay.file}\` is with ${ids} until minute ${start}.`);
  else made.append(`Every builder is busy until minute ${start}.`);
  return made;
}

function factsOf(number) {
  const task = tasks[number];
  const run = task.state;
  const facts = element("span", "line");
  if (state[number]) facts.append(element("span", `state ${state[number]}`, state[number]));
  const told = [
    task.complexity && `complexity ${task.complexity}`,
    task.critical && "on the critical path",
    run?.iteration && `attempt ${run.iteration}`,
    run?.owner && `with ${run.owner}`,
  ];
  facts.append(told.filter(Boolean).join(" · "));
  if (run?.commit) facts.append(element("code", "", run.commit.slice(0, 7)));
  return facts;
}

function showTask(number) {
  const task = tasks[number];
  const title = prose(element("h2"), task.title);
  title.id = "detail-title";
  title.dir = "auto";
  const id = element("p", "line");
  id.append(element("bdi", "id", task.id));
  const above = task.parent === null ? null : tasks[task.parent];
  if (above && task.parent > 0) id.append("in ", link(task.parent));
  id.append(factsOf(number));
  const close = element("button", "close", "Close");
  close.type = "button";
  close.addEventListener("click", () => select(null));
  const parts = [];
  const add = (name, ...content) => parts.push(part(name, ...content));
  if (task.state?.detail) {
    add("Now", prose(element("p", "note"), task.state.detail));
    parts[parts.length - 1].classList.add("now", state[number]);
  }
  task.notes.forEach((text) => {
    const note = prose(element("p", "note"), text);
    note.dir = "auto";
    parts.push(note);
  });
  if (places.has(number)) add(since(places.get(number).start), why(number));
  if (task.acceptance.length) add("Acceptance", list("ol", task.acceptance));
  if (task.files.length) add("Files", list("ul", task.files.map((file) => (file.includes("`") ? file : `\`${file}\``))));
  if (task.after.length) add("Waits for", links(task.after));
  const waiting = task.leaf ? usersOf(number) : users[number];
  if (waiting.length) add("Needed by", links(waiting));
  if (task.children.length) add("Parts", links(task.children));
  if (task.hints.length) add("Hints", list("ul", task.hints));
  if (task.references.length) add("References", list("ul", task.references));
  if (task.guardrails.length) add("Guardrails", list("ul", task.guardrails));
  if (task.setup.length) add("Setup", ...task.setup.map((text) => element("pre", "", shownCommand(text))));
  const commands = [...task.testCommands, ...(task.verify ? [task.verify] : [])];
  if (task.testsRequired !== null || commands.length) {
    const required = task.testsRequired === null ? [] : [element("p", "line", task.testsRequired ? "Tests have to be written" : "No tests have to be written")];
    add("Tests", ...commands.map((text) => element("pre", "", shownCommand(text))), ...required);
  }
  const rest = [["risk", task.risk], ["group", task.group], ["priority", task.priority], ["covers", task.covers.join(", ")]];
  const told = rest.filter(([, text]) => text).map(([name, text]) => `${name} ${text}`);
  if (told.length) add("Also", element("p", "line", told.join(" · ")));
  show([close, id, title], parts);
}

/** A command with its hidden characters as escapes, as the program shows it. */
function shownCommand(text) {
  const escape = (hidden) => `<U+${hidden.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
  return text.replace(/(?![ \n\t])[\s\p{Cc}\p{Cf}\p{DI}\u2800]/gu, escape);
}

function show(head, parts) {
  const body = element("div", "parts");
  body.append(...parts);
  detail.replaceChildren(...head, body);
}

function showWhole() {
  const title = element("h2", "", "No task selected");
  title.id = "detail-title";
  const about = element("p", "line", "Choose a task in the tree or in the schedule to see what it asks for, and why it runs when it does.");
  const parts = [];
  const onPath = new Map();
  tasks.forEach((task, number) => task.critical && onPath.set(task.id, number));
  if (onPath.size) {
    parts.push(part(`Critical path, ${report.criticalPath.minutes} min`, links(report.criticalPath.tasks.map((one) => onPath.get(one)))));
  }
  const keys = element("dl", "keys");
  [["/", "search"], ["↑ ↓", "from task to task"], ["← →", "close and open, or column to column"], ["Enter", "select"], ["Esc", "clear the search, then the selection"]].forEach(
    ([key, what]) => {
      const name = element("dt");
      name.append(element("kbd", "", key));
      keys.append(name, element("dd", "", what));
    },
  );
  const folded = element("details", "keys");
  folded.append(element("summary", "", "Keys"), keys);
  parts.push(folded);
  show([title, about], parts);
}

function showDetail() {
  detail.classList.toggle("open", view.selected !== null);
  if (view.selected === null) showWhole();
  else showTask(view.selected);
  detail.scrollTop = 0;
}

/** Selects a task everywhere, or none; without `scroll` the page stays where it is. */
function select(number, scroll = true) {
  if (view.selected !== null) rows[view.selected].setAttribute("aria-selected", "false");
  view.selected = number;
  if (number !== null) {
    rows[number].setAttribute("aria-selected", "true");
    reveal(number);
    if (!rows[number].hidden) makeCurrent(number, false);
    if (scroll) {
      rows[number].scrollIntoView({ block: "nearest" });
      boxes.get(number)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else if (boxes.has(number)) {
      tree.scrollTop = rows[number].offsetTop - tree.clientHeight / 2;
      graph.scrollLeft = left(number) + WIDTH / 2 - graph.clientWidth / 2;
      graph.scrollTop = middle(number) - graph.clientHeight / 2;
    }
  }
  showDetail();
  trace(number);
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input");
  if (event.key === "Escape") {
    if (isFiltering()) clearFilter();
    else if (typing) rows[current]?.focus();
    else select(null);
  } else if (event.key === "Enter" && event.target.type === "search") {
    const first = leaves.find((number) => !rows[number].hidden);
    if (first !== undefined) {
      makeCurrent(first, true);
      select(first);
    }
  }
});

drawIfPossible();
showRows();
// Where the details are beside the tree, the first task that is worth a look is there from the start.
const order = ["failed", "verifying", "building", "ready"];
const worthIt = order.map((word) => leaves.find((number) => state[number] === word)).find((number) => number !== undefined);
const first = worthIt ?? leaves.find((number) => tasks[number].critical) ?? leaves[0];
if (first !== undefined && matchMedia("(min-width: 720px)").matches) select(first, false);
else showDetail();
