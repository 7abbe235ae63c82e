/* The types of localise.mjs, for tests that are written in TypeScript. */
export function keyed(manifest: object): {
  // biome-ignore lint/suspicious/noExplicitAny: it has the type of the given manifest
  manifest: any;
  texts: Record<string, string>;
};
export function translated(
  texts: Record<string, string>,
  translations: Record<string, string>,
): Record<string, string>;
