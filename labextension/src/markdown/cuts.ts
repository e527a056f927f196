/**
 * Where a piece of Markdown may be cut so that the pieces render as the whole does.
 *
 * Only between two top-level constructs, at a blank line (no formula crosses one) or before a fence, and never before
 * the last construct: a line to come may still belong to the one before it. Raw HTML stays whole until it is closed.
 */
import type { Token } from 'marked';

const BLANK_LINE_BEFORE = /(?:^|\n)[ \t]*\n$/;
const CONTAINERS =
  'details|div|section|article|aside|table|ul|ol|dl|blockquote|center|figure|pre|nav|form|fieldset';
const TAG = new RegExp(`<(/?)(?:${CONTAINERS})(?=[\\s>/])[^>]*?(/?)>`, 'gi');
/** HTML that is not closed after so many characters is taken as a slip, not as a container. */
const LONGEST_HTML = 16_384;

/** Offsets in the (line-feed only) text that `tokens` were lexed from, ascending. `done`: nothing more will come. */
export function cutPoints(tokens: readonly Token[], done: boolean): number[] {
  const cuts: number[] = [];
  const last = tokens.findLastIndex(token => token.type !== 'space');
  let at = 0;
  let openHtml = 0;
  let openSince = 0;
  tokens.forEach((token, i) => {
    const next = tokens[i + 1];
    at += token.raw.length;
    if (token.type === 'html') {
      openSince = openHtml > 0 ? openSince : at;
      openHtml = Math.max(0, openHtml + openedBy(token.raw));
    }
    const closed = openHtml === 0 || at - openSince > LONGEST_HTML;
    if (!next || next.type === 'space' || !closed) {
      return;
    }
    const before = next.type === 'code' && isFence(next) && token.type !== 'html';
    const settled = done || i + 1 < last || before;
    if (settled && (before || endsBlank(tokens, i))) {
      cuts.push(at);
    }
  });
  return cuts;
}

function openedBy(html: string): number {
  let open = 0;
  for (const [, close, selfClosed] of html.matchAll(TAG)) {
    open += close === '/' ? -1 : selfClosed === '/' ? 0 : 1;
  }
  return open;
}

function isFence(token: Token): boolean {
  return /^ {0,3}(?:`{3}|~{3})/.test(token.raw);
}

/** A blank line stands at the end of token `i` (its own, or a `space` token that begins with the end of its line). */
function endsBlank(tokens: readonly Token[], i: number): boolean {
  const raw = (tokens[i - 1]?.raw ?? '').slice(-2) + (tokens[i]?.raw ?? '');
  return BLANK_LINE_BEFORE.test(raw);
}
