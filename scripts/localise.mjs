// The manifest's texts in the user's language. package.json has them in English, where they are read and checked. In
// the package they are replaced by keys (package.nls.json), so that the editor can choose a language.

/** Fields of the manifest that users read. `name` is one of them for views only. */
const READ = new Set([
  "title",
  "displayName",
  "description",
  "markdownDescription",
  "category",
  "userDescription",
  "altText",
  "contents",
]);
const READ_LISTS = new Set(["enumDescriptions", "markdownEnumDescriptions"]);
/** Fields that are the same in every language, or that are read by programs. */
const KEPT = new Set(["inputSchema", "categories"]);

/**
 * @param {object} manifest
 * @returns {{ manifest: object, texts: Record<string, string> }} the manifest with `%key%` instead of each text, and
 *   the
 *   texts by key; equal texts share a key
 */
export function keyed(manifest) {
  const keys = new Map();
  const key = (text, path) => {
    if (!keys.has(text)) keys.set(text, path.join("."));
    return `%${keys.get(text)}%`;
  };
  const walk = (value, path) => {
    const field = path.at(-1);
    if (Array.isArray(value)) {
      const texts = READ_LISTS.has(field);
      return value.map((one, at) => (texts ? key(one, [...path, at]) : walk(one, [...path, named(one, at)])));
    }
    if (value === null || typeof value !== "object") return isText(path, value) ? key(value, path) : value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, one]) => [name, KEPT.has(name) ? one : walk(one, [...path, name])]),
    );
  };
  const walked = walk(manifest, []);
  return {
    manifest: walked,
    texts: Object.fromEntries(Array.from(keys, ([text, name]) => [name, text])),
  };
}

/** The product's name is the same in every language. */
function isText(path, value) {
  const field = path.at(-1);
  if (typeof value !== "string" || value === "Counterlens") return false;
  return READ.has(field) || (field === "name" && path.includes("views"));
}

/** The key of an element by its own name, so that keys do not change when others are added. */
function named(one, at) {
  const name = one?.command ?? one?.id ?? one?.name ?? one?.view;
  return typeof name === "string" ? name : at;
}

/**
 * @param {Record<string, string>} texts by key
 * @param {Record<string, string>} translations by the English text
 */
export function translated(texts, translations) {
  const known = Object.entries(texts).filter(([, text]) => text in translations);
  return Object.fromEntries(known.map(([name, text]) => [name, translations[text]]));
}
