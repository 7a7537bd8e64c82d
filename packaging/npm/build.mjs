// Makes the npm packages of a release: node packaging/npm/build.mjs ARCHIVES OUT
// `aperture-context` has a small starter and names one package per platform, which holds the program. Nothing runs or is
// downloaded at installation.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const PLATFORMS = {
  "x86_64-unknown-linux-musl": ["linux", "x64"],
  "aarch64-unknown-linux-musl": ["linux", "arm64"],
  "x86_64-apple-darwin": ["darwin", "x64"],
  "aarch64-apple-darwin": ["darwin", "arm64"],
  "x86_64-pc-windows-msvc": ["win32", "x64"],
};

const here = dirname(fileURLToPath(import.meta.url));
const [archives, out] = process.argv.slice(2).map((path) => resolve(path));
if (!archives || !out) throw new Error("usage: node packaging/npm/build.mjs ARCHIVES OUT");
const manifest = readFileSync(join(here, "../../Cargo.toml"), "utf8");
const field = (name) => manifest.match(new RegExp(`^${name} = "(.*)"`, "m"))[1];
const [version, description, license, repository] = ["version", "description", "license", "repository"].map(field);
const common = { version, license, repository, homepage: repository };

mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "aperture-npm-"));
const pack = (folder, content) => {
  writeFileSync(join(folder, "package.json"), JSON.stringify(content, null, 2) + "\n");
  execFileSync("npm", ["pack", "--silent", "--pack-destination", out], { cwd: folder, shell: process.platform === "win32" });
};

const optionalDependencies = {};
for (const [target, [os, cpu]] of Object.entries(PLATFORMS)) {
  const name = `aperture-${version}-${target}`;
  if (!readdirSync(archives).includes(name + ".tgz")) continue;
  execFileSync("tar", ["-C", work, "-xzf", join(archives, name + ".tgz")]);
  const folder = join(work, `${os}-${cpu}`);
  mkdirSync(folder);
  const file = os === "win32" ? "aperture.exe" : "aperture";
  cpSync(join(work, name, file), join(folder, file));
  const id = `@aperture-context/${os}-${cpu}`;
  pack(folder, { name: id, description: `The program of aperture-context for ${os} on ${cpu}`, ...common, os: [os], cpu: [cpu], files: [file] });
  optionalDependencies[id] = version;
}
const folder = join(work, "main");
mkdirSync(folder);
for (const file of ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(here, "../..", file), join(folder, file));
cpSync(join(here, "aperture.js"), join(folder, "aperture.js"));
pack(folder, { name: "aperture-context", description, ...common, bin: { aperture: "aperture.js", "aperture-context": "aperture.js" }, files: ["aperture.js"], optionalDependencies });
rmSync(work, { recursive: true });
console.log(readdirSync(out).join("\n"));
