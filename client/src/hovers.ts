/** What a hover folds away. Pure, to be tested. */

const FOLDED = /\n*<details><summary>([^<]*)<\/summary>\n\n([\s\S]*)\n\n<\/details>$/;

/**
 * A hover of the server with a link in place of what is folded away: the hover of the editor does not grow when
 * something in it is unfolded, so that more has to be shown anew.
 *
 * @param link the command behind the link
 */
export function folded(text: string, link: string): string {
  return text.replace(FOLDED, (_, title: string) => `\n\n[${title}](${link})`);
}

/** A hover of the server with all that it says. */
export function unfolded(text: string): string {
  return text.replace(FOLDED, (_, _title: string, rest: string) => `\n\n---\n\n${rest}`);
}
