/** The part of two whole texts that a difference is about: one function. */

/**
 * The function around the first difference of two texts, as each has it; all of them where there is none.
 *
 * @param name the function's own or qualified name
 */
export function excerpt(
  name: string,
  expected: string,
  actual: string,
): { expected: string; actual: string } {
  const left = expected.split("\n");
  const right = actual.split("\n");
  const differs = left.findIndex((line, at) => line !== right[at]);
  const first = differs < 0 ? left.length - 1 : differs;
  const own = name.split(".").at(-1) ?? name;
  const header = new RegExp(`^\\s*(async\\s+)?def\\s+${own}\\b`);
  let start = first;
  while (start > 0 && !header.test(left[start] ?? "")) start--;
  if (!header.test(left[start] ?? "")) return { expected, actual };
  const cut = (lines: string[]) =>
    lines
      .slice(start, end(lines, start, first))
      .join("\n")
      .trimEnd();
  return { expected: cut(left), actual: cut(right) };
}

/** Where the block that is headed by a line ends: at the first code after `beyond` that is indented no deeper. */
function end(lines: string[], header: number, beyond: number): number {
  const depth = indentation(lines[header] ?? "");
  let at = Math.max(header, beyond) + 1;
  while (at < lines.length && !isBeside(lines[at] ?? "", depth)) at++;
  return at;
}

function isBeside(line: string, depth: number): boolean {
  const code = line.trim();
  return code !== "" && !code.startsWith(")") && indentation(line) <= depth;
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}
