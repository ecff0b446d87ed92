#!/usr/bin/env node
// Starts the program that the package for this machine has.
"use strict";
const { spawnSync } = require("node:child_process");

const name = `fractal-planner-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/fp${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`error: the npm package ${name} is not installed`);
  console.error("hint: install fractal-planner again, without --omit=optional; or there is no program for this machine");
  process.exit(2);
}
// The terminal sends its signals to both; the program decides what they mean.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`error: ${program} can't be started: ${ended.error.message}`);
  process.exit(2);
}
if (ended.signal) {
  process.removeAllListeners(ended.signal);
  process.kill(process.pid, ended.signal);
}
process.exit(ended.status ?? 2);
