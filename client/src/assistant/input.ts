/** The file or function that an assistant calls a tool for. */

export interface Subject {
  /** The path given by the assistant: absolute, or relative to a folder of the workspace. */
  path: string;
  function?: string;
}

/** @throws Error with a message that tells an assistant what to do */
export function subject(input: unknown, { needsFunction }: { needsFunction: boolean }): Subject {
  const { path, function: name } = (input ?? {}) as { path?: unknown; function?: unknown };
  if (typeof path !== "string" || path === "") throw new Error("Give the path of a file of the workspace.");
  if (typeof name === "string" && name !== "") return { path, function: name };
  if (needsFunction) throw new Error("Give the qualified name of a function, such as Stack.push.");
  return { path };
}
