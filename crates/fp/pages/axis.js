// The axis of time. Pauses are cut out, so that a night does not hide a day.
const run = JSON.parse(byId("run").textContent);
const moment = (text) => Date.parse(text);
const start = run.from === null ? 0 : moment(run.from);
const finish = run.to === null ? 0 : Math.max(moment(run.to), start);

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const minutes = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** So many milliseconds in words, as the page has them. */
function took(millis) {
  const seconds = Math.round(millis / 1000);
  if (millis === 0) return "0 s";
  if (millis < 9950) return `${(Math.round(millis / 100) / 10).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

/** Share of the axis that a cut has. */
const CUT = 0.035;
/** The stretches of the axis: from when to when, from where to where (0 to 1), and whether it is a cut. */
function stretches() {
  const parts = [];
  let from = start;
  for (const pause of run.pauses) {
    const [gap, next] = [moment(pause.from), moment(pause.to)];
    parts.push({ from, to: gap, cut: false }, { from: gap, to: next, cut: true });
    from = next;
  }
  parts.push({ from, to: finish, cut: false });
  const cuts = parts.filter((part) => part.cut).length;
  const room = Math.max(0.3, 1 - CUT * cuts);
  const shown = parts.reduce((sum, part) => sum + (part.cut ? 0 : part.to - part.from), 0) || 1;
  let x = 0;
  for (const part of parts) {
    part.left = x;
    x += part.cut ? (1 - room) / cuts : ((part.to - part.from) / shown) * room;
    part.right = x;
  }
  return parts;
}
const parts = stretches();

/** Where a moment is on the axis, 0 to 1. */
function place(at) {
  const part = parts.find((one) => at <= one.to) ?? parts[parts.length - 1];
  const length = part.to - part.from;
  return length ? part.left + (Math.max(0, at - part.from) / length) * (part.right - part.left) : part.left;
}

const STEPS = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000]
  .concat([1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((count) => count * 60_000));

/** Moments to name on an axis that is so many pixels wide: each with its place and its name. */
function ticks(width) {
  const shown = parts.filter((part) => !part.cut);
  const length = shown.reduce((sum, part) => sum + part.to - part.from, 0);
  const step = STEPS.find((one) => (length / one) * 90 <= width) ?? STEPS[STEPS.length - 1];
  const zone = new Date(start).getTimezoneOffset() * 60_000;
  const found = [];
  let date = "";
  for (const part of shown) {
    for (let at = Math.ceil((part.from - zone) / step) * step + zone; at <= part.to; at += step) {
      const today = day.format(at);
      const name = step < 1000 ? `${clock.format(at)}.${(at % 1000) / 100}` : (step < 60_000 ? clock : minutes).format(at);
      found.push({ at, x: place(at), name, day: today === date ? "" : today });
      date = today;
    }
  }
  return found;
}
