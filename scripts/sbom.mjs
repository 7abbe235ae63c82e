// A software bill of materials (CycloneDX 1.6) for users of a release, made from the lock files.
import { readFileSync } from "node:fs";
import path from "node:path";
import { client, root } from "./paths.mjs";

/** Lock files of the server's environment: packages, engine, model and installer. */
const LOCKS = ["runtime", "engine", "model", "uv"];

/** @param {string} version of Counterlens @returns {object} the document */
export function billOfMaterials(version) {
  const locks = LOCKS.map((name) => readFileSync(path.join(root, `requirements/${name}.txt`), "utf8"));
  const all = [...locks.flatMap(pythonPackages), ...nodePackages()];
  const components = [...new Map(all.map((one) => [one.purl, one])).values()];
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", name: "counterlens", version } },
    components: components.sort((one, other) => (one.purl < other.purl ? -1 : 1)),
  };
}

/** The packages that a lock file of uv pins. */
export function pythonPackages(lock) {
  return [...lock.matchAll(/^([\w.-]+)==([^\s;]+)/gm)].map(([, name, version]) => {
    return { type: "library", name, version, purl: `pkg:pypi/${name.toLowerCase()}@${version}` };
  });
}

/** The extension's dependencies and theirs, as locked by npm: they are bundled into the extension. */
function nodePackages() {
  const { packages } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const workspace = path.relative(root, client);
  const found = new Map();
  const wanted = Object.keys(packages[workspace].dependencies ?? {}).map((name) => [workspace, name]);
  for (const [from, name] of wanted) {
    const place = placeOf(packages, from, name);
    if (!place || found.has(place)) continue;
    const { version, dependencies = {} } = packages[place];
    found.set(place, {
      type: "library",
      name,
      version,
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    });
    wanted.push(...Object.keys(dependencies).map((next) => [place, next]));
  }
  return [...found.values()];
}

/** Resolves a package like Node: in the nearest `node_modules` above. */
function placeOf(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/"), 0))) {
    const place = [folder, "node_modules", name].filter(Boolean).join("/");
    if (place in packages) return place;
    if (!folder) return undefined;
  }
}
