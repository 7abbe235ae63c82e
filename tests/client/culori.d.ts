/** What the tests use of culori, which has no types of its own. */
declare module "culori" {
  export interface Color {
    mode: string;
  }
  type Filter = (colour: Color) => Color | undefined;
  export function blend(colours: (Color | string)[]): Color;
  export function differenceCiede2000(): (a: Color | string, b: Color | string) => number;
  export function filterDeficiencyDeuter(severity: number): Filter;
  export function filterDeficiencyProt(severity: number): Filter;
  export function filterDeficiencyTrit(severity: number): Filter;
  export function wcagContrast(a: Color | string, b: Color | string): number;
}
