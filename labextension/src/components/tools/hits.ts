/** Reads the output of a search as hits, where it has a shape that we know. Pure. */

export type Hit = { readonly path: string; readonly line: number | null; readonly text: string };

export type Hits = { readonly hits: readonly Hit[]; readonly files: number };

const LINE = /^((?:[A-Za-z]:)?[^:\n]+?):(\d+)(?::\d+)?[:-](.*)$/;
/** A path alone on its line: no blanks at the ends, some letter, nothing that prose has. */
const PATH = /^(?![\s-])[^\n:*?"<>|]*[\w)\]}/](?<![.,;!?]$)$/;
const HEADING = /^(?:found|\d+) .*(?:files?|match(?:es)?|hits?|results?)\b.*$/i;

function readLine(line: string): Hit | null {
  const found = LINE.exec(line);
  if (found) {
    return { path: found[1] ?? '', line: Number(found[2]), text: found[3] ?? '' };
  }
  const looksLikePath = PATH.test(line) && /[./]/.test(line) && !/\s\S+\s/.test(line);
  return looksLikePath ? { path: line, line: null, text: '' } : null;
}

/** The hits in `output` ("path:line:text" or one path a line, after an optional heading); null for anything else. */
export function readHits(output: string): Hits | null {
  const lines = output.split('\n').filter(line => line.trim() !== '' && line !== '--');
  const body = HEADING.test(lines[0] ?? '') ? lines.slice(1) : lines;
  const hits = body.map(readLine).filter(hit => hit !== null);
  if (hits.length === 0 || hits.length < body.length) {
    return null;
  }
  return { hits, files: new Set(hits.map(hit => hit.path)).size };
}

/** `text` cut at each place where `query` stands, case ignored: every second piece is a match. */
export function splitAtMatches(text: string, query: string): string[] {
  if (query === '') {
    return [text];
  }
  const plain = query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.split(new RegExp(`(${plain})`, 'i'));
}
