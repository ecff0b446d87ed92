// Finding tasks: the words and the states that a task has to have, and the task that is selected.
const view = { selected: null, states: new Set(), words: [], parent: "" };
const isFiltering = () => view.states.size > 0 || view.words.length > 0 || view.parent !== "";

byId("search").addEventListener("input", (event) => {
  view.words = event.target.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  filter();
});
byId("parent")?.addEventListener("change", (event) => {
  view.parent = event.target.value;
  filter();
});
for (const chip of document.querySelectorAll(".chip")) {
  chip.addEventListener("click", () => {
    const name = chip.dataset.state;
    if (!view.states.delete(name)) view.states.add(name);
    chip.setAttribute("aria-pressed", String(view.states.has(name)));
    filter();
  });
}
function clearFilter() {
  byId("search").value = "";
  if (byId("parent")) byId("parent").value = "";
  view.words = [];
  view.parent = "";
  view.states.clear();
  document.querySelectorAll(".chip").forEach((chip) => chip.setAttribute("aria-pressed", "false"));
  filter();
}
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.type === "search") return;
  event.preventDefault();
  byId("search").focus();
  byId("search").select();
});
