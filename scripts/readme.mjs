// The README of the package. Its pictures are embedded, since the package has no address to load them from.
import { readFileSync } from "node:fs";
import path from "node:path";

const PICTURE = /(!\[[^\]]*\]\()([^):]+\.png)\)/g;

/** @returns {string} the text of a Markdown file with its PNG pictures as data */
export function withPictures(file) {
  const folder = path.dirname(file);
  return readFileSync(file, "utf8").replace(PICTURE, (_, before, picture) => {
    const data = readFileSync(path.join(folder, picture)).toString("base64");
    return `${before}data:image/png;base64,${data})`;
  });
}
