/** The overlay's colours as drawn: those of the theme, fainter or stronger. Pure, so that it can be tested. */

/** The colours of one level as `#rrggbbaa`, one per kind of theme. */
export type LevelColours = Record<"dark" | "light" | "highContrast" | "highContrastLight", string>;

/** Indexed by `vscode.ColorThemeKind`, which counts from 1. */
const KINDS: (keyof LevelColours)[] = ["light", "dark", "highContrast", "highContrastLight"];

export function themeColour(colours: LevelColours, themeKind: number): string {
  return colours[KINDS[themeKind - 1] ?? "dark"];
}

/** A higher opacity hides the text. */
const STRONGEST = 0.8;

/** Multiplies the opacity of a colour: 50 is half as opaque, 200 twice. */
export function faded(colour: string, percent: number): string {
  const alpha = Number.parseInt(colour.slice(7, 9) || "ff", 16);
  const wanted = Math.min(Math.round((alpha * percent) / 100), Math.max(alpha, Math.round(255 * STRONGEST)));
  return colour.slice(0, 7) + wanted.toString(16).padStart(2, "0");
}

/** The cue besides colour: the lower the confidence, the heavier the line. Other levels are not underlined. */
export const UNDERLINES = ["double", "dashed", "dotted"] as const;

/** A sample of a level as an SVG image: its colour, and its underline in the colour of the text. */
export function swatch(colour: string, level: number, ink: string): string {
  const rgb = colour.slice(0, 7);
  const opacity = Number.parseInt(colour.slice(7, 9) || "ff", 16) / 255;
  const line = (y: number, dash = "") =>
    `<path d="M1 ${y}h14" stroke="${ink}" stroke-width="1"${dash && ` stroke-dasharray="${dash}"`}/>`;
  const lines = [line(11) + line(14), line(13.5, "4 1.5"), line(13.5, "1.4 1.4")];
  const border = `stroke="${ink}" stroke-opacity=".35" stroke-width=".6"`;
  const box = `<rect x="1" y="1" width="14" height="14" rx="2" fill="${rgb}" fill-opacity="${opacity.toFixed(2)}" ${border}/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${box}${lines[level] ?? ""}</svg>`;
}
