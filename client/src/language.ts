/**
 * The user's language, for modules that know no editor: texts and numbers. English until it is chosen.
 *
 * Text in constants of a module would be made before that, so that such modules make theirs when they are asked.
 */

/** As `vscode.l10n.t`: a text by its English one, with values in the places of `{0}`, `{1}`. */
export type Translate = (message: string, ...values: (string | number)[]) => string;

let translate: Translate = (message, ...values) =>
  message.replace(/\{(\d)\}/g, (place, at) => String(values[at] ?? place));
let locale = "en";

/** @param tag of a language that there are texts in, such as `de` */
export function chooseLanguage(by: Translate, tag: string): void {
  translate = by;
  locale = tag;
}

export function t(message: string, ...values: (string | number)[]): string {
  return translate(message, ...values);
}

/** A number as it is written in that language, with so many decimals. */
export function written(value: number, decimals = 0): string {
  return value.toLocaleString(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Of the texts: for pages, where a screen reader wants to know. */
export function language(): string {
  return locale;
}
