// What every page is made of: elements of texts, and the choice between light and dark.
document.documentElement.classList.add("js");
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

function list(kind, texts) {
  const made = element(kind);
  texts.forEach((text) => {
    const item = prose(element("li"), text);
    item.dir = "auto";
    made.append(item);
  });
  return made;
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function showTheme() {
  byId("theme").setAttribute("aria-label", isDark() ? "Switch to light" : "Switch to dark");
}
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
showTheme();
