#!/usr/bin/env node
// Starts the program of the package for this system, which npm has installed beside this one: nothing is downloaded here.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `codeloops-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/codeloops${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`codeloops: the package ${name} is not installed`);
  console.error("hint: install codeloops without --omit=optional; other systems than Linux, macOS and Windows on x64 or arm64 build it from source");
  process.exit(2);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to the program, too, which decides what they mean. Others are passed on.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`codeloops: ${program} does not start: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
