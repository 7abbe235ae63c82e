/**
 * The user's language, for modules without the editor's API: texts and numbers. English until a language is chosen.
 *
 * A module-level constant would be evaluated before that, so these modules create their texts on demand.
 */

/** Like `vscode.l10n.t`: translates an English text, and replaces `{0}`, `{1}` by values. */
export type Translate = (message: string, ...values: (string | number)[]) => string;

let translate: Translate = (message, ...values) =>
  message.replace(/\{(\d)\}/g, (place, at) => String(values[at] ?? place));
let locale = "en";

/** @param tag of a language with a translation, such as `de` */
export function chooseLanguage(by: Translate, tag: string): void {
  translate = by;
  locale = tag;
}

export function t(message: string, ...values: (string | number)[]): string {
  return translate(message, ...values);
}

/** Formats a number in the user's language, with a fixed number of decimals. */
export function written(value: number, decimals = 0): string {
  return value.toLocaleString(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** The language of the texts, which pages declare for screen readers. */
export function language(): string {
  return locale;
}
