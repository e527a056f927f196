/** Fenced code at the beginning of a piece of Markdown: found by its lines alone, without the lexer. */

const OPENING = /^( {0,3})(`{3,}(?=[^`\n\r]*(?:[\n\r]|$))|~{3,})([^\n\r]*)(\r\n|\n|\r|$)/;

export type Fence = {
  /** What stands behind the opening marks, usually the language. */
  readonly info: string;
  /** Where the code begins. */
  readonly codeStart: number;
  readonly closing: RegExp;
};

export function openingFence(text: string): Fence | null {
  const match = OPENING.exec(text);
  const marks = match?.[2];
  if (!match || marks === undefined) {
    return null;
  }
  const closing = new RegExp(
    `(?<=[\\n\\r]) {0,3}${marks.charAt(0)}{${marks.length},}[ \\t]*(?:\\r\\n|\\n|\\r)`,
    'g',
  );
  return { info: (match[3] ?? '').trim(), codeStart: match[0].length, closing };
}

/** Where the fence ends, its closing line included; null while that line is not complete. `from`: searched before. */
export function fenceEnd(text: string, fence: Fence, from: number): number | null {
  fence.closing.lastIndex = Math.max(from, fence.codeStart);
  return fence.closing.exec(text) ? fence.closing.lastIndex : null;
}
