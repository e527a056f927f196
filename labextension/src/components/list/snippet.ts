/** The snippet of a hit: the server puts matches between two characters that no text has. Pure. */
export type SnippetPiece = { readonly text: string; readonly match: boolean };

const OPEN = '\ue000';
const CLOSE = '\ue001';
const MARKS = new RegExp(`([${OPEN}${CLOSE}])`, 'u');

export function piecesOf(snippet: string): SnippetPiece[] {
  const pieces: SnippetPiece[] = [];
  let match = false;
  for (const part of snippet.split(MARKS)) {
    if (part === OPEN || part === CLOSE) {
      match = part === OPEN;
    } else if (part !== '') {
      pieces.push({ text: part, match });
    }
  }
  return pieces;
}

export function firstMatch(snippet: string): string {
  return piecesOf(snippet).find(({ match }) => match)?.text ?? '';
}
