/** Formats the size of a file. */

import { written } from "../numbers";

export function size(bytes: number): string {
  const giga = bytes / 1e9;
  return giga >= 1 ? `${written(giga, 1)} GB` : `${written(Math.max(1, bytes / 1e6))} MB`;
}
