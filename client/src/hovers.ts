/** Hovers with a folded part. Pure, so that it can be tested. */

const FOLDED = /\n*<details><summary>([^<]*)<\/summary>\n\n([\s\S]*)\n\n<\/details>$/;

/**
 * Replaces the folded part of a server's hover by a link. The editor's hover does not grow when a part is unfolded, so
 * the whole hover has to be shown again.
 *
 * @param link the target of the link
 */
export function folded(text: string, link: string): string {
  return text.replace(FOLDED, (_, title: string) => `\n\n[${title}](${link})`);
}

/** Unfolds the folded part of a server's hover. */
export function unfolded(text: string): string {
  return text.replace(FOLDED, (_, _title: string, rest: string) => `\n\n---\n\n${rest}`);
}
