// Where the time and the money went: a bar for each builder, and one for each of the dearest tasks.
const PARTS = [
  ["building", "Building"], ["verifying", "Verification"], ["committing", "Commits"],
  ["waiting", "Waiting"], ["asking", "Waiting for you"], ["idle", "Idle"],
];
/** Most tasks that are listed by their cost. */
const DEAREST = 6;

/** A bar of several parts: of each its class, its share and its name. */
function stack(name, parts, about) {
  const made = element("li");
  const bar = element("span", "stack");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", parts.filter((one) => one.told).map((one) => one.told).join(", "));
  parts.forEach(({ kind, share, told }) => {
    if (!share) return;
    const part = element("i", kind);
    part.style.flexGrow = share;
    part.title = told;
    bar.append(part);
  });
  made.append(element("bdi", "", name), bar, element("small", "", about));
  return made;
}

function stacks(title, rows) {
  const made = element("div");
  const all = element("ul", "stacks");
  all.append(...rows);
  made.append(element("h3", "", title), all);
  return made;
}

function timeOf(lane) {
  const times = { ...lane.millis, idle: lane.idle };
  const parts = PARTS.map(([kind, name]) => ({ kind, share: times[kind], told: times[kind] ? `${name} ${took(times[kind])}` : "" }));
  return stack(lane.name, parts, took(Object.values(lane.millis).reduce((sum, one) => sum + one, 0)));
}

/** The cost of each task, in dollars or, where nobody counts them, in tokens. */
function costs({ agents, microUsd }) {
  const isCounted = microUsd !== undefined;
  const tokens = ({ input, cached, output }) => input + cached + output;
  const amount = (agent) => (isCounted ? (agent.microUsd ?? 0) : tokens(agent.tokens));
  const worded = (one) => (isCounted ? `$${(one / 1e6).toFixed(2)}` : `${Math.round(one / 1000)}k tokens`);
  const of = new Map();
  agents.forEach((agent) => {
    const task = agent.task ?? "other";
    const sums = of.get(task) ?? { building: 0, verifying: 0 };
    sums[agent.role === "verifier" ? "verifying" : "building"] += amount(agent);
    of.set(task, sums);
  });
  const all = [...of].map(([task, sums]) => ({ task, ...sums, sum: sums.building + sums.verifying }));
  all.sort((a, b) => b.sum - a.sum);
  return all.slice(0, DEAREST).map((one) => {
    const parts = [
      { kind: "building", share: one.building, told: `builder ${worded(one.building)}` },
      { kind: "verifying", share: one.verifying, told: `verifier ${worded(one.verifying)}` },
      { kind: "rest", share: all[0].sum - one.sum, told: "" },
    ];
    return stack(one.task, parts, worded(one.sum));
  });
}

const spent = byId("spent");
if (spent) {
  const times = stacks("Time with a task, by builder", run.lanes.filter((lane) => !lane.user).map(timeOf));
  const legend = element("ul", "legend");
  PARTS.forEach(([kind, name]) => {
    const sample = element("i", "stack");
    sample.append(element("i", kind));
    const item = element("li");
    item.append(sample, name);
    legend.append(item);
  });
  times.append(legend);
  spent.replaceChildren(times);
  if (run.cost) spent.append(stacks("Cost of the dearest tasks", costs(run.cost)));
  else byId("spent-title").textContent = "Where the time went";
}
