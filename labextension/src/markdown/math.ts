/** Finds formulas in Markdown by pandoc's rule, so that money stays text. */

export type Formula = { readonly source: string; readonly display: boolean };
/** Offsets into the text: `[start, end)` is the formula with its delimiters. */
export type FormulaSpan = Formula & { readonly start: number; readonly end: number };

/** Formulas in a piece of plain text (not code): `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, in order. */
export function findFormulas(_text: string): FormulaSpan[] {
  return [];
}
