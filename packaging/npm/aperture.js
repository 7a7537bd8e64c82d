#!/usr/bin/env node
// Starts the program, which is in the package of this platform.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `@aperture-context/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${platform}/${process.platform === "win32" ? "aperture.exe" : "aperture"}`);
} catch {
  console.error(`error: there is no package ${platform}, which holds the program for this platform`);
  console.error("hint: install without --omit=optional, or build it: cargo install aperture-context");
  process.exit(2);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: ${program} cannot be started: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
