// The overlay's scale can be told apart with any kind of colour vision, and the text on it can be read.
import assert from "node:assert/strict";
import test from "node:test";
import {
  blend,
  type Color,
  differenceCiede2000,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterDeficiencyTrit,
  wcagContrast,
} from "culori";
import manifest from "../../client/package.json";

/** Editor background and text of VS Code's own themes, and the contrast that the text has to keep (WCAG 1.4.3, 1.4.6). */
const THEMES = {
  dark: { background: "#1f1f1f", text: "#cccccc", contrast: 4.5 },
  light: { background: "#ffffff", text: "#3b3b3b", contrast: 4.5 },
  highContrast: { background: "#000000", text: "#ffffff", contrast: 7 },
  highContrastLight: { background: "#ffffff", text: "#292929", contrast: 7 },
} as const;

/** Machado et al. 2009, the whole loss of one kind of cone. */
const VISIONS: Record<string, (colour: Color) => Color | undefined> = {
  normal: (colour) => colour,
  protanopia: filterDeficiencyProt(1),
  deuteranopia: filterDeficiencyDeuter(1),
  tritanopia: filterDeficiencyTrit(1),
};

/** CIEDE2000; 2.3 is just noticeable side by side. */
const APART = 5;

/** Four levels are coloured; the two highest are not, and look like the background. */
const COLOURED = 4;

const difference = differenceCiede2000();
const levels = (theme: keyof typeof THEMES) =>
  manifest.contributes.colors.map(({ defaults }) => blend([THEMES[theme].background, defaults[theme]]));

for (const theme of Object.keys(THEMES) as (keyof typeof THEMES)[]) {
  for (const [vision, seen] of Object.entries(VISIONS)) {
    test(`${theme}, ${vision}: any two levels and the background are at least ${APART} apart`, () => {
      const colours = levels(theme)
        .slice(0, COLOURED + 1)
        .map((colour) => seen(colour));
      for (const [i, a] of colours.entries()) {
        for (const [j, b] of colours.entries()) {
          if (i >= j || !a || !b) continue;
          const apart = difference(a, b);
          assert.ok(apart >= APART, `levels ${i} and ${j}: ${apart.toFixed(1)}`);
        }
      }
    });
  }

  test(`${theme}: text keeps its contrast on every level`, () => {
    for (const [level, colour] of levels(theme).entries()) {
      const contrast = wcagContrast(colour, THEMES[theme].text);
      assert.ok(contrast >= THEMES[theme].contrast, `level ${level}: ${contrast.toFixed(1)}`);
    }
  });
}
