/**
 * Finds formulas in Markdown by pandoc's rule, so that money stays text: no space inside the dollars, no digit after
 * the closing one. No formula crosses a blank line.
 */

export type Formula = { readonly source: string; readonly display: boolean };
/** Offsets into the text: `[start, end)` is the formula with its delimiters. */
export type FormulaSpan = Formula & { readonly start: number; readonly end: number };

const OPENING = /\\\\|\\\$|\$\$|\$|\\\(|\\\[|\\begin\{([a-zA-Z]+\*?)\}/g;
const BLANK_LINE = /\n[ \t]*\n/;
const ENVIRONMENTS =
  /^(?:equation|align|alignat|gather|multline|eqnarray|flalign|matrix|[pbBvV]matrix|cases|split|aligned|gathered|array|CD)\*?$/;

/** Formulas in a piece of plain text (not code): `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, `\begin{…}…\end{…}`, in order. */
export function findFormulas(text: string): FormulaSpan[] {
  const spans: FormulaSpan[] = [];
  const opening = new RegExp(OPENING);
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const start = match.index;
    const end = endOf(text, start, match[0], match[1]);
    if (end !== null) {
      const source = text.slice(start, end);
      spans.push({ source, display: !/^(?:\$(?!\$)|\\\()/.test(source), start, end });
      opening.lastIndex = end;
    }
  }
  return spans;
}

/** Where the formula that begins at `start` ends; null when none begins there. */
function endOf(text: string, start: number, mark: string, environment?: string): number | null {
  const inside = start + mark.length;
  switch (mark) {
    case '\\\\':
    case '\\$':
      return null;
    case '$':
      return inlineEnd(text, inside);
    case '$$':
      return closedBy(text, inside, '$$');
    case '\\(':
      return closedBy(text, inside, '\\)');
    case '\\[':
      return closedBy(text, inside, '\\]');
    default:
      return environment !== undefined && ENVIRONMENTS.test(environment)
        ? closedBy(text, inside, `\\end{${environment}}`)
        : null;
  }
}

function inlineEnd(text: string, inside: number): number | null {
  if (/^(?:\s|$)/.test(text.slice(inside, inside + 1))) {
    return null;
  }
  const close = unescaped(text, inside, '$');
  if (close === null || close === inside || BLANK_LINE.test(text.slice(inside, close))) {
    return null;
  }
  const closes = /[^\s]/.test(text.charAt(close - 1)) && !/\d/.test(text.charAt(close + 1));
  return closes ? close + 1 : null;
}

function closedBy(text: string, inside: number, mark: string): number | null {
  const close = mark === '$$' ? unescaped(text, inside, mark) : text.indexOf(mark, inside);
  if (close === null || close < 0) {
    return null;
  }
  const body = text.slice(inside, close);
  return body.trim() === '' || BLANK_LINE.test(body) ? null : close + mark.length;
}

/** The next `mark` that no backslash stands before (an even number of them is none). */
function unescaped(text: string, from: number, mark: string): number | null {
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    let slashes = 0;
    while (at - slashes > from && text.charAt(at - slashes - 1) === '\\') {
      slashes += 1;
    }
    if (slashes % 2 === 0) {
      return at;
    }
  }
  return null;
}
