/**
 * Text of an agent with nothing hidden in it: characters that draw nothing, move the cursor or turn the reading
 * direction become marks, and so does padding that could push the rest out of sight (docs: security, A27).
 */

/** A piece of text as it is, or the label of a mark ("U+202E") and what it stands for. */
export type VisiblePiece = { text: string } | { mark: string; title: string };

/** Longest run of blanks, or of line ends, that is left as it is. */
const PADDING = { blanks: 64, lines: 8 };

const NAMED: Readonly<Record<number, string>> = {
  0x00: 'null',
  0x07: 'bell',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'escape',
  0x7f: 'delete',
  0xa0: 'no-break space',
  0xad: 'soft hyphen',
  0x061c: 'Arabic letter mark',
  0x200b: 'zero-width space',
  0x200c: 'zero-width non-joiner',
  0x200d: 'zero-width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'pop directional formatting',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate',
  0xfeff: 'byte order mark',
};

const HIDDEN = [
  // C0 but tab and newline, DEL and C1, no-break space
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0',
  // soft hyphen, odd spaces, format characters, lone surrogates
  '\\u00ad\\u061c\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ufeff\\ufff9-\\ufffb\\p{Surrogate}',
  // fillers and joiners that draw nothing
  '\\u034f',
  '\\u115f\\u1160\\u2800\\u3164\\uffa0',
  '\\u17b4\\u17b5',
  '\\u180b-\\u180e',
  // musical format characters, tags and variation selectors beyond those of emoji
  '\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}',
].map(ranges => `[${ranges}]`);
const SPECIAL = new RegExp(
  `${HIDDEN.join('|')}|[ \\t]{${PADDING.blanks + 1},}|\\n{${PADDING.lines + 1},}`,
  'gu',
);

function markOf(found: string): VisiblePiece {
  if (found.length > PADDING.lines && found.startsWith('\n')) {
    return { mark: `${found.length} ↵`, title: `${found.length} line ends` };
  }
  if (found.length > PADDING.blanks) {
    return { mark: `${found.length} ␣`, title: `${found.length} blanks` };
  }
  const code = found.codePointAt(0) ?? 0;
  const label = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return { mark: label, title: NAMED[code] ?? 'invisible character' };
}

/** `text` in pieces, in order; one piece when there is nothing to mark. */
export function visiblePieces(text: string): VisiblePiece[] {
  const pieces: VisiblePiece[] = [];
  let end = 0;
  for (const match of text.matchAll(SPECIAL)) {
    if (match.index > end) {
      pieces.push({ text: text.slice(end, match.index) });
    }
    pieces.push(markOf(match[0]));
    end = match.index + match[0].length;
  }
  if (end < text.length || pieces.length === 0) {
    pieces.push({ text: text.slice(end) });
  }
  return pieces;
}

/** `text` as one plain string with its marks in brackets, for names that assistive technology reads. */
export function visibleString(text: string): string {
  return visiblePieces(text)
    .map(piece => ('text' in piece ? piece.text : `[${piece.mark}]`))
    .join('');
}
