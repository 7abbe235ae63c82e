/** Formats a number for a reader, with a fixed number of decimals. */
export function written(value: number, decimals = 0): string {
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
