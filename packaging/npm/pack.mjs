// Makes the packages for npm from the archives of a release: one for each system with its program, and "codeloops", which
// depends on all of them and of which npm installs the one that fits.
//
//   node packaging/npm/pack.mjs DIST VERSION OUT
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [dist, version, out] = process.argv.slice(2);
if (!dist || !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version ?? "") || !out) {
  console.error("usage: node packaging/npm/pack.mjs DIST VERSION OUT, with a version such as 1.2.3");
  process.exit(2);
}
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const main = JSON.parse(readFileSync(join(here, "codeloops", "package.json"), "utf8"));
main.version = version;
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const write = (dir, json) => writeFileSync(join(dir, "package.json"), JSON.stringify(json, null, 2) + "\n");
const pack = (dir) => execFileSync("npm", ["pack", "--silent", "--pack-destination", out, dir], { stdio: "inherit" });

for (const [os, platform] of [["linux", "linux"], ["darwin", "darwin"], ["windows", "win32"]]) {
  for (const [arch, cpu] of [["amd64", "x64"], ["arm64", "arm64"]]) {
    const archive = join(dist, `codeloops_${os}_${arch}.${os === "windows" ? "zip" : "tar.gz"}`);
    if (!existsSync(archive)) {
      if (process.env.PARTIAL) continue; // of a trial on one system
      throw new Error(`${archive} is missing`);
    }
    const name = `codeloops-${platform}-${cpu}`;
    const dir = join(out, "src", name);
    const program = os === "windows" ? "codeloops.exe" : "codeloops";
    mkdirSync(join(dir, "bin"), { recursive: true });
    if (os === "windows") execFileSync("unzip", ["-q", archive, program, "-d", join(dir, "bin")]);
    else execFileSync("tar", ["-xzf", archive, "-C", join(dir, "bin"), program]);
    chmodSync(join(dir, "bin", program), 0o755);
    copyFileSync(join(root, "LICENSE"), join(dir, "LICENSE"));
    write(dir, {
      name, version, description: `The program of codeloops for ${platform} ${cpu}`, license: main.license, homepage: main.homepage,
      repository: main.repository, os: [platform], cpu: [cpu], preferUnplugged: true, files: ["bin", "LICENSE"],
    });
    main.optionalDependencies[name] = version;
    pack(dir);
  }
}
const dir = join(out, "src", "codeloops");
cpSync(join(here, "codeloops"), dir, { recursive: true });
for (const file of ["LICENSE", "README.md"]) copyFileSync(join(root, file), join(dir, file));
write(dir, main);
pack(dir);
